package stats

import "math"

// NormalQuantile is the p-quantile of the standard normal distribution.
func NormalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// NormalCDF is the distribution function of the standard normal distribution.
func NormalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// BinomialCDF is the probability of at most k successes in n trials with
// probability p each: I_{1−p}(n−k, k+1).
func BinomialCDF(k, n int64, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return IncompleteBeta(1-p, float64(n-k), float64(k+1))
}

// BetaQuantile is the p-quantile of the beta distribution, by bisection; it is
// accurate to about 1e-12.
func BetaQuantile(p, a, b float64) float64 {
	low, high := 0.0, 1.0
	for range 200 {
		mid := (low + high) / 2
		if mid == low || mid == high {
			break
		}
		if IncompleteBeta(mid, a, b) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}
