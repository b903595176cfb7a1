package stats

import "math"

// StdDev is the sample standard deviation (n − 1). ok is false below two values.
func StdDev(x []float64) (sd float64, ok bool) {
	if len(x) < 2 {
		return 0, false
	}
	m, ss := Mean(x), 0.0
	for _, v := range x {
		ss += (v - m) * (v - m)
	}
	return math.Sqrt(ss / float64(len(x)-1)), true
}

// Mean of x, 0 for none.
func Mean(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	if len(x) == 0 {
		return 0
	}
	return s / float64(len(x))
}

// StdErr is the standard error of the mean of independent values, s/√n. ok is
// false below two values.
func StdErr(x []float64) (se float64, ok bool) {
	sd, ok := StdDev(x)
	return sd / math.Sqrt(float64(len(x))), ok
}

// ClusteredStdErr is the standard error of the mean over all values when values
// of one cluster (the repeats of one item) are not independent:
//
//	√( Σ_c (Σ_{i∈c} (x_i − x̄))² · C/(C−1) ) / N
//
// (Liang–Zeger with the small-sample factor; Miller 2024, arXiv 2411.00640). With
// one value a cluster it equals StdErr. ok is false below two clusters, where
// the spread between items is unknown.
func ClusteredStdErr(clusters [][]float64) (se float64, ok bool) {
	n, sum := 0, 0.0
	for _, c := range clusters {
		n += len(c)
		for _, v := range c {
			sum += v
		}
	}
	if len(clusters) < 2 || n == 0 {
		return 0, false
	}
	mean, ss := sum/float64(n), 0.0
	for _, c := range clusters {
		d := 0.0
		for _, v := range c {
			d += v - mean
		}
		ss += d * d
	}
	C := float64(len(clusters))
	return math.Sqrt(ss*C/(C-1)) / float64(n), true
}

// PooledStdErr is the standard error of the size-weighted mean of sub-set means
// from their own standard errors, as lm-evaluation-harness pools groups:
// √(Σ(n_i−1)·n_i·se_i² / (Σn_i − k) / Σn_i). ok is false where it is undefined.
func PooledStdErr(se []float64, sizes []int) (pooled float64, ok bool) {
	if len(se) != len(sizes) || len(se) == 0 {
		return 0, false
	}
	num, n := 0.0, 0
	for i, s := range se {
		num += float64(sizes[i]-1) * float64(sizes[i]) * s * s
		n += sizes[i]
	}
	if n <= len(sizes) {
		return 0, false
	}
	return math.Sqrt(num / float64(n-len(sizes)) / float64(n)), true
}
