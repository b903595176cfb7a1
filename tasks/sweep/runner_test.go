package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ais_bench/datasets/workloads"
	"ais_bench/models/simulator"
	"ais_bench/outputs"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
)

// service is an in-process simulator and the options to ask it.
func service(t *testing.T, cfg simulator.Config) bench.Options {
	t.Helper()
	srv, err := simulator.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	url, err := srv.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	w := workloads.Defaults("random")
	w.NumPrompts, w.InputLen, w.OutputLen = 6, 20, 3
	return bench.Options{Backend: "openai", BaseURL: url, Stream: true, Dataset: "random", Workload: w}
}

func runner(t *testing.T, s *Store, base bench.Options, stop chan struct{}) *Runner {
	t.Helper()
	return &Runner{Store: s, Stop: stop, Options: func(p Point, attempt int) (bench.Options, error) {
		o := base
		v, _ := p.Value(Concurrency)
		o.MaxConcurrency, o.Seed = int(v), Seed(base.Seed, p, attempt)
		return o, nil
	}}
}

// TestRunnerMeasuresWhatIsMissing: a point that is done is not asked again, one
// whose run was cut off is, with other prompts, and the interrupted sweep goes on.
func TestRunnerMeasuresWhatIsMissing(t *testing.T) {
	base := service(t, simulator.Config{Preset: "instant"})
	dir := t.TempDir()
	s := create(t, dir)
	stop := make(chan struct{})
	r := runner(t, s, base, stop)
	a, b := At(Concurrency, 1, 1), At(Concurrency, 2, 1)
	d, err := r.Measure(t.Context(), a)
	if err != nil || d == nil || !strings.Contains(string(d.Result), `"requests": 6`) && !strings.Contains(string(d.Result), `"requests":6`) {
		t.Fatalf("%+v, %v", d, err)
	}
	run, err := outputs.Open(s.Dir(a))
	if err != nil {
		t.Fatal(err)
	}
	if m, err := run.ReadManifest(); err != nil || m.State != outputs.StateDone {
		t.Errorf("the point's run: %+v, %v", m, err)
	}

	// The second point is stopped in mid-run: the user of its conversations thinks for
	// an hour after the first answer.
	r.Options = func(p Point, attempt int) (bench.Options, error) {
		o := base
		o.MaxConcurrency, o.Seed = 1, Seed(base.Seed, p, attempt)
		o.Backend, o.Workload.NumTurns, o.Workload.TurnInputLen, o.Workload.ThinkTime = "openai-chat", 2, 5, time.Hour
		o.Observer = &stopper{stop: stop}
		return o, nil
	}
	if _, err := r.Measure(t.Context(), b); !errors.Is(err, ErrInterrupted) {
		t.Fatalf("interrupted: %v", err)
	}
	if _, err := r.Measure(t.Context(), At(Concurrency, 4, 1)); !errors.Is(err, ErrInterrupted) {
		t.Errorf("another point was begun after the interrupt: %v", err)
	}
	if err := s.Close(outputs.StateInterrupted, ""); err != nil {
		t.Fatal(err)
	}

	s, err = Open(dir, "latest", "sweep", nil, outputs.ToolInfo{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.unlock()
	asked := map[string]int{}
	r = runner(t, s, base, make(chan struct{}))
	options := r.Options
	r.Options = func(p Point, attempt int) (bench.Options, error) {
		asked[p.Key()] = attempt
		return options(p, attempt)
	}
	for _, p := range []Point{a, b} {
		if _, err := r.Measure(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if len(asked) != 1 || asked[b.Key()] != 2 {
		t.Errorf("asked (attempt) %v, want only the second point, for the second time", asked)
	}
	if left, _ := filepath.Glob(s.Run().Path("incomplete", "*")); len(left) != 1 {
		t.Errorf("incomplete %v", left)
	}
	if done, err := s.Points(); err != nil || len(done) != 2 {
		t.Errorf("%d points done, %v", len(done), err)
	}
	if f := s.Spec().Facts; f["model (served)"] != "sim" || f["engine"] == "" {
		t.Errorf("facts %v", f)
	}
}

// stopper interrupts at the first answer.
type stopper struct {
	tasks.Quiet
	stop chan struct{}
	done bool
}

func (s *stopper) Answered(*tasks.Task, *outputs.Record) {
	if !s.done {
		s.done = true
		close(s.stop)
	}
}

func TestRunnerRefusesAnotherModel(t *testing.T) {
	s := create(t, t.TempDir())
	defer s.unlock()
	base := service(t, simulator.Config{Preset: "instant"})
	if _, err := runner(t, s, base, nil).Measure(t.Context(), At(Concurrency, 1, 1)); err != nil {
		t.Fatal(err)
	}
	other := service(t, simulator.Config{Preset: "instant", ServedModelNames: []string{"other"}})
	_, err := runner(t, s, other, nil).Measure(t.Context(), At(Concurrency, 2, 1))
	var changed *ChangedError
	if !errors.As(err, &changed) || !strings.Contains(err.Error(), "model (served): sim when it was measured, other now") {
		t.Errorf("%v", err)
	}
}

// TestAPointWithoutAnswersDoesNotCount: a service that only fails stops the
// sweep, and the point is measured again.
func TestAPointWithoutAnswersDoesNotCount(t *testing.T) {
	s := create(t, t.TempDir())
	defer s.unlock()
	base := service(t, simulator.Config{Preset: "instant"})
	base.Headers = map[string]string{"X-Sim-Fault": "close@mid"}
	_, err := runner(t, s, base, nil).Measure(context.Background(), At(Concurrency, 1, 1))
	if err == nil {
		t.Fatal("a point without an answer counts")
	}
	if d, err := s.Done(At(Concurrency, 1, 1)); d != nil || err != nil {
		t.Errorf("%v, %v", d, err)
	}
}

func TestSeedsDiffer(t *testing.T) {
	seen := map[int64]bool{}
	for _, p := range []Point{At(Concurrency, 1, 1), At(Concurrency, 1, 2), At(Concurrency, 2, 1), At(RequestRate, 1, 1)} {
		for attempt := 1; attempt < 3; attempt++ {
			s := Seed(7, p, attempt)
			if s < 0 || seen[s] || s != Seed(7, p, attempt) || Seed(8, p, attempt) != s+1 {
				t.Errorf("%s: seed %d", p, s)
			}
			seen[s] = true
		}
	}
}

func TestCooldownEndsWithAnInterrupt(t *testing.T) {
	stop := make(chan struct{})
	r := &Runner{Cooldown: 1 << 62, ended: true, Stop: stop}
	close(stop)
	if err := r.rest(t.Context()); !errors.Is(err, ErrInterrupted) {
		t.Error(err)
	}
}

// What the folder is to blame for is told from what a point is: nothing else can be
// measured either.
func TestRunnerTellsErrorsOfTheFolder(t *testing.T) {
	base := service(t, simulator.Config{Preset: "instant"})
	var store *StoreError
	var env *tasks.EnvironmentError

	s := create(t, t.TempDir())
	defer s.unlock()
	r := runner(t, s, base, make(chan struct{}))
	r.Keep = func(Point, *bench.Session, *tasks.Outcome) error {
		return &tasks.EnvironmentError{Err: errors.New("no room for report.html")}
	}
	if _, err := r.Measure(t.Context(), At(Concurrency, 1, 1)); !errors.As(err, &store) || !errors.As(err, &env) {
		t.Errorf("reports that cannot be written: %T %v", err, err)
	}

	s = create(t, t.TempDir())
	defer s.unlock()
	if err := os.WriteFile(s.Run().Path("points"), nil, 0o600); err != nil { // in the way of the points' folders
		t.Fatal(err)
	}
	r = runner(t, s, base, make(chan struct{}))
	if _, err := r.Measure(t.Context(), At(Concurrency, 1, 1)); !errors.As(err, &store) || !errors.As(err, &env) {
		t.Errorf("a folder that cannot be made: %T %v", err, err)
	}

	s = create(t, t.TempDir())
	defer s.unlock()
	r = runner(t, s, service(t, simulator.Config{Preset: "instant", Faults: []simulator.Fault{{Kind: "500", Rate: 1, When: simulator.FaultBefore}}}), make(chan struct{}))
	if _, err := r.Measure(t.Context(), At(Concurrency, 1, 1)); err == nil || errors.As(err, &store) {
		t.Errorf("a service that fails: %T %v", err, err)
	}
}
