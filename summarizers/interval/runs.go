package interval

import (
	"math"

	"ais_bench/evaluators/stats"
)

// Runs summarizes one figure of several runs of the same configuration.
type Runs struct {
	N    int
	Mean float64
	SD   float64 // of single runs, n − 1
	// CV is SD/|Mean|, nil for a mean of 0.
	CV       *float64
	Min, Max float64
	Interval Interval // of the mean
}

// RunsMean is the mean of one value per run with Student's interval,
// mean ± t·SD/√n. It holds whatever happens within a run, because only whole
// runs are taken as independent. ok is false below two runs.
func RunsMean(values []float64, level float64) (Runs, bool) {
	i, ok := student(values, level, "runs-t")
	if !ok {
		return Runs{}, false
	}
	sd, _ := stats.StdDev(values)
	r := Runs{N: len(values), Mean: stats.Mean(values), SD: sd, Min: values[0], Max: values[0], Interval: i}
	for _, v := range values {
		r.Min, r.Max = min(r.Min, v), max(r.Max, v)
	}
	if r.Mean != 0 {
		cv := sd / math.Abs(r.Mean)
		r.CV = &cv
	}
	return r, true
}

func student(x []float64, level float64, method string) (Interval, bool) {
	sd, ok := stats.StdDev(x)
	if !ok || !validLevel(level) {
		return Interval{}, false
	}
	n, mean := float64(len(x)), stats.Mean(x)
	half := stats.StudentQuantile(1-tail(level), n-1) * sd / math.Sqrt(n)
	return Interval{mean - half, mean + half, level, method}, true
}

// MinBatches is the fewest windows BatchMeans judges a rate by.
const MinBatches = 8

// BatchMeans is the interval of a rate within one run from its values in
// consecutive windows of equal length (Conway 1963; Law, Kelton 2000, §9.5.3):
// requests overlap and hold each other up, so single requests are not
// independent, but windows as long as a request or longer nearly are. What
// correlation is left between neighbouring windows (r₁, corrected for its bias
// of −1/n, never below 0) widens the interval as for a first-order
// autoregressive series: variance × (1+r)/(1−r), degrees of freedom × (1−r)/(1+r).
// ok is false below MinBatches windows.
func BatchMeans(windows []float64, level float64) (i Interval, correlation float64, ok bool) {
	ones := make([]float64, len(windows))
	for j := range ones {
		ones[j] = 1
	}
	return BatchRatio(windows, ones, level)
}

// BatchRatio is BatchMeans of Σnum/Σden, such as the mean latency from the sums
// and counts of consecutive blocks of requests: the batches are the residuals
// num − ratio·den of the ratio estimator (Cochran 1977, §6.3). Where there are
// enough, pairs of blocks are judged as well and the wider interval is taken:
// what correlates over more than a block shows there.
// ok is false below MinBatches blocks and when the sum of den is not positive.
func BatchRatio(num, den []float64, level float64) (i Interval, correlation float64, ok bool) {
	sumD := sum(den)
	if len(num) < MinBatches || len(den) != len(num) || !validLevel(level) || !(sumD > 0) {
		return Interval{}, 0, false
	}
	ratio := sum(num) / sumD
	residual := make([]float64, len(num))
	for j := range num {
		residual[j] = num[j] - ratio*den[j]
	}
	half, correlation := batchHalf(residual, level)
	for _, size := range []int{2, 3} {
		if groups := grouped(residual, size); len(groups) >= MinBatches {
			if wider, _ := batchHalf(groups, level); wider > half {
				half = wider
			}
		}
	}
	half /= sumD
	return Interval{ratio - half, ratio + half, level, "batch-means-t"}, correlation, true
}

// batchHalf is the half width of the interval of the sum of batches whose mean is 0.
func batchHalf(residual []float64, level float64) (half, correlation float64) {
	n := float64(len(residual))
	ss, neighbours := 0.0, 0.0
	for j, r := range residual {
		ss += r * r
		if j > 0 {
			neighbours += residual[j-1] * r
		}
	}
	if ss > 0 {
		correlation = min(max(neighbours/ss+1/n, 0), 0.9)
	}
	inflate := (1 + correlation) / (1 - correlation)
	df := max((n-1)/inflate, 1)
	return stats.StudentQuantile(1-tail(level), df) * math.Sqrt(ss*n/(n-1)*inflate), correlation
}

// grouped adds so many neighbours up each; what is left over at the end is a
// smaller group.
func grouped(x []float64, size int) []float64 {
	var out []float64
	for j := 0; j < len(x); j += size {
		s := 0.0
		for _, v := range x[j:min(j+size, len(x))] {
			s += v
		}
		out = append(out, s)
	}
	return out
}
