package calibrate

import (
	"context"
	"fmt"
	"math"
)

// Limit is the highest load found at which the p99 of some errors stayed below a
// bound.
type Limit struct {
	BoundUS         float64  `json:"bound_us"`
	Streams         int      `json:"streams"` // 0 = not even the first load tried held
	ChunksPerSecond float64  `json:"chunks_per_second"`
	WorstP99        *float64 `json:"worst_p99_us"`
	// FirstBad is the lowest load tried that did not hold; 0 = every load tried held.
	FirstBad int `json:"first_failing_streams"`
}

// Limits are those of two kinds of figures, from the same loads. The search follows
// the stamps, so that theirs is known to about an eighth, and that of the latencies
// as far as the loads tried go.
type Limits struct {
	Stamps    Limit // stamp and ITL error
	Latencies Limit // TTFT and E2E error
}

// refinements is how often the gap between the highest load that held and the
// lowest that did not is halved.
const refinements = 2

// FindLimits raises the number of streams from start by half each time until the
// stamps break the bound or most is reached, then halves the gap twice.
func FindLimits(ctx context.Context, cfg Config, start, most int, boundUS float64) (*Limits, error) {
	return findLimits(start, most, boundUS, func(n int) (*Result, error) {
		cfg.Streams = n
		r, err := Run(ctx, cfg)
		if err == nil && cfg.Progress != nil {
			what := fmt.Sprintf("worst p99 of stamp and ITL error %.0f µs, of TTFT and E2E error %.0f µs", r.WorstP99(), r.LatencyP99())
			if math.IsInf(r.WorstP99(), 1) {
				what = fmt.Sprintf("%d streams failed, %d could not be matched", r.FailedStreams, r.Unmatched)
			}
			cfg.Progress(fmt.Sprintf("%d streams × %g tokens/s: %s", n, cfg.TokensPerSecond, what))
		}
		return r, err
	})
}

// tried is what one load showed.
type tried struct {
	streams int
	result  *Result
}

func findLimits(start, most int, boundUS float64, measure func(streams int) (*Result, error)) (*Limits, error) {
	var loads []tried
	stamps := func() Limit { return limitOf(loads, boundUS, (*Result).WorstP99) }
	try := func(n int) error {
		r, err := measure(n)
		if err == nil {
			loads = append(loads, tried{n, r})
		}
		return err
	}
	for n := start; ; n = min(n*3/2+1, most) {
		if err := try(n); err != nil {
			return nil, err
		}
		if n == most || stamps().FirstBad > 0 {
			break
		}
	}
	for range refinements {
		l := stamps()
		if l.FirstBad == 0 || l.FirstBad-l.Streams < 2 {
			break
		}
		if err := try((l.Streams + l.FirstBad) / 2); err != nil {
			return nil, err
		}
	}
	return &Limits{Stamps: stamps(), Latencies: limitOf(loads, boundUS, (*Result).LatencyP99)}, nil
}

// limitOf is the highest load that held below the lowest that did not.
func limitOf(loads []tried, boundUS float64, worst func(*Result) float64) Limit {
	l := Limit{BoundUS: boundUS}
	for _, t := range loads {
		if worst(t.result) >= boundUS && (l.FirstBad == 0 || t.streams < l.FirstBad) {
			l.FirstBad = t.streams
		}
	}
	for _, t := range loads {
		if t.streams > l.Streams && (l.FirstBad == 0 || t.streams < l.FirstBad) {
			us := worst(t.result)
			l.Streams, l.ChunksPerSecond, l.WorstP99 = t.streams, t.result.ChunksPerSecond, &us
		}
	}
	return l
}
