package interval

import (
	"math"

	"ais_bench/evaluators/stats"
)

// rare is the count below which the score interval's end at the nearer edge (0
// or 1) is replaced by the exact one.
const rare = 10

// Share is Wilson's score interval of k of n (Wilson 1927). Where fewer than 10
// lie on the smaller side, the end at that side's edge is Clopper and Pearson's
// exact one ("wilson+exact"), because Wilson's leaves out the true share there
// up to one time in six (Brown, Cai, DasGupta 2001, §4.1.1): a single failure in 177 would prove a failure
// rate above 0.1 %. Below a level of 0.95 the other end
// too is never nearer than the exact one: of n out of n Wilson's stands z²/n off where the exact one stands
// ln(2/(1−level))/n, which at 0.5 is three times as far. ok is false for n = 0 or impossible counts.
func Share(k, n int64, level float64) (Interval, bool) { return ShareOf(float64(k), float64(n), level) }

// ShareOf is Share with counts that need not be whole: with a design effect d
// (DesignEffect) k/d and n/d are the counts of as many independent values as the
// dependent ones are worth (Korn, Graubard 1998).
func ShareOf(k, n, level float64) (Interval, bool) {
	if !validLevel(level) {
		return Interval{}, false
	}
	w, ok := stats.WilsonAt(k, n, stats.NormalQuantile(1-tail(level)))
	if !ok {
		return Interval{}, false
	}
	i := Interval{w.Low, w.High, level, "wilson"}
	if min(k, n-k) >= rare || level >= usual && (k == 0 || k == n) {
		return i, true
	}
	exact, _ := stats.ClopperPearson(k, n, level)
	far := level < usual
	if (n-k < k || far) && exact.High > i.Hi {
		i.Hi, i.Method = exact.High, "wilson+exact"
	}
	if (k < n-k || far) && exact.Low < i.Lo {
		i.Lo, i.Method = exact.Low, "wilson+exact"
	}
	return i, true
}

// usual is the level from which on Wilson's far end, on large n, is no nearer than the exact one.
const usual = 0.95

// ShareMinN is the smallest n at which even a share of 1 out of n has an interval
// above limit (for limits of a failure rate give 1 − limit): ⌈z²·limit/(1−limit)⌉, at low levels
// ⌈ln((1−level)/2)/ln limit⌉.
// It is 0 when no n suffices (limit ≥ 1).
func ShareMinN(limit, level float64) int64 {
	if limit >= 1 || !validLevel(level) {
		return 0
	}
	if limit <= 0 {
		return 1
	}
	z := stats.NormalQuantile(1 - tail(level))
	n := max(int64(math.Ceil(max(z*z*limit/(1-limit), math.Log(tail(level))/math.Log(limit)))), 1)
	for n > 1 && ShareFloor(n-1, level) >= limit { // rounding of the closed forms
		n--
	}
	for ShareFloor(n, level) < limit {
		n++
	}
	return n
}

// ShareFloor is the low end of the interval of n out of n, the highest there is.
func ShareFloor(n int64, level float64) float64 {
	i, _ := Share(n, n, level)
	return i.Lo
}

// Block is one of several groups of neighbouring values: N values, K of which
// have the property counted.
type Block struct{ N, K int64 }

// DesignEffect is how many times larger the variance of a share is than that of
// as many independent values, judged by how much it differs between blocks of
// neighbouring values (Kish 1965, §8.2; the ratio estimator's variance):
//
//	Σ (K_b − p·N_b)² · B/(B−1) / (n·p·(1−p))
//
// It is never given below 1. It is 1 where it cannot be judged (fewer than two blocks, or a share of 0 or 1).
func DesignEffect(blocks []Block) float64 {
	n, k, used := int64(0), int64(0), 0.0
	for _, b := range blocks {
		if b.N > 0 {
			n, k, used = n+b.N, k+b.K, used+1
		}
	}
	if used < 2 || k <= 0 || k >= n {
		return 1
	}
	p, ss := float64(k)/float64(n), 0.0
	for _, b := range blocks {
		d := float64(b.K) - p*float64(b.N)
		ss += d * d
	}
	return max(1, ss*used/(used-1)/(float64(n)*p*(1-p)))
}

// DesignEffectAt is DesignEffect with the allowances of BatchRatio for few blocks
// (Student's t instead of the normal quantile) and for correlation between
// neighbouring ones, so that an interval made with it keeps its level. Below
// MinBatches blocks it is DesignEffect.
func DesignEffectAt(blocks []Block, level float64) float64 {
	var num, den []float64
	n, k := 0.0, 0.0
	for _, b := range blocks {
		if b.N > 0 {
			num, den = append(num, float64(b.K)), append(den, float64(b.N))
			n, k = n+float64(b.N), k+float64(b.K)
		}
	}
	i, _, ok := BatchRatio(num, den, level)
	if !ok || k <= 0 || k >= n {
		return DesignEffect(blocks)
	}
	p := k / n
	se := (i.Hi - i.Lo) / 2 / stats.NormalQuantile(1-tail(level))
	return max(1, se*se*n/(p*(1-p)))
}

// PairedShares is the interval of share B − share A of yes/no answers to the same
// n questions, of which onlyA were right in A alone and onlyB in B alone: the
// score interval of Tango (1998), the set of differences Δ whose score test
//
//	(b − c − nΔ) / √(n(2q + Δ(1−Δ))),  b = onlyB, c = onlyA
//
// does not reject, q being the likeliest probability of "only A" under Δ. Unlike the normal approximation
// it keeps its level where few or no answers differ. ok is false for impossible counts.
func PairedShares(n, onlyA, onlyB int64, level float64) (Delta, bool) {
	if n <= 0 || onlyA < 0 || onlyB < 0 || onlyA+onlyB > n || !validLevel(level) {
		return Delta{}, false
	}
	N, b, c := float64(n), float64(onlyB), float64(onlyA)
	score := func(d float64) float64 {
		B, C := -b-c+(2*N-b+c)*d, -c*d*(1-d)
		q := (math.Sqrt(max(B*B-8*N*C, 0)) - B) / (4 * N)
		v := N * (2*q + d*(1-d))
		if v <= 0 {
			if t := b - c - N*d; t != 0 {
				return math.Inf(int(math.Copysign(1, t)))
			}
			return 0
		}
		return (b - c - N*d) / math.Sqrt(v)
	}
	z, value := stats.NormalQuantile(1-tail(level)), (b-c)/N
	// The score falls with Δ: bisect for ±z on either side of the estimate.
	bisect := func(lo, hi, target float64) float64 {
		for range 100 {
			if mid := (lo + hi) / 2; score(mid) > target {
				lo = mid
			} else {
				hi = mid
			}
		}
		return (lo + hi) / 2
	}
	return Delta{Value: value, Interval: Interval{bisect(-1, value, z), bisect(value, 1, -z), level, "paired-score"}}, true
}
