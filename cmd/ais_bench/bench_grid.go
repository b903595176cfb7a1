package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/metrics"
	"ais_bench/summarizers/tradeoff"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
	"ais_bench/tasks/grid"
	"ais_bench/tasks/launch"
	"ais_bench/tasks/sweep"
)

// benchGridCommand is `ais_bench bench grid`.
func benchGridCommand() *cli.Command {
	return &cli.Command{
		Name:  "grid",
		Usage: "start an engine with each combination of parameters and measure the same workload on it",
		Description: "--launch has a placeholder {name} for every --param name=V1,V2,…. One engine runs at a time. Every run is a run folder of its own;\n" +
			"--reuse continues a grid that was interrupted. docs/grid.md explains the trade-off and the rules.",
		Flags:  gridFlags(),
		Action: benchGrid,
	}
}

// gridRun is one command's work on a grid.
type gridRun struct {
	c      *cli.Context
	launch launch.Spec
	base   bench.Options
	plan   grid.Plan
	cool   time.Duration
	slo    *capacity.SLO
	m      metrics.Options

	store    *sweep.Store
	grid     *tradeoff.Grid
	observer *swapObserver
}

func benchGrid(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	w := &gridRun{c: c}
	var old *sweep.Store
	if c.IsSet("reuse") {
		var err error
		if old, err = sweep.Read(c.String("work-dir"), c.String("reuse"), grid.Kind); err != nil {
			return err
		}
		if err := restoreFlags(c, old.Spec()); err != nil {
			return err
		}
	}
	if err := w.prepare(); err != nil {
		return err
	}
	settings, plan := describeFlags(c, gridPlanFlags, gridOwnAffair)
	red := outputs.NewRedactor(append(w.base.Secrets(), w.launch.Secrets()...)...)
	settings, plan = scrubbed(settings, red), scrubbed(plan, red)
	if old != nil {
		if err := old.Match(settings); err != nil {
			return usage(err)
		}
	}
	if c.Bool("dry-run") {
		w.store = old
		return w.dryRun(red)
	}
	var err error
	if old == nil {
		w.store, err = sweep.Create(w.base.WorkDir, sweep.Spec{Kind: grid.Kind, Settings: settings, Plan: planJSON(plan)}, red, toolInfo(), commandLine())
	} else if w.store, err = sweep.Open(c.String("work-dir"), c.String("reuse"), grid.Kind, red, toolInfo(), commandLine()); err == nil {
		err = w.store.SetPlan(plan)
	}
	if err != nil {
		return err
	}
	return w.run()
}

// prepare reads the flags and finds what cannot be meant before an engine is
// started.
func (w *gridRun) prepare() error {
	c := w.c
	var err error
	if w.launch, err = readLaunch(c); err != nil {
		return err
	}
	if w.launch.Command == "" {
		return usagef("bench grid: --launch is missing: the command that starts an engine, with {name} for every --param name=V1,V2,…")
	}
	if w.plan.Params, err = grid.ParseParams(c.StringSlice("param")); err != nil {
		return usage(err)
	}
	if err := grid.CheckCommand(w.launch.Command, w.plan.Params); err != nil {
		return usage(err)
	}
	if w.plan.Runs = c.Int("num-runs"); w.plan.Runs < 1 || w.plan.Runs > 1000 {
		return usagef("--num-runs %d: give 1 to 1000", w.plan.Runs)
	}
	cool, err := models.ParseDuration(c.String("cooldown"))
	if err != nil || cool < 0 {
		return usagef("--cooldown %s: give seconds or a duration like 30s", c.String("cooldown"))
	}
	w.cool = time.Duration(cool)
	if w.base, err = serveOptions(c); err != nil {
		return ownFlags(err)
	}
	keyFromEnvironment(&w.base)
	w.base.Tool, w.base.Args = toolInfo(), commandLine()
	if w.base.Metrics == nil {
		w.base.Metrics = &tasks.ServerMetrics{URLs: []string{"auto"}, IfThere: true} // what limited an engine is best asked of it
	}
	return w.prepareReports()
}

func (w *gridRun) prepareReports() error {
	c := w.c
	slos, err := metrics.ParseSLOs(c.StringSlice("goodput"))
	if err != nil {
		return usage(err)
	}
	chosen := withPercentiles(nil)
	if text := c.String("slo"); text != "" {
		if w.slo, err = capacity.ParseSLO(text); err != nil {
			return usagef("--slo %w", err)
		}
		chosen = append(chosen, w.slo.Percentiles()...)
	}
	w.m = metrics.Options{SLOs: slos, Percentiles: chosen}
	return nil
}

// dryRun prints what would be started and measured.
func (w *gridRun) dryRun(red *outputs.Redactor) error {
	t := outputs.Table{Title: "Grid (dry run: nothing is started)", Columns: []outputs.Column{{Name: "Combination"}, {Name: "Runs", Kind: outputs.KindInt}, {Name: "Done", Kind: outputs.KindInt}}}
	for _, settings := range grid.Combinations(w.plan.Params) {
		done, _, err := w.plan.Points(w.store, settings)
		if err != nil {
			return err
		}
		command, err := grid.Command(w.launch.Command, settings)
		if err != nil {
			return usage(err)
		}
		name := grid.Name(settings)
		t.AddRow(name, w.plan.Runs, len(done))
		t.Notes = append(t.Notes, name+": "+red.String(command)) // cells are cut to a width
	}
	t.Notes = append(t.Notes, fmt.Sprintf("%d requests a run", w.base.Workload.NumPrompts))
	return printTables(w.c, []outputs.Table{t})
}

// run measures and reports.
func (w *gridRun) run() error {
	w.observer = observePoints(w.c)
	defer w.observer.close()
	ctx, stop, cut, end := interrupts(w.c.Context, w.observer.Note, &w.observer.sending)
	defer end()
	w.grid = newGrid(grid.Combinations(w.plan.Params), w.slo)
	w.base.Observer, w.base.Stop, w.base.Cut = w.observer, stop, cut
	r := &grid.Runner{Plan: w.plan, Store: w.store, Engine: w.launch, ChoosePort: portIsFree(w.c), Options: w.base, Cooldown: w.cool,
		Observe: func() tasks.Observer { return w.observer.next(w.c) },
		Keep: func(p sweep.Point, s *bench.Session, out *tasks.Outcome) error {
			return keepPoint(w.observer, w.m, p, s, out)
		},
		Add: func(i int, d *sweep.Done) error { return addGridPoint(w.grid.Combinations[i], w.store, d, w.m) }}
	all, err := r.Run(ctx)
	for i, c := range all {
		t := w.grid.Combinations[i]
		t.Failure = c.Failure
		if c.ReadyS != nil {
			t.ReadyS = c.ReadyS
		}
	}
	return w.finish(err)
}

// finish writes the grid's reports, whatever ended it, and says how it ended.
func (w *gridRun) finish(ended error) error {
	w.observer.close()
	state, reason := sweep.End(ended)
	first, failures := w.grid.First(), w.grid.Failures()
	why := strings.Join(failures, "; ")
	if ended == nil && len(failures) > 0 {
		state, reason = outputs.StateFailed, why
	}
	if first == nil {
		return w.nothing(ended, why, state, reason)
	}
	noEvidence := w.evidence(first)
	if noEvidence != nil {
		state, reason = outputs.StateFailed, noEvidence.Error()
	}
	unclosed := firstOf(noEvidence, w.store.Close(state, reason))
	var notes []string
	if ended != nil {
		notes = append(notes, "the grid is incomplete: "+ended.Error())
	}
	notes = append(notes, failures...)
	s, unwritten := gridReports(w.c, w.store, w.grid, notes, nil)
	unwritten = firstOf(unclosed, unwritten)
	if s != nil {
		if err := printGrid(w.c, w.grid, s); err != nil {
			return err
		}
		fmt.Fprintf(w.c.App.Writer, "\nGrid folder: %s\n", w.store.Run().Dir())
	}
	return bothSaid(unwritten, w.outcome(ended, failures))
}

// outcome is the error of a grid that was measured at least in part.
func (w *gridRun) outcome(ended error, failures []string) error {
	again := continueLine(w.c, "grid", w.store.Run())
	switch {
	case errors.Is(ended, sweep.ErrInterrupted):
		return fmt.Errorf("interrupted after %d runs; %s measures what is missing", w.grid.Runs(), again)
	case ended != nil:
		return pointsError(ended)
	case len(failures) > 0:
		return fmt.Errorf("%d of %d combinations were not measured in full (%s); %s tries them again", len(failures), len(w.grid.Combinations), strings.Join(failures, "; "), again)
	case w.slo != nil && w.grid.Best() == nil:
		return fmt.Errorf("no combination holds %s", w.slo.Text)
	}
	return nil
}

// nothing ends a grid of which no run was measured.
func (w *gridRun) nothing(ended error, why string, state outputs.RunState, reason string) error {
	discarded, err := w.store.Discard()
	if err != nil {
		return err
	}
	if !discarded {
		err = w.store.Close(state, reason)
	}
	switch {
	case errors.Is(ended, sweep.ErrInterrupted) && discarded:
		return errors.New("interrupted before the first run was measured")
	case errors.Is(ended, sweep.ErrInterrupted):
		return bothSaid(err, fmt.Errorf("interrupted before the first run was measured; %s continues", continueLine(w.c, "grid", w.store.Run())))
	case ended != nil:
		return bothSaid(err, pointsError(ended))
	}
	return bothSaid(err, &tasks.EnvironmentError{Err: errors.New("no combination could be measured: " + why)})
}

// evidence puts what the first run's manifest says of data and sampling into the
// grid's.
func (w *gridRun) evidence(first *tradeoff.Combination) error {
	if _, err := w.store.Evidence(w.store.Run().Path(filepath.FromSlash(first.Level.Runs[0].Dir)), nil); err != nil {
		return err
	}
	w.store.Manifest().Seeds = map[string]any{"base": w.base.Seed, "runs": "base + number of the repetition - 1, the same for all combinations"}
	return nil
}
