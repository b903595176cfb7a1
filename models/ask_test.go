package models

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ais_bench/models/transport"
	"ais_bench/outputs"
)

func TestStream(t *testing.T) {
	var wire reader
	srv := serve(t, func(c *call) {
		c.send(sseHead)
		c.event(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`)
		wire.caughtUp(c.w)
		c.event(`{"choices":[{"index":0,"delta":{"reasoning_content":"hm "}}]}`)
		wire.caughtUp(c.w)
		c.text("Hello ")
		wire.caughtUp(c.w)
		c.text("wörld \U0001F642")
		c.finish(4)
	})
	cfg := chatConfig(srv.URL)
	cfg.APIKey = "sk-verysecret"
	cfg.MaxOutLen = 32
	cfg.GenerationKwargs = map[string]any{"temperature": 0.5, "top_p": 0.9, "num_return_sequences": 4}
	cfg.Headers = map[string]string{"X-Team": "a"}
	clock := transport.NewClock()
	client, err := New(cfg, clock, Options{Dial: wire.dial})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	before := clock.Now()
	r := client.Do(context.Background(), &Request{ID: "id-1", Messages: []Message{{Role: "user", Content: "hi <b>"}}, Stream: true,
		Params: map[string]any{"temperature": 0, "top_p": nil}, Headers: map[string]string{"x-team": "b"}})
	if r.Text != "" {
		t.Error("the text is decoded before Decode")
	}
	r.Decode()
	r.Decode()
	if r.Status != outputs.StatusOK || r.Text != "Hello wörld \U0001F642" || r.Reasoning != "hm " || r.FinishReason != "stop" {
		t.Fatalf("result %+v", r)
	}
	if r.InputTokens != 7 || r.OutputTokens != 4 || !r.UsageSeen || r.ReasoningTokens != outputs.UnknownTokens || r.ChunkTokens != nil {
		t.Errorf("tokens %+v", r)
	}
	order := []int64{before, r.Sent, r.Connected, r.FirstByte, r.FirstToken, r.FirstAnswerToken, r.LastToken, r.End, clock.Now()}
	for i := 1; i < len(order); i++ {
		if order[i] < order[i-1] {
			t.Errorf("times are out of order at %d: %v", i, order)
		}
	}
	if r.FirstEvent < r.FirstByte || r.FirstEvent >= r.FirstToken || r.FirstToken >= r.FirstAnswerToken {
		t.Errorf("first event %d, token %d, answer token %d", r.FirstEvent, r.FirstToken, r.FirstAnswerToken)
	}
	if len(r.ChunkAt) != 3 || r.Sent+r.ChunkAt[0] != r.FirstToken || r.Sent+r.ChunkAt[2] != r.LastToken {
		t.Errorf("chunks %v", r.ChunkAt)
	}
	if !r.Stream || r.Reused || r.Resent != 0 || r.BytesIn == 0 || r.Reads < 3 || int(r.Reads+r.Coalesced) != 7 {
		t.Errorf("transport %+v", r)
	}
	got := srv.calls()[0]
	if got.req.URL.Path != "/v1/chat/completions" || got.req.Header.Get("Authorization") != "Bearer sk-verysecret" || got.req.Header.Get("X-Request-Id") != "id-1" ||
		!reflect.DeepEqual(got.req.Header["X-Team"], []string{"b"}) || got.req.Header.Get("Accept-Encoding") != "identity" {
		t.Errorf("request %s %v", got.req.URL, got.req.Header)
	}
	want := map[string]any{"model": "m", "stream": true, "stream_options": map[string]any{"include_usage": true}, "temperature": 0.0, "max_tokens": 32.0,
		"messages": []any{map[string]any{"role": "user", "content": "hi <b>"}}}
	if !reflect.DeepEqual(got.body, want) {
		t.Errorf("body %s", got.raw)
	}
}

// TestClassification sends raw answers and names the class each must get.
func TestClassification(t *testing.T) {
	delta := `data: {"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n"
	fin := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done := "data: [DONE]\n\n"
	jsonHead := func(n int) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", n)
	}
	whole := func(s string) string { return jsonHead(len(s)) + s }
	tests := []struct {
		name    string
		stream  bool
		answer  string
		how     string // what follows: "" keep open, close, reset
		want    outputs.Status
		mention string
	}{
		{"whole stream", true, sseHead + chunk(delta) + chunk(fin) + chunk(done) + "0\r\n\r\n", "", outputs.StatusOK, ""},
		{"no [DONE]", true, sseHead + chunk(delta) + chunk(fin) + "0\r\n\r\n", "", outputs.StatusOK, ""},
		{"no finish_reason", true, sseHead + chunk(delta) + chunk(done) + "0\r\n\r\n", "", outputs.StatusOK, ""},
		{"closed after finish_reason", true, sseHead + chunk(delta) + chunk(fin), "close", outputs.StatusTruncated, "after finish_reason"},
		{"reset after finish_reason", true, sseHead + chunk(delta) + chunk(fin), "reset", outputs.StatusStreamError, "after finish_reason"},
		{"broken chunk after finish_reason", true, sseHead + chunk(delta) + chunk(fin) + "zz\r\n", "", outputs.StatusMalformed, "after finish_reason"},
		{"no final chunk after [DONE]", true, sseHead + chunk(delta) + chunk(done), "close", outputs.StatusOK, ""},
		{"body until close", true, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + delta + done, "close", outputs.StatusOK, ""},
		{"HTTP/1.0", true, "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + delta + done, "close", outputs.StatusOK, ""},
		{"100 first", true, "HTTP/1.1 100 Continue\r\n\r\n" + sseHead + chunk(delta) + chunk(done) + "0\r\n\r\n", "", outputs.StatusOK, ""},
		{"several chunks a line", true, sseHead + chunk(delta[:5]) + chunk(delta[5:20]) + chunk(delta[20:]+done) + "0\r\nTrailer: x\r\n\r\n", "", outputs.StatusOK, ""},
		{"missing content type", true, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(delta) + chunk(done) + "0\r\n\r\n", "", outputs.StatusOK, ""},
		{"closed in mid-stream", true, sseHead + chunk(delta), "close", outputs.StatusTruncated, ""},
		{"only a choice without a place", true, sseHead + chunk(`data: {"choices":[{"index":-1,"delta":{"content":"a"},"finish_reason":"stop"}]}`+"\n\n") + chunk(done) + "0\r\n\r\n", "", outputs.StatusEmpty, ""},
		{"ended in mid-stream", true, sseHead + chunk(delta) + "0\r\n\r\n", "", outputs.StatusTruncated, "finish_reason"},
		{"cut within an event", true, sseHead + "ff\r\n" + delta[:20], "close", outputs.StatusTruncated, ""},
		{"cut within an event, until close", true, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + delta + delta[:20], "close", outputs.StatusTruncated, ""},
		{"cut within a field name", true, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + delta + "dat", "close", outputs.StatusTruncated, ""},
		{"page in mid-stream", true, sseHead + chunk(delta) + chunk("<html>log in</html>\n") + "0\r\n\r\n", "", outputs.StatusMalformed, "log in"},
		{"[DONE] without a line end", true, sseHead + chunk(delta) + chunk("data: [DONE]") + "0\r\n\r\n", "", outputs.StatusOK, ""},
		{"reset in mid-stream", true, sseHead + chunk(delta), "reset", outputs.StatusStreamError, "reset"},
		{"closed before the header", true, "", "close", outputs.StatusTruncated, ""},
		{"reset before the header", true, "", "reset", outputs.StatusStreamError, ""},
		{"error object", true, sseHead + chunk(delta) + chunk("data: {\"error\":{\"message\":\"engine died\"}}\n\n") + chunk(done) + "0\r\n\r\n", "", outputs.StatusStreamError, "engine died"},
		{"error event", true, sseHead + chunk("event: error\ndata: {\"message\":\"no\"}\n\n") + "0\r\n\r\n", "", outputs.StatusStreamError, "no"},
		{"broken JSON in the stream", true, sseHead + chunk(delta) + chunk("data: {\"choices\":[{\n\n") + chunk(done) + "0\r\n\r\n", "", outputs.StatusMalformed, "broken JSON"},
		{"only [DONE]", true, sseHead + chunk(done) + "0\r\n\r\n", "", outputs.StatusMalformed, "choices"},
		{"no text", true, sseHead + chunk(fin) + chunk(done) + "0\r\n\r\n", "", outputs.StatusEmpty, ""},
		{"page promised as a stream", true, sseHead + chunk("<html>log in</html>") + "0\r\n\r\n", "", outputs.StatusMalformed, "log in"},
		{"nothing", true, sseHead + "0\r\n\r\n", "", outputs.StatusTruncated, ""},
		{"broken chunk", true, sseHead + "zz\r\n", "", outputs.StatusMalformed, "chunk"},
		{"HTML", true, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>", "", outputs.StatusMalformed, "HTML"},
		{"not HTTP", true, "SSH-2.0-OpenSSH_9.6\r\n", "", outputs.StatusMalformed, "not HTTP"},
		{"TLS", true, "\x15\x03\x01\x00\x02\x02\x46", "close", outputs.StatusMalformed, "https"},

		{"whole", false, whole(`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`), "", outputs.StatusOK, ""},
		{"no choices", false, whole(`{"id":"x"}`), "", outputs.StatusMalformed, "no choices"},
		{"choices empty", false, whole(`{"choices":[]}`), "", outputs.StatusMalformed, "no choices"},
		{"message empty", false, whole(`{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`), "", outputs.StatusEmpty, ""},
		{"body empty", false, whole(``), "", outputs.StatusEmpty, ""},
		{"broken JSON", false, whole(`{"choices":[`), "", outputs.StatusMalformed, "broken JSON"},
		{"error in a 200", false, whole(`{"error":{"message":"engine died"}}`), "", outputs.StatusStreamError, "engine died"},
		{"cut body", false, jsonHead(100) + `{"choices"`, "close", outputs.StatusTruncated, ""},
		{"reset body", false, jsonHead(100) + `{"choices"`, "reset", outputs.StatusStreamError, ""},
		{"HTML without a type", false, "HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n<!doctype html><p></p>", "", outputs.StatusMalformed, "HTML"},
		{"redirect", false, "HTTP/1.1 302 Found\r\nLocation: https://login.example/auth\r\nContent-Length: 0\r\n\r\n", "", outputs.StatusMalformed, "login.example"},
		{"400", false, "HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\n{\"e\":\"x\"}", "", outputs.StatusHTTP4xx, `{"e":"x"}`},
		{"101", false, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "", outputs.StatusMalformed, "HTTP 101"},
		{"429", false, "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n", "", outputs.StatusHTTP429, "429"},
		{"503", false, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy", "", outputs.StatusHTTP5xx, "busy"},
		{"500 without a body length", false, "HTTP/1.1 500 Internal Server Error\r\n\r\noops", "close", outputs.StatusHTTP5xx, "oops"},
	}
	// How the body came to its end; of the answers that are not here none was read.
	ends := map[outputs.StreamEnd][]string{
		outputs.EndDone: {"whole stream", "no finish_reason", "no final chunk after [DONE]", "body until close", "HTTP/1.0", "100 first", "several chunks a line",
			"missing content type", "[DONE] without a line end", "only [DONE]", "no text", "only a choice without a place"},
		outputs.EndBody:        {"no [DONE]", "ended in mid-stream", "nothing", "whole", "no choices", "choices empty", "message empty", "body empty", "error in a 200"},
		outputs.EndInEvent:     {"cut within an event, until close", "cut within a field name"},
		outputs.EndBroken:      {"closed after finish_reason", "reset after finish_reason", "broken chunk after finish_reason", "closed in mid-stream", "cut within an event", "reset in mid-stream", "broken chunk", "cut body", "reset body"},
		outputs.EndErrorObject: {"error object"},
		outputs.EndErrorEvent:  {"error event"},
		outputs.EndMalformed:   {"page in mid-stream", "broken JSON in the stream", "page promised as a stream", "HTML", "broken JSON", "HTML without a type"},
	}
	endOf := map[string]outputs.StreamEnd{}
	for end, names := range ends {
		for _, name := range names {
			endOf[name] = end
		}
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, func(c *call) {
				c.send(tc.answer)
				switch tc.how {
				case "close":
					_ = c.w.Close()
				case "reset":
					time.Sleep(20 * time.Millisecond) // what was sent is to arrive first
					c.reset()
				default:
					c.hold()
				}
			})
			r := ask(t, mustNew(t, chatConfig(srv.URL), Options{}), &Request{Prompt: "x", Stream: tc.stream})
			if r.Status != tc.want || !strings.Contains(r.Error, tc.mention) {
				t.Errorf("status %s, error %q; want %s mentioning %q", r.Status, r.Error, tc.want, tc.mention)
			}
			if r.StreamEnd != endOf[tc.name] {
				t.Errorf("it ended %q, want %q", r.StreamEnd, endOf[tc.name])
			}
			// Records that do not say how they ended are read by status and error text.
			old := outputs.Record{Status: r.Status, HTTPStatus: int32(r.HTTPStatus), Error: r.Error}
			if got := old.Ended(); got != r.StreamEnd && !sameEnd(got, r) {
				t.Errorf("read from status %s and error %q: ended %q, want %q", r.Status, r.Error, got, r.StreamEnd)
			}
			if (r.Status == outputs.StatusOK) != (r.Error == "") {
				t.Errorf("status %s with error %q", r.Status, r.Error)
			}
			if r.End == outputs.Never || r.End < r.Sent {
				t.Errorf("end %d, sent %d", r.End, r.Sent)
			}
			if r.Status == outputs.StatusOK && r.Text != "a" {
				t.Errorf("text %q", r.Text)
			}
		})
	}
}

// sameEnd allows what the status and error text do not tell: a success and an empty
// answer are taken to have ended with their body, an error event for an error object,
// and whatever was malformed for unreadable.
func sameEnd(got outputs.StreamEnd, r *Result) bool {
	switch r.Status {
	case outputs.StatusOK, outputs.StatusEmpty:
		return got == outputs.EndBody
	case outputs.StatusStreamError:
		return got == outputs.EndErrorObject && r.StreamEnd == outputs.EndErrorEvent || got == outputs.EndErrorObject && !r.Stream
	case outputs.StatusMalformed:
		return got == outputs.EndMalformed
	case outputs.StatusTruncated:
		return got == outputs.EndBody && r.StreamEnd == outputs.EndInEvent
	}
	return false
}

// The first and last event that vLLM's client takes for output, and the last
// event of all but [DONE].
func TestOutputEvents(t *testing.T) {
	delta := func(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }
	usage := `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`
	const none = -1
	tests := []struct {
		name        string
		kind        Protocol
		events      []string
		first, last int // of the events
	}{
		{"content", Chat, []string{delta(`{"role":"assistant","content":""}`), delta(`{"content":"a"}`), delta(`{"content":"b"}`), usage}, 1, 2},
		{"reasoning_content is not seen", Chat, []string{delta(`{"reasoning_content":"hm","content":null}`), delta(`{"reasoning_content":"hm"}`), delta(`{"content":"a"}`)}, 2, 2},
		{"reasoning is", Chat, []string{delta(`{"reasoning":"hm"}`), delta(`{"content":"a"}`)}, 0, 1},
		{"a tool call's name", Chat, []string{delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`)}, 0, 1},
		{"an empty text at the end", Chat, []string{delta(`{"content":"a"}`), `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}]}`, usage}, 0, 1},
		{"nothing but reasoning_content", Chat, []string{delta(`{"reasoning_content":"hm"}`)}, none, none},
		{"a prompt filter before a completion", Completions, []string{`{"choices":[],"prompt_filter_results":[]}`, `{"choices":[{"index":0,"text":""}]}`, `{"choices":[{"index":0,"text":"a"}]}`, usage}, 1, 2},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var wire reader
			srv := serve(t, func(c *call) {
				c.send(sseHead)
				for _, e := range append(tc.events, "[DONE]") {
					wire.caughtUp(c.w) // so that each event has a stamp of its own
					c.event(e)
				}
				c.end()
			})
			cfg := chatConfig(srv.URL)
			if tc.kind == Completions {
				cfg.Type = "openai_completions"
			}
			r := ask(t, mustNew(t, cfg, Options{Dial: wire.dial}), &Request{Prompt: "x", Stream: true})
			if r.Status != outputs.StatusOK {
				t.Fatalf("status %s: %s", r.Status, r.Error)
			}
			if (tc.first == none) != (r.FirstOutput == outputs.Never) || (tc.last == none) != (r.LastOutput == outputs.Never) {
				t.Fatalf("first output %d, last %d", r.FirstOutput, r.LastOutput)
			}
			if tc.first != none {
				if got := r.FirstOutput == r.FirstEvent; got != (tc.first == 0) {
					t.Errorf("the first event is the first output: %v", got)
				}
				if got := r.LastOutput == r.LastEvent; got != (tc.last == len(tc.events)-1) {
					t.Errorf("the last event is the last output: %v", got)
				}
				if got := r.LastOutput == r.FirstOutput; got != (tc.last == tc.first) {
					t.Errorf("the first output is the last one: %v", got)
				}
			}
			if r.LastEvent == outputs.Never || r.LastEvent >= r.End {
				t.Errorf("last event %d, end with [DONE] %d", r.LastEvent, r.End)
			}
		})
	}
}

// An answer of several choices is complete when each of them is.
func TestEveryChoiceHasToEnd(t *testing.T) {
	text := func(i int) string { return fmt.Sprintf(`{"choices":[{"index":%d,"delta":{"content":"a"}}]}`, i) }
	stop := func(i int) string {
		return fmt.Sprintf(`{"choices":[{"index":%d,"delta":{},"finish_reason":"stop"}]}`, i)
	}
	native := func(i int, reason string) string {
		return fmt.Sprintf(`{"text":"a","meta_info":{"finish_reason":%s,"completion_tokens":1},"index":%d}`, reason, i)
	}
	for name, tc := range map[string]struct {
		kind   string
		n      any
		events []string
		want   outputs.Status
	}{
		"one of two":                       {"", 2, []string{text(0), text(1), stop(0)}, outputs.StatusTruncated},
		"one of two, the other unheard of": {"", 2, []string{text(0), stop(0)}, outputs.StatusTruncated},
		"one of two, [DONE]":               {"", 2, []string{text(0), text(1), stop(0), "[DONE]"}, outputs.StatusOK},
		"the same twice":                   {"", 2, []string{text(0), text(1), stop(1), stop(1)}, outputs.StatusTruncated},
		"both":                             {"", 2.0, []string{text(0), text(1), stop(1), stop(0)}, outputs.StatusOK},
		"more than asked for":              {"", nil, []string{text(0), text(1), stop(0)}, outputs.StatusTruncated},
		"the only one":                     {"", nil, []string{text(0), stop(0)}, outputs.StatusOK},
		"all of 70": {"", 70, func() (all []string) {
			for i := range 70 {
				all = append(all, text(i), stop(i))
			}
			return all
		}(), outputs.StatusOK},
		"SGLang, one of two": {"sglang_generate", 2, []string{native(0, "null"), native(1, "null"), native(0, `{"type":"stop"}`)}, outputs.StatusTruncated},
		"SGLang, both":       {"sglang_generate", 2, []string{native(0, `{"type":"stop"}`), native(1, `{"type":"length"}`)}, outputs.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, func(c *call) {
				c.send(sseHead)
				for _, e := range tc.events {
					c.event(e)
				}
				c.end()
			})
			cfg := chatConfig(srv.URL)
			if tc.kind != "" {
				cfg.Type = tc.kind
			}
			req := &Request{Prompt: "x", Stream: true}
			if tc.n != nil {
				req.Params = map[string]any{"n": tc.n}
			}
			if r := ask(t, mustNew(t, cfg, Options{}), req); r.Status != tc.want {
				t.Errorf("status %s: %s, want %s", r.Status, r.Error, tc.want)
			}
		})
	}
}

// Time is that of the bubble, which passes when nobody has anything to do, so that
// no machine is too slow for the limits.
func TestTimeouts(t *testing.T) {
	const short = Duration(60 * time.Millisecond)
	ping := func(c *call, every time.Duration) {
		for {
			select {
			case <-c.server.stop:
				return
			case <-time.After(every):
				c.send("8\r\n: ping\n\n\r\n")
			}
		}
	}
	tests := []struct {
		name   string
		limits Timeouts
		answer func(c *call)
		want   outputs.Status
	}{
		{"first token: nothing comes", Timeouts{FirstToken: short}, func(c *call) { c.hold() }, outputs.StatusTimeoutFirstToken},
		{"first token: only a header", Timeouts{FirstToken: short}, func(c *call) { c.send(sseHead); c.hold() }, outputs.StatusTimeoutFirstToken},
		{"first token: only comments", Timeouts{FirstToken: short}, func(c *call) { c.send(sseHead); ping(c, 10*time.Millisecond) }, outputs.StatusTimeoutFirstToken},
		{"first token: only the role", Timeouts{FirstToken: short, Idle: Duration(time.Hour)}, func(c *call) {
			c.send(sseHead)
			c.event(`{"choices":[{"delta":{"role":"assistant"}}]}`)
			c.hold()
		}, outputs.StatusTimeoutFirstToken},
		{"idle", Timeouts{FirstToken: Duration(time.Hour), Idle: short}, func(c *call) { c.send(sseHead); c.text("a"); c.hold() }, outputs.StatusTimeoutIdle},
		{"idle: comments are no life", Timeouts{Idle: short}, func(c *call) { c.send(sseHead); c.text("a"); ping(c, 10*time.Millisecond) }, outputs.StatusTimeoutIdle},
		{"idle does not count before the first token", Timeouts{Idle: short}, func(c *call) {
			c.send(sseHead)
			time.Sleep(2 * time.Duration(short))
			c.text("a")
			c.finish(1)
		}, outputs.StatusOK},
		{"first token in time", Timeouts{FirstToken: short, Idle: Duration(time.Hour)}, func(c *call) {
			c.send(sseHead)
			c.text("a")
			time.Sleep(2 * time.Duration(short))
			c.finish(1)
		}, outputs.StatusOK},
		{"events keep a stream from being idle", Timeouts{Idle: short}, func(c *call) {
			c.send(sseHead)
			for range 36 {
				c.text("a")
				time.Sleep(time.Duration(short) / 3)
			}
			c.finish(1)
		}, outputs.StatusOK},
		{"total", Timeouts{Total: short, Idle: Duration(time.Hour)}, func(c *call) {
			c.send(sseHead)
			for range 1000 {
				c.text("a")
				select {
				case <-c.server.stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		}, outputs.StatusTimeoutTotal},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newPipes()
				srv := serveOn(t, l, "http", tc.answer)
				cfg := chatConfig(srv.URL)
				cfg.Timeouts = tc.limits
				if r := ask(t, mustNew(t, cfg, Options{Dial: l.dial}), streamed("x")); r.Status != tc.want {
					t.Errorf("status %s (%s), want %s", r.Status, r.Error, tc.want)
				}
			})
		})
	}
	t.Run("connect", func(t *testing.T) {
		t.Parallel()
		cfg := chatConfig("http://127.0.0.1:1")
		cfg.Timeouts.Connect = short
		stuck := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		r := ask(t, mustNew(t, cfg, Options{Dial: stuck}), streamed("x"))
		if r.Status != outputs.StatusTimeoutConnect || r.Connected != outputs.Never {
			t.Errorf("status %s (%s)", r.Status, r.Error)
		}
	})
	t.Run("TLS hand-shake", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		cfg := chatConfig("https://" + l.Addr().String())
		cfg.Timeouts.Connect = short
		if r := ask(t, mustNew(t, cfg, Options{}), streamed("x")); r.Status != outputs.StatusTimeoutConnect {
			t.Errorf("status %s (%s)", r.Status, r.Error)
		}
	})
	t.Run("total while connecting", func(t *testing.T) {
		t.Parallel()
		cfg := chatConfig("http://127.0.0.1:1")
		cfg.Timeouts.Total = short
		stuck := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		if r := ask(t, mustNew(t, cfg, Options{Dial: stuck}), streamed("x")); r.Status != outputs.StatusTimeoutTotal {
			t.Errorf("status %s (%s)", r.Status, r.Error)
		}
	})
}

func TestRefused(t *testing.T) {
	r := ask(t, mustNew(t, chatConfig("127.0.0.1:1"), Options{}), streamed("x"))
	if r.Status != outputs.StatusDial || !strings.Contains(r.Error, "refused") || strings.Contains(r.Error, "\n") {
		t.Errorf("status %s, error %q", r.Status, r.Error)
	}
}

func TestCancel(t *testing.T) {
	started := make(chan struct{})
	srv := serve(t, func(c *call) { c.send(sseHead); c.text("a"); close(started); c.hold() })
	client := mustNew(t, chatConfig(srv.URL), Options{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-started; cancel() }()
	r := client.Do(ctx, streamed("x"))
	r.Decode()
	if r.Status != outputs.StatusCancelled {
		t.Errorf("status %s (%s)", r.Status, r.Error)
	}
	if r := client.Do(ctx, streamed("x")); r.Status != outputs.StatusCancelled {
		t.Errorf("asked with a cancelled context: status %s (%s)", r.Status, r.Error)
	}
}

func TestReuse(t *testing.T) {
	srv := serve(t, func(c *call) { c.send(sseHead); c.text("a"); c.finish(1) })
	client := mustNew(t, chatConfig(srv.URL), Options{})
	for i := range 3 {
		if r := ask(t, client, streamed("x")); r.Status != outputs.StatusOK || r.Reused != (i > 0) {
			t.Errorf("request %d: status %s, reused %v", i, r.Status, r.Reused)
		}
	}
	if st := client.Stats(); st != (PoolStats{Opened: 1, Reused: 2, Open: 1, MaxOpen: 1}) {
		t.Errorf("pool %+v", st)
	}
	client.Close()
	if st := client.Stats(); st.Open != 0 {
		t.Errorf("%d connections are open after Close", st.Open)
	}
}

// TestStaleConnection: the server reads the second request on a connection and
// closes it without a byte, as one does whose keep-alive time has just run out.
// Under TLS it takes its leave first (close_notify), which are bytes on the wire
// but none of a response.
func TestStaleConnection(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, how := range []string{"close", "reset"} {
			start := serve
			if secure {
				start = serveTLS
			}
			srv := start(t, func(c *call) {
				if c.nth > 0 {
					if how == "reset" {
						c.reset()
					}
					_ = c.w.Close()
					return
				}
				c.send(sseHead)
				c.text("a")
				c.finish(1)
			})
			cfg := chatConfig(srv.URL)
			cfg.Insecure = secure
			client := mustNew(t, cfg, Options{})
			ask(t, client, streamed("x"))
			r := ask(t, client, streamed("y"))
			if r.Status != outputs.StatusOK || r.Resent != 1 || r.Reused {
				t.Errorf("TLS %v, %s: status %s (%s), resent %d, reused %v", secure, how, r.Status, r.Error, r.Resent, r.Reused)
			}
			if st := client.Stats(); st.Resent != 1 || st.Opened != 2 || st.Open != 1 {
				t.Errorf("TLS %v, %s: pool %+v", secure, how, st)
			}
		}
	}
}

// TestNotSentTwice: once a byte of the response is there, or on a new
// connection, a request is never sent again.
func TestNotSentTwice(t *testing.T) {
	srv := serve(t, func(c *call) {
		if c.nth > 0 {
			c.send("HTTP/1.1 2")
			_ = c.w.Close()
			return
		}
		c.send(sseHead)
		c.text("a")
		c.finish(1)
	})
	client := mustNew(t, chatConfig(srv.URL), Options{})
	ask(t, client, streamed("x"))
	if r := ask(t, client, streamed("y")); r.Status != outputs.StatusTruncated || r.Resent != 0 {
		t.Errorf("status %s (%s), resent %d", r.Status, r.Error, r.Resent)
	}
	fresh := serve(t, func(c *call) { _ = c.w.Close() })
	if r := ask(t, mustNew(t, chatConfig(fresh.URL), Options{}), streamed("x")); r.Resent != 0 || len(fresh.calls()) != 1 {
		t.Errorf("resent %d, the server saw %d requests", r.Resent, len(fresh.calls()))
	}
}

func TestChunkTokens(t *testing.T) {
	usage := func(text string, n int) string {
		return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}],"usage":{"prompt_tokens":3,"completion_tokens":%d}}`, text, n)
	}
	tests := []struct {
		name   string
		events []string
		want   []int32
	}{
		{"on every event", []string{usage("", 0), usage("a", 1), usage("bcd", 4), usage("", 5), usage("e", 6)}, []int32{1, 3, 2}},
		{"one event without", []string{usage("a", 1), `{"choices":[{"delta":{"content":"b"}}]}`, usage("c", 3)}, nil},
		{"falling counts", []string{usage("a", 2), usage("b", 1)}, nil},
	}
	for _, tc := range tests {
		srv := serve(t, func(c *call) {
			c.send(sseHead)
			for _, e := range tc.events {
				c.event(e)
			}
			c.event("[DONE]")
			c.end()
		})
		if r := ask(t, mustNew(t, chatConfig(srv.URL), Options{}), streamed("x")); !reflect.DeepEqual(r.ChunkTokens, tc.want) {
			t.Errorf("%s: tokens a chunk %v, want %v (%s)", tc.name, r.ChunkTokens, tc.want, r.Error)
		}
	}
}

func TestCoalescedEvents(t *testing.T) {
	srv := serve(t, func(c *call) {
		ev := `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n"
		all := strings.Repeat(ev, 3) + "data: [DONE]\n\n"
		c.send(sseHead + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(all), all))
	})
	r := ask(t, mustNew(t, chatConfig(srv.URL), Options{}), streamed("x"))
	if r.Reads != 1 || r.Coalesced != 3 || len(r.ChunkAt) != 3 || r.ChunkAt[0] != r.ChunkAt[2] {
		t.Errorf("reads %d, coalesced %d, chunks %v", r.Reads, r.Coalesced, r.ChunkAt)
	}
}

func TestQuirks(t *testing.T) {
	whole := `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`
	tests := []struct {
		name    string
		handler func(c *call)
		stream  bool // the answers come as streams
		calls   int  // of two requests
		warning string
	}{
		{"stream_options refused", func(c *call) {
			if c.body["stream_options"] != nil {
				c.json(400, `{"error":{"message":"Unknown field: stream_options"}}`)
				return
			}
			c.send(sseHead)
			c.text("a")
			c.finish(1)
		}, true, 3, "stream_options"},
		{"streams refused", func(c *call) {
			if c.body["stream"] == true {
				c.json(400, `{"error":{"message":"streaming is not supported by this model"}}`)
				return
			}
			c.json(200, whole)
		}, false, 3, "does not stream"},
		{"JSON in answer to a stream request", func(c *call) { c.json(200, whole) }, false, 2, "as a whole"},
		{"max_completion_tokens wanted", func(c *call) {
			if c.body["max_tokens"] != nil {
				c.json(400, `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`)
				return
			}
			c.send(sseHead)
			c.text("a")
			c.finish(1)
		}, true, 3, "max_completion_tokens"},
	}
	for _, tc := range tests {
		srv := serve(t, tc.handler)
		var w warnings
		cfg := chatConfig(srv.URL)
		cfg.MaxOutLen = 8
		client := mustNew(t, cfg, Options{Warn: w.add})
		for i := range 2 {
			again := int32(0)
			if i == 0 {
				again = int32(tc.calls - 2) // the second request knows
			}
			if r := ask(t, client, streamed("x")); r.Status != outputs.StatusOK || r.Text != "a" || r.Stream != tc.stream || r.Fallbacks != again {
				t.Errorf("%s: status %s (%s), stream %v, %d fallbacks", tc.name, r.Status, r.Error, r.Stream, r.Fallbacks)
			}
		}
		if n := client.Stats().Fallbacks; n != int64(tc.calls-2) {
			t.Errorf("%s: %d fallbacks counted", tc.name, n)
		}
		if n := len(srv.calls()); n != tc.calls {
			t.Errorf("%s: the server saw %d requests, want %d", tc.name, n, tc.calls)
		}
		if len(w.got) != 1 || !strings.Contains(w.got[0], tc.warning) {
			t.Errorf("%s: warnings %q", tc.name, w.got)
		}
	}
}

// TestStreamingStaysOn: one whole answer, or one refusal, of a server that
// streams is that request's own and turns nothing off for the others.
func TestStreamingStaysOn(t *testing.T) {
	whole := `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`
	stream := func(c *call) { c.send(sseHead); c.text("a"); c.finish(1) }
	for name, tc := range map[string]struct {
		odd    func(c *call)
		status outputs.Status
		first  bool // the odd answer is the first of all, without a check of readiness
	}{
		"whole answer":           {func(c *call) { c.json(200, whole) }, outputs.StatusOK, false},
		"whole answer at first":  {func(c *call) { c.json(200, whole) }, outputs.StatusOK, true},
		"error object":           {func(c *call) { c.json(200, `{"error":{"message":"engine died"}}`) }, outputs.StatusStreamError, false},
		"refusal":                {func(c *call) { c.json(400, `{"error":"streaming is not possible now"}`) }, outputs.StatusHTTP4xx, false},
		"refusal of the options": {func(c *call) { c.json(400, `{"error":"stream_options: overloaded"}`) }, outputs.StatusHTTP4xx, false},
		"refusal of the tokens":  {func(c *call) { c.json(400, `{"error":"max_tokens or max_completion_tokens is too large"}`) }, outputs.StatusHTTP4xx, false},
		"error object at first":  {func(c *call) { c.json(200, `{"error":{"message":"engine died"}}`) }, outputs.StatusStreamError, true},
	} {
		t.Run(name, func(t *testing.T) {
			odd := 3
			if tc.first {
				odd = 0
			}
			srv := serve(t, func(c *call) {
				if c.body["n"] == float64(odd) {
					tc.odd(c)
					return
				}
				stream(c)
			})
			cfg := chatConfig(srv.URL)
			cfg.MaxOutLen = 8
			client := mustNew(t, cfg, Options{})
			for i := range 8 {
				r := ask(t, client, &Request{Prompt: "x", Stream: true, Params: map[string]any{"n": i}})
				want, streamed := outputs.StatusOK, true
				if i == odd {
					want = tc.status
					streamed = tc.status == outputs.StatusHTTP4xx // what was asked for, where nothing was answered
				}
				if r.Status != want || r.Stream != streamed || r.Fallbacks != 0 {
					t.Errorf("request %d: status %s (%s), stream %v, %d fallbacks", i, r.Status, r.Error, r.Stream, r.Fallbacks)
				}
			}
			for i, c := range srv.calls() {
				if c.body["stream"] != true {
					t.Errorf("request %d was not sent as a stream", i)
				}
			}
			if n := len(srv.calls()); n != 8 {
				t.Errorf("the server saw %d requests for 8", n)
			}
		})
	}
}

// TestReadyFindsAServerThatNeverStreams: asked for a stream when it is checked,
// it gives a document, and is then asked for documents.
func TestReadyFindsAServerThatNeverStreams(t *testing.T) {
	srv := serve(t, func(c *call) {
		if c.req.Method == "GET" {
			c.json(200, `{"data":[{"id":"m"}]}`)
			return
		}
		c.json(200, `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`)
	})
	client := mustNew(t, chatConfig(srv.URL), Options{})
	if err := Ready(context.Background(), client, chatConfig(srv.URL), 0, nil); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, client, streamed("x")); r.Status != outputs.StatusOK || r.Stream {
		t.Errorf("status %s (%s), stream %v", r.Status, r.Error, r.Stream)
	}
	calls := srv.calls()
	if last := calls[len(calls)-1]; last.body["stream"] != false {
		t.Errorf("after the check it is still asked for streams: %s", last.raw)
	}
}

// TestHopelessCures: refusals that only look curable do not double the load for good.
func TestHopelessCures(t *testing.T) {
	srv := serve(t, func(c *call) { c.json(400, `{"error":"the stream of consciousness is too long"}`) })
	client := mustNew(t, chatConfig(srv.URL), Options{})
	for range 20 {
		if r := ask(t, client, streamed("x")); r.Status != outputs.StatusHTTP4xx {
			t.Errorf("status %s", r.Status)
		}
	}
	if n := len(srv.calls()); n > 20+maxFailedCures {
		t.Errorf("the server saw %d requests for 20", n)
	}
}

func TestSecretsNeverCome(t *testing.T) {
	t.Setenv("AIS_TEST_KEY", "sk-deadbeef42")
	srv := serve(t, func(c *call) {
		c.send(fmt.Sprintf("HTTP/1.1 401 Unauthorized\r\nX-Echo: %s\r\nSet-Cookie: s=1\r\nContent-Length: 60\r\n\r\n%-60s",
			c.req.Header.Get("Authorization"), `{"error":"bad key sk-deadbeef42 and pass hunter22"}`))
	})
	cfg := chatConfig(srv.URL)
	cfg.APIKey = "${AIS_TEST_KEY}"
	cfg.Headers = map[string]string{"X-Auth-Token": "hunter22"}
	r := ask(t, mustNew(t, cfg, Options{}), streamed("x"))
	if got := srv.calls()[0].req.Header.Get("Authorization"); got != "Bearer sk-deadbeef42" {
		t.Fatalf("the key is sent as %q", got)
	}
	all := fmt.Sprint(r.Error, r.Headers, fmt.Sprintf("%+v", cfg.Redacted()))
	for _, secret := range []string{"deadbeef", "hunter22", "s=1"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s shows in %s", secret, all)
		}
	}
	if r.HTTPStatus != 401 || !strings.Contains(r.Error, "bad key") || !strings.Contains(r.Headers["x-echo"], Redacted) {
		t.Errorf("error %q, headers %v", r.Error, r.Headers)
	}
	cfg.APIKey = "${AIS_TEST_UNSET_KEY}"
	if _, err := New(cfg, transport.NewClock(), Options{}); err == nil || !strings.Contains(err.Error(), "AIS_TEST_UNSET_KEY") {
		t.Errorf("an unset variable gives %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	tests := []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"3", "", 3 * time.Second},
		{"0.5", "", 500 * time.Millisecond},
		{"-1", "", 0},
		{"soon", "", 0},
		{"Wed, 21 Oct 2026 07:28:10 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", 10 * time.Second},
		{"Wed, 21 Oct 2026 07:27:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", 0},
	}
	for _, tc := range tests {
		if got := retryAfter(tc.value, tc.date); got != int64(tc.want) {
			t.Errorf("%q at %q: %v, want %v", tc.value, tc.date, time.Duration(got), tc.want)
		}
	}
}

func TestCompletions(t *testing.T) {
	srv := serve(t, func(c *call) {
		switch {
		case c.body["prompt_logprobs"] != nil:
			c.json(200, `{"choices":[{"text":"","finish_reason":"length","prompt_logprobs":[null,{"5":{"logprob":-1.5,"decoded_token":"b"}}]}],"usage":{"prompt_tokens":2,"completion_tokens":1}}`)
		default:
			c.send(sseHead)
			c.event(`{"choices":[{"index":0,"text":"a","finish_reason":null}]}`)
			c.event(`{"choices":[{"index":0,"text":"b","finish_reason":"stop"}]}`)
			c.event("[DONE]")
			c.end()
		}
	})
	cfg := chatConfig(srv.URL)
	cfg.Type = "openai_completions"
	client := mustNew(t, cfg, Options{RenderChat: func(m []Message) (string, error) { return "<" + m[0].Content + ">", nil }})
	if r := ask(t, client, &Request{Messages: []Message{{Role: "user", Content: "q"}}, Stream: true}); r.Text != "ab" || len(r.ChunkAt) != 2 {
		t.Errorf("%+v", r)
	}
	if r := ask(t, client, &Request{PromptTokenIDs: []int{1, 2}, Stream: true}); r.Text != "ab" {
		t.Errorf("%+v", r)
	}
	r := ask(t, client, &Request{Prompt: "ab", Stream: true, MaxTokens: 1, Params: map[string]any{"prompt_logprobs": 0}})
	if r.Status != outputs.StatusOK || !reflect.DeepEqual(r.PromptLogprobs, []TokenLogprob{{Unset: true}, {Token: "b", Logprob: -1.5}}) {
		t.Errorf("%+v", r)
	}
	calls := srv.calls()
	if calls[0].body["prompt"] != "<q>" || !reflect.DeepEqual(calls[1].body["prompt"], []any{1.0, 2.0}) || calls[2].body["stream"] != false || calls[2].body["max_tokens"] != 1.0 {
		t.Errorf("bodies %s %s %s", calls[0].raw, calls[1].raw, calls[2].raw)
	}
	if calls[0].req.URL.Path != "/v1/completions" {
		t.Errorf("path %s", calls[0].req.URL.Path)
	}
}

func TestGenerate(t *testing.T) {
	srv := serve(t, func(c *call) {
		c.send(sseHead)
		text := ""
		for i, p := range []string{"a", "b", "c", "d", "e"} {
			text += p
			finish := "null"
			if i == 4 {
				finish = `{"type":"length"}`
			}
			c.event(fmt.Sprintf(`{"text":%q,"meta_info":{"prompt_tokens":2,"completion_tokens":%d,"finish_reason":%s}}`, text, 2*i+1, finish))
		}
		c.event("[DONE]")
		c.end()
	})
	cfg := chatConfig(srv.URL + "/v1")
	cfg.Type, cfg.MaxOutLen = "sglang_generate", 9
	cfg.GenerationKwargs = map[string]any{"temperature": 0, "ignore_eos": true, "return_text_in_logprobs": true}
	r := ask(t, mustNew(t, cfg, Options{}), streamed("q"))
	if r.Status != outputs.StatusOK || r.Text != "abcde" || r.FinishReason != "length" || r.OutputTokens != 9 || !reflect.DeepEqual(r.ChunkTokens, []int32{1, 2, 2, 2, 2}) {
		t.Errorf("%+v", r)
	}
	got := srv.calls()[0]
	want := map[string]any{"text": "q", "stream": true, "return_text_in_logprobs": true,
		"sampling_params": map[string]any{"temperature": 0.0, "ignore_eos": true, "max_new_tokens": 9.0}}
	if got.req.URL.Path != "/generate" || !reflect.DeepEqual(got.body, want) {
		t.Errorf("path %s, body %s", got.req.URL.Path, got.raw)
	}
}

func TestToolsAndChoices(t *testing.T) {
	srv := serve(t, func(c *call) {
		c.json(200, `{"choices":[{"index":0,"message":{"content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"},{"index":1,"message":{"content":"b"}}]}`)
	})
	r := ask(t, mustNew(t, chatConfig(srv.URL), Options{}), &Request{Prompt: "x"})
	var tools []struct {
		Function struct{ Name, Arguments string }
	}
	if err := json.Unmarshal([]byte(r.ToolCalls), &tools); err != nil || len(tools) != 1 || tools[0].Function.Arguments != `{"a":1}` {
		t.Errorf("tool calls %q: %v", r.ToolCalls, err)
	}
	if r.Status != outputs.StatusOK || r.Stream || r.FirstToken != outputs.Never || r.LastToken == outputs.Never || !reflect.DeepEqual(r.MoreTexts, []string{"b"}) {
		t.Errorf("%+v", r)
	}
}

func TestManyAtOnce(t *testing.T) {
	srv := serve(t, func(c *call) {
		c.send(sseHead)
		msg := c.body["messages"].([]any)[0].(map[string]any)["content"].(string)
		for _, p := range strings.SplitAfter(msg, " ") {
			c.text(p)
		}
		c.finish(3)
	})
	client := mustNew(t, chatConfig(srv.URL), Options{MaxDials: 8})
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range 4 {
				prompt := fmt.Sprintf("stream %d of %d", j, i)
				if r := ask(t, client, streamed(prompt)); r.Status != outputs.StatusOK || r.Text != prompt {
					t.Errorf("status %s (%s), text %q, want %q", r.Status, r.Error, r.Text, prompt)
				}
			}
		}()
	}
	wg.Wait()
	// A connection whose answer has just ended may still wait for the end of the body
	// when the next request goes out on another.
	if st := client.Stats(); st.Opened+st.Reused != 256+st.Resent || st.MaxOpen > 2*64 {
		t.Errorf("pool %+v", st)
	}
}
