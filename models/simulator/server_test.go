package simulator

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fastConfig makes an engine whose time hardly passes, so that tests do not wait.
func fastConfig() Config { return Config{Preset: "instant", TimeScale: 0.1} }

func start(t testing.TB, cfg Config) (*Server, string) {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	url, err := s.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, url
}

// post sends a body and returns status and answer; a transport error comes as status 0.
func post(t testing.TB, url, body string, header ...string) (int, http.Header, string, error) {
	t.Helper()
	req, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Timeout: 2 * time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b), err
}

type chatReply struct {
	Choices []struct {
		Index   int
		Text    string
		Message struct {
			Content          *string
			ReasoningContent string `json:"reasoning_content"`
			ToolCalls        []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Delta struct {
			Role, Content, Reasoning string
			ReasoningContent         string `json:"reasoning_content"`
			ToolCalls                []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		FinishReason   *string                                `json:"finish_reason"`
		StopReason     *string                                `json:"stop_reason"`
		PromptLogprobs []map[string]struct{ Logprob float64 } `json:"prompt_logprobs"`
		Logprobs       *struct {
			Tokens        []string
			TokenLogprobs []*float64 `json:"token_logprobs"`
		}
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Completed struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	Error *struct {
		Message, Type string
		Code          int
	}
}

func decode(t testing.TB, s string) (r chatReply) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &r); err != nil {
		t.Fatalf("not JSON: %v: %.200s", err, s)
	}
	return r
}

// events splits an SSE body; comments are dropped.
func events(t testing.TB, body string) (out []string) {
	t.Helper()
	sc := bufio.NewScanner(strings.NewReader(body))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if data, ok := strings.CutPrefix(sc.Text(), "data:"); ok {
			out = append(out, strings.TrimPrefix(data, " "))
		}
	}
	return out
}

// streamed is a chat stream put together again.
type streamed struct {
	content, reasoning, arguments, tool, finish string
	payloads, usages                            int
	roleFirst, done                             bool
	last                                        chatReply
}

func readStream(t testing.TB, body string) (s streamed) {
	t.Helper()
	for i, e := range events(t, body) {
		if e == "[DONE]" {
			s.done = true
			continue
		}
		r := decode(t, e)
		if r.Usage != nil {
			s.usages++
			s.last = r
		}
		for _, c := range r.Choices {
			if i == 0 && c.Delta.Role == "assistant" && c.Delta.Content == "" {
				s.roleFirst = true
			}
			text := c.Delta.Content + c.Text
			reasoning := c.Delta.ReasoningContent + c.Delta.Reasoning
			s.content += text
			s.reasoning += reasoning
			for _, tc := range c.Delta.ToolCalls {
				s.tool += tc.Function.Name
				s.arguments += tc.Function.Arguments
			}
			if text != "" || reasoning != "" || len(c.Delta.ToolCalls) > 0 {
				s.payloads++
			}
			if c.FinishReason != nil {
				s.finish = *c.FinishReason
			}
		}
	}
	return s
}

func TestStreamAndWholeAnswerAgree(t *testing.T) {
	_, url := start(t, fastConfig())
	const request = `{"messages":[{"role":"user","content":"Tell me about \"rivers\" & Flüsse."}],"max_tokens":40,"ignore_eos":true%s}`
	_, _, whole, err := post(t, url+"/v1/chat/completions", fmt.Sprintf(request, ""))
	if err != nil {
		t.Fatal(err)
	}
	_, _, body, err := post(t, url+"/v1/chat/completions", fmt.Sprintf(request, `,"stream":true,"stream_options":{"include_usage":true}`))
	if err != nil {
		t.Fatal(err)
	}
	w, s := decode(t, whole), readStream(t, body)
	if s.content != *w.Choices[0].Message.Content || s.content == "" {
		t.Errorf("stream says %q, whole answer %q", s.content, *w.Choices[0].Message.Content)
	}
	if !s.roleFirst || !s.done || s.payloads != 40 || s.finish != "length" || s.usages != 1 {
		t.Errorf("stream has roleFirst %v done %v payloads %d finish %q usages %d", s.roleFirst, s.done, s.payloads, s.finish, s.usages)
	}
	if n := countTokens(s.content); n != 40 || s.last.Usage.Completion != 40 || w.Usage.Completion != 40 {
		t.Errorf("40 tokens asked: text has %d, usage %d and %d", n, s.last.Usage.Completion, w.Usage.Completion)
	}
	_, _, tok, _ := post(t, url+"/tokenize", `{"messages":[{"role":"user","content":"Tell me about \"rivers\" & Flüsse."}]}`)
	var count struct{ Count int }
	if json.Unmarshal([]byte(tok), &count); count.Count != w.Usage.Prompt {
		t.Errorf("/tokenize counts %d, usage %d", count.Count, w.Usage.Prompt)
	}
}

func TestRequestOptions(t *testing.T) {
	_, url := start(t, fastConfig())
	tests := []struct {
		name, path, body string
		check            func(t *testing.T, r chatReply)
	}{
		{"n", "/v1/completions", `{"prompt":"hi","n":3,"max_tokens":4,"ignore_eos":true}`, func(t *testing.T, r chatReply) {
			if len(r.Choices) != 3 || r.Choices[0].Text == r.Choices[1].Text || r.Usage.Completion != 12 || r.Usage.Prompt != 1 {
				t.Errorf("got %+v", r)
			}
		}},
		{"prompt list", "/v1/completions", `{"prompt":["hi","there you"],"max_tokens":2,"ignore_eos":true}`, func(t *testing.T, r chatReply) {
			if len(r.Choices) != 2 || r.Choices[1].Index != 1 || r.Usage.Prompt != 3 {
				t.Errorf("got %+v", r)
			}
		}},
		{"token ids", "/v1/completions", `{"prompt":[100,200,300],"max_tokens":2,"ignore_eos":true}`, func(t *testing.T, r chatReply) {
			if r.Usage.Prompt != 3 || r.Usage.Completion != 2 {
				t.Errorf("got %+v", r.Usage)
			}
		}},
		{"max_completion_tokens", "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"max_completion_tokens":3,"max_tokens":9,"ignore_eos":true}`, func(t *testing.T, r chatReply) {
			if r.Usage.Completion != 3 {
				t.Errorf("got %+v", r.Usage)
			}
		}},
		{"min_tokens", "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"min_tokens":900}`, func(t *testing.T, r chatReply) {
			if r.Usage.Completion != 900 || *r.Choices[0].FinishReason != "stop" {
				t.Errorf("got %+v", r.Usage)
			}
		}},
		{"content parts", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"x"}}]}],"max_tokens":1}`, func(t *testing.T, r chatReply) {
			if r.Usage == nil || r.Usage.Completion != 1 {
				t.Errorf("got %+v", r)
			}
		}},
		{"tool", "/v1/chat/completions", `{"messages":[{"role":"user","content":"weather"}],"tool_choice":"required","tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1}},"required":["city","days"]}}}]}`, func(t *testing.T, r chatReply) {
			call := r.Choices[0].Message.ToolCalls
			var args struct {
				City string
				Days int
			}
			if len(call) != 1 || call[0].Function.Name != "get_weather" || *r.Choices[0].FinishReason != "tool_calls" ||
				json.Unmarshal([]byte(call[0].Function.Arguments), &args) != nil || args.City == "" || args.Days < 1 {
				t.Errorf("got %+v", r.Choices[0])
			}
		}},
		{"json schema", "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}}`, func(t *testing.T, r chatReply) {
			var v struct{ OK *bool }
			if json.Unmarshal([]byte(*r.Choices[0].Message.Content), &v) != nil || v.OK == nil {
				t.Errorf("got %q", *r.Choices[0].Message.Content)
			}
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			status, _, body, err := post(t, url+tc.path, tc.body)
			if err != nil || status != 200 {
				t.Fatalf("status %d, error %v: %s", status, err, body)
			}
			tc.check(t, decode(t, body))
		})
	}
}

// Behind a gateway everything lies below one path.
func TestRootPath(t *testing.T) {
	_, url := start(t, Config{Preset: "instant", RootPath: "api/"})
	for path, want := range map[string]int{"/api/v1/completions": 200, "/v1/completions": 404, "/apiv1/completions": 404} {
		if status, _, body, err := post(t, url+path, `{"prompt":"x","max_tokens":2}`); err != nil || status != want {
			t.Errorf("%s: status %d, want %d (%v): %s", path, status, want, err, body)
		}
	}
	for path, want := range map[string]int{"/api/health": 200, "/api/v1/models": 200, "/health": 404} {
		res, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, res.StatusCode, want)
		}
	}
}

func TestBadRequestsGetOpenAIErrors(t *testing.T) {
	_, url := start(t, Config{Preset: "instant", MaxModelLen: 100, APIKey: "key", ServedModelNames: []string{"m", "lora"}})
	auth := []string{"Authorization", "Bearer key"}
	tests := []struct {
		name, path, body string
		header           []string
		status           int
		says             string
	}{
		{"no key", "/v1/chat/completions", `{}`, nil, 401, "Unauthorized"},
		{"unknown model", "/v1/chat/completions", `{"model":"other","messages":[{"role":"user","content":"x"}]}`, auth, 404, "does not exist"},
		{"known second model", "/v1/chat/completions", `{"model":"lora","max_tokens":1,"messages":[{"role":"user","content":"x"}]}`, auth, 200, ""},
		{"not JSON", "/v1/chat/completions", `{"messages":`, auth, 400, "not valid JSON"},
		{"wrong type", "/v1/chat/completions", `{"max_tokens":"x","messages":[]}`, auth, 400, "max_tokens"},
		{"no messages", "/v1/chat/completions", `{}`, auth, 400, "messages"},
		{"no role", "/v1/chat/completions", `{"messages":[{"content":"x"}]}`, auth, 400, "messages[0]"},
		{"temperature", "/v1/completions", `{"prompt":"x","temperature":-1}`, auth, 400, "temperature"},
		{"too long", "/v1/completions", `{"prompt":"x","max_tokens":500}`, auth, 400, "maximum context length is 100"},
		{"n", "/v1/completions", `{"prompt":"x","n":0}`, auth, 400, "n must"},
		{"empty ids", "/v1/completions", `{"prompt":[]}`, auth, 400, "prompt"},
		{"id out of range", "/v1/completions", `{"prompt":[99999999]}`, auth, 400, "out of vocabulary"},
		{"stop", "/v1/completions", `{"prompt":"x","stop":5}`, auth, 400, "stop"},
		{"fault header", "/v1/completions", `{"prompt":"x"}`, append([]string{"X-Sim-Fault", "hnag@mid"}, auth...), 400, `did you mean \"hang\"`},
		{"path", "/v1/chat/completion", `{}`, auth, 404, "/v1/chat/completions"},
		{"method", "/v1/models", `{}`, auth, 405, "Method Not Allowed"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			status, _, body, err := post(t, url+tc.path, tc.body, tc.header...)
			if err != nil || status != tc.status || !strings.Contains(body, tc.says) {
				t.Fatalf("status %d (want %d), error %v, body %s (want %q)", status, tc.status, err, body, tc.says)
			}
			if status != 200 {
				if r := decode(t, body); r.Error == nil || r.Error.Code != status || r.Error.Message == "" {
					t.Errorf("not an OpenAI error: %s", body)
				}
			}
		})
	}
}

func TestStopStrings(t *testing.T) {
	_, url := start(t, Config{Preset: "instant", AnswersData: []byte(`{"question":"Recite the seven words of the old song","answer":"alpha beta gamma delta"}`)})
	for _, stream := range []bool{false, true} {
		body := fmt.Sprintf(`{"messages":[{"role":"user","content":"Recite the seven words of the old song"}],"stop":["gam","zzz"],"stream":%v}`, stream)
		_, _, answer, err := post(t, url+"/v1/chat/completions", body)
		if err != nil {
			t.Fatal(err)
		}
		content, finish := "", ""
		if stream {
			s := readStream(t, answer)
			content, finish = s.content, s.finish
		} else {
			r := decode(t, answer)
			content, finish = *r.Choices[0].Message.Content, *r.Choices[0].FinishReason
		}
		if content != "alpha beta " || finish != "stop" {
			t.Errorf("stream %v: %q, finish %q", stream, content, finish)
		}
	}
}

func TestChunkShapes(t *testing.T) {
	const ask = `{"messages":[{"role":"user","content":"hello"}],"max_tokens":12,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`
	tests := []struct {
		name  string
		cfg   Config
		check func(t *testing.T, body string, s streamed, st Stats)
	}{
		{"five tokens a chunk", Config{Shape: Shape{TokensPerChunk: 5}}, func(t *testing.T, _ string, s streamed, _ Stats) {
			if s.payloads != 3 || countTokens(s.content) != 12 {
				t.Errorf("%d payloads of %d tokens", s.payloads, countTokens(s.content))
			}
		}},
		{"all events in one write", Config{Shape: Shape{EventsPerWrite: 100}}, func(t *testing.T, _ string, s streamed, st Stats) {
			if s.payloads != 12 || st.Writes != 3 { // header, events, end
				t.Errorf("%d payloads in %d writes", s.payloads, st.Writes)
			}
		}},
		{"usage on every chunk", Config{Shape: Shape{Usage: "every"}}, func(t *testing.T, body string, s streamed, _ Stats) {
			if s.usages != 13 || s.last.Usage.Completion != 12 {
				t.Errorf("%d usages, last %+v", s.usages, s.last.Usage)
			}
			for i, e := range events(t, body)[:13] {
				if got := decode(t, e).Usage.Completion; got != i {
					t.Errorf("event %d says %d tokens so far", i, got)
				}
			}
		}},
		{"no usage", Config{Shape: Shape{Usage: "none"}}, func(t *testing.T, _ string, s streamed, _ Stats) {
			if s.usages != 0 || !s.done {
				t.Errorf("%d usages", s.usages)
			}
		}},
		{"no role, no done", Config{Shape: Shape{RoleDelta: "none", NoDone: true}}, func(t *testing.T, _ string, s streamed, _ Stats) {
			if s.roleFirst || s.done || s.finish != "length" {
				t.Errorf("%+v", s)
			}
		}},
		{"crlf, comments, no blank, one byte a write", Config{Shape: Shape{CRLF: true, Comments: 2, NoSpace: true, OneByteWrites: true}}, func(t *testing.T, body string, s streamed, st Stats) {
			if s.payloads != 12 || !strings.Contains(body, ": keep-alive\r\n\r\ndata:{") || st.Writes < int64(len(body)) {
				t.Errorf("%d payloads, %d writes of %d bytes: %.80q", s.payloads, st.Writes, len(body), body)
			}
		}},
		{"reasoning", Config{ReasoningTokens: 4}, func(t *testing.T, _ string, s streamed, _ Stats) {
			if countTokens(s.reasoning) != 4 || countTokens(s.content) != 8 || s.last.Usage.Completed.Reasoning != 4 {
				t.Errorf("reasoning %q content %q usage %+v", s.reasoning, s.content, s.last.Usage)
			}
		}},
		{"reasoning across a chunk", Config{ReasoningTokens: 4, ReasoningField: "reasoning", Shape: Shape{TokensPerChunk: 6}}, func(t *testing.T, _ string, s streamed, _ Stats) {
			if countTokens(s.reasoning) != 4 || countTokens(s.content) != 8 || s.payloads != 3 {
				t.Errorf("reasoning %q content %q payloads %d", s.reasoning, s.content, s.payloads)
			}
		}},
		{"think tags", Config{ReasoningTokens: 2, ReasoningField: "think"}, func(t *testing.T, _ string, s streamed, _ Stats) {
			if !strings.HasPrefix(s.content, "<think>\n") || countTokens(s.content) != 12 {
				t.Errorf("content %q", s.content)
			}
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			tc.cfg.Preset, tc.cfg.TimeScale = "instant", 0.1
			srv, url := start(t, tc.cfg)
			_, _, body, err := post(t, url+"/v1/chat/completions", ask)
			if err != nil {
				t.Fatal(err)
			}
			tc.check(t, body, readStream(t, body), srv.Stats())
		})
	}
}

// The truth counts as tokens what a client does: a tool call's name that comes
// with empty arguments is none.
func TestTruthOfToolCalls(t *testing.T) {
	mem := &MemoryTruth{}
	cfg := fastConfig()
	cfg.Truth, cfg.ToolCalls = mem, true
	srv, url := start(t, cfg)
	_, _, body, err := post(t, url+"/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	_ = srv.Close()
	want, names := 0, 0
	for _, e := range events(t, body) {
		if strings.Contains(e, `"arguments":""`) {
			names++
		} else if strings.Contains(e, `"arguments":`) {
			want++
		}
	}
	got, kinds := 0, map[string]int{}
	for _, c := range mem.Requests()[0].Chunks {
		if c.Kind.Payload() {
			got++
		}
		kinds[c.Kind.String()]++
	}
	if names != 1 || want == 0 || got != want || kinds["tool_name"] != names || kinds["tool"] != want {
		t.Errorf("%d events with arguments and %d with the name alone; the truth has %d payloads: %v", want, names, got, kinds)
	}
}

func TestToolCallStream(t *testing.T) {
	_, url := start(t, Config{Preset: "instant", ToolCalls: true})
	_, _, body, err := post(t, url+"/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	s := readStream(t, body)
	var args struct{ A string }
	if s.tool != "f" || json.Unmarshal([]byte(s.arguments), &args) != nil || args.A == "" || s.finish != "tool_calls" || s.content != "" {
		t.Errorf("%+v", s)
	}
}

func conformance(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("AIS_BENCH_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "conformance")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("conformance data not found: %v", err)
	}
	return path
}

// Every question of GSM8K is recognised inside a few-shot prompt, and the
// number of right answers is the same whatever the order and concurrency.
func TestGSM8KAnswersDoNotDependOnOrder(t *testing.T) {
	path := conformance(t, "gsm8k/test.jsonl")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var questions []string
	for line := range bytes.Lines(raw) {
		var r struct{ Question string }
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		questions = append(questions, r.Question)
	}
	run := func(workers int, reverse bool) Stats {
		var log bytes.Buffer
		srv, url := start(t, Config{Preset: "instant", TimeScale: 0.01, Answers: path, Accuracy: 0.8, AnswersLog: &log})
		jobs := make(chan string)
		var wg sync.WaitGroup
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
		for range workers {
			wg.Go(func() {
				for q := range jobs {
					body, _ := json.Marshal(map[string]any{"messages": []any{map[string]string{"role": "user",
						"content": "Question: There are 15 trees in the grove.\nAnswer: The answer is 6\n\nQuestion: " + q + "\nLet's think step by step\nAnswer:"}}})
					resp, err := client.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
					if err != nil {
						t.Error(err)
						continue
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			})
		}
		for i := range questions {
			if reverse {
				i = len(questions) - 1 - i
			}
			jobs <- questions[i]
		}
		close(jobs)
		wg.Wait()
		_ = srv.Close()
		right := strings.Count(log.String(), `"right":true`)
		st := srv.Stats()
		if int64(right) != st.AnswersRight || strings.Count(log.String(), "\n") != len(questions) {
			t.Errorf("the log has %d right of %d, the statistics %+v", right, strings.Count(log.String(), "\n"), st)
		}
		return st
	}
	a, b := run(32, false), run(3, true)
	if a.AnswersRight != b.AnswersRight || a.Unknown+b.Unknown != 0 || a.QuestionsAsked != b.QuestionsAsked {
		t.Errorf("32 workers: %+v\n3 workers: %+v", a, b)
	}
	if share := float64(a.AnswersRight) / float64(len(questions)); share < 0.76 || share > 0.84 {
		t.Errorf("accuracy 0.8 gave %v", share)
	}
}

func TestPromptLogprobsPreferTheChosenLabel(t *testing.T) {
	const row = `{"question":"Which planet is known as the red planet by everyone?","choices":["Venus","Mars","Jupiter","Saturn"],"answer":"B"}`
	for _, tc := range []struct {
		accuracy float64
		right    bool
	}{{1, true}, {-1, false}} {
		_, url := start(t, Config{Preset: "instant", AnswersData: []byte(row), Accuracy: tc.accuracy})
		bestMean, bestSum, byMean, bySum := -1e9, -1e9, "", ""
		for _, label := range []string{"A", "B", "C", "D"} {
			prompt := "Which planet is known as the red planet by everyone?\nA. Venus\nB. Mars\nC. Jupiter\nD. Saturn\nAnswer: " + label
			_, _, body, err := post(t, url+"/v1/completions", fmt.Sprintf(`{"prompt":%q,"max_tokens":1,"prompt_logprobs":0}`, prompt))
			if err != nil {
				t.Fatal(err)
			}
			r := decode(t, body)
			sum, n := 0.0, 0
			for _, entry := range r.Choices[0].PromptLogprobs[1:] {
				for _, v := range entry {
					sum += v.Logprob
					n++
				}
			}
			if n != r.Usage.Prompt-1 {
				t.Fatalf("%d log-probabilities for %d prompt tokens", n, r.Usage.Prompt)
			}
			if sum/float64(n) > bestMean {
				bestMean, byMean = sum/float64(n), label
			}
			_, _, body, err = post(t, url+"/v1/completions", fmt.Sprintf(`{"prompt":%q,"max_tokens":1,"echo":true,"logprobs":1}`, prompt))
			if err != nil {
				t.Fatal(err)
			}
			lp := decode(t, body).Choices[0].Logprobs
			last := *lp.TokenLogprobs[len(lp.TokenLogprobs)-2]
			if !strings.HasSuffix(strings.Join(lp.Tokens[:len(lp.Tokens)-1], ""), "Answer: "+label) {
				t.Fatalf("echoed tokens %q", lp.Tokens)
			}
			if last > bestSum {
				bestSum, bySum = last, label
			}
		}
		if (byMean == "B") != tc.right || byMean != bySum {
			t.Errorf("accuracy %v: mean prefers %s, the label's own log-probability %s", tc.accuracy, byMean, bySum)
		}
	}
}

// Without a prefix cache prompts of many blocks are answered all the same.
func TestServingWithoutPrefixCache(t *testing.T) {
	srv, url := start(t, Config{Preset: "instant", DisablePrefixCaching: true})
	for range 2 {
		resp, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"`+strings.Repeat("many words follow ", 40)+`","max_tokens":20,"ignore_eos":true}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || !strings.Contains(string(body), `"completion_tokens":20`) {
			t.Fatalf("%s: %s, %v", resp.Status, body, err)
		}
	}
	if q, h := srv.metrics.prefixQueries.Load(), srv.metrics.prefixHits.Load(); q != 0 || h != 0 {
		t.Errorf("%d look-ups, %d hits", q, h)
	}
}

func TestPrefixCacheIsReportedAndReset(t *testing.T) {
	srv, url := start(t, fastConfig())
	prompt := strings.Repeat("the same long beginning ", 40)
	ask := func() int {
		_, _, body, err := post(t, url+"/v1/completions", fmt.Sprintf(`{"prompt":%q,"max_tokens":2}`, prompt))
		if err != nil {
			t.Fatal(err)
		}
		return decode(t, body).Usage.Details.Cached
	}
	n := countTokens(prompt)
	if got := ask(); got != 0 {
		t.Errorf("cold: %d cached", got)
	}
	if got := ask(); got != (n-1)/16*16 {
		t.Errorf("warm: %d cached of %d", got, n)
	}
	if status, _, _, _ := post(t, url+"/reset_prefix_cache", ""); status != 200 {
		t.Errorf("reset: status %d", status)
	}
	if got := ask(); got != 0 {
		t.Errorf("after the reset: %d cached", got)
	}
	if st := srv.Stats(); st.CachedTokens != int64((n-1)/16*16) {
		t.Errorf("statistics: %d cached tokens", st.CachedTokens)
	}
}

func TestNoPrefixCache(t *testing.T) {
	cfg := fastConfig()
	cfg.DisablePrefixCaching = true
	srv, url := start(t, cfg)
	prompt := strings.Repeat("the same long beginning ", 40) // blocks and blocks
	for range 2 {
		status, _, body, err := post(t, url+"/v1/completions", fmt.Sprintf(`{"prompt":%q,"max_tokens":40,"ignore_eos":true}`, prompt))
		if err != nil || status != 200 {
			t.Fatalf("status %d, %v: %s", status, err, body)
		}
		if got := decode(t, body).Usage.Details.Cached; got != 0 {
			t.Errorf("%d tokens cached without a cache", got)
		}
	}
	if st := srv.Stats(); st.CachedTokens != 0 {
		t.Errorf("statistics: %d cached tokens", st.CachedTokens)
	}
}

func TestMetricsAgreeWithRequests(t *testing.T) {
	for _, flavor := range []string{"vllm", "sglang"} {
		cfg := fastConfig()
		cfg.Flavor = flavor
		_, url := start(t, cfg)
		for range 3 {
			if _, _, _, err := post(t, url+"/v1/completions", `{"prompt":"one two","max_tokens":7,"ignore_eos":true,"stream":true}`); err != nil {
				t.Fatal(err)
			}
		}
		resp, err := http.Get(url + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		want := []string{`vllm:generation_tokens_total{engine="0",model_name="sim"} 21`, `vllm:prompt_tokens_total{engine="0",model_name="sim"} 6`,
			`finished_reason="length"} 3`, `vllm:time_to_first_token_seconds_count{engine="0",model_name="sim"} 3`,
			`vllm:inter_token_latency_seconds_count{engine="0",model_name="sim"} 18`, `vllm:num_requests_running{engine="0",model_name="sim"} 0`}
		if flavor == "sglang" {
			want = []string{`sglang:generation_tokens_total{model_name="sim"} 21`, `sglang:num_requests_total{model_name="sim"} 3`,
				`sglang:time_to_first_token_seconds_count{model_name="sim"} 3`, `sglang:num_running_reqs{model_name="sim"} 0`}
		}
		for _, w := range want {
			if !strings.Contains(string(b), w) {
				t.Errorf("%s: /metrics lacks %s", flavor, w)
			}
		}
	}
}

func TestClientThatLeavesIsAborted(t *testing.T) {
	srv, url := start(t, Config{TokensPerSecond: 100, TTFT: time.Millisecond})
	resp, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"x","max_tokens":100000,"ignore_eos":true,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Body.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	for range 6000 {
		if st := srv.Stats(); st.Aborted == 1 && st.Running == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("not noticed: %+v", srv.Stats())
}

func TestServesTLS(t *testing.T) {
	borrowed := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	defer borrowed.Close()
	s, err := New(fastConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- s.Serve(tls.NewListener(ln, &tls.Config{Certificates: borrowed.TLS.Certificates}))
	}()
	resp, err := borrowed.Client().Post("https://"+ln.Addr().String()+"/v1/completions", "application/json",
		strings.NewReader(`{"prompt":"x","max_tokens":50,"ignore_eos":true,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if got := readStream(t, string(b)); err != nil || got.payloads != 50 || !got.done {
		t.Errorf("%d payloads, error %v", got.payloads, err)
	}
	_ = s.Close()
	if err := <-served; err != ErrClosed {
		t.Errorf("Serve returned %v", err)
	}
}

// A prompt that the KV blocks cannot hold is refused instead of waiting for ever.
func TestPromptBeyondTheKVBlocks(t *testing.T) {
	_, url := start(t, Config{Preset: "instant", NumGPUBlocks: 4})
	status, _, body, err := post(t, url+"/v1/completions", fmt.Sprintf(`{"prompt":%q,"max_tokens":5}`, strings.Repeat(" word", 70)))
	if err != nil || status != 400 || !strings.Contains(body, "maximum context length is 64") {
		t.Errorf("status %d, error %v: %s", status, err, body)
	}
	if status, _, _, err = post(t, url+"/v1/completions", `{"prompt":"x","max_tokens":60,"ignore_eos":true}`); err != nil || status != 200 {
		t.Errorf("what fits: status %d, error %v", status, err)
	}
}

func TestOtherEndpoints(t *testing.T) {
	for _, flavor := range []string{"vllm", "sglang"} {
		_, url := start(t, Config{Preset: "instant", Flavor: flavor, MaxNumSeqs: 17})
		for path, says := range map[string]string{
			"/v1/models": `"max_model_len":131072`, "/version": `"version":`, "/server_info": ":17", "/get_server_info": ":17", "/model_info": `"model_path":"sim"`,
			"/health": "", "/ping": "", "/metrics": flavor + ":",
		} {
			resp, err := http.Get(url + path)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != 200 || !strings.Contains(string(b), says) {
				t.Errorf("%s: status %d: %.200s", path, resp.StatusCode, b)
			}
		}
		for path, tc := range map[string][2]string{
			"/detokenize":    {`{"tokens":[72,105]}`, `"Hi"`},
			"/v1/embeddings": {`{"input":["red car","blue sky"]}`, `"total_tokens":4`},
			"/v1/rerank":     {`{"query":"red apple","documents":["blue sky","a red apple"]}`, `"results":[{"index":1`},
			"/flush_cache":   {``, "flushed"},
			"/start_profile": {``, ""},
			"/generate":      {`{"inputs":"x","parameters":{"max_new_tokens":2}}`, `"generated_text"`},
		} {
			status, _, body, err := post(t, url+path, tc[0])
			if err != nil || status != 200 || !strings.Contains(body, tc[1]) {
				t.Errorf("%s: status %d, error %v: %.300s", path, status, err, body)
			}
		}
		_, _, body, err := post(t, url+"/generate", `{"text":["hello","you"],"stream":true,"sampling_params":{"max_new_tokens":3,"ignore_eos":true}}`)
		if err != nil || strings.Count(body, `"completion_tokens":3`) != 2 || strings.Count(body, "data: ") != 7 {
			t.Errorf("/generate stream, error %v: %s", err, body)
		}
		_, _, body, err = post(t, url+"/generate_stream", `{"inputs":"x","parameters":{"max_new_tokens":3}}`)
		if err != nil || strings.Count(body, `"token":`) != 3 || !strings.Contains(body, `"generated_text":"`) {
			t.Errorf("/generate_stream, error %v: %s", err, body)
		}
	}
}
