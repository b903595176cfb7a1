package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"ais_bench/datasets"
)

// TestPullThenLoad downloads a data set from a hub in this process and reads it
// from where `pull` put it.
func TestPullThenLoad(t *testing.T) {
	body := `{"problem":"One half of one?","solution":"\\boxed{\\frac{1}{2}}","answer":"\\frac{1}{2}","level":1}` + "\n"
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/datasets/HuggingFaceH4/MATH-500/tree/main":
			fmt.Fprintf(w, `[{"type":"file","path":"test.jsonl","size":%d,"oid":"x","lfs":{"oid":"%x","size":%d}}]`, len(body), sha256.Sum256([]byte(body)), len(body))
		case "/datasets/HuggingFaceH4/MATH-500/resolve/main/test.jsonl":
			fmt.Fprint(w, body)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer hub.Close()
	t.Setenv("HF_ENDPOINT", hub.URL)
	cache := t.TempDir()
	var out, progress bytes.Buffer
	app := &cli.App{Name: "ais_bench", Commands: []*cli.Command{datasetsCommand()}, Writer: &out, ErrWriter: &progress, ExitErrHandler: func(*cli.Context, error) {}}
	if err := app.Run([]string{"ais_bench", "datasets", "pull", "--cache-dir", cache, "math500"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "test.jsonl  ") || !strings.Contains(out.String(), "downloaded, checked") {
		t.Errorf("output: %s", out.String())
	}
	r, err := datasets.OpenRegistry("")
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Get("math500_gen")
	if err != nil {
		t.Fatal(err)
	}
	set, err := e.Value.Load(context.Background(), datasets.LoadOptions{CacheDirs: []string{cache}})
	if err != nil {
		t.Fatal(err)
	}
	if set.Samples[0].Gold != `\frac{1}{2}` || set.Files[0].Path != filepath.Join(cache, "math", "test.jsonl") {
		t.Errorf("%+v from %+v", set.Samples[0], set.Files)
	}
	// A configuration's name pulls its source too, and nothing is fetched twice.
	out.Reset()
	if err := app.Run([]string{"ais_bench", "datasets", "pull", "--cache-dir", cache, "math500_gen_0_shot_cot_chat_prompt"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "already there, checked") {
		t.Errorf("second pull: %s", out.String())
	}
}
