package bench

import (
	"strings"
	"testing"

	"ais_bench/models"
)

func TestBackendURL(t *testing.T) {
	for _, c := range []struct {
		backend, base, endpoint string
		server, api             string // "" = refused
	}{
		{"openai", "http://h:1", "", "http://h:1", "http://h:1/v1"},
		{"openai", "http://h:1/", "/v1/completions", "http://h:1", "http://h:1/v1"},
		{"openai", "http://h:1/v1", "/v1/completions", "http://h:1", "http://h:1/v1"},
		{"openai", "http://h:1/v1/", "", "http://h:1", "http://h:1/v1"},
		{"openai", "http://h:1/v1/completions", "", "http://h:1", "http://h:1/v1"},
		{"vllm", "https://h/api", "/v1/completions", "https://h/api", "https://h/api/v1"},
		{"openai-chat", "https://h/api", "/v1/chat/completions", "https://h/api", "https://h/api/v1"},
		{"openai-chat", "https://h/api/v1", "/v1/chat/completions", "https://h/api", "https://h/api/v1"},
		{"openai-chat", "https://h", "/openai/v3/chat/completions", "https://h/openai", "https://h/openai/v3"},
		{"openai-chat", "https://h/x", "/chat/completions", "https://h/x", "https://h/x"},
		{"openai-chat", "http://h", "/v1/completions", "", ""},
		{"openai", "http://h", "/v1/chat/completions", "", ""},
		{"sglang", "http://h:30000/v1", "", "http://h:30000", "http://h:30000/v1"},
		{"sglang", "http://h:30000/api", "/generate", "http://h:30000/api", "http://h:30000/api/v1"},
		{"tgi", "http://h", "", "http://h", "http://h/v1"},
		{"openai-embeddings", "http://h", "/v1/embeddings", "http://h", "http://h/v1"},
		{"vllm-rerank", "http://h/v1", "/v1/rerank", "http://h", "http://h/v1"},
	} {
		b, err := FindBackend(c.backend)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.URL(c.base, c.endpoint)
		if c.server == "" {
			if err == nil {
				t.Errorf("%s %s + %s: accepted as %s", c.backend, c.base, c.endpoint, got)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s + %s: %v", c.backend, c.base, c.endpoint, err)
			continue
		}
		ep, err := models.Config{Abbr: "m", Type: b.Type, URL: got}.Endpoint()
		if err != nil || ep.Server != c.server || ep.API != c.api {
			t.Errorf("%s %s + %s = %s: server %s, API %s (%v), want %s, %s", c.backend, c.base, c.endpoint, got, ep.Server, ep.API, err, c.server, c.api)
		}
	}
}

func TestFindBackend(t *testing.T) {
	for name, want := range map[string]string{"openai-chta": `did you mean "openai-chat"`, "openai-audio": "audio", "trt": "OpenAI-compatible", "openai_chat": "", "SGLang": ""} {
		_, err := FindBackend(name)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for _, name := range BackendNames() {
		b, err := FindBackend(name)
		if err != nil || models.Types[b.Type] == "" || !strings.HasSuffix(b.Endpoint, b.Suffix) {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
	}
}

func TestIgnoreEOSByDefault(t *testing.T) {
	for _, c := range []struct {
		backend, dataset string
		flag             Choice
		want             bool
	}{
		{"openai", "random", Auto, true}, {"openai-chat", "random", Auto, true}, {"openai", "sharegpt", Auto, false},
		{"openai", "sharegpt", Yes, true}, {"openai", "random", No, false}, {"sglang", "sharegpt", Auto, true},
		{"openai", "timed_trace", Auto, true}, {"tgi", "random", Auto, false}, {"openai-embeddings", "random", Auto, false}, {"openai-embeddings", "random", Yes, false},
	} {
		b, err := FindBackend(c.backend)
		if err != nil {
			t.Fatal(err)
		}
		s := &Session{Backend: b, opts: Options{IgnoreEOS: c.flag}}
		if got := s.ignoreEOS(c.dataset); got != c.want {
			t.Errorf("%s, %s, flag %d: %v", c.backend, c.dataset, c.flag, got)
		}
	}
}

func TestOptionsThatCannotBeMeant(t *testing.T) {
	for want, o := range map[string]Options{
		"--request-rate":       {RequestRate: -1},
		"--burstiness":         {Burstiness: -1},
		"--max-concurrency":    {MaxConcurrency: 1e6},
		"--num-warmups":        {NumWarmups: -1},
		"--probe-request-rate": {ProbeRate: -1},
		"need --ramp-up":       {RampEnd: 3},
		"exclude each other":   {RampUp: "linear", RampEnd: 3, RequestRate: 5},
		"both are needed":      {RampUp: "linear", RampStart: 9, RampEnd: 3},
		"cannot start at 0":    {RampUp: "exponential", RampEnd: 3},
		"linear or expon":      {RampUp: "cubic", RampEnd: 3},
		"--lora-modules":       {LoRAAssignment: "round-robin"},
	} {
		if err := o.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := (&Options{RequestRate: 2.5, Burstiness: 1, LoRAAssignment: "random"}).check(); err != nil {
		t.Error(err)
	}
}

func TestAbbreviation(t *testing.T) {
	for in, want := range map[string]string{"Qwen/Qwen3-8B": "Qwen3-8B", "/data/models/my model/": "my model", `C:\models\x`: "x", "a:b": "a_b", "": "model", "/": "model", "..": "model"} {
		if got := abbreviation(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestPercentile(t *testing.T) {
	v := []float64{1, 2, 3, 4}
	for p, want := range map[float64]float64{0: 1, 50: 2.5, 75: 3.25, 100: 4} {
		if got := percentile(v, p); got == nil || *got != want {
			t.Errorf("p%g: %v, want %g", p, got, want)
		}
	}
	if percentile(nil, 50) != nil {
		t.Error("a percentile of nothing")
	}
}
