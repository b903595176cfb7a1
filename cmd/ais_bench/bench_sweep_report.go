package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/summarizers"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/metrics"
	"ais_bench/tasks"
	"ais_bench/tasks/sweep"
)

// finish writes the sweep's reports, whatever ended it, and says how it ended.
func (w *sweepRun) finish(ended error) error {
	w.observer.close()
	state, reason := outputs.StateDone, ""
	switch {
	case errors.Is(ended, sweep.ErrInterrupted):
		state, reason = outputs.StateInterrupted, "by the user"
	case ended != nil:
		state, reason = outputs.StateFailed, ended.Error()
	}
	if len(w.curve.Levels) == 0 {
		discarded, err := w.store.Discard()
		switch {
		case err != nil:
			return err
		case errors.Is(ended, sweep.ErrInterrupted) && discarded:
			return errors.New("interrupted before the first request")
		case errors.Is(ended, sweep.ErrInterrupted):
			ended = errors.New("interrupted before the first point was measured; --reuse continues")
		}
		ended = w.classify(ended)
		if !discarded {
			ended = errors.Join(ended, w.store.Close(state, reason))
		}
		return ended
	}
	d := &capacity.Document{Curve: w.curve, SLO: w.slo, Metrics: w.shown, Percentiles: w.more, ByLength: w.byLen}
	if w.answer != nil && ended == nil {
		d.Capacity = &capacity.Capacity{Highest: w.answer.Highest, Above: w.answer.Above, AboveState: capacity.Truth(w.answer.AboveState), Step: w.answer.Step,
			Headroom: w.c.Float64("headroom"), Recommended: w.advised}
		for _, t := range w.answer.Trials {
			d.Capacity.Tried = append(d.Capacity.Tried, capacity.Tried{Value: t.Value, State: capacity.Truth(t.State), Runs: t.Runs})
		}
	}
	if ended != nil {
		d.Notes = append(d.Notes, "the sweep is incomplete: "+ended.Error())
	}
	if err := w.evidence(); err != nil {
		return w.fail(err)
	}
	if err := w.store.Close(state, reason); err != nil {
		return err
	}
	s, err := sweepReports(w.c, w.store, d, w.m)
	if err != nil {
		return err
	}
	fmt.Fprintln(w.c.App.Writer)
	if err := printTables(w.c, s.Tables); err != nil {
		return err
	}
	fmt.Fprintf(w.c.App.Writer, "\nSweep folder: %s\n", w.store.Run().Dir())
	switch {
	case errors.Is(ended, sweep.ErrInterrupted):
		n := 0
		for _, l := range w.curve.Levels {
			n += len(l.Runs)
		}
		return fmt.Errorf("interrupted after %d points; `ais_bench bench sweep --reuse %s` measures what is missing", n, filepath.Base(w.store.Run().Dir()))
	case ended != nil:
		return w.classify(ended)
	case d.Capacity != nil && d.Capacity.Highest == nil:
		return fmt.Errorf("no load tried holds %s", d.Capacity.SLO)
	}
	return nil
}

// classify tells a caller's mistake from a failure of the surroundings and of a
// point.
func (w *sweepRun) classify(err error) error {
	var env *tasks.EnvironmentError
	var changed *sweep.ChangedError
	var prepare *sweep.PrepareError
	switch {
	case errors.As(err, &env):
		return ownFlags(err)
	case errors.As(err, &changed), errors.As(err, &prepare):
		return ownFlags(usage(err))
	}
	return ownFlags(err)
}

// evidence puts what the points' manifests say of service, data and sampling into
// the sweep's.
func (w *sweepRun) evidence() error {
	m := w.store.Manifest()
	first := w.curve.Levels[0].Runs[0]
	run, err := outputs.Open(w.store.Run().Path(filepath.FromSlash(first.Dir)))
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	of, err := run.ReadManifest()
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	m.Data, m.Sampling, m.ServerBefore, m.Checklist = of.Data, of.Sampling, of.ServerBefore, run.Checklist(of)
	m.Seeds = map[string]any{"base": w.base.Seed, "points": "derived from the base and the point's name; in each point's manifest"}
	workload := map[string]any{"axis": w.axis, "requests": "see num_prompts of each point in sweep.json"}
	for k, v := range w.store.Spec().Settings {
		workload[k] = v
	}
	m.Workload = workload
	return nil
}

// sweepReports computes and writes everything a sweep's folder holds.
func sweepReports(c *cli.Context, store *sweep.Store, d *capacity.Document, m metrics.Options) (*summarizers.Summary, error) {
	if err := d.Curve.Pool(m); err != nil {
		return nil, &tasks.EnvironmentError{Err: err}
	}
	d.Evaluate()
	spec := store.Spec()
	meta := map[string]any{"tool": toolInfo(), "settings": spec.Settings, "facts": spec.Facts, "plan": spec.Plan, "length_bounds": m.LengthBounds}
	lang := c.String("lang")
	if lang == "" {
		lang = "en"
	}
	s, err := summarizers.SweepReport(store.Run(), d, meta, summarizers.ReportOptions{Title: c.String("title"), Tool: "ais_bench " + versionLine(), Lang: lang,
		Excel: true, HTML: true, Notes: d.Texts()})
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: err}
	}
	return s, nil
}

// storedAnswer is what sweep.json keeps of a search.
type storedAnswer struct {
	Search *capacity.Capacity `json:"search"`
}

// reportSweep rebuilds a sweep's reports from its points (`ais_bench report
// SWEEP`).
func reportSweep(c *cli.Context, name string) error {
	store, err := sweep.Read(c.String("work-dir"), name, sweepKind)
	if err != nil {
		return err
	}
	spec := store.Spec()
	var plan map[string]string
	_ = json.Unmarshal(spec.Plan, &plan) // a plan that cannot be read tells nothing of how it is shown
	// What is not chosen now is shown as the sweep showed it.
	for _, flag := range []string{"metric-percentiles", "by-length-bucket", "title"} {
		value := plan[flag]
		if flag == "metric-percentiles" && value == "" {
			value = "50,95,99"
		}
		if value != "" && !c.IsSet(flag) {
			if err := c.Set(flag, value); err != nil {
				return usagef("the sweep's --%s: %w", flag, err)
			}
		}
	}
	m, err := metricOptions(c)
	if err != nil {
		return err
	}
	bounds := m.LengthBounds
	d := &capacity.Document{Curve: &capacity.Curve{Axis: capacity.Concurrency}, ByLength: bounds != nil, Percentiles: m.Percentiles}
	if spec.Settings["axis"] == sweep.RequestRate {
		d.Curve.Axis = capacity.RequestRate
	}
	d.Metrics = splitCommas([]string{plan["percentile-metrics"]})
	m.Percentiles = withPercentiles(m.Percentiles)
	if text := plan["slo"]; text != "" {
		if d.SLO, err = capacity.ParseSLO(text); err != nil {
			return usagef("the sweep's --slo %w", err)
		}
		m.Percentiles = append(m.Percentiles, d.SLO.Percentiles()...)
		var stored storedAnswer
		if err := outputs.ReadJSON(store.Run().Path("sweep.json"), &stored); err == nil {
			d.Capacity = stored.Search
		}
	}
	done, err := store.Points()
	if err != nil {
		return err
	}
	for _, p := range done {
		if err := addPoint(d.Curve, store.Run().Dir(), p, m); err != nil {
			return err
		}
	}
	if len(d.Curve.Levels) == 0 {
		return &tasks.EnvironmentError{Err: fmt.Errorf("%s has no point that is done: nothing to report", store.Run().Dir())}
	}
	s, err := sweepReports(c, store, d, m)
	if err != nil {
		return err
	}
	if err := printTables(c, s.Tables); err != nil {
		return err
	}
	for _, f := range s.Files {
		fmt.Fprintln(c.App.Writer, "wrote "+store.Run().Path(f))
	}
	return nil
}
