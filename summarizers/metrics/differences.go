package metrics

import (
	"slices"

	"ais_bench/outputs"
)

// Differences sets the three profiles of the same records side by side, with
// one sentence a metric why they differ. vllm and aisbench may be nil.
func Differences(strict *Result, vllm *VLLMResult, aisbench *AISBenchResult) outputs.Table {
	t := outputs.Table{ID: "profiles", Title: "The same records in three profiles",
		Columns: []outputs.Column{{Name: "Metric"}, {Name: "Unit"}, {Name: "strict", Kind: outputs.KindFloat, Format: "%.3f"},
			{Name: "vllm", Kind: outputs.KindFloat, Format: "%.3f"}, {Name: "aisbench", Kind: outputs.KindFloat, Format: "%.3f"}, {Name: "Why they differ"}}}
	v := func(of func(*VLLMResult) float64) any {
		if vllm == nil {
			return nil
		}
		return of(vllm)
	}
	vMean := func(name string) any {
		if vllm == nil {
			return nil
		}
		if i := slices.IndexFunc(vllm.Stats, func(s VLLMStat) bool { return s.Name == name }); i >= 0 {
			return vllm.Stats[i].Mean
		}
		return nil
	}
	a := func(of func(*AISBenchResult) *float64) any {
		if aisbench == nil {
			return nil
		}
		return of(aisbench)
	}
	mean := func(name string) any { return a(func(r *AISBenchResult) *float64 { return r.mean(name) }) }
	common := func(name string) any { return a(func(r *AISBenchResult) *float64 { return r.common(name) }) }
	var ms any
	if d := common("Benchmark Duration"); d != nil {
		if p, ok := d.(*float64); ok && p != nil {
			ms = *p / 1000
		}
	}
	t.AddRow("successful requests", "requests", strict.Requests.Success, v(func(r *VLLMResult) float64 { return float64(r.Completed) }), common("Success Requests"),
		"strict wants a proper end and a payload; vllm counts any event under HTTP 200, a cut or broken stream included; aisbench counts cut and empty answers")
	t.AddRow("duration", "s", strict.DurationS, v(func(r *VLLMResult) float64 { return r.Duration }), ms,
		"strict and vllm end with the last request, failed ones included; aisbench looks at successful requests only")
	t.AddRow("TTFT, mean", "ms", strict.TTFT.Mean, vMean("ttft"), mean("TTFT"),
		"strict waits for content; vllm and aisbench stop the clock at the first event, which may be a role-only delta")
	t.AddRow("TPOT, mean", "ms", strict.TPOT.Mean, vMean("tpot"), mean("TPOT"),
		"strict and vllm leave single-token answers out; aisbench counts them as 0 and its E2EL contains the trailing usage event")
	t.AddRow("ITL, mean", "ms", strict.ITL.Mean, vMean("itl"), mean("ITL"),
		"strict has gaps between payloads only; vllm adds the gap after a role-only delta, aisbench that and the gap before the final events")
	t.AddRow("E2EL, mean", "ms", strict.E2EL.Mean, vMean("e2el"), mean("E2EL"),
		"strict and vllm end at the last payload; aisbench at the end of the response, and it shows latencies to 0.1 ms")
	t.AddRow("output tokens", "tokens", strict.TotalOutputTokens, v(func(r *VLLMResult) float64 { return float64(r.TotalOutput) }), common("Total Generated Tokens"),
		"where nobody counted the tokens strict says unknown, vllm 1 and aisbench 0")
	t.AddRow("request throughput", "req/s", strict.RequestThroughput, v(func(r *VLLMResult) float64 { return r.RequestThroughput }), common("Request Throughput"),
		"follows from duration and successful requests")
	t.AddRow("output token throughput", "token/s", strict.OutputThroughput, v(func(r *VLLMResult) float64 { return r.OutputThroughput }), common("Output Token Throughput"),
		"follows from duration and output tokens")
	t.AddRow("peak output throughput", "token/s", strict.PeakOutputThroughput, v(func(r *VLLMResult) float64 { return r.MaxOutputTokensPerS }), nil,
		"strict counts tokens in the best window of a second; vllm counts chunks in whole seconds from the first start")
	t.AddRow("maximum concurrency", "requests", strict.MaxConcurrency, v(func(r *VLLMResult) float64 { return float64(r.MaxConcurrentRequests) }), common("Max Concurrency"),
		"strict sweeps events; vllm counts requests that touch the same whole second; aisbench repeats the configured value")
	t.AddRow("average concurrency", "requests", strict.AvgConcurrency, nil, common("Concurrency"),
		"strict counts failed requests while they were in flight; aisbench only successful ones")
	return t
}
