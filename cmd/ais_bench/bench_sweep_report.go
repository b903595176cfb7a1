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
	"ais_bench/summarizers/contract"
	"ais_bench/summarizers/metrics"
	"ais_bench/summarizers/verify"
	"ais_bench/tasks"
	"ais_bench/tasks/sweep"
)

// finish writes the sweep's reports, whatever ended it, and says how it ended.
func (w *sweepRun) finish(ended error) error {
	w.observer.close()
	state, reason := sweep.End(ended)
	if len(w.curve.Levels) == 0 {
		discarded, err := w.store.Discard()
		switch {
		case err != nil:
			return err
		case errors.Is(ended, sweep.ErrInterrupted) && discarded:
			return errUnsent
		case errors.Is(ended, sweep.ErrInterrupted):
			ended = fmt.Errorf("interrupted before the first point was measured; %s continues", continueLine(w.c, "sweep", w.store.Run()))
		}
		ended = pointsError(ended)
		if !discarded {
			ended = bothSaid(w.store.Close(state, reason), ended)
		}
		return ended
	}
	d := w.view.document(w.axis, w.slo)
	d.Curve = w.curve
	if w.answer != nil && ended == nil {
		d.Capacity = &capacity.Capacity{Highest: w.answer.Highest, Above: w.answer.Above, AboveState: capacity.Truth(w.answer.AboveState), Step: w.answer.Step,
			Headroom: w.c.Float64("headroom"), Recommended: w.advised}
		for _, t := range w.answer.Trials {
			d.Capacity.Tried = append(d.Capacity.Tried, capacity.Tried{Value: t.Value, State: capacity.Truth(t.State), Runs: t.Runs})
		}
	}
	noEvidence := w.evidence()
	if noEvidence != nil {
		state, reason = outputs.StateFailed, noEvidence.Error()
	}
	unclosed := firstOf(noEvidence, w.store.Close(state, reason))
	if err := evaluateSweep(d, w.m, state, reason); err != nil {
		return bothSaid(unclosed, err)
	}
	v, gateErr := w.gate.keepSweep(w.store, d, w.view)
	s, unwritten := writeSweep(w.c, w.store, d, w.view, nil, v)
	unwritten = firstOf(unclosed, unwritten, w.gate.write(w.store.Run(), v))
	if s == nil {
		return bothSaid(unwritten, w.outcome(ended, d, v, gateErr))
	}
	fmt.Fprintln(w.c.App.Writer)
	if err := printTables(w.c, s.Tables); err != nil {
		return err
	}
	fmt.Fprintf(w.c.App.Writer, "\n%s\n\nSweep folder: %s\n", outputs.ChecklistLine(s.Checklist), w.store.Run().Dir())
	if v != nil {
		fmt.Fprintln(w.c.App.Writer)
		if err := printVerdict(w.c, w.gate, v); err != nil {
			return err
		}
	}
	return bothSaid(unwritten, w.outcome(ended, d, v, gateErr))
}

// outcome is the error of a sweep that was measured at least in part.
func (w *sweepRun) outcome(ended error, d *capacity.Document, v *contract.Verdict, gateErr error) error {
	switch {
	case errors.Is(ended, sweep.ErrInterrupted):
		n := 0
		for _, l := range w.curve.Levels {
			n += len(l.Runs)
		}
		return fmt.Errorf("interrupted after %d points; %s measures what is missing", n, continueLine(w.c, "sweep", w.store.Run()))
	case ended != nil:
		return pointsError(ended)
	case gateErr != nil:
		return gateErr
	case v != nil:
		return verdictErr(v)
	case d.Capacity != nil && d.Capacity.Highest == nil:
		return fmt.Errorf("no load tried holds %s", d.Capacity.SLO)
	}
	return nil
}

// evidence puts what the points' manifests say of service, data and sampling into
// the sweep's.
func (w *sweepRun) evidence() error {
	first := w.curve.Levels[0].Runs[0]
	of, err := w.store.Evidence(w.store.Run().Path(filepath.FromSlash(first.Dir)), map[string]any{"axis": w.axis, "requests": "see num_prompts of each point in sweep.json"})
	if err != nil {
		return err
	}
	m := w.store.Manifest()
	m.ServerBefore = of.ServerBefore
	m.Seeds = map[string]any{"base": w.base.Seed, "points": "derived from the base and the point's name; in each point's manifest"}
	return nil
}

// sweepView is what of a sweep is shown; sweep.json keeps it, so that the files can
// be made again.
type sweepView struct {
	Percentiles  []float64 `json:"percentiles"`
	LengthBounds []int     `json:"length_bounds"`
	Latencies    []string  `json:"latencies"`
	Goodput      []string  `json:"goodput"`
}

// metrics are the options that the view needs figures computed with.
func (v sweepView) metrics(slo *capacity.SLO) (metrics.Options, error) {
	slos, err := metrics.ParseSLOs(v.Goodput)
	o := metrics.Options{SLOs: slos, Percentiles: withPercentiles(v.Percentiles), LengthBounds: v.LengthBounds}
	if slo != nil {
		o.Percentiles = append(o.Percentiles, slo.Percentiles()...)
	}
	return o, err
}

// document is a sweep's empty document of that view.
func (v sweepView) document(axis string, slo *capacity.SLO) *capacity.Document {
	d := &capacity.Document{Curve: &capacity.Curve{Axis: capacity.Concurrency}, SLO: slo, Metrics: v.Latencies, Percentiles: v.Percentiles, ByLength: v.LengthBounds != nil}
	if axis == sweep.RequestRate {
		d.Curve.Axis = capacity.RequestRate
	}
	return d
}

// incomplete says why a sweep or a grid ended early, "" when it did not.
func incomplete(what string, state outputs.RunState, reason string) string {
	switch {
	case state == outputs.StateDone:
		return ""
	case state == outputs.StateRunning: // it left no reason
		return fmt.Sprintf("the %s is incomplete: it is still going on, or it was killed", what)
	case reason == "":
		return fmt.Sprintf("the %s is incomplete (%s)", what, state)
	}
	return fmt.Sprintf("the %s is incomplete (%s): %s", what, state, reason)
}

// evaluateSweep draws a document's conclusions; nothing is written.
func evaluateSweep(d *capacity.Document, m metrics.Options, state outputs.RunState, reason string) error {
	if note := incomplete("sweep", state, reason); note != "" {
		d.Notes = append(d.Notes, note)
	}
	if err := d.Curve.Pool(m); err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	d.Evaluate()
	return nil
}

// writeSweep writes what a sweep's folder holds: everything, or the formats named.
// verdict may be nil.
func writeSweep(c *cli.Context, store *sweep.Store, d *capacity.Document, v sweepView, formats []string, verdict *contract.Verdict) (*summarizers.Summary, error) {
	spec := store.Spec()
	meta := map[string]any{"tool": toolInfo(), "settings": spec.Settings, "facts": spec.Facts, "plan": spec.Plan, "shown": v}
	lang := c.String("lang")
	if lang == "" {
		lang = "en"
	}
	return madeReports(summarizers.SweepReport(store.Run(), d, meta, summarizers.ReportOptions{Title: c.String("title"), Tool: "ais_bench " + versionLine(), Lang: lang,
		Excel: true, HTML: true, Formats: formats, Findings: d.Texts(), Notes: d.Notes, Verdict: reportOf(verdict)}))
}

// storedSweep is what of sweep.json cannot be computed from the points: what the
// search did, and what was shown.
type storedSweep struct {
	Search *capacity.Capacity `json:"search"`
	Shown  *sweepView         `json:"shown"`
}

// rebuildSweep makes a sweep's document from its points.
func rebuildSweep(store *sweep.Store, v sweepView) (*capacity.Document, error) {
	spec := store.Spec()
	var plan map[string]string
	_ = json.Unmarshal(spec.Plan, &plan) // a plan that cannot be read names no condition
	var slo *capacity.SLO
	var err error
	if text := plan["slo"]; text != "" {
		if slo, err = capacity.ParseSLO(text); err != nil {
			return nil, usagef("the sweep's --slo %w", err)
		}
	}
	m, err := v.metrics(slo)
	if err != nil {
		return nil, usage(err)
	}
	d := v.document(spec.Settings["axis"], slo)
	if slo != nil {
		var stored storedSweep
		if err := outputs.ReadJSON(store.Run().Path("sweep.json"), &stored); err == nil {
			d.Capacity = stored.Search
		}
	}
	done, err := store.Points()
	if err != nil {
		return nil, err
	}
	for _, p := range done {
		if err := addPoint(d.Curve, store.Run().Dir(), p, m); err != nil {
			return nil, err
		}
	}
	if len(d.Curve.Levels) == 0 {
		return nil, &tasks.EnvironmentError{Err: fmt.Errorf("%s has no point that is done: nothing to report", store.Run().Dir())}
	}
	man := store.Manifest()
	return d, evaluateSweep(d, m, man.State, man.StateReason)
}

// reportSweep rebuilds a sweep's reports from its points (`ais_bench report
// SWEEP`). What is not chosen now is shown as it was.
func reportSweep(c *cli.Context, name string, formats []string) error {
	store, err := sweep.Read(c.String("work-dir"), name, sweepKind)
	if err != nil {
		return err
	}
	if err := warnOfPoints(c, store); err != nil {
		return err
	}
	v := shownBefore(store)
	if c.IsSet("metric-percentiles") {
		if v.Percentiles, err = percentiles(c); err != nil {
			return err
		}
	}
	if c.IsSet("goodput") {
		v.Goodput = c.StringSlice("goodput")
	}
	if c.IsSet("by-length-bucket") {
		if v.LengthBounds, err = lengthBounds(c); err != nil {
			return err
		}
	}
	d, err := rebuildSweep(store, v)
	if err != nil {
		return err
	}
	m, err := v.metrics(d.SLO)
	if err != nil {
		return usage(err)
	}
	g, verdict, err := reportVerdict(c, store.Run(), m)
	if err != nil {
		return err
	}
	s, unwritten := writeSweep(c, store, d, v, formats, verdict)
	if s == nil {
		return unwritten
	}
	if err := printTables(c, s.Tables); err != nil {
		return err
	}
	fmt.Fprintln(c.App.Writer, "\n"+outputs.ChecklistLine(s.Checklist))
	for _, f := range s.Files {
		fmt.Fprintln(c.App.Writer, "wrote "+store.Run().Path(f))
	}
	if verdict != nil {
		if err := printVerdict(c, g, verdict); err != nil {
			return err
		}
	}
	return unwritten
}

// warnOfPoints warns of points whose files are not those that their manifests vouch
// for.
func warnOfPoints(c *cli.Context, store *sweep.Store) error {
	done, err := store.Points()
	if err != nil {
		return err
	}
	for _, d := range done {
		list, err := d.Mismatches()
		if err != nil {
			return &tasks.EnvironmentError{Err: err}
		}
		for _, text := range list {
			fmt.Fprintf(c.App.ErrWriter, "warning: %s\n", summarizers.Untrusted(d.Point.String()+": "+text))
		}
	}
	return nil
}

// shownBefore is the view a sweep's files were made with.
func shownBefore(store *sweep.Store) sweepView {
	var stored storedSweep
	if err := outputs.ReadJSON(store.Run().Path("sweep.json"), &stored); err == nil && stored.Shown != nil {
		return *stored.Shown
	}
	return sweepView{Percentiles: []float64{50, 95, 99}} // killed before it wrote any
}

// sweepAgain are a sweep's files made again from its points, for `verify`.
func sweepAgain(run *outputs.Run) *verify.Sweep {
	store, err := sweep.Read("", run.Dir(), sweepKind)
	if err != nil {
		return &verify.Sweep{Why: err.Error()}
	}
	d, err := rebuildSweep(store, shownBefore(store))
	if err != nil {
		return &verify.Sweep{Why: err.Error()}
	}
	doc := d.JSON(nil)
	tables, report, err := summarizers.RecomputeSweep(run, d)
	if err != nil {
		return &verify.Sweep{Why: err.Error()}
	}
	report.Findings = d.Texts()
	return &verify.Sweep{Tables: tables, Report: report, CSV: summarizers.SweepCSV(d), JSON: map[string]any{"axis": doc["axis"], "points": doc["points"], "knee": doc["knee"], "limited_by": doc["limited_by"], "search": doc["search"]}, Facts: sweepFacts}
}
