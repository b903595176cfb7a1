package inspect

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ais_bench/models"
	"ais_bench/models/simulator"
)

func config(url string) models.Config {
	return models.Config{Abbr: "m", Type: "openai_chat", URL: url, Model: "sim"}
}

func TestSnapshotOfTheSimulator(t *testing.T) {
	for flavor, want := range map[string]string{"vllm": "vllm", "sglang": "sglang"} {
		srv, err := simulator.New(simulator.Config{Flavor: flavor})
		if err != nil {
			t.Fatal(err)
		}
		url, err := srv.Start("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := Take(context.Background(), config(url))
		srv.Close()
		if s.Version != simulator.Version || s.Models == nil || len(s.Metrics) == 0 || len(s.Errors) != 0 {
			t.Errorf("%s: version %q, models %v, %d metrics, errors %v", flavor, s.Version, s.Models, len(s.Metrics), s.Errors)
		}
		if s.Engine != want {
			t.Errorf("%s is taken for engine %q", flavor, s.Engine)
		}
	}
}

func TestSnapshotSaysWhatCouldNotBeAsked(t *testing.T) {
	s := Take(context.Background(), config("http://127.0.0.1:1"))
	if len(s.Errors) != 2 || s.Models != nil || s.Version != "" {
		t.Errorf("a closed port gave %+v", s)
	}
}

func TestDifferences(t *testing.T) {
	list := func(id string, created float64) any {
		return []any{map[string]any{"id": id, "created": created}}
	}
	base := &Snapshot{Version: "1", Models: list("a", 1), Metrics: map[string]float64{"process_start_time_seconds": 5}, Info: map[string]any{"vllm:cache_config_info": "x"}}
	same := &Snapshot{Version: "1", Models: list("a", 2), Metrics: map[string]float64{"process_start_time_seconds": 5}, Info: map[string]any{"vllm:cache_config_info": "x"}}
	if d := Differences(base, same); len(d) != 0 {
		t.Errorf("equal servers differ: %v", d)
	}
	other := &Snapshot{Version: "2", Models: list("b", 1), Metrics: map[string]float64{"process_start_time_seconds": 9}, Info: map[string]any{"vllm:cache_config_info": "y"}}
	if d := Differences(base, other); len(d) != 4 {
		t.Errorf("differences %v, want 4", d)
	}
}

// A server that did not answer once, and state that comes and goes, are no changes.
func TestDifferencesOfWhatIsNotKnownOrNoParameter(t *testing.T) {
	text := func(extra string) *Snapshot {
		m, err := ParseMetrics("vllm:cache_config_info{block_size=\"16\",engine=\"0\"} 1\n" + extra)
		if err != nil {
			t.Fatal(err)
		}
		return &Snapshot{Version: "1", Models: []any{map[string]any{"id": "a"}, map[string]any{"id": "b"}}, Metrics: m.Totals(), Info: m.Infos()}
	}
	before := text("vllm:cache_config_info{block_size=\"16\",engine=\"1\"} 1\n")
	for name, change := range map[string]func(s *Snapshot){
		"version not told":    func(s *Snapshot) { s.Version = "" },
		"models not told":     func(s *Snapshot) { s.Models = nil },
		"metrics not told":    func(s *Snapshot) { s.Info, s.Metrics = nil, nil },
		"models in new order": func(s *Snapshot) { s.Models = []any{map[string]any{"id": "b"}, map[string]any{"id": "a"}} },
		"adapters of requests": func(s *Snapshot) {
			s.Info["vllm:lora_requests_info"] = []any{map[string]any{"running_lora_adapters": "x"}}
		},
		"series in new order": func(s *Snapshot) {
			list := s.Info["vllm:cache_config_info"].([]any)
			list[0], list[1] = list[1], list[0]
		},
	} {
		after := text("vllm:cache_config_info{block_size=\"16\",engine=\"1\"} 1\n")
		before.Info["vllm:lora_requests_info"] = []any{map[string]any{"running_lora_adapters": ""}}
		change(after)
		for _, d := range [][]string{Differences(before, after), Differences(after, before)} {
			if len(d) != 0 {
				t.Errorf("%s: %v", name, d)
			}
		}
	}
}

func TestSpecDecodeFromDeltas(t *testing.T) {
	drafts := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var b strings.Builder
		b.WriteString("# TYPE vllm:spec_decode_num_drafts_total counter\n# TYPE vllm:spec_decode_num_draft_tokens_total counter\n# TYPE vllm:spec_decode_num_accepted_tokens_total counter\n# TYPE vllm:spec_decode_num_accepted_tokens_per_pos_total counter\n")
		fmt.Fprintf(&b, "vllm:spec_decode_num_drafts_total{engine=\"0\"} %d\nvllm:spec_decode_num_draft_tokens_total{engine=\"0\"} %d\n", drafts, 3*drafts)
		fmt.Fprintf(&b, "vllm:spec_decode_num_accepted_tokens_total{engine=\"0\"} %d\n", 2*drafts)
		fmt.Fprintf(&b, "vllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"0\",position=\"0\"} %d\nvllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"0\",position=\"1\"} %d\n", drafts, drafts/2)
		fmt.Fprint(w, b.String())
		drafts += 100
	}))
	defer srv.Close()
	before, err := SpecCounters(context.Background(), config(srv.URL))
	if err != nil {
		t.Fatal(err)
	}
	after, err := SpecCounters(context.Background(), config(srv.URL))
	if err != nil {
		t.Fatal(err)
	}
	s := after.Since(before)
	if s.Drafts != 100 || math.Abs(*s.AcceptanceRate-2.0/3) > 1e-12 || *s.AcceptanceLength != 3 || len(s.PerPosition) != 2 || s.PerPosition[1] != 0.5 {
		t.Errorf("%+v", s)
	}
	if idle := before.Since(before); idle.AcceptanceRate != nil || idle.AcceptanceLength != nil {
		t.Errorf("no activity gives rates: %+v", idle)
	}
}

func TestMetricsThatAreNotPrometheus(t *testing.T) {
	if _, err := ParseMetrics("<html>hello</html>"); err == nil {
		t.Error("HTML was read as metrics")
	}
}

// What a server tells of its own keys is never kept.
func TestSnapshotRedactsTheServersKeys(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/server_info":
			if r.URL.Query().Get("config_format") != "json" {
				t.Errorf("asked as %s", r.URL)
			}
			fmt.Fprint(w, `{"admin_api_key":"admin-secret","max_running_requests":9,"nested":[{"hf_token":"hf-secret","api_key":null}],"tokenizer_path":"t"}`)
		case "/v1/models":
			w.Header().Set("X-Session-Token", "header-secret")
			fmt.Fprint(w, `{"data":[{"id":"m","max_model_len":77}]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	s := Take(context.Background(), config(srv.URL))
	if text := fmt.Sprint(s.Info, s.Headers); strings.Contains(text, "secret") || !strings.Contains(text, "tokenizer_path:t") {
		t.Errorf("kept: %s", text)
	}
	if n, _ := s.Parameters.Number(ParamMaxSeqs); n != 9 {
		t.Errorf("parameters %v", s.Parameters)
	}
	if n, _ := s.Parameters.Number(ParamMaxModelLen); n != 77 {
		t.Errorf("parameters %v", s.Parameters)
	}
}
