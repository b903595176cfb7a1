package outputs

import (
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
)

// recordCharts draws the standard charts of a run from its records in bounded
// memory: about 40 bytes a request (exact latency distributions and the
// concurrency sweep) and constant memory for everything that counts chunks.
// Distributions are kept by model and data set: a mixture of two is neither's.
type recordCharts struct {
	total, measured int64
	pairs           []*pairCharts
	pairOf          map[Pair]*pairCharts
	starts, ends    []int64 // ns
	tokens          timeBins
	sent            timeBins
	finished        timeBins
	failures        timeBins
	scatter         []point // reservoir of (input tokens, TTFT ms)
	scatterSeen     int64
	rng             *rand.Rand
	line            timelineSample
	counts          map[Status]int64
}

// pairCharts are the distributions of one model on one data set.
type pairCharts struct {
	name            string
	ttft, e2e, tpot []float32 // ms
	itl             logHistogram
	positions       positionBins
}

type point struct {
	x, y float64
	pair *pairCharts
}

const (
	scatterPoints = 4000
	// chartPairs is how many pairs are told apart; the rest are drawn as one.
	chartPairs = 8
)

func newRecordCharts() *recordCharts {
	// A fixed seed: a report rebuilt from the same records is the same report.
	return &recordCharts{rng: rand.New(rand.NewPCG(1, 1)), counts: map[Status]int64{}, line: timelineSample{stride: 1}, pairOf: map[Pair]*pairCharts{}}
}

// pair is where a record's distributions are kept.
func (c *recordCharts) pair(r *Record) *pairCharts {
	key := Pair{r.Model, r.Dataset}
	if p := c.pairOf[key]; p != nil {
		return p
	}
	if len(c.pairs) == chartPairs {
		last := c.pairs[chartPairs-1]
		last.name = "all others"
		c.pairOf[key] = last
		return last
	}
	p := &pairCharts{name: r.Model + " × " + r.Dataset}
	c.pairs = append(c.pairs, p)
	c.pairOf[key] = p
	return p
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
		c.sent.add(r.Sent, 1)
		c.line.add(r)
	}
	if r.End != Never {
		if r.OK() {
			c.finished.add(r.End, 1)
		} else if !r.Cancelled() {
			c.failures.add(r.End, 1)
		}
	}
	if !r.OK() {
		return
	}
	p := c.pair(r)
	if v, ok := r.TTFT(); ok {
		p.ttft = append(p.ttft, float32(float64(v)/1e6))
		if r.InputTokens != UnknownTokens {
			c.reserve(point{float64(r.InputTokens), float64(v) / 1e6, p})
		}
	}
	if v, ok := r.E2EL(); ok {
		p.e2e = append(p.e2e, float32(float64(v)/1e6))
	}
	if v, ok := r.TPOT(); ok {
		p.tpot = append(p.tpot, float32(v/1e6))
	}
	c.stream(r, p)
}

// stream counts tokens at the time they arrived and gaps by their position.
// Tokens of chunks without a count are the total spread evenly.
func (c *recordCharts) stream(r *Record, p *pairCharts) {
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
			p.itl.add(gap)
			p.positions.add(int(pos), gap)
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
	// named tells a series of one pair from those of the others.
	named := func(p *pairCharts, s Series) Series {
		if len(c.pairs) > 1 {
			s.Name += ": " + p.name
		}
		return s
	}
	each := func(ch Chart, of ...func(p *pairCharts) Series) {
		for _, p := range c.pairs {
			for _, f := range of {
				if s := f(p); len(s.X) > 1 {
					ch.Series = append(ch.Series, named(p, s))
				}
			}
		}
		if len(ch.Series) > 0 {
			out = append(out, ch)
		}
	}
	each(Chart{ID: "cdf-ttft", Title: "Time to first token: share of requests below", XLabel: "TTFT (ms)", YLabel: "Share of requests (%)"},
		func(p *pairCharts) Series { return cdfSeries("TTFT", p.ttft) })
	each(Chart{ID: "cdf-e2el", Title: "End-to-end latency: share of requests below", XLabel: "E2EL (ms)", YLabel: "Share of requests (%)"},
		func(p *pairCharts) Series { return cdfSeries("E2EL", p.e2e) })
	each(Chart{ID: "cdf-tpot", Title: "TPOT and inter-token latency: share below", XLabel: "ms", YLabel: "Share (%)", XLog: true},
		func(p *pairCharts) Series { return cdfSeries("TPOT", p.tpot) },
		func(p *pairCharts) Series { return p.itl.cdf("ITL (per chunk gap)") })
	zero := c.zero()
	if s := c.tokens.series("Output tokens per second", zero, 0); len(s.X) > 0 {
		out = append(out, Chart{ID: "throughput", Title: "Output token throughput over time", XLabel: "Time (s)", YLabel: "token/s", Series: []Series{s}})
	}
	width := commonWidth(&c.sent, &c.finished, &c.failures)
	if s := c.sent.series("Sent requests per second", zero, width); len(s.X) > 0 {
		ch := Chart{ID: "requests", Title: "Requests sent and finished over time", XLabel: "Time (s)", YLabel: "req/s", Series: []Series{s}}
		for _, s := range []Series{c.finished.series("Successful requests per second", zero, width), c.failures.series("Failed requests per second", zero, width)} {
			if len(s.X) > 0 {
				ch.Series = append(ch.Series, s)
			}
		}
		out = append(out, ch)
	}
	if mean, peak := c.concurrency(zero); len(mean.X) > 0 {
		out = append(out, Chart{ID: "concurrency", Title: "Requests in flight over time", XLabel: "Time (s)", YLabel: "Requests", Kind: "step", Series: []Series{mean, peak}})
	}
	if len(c.scatter) > 1 {
		ch := Chart{ID: "ttft-input", Title: "TTFT against input length", Kind: "scatter", XLabel: "Input tokens", YLabel: "TTFT (ms)"}
		for _, p := range c.pairs {
			s := Series{Name: "Requests"}
			for _, dot := range c.scatter {
				if dot.pair == p {
					s.X, s.Y = append(s.X, dot.x), append(s.Y, dot.y)
				}
			}
			if len(s.X) > 0 {
				ch.Series = append(ch.Series, named(p, s))
			}
		}
		if c.scatterSeen > scatterPoints {
			ch.Notes = []string{"A uniform sample of the requests is drawn."}
		}
		out = append(out, ch)
	}
	each(Chart{ID: "itl-position", Title: "Inter-token latency by output position", XLabel: "Output position (tokens)", YLabel: "ms"},
		func(p *pairCharts) Series { mean, _ := p.positions.series(); return mean },
		func(p *pairCharts) Series { _, p99 := p.positions.series(); return p99 })
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
