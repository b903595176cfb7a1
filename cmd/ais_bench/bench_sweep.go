package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/metrics"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
	"ais_bench/tasks/engine"
	"ais_bench/tasks/launch"
	"ais_bench/tasks/sweep"
)

// sweepKind names sweeps' folders and their description.
const sweepKind = "sweep"

// benchSweepCommand is `ais_bench bench sweep`.
func benchSweepCommand() *cli.Command {
	return &cli.Command{
		Name:      "sweep",
		Usage:     "measure at rising load: the knee, what limits the service, and the highest load that holds service levels",
		ArgsUsage: "[FILE]",
		Description: "Sweeps over --max-concurrency 1,4,8,… or --request-rate 1,2,4,…, or searches with --slo. FILE describes a sweep in JSON, TOML or YAML.\n" +
			"Every point is a run folder of its own; --reuse continues a sweep that was interrupted. docs/sweep.md explains rules and files.",
		Flags:  sweepFlags(),
		Action: benchSweep,
	}
}

// sweepRun is one command's work on a sweep.
type sweepRun struct {
	c      *cli.Context
	base   bench.Options
	axis   string
	values []float64 // nil for a search that starts by itself
	count  prompts
	runs   int // of every point
	slo    *capacity.SLO
	search sweep.Search
	m      metrics.Options
	view   sweepView
	gate   *gate // nil without a contract

	store    *sweep.Store
	runner   *sweep.Runner
	curve    *capacity.Curve
	observer *swapObserver
	answer   *sweep.Answer
	advised  *float64 // recommended load
	planned  int      // points of a list sweep; 0 in a search
	at       int
}

func benchSweep(c *cli.Context) error {
	if c.NArg() > 1 {
		return usagef("bench sweep: name one sweep file; %q is too many", c.Args().Get(1))
	}
	file := c.String("config")
	if c.NArg() == 1 {
		if file != "" {
			return usagef("bench sweep: --config %s and %s both name a sweep file: leave one out", file, c.Args().First())
		}
		file = c.Args().First()
	}
	if file != "" {
		if err := applySweepFile(c, file); err != nil {
			return err
		}
	}
	w := &sweepRun{c: c}
	if c.IsSet("reuse") {
		return w.resume()
	}
	if err := w.prepare(); err != nil {
		return err
	}
	if err := w.openGate(nil); err != nil {
		return err
	}
	if c.Bool("dry-run") {
		return w.dryRun()
	}
	settings, plan := w.describe()
	red := sweepRedactor(c, &w.base)
	var err error
	w.store, err = sweep.Create(w.base.WorkDir, sweep.Spec{Kind: sweepKind, Settings: scrubbed(settings, red), Plan: planJSON(scrubbed(plan, red))}, red, toolInfo(), commandLine())
	if err != nil {
		return err
	}
	if err := w.store.Attach(w.gate.attachments()...); err != nil {
		return w.fail(err)
	}
	return w.run()
}

// resume continues a sweep: what the command line leaves out is as it was.
func (w *sweepRun) resume() error {
	c := w.c
	old, err := sweep.Read(c.String("work-dir"), c.String("reuse"), sweepKind)
	if err != nil {
		return err
	}
	if err := w.restore(old.Spec()); err != nil {
		return err
	}
	// What was changed is told before anything else that may be wrong with it.
	settings, _ := w.describe()
	o, err := requestOptions(c)
	if err != nil {
		return ownFlags(err)
	}
	keyFromEnvironment(&o)
	red := sweepRedactor(c, &o)
	if err := old.Match(scrubbed(settings, red)); err != nil {
		return usage(err)
	}
	if err := w.prepare(); err != nil {
		return err
	}
	if err := w.openGate(old); err != nil {
		return err
	}
	if c.Bool("dry-run") {
		w.store = old
		return w.dryRun()
	}
	if w.store, err = sweep.Open(c.String("work-dir"), c.String("reuse"), sweepKind, red, toolInfo(), commandLine()); err != nil {
		return err
	}
	_, plan := w.describe()
	if err := errors.Join(w.store.SetPlan(scrubbed(plan, red)), w.store.Attach(w.gate.attachments()...)); err != nil {
		return err
	}
	return w.run()
}

// sweepRedactor knows the secrets of the service and of a launched engine's command.
func sweepRedactor(c *cli.Context, o *bench.Options) *outputs.Redactor {
	return outputs.NewRedactor(append(o.Secrets(), engine.Secrets(c.String("launch"), os.Environ())...)...)
}

// keyFromEnvironment takes the key that scripts export.
func keyFromEnvironment(o *bench.Options) {
	if o.APIKey == "" && os.Getenv("OPENAI_API_KEY") != "" {
		o.APIKey = "${OPENAI_API_KEY}"
	}
}

// points are the points of a list sweep: all values once, then again, so that
// runs of one value do not share the minute they were measured in.
func (w *sweepRun) points() []sweep.Point {
	var list []sweep.Point
	for run := 1; run <= w.runs; run++ {
		for _, v := range w.values {
			list = append(list, sweep.At(w.axis, v, run))
		}
	}
	return list
}

// options are those of one point.
func (w *sweepRun) options(p sweep.Point, attempt int) (bench.Options, error) {
	v, _ := p.Value(w.axis)
	o := w.base
	o.Body = maps.Clone(w.base.Body)
	o.Seed = sweep.Seed(w.base.Seed, p, attempt)
	if o.Workload.CacheBust != "" {
		o.Workload.CacheBust += fmt.Sprint("-", o.Seed)
	}
	if w.axis == sweep.Concurrency {
		o.MaxConcurrency = int(v)
	} else {
		o.RequestRate = v
	}
	o.Workload.NumPrompts = w.count.of(max(slices.Index(w.values, v), 0), v)
	o.Observer = w.observer.next(w.c)
	w.at++
	of := ""
	if w.planned > 0 {
		of = fmt.Sprintf(" of %d", w.planned)
	}
	w.observer.Note(fmt.Sprintf("point %d%s: %s, run %d: %s", w.at, of, loadText(w.axis, v), p.Run, outputs.Counted(o.Workload.NumPrompts, "request")))
	return o, nil
}

// dryRun prints what would be measured.
func (w *sweepRun) dryRun() error {
	t := outputs.Table{Title: "Sweep over " + w.axis, Columns: []outputs.Column{{Name: "Load"}, {Name: "Run", Kind: outputs.KindInt}, {Name: "Requests", Kind: outputs.KindInt}, {Name: "State"}}}
	total := 0
	values := w.points()
	if w.slo != nil {
		values = nil
		for _, v := range w.search.Steps {
			for run := 1; run <= w.runs; run++ {
				values = append(values, sweep.At(w.axis, v, run))
			}
		}
	}
	for _, p := range values {
		v, _ := p.Value(w.axis)
		state := "to measure"
		if w.store != nil {
			if d, err := w.store.Done(p); err != nil {
				return err
			} else if d != nil {
				state = "done"
			}
		}
		n := w.count.of(max(slices.Index(w.values, v), 0), v)
		if state != "done" {
			total += n
		}
		t.AddRow(loadText(w.axis, v), p.Run, n, state)
	}
	t.Notes = append(t.Notes, outputs.Counted(total, "request"))
	if w.slo != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("coarse steps of the search for %s; it ends at the first that does not hold, and then halves the gap", w.slo))
	}
	return printTables(w.c, []outputs.Table{t})
}

// run measures and reports.
func (w *sweepRun) run() error {
	c := w.c
	w.observer = observePoints(c)
	defer w.observer.close()
	ctx, stop, cut, end := interrupts(c.Context, w.observer.Note, &w.observer.sending)
	defer end()
	cool, err := models.ParseDuration(c.String("cooldown"))
	if err != nil || cool < 0 {
		return w.fail(usagef("--cooldown %s: give seconds or a duration like 30s", c.String("cooldown")))
	}
	l, err := readLaunch(c)
	if err != nil {
		return w.fail(err)
	}
	w.curve = &capacity.Curve{Axis: capacity.Concurrency}
	if w.axis == sweep.RequestRate {
		w.curve.Axis = capacity.RequestRate
	}
	if err := w.known(); err != nil {
		return w.fail(err)
	}
	w.base.Observer, w.base.Stop, w.base.Cut = w.observer, stop, cut
	before, cancel := tasks.UntilStopped(ctx, stop)
	launched, err := launchFor(before, l, c, &w.base)
	interrupted := before.Err() != nil
	cancel()
	if launched != nil {
		defer launched.Stop()
	}
	if interrupted {
		return w.finish(sweep.ErrInterrupted)
	}
	if err != nil {
		return w.fail(err)
	}
	w.runner = &sweep.Runner{Store: w.store, Options: w.options, Keep: w.keep, Cooldown: time.Duration(cool), Note: w.observer.Note, Stop: w.base.Stop}
	if w.slo != nil {
		err = w.find(ctx)
	} else {
		err = w.list(ctx)
	}
	died := ""
	if launched != nil {
		died = launched.Died()
		launched.Stop() // reports need no engine
		launch.KeepLog(launched, w.store.Run())
	}
	return launch.Blame(died, w.finish(err))
}

// known puts the points that are done into the curve.
func (w *sweepRun) known() error {
	done, err := w.store.Points()
	if err != nil {
		return err
	}
	for _, d := range done {
		if err := w.add(d); err != nil {
			return err
		}
	}
	if len(done) > 0 {
		w.observer.Note(fmt.Sprintf("%d points are done and kept", len(done)))
	}
	return nil
}

// add puts a point into the curve.
func (w *sweepRun) add(d *sweep.Done) error {
	return addPoint(w.curve, w.store.Run().Dir(), d, w.m)
}

// addPoint computes a point's figures; points of another axis are left out.
func addPoint(curve *capacity.Curve, root string, d *sweep.Done, m metrics.Options) error {
	v, ok := d.Point.Value(curve.Axis.Name)
	if !ok {
		return nil
	}
	s, err := pointSource(d)
	if err != nil {
		return err
	}
	s.Value = v
	if err := curve.AddFrom(root, s, m); err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	return nil
}

// measure measures one point and puts it into the curve.
func (w *sweepRun) measure(ctx context.Context, p sweep.Point) error {
	v, _ := p.Value(w.axis)
	if l := w.curve.At(v); l != nil && slices.ContainsFunc(l.Runs, func(r capacity.Run) bool { return r.Number == p.Run }) {
		w.at++
		return nil
	}
	d, err := w.runner.Measure(ctx, p)
	if err != nil {
		return err
	}
	if err := w.add(d); err != nil {
		return err
	}
	l := w.curve.At(v)
	i := slices.IndexFunc(l.Runs, func(r capacity.Run) bool { return r.Number == p.Run })
	w.observer.Note(l.Runs[i].Line())
	return nil
}

func (w *sweepRun) list(ctx context.Context) error {
	points := w.points()
	w.planned = len(points)
	for _, p := range points {
		if err := w.measure(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// find searches, then measures the recommended load too.
func (w *sweepRun) find(ctx context.Context) error {
	measure := func(v float64, run int) error { return w.measure(ctx, sweep.At(w.axis, v, run)) }
	judge := func(v float64) (sweep.State, error) {
		j := w.slo.Judge(w.curve.At(v))
		if len(j.Undefined) > 0 {
			return "", fmt.Errorf("--slo: %s is undefined at %s (see docs/metrics.md): no data is never a pass", strings.Join(j.Undefined, ", "), loadText(w.axis, v))
		}
		if len(j.Weak) > 0 {
			w.observer.once(fmt.Sprintf("note: %s: a run has too few requests to support this percentile (p90 needs 10, p95 20, p99 100); --num-prompts gives more", strings.Join(j.Weak, ", ")))
		}
		w.observer.Note(fmt.Sprintf("%s: %s after %d runs (%s)", loadText(w.axis, v), j.State, j.Runs, w.slo))
		return sweep.State(j.State), nil
	}
	var err error
	w.answer, err = w.search.Find(measure, judge)
	if err != nil || w.answer.Highest == nil {
		return err
	}
	advised := w.curve.Axis.RecommendedLoad(*w.answer.Highest, w.c.Float64("headroom"))
	w.advised = &advised
	_, err = w.search.Try(advised, measure, judge)
	return err
}

// keep writes a point's own reports and tells its notes.
func (w *sweepRun) keep(p sweep.Point, s *bench.Session, out *tasks.Outcome) error {
	return keepPoint(w.observer, w.m, p, s, out)
}

// fail closes the store of a sweep that could not go on.
func (w *sweepRun) fail(err error) error {
	if discarded, e := w.store.Discard(); discarded || e != nil {
		return errors.Join(err, e)
	}
	return errors.Join(err, w.store.Close(outputs.StateFailed, err.Error()))
}
