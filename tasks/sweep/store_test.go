package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ais_bench/outputs"
)

func create(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Create(dir, Spec{Kind: "sweep", Settings: map[string]string{"output_len": "128", "seed": "7"}}, nil, outputs.ToolInfo{}, []string{"ais_bench"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPointKeysDiffer(t *testing.T) {
	seen := map[string]Point{}
	for _, p := range []Point{
		At(Concurrency, 8, 1), At(Concurrency, 8, 2), At(Concurrency, 80, 1), At(RequestRate, 8, 1), At(RequestRate, 0.5, 1), At(RequestRate, 5, 1),
		{Settings: []Setting{{"a", "1"}, {"b", "2"}}, Run: 1}, {Settings: []Setting{{"a", "1,b=2"}}, Run: 1}, {Settings: []Setting{{"path", "/x/y"}}, Run: 1}, {Settings: []Setting{{"path", "_x_y"}}, Run: 1},
	} {
		k := p.Key()
		if q, ok := seen[k]; ok && p.String() != q.String() {
			t.Errorf("%s and %s have the key %s", p, q, k)
		}
		if k != outputs.FileName(k) || strings.ContainsAny(k, `/\`) {
			t.Errorf("%s: key %q is no file name", p, k)
		}
		seen[k] = p
	}
	if v, ok := At(RequestRate, 0.25, 3).Value(RequestRate); !ok || v != 0.25 {
		t.Errorf("value %g, %v", v, ok)
	}
}

// TestAPointIsDoneByItsResultFile: a run that was cut off does not count and is
// moved aside; only Finish makes a point count, over closing and opening.
func TestAPointIsDoneByItsResultFile(t *testing.T) {
	dir := t.TempDir()
	s := create(t, dir)
	p, q := At(Concurrency, 4, 1), At(Concurrency, 8, 1)
	run := func(p Point) {
		at, _, err := s.Begin(p)
		if err != nil {
			t.Fatal(err)
		}
		of, err := outputs.CreateIn(at)
		if err != nil {
			t.Fatal(err)
		}
		m := outputs.NewManifest(of, outputs.ToolInfo{}, nil)
		m.State = outputs.StateDone
		if err := of.WriteManifest(m); err != nil {
			t.Fatal(err)
		}
	}
	run(p)
	if err := s.Finish(p, map[string]any{"requests": 40}); err != nil {
		t.Fatal(err)
	}
	run(q) // and here it is killed
	s.unlock()

	s, err := Open(dir, "latest", "sweep", nil, outputs.ToolInfo{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	done, err := s.Points()
	if err != nil || len(done) != 1 || done[0].Point.Key() != p.Key() || string(done[0].Result) == "" {
		t.Fatalf("done %v, %v", done, err)
	}
	if d, err := s.Done(q); d != nil || err != nil {
		t.Errorf("a run that was cut off counts: %v, %v", d, err)
	}
	run(q) // twice over: neither attempt is lost
	run(q)
	if _, n, err := s.Begin(At(Concurrency, 16, 1)); n != 1 || err != nil {
		t.Errorf("attempt %d, %v", n, err)
	}
	left, err := filepath.Glob(s.Run().Path("incomplete", "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("incomplete runs %v, %v", left, err)
	}
	if _, n, err := s.Begin(q); n != 4 || err != nil { // which moves the third away
		t.Errorf("attempt %d, %v", n, err)
	}
	run(q)
	if got := s.Manifest().Sessions; len(got) != 2 || got[0].State != outputs.StateInterrupted || got[1].State != outputs.StateRunning {
		t.Errorf("sessions %+v", got)
	}
	if err := s.Close(outputs.StateDone, ""); err != nil {
		t.Fatal(err)
	}
	// A half-written result under its temporary name is none either.
	if err := os.WriteFile(filepath.Join(s.Dir(q), ".point.json.tmp1"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Done(q); d != nil || err != nil {
		t.Errorf("a temporary file counts: %v, %v", d, err)
	}
	// A damaged result is an error that says what to do, never a point.
	for _, text := range []string{"{}", "null", `{"point": {"run": 1}}`, "{", "[]", ""} {
		if err := os.WriteFile(resultPath(s.Dir(q)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := s.Done(q); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%q as a result: %v, %v", text, d, err)
		}
	}
}

func TestASweepIsLocked(t *testing.T) {
	dir := t.TempDir()
	s := create(t, dir)
	if _, err := Open(dir, "latest", "sweep", nil, outputs.ToolInfo{}, nil); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("opened twice: %v", err)
	}
	if _, err := Read(dir, filepath.Base(s.Run().Dir()), "sweep"); err != nil {
		t.Errorf("reading takes no lock: %v", err)
	}
	if err := s.Close(outputs.StateDone, ""); err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir, s.Run().Dir(), "sweep", nil, outputs.ToolInfo{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	again.unlock()
}

func TestChangesAreNamed(t *testing.T) {
	s := create(t, t.TempDir())
	defer s.unlock()
	if err := s.Match(map[string]string{"output_len": "128", "seed": "7"}); err != nil {
		t.Error(err)
	}
	err := s.Match(map[string]string{"output_len": "64", "temperature": "0"})
	var changed *ChangedError
	if !errors.As(err, &changed) || len(changed.Changes) != 3 {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{"output_len: 128 when it was measured, 64 now", "seed: 7 when it was measured, not given now", "temperature: not given when it was measured, 0 now"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if err := s.Confirm(map[string]string{"model": "a"}); err != nil {
		t.Error(err)
	}
	if err := s.Confirm(map[string]string{"data": "x"}); err != nil {
		t.Error(err)
	}
	if err := s.Confirm(map[string]string{"model": "b", "data": "x"}); err == nil || !strings.Contains(err.Error(), "model: a when") || strings.Contains(err.Error(), "data") {
		t.Errorf("%v", err)
	}
}

func TestReadRefusesWhatIsNoSweep(t *testing.T) {
	dir := t.TempDir()
	run, err := outputs.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"latest", filepath.Base(run.Dir()), "nothing"} {
		if _, err := Read(dir, name, "sweep"); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
