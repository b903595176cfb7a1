package summarizers

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/aisbench"
	"ais_bench/summarizers/metrics"
	"ais_bench/summarizers/vllm"
)

// ProfilesOptions say how the three profiles are computed.
type ProfilesOptions struct {
	Metrics metrics.Options
	// MaxConcurrency is the configured cap, which AISBench shows and limits its
	// concurrency to; 0 = the peak that was measured.
	MaxConcurrency int
}

// Profiles computes the same records as profile strict, as `vllm bench serve`
// and as AISBench would have, and sets the figures side by side with the reason
// of every difference. A reason is given only where figures differ, and counts
// the requests behind it. Latencies are shown as mean and p99. records is read five times.
func Profiles(records iter.Seq2[*outputs.Record, error], o ProfilesOptions) (outputs.Table, error) {
	m := o.Metrics
	m.Percentiles = []float64{99}
	s, err := metrics.Compute(records, m)
	if err != nil {
		return outputs.Table{}, err
	}
	var slos []vllm.SLO
	for _, l := range o.Metrics.SLOs {
		slos = append(slos, vllm.SLO{Metric: l.Metric, MaxMS: l.MaxMS})
	}
	v, err := vllm.Compute(records, vllm.Options{Goodput: slos, Percentiles: []float64{99}})
	if err != nil {
		return outputs.Table{}, err
	}
	if o.MaxConcurrency <= 0 && s.MaxConcurrency != nil {
		o.MaxConcurrency = int(*s.MaxConcurrency)
	}
	a, err := aisbench.Compute(records, aisbench.Options{MaxConcurrency: o.MaxConcurrency, StatsList: []string{"Average", "P99"}})
	if err != nil && !errors.Is(err, aisbench.ErrAllFailed) {
		return outputs.Table{}, err
	}
	t, err := traitsOf(records)
	if err != nil {
		return outputs.Table{}, err
	}
	table := compareProfiles(s, v, a, t)
	if a == nil {
		table.Notes = append(table.Notes, "aisbench calculates nothing when every request failed ("+aisbench.ErrAllFailed.Error()+")")
	}
	return table, nil
}

// traits count the requests for which the profiles' definitions part.
type traits struct {
	ok, failed     int64
	vllmExtra      int64 // not a success, but vllm's
	vllmLost       int64 // a success, but not vllm's
	vllmFirst      int64 // success of both, whose first event with output is not the first token
	vllmLast       int64 // success of both, whose last event with output is not the last token
	aisExtra       int64 // not a success, but AISBench's
	aisLost        int64 // a success, but not AISBench's
	early          int64 // an event without a payload came before the first token
	trailing       int64 // an event (usage, finish_reason) came after the last payload
	single         int64 // successful, one output token or none
	unknown        int64 // successful, nobody counted the output tokens
	unreported     int64 // successful, the server did not report the output tokens (usage)
	severalTokens  int64 // successful streams with chunks of several tokens
	failedLastEnds bool  // the run ends (or begins) with a failed request
}

func traitsOf(records iter.Seq2[*outputs.Record, error]) (traits, error) {
	var t traits
	first, last, okFirst, okLast := int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64), int64(math.MinInt64)
	if err := outputs.EachMeasured(records, func(r *outputs.Record) {
		if r.Sent != outputs.Never {
			first, last = min(first, r.Sent), max(last, r.End)
		}
		if r.Cancelled() {
			return
		}
		if !r.OK() {
			t.failed++
			if vllm.Completed(r, false) {
				t.vllmExtra++
			}
			if aisbench.Completed(r) {
				t.aisExtra++
			}
			return
		}
		t.ok++
		if !vllm.Completed(r, false) {
			t.vllmLost++
		} else if first, last := vllm.Output(r, false); r.Stream {
			if first != r.FirstToken {
				t.vllmFirst++
			}
			if last != r.LastToken {
				t.vllmLast++
			}
		}
		if !aisbench.Completed(r) {
			t.aisLost++
		}
		okFirst, okLast = min(okFirst, r.Sent), max(okLast, r.End)
		if r.Stream && r.FirstEvent != outputs.Never && r.FirstEvent < r.FirstToken {
			t.early++
		}
		if r.LastToken != outputs.Never && aisbench.End(r) > r.LastToken {
			t.trailing++
		}
		switch {
		case r.OutputTokens == outputs.UnknownTokens:
			t.unknown++
		case r.OutputTokens <= 1:
			t.single++
		}
		if r.TokenSource != outputs.TokensUsage {
			t.unreported++
		}
		if r.Stream && int64(r.OutputTokens) > int64(len(r.ChunkAt)) {
			t.severalTokens++
		}
	}); err != nil {
		return t, fmt.Errorf("compare profiles: %w", err)
	}
	t.failedLastEnds = t.failed > 0 && (last > okLast || first < okFirst)
	return t, nil
}

// reason is why a tool's figure differs from strict, and for how many requests.
type reason struct {
	n    int64 // 0 = does not apply to these records
	text string
}

// told is the reasons that apply.
func told(tool string, list []reason) string {
	var parts []string
	for _, r := range list {
		if r.n > 0 {
			parts = append(parts, r.text)
		}
	}
	if len(parts) == 0 {
		parts = []string{"other requests count as successes"}
	}
	return tool + ": " + strings.Join(parts, "; ")
}

func compareProfiles(s *metrics.Result, v *vllm.Result, a *aisbench.Result, t traits) outputs.Table {
	number := func(name string) outputs.Column {
		return outputs.Column{Name: name, Kind: outputs.KindFloat, Format: "%.3f"}
	}
	table := outputs.Table{ID: "profiles", Title: "The same records in three profiles",
		Columns: []outputs.Column{{Name: "Metric"}, {Name: "Unit"}, number("strict"), number("vllm"), number("aisbench"), {Name: "Why they differ"}}}

	count := func(n int64, text string) reason { return reason{n, fmt.Sprintf(text, n)} }
	always := func(text string) reason { return reason{1, text} }
	var (
		extra    = count(t.vllmExtra, "counts %d stream(s) as successes that ended without finish_reason and [DONE], without a text or with the server's error")
		lost     = count(t.vllmLost, "fails %d answer(s) whose body broke off at its very end or that held nothing it knows")
		first    = count(t.vllmFirst, "stops the clock at another event than the first token in %d request(s)")
		last     = count(t.vllmLast, "ends at another event than the last token in %d request(s)")
		early    = count(t.early, "stops the clock at the first event, which carried no token in %d request(s)")
		trailing = count(t.trailing, "the time after the last token (finish_reason, usage) counts in %d request(s)")
		single   = count(t.single, "%d answer(s) of at most one token count as TPOT 0")
		unknown1 = count(t.unknown, "%d answer(s) of unknown length count as 1 token")
		cut      = count(t.aisExtra, "counts %d answer(s) as successes that ended without finish_reason and [DONE], without a text or with the server's error")
		aisLost  = count(t.aisLost, "fails %d answer(s) whose body broke off at its very end")
		unknown0 = count(t.unreported, "%d answer(s) without usage count as 0 tokens")
		rounds   = always("rounds to 0.1 ms")
		rounds4  = always("rounds to 4 decimals")
		ends     = reason{0, "the run lasts from the first to the last successful request only"}
		follows  = func(of string) reason { return always("follows from " + of) }
	)
	if t.failedLastEnds {
		ends.n = 1
	}
	var sched int64
	if s.ClientQueueTime.Max != nil && *s.ClientQueueTime.Max > 0 {
		sched = 1
	}
	begins := reason{sched, "begins at the first send, not at the time it was due"}

	// row adds a metric; a figure within grain of strict differs by rounding alone.
	row := func(name, unit string, strict, ofVLLM, ofAIS *float64, grain float64, vWhy, aWhy []reason) {
		var why []string
		if differ(strict, ofVLLM, 0) {
			why = appendText(why, told("vllm", vWhy))
		}
		switch {
		case a == nil:
		case differ(strict, ofAIS, grain):
			why = appendText(why, told("aisbench", aWhy))
		case differ(strict, ofAIS, 0):
			why = appendText(why, told("aisbench", aWhy[len(aWhy)-1:]))
		}
		table.AddRow(name, unit, strict, ofVLLM, ofAIS, strings.Join(why, ". "))
	}
	f := func(x float64) *float64 { return &x }
	whole := func(n *int64) *float64 {
		if n == nil {
			return nil
		}
		return f(float64(*n))
	}
	common := func(name string) *float64 {
		if a == nil {
			return nil
		}
		for _, c := range a.Common {
			if c.Name == name {
				return f(c.Value)
			}
		}
		return nil
	}
	param := func(name string, stat int) *float64 {
		if a == nil {
			return nil
		}
		for _, p := range a.Params {
			if p.Name == name && stat < len(p.Values) {
				return f(p.Values[stat])
			}
		}
		return nil
	}
	seconds := common("Benchmark Duration")
	if seconds != nil { // it has 0.1 ms; the quotient must not invent more digits
		seconds = f(math.Round(*seconds*10) / 1e4)
	}
	zeroNull := always("writes 0 where nothing was measured")

	row("successful requests", "requests", f(float64(s.Requests.Success)), f(float64(v.Completed)), common("Success Requests"), 0,
		[]reason{extra, lost}, []reason{cut, aisLost})
	row("duration", "s", s.DurationS, f(v.Duration), seconds, 1e-4, []reason{always("another first or last request")}, []reason{ends, begins, cut, aisLost, rounds})
	for _, m := range []struct {
		name string
		stat metrics.Stat
		key  string
		v, a []reason
	}{
		{"TTFT", s.TTFT, "ttft", []reason{extra, lost, first}, []reason{early, cut, aisLost, rounds}},
		{"TPOT", s.TPOT, "tpot", []reason{extra, lost, first, last, unknown1}, []reason{early, trailing, single, unknown0, cut, aisLost, rounds}},
		{"ITL", s.ITL, "itl", []reason{extra, lost, first, last}, []reason{early, trailing, cut, aisLost, rounds}},
		{"E2EL", s.E2EL, "e2el", []reason{extra, lost, last}, []reason{trailing, cut, aisLost, rounds}},
	} {
		st := v.Stat(m.key)
		vMean, vP99 := (*float64)(nil), (*float64)(nil)
		if st != nil {
			vMean = f(st.Mean)
			if len(st.Percentiles) == 1 {
				vP99 = f(st.Percentiles[0])
			}
		}
		vWhy := m.v
		if m.stat.N == 0 {
			vWhy = append(slices.Clone(vWhy), zeroNull)
		}
		row(m.name+", mean", "ms", m.stat.Mean, vMean, param(m.name, 0), 0.1, vWhy, m.a)
		row(m.name+", p99", "ms", m.stat.Percentile(99), vP99, param(m.name, 1), 0.1, vWhy, m.a)
	}
	row("output tokens", "tokens", whole(s.TotalOutputTokens), f(float64(v.TotalOutput)), common("Total Generated Tokens"), 0,
		[]reason{extra, lost, unknown1}, []reason{unknown0, cut, aisLost})
	row("request throughput", "req/s", s.RequestThroughput, f(v.RequestThroughput), common("Request Throughput"), 1e-4,
		[]reason{follows("its successes and duration")}, []reason{follows("its successes and duration"), rounds4})
	row("output token throughput", "token/s", s.OutputThroughput, f(v.OutputThroughput), common("Output Token Throughput"), 1e-4,
		[]reason{follows("its tokens and duration")}, []reason{follows("its tokens and duration"), rounds4})
	row("total token throughput", "token/s", s.TotalTokenThroughput, f(v.TotalTokenThroughput), common("Total Token Throughput"), 1e-4,
		[]reason{follows("its tokens and duration")}, []reason{follows("its tokens and duration"), rounds4})
	var noSecond int64
	if s.PeakOutputThroughput == nil && s.TotalOutputTokens != nil {
		noSecond = 1
	}
	row("peak output token throughput", "token/s", s.PeakOutputThroughput, f(v.MaxOutputTokensPerS), nil, 0,
		[]reason{{noSecond, "gives a figure although the run lasted less than a second"}, count(t.severalTokens, "counts chunks, not tokens (%d stream(s) had chunks of several)"), always("counts per whole second from the first start; strict takes the best window of a second")},
		[]reason{always("has no such figure")})
	row("maximum concurrency", "requests", whole(s.MaxConcurrency), f(float64(v.MaxConcurrentRequests)), common("Max Concurrency"), 0,
		[]reason{always("counts every request that touches the busiest whole second, one after the other too")}, []reason{always("repeats the configured value")})
	row("average concurrency", "requests", s.AvgConcurrency, nil, common("Concurrency"), 1e-4,
		[]reason{always("has no such figure")},
		[]reason{count(t.failed, "%d failed request(s) are not in flight"), ends, trailing, follows("its duration"), rounds4})
	if len(v.Options.Goodput) > 0 {
		row("request goodput", "req/s", s.RequestGoodput, v.RequestGoodput, nil, 0,
			[]reason{extra, lost, first, last, follows("its duration")}, []reason{always("has no such figure")})
	}
	return table
}

// differ reports whether two figures differ by more than grain (and by more
// than floating-point noise); an undefined one differs from a defined one.
func differ(a, b *float64, grain float64) bool {
	if a == nil || b == nil {
		return a != b
	}
	return math.Abs(*a-*b) > grain+1e-9*math.Max(math.Abs(*a), math.Abs(*b))
}

func appendText(list []string, s string) []string {
	if s == "" {
		return list
	}
	return append(list, s)
}
