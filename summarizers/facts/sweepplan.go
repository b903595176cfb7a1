package facts

import (
	"math"
	"reflect"

	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
)

// SweepPlan is a sweep that is to be measured.
type SweepPlan struct {
	Axis     capacity.Axis
	Loads    []float64 // of the list; of a search those it begins with
	Requests []int64   // of all planned runs of each load; 0 = unknown
	Runs     int       // of every point
	MaxRuns  int       // of a candidate of a search
	SLO      string    // what is searched for; "" = nothing
	Max      float64   // highest load that a search tries
	Headroom float64   // share that the recommended load stays below the highest
	Stream   bool
	Goodput  bool // service levels of single requests are given
}

// PlanSweep is the set of names that a sweep will have, as Plan is of a run.
func PlanSweep(p SweepPlan) *Set {
	w := &sweepFacts{plan: &p, doc: &capacity.Document{Curve: &capacity.Curve{Axis: p.Axis}}, levels: map[float64]*perf{}}
	for i, v := range p.Loads {
		w.levels[v] = &perf{prefix: Path{"sweep", "points", load(v)}, planned: &PlannedPair{Requests: p.Requests[i], Stream: p.Stream, Goodput: p.Goodput}}
	}
	return &Set{sweep: w, planned: true, manifest: &document{prefix: Path{"manifest"}, planned: true, known: jsonKeys(reflect.TypeFor[outputs.Manifest]())}}
}

// kneePossible says what keeps a planned sweep from having a knee that can be
// judged, and how far it can reach.
func (w *sweepFacts) kneePossible(f *Fact) {
	p := w.plan
	switch {
	case p.Runs < 2:
		f.N, f.Known, f.Reason = 0, true, singleRuns
	case p.SLO == "" && len(p.Loads) < 3:
		f.N, f.Known, f.Reason = 0, true, "a knee takes three loads"
	case p.SLO == "" && f.Kind == Load:
		// The knee is one of the loads, and what noise cannot tell from the highest has no
		// upper end.
		f.reach = func(float64) (float64, float64) { return p.Loads[len(p.Loads)-1], p.Loads[0] }
	}
}

// searchPlanned is a figure of a search before it.
func (w *sweepFacts) searchPlanned(f *Fact, key string) {
	p := w.plan
	f.Reason = "not measured yet"
	switch key {
	case "headroom":
		f.Kind, f.Value, f.Reason = Observed, &p.Headroom, ""
	case "at_highest.state", "at_recommended.state":
	default:
		f.Kind, f.Method, f.Unit = Load, "search", p.Axis.Unit
		if p.MaxRuns < 2 {
			f.N, f.Known, f.Reason = 0, true, "--num-runs 1 --max-repeats 1 decides by single runs, which have no interval"
			return
		}
		top := p.Max
		if key == "recommended" {
			top = p.Axis.RecommendedLoad(top, p.Headroom)
		}
		f.reach = func(float64) (float64, float64) { return top, math.Inf(-1) }
	}
}
