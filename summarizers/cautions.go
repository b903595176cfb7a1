package summarizers

import (
	"fmt"
	"strings"

	"ais_bench/evaluators"
	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// Cautions says what a run's figures may not be compared with, and why: one row
// a reason, taken from what the run itself shows. m and health may be nil.
func Cautions(accuracy []evaluators.Result, performance []PairPerformance, m *outputs.Manifest, health any) outputs.Table {
	t := cautionTable()
	for _, r := range accuracy {
		accuracyCautions(&t, r)
	}
	for _, p := range performance {
		performanceCautions(&t, p)
	}
	if len(performance) == 0 {
		return t
	}
	prefixCaution(&t, performance, m)
	for _, pair := range boundPairs(plain(health)) {
		t.AddRow("performance of "+pair.name, "any other client or machine", outputs.Cell{Value: pair.text, Mark: outputs.MarkBad})
	}
	if m != nil && m.Clock != nil && m.Clock.StampSource != "" && m.Clock.StampSource != "kernel" {
		t.AddRow("TTFT, TPOT and ITL", "runs stamped by the kernel", fmt.Sprintf("arrivals were stamped by %s: waits inside this process are part of them", m.Clock.StampSource))
	}
	if m != nil {
		for _, p := range m.Pairs {
			if p.Sessions > 1 {
				t.AddRow(fmt.Sprintf("duration and throughput of %s", p.Model+" × "+p.Dataset), "runs in one go", fmt.Sprintf("it was asked in %d sessions; the pauses between them count", p.Sessions))
			}
		}
	}
	profileCaution(&t)
	return t
}

func cautionTable() outputs.Table {
	return outputs.Table{ID: "cautions", Title: "Not to be compared",
		Columns: []outputs.Column{{Name: "Figures", Wrap: true}, {Name: "Not with those of", Wrap: true}, {Name: "Because", Wrap: true}}}
}

func profileCaution(t *outputs.Table) {
	t.AddRow("every performance figure", "other tools as they print them", "these are of profile strict; ais_bench profiles RUN computes the same records as vllm bench serve and as AISBench define them")
}

func accuracyCautions(t *outputs.Table, r evaluators.Result) {
	s := r.Overall
	t.AddRow(fmt.Sprintf("scores on %s", r.Dataset), "another scorer, prompt or number of questions", fmt.Sprintf("scored by %s %s, prompts of version %s, n %d", r.Scorer, r.ScorerVersion, r.Version, s.N))
	if s.Failed > 0 {
		t.AddRow(fmt.Sprintf("scores on %s", r.Dataset), "runs without failed requests", outputs.Cell{Value: fmt.Sprintf("%d of %d requests failed: take the score of answered questions, with care", s.Failed, s.N), Mark: outputs.MarkWarn})
	}
	if s.NotAsked > 0 {
		t.AddRow(fmt.Sprintf("scores on %s", r.Dataset), "runs over all questions", outputs.Cell{Value: fmt.Sprintf("%d questions were not asked", s.NotAsked), Mark: outputs.MarkWarn})
	}
}

func performanceCautions(t *outputs.Table, p PairPerformance) {
	r := p.Result
	name := p.Model + " × " + p.Dataset
	if r.Requests.Success == 0 {
		t.AddRow("performance of "+name, "anything", outputs.Cell{Value: "no request succeeded: there is nothing to time", Mark: outputs.MarkBad})
		return
	}
	t.AddRow("latencies and throughputs of "+name, "other lengths", lengths(r))
	if r.OutputThroughput != nil && r.TotalTokenThroughput != nil {
		t.AddRow("output token throughput of "+name, "any total token throughput", fmt.Sprintf("it counts output tokens only: %.1f token/s; input + output are %.1f token/s", *r.OutputThroughput, *r.TotalTokenThroughput))
	}
	if r.MaxConcurrency != nil && r.AvgConcurrency != nil {
		t.AddRow("latencies and throughputs of "+name, "other loads", fmt.Sprintf("%d requests in flight at most, %.1f on average: this is one point of a curve, not the capacity", *r.MaxConcurrency, *r.AvgConcurrency))
	}
	if v := r.StoppedEarlyShare; v != nil && *v > 0 {
		t.AddRow("E2EL and throughputs of "+name, "runs with a forced output length", fmt.Sprintf("%.1f %% of the answers ended by themselves, so their length depends on the model", 100**v))
	}
	if v := r.StreamShare; v != nil && *v < 1 {
		t.AddRow("TTFT, TPOT and ITL of "+name, "streamed runs", fmt.Sprintf("only %.1f %% of the requests were streamed; the others have no first token", 100**v))
	}
	if v := r.TokensPerChunk; v != nil && *v > 1.05 {
		t.AddRow("ITL of "+name, "TPOT, or ITL of one token a chunk", fmt.Sprintf("a chunk holds %.2f tokens on average", *v))
	}
	if v := r.TokensPerChunk; v != nil && *v < 1 {
		t.AddRow("ITL, TPOT and token counts of "+name, "any other run", outputs.Cell{Value: fmt.Sprintf("the streams brought more chunks with a payload than the server counts tokens (%.4f tokens a chunk): "+
			"events were sent twice, by the server or a gateway, or its usage is too low", *v), Mark: outputs.MarkWarn})
	}
	for _, source := range sortedNames(r.TokenSources) {
		if s := r.TokenSources[source]; outputs.TokenSource(source).Impossible() && s.N > 0 {
			text := fmt.Sprintf("the usage of %d answers (%.1f %%) told what cannot be: more output than was asked for, none beside a text, or more cached tokens than the prompt had; its numbers are not used", s.N, 100*s.Share)
			if source == string(outputs.TokensImpossible) {
				text += ", and nothing else could count: token figures are unknown"
			} else {
				text += "; the output was counted by " + strings.TrimSuffix(source, "_"+string(outputs.TokensImpossible))
			}
			t.AddRow("token counts of "+name, "anything", outputs.Cell{Value: text, Mark: outputs.MarkBad})
		} else if source != string(outputs.TokensUsage) && s.N > 0 {
			t.AddRow("token counts of "+name, "counts by the server (usage)", fmt.Sprintf("tokens of %.1f %% of the answers come from: %s", 100*s.Share, source))
		}
	}
	if q := r.Requests; q.Failed > 0 {
		t.AddRow("latencies of "+name, "runs in which all succeed", outputs.Cell{Value: fmt.Sprintf("%d of %d requests failed; latencies and token rates are of the %d that succeeded", q.Failed, q.Total, q.Success), Mark: outputs.MarkWarn})
	}
	var weak []string
	for _, d := range distributions[:5] {
		for _, q := range d.of(r).P {
			if q.Undersampled && q.Value != nil {
				weak = append(weak, d.name+" "+strings.ToUpper(metrics.PercentileName(q.P)))
			}
		}
	}
	if len(weak) > 0 {
		t.AddRow(strings.Join(weak, ", ")+" of "+name, "longer runs", outputs.Cell{Value: fmt.Sprintf("%d requests are too few for them", r.Requests.Success), Mark: outputs.MarkWarn})
	}
}

// lengths says how long prompts and answers were, for beside a throughput.
func lengths(r *metrics.Result) string {
	return fmt.Sprintf("input %s tokens, output %s tokens a request", spread(r.InputTokens), spread(r.OutputTokens))
}

func spread(s metrics.Stat) string {
	if s.Mean == nil || s.Min == nil || s.Max == nil {
		return "unknown"
	}
	if *s.Min == *s.Max {
		return fmt.Sprintf("%.0f", *s.Mean)
	}
	return fmt.Sprintf("%.1f (%.0f to %.0f)", *s.Mean, *s.Min, *s.Max)
}

// prefixCaution says what is known of prefix caching.
func prefixCaution(t *outputs.Table, performance []PairPerformance, m *outputs.Manifest) {
	var cached, input int64
	told := false
	for _, p := range performance {
		if r := p.Result; r.CachedTokens != nil && r.TotalInputTokens != nil {
			cached, input, told = cached+*r.CachedTokens, input+*r.TotalInputTokens, true
		}
	}
	const figures, others = "TTFT and input throughput", "runs with another state of the prefix cache"
	var c outputs.PrefixCaching
	if m != nil {
		c = m.Server().PrefixCaching
	}
	switch {
	case told && cached > 0 && input > 0:
		t.AddRow(figures, others, fmt.Sprintf("%.1f %% of the input tokens came from the prefix cache", 100*float64(cached)/float64(input)))
	case c.State == outputs.CachingOn:
		t.AddRow(figures, others, fmt.Sprintf("prefix caching was on: %s", c.Evidence))
	case c.State == outputs.CachingOff:
		t.AddRow(figures, others, fmt.Sprintf("prefix caching was off: %s", c.Evidence))
	case c.State == outputs.CachingMixed:
		t.AddRow(figures, others, fmt.Sprintf("prefix caching differed between the servers: %s", c.Evidence))
	default:
		t.AddRow(figures, others, outputs.Cell{Value: "it is unknown whether prefix caching was on", Mark: outputs.MarkWarn})
	}
}
