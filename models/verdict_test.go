package models

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// An engine that gave up says so in finish_reason; that is no success.
func TestFinishReasonOfAFailure(t *testing.T) {
	for _, reason := range []string{"error", "abort", "stop", "length"} {
		for _, stream := range []bool{true, false} {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !stream {
					w.Header().Set("content-type", "application/json")
					fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"content":"half"},"finish_reason":%q}]}`, reason)
					return
				}
				w.Header().Set("content-type", "text/event-stream")
				fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"},\"finish_reason\":null}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", reason)
			}))
			c, err := New(Config{Abbr: "m", Type: "openai_chat", URL: srv.URL, Model: "m"}, transport.NewClock(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			res := c.Do(context.Background(), &Request{Prompt: "x", Stream: stream})
			want := outputs.StatusOK
			if reason == "error" || reason == "abort" {
				want = outputs.StatusStreamError
			}
			if res.Status != want {
				t.Errorf("finish_reason %s, stream %v: %s (%s), want %s", reason, stream, res.Status, res.Error, want)
			}
			c.Close()
			srv.Close()
		}
	}
}

// What a server says is printed: it must not drive the terminal.
func TestErrorsHoldNoControlCharacters(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, "bad\x1b]0;pwned\x07\x1b[2J\x00\u0085\u2028thing")
	}))
	defer srv.Close()
	c, err := New(Config{Abbr: "m", Type: "openai_chat", URL: srv.URL, Model: "m"}, transport.NewClock(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	res := c.Do(context.Background(), &Request{Prompt: "x"})
	if strings.ContainsAny(res.Error, "\x1b\x07\x00\u0085\u2028\n") || !strings.Contains(res.Error, "thing") {
		t.Errorf("error %q", res.Error)
	}
}

func TestSecretsInUnusualPlaces(t *testing.T) {
	c := Config{Abbr: "m", Type: "openai_chat", URL: "http://user:urlpw444@host/v1",
		GenerationKwargs: map[string]any{"api_key": "kwsecret1", "max_tokens": 7, "extra_body": map[string]any{"token": "kwsecret2", "stop_token_ids": []any{1}}}}
	t.Setenv("VERDICT_KEY", "sk-envkey-0123")
	c.APIKey = "${VERDICT_KEY}"
	all := strings.Join(c.Secrets(), " ")
	for _, want := range []string{"sk-envkey-0123", "c2stZW52a2V5LTAxMjM=", "urlpw444", "dXNlcjp1cmxwdzQ0NA==", "kwsecret1", "kwsecret2"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not among the secrets: %s", want, all)
		}
	}
	shown := fmt.Sprint(c.Redacted())
	if strings.Contains(shown, "kwsecret") || strings.Contains(shown, "urlpw") {
		t.Errorf("shown: %s", shown)
	}
	if c.GenerationKwargs["api_key"] != "kwsecret1" {
		t.Error("Redacted changed the configuration itself")
	}
	if _, err := (Config{Abbr: "m", Type: "openai_chat", URL: "http://h/v1?api_key=qsecret555"}).Endpoint(); err == nil || strings.Contains(err.Error(), "qsecret555") {
		t.Errorf("the query is shown: %v", err)
	}
}
