package metrics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Options are what a reader may choose about the strict metrics.
type Options struct {
	Percentiles []float64 // 0–100; nil = DefaultPercentiles
	SLOs        []SLO     // goodput and attainment; nil = none
	// LengthBounds divide requests by input tokens: short < bounds[0] ≤ medium ≤
	// bounds[1] < long; nil = DefaultLengthBounds.
	LengthBounds []int
}

// DefaultPercentiles are p50, p75, p90, p95 and p99.
var DefaultPercentiles = []float64{50, 75, 90, 95, 99}

// DefaultLengthBounds make short < 128 ≤ medium ≤ 1,024 < long.
var DefaultLengthBounds = []int{128, 1024}

func (o Options) withDefaults() (Options, error) {
	if len(o.Percentiles) == 0 {
		o.Percentiles = DefaultPercentiles
	}
	o.Percentiles = slices.Clone(o.Percentiles)
	slices.Sort(o.Percentiles)
	o.Percentiles = slices.Compact(o.Percentiles)
	if o.LengthBounds == nil {
		o.LengthBounds = DefaultLengthBounds
	}
	if !slices.IsSorted(o.LengthBounds) {
		return o, fmt.Errorf("length bounds %v must ascend", o.LengthBounds)
	}
	return o, nil
}

// ParsePercentiles reads a list of percentiles: "99", "99.9", "p99", "P75"
// (vLLM's --metric-percentiles and AISBench's stats_list alike, commas or
// separate words). Median is 50; Average, Mean, Min, Max, Std and N are always
// shown and accepted for AISBench's sake.
func ParsePercentiles(list []string) ([]float64, error) {
	var out []float64
	for _, word := range list {
		for _, s := range strings.FieldsFunc(word, func(r rune) bool { return r == ',' || r == ' ' }) {
			lower := strings.ToLower(s)
			switch lower {
			case "median":
				out = append(out, 50)
				continue
			case "average", "mean", "avg", "min", "max", "std", "n":
				continue
			}
			p, err := strconv.ParseFloat(strings.TrimPrefix(lower, "p"), 64)
			if err != nil || !(p >= 0 && p <= 100) {
				return nil, fmt.Errorf("percentile %q: write a number from 0 to 100, such as 99, P99 or 99.9; or Average, Min, Max, Median, Std", s)
			}
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
