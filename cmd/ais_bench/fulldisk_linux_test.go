package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ais_bench/models/simulator"
)

const tooLong = 256 << 10 // bytes that no file may have once there is no room

// noRoomFrom gives the address of a simulator behind which, from the n-th request for
// an answer on, no file has room that is longer than tooLong. All manifests are: the
// command in them is. Records and result files are not.
func noRoomFrom(t *testing.T, last int64, faults ...simulator.Fault) string {
	t.Helper()
	args := os.Args
	os.Args = append(append([]string{}, args...), strings.Repeat("x", 2*tooLong))
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		os.Args = args
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
	})
	_, sim := startSim(t, simulator.Config{Preset: "instant", Faults: faults})
	return between(t, sim, func(n int64) {
		if n == last {
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: tooLong, Max: before.Max}); err != nil {
				t.Error(err)
			}
		}
	})
}

// ended runs a command line whose last manifest does not fit: figures and folder are
// shown, and the one error line says what has no room and, where given, how it ended.
func ended(t *testing.T, shown []string, line []string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(append([]string{"ais_bench"}, args...), &out, &errs)
	said := strings.TrimSpace(errs.String())
	said = said[strings.LastIndex(said, "\n")+1:]
	for _, s := range shown {
		if !strings.Contains(out.String(), s) {
			t.Errorf("%q is not in\n%s", s, out.String())
		}
	}
	for _, s := range append(line, "error: ", "manifest.json: file too large") {
		if !strings.Contains(said, s) {
			t.Errorf("%q is not in the last line: %s", s, said)
		}
	}
	if code != exitEnvironment || strings.Count(errs.String(), "error: ") != 1 {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	return out.String()
}

func serveArgs(url string, more ...string) []string {
	return append([]string{"--base-url", url, "--disable-tqdm", "--random-input-len", "20", "--random-output-len", "5"}, more...)
}

// A manifest that has no room costs none of what was measured.
func TestFullDiskCostsNoFigures(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate.yaml")
	if err := os.WriteFile(gate, []byte("clauses:\n  - {name: no time at all, expr: perf.ttft.p50_ms <= 0.0001}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("serve", func(t *testing.T) {
		result := filepath.Join(t.TempDir(), "result.json")
		ended(t, []string{"Serving Benchmark Result", "Run folder: "}, nil, append([]string{"bench", "serve"},
			serveArgs(noRoomFrom(t, 8), "--num-prompts", "8", "--max-concurrency", "1", "--work-dir", t.TempDir(), "--save-result", "--result-filename", result)...)...)
		var doc struct{ Completed int }
		if b, err := os.ReadFile(result); err != nil || json.Unmarshal(b, &doc) != nil || doc.Completed != 8 {
			t.Errorf("the result file: %v, %d completed", err, doc.Completed)
		}
	})
	t.Run("verdict", func(t *testing.T) {
		ended(t, []string{"Serving Benchmark Result", "Verdict: FAIL"}, []string{"; FAIL: "}, append([]string{"bench", "serve"},
			serveArgs(noRoomFrom(t, 8), "--num-prompts", "8", "--max-concurrency", "1", "--work-dir", t.TempDir(), "--contract", gate)...)...)
	})
	t.Run("accuracy", func(t *testing.T) {
		ended(t, []string{"accuracy", "Run folder: "}, nil, "--models", "vllm_api_general", "--url", noRoomFrom(t, 8), "--datasets", "demo_gsm8k_gen_4_shot_cot_chat_prompt",
			"--batch-size", "1", "--work-dir", t.TempDir())
	})
	t.Run("questions without an answer", func(t *testing.T) { // how it ended, and how it goes on
		ended(t, []string{"accuracy", "Run folder: "}, []string{"have no answer", "; ask them again with `", " --reuse="}, "--models", "vllm_api_general",
			"--url", noRoomFrom(t, 2, simulator.Fault{Kind: "empty", Rate: 1, When: simulator.FaultStart}), "--datasets", "demo_gsm8k_gen_4_shot_cot_chat_prompt", "--batch-size", "1", "--retry", "0", "--num-warmups", "0", "--work-dir", t.TempDir())
	})
	t.Run("sweep", func(t *testing.T) {
		ended(t, []string{"Sweep over concurrency", "Sweep folder: "}, nil, append([]string{"bench", "sweep"},
			serveArgs(noRoomFrom(t, 8), "--num-prompts", "4", "--max-concurrency", "1,2", "--work-dir", t.TempDir(), "--random-range-ratio", "0")...)...)
	})
}
