// Package interval says how far a measured statistic may lie from its true
// value: confidence intervals of shares, percentiles, means, rates and changes.
// Reports show them and acceptance contracts are judged by them.
//
// All functions are pure; those that resample take a seed and give the same
// bytes everywhere. A level is two-sided and in (0,1): at 0.95 each end is wrong
// at most 2.5 % of the time. Which function to prefer:
//
//	share of n requests or answers     Share (Wilson), ShareOf for dependent ones
//	percentile of one run              Percentile (order statistics)
//	mean of independent values         Mean (BCa bootstrap)
//	ratio of two sums                  Ratio (BCa bootstrap)
//	rate or mean within one run        BatchMeans, BatchRatio (windows of time)
//	any figure of repeated runs        RunsMean (Student's t)
//	difference of two groups of runs   Difference (Welch), Change (bootstrap)
//	change of any two figures          DifferenceOf, ChangeOf (from their intervals)
//	change of right answers to the     PairedShares (Tango's score interval)
//	same questions
//
// "Not decidable" has two forms: ok == false where nothing can be said (no
// values, one run), and an infinite end where the sample is too small for that
// end, as for the upper end of a p99 below 368 values at level 0.95.
package interval
