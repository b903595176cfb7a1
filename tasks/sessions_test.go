package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ais_bench/models/simulator"
	"ais_bench/outputs"
)

// stopAfter closes a run's stop channel when so many answers have come.
type stopAfter struct {
	Quiet
	left  atomic.Int64
	stop  chan struct{}
	mu    sync.Mutex
	notes []string
}

func newStopAfter(n int64) *stopAfter {
	s := &stopAfter{stop: make(chan struct{})}
	s.left.Store(n)
	return s
}

func (s *stopAfter) Answered(*Task, *outputs.Record) {
	if s.left.Add(-1) == 0 {
		close(s.stop)
	}
}

func (s *stopAfter) Note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, line)
}

func manifestOf(t *testing.T, run *outputs.Run) *outputs.Manifest {
	t.Helper()
	m, err := run.ReadManifest()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// measured are a task's measured records.
func measured(t *testing.T, run *outputs.Run, task *Task) []*outputs.Record {
	t.Helper()
	var all []*outputs.Record
	for rec, err := range run.Records(task.ModelAbbr, task.DatasetAbbr) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Phase == outputs.PhaseMeasured {
			all = append(all, rec)
		}
	}
	return all
}

func containing(list []string, part string) int {
	n := 0
	for _, s := range list {
		if strings.Contains(s, part) {
			n++
		}
	}
	return n
}

// TestInterruptedRunAndItsContinuation: an interrupt is told by manifest and
// outcome, its scores are of what was asked, and the session that completes the
// run adds to the evidence of the first on one time axis.
func TestInterruptedRunAndItsContinuation(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	set.Config.N = 2
	const due = 40
	dir := t.TempDir()
	_, url := startSim(t, set, simulator.Config{Accuracy: 0.5, Seed: 3})
	obs := newStopAfter(10)
	m := modelAt(startGate(t, url, 15, obs.stop), set)
	m.Config.BatchSize = 2
	out, task := runOnce(t, m, set, Options{WorkDir: dir, Observer: obs, Stop: obs.stop, Args: []string{"ais_bench", "first"}})
	if task.Err != nil || !out.Stopped {
		t.Fatalf("stopped %v, error %v", out.Stopped, task.Err)
	}
	s := task.Accuracy.Overall
	if s.N < 10 || s.N >= due || s.NotAsked != due-s.N || s.Failed != 0 {
		t.Fatalf("%s and %d not asked of %d", counts(s), s.NotAsked, due)
	}
	if in := task.Inference; in.Answered != s.N || in.Failed != 0 {
		t.Errorf("answered %d, failed %d of %d that were asked", in.Answered, in.Failed, s.N)
	}
	if out.Failed() {
		t.Error("an interrupted run counts as failed")
	}
	first := manifestOf(t, out.Run)
	p := first.Pairs[0]
	if first.State != outputs.StateInterrupted || p.State != outputs.PairInterrupted || p.Failed != 0 || p.NotAsked != int64(s.NotAsked) || p.Requests != due {
		t.Errorf("manifest %s, pair %+v", first.State, p)
	}
	if containing(first.Warnings, warnIncomplete) != 1 {
		t.Errorf("the scores are not marked incomplete: %q", first.Warnings)
	}
	before := measured(t, out.Run, task.Task)

	sim2, url := startSim(t, set, simulator.Config{Accuracy: 0.5, Seed: 3})
	m.Config.URL, m.Config.BatchSize = url, 4
	again, after := runOnce(t, m, set, Options{WorkDir: dir, Reuse: "latest", Args: []string{"ais_bench", "second"}})
	if after.Err != nil {
		t.Fatal(after.Err)
	}
	if n := sim2.Stats().Requests; n != int64(s.NotAsked)+1 { // and the one that looks whether the server works
		t.Errorf("%d requests for %d questions", n, s.NotAsked)
	}
	if s := after.Accuracy.Overall; s.N != due || s.NotAsked != 0 || s.Failed != 0 {
		t.Errorf("completed: %s, %d not asked", counts(s), s.NotAsked)
	}
	second := manifestOf(t, again.Run)
	if second.State != outputs.StateDone || second.Pairs[0].State != outputs.PairDone || len(second.Pairs) != 1 || second.Pairs[0].Sessions != 2 {
		t.Errorf("manifest %s, pairs %+v", second.State, second.Pairs)
	}
	if containing(second.Warnings, warnIncomplete) != 0 || containing(second.Warnings, warnResumed+"it was asked in 2 sessions") != 1 {
		t.Errorf("warnings %q", second.Warnings)
	}
	if containing(second.Warnings, "another server") != 1 {
		t.Errorf("nobody is told of the second server: %q", second.Warnings)
	}
	if second.Clock.ZeroWall != first.Clock.ZeroWall || !slices.Equal(second.Command.Args, first.Command.Args) || second.StartedAt != first.StartedAt {
		t.Errorf("clock %s, command %q, started %s; before %s, %q, %s", second.Clock.ZeroWall, second.Command.Args, second.StartedAt, first.Clock.ZeroWall, first.Command.Args, first.StartedAt)
	}
	if second.ServerBefore == nil || second.ServerBefore.URL != first.ServerBefore.URL {
		t.Errorf("the first server is lost: %+v", second.ServerBefore)
	}
	if len(second.Sessions) != 2 {
		t.Fatalf("%d sessions", len(second.Sessions))
	}
	s1, s2 := second.Sessions[0], second.Sessions[1]
	if s1.Requests != int64(s.N) || s2.Requests != int64(s.NotAsked) || s2.Command.Args[1] != "second" || s2.Workload[task.Task.String()] == nil {
		t.Errorf("sessions %+v and %+v", s1, s2)
	}
	if s1.EndNS == nil || s2.StartNS < *s1.EndNS {
		t.Errorf("the second session starts at %d, the first ended at %v", s2.StartNS, s1.EndNS)
	}
	records := measured(t, again.Run, task.Task)
	if len(records) != due {
		t.Errorf("%d records of %d questions", len(records), due)
	}
	for i, r := range records {
		if i >= len(before) && r.Sent < s2.StartNS {
			t.Errorf("record %d of the second session was sent at %d, before it started at %d", i, r.Sent, s2.StartNS)
		}
	}
	if h, ok := second.ClientHealth.(map[string]any); !ok || h[task.Task.String()] == nil || h[task.Task.String()+" (session 2)"] == nil {
		t.Errorf("client health of both sessions: %v", second.ClientHealth)
	}
	if err := again.Run.VerifyHashes(second); err != nil {
		t.Error(err)
	}
	if len(second.Configs) != 3 || second.Configs[2].Kind != "model" || second.Configs[2].Session != 2 {
		t.Errorf("configurations %+v", second.Configs)
	}
}

// TestInterruptBeforeAnyAnswer: no question was answered, so there is no score.
func TestInterruptBeforeAnyAnswer(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	_, url := startSim(t, set, simulator.Config{})
	stop := make(chan struct{})
	out, err := runPlan(t, modelAt(url, set), set, Options{WorkDir: t.TempDir(), Stop: stop, Observer: closeOnStart{stop: stop}})
	if err != nil {
		t.Fatal(err)
	}
	task := out.Tasks[0]
	m := manifestOf(t, out.Run)
	if task.Accuracy != nil && task.Accuracy.Overall.N+task.Accuracy.Overall.NotAsked != 20 || task.Accuracy != nil && task.Accuracy.Overall.Failed > 0 {
		t.Errorf("a score of questions that were not asked: %s", counts(task.Accuracy.Overall))
	}
	if m.State != outputs.StateInterrupted || m.Pairs[0].Failed != 0 || containing(m.Warnings, warnIncomplete) != 1 {
		t.Errorf("manifest %s, pairs %+v, warnings %q", m.State, m.Pairs, m.Warnings)
	}
}

// closeOnStart stops a run as its measured phase begins.
type closeOnStart struct {
	Quiet
	stop chan struct{}
}

func (c closeOnStart) TaskStarted(*Task, int, time.Duration) { close(c.stop) }

func runPlan(t *testing.T, m ModelChoice, set DatasetChoice, o Options) (*Outcome, error) {
	t.Helper()
	plan, err := NewPlan([]ModelChoice{m}, []DatasetChoice{set})
	if err != nil {
		t.Fatal(err)
	}
	if o.Mode == "" {
		o.Mode = ModeAll
	}
	return Run(t.Context(), plan, o)
}

// TestScoringKeepsEvidence: scoring again, with the server gone, changes nothing
// in the manifest of what asking left there.
func TestScoringKeepsEvidence(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	dir := t.TempDir()
	sim, url := startSim(t, set, simulator.Config{Accuracy: 0.5, Seed: 3, Faults: faults(t, "500:0.2")})
	out, task := runOnce(t, modelAt(url, set), set, Options{WorkDir: dir, Seed: 7, Args: []string{"ais_bench", "ask"}, ServerOptions: ServerOptions{Meta: map[string]string{"gpu": "one"}}})
	before := manifestOf(t, out.Run)
	if before.State != outputs.StateFailed || before.Pairs[0].State != outputs.PairFailed || before.Pairs[0].Failed == 0 || !strings.Contains(before.Pairs[0].Error, "have no answer") {
		t.Errorf("manifest %s, pair %+v", before.State, before.Pairs[0])
	}
	sim.Close()
	m := modelAt(url, set)
	m.Config.GenerationKwargs = map[string]any{"temperature": 0.9}
	m.Config.MaxOutLen = 9
	again, scored := runOnce(t, m, set, Options{WorkDir: dir, Reuse: "latest", Mode: ModeEval, Args: []string{"ais_bench", "score"}})
	if scored.Err != nil || counts(scored.Accuracy.Overall) != counts(task.Accuracy.Overall) {
		t.Fatalf("%v, %s before", scored.Err, counts(task.Accuracy.Overall))
	}
	after := manifestOf(t, again.Run)
	if len(after.Sessions) != 2 || after.Sessions[1].Mode != "eval" || after.Sessions[1].Command.Args[1] != "score" || after.Sessions[1].EndNS == nil {
		t.Errorf("sessions %+v", after.Sessions)
	}
	if containing(after.Warnings, "sampled with other parameters") != 1 {
		t.Errorf("nobody is told that the configuration is not the answers': %q", after.Warnings)
	}
	after.Sessions, after.UpdatedAt, after.EndedAt, after.Warnings = before.Sessions, before.UpdatedAt, before.EndedAt, before.Warnings
	a, _ := json.Marshal(before)
	b, _ := json.Marshal(after)
	if string(a) != string(b) {
		t.Errorf("scoring changed the manifest\n%s\nto\n%s", a, b)
	}
}

// TestScoringInventsNothing: a model or a data set that was never asked has no
// score, whatever run it is looked for in.
func TestScoringInventsNothing(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	dir := t.TempDir()
	sim, url := startSim(t, set, simulator.Config{})
	out, _ := runOnce(t, modelAt(url, set), set, Options{WorkDir: dir})
	before := manifestOf(t, out.Run)
	asked := sim.Stats().Requests
	other := modelAt(url, set)
	other.Name, other.Config.Abbr = "other", "other"
	_, task := runOnce(t, other, set, Options{WorkDir: dir, Reuse: filepath.Base(out.Run.Dir()), Mode: ModeEval})
	if task.Accuracy != nil || task.Err == nil || !strings.Contains(task.Err.Error(), "no answers at") {
		t.Errorf("a score of nothing: %+v, %v", task.Accuracy, task.Err)
	}
	after := manifestOf(t, out.Run)
	if len(after.Pairs) != 1 || after.State != before.State || len(after.Sessions[1].Errors) != 1 || after.Sessions[1].State != outputs.StateFailed {
		t.Errorf("pairs %+v, state %s, session %+v", after.Pairs, after.State, after.Sessions[1])
	}
	if sim.Stats().Requests != asked {
		t.Error("scoring asked the server")
	}
}

// TestScoringLeavesUnaskedOut: rows that came to the data after the run are not
// failures of the service.
func TestScoringLeavesUnaskedOut(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	dir := t.TempDir()
	_, url := startSim(t, set, simulator.Config{Accuracy: 1})
	few := set
	few.Load.NumPrompts = 8
	runOnce(t, modelAt(url, set), few, Options{WorkDir: dir})
	out, task := runOnce(t, modelAt(url, set), set, Options{WorkDir: dir, Reuse: "latest", Mode: ModeEval})
	if task.Err != nil {
		t.Fatal(task.Err)
	}
	if s := task.Accuracy.Overall; s.N != 8 || s.Right != 8 || s.Failed != 0 || s.NotAsked != 12 || s.CI == nil || s.CI.High < 1 {
		t.Errorf("%s, %d not asked, interval %v", counts(s), s.NotAsked, s.CI)
	}
	if containing(out.Warnings, "12 of 20 questions were not asked") != 1 {
		t.Errorf("warnings %q", out.Warnings)
	}
}

// TestScoringNeedsToKnowThePrompts: answers that do not say to which prompt they
// were given are scored only with the prompts of their run.
func TestScoringNeedsToKnowThePrompts(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	dir := t.TempDir()
	_, url := startSim(t, set, simulator.Config{Accuracy: 1})
	out, task := runOnce(t, modelAt(url, set), set, Options{WorkDir: dir})
	path := out.Run.PredictionsPath(task.Task.ModelAbbr, task.Task.DatasetAbbr)
	byKey, order, err := outputs.LatestPredictions(path)
	if err != nil {
		t.Fatal(err)
	}
	err = out.Run.WritePredictions(task.Task.ModelAbbr, task.Task.DatasetAbbr, func(yield func(*outputs.Prediction, error) bool) {
		for _, k := range order {
			p := byKey[k]
			p.PromptSHA256 = ""
			if !yield(p, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, task = runOnce(t, modelAt(url, set), set, Options{WorkDir: dir, Reuse: "latest", Mode: ModeEval}); task.Err != nil {
		t.Errorf("the same prompts: %v", task.Err)
	}
	other := set
	other.Load.Path = changed(t, set.Load.Path)
	if _, task = runOnce(t, modelAt(url, set), other, Options{WorkDir: dir, Reuse: "latest", Mode: ModeEval}); task.Err == nil || !strings.Contains(task.Err.Error(), "does not say to which") {
		t.Errorf("other prompts: %v", task.Err)
	}
}

// TestRefusedResumeLeavesTheRunAsItWas: neither its manifest's account nor its
// stored configurations become those of a session that was refused.
func TestRefusedResumeLeavesTheRunAsItWas(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	dir := t.TempDir()
	_, url := startSim(t, set, simulator.Config{Accuracy: 0.5})
	out, _ := runOnce(t, modelAt(url, set), set, Options{WorkDir: dir})
	before := manifestOf(t, out.Run)
	m := modelAt(url, set)
	m.Config.GenerationKwargs = map[string]any{"temperature": 0.7}
	again, task := runOnce(t, m, set, Options{WorkDir: dir, Reuse: "latest"})
	if task.Err == nil || !again.Failed() {
		t.Fatal("answers of two temperatures were mixed")
	}
	after := manifestOf(t, out.Run)
	if after.State != outputs.StateDone || after.Pairs[0].State != outputs.PairDone || fmt.Sprint(after.Sampling) != fmt.Sprint(before.Sampling) || after.Clock.ZeroWall != before.Clock.ZeroWall {
		t.Errorf("the refused session changed the run: %s, %+v, %v", after.State, after.Pairs[0], after.Sampling)
	}
	if s := after.Sessions[1]; s.State != outputs.StateFailed || len(s.Errors) != 1 || !strings.Contains(s.Errors[0], "sampling") {
		t.Errorf("session %+v", s)
	}
	if err := out.Run.VerifyHashes(before); err != nil {
		t.Error(err)
	}
}

// killVariable makes TestAskUntilKilled, in a process of its own, ask the server
// it names; killDirectory is where the run goes.
const (
	killVariable  = "AIS_BENCH_TEST_ASK_UNTIL_KILLED"
	killDirectory = "AIS_BENCH_TEST_WORK_DIR"
	killKind      = "AIS_BENCH_TEST_KIND"
)

func killedSet(t *testing.T, kind string) DatasetChoice {
	set := kinds[kind].choice(t)
	set.Config.N = 4
	return set
}

func TestAskUntilKilled(t *testing.T) {
	url := os.Getenv(killVariable)
	if url == "" {
		t.Skip("the other half of TestKilledRunLosesAndDoublesNothing")
	}
	set := killedSet(t, os.Getenv(killKind))
	m := modelAt(url, set)
	m.Config.BatchSize = 2
	runOnce(t, m, set, Options{WorkDir: os.Getenv(killDirectory)})
}

// TestKilledRunLosesAndDoublesNothing: a process is killed while it asks, the ends
// of its files are torn on top of that, and the run is completed.
func TestKilledRunLosesAndDoublesNothing(t *testing.T) {
	for kind, labels := range map[string]int{"numeric without a worked solution": 1, "likelihood of two": 2} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			killAndComplete(t, kind, labels)
		})
	}
}

// written is how many answers a run that goes on has on the disk, as records and,
// of as many questions, as predictions.
func written(dir, abbr string) int {
	run, err := OpenRun(dir, "latest")
	if err != nil {
		return 0 // it has not begun
	}
	records := 0
	for rec, err := range run.Records("sim", abbr) {
		if err == nil && rec.OK() && rec.Phase == outputs.PhaseMeasured {
			records++
		}
	}
	if b, _ := os.ReadFile(run.PredictionsPath("sim", abbr)); bytes.Count(b, []byte("\n")) < 8 {
		return 0
	}
	return records
}

// killAndComplete: a question is one request, or one a label.
func killAndComplete(t *testing.T, kind string, labels int) {
	set := killedSet(t, kind)
	const due = 80
	dir := t.TempDir()
	sim, url := startSim(t, set, simulator.Config{Accuracy: 0.5, Seed: 3})
	cmd := exec.Command(os.Args[0], "-test.run=^TestAskUntilKilled$")
	// What a killed process keeps in the directory of temporary files stays there.
	cmd.Env = append(os.Environ(), killVariable+"="+startGate(t, url, 30, nil), killDirectory+"="+dir, killKind+"="+kind, "TMPDIR="+t.TempDir())
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	// Most of what was let through is on the disk; the rest of the run waits.
	abbr := set.Config.Abbr
	for written(dir, abbr) < 8*labels {
		select {
		case <-ended:
			t.Fatalf("the run ended before it could be killed:\n%s", said.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
	cmd.Process.Kill()
	<-ended

	run, err := OpenRun(dir, "latest")
	if err != nil {
		t.Fatal(err)
	}
	killed := manifestOf(t, run)
	if killed.State != outputs.StateRunning || killed.Clock == nil || killed.Clock.ZeroWall == "" {
		t.Errorf("state %s, clock %+v", killed.State, killed.Clock)
	}
	predictions := run.PredictionsPath("sim", abbr)
	// All that had been answered: one prediction is taken away whole, so that only
	// the records have it, and the next is torn.
	b, err := os.ReadFile(predictions)
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.SplitAfter(string(b[:strings.LastIndexByte(string(b), '\n')+1]), "\n")
	if len(whole) < 6 {
		t.Fatalf("only %d answers were written", len(whole))
	}
	if err := os.WriteFile(predictions, []byte(strings.Join(whole[:3], "")+whole[3][:len(whole[3])/2]), 0o644); err != nil {
		t.Fatal(err)
	}
	journal, err := os.OpenFile(run.PerformancePath("sim", abbr, "journal"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(journal, "\xa1\x5b\x40\x00\x00\x00torn"); err != nil {
		t.Fatal(err)
	}
	journal.Close()
	kept := map[string]bool{}
	for rec, err := range run.Records("sim", abbr) {
		var damage *outputs.DamageError
		if err != nil && !errors.As(err, &damage) {
			t.Fatal(err)
		}
		if err == nil && rec.OK() && rec.Phase == outputs.PhaseMeasured {
			kept[fmt.Sprint(rec.SampleID, "#", rec.Repeat, "#", rec.Turn)] = true
		}
	}
	if len(kept) < 4 || len(kept) >= due {
		t.Fatalf("%d answers in the records", len(kept))
	}

	asked := sim.Stats().Requests
	obs := newStopAfter(0)
	out, task := runOnce(t, modelAt(url, set), set, Options{WorkDir: dir, Reuse: "latest", Observer: obs})
	if task.Err != nil {
		t.Fatal(task.Err)
	}
	if n := sim.Stats().Requests - asked; n != int64(due*labels-len(kept))+1 {
		t.Errorf("%d requests for %d missing answers", n, due*labels-len(kept))
	}
	if s := task.Accuracy.Overall; s.N != due || s.Failed != 0 || s.NotAsked != 0 {
		t.Errorf("completed: %s", counts(s))
	}
	once := map[string]int{}
	for _, r := range measured(t, out.Run, task.Task) {
		if r.OK() {
			once[fmt.Sprint(r.SampleID, "#", r.Repeat, "#", r.Turn)]++
		}
	}
	for id, n := range once {
		if n != 1 {
			t.Errorf("%d records of an answer to %s", n, id)
		}
	}
	if len(once) != due*labels || len(outcomes(t, out.Run, task.Task)) != due {
		t.Errorf("%d answers in the records, %d in the predictions, want %d and %d", len(once), len(outcomes(t, out.Run, task.Task)), due*labels, due)
	}
	if containing(obs.notes, "torn last line") != 1 || containing(obs.notes, "only the records had") != 1 {
		t.Errorf("nobody is told what was repaired: %q", obs.notes)
	}
	m := manifestOf(t, out.Run)
	if m.State != outputs.StateDone || m.Clock.ZeroWall != killed.Clock.ZeroWall || len(m.Sessions) != 2 || m.Sessions[0].State != outputs.StateInterrupted || m.Sessions[0].Note == "" {
		t.Errorf("manifest %s, clock %s (%s), sessions %+v", m.State, m.Clock.ZeroWall, killed.Clock.ZeroWall, m.Sessions)
	}
}

// TestUnreadableManifestIsNotReplaced: going on would destroy what it still holds.
func TestUnreadableManifestIsNotReplaced(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	dir := t.TempDir()
	_, url := startSim(t, set, simulator.Config{})
	out, _ := runOnce(t, modelAt(url, set), set, Options{WorkDir: dir})
	const damaged = `{"manifest_version": 1, "state": "do`
	if err := os.WriteFile(out.Run.ManifestPath(), []byte(damaged), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := runPlan(t, modelAt(url, set), set, Options{WorkDir: dir, Reuse: "latest"})
	var env *EnvironmentError
	if !errors.As(err, &env) || !strings.Contains(err.Error(), "manifest.json") {
		t.Errorf("went on: %v", err)
	}
	if b, _ := os.ReadFile(out.Run.ManifestPath()); string(b) != damaged {
		t.Errorf("the manifest now holds %.80s", b)
	}
}

// TestTwoRunsAtOnce: runs started in the same second have folders of their own,
// and their answers do not meet.
func TestTwoRunsAtOnce(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	dir := t.TempDir()
	_, url := startSim(t, set, simulator.Config{Accuracy: 1})
	var wg sync.WaitGroup
	var outs [4]*Outcome
	for i := range outs {
		wg.Go(func() {
			plan, err := NewPlan([]ModelChoice{modelAt(url, set)}, []DatasetChoice{set})
			if err == nil {
				outs[i], err = Run(context.Background(), plan, Options{Mode: ModeAll, WorkDir: dir})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	folders, ids := map[string]bool{}, map[string]bool{}
	for _, out := range outs {
		if out == nil {
			t.Fatal("a run did not end")
		}
		folders[filepath.Base(out.Run.Dir())] = true
		if s := out.Tasks[0].Accuracy.Overall; s.N != 20 || s.Right != 20 {
			t.Errorf("%s", counts(s))
		}
		for _, r := range measured(t, out.Run, out.Tasks[0].Task) {
			ids[r.RequestID] = true
		}
	}
	if len(folders) != 4 || len(ids) != 80 {
		t.Errorf("%d folders and %d request ids of 4 runs and 80 requests", len(folders), len(ids))
	}
}

// TestClockGoesOn: a session's clock starts behind the end of the one before it,
// even when the wall clock was set back in between.
func TestClockGoesOn(t *testing.T) {
	end := int64(5 * time.Second)
	for name, c := range map[string]struct {
		zero  time.Time
		least time.Duration
		note  string
	}{
		"a pause of an hour":      {time.Now().Add(-time.Hour), time.Hour, ""},
		"a wall clock set back":   {time.Now().Add(time.Hour), 5 * time.Second, "behind"},
		"set back, zero still ok": {time.Now().Add(-time.Second), 5 * time.Second, "behind"},
	} {
		m := &outputs.Manifest{Clock: &outputs.ClockInfo{ZeroWall: c.zero.Format(time.RFC3339Nano)}, Sessions: []outputs.Session{{EndNS: &end}}}
		clock, note := clockAfter(m)
		now := clock.Now()
		if now < c.least.Nanoseconds() || now > c.least.Nanoseconds()+int64(time.Minute) || (c.note == "") != (note == "") || !strings.Contains(note, c.note) {
			t.Errorf("%s: it is %s, note %q", name, time.Duration(now), note)
		}
		if c.note == "" && !clock.Zero().Round(0).Equal(c.zero.Round(0)) {
			t.Errorf("%s: zero is %s, not %s", name, clock.Zero(), c.zero)
		}
	}
	if _, note := clockAfter(&outputs.Manifest{}); note == "" {
		t.Error("a manifest without a clock goes unnoticed")
	}
}

// cutOff cancels a run at its first answer, as a second interrupt does.
type cutOff struct {
	Quiet
	once   sync.Once
	cancel context.CancelFunc
}

func (c *cutOff) Answered(*Task, *outputs.Record) { c.once.Do(c.cancel) }

// TestCutOffRunStillLooksAtTheServer: what a run that was cut off says of the
// server comes from the server, not from the cancelled request; and what it had
// is kept and told as interrupted.
func TestCutOffRunStillLooksAtTheServer(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	dir := t.TempDir()
	sim, url := startSim(t, set, simulator.Config{Accuracy: 1})
	m := modelAt(startGate(t, url, 5, nil), set)
	m.Config.BatchSize = 2
	plan, err := NewPlan([]ModelChoice{m}, []DatasetChoice{set})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, err := Run(ctx, plan, Options{Mode: ModeAll, WorkDir: dir, Observer: &cutOff{cancel: cancel}})
	if err != nil {
		t.Fatal(err)
	}
	task := out.Tasks[0]
	a, b := task.ServerBefore, task.ServerAfter
	if a == nil || b == nil || a.Engine == nil || b.Engine == nil || *a.Engine != *b.Engine || len(b.Errors) > len(a.Errors) || len(task.Changed) > 0 {
		t.Errorf("the server before %+v and after %+v; changed: %q", a, b, task.Changed)
	}
	man := manifestOf(t, out.Run)
	if !out.Stopped || man.State != outputs.StateInterrupted || man.Pairs[0].State != outputs.PairInterrupted || man.Pairs[0].NotAsked == 0 {
		t.Errorf("stopped %v, manifest %s, pair %+v", out.Stopped, man.State, man.Pairs[0])
	}

	// An answer that the user cut off is asked again and counts against nobody.
	_, scored := runOnce(t, m, set, Options{WorkDir: dir, Reuse: "latest", Mode: ModeEval})
	if scored.Err != nil {
		t.Fatal(scored.Err)
	}
	if s := scored.Accuracy.Overall; s.N == 0 || s.Right != s.N || s.Failed != 0 || s.NotAsked != 20-s.N {
		t.Errorf("scores of the part: %s, %d not asked", counts(s), s.NotAsked)
	}
	asked := sim.Stats().Requests
	m.Config.URL = url
	_, rest := runOnce(t, m, set, Options{WorkDir: dir, Reuse: "latest"})
	if s := rest.Accuracy; rest.Err != nil || s.Overall.Right != 20 || sim.Stats().Requests-asked != int64(scored.Accuracy.Overall.NotAsked)+1 {
		t.Errorf("completed: %v, %d requests for %d questions", rest.Err, sim.Stats().Requests-asked, scored.Accuracy.Overall.NotAsked)
	}
}

// TestCutOffRunIsScored: the second interrupt cuts off what is in flight. What
// came back is scored; what was cut off is no failure and is told apart.
func TestCutOffRunIsScored(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	dir := t.TempDir()
	// Some requests never end by themselves, so that some are always cut off.
	_, url := startSim(t, set, simulator.Config{Accuracy: 1, Seed: 3, Faults: faults(t, "hang:0.3")})
	obs := newStopAfter(4)
	out, task := runOnce(t, modelAt(url, set), set, Options{WorkDir: dir, Observer: obs, Cut: obs.stop})
	in := task.Inference
	if task.Err != nil || !out.Stopped || !in.Stopped || out.Failed() {
		t.Fatalf("%v, %+v", task.Err, in)
	}
	if in.Cancelled == 0 || in.Failed != 0 || len(in.Reasons) != 0 || in.Answered < 4 || in.Answered+in.Cancelled+in.NotAsked != 20 {
		t.Errorf("%+v", in)
	}
	if s := task.Accuracy.Overall; s.N != in.Answered || s.Right != s.N || s.Failed != 0 || s.NotAsked != 20-s.N {
		t.Errorf("%s, %d not asked", counts(s), s.NotAsked)
	}
	p := manifestOf(t, out.Run).Pairs[0]
	if p.State != outputs.PairInterrupted || p.Failed != 0 || p.Cancelled != int64(in.Cancelled) || p.NotAsked != int64(in.NotAsked) {
		t.Errorf("pair %+v", p)
	}
}
