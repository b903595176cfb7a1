package strict

import (
	"math"
	"slices"

	"ais_bench/outputs"
)

// SecondStat is one second of the run.
type SecondStat struct {
	T            int64    `json:"t_s"` // seconds after the first scheduled arrival
	Arrivals     int64    `json:"arrivals"`
	Completions  int64    `json:"completions"`
	Failures     int64    `json:"failures"`
	InFlight     float64  `json:"in_flight"` // time-average
	OutputTokens float64  `json:"output_tokens"`
	TTFTMeanMS   *float64 `json:"ttft_mean_ms"` // of requests sent in it
}

// point is the number of requests in flight from a time on.
type point struct {
	at int64
	n  int
}

// sweep is the concurrency over time: +1 at each send, −1 at each end, an end
// before a start at the same time, so that back-to-back requests do not overlap.
func (a *Accumulator) sweep() []point {
	type event struct {
		at int64
		d  int
	}
	events := make([]event, 0, 2*len(a.requests))
	for _, q := range a.requests {
		if q.sent == outputs.Never || q.end <= q.sent {
			continue
		}
		events = append(events, event{q.sent, 1}, event{q.end, -1})
	}
	slices.SortFunc(events, func(x, y event) int {
		switch {
		case x.at < y.at:
			return -1
		case x.at > y.at:
			return 1
		}
		return x.d - y.d
	})
	var out []point
	n := 0
	for i, e := range events {
		n += e.d
		if i+1 < len(events) && events[i+1].at == e.at && events[i+1].d == e.d {
			continue
		}
		out = append(out, point{e.at, n})
	}
	return out
}

// maxSeries bounds the time series against absurd clocks.
const maxSeries = 7 * 24 * 3600

func (a *Accumulator) series() []SecondStat {
	if !a.any || (a.last-a.first)/1e9 >= maxSeries {
		return nil
	}
	n := (a.last-a.first)/1e9 + 1
	out := make([]SecondStat, n)
	sums, counts := make([]float64, n), make([]int64, n)
	second := func(t int64) int64 { return min(max((t-a.first)/1e9, 0), n-1) }
	for i := range out {
		out[i].T = int64(i)
	}
	for _, q := range a.requests {
		out[second(q.scheduled)].Arrivals++
		if q.ok {
			out[second(q.end)].Completions++
		} else {
			out[second(q.end)].Failures++
		}
		if q.sent == outputs.Never {
			continue
		}
		if q.ok && q.first != outputs.Never {
			sums[second(q.sent)] += float64(q.first-q.sent) / 1e6
			counts[second(q.sent)]++
		}
		for s := second(q.sent); s < n; s++ {
			lo, hi := a.first+s*1e9, a.first+(s+1)*1e9
			if lo >= q.end {
				break
			}
			out[s].InFlight += float64(min(hi, q.end)-max(lo, q.sent)) / 1e9
		}
	}
	// Bins are summed in order: floating-point sums must not depend on a map's.
	for _, b := range a.sortedBins() {
		out[second(b*binNS+binNS/2)].OutputTokens += a.bins[b]
	}
	for i := range out {
		out[i].OutputTokens = math.Round(out[i].OutputTokens*1000) / 1000
		if counts[i] > 0 {
			out[i].TTFTMeanMS = ptr(sums[i] / float64(counts[i]))
		}
	}
	return out
}

func (a *Accumulator) sortedBins() []int64 {
	keys := make([]int64, 0, len(a.bins))
	for b := range a.bins {
		keys = append(keys, b)
	}
	slices.Sort(keys)
	return keys
}
