package strict

import (
	"fmt"
	"math"

	"ais_bench/outputs"
)

// stableShare is how close to its peak the concurrency has to stay.
const stableShare = 0.95

// Stable is the stable stage: the longest window in which the number of
// requests in flight never falls below 95 % of its peak. Tokens are counted at
// the time they arrived (to 10 ms), requests at the time they ended, so that
// counts and window coincide. (AISBench counts whole requests that start in
// its window, and finds none when the configured concurrency is not reached
// exactly, twice; profile aisbench does that.)
type Stable struct {
	Exists bool   `json:"exists"`
	Reason string `json:"reason,omitempty"` // why not

	Threshold         int      `json:"threshold,omitempty"` // requests in flight
	Peak              int      `json:"peak_concurrency,omitempty"`
	StartS            *float64 `json:"start_s"` // after the first scheduled arrival
	DurationS         *float64 `json:"duration_s"`
	ShareOfRun        *float64 `json:"share_of_run"`
	Concurrency       *float64 `json:"concurrency"` // time-average in the window
	Completed         int64    `json:"completed"`   // requests that ended in it
	Failed            int64    `json:"failed"`
	RequestThroughput *float64 `json:"request_throughput"`
	OutputTokens      *float64 `json:"output_tokens"`
	OutputThroughput  *float64 `json:"output_token_throughput"`
	TTFT              Stat     `json:"ttft"` // of requests sent in it
	E2EL              Stat     `json:"e2el"`
	Warning           string   `json:"warning,omitempty"`
}

func (a *Accumulator) stable() Stable {
	ms := func(d *Dist) Stat { return statOf(d, Milliseconds, 1e-3, a.opts.Percentiles) }
	none := func(why string) Stable {
		return Stable{Reason: why, TTFT: ms(NewDist(1)), E2EL: ms(NewDist(1))}
	}
	points := a.sweep()
	peak := 0
	for _, p := range points {
		peak = max(peak, p.n)
	}
	if peak == 0 {
		return none("no request was in flight")
	}
	threshold := int(math.Ceil(stableShare * float64(peak)))
	from, to := longestAbove(points, threshold)
	if to <= from {
		return none(fmt.Sprintf("the concurrency never stayed at %d (95 %% of the peak of %d) for any time", threshold, peak))
	}
	d := float64(to-from) / 1e9
	s := Stable{Exists: true, Threshold: threshold, Peak: peak, StartS: ptr(float64(from-a.first) / 1e9), DurationS: ptr(d),
		ShareOfRun: share(to-from, a.last-a.first)}
	ttft, e2el := NewDist(1), NewDist(1)
	var busy float64
	for _, q := range a.requests {
		if q.sent == outputs.Never {
			continue
		}
		if lo, hi := max(q.sent, from), min(q.end, to); hi > lo {
			busy += float64(hi-lo) / 1e9
		}
		if q.end > from && q.end <= to {
			if q.ok {
				s.Completed++
			} else {
				s.Failed++
			}
		}
		if q.ok && q.sent >= from && q.sent < to {
			if q.first != outputs.Never {
				ttft.Add(float64(q.first-q.sent) / 1e3)
			}
			if q.last != outputs.Never {
				e2el.Add(float64(q.last-q.sent) / 1e3)
			}
		}
	}
	s.Concurrency = ptr(busy / d)
	s.RequestThroughput = ptr(float64(s.Completed) / d)
	if a.outKnown > 0 {
		var tokens float64
		for _, b := range a.sortedBins() {
			lo, hi := max(b*binNS, from), min((b+1)*binNS, to)
			if hi > lo { // a bin at the edge counts for its part
				tokens += a.bins[b] * float64(hi-lo) / float64(binNS)
			}
		}
		s.OutputTokens, s.OutputThroughput = ptr(tokens), ptr(tokens/d)
	}
	s.TTFT, s.E2EL = ms(ttft), ms(e2el)
	if d < 10 || *s.ShareOfRun < 0.1 {
		s.Warning = fmt.Sprintf("the window is short (%.1f s, %.0f %% of the run): its figures say little about a steady state", d, 100**s.ShareOfRun)
	}
	return s
}

// longestAbove is the longest stretch in which at least n requests are in
// flight; from = to when there is none.
func longestAbove(points []point, n int) (from, to int64) {
	open, start := false, int64(0)
	for _, p := range points {
		switch {
		case p.n >= n && !open:
			open, start = true, p.at
		case p.n < n && open:
			open = false
			if p.at-start > to-from {
				from, to = start, p.at
			}
		}
	}
	return from, to
}
