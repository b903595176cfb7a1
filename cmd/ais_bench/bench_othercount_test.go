package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A server whose streams hold error objects: vLLM calls them successes, and the line
// beneath its table says so.
func TestCountsOfBothSidesAreTold(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/completions") {
			fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if body, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(body), "xyzzy") { // the readiness request
			fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"text\":\"a\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
			return
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"text\":\"a\"}]}\n\ndata: {\"error\":{\"message\":\"oom\"}}\n\ndata: [DONE]\n\n")
	}))
	defer srv.Close()
	rows := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(rows, []byte(strings.Repeat("{\"prompt\": \"xyzzy\"}\n", 3)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, _, _ := benchOnce(t, srv.URL, "--dataset-name", "custom", "--dataset-path", rows, "--num-prompts", "3", "--skip-chat-template", "--ready-check-timeout-sec", "0")
	if !strings.Contains(out, "Serving Benchmark Result") {
		t.Fatalf("%s\n%s", out, errs)
	}
	theirs := strings.Contains(out, "Failed requests:                         3")
	if note := strings.Contains(out, "0 succeeded and 3 failed"); note == theirs {
		t.Errorf("%s", out)
	}
	if countsDiffer(3, 1, 3, 1) != "" || !strings.Contains(countsDiffer(0, 3, 3, 0), "3 successful, 0 failed; by this tool's rules 0 succeeded and 3 failed") {
		t.Error(countsDiffer(0, 3, 3, 0))
	}
}

// Usage was sent, but says nothing that counts: 0 in vLLM's table is no count, and no
// note says that nothing was sent.
func TestUnusableUsageIsTold(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/completions") {
			fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"text\":\"a\",\"finish_reason\":\"stop\"}]}\n\n"+
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":99999999999999999999999,\"completion_tokens\":\"3\"}}\n\ndata: [DONE]\n\n")
	}))
	defer srv.Close()
	rows := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(rows, []byte("{\"prompt\": \"x\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, _, _ := benchOnce(t, srv.URL, "--dataset-name", "custom", "--dataset-path", rows, "--num-prompts", "3", "--skip-chat-template", "--skip-tokenizer-init")
	for _, want := range []string{"Total input tokens:                      0 ", "NOTE: the prompt tokens of 3 of 3 requests are unknown"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if !strings.Contains(errs, "no usage that counts (none, or values that are no numbers of tokens) for 3 of 3 requests") {
		t.Error(errs)
	}
	if inputNote(0, 3) != "" {
		t.Error(inputNote(0, 3))
	}
}
