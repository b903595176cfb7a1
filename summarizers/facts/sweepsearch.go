package facts

import (
	"errors"
	"fmt"
	"math"

	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/interval"
)

// search is what came of the search for the highest load that holds the service
// levels.
func (w *sweepFacts) search(f *Fact, key string) error {
	d := w.doc
	if w.plan == nil && d.SLO == nil || w.plan != nil && w.plan.SLO == "" {
		return &UnknownError{f.Name, "; this sweep does not search: give it --slo"}
	}
	if key == "slo" {
		f.Kind, f.N, f.Known = Text, int64(w.runs()), true
		if w.plan != nil {
			f.Text = w.plan.SLO
		} else {
			f.Text = d.SLO.String()
		}
		return nil
	}
	if w.plan != nil {
		w.searchPlanned(f, key)
		return nil
	}
	a := d.Capacity
	f.Known = true
	if a == nil {
		f.Kind, f.Reason = Load, "the search did not come to an end"
		return nil
	}
	for _, t := range a.Tried {
		f.N += int64(t.Runs)
	}
	switch key {
	case "headroom":
		f.Kind, f.Value = Observed, &a.Headroom
	case "at_highest.state", "at_recommended.state":
		j := a.AtHighest
		if key == "at_recommended.state" {
			j = a.AtRecommended
		}
		word := ""
		if j != nil {
			word = string(j.State)
		}
		w.text(f, word)
	case "highest":
		w.highest(f, a.Highest, func(v float64) float64 { return v })
	default: // recommended: a share of the highest, rounded as the search rounds it
		w.highest(f, a.Recommended, func(v float64) float64 {
			if v == 0 || math.IsInf(v, 1) {
				return v
			}
			return d.Curve.Axis.RecommendedLoad(v, a.Headroom)
		})
	}
	return nil
}

// highest is the highest load that holds, or a load that follows from it: between
// the highest candidate shown to hold and the lowest shown to fail.
func (w *sweepFacts) highest(f *Fact, value *float64, of func(float64) float64) {
	d := w.doc
	f.Kind, f.Method, f.Unit, f.Value = Load, "search", d.Curve.Axis.Unit, value
	if value == nil {
		f.Reason = "no load tried holds " + d.SLO.String()
	}
	var candidates []float64
	for _, t := range d.Capacity.Tried {
		candidates = append(candidates, t.Value)
	}
	f.at = func(level float64) (interval.Interval, error) {
		f.open = ""
		h := d.Curve.Held(d.SLO, candidates, level)
		i := interval.Interval{Lo: 0, Hi: math.Inf(1), Level: level, Method: f.Method}
		switch {
		case h.Holds == nil && h.Fails == nil && len(h.Single) > 0:
			return interval.Interval{}, errors.New(singleRuns)
		case h.Holds == nil && h.Fails == nil:
			return interval.Interval{}, errors.New("the runs decide of no candidate whether it holds; --max-repeats allows for more of them")
		case h.Holds != nil:
			i.Lo = of(*h.Holds)
		}
		switch {
		case h.Fails == nil && len(h.Undecided) == 0:
			f.open = "the highest load tried holds; --max tries higher ones"
		case h.Fails == nil:
			f.open = fmt.Sprintf("whether %s holds is not decided by its runs, and no load above was shown to fail", w.label(h.Undecided[0]))
		case d.Curve.Axis == capacity.Concurrency:
			i.Hi = of(*h.Fails - 1)
		default:
			i.Hi = of(math.Nextafter(*h.Fails, 0))
		}
		for _, v := range h.Undecided {
			f.note(fmt.Sprintf("whether %s holds is not decided by its runs", w.label(v)))
		}
		return i, nil
	}
}
