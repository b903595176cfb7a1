// Package numpy summarizes numbers the way numpy does for the Python tools
// whose results the compatibility profiles reproduce: mean, population
// standard deviation (ddof 0), and percentiles by linear interpolation.
//
// A Sample keeps up to Exact values as they are. Beyond that it folds them into
// a histogram of one-microsecond steps: 250,000 answers of 4,096 chunks are a
// billion gaps, which no list holds, while their distinct microseconds are
// few. Mean and standard deviation stay exact, percentiles are exact to 1 µs.
package numpy

import (
	"math"
	"slices"
)

// Exact is how many values a Sample keeps before it folds them into the
// histogram.
const Exact = 1 << 20

// step is the width of a histogram bin in the unit of the values (seconds).
const step = 1e-6

// Sample is a growing list of finite values in seconds (or any unit where 1e-6
// is a negligible step). The zero value is empty and ready.
type Sample struct {
	values   []float64
	sorted   bool
	dense    []int64         // bins of [0, 1 s), where nearly all gaps are
	bins     map[int64]int64 // the other bins; nil until the values are folded
	keys     []int64         // the sorted keys of bins; nil when stale
	n        int64
	mean, m2 float64 // Welford's running mean and sum of squared deviations
	min, max float64
}

// Add appends a value. Values that are not finite are not numbers to
// summarize and are left out.
func (s *Sample) Add(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if s.n == 0 {
		s.min, s.max = v, v
	}
	s.min, s.max = min(s.min, v), max(s.max, v)
	s.n++
	d := v - s.mean
	s.mean += d / float64(s.n)
	s.m2 += d * (v - s.mean)
	if s.bins != nil {
		s.count(v)
		return
	}
	s.values = append(s.values, v)
	s.sorted = false
	if len(s.values) > Exact {
		s.fold()
	}
}

func (s *Sample) fold() {
	s.bins, s.dense = map[int64]int64{}, make([]int64, 1/step)
	for _, v := range s.values {
		s.count(v)
	}
	s.values = nil
}

func (s *Sample) count(v float64) {
	k := int64(math.Round(v / step))
	if k >= 0 && k < int64(len(s.dense)) {
		s.dense[k]++
		return
	}
	s.bins[k]++
	s.keys = nil
}

// N is the number of values.
func (s *Sample) N() int64 { return s.n }

// Mean is the arithmetic mean; 0 when empty.
func (s *Sample) Mean() float64 { return s.mean }

// Std is the population standard deviation; 0 when empty.
func (s *Sample) Std() float64 {
	if s.n == 0 {
		return 0
	}
	return math.Sqrt(s.m2 / float64(s.n))
}

// Min is the smallest value; 0 when empty.
func (s *Sample) Min() float64 { return s.min }

// Max is the largest value; 0 when empty.
func (s *Sample) Max() float64 { return s.max }

// Median is the 50th percentile; 0 when empty.
func (s *Sample) Median() float64 { return s.Percentile(50) }

// Percentile is numpy's default (method "linear"): with h = (n-1)·p/100,
// x[⌊h⌋] + (h-⌊h⌋)·(x[⌊h⌋+1] - x[⌊h⌋]) over the sorted values. p is clamped to
// [0, 100]; 0 when empty.
func (s *Sample) Percentile(p float64) float64 {
	if s.n == 0 || math.IsNaN(p) {
		return 0
	}
	h := float64(s.n-1) * min(max(p, 0), 100) / 100
	low := math.Floor(h)
	a, b := s.at(int64(low)), s.at(min(int64(low)+1, s.n-1))
	return a + (h-low)*(b-a)
}

// at is the i-th smallest value.
func (s *Sample) at(i int64) float64 {
	if s.bins == nil {
		if !s.sorted {
			slices.Sort(s.values)
			s.sorted = true
		}
		return s.values[i]
	}
	// The extremes are known exactly, whatever the step.
	switch i {
	case 0:
		return s.min
	case s.n - 1:
		return s.max
	}
	if s.keys == nil {
		for k := range s.bins {
			s.keys = append(s.keys, k)
		}
		slices.Sort(s.keys)
	}
	above, _ := slices.BinarySearch(s.keys, 0)
	for _, k := range s.keys[:above] {
		if i -= s.bins[k]; i < 0 {
			return float64(k) * step
		}
	}
	for k, n := range s.dense {
		if i -= n; i < 0 {
			return float64(k) * step
		}
	}
	for _, k := range s.keys[above:] {
		if i -= s.bins[k]; i < 0 {
			return float64(k) * step
		}
	}
	return s.max
}
