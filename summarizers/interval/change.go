package interval

import (
	"math"
	"math/rand/v2"
	"slices"

	"ais_bench/evaluators/stats"
	"ais_bench/quantile"
)

// Delta is how far B lies from A.
type Delta struct {
	Value    float64 // B − A, or B/A − 1
	Interval Interval
	// P is the two-sided p-value of "no difference"; nil where the method has none.
	P *float64
}

// Significant reports whether the interval leaves out 0.
func (d Delta) Significant() bool { return !d.Interval.Contains(0) }

// Difference is mean(b) − mean(a) of independent values, such as one figure of
// repeated runs, by Welch's t test, which does not take the two variances as equal (Welch 1947;
// degrees of freedom by Satterthwaite). ok is false when either has fewer than
// two values.
func Difference(a, b []float64, level float64) (Delta, bool) {
	sa, okA := stats.StdDev(a)
	sb, okB := stats.StdDev(b)
	if !okA || !okB || !validLevel(level) {
		return Delta{}, false
	}
	d := Delta{Value: stats.Mean(b) - stats.Mean(a)}
	va, vb := sa*sa/float64(len(a)), sb*sb/float64(len(b))
	se := math.Sqrt(va + vb)
	p := 1.0
	if se == 0 {
		d.Interval = Interval{d.Value, d.Value, level, "welch-t"}
		if d.Value != 0 {
			p = 0
		}
		d.P = &p
		return d, true
	}
	df := (va + vb) * (va + vb) / (va*va/float64(len(a)-1) + vb*vb/float64(len(b)-1))
	half := stats.StudentQuantile(1-tail(level), df) * se
	p = 2 * stats.StudentCDF(-math.Abs(d.Value)/se, df)
	d.P, d.Interval = &p, Interval{d.Value - half, d.Value + half, level, "welch-t"}
	return d, true
}

// Change is mean(b)/mean(a) − 1 of independent values by the percentile
// bootstrap: both samples are drawn anew (Efron, Tibshirani 1993, §13.3). ok is
// false below MinBootstrap values on either side, and when mean(a) is not
// positive.
func Change(a, b []float64, level float64, seed uint64) (Delta, bool) {
	if min(len(a), len(b)) < MinBootstrap || !validLevel(level) || !(stats.Mean(a) > 0) {
		return Delta{}, false
	}
	rng := rand.New(rand.NewPCG(seed, uint64(len(a))<<32|uint64(len(b))))
	draws := make([]float64, 0, resamples)
	for range resamples {
		ma, mb := redraw(rng, a), redraw(rng, b)
		if ma > 0 {
			draws = append(draws, mb/ma-1)
		}
	}
	if len(draws) == 0 {
		return Delta{}, false
	}
	slices.Sort(draws)
	t := tail(level)
	return Delta{Value: stats.Mean(b)/stats.Mean(a) - 1,
		Interval: Interval{quantile.Linear(draws, t), quantile.Linear(draws, 1-t), level, "bootstrap-percentile"}}, true
}

// redraw is the mean of as many values drawn with replacement.
func redraw(rng *rand.Rand, x []float64) float64 {
	s := 0.0
	for range x {
		s += x[rng.IntN(len(x))]
	}
	return s / float64(len(x))
}

// DifferenceOf is B − A of two independent figures from their own intervals,
// whatever those were made with (square-and-add, MOVER; Zou, Donner 2008):
//
//	[d − √((b−lb)² + (ua−a)²), d + √((ub−b)² + (a−la)²)]
//
// For two Wilson intervals it is Newcombe's (1998, method 10). An open end leaves an end
// of the result open.
func DifferenceOf(a, b Estimate) Delta {
	d := b.Value - a.Value
	return Delta{Value: d, Interval: Interval{
		Lo:    d - math.Hypot(b.Value-b.Interval.Lo, a.Interval.Hi-a.Value),
		Hi:    d + math.Hypot(b.Interval.Hi-b.Value, a.Value-a.Interval.Lo),
		Level: min(a.Interval.Level, b.Interval.Level), Method: "mover"}}
}

// ChangeOf is B/A − 1 of two independent positive figures (throughputs,
// latencies) from their own intervals: DifferenceOf of the logarithms. An end of
// an interval at or below 0 leaves an end of the result open (−1 is the lowest).
// ok is false when a figure is not positive.
func ChangeOf(a, b Estimate) (Delta, bool) {
	if !(a.Value > 0 && b.Value > 0) {
		return Delta{}, false
	}
	logOf := func(e Estimate) Estimate {
		return Estimate{math.Log(e.Value), Interval{math.Log(max(e.Interval.Lo, 0)), math.Log(e.Interval.Hi), e.Interval.Level, ""}}
	}
	d := DifferenceOf(logOf(a), logOf(b))
	d.Value = b.Value/a.Value - 1
	d.Interval.Lo, d.Interval.Hi, d.Interval.Method = math.Expm1(d.Interval.Lo), math.Expm1(d.Interval.Hi), "mover-log"
	return d, true
}
