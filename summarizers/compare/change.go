package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"ais_bench/evaluators/stats"
	"ais_bench/summarizers/interval"
)

// Verdict is what a change means.
type Verdict string

// The verdicts. Better and Worse need the change to be beyond the tolerance and its
// interval, widened for the number of figures looked at, to leave out 0. Within
// needs the whole 95 % interval to lie inside the tolerance. A figure without an
// interval is inconclusive, except where a saved result has no single values at
// all: see Change.ByTolerance.
const (
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	Within       Verdict = "within tolerance"
	Inconclusive Verdict = "inconclusive" // more requests, or repeated runs, would decide
	Undefined    Verdict = "undefined"    // one side has no figure
)

// Change is how one figure of the other side lies to the base's.
type Change struct {
	Metric string   `json:"metric"` // keys of performances/*.json
	Title  string   `json:"title"`
	Unit   string   `json:"unit,omitempty"`
	Base   *float64 `json:"base"`
	Other  *float64 `json:"other"`
	// Change is other/base − 1; of a share it is other − base (Absolute).
	Change   *float64 `json:"change"`
	Absolute bool     `json:"absolute,omitempty"`
	Higher   bool     `json:"higher_is_better"`
	N        [2]int64 `json:"n"` // values behind the two figures, of all runs
	Runs     [2]int   `json:"runs"`
	// Interval is that of Change at 95 %; nil where there is none, see Reason.
	Interval *interval.Interval `json:"interval"`
	// Adjusted is the interval at the level that holds for all figures together.
	Adjusted *interval.Interval `json:"interval_adjusted"`
	P        *float64           `json:"p"` // of no change; nil where the method has none
	Verdict  Verdict            `json:"verdict"`
	Reason   string             `json:"reason,omitempty"`
	Notes    []string           `json:"notes,omitempty"`

	// ByTolerance: of a saved result that lists no single values; Verdict is that of
	// the tolerance alone, and shown with a †.
	ByTolerance bool `json:"by_tolerance_alone,omitempty"`

	beyond bool // the change itself is beyond the tolerance
}

// tolerance of a metric.
func (o Options) tolerance(m Metric) float64 {
	if m.Share {
		return o.ShareTolerance
	}
	return o.Tolerance
}

// changeOf compares one figure. pairs are the requests that two single runs have
// in common, nil for none; adjusted is the level of Adjusted.
func (o Options) changeOf(m Metric, base, other []figure, pairs *pairing, adjusted float64) Change {
	c := Change{Metric: m.Name, Title: m.Title, Unit: m.Unit, Absolute: m.Share, Higher: m.Higher, Verdict: Undefined, Runs: [2]int{len(base), len(other)}}
	var values [2][]float64
	for i, side := range [2][]figure{base, other} {
		for _, f := range side {
			c.N[i] += f.n
			if f.value == nil {
				c.Reason = f.reason
				continue
			}
			values[i] = append(values[i], *f.value)
		}
	}
	if len(values[0]) == len(base) && len(base) > 0 {
		v := stats.Mean(values[0])
		c.Base = &v
	}
	if len(values[1]) == len(other) && len(other) > 0 {
		v := stats.Mean(values[1])
		c.Other = &v
	}
	if c.Base == nil || c.Other == nil {
		return c
	}
	c.Reason = ""
	var d float64
	switch {
	case m.Share:
		d = *c.Other - *c.Base
	case *c.Base == *c.Other:
	case *c.Base <= 0 || *c.Other <= 0:
		c.Reason = "there is no change relative to 0"
		return c
	default:
		d = *c.Other / *c.Base - 1
	}
	c.Change = &d
	at := o.between(m, base, other, values, pairs)
	i, p, err := at(o.Level)
	if err != nil {
		c.Reason = "no interval: " + err.Error()
		bare := func(f figure) bool { return f.at == nil }
		c.ByTolerance = slices.ContainsFunc(base, bare) || slices.ContainsFunc(other, bare)
	} else {
		c.Interval, c.P = &i, p
		if a, _, err := at(adjusted); err == nil {
			c.Adjusted = &a
		}
	}
	for _, f := range append(slices.Clone(base), other...) {
		for _, n := range f.notes {
			if !slices.Contains(c.Notes, n) {
				c.Notes = append(c.Notes, n)
			}
		}
	}
	c.judge(o.tolerance(m), m.supported(min(c.N[0], c.N[1])))
	return c
}

// between gives the interval of a change: of repeated runs by Student's t over the
// runs' values (logarithms, where the change is relative); of single runs that
// asked the same request by request, else from the two figures' own intervals.
func (o Options) between(m Metric, base, other []figure, values [2][]float64, pairs *pairing) func(level float64) (interval.Interval, *float64, error) {
	if len(base) > 1 || len(other) > 1 {
		return func(level float64) (interval.Interval, *float64, error) {
			x, y := slices.Clone(values[0]), slices.Clone(values[1])
			if !m.Share {
				for _, list := range [][]float64{x, y} {
					for i, v := range list {
						if !(v > 0) {
							return interval.Interval{}, nil, errors.New("a figure is not positive")
						}
						list[i] = math.Log(v)
					}
				}
			}
			i, p, err := studentChange(x, y, level)
			if err == nil && !m.Share {
				i.Lo, i.Hi, i.Method = math.Expm1(i.Lo), math.Expm1(i.Hi), i.Method+"-log"
			}
			return i, p, err
		}
	}
	if pairs != nil && values[0][0] > 0 && values[1][0] > 0 {
		if s, ok := pairs.spreadOf(m); ok {
			return func(level float64) (interval.Interval, *float64, error) {
				i, p := s.interval(values[0][0], values[1][0], level)
				return i, p, nil
			}
		}
	}
	return func(level float64) (interval.Interval, *float64, error) {
		var e [2]interval.Estimate
		for i, f := range [2]figure{base[0], other[0]} {
			if f.at == nil {
				return interval.Interval{}, nil, errors.New("a figure without the values behind it; repeat the run for one")
			}
			in, err := f.at(level)
			if err != nil {
				return in, nil, err
			}
			e[i] = interval.Estimate{Value: *f.value, Interval: in}
		}
		if m.Share {
			return interval.DifferenceOf(e[0], e[1]).Interval, nil, nil
		}
		d, ok := interval.ChangeOf(e[0], e[1])
		if !ok {
			return d.Interval, nil, errors.New("a figure is not positive")
		}
		return d.Interval, nil, nil
	}
}

// studentChange is mean(y) − mean(x) with Welch's interval; where one side is a
// single run, the spread of the other stands for both (pooled t).
func studentChange(x, y []float64, level float64) (interval.Interval, *float64, error) {
	if len(x) > 1 && len(y) > 1 {
		d, ok := interval.Difference(x, y, level)
		if !ok {
			return interval.Interval{}, nil, errors.New("no interval")
		}
		return d.Interval, d.P, nil
	}
	many := x
	if len(y) > 1 {
		many = y
	}
	sd, ok := stats.StdDev(many)
	if !ok {
		return interval.Interval{}, nil, errors.New("no interval")
	}
	df := float64(len(many) - 1)
	se := sd * math.Sqrt(1/float64(len(x))+1/float64(len(y)))
	d := stats.Mean(y) - stats.Mean(x)
	half := stats.StudentQuantile(1-(1-level)/2, df) * se
	p := 1.0
	switch {
	case se > 0:
		p = 2 * stats.StudentCDF(-math.Abs(d)/se, df)
	case d != 0:
		p = 0
	}
	return interval.Interval{Lo: d - half, Hi: d + half, Level: level, Method: "pooled-t"}, &p, nil
}

// judge gives the verdict.
func (c *Change) judge(tolerance float64, supported bool) {
	d := *c.Change
	c.beyond = math.Abs(d) > tolerance
	gain := func(v float64) float64 { // positive = better
		if c.Higher {
			return v
		}
		return -v
	}
	switch {
	case c.Interval == nil && !c.ByTolerance:
		c.Verdict = Inconclusive // Reason tells why there is none
	case c.Interval == nil:
		// One figure each, and nothing of what it was made of.
		switch {
		case !supported:
			c.Verdict, c.Reason = Inconclusive, fmt.Sprintf("of %d values it is little more than the largest", min(c.N[0], c.N[1]))
		case math.Abs(d) <= tolerance:
			c.Verdict = Within
		case gain(d) > 0:
			c.Verdict = Better
		default:
			c.Verdict = Worse
		}
	case c.Interval.Lo >= -tolerance && c.Interval.Hi <= tolerance:
		c.Verdict = Within
	case math.Abs(d) > tolerance && c.Adjusted != nil && !c.Adjusted.Contains(0):
		c.Verdict = Worse
		if gain(d) > 0 {
			c.Verdict = Better
		}
	case math.Abs(d) > tolerance:
		c.Verdict, c.Reason = Inconclusive, fmt.Sprintf("beyond %s, but its interval does not leave out chance", percent(tolerance))
	default:
		c.Verdict, c.Reason = Inconclusive, fmt.Sprintf("inside %s, but its interval reaches beyond", percent(tolerance))
	}
}

func percent(v float64) string { return fmt.Sprintf("%g %%", 100*v) }
