package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/tasks/sweep"
)

// planFlags say what of a sweep is measured and shown, not how: a later command
// may change them and go on with the same points.
var planFlags = []string{"max-concurrency", "request-rate", "num-runs", "slo", "axis", "max", "min", "resolution", "max-repeats", "headroom",
	"percentile-metrics", "metric-percentiles", "by-length-bucket", "goodput", "title"}

// ownAffair are flags of a single command that the sweep does not keep.
var ownAffair = []string{"config", "reuse", "contract", "dry-run", "work-dir", "disable-tqdm", "drain", "launch-timeout", "ready-check-timeout-sec", "trust-remote-code", "no-store-prompts", "help"}

// describe gives the flags that are set: those that decide what a point measures,
// and the plan. Values of headers are secrets more often than not: only their
// names are kept.
func (w *sweepRun) describe() (settings, plan map[string]string) {
	settings, plan = map[string]string{}, map[string]string{}
	for _, f := range w.c.Command.Flags {
		name := f.Names()[0]
		if !w.c.IsSet(name) || slices.Contains(ownAffair, name) {
			continue
		}
		value := flagText(w.c, f)
		switch {
		case slices.Contains(planFlags, name):
			plan[name] = value
		case name == "header":
			var names []string
			for _, h := range w.c.StringSlice(name) {
				n, _, _ := strings.Cut(h, "=")
				n, _, _ = strings.Cut(n, ":")
				names = append(names, strings.TrimSpace(n))
			}
			slices.Sort(names)
			settings[name] = strings.Join(names, ",")
		case isDefault(f, value):
		default:
			settings[name] = value
		}
	}
	axis, _, err := axisOf(w.c)
	if err == nil {
		settings["axis"] = axis
	}
	delete(plan, "axis")
	if axis != "" && w.c.IsSet("axis") {
		plan["axis"] = w.c.String("axis")
	}
	return settings, plan
}

// flagText is a flag's value; those of repeated flags as a JSON list.
func flagText(c *cli.Context, f cli.Flag) string {
	name := f.Names()[0]
	if _, ok := f.(*cli.StringSliceFlag); ok {
		return plainJSON(c.StringSlice(name))
	}
	return fmt.Sprint(c.Value(name))
}

// isDefault reports whether a flag that was given has the value it has anyway. A
// flag that is not sent unless given (temperature 0) has no such value.
func isDefault(f cli.Flag, value string) bool {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return false
	}
	text := d.GetDefaultText()
	return text == value || text == fmt.Sprintf("%q", value)
}

// restore gives the flags that the command line does not give the values the sweep
// has.
func (w *sweepRun) restore(spec sweep.Spec) error {
	var plan map[string]string
	if len(spec.Plan) > 0 {
		if err := json.Unmarshal(spec.Plan, &plan); err != nil {
			return usagef("the sweep's plan cannot be read: %w", err)
		}
	}
	given := map[string]bool{}
	for _, f := range w.c.Command.Flags {
		if name := f.Names()[0]; w.c.IsSet(name) {
			given[name] = true
			for _, other := range insteadOf[name] {
				given[other] = true
			}
		}
	}
	byName := map[string]cli.Flag{}
	for _, f := range w.c.Command.Flags {
		byName[f.Names()[0]] = f
	}
	for _, m := range []map[string]string{spec.Settings, plan} {
		for name, value := range m {
			f := byName[name]
			if f == nil || given[name] || name == "header" || name == "axis" && spec.Settings["axis"] == value || strings.Contains(value, models.Redacted) {
				continue
			}
			values := []string{value}
			if _, ok := f.(*cli.StringSliceFlag); ok {
				if err := json.Unmarshal([]byte(value), &values); err != nil {
					return usagef("the sweep's setting %s cannot be read: %w", name, err)
				}
			}
			for _, v := range values {
				if err := w.c.Set(name, v); err != nil {
					return usagef("the sweep's setting %s: %w", name, err)
				}
			}
		}
	}
	return nil
}

// scrubbed is a copy without secrets.
func scrubbed(m map[string]string, red *outputs.Redactor) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = red.String(v)
	}
	return out
}

func planJSON(plan map[string]string) json.RawMessage { return json.RawMessage(plainJSON(plan)) }
