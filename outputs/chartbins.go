package outputs

import (
	"math"
	"slices"
)

// logHistogram counts positive values in buckets 2 % wide, from 1 µs to about
// 2.8 hours, in milliseconds.
type logHistogram struct {
	n      int64
	counts [logBuckets]uint32
	zeros  int64
	sum    float64
}

const (
	logBuckets = 1160
	logBase    = 1e-3
)

var logStep = math.Log(1.02)

func (h *logHistogram) add(ms float64) {
	h.n++
	h.sum += ms
	if ms <= logBase {
		h.zeros++
		return
	}
	h.counts[min(logBuckets-1, int(math.Log(ms/logBase)/logStep))]++
}

func (h *logHistogram) merge(o *logHistogram) {
	h.n, h.zeros, h.sum = h.n+o.n, h.zeros+o.zeros, h.sum+o.sum
	for i, c := range o.counts {
		h.counts[i] += c
	}
}

// quantile is the upper edge of the bucket that holds the q-th share.
func (h *logHistogram) quantile(q float64) float64 {
	rank := int64(math.Ceil(q * float64(h.n)))
	seen := h.zeros
	if seen >= rank {
		return logBase
	}
	for i, c := range h.counts {
		if seen += int64(c); seen >= rank {
			return logBase * math.Exp(float64(i+1)*logStep)
		}
	}
	return math.NaN()
}

func (h *logHistogram) cdf(name string) Series {
	s := Series{Name: name}
	if h.n < 2 {
		return s
	}
	seen := h.zeros
	if seen > 0 {
		s.X, s.Y = append(s.X, logBase), append(s.Y, 100*float64(seen)/float64(h.n))
	}
	for i, c := range h.counts {
		if c > 0 {
			seen += int64(c)
			s.X, s.Y = append(s.X, logBase*math.Exp(float64(i+1)*logStep)), append(s.Y, 100*float64(seen)/float64(h.n))
		}
	}
	return s
}

// timeBins adds values by time in at most maxBins bins; when the time outgrows
// them, neighbours are merged and the bins become twice as wide.
type timeBins struct {
	width int64 // ns; 0 before the first value
	from  int64 // left edge of bin 0
	bins  []float64
}

const (
	maxBins  = 1024
	binStart = 100_000_000 // 0.1 s
)

func (b *timeBins) add(at int64, v float64) {
	if b.width == 0 {
		b.width = binStart
		b.from = at - mod(at, binStart)
	}
	for at < b.from {
		// Room at the left, by whole bins; wider bins where that is too many.
		if need := (b.from - at + b.width - 1) / b.width; need+int64(len(b.bins)) <= maxBins {
			b.bins = append(make([]float64, need), b.bins...)
			b.from -= need * b.width
		} else {
			b.widen()
		}
	}
	for (at-b.from)/b.width >= maxBins {
		b.widen()
	}
	i := int((at - b.from) / b.width)
	for len(b.bins) <= i {
		b.bins = append(b.bins, 0)
	}
	b.bins[i] += v
}

// mod is the non-negative remainder.
func mod(a, n int64) int64 { return ((a % n) + n) % n }

func (b *timeBins) widen() {
	// Keep the left edge a multiple of the new width.
	if mod(b.from, 2*b.width) != 0 {
		b.from -= b.width
		b.bins = append([]float64{0}, b.bins...)
	}
	half := b.bins[:0]
	for i := 0; i < len(b.bins); i += 2 {
		v := b.bins[i]
		if i+1 < len(b.bins) {
			v += b.bins[i+1]
		}
		half = append(half, v)
	}
	b.bins = half
	b.width *= 2
}

// series is the rate per second at the middle of each bin, at least width wide
// and with at most a few hundred bins.
func (b *timeBins) series(name string, zero, width int64) Series {
	s := Series{Name: name}
	if b.width == 0 {
		return s
	}
	c := b.drawn(width)
	for i, v := range c.bins {
		mid := float64(c.from-zero+int64(i)*c.width+c.width/2) / 1e9
		s.X, s.Y = append(s.X, max(mid, 0)), append(s.Y, v/(float64(c.width)/1e9))
	}
	return s
}

// drawn merges bins to what a chart can show.
func (b *timeBins) drawn(width int64) timeBins {
	c := timeBins{width: b.width, from: b.from, bins: slices.Clone(b.bins)}
	for c.width < width || len(c.bins) > 400 || c.width < 1e9 && len(c.bins) > 60 {
		c.widen()
	}
	return c
}

// commonWidth is the bin width at which all can be drawn in one chart.
func commonWidth(list ...*timeBins) int64 {
	width := int64(0)
	for _, b := range list {
		if b.width > 0 {
			c := b.drawn(0)
			width = max(width, c.width)
		}
	}
	return width
}

// positionBins keeps the distribution of gaps by output position in at most
// 128 bins whose width doubles as answers grow.
type positionBins struct {
	width int
	bins  []*logHistogram
}

func (p *positionBins) add(pos int, gap float64) {
	if p.width == 0 {
		p.width = 1
	}
	for pos/p.width >= 128 {
		half := p.bins[:0]
		for i := 0; i < len(p.bins); i += 2 {
			a := p.bins[i]
			if i+1 < len(p.bins) && p.bins[i+1] != nil {
				if a == nil {
					a = p.bins[i+1]
				} else {
					a.merge(p.bins[i+1])
				}
			}
			half = append(half, a)
		}
		clear(p.bins[len(half):])
		p.bins = half
		p.width *= 2
	}
	i := pos / p.width
	for len(p.bins) <= i {
		p.bins = append(p.bins, nil)
	}
	if p.bins[i] == nil {
		p.bins[i] = new(logHistogram)
	}
	p.bins[i].add(gap)
}

func (p *positionBins) series() (mean, p99 Series) {
	mean, p99 = Series{Name: "Mean"}, Series{Name: "p99"}
	for i, h := range p.bins {
		if h == nil {
			continue
		}
		x := float64(i*p.width) + float64(p.width)/2
		mean.X, mean.Y = append(mean.X, x), append(mean.Y, h.sum/float64(h.n))
		q := math.NaN()
		if h.n >= 100 {
			q = h.quantile(0.99)
		}
		p99.X, p99.Y = append(p99.X, x), append(p99.Y, q)
	}
	return mean, p99
}
