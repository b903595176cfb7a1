package load

import (
	"fmt"
	"slices"

	"ais_bench/quantile"
)

// LagJudgement is the schedule lag in relation to what it may spoil.
//
// A late send shifts the latencies from the schedule by the lag and the offered
// load with it, and leaves everything that is measured from the send as it is. So
// a lag is large or small only beside the time the service takes to answer: 9 ms
// are nearly half of a TTFT of 20 ms and nothing beside one of 2 s. And it is
// told from the highest percentile that the number of requests supports: the P99
// of eight requests is the one that came last of eight sent at one moment.
type LagJudgement struct {
	Percentile float64  `json:"percentile"`  // 99 from 100 requests on, 95 from 20, 90 from 10, else 50
	MS         float64  `json:"ms"`          // the lag there
	TTFTP50MS  *float64 `json:"ttft_p50_ms"` // median time from the send to the first token (to the end, where answers are not streamed); nil when no request succeeded
	Share      *float64 `json:"share"`       // of the latter; nil without it
}

// The limits of the lag: shares of the median time to the first token, within
// bounds. Below the lower one nothing that is reported shows it; above the upper
// one arrivals are not those that were asked for, however slow the service is.
const (
	lagSuspectShare, lagSuspectMinMS, lagSuspectMaxMS = 0.1, 1, 100
	lagYesShare, lagYesMinMS, lagYesMaxMS             = 0.5, 10, 1000
)

// supported is the highest percentile that n values support.
func supported(n int) float64 {
	switch {
	case n >= 100:
		return 99
	case n >= 20:
		return 95
	case n >= 10:
		return 90
	}
	return 50
}

// judgeLag sets lags and times to the first token, in ns, in relation; nil
// without a lag. lags are sorted.
func judgeLag(lags, firstTokens []int64) *LagJudgement {
	if len(lags) == 0 {
		return nil
	}
	j := &LagJudgement{Percentile: supported(len(lags))}
	j.MS = percentileMS(lags, j.Percentile/100)
	if len(firstTokens) > 0 {
		sorted := slices.Clone(firstTokens)
		slices.Sort(sorted)
		median := percentileMS(sorted, 0.5)
		j.TTFTP50MS = &median
		if median > 0 {
			share := j.MS / median
			j.Share = &share
		}
	}
	return j
}

// threshold is that of the lag of this run.
func (j *LagJudgement) threshold() threshold {
	t := threshold{name: "schedule_lag_p99_ms", unit: "ms", suspect: lagSuspectMinMS, yes: lagYesMinMS, of: func(*Health) *float64 { return nil },
		why: "requests left later than the schedule said while a slot was free"}
	if j == nil {
		return t
	}
	t.name = fmt.Sprintf("schedule_lag_p%g_ms", j.Percentile)
	t.of = func(*Health) *float64 { return &j.MS }
	if j.TTFTP50MS != nil {
		t.suspect = min(max(lagSuspectShare**j.TTFTP50MS, lagSuspectMinMS), lagSuspectMaxMS)
		t.yes = min(max(lagYesShare**j.TTFTP50MS, lagYesMinMS), lagYesMaxMS)
		t.why += fmt.Sprintf("; the median time to the first token is %.3g ms", *j.TTFTP50MS)
	}
	return t
}

// percentileMS is a quantile of sorted durations in ns, in ms.
func percentileMS(sorted []int64, q float64) float64 { return quantile.Linear(sorted, q) / 1e6 }
