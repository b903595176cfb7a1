package metrics

import "time"

// peakWindow is the window of the peak output rate.
const peakWindow = time.Second

// maxBins bounds the bins of a timeBins (8 MiB): 2.9 h at 10 ms.
const maxBins = 1 << 20

// timeBins counts whole tokens by the time they arrived, relative to the run's
// zero. The width starts at 10 ms and grows tenfold when a run outlasts the
// bins, so that a second (then ten) stays a whole number of bins.
type timeBins struct {
	width int64 // ns; 0 = empty
	first int64 // index of n[0]
	n     []int64
}

func (b *timeBins) add(at, k int64) {
	if k == 0 {
		return
	}
	if b.width == 0 {
		b.width = 10_000_000
		b.first = floorDiv(at, b.width)
	}
	i := floorDiv(at, b.width)
	for span(i, b.first, int64(len(b.n))) > maxBins {
		b.coarsen()
		i = floorDiv(at, b.width)
	}
	if i < b.first {
		grown := make([]int64, int64(len(b.n))+b.first-i)
		copy(grown[b.first-i:], b.n)
		b.n, b.first = grown, i
	}
	i -= b.first
	for int64(len(b.n)) <= i {
		b.n = append(b.n, 0)
	}
	b.n[i] += k
}

// span is how many bins are needed once bin i is among them.
func span(i, first, n int64) int64 { return max(i+1, first+n) - min(i, first) }

func (b *timeBins) coarsen() {
	old, first := b.n, b.first
	b.width *= 10
	b.first = floorDiv(first, 10)
	b.n = make([]int64, 0, len(old)/10+2)
	for i, k := range old {
		j := floorDiv(first+int64(i), 10) - b.first
		for int64(len(b.n)) <= j {
			b.n = append(b.n, 0)
		}
		b.n[j] += k
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// peak is the most counted in any window of peakWindow that starts on the grid
// of bins, per second.
func (b *timeBins) peak() (float64, bool) {
	if len(b.n) == 0 {
		return 0, false
	}
	window := max(int64(peakWindow)/b.width, 1)
	sum, best := int64(0), int64(0)
	for i, k := range b.n {
		sum += k
		if j := int64(i) - window; j >= 0 {
			sum -= b.n[j]
		}
		best = max(best, sum)
	}
	return float64(best) / (float64(window*b.width) / 1e9), true
}

// between is how much was counted in [from, to); bins that lie partly inside
// count in proportion, which is off by less than one bin's content at each end.
func (b *timeBins) between(from, to int64) float64 {
	total := 0.0
	for i, k := range b.n {
		start := (b.first + int64(i)) * b.width
		overlap := min(start+b.width, to) - max(start, from)
		if k > 0 && overlap > 0 {
			total += float64(k) * float64(overlap) / float64(b.width)
		}
	}
	return total
}
