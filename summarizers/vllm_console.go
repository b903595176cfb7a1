package summarizers

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"ais_bench/summarizers/metrics"
)

// vllmSections are the headings of vLLM's console table and the short names of
// its rows, by metric.
var vllmSections = map[string][2]string{
	"ttft":                        {"Time to First Token", "TTFT"},
	"tpot":                        {"Time per Output Token (excl. 1st token)", "TPOT"},
	"itl":                         {"Inter-token Latency", "ITL"},
	"e2el":                        {"End-to-end Latency", "E2EL"},
	"client_queue_time":           {"Client-side Queueing", "Client Queue Time"},
	"e2el_including_client_queue": {"Queue-inclusive End-to-end Latency", "E2EL Including Client Queue"},
}

// VLLMConsole writes the result as `vllm bench serve` prints it: 50 columns,
// labels padded to 40 and values to 10, so that scripts that read it go on
// working.
func VLLMConsole(w io.Writer, v *metrics.VLLMResult) error {
	var b strings.Builder
	row := func(label, value string) { fmt.Fprintf(&b, "%-40s %-10s\n", label, value) }
	number := func(label string, x float64) { row(label, strconv.FormatFloat(x, 'f', 2, 64)) }
	count := func(label string, n int64) { row(label, strconv.FormatInt(n, 10)) }
	b.WriteString(centred(" Serving Benchmark Result ", '=') + "\n")
	count("Successful requests:", int64(v.Completed))
	count("Failed requests:", int64(v.Failed))
	if v.Options.MaxConcurrency > 0 {
		count("Maximum request concurrency:", int64(v.Options.MaxConcurrency))
	}
	if r := v.Options.RequestRate; r > 0 && !math.IsInf(r, 0) {
		number("Request rate configured (RPS):", r)
	}
	number("Benchmark duration (s):", v.Duration)
	count("Total input tokens:", v.TotalInput)
	count("Total generated tokens:", v.TotalOutput)
	number("Request throughput (req/s):", v.RequestThroughput)
	if v.RequestGoodput != nil {
		number("Request goodput (req/s):", *v.RequestGoodput)
	}
	number("Output token throughput (tok/s):", v.OutputThroughput)
	number("Peak output token throughput (tok/s):", v.MaxOutputTokensPerS)
	number("Peak concurrent requests:", float64(v.MaxConcurrentRequests))
	number("Total token throughput (tok/s):", v.TotalTokenThroughput)
	for _, s := range v.Stats {
		names := vllmSections[s.Name]
		b.WriteString(centred(names[0], '-') + "\n")
		number("Mean "+names[1]+" (ms):", s.Mean)
		number("Median "+names[1]+" (ms):", s.Median)
		for i, p := range v.Options.Percentiles {
			number("P"+strconv.FormatFloat(p, 'f', -1, 64)+" "+names[1]+" (ms):", s.Percentiles[i])
		}
	}
	b.WriteString(strings.Repeat("=", 50) + "\n")
	for _, e := range v.Errors {
		line, _, _ := strings.Cut(e, "\n")
		b.WriteString("error: " + line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// centred pads text to 50 columns with the fill on both sides; the surplus is
// at the right, as Python's format does.
func centred(text string, fill byte) string {
	n := 50 - len(text)
	if n <= 0 {
		return text
	}
	return strings.Repeat(string(fill), n/2) + text + strings.Repeat(string(fill), n-n/2)
}
