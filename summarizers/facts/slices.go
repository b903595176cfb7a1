package facts

import (
	"ais_bench/summarizers/metrics"
)

// maxSlices bounds the slices of a sliced distribution.
const maxSlices = 32

// sliced is a distribution of very many values (every gap of every stream) kept
// apart by the time they were seen, in at most 32 slices of time: enough to judge
// how much values of one time are alike, in bounded memory.
type sliced struct {
	width int64 // ns; 0 = empty
	first int64
	parts []*metrics.Dist // nil where nothing was seen
}

const gapQuantum = 1_000 // ns: percentiles of gaps are exact to 1 µs, as in the reports

func (s *sliced) add(at, value, times int64) {
	if s.width == 0 {
		s.width = 100_000_000
		s.first = floorDiv(at, s.width)
	}
	i := floorDiv(at, s.width)
	for max(i+1, s.first+int64(len(s.parts)))-min(i, s.first) > maxSlices {
		s.double()
		i = floorDiv(at, s.width)
	}
	if i < s.first {
		s.parts = append(make([]*metrics.Dist, s.first-i), s.parts...)
		s.first = i
	}
	i -= s.first
	for int64(len(s.parts)) <= i {
		s.parts = append(s.parts, nil)
	}
	if s.parts[i] == nil {
		s.parts[i] = metrics.NewDist(gapQuantum)
	}
	s.parts[i].AddN(value, times)
}

func (s *sliced) double() {
	old, first := s.parts, s.first
	s.width *= 2
	s.first = floorDiv(first, 2)
	s.parts = nil
	for i, d := range old {
		j := floorDiv(first+int64(i), 2) - s.first
		for int64(len(s.parts)) <= j {
			s.parts = append(s.parts, nil)
		}
		switch {
		case d == nil:
		case s.parts[j] == nil:
			s.parts[j] = d
		default:
			s.parts[j].Merge(d)
		}
	}
}

// all is the distribution of everything.
func (s *sliced) all() *metrics.Dist {
	d := metrics.NewDist(gapQuantum)
	for _, p := range s.parts {
		if p != nil {
			d.Merge(p)
		}
	}
	return d
}
