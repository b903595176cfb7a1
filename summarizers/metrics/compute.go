package metrics

import (
	"ais_bench/outputs"
	"fmt"
	"math"
)

// maxSeries bounds the points of a time series; longer runs get longer steps.
const maxSeries = 3600

// Result computes the metrics of what was added so far.
func (a *Accumulator) Result() *Result {
	r := &Result{Profile: "strict", Model: a.model, Dataset: a.dataset, Requests: a.requests}
	q := &r.Requests
	// A records file that was resumed may hold retries whose first attempt was
	// another run's: a success is never more than a request.
	q.Total = max(q.Total, q.Success)
	q.Failed = q.Total - q.Success
	q.FailedShare = ratio(q.Failed, q.Total)
	r.Attainment = []Attainment{}
	for _, at := range a.attained {
		if at.Judged > 0 || q.Success == 0 {
			at.Share = ratio(at.Met, q.Total)
		}
		r.Attainment = append(r.Attainment, at)
	}
	a.rates(r)
	a.stats(r)
	r.FinishReasons, r.TokenSources = shares(a.finish, q.Success), shares(a.sources, q.Success)
	r.StoppedEarlyShare = ratio(a.early, a.limited)
	r.ZeroITLShare = ratio(a.zeroGaps, a.gaps)
	r.CoalescedShare = ratio(a.coalesced, a.reads+a.coalesced)
	r.TokensPerChunk = ratio(a.chunkTokens, a.chunks)
	r.KernelStampShare = ratio(a.kernel, a.responses)
	r.ReusedShare = ratio(a.reused, a.sent)
	r.StreamShare = ratio(a.streamed, q.Attempts)
	r.ITLTokensKnown = ratio(a.gapsKnown, a.gaps)
	a.buckets(r)
	return r
}

// rates fills duration, totals, throughput and concurrency.
func (a *Accumulator) rates(r *Result) {
	if a.inputKnown > 0 {
		r.TotalInputTokens = &a.input
	}
	if a.outputKnown > 0 {
		r.TotalOutputTokens = &a.output
	}
	if a.cachedKnown > 0 {
		r.CachedTokens = &a.cached
	}
	if a.reasoningKnown > 0 {
		r.ReasoningTokens = &a.reasoning
	}
	judged := len(a.o.SLOs) > 0 && (a.decided > 0 || r.Requests.Success == 0)
	if judged {
		r.GoodputShare = ratio(a.good, r.Requests.Total)
	}
	steps := sweep(a.flights)
	if len(a.flights) > 0 {
		peak := peakOf(steps)
		r.MaxConcurrency = &peak
	}
	r.Series = Series{StepS: 1, Arrivals: []int64{}, Completions: []int64{}, InFlight: []int64{}, OutputTokens: []int64{}, TTFTMeanMS: []*float64{}}
	if a.first == math.MaxInt64 || a.last <= a.first {
		r.Stable = Stable{Reason: "no request was in flight"}
		return
	}
	d := float64(a.last-a.first) / 1e9
	r.DurationS = &d
	per := func(n float64) *float64 { v := n / d; return &v }
	r.RequestThroughput = per(float64(r.Requests.Success))
	if a.inputKnown > 0 {
		r.InputThroughput = per(float64(a.input))
	}
	if a.outputKnown > 0 {
		r.OutputThroughput = per(float64(a.output))
	}
	if a.inputKnown > 0 && a.outputKnown > 0 {
		r.TotalTokenThroughput = per(float64(a.input) + float64(a.output))
	}
	if judged {
		r.RequestGoodput = per(float64(a.good))
	}
	// A run shorter than the window has no full second to find: its count in a
	// second would lie below its own average.
	if v, ok := a.tokens.peak(); ok && d >= peakWindow.Seconds() {
		r.PeakOutputThroughput = &v
	}
	if a.sources[string(outputs.TokensImpossible)] > 0 {
		// A sum without these answers would be another figure.
		r.TotalOutputTokens, r.OutputThroughput, r.TotalTokenThroughput, r.PeakOutputThroughput = nil, nil, nil, nil
	}
	for source := range a.sources {
		if outputs.TokenSource(source).Impossible() { // what was sent nobody counted again
			r.TotalInputTokens, r.InputThroughput, r.TotalTokenThroughput = nil, nil, nil
		}
	}
	r.AvgConcurrency = per(area(steps, a.first, math.MaxInt64) / 1e9)
	r.Stable = a.stable(steps)
	r.Series = a.series(steps)
}

func (a *Accumulator) stats(r *Result) {
	ps := a.o.Percentiles
	ms := func(d *Dist) Stat { return statOf(d, Milliseconds, nsPerMS, ps) }
	r.E2EL, r.TTFT, r.TTFAT, r.TPOT = ms(a.e2el), ms(a.ttft), ms(a.ttfat), statOf(a.tpot, Milliseconds, psPerMS, ps)
	places, all, perToken := a.gapsByPosition()
	r.ITL, r.ITLPerToken = ms(all), ms(perToken)
	r.ITLByPosition = []Place{}
	for i, d := range places {
		if d.N() > 0 {
			r.ITLByPosition = append(r.ITLByPosition, Place{int64(1)<<(i-1) + 1, int64(1) << i, ms(d)})
		}
	}
	r.E2ELScheduled, r.TTFTScheduled = ms(a.e2elSched), ms(a.ttftSched)
	r.ClientQueueTime, r.ConnectTime, r.MaxStall = ms(a.queue), ms(a.connect), ms(a.stall)
	r.InputTokens, r.OutputTokens = statOf(a.inTokens, Tokens, 1, ps), statOf(a.outTokens, Tokens, 1, ps)
	r.OutputTokenThroughput = statOf(a.outRate, TokensPerSecond, microRate, ps)
	r.PrefillTokenThroughput = statOf(a.prefillRate, TokensPerSecond, microRate, ps)
}

func (a *Accumulator) buckets(r *Result) {
	ps := a.o.Percentiles
	r.ByLength = []Bucket{}
	from := 0
	for i, b := range a.byLength {
		k := Bucket{Name: BucketName(i, len(a.byLength)), MinTokens: from, Requests: b.requests, Success: b.success,
			TTFT: statOf(b.ttft, Milliseconds, nsPerMS, ps), TPOT: statOf(b.tpot, Milliseconds, psPerMS, ps),
			E2EL: statOf(b.e2el, Milliseconds, nsPerMS, ps), OutputTokens: statOf(b.outTk, Tokens, 1, ps)}
		if i < len(a.o.LengthBounds) {
			to := a.o.LengthBounds[i]
			if i == 0 {
				to--
			}
			k.MaxTokens, from = &to, to+1
		}
		r.ByLength = append(r.ByLength, k)
	}
}

// BucketName names the i-th of n ranges of input lengths.
func BucketName(i, n int) string {
	if n == 3 {
		return []string{"short", "medium", "long"}[i]
	}
	return fmt.Sprintf("length %d", i+1)
}

// series cuts the run into steps of a second, or of as many seconds as keep the
// number of points below maxSeries.
func (a *Accumulator) series(steps []step) Series {
	seconds := (a.last-a.first)/1e9 + 1
	width := (seconds + maxSeries - 1) / maxSeries * 1e9
	n := (a.last-a.first)/width + 1
	s := Series{StepS: float64(width) / 1e9, Arrivals: make([]int64, n), Completions: make([]int64, n), InFlight: make([]int64, n),
		OutputTokens: make([]int64, n), TTFTMeanMS: make([]*float64, n)}
	at := func(t int64) int64 { return min(max((t-a.first)/width, 0), n-1) }
	for _, f := range a.flights {
		s.Arrivals[at(f.sent)]++
	}
	for _, c := range a.completions {
		s.Completions[at(c)]++
	}
	for i, st := range steps {
		end := a.last
		if i+1 < len(steps) {
			end = max(steps[i+1].at-1, st.at)
		}
		if st.n == 0 {
			continue
		}
		for j := at(st.at); j <= at(end); j++ {
			s.InFlight[j] = max(s.InFlight[j], st.n)
		}
	}
	for i, k := range a.tokens.n {
		s.OutputTokens[at((a.tokens.first+int64(i))*a.tokens.width+a.tokens.width/2)] += k
	}
	sum, count := make([]int64, n), make([]int64, n)
	for _, f := range a.firsts {
		i := at(f.at)
		sum[i] += f.ttft
		count[i]++
	}
	for i := range n {
		if count[i] > 0 {
			mean := float64(sum[i]) / float64(count[i]) / 1e6
			s.TTFTMeanMS[i] = &mean
		}
	}
	return s
}

// ratio is part/whole, nil when there is no whole.
func ratio(part, whole int64) *float64 {
	if whole <= 0 {
		return nil
	}
	v := float64(part) / float64(whole)
	return &v
}

func shares(counts map[string]int64, whole int64) map[string]Share {
	out := map[string]Share{}
	for k, n := range counts {
		out[k] = Share{N: n, Share: float64(n) / float64(whole)}
	}
	return out
}
