package metrics

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"

	"ais_bench/outputs"
)

func seq(records ...*outputs.Record) iter.Seq2[*outputs.Record, error] {
	return func(yield func(*outputs.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// profileRecords: a stream with a role-only delta 10 ms before its first token,
// a single-token answer without usage, and a stream that was cut.
func profileRecords() []*outputs.Record {
	a := answer(0, 100*ms, 20*ms, 40*ms) // ends at 160
	a.FirstEvent, a.End = 90*ms, 170*ms  // the usage event came 10 ms after the last token
	b := answer(500*ms, 50*ms)           // one token
	b.Scheduled, b.OutputTokens, b.TokenSource = 400*ms, outputs.UnknownTokens, outputs.TokensUnknown
	c := answer(1200*ms, 300*ms, 100*ms) // ends at 1,600
	c.Status = outputs.StatusTruncated
	return []*outputs.Record{a, b, c}
}

func TestVLLMFormulas(t *testing.T) {
	v, err := VLLM(seq(profileRecords()...), VLLMOptions{Backend: "openai-chat", ModelID: "m", Percentiles: []float64{50, 99.9},
		PercentileMetrics: VLLMMetrics, SLOs: []SLO{{"ttft", 95}}})
	if err != nil {
		t.Fatal(err)
	}
	stat := func(name string) *VLLMStat {
		i := slices.IndexFunc(v.Stats, func(s VLLMStat) bool { return s.Name == name })
		return &v.Stats[i]
	}
	near(t, "duration", &v.Duration, 1.6)
	if v.Completed != 3 || v.Failed != 0 || v.TotalOutput != 3+1+2 || v.TotalInput != 300 {
		t.Errorf("completed %d failed %d out %d in %d", v.Completed, v.Failed, v.TotalOutput, v.TotalInput)
	}
	near(t, "mean ttft", &stat("ttft").Mean, (90.0+50+300)/3)
	near(t, "median ttft", &stat("ttft").Median, 90)
	near(t, "mean tpot", &stat("tpot").Mean, (35.0+100)/2)
	near(t, "mean itl", &stat("itl").Mean, (10.0+20+40+100)/4) // the gap after the role-only delta counts
	near(t, "mean e2el", &stat("e2el").Mean, (160.0+50+400)/3)
	near(t, "mean queue", &stat("client_queue_time").Mean, 100.0/3)
	near(t, "goodput", v.RequestGoodput, 2/1.6)
	near(t, "peak chunks", &v.MaxOutputTokensPerS, 5) // four events of a and one of b in second 0
	if v.MaxConcurrentRequests != 2 {
		t.Errorf("a and b never overlap, but vLLM counts whole seconds: %d, want 2", v.MaxConcurrentRequests)
	}
}

func TestVLLMKeys(t *testing.T) {
	plain := []string{"date", "endpoint_type", "backend", "label", "model_id", "tokenizer_id", "num_prompts", "request_rate", "burstiness", "max_concurrency",
		"duration", "completed", "failed", "total_input_tokens", "total_output_tokens", "request_throughput", "request_goodput", "output_throughput",
		"total_token_throughput", "latencies", "queue_times", "max_output_tokens_per_s", "max_concurrent_requests", "rtfx",
		"mean_ttft_ms", "median_ttft_ms", "std_ttft_ms", "p99_ttft_ms", "mean_tpot_ms", "median_tpot_ms", "std_tpot_ms", "p99_tpot_ms",
		"mean_itl_ms", "median_itl_ms", "std_itl_ms", "p99_itl_ms"}
	detailed := append([]string{"input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors"}, plain...)
	for _, want := range [][]string{plain, detailed} {
		v, err := VLLM(seq(profileRecords()...), VLLMOptions{Detailed: len(want) > len(plain)})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		var got []string
		for k := range m {
			got = append(got, k)
		}
		slices.Sort(got)
		w := slices.Clone(want)
		slices.Sort(w)
		if !slices.Equal(got, w) {
			t.Errorf("keys\n%v\nwant\n%v", got, w)
		}
		if m["request_rate"] != "inf" || m["max_concurrency"] != nil || m["request_goodput"] != nil {
			t.Errorf("request_rate %v max_concurrency %v goodput %v", m["request_rate"], m["max_concurrency"], m["request_goodput"])
		}
	}
	if _, err := VLLM(seq(), VLLMOptions{PercentileMetrics: []string{"latency"}}); err == nil || !strings.Contains(err.Error(), "ttft") {
		t.Errorf("an unknown metric: %v", err)
	}
}

func TestAISBench(t *testing.T) {
	r, err := AISBench(seq(append(profileRecords(), failure(0, 9000*ms, outputs.StatusHTTP5xx))...), AISBenchOptions{MaxConcurrency: 4})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"Benchmark Duration": "1600.0 ms", "Total Requests": "4", "Failed Requests": "1", "Success Requests": "3",
		"Concurrency": "0.3875", "Max Concurrency": "4", "Request Throughput": "1.875 req/s", "Total Generated Tokens": "5", "Output Token Throughput": "3.125 token/s"}
	for name, value := range want {
		i := slices.IndexFunc(r.Common, func(c AISBenchCommon) bool { return c.Name == name })
		if i < 0 || r.Common[i].Value != value {
			t.Errorf("%s: %+v, want %s", name, r.Common, value)
		}
	}
	rows := map[string]string{"E2EL": "206.7 ms", "TTFT": "146.7 ms", "TPOT": "46.7 ms", "ITL": "36.0 ms", "InputTokens": "100.0"}
	for name, value := range rows { // Average, the first column
		i := slices.IndexFunc(r.Params, func(p AISBenchRow) bool { return p.Name == name })
		if i < 0 || r.Params[i].Values[0] != value {
			t.Errorf("%s: %+v, want %s", name, r.Params[i], value)
		}
	}
	if i := slices.IndexFunc(r.Params, func(p AISBenchRow) bool { return p.Name == "TPOT" }); r.Params[i].N != 2 {
		t.Errorf("TPOT's N counts requests with a gap: %d, want 2", r.Params[i].N)
	}
	b, err := json.Marshal(r)
	if err != nil || !bytes.Contains(b, []byte(`"Benchmark Duration":{"total":"1600.0 ms"}`)) {
		t.Errorf("%s %v", b, err)
	}
	if _, err := AISBench(seq(), AISBenchOptions{StatsList: []string{"P100"}}); err == nil {
		t.Error("P100 is not in AISBench's list")
	}
}

func TestStableStages(t *testing.T) {
	// Two slots: 0–100 and 10–100, then 100–200, 110–190 and 190–280, then a lonely one.
	pair := []*outputs.Record{answer(0, 50*ms, 50*ms), answer(10*ms, 50*ms, 40*ms), answer(100*ms, 50*ms, 50*ms), answer(110*ms, 50*ms, 30*ms), answer(190*ms, 50*ms, 40*ms), answer(300*ms, 50*ms, 250*ms)}
	for _, c := range []struct {
		name            string
		records         []*outputs.Record
		slots           int
		reached         bool
		strictFrom, dur float64 // s
	}{
		{"reached twice", pair, 2, true, 0.01, 0.09},
		{"reached once", pair[:2], 2, false, 0.01, 0.09},
		{"never reached", pair, 3, false, 0.01, 0.09},
		{"one slot", pair[5:], 1, false, 0, 0.3},
	} {
		a, err := AISBenchStable(seq(c.records...), AISBenchOptions{MaxConcurrency: c.slots})
		if err != nil {
			t.Fatal(err)
		}
		if (a.Reason == "") != c.reached {
			t.Errorf("%s: aisbench says %q", c.name, a.Reason)
		}
		s := compute(t, Options{}, c.records...).Stable
		if !s.Exists {
			t.Errorf("%s: the robust stage must exist: %s", c.name, s.Reason)
			continue
		}
		near(t, c.name+" start", s.StartS, c.strictFrom)
		near(t, c.name+" duration", s.DurationS, c.dur)
	}
	if s := compute(t, Options{}).Stable; s.Exists || s.Reason == "" {
		t.Errorf("no requests: %+v", s)
	}
	a, _ := AISBenchStable(seq(pair...), AISBenchOptions{MaxConcurrency: 2})
	// Window 110–190 ms (from the second start to the last event at two in
	// flight): two requests start in it and count in full.
	if i := slices.IndexFunc(a.Common, func(c AISBenchCommon) bool { return c.Name == "Total Requests" }); a.Common[i].Value != "2" {
		t.Errorf("stable requests %s, want 2", a.Common[i].Value)
	}
}

func TestDifferencesNamesEveryReason(t *testing.T) {
	recs := profileRecords()
	v, _ := VLLM(seq(recs...), VLLMOptions{PercentileMetrics: VLLMMetrics})
	a, _ := AISBench(seq(recs...), AISBenchOptions{})
	d := Differences(compute(t, Options{}, recs...), v, a)
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	for _, row := range d.Rows {
		if s, _ := row[5].(string); s == "" {
			t.Errorf("%v has no reason", row[0])
		}
	}
	if only := Differences(compute(t, Options{}), nil, nil); len(only.Rows) != len(d.Rows) {
		t.Error("profiles that were not computed must be undefined, not missing")
	}
}
