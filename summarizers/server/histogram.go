package server

import (
	"math"
	"sort"
	"strconv"
	"strings"
)

// Histogram is what a server's own histogram counted during a window.
type Histogram struct {
	N    float64  `json:"n"`
	Mean *float64 `json:"mean_ms"` // exact: sum / count
	P50  *Bound   `json:"p50_ms"`
	P99  *Bound   `json:"p99_ms"`
}

// Bound is a quantile that is known to lie in a bucket. Value is the linear
// interpolation within it, as Prometheus' histogram_quantile does; only
// Low < x ≤ High is certain. High is null in the last, open bucket, and Value then too.
type Bound struct {
	Value *float64 `json:"value"`
	Low   float64  `json:"low"`
	High  *float64 `json:"high"`
}

// bucket is one bucket with its own count, not the cumulative one.
type bucket struct{ low, high, n float64 }

// histogram reads the deltas of a histogram between two times, in seconds.
func (v view) histogram(series string, from, to int64) (buckets []bucket, sum, n float64, ok bool) {
	n, ok = v.delta(series+"_count", from, to)
	if !ok {
		return nil, 0, 0, false
	}
	sum, _ = v.delta(series+"_sum", from, to)
	cumulative := map[float64]float64{}
	for _, k := range v.find(series + "_bucket") {
		le, valid := boundOf(k.labels)
		if !valid {
			continue
		}
		if d, known := v.series[k].delta(from, to, v.first[scraped{k.session, k.source}]); known {
			cumulative[le] += d
		}
	}
	bounds := make([]float64, 0, len(cumulative))
	for le := range cumulative {
		bounds = append(bounds, le)
	}
	sort.Float64s(bounds)
	low, before := 0.0, 0.0
	for _, le := range bounds {
		buckets = append(buckets, bucket{low, le, cumulative[le] - before})
		low, before = le, cumulative[le]
	}
	if len(bounds) > 0 && !math.IsInf(bounds[len(bounds)-1], 1) {
		buckets = append(buckets, bucket{low, math.Inf(1), n - before})
	}
	return buckets, sum, n, true
}

// boundOf reads le="0.5" among labels.
func boundOf(labels string) (float64, bool) {
	for _, l := range strings.Split(labels, ",") {
		if text, ok := strings.CutPrefix(l, `le="`); ok {
			v, err := strconv.ParseFloat(strings.TrimSuffix(text, `"`), 64)
			return v, err == nil
		}
	}
	return 0, false
}

// summary is the histogram in ms; nil when the server has none or it did not move.
func (v view) summary(series string, from, to int64) *Histogram {
	buckets, sum, n, ok := v.histogram(series, from, to)
	if !ok || n <= 0 {
		return nil
	}
	mean := 1e3 * sum / n
	return &Histogram{N: n, Mean: &mean, P50: quantile(buckets, 0.5), P99: quantile(buckets, 0.99)}
}

// quantile of buckets in s, as a bound in ms; nil for none.
func quantile(buckets []bucket, q float64) *Bound {
	total := 0.0
	for _, b := range buckets {
		total += b.n
	}
	if total <= 0 {
		return nil
	}
	rank, seen := q*total, 0.0
	for _, b := range buckets {
		if b.n > 0 && seen+b.n >= rank {
			out := &Bound{Low: 1e3 * b.low}
			if !math.IsInf(b.high, 1) {
				high := 1e3 * b.high
				value := out.Low + (high-out.Low)*(rank-seen)/b.n
				out.High, out.Value = &high, &value
			}
			return out
		}
		seen += b.n
	}
	return nil
}

// above is the share of observations above a value, between the two bounds that
// the buckets allow; false for none.
func above(buckets []bucket, x float64) (least, most float64, ok bool) {
	total, sure, maybe := 0.0, 0.0, 0.0
	for _, b := range buckets {
		total += b.n
		switch {
		case b.low >= x:
			sure += b.n
		case b.high > x:
			maybe += b.n
		}
	}
	if total <= 0 {
		return 0, 0, false
	}
	return sure / total, (sure + maybe) / total, true
}
