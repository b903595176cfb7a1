package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ais_bench/models/simulator"
)

// serverSide is what these tests read of server/<model>/<dataset>.json.
type serverSide struct {
	Engine  *string
	Arrival struct {
		State          string
		Requests       struct{ Client, Server, Difference *float64 }
		PromptTokens   struct{ Difference *float64 } `json:"prompt_tokens"`
		OutputTokens   struct{ Difference *float64 } `json:"output_tokens"`
		StrayRequests  *float64                      `json:"stray_requests"`
		Text           string
		ServerByReason map[string]float64 `json:"server_by_reason"`
	}
	Reading *serverReading
	Cache   struct {
		Mode, How, Flag string
		ServerRate      *float64 `json:"server_hit_rate"`
		UsageRate       *float64 `json:"usage_hit_rate"`
	}
	Latency []struct{ Name string }
}

type serverReading struct {
	Limit    struct{ Requests float64 }
	Shares   map[string]*float64
	Findings []struct{ Verdict string }
}

// engineFinding is the first finding about the engine: on a busy machine the client
// may rightly say that it was the bottleneck itself, before all others.
func (r *serverReading) engineFinding() string {
	for _, f := range r.Findings {
		if f.Verdict != "client-bound" {
			return f.Verdict
		}
	}
	return ""
}

// startSim starts a simulator for the test.
func startSim(t *testing.T, cfg simulator.Config) (*simulator.Server, string) {
	t.Helper()
	srv, err := simulator.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	url, err := srv.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return srv, url
}

// benchOnce runs `bench serve` and gives its output, exit code, and the server's side.
func benchOnce(t *testing.T, url string, flags ...string) (stdout, stderr string, code int, side *serverSide) {
	t.Helper()
	dir := t.TempDir()
	var out, errs bytes.Buffer
	args := append([]string{"ais_bench", "bench", "serve", "--base-url", url, "--disable-tqdm", "--work-dir", dir}, flags...)
	code = run(args, &out, &errs)
	files, _ := filepath.Glob(filepath.Join(dir, "*", "server", "*", "*.json"))
	if len(files) == 1 {
		b, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		var doc struct{ Sessions []*serverSide }
		if err := json.Unmarshal(b, &doc); err != nil || len(doc.Sessions) != 1 {
			t.Fatalf("%s: %v", files[0], err)
		}
		side = doc.Sessions[0]
	}
	return out.String(), errs.String(), code, side
}

func zero(v *float64) bool { return v != nil && *v == 0 }

// At concurrency 64 on 32 slots the requests queue; with little KV memory that is
// what binds; the totals agree to the request and to the token, in the metric
// names of either engine.
func TestServerSideOfSimulatedEngines(t *testing.T) {
	for _, flavor := range []string{"vllm", "sglang"} {
		for verdict, cfg := range map[string]simulator.Config{
			// Steps so slow that a busy client has its next requests there long before slots are free,
			// and that a run lasts for several times the ten scrapes that a verdict needs.
			"queue-bound": {Flavor: flavor, MaxNumSeqs: 32, StepBase: 40 * time.Millisecond},
			"KV-bound":    {Flavor: flavor, NumGPUBlocks: 120, StepBase: 40 * time.Millisecond},
		} {
			t.Run(flavor+" "+verdict, func(t *testing.T) {
				_, url := startSim(t, cfg)
				out, errs, code, side := benchOnce(t, url, "--num-prompts", "128", "--random-input-len", "100", "--random-output-len", "20", "--max-concurrency", "64",
					"--num-warmups", "2", "--probe-request-rate", "20", "--server-metrics", "--server-metrics-interval", "100ms", "--server-meta", "gpu=none")
				if code != exitDone || side == nil {
					t.Fatalf("exit %d: %s", code, errs)
				}
				a := side.Arrival
				if a.State != "agree" || !zero(a.Requests.Difference) || !zero(a.PromptTokens.Difference) || !zero(a.OutputTokens.Difference) || *a.Requests.Client < 130 {
					t.Errorf("arrival %+v", a)
				}
				if side.Reading == nil || side.Reading.engineFinding() != verdict {
					t.Fatalf("reading %+v", side.Reading)
				}
				if want := float64(max(cfg.MaxNumSeqs, 0)); want > 0 && side.Reading.Limit.Requests != want {
					t.Errorf("limit %v", side.Reading.Limit)
				}
				if *side.Engine != flavor || len(side.Latency) != 3 {
					t.Errorf("engine %s, latency %v", *side.Engine, side.Latency)
				}
				if !strings.Contains(out, verdict+" for ") || !strings.Contains(out, "to the request and to the token") {
					t.Errorf("output\n%s", out)
				}
			})
		}
	}
}

// ask sends one request of its own, as a second client would.
func ask(url string) error {
	resp, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"somebody else","max_tokens":3,"ignore_eos":true}`))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %s", resp.Status)
	}
	return nil
}

// A second client's requests during the run are found, to the request.
func TestStrayTrafficIsFound(t *testing.T) {
	_, sim := startSim(t, simulator.Config{Preset: "instant"})
	url := between(t, sim, func(n int64) {
		if n == 6 {
			for range 3 {
				if err := ask(sim); err != nil {
					t.Error(err)
				}
			}
		}
	})
	_, errs, code, side := benchOnce(t, url, "--num-prompts", "10", "--random-input-len", "20", "--random-output-len", "5", "--max-concurrency", "2")
	if code != exitDone || side == nil {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if a := side.Arrival; a.State != "stray" || a.StrayRequests == nil || *a.StrayRequests != 3 {
		t.Errorf("arrival %+v", a)
	}
	if !strings.Contains(errs, "WARNING: sim on random: the server finished 3 request(s) that this client did not send") {
		t.Errorf("stderr %s", errs)
	}
}

// A server that is restarted during a run makes it invalid.
func TestRestartInvalidates(t *testing.T) {
	first, a := startSim(t, simulator.Config{Preset: "instant"})
	_, b := startSim(t, simulator.Config{Preset: "instant", MaxNumSeqs: 7})
	var after atomic.Bool
	proxies := map[bool]http.Handler{false: relay(t, a), true: relay(t, b)}
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/completions") && n.Add(1) == 6 {
			after.Store(true)
		}
		proxies[after.Load()].ServeHTTP(w, r)
	}))
	defer srv.Close()
	dir := t.TempDir()
	var out, errs bytes.Buffer
	code := run([]string{"ais_bench", "bench", "serve", "--base-url", srv.URL, "--disable-tqdm", "--work-dir", dir, "--num-prompts", "10", "--random-input-len", "20",
		"--random-output-len", "5", "--max-concurrency", "1"}, &out, &errs)
	if code != exitFailed || !strings.Contains(errs.String(), "WARNING: INVALID: the server changed during the run") || !strings.Contains(errs.String(), "max_num_seqs was 256 and became 7") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "manifest.json"))
	if len(files) != 1 {
		t.Fatal("no manifest")
	}
	m, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		State    string
		Warnings []string
	}
	if err := json.Unmarshal(m, &doc); err != nil || doc.State != "failed" || !strings.Contains(strings.Join(doc.Warnings, "\n"), "INVALID") {
		t.Errorf("manifest: state %s, warnings %q, %v", doc.State, doc.Warnings, err)
	}
	_ = first
}

// Cold resets where there is an endpoint, else salts; warm has every prompt in the
// cache. Both witnesses say the same.
func TestCacheModes(t *testing.T) {
	// Prompts without a common beginning, asked by every run: the first run leaves them in the cache.
	file := filepath.Join(t.TempDir(), "p.jsonl")
	var b strings.Builder
	for i := range 8 {
		fmt.Fprintf(&b, "{\"prompt\": \"%s\"}\n", strings.Repeat(string(rune('A'+i))+" river runs past the old mill and the town. ", 8))
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cfg  simulator.Config
		mode string
		how  string
		warm bool
	}{
		"cold by reset":          {simulator.Config{}, "cold", "POST /reset_prefix_cache", false},
		"cold by SGLang's reset": {simulator.Config{Flavor: "sglang"}, "cold", "POST /flush_cache", false},
		"cold by cache_salt":     {simulator.Config{NoDevMode: true}, "cold", "cache_salt", false},
		"cold by a salt":         {simulator.Config{NoDevMode: true, Flavor: "sglang"}, "cold", "every prompt begins with the salt", false},
		"warm":                   {simulator.Config{}, "warm", "every prompt was sent once", true},
		"any":                    {simulator.Config{}, "any", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Preset = "instant"
			_, url := startSim(t, c.cfg)
			flags := []string{"--dataset-name", "custom", "--dataset-path", file, "--num-prompts", "8", "--custom-output-len", "4", "--max-concurrency", "1"}
			if c.mode != "warm" { // leave the prompts in the cache
				if _, errs, code, _ := benchOnce(t, url, flags...); code != exitDone {
					t.Fatalf("exit %d: %s", code, errs)
				}
			}
			_, errs, code, side := benchOnce(t, url, append(flags, "--cache", c.mode)...)
			if code != exitDone || side == nil {
				t.Fatalf("exit %d: %s", code, errs)
			}
			s := side.Cache
			if s.Mode != c.mode || !strings.Contains(s.How, c.how) || s.ServerRate == nil || s.UsageRate == nil || *s.ServerRate != *s.UsageRate {
				t.Fatalf("cache %+v, usage %v, server %v", s, s.UsageRate, s.ServerRate)
			}
			if warm := *s.ServerRate > 0.5; warm != c.warm || s.Flag != "" {
				t.Errorf("hit rate %v, flag %q", *s.ServerRate, s.Flag)
			}
			if side.Arrival.State != "agree" {
				t.Errorf("arrival %+v", side.Arrival)
			}
		})
	}
}

// Wrong usage is one line that says what to do; an endpoint that was asked for and is
// not there is the environment's fault, before anything is measured.
func TestServerFlagErrors(t *testing.T) {
	_, url := startSim(t, simulator.Config{Preset: "instant"})
	for _, c := range []struct {
		flags []string
		code  int
		want  string
	}{
		{[]string{"--cache", "hot"}, exitUsage, "one of cold, warm, any"},
		{[]string{"--server-metrics", "--server-metrics-interval", "10ms"}, exitUsage, "give 100ms or more"},
		{[]string{"--server-metrics-interval", "1s"}, exitUsage, "goes with --server-metrics"},
		{[]string{"--server-metrics", "ftp://x"}, exitUsage, "give http://HOST:PORT/metrics"},
		{[]string{"--server-meta", "gpu"}, exitUsage, "write KEY=VALUE"},
		{[]string{"--server-metrics", "http://127.0.0.1:1/metrics"}, exitEnvironment, "--server-metrics: http://127.0.0.1:1/metrics: connection refused, nothing listens there: is the server up, and is it this port?"},
		{[]string{"--server-metrics", url + "/nope"}, exitEnvironment, "it answers HTTP 404 Not Found: there is no such path: give the address of the metrics"},
		// Too long a label for a name, which is known without asking the network.
		{[]string{"--server-metrics", strings.Repeat("n", 64) + ".invalid:80"}, exitEnvironment, "is not known"},
		{[]string{"--server-metrics", strings.Replace(url, "http://", "https://", 1) + "/metrics"}, exitEnvironment, "the port speaks no TLS: use http://"},
		{[]string{"--server-metrics", url + "/v1/models"}, exitEnvironment, "not the Prometheus text format (line 1: "},
	} {
		_, errs, code, _ := benchOnce(t, url, append([]string{"--num-prompts", "2", "--random-input-len", "9", "--random-output-len", "2"}, c.flags...)...)
		line := ""
		for l := range strings.Lines(errs) {
			if strings.HasPrefix(l, "error: ") {
				line += l
			}
		}
		if code != c.code || !strings.Contains(line, c.want) || strings.Count(line, "\n") != 1 {
			t.Errorf("%v: exit %d, %q, want exit %d and %q", c.flags, code, line, c.code, c.want)
		}
	}
}

// What the user says of the server is kept beside what it says itself.
func TestToldParametersAreStated(t *testing.T) {
	_, url := startSim(t, simulator.Config{Preset: "instant", NoDevMode: true, MaxNumSeqs: 5})
	command := filepath.Join(t.TempDir(), "command")
	if err := os.WriteFile(command, []byte("vllm serve m --max-num-seqs 5 --block-size 8\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, code, _ := benchOnce(t, url, "--num-prompts", "6", "--random-input-len", "9", "--random-output-len", "20", "--server-command", command, "--tables")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if !strings.Contains(errs, "block_size is 16, says the server (metric vllm:cache_config_info), not 8 as told by the user (--server-command)") {
		t.Errorf("the contradiction is not told: %s", errs)
	}
	if !strings.Contains(out, "prefix caching on: enable_prefix_caching=true, metric vllm:cache_config_info") {
		t.Errorf("prefix caching is not stated:\n%s", out)
	}
}

// The gain of a prefix cache: cold passes find nothing, warm ones nearly all, by both
// witnesses, whichever way the cache is made cold; the prompts are the same.
func TestBenchPrefixCache(t *testing.T) {
	for name, c := range map[string]struct {
		cfg simulator.Config
		how string
	}{
		"reset":        {simulator.Config{}, "POST /reset_prefix_cache"},
		"cache_salt":   {simulator.Config{NoDevMode: true}, "cache_salt"},
		"prompts salt": {simulator.Config{NoDevMode: true, Flavor: "sglang"}, "every prompt begins with the salt"},
		"off":          {simulator.Config{DisablePrefixCaching: true}, "POST /reset_prefix_cache"},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.PrefillCost, c.cfg.StepBase = 50*time.Microsecond, time.Millisecond
			if !c.cfg.DisablePrefixCaching {
				// Two seconds for the cold prompts: what the cache saves is far beyond what a busy machine adds.
				c.cfg.PrefillCost = time.Millisecond
			}
			_, url := startSim(t, c.cfg)
			dir := t.TempDir()
			result := filepath.Join(dir, "gain.json")
			var out, errs bytes.Buffer
			rounds := 1
			if name == "prompts salt" {
				rounds = 2 // a salt of its own for each
			}
			code := run([]string{"ais_bench", "bench", "prefix-cache", "--base-url", url, "--disable-tqdm", "--work-dir", dir, "--rounds", fmt.Sprint(rounds), "--dataset-name", "prefix_repetition",
				"--num-prompts", "6", "--prefix-repetition-num-prefixes", "6", "--prefix-repetition-prefix-len", "300", "--prefix-repetition-suffix-len", "40",
				"--prefix-repetition-output-len", "2", "--output-json", result}, &out, &errs)
			if code != exitDone {
				t.Fatalf("exit %d: %s", code, errs.String())
			}
			b, err := os.ReadFile(result)
			if err != nil {
				t.Fatal(err)
			}
			var g struct {
				Rounds, Pairs int
				Saved         *float64 `json:"ttft_saved_share"`
				Cold, Warm    struct {
					Requests, Failed int
					How              string
					ServerRate       *float64 `json:"server_hit_rate"`
					UsageRate        *float64 `json:"usage_hit_rate"`
				}
				Flags []string
			}
			if err := json.Unmarshal(b, &g); err != nil {
				t.Fatalf("%v in %s", err, b)
			}
			if n := 6 * rounds; g.Rounds != rounds || g.Pairs != n || g.Cold.Requests != n || g.Warm.Requests != n || g.Cold.Failed+g.Warm.Failed != 0 || g.Saved == nil {
				t.Fatalf("result %s", b)
			}
			if !strings.Contains(g.Cold.How, c.how) || *g.Cold.ServerRate > 0.01 || *g.Cold.UsageRate > 0.01 {
				t.Errorf("cold %+v", g.Cold)
			}
			if name == "off" {
				if len(g.Flags) != 1 || !strings.Contains(g.Flags[0], "prefix caching is off") {
					t.Errorf("flags %q", g.Flags)
				}
				return
			}
			if *g.Warm.ServerRate < 0.8 || *g.Warm.UsageRate != *g.Warm.ServerRate || *g.Saved <= 0 || len(g.Flags) != 0 {
				t.Errorf("warm %+v, saved %v, flags %q", g.Warm, *g.Saved, g.Flags)
			}
			if !strings.Contains(out.String(), "The same prompts cold and warm") || !strings.Contains(out.String(), "the cache saves ") {
				t.Errorf("output\n%s", out.String())
			}
		})
	}
}

// A service without metrics: nothing is made up, and the usage of the answers still
// tells of the prefix cache.
func TestServiceWithoutMetrics(t *testing.T) {
	_, sim := startSim(t, simulator.Config{Preset: "instant"})
	proxy := relay(t, sim)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metrics", "/server_info", "/get_server_info", "/model_info", "/get_model_info", "/reset_prefix_cache", "/flush_cache":
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Via", "1.1 gateway")
		proxy.ServeHTTP(w, r)
	}))
	defer srv.Close()
	flags := []string{"--num-prompts", "6", "--random-input-len", "200", "--random-output-len", "4", "--max-concurrency", "1"}
	out, errs, code, side := benchOnce(t, srv.URL, append(flags, "--cache", "warm")...)
	if code != exitDone || side == nil {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if side.Engine != nil || side.Reading != nil || side.Arrival.State != "" || side.Cache.ServerRate != nil || side.Cache.UsageRate == nil || *side.Cache.UsageRate < 0.5 {
		t.Errorf("side %+v, usage %v", side, side.Cache.UsageRate)
	}
	if !strings.Contains(out, "prefix caching unknown: the server does not tell") {
		t.Errorf("output\n%s", out)
	}
	// Salted by the workload, which keeps the lengths asked for.
	out, errs, code, side = benchOnce(t, srv.URL, append(flags, "--cache", "cold")...)
	if code != exitDone || side == nil || !strings.Contains(side.Cache.How, "every prompt begins with the salt [") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if !strings.Contains(out, "input, server's usage   │ 200.0 │ 200.0 │") {
		t.Errorf("the salt changed the lengths:\n%s", out)
	}
}

// What the server says can be demanded by a contract.
func TestServerSideInAContract(t *testing.T) {
	_, url := startSim(t, simulator.Config{Preset: "instant"})
	contract := filepath.Join(t.TempDir(), "contract.yaml")
	text := "clauses:\n- {name: nobody else, expr: 'server.arrival.stray_requests < 1'}\n- {name: all arrived, expr: 'server.arrival.state == \"agree\"'}\n- {name: cold, expr: 'server.cache.mode == \"warm\"'}\n"
	if err := os.WriteFile(contract, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, code, _ := benchOnce(t, url, "--num-prompts", "5", "--random-input-len", "20", "--random-output-len", "3", "--contract", contract)
	if code != exitFailed || !strings.Contains(out, "nobody else") || strings.Count(out, "PASS") < 2 || !strings.Contains(out, "FAIL") {
		t.Errorf("exit %d: %s\n%s", code, errs, out)
	}
}

// Where nothing tells, nobody can demand that there were no strays, and one that
// was seen at work is no 0 either.
func TestUnknownArrivalIsNoPass(t *testing.T) {
	_, sim := startSim(t, simulator.Config{Preset: "instant"})
	contract := filepath.Join(t.TempDir(), "contract.yaml")
	text := "clauses:\n- {name: nobody else, expr: 'server.arrival.stray_requests < 1'}\n- {name: none lost, expr: 'server.arrival.lost_requests < 1'}\n"
	if err := os.WriteFile(contract, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		metrics string
		code    int
		verdict string
	}{
		"nothing tells":   {"# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 0\n", 4, "INCONCLUSIVE"},
		"counters of NaN": {"# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 0\n# TYPE vllm:request_success_total counter\nvllm:request_success_total NaN\n", 4, "INCONCLUSIVE"},
		"a stray is busy": {"# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 40\n# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting 12\n", exitFailed, "FAIL"},
	} {
		url := withMetrics(t, sim, func() string { return c.metrics })
		out, errs, code, _ := benchOnce(t, url, "--num-prompts", "3", "--random-input-len", "20", "--random-output-len", "3", "--contract", contract)
		if code != c.code || !strings.Contains(out, c.verdict) || strings.Contains(out, "PASS") {
			t.Errorf("%s: exit %d: %s\n%s", name, code, errs, out)
		}
	}
}

// Behind a gateway that tells nothing the engine is read where the user says it is, and
// counted once.
func TestEngineBehindAGateway(t *testing.T) {
	_, sim := startSim(t, simulator.Config{Preset: "instant", MaxNumSeqs: 9})
	proxy := relay(t, sim)
	for name, metrics := range map[string]bool{"without metrics": false, "with the engine's metrics": true} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/v1/") || r.URL.Path == "/tokenize" || r.URL.Path == "/detokenize" || r.URL.Path == "/metrics" && metrics {
				proxy.ServeHTTP(w, r)
				return
			}
			http.NotFound(w, r)
		}))
		defer srv.Close()
		out, errs, code, side := benchOnce(t, srv.URL, "--num-prompts", "6", "--random-input-len", "20", "--random-output-len", "4", "--server-metrics", strings.TrimPrefix(sim, "http://"))
		if code != exitDone || side == nil {
			t.Fatalf("%s: exit %d: %s", name, code, errs)
		}
		if a := side.Arrival; a.State != "agree" || *a.Requests.Server != 6 || *side.Engine != "vllm" {
			t.Errorf("%s: engine %v, arrival %+v", name, side.Engine, a)
		}
		if !strings.Contains(out, "prefix caching on: enable_prefix_caching=true, "+sim+", /server_info") && !strings.Contains(out, "prefix caching on: enable_prefix_caching=true, metric vllm:cache_config_info") {
			t.Errorf("%s: prefix caching is not stated:\n%s", name, out)
		}
	}
}
