package check

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// models answers the list of models and reports whether it did.
func listed(w http.ResponseWriter, req *http.Request) bool {
	if req.URL.Path != "/v1/models" {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
	return true
}

func TestRedirectsToItself(t *testing.T) {
	for name, to := range map[string]func(*http.Request) string{
		"path":     func(r *http.Request) string { return r.URL.Path },
		"absolute": func(r *http.Request) string { return "http://" + r.Host + r.URL.Path },
	} {
		t.Run(name, func(t *testing.T) {
			r := check(t, quiet(config(serve(t, func(w http.ResponseWriter, req *http.Request) {
				http.Redirect(w, req, to(req), http.StatusTemporaryRedirect)
			}))))
			expect(t, r, "answer", Fail, CauseRedirectLoop, "redirected to", "which is the address that was asked", "in a circle")
		})
	}
	// Only the requests, not the list.
	r := check(t, quiet(config(serve(t, func(w http.ResponseWriter, req *http.Request) {
		if !listed(w, req) {
			http.Redirect(w, req, req.URL.Path, http.StatusPermanentRedirect)
		}
	}))))
	expect(t, r, "answer", OK, "")
	expect(t, r, "chat-stream", Fail, CauseRedirectLoop, "in a circle")
	expect(t, r, "completions", Warn, CauseRedirectLoop)
}

// Answers that never end are told from silence, and the check ends.
func TestEndlessAnswers(t *testing.T) {
	t.Parallel()
	forEver := func(w http.ResponseWriter, req *http.Request, piece string, pause time.Duration) {
		for req.Context().Err() == nil {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(pause)
		}
	}
	o := quiet(config(serve(t, func(w http.ResponseWriter, req *http.Request) { forEver(w, req, "data: tick\n\n", 10*time.Millisecond) })))
	o.StepTimeout = 2 * time.Second
	expect(t, check(t, o), "answer", Fail, CauseEndless, "an answer begins (HTTP 200) and does not end within 2s")

	o = quiet(config(serve(t, func(w http.ResponseWriter, req *http.Request) { forEver(w, req, strings.Repeat("x", 1<<16), 0) })))
	expect(t, check(t, o), "answer", Fail, CauseEndless, "longer than 8 MiB")

	o = quiet(config(serve(t, func(w http.ResponseWriter, req *http.Request) {
		if !listed(w, req) {
			w.Header().Set("Content-Type", "text/event-stream")
			const token = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"text\":\"a\"}]}\n\n"
			_, _ = io.WriteString(w, strings.Repeat(token, 200)) // more than asked for, however slow this machine is
			forEver(w, req, token, 2*time.Millisecond)
		}
	})))
	o.StepTimeout = 2 * time.Second
	r := check(t, o)
	expect(t, r, "chat-stream", Fail, CauseEndless, "beyond the number of tokens asked for")
}

// answering gives the same chat answer to everybody, streamed or not.
func answering(t *testing.T, text, usage string) string {
	return serve(t, func(w http.ResponseWriter, req *http.Request) {
		if listed(w, req) {
			return
		}
		body, _ := io.ReadAll(req.Body)
		if !strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"choices":[{"message":{"content":"%s"},"text":"%s","finish_reason":"stop"}],"usage":%s}`, text, text, usage)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"},\"text\":\"%s\"}]}\n\n", text, text)
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{},\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":%s}\n\ndata: [DONE]\n\n", usage)
	})
}

func TestInvalidUTF8(t *testing.T) {
	r := check(t, quiet(config(answering(t, "caf\xe9 \xff", `{"prompt_tokens":9,"completion_tokens":2}`))))
	expect(t, r, "chat-stream", Warn, CauseInvalidUTF8, "no UTF-8")
	expect(t, r, "chat", Warn, CauseInvalidUTF8)
	r = check(t, quiet(config(answering(t, "café 😀", `{"prompt_tokens":9,"completion_tokens":2}`))))
	expect(t, r, "chat-stream", OK, "")
}

func TestImpossibleUsage(t *testing.T) {
	for usage, word := range map[string]string{
		`{"prompt_tokens":-5,"completion_tokens":-2}`:   "prompt_tokens -5",
		`{"prompt_tokens":9,"completion_tokens":-2}`:    "completion_tokens -2",
		`{"prompt_tokens":"9","completion_tokens":"2"}`: `prompt_tokens "9"`,
		`{"prompt_tokens":9.5,"completion_tokens":2}`:   "prompt_tokens 9.5",
	} {
		expect(t, check(t, quiet(config(answering(t, "ok", usage)))), "usage", Warn, CauseUsageImpossible, word, "counts nothing")
	}
	expect(t, check(t, quiet(config(answering(t, "ok", "null")))), "usage", Warn, CauseNoUsage)
}
