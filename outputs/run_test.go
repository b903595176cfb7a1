package outputs

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func newRun(t *testing.T) *Run {
	t.Helper()
	r, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCreateNeverSharesAFolder(t *testing.T) {
	work := t.TempDir()
	now := time.Date(2026, 11, 29, 16, 15, 0, 0, time.UTC)
	var names []string
	for range 3 {
		r, err := createAt(work, now)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Base(r.Dir()))
	}
	if got, want := strings.Join(names, " "), "20261129_161500 20261129_161500_2 20261129_161500_3"; got != want {
		t.Fatalf("folders %q, want %q", got, want)
	}
	for i := 4; i <= 11; i++ {
		if _, err := createAt(work, now); err != nil {
			t.Fatal(err)
		}
	}
	os.Mkdir(filepath.Join(work, "zz_not_a_run"), 0o755)
	latest, err := Latest(work)
	if err != nil || filepath.Base(latest) != "20261129_161500_11" {
		t.Fatalf("latest %q, %v: suffixes must be compared as numbers", latest, err)
	}
}

func TestCreateExplainsAnUnwritableWorkDir(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	_, err := Create(filepath.Join(file, "runs"))
	if err == nil || !strings.Contains(err.Error(), "--work-dir") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %v, want one line that names --work-dir", err)
	}
}

func TestOpen(t *testing.T) {
	work := t.TempDir()
	if _, err := Open(filepath.Join(work, "absent")); err == nil {
		t.Error("an absent folder was opened")
	}
	r, err := Create(work)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(r.Dir()); err == nil {
		t.Error("an empty folder was opened as a run")
	}
	if _, err := Open(work); err == nil || !strings.Contains(err.Error(), r.Dir()) {
		t.Errorf("opening the work dir: %v, want the latest run named", err)
	}
	if err := r.WriteManifest(NewManifest(r, ToolInfo{Name: "ais_bench"}, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(r.Dir()); err != nil {
		t.Error(err)
	}
}

func TestFileName(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"gsm8k", "Qwen/Qwen2.5-7B", "Qwen_Qwen2.5-7B", "Qwen\\Qwen2.5-7B", "../../etc/passwd", "..", ".", "", ".hidden",
		"CON", "nul.txt", "a:b*c?d", "模型-7B", "tab\there", "trailing. ", strings.Repeat("长", 300), strings.Repeat("长", 301), "bad\xffutf8"} {
		got := FileName(name)
		if got == "" || got == "." || got == ".." || strings.ContainsAny(got, `/\:*?"<>|`) || len(got) > 200 {
			t.Errorf("FileName(%q) = %q is not safe", name, got)
		}
		if again := FileName(got); again != got {
			t.Errorf("FileName is not idempotent: %q, then %q", got, again)
		}
		if other, dup := seen[got]; dup {
			t.Errorf("%q and %q share the file name %q", name, other, got)
		}
		seen[got] = name
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, got), nil, 0o644); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, plain := range []string{"gsm8k", "vllm_api_general_chat", "模型-7B", "Qwen2.5-7B-Instruct"} {
		if FileName(plain) != plain {
			t.Errorf("an ordinary name was changed: %q → %q", plain, FileName(plain))
		}
	}
}

func TestPairsKnowTheTrueNames(t *testing.T) {
	r := newRun(t)
	rec := sampleRecord(1)
	rec.Model, rec.Dataset = "org/model:7b", "data set"
	j, err := r.Journal(rec.Model, rec.Dataset)
	if err != nil {
		t.Fatal(err)
	}
	j.Append(rec)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	pairs, err := r.Pairs()
	if err != nil || len(pairs) != 1 || pairs[0] != (Pair{rec.Model, rec.Dataset}) {
		t.Fatalf("pairs %v, %v", pairs, err)
	}
}

func TestWriteErrorsNameTheRemedy(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	j := &Journal{w: newBatchWriter("/data/x.journal", f)}
	if err := j.Append(sampleRecord(1)); err != nil {
		t.Fatal(err)
	}
	err = j.Close()
	if err == nil || !strings.Contains(err.Error(), "/data/x.journal") || !strings.Contains(err.Error(), "--work-dir") {
		t.Fatalf("a full disk gave %v", err)
	}
	if again := j.Append(sampleRecord(2)); again == nil {
		t.Error("Append after a failed Close succeeded")
	}
}

func TestManifest(t *testing.T) {
	r := newRun(t)
	m := NewManifest(r, ToolInfo{Name: "ais_bench", Version: "1.0.0", Commit: "abc"}, []string{"ais_bench", "--api-key", "sk-verysecret"})
	r.SetRedactor(NewRedactor("sk-verysecret"))
	m.Seeds = map[string]any{"seed": 42}
	m.Checklist = r.Checklist(m)
	if err := r.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	got, err := r.ReadManifest()
	if err != nil {
		t.Fatal(err)
	}
	if got.State != StateRunning || got.EndedAt != nil || got.Command.Args[2] != redacted || got.Host.CPUs < 1 {
		t.Errorf("manifest at the start: %+v", got)
	}
	yes := 0
	for _, c := range got.Checklist {
		if c.State == "yes" {
			yes++
		}
		if c.Evidence == "" {
			t.Errorf("%s: neither evidence nor absence", c.Item)
		}
	}
	if yes != 2 { // seed and commit
		t.Errorf("%d items have evidence, want 2", yes)
	}
	path := r.ConfigPath("model.yaml")
	if err := r.WriteConfig("model.yaml", []byte("api_key: sk-verysecret\n")); err != nil {
		t.Fatal(err)
	}
	sum, _, err := HashFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m.State = StateDone
	m.Configs = []ConfigFile{{Kind: "model", Path: "configs/model.yaml", SHA256: sum}}
	if err := r.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	if got, _ = r.ReadManifest(); got.EndedAt == nil {
		t.Error("a finished run has no end time")
	}
	if err := r.VerifyHashes(got); err != nil {
		t.Error(err)
	}
	os.WriteFile(path, []byte("changed"), 0o644)
	if err := r.VerifyHashes(got); err == nil || !strings.Contains(err.Error(), "model.yaml") {
		t.Errorf("a changed config: %v", err)
	}
}
