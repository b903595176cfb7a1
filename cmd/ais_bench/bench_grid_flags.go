package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/models"
	"ais_bench/tasks/sweep"
)

const groupGrid = "Grid"

// notInGrids are flags of `bench serve` that a grid does not have: vLLM's result
// file, of which a grid has its own kind, and what must be its own.
var notInGrids = []string{"base-url", "host", "profile", "calibrate", "probe-request-rate", "num-warmups", "save-result", "save-detailed", "append-result", "result-dir", "result-filename", "output-file", "metadata", "label",
	"percentile-metrics", "metric-percentiles", "plot-timeline", "timeline-itl-thresholds", "plot-dataset-stats", "tables", "by-length-bucket", "cache-report", "contract", "baseline", "cache"}

// gridFlags are those of `bench serve` that say what is asked, and the grid's own.
func gridFlags() []cli.Flag {
	flags := slices.DeleteFunc(slices.Clone(benchServeCommand().Flags), func(f cli.Flag) bool { return slices.Contains(notInGrids, f.Names()[0]) })
	return append(flags,
		&cli.StringSliceFlag{Name: "param", Category: groupGrid, Usage: "a parameter and its values, `NAME=V1,V2,…`, repeatable; {NAME} in --launch stands for it"},
		&cli.IntFlag{Name: "num-runs", Category: groupGrid, Value: 1, Usage: "runs of every combination on the same engine, for mean, CV and interval"},
		&cli.StringFlag{Name: "slo", Category: groupGrid, Usage: "name the best combination that holds this `CONDITION`, such as 'ttft_p99<=2000 && tpot_p99<=50 && success>=0.99'"},
		&cli.StringFlag{Name: "cooldown", Category: groupGrid, Value: "0", Usage: "pause of so many `SECONDS` between two runs of an engine"},
		&cli.IntFlag{Name: "num-warmups", Aliases: []string{"warmup-requests"}, Category: groupGrid, Value: 4, Usage: "requests before the measured ones of every run; their prompts are no copies of these"},
		&cli.StringFlag{Name: "cache", Category: groupServer, Value: "cold", Usage: "prefix cache at the first measured request of every run: cold (reset, else salted prompts), warm (every prompt was sent once), any"},
		&cli.StringFlag{Name: "reuse", Aliases: []string{"r"}, Category: groupGrid, Usage: "continue the grid `GRID`, or the latest: only what is missing is measured"},
		&cli.BoolFlag{Name: "dry-run", Category: groupGrid, Usage: "print the combinations and their commands; start nothing"},
	)
}

// gridPlanFlags say what of a grid is measured and shown, not how: a later command
// may change them and go on with the same points.
var gridPlanFlags = []string{"param", "num-runs", "slo", "goodput", "title"}

// gridOwnAffair are flags of a single command that the grid does not keep.
var gridOwnAffair = []string{"reuse", "dry-run", "work-dir", "disable-tqdm", "drain", "launch-timeout", "ready-check-timeout-sec", "trust-remote-code", "no-store-prompts", "cooldown", "port", "help"}

// describeFlags gives the flags that are set: those that decide what a point
// measures, and the plan. Values of headers are secrets more often than not: only
// their names are kept.
func describeFlags(c *cli.Context, planFlags, own []string) (settings, plan map[string]string) {
	settings, plan = map[string]string{}, map[string]string{}
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) || slices.Contains(own, name) {
			continue
		}
		value := flagText(c, f)
		switch {
		case slices.Contains(planFlags, name):
			plan[name] = value
		case name == "header":
			var names []string
			for _, h := range c.StringSlice(name) {
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
	return settings, plan
}

// restoreFlags gives the flags that the command line does not give the values that
// are stored.
func restoreFlags(c *cli.Context, spec sweep.Spec) error {
	var plan map[string]string
	if len(spec.Plan) > 0 {
		if err := json.Unmarshal(spec.Plan, &plan); err != nil {
			return usagef("the stored plan cannot be read: %w", err)
		}
	}
	byName := map[string]cli.Flag{}
	given := map[string]bool{}
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		byName[name] = f
		if c.IsSet(name) {
			given[name] = true
			for _, other := range insteadOf[name] {
				given[other] = true
			}
		}
	}
	for _, m := range []map[string]string{spec.Settings, plan} {
		for name, value := range m {
			f := byName[name]
			if f == nil || given[name] || name == "header" {
				continue
			}
			if strings.Contains(value, models.Redacted) {
				return usagef("--%s holds a secret, which was not stored: give it again", name)
			}
			values := []string{value}
			if _, ok := f.(*cli.StringSliceFlag); ok {
				if err := json.Unmarshal([]byte(value), &values); err != nil {
					return usagef("the stored %s cannot be read: %w", name, err)
				}
			}
			for _, v := range values {
				if err := c.Set(name, v); err != nil {
					return usagef("the stored %s: %w", name, err)
				}
			}
		}
	}
	return nil
}
