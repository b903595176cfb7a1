package facts

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/interval"
)

// The figures that follow from all points of a sweep: the largest throughputs and the
// knee.

// largest is the largest throughput of all points. The largest of several means is
// more often too large than one mean is, so every point's interval takes its part of
// the level (Bonferroni); the largest true rate lies between the highest low end
// and the highest high end.
func (w *sweepFacts) largest(f *Fact, name string) (*Fact, error) {
	f.Kind, f.Method, f.Unit = Rate, "largest of the points", unitOf(name)
	if w.plan != nil {
		f.Reason = "not measured yet"
		return f, nil
	}
	f.Known = true
	var list []*Fact
	best := -1
	where := 0.0
	for _, v := range w.loads() {
		one, err := w.levels[v].fact(Path{name})
		if err != nil {
			return nil, err
		}
		if one.Value == nil {
			f.Reason = cmp.Or(f.Reason, fmt.Sprintf("at %s: %s", w.label(v), one.Reason))
			continue
		}
		if best < 0 || *one.Value > *list[best].Value {
			best, where = len(list), v
		}
		list = append(list, one)
	}
	if best < 0 {
		return f, nil
	}
	f.Reason, f.Value, f.N = "", list[best].Value, list[best].N
	f.note("the largest of the points: " + w.label(where))
	f.at = func(level float64) (interval.Interval, error) {
		f.open = ""
		each := 1 - (1-level)/float64(len(list))
		out := interval.Interval{Lo: math.Inf(-1), Hi: math.Inf(-1), Level: level, Method: f.Method}
		var why error
		for i, one := range list {
			x, err := one.Interval(each)
			if err != nil {
				x.Lo, x.Hi = math.Inf(-1), math.Inf(1)
				if i == best || why == nil {
					why = fmt.Errorf("%s: %w", one.Name, err)
				}
			}
			out.Lo, out.Hi = max(out.Lo, x.Lo), max(out.Hi, x.Hi)
		}
		if math.IsInf(out.Lo, -1) && math.IsInf(out.Hi, 1) {
			return interval.Interval{}, why
		}
		if why != nil {
			f.open = "the interval has no upper end: " + why.Error()
		}
		return out, nil
	}
	return f, nil
}

// knee is the load at the knee, with the range of loads that the noise of the runs
// cannot tell from it.
func (w *sweepFacts) knee(f *Fact) {
	f.Kind, f.Method, f.Unit = Load, "power", w.doc.Curve.Axis.Unit
	if w.plan != nil {
		f.Reason = "not measured yet"
		w.kneePossible(f)
		return
	}
	k := w.doc.Knee
	f.N, f.Known = int64(w.runs()), true
	if k.Value == nil {
		f.Reason = k.Text
		return
	}
	f.Value = k.Value
	f.at = func(level float64) (interval.Interval, error) {
		f.open = ""
		if l := w.doc.Curve.At(*k.Value); len(l.Runs) < 2 {
			return interval.Interval{}, errors.New(singleRuns)
		}
		at := w.doc.Curve.KneeAt(level)
		i := interval.Interval{Lo: *at.From, Hi: *at.To, Level: level, Method: f.Method}
		switch at.State {
		case capacity.KneeNotReached:
			i.Hi, f.open = math.Inf(1), "throughput still pays for latency at the highest load measured; measure higher ones"
		case capacity.KneeAtOrBelow:
			i.Lo = 0
		}
		return i, nil
	}
}

// atKnee is a figure of the load at the knee.
func (w *sweepFacts) atKnee(f *Fact, figure ...string) (*Fact, error) {
	if w.plan != nil {
		f.Kind, f.Reason = Rate, "not measured yet"
		w.kneePossible(f)
		return f, nil
	}
	if w.doc.Knee.Value == nil {
		f.Kind, f.Reason, f.Known = Rate, w.doc.Knee.Text, true
		return f, nil
	}
	at, err := w.levels[*w.doc.Knee.Value].fact(figure)
	if err != nil {
		return nil, err
	}
	at.note("at the knee: " + w.label(*w.doc.Knee.Value))
	at.Name = f.Name
	return at, nil
}

// singleRuns is why there is no interval.
const singleRuns = "its points were measured once, which tells nothing of chance; --num-runs 2 or more measures them again"
