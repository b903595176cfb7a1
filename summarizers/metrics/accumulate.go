package metrics

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"

	"ais_bench/outputs"
)

// Accumulator computes the strict metrics from records that pass by once, in
// any order. Memory: a few machine words a request and some 8 MiB a histogram,
// whatever the number of tokens. It is not safe for concurrent use.
type Accumulator struct {
	o              Options
	model, dataset string

	requests                                  Requests
	first, last                               int64 // first scheduled, last end
	flights                                   []flight
	completions                               []int64 // ends of successful requests
	prefills                                  []prefill
	firsts                                    []firstToken
	tokens                                    timeBins
	input, output                             int64
	cached, reasoning                         int64
	inputKnown, outputKnown                   int64
	cachedKnown, reasoningKnown               int64
	finish, sources                           map[string]int64
	limited, early                            int64
	gaps, zeroGaps, gapsKnown                 int64
	reads, coalesced                          int64
	chunks, chunkTokens                       int64
	responses, kernel, reused, sent, streamed int64
	good, decided                             int64
	attained                                  []Attainment

	e2el, ttft, ttfat, tpot                     *Dist
	e2elSched, ttftSched, queue, connect, stall *Dist
	inTokens, outTokens, outRate, prefillRate   *Dist
	byLength                                    []lengthDists
	// Gaps by the position of the token they led to (index: bits), those of
	// chunks that are known to be one token apart from the others. One gap goes into one Dist: ITL is
	// the union of all, ITL per token that of byPosition[single] and itlSplit.
	byPosition [2][]*Dist
	itlSplit   *Dist // gaps of chunks of several tokens, divided among them
}

// prefill is when a request's input had been read, and how long it was.
type prefill struct {
	at int64
	n  int64
}

type firstToken struct{ at, ttft int64 }

type lengthDists struct {
	requests, success       int64
	ttft, tpot, e2el, outTk *Dist
}

// Ticks: what one unit of a Dist stands for, so that integers are exact.
const (
	nsPerMS   = 1e-6  // durations are counted in ns, percentiles to 1 µs
	psPerMS   = 1e-9  // TPOT is a quotient and counted in ps
	microRate = 1e-6  // rates are counted in 10⁻⁶ token/s
	usOfNS    = 1_000 // quanta of 1 µs
	usOfPS    = 1_000_000
	rateStep  = 1_000
)

// New makes an empty accumulator. The error names an impossible option.
func New(o Options) (*Accumulator, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	ns := func() *Dist { return NewDist(usOfNS) }
	a := &Accumulator{o: o, first: math.MaxInt64, last: math.MinInt64, finish: map[string]int64{}, sources: map[string]int64{},
		requests: Requests{ByStatus: map[string]int64{}},
		e2el:     ns(), ttft: ns(), ttfat: ns(), tpot: NewDist(usOfPS), itlSplit: ns(),
		e2elSched: ns(), ttftSched: ns(), queue: ns(), connect: ns(), stall: ns(),
		inTokens: NewDist(1), outTokens: NewDist(1), outRate: NewDist(rateStep), prefillRate: NewDist(rateStep)}
	for range len(o.LengthBounds) + 1 {
		a.byLength = append(a.byLength, lengthDists{ttft: ns(), tpot: NewDist(usOfPS), e2el: ns(), outTk: NewDist(1)})
	}
	for _, s := range o.SLOs {
		a.attained = append(a.attained, Attainment{SLO: s})
	}
	return a, nil
}

// Compute is New, Add for every record and Result. Damage in a journal
// (*outputs.DamageError) does not end it; any other error does.
func Compute(records iter.Seq2[*outputs.Record, error], o Options) (*Result, error) {
	a, err := New(o)
	if err != nil {
		return nil, err
	}
	for r, err := range records {
		var damage *outputs.DamageError
		if errors.As(err, &damage) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("compute metrics: %w", err)
		}
		a.Add(r)
	}
	return a.Result(), nil
}

// Measured reports whether a record counts in reports; one without a phase (from
// elsewhere) does.
func Measured(r *outputs.Record) bool { return r.Phase == outputs.PhaseMeasured || r.Phase == "" }

// Add counts a record; those outside the measured phase are ignored.
func (a *Accumulator) Add(r *outputs.Record) {
	if !Measured(r) {
		return
	}
	if a.requests.Attempts == 0 {
		a.model, a.dataset = r.Model, r.Dataset
	}
	a.requests.Attempts++
	a.requests.ByStatus[string(r.Status)]++
	switch {
	case r.Cancelled():
		a.requests.Cancelled++
	case r.Attempt > 0:
		a.requests.Retries++
	default:
		a.requests.Total++
	}
	a.requests.Resends += int64(r.Resent)
	a.transport(r)
	bucket := a.bucket(r)
	if bucket != nil && !r.Cancelled() {
		bucket.requests++
	}
	if !r.OK() {
		a.partial(r)
		return
	}
	a.requests.Success++
	a.latencies(r, bucket)
	a.lengths(r, bucket)
	a.endings(r)
	a.levels(r)
	a.stream(r)
}

// transport counts what every attempt has, failed ones included.
func (a *Accumulator) transport(r *outputs.Record) {
	start := r.Scheduled
	if start == outputs.Never {
		start = r.Sent
	}
	end := r.End
	if end == outputs.Never {
		end = r.LastToken
	}
	if start != outputs.Never {
		a.first = min(a.first, start)
	}
	if end != outputs.Never {
		a.last = max(a.last, end)
	}
	if lag, ok := r.ClientQueueTime(); ok {
		a.queue.Add(lag)
	}
	if r.Stream {
		a.streamed++
	}
	if r.Sent == outputs.Never {
		return
	}
	a.sent++
	if end != outputs.Never {
		a.flights = append(a.flights, flight{r.Sent, end})
	}
	if r.Reused {
		a.reused++
	} else if r.Connected != outputs.Never {
		a.connect.Add(r.Connected - r.Sent)
	}
	if r.FirstByte != outputs.Never {
		a.responses++
		if r.KernelStamp {
			a.kernel++
		}
	}
	a.reads += int64(r.Reads)
	a.coalesced += int64(r.Coalesced)
}

// partial counts the tokens of a stream that failed: the service produced them.
func (a *Accumulator) partial(r *outputs.Record) {
	if len(r.ChunkTokens) == len(r.ChunkAt) && r.Sent != outputs.Never {
		for i, at := range r.ChunkAt {
			a.tokens.add(r.Sent+at, int64(r.ChunkTokens[i]))
		}
	}
}

func (a *Accumulator) bucket(r *outputs.Record) *lengthDists {
	if r.InputTokens == outputs.UnknownTokens {
		return nil
	}
	for i, bound := range a.o.LengthBounds {
		// The first bound is exclusive and the others inclusive, so that the
		// default reads short < 128, medium 128–1,024, long > 1,024.
		if n := int(r.InputTokens); n < bound || i > 0 && n == bound {
			return &a.byLength[i]
		}
	}
	return &a.byLength[len(a.o.LengthBounds)]
}

func (a *Accumulator) latencies(r *outputs.Record, b *lengthDists) {
	if r.End != outputs.Never {
		a.completions = append(a.completions, r.End)
	}
	if v, ok := r.E2EL(); ok {
		a.e2el.Add(v)
		if b != nil {
			b.e2el.Add(v)
		}
		if r.OutputTokens != outputs.UnknownTokens && v > 0 {
			a.outRate.Add(perSecond(int64(r.OutputTokens), v))
		}
	}
	if v, ok := r.ScheduledE2EL(); ok {
		a.e2elSched.Add(v)
	}
	if v, ok := r.TTFT(); ok {
		a.ttft.Add(v)
		a.firsts = append(a.firsts, firstToken{r.FirstToken, v})
		if b != nil {
			b.ttft.Add(v)
		}
		if r.Scheduled != outputs.Never {
			a.ttftSched.Add(r.FirstToken - r.Scheduled)
		}
		if r.InputTokens != outputs.UnknownTokens && v > 0 {
			a.prefillRate.Add(perSecond(int64(r.InputTokens), v))
		}
	}
	if r.Reasoning != "" || r.ReasoningTokens > 0 {
		if v, ok := r.TTFAT(); ok {
			a.ttfat.Add(v)
		}
	}
	if v, ok := r.TPOT(); ok {
		ps := int64(math.Round(v * 1000))
		a.tpot.Add(ps)
		if b != nil {
			b.tpot.Add(ps)
		}
	}
	if b != nil {
		b.success++
	}
}

// perSecond is n/ns in 10⁻⁶ tokens per second.
func perSecond(n, ns int64) int64 { return int64(math.Round(float64(n) * 1e15 / float64(ns))) }

func (a *Accumulator) lengths(r *outputs.Record, b *lengthDists) {
	if n := int64(r.InputTokens); r.InputTokens != outputs.UnknownTokens {
		a.inputKnown++
		a.input += n
		a.inTokens.Add(n)
		at := r.FirstToken
		if at == outputs.Never {
			at = r.LastToken
		}
		if at != outputs.Never {
			a.prefills = append(a.prefills, prefill{at, n})
		}
	}
	if n := int64(r.OutputTokens); r.OutputTokens != outputs.UnknownTokens {
		a.outputKnown++
		a.output += n
		a.outTokens.Add(n)
		if b != nil {
			b.outTk.Add(n)
		}
	}
	if r.CachedTokens != outputs.UnknownTokens {
		a.cachedKnown++
		a.cached += int64(r.CachedTokens)
	}
	if r.ReasoningTokens != outputs.UnknownTokens {
		a.reasoningKnown++
		a.reasoning += int64(r.ReasoningTokens)
	}
}

func (a *Accumulator) endings(r *outputs.Record) {
	reason := r.FinishReason
	if reason == "" {
		reason = "none"
	}
	a.finish[reason]++
	source := r.TokenSource
	if source == "" {
		source = outputs.TokensUnknown
	}
	a.sources[string(source)]++
	if r.MaxTokens > 0 && r.OutputTokens != outputs.UnknownTokens {
		a.limited++
		if r.OutputTokens < r.MaxTokens && reason == "stop" {
			a.early++
		}
	}
}

func (a *Accumulator) levels(r *outputs.Record) {
	all, allKnown, missed := len(a.attained) > 0, true, false
	for i := range a.attained {
		met, known := a.attained[i].Judge(r)
		allKnown = allKnown && known
		missed = missed || known && !met
		if known {
			a.attained[i].Judged++
		}
		if met {
			a.attained[i].Met++
		}
		all = all && met
	}
	if allKnown || missed { // one level missed decides, whatever is unknown
		a.decided++
	}
	if all {
		a.good++
	}
}

// stream counts chunks: gaps, their position in the answer, tokens by time.
// Where the tokens of chunks are unknown, output_tokens are spread over the
// chunks evenly in whole tokens, so that totals stay exact.
func (a *Accumulator) stream(r *outputs.Record) {
	n := int64(len(r.ChunkAt))
	if n == 0 || r.Sent == outputs.Never {
		if r.OutputTokens > 0 && r.LastToken != outputs.Never {
			a.tokens.add(r.LastToken, int64(r.OutputTokens))
		}
		return
	}
	if v, ok := r.MaxStall(); ok {
		a.stall.Add(v)
	}
	known := int64(len(r.ChunkTokens)) == n
	total := int64(r.OutputTokens)
	if r.OutputTokens != outputs.UnknownTokens && r.Stream {
		a.chunks += n
		a.chunkTokens += total
	}
	even := total == n // every chunk brought one token
	pos := int64(0)
	for i := range n {
		at := r.ChunkAt[i]
		k := int64(0)
		switch {
		case known:
			k = int64(r.ChunkTokens[i])
		case even:
			k = 1
		case total >= 0:
			k = (i+1)*total/n - i*total/n
		}
		a.tokens.add(r.Sent+at, k)
		if i > 0 {
			gap := at - r.ChunkAt[i-1]
			a.gaps++
			if gap == 0 {
				a.zeroGaps++
			}
			one := k == 1 && (known || even)
			if one {
				a.gapsKnown++
			} else if known && k > 0 {
				a.gapsKnown++
				a.itlSplit.AddN((gap+k/2)/k, k)
			}
			a.position(one, pos+1, gap)
		}
		if k > 0 {
			pos += k
		} else if total < 0 && !known {
			pos++ // without counts the position is the chunk's
		}
	}
}

// Indices of byPosition.
const (
	several = iota
	single
)

// position counts a gap under the position of the token it led to: 2, 3–4,
// 5–8, … in powers of two.
func (a *Accumulator) position(one bool, token, gap int64) {
	kind := several
	if one {
		kind = single
	}
	i := bits.Len64(uint64(max(token, 2) - 1))
	for len(a.byPosition[kind]) <= i {
		a.byPosition[kind] = append(a.byPosition[kind], NewDist(usOfNS))
	}
	a.byPosition[kind][i].Add(gap)
}

// gapsByPosition are the gaps of all streams by position, of all positions, and
// per token.
func (a *Accumulator) gapsByPosition() (places []*Dist, all, perToken *Dist) {
	all, perToken = NewDist(usOfNS), NewDist(usOfNS)
	for kind, list := range a.byPosition {
		for i, d := range list {
			for len(places) <= i {
				places = append(places, NewDist(usOfNS))
			}
			places[i].Merge(d)
			all.Merge(d)
			if kind == single {
				perToken.Merge(d)
			}
		}
	}
	perToken.Merge(a.itlSplit)
	return places, all, perToken
}
