package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ais_bench/tasks"
)

// TestCanWrite: a result that could not be written is found before the work, and looking
// leaves nothing behind.
func TestCanWrite(t *testing.T) {
	dir := t.TempDir()
	at := func(name ...string) string { return filepath.Join(append([]string{dir}, name...)...) }
	if err := os.WriteFile(at("there.json"), []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"loop": "loop", "later": "later.json"} {
		if err := os.Symlink(to, at(from)); err != nil {
			t.Skip(err)
		}
	}
	for path, want := range map[string]string{
		at("new.json"): "", at("a", "b", "new.json"): "", at("there.json"): "", at("later"): "",
		dir:                        "it is a folder; name a file",
		at("loop"):                 "too many",
		at("loop", "x.json"):       "too many",
		at("there.json", "x"):      "directory",
		at("there.json", "x", "y"): "directory",
	} {
		err := canWrite("--result-filename", path)
		var env *tasks.EnvironmentError
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", path, err)
		case want != "" && (err == nil || !errors.As(err, &env) || !strings.HasPrefix(err.Error(), "--result-filename "+path+" cannot be written: ")):
			t.Errorf("%s: %v", path, err)
		case want != "" && !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "no folder"):
			t.Errorf("%s: %v does not say %q", path, err, want)
		}
	}
	if b, err := os.ReadFile(at("there.json")); err != nil || string(b) != "kept" {
		t.Errorf("the file that was there: %q, %v", b, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 3 {
		t.Errorf("left behind: %v, %v", list, err)
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		if err := canWrite("--json", "/dev/full"); err == nil {
			t.Error("/dev/full is taken")
		}
	}
}
