package summarizers

import (
	"ais_bench/outputs"
	"ais_bench/summarizers/strict"
)

// Charts are the charts computed from a result; those that need single
// requests (latency CDFs, timeline, TTFT against input length) are drawn by the
// report from the records. prefix keeps the ids of several pairs apart.
func Charts(prefix string, r *strict.Result) []outputs.Chart {
	var charts []outputs.Chart
	if n := len(r.Series); n > 1 {
		var t, tokens, flight, arrivals, done []float64
		for _, s := range r.Series {
			t = append(t, float64(s.T))
			tokens = append(tokens, s.OutputTokens)
			flight = append(flight, s.InFlight)
			arrivals = append(arrivals, float64(s.Arrivals))
			done = append(done, float64(s.Completions))
		}
		charts = append(charts,
			outputs.Chart{ID: prefix + "-throughput", Title: "Throughput and concurrency over time", Kind: "line", XLabel: "time (s)", YLabel: "output tokens per second", Excel: true,
				Series: []outputs.Series{{Name: "output tokens", X: t, Y: tokens}, {Name: "in flight", X: t, Y: flight, Right: true, YLabel: "requests in flight"}}},
			outputs.Chart{ID: prefix + "-arrivals", Title: "Arrivals and completions over time", Kind: "line", XLabel: "time (s)", YLabel: "requests per second",
				Series: []outputs.Series{{Name: "arrivals", X: t, Y: arrivals}, {Name: "completions", X: t, Y: done}}})
	}
	if len(r.ByPosition) > 1 {
		var x, mean, p99 []float64
		for _, p := range r.ByPosition {
			m, q := p.ITL.Mean, p.ITL.Percentile(99)
			if m == nil || q == nil {
				continue
			}
			x, mean, p99 = append(x, float64(p.From)), append(mean, *m), append(p99, *q)
		}
		charts = append(charts, outputs.Chart{ID: prefix + "-itl-position", Title: "ITL by output position", Kind: "line", XLabel: "output token", YLabel: "ITL (ms)", XLog: true,
			Series: []outputs.Series{{Name: "mean", X: x, Y: mean}, {Name: "P99", X: x, Y: p99}}})
	}
	return charts
}
