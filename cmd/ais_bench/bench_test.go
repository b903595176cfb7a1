package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ais_bench/models/simulator"
)

// The keys of vLLM's result file, in its order; the metrics' keys follow.
var vllmResultKeys = strings.Fields(`date endpoint_type backend label model_id tokenizer_id num_prompts request_rate burstiness max_concurrency duration completed
failed total_input_tokens total_output_tokens request_throughput request_goodput output_throughput total_token_throughput latencies queue_times
max_output_tokens_per_s max_concurrent_requests rtfx mean_ttft_ms median_ttft_ms std_ttft_ms p99_ttft_ms mean_tpot_ms median_tpot_ms std_tpot_ms
p99_tpot_ms mean_itl_ms median_itl_ms std_itl_ms p99_itl_ms`)

func TestBenchServeResultKeys(t *testing.T) {
	srv, err := simulator.New(simulator.Config{Preset: "instant"})
	if err != nil {
		t.Fatal(err)
	}
	url, err := srv.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	t.Chdir(t.TempDir())
	serve := func(flags ...string) map[string]json.RawMessage {
		t.Helper()
		var out, errs bytes.Buffer
		args := append([]string{"ais_bench", "bench", "serve", "--base-url", url, "--num-prompts", "5", "--random-input-len", "12", "--random-output-len", "4",
			"--disable-tqdm", "--save-result", "--result-filename", "r.json"}, flags...)
		if code := run(args, &out, &errs); code != exitDone {
			t.Fatalf("exit %d: %s", code, errs.String())
		}
		b, err := os.ReadFile("r.json")
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		return m
	}
	check := func(what string, got map[string]json.RawMessage, more ...string) {
		t.Helper()
		want := append(append(slices.Clone(vllmResultKeys), "ais_bench"), more...)
		for _, k := range want {
			if _, ok := got[k]; !ok {
				t.Errorf("%s: key %s is missing", what, k)
			}
			delete(got, k)
		}
		for k := range got {
			t.Errorf("%s: key %s is not vLLM's", what, k)
		}
	}
	m := serve()
	if string(m["request_rate"]) != `"inf"` || string(m["max_concurrency"]) != "null" || string(m["label"]) != "null" || string(m["request_goodput"]) != "null" || string(m["completed"]) != "5" {
		t.Errorf("request_rate %s, max_concurrency %s, label %s, request_goodput %s, completed %s", m["request_rate"], m["max_concurrency"], m["label"], m["request_goodput"], m["completed"])
	}
	check("plain", m)
	check("detailed", serve("--save-detailed"), "input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors")
	check("probe", serve("--probe-request-rate", "50"), "probe_completed", "probe_failed", "probe_median_e2el_ms", "probe_p99_e2el_ms", "probe_max_e2el_ms")
	check("ramp", serve("--ramp-up-strategy", "linear", "--ramp-up-start-rps", "100", "--ramp-up-end-rps", "200"),
		"ramp_up_strategy", "ramp_up_start_rps", "ramp_up_end_rps", "rps_change_events")
	check("metadata", serve("--metadata", "a=1", "b=2"), "a", "b")
}

// TestBenchAppendResult: one result a line.
func TestBenchAppendResult(t *testing.T) {
	srv, err := simulator.New(simulator.Config{Preset: "instant"})
	if err != nil {
		t.Fatal(err)
	}
	url, err := srv.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	t.Chdir(t.TempDir())
	for range 2 {
		var out, errs bytes.Buffer
		if code := run([]string{"ais_bench", "bench", "serve", "--base-url", url, "--num-prompts", "2", "--random-input-len", "9", "--random-output-len", "2",
			"--disable-tqdm", "--append-result", "--result-dir", "all", "--result-filename", "r.json"}, &out, &errs); code != exitDone {
			t.Fatalf("exit %d: %s", code, errs.String())
		}
	}
	b, err := os.ReadFile(filepath.Join("all", "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 2 || !json.Valid([]byte(lines[0])) || !json.Valid([]byte(lines[1])) {
		t.Errorf("%d lines: %.300s", len(lines), b)
	}
}
