package bench

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ais_bench/datasets/workloads"
	"ais_bench/outputs"
	"ais_bench/tasks"
)

// words are the vocabulary of the tests' tokenizer.
var words = strings.Fields(`harbour boat sound baker window smell bread street school bridge railway station letter winter coin price apple map
copper wire book engineer river morning seven depth speed colour number folder flood water glass light bee home iron train planet whale castle
engine teacher fraction verb volcano kingdom music gravity paper rice bean soup fish noodle radio chair garden tomorrow weather doctor farmer a`)

// tokenizerDir makes a folder with a small WordPiece tokenizer.
func tokenizerDir(t *testing.T) string {
	t.Helper()
	vocab := map[string]int{"[UNK]": 0}
	for _, w := range words {
		vocab[w] = len(vocab)
	}
	spec := map[string]any{"version": "1.0", "added_tokens": []any{map[string]any{"id": 0, "content": "[UNK]", "special": true}},
		"pre_tokenizer": map[string]any{"type": "Whitespace"},
		"decoder":       map[string]any{"type": "WordPiece", "prefix": "##", "cleanup": false},
		"model":         map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab}}
	b, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// recorder is a service that keeps what it is sent.
type recorder struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  []string // of the workload's requests, in the order of arrival
	headers []http.Header
	other   []string // paths of everything else that was POSTed
	answer  func(n int, w http.ResponseWriter, r *http.Request) bool
	letters bool // /tokenize and /detokenize are there; a token is a letter
	live    int
	peak    int
	hi      int // readiness checks and probes
}

func record(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request) bool) *recorder {
	rec := &recorder{answer: answer}
	rec.Server = httptest.NewServer(rec)
	t.Cleanup(rec.Close)
	return rec
}

func (rec *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, `{"object":"list","data":[{"id":"served","root":"/weights/served","object":"model"}]}`)
		return
	}
	b, _ := io.ReadAll(r.Body)
	if strings.HasSuffix(r.URL.Path, "tokenize") {
		rec.tokenizer(w, r.URL.Path, b)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/rerank") || strings.HasSuffix(r.URL.Path, "/embeddings") {
		if !strings.Contains(string(b), `"Hi"`) {
			rec.mu.Lock()
			rec.bodies = append(rec.bodies, r.URL.Path+" "+string(b))
			rec.mu.Unlock()
		}
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, `{"object":"list","data":[{"embedding":[0.5]}],"results":[{"index":0,"relevance_score":0.5}],"usage":{"prompt_tokens":7,"total_tokens":7}}`)
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/completions") {
		if r.Method == http.MethodPost {
			rec.mu.Lock()
			rec.other = append(rec.other, r.URL.Path)
			rec.mu.Unlock()
		}
		return
	}
	n := -1
	if !strings.Contains(string(b), "Hi") { // the readiness check and probes say that
		rec.mu.Lock()
		n = len(rec.bodies)
		rec.bodies, rec.headers = append(rec.bodies, r.URL.Path+" "+string(b)), append(rec.headers, r.Header.Clone())
		rec.live++
		rec.peak = max(rec.peak, rec.live)
		rec.mu.Unlock()
		defer func() {
			rec.mu.Lock()
			rec.live--
			rec.mu.Unlock()
		}()
		if rec.answer != nil && rec.answer(n, w, r) {
			return
		}
	} else {
		rec.mu.Lock()
		rec.hi++
		rec.mu.Unlock()
	}
	if !strings.Contains(string(b), `"stream":true`) {
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, `{"choices":[{"text":"a b","message":{"content":"a b"},"finish_reason":"length"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`)
		return
	}
	w.Header().Set("content-type", "text/event-stream")
	for _, word := range []string{"a", " b"} {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"text\":%q,\"delta\":{\"content\":%q}}]}\n\n", word, word)
	}
	io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"delta\":{},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n")
}

func (rec *recorder) tokenizer(w http.ResponseWriter, path string, body []byte) {
	if !rec.letters {
		http.NotFound(w, nil)
		return
	}
	var in struct {
		Prompt string
		Tokens []int
	}
	_ = json.Unmarshal(body, &in)
	w.Header().Set("content-type", "application/json")
	if strings.HasSuffix(path, "/detokenize") {
		text := ""
		for _, id := range in.Tokens {
			text += string(rune(id))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"prompt": text})
		return
	}
	ids := []int{}
	for _, r := range in.Prompt {
		ids = append(ids, int(r))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"tokens": ids, "count": len(ids)})
}

func (rec *recorder) sent() []string {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return slices.Clone(rec.bodies)
}

// options are those of a small run, one request after the other.
func options(t *testing.T, rec *recorder, dataset string) Options {
	cfg := workloads.Defaults(dataset)
	cfg.NumPrompts = 5
	if cfg.InputLen > 0 {
		cfg.InputLen, cfg.OutputLen = 12, 2
	}
	return Options{Backend: "openai", BaseURL: rec.URL, Stream: true, Tokenizer: tokenizerDir(t), Dataset: dataset, Workload: cfg, MaxConcurrency: 1,
		WorkDir: t.TempDir(), Seed: 7}
}

func run(t *testing.T, o Options) (*Session, *tasks.Outcome) {
	t.Helper()
	s, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e := out.Tasks[0].Err; e != nil {
		t.Fatal(e)
	}
	return s, out
}

func TestRequestBodies(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-test-0123456789")
	rec := record(t, nil)
	o := options(t, rec, "random")
	o.Backend, o.BaseURL, o.APIKey = "openai-chat", rec.URL+"/api", "${OPENAI_API_KEY}"
	o.Body = map[string]any{"temperature": 0.0, "top_k": 5}
	o.Headers = map[string]string{"X-Team": "search"}
	o.RequestIDPrefix, o.NumWarmups = "night-", 2
	o.LoRAModules, o.LoRAAssignment = []string{"red", "blue"}, "round-robin"
	s, out := run(t, o)
	sent := rec.sent()
	if len(sent) != 7 {
		t.Fatalf("%d requests, want 2 warm-ups and 5", len(sent))
	}
	measured := map[string]bool{}
	for i, line := range sent[2:] {
		path, text, _ := strings.Cut(line, " ")
		var body struct {
			Model       string
			IgnoreEOS   bool `json:"ignore_eos"`
			Temperature *float64
			TopK        int `json:"top_k"`
			MaxTokens   int `json:"max_tokens"`
			Messages    []struct{ Role, Content string }
		}
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		if path != "/api/v1/chat/completions" || body.Model != o.LoRAModules[i%2] || !body.IgnoreEOS || body.Temperature == nil || *body.Temperature != 0 || body.TopK != 5 || body.MaxTokens != 2 {
			t.Errorf("request %d: %s", i, line)
		}
		if len(body.Messages) != 1 || len(strings.Fields(body.Messages[0].Content)) != 12 {
			t.Errorf("request %d: %v", i, body.Messages)
		}
		measured[body.Messages[0].Content] = true
		h := rec.headers[i+2]
		if h.Get("X-Request-Id") != fmt.Sprintf("night-%d", i) || h.Get("X-Team") != "search" || h.Get("Authorization") != "Bearer sk-test-0123456789" {
			t.Errorf("request %d: headers %v", i, h)
		}
	}
	for _, line := range sent[:2] {
		for prompt := range measured {
			if strings.Contains(line, `"content":"`+prompt) {
				t.Errorf("a warm-up is a copy of a measured request: %s", line)
			}
		}
	}
	if s.Service.Model != "served" || s.ModelID != "/weights/served" {
		t.Errorf("model %q, id %q", s.Service.Model, s.ModelID)
	}
	m, err := out.Run.ReadManifest()
	if err != nil || m.State != outputs.StateDone || m.Workload["benchmark"] == nil {
		t.Errorf("manifest %+v, %v", m, err)
	}
	err = filepath.WalkDir(out.Run.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), "sk-test-0123456789") {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLatencyRounds: a batch starts only when the one before has ended.
func TestLatencyRounds(t *testing.T) {
	var mu sync.Mutex
	ended, bad := 0, ""
	rec := record(t, func(n int, w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if n/3*3 > ended {
			bad = fmt.Sprintf("request %d started when %d had ended", n, ended)
		}
		if n == 4 {
			http.Error(w, "out of memory", http.StatusInternalServerError)
		}
		ended++
		return n == 4
	})
	o := options(t, rec, "random")
	o.Workload.NumPrompts, o.Batch, o.MaxConcurrency, o.Stream = 9, 3, 0, false
	s, out := run(t, o)
	if bad != "" || rec.peak > 3 {
		t.Errorf("%s; %d at once", bad, rec.peak)
	}
	round := s.Round()
	rounds := map[int][2]int{} // records, failures
	model, dataset := s.Pair(out)
	err := outputs.EachMeasured(out.Run.Records(model, dataset), func(r *outputs.Record) {
		c := rounds[round(r)]
		if c[0]++; !r.OK() {
			c[1]++
		}
		rounds[round(r)] = c
	})
	if want := map[int][2]int{0: {3, 0}, 1: {3, 1}, 2: {3, 0}}; err != nil || !maps.Equal(rounds, want) {
		t.Errorf("rounds %v, want %v (%v)", rounds, want, err)
	}
}

func TestRealisedLengths(t *testing.T) {
	rec := record(t, func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n != 2 {
			return false
		}
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, `{"choices":[{"text":"a","finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":1}}`)
		return true
	})
	o := options(t, rec, "random")
	o.Model, o.AnyModel, o.Stream = "/some/folder", true, false
	s, out := run(t, o)
	if s.Service.Model != "served" || len(s.Notes) == 0 || !strings.Contains(s.Notes[0], "serves served, not /some/folder") {
		t.Errorf("model %q, notes %q", s.Service.Model, s.Notes)
	}
	if n := s.Uncounted(out); n != 0 {
		t.Errorf("%d answers without counts", n)
	}
	c, err := s.Lengths(out)
	if err != nil || c.StoppedEarly != 1 || c.OutputBoth != 5 || c.InputMismatch != 5 {
		t.Errorf("%+v, %v", c, err)
	}
	notes := strings.Join(s.LengthTable(c).Notes, "\n")
	if !strings.Contains(notes, "stopped early: 1 of 5") || !strings.Contains(notes, "5 of 5 prompts") {
		t.Errorf("notes %q", notes)
	}
}

func TestProbeProfileAndFlush(t *testing.T) {
	var rec *recorder
	rec = record(t, func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n > 0 {
			return false
		}
		// The first answer waits until a probe has been answered: the next one comes after that.
		began := -1
		for {
			rec.mu.Lock()
			hi := rec.hi
			rec.mu.Unlock()
			if began < 0 {
				began = hi
			}
			if hi >= began+2 {
				return false
			}
			select {
			case <-r.Context().Done():
				return true
			case <-time.After(time.Millisecond):
			}
		}
	})
	o := options(t, rec, "random")
	o.ProbeRate, o.Profile, o.FlushCache, o.RequestRate = 1000, true, true, 50
	s, out := run(t, o)
	if want := []string{"/reset_prefix_cache", "/start_profile", "/stop_profile"}; !slices.Equal(rec.other, want) {
		t.Errorf("commands %v, want %v", rec.other, want)
	}
	p := s.Probe()
	if p == nil || p.Completed < 1 || p.Failed != 0 || p.MedianE2EL == nil || *p.MaxE2EL < *p.MedianE2EL {
		t.Errorf("probe %+v", p)
	}
	n := 0
	if err := outputs.EachMeasured(out.Run.Records(s.Service.Abbr, ProbeDataset), func(r *outputs.Record) { n++ }); err != nil || n != p.Completed {
		t.Errorf("%d probe records, want %d (%v)", n, p.Completed, err)
	}
	model, dataset := s.Pair(out)
	n = 0
	if err := outputs.EachMeasured(out.Run.Records(model, dataset), func(*outputs.Record) { n++ }); err != nil || n != 5 {
		t.Errorf("%d measured records, want 5: probes are no part of them (%v)", n, err)
	}
}

// TestCommandsReachTheServerAsRequestsDo: behind TLS of an authority of one's own, a
// key and a header with a dollar sign; and a cache that cannot be emptied ends the
// run before anything is measured.
func TestCommandsReachTheServerAsRequestsDo(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-test-0123456789")
	t.Setenv("TEAM", "search")
	rec := record(t, nil)
	var mu sync.Mutex
	var headers []http.Header
	refuse := false
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/reset_prefix_cache", "/flush_cache", "/start_profile", "/stop_profile":
			mu.Lock()
			headers = append(headers, r.Header.Clone())
			mu.Unlock()
			if refuse {
				http.NotFound(w, r)
				return
			}
		}
		rec.ServeHTTP(w, r)
	}))
	defer srv.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(t, rec, "random")
	o.BaseURL, o.CAFile, o.APIKey = srv.URL, ca, "${OPENAI_API_KEY}"
	o.Headers = map[string]string{"X-Team": "${TEAM}", "X-Price": "5$each"}
	o.Profile, o.FlushCache = true, true
	s, _ := run(t, o)
	if want := []string{"/reset_prefix_cache", "/start_profile", "/stop_profile"}; !slices.Equal(rec.other, want) {
		t.Errorf("commands %v, want %v; notes %q", rec.other, want, s.Notes)
	}
	for i, h := range headers {
		if h.Get("Authorization") != "Bearer sk-test-0123456789" || h.Get("X-Team") != "search" || h.Get("X-Price") != "5$each" {
			t.Errorf("command %d: headers %v", i, h)
		}
	}

	refuse = true
	before := len(rec.sent())
	if s, err := Prepare(t.Context(), o); err != nil {
		t.Error(err)
	} else if out, err := s.Run(t.Context()); err != nil {
		t.Error(err)
	} else {
		var env *tasks.EnvironmentError
		if e := out.Tasks[0].Err; !errors.As(e, &env) || !strings.Contains(e.Error(), "--flush-cache") || !strings.Contains(e.Error(), "404") {
			t.Errorf("a cache that cannot be emptied: %v", e)
		}
	}
	if n := len(rec.sent()) - before; n != 0 {
		t.Errorf("%d requests were measured all the same", n)
	}
}

func TestRateChanges(t *testing.T) {
	rec := record(t, nil)
	o := options(t, rec, "random")
	o.Workload.NumPrompts, o.MaxConcurrency, o.RampUp, o.RampStart, o.RampEnd = 9, 0, "linear", 100, 104
	s, out := run(t, o)
	events, err := s.RateChanges(out)
	var got []int
	for _, e := range events {
		got = append(got, e.RPS)
	}
	if err != nil || !slices.Equal(got, []int{100, 101, 102, 103, 104}) {
		t.Errorf("%v, %v", events, err)
	}
}

func TestPrepareRefuses(t *testing.T) {
	rec := record(t, nil)
	for want, change := range map[string]func(*Options){
		"neither a workload":            func(o *Options) { o.Dataset = "rondom" },
		"images":                        func(o *Options) { o.Dataset = "random-mm" },
		"does not exist":                func(o *Options) { o.Tokenizer = "/no/such/folder" },
		"has no time stamps":            func(o *Options) { o.SelfTimed = Yes },
		"does not go with":              func(o *Options) { o.Endpoint = "/v1/chat/completions" },
		"sends token ids":               func(o *Options) { o.Backend, o.Dataset = "openai-chat", "random-ids" },
		"go with embeddings and rerank": func(o *Options) { o.Workload.BatchSize = 4 },
		"needs a tokenizer":             func(o *Options) { o.TokenizerMode = "none" },
	} {
		o := options(t, rec, "random")
		change(&o)
		if _, err := Prepare(context.Background(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if n := len(rec.sent()); n != 0 {
		t.Errorf("%d requests were sent by runs that could not start", n)
	}
}

// TestGroupedSamples: the records of a workload with groups are found again by all
// that asks for them. The server reports no usage, so that the lengths of the
// prompts are those the workload measured.
func TestGroupedSamples(t *testing.T) {
	rec := record(t, func(_ int, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, `{"choices":[{"text":"a b","message":{"content":"a b"},"finish_reason":"length"}]}`)
		return true
	})
	for _, dataset := range []string{"prefix_repetition", "generated_shared_prefix"} {
		o := options(t, rec, dataset)
		o.Stream, o.Batch, o.MaxConcurrency = false, 2, 0
		c := &o.Workload
		c.NumPrompts, c.OutputLen = 6, 2
		c.NumPrefixes, c.PrefixLen, c.SuffixLen = 3, 8, 4
		c.NumGroups, c.PromptsPerGroup, c.SystemPromptLen, c.QuestionLen = 3, 2, 8, 4
		s, out := run(t, o)
		if len(s.Set.Samples) != 6 || s.Set.Samples[0].Subset == "" {
			t.Fatalf("%s: %d samples, the first of group %q", dataset, len(s.Set.Samples), s.Set.Samples[0].Subset)
		}
		want := 0
		for i := range s.Set.Samples {
			want += s.Set.Samples[i].Fields[workloads.FieldInputLen].(int)
		}
		got, n := 0, 0
		order, round := s.Order(), s.Round()
		places, rounds := map[int]int{}, map[int]int{}
		if err := outputs.EachMeasured(s.Records(out), func(r *outputs.Record) {
			got, n = got+int(r.InputTokens), n+1
			places[order(r)]++
			rounds[round(r)]++
		}); err != nil {
			t.Fatal(err)
		}
		if n != 6 || got != want || want < 6*12 {
			t.Errorf("%s: %d input tokens in %d records, want %d in 6", dataset, got, n, want)
		}
		if !maps.Equal(places, map[int]int{0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 1}) || !maps.Equal(rounds, map[int]int{0: 2, 1: 2, 2: 2}) {
			t.Errorf("%s: places %v, rounds %v", dataset, places, rounds)
		}
		if n := s.Sequences(out); n != 6 {
			t.Errorf("%s: %d sequences", dataset, n)
		}
		if l, err := s.Lengths(out); err != nil || l.Requests != 6 {
			t.Errorf("%s: %+v, %v", dataset, l, err)
		}
	}
}

// TestUnmeasuredBatches: warm-ups of requests whose prompts are parameters are no
// copies of the measured ones either.
func TestUnmeasuredBatches(t *testing.T) {
	for backend, dataset := range map[string]string{"openai-embeddings": "random", "vllm-rerank": "random_rerank"} {
		rec := record(t, nil)
		o := options(t, rec, dataset)
		o.Backend, o.Stream, o.NumWarmups = backend, false, 1
		o.Workload.NumPrompts, o.Workload.BatchSize = 4, 2
		run(t, o)
		sent := rec.sent()
		type texts struct {
			Input, Documents []string
			Query            string
		}
		all := make([]texts, len(sent))
		measured := map[string]bool{}
		for i, line := range sent {
			_, body, _ := strings.Cut(line, " ")
			if err := json.Unmarshal([]byte(body), &all[i]); err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				for _, text := range append(append(all[i].Input, all[i].Documents...), all[i].Query) {
					measured[text] = true
				}
			}
		}
		warm := append(all[0].Input, all[0].Documents...)
		if backend == "vllm-rerank" {
			warm = append(warm, all[0].Query)
		}
		if len(sent) < 3 || len(warm) < 2 {
			t.Fatalf("%s: %d requests, the warm-up of %d texts", backend, len(sent), len(warm))
		}
		for _, text := range warm {
			if measured[text] || !strings.HasPrefix(text, "Not measured, ") {
				t.Errorf("%s: a text of the warm-up is that of a measured request: %q", backend, text)
			}
		}
	}
}
