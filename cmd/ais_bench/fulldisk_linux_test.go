package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ais_bench/models/simulator"
)

const tooLong = 256 << 10 // bytes that no file may have once there is no room

// crampedProgram is the name under which the test binary is this program with a command
// too long for a cramped disk: all manifests are then, records and result files are not.
const crampedProgram = "ais_bench_cramped"

func init() {
	programs[crampedProgram] = func() {
		signal.Ignore(syscall.SIGXFSZ)
		args := os.Args
		os.Args = append(append([]string{}, args...), strings.Repeat("x", 2*tooLong))
		os.Exit(run(args, os.Stdout, os.Stderr))
	}
}

// cramped is a run in a process of its own, for which there is no more room once a
// service behind url has got a number of requests.
type cramped struct {
	url string
	pid chan int
}

// noRoomFrom puts a simulator at the url; its last request is the last one with room.
func noRoomFrom(t *testing.T, last int64, faults ...simulator.Fault) cramped {
	t.Helper()
	c := cramped{pid: make(chan int, 1)}
	_, sim := startSim(t, simulator.Config{Preset: "instant", Faults: faults})
	c.url = between(t, sim, func(n int64) {
		if n == last {
			limit := unix.Rlimit{Cur: tooLong, Max: tooLong}
			if err := unix.Prlimit(<-c.pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
				t.Error(err)
			}
		}
	})
	return c
}

// ended runs a command line whose last manifest does not fit: figures and folder are
// shown, and the one error line says what has no room and, where given, how it ended.
func (c cramped) ended(t *testing.T, shown []string, line []string, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(crampedProgram, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.pid <- cmd.Process.Pid
	_ = cmd.Wait() // the exit code tells
	code := cmd.ProcessState.ExitCode()
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
		result, c := filepath.Join(t.TempDir(), "result.json"), noRoomFrom(t, 8)
		c.ended(t, []string{"Serving Benchmark Result", "Run folder: "}, nil, append([]string{"bench", "serve"},
			serveArgs(c.url, "--num-prompts", "8", "--max-concurrency", "1", "--work-dir", t.TempDir(), "--save-result", "--result-filename", result)...)...)
		var doc struct{ Completed int }
		if b, err := os.ReadFile(result); err != nil || json.Unmarshal(b, &doc) != nil || doc.Completed != 8 {
			t.Errorf("the result file: %v, %d completed", err, doc.Completed)
		}
	})
	t.Run("verdict", func(t *testing.T) {
		c := noRoomFrom(t, 8)
		c.ended(t, []string{"Serving Benchmark Result", "Verdict: FAIL"}, []string{"; FAIL: "}, append([]string{"bench", "serve"},
			serveArgs(c.url, "--num-prompts", "8", "--max-concurrency", "1", "--work-dir", t.TempDir(), "--contract", gate)...)...)
	})
	t.Run("accuracy", func(t *testing.T) {
		c := noRoomFrom(t, 8)
		c.ended(t, []string{"accuracy", "Run folder: "}, nil, "--models", "vllm_api_general", "--url", c.url, "--datasets", "demo_gsm8k_gen_4_shot_cot_chat_prompt",
			"--batch-size", "1", "--work-dir", t.TempDir())
	})
	t.Run("questions without an answer", func(t *testing.T) { // how it ended, and how it goes on
		c := noRoomFrom(t, 2, simulator.Fault{Kind: "empty", Rate: 1, When: simulator.FaultStart})
		c.ended(t, []string{"accuracy", "Run folder: "}, []string{"have no answer", "; ask them again with `", " --reuse="}, "--models", "vllm_api_general",
			"--url", c.url, "--datasets", "demo_gsm8k_gen_4_shot_cot_chat_prompt", "--batch-size", "1", "--retry", "0", "--num-warmups", "0", "--work-dir", t.TempDir())
	})
	t.Run("sweep", func(t *testing.T) {
		c := noRoomFrom(t, 8)
		c.ended(t, []string{"Sweep over concurrency", "Sweep folder: "}, nil, append([]string{"bench", "sweep"},
			serveArgs(c.url, "--num-prompts", "4", "--max-concurrency", "1,2", "--work-dir", t.TempDir(), "--random-range-ratio", "0")...)...)
	})
}
