package hub

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func zipped(t *testing.T, entries ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for _, name := range entries {
		e, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write([]byte("content of " + name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnpack(t *testing.T) {
	path := zipped(t, "data/a.jsonl", "data/b.jsonl", "__MACOSX/._a")
	files, err := Unpack(path)
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	if raw, err := os.ReadFile(filepath.Join(filepath.Dir(path), "data", "b.jsonl")); err != nil || string(raw) != "content of data/b.jsonl" {
		t.Errorf("%q, %v", raw, err)
	}
	evil := zipped(t, "../evil")
	if _, err := Unpack(evil); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("path outside: %v", err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(evil)), "evil")); err == nil {
		t.Error("a file was written outside")
	}
	if err := os.WriteFile(path, []byte("no archive"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Unpack(path); err == nil {
		t.Error("no archive is accepted")
	}
}
