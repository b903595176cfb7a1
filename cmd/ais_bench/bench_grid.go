package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/summarizers"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/metrics"
	"ais_bench/summarizers/tradeoff"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
	"ais_bench/tasks/engine"
	"ais_bench/tasks/sweep"
)

// gridKind names grids' folders and their description.
const gridKind = "grid"

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
	launch launchSpec
	base   bench.Options
	params []gridParam
	runs   int // of every combination
	cool   time.Duration
	slo    *capacity.SLO
	m      metrics.Options

	store    *sweep.Store
	grid     *tradeoff.Grid
	observer *swapObserver
	told     map[string]bool
	at       int // points begun, done ones included
}

func benchGrid(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	w := &gridRun{c: c, told: map[string]bool{}}
	var old *sweep.Store
	if c.IsSet("reuse") {
		var err error
		if old, err = sweep.Read(c.String("work-dir"), c.String("reuse"), gridKind); err != nil {
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
	secrets := append(w.base.Secrets(), engine.Secrets(w.launch.command, nil)...)
	red := outputs.NewRedactor(secrets...)
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
		w.store, err = sweep.Create(w.base.WorkDir, sweep.Spec{Kind: gridKind, Settings: settings, Plan: planJSON(plan)}, red, toolInfo(), commandLine())
	} else if w.store, err = sweep.Open(c.String("work-dir"), c.String("reuse"), gridKind, red, toolInfo(), commandLine()); err == nil {
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
	if w.launch.command == "" {
		return usagef("bench grid: --launch is missing: the command that starts an engine, with {name} for every --param name=V1,V2,…")
	}
	if w.params, err = parseParams(c.StringSlice("param")); err != nil {
		return err
	}
	if err := w.checkPlaceholders(); err != nil {
		return err
	}
	if w.runs = c.Int("num-runs"); w.runs < 1 || w.runs > 1000 {
		return usagef("--num-runs %d: give 1 to 1000", w.runs)
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

// checkPlaceholders fills the first combination in, so that a placeholder without
// a value and a value without a placeholder are found before anything starts.
func (w *gridRun) checkPlaceholders() error {
	values := map[string]string{"host": "127.0.0.1", "port": "8000"}
	var names []string
	for _, p := range w.params {
		values[p.name] = p.values[0]
		names = append(names, p.name)
	}
	if _, err := engine.Expand(w.launch.command, values, names...); err != nil {
		return usagef("--launch: %w", err)
	}
	return nil
}

// combinations are all settings of the parameters, the last one varying fastest.
func combinations(params []gridParam) [][]sweep.Setting {
	list := [][]sweep.Setting{nil}
	for _, p := range params {
		var next [][]sweep.Setting
		for _, c := range list {
			for _, v := range p.values {
				next = append(next, append(slices.Clone(c), sweep.Setting{Name: p.name, Value: v}))
			}
		}
		list = next
	}
	return list
}

// command is the command of one combination; {host} and {port} stay open.
func (w *gridRun) command(c []sweep.Setting) (launchSpec, error) {
	l := w.launch
	values := map[string]string{"host": "{host}", "port": "{port}"}
	for _, s := range c {
		values[s.Name] = s.Value
	}
	var err error
	l.command, err = engine.Expand(l.command, values)
	return l, err
}

// dryRun prints what would be started and measured.
func (w *gridRun) dryRun(red *outputs.Redactor) error {
	t := outputs.Table{Title: "Grid (dry run: nothing is started)", Columns: []outputs.Column{{Name: "Combination"}, {Name: "Runs", Kind: outputs.KindInt}, {Name: "Done", Kind: outputs.KindInt}}}
	for _, c := range combinations(w.params) {
		done := 0
		for run := 1; run <= w.runs && w.store != nil; run++ {
			d, err := w.store.Done(sweep.Point{Settings: c, Run: run})
			if err != nil {
				return err
			}
			if d != nil {
				done++
			}
		}
		l, err := w.command(c)
		if err != nil {
			return usagef("--launch: %w", err)
		}
		t.AddRow(settingsText(c), w.runs, done)
		t.Notes = append(t.Notes, settingsText(c)+": "+red.String(l.command)) // cells are cut to a width
	}
	t.Notes = append(t.Notes, fmt.Sprintf("%d requests a run", w.base.Workload.NumPrompts))
	return printTables(w.c, []outputs.Table{t})
}

func settingsText(c []sweep.Setting) string {
	parts := make([]string, len(c))
	for i, s := range c {
		parts[i] = s.Name + " " + s.Value
	}
	return strings.Join(parts, ", ")
}

// run measures and reports.
func (w *gridRun) run() error {
	w.observer = &swapObserver{w: w.c.App.ErrWriter, quiet: w.c.Bool("disable-tqdm")}
	defer w.observer.close()
	ctx, stop, cut, end := interrupts(w.c.Context, w.observer.Note)
	defer end()
	w.grid = &tradeoff.Grid{SLO: w.slo}
	for _, p := range w.params {
		w.grid.Params = append(w.grid.Params, p.name)
	}
	all := combinations(w.params)
	for _, settings := range all {
		t := &tradeoff.Combination{}
		for _, s := range settings {
			t.Settings = append(t.Settings, tradeoff.Setting(s))
		}
		w.grid.Combinations = append(w.grid.Combinations, t)
	}
	w.base.Observer, w.base.Cut = w.observer, cut
	var ended error
	for i, settings := range all {
		if err := w.combination(ctx, stop, settings, w.grid.Combinations[i]); err != nil {
			ended = err
			break
		}
	}
	return w.finish(ended)
}

// combination measures what is missing of one combination. The error ends the
// grid; what concerns this engine alone becomes the combination's failure.
func (w *gridRun) combination(ctx context.Context, stop <-chan struct{}, settings []sweep.Setting, t *tradeoff.Combination) error {
	var missing []sweep.Point
	for run := 1; run <= w.runs; run++ {
		p := sweep.Point{Settings: settings, Run: run}
		d, err := w.store.Done(p)
		switch {
		case err != nil:
			return err
		case d == nil:
			missing = append(missing, p)
			continue
		}
		w.at++
		if err := w.add(t, d); err != nil {
			return err
		}
	}
	if len(missing) == 0 {
		w.observer.Note(fmt.Sprintf("%s: all %d runs are done and kept", settingsText(settings), w.runs))
		return nil
	}
	l, err := w.command(settings)
	if err != nil {
		return usagef("--launch: %w", err)
	}
	w.observer.Note(fmt.Sprintf("combination %s: %d runs to measure", settingsText(settings), len(missing)))
	o := w.base
	o.Stop = stop
	starting, cancel := tasks.UntilStopped(ctx, stop)
	e, err := launchFor(starting, l, w.c, &o)
	interrupted := starting.Err() != nil
	cancel()
	switch {
	case interrupted:
		if e != nil {
			e.Stop()
		}
		return sweep.ErrInterrupted
	case err != nil:
		var env *tasks.EnvironmentError
		if !errors.As(err, &env) {
			return err
		}
		t.Failure = err.Error()
		w.observer.Note("WARNING: " + settingsText(settings) + ": " + err.Error())
		return nil
	}
	defer e.Stop()
	t.ReadyS = e.Facts().ReadyAfterS
	r := &sweep.Runner{Store: w.store, Cooldown: w.cool, Note: w.observer.Note, Stop: o.Stop, Keep: w.keep,
		Options: func(p sweep.Point, attempt int) (bench.Options, error) { return w.options(o, p), nil }}
	var measured []string
	for _, p := range missing {
		d, err := r.Measure(ctx, p)
		if err == nil {
			measured = append(measured, d.Dir)
			if err = w.add(t, d); err != nil {
				return err
			}
			continue
		}
		if err = w.concerns(err, e, stop, settings, t); err != nil {
			return err
		}
		break
	}
	e.Stop()
	var runs []*outputs.Run
	for _, dir := range measured {
		if run, err := outputs.Open(dir); err == nil {
			run.SetRedactor(outputs.NewRedactor(append(o.Secrets(), o.ServerOptions.Secrets...)...))
			runs = append(runs, run)
		}
	}
	keepEngineLog(e, runs...)
	return nil
}

// concerns tells an error that ends the grid, which it returns, from one of this
// engine, which becomes the combination's failure.
func (w *gridRun) concerns(err error, e *engine.Engine, stop <-chan struct{}, settings []sweep.Setting, t *tradeoff.Combination) error {
	var changed *sweep.ChangedError
	var prepare *sweep.PrepareError
	var env *tasks.EnvironmentError
	userStopped := false
	select {
	case <-stop:
		userStopped = true
	default:
	}
	switch died := e.Died(); {
	case userStopped && errors.Is(err, sweep.ErrInterrupted):
		return err
	case died != "":
		t.Failure = "the engine ended during the run: " + died
	case errors.As(err, &changed), errors.As(err, &prepare) && !errors.As(err, &env):
		return err
	default:
		t.Failure = err.Error()
	}
	w.observer.Note("WARNING: " + settingsText(settings) + ": " + t.Failure)
	return nil
}

// options are those of one run: the same prompts and arrivals for all
// combinations, others for every repetition.
func (w *gridRun) options(o bench.Options, p sweep.Point) bench.Options {
	o.Body = maps.Clone(o.Body)
	o.Seed = w.base.Seed + int64(p.Run) - 1
	w.at++
	o.Observer = &onceObserver{Observer: w.observer.next(w.c), once: w.once}
	w.observer.Note(fmt.Sprintf("run %d of %d: %s", w.at, len(combinations(w.params))*w.runs, p))
	return o
}

// once tells a line only the first time.
func (w *gridRun) once(line string) {
	if !w.told[line] {
		w.told[line] = true
		w.observer.Note(line)
	}
}

// onceObserver tells what every run has to say only once.
type onceObserver struct {
	tasks.Observer
	once func(string)
}

// Note implements tasks.Observer.
func (o *onceObserver) Note(line string) { o.once(line) }

// keep writes a run's own reports.
func (w *gridRun) keep(p sweep.Point, s *bench.Session, out *tasks.Outcome) error {
	w.observer.Note("")
	for _, n := range append(slices.Clone(s.Notes), out.Warnings...) {
		w.once("note: " + out.Run.Redactor().String(n))
	}
	_, err := summarizers.Report(out.Run, summarizers.ReportOptions{Title: p.String(), Tool: "ais_bench " + versionLine(), Lang: "en",
		Performance: true, Metrics: w.m, Excel: true, HTML: true, Notes: s.Notes})
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	return nil
}

// add puts a run that is done into its combination.
func (w *gridRun) add(t *tradeoff.Combination, d *sweep.Done) error {
	return addGridPoint(t, w.store, d, w.m)
}

// addGridPoint computes a run's figures from its records.
func addGridPoint(t *tradeoff.Combination, store *sweep.Store, d *sweep.Done, m metrics.Options) error {
	var r sweep.Measured
	if err := json.Unmarshal(d.Result, &r); err != nil {
		return &tasks.EnvironmentError{Err: fmt.Errorf("read %s: %w", d.Dir, err)}
	}
	var one capacity.Curve
	if err := one.AddFrom(store.Run().Dir(), capacity.Source{Number: d.Point.Run, Dir: d.Dir, Model: r.Model, Dataset: r.Dataset, NumPrompts: r.NumPrompts, Seed: r.Seed}, m); err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	t.Level.Runs = append(t.Level.Runs, one.Levels[0].Runs[0])
	if run, err := outputs.Open(d.Dir); err == nil && t.ReadyS == nil {
		if of, err := run.ReadManifest(); err == nil && of.Engine != nil {
			t.ReadyS = of.Engine.ReadyAfterS
		}
	}
	return nil
}

// finish writes the grid's reports, whatever ended it, and says how it ended.
func (w *gridRun) finish(ended error) error {
	w.observer.close()
	state, reason := outputs.StateDone, ""
	runs, failed := 0, 0
	var first *tradeoff.Combination
	var why []string
	for _, c := range w.grid.Combinations {
		runs += len(c.Level.Runs)
		if c.Measured() && first == nil {
			first = c
		}
		if c.Failure != "" {
			failed++
			why = append(why, c.Name()+": "+c.Failure)
		}
	}
	switch {
	case errors.Is(ended, sweep.ErrInterrupted):
		state, reason = outputs.StateInterrupted, "by the user"
	case ended != nil:
		state, reason = outputs.StateFailed, ended.Error()
	case failed > 0:
		state, reason = outputs.StateFailed, strings.Join(why, "; ")
	}
	if first == nil {
		return w.nothing(ended, why, state, reason)
	}
	if err := w.evidence(first); err != nil {
		return errors.Join(err, w.store.Close(outputs.StateFailed, err.Error()))
	}
	if err := w.store.Close(state, reason); err != nil {
		return err
	}
	var notes []string
	if ended != nil {
		notes = append(notes, "the grid is incomplete: "+ended.Error())
	}
	notes = append(notes, why...)
	s, err := gridReports(w.c, w.store, w.grid, notes, nil)
	if err != nil {
		return err
	}
	if err := printGrid(w.c, w.grid, s); err != nil {
		return err
	}
	fmt.Fprintf(w.c.App.Writer, "\nGrid folder: %s\n", w.store.Run().Dir())
	again := continueLine(w.c, "grid", w.store.Run())
	switch {
	case errors.Is(ended, sweep.ErrInterrupted):
		return fmt.Errorf("interrupted after %d runs; %s measures what is missing", runs, again)
	case ended != nil:
		return gridError(ended)
	case failed > 0:
		return fmt.Errorf("%d of %d combinations were not measured in full (%s); %s tries them again", failed, len(w.grid.Combinations), strings.Join(why, "; "), again)
	case w.slo != nil && !slices.ContainsFunc(w.grid.Combinations, func(c *tradeoff.Combination) bool { return c.Best }):
		return fmt.Errorf("no combination holds %s", w.slo.Text)
	}
	return nil
}

// nothing ends a grid of which no run was measured.
func (w *gridRun) nothing(ended error, why []string, state outputs.RunState, reason string) error {
	discarded, err := w.store.Discard()
	if err != nil {
		return err
	}
	if !discarded {
		if err := w.store.Close(state, reason); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(ended, sweep.ErrInterrupted):
		if discarded {
			return errors.New("interrupted before the first run was measured")
		}
		return fmt.Errorf("interrupted before the first run was measured; %s continues", continueLine(w.c, "grid", w.store.Run()))
	case ended != nil:
		return gridError(ended)
	}
	return &tasks.EnvironmentError{Err: errors.New("no combination could be measured: " + strings.Join(why, "; "))}
}

// gridError tells a caller's mistake from a failure of the surroundings.
func gridError(err error) error {
	var env *tasks.EnvironmentError
	var changed *sweep.ChangedError
	var prepare *sweep.PrepareError
	if !errors.As(err, &env) && (errors.As(err, &changed) || errors.As(err, &prepare)) {
		return ownFlags(usage(err))
	}
	return ownFlags(err)
}

// evidence puts what the first run's manifest says of data and sampling into the
// grid's.
func (w *gridRun) evidence(first *tradeoff.Combination) error {
	run, err := outputs.Open(w.store.Run().Path(filepath.FromSlash(first.Level.Runs[0].Dir)))
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	of, err := run.ReadManifest()
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	m := w.store.Manifest()
	m.Data, m.Sampling = of.Data, of.Sampling
	if m.Checklist, err = w.store.Checklist(); err != nil {
		return err
	}
	m.Seeds = map[string]any{"base": w.base.Seed, "runs": "base + number of the repetition - 1, the same for all combinations"}
	workload := map[string]any{}
	for k, v := range w.store.Spec().Settings {
		workload[k] = v
	}
	m.Workload = workload
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
	s, err := summarizers.GridReport(store.Run(), g, meta, summarizers.ReportOptions{Title: c.String("title"), Tool: "ais_bench " + versionLine(), Lang: lang,
		Excel: true, HTML: true, Formats: formats, Findings: g.Texts, Notes: notes})
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: err}
	}
	return s, nil
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
