package tokenizer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// localServer serves a local tokenizer as a model server does.
type localServer struct {
	tok *Tokenizer
	err error
}

func (s localServer) Tokenize(_ context.Context, text string, special bool) ([]int, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.tok.Encode(text, special), nil
}

func (s localServer) Detokenize(_ context.Context, ids []int) (string, error) {
	return s.tok.Decode(ids, false), s.err
}

func env(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

func TestResolve(t *testing.T) {
	data, err := os.ReadFile("testdata/bytelevel_bpe.json")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	put := func(parts ...string) string {
		dir := filepath.Join(append([]string{home}, parts...)...)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	local := put("models", "mine")
	hub := put("hub", "models--org--name", "snapshots", "abc")
	put("hub", "models--org--name", "snapshots", "older")
	if err := os.MkdirAll(filepath.Join(home, "hub", "models--org--name", "refs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "hub", "models--org--name", "refs", "main"), []byte("abc\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tok, err := Load(local)
	if err != nil {
		t.Fatal(err)
	}
	up, down := localServer{tok: tok}, localServer{err: errors.New("404 not found")}
	getenv := env(map[string]string{"HF_HOME": home, "HOME": filepath.Join(home, "models")})
	for name, want := range map[string]string{local: local, "~/mine": local, "org/name": hub} {
		if got, err := Find(name, Options{Getenv: getenv}); err != nil || got != filepath.Join(want, "tokenizer.json") {
			t.Errorf("Find %s: %s, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{"org/other": "neither a folder nor in the hub cache", "/no/such/dir": "does not exist", home: "it has neither tokenizer.json nor a tiktoken file"} {
		if _, err := Find(name, Options{Getenv: getenv}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "file does not exist") {
			t.Errorf("Find %s: %v", name, err)
		}
	}
	for _, c := range []struct {
		name, mode string
		server     Server
		source     string
		path       string
		fails      string // part of the error
	}{
		{name: local, source: "folder", path: local},
		{name: "~/mine", source: "folder", path: local},
		{name: "org/name", source: "hub_cache", path: hub},
		{name: "org/name", mode: "hf", source: "hub_cache", path: hub},
		{name: "org/other", server: up, source: "server"},
		{name: "org/other", mode: "hf", server: up, fails: "neither a folder nor in the hub cache"},
		{name: "org/other", server: down, source: "none"},
		{name: "org/other", source: "none"},
		{name: "", source: "none"},
		{name: "/no/such/dir", server: up, fails: "give the folder of the model"},
		{name: "./gone/tokenizer.json", fails: "does not exist"},
		{name: "org/name", mode: "server", server: up, source: "server"},
		{name: "org/name", mode: "server", fails: "no server address"},
		{name: "org/name", mode: "none", source: "none"},
		{name: "org/name", mode: "atuo", fails: `did you mean "auto"`},
	} {
		r, err := Resolve(context.Background(), c.name, c.mode, Options{Server: c.server, Getenv: getenv})
		label := c.name + " in mode " + c.mode
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: error %v, want one with %q", label, err, c.fails)
			}
			continue
		}
		if err != nil || r.Source != c.source {
			t.Errorf("%s: source %q, error %v; want %q", label, r.Source, err, c.source)
			continue
		}
		if (r.Codec == nil) != (c.source == "none") || (r.Note == "") == (c.source == "none") {
			t.Errorf("%s: codec %v, note %q", label, r.Codec, r.Note)
		}
		if c.path != "" && (filepath.Dir(r.Path) != c.path || r.Local == nil) {
			t.Errorf("%s: from %s, want %s", label, r.Path, c.path)
		}
	}
	if _, err := Resolve(context.Background(), "/no/such/dir", "", Options{Getenv: getenv}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing path does not wrap fs.ErrNotExist: %v", err)
	}
}

func TestRemote(t *testing.T) {
	tok, err := Load("testdata/bytelevel_bpe.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRemote(context.Background(), localServer{tok: tok})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.AddedByDefault(), tok.AddedByDefault(); got != want {
		t.Errorf("AddedByDefault = %d, want %d", got, want)
	}
	if got, want := r.Count("the cat"), tok.Count("the cat"); got != want {
		t.Errorf("Count = %d, want %d", got, want)
	}
	special := map[int]bool{}
	for _, id := range r.SpecialIDs() {
		special[id] = true
	}
	for _, id := range tok.SpecialIDs() {
		if id < r.VocabSize() && !special[id] {
			t.Errorf("special token %d counts as ordinary", id)
		}
	}
	r.server = localServer{tok: tok, err: errors.New("gone")}
	if ids := r.Encode("the", false); ids != nil || r.Err() == nil || !strings.Contains(r.Err().Error(), "gone") {
		t.Errorf("after a failure: %v, %v", ids, r.Err())
	}
}
