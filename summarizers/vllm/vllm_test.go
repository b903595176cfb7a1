package vllm

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ais_bench/outputs"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const ms = int64(1e6)

func list(recs ...*outputs.Record) Records {
	return func(yield func(*outputs.Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// three are: a stream with a role-only first event, a queued stream of one
// token, a failure. Given out of order, with a warm-up that must not count.
func three() Records {
	a := &outputs.Record{Phase: outputs.PhaseMeasured, Status: outputs.StatusOK, HTTPStatus: 200, Stream: true, Text: "héllo",
		FirstEvent: 100 * ms, FirstToken: 200 * ms, LastToken: 500 * ms, End: 510 * ms,
		ChunkAt: []int64{200 * ms, 300 * ms, 500 * ms}, InputTokens: 10, OutputTokens: 4, CachedTokens: 5}
	b := &outputs.Record{Phase: outputs.PhaseMeasured, Status: outputs.StatusOK, HTTPStatus: 200, Stream: true,
		Scheduled: 500 * ms, Sent: 600 * ms, FirstEvent: 800 * ms, FirstToken: 800 * ms, LastToken: 1050 * ms, End: 1060 * ms,
		ChunkAt: []int64{200 * ms, 450 * ms}, InputTokens: 20, OutputTokens: 1, CachedTokens: outputs.UnknownTokens}
	c := &outputs.Record{Phase: outputs.PhaseMeasured, Status: outputs.StatusHTTP5xx, HTTPStatus: 500, Stream: true, Error: "out of memory",
		Scheduled: 1000 * ms, Sent: 1000 * ms, FirstEvent: outputs.Never, FirstToken: outputs.Never, LastToken: outputs.Never, End: 2000 * ms,
		InputTokens: outputs.UnknownTokens, OutputTokens: outputs.UnknownTokens}
	w := *a
	w.Phase, w.End = outputs.PhaseWarmup, 9000*ms
	return list(c, &w, b, a)
}

func options() Options {
	return Options{Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Backend: "openai-chat", ModelID: "org/qwen", MaxConcurrency: 2,
		Metadata: []Pair{{"version", "1"}}, Metrics: MetricNames, Percentiles: []float64{50, 99.9}, Goodput: []SLO{{"ttft", 150}}}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestComputeByHand(t *testing.T) {
	o := options()
	o.Backend = "openai" // a completion: the first event is the first token
	r, err := Compute(three(), o)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "duration", r.Duration, 2)
	near(t, "completed", float64(r.Completed), 2)
	near(t, "failed", float64(r.Failed), 1)
	near(t, "request throughput", r.RequestThroughput, 1)
	near(t, "output throughput", r.OutputThroughput, 2.5)
	near(t, "total throughput", r.TotalTokenThroughput, 17.5)
	near(t, "goodput", *r.RequestGoodput, 0.5)
	near(t, "chunks in the best second", r.MaxOutputTokensPerS, 5)
	near(t, "in flight", float64(r.PeakInFlight), 1)
	near(t, "concurrency by second", float64(r.MaxConcurrentRequests), 2)
	for _, c := range []struct {
		name           string
		n              int64
		mean, med, std float64
	}{
		{"ttft", 2, 150, 150, 50},
		{"tpot", 1, 400.0 / 3, 400.0 / 3, 0},
		{"itl", 4, 162.5, 150, math.Sqrt(4218.75)},
		{"e2el", 2, 475, 475, 25},
		{"client_queue_time", 2, 50, 50, 50},
		{"e2el_including_client_queue", 2, 525, 525, 25},
	} {
		s := r.Stat(c.name)
		if s.N != c.n {
			t.Errorf("%s: n = %d, want %d", c.name, s.N, c.n)
		}
		near(t, c.name+" mean", s.Mean, c.mean)
		near(t, c.name+" median", s.Median, c.med)
		near(t, c.name+" std", s.Std, c.std)
		near(t, c.name+" p50", s.Percentiles[0], c.med)
	}
	// [100 100 200 250] at 99.9 %: h = 2.997
	near(t, "itl p99.9", r.Stat("itl").Percentiles[1], 200+0.997*50)
}

// keysOf returns the keys of an object in their order with the JSON type of
// each value; a number with a point is a float.
func keysOf(t *testing.T, doc []byte) (keys []string, types map[string]string) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil {
		t.Fatalf("%v in %s", err, doc)
	}
	types = map[string]string{}
	for dec.More() {
		k, _ := dec.Token()
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k.(string))
		switch v := v.(type) {
		case json.Number:
			types[k.(string)] = "int"
			if strings.ContainsAny(v.String(), ".e") {
				types[k.(string)] = "float"
			}
		default:
			types[k.(string)] = fmt.Sprintf("%T", v)
		}
	}
	return keys, types
}

func TestJSONHasVLLMsKeysAndTypes(t *testing.T) {
	o := options()
	o.Metrics, o.Percentiles, o.Goodput, o.Detailed = nil, []float64{95, 99}, nil, true
	r, err := Compute(three(), o)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := r.JSON(map[string]int{"x": 1})
	if err != nil {
		t.Fatal(err)
	}
	want := "date:string endpoint_type:string backend:string label:<nil> model_id:string tokenizer_id:string num_prompts:int version:string " +
		"request_rate:string burstiness:float max_concurrency:int duration:float completed:int failed:int total_input_tokens:int total_output_tokens:int " +
		"request_throughput:float request_goodput:<nil> output_throughput:float total_token_throughput:float input_lens:[]interface {} " +
		"output_lens:[]interface {} ttfts:[]interface {} itls:[]interface {} latencies:[]interface {} start_times:[]interface {} queue_times:[]interface {} " +
		"generated_texts:[]interface {} errors:[]interface {} max_output_tokens_per_s:float max_concurrent_requests:int rtfx:float"
	for _, m := range []string{"ttft", "tpot", "itl"} {
		for _, s := range []string{"mean", "median", "std", "p95", "p99"} {
			want += " " + s + "_" + m + "_ms:float"
		}
	}
	want += " ais_bench:map[string]interface {}"
	keys, types := keysOf(t, doc)
	var got []string
	for _, k := range keys {
		got = append(got, k+":"+types[k])
	}
	if g := strings.Join(got, " "); g != want {
		t.Errorf("keys\n got %s\nwant %s", g, want)
	}
	var arrays struct {
		ITLs   [][]float64 `json:"itls"`
		Errors []string    `json:"errors"`
		TTFTs  []float64   `json:"ttfts"`
	}
	if err := json.Unmarshal(doc, &arrays); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(arrays) != "{[[0.1 0.2] [0.25] []] [  out of memory] [0.2 0.2 0]}" {
		t.Errorf("arrays by scheduled time: %v", arrays)
	}
}

// The lists are in the order of the requests, whichever was answered first, and the
// duration has the wait for the first arrival in it.
func TestOrderAndStart(t *testing.T) {
	o := options()
	o.Detailed = true
	begin := -1000 * ms
	o.Started = &begin
	o.Order = func(r *outputs.Record) int { return -int(r.Scheduled / ms) }
	r, err := Compute(three(), o)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "duration", r.Duration, 3)
	if r.Requests[0].Err != "out of memory" || r.Requests[2].Text != "héllo" {
		t.Errorf("requests %+v", r.Requests)
	}
	g, err := ComputeSGLang(three(), SGLangOptions{Detailed: true, Started: &begin, Order: o.Order})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "SGLang's duration", g.Duration, 3)
	if g.requests[2].Text != "héllo" {
		t.Errorf("SGLang's requests %+v", g.requests)
	}
}

// A queue in the client is measured below a cap, and belongs to the time of requests
// that arrive.
func TestQueueMetrics(t *testing.T) {
	for _, c := range []struct {
		bound      int
		rate       float64
		queue, all bool
	}{{0, 2, false, false}, {2, 0, true, false}, {2, 2, true, true}} {
		o := options()
		o.MaxConcurrency, o.RequestRate = c.bound, c.rate
		r, err := Compute(three(), o)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := r.JSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, types := keysOf(t, doc)
		if (types["mean_client_queue_time_ms"] != "") != c.queue || (types["mean_e2el_including_client_queue_ms"] != "") != c.all {
			t.Errorf("bound %d, rate %g: %v", c.bound, c.rate, types)
		}
	}
}

func TestJSONForms(t *testing.T) {
	o := options()
	o.RequestRate, o.Label, o.Pooling, o.Metrics = 2, "night", true, nil
	r, err := Compute(three(), o)
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := r.JSON(nil)
	keys, types := keysOf(t, doc)
	if types["request_rate"] != "float" || types["total_input_sequences"] != "int" || types["mean_e2el_ms"] != "float" {
		t.Errorf("pooling types: %v", types)
	}
	for _, k := range []string{"failed", "itls", "output_throughput", "mean_ttft_ms", "errors", ExtraKey} {
		if slices.Contains(keys, k) {
			t.Errorf("the pooling result has the key %s", k)
		}
	}
	if got := r.FileName(); got != "night-2.0qps-concurrency2-qwen-20260102-030405.json" {
		t.Errorf("file name %s", got)
	}
	r.Options.RequestRate, r.Options.Label = math.Inf(1), ""
	if got := r.FileName(); got != "openai-chat-infqps-concurrency2-qwen-20260102-030405.json" {
		t.Errorf("file name %s", got)
	}
	r.Options.Ramp = &Ramp{Strategy: "linear", StartRPS: 1, EndRPS: 9}
	if got := r.FileName(); got != "openai-chat-ramp-up-linear-1qps-9qps-concurrency2-qwen-20260102-030405.json" {
		t.Errorf("file name %s", got)
	}
}

// What was asked without a stream has no time to first token: it is in none of
// the statistics that need one and keeps no limit on it.
func TestNotStreamed(t *testing.T) {
	rec := &outputs.Record{Phase: outputs.PhaseMeasured, Status: outputs.StatusOK, HTTPStatus: 200, FirstEvent: 400 * ms, FirstToken: outputs.Never,
		LastToken: 400 * ms, End: 400 * ms, InputTokens: 10, OutputTokens: 4}
	for _, c := range []struct {
		slo  SLO
		good float64
	}{{SLO{"ttft", 500}, 0}, {SLO{"tpot", 500}, 0}, {SLO{"e2el", 500}, 2.5}, {SLO{"e2el", 300}, 0}} {
		r, err := Compute(list(rec), Options{Goodput: []SLO{c.slo}})
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprint("goodput at ", c.slo), *r.RequestGoodput, c.good)
		for metric, n := range map[string]int64{"ttft": 0, "tpot": 0, "itl": 0, "e2el": 1} {
			if got := r.Stat(metric).N; got != n {
				t.Errorf("%s of a request without a stream: n = %d, want %d", metric, got, n)
			}
		}
	}
}

func TestRatesAndProbeInJSON(t *testing.T) {
	o := options()
	p99 := 7.0
	o.Ramp, o.Probe = &Ramp{Strategy: "linear", StartRPS: 0.5, EndRPS: 4}, &Probe{Completed: 2, P99E2EL: &p99}
	o.Pooling, o.TotalSequences, o.SequencesPerRequest, o.Metrics = true, 7, 4, []string{"e2el"}
	r, err := Compute(three(), o)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := r.JSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"ramp_up_start_rps": 0.5, "ramp_up_end_rps": 4,`, `"probe_completed": 2, "probe_failed": 0, "probe_median_e2el_ms": null, "probe_p99_e2el_ms": 7.0,`, `"total_input_sequences": 7,`} {
		if !bytes.Contains(doc, []byte(want)) {
			t.Errorf("%s is missing in %s", want, doc)
		}
	}
}

func TestNothingMeasuredIsZeroNotNaN(t *testing.T) {
	o := options()
	o.SpecDecode = &SpecDecode{AcceptedPerPosition: []int64{1}}
	r, err := Compute(list(), o)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := r.JSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, types := keysOf(t, doc)
	if types["p99.9_itl_ms"] != "float" || bytes.Contains(doc, []byte("NaN")) {
		t.Errorf("%s", doc)
	}
}

func TestConsole(t *testing.T) {
	o := options()
	o.RequestRate = 2
	median := 12.5
	o.Probe = &Probe{Completed: 3, Failed: 1, MedianE2EL: &median}
	o.SpecDecode = &SpecDecode{Drafts: 10, DraftTokens: 20, AcceptedTokens: 15, AcceptedPerPosition: []int64{9, 6}}
	r, err := Compute(three(), o)
	if err != nil {
		t.Fatal(err)
	}
	sg, err := ComputeSGLang(three(), SGLangOptions{Backend: "sglang"})
	if err != nil {
		t.Fatal(err)
	}
	for name, print := range map[string]func(*bytes.Buffer) error{
		"console.golden":        func(b *bytes.Buffer) error { return Console(b, r) },
		"sglang_console.golden": func(b *bytes.Buffer) error { return sg.Console(b) },
	} {
		var b bytes.Buffer
		if err := print(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s differs:\n%s", name, b.String())
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, o := range map[string]Options{
		`"tfft" is unknown`:      {Metrics: []string{"tfft"}},
		"101 is not between":     {Percentiles: []float64{101}},
		`goodput: "itl"`:         {Goodput: []SLO{{"itl", 1}}},
		"tpot:-1 is not a limit": {Goodput: []SLO{{"tpot", -1}}},
	} {
		if _, err := Compute(list(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	next := three()
	used := false
	once := func(yield func(*outputs.Record, error) bool) {
		if !used {
			used = true
			next(yield)
		}
	}
	if _, err := Compute(once, Options{}); err == nil {
		t.Error("a sequence that does not start over gave no error")
	}
}

func TestAppendAndReadBack(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.json")
	r, err := Compute(three(), options())
	if err != nil {
		t.Fatal(err)
	}
	for _, add := range []bool{true, false, true} {
		if err := r.WriteFile(name, add, nil); err != nil {
			t.Fatal(err)
		}
	}
	f, _ := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	fmt.Fprintln(f, "\n"+`{"backend":"x","request_rate":Infinity,"duration":2.0,"request_goodput:":3.5,"completed":7,"note":"NaN \" Infinity","rtfx":NaN}`)
	fmt.Fprintln(f, `{"backend":"sglang","request_rate":4.0,"duration":1,"completed":1,"mean_e2e_latency_ms":9.5,"total_throughput":8}`)
	f.Close()
	got, err := ReadResult(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 4 || got[0].Line != 1 || got[3].Line != 4 {
		t.Fatalf("%d results, lines %+v", len(got), got)
	}
	near(t, "own median", got[1].Values["mean_ttft_ms"], 200)
	if *got[1].Failed != 1 || !math.IsInf(got[1].RequestRate, 1) || got[1].MaxConcurrency != 2 {
		t.Errorf("own result read as %+v", got[1])
	}
	if v := got[2]; v.Tool != "vllm" || v.Failed != nil || v.Values["request_goodput"] != 3.5 || !math.IsInf(v.RequestRate, 1) || string(v.Raw["note"]) != `"NaN \" Infinity"` {
		t.Errorf("old vLLM result read as %+v", v)
	}
	if v := got[3]; v.Tool != "sglang" || v.Values["mean_e2el_ms"] != 9.5 || v.Values["total_token_throughput"] != 8 || v.RequestRate != 4 {
		t.Errorf("SGLang's result read as %+v", v)
	}
	for doc, want := range map[string]string{"": "no benchmark result", "{}": ":1: not a saved", "{\"duration\":1}\n\n[1]": ":3: not a saved"} {
		os.WriteFile(name, []byte(doc), 0o644)
		if _, err := ReadResult(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", doc, err, want)
		}
	}
}

func TestSGLangAndOffline(t *testing.T) {
	sg, err := ComputeSGLang(three(), SGLangOptions{Backend: "sglang", Dataset: "random", RandomInputLen: 8, RandomOutputLen: 4, Detailed: true, Date: options().Date})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "sglang mean ttft", sg.TTFT.Mean(), 0.2)
	near(t, "sglang concurrency", sg.Concurrency, (0.51+0.46)/2)
	doc, err := sg.JSON(nil)
	if err != nil || !json.Valid(doc) || !bytes.Contains(doc, []byte(`"cached_tokens": [5, 0, 0]`)) && !bytes.Contains(doc, []byte(`"cached_tokens": [5,0,0]`)) {
		t.Errorf("%v %s", err, doc)
	}
	if got := sg.FileName(); got != "sglang_0102_3_8_4.jsonl" {
		t.Errorf("file name %s", got)
	}
	unknown := &Throughput{Requests: 2, RequestsPerSecond: 1, PromptKnown: 2, PromptTokens: 8}
	var none strings.Builder
	if err := unknown.Print(&none); err != nil || none.String() != "Throughput: 1.00 requests/s, unknown total tokens/s, unknown output tokens/s\nTotal num prompt tokens:  8\nTotal num output tokens:  unknown\n" {
		t.Errorf("without usage: %v %q", err, none.String())
	}
	if doc, err := unknown.JSON(nil); err != nil || !strings.Contains(string(doc), `"total_num_tokens": null`) && !strings.Contains(string(doc), `"total_num_tokens":null`) {
		t.Errorf("without usage: %v %s", err, doc)
	}
	tp, err := ComputeThroughput(three())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	_ = tp.Print(&b)
	if b.String() != "Throughput: 1.00 requests/s, 17.50 total tokens/s, 2.50 output tokens/s\nTotal num prompt tokens:  30\nTotal num output tokens:  5\n" {
		t.Error(b.String())
	}
	doc, _ = tp.JSON(nil)
	if string(doc) != `{"model_id": "", "elapsed_time": 2.0, "num_requests": 2, "total_num_tokens": 35, "requests_per_second": 1.0, "tokens_per_second": 17.5}` {
		t.Errorf("%s", doc)
	}
	l, err := ComputeLatency(three(), func(r *outputs.Record) int { return int(r.Scheduled) })
	if err != nil {
		t.Fatal(err)
	}
	near(t, "average latency", l.Avg, (0.51+0.46)/2)
	near(t, "failed iterations", float64(l.Failed), 1)
	doc, _ = l.JSON(nil)
	if keys, _ := keysOf(t, doc); strings.Join(keys, " ") != "model_id avg_latency std_latency latencies percentiles" {
		t.Errorf("%s", doc)
	}
}
