package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/contract"
	"ais_bench/summarizers/facts"
	"ais_bench/summarizers/metrics"
	"ais_bench/tasks"
	"ais_bench/tasks/sweep"
)

// judgedRun opens a run or a sweep.
func judgedRun(workDir, name string) (*outputs.Run, error) {
	if dir := outputs.Locate(workDir, name); sweep.Is(dir, sweepKind) {
		run, err := outputs.Open(dir)
		if err != nil {
			return nil, &tasks.EnvironmentError{Err: err}
		}
		return run, nil
	}
	return singleRun("gate", workDir, name) // a grid is told
}

// sweepAlone refuses what is not done with sweeps.
func sweepAlone(c *cli.Context, runs []*outputs.Run) error {
	for _, r := range runs {
		if !sweep.Is(r.Dir(), sweepKind) {
			continue
		}
		switch {
		case len(runs) > 1:
			return usagef("gate: %s is a sweep, which is judged alone: its points are the repeats; give one name", r.Dir())
		case c.String("baseline") != "":
			return usagef("gate: --baseline does not go with a sweep; `ais_bench compare` sets two sweeps side by side")
		}
	}
	return nil
}

// openFacts are the figures of runs, or of a sweep.
func openFacts(runs []*outputs.Run, o facts.Options) (*facts.Set, error) {
	if len(runs) == 1 && sweep.Is(runs[0].Dir(), sweepKind) {
		return sweepFacts(runs[0], o)
	}
	set, err := facts.Open(runs, o)
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: err}
	}
	return set, nil
}

// sweepFacts are the figures of a sweep, made from the records of its points.
func sweepFacts(run *outputs.Run, o facts.Options) (*facts.Set, error) {
	store, err := sweep.Read("", run.Dir(), sweepKind)
	if err != nil {
		return nil, err
	}
	v := shownBefore(store)
	d, err := rebuildSweep(store, v)
	if err != nil {
		return nil, err
	}
	return documentFacts(store, d, v, o)
}

// documentFacts are the figures of a sweep whose points have been evaluated.
func documentFacts(store *sweep.Store, d *capacity.Document, v sweepView, o facts.Options) (*facts.Set, error) {
	var err error
	o.Metrics.LengthBounds = v.LengthBounds // as its files have them
	if len(o.Metrics.SLOs) == 0 {
		if o.Metrics.SLOs, err = metrics.ParseSLOs(v.Goodput); err != nil {
			return nil, usage(err)
		}
	}
	missing, err := missingPoints(store, d)
	if err != nil {
		return nil, err
	}
	set, err := facts.OfSweep(store.Run(), d, missing, o)
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: err}
	}
	return set, nil
}

func (g *gate) judgeSweep(run *outputs.Run) (*contract.Verdict, error) {
	set, err := sweepFacts(run, g.options())
	if err != nil {
		return nil, err
	}
	v, err := g.contract.Judge(set)
	return v, usage(err)
}

// keepSweep judges a sweep that has just ended; nil without a contract. write keeps
// the verdict.
func (g *gate) keepSweep(store *sweep.Store, d *capacity.Document, view sweepView) (*contract.Verdict, error) {
	if g == nil {
		return nil, nil
	}
	set, err := documentFacts(store, d, view, g.options())
	if err != nil {
		return nil, err
	}
	v, err := g.contract.Judge(set)
	return v, usage(err)
}

func (g *gate) options() facts.Options {
	return facts.Options{Metrics: g.metrics, Paths: g.contract.Paths()}
}

// missingPoints are the points that a sweep was to measure and has not, or had and
// lost: those of its list, and the candidates of its search.
func missingPoints(store *sweep.Store, d *capacity.Document) ([]string, error) {
	var plan map[string]string
	_ = json.Unmarshal(store.Spec().Plan, &plan) // a plan that cannot be read names no point
	axis := d.Curve.Axis.Name
	var out []string
	look := func(v float64, runs int) error {
		for run := 1; run <= runs; run++ {
			done, err := store.Done(sweep.At(axis, v, run))
			if err != nil {
				return err
			}
			if done == nil {
				out = append(out, fmt.Sprintf("%s, run %d is not there", loadText(axis, v), run))
			}
		}
		return nil
	}
	if d.SLO != nil {
		if d.Capacity != nil {
			for _, t := range d.Capacity.Tried {
				if err := look(t.Value, t.Runs); err != nil {
					return nil, err
				}
			}
		}
		return out, nil
	}
	flag := axisFlag(axis)
	values, err := parseLoads(flag, plan[flag], axis == sweep.Concurrency)
	if err != nil {
		return []string{"its plan in configs/sweep.json names no points"}, nil
	}
	runs := 1
	if n, err := strconv.Atoi(plan["num-runs"]); err == nil {
		runs = n
	}
	for _, v := range values {
		if err := look(v, runs); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checklistOf is the reproducibility checklist over runs, or over a sweep's points.
func checklistOf(runs []*outputs.Run) ([]outputs.CheckItem, error) {
	if len(runs) == 1 && sweep.Is(runs[0].Dir(), sweepKind) {
		store, err := sweep.Read("", runs[0].Dir(), sweepKind)
		if err != nil {
			return nil, err
		}
		return store.Checklist()
	}
	var dirs []string
	for _, r := range runs {
		dirs = append(dirs, r.Dir())
	}
	return outputs.ChecklistsOf(dirs)
}

// listNotes say what else a clause may name.
func listNotes(set *facts.Set) []string {
	if loads := set.Loads(); loads != nil {
		var names []string
		for _, v := range loads {
			names = append(names, sweep.Number(v))
		}
		return []string{"the figures of one load are shown of the highest; there are " + strings.Join(names, ", "),
			"any percentile may be asked for: sweep.points[\"" + names[0] + "\"].ttft.p97_ms"}
	}
	return []string{"any percentile may be asked for: perf.ttft.p97_ms, perf.ttft[\"p99.9_ms\"]; observed figures are certain of these runs and have no interval",
		"with --baseline: compare.baseline.NAME.change and .difference of any of them"}
}

// openGate reads the sweep's contract, or takes the one that a continued sweep is
// held to, and refuses what the sweep could never decide.
func (w *sweepRun) openGate(old *sweep.Store) error {
	var err error
	if w.gate, err = openGate(w.c, w.m); err != nil {
		return err
	}
	if old != nil {
		k, err := storedContract(old.Run(), old.Manifest())
		switch {
		case err != nil:
			return &tasks.EnvironmentError{Err: fmt.Errorf("the contract that %s is held to: %w", old.Run().Dir(), err)}
		case k == nil:
		case w.gate == nil:
			if w.gate, err = newGate(k, "", "", w.m); err != nil {
				return err
			}
		case w.gate.contract.SHA256 != k.SHA256:
			return usagef("--contract %s: the sweep is held to another one, %s (configs/ has it): its limits stay; `ais_bench gate SWEEP --contract FILE` judges it by others", w.gate.contract.Path, k.Path)
		}
	}
	if w.gate == nil {
		return nil
	}
	return usage(w.gate.contract.Check(facts.PlanSweep(w.contractPlan())))
}

// contractPlan is what the sweep will measure at most.
func (w *sweepRun) contractPlan() facts.SweepPlan {
	p := facts.SweepPlan{Axis: capacity.Concurrency, Loads: w.values, Runs: w.runs, MaxRuns: w.runs, Stream: w.base.Stream, Goodput: len(w.gate.metrics.SLOs) > 0}
	if w.axis == sweep.RequestRate {
		p.Axis = capacity.RequestRate
	}
	if w.slo != nil {
		p.SLO, p.Headroom = w.slo.String(), w.c.Float64("headroom")
		p.Loads, p.MaxRuns = w.search.Steps, w.search.MaxRuns
		p.Max = max(w.search.Max, p.Loads[len(p.Loads)-1])
	}
	for _, v := range p.Loads {
		n := w.count.of(max(slices.Index(w.values, v), 0), v)
		p.Requests = append(p.Requests, int64(n*max(p.Runs, p.MaxRuns)))
	}
	return p
}
