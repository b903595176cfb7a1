package summarizers

import (
	"fmt"
	"strings"
	"testing"

	"ais_bench/evaluators"
	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

func performanceOf(t *testing.T, records ...*outputs.Record) PairPerformance {
	t.Helper()
	a, err := metrics.New(metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		a.Add(r)
	}
	return PairPerformance{Pair: outputs.Pair{Model: "m", Dataset: "d"}, Result: a.Result()}
}

func rowsText(t outputs.Table) string {
	var b strings.Builder
	for _, r := range t.Rows {
		for _, c := range r {
			if cell, ok := c.(outputs.Cell); ok {
				c = cell.Value
			}
			fmt.Fprint(&b, c, " | ")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// What a report warns of follows from the run.
func TestCautions(t *testing.T) {
	ok, failed, cached := record(0, outputs.StatusOK), record(1, outputs.StatusHTTP5xx), record(2, outputs.StatusOK)
	cached.CachedTokens = 50
	local := record(3, outputs.StatusOK)
	local.TokenSource, local.Stream = outputs.TokensLocalTokenizer, false
	m := &outputs.Manifest{Clock: &outputs.ClockInfo{StampSource: "userspace"}, Pairs: []outputs.PairState{{Model: "m", Dataset: "d", Sessions: 2}}}
	health := map[string]any{"m × d": map[string]any{"client_bound": "yes"}}
	got := rowsText(Cautions([]evaluators.Result{result()}, []PairPerformance{performanceOf(t, ok, failed, cached, local)}, m, health))
	for _, want := range []string{
		"scores on d | another scorer, prompt or number of questions | scored by gsm8k 1, prompts of version abc123, n 3",
		"scores on d | runs without failed requests | 1 of 3",
		"other lengths | input 200 tokens, output 3 tokens a request",
		"any total token throughput | it counts output tokens only",
		"requests in flight at most", "runs with a forced output length | 100.0 %", "streamed runs | only 75.0 %",
		"counts by the server (usage) | tokens of 33.3 % of the answers come from: local_tokenizer", "runs in which all succeed | 1 of 4 requests failed",
		"8.3 % of the input tokens came from the prefix cache", "any other client or machine | the client was the bottleneck of m × d",
		"runs stamped by the kernel | arrivals were stamped by userspace", "it was asked in 2 sessions", "longer runs | 3 requests are too few", "profile strict",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	unknown := rowsText(Cautions(nil, []PairPerformance{performanceOf(t, ok)}, nil, nil))
	if !strings.Contains(unknown, "it is unknown whether prefix caching was on") || strings.Contains(unknown, "failed") || strings.Contains(unknown, "bottleneck") {
		t.Errorf("a run that tells nothing:\n%s", unknown)
	}
	stated := &outputs.Manifest{Extra: map[string]any{"server_meta": map[string]string{"enable_prefix_caching": "false"}}}
	if got := rowsText(Cautions(nil, []PairPerformance{performanceOf(t, ok)}, stated, nil)); !strings.Contains(got, "prefix caching was off: enable_prefix_caching=false") {
		t.Errorf("a run that tells:\n%s", got)
	}
	if got := rowsText(Cautions(nil, []PairPerformance{performanceOf(t, failed)}, nil, nil)); !strings.Contains(got, "m × d | anything | no request succeeded") {
		t.Errorf("a run without success:\n%s", got)
	}
}

func TestEnvironment(t *testing.T) {
	engine, version, kernel, files, drift, steps := "vllm", "0.11", "6.1", uint64(1024), int64(1500), 1
	m := &outputs.Manifest{State: outputs.StateDone, StartedAt: "t0", Tool: outputs.ToolInfo{Name: "ais_bench", Version: "1", Commit: "abc"},
		ServerBefore: &outputs.ServerSnapshot{TakenAt: "t1", URL: "http://s", Engine: &engine, Version: &version, Models: []any{map[string]any{"id": "x", "max_model_len": 4096.0}},
			Info: map[string]any{"cache": map[string]any{"block_size": 16.0}}, Metrics: map[string]float64{"hits": 3}},
		ServerAfter: &outputs.ServerSnapshot{TakenAt: "t2", URL: "http://s", Metrics: map[string]float64{"hits": 9}, Errors: []string{"/version: refused"}},
		Host:        outputs.HostInfo{OS: "linux", Arch: "amd64", Kernel: &kernel, CPUs: 8, OpenFiles: &files}, Clock: &outputs.ClockInfo{ZeroWall: "t0", StampSource: "kernel", KernelShare: 1, DriftNS: &drift, Steps: &steps},
		Sessions: []outputs.Session{{Mode: "perf"}, {Mode: "perf", Errors: []string{"a", "b"}, ServerBefore: &outputs.ServerSnapshot{URL: "http://other"}}},
		Data:     []outputs.DataFile{{Dataset: "d", Path: "d.jsonl", Rows: 5, SHA256: "ff"}}, Extra: map[string]any{"server_meta": map[string]string{"gpu": "8"}}}
	sec := environment(m)
	var all strings.Builder
	for _, table := range sec.Tables {
		if err := table.Check(); err != nil {
			t.Error(err)
		}
		all.WriteString(table.Title + "\n" + rowsText(table))
	}
	for _, want := range []string{"engine | vllm | <nil>", "models.id | x | <nil>", "models.max_model_len | 4096", "info.cache.block_size | 16", "metrics: hits | 3 | 9", "could not be asked (1) | <nil> | /version: refused",
		"Server in session 2\naddress | http://other", "logical processors usable | 8", "open files at most | 1024", "drift of the wall clock during the run | 1.500 µs", "jumps of the wall clock | 1", "server_meta.gpu | 8", "d | d.jsonl | 5", "a; b"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no %q in\n%s", want, all.String())
		}
	}
	if len(environment(&outputs.Manifest{}).Tables) == 0 {
		t.Error("an empty manifest has no environment")
	}
}

func TestCommandLine(t *testing.T) {
	if got, want := commandLine([]string{"ais_bench", "--slo", "ttft<=2", "it's", ""}), `ais_bench --slo 'ttft<=2' 'it'\''s' ''`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// An event that a gateway sends twice is no token: with a known count the report says
// that the chunks are too many, and says nothing where each holds a token or more.
func TestMoreChunksThanTokens(t *testing.T) {
	const want = "more chunks with a payload than the server counts tokens"
	for tokens, warned := range map[int32]bool{2: true, 3: false, 4: false} {
		r := record(0, outputs.StatusOK) // of three chunks
		r.OutputTokens, r.ChunkTokens, r.TokenSource = tokens, nil, outputs.TokensUsage
		if len(r.ChunkAt) != 3 {
			t.Fatalf("the record has %d chunks", len(r.ChunkAt))
		}
		got := rowsText(Cautions(nil, []PairPerformance{performanceOf(t, r)}, nil, nil))
		if strings.Contains(got, want) != warned || warned && !strings.Contains(got, "(0.6667 tokens a chunk)") {
			t.Errorf("%d tokens in 3 chunks: warned %v in\n%s", tokens, !warned, got)
		}
	}
}
