package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/summarizers"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/metrics"
	"ais_bench/summarizers/tradeoff"
	"ais_bench/summarizers/verify"
	"ais_bench/tasks"
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

// gridParam is one parameter and its values.
type gridParam struct {
	name   string
	values []string
}

var paramName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parseParams reads --param.
func parseParams(list []string) ([]gridParam, error) {
	var params []gridParam
	n := 1
	for _, text := range list {
		name, values, ok := strings.Cut(text, "=")
		name = strings.ReplaceAll(strings.TrimSpace(name), "-", "_")
		switch {
		case !ok:
			return nil, usagef("--param %s: write NAME=V1,V2,…", text)
		case !paramName.MatchString(name):
			return nil, usagef("--param %s: %q is no name; use letters, digits and _", text, name)
		case name == "port" || name == "host":
			return nil, usagef("--param %s: {%s} is the address of the engine, which is filled in by itself", text, name)
		case slices.ContainsFunc(params, func(p gridParam) bool { return p.name == name }):
			return nil, usagef("--param %s: %s is given twice; write all its values into one", text, name)
		}
		p := gridParam{name: name}
		for _, v := range strings.Split(values, ",") {
			if v = strings.TrimSpace(v); v == "" {
				return nil, usagef("--param %s: a value is empty", text)
			}
			if slices.Contains(p.values, v) {
				return nil, usagef("--param %s: %s is given twice", text, v)
			}
			p.values = append(p.values, v)
		}
		params = append(params, p)
		n *= len(p.values)
	}
	switch {
	case len(params) == 0:
		return nil, usagef("bench grid: --param is missing: what is to be varied, such as --param max_num_seqs=16,32,64")
	case n > 1000:
		return nil, usagef("--param: %d combinations are too many (at most 1000)", n)
	}
	return params, nil
}

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

// reportGrid rebuilds a grid's reports from its points (`ais_bench report GRID`).
func reportGrid(c *cli.Context, name string, formats []string) error {
	store, err := sweep.Read(c.String("work-dir"), name, gridKind)
	if err != nil {
		return err
	}
	if err := warnOfPoints(c, store); err != nil {
		return err
	}
	g, title, err := rebuildGrid(store)
	if err != nil {
		return err
	}
	if title != "" && !c.IsSet("title") {
		if err := c.Set("title", title); err != nil {
			return usage(err)
		}
	}
	s, err := gridReports(c, store, g, nil, formats)
	if err != nil {
		return err
	}
	if err := printGrid(c, g, s); err != nil {
		return err
	}
	for _, f := range s.Files {
		fmt.Fprintln(c.App.Writer, "wrote "+store.Run().Path(f))
	}
	return nil
}

// storedGrid is what of grid.json cannot be computed from the runs: why a
// combination was not measured.
type storedGrid struct {
	Combinations []struct {
		Settings map[string]string `json:"settings"`
		Failure  string            `json:"failure"`
	} `json:"combinations"`
}

// failure of the combination of these settings, "" for none.
func (g *storedGrid) failure(settings []sweep.Setting) string {
	of := map[string]string{}
	for _, s := range settings {
		of[s.Name] = s.Value
	}
	for _, c := range g.Combinations {
		if maps.Equal(c.Settings, of) {
			return c.Failure
		}
	}
	return ""
}

// rebuildGrid makes a grid from its points, and gives the title of its reports.
func rebuildGrid(store *sweep.Store) (*tradeoff.Grid, string, error) {
	var plan map[string]string
	if err := json.Unmarshal(store.Spec().Plan, &plan); err != nil {
		return nil, "", &tasks.EnvironmentError{Err: fmt.Errorf("the plan of %s cannot be read: %w", store.Run().Dir(), err)}
	}
	var list []string
	if err := json.Unmarshal([]byte(plan["param"]), &list); err != nil {
		return nil, "", &tasks.EnvironmentError{Err: fmt.Errorf("the parameters of %s cannot be read: %w", store.Run().Dir(), err)}
	}
	params, err := parseParams(list)
	if err != nil {
		return nil, "", err
	}
	g := &tradeoff.Grid{}
	m := metrics.Options{Percentiles: withPercentiles(nil)}
	if text := plan["slo"]; text != "" {
		if g.SLO, err = capacity.ParseSLO(text); err != nil {
			return nil, "", usagef("the grid's --slo %w", err)
		}
		m.Percentiles = append(m.Percentiles, g.SLO.Percentiles()...)
	}
	for _, p := range params {
		g.Params = append(g.Params, p.name)
	}
	done, err := store.Points()
	if err != nil {
		return nil, "", err
	}
	slices.SortFunc(done, func(a, b *sweep.Done) int { return a.Point.Run - b.Point.Run })
	var stored storedGrid
	_ = outputs.ReadJSON(store.Run().Path("grid.json"), &stored) // killed before it was written: no failure is known
	found := 0
	for _, settings := range combinations(params) {
		t := &tradeoff.Combination{Failure: stored.failure(settings)}
		for _, s := range settings {
			t.Settings = append(t.Settings, tradeoff.Setting(s))
		}
		for _, d := range done {
			if slices.Equal(d.Point.Settings, settings) {
				found++
				if err := addGridPoint(t, store, d, m); err != nil {
					return nil, "", err
				}
			}
		}
		if !t.Measured() && t.Failure == "" {
			t.Failure = "not measured"
		}
		g.Combinations = append(g.Combinations, t)
	}
	if found == 0 {
		return nil, "", &tasks.EnvironmentError{Err: fmt.Errorf("%s has no run that is done: nothing to report", store.Run().Dir())}
	}
	return g, plan["title"], nil
}

// gridAgain are a grid's files made again from its runs, for `verify`.
func gridAgain(run *outputs.Run) *verify.Sweep {
	again := &verify.Sweep{File: "grid.json"}
	store, err := sweep.Read("", run.Dir(), gridKind)
	if err != nil {
		again.Why = err.Error()
		return again
	}
	g, _, err := rebuildGrid(store)
	if err != nil {
		again.Why = err.Error()
		return again
	}
	g.Evaluate()
	if again.Tables, again.Report, err = summarizers.RecomputeGrid(run, g); err != nil {
		again.Why = err.Error()
		return again
	}
	again.Report.Findings = g.Texts
	again.CSV = summarizers.GridCSV(g)
	again.JSON = g.JSON(nil)
	return again
}
