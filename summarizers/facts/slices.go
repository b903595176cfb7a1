package facts

import (
	"ais_bench/summarizers/metrics"
)

// maxSlices bounds the slices of time of a sliced distribution; groups is the
// number of its groups of streams.
const (
	maxSlices = 32
	groups    = 16
)

// sliced is a distribution of very many values, every gap of every stream, in
// bounded memory. Gaps of one stream are alike, and so are those of one time, so
// it is kept twice: by the time the stream was sent, in at most 32 slices, and in
// 16 groups that the streams are dealt out to.
type sliced struct {
	width int64 // ns; 0 = empty
	first int64
	parts []*metrics.Dist // by time; nil where nothing was sent
	dealt [groups]*metrics.Dist
}

const gapQuantum = 1_000 // ns: percentiles of gaps are exact to 1 µs, as in the reports

// add adds a gap of the i-th stream, which was sent at the time at.
func (s *sliced) add(at int64, stream int, gap, times int64) {
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
	s.parts[i].AddN(gap, times)
	g := stream % groups
	if s.dealt[g] == nil {
		s.dealt[g] = metrics.NewDist(gapQuantum)
	}
	s.dealt[g].AddN(gap, times)
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
