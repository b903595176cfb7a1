package summarizers

import (
	"fmt"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// PerfTables are the performance tables of one model and data set, under
// AISBench's titles: per-request distributions and the common metrics.
func PerfTables(r *metrics.Result) []outputs.Table {
	return []outputs.Table{parameters(r), common(r)}
}

// parameters has one row a metric and one column a statistic. Metrics that
// nothing measured (TTFAT without reasoning) have no row.
func parameters(r *metrics.Result) outputs.Table {
	t := outputs.Table{ID: "perf_parameters", Title: "Performance Parameters",
		Columns: []outputs.Column{{Name: "Performance Parameters"}, {Name: "Unit"}}}
	number := func(name string) outputs.Column {
		return outputs.Column{Name: name, Kind: outputs.KindFloat, Format: "%.3f"}
	}
	for _, name := range []string{"Average", "Min", "Max", "Std"} {
		t.Columns = append(t.Columns, number(name))
	}
	for _, p := range r.E2EL.P {
		name := strings.ToUpper(metrics.PercentileName(p.P))
		if p.P == 50 {
			name = "Median"
		}
		t.Columns = append(t.Columns, number(name))
	}
	t.Columns = append(t.Columns, outputs.Column{Name: "N", Kind: outputs.KindInt})
	weak := false
	add := func(name string, s metrics.Stat) {
		if s.N == 0 {
			return
		}
		row := []any{name, s.Unit.Name}
		for _, v := range []*float64{s.Mean, s.Min, s.Max, s.Std} {
			row = append(row, outputs.Cell{Value: v, Format: s.Unit.Format})
		}
		for _, p := range s.P {
			cell := outputs.Cell{Value: p.Value, Format: s.Unit.Format}
			if p.Undersampled {
				cell.Mark, cell.Note, weak = outputs.MarkWarn, "*", true
			}
			row = append(row, cell)
		}
		t.AddRow(append(row, s.N)...)
	}
	for _, m := range distributions {
		add(m.name, m.of(r))
	}
	if weak {
		t.Notes = append(t.Notes, tooSmall)
	}
	if r.Requests.Success == 0 {
		t.Notes = append(t.Notes, "no request succeeded: there is nothing to time")
	} else if r.ITL.N == 0 && r.TTFT.N == 0 {
		t.Notes = append(t.Notes, "answers were not streamed: TTFT, TPOT and ITL do not exist")
	}
	if k := r.ITLTokensKnown; k != nil && *k < 1 {
		t.Notes = append(t.Notes, fmt.Sprintf("ITL is the gap between chunks; the tokens of a chunk are known for %.1f %% of them", 100**k))
	}
	return t
}

// distributions are the rows of the table in AISBench's order, then ours.
var distributions = []struct {
	name string
	of   func(*metrics.Result) metrics.Stat
}{
	{"E2EL", func(r *metrics.Result) metrics.Stat { return r.E2EL }},
	{"TTFT", func(r *metrics.Result) metrics.Stat { return r.TTFT }},
	{"TTFAT", func(r *metrics.Result) metrics.Stat { return r.TTFAT }},
	{"TPOT", func(r *metrics.Result) metrics.Stat { return r.TPOT }},
	{"ITL", func(r *metrics.Result) metrics.Stat { return r.ITL }},
	{"ITL per token", func(r *metrics.Result) metrics.Stat {
		if r.TokensPerChunk != nil && *r.TokensPerChunk == 1 && r.ITLTokensKnown != nil && *r.ITLTokensKnown == 1 {
			return metrics.Stat{} // the same as ITL
		}
		return r.ITLPerToken
	}},
	{"InputTokens", func(r *metrics.Result) metrics.Stat { return r.InputTokens }},
	{"OutputTokens", func(r *metrics.Result) metrics.Stat { return r.OutputTokens }},
	{"OutputTokenThroughput", func(r *metrics.Result) metrics.Stat { return r.OutputTokenThroughput }},
	{"PrefillTokenThroughput", func(r *metrics.Result) metrics.Stat { return r.PrefillTokenThroughput }},
	{"E2EL from scheduled", func(r *metrics.Result) metrics.Stat { return r.E2ELScheduled }},
	{"TTFT from scheduled", func(r *metrics.Result) metrics.Stat { return r.TTFTScheduled }},
	{"Client queue time", func(r *metrics.Result) metrics.Stat { return r.ClientQueueTime }},
	{"Connect", func(r *metrics.Result) metrics.Stat { return r.ConnectTime }},
	{"Max stall", func(r *metrics.Result) metrics.Stat { return r.MaxStall }},
}

// common has one row a figure of the run as a whole.
func common(r *metrics.Result) outputs.Table {
	t := outputs.Table{ID: "perf_common", Title: "Common Metric",
		Columns: []outputs.Column{{Name: "Common Metric"}, {Name: "Value", Kind: outputs.KindFloat}, {Name: "Unit"}, {Name: "Stable stage", Kind: outputs.KindFloat}}}
	add := func(name string, v any, unit, format string, stable any) {
		t.AddRow(name, outputs.Cell{Value: v, Format: format}, unit, outputs.Cell{Value: stable, Format: format})
	}
	share := func(name string, v *float64, of string) {
		if v != nil {
			add(name, 100**v, "% of "+of, "%.2f", nil)
		}
	}
	s, q := r.Stable, r.Requests
	if s.Warning != "" { // figures of a stage that says little are in the JSON, not side by side with those of the run
		s = metrics.Stable{}
	}
	add("Benchmark Duration", r.DurationS, "s", "%.3f", s.DurationS)
	add("Total Requests", q.Total, "requests", "%d", nil)
	add("Success Requests", q.Success, "requests", "%d", s.Completed)
	failed := outputs.Cell{Value: q.Failed, Format: "%d"}
	if q.Failed > 0 {
		failed.Mark = outputs.MarkBad
	}
	t.AddRow("Failed Requests", failed, "requests", nil)
	for _, status := range outputs.Statuses {
		if n := q.ByStatus[string(status)]; n > 0 && status != outputs.StatusOK && status != outputs.StatusCancelled {
			add("  "+string(status), n, "attempts", "%d", nil)
		}
	}
	if q.Cancelled > 0 {
		add("Cut off by the user", q.Cancelled, "requests", "%d", nil)
	}
	if q.Retries > 0 {
		add("Retries", q.Retries, "attempts", "%d", nil)
	}
	if q.Resends > 0 {
		add("Resent on stale connections", q.Resends, "times", "%d", nil)
	}
	add("Concurrency", r.AvgConcurrency, "requests", "%.3f", s.AvgConcurrency)
	add("Max Concurrency", r.MaxConcurrency, "requests", "%d", s.PeakConcurrency)
	add("Request Throughput", r.RequestThroughput, "req/s", "%.4f", s.RequestThroughput)
	add("Total Input Tokens", r.TotalInputTokens, "tokens", "%d", nil)
	add("Total Generated Tokens", r.TotalOutputTokens, "tokens", "%d", nil)
	if r.ReasoningTokens != nil && *r.ReasoningTokens > 0 {
		add("Reasoning Tokens", r.ReasoningTokens, "tokens", "%d", nil)
	}
	if r.CachedTokens != nil {
		add("Cached Input Tokens", r.CachedTokens, "tokens", "%d", nil)
	}
	add("Input Token Throughput", r.InputThroughput, "token/s", "%.2f", s.InputThroughput)
	add("Output Token Throughput", r.OutputThroughput, "token/s", "%.2f", s.OutputThroughput)
	add("Total Token Throughput", r.TotalTokenThroughput, "token/s", "%.2f", s.TotalTokenThroughput)
	add("Peak Output Token Throughput", r.PeakOutputThroughput, "token/s", "%.2f", nil)
	if r.RequestGoodput != nil {
		add("Request Goodput", r.RequestGoodput, "req/s", "%.4f", nil)
	}
	for _, at := range r.Attainment {
		share(fmt.Sprintf("  %s ≤ %g ms", at.Metric, at.MaxMS), at.Share, "requests")
	}
	share("Stopped before max_tokens", r.StoppedEarlyShare, "answers")
	for _, name := range sortedNames(r.FinishReasons) {
		v := r.FinishReasons[name].Share
		share("  finish_reason "+name, &v, "answers")
	}
	for _, name := range sortedNames(r.TokenSources) {
		if v := r.TokenSources[name].Share; name != string(outputs.TokensUsage) {
			share("  tokens counted by "+name, &v, "answers")
		}
	}
	if q.Success > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("throughputs are of %d successful requests; %s", q.Success, lengths(r)),
			"the output token throughput counts generated tokens, the total token throughput prompts and generated tokens")
	}
	switch {
	case !r.Stable.Exists:
		t.Notes = append(t.Notes, "no stable stage: "+r.Stable.Reason)
	case r.Stable.Warning != "":
		t.Notes = append(t.Notes, "stable stage not shown: "+r.Stable.Warning)
	}
	if q.Failed > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d requests failed; latencies and token rates are of the %d that succeeded", q.Failed, q.Total, q.Success))
	}
	return t
}

// tooSmall explains the mark behind a percentile.
const tooSmall = "* the sample is too small to support this percentile (p90 needs 10 values, p95 20, p99 100, p99.9 1,000)"

// LengthTable shows latencies by input length.
func LengthTable(r *metrics.Result) outputs.Table {
	ms := func(name string) outputs.Column {
		return outputs.Column{Name: name, Unit: "ms", Kind: outputs.KindFloat, Format: "%.3f"}
	}
	t := outputs.Table{ID: "perf_by_length", Title: "By input length",
		Columns: []outputs.Column{{Name: "Input tokens"}, {Name: "Requests", Kind: outputs.KindInt}, {Name: "Failed", Kind: outputs.KindInt},
			ms("TTFT mean"), ms("TTFT P50"), ms("TTFT P99"), ms("TPOT mean"), ms("TPOT P50"), ms("TPOT P99"), ms("E2EL mean"), ms("E2EL P50"), ms("E2EL P99"),
			{Name: "Output tokens, mean", Kind: outputs.KindFloat, Format: "%.1f"}}}
	counted := int64(0)
	for _, l := range r.ByLength {
		counted += l.Requests
		if l.Requests == 0 {
			continue
		}
		name := fmt.Sprintf("%s (%d and more)", l.Name, l.MinTokens)
		if l.MaxTokens != nil {
			name = fmt.Sprintf("%s (%d to %d)", l.Name, l.MinTokens, *l.MaxTokens)
		}
		t.AddRow(name, l.Requests, l.Requests-l.Success, l.TTFT.Mean, l.TTFT.Percentile(50), p99(l.TTFT), l.TPOT.Mean, l.TPOT.Percentile(50), p99(l.TPOT),
			l.E2EL.Mean, l.E2EL.Percentile(50), p99(l.E2EL), l.OutputTokens.Mean)
	}
	for _, l := range r.ByLength {
		if l.Success > 0 && l.Success < 100 {
			t.Notes = append(t.Notes, tooSmall)
			break
		}
	}
	if rest := r.Requests.Attempts - counted; rest > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d requests are in no row: their input tokens are not known (no usage; failed requests have none)", rest))
	}
	return t
}

// PositionTable shows the ITL by output position: a model that slows down in
// long answers shows here.
func PositionTable(r *metrics.Result) outputs.Table {
	ms := func(name string) outputs.Column {
		return outputs.Column{Name: name, Unit: "ms", Kind: outputs.KindFloat, Format: "%.3f"}
	}
	t := outputs.Table{ID: "perf_itl_by_position", Title: "ITL by output position",
		Columns: []outputs.Column{{Name: "Output tokens"}, {Name: "Gaps", Kind: outputs.KindInt}, ms("Mean"), ms("Median"), ms("P99")}}
	for _, p := range r.ITLByPosition {
		t.AddRow(fmt.Sprintf("%d to %d", p.From, p.To), p.ITL.N, p.ITL.Mean, p.ITL.Percentile(50), p99(p.ITL))
	}
	return t
}

// p99 is the cell of a 99th percentile, marked where the sample is too small.
func p99(s metrics.Stat) any {
	for _, p := range s.P {
		if p.P == 99 {
			if p.Undersampled {
				return outputs.Cell{Value: p.Value, Mark: outputs.MarkWarn, Note: "*"}
			}
			return p.Value
		}
	}
	return nil
}
