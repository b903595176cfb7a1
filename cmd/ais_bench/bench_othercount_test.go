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
