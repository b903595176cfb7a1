package check

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ais_bench/models/simulator"
)

func TestModelNames(t *testing.T) {
	url := simulate(t, simulator.Config{ServedModelNames: []string{"Qwen/Qwen3-8B", "lora-a"}})
	cfg := config(url)
	expect(t, check(t, quiet(cfg)), "model", OK, "", "Qwen/Qwen3-8B, the first of the list", "also lora-a")
	cfg.Model = "lora-a"
	expect(t, check(t, quiet(cfg)), "model", OK, "", "lora-a is served")
	cfg.Model = "qwen3-8b"
	r := check(t, quiet(cfg))
	expect(t, r, "model", Fail, CauseWrongModel, `"qwen3-8b" is not served`, "--model Qwen/Qwen3-8B")
	expect(t, r, "chat", Skip, "", "model failed")
	cfg.Model = "lora-b"
	expect(t, check(t, quiet(cfg)), "model", Fail, CauseWrongModel, "--model lora-a")

	any := page(t, 200, "Content-Type: application/json", `{"data":[{"id":"other"}],"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)
	cfg = config(any)
	cfg.Model = "mine"
	expect(t, check(t, quiet(cfg)), "model", Warn, CauseWrongModel, "answered all the same")
	expect(t, check(t, quiet(config(page(t, 200, "Content-Type: application/json", `{"data":[]}`)))), "model", Fail, CauseNoModel, "--model")
}

func TestFaultsOfAnswers(t *testing.T) {
	for fault, tc := range map[string]struct {
		cause string
		words []string
	}{
		"reset":      {CauseClosed, []string{"connection reset"}},
		"hang":       {CauseSilent, []string{"--step-timeout"}},
		"close":      {CauseTruncated, []string{"breaks off"}},
		"error":      {CauseServerReports, []string{"engine failure"}},
		"429":        {CauseRateLimited, []string{"rate limit exceeded", "--request-rate"}},
		"500":        {CauseServerError, []string{"internal server error", "log"}},
		"503":        {CauseLoading, []string{"overloaded", "--ready-timeout"}},
		"html":       {CauseHTML, []string{"log-in page"}},
		"malformed":  {CauseBroken, []string{"broken JSON"}},
		"empty":      {CauseEmpty, []string{"without any text"}},
		"duplicate":  {CauseDuplicate, []string{"more chunks with text than tokens"}},
		"slow-loris": {CauseSilent, []string{"--step-timeout"}},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			f, err := simulator.ParseFault(fault)
			if err != nil {
				t.Fatal(err)
			}
			o := quiet(config(simulate(t, simulator.Config{Faults: []simulator.Fault{f}})))
			if tc.cause == CauseSilent {
				o.StepTimeout = 2 * time.Second // for the list of models, which comes at once, and for what never comes
			}
			r := check(t, o)
			status := Fail
			if fault == "duplicate" {
				status = Warn
			}
			expect(t, r, "chat-stream", status, tc.cause, tc.words...)
			if l := line(r, "completions"); l.Status != Warn {
				t.Errorf("a form that the run does not use: %s, want warn", l.Status)
			}
		})
	}
}

// engine answers like a server whose promises can be broken one by one.
type engine struct {
	noUsage, noStreamUsage, ignoresLimit, ignoresEOS, refusesEOS, noStream, refusesStreamOptions, noCompletions bool
	buffered                                                                                                    time.Duration
	extraPrompt                                                                                                 int // tokens added to usage of streams
}

func (e engine) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch req.URL.Path {
	case "/v1/models":
		_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
		return
	case "/v1/chat/completions":
	case "/v1/completions":
		if e.noCompletions {
			http.NotFound(w, req)
			return
		}
	default:
		http.NotFound(w, req)
		return
	}
	var q struct {
		MaxTokens     int   `json:"max_tokens"`
		Stream        bool  `json:"stream"`
		IgnoreEOS     *bool `json:"ignore_eos"`
		StreamOptions any   `json:"stream_options"`
		Messages      []struct{ Content string }
	}
	_ = json.NewDecoder(req.Body).Decode(&q)
	refuse := func(msg string) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, msg)
	}
	if e.refusesEOS && q.IgnoreEOS != nil {
		refuse("Unrecognized request argument: ignore_eos")
		return
	}
	if e.refusesStreamOptions && q.StreamOptions != nil {
		refuse("stream_options is not supported")
		return
	}
	n, reason := q.MaxTokens, "length"
	if len(q.Messages) > 0 && strings.Contains(q.Messages[0].Content, "single word") && (q.IgnoreEOS == nil || !*q.IgnoreEOS || e.ignoresEOS) {
		n, reason = 2, "stop"
	}
	if e.ignoresLimit {
		n, reason = 90, "stop"
	}
	usage := func(prompt int) string {
		return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d}`, prompt, n)
	}
	if !q.Stream || e.noStream {
		u := usage(9)
		if e.noUsage {
			u = "null"
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"content":"a b"},"text":"a b","finish_reason":%q}],"usage":%s}`, reason, u)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	time.Sleep(e.buffered)
	var b strings.Builder
	for range n {
		b.WriteString("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"text\":\"a\"}]}\n\n")
	}
	fmt.Fprintf(&b, "data: {\"choices\":[{\"delta\":{},\"text\":\"\",\"finish_reason\":%q}]}\n\n", reason)
	if !e.noUsage && !e.noStreamUsage {
		fmt.Fprintf(&b, "data: {\"choices\":[],\"usage\":%s}\n\n", usage(9+e.extraPrompt))
	}
	b.WriteString("data: [DONE]\n\n")
	_, _ = io.WriteString(w, b.String())
}

func TestPromises(t *testing.T) {
	for name, tc := range map[string]struct {
		engine engine
		check  string
		status Status
		cause  string
		words  []string
	}{
		"keeps them: limit":      {engine{}, "max-tokens", OK, "", []string{"16 tokens as asked"}},
		"keeps them: ignore_eos": {engine{}, "ignore-eos", OK, "", []string{"48 of 48 tokens with it, 2 without"}},
		"no usage":               {engine{noUsage: true}, "usage", Warn, CauseNoUsage, []string{"neither", "--tokenizer"}},
		"no usage: limit":        {engine{noUsage: true}, "max-tokens", Warn, CauseUndecided, []string{"not counted"}},
		"no usage: eos":          {engine{noUsage: true}, "ignore-eos", Warn, CauseUndecided, []string{"not counted"}},
		"no usage in streams":    {engine{noStreamUsage: true}, "usage", Warn, CauseNoUsage, []string{"streams do not"}},
		"usage differs":          {engine{extraPrompt: 5}, "usage", Warn, CauseUsageDiffers, []string{"14 tokens streamed and 9 not"}},
		"limit ignored":          {engine{ignoresLimit: true}, "max-tokens", Fail, CauseLimitIgnored, []string{"asked for at most 16 tokens, got 90"}},
		"eos not ignored":        {engine{ignoresEOS: true}, "ignore-eos", Warn, CauseEOSNotIgnored, []string{"2 of 48"}},
		"ignore_eos refused":     {engine{refusesEOS: true}, "ignore-eos", Warn, CauseEOSNotIgnored, []string{"Unrecognized request argument", "--disable-ignore-eos"}},
		"not streamed":           {engine{noStream: true}, "chat-stream", Warn, CauseNotStreamed, []string{"came as a whole"}},
		"stream_options refused": {engine{refusesStreamOptions: true}, "chat-stream", Warn, CauseQuirk, []string{"stream_options"}},
		"buffered":               {engine{buffered: 250 * time.Millisecond}, "chat-stream", Warn, CauseBuffered, []string{"proxy_buffering off"}},
		"chat alone":             {engine{noCompletions: true}, "completions", Warn, CauseNotOffered, []string{"no such endpoint"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(tc.engine)
			defer srv.Close()
			o := quiet(config(srv.URL))
			if tc.engine.buffered > 0 {
				o.noticeable = 0 // as users have it
			}
			expect(t, check(t, o), tc.check, tc.status, tc.cause, tc.words...)
		})
	}
}

// words is a tokenizer of whole words, with a chat template that adds two tokens.
const words = `{"version":"1.0","added_tokens":[{"id":0,"content":"[UNK]","special":true}],"pre_tokenizer":{"type":"WhitespaceSplit"},` +
	`"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{"[UNK]":0,"The":1,"quick":2,"brown":3,"user":4,"assistant":5}}}`

func TestTokenizers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("tokenizer.json", words)
	write("tokenizer_config.json", `{"chat_template":"{% for m in messages %}{{ m.role }} {{ m.content }} {% endfor %}{% if add_generation_prompt %}assistant{% endif %}"}`)
	n := len(strings.Fields(sample))
	ids := make([]string, n)
	for i, w := range strings.Fields(sample) {
		ids[i] = fmt.Sprint(map[string]int{"The": 1, "quick": 2, "brown": 3}[w])
	}
	same := "[" + strings.Join(ids, ",") + "]"
	serve := func(tokens string, usage int) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch {
			case req.URL.Path == "/tokenize" && tokens != "":
				fmt.Fprintf(w, `{"tokens":%s}`, tokens)
			case req.URL.Path == "/v1/models":
				_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
			case strings.HasSuffix(req.URL.Path, "completions"):
				u := fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":1}`, usage)
				if usage == 0 {
					u = ""
				}
				fmt.Fprintf(w, `{"choices":[{"message":{"content":"a"},"text":"a","finish_reason":"stop"}]%s}`, u)
			default:
				http.NotFound(w, req)
			}
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	for name, tc := range map[string]struct {
		tokens, local string
		usage         int
		status        Status
		cause         string
		words         []string
	}{
		"all agree":              {same, dir, n + 2, OK, "", []string{fmt.Sprintf("the same %d tokens", n), fmt.Sprintf("usage counts %d prompt tokens, exactly", n+2), "adds 2"}},
		"another tokenizer":      {"[1,2,4,0]", dir, n + 2, Warn, CauseTokensDiffer, []string{"first difference at token 2", "--tokenizer DIR"}},
		"another template":       {same, dir, n + 30, Warn, CauseTokensDiffer, []string{fmt.Sprintf("usage counts %d", n+30), fmt.Sprintf("gives %d", n+2)}},
		"server alone":           {same, "", n + 7, OK, "", []string{"/tokenize and 7 that the chat template adds"}},
		"usage below the text":   {same, "", n - 1, Warn, CauseTokensDiffer, []string{"fewer than"}},
		"local without usage":    {"", dir, 0, Skip, "", []string{"no usage"}},
		"tokenizers alone":       {same, dir, 0, OK, "", []string{"the same", "no usage"}},
		"usage alone":            {"", "", 12, Skip, "", []string{"no local tokenizer"}},
		"nothing":                {"", "", 0, Skip, "", []string{"nothing to compare"}},
		"folder that is missing": {same, dir + "/none", n + 2, Fail, CauseNoTokenizer, []string{"tokenizer.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := quiet(config(serve(tc.tokens, tc.usage)))
			o.Tokenizer = tc.local
			expect(t, check(t, o), "tokenizer", tc.status, tc.cause, tc.words...)
		})
	}
	// A completions endpoint gets the text without a template.
	cfg := config(serve(same, n))
	cfg.Type = "openai_completions"
	o := quiet(cfg)
	o.Tokenizer = dir
	expect(t, check(t, o), "tokenizer", OK, "", fmt.Sprintf("usage counts %d prompt tokens, exactly", n))
}

func TestOtherProtocols(t *testing.T) {
	url := simulate(t, simulator.Config{Flavor: "sglang"})
	for typ, want := range map[string]Status{"sglang_generate": OK, "tgi_generate_stream": OK, "openai_embeddings": Skip, "openai_rerank": Skip} {
		cfg := config(url)
		cfg.Type = typ
		r := check(t, quiet(cfg))
		expect(t, r, "request", OK, "")
		if l := line(r, "max-tokens"); l.Status != want {
			t.Errorf("%s: max-tokens %s, want %s: %s", typ, l.Status, want, l.Found)
		}
		if len(r.Failed()) > 0 {
			t.Errorf("%s: %v failed", typ, r.Failed())
		}
	}
}

func TestMachine(t *testing.T) {
	o := quiet(config(simulate(t, simulator.Config{})))
	o.Concurrency, o.FileLimit = 2000, func() (uint64, uint64, error) { return 1024, 4096, nil }
	expect(t, check(t, o), "files", Fail, CauseFewFiles, "1024 open files allowed, 2064 needed", "ulimit -n 2064", "hard limit is 4096")

	late := page(t, 200, "Content-Type: application/json|Date: Mon, 02 Jan 2006 15:04:05 GMT", `{"data":[{"id":"m"}]}`)
	r := check(t, quiet(config(late)))
	if l := line(r, "clock"); !strings.Contains(l.Found, "behind") {
		t.Errorf("clock: %s", l.Found)
	}
	mute := httptest.NewServer(engine{})
	defer mute.Close()
	expect(t, check(t, quiet(config(mute.URL))), "server", Warn, CauseServerAnonymous, "--server-meta")
}

func TestUnusable(t *testing.T) {
	for _, url := range []string{"", "ftp://host", "http://"} {
		if _, err := Run(t.Context(), quiet(config(url))); err == nil {
			t.Errorf("%q was accepted", url)
		}
	}
}

func TestAnswersThatContradictThemselves(t *testing.T) {
	for name, tc := range map[string]struct {
		answer, cause string
		check         string
		words         []string
	}{
		"sum":           {`"model":"m","usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":999}`, CauseUsageContradicts, "usage", []string{"total_tokens 999", "are 8"}},
		"reasoning":     {`"model":"m","usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"completion_tokens_details":{"reasoning_tokens":50}}`, CauseUsageContradicts, "usage", []string{"reasoning_tokens 50"}},
		"beyond counts": {`"model":"m","usage":{"prompt_tokens":99999999999999999999999,"completion_tokens":3}`, CauseUsageImpossible, "usage", []string{"prompt_tokens 99999999999999999999999"}},
		"nan":           {`"model":"m","usage":{"prompt_tokens":NaN,"completion_tokens":3}`, CauseUsageImpossible, "usage", []string{"prompt_tokens NaN"}},
		"other model":   {`"model":"x","usage":{"prompt_tokens":5,"completion_tokens":3}`, CauseOtherModel, "model", []string{"names model x where m was asked"}},
		"right":         {`"model":"m","usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}`, "", "usage", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if req.Method == http.MethodGet {
					_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
					return
				}
				var q struct{ Stream bool }
				_ = json.NewDecoder(req.Body).Decode(&q)
				const choice = `"choices":[{"message":{"content":"a"},"delta":{"content":"a"},"text":"a","finish_reason":"stop"}]`
				if !q.Stream {
					fmt.Fprintf(w, "{%s,%s}", choice, tc.answer)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprintf(w, "data: {%s}\n\ndata: {\"choices\":[],%s}\n\ndata: [DONE]\n\n", choice, tc.answer)
			}))
			defer srv.Close()
			report := check(t, quiet(config(srv.URL)))
			found := false
			for _, l := range report.Lines {
				found = found || l.Check == tc.check && l.Cause == tc.cause && (tc.cause == "") == (l.Status == OK)
				if l.Check != tc.check || l.Cause != tc.cause {
					continue
				}
				for _, w := range tc.words {
					if !strings.Contains(l.Found, w) {
						t.Errorf("no %q in %q", w, l.Found)
					}
				}
			}
			if !found {
				t.Errorf("no such line: %+v", report.Lines)
			}
		})
	}
	several := said{}
	several.read([]byte(`{"model":"m"}`))
	several.read([]byte(`{"model":"n"}`))
	if got := several.wrongName("m"); got != "one answer names several models: m, n" {
		t.Error(got)
	}
}

// Metrics that are there and cannot be used are not missing.
func TestUnusableMetricsAreTold(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/metrics" {
			_, _ = io.WriteString(w, "vllm:num_requests_running 1\nvllm:num_requests_running 2\n")
			return
		}
		engine{}.ServeHTTP(w, req)
	}))
	defer srv.Close()
	expect(t, check(t, quiet(config(srv.URL))), "server", Warn, CauseServerAnonymous, "no usable /metrics: it gives the series vllm:num_requests_running several times")
}
