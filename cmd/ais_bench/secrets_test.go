package main

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// A finished run against a server that repeats the credentials wherever it can
// (answers, errors, its own description): no file of the run folder holds them,
// not inside the spreadsheet's zip nor in Parquet's compressed pages either.
func TestFinishedRunHoldsNoSecret(t *testing.T) {
	const key, password = "sk-finished-run-0123456789", "urlpw-4444-secret"
	t.Chdir(t.TempDir())
	t.Setenv("FINISHED_KEY", key)
	t.Setenv("AIS_BENCH_DATASETS_CACHE", "")
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		echo := r.Header.Get("Authorization") + " " + r.Header.Get("X-Api-Key")
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/models"):
			fmt.Fprintf(w, `{"object":"list","data":[{"id":"m","root":%q}]}`, echo)
		case strings.HasSuffix(r.URL.Path, "/version"):
			fmt.Fprintf(w, `{"version":%q}`, echo)
		case strings.HasSuffix(r.URL.Path, "/completions"):
			io.Copy(io.Discard, r.Body)
			if asked.Add(1)%4 == 0 {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"error":{"message":%q}}`, "bad header "+echo)
				return
			}
			text, _ := json.Marshal("you sent " + echo + " #### 7") // a string always marshals
			fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"content":%s,"reasoning_content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, text, text)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	var stdout, stderr bytes.Buffer
	run([]string{"ais_bench", "--models", "openai_api_chat", "--datasets", "demo_gsm8k_gen_4_shot_cot_chat_prompt", "--no-stream", "--num-warmups", "0",
		"--url", strings.Replace(srv.URL, "http://", "http://user:"+password+"@", 1), "--model", "m", "--api-key-env", "FINISHED_KEY",
		"--header", "X-Api-Key=" + key, "--batch-size", "1"}, &stdout, &stderr)
	if asked.Load() < 8 {
		t.Fatalf("the run did not take place: %s", stderr.String())
	}
	secrets := []string{key, password, base64.StdEncoding.EncodeToString([]byte("user:" + password))}
	look := func(where string, text []byte) {
		for _, s := range secrets {
			if bytes.Contains(text, []byte(s)) {
				t.Errorf("%s holds %q", where, s)
			}
		}
	}
	look("stdout", stdout.Bytes())
	look("stderr", stderr.Bytes())
	seen := map[string]int{}
	redacted := false
	err := filepath.WalkDir("outputs", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		look(path, data)
		redacted = redacted || bytes.Contains(data, []byte("[redacted]"))
		seen[filepath.Ext(path)]++
		switch filepath.Ext(path) {
		case ".xlsx":
			return eachZipped(data, func(name string, text []byte) { look(path+"/"+name, text) })
		case ".parquet":
			return eachValue(data, func(text []byte) { look(path, text) })
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{".json", ".jsonl", ".yaml", ".csv", ".parquet", ".xlsx", ".html", ".txt", ".md", ".out"} {
		if seen[ext] == 0 {
			t.Errorf("the run left no %s file to look into", ext)
		}
	}
	if !redacted {
		t.Error("nothing was redacted: the server's echo did not reach the run folder, so the test proves nothing")
	}
}

func eachZipped(data []byte, f func(name string, text []byte)) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			return err
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return err
		}
		f(m.Name, text)
	}
	return nil
}

// eachValue gives every value of every column of a Parquet file as text.
func eachValue(data []byte, f func([]byte)) error {
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for _, group := range file.RowGroups() {
		rows := group.Rows()
		buf := make([]parquet.Row, 64)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				for _, v := range row {
					f([]byte(v.String()))
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				rows.Close()
				return err
			}
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return nil
}
