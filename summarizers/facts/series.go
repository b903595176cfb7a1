package facts

// maxBins bounds the bins of a series.
const maxBins = 1 << 15

// series counts events by the time they happened in bins of equal width: 1 ms,
// doubled whenever a run outlasts the bins.
type series struct {
	width int64 // ns; 0 = empty
	first int64 // index of n[0]
	n     []float64
}

func (s *series) add(at int64, amount float64) {
	if amount == 0 {
		return
	}
	if s.width == 0 {
		s.width = 1_000_000
		s.first = floorDiv(at, s.width)
	}
	i := floorDiv(at, s.width)
	for max(i+1, s.first+int64(len(s.n)))-min(i, s.first) > maxBins {
		s.halve()
		i = floorDiv(at, s.width)
	}
	if i < s.first {
		s.n = append(make([]float64, s.first-i), s.n...)
		s.first = i
	}
	i -= s.first
	for int64(len(s.n)) <= i {
		s.n = append(s.n, 0)
	}
	s.n[i] += amount
}

// halve makes the bins twice as wide.
func (s *series) halve() {
	old, first := s.n, s.first
	s.width *= 2
	s.first = floorDiv(first, 2)
	s.n = make([]float64, 0, len(old)/2+2)
	for i, v := range old {
		j := floorDiv(first+int64(i), 2) - s.first
		for int64(len(s.n)) <= j {
			s.n = append(s.n, 0)
		}
		s.n[j] += v
	}
}

// windows are the sums over count windows of equal length within [from, to);
// nil when the bins are too coarse for them.
func (s *series) windows(from, to int64, count int) []float64 {
	if s.width == 0 || count < 1 {
		return nil
	}
	start := floorDiv(from-1, s.width) + 1 // first bin that lies inside
	each := (floorDiv(to, s.width) - start) / int64(count)
	if each < 1 {
		return nil
	}
	out := make([]float64, count)
	for w := range out {
		for i := range each {
			if j := start + int64(w)*each + i - s.first; j >= 0 && j < int64(len(s.n)) {
				out[w] += s.n[j]
			}
		}
	}
	return out
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
