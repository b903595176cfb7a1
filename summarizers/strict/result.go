package strict

import (
	"fmt"

	"ais_bench/outputs"
)

// Result is the performance of one model on one data set, profile strict. Its
// JSON keys are stable: acceptance contracts address them.
type Result struct {
	Profile string `json:"profile"`

	DurationS *float64         `json:"duration_s"` // first scheduled arrival to the end of the last request, failed ones included
	Requests  int64            `json:"requests"`   // attempts
	Completed int64            `json:"completed"`
	Failed    int64            `json:"failed"`
	Success   *float64         `json:"success_rate"`
	ByStatus  map[string]int64 `json:"requests_by_status"`
	Retried   int64            `json:"retried"` // attempts after the first
	Resent    int64            `json:"resent"`  // stale reused connections
	Streamed  int64            `json:"streamed"`

	RequestThroughput *float64 `json:"request_throughput"`           // completed/s
	InputThroughput   *float64 `json:"input_token_throughput"`       // token/s of completed requests
	OutputThroughput  *float64 `json:"output_token_throughput"`      // token/s
	TotalThroughput   *float64 `json:"total_token_throughput"`       // input + output
	PeakOutput        *float64 `json:"peak_output_token_throughput"` // best whole second, by tokens
	TotalInput        int64    `json:"total_input_tokens"`
	TotalOutput       int64    `json:"total_output_tokens"`
	InputUnknown      int64    `json:"requests_without_input_tokens"`
	OutputUnknown     int64    `json:"requests_without_output_tokens"`
	ReasoningTokens   int64    `json:"total_reasoning_tokens"`
	CachedShare       *float64 `json:"cached_input_share"` // cached/input tokens where the server reports it

	Concurrency    *float64 `json:"concurrency"`     // time-average of requests in flight
	MaxConcurrency int      `json:"max_concurrency"` // by event sweep

	TTFT          Stat `json:"ttft"`
	TTFAT         Stat `json:"ttfat"`
	TPOT          Stat `json:"tpot"`
	ITL           Stat `json:"itl"`
	E2EL          Stat `json:"e2el"`
	TTFTScheduled Stat `json:"ttft_from_scheduled"`
	E2ELScheduled Stat `json:"e2el_from_scheduled"`
	Queue         Stat `json:"client_queue_time"`
	Connect       Stat `json:"connect_time"`
	MaxStall      Stat `json:"max_stall"`
	InputTokens   Stat `json:"input_tokens"`
	OutputTokens  Stat `json:"output_tokens"`
	OutputRate    Stat `json:"request_output_token_throughput"`
	PrefillRate   Stat `json:"request_prefill_token_throughput"`

	ITLBasis       string           `json:"itl_basis"` // token, chunk, mixed or none
	TokensPerChunk *float64         `json:"tokens_per_chunk"`
	ZeroITLShare   *float64         `json:"zero_itl_share"`
	CoalescedShare *float64         `json:"coalesced_share"` // of events that shared their read
	KernelShare    *float64         `json:"kernel_stamped_share"`
	FinishReasons  map[string]int64 `json:"finish_reasons"`
	TokenSources   map[string]int64 `json:"token_sources"`
	StoppedEarly   *float64         `json:"stopped_early_share"` // of requests with an output cap

	Goodput    *float64     `json:"request_goodput"` // requests/s that kept every SLO; null without SLOs
	Attainment []Attainment `json:"slo_attainment,omitempty"`

	Stable     Stable       `json:"stable_stage"`
	ByPosition []Position   `json:"itl_by_output_position"`
	ByLength   []Length     `json:"by_input_length"`
	Series     []SecondStat `json:"time_series"`
}

// Position is the ITL of a range of output positions.
type Position struct {
	From int  `json:"from_token"`
	To   int  `json:"to_token"` // inclusive
	ITL  Stat `json:"itl"`
}

// Length is the latency of requests of one range of input lengths.
type Length struct {
	Name   string `json:"name"`
	From   int32  `json:"from_tokens"`
	Below  int32  `json:"below_tokens"` // 0 = no bound
	N      int64  `json:"requests"`
	Failed int64  `json:"failed"`
	Output int64  `json:"output_tokens"`
	TTFT   Stat   `json:"ttft"`
	TPOT   Stat   `json:"tpot"`
	E2EL   Stat   `json:"e2el"`
}

// Result computes everything from what was added.
func (a *Accumulator) Result() *Result {
	ps := a.opts.Percentiles
	ms := func(d *Dist) Stat { return statOf(d, Milliseconds, 1e-3, ps) }
	r := &Result{Profile: "strict", ByStatus: map[string]int64{}, FinishReasons: a.finish, TokenSources: map[string]int64{},
		Retried: a.retried, Resent: a.resent, Streamed: a.streams,
		TTFT: ms(a.ttft), TTFAT: ms(a.ttfat), TPOT: ms(a.tpot), ITL: ms(a.itl), E2EL: ms(a.e2el), TTFTScheduled: ms(a.ttftSched),
		E2ELScheduled: ms(a.e2elSched), Queue: ms(a.queue), Connect: ms(a.connect), MaxStall: ms(a.stall),
		InputTokens: statOf(a.inTokens, Tokens, 1, ps), OutputTokens: statOf(a.outTokens, Tokens, 1, ps),
		OutputRate: statOf(a.outRate, TokensPerSecond, 1, ps), PrefillRate: statOf(a.prefillRate, TokensPerSecond, 1, ps),
		TotalInput: a.inSum, TotalOutput: a.outSum, ReasoningTokens: a.reasoning}
	for s, n := range a.statuses {
		r.ByStatus[string(s)] = n
		r.Requests += n
	}
	for s, n := range a.sources {
		r.TokenSources[string(s)] = n
	}
	r.Completed = a.statuses[outputs.StatusOK]
	r.Failed = r.Requests - r.Completed
	r.Success = share(r.Completed, r.Requests)
	r.InputUnknown, r.OutputUnknown = r.Completed-a.inKnown, r.Completed-a.outKnown
	if a.cachedKnown > 0 {
		r.CachedShare = share(a.cached, a.inSum)
	}
	a.throughput(r)
	a.shares(r)
	for _, p := range a.sweep() {
		r.MaxConcurrency = max(r.MaxConcurrency, p.n)
	}
	r.Stable = a.stable()
	r.ByPosition, r.ByLength = a.positions(), a.lengths()
	r.Series = a.series()
	if a.outKnown > 0 {
		for _, s := range r.Series {
			if r.PeakOutput == nil || s.OutputTokens > *r.PeakOutput {
				r.PeakOutput = ptr(s.OutputTokens)
			}
		}
	}
	return r
}

func (a *Accumulator) throughput(r *Result) {
	if !a.any || a.last <= a.first {
		return
	}
	d := float64(a.last-a.first) / 1e9
	r.DurationS = ptr(d)
	r.RequestThroughput = ptr(float64(r.Completed) / d)
	if a.inKnown > 0 {
		r.InputThroughput = ptr(float64(a.inSum) / d)
	}
	if a.outKnown > 0 {
		r.OutputThroughput = ptr(float64(a.outSum) / d)
	}
	if a.inKnown > 0 && a.outKnown > 0 {
		r.TotalThroughput = ptr(float64(a.inSum+a.outSum) / d)
	}
	var busy float64
	for _, q := range a.requests {
		if q.sent != outputs.Never {
			busy += float64(q.end - q.sent)
		}
	}
	r.Concurrency = ptr(busy / 1e9 / d)
	if len(a.opts.SLOs) > 0 {
		r.Goodput = ptr(float64(a.good) / d)
	}
}

func (a *Accumulator) shares(r *Result) {
	switch {
	case a.perToken > 0 && a.perChunk > 0:
		r.ITLBasis = "mixed"
	case a.perToken > 0:
		r.ITLBasis = "token"
	case a.perChunk > 0:
		r.ITLBasis = "chunk"
	default:
		r.ITLBasis = "none"
	}
	if a.streamTokens > 0 {
		r.TokensPerChunk = share(a.streamTokens, a.chunks)
	}
	r.ZeroITLShare = share(a.zeroGaps, a.perChunk+a.perToken)
	r.CoalescedShare = share(a.coalesced, a.chunks)
	r.KernelShare = share(a.kernel, a.streams)
	r.StoppedEarly = share(a.stoppedEarly, a.capped)
	for _, at := range a.attain {
		at.Share = share(at.Met, r.Requests)
		r.Attainment = append(r.Attainment, at)
	}
}

func (a *Accumulator) positions() []Position {
	var out []Position
	from := 1
	for i, d := range a.byPosition {
		to := 16<<i - 1
		if d.n > 0 {
			out = append(out, Position{From: from, To: to, ITL: statOf(d, Milliseconds, 1e-3, a.opts.Percentiles)})
		}
		from = to + 1
	}
	return out
}

func (a *Accumulator) lengths() []Length {
	names := []string{"short", "medium", "long"}
	ps := a.opts.Percentiles
	var out []Length
	for i, b := range a.byLength {
		if b.n == 0 {
			continue
		}
		name := fmt.Sprintf("bucket %d", i+1)
		if len(a.byLength) == len(names) {
			name = names[i]
		}
		out = append(out, Length{Name: name, From: b.from, Below: b.to, N: b.n, Failed: b.failed, Output: b.out,
			TTFT: statOf(b.ttft, Milliseconds, 1e-3, ps), TPOT: statOf(b.tpot, Milliseconds, 1e-3, ps), E2EL: statOf(b.e2el, Milliseconds, 1e-3, ps)})
	}
	return out
}
