package metrics

import (
	"fmt"
	"math"
	"slices"
)

// stableShare is the share of the peak concurrency that must be in flight
// throughout the stable stage.
const stableShare = 0.95

// maxHandOver and handOverShare bound the dip below the threshold that does not
// end the stage: 50 ms, and a tenth of the median time in flight. In a closed loop
// every slot is empty for a moment between two requests; below 20 slots
// ⌈0.95·peak⌉ is all of them, and without this the stage of a perfectly steady run
// would end at the first answer. The share keeps requests that are short
// themselves from being bridged by the gaps between them.
const (
	maxHandOver   = int64(50e6)
	handOverShare = 0.1
)

// handOver is the longest dip that is one, in ns.
func handOver(flights []flight) int64 {
	if len(flights) == 0 {
		return 0
	}
	spans := make([]int64, len(flights))
	for i, f := range flights {
		spans[i] = f.end - f.sent
	}
	slices.Sort(spans)
	n := len(spans)
	median := float64(spans[(n-1)/2]+spans[n/2]) / 2
	return min(maxHandOver, int64(handOverShare*median))
}

// stableStage finds the longest window [from, to) during which at least
// ⌈0.95·peak⌉ requests were in flight, dips of at most bridge ns aside; of equally
// long ones the first.
func stableStage(steps []step, bridge int64) (from, to, least int64, ok bool) {
	peak := peakOf(steps)
	if peak == 0 {
		return 0, 0, 0, false
	}
	least = int64(math.Ceil(stableShare*float64(peak) - 1e-9))
	open, dipping := false, false
	var start, dip int64
	close := func(at int64) {
		if !ok || at-start > to-from {
			from, to, ok = start, at, true
		}
	}
	for _, s := range steps {
		switch {
		case s.n >= least && !open:
			open, start = true, s.at
		case s.n >= least && dipping:
			if s.at-dip > bridge {
				close(dip)
				start = s.at
			}
			dipping = false
		case s.n < least && open && !dipping:
			dipping, dip = true, s.at
		}
	}
	if open && dipping {
		close(dip)
	}
	return from, to, least, ok
}

// stable computes the robust stable stage from what was accumulated.
func (a *Accumulator) stable(steps []step) Stable {
	from, to, least, ok := stableStage(steps, handOver(a.flights))
	if !ok {
		return Stable{Reason: "no request was in flight"}
	}
	sec := func(ns int64) *float64 { v := float64(ns) / 1e9; return &v }
	peak, done := peakOf(steps), int64(0)
	s := Stable{Exists: true, StartS: sec(from - a.first), EndS: sec(to - a.first), DurationS: sec(to - from),
		ShareOfRun: ratio(to-from, a.last-a.first), PeakConcurrency: &peak, MinConcurrency: &least, Completed: &done}
	d := float64(to-from) / 1e9
	rate := func(n float64) *float64 { v := n / d; return &v }
	avg := area(steps, from, to) / float64(to-from)
	s.AvgConcurrency = &avg
	for _, end := range a.completions {
		if end > from && end <= to { // the end that closes the window is part of it
			done++
		}
	}
	s.RequestThroughput = rate(float64(done))
	out := 0.0
	if a.outputKnown > 0 {
		out = a.tokens.between(from, to)
		s.OutputThroughput = rate(out)
	}
	if a.inputKnown > 0 {
		in := int64(0)
		for _, p := range a.prefills {
			if p.at >= from && p.at < to {
				in += p.n
			}
		}
		s.InputThroughput = rate(float64(in))
		if a.outputKnown > 0 {
			s.TotalTokenThroughput = rate(float64(in) + out)
		}
	}
	if done < 2*least {
		ended := fmt.Sprintf("%d requests", done)
		if done == 1 {
			ended = "1 request"
		}
		s.Warning = fmt.Sprintf("only %s ended in the window of %.3f s, fewer than two for each of the %d in flight: its figures say little about a steady state", ended, d, least)
	}
	return s
}
