package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeHub serves files in one of the protocols and misbehaves on demand.
type fakeHub struct {
	*httptest.Server
	files  map[string]string
	cutAt  int  // the first answer for a file ends after so many bytes
	noSeek bool // ignores Range
	lie    bool // serves other bytes than it states
	token  string

	mu     sync.Mutex
	ranges []string
	cuts   map[string]bool
}

func serve(t *testing.T, kind string, h *fakeHub) *Client {
	t.Helper()
	h.cuts = map[string]bool{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/datasets/acme/sums/tree/main", func(w http.ResponseWriter, r *http.Request) {
		var rows []string
		for p, body := range h.files {
			if strings.HasSuffix(p, ".parquet") {
				sum := sha256.Sum256([]byte(body))
				rows = append(rows, fmt.Sprintf(`{"type":"file","path":%q,"size":130,"oid":"x","lfs":{"oid":"%x","size":%d}}`, p, sum, len(body)))
			} else {
				git := sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(body), body)))
				rows = append(rows, fmt.Sprintf(`{"type":"file","path":%q,"size":%d,"oid":"%x"}`, p, len(body), git))
			}
		}
		slices.Sort(rows) // pages must not depend on the map's order
		rows = append(rows, `{"type":"directory","path":"main","size":0,"oid":"d"}`)
		half := len(rows) / 2
		if r.URL.Query().Get("cursor") == "" {
			w.Header().Set("Link", fmt.Sprintf(`<%s%s?recursive=true&cursor=2>; rel="next"`, h.URL, r.URL.Path))
			rows = rows[:half]
		} else {
			rows = rows[half:]
		}
		fmt.Fprintf(w, "[%s]", strings.Join(rows, ","))
	})
	mux.HandleFunc("GET /api/v1/datasets/acme/sums/repo/tree", func(w http.ResponseWriter, r *http.Request) {
		var rows []string
		for p, body := range h.files {
			sum := sha256.Sum256([]byte(body))
			rows = append(rows, fmt.Sprintf(`{"Path":%q,"Type":"blob","Size":%d,"Sha256":"%x"}`, p, len(body), sum))
		}
		fmt.Fprintf(w, `{"Code":200,"Data":{"Files":[%s]}}`, strings.Join(rows, ","))
	})
	mux.HandleFunc("GET /datasets/acme/sums/resolve/main/{path...}", func(w http.ResponseWriter, r *http.Request) { h.file(w, r, r.PathValue("path")) })
	mux.HandleFunc("GET /api/v1/datasets/acme/sums/repo", func(w http.ResponseWriter, r *http.Request) { h.file(w, r, r.URL.Query().Get("FilePath")) })
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.token != "" && r.Header.Get("Authorization") != "Bearer "+h.token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	t.Setenv(defaults[kind].endpointEnv, h.URL+"/")
	c, err := New(kind)
	if err != nil {
		t.Fatal(err)
	}
	c.Pause = time.Microsecond
	return c
}

func (h *fakeHub) file(w http.ResponseWriter, r *http.Request, p string) {
	body, ok := h.files[p]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	h.mu.Lock()
	h.ranges = append(h.ranges, r.Header.Get("Range"))
	cut := h.cutAt > 0 && !h.cuts[p]
	h.cuts[p] = true
	h.mu.Unlock()
	if h.lie {
		body = strings.Repeat("?", len(body))
	}
	var from int
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil && !h.noSeek {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(body)-1, len(body)))
		w.Header().Set("Content-Length", fmt.Sprint(len(body)-from))
		w.WriteHeader(http.StatusPartialContent)
	} else {
		from = 0
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	}
	rest := body[from:]
	if cut && len(rest) > h.cutAt {
		rest = rest[:h.cutAt]
	}
	w.Write([]byte(rest))
}

var someFiles = map[string]string{
	"main/test.parquet":  strings.Repeat("test", 5000),
	"main/train.parquet": strings.Repeat("train", 5000),
	"README.md":          "read me",
}

func TestPull(t *testing.T) {
	for _, kind := range []string{HuggingFace, ModelScope} {
		for name, h := range map[string]*fakeHub{
			"plain":            {},
			"cut, resumed":     {cutAt: 700},
			"cut, not resumed": {cutAt: 700, noSeek: true},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				h.files = someFiles
				c := serve(t, kind, h)
				dir := t.TempDir()
				ends := map[string]int64{}
				done, err := c.Pull(context.Background(), "acme/sums", "", []string{"main/*.parquet", "README.md"}, dir, func(f File, n int64) { ends[f.Path] = n })
				if err != nil {
					t.Fatal(err)
				}
				if len(done) != 3 {
					t.Fatalf("%d files", len(done))
				}
				for p, body := range h.files {
					got, err := os.ReadFile(filepath.Join(dir, p))
					if err != nil || string(got) != body {
						t.Errorf("%s: %v, %d bytes, want %d", p, err, len(got), len(body))
					}
					if ends[p] != int64(len(body)) {
						t.Errorf("%s: progress ended at %d", p, ends[p])
					}
				}
				if parts, _ := filepath.Glob(filepath.Join(dir, "*", "*"+partSuffix)); len(parts) > 0 {
					t.Errorf("parts left: %v", parts)
				}
				if resumed := strings.Contains(strings.Join(h.ranges, " "), "bytes=700-"); resumed != (h.cutAt > 0) {
					t.Errorf("ranges asked for: %q", h.ranges)
				}
				before := len(h.ranges)
				again, err := c.Pull(context.Background(), "acme/sums", "", []string{"**/*.parquet"}, dir, nil)
				if err != nil || len(again) != 2 || again[0].Fresh || len(h.ranges) != before {
					t.Errorf("second pull: %v, %+v, %d downloads", err, again, len(h.ranges)-before)
				}
			})
		}
	}
}

func TestWrongBytesAreNotKept(t *testing.T) {
	for _, kind := range []string{HuggingFace, ModelScope} {
		c := serve(t, kind, &fakeHub{files: someFiles, lie: true})
		dir := t.TempDir()
		for _, p := range []string{"main/test.parquet", "README.md"} {
			_, err := c.Pull(context.Background(), "acme/sums", "", []string{p}, dir, nil)
			if err == nil || !strings.Contains(err.Error(), "not the ones the hub states") {
				t.Errorf("%s %s: error %v", kind, p, err)
			}
			for _, left := range []string{p, p + partSuffix} {
				if _, err := os.Stat(filepath.Join(dir, left)); err == nil {
					t.Errorf("%s is left", left)
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	h := &fakeHub{files: someFiles, token: "s3cret"}
	c := serve(t, HuggingFace, h)
	_, err := c.Pull(context.Background(), "acme/sums", "", []string{"*"}, t.TempDir(), nil)
	if err == nil || !strings.Contains(err.Error(), "HTTP 401") || !strings.Contains(err.Error(), "HF_TOKEN") {
		t.Errorf("without token: %v", err)
	}
	t.Setenv("HF_TOKEN", "s3cret")
	c = serve(t, HuggingFace, h)
	if _, err = c.Pull(context.Background(), "acme/sums", "", []string{"README.md"}, t.TempDir(), nil); err != nil {
		t.Errorf("with token: %v", err)
	}
	_, err = c.Pull(context.Background(), "acme/sums", "", []string{"*.csv"}, t.TempDir(), nil)
	if err == nil || !strings.Contains(err.Error(), "no file like *.csv") {
		t.Errorf("no match: %v", err)
	}
	if _, err = c.Pull(context.Background(), "acme/none", "", []string{"*"}, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "HTTP 404") {
		t.Errorf("no repository: %v", err)
	}
	evil := serve(t, ModelScope, &fakeHub{files: map[string]string{"../evil": "x"}})
	if _, err = evil.Pull(context.Background(), "acme/sums", "", []string{"**"}, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("path outside: %v", err)
	}
	if _, err := New("s3"); err == nil {
		t.Error("unknown kind is accepted")
	}
}

func TestNeverGivesUpEarlyNorTriesForever(t *testing.T) {
	tries := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tries++
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer srv.Close()
	c := &Client{Kind: HuggingFace, Endpoint: srv.URL, HTTP: srv.Client(), Attempts: 3, Pause: time.Microsecond}
	err := c.fetch(context.Background(), "a/b", "main", File{Path: "x", Bytes: 5, SHA256: hex.EncodeToString(make([]byte, 32))}, filepath.Join(t.TempDir(), "x"), nil)
	if err == nil || tries != 3 {
		t.Errorf("error %v after %d tries", err, tries)
	}
}
