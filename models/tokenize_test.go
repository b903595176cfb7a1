package models

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"ais_bench/models/transport"
)

// Every server family has its own way to tokenize; the one that works is found.
func TestTokenizeFindsTheServersForm(t *testing.T) {
	for name, form := range map[string]struct{ path, field string }{
		"vLLM": {"/tokenize", "prompt"}, "llama.cpp": {"/tokenize", "content"}, "llama-cpp-python": {"/extras/tokenize", "input"},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				var body map[string]any
				_ = json.NewDecoder(r.Body).Decode(&body) // a bad body has no field and is refused below
				text, ok := body[form.field].(string)
				if r.URL.Path != form.path || !ok {
					http.Error(w, `{"error":"no"}`, http.StatusUnprocessableEntity)
					return
				}
				ids := make([]int, len(text))
				w.Header().Set("content-type", "application/json")
				_ = json.NewEncoder(w).Encode(map[string]any{"tokens": ids}) // the client sees a cut answer
			}))
			defer srv.Close()
			c, err := New(Config{Abbr: "m", Type: "openai_chat", URL: srv.URL, Model: "m"}, transport.NewClock(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			tok := c.(Tokenizer)
			for i := range 2 {
				calls.Store(0)
				ids, err := tok.Tokenize(context.Background(), "hello")
				if err != nil || len(ids) != 5 {
					t.Fatalf("%d tokens, %v; want 5", len(ids), err)
				}
				if n := calls.Load(); i == 1 && n != 1 {
					t.Errorf("the form that worked was not remembered: %d calls", n)
				}
			}
		})
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, "no")
	}))
	defer srv.Close()
	if _, err := Tokenize(context.Background(), Config{Abbr: "m", Type: "openai_chat", URL: srv.URL, Model: "m"}, "x"); err == nil {
		t.Error("a server without a tokenizer gave tokens")
	}
}
