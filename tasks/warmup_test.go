package tasks

import (
	"errors"
	"os"
	"strings"
	"testing"

	"ais_bench/models/simulator"
	"ais_bench/outputs"
)

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestWarmUpFailures: some are told, all give the run up, and one failure of the
// only warm-up is followed by another try.
func TestWarmUpFailures(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	for _, c := range []struct {
		name    string
		fault   string
		n       int
		err     string
		warning string
	}{
		{"some", "500:0.4", 8, "", "of 8 warm-up requests failed, the last one with http_5xx"},
		{"none", "", 3, "", ""},
	} {
		cfg := simulator.Config{Seed: 3}
		if c.fault != "" {
			cfg.Faults = faults(t, c.fault)
		}
		_, url := startSim(t, set, cfg)
		m := modelAt(url, set)
		m.Config.BatchSize = 1
		out, task := runOnce(t, m, set, Options{Mode: ModeInfer, NumWarmups: c.n})
		if task.Err != nil || task.Inference.Answered+task.Inference.Failed != 20 {
			t.Errorf("%s: %v, %+v", c.name, task.Err, task.Inference)
		}
		if n := containing(out.Warnings, "warm-up"); c.warning == "" && n != 0 || c.warning != "" && containing(out.Warnings, c.warning) != 1 {
			t.Errorf("%s: warnings %q", c.name, out.Warnings)
		}
	}

	// All of them: the server breaks when it has been found to work.
	sim, url := startSim(t, set, simulator.Config{})
	obs := &breakAtWarmUp{sim: sim}
	out, task := runOnce(t, modelAt(url, set), set, Options{WorkDir: t.TempDir(), NumWarmups: 2, Observer: obs})
	if !errors.Is(task.Err, errWarmupFailed) || !strings.Contains(task.Err.Error(), "3 of 3 failed") || strings.Contains(task.Err.Error(), "interrupted") {
		t.Errorf("%v", task.Err)
	}
	if in := task.Inference; in.NotAsked != 20 || in.Failed != 0 || in.Stopped {
		t.Errorf("%+v", in)
	}
	if p := manifestOf(t, out.Run).Pairs[0]; p.State == outputs.PairDone || p.NotAsked != 20 || p.Failed != 0 || p.Error == "" {
		t.Errorf("pair %+v", p)
	}
}

// breakAtWarmUp takes the server away when the warm-up begins.
type breakAtWarmUp struct {
	Quiet
	sim *simulator.Server
}

func (b *breakAtWarmUp) Note(line string) {
	if strings.Contains(line, "warm-up request(s)") {
		b.sim.Close()
	}
}

// TestInterruptDuringWarmUp is told as what it is.
func TestInterruptDuringWarmUp(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	_, url := startSim(t, set, simulator.Config{})
	obs := &stopAtWarmUp{stop: make(chan struct{})}
	_, task := runOnce(t, modelAt(url, set), set, Options{Mode: ModeInfer, NumWarmups: 2, Observer: obs, Stop: obs.stop})
	if in := task.Inference; task.Err != nil || !in.Stopped || in.NotAsked != 20 || in.Failed != 0 || containing(obs.notes, "interrupted during the warm-up") != 1 {
		t.Errorf("%v, %+v, notes %q", task.Err, in, obs.notes)
	}
}

// stopAtWarmUp interrupts a run when the warm-up begins.
type stopAtWarmUp struct {
	Quiet
	stop  chan struct{}
	notes []string
}

func (s *stopAtWarmUp) Note(line string) {
	s.notes = append(s.notes, line)
	if strings.Contains(line, "warm-up request(s)") {
		close(s.stop)
	}
}
