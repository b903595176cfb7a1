package vllm

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// tableWidth is the width of vLLM's console table.
const tableWidth = 50

// headings are the sections of the console, with the short name of their rows.
var headings = map[string][2]string{
	"ttft":                        {"Time to First Token", "TTFT"},
	"tpot":                        {"Time per Output Token (excl. 1st token)", "TPOT"},
	"itl":                         {"Inter-token Latency", "ITL"},
	"e2el":                        {"End-to-end Latency", "E2EL"},
	"client_queue_time":           {"Client-side Queueing", "Client Queue Time"},
	"e2el_including_client_queue": {"Queue-inclusive End-to-end Latency", "E2EL incl. Client Queue"},
}

// console writes rows of a label padded to 40 and a value padded to 10.
type console struct{ w *bufio.Writer }

func (c console) heading(text string, fill string) {
	pad := max(tableWidth-len(text), 0)
	fmt.Fprintln(c.w, strings.Repeat(fill, pad/2)+text+strings.Repeat(fill, pad-pad/2))
}

func (c console) text(label, value string) { fmt.Fprintf(c.w, "%-40s %-10s\n", label, value) }

func (c console) count(label string, n int64) { c.text(label, strconv.FormatInt(n, 10)) }

func (c console) number(label string, v float64) { c.text(label, strconv.FormatFloat(v, 'f', 2, 64)) }

// Console prints the result as vLLM's table, then at most ten errors of failed
// requests.
func Console(w io.Writer, r *Result) error {
	c := console{bufio.NewWriter(w)}
	o := r.Options
	c.heading(" Serving Benchmark Result ", "=")
	c.count("Successful requests:", int64(r.Completed))
	c.count("Failed requests:", int64(r.Failed))
	if o.MaxConcurrency > 0 {
		c.count("Maximum request concurrency:", int64(o.MaxConcurrency))
	}
	if !math.IsInf(o.RequestRate, 1) {
		c.number("Request rate configured (RPS):", o.RequestRate)
	}
	c.number("Benchmark duration (s):", r.Duration)
	c.count("Total input tokens:", r.TotalInput)
	if !o.Pooling {
		c.count("Total generated tokens:", r.TotalOutput)
	}
	c.number("Request throughput (req/s):", r.RequestThroughput)
	if o.Pooling {
		c.number("Input throughput (inputs/s):", r.SequenceThroughput)
	}
	if r.RequestGoodput != nil {
		c.number("Request goodput (req/s):", *r.RequestGoodput)
	}
	if !o.Pooling {
		c.number("Output token throughput (tok/s):", r.OutputThroughput)
		c.number("Peak output token throughput (tok/s):", r.MaxOutputTokensPerS)
		c.number("Peak concurrent requests:", float64(r.MaxConcurrentRequests))
	}
	c.number("Total token throughput (tok/s):", r.TotalTokenThroughput)
	if p := o.Probe; p != nil {
		c.heading("Probe Requests", "-")
		c.count("Probe requests completed:", int64(p.Completed))
		c.count("Probe requests failed:", int64(p.Failed))
		for _, row := range []struct {
			label string
			ms    *float64
		}{{"Median probe E2EL (ms):", p.MedianE2EL}, {"P99 probe E2EL (ms):", p.P99E2EL}, {"Max probe E2EL (ms):", p.MaxE2EL}} {
			if row.ms != nil {
				c.number(row.label, *row.ms)
			}
		}
	}
	for _, s := range r.chosen() {
		h := headings[s.Name]
		c.heading(h[0], "-")
		c.number("Mean "+h[1]+" (ms):", s.Mean)
		c.number("Median "+h[1]+" (ms):", s.Median)
		for i, p := range o.Percentiles {
			c.number("P"+percentileName(p)+" "+h[1]+" (ms):", s.Percentiles[i])
		}
	}
	if s := o.SpecDecode; s != nil {
		c.heading("Speculative Decoding", "-")
		c.number("Acceptance rate (%):", s.AcceptanceRate())
		c.number("Acceptance length:", s.AcceptanceLength())
		c.count("Drafts:", s.Drafts)
		c.count("Draft tokens:", s.DraftTokens)
		c.count("Accepted tokens:", s.AcceptedTokens)
		if p := s.PerPosition(); len(p) > 0 {
			fmt.Fprintln(c.w, "Per-position acceptance (%):")
			for i, v := range p {
				c.number("  Position "+strconv.Itoa(i)+":", v*100)
			}
		}
	}
	fmt.Fprintln(c.w, strings.Repeat("=", tableWidth))
	for i, e := range r.Errors {
		fmt.Fprintf(c.w, "Error %d: %s\n", i, e)
	}
	return c.w.Flush()
}
