package server

import (
	"fmt"
	"sort"
	"strings"
)

// Thresholds of the verdicts; docs/server.md explains them.
const (
	notable = 0.10 // share of time from which on a state is a finding
	idleFor = 0.20 // share of idle time that says the load was too small
	// busyClient is the share of its usual requests in flight from which on the client
	// was no idler while the engine was.
	busyClient = 0.9
)

// judge makes findings of the shares. The state that held the engine back for the
// longest comes first; where none did for a tenth of the time, what a request's time
// is made of says what bounds its latency.
func (r *Reading) judge(own health) {
	r.Findings = []Finding{}
	if own.verdict == "yes" {
		r.Findings = append(r.Findings, Finding{Verdict: ClientBound, Figures: figures("the client's own health says that it was the bottleneck", strings.Join(own.reasons, "; ")),
			Advice: "give the client more cores, spread the load over several, or lower it; the server's figures below are of the load that got through"})
	}
	var held []Finding
	for st, f := range map[State]func() Finding{StateQueue: r.queueBound, StateKV: r.kvBound, StatePrefill: r.prefillBound} {
		if share := r.Shares[st]; share != nil && *share >= notable {
			finding := f()
			finding.Share = share
			held = append(held, finding)
		}
	}
	sort.Slice(held, func(i, j int) bool { // the longest first
		if *held[i].Share != *held[j].Share {
			return *held[i].Share > *held[j].Share
		}
		return held[i].Verdict < held[j].Verdict
	})
	r.Findings = append(r.Findings, held...)
	enough := r.Shares[StateIdle] != nil || len(held) > 0 // else too few scrapes for any state's share
	if enough && len(held) == 0 {
		r.Findings = append(r.Findings, r.unsaturated())
	}
	if f, ok := r.latencyBound(); ok && enough && len(held) == 0 {
		r.Findings = append(r.Findings, f)
	}
	if own.verdict == "suspect" && enough {
		r.Findings = append(r.Findings, Finding{Verdict: ClientBound, Figures: figures("the client's own health says that it may have been the bottleneck", strings.Join(own.reasons, "; ")),
			Advice: "see Client health before trusting tail latencies"})
	}
}

func (r *Reading) slots() string {
	if r.Limit == nil {
		return "the limit of running requests is not known"
	}
	return fmt.Sprintf("limit %.0f (%s)", r.Limit.Requests, r.Limit.Source)
}

// figures joins those that are known.
func figures(parts ...string) string {
	known := parts[:0]
	for _, p := range parts {
		if p != "" {
			known = append(known, p)
		}
	}
	return strings.Join(known, "; ")
}

func with(format string, v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, *v)
}

func percent(format string, v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, 100**v)
}

// ttftByLimit compares TTFT with and without a full batch.
func (r *Reading) ttftByLimit() string {
	switch {
	case r.TTFTAtLimit == nil:
		return ""
	case r.TTFTBelow == nil:
		return fmt.Sprintf("TTFT P50 of the %d requests sent at the limit %.0f ms", r.NAtLimit, *r.TTFTAtLimit)
	}
	return fmt.Sprintf("TTFT P50 %.0f ms of the %d requests sent at the limit, %.0f ms of the %d others", *r.TTFTAtLimit, r.NAtLimit, *r.TTFTBelow, r.NBelow)
}

func (r *Reading) queueBound() Finding {
	f := Finding{Verdict: QueueBound, Figures: figures(r.slots(), with("%.1f running", r.RunningMean)+with(" and %.1f waiting on average", r.WaitingMean),
		percent("KV use %.0f %% at most", r.KVMax), with("queue time %.0f ms on average", r.Queue), r.ttftByLimit())}
	f.Advice = "raise max_num_seqs (max_running_requests) while KV memory allows, add replicas, or lower the concurrency: TTFT is mostly waiting, TPOT will grow with the batch"
	if r.KVMax != nil && *r.KVMax > 0.85 {
		f.Advice = "add replicas or lower the concurrency: TTFT is mostly waiting, and KV memory leaves no room for a larger max_num_seqs"
	}
	if r.Limit == nil {
		f.Advice = "say the limit with --server-meta max_num_seqs=N, so that a full batch can be told from a full token budget; " + f.Advice
	}
	return f
}

func (r *Reading) kvBound() Finding {
	return Finding{Verdict: KVBound, Figures: figures(percent("KV use %.0f %% on average", r.KVMean)+percent(", %.0f %% at most", r.KVMax),
		with("%.1f running", r.RunningMean)+with(" and %.1f waiting on average", r.WaitingMean), r.slots(), with("%.0f preemptions", r.Preemptions)),
		Advice: "more KV memory: a larger share of the accelerator's (gpu_memory_utilization, mem_fraction_static), an 8-bit KV cache, more tensor parallelism or more replicas; or a smaller max_num_seqs, so that requests wait instead of being thrown out and computed again"}
}

func (r *Reading) prefillBound() Finding {
	full := ""
	if r.BudgetFullHigh != nil {
		full = fmt.Sprintf("%.0f to %.0f %% of the steps used the whole budget of %.0f tokens", 100**r.BudgetFullLow, 100**r.BudgetFullHigh, *r.Budget)
	} else if r.Budget != nil {
		full = fmt.Sprintf("budget %.0f tokens a step", *r.Budget)
	}
	return Finding{Verdict: PrefillBound, Figures: figures("requests waited with slots and KV memory free", full, with("prefill %.0f ms", r.Prefill)+with(", decode %.0f ms on average", r.Decode),
		percent("KV use %.0f %% at most", r.KVMax), r.slots()),
		Advice: "raise max_num_batched_tokens (chunked_prefill_size), which costs TPOT; use prefix caching where prompts share a beginning; add compute, or separate prefill from decode"}
}

// unsaturated says how much room the engine had.
func (r *Reading) unsaturated() Finding {
	// Requests that the client has in flight all the time are not too little load: while
	// the engine runs nothing they are on their way, or the gauges are behind.
	var onTheWay *float64
	if r.InFlight != nil && r.InFlightIdle != nil && *r.InFlightIdle > 0 && *r.InFlightIdle >= busyClient**r.InFlight {
		onTheWay = r.InFlightIdle
	}
	f := Finding{Verdict: NotSaturated, Share: r.Shares[StateServing],
		Figures: figures(with("%.1f running on average", r.RunningMean)+with(", %.0f at most", r.RunningMax), r.slots(), percent("KV use %.0f %% at most", r.KVMax),
			percent("idle for %.0f %% of the time", r.Shares[StateIdle]), with("the client had %.1f requests in flight on average", r.InFlight), with("%.1f while the engine was idle", onTheWay)),
		Advice: "the load is the limit, not the engine: raise the concurrency or the rate to find its capacity"}
	switch idle := r.Shares[StateIdle]; {
	case idle == nil || *idle < idleFor:
	case onTheWay != nil:
		f.Advice = "the client had its requests in flight all the time, so the engine's idle time is between its steps, or on the way (network, gateway, HTTP front end): a higher concurrency finds its capacity"
	default:
		f.Advice = "the engine had nothing to do for much of the time: raise the concurrency or the rate to find its capacity"
	}
	return f
}

// latencyBound says which part of a request's time is the largest.
func (r *Reading) latencyBound() (Finding, bool) {
	if r.Prefill == nil || r.Decode == nil || *r.Prefill+*r.Decode <= 0 {
		return Finding{}, false
	}
	share := *r.Decode / (*r.Prefill + *r.Decode)
	parts := figures(with("queue %.0f ms", r.Queue)+with(", prefill %.0f ms", r.Prefill)+with(", decode %.0f ms of a request on average, by the server", r.Decode), fmt.Sprintf("decode is %.0f %% of the work", 100*share))
	if share >= 0.5 {
		return Finding{Verdict: DecodeBound, Figures: parts,
			Advice: "what shortens a step shortens the answer: quantized weights, more tensor parallelism, speculative decoding, a smaller batch; shorter answers"}, true
	}
	return Finding{Verdict: PrefillBound, Figures: parts,
		Advice: "the prompts are the work: prefix caching where they share a beginning, shorter prompts, more compute"}, true
}
