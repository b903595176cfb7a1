package summarizers

import (
	"math"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// Charts are the charts computed from a result; those that need single
// requests (latency CDFs, timeline, TTFT against input length) are drawn by the
// report from the records. prefix keeps the ids of several pairs apart.
func Charts(prefix string, r *metrics.Result) []outputs.Chart {
	var charts []outputs.Chart
	if n := len(r.Series.Arrivals); n > 1 {
		t, flight, tokens, arrivals, done := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			t[i] = float64(i) * r.Series.StepS
			flight[i] = float64(r.Series.InFlight[i])
			tokens[i] = float64(r.Series.OutputTokens[i]) / r.Series.StepS
			arrivals[i] = float64(r.Series.Arrivals[i]) / r.Series.StepS
			done[i] = float64(r.Series.Completions[i]) / r.Series.StepS
		}
		charts = append(charts,
			outputs.Chart{ID: prefix + "-throughput", Title: "Throughput and concurrency over time", Kind: "line", XLabel: "Time (s)", YLabel: "output tokens per second", Excel: true, SheetOnly: true,
				Series: []outputs.Series{{Name: "output tokens", X: t, Y: tokens}, {Name: "in flight", X: t, Y: flight, Right: true, YLabel: "requests in flight"}}},
			outputs.Chart{ID: prefix + "-arrivals", Title: "Arrivals and completions over time", Kind: "line", XLabel: "Time (s)", YLabel: "requests per second", Excel: true, SheetOnly: true,
				Series: []outputs.Series{{Name: "arrivals", X: t, Y: arrivals}, {Name: "completions", X: t, Y: done}}})
	}
	if len(r.ITLByPosition) > 1 {
		var x, mean, p99 []float64
		for _, p := range r.ITLByPosition {
			x, mean = append(x, float64(p.From)), append(mean, orGap(p.ITL.Mean))
			p99 = append(p99, orGap(p.ITL.Percentile(99)))
		}
		charts = append(charts, outputs.Chart{ID: prefix + "-itl-position", Title: "ITL by output position", Kind: "line", XLabel: "output token", YLabel: "ITL (ms)", XLog: true, Excel: true, SheetOnly: true,
			Series: []outputs.Series{{Name: "mean", X: x, Y: mean}, {Name: "P99", X: x, Y: p99}}})
	}
	return charts
}

// orGap is a figure, or the gap a chart shows where it is undefined.
func orGap(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
