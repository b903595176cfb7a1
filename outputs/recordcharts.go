package outputs

import (
	"container/heap"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// recordCharts draws the standard charts of a run from its records in bounded
// memory: about 40 bytes a request (exact latency distributions and the
// concurrency sweep) and constant memory for everything that counts chunks.
type recordCharts struct {
	total, measured int64
	ttft, e2e, tpot []float32 // ms
	starts, ends    []int64   // ns
	itl             logHistogram
	positions       positionBins
	tokens          timeBins
	finished        timeBins
	failures        timeBins
	scatter         []point // reservoir of (input tokens, TTFT ms)
	scatterSeen     int64
	rng             *rand.Rand
	line            timelineSample
	counts          map[Status]int64
}

type point struct{ x, y float64 }

const scatterPoints = 4000

func newRecordCharts() *recordCharts {
	// A fixed seed: a report rebuilt from the same records is the same report.
	return &recordCharts{rng: rand.New(rand.NewPCG(1, 1)), counts: map[Status]int64{}, line: timelineSample{stride: 1}}
}

// gatherRecords reads all records once. Only measured requests are drawn, as
// in every other figure; records without a phase count as measured.
func gatherRecords(records iter.Seq2[*Record, error]) (*recordCharts, error) {
	c := newRecordCharts()
	for rec, err := range records {
		var damage *DamageError
		if errors.As(err, &damage) {
			continue
		}
		if err != nil {
			return nil, err
		}
		c.add(rec)
	}
	return c, nil
}

func (c *recordCharts) add(r *Record) {
	c.total++
	if r.Phase != PhaseMeasured && r.Phase != "" {
		return
	}
	c.measured++
	c.counts[r.Status]++
	if r.Sent != Never && r.End != Never && r.End >= r.Sent {
		c.starts = append(c.starts, r.Sent)
		c.ends = append(c.ends, r.End)
		c.line.add(r)
	}
	if r.End != Never {
		if r.OK() {
			c.finished.add(r.End, 1)
		} else {
			c.failures.add(r.End, 1)
		}
	}
	if !r.OK() {
		return
	}
	if v, ok := r.TTFT(); ok {
		c.ttft = append(c.ttft, float32(float64(v)/1e6))
		if r.InputTokens != UnknownTokens {
			c.reserve(point{float64(r.InputTokens), float64(v) / 1e6})
		}
	}
	if v, ok := r.E2EL(); ok {
		c.e2e = append(c.e2e, float32(float64(v)/1e6))
	}
	if v, ok := r.TPOT(); ok {
		c.tpot = append(c.tpot, float32(v/1e6))
	}
	c.stream(r)
}

// stream counts tokens at the time they arrived and gaps by their position.
// Tokens of chunks without a count are the total spread evenly.
func (c *recordCharts) stream(r *Record) {
	n := len(r.ChunkAt)
	if n == 0 || r.Sent == Never {
		if r.OutputTokens > 0 && r.LastToken != Never {
			c.tokens.add(r.LastToken, float64(r.OutputTokens))
		}
		return
	}
	known := len(r.ChunkTokens) == n
	each := 1.0
	if r.OutputTokens >= 0 {
		each = float64(r.OutputTokens) / float64(n)
	}
	pos := 0.0
	for i, at := range r.ChunkAt {
		t := each
		if known {
			t = float64(r.ChunkTokens[i])
		}
		c.tokens.add(r.Sent+at, t)
		if i > 0 {
			gap := float64(at-r.ChunkAt[i-1]) / 1e6
			c.itl.add(gap)
			c.positions.add(int(pos), gap)
		}
		pos += t
	}
}

// reserve keeps a uniform sample (Vitter's algorithm R).
func (c *recordCharts) reserve(p point) {
	c.scatterSeen++
	if len(c.scatter) < scatterPoints {
		c.scatter = append(c.scatter, p)
		return
	}
	if i := c.rng.Int64N(c.scatterSeen); i < scatterPoints {
		c.scatter[i] = p
	}
}

// charts returns what the data support; a chart without data is left out.
func (c *recordCharts) charts() []Chart {
	var out []Chart
	if s := cdfSeries("TTFT", c.ttft); len(s.X) > 0 {
		out = append(out, Chart{ID: "cdf-ttft", Title: "Time to first token: share of requests below", XLabel: "TTFT (ms)", YLabel: "Share of requests (%)", Series: []Series{s}})
	}
	if s := cdfSeries("E2EL", c.e2e); len(s.X) > 0 {
		out = append(out, Chart{ID: "cdf-e2el", Title: "End-to-end latency: share of requests below", XLabel: "E2EL (ms)", YLabel: "Share of requests (%)", Series: []Series{s}})
	}
	itl := c.itl.cdf("ITL (per chunk gap)")
	if s := cdfSeries("TPOT", c.tpot); len(s.X) > 0 || len(itl.X) > 0 {
		ch := Chart{ID: "cdf-tpot", Title: "TPOT and inter-token latency: share below", XLabel: "ms", YLabel: "Share (%)", XLog: true}
		for _, s := range []Series{s, itl} {
			if len(s.X) > 0 {
				ch.Series = append(ch.Series, s)
			}
		}
		out = append(out, ch)
	}
	zero := c.zero()
	if s := c.tokens.series("Output tokens per second", zero); len(s.X) > 0 {
		out = append(out, Chart{ID: "throughput", Title: "Output token throughput over time", XLabel: "Time (s)", YLabel: "token/s", Series: []Series{s}})
	}
	if s := c.finished.series("Successful requests per second", zero); len(s.X) > 0 {
		ch := Chart{ID: "requests", Title: "Finished requests over time", XLabel: "Time (s)", YLabel: "request/s", Series: []Series{s}}
		if f := c.failures.series("Failed requests per second", zero); len(f.X) > 0 {
			ch.Series = append(ch.Series, f)
		}
		out = append(out, ch)
	}
	if mean, peak := c.concurrency(zero); len(mean.X) > 0 {
		out = append(out, Chart{ID: "concurrency", Title: "Requests in flight over time", XLabel: "Time (s)", YLabel: "Requests", Kind: "step", Series: []Series{mean, peak}})
	}
	if len(c.scatter) > 1 {
		s := Series{Name: "Requests"}
		for _, p := range c.scatter {
			s.X, s.Y = append(s.X, p.x), append(s.Y, p.y)
		}
		ch := Chart{ID: "ttft-input", Title: "TTFT against input length", Kind: "scatter", XLabel: "Input tokens", YLabel: "TTFT (ms)", Series: []Series{s}}
		if c.scatterSeen > scatterPoints {
			ch.Notes = []string{"A uniform sample of the requests is drawn."}
		}
		out = append(out, ch)
	}
	if mean, p99 := c.positions.series(); len(mean.X) > 1 {
		out = append(out, Chart{ID: "itl-position", Title: "Inter-token latency by output position", XLabel: "Output position (tokens)", YLabel: "ms", Series: []Series{mean, p99}})
	}
	return out
}

// zero is the time all charts start at: the first send.
func (c *recordCharts) zero() int64 {
	if len(c.starts) == 0 {
		return 0
	}
	return slices.Min(c.starts)
}

// cdfSeries is the empirical distribution at 99 percentiles and a finer tail,
// percentiles by linear interpolation.
func cdfSeries(name string, values []float32) Series {
	s := Series{Name: name}
	if len(values) < 2 {
		return s
	}
	slices.Sort(values)
	at := func(q float64) {
		h := q / 100 * float64(len(values)-1)
		i := int(h)
		v := float64(values[i])
		if i+1 < len(values) {
			v += (h - float64(i)) * float64(values[i+1]-values[i])
		}
		s.X, s.Y = append(s.X, v), append(s.Y, q)
	}
	for q := range 99 {
		at(float64(q))
	}
	for q := 990; q < 1000; q++ {
		at(float64(q) / 10)
	}
	at(99.99)
	at(100)
	return s
}

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

// series is the rate per second at the middle of each bin, with bins merged to
// at most a few hundred.
func (b *timeBins) series(name string, zero int64) Series {
	s := Series{Name: name}
	if b.width == 0 {
		return s
	}
	c := timeBins{width: b.width, from: b.from, bins: slices.Clone(b.bins)}
	for len(c.bins) > 400 || c.width < 1e9 && len(c.bins) > 120 {
		c.widen()
	}
	for i, v := range c.bins {
		mid := float64(c.from-zero+int64(i)*c.width+c.width/2) / 1e9
		s.X, s.Y = append(s.X, max(mid, 0)), append(s.Y, v/(float64(c.width)/1e9))
	}
	return s
}

// concurrency sweeps over starts and ends; an end before a start at the same
// instant. It returns mean and peak in up to 400 intervals.
func (c *recordCharts) concurrency(zero int64) (mean, peak Series) {
	mean, peak = Series{Name: "Mean in interval"}, Series{Name: "Peak in interval"}
	if len(c.starts) == 0 {
		return
	}
	starts, ends := slices.Clone(c.starts), slices.Clone(c.ends)
	slices.Sort(starts)
	slices.Sort(ends)
	last := ends[len(ends)-1]
	span := max(last-zero, 1)
	const n = 400
	step := max(span/n, 1)
	now, i, j := 0, 0, 0
	for t := zero; t < last || t == zero; t += step {
		stop := t + step
		at, area, top := t, 0.0, now
		for {
			next, delta := stop, 0
			if j < len(ends) && ends[j] < next {
				next, delta = ends[j], -1
			}
			if i < len(starts) && starts[i] < next {
				next, delta = starts[i], 1
			}
			area += float64(next-at) * float64(now)
			at = next
			if delta == 0 {
				break
			}
			now += delta
			if delta > 0 {
				i++
			} else {
				j++
			}
			top = max(top, now)
		}
		x := float64(t-zero) / 1e9
		mean.X, mean.Y = append(mean.X, x), append(mean.Y, area/float64(step))
		peak.X, peak.Y = append(peak.X, x), append(peak.Y, float64(top))
	}
	return mean, peak
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

// timelineSample keeps every stride-th request, at most timelineMax.
type timelineSample struct {
	stride, seen int64
	rows         []timelineRow
}

type timelineRow struct {
	sent, first, end int64
	status           Status
	lane             int32
}

const timelineMax = 200_000

func (t *timelineSample) add(r *Record) {
	t.seen++
	if (t.seen-1)%t.stride != 0 {
		return
	}
	t.rows = append(t.rows, timelineRow{sent: r.Sent, first: r.FirstToken, end: r.End, status: r.Status})
	if len(t.rows) >= timelineMax {
		kept := t.rows[:0]
		for i := 0; i < len(t.rows); i += 2 {
			kept = append(kept, t.rows[i])
		}
		t.rows = kept
		t.stride *= 2
	}
}

// pack gives every request the lowest lane that is free when it starts, so
// that the height of the picture is the concurrency.
func (t *timelineSample) pack() (lanes int) {
	sort.SliceStable(t.rows, func(i, j int) bool { return t.rows[i].sent < t.rows[j].sent })
	var free intHeap
	var busy busyHeap
	for i := range t.rows {
		r := &t.rows[i]
		for len(busy) > 0 && busy[0].end <= r.sent {
			heap.Push(&free, heap.Pop(&busy).(busyLane).lane)
		}
		if len(free) > 0 {
			r.lane = heap.Pop(&free).(int32)
		} else {
			r.lane = int32(lanes)
			lanes++
		}
		heap.Push(&busy, busyLane{r.end, r.lane})
	}
	return lanes
}

type intHeap []int32

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int32)) }
func (h *intHeap) Pop() any {
	last := len(*h) - 1
	v := (*h)[last]
	*h = (*h)[:last]
	return v
}

type busyLane struct {
	end  int64
	lane int32
}

type busyHeap []busyLane

func (h busyHeap) Len() int           { return len(h) }
func (h busyHeap) Less(i, j int) bool { return h[i].end < h[j].end }
func (h busyHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *busyHeap) Push(x any)        { *h = append(*h, x.(busyLane)) }
func (h *busyHeap) Pop() any {
	last := len(*h) - 1
	v := (*h)[last]
	*h = (*h)[:last]
	return v
}
