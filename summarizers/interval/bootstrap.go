package interval

import (
	"math"
	"math/rand/v2"
	"slices"

	"ais_bench/evaluators/stats"
	"ais_bench/quantile"
)

// MinBootstrap is the fewest values that are resampled: below, the bootstrap's
// intervals are far too short. Few repeated runs have RunsMean.
const MinBootstrap = 10

// resamples is how often a sample is drawn again; bootstrapLimit is the number
// of values above which it is not: there Student's interval of the mean is the
// same to three digits and costs nothing.
const (
	resamples      = 2000
	bootstrapLimit = 20_000
)

// Mean is the interval of the mean of independent values by the bias-corrected and accelerated
// bootstrap (BCa; Efron 1987), which follows skewed values; above 20,000 values
// it is Student's t. ok is false below MinBootstrap values.
func Mean(x []float64, level float64, seed uint64) (Interval, bool) {
	if len(x) < MinBootstrap || !validLevel(level) {
		return Interval{}, false
	}
	if len(x) > bootstrapLimit {
		return student(x, level, "t")
	}
	ones := make([]float64, len(x))
	for i := range ones {
		ones[i] = 1
	}
	return Ratio(x, ones, level, seed)
}

// Ratio is the interval of Σnum/Σden over independent pairs by the BCa bootstrap
// (tokens per chunk, tokens per second of service). Above 20,000 pairs it is the
// ratio estimator's normal interval (Cochran 1977, §6.3). ok is false below MinBootstrap
// pairs, for slices of different length and when a sum of den is not positive.
func Ratio(num, den []float64, level float64, seed uint64) (Interval, bool) {
	n := len(num)
	if n < MinBootstrap || len(den) != n || !validLevel(level) {
		return Interval{}, false
	}
	sumN, sumD := sum(num), sum(den)
	if !(sumD > 0) {
		return Interval{}, false
	}
	value := sumN / sumD
	if n > bootstrapLimit {
		ss := 0.0
		for i := range num {
			d := num[i] - value*den[i]
			ss += d * d
		}
		half := stats.NormalQuantile(1-tail(level)) * math.Sqrt(ss*float64(n)/float64(n-1)) / sumD
		return Interval{value - half, value + half, level, "ratio-normal"}, true
	}
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	draws := make([]float64, 0, resamples)
	for range resamples {
		a, b := 0.0, 0.0
		for range n {
			i := rng.IntN(n)
			a += num[i]
			b += den[i]
		}
		if b > 0 {
			draws = append(draws, a/b)
		}
	}
	leave := make([]float64, 0, n) // the statistic without one pair
	for i := range n {
		if d := sumD - den[i]; d > 0 {
			leave = append(leave, (sumN-num[i])/d)
		}
	}
	lo, hi := bca(value, draws, leave, level)
	return Interval{lo, hi, level, "bootstrap-bca"}, true
}

// bca reads the ends of the BCa interval from the draws: the percentiles
// Φ(z₀ + (z₀+z)/(1 − a(z₀+z))) with z₀ the bias seen in the draws and a the
// acceleration from the leave-one-out values.
func bca(value float64, draws, leave []float64, level float64) (lo, hi float64) {
	slices.Sort(draws)
	// Resampling in another order gives the same sum in other last digits: what
	// differs by rounding only is equal.
	tiny := 1e-12 * math.Abs(value)
	below := 0.0
	for _, d := range draws {
		switch {
		case d < value-tiny:
			below++
		case d <= value+tiny:
			below += 0.5
		}
	}
	n := float64(len(draws))
	z0 := stats.NormalQuantile(min(max(below/n, 0.5/n), 1-0.5/n))
	mean, s2, s3 := stats.Mean(leave), 0.0, 0.0
	for _, v := range leave {
		d := mean - v
		s2 += d * d
		s3 += d * d * d
	}
	a := 0.0
	if s2 > 0 {
		a = s3 / (6 * math.Pow(s2, 1.5))
	}
	at := func(z float64) float64 {
		p := stats.NormalCDF(z0 + (z0+z)/(1-a*(z0+z)))
		return quantile.Linear(draws, p)
	}
	z := stats.NormalQuantile(1 - tail(level))
	return at(-z), at(z)
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}
