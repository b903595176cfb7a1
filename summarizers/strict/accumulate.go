package strict

import (
	"math"

	"ais_bench/outputs"
)

// DefaultPercentiles are those of the performance table.
var DefaultPercentiles = []float64{50, 75, 90, 95, 99}

// Options say what is computed.
type Options struct {
	Percentiles []float64 // 0–100; nil = DefaultPercentiles
	SLOs        []SLO
	// LengthBounds divide requests by input tokens: short < 128 ≤ medium ≤ 1,024
	// < long is {128, 1025}, the default; each bound starts a bucket.
	LengthBounds []int32
}

// binNS is the width of the bins tokens are counted in over time.
const binNS = int64(10e6)

// request is what is kept of each measured request.
type request struct {
	scheduled, sent, end, first, last int64
	ok                                bool
}

// Accumulator collects records. It is not safe for concurrent use.
type Accumulator struct {
	opts Options

	ttft, ttfat, tpot, itl, e2el *Dist
	ttftSched, e2elSched, queue  *Dist
	connect, stall               *Dist
	inTokens, outTokens          *Dist
	outRate, prefillRate         *Dist
	byPosition                   []*Dist
	byLength                     []*lengthBucket

	requests []request
	bins     map[int64]float64 // output tokens by time in bins of binNS

	statuses map[outputs.Status]int64
	finish   map[string]int64
	sources  map[outputs.TokenSource]int64
	attain   []Attainment

	good, retried, resent, streams      int64
	perToken, perChunk                  int64 // ITL values of either kind
	zeroGaps, coalesced, chunks, kernel int64
	stoppedEarly, capped                int64
	inSum, outSum, inKnown, outKnown    int64
	cached, cachedKnown, reasoning      int64
	streamTokens                        int64 // output tokens of streams
	first, last                         int64 // earliest scheduled, latest end
	any                                 bool
}

type lengthBucket struct {
	from, to         int32 // tokens; to = 0 has no upper bound
	n, failed        int64
	ttft, tpot, e2el *Dist
	out              int64
}

// New starts an empty accumulation.
func New(o Options) *Accumulator {
	if o.Percentiles == nil {
		o.Percentiles = DefaultPercentiles
	}
	if o.LengthBounds == nil {
		o.LengthBounds = []int32{128, 1025}
	}
	us := func() *Dist { return NewDist(1) }
	a := &Accumulator{opts: o,
		ttft: us(), ttfat: us(), tpot: NewDist(0.1), itl: us(), e2el: us(), ttftSched: us(), e2elSched: us(), queue: us(), connect: us(), stall: us(),
		inTokens: NewDist(1), outTokens: NewDist(1), outRate: NewDist(0.01), prefillRate: NewDist(0.1),
		bins: map[int64]float64{}, statuses: map[outputs.Status]int64{}, finish: map[string]int64{}, sources: map[outputs.TokenSource]int64{}}
	from := int32(0)
	for _, to := range append(append([]int32(nil), o.LengthBounds...), 0) {
		a.byLength = append(a.byLength, &lengthBucket{from: from, to: to, ttft: us(), tpot: NewDist(0.1), e2el: us()})
		from = to
	}
	for _, s := range o.SLOs {
		a.attain = append(a.attain, Attainment{Metric: s.Metric, MaxMS: s.MaxMS})
	}
	return a
}

// Add counts one record; records of other phases than the measured one are
// ignored.
func (a *Accumulator) Add(r *outputs.Record) {
	if r.Phase != outputs.PhaseMeasured {
		return
	}
	a.statuses[r.Status]++
	if r.Attempt > 0 {
		a.retried++
	}
	a.resent += int64(r.Resent)
	a.span(r)
	a.queueing(r)
	lb := a.bucket(r.InputTokens)
	if !r.OK() {
		if lb != nil {
			lb.n++
			lb.failed++
		}
		return
	}
	a.success(r, lb)
}

// span keeps the request's times for the sweeps over time.
func (a *Accumulator) span(r *outputs.Record) {
	sched := r.Scheduled
	if sched == outputs.Never {
		sched = r.Sent
	}
	if sched == outputs.Never { // never due and never sent
		return
	}
	end := r.End
	if end == outputs.Never {
		end = max(r.Sent, sched)
	}
	if !a.any || sched < a.first {
		a.first = sched
	}
	if !a.any || end > a.last {
		a.last = end
	}
	a.any = true
	a.requests = append(a.requests, request{scheduled: sched, sent: r.Sent, end: end, first: r.FirstToken, last: r.LastToken, ok: r.OK()})
}

func (a *Accumulator) queueing(r *outputs.Record) {
	if d, ok := r.Lag(); ok && r.Attempt == 0 {
		a.queue.Add(float64(d) / 1e3)
	}
	if r.Connected != outputs.Never && r.Sent != outputs.Never && !r.Reused {
		a.connect.Add(float64(r.Connected-r.Sent) / 1e3)
	}
}

func (a *Accumulator) success(r *outputs.Record, lb *lengthBucket) {
	us := func(d *Dist, v int64, ok bool) {
		if ok {
			d.Add(float64(v) / 1e3)
		}
	}
	ttft, hasTTFT := r.TTFT()
	us(a.ttft, ttft, hasTTFT)
	if r.Reasoning != "" || r.ReasoningTokens > 0 {
		v, ok := r.TTFAT()
		us(a.ttfat, v, ok)
	}
	e2el, hasE2EL := r.E2EL()
	us(a.e2el, e2el, hasE2EL)
	sched, ok := r.ScheduledE2EL()
	us(a.e2elSched, sched, ok && r.Attempt == 0)
	us(a.ttftSched, r.FirstToken-r.Scheduled, hasTTFT && r.Scheduled != outputs.Never && r.Attempt == 0)
	tpot, hasTPOT := r.TPOT()
	if hasTPOT {
		a.tpot.Add(tpot / 1e3)
	}
	if r.Stream {
		a.streams++
		v, ok := r.MaxStall()
		us(a.stall, v, ok)
		a.gaps(r)
	}
	a.tokens(r, e2el, hasE2EL, ttft, hasTTFT)
	if lb != nil {
		lb.n++
		us(lb.ttft, ttft, hasTTFT)
		us(lb.e2el, e2el, hasE2EL)
		if hasTPOT {
			lb.tpot.Add(tpot / 1e3)
		}
		lb.out += int64(max(r.OutputTokens, 0))
	}
	all := true
	for i, s := range a.opts.SLOs {
		met, known := s.judge(r)
		if known {
			a.attain[i].Known++
		}
		if met && known {
			a.attain[i].Met++
		} else {
			all = false
		}
	}
	if all {
		a.good++
	}
}

// gaps counts the inter-token latencies of a stream: per token where the
// tokens of each chunk are known, else per chunk gap.
func (a *Accumulator) gaps(r *outputs.Record) {
	a.chunks += int64(len(r.ChunkAt))
	a.coalesced += int64(r.Coalesced)
	if r.KernelStamp {
		a.kernel++
	}
	known := len(r.ChunkTokens) == len(r.ChunkAt)
	pos := 1 // output position of the next token
	if known && len(r.ChunkTokens) > 0 {
		pos = max(int(r.ChunkTokens[0]), 1)
	}
	for i := 1; i < len(r.ChunkAt); i++ {
		gap := float64(r.ChunkAt[i]-r.ChunkAt[i-1]) / 1e3
		if gap == 0 {
			a.zeroGaps++
		}
		k := 1
		if known {
			k = max(int(r.ChunkTokens[i]), 1)
			a.perToken += int64(k)
			gap /= float64(k)
		} else {
			a.perChunk++
		}
		a.itl.AddN(gap, k)
		a.position(pos).AddN(gap, k)
		pos += k
	}
}

// position is the distribution of output positions that pos belongs to. The
// bounds double: 1–15, 16–31, 32–63 …
func (a *Accumulator) position(pos int) *Dist {
	b := 0
	for p := pos; p >= 16; p >>= 1 {
		b++
	}
	for len(a.byPosition) <= b {
		a.byPosition = append(a.byPosition, NewDist(1))
	}
	return a.byPosition[b]
}

func (a *Accumulator) tokens(r *outputs.Record, e2el int64, hasE2EL bool, ttft int64, hasTTFT bool) {
	finish := r.FinishReason
	if finish == "" {
		finish = "(none)"
	}
	a.finish[finish]++
	source := r.TokenSource
	if source == "" {
		source = outputs.TokensUnknown
	}
	a.sources[source]++
	if r.InputTokens >= 0 {
		a.inKnown++
		a.inSum += int64(r.InputTokens)
		a.inTokens.Add(float64(r.InputTokens))
		if hasTTFT && ttft > 0 {
			a.prefillRate.Add(float64(r.InputTokens) / (float64(ttft) / 1e9))
		}
	}
	if r.CachedTokens >= 0 {
		a.cachedKnown++
		a.cached += int64(r.CachedTokens)
	}
	a.reasoning += int64(max(r.ReasoningTokens, 0))
	if r.OutputTokens < 0 {
		return
	}
	if r.MaxTokens > 0 {
		a.capped++
		if r.OutputTokens < r.MaxTokens {
			a.stoppedEarly++
		}
	}
	a.outKnown++
	a.outSum += int64(r.OutputTokens)
	if r.Stream {
		a.streamTokens += int64(r.OutputTokens)
	}
	a.outTokens.Add(float64(r.OutputTokens))
	if hasE2EL && e2el > 0 {
		a.outRate.Add(float64(r.OutputTokens) / (float64(e2el) / 1e9))
	}
	a.overTime(r)
}

// overTime puts the output tokens at the times they arrived: each chunk with
// its own count where known, else the request's tokens shared by its chunks
// equally; all at the end when the answer came as a whole.
func (a *Accumulator) overTime(r *outputs.Record) {
	n := len(r.ChunkAt)
	if n == 0 || r.Sent == outputs.Never {
		if r.LastToken != outputs.Never {
			a.bins[floorDiv(r.LastToken, binNS)] += float64(r.OutputTokens)
		}
		return
	}
	each := float64(r.OutputTokens) / float64(n)
	known := len(r.ChunkTokens) == n
	for i, at := range r.ChunkAt {
		w := each
		if known {
			w = float64(r.ChunkTokens[i])
		}
		a.bins[floorDiv(r.Sent+at, binNS)] += w
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && a < 0 {
		q--
	}
	return q
}

func (a *Accumulator) bucket(in int32) *lengthBucket {
	if in < 0 {
		return nil
	}
	for _, b := range a.byLength {
		if in >= b.from && (b.to == 0 || in < b.to) {
			return b
		}
	}
	return nil
}

// share is part/whole, nil for an empty whole.
func share(part, whole int64) *float64 {
	if whole <= 0 {
		return nil
	}
	return ptr(float64(part) / float64(whole))
}

func ptr(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
