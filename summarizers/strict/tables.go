package strict

import (
	"fmt"
	"slices"
	"sort"

	"ais_bench/outputs"
)

// Tables are the performance tables of one model and data set, under AISBench's
// titles: per-request distributions and the common metrics.
func (r *Result) Tables(percentiles []float64) []outputs.Table {
	if percentiles == nil {
		percentiles = DefaultPercentiles
	}
	return []outputs.Table{r.parameters(percentiles), r.common()}
}

// parameters has one row a metric and one column a statistic.
func (r *Result) parameters(ps []float64) outputs.Table {
	cols := columnsOf(ps)
	t := outputs.Table{ID: "perf_parameters", Title: "Performance Parameters",
		Columns: []outputs.Column{{Name: "Performance Parameters"}, {Name: "Unit"}}}
	for _, c := range cols {
		t.Columns = append(t.Columns, outputs.Column{Name: c.name, Kind: outputs.KindFloat, Format: "%.3f"})
	}
	t.Columns = append(t.Columns, outputs.Column{Name: "N", Kind: outputs.KindInt})
	weak := false
	add := func(name string, s Stat) {
		if s.N == 0 {
			return
		}
		row := append([]any{name, s.Unit.Name}, s.cells(cols)...)
		t.AddRow(append(row, s.N)...)
		for _, p := range s.P {
			weak = weak || p.Undersampled
		}
	}
	add("E2EL", r.E2EL)
	add("TTFT", r.TTFT)
	add("TTFAT", r.TTFAT)
	add("TPOT", r.TPOT)
	add("ITL", r.ITL)
	add("E2EL from scheduled", r.E2ELScheduled)
	add("TTFT from scheduled", r.TTFTScheduled)
	add("Client queue time", r.Queue)
	add("Connect", r.Connect)
	add("Max stall", r.MaxStall)
	add("InputTokens", r.InputTokens)
	add("OutputTokens", r.OutputTokens)
	add("OutputTokenThroughput", r.OutputRate)
	add("PrefillTokenThroughput", r.PrefillRate)
	if len(t.Rows) == 0 {
		t.Notes = append(t.Notes, "no request succeeded: there is nothing to time")
	}
	if weak {
		t.Notes = append(t.Notes, "* the sample is too small to support this percentile (p99 needs 100 values, p95 needs 20)")
	}
	switch r.ITLBasis {
	case "chunk":
		t.Notes = append(t.Notes, "ITL is the gap between chunks; the tokens of a chunk are not known")
	case "mixed":
		t.Notes = append(t.Notes, "ITL is per token where the tokens of a chunk are known, else the gap between chunks")
	}
	if r.Streamed == 0 && r.Completed > 0 {
		t.Notes = append(t.Notes, "answers were not streamed: TTFT, TPOT and ITL do not exist")
	}
	return t
}

// common has one row a figure of the run as a whole.
func (r *Result) common() outputs.Table {
	t := outputs.Table{ID: "perf_common", Title: "Common Metric",
		Columns: []outputs.Column{{Name: "Common Metric"}, {Name: "Value", Kind: outputs.KindFloat}, {Name: "Unit"}, {Name: "Stable stage", Kind: outputs.KindFloat}}}
	add := func(name string, v any, unit, format string, stable any) {
		t.AddRow(name, outputs.Cell{Value: v, Format: format}, unit, outputs.Cell{Value: stable, Format: format})
	}
	s := r.Stable
	var done, failed any
	if s.Exists {
		done, failed = s.Completed, s.Failed
	}
	add("Benchmark Duration", r.DurationS, "s", "%.3f", s.DurationS)
	add("Total Requests", r.Requests, "requests", "%d", nil)
	add("Success Requests", r.Completed, "requests", "%d", done)
	bad := outputs.Cell{Value: r.Failed, Format: "%d"}
	if r.Failed > 0 {
		bad.Mark = outputs.MarkBad
	}
	t.AddRow("Failed Requests", bad, "requests", outputs.Cell{Value: failed, Format: "%d"})
	for _, status := range outputs.Statuses {
		if n := r.ByStatus[string(status)]; n > 0 && status != outputs.StatusOK {
			add("  "+string(status), n, "requests", "%d", nil)
		}
	}
	if r.Retried > 0 {
		add("Retried attempts", r.Retried, "requests", "%d", nil)
	}
	if r.Resent > 0 {
		add("Resent on stale connections", r.Resent, "requests", "%d", nil)
	}
	add("Concurrency", r.Concurrency, "requests", "%.3f", s.Concurrency)
	add("Max Concurrency", r.MaxConcurrency, "requests", "%d", nil)
	add("Request Throughput", r.RequestThroughput, "req/s", "%.4f", s.RequestThroughput)
	add("Total Input Tokens", known(r.TotalInput, r.InputUnknown < r.Completed), "tokens", "%d", nil)
	add("Total Generated Tokens", known(r.TotalOutput, r.OutputUnknown < r.Completed), "tokens", "%d", nil)
	add("Input Token Throughput", r.InputThroughput, "token/s", "%.2f", nil)
	add("Output Token Throughput", r.OutputThroughput, "token/s", "%.2f", s.OutputThroughput)
	add("Total Token Throughput", r.TotalThroughput, "token/s", "%.2f", nil)
	add("Peak Output Token Throughput", r.PeakOutput, "token/s", "%.2f", nil)
	if r.Goodput != nil {
		add("Request Goodput", r.Goodput, "req/s", "%.4f", nil)
	}
	for _, at := range r.Attainment {
		var pct any
		if at.Share != nil {
			pct = 100 * *at.Share
		}
		add(fmt.Sprintf("  %s ≤ %g ms", at.Metric, at.MaxMS), pct, "% of requests", "%.2f", nil)
	}
	if r.StoppedEarly != nil {
		add("Stopped before max_tokens", 100**r.StoppedEarly, "% of requests", "%.2f", nil)
	}
	if r.CachedShare != nil {
		add("Cached input tokens", 100**r.CachedShare, "% of tokens", "%.2f", nil)
	}
	for _, name := range sortedKeys(r.FinishReasons) {
		add("  finish_reason "+name, 100*float64(r.FinishReasons[name])/float64(max(r.Completed, 1)), "% of answers", "%.2f", nil)
	}
	for _, name := range sortedKeys(r.TokenSources) {
		if name != string(outputs.TokensUsage) {
			add("  tokens counted by "+name, 100*float64(r.TokenSources[name])/float64(max(r.Completed, 1)), "% of answers", "%.2f", nil)
		}
	}
	if !s.Exists {
		t.Notes = append(t.Notes, "no stable stage: "+s.Reason)
	} else if s.Warning != "" {
		t.Notes = append(t.Notes, "stable stage: "+s.Warning)
	}
	if r.Failed > 0 && r.Success != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d requests failed; latencies and token rates are of the %d that succeeded", r.Failed, r.Requests, r.Completed))
	}
	return t
}

// known is the count, undefined where no request reported it.
func known(n int64, any bool) any {
	if !any {
		return nil
	}
	return n
}

// LengthTable shows latencies by input length; nil rows when nothing is known.
func (r *Result) LengthTable() outputs.Table {
	t := outputs.Table{ID: "perf_by_length", Title: "By input length",
		Columns: []outputs.Column{{Name: "Input tokens"}, {Name: "Requests", Kind: outputs.KindInt}, {Name: "Failed", Kind: outputs.KindInt},
			{Name: "TTFT mean", Unit: "ms", Kind: outputs.KindFloat, Format: "%.3f"}, {Name: "TTFT P99", Unit: "ms", Kind: outputs.KindFloat, Format: "%.3f"},
			{Name: "TPOT mean", Unit: "ms", Kind: outputs.KindFloat, Format: "%.3f"}, {Name: "E2EL mean", Unit: "ms", Kind: outputs.KindFloat, Format: "%.3f"},
			{Name: "E2EL P99", Unit: "ms", Kind: outputs.KindFloat, Format: "%.3f"}}}
	for _, l := range r.ByLength {
		name := fmt.Sprintf("%s (%d to %d)", l.Name, l.From, l.Below-1)
		if l.Below == 0 {
			name = fmt.Sprintf("%s (%d and more)", l.Name, l.From)
		}
		t.AddRow(name, l.N, l.Failed, l.TTFT.Mean, l.TTFT.Percentile(99), l.TPOT.Mean, l.E2EL.Mean, l.E2EL.Percentile(99))
	}
	return t
}

// PositionTable shows the ITL by output position: a model that slows down in
// long answers shows here.
func (r *Result) PositionTable() outputs.Table {
	t := outputs.Table{ID: "perf_itl_by_position", Title: "ITL by output position",
		Columns: []outputs.Column{{Name: "Output tokens"}, {Name: "Gaps", Kind: outputs.KindInt}, {Name: "Mean", Unit: "ms", Kind: outputs.KindFloat, Format: "%.3f"},
			{Name: "Median", Unit: "ms", Kind: outputs.KindFloat, Format: "%.3f"}, {Name: "P99", Unit: "ms", Kind: outputs.KindFloat, Format: "%.3f"}}}
	for _, p := range r.ByPosition {
		t.AddRow(fmt.Sprintf("%d to %d", p.From, p.To), p.ITL.N, p.ITL.Mean, p.ITL.Percentile(50), p.ITL.Percentile(99))
	}
	return t
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return slices.Clip(keys)
}
