// Package quantile is the one way in which percentiles of a list are computed here:
// linear interpolation between order statistics, numpy's default. It belongs to no
// room, and imports nothing, because data sets, runs and reports all tell percentiles,
// and two that differ in the last digit look like a mistake.
//
// Lists that are too long to keep (summarizers/metrics, summarizers/numpy) apply the same
// formula to their histograms.
package quantile

// Linear is the q-quantile (0 to 1) of ascending values, in their unit: with
// h = (n−1)·q, x[⌊h⌋] + (h−⌊h⌋)·(x[⌊h⌋+1] − x[⌊h⌋]). That is numpy.percentile's method
// "linear" and definition 7 of Hyndman and Fan, Sample Quantiles in Statistical Packages,
// The American Statistician 50 (1996). q beyond its ends is taken for them. There must be
// a value: of none there is no quantile, and the caller says so.
func Linear[T ~int | ~int32 | ~int64 | ~float64](sorted []T, q float64) float64 {
	h := float64(len(sorted)-1) * min(max(q, 0), 1)
	i := int(h)
	if i+1 >= len(sorted) {
		return float64(sorted[len(sorted)-1])
	}
	return float64(sorted[i]) + (h-float64(i))*float64(sorted[i+1]-sorted[i])
}
