package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/summarizers"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/metrics"
	"ais_bench/summarizers/tradeoff"
	"ais_bench/summarizers/verify"
	"ais_bench/tasks"
	"ais_bench/tasks/grid"
	"ais_bench/tasks/sweep"
)

// newGrid is the empty grid of these combinations.
func newGrid(all [][]sweep.Setting, slo *capacity.SLO) *tradeoff.Grid {
	list := make([][]tradeoff.Setting, len(all))
	for i, settings := range all {
		for _, s := range settings {
			list[i] = append(list[i], tradeoff.Setting(s))
		}
	}
	return tradeoff.New(list, slo)
}

// addGridPoint puts a run that is done into its combination.
func addGridPoint(t *tradeoff.Combination, store *sweep.Store, d *sweep.Done, m metrics.Options) error {
	s, err := pointSource(d)
	if err != nil {
		return err
	}
	if err := t.AddFrom(store.Run().Dir(), s, m); err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	return nil
}

// gridReports computes and writes what a grid's folder holds: everything, or the
// formats named.
func gridReports(c *cli.Context, store *sweep.Store, g *tradeoff.Grid, notes, formats []string) (*summarizers.Summary, error) {
	g.Evaluate()
	spec := store.Spec()
	meta := map[string]any{"tool": toolInfo(), "settings": spec.Settings, "facts": spec.Facts, "plan": spec.Plan}
	lang := c.String("lang")
	if lang == "" {
		lang = "en"
	}
	return madeReports(summarizers.GridReport(store.Run(), g, meta, summarizers.ReportOptions{Title: c.String("title"), Tool: "ais_bench " + versionLine(), Lang: lang,
		Excel: true, HTML: true, Formats: formats, Findings: g.Texts, Notes: notes}))
}

// printGrid prints the tables and the chart.
func printGrid(c *cli.Context, g *tradeoff.Grid, s *summarizers.Summary) error {
	fmt.Fprintln(c.App.Writer)
	if err := printTables(c, s.Tables); err != nil {
		return err
	}
	if plot := g.Plot(); plot != "" {
		fmt.Fprintf(c.App.Writer, "\n%s", plot)
	}
	fmt.Fprintln(c.App.Writer, "\n"+outputs.ChecklistLine(s.Checklist))
	return nil
}

// reportGrid rebuilds a grid's reports from its points (`ais_bench report GRID`).
func reportGrid(c *cli.Context, name string, formats []string) error {
	store, err := sweep.Read(c.String("work-dir"), name, grid.Kind)
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
	var notes []string
	if m := store.Manifest(); m != nil {
		if note := incomplete("grid", m.State, m.StateReason); note != "" {
			notes = append(notes, note)
			fmt.Fprintln(c.App.ErrWriter, "warning: "+note)
		}
	}
	s, unwritten := gridReports(c, store, g, notes, formats)
	if s == nil {
		return unwritten
	}
	if err := printGrid(c, g, s); err != nil {
		return err
	}
	for _, f := range s.Files {
		fmt.Fprintln(c.App.Writer, "wrote "+store.Run().Path(f))
	}
	return unwritten
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
	params, err := grid.ParseParams(list)
	if err != nil {
		return nil, "", usage(err)
	}
	var slo *capacity.SLO
	m := metrics.Options{Percentiles: withPercentiles(nil)}
	if text := plan["slo"]; text != "" {
		if slo, err = capacity.ParseSLO(text); err != nil {
			return nil, "", usagef("the grid's --slo %w", err)
		}
		m.Percentiles = append(m.Percentiles, slo.Percentiles()...)
	}
	done, err := store.Points()
	if err != nil {
		return nil, "", err
	}
	slices.SortFunc(done, func(a, b *sweep.Done) int { return a.Point.Run - b.Point.Run })
	all := grid.Combinations(params)
	g := newGrid(all, slo)
	for i, settings := range all {
		for _, d := range done {
			if slices.Equal(d.Point.Settings, settings) {
				if err := addGridPoint(g.Combinations[i], store, d, m); err != nil {
					return nil, "", err
				}
			}
		}
	}
	if g.First() == nil {
		return nil, "", &tasks.EnvironmentError{Err: fmt.Errorf("%s has no run that is done: nothing to report", store.Run().Dir())}
	}
	g.RecallFailures(store.Run())
	return g, plan["title"], nil
}

// gridAgain are a grid's files made again from its runs, for `verify`.
func gridAgain(run *outputs.Run) *verify.Sweep {
	again := &verify.Sweep{File: "grid.json"}
	store, err := sweep.Read("", run.Dir(), grid.Kind)
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
