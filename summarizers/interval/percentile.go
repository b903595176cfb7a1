package interval

import (
	"math"

	"ais_bench/evaluators/stats"
)

// Percentile is the distribution-free interval of the q-quantile (0 < q < 1) of
// n values from their order statistics (David, Nagaraja 2003, §7.1; Hahn, Meeker
// 1991, §5.2): [x_(lo), x_(hi)] with the ranks of Ranks. at gives the value of a
// rank from 1 to n, as of a sorted slice or a histogram. Nothing is assumed of
// the distribution; values are taken as independent, see PercentileOf. An end
// for which n is too small is infinite. ok is false for no values.
func Percentile(n int64, at func(rank int64) float64, q, level float64) (Interval, bool) {
	return PercentileOf(n, at, q, level, 1)
}

// Sorted gives the ranks of ascending values to Percentile.
func Sorted(values []float64) (n int64, at func(rank int64) float64) {
	return int64(len(values)), func(rank int64) float64 { return values[rank-1] }
}

// PercentileOf is Percentile of values that depend on their neighbours: with the
// design effect d ≥ 1 of "above the quantile" (DesignEffect) the ranks are those
// of n/d independent values, stretched to n (Woodruff 1952; Korn, Graubard 1998).
func PercentileOf(n int64, at func(rank int64) float64, q, level, design float64) (Interval, bool) {
	if n <= 0 || !validLevel(level) || !(q > 0 && q < 1) || !(design >= 1) {
		return Interval{}, false
	}
	i := Interval{math.Inf(-1), math.Inf(1), level, "order-statistics"}
	effective := max(int64(float64(n)/design), 1)
	lo, hi := Ranks(effective, q, level)
	stretch := float64(n) / float64(effective)
	if lo >= 1 {
		i.Lo = at(min(max(int64(math.Floor(float64(lo)*stretch)), 1), n))
	}
	if hi <= effective {
		i.Hi = at(min(max(int64(math.Ceil(float64(hi)*stretch)), 1), n))
	}
	return i, true
}

// PercentileWith is PercentileOf with the design effect judged where it matters:
// design(x) is that of "above x". A value bounds the quantile from above if the
// binomial test of the share beyond it, at the sample size that the dependence
// among those beyond it leaves, rejects that as many as 1−q lie beyond (the same from below): the
// test of Percentile, inverted value by value. With a design effect of 1 everywhere it is Percentile.
func PercentileWith(n int64, at func(rank int64) float64, q, level float64, design func(x float64) float64) (Interval, bool) {
	if n <= 0 || !validLevel(level) || !(q > 0 && q < 1) {
		return Interval{}, false
	}
	i := Interval{math.Inf(-1), math.Inf(1), level, "order-statistics"}
	t, N := tail(level), float64(n)
	effect := func(x float64) float64 { return max(design(x), 1) }
	// That r or more of n values lie at or below x, and that n−r+1 or more lie at or
	// above it, both of n/d trials: P(Bin ≥ k) is the beta function of k and rest+1,
	// which need not be whole. It is the count that shrinks by d, never the 1.
	above := func(r int64) bool {
		d := effect(at(r))
		return stats.IncompleteBeta(q, float64(r)/d, (N-float64(r))/d+1) <= t
	}
	below := func(r int64) bool {
		d := effect(at(r))
		return stats.IncompleteBeta(1-q, (N-float64(r)+1)/d, float64(r-1)/d+1) <= t
	}
	middle := min(max(int64(math.Ceil(N*q)), 1), n)
	if k, ok := farthest(n-middle, func(k int64) bool { return above(n - k) }); ok {
		i.Hi = at(n - k)
	}
	if k, ok := farthest(middle-1, func(k int64) bool { return below(1 + k) }); ok {
		i.Lo = at(1 + k)
	}
	return i, true
}

// farthest is the largest k in [0, most] that can be reached from 0 by steps that
// are all ok: doubled while they are, halved afterwards. false: 0 is not ok.
func farthest(most int64, ok func(k int64) bool) (int64, bool) {
	if most < 0 || !ok(0) {
		return 0, false
	}
	good, bad := int64(0), most+1
	for step := int64(1); good+step < bad; step *= 2 {
		if k := good + step; ok(k) {
			good = k
		} else {
			bad = k
			break
		}
	}
	for bad-good > 1 {
		if mid := (good + bad) / 2; ok(mid) {
			good = mid
		} else {
			bad = mid
		}
	}
	return good, true
}

// Ranks are the order statistics (from 1) that enclose the q-quantile: lo is the
// largest with P(Bin(n,q) < lo) ≤ (1−level)/2, hi the smallest with
// P(Bin(n,q) ≥ hi) ≤ (1−level)/2. lo = 0 and hi = n+1 mean that there is none.
func Ranks(n int64, q, level float64) (lo, hi int64) {
	t := tail(level)
	// Both are found by bisection of the binomial's distribution function.
	first := func(ok func(k int64) bool) int64 { // smallest k in [0, n] with ok
		a, b := int64(0), n
		for a < b {
			mid := (a + b) / 2
			if ok(mid) {
				b = mid
			} else {
				a = mid + 1
			}
		}
		return a
	}
	lo = first(func(k int64) bool { return stats.BinomialCDF(k, n, q) > t })
	hi = first(func(k int64) bool { return stats.BinomialCDF(k, n, q) >= 1-t }) + 1
	return lo, hi
}

// PercentileMinN is the smallest number of independent values for which the
// upper end of the q-quantile exists: ⌈ln((1−level)/2) / ln q⌉, 368 for p99 at
// 0.95. For the lower end give 1 − q. It is 0 for an impossible q.
func PercentileMinN(q, level float64) int64 {
	if !(q > 0 && q < 1) || !validLevel(level) {
		return 0
	}
	n := int64(math.Ceil(math.Log(tail(level))/math.Log(q) - 1e-9))
	return max(n, 1)
}
