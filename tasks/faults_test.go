package tasks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ais_bench/models/simulator"
	"ais_bench/outputs"
)

// outcomes are the verdicts of a run's task by sample and repeat.
func outcomes(t *testing.T, run *outputs.Run, task *Task) map[string]string {
	t.Helper()
	got := map[string]string{}
	byKey, _, err := outputs.LatestPredictions(run.PredictionsPath(task.ModelAbbr, task.DatasetAbbr))
	if err != nil {
		t.Fatal(err)
	}
	for k, p := range byKey {
		got[fmt.Sprint(k.SampleID, "#", k.Repeat)] = p.Outcome
	}
	return got
}

func faults(t *testing.T, list ...string) []simulator.Fault {
	t.Helper()
	var out []simulator.Fault
	for _, s := range list {
		f, err := simulator.ParseFault(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// TestFailedRequestsAreNeitherRightNorWrong: under faults an answer either has the
// verdict it would have had, or its request counts as failed. In particular a
// likelihood that could not be asked for neither wins nor loses.
func TestFailedRequestsAreNeitherRightNorWrong(t *testing.T) {
	// Which requests are spoilt depends on their order, so the rates are such that about
	// half of the 20 questions fail: all or none of them do once in a million runs.
	for name, rate := range map[string]string{"numeric without a worked solution": "0.5", "likelihood of two": "0.3", "likelihood of four": "0.16"} {
		set := kinds[name].choice(t)
		_, url := startSim(t, set, simulator.Config{Accuracy: 0.5, Seed: 3})
		clean, cleanTask := runOnce(t, modelAt(url, set), set, Options{})
		want := outcomes(t, clean.Run, cleanTask.Task)
		for _, fault := range []string{"500", "reset", "close", "error", "malformed", "html", "429"} {
			t.Run(name+"/"+fault, func(t *testing.T) {
				t.Parallel()
				_, url := startSim(t, set, simulator.Config{Accuracy: 0.5, Seed: 3, Faults: faults(t, fault+":"+rate)})
				out, task := runOnce(t, modelAt(url, set), set, Options{})
				got := outcomes(t, out.Run, task.Task)
				failed := 0
				for id, o := range got {
					switch {
					case o == "failed":
						failed++
					case o != want[id]:
						t.Errorf("sample %s: %s under faults, %s without", id, o, want[id])
					}
				}
				s := task.Accuracy.Overall
				if failed == 0 || failed == len(want) {
					t.Errorf("%d of %d requests failed: nothing is shown", failed, len(want))
				}
				if s.Failed != failed || s.N != len(want) || s.Right+s.Wrong+s.Failed != s.N {
					t.Errorf("%s, but %d answers of %d are marked failed", counts(s), failed, len(want))
				}
				if !out.Failed() || task.Inference.Failed != failed {
					t.Errorf("the run reports %d failed questions, want %d, and failure %v", task.Inference.Failed, failed, out.Failed())
				}
			})
		}
	}
}

// TestRetriesLeaveNoTrace: faults that a retry gets over change no verdict.
func TestRetriesLeaveNoTrace(t *testing.T) {
	for _, name := range []string{"numeric without a worked solution", "likelihood of two"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := kinds[name].choice(t)
			sim, url := startSim(t, set, simulator.Config{Accuracy: 0.5, Seed: 3, Faults: faults(t, "500:0.2"), RetryAfter: 1})
			m := modelAt(url, set)
			m.Config.Retry = 20
			_, task := runOnce(t, m, set, Options{})
			if s := task.Accuracy.Overall; s.Failed != 0 || int64(s.Right) != sim.Stats().QuestionsRight || sim.Stats().Faulted == 0 {
				t.Errorf("%s; the simulator answered %d right and spoilt %d", counts(s), sim.Stats().QuestionsRight, sim.Stats().Faulted)
			}
		})
	}
}

// TestReuseAsksOnlyWhatIsMissing: a run whose requests partly failed is completed
// by another, which asks no question twice.
func TestReuseAsksOnlyWhatIsMissing(t *testing.T) {
	for _, name := range []string{"numeric without a worked solution", "likelihood of two"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := kinds[name].choice(t)
			dir := t.TempDir()
			// About half of the questions fail, by one request or by one of two.
			_, url := startSim(t, set, simulator.Config{Accuracy: 0.5, Seed: 3, Faults: faults(t, "500:"+map[bool]string{true: "0.3", false: "0.5"}[name == "likelihood of two"])})
			first, before := runOnce(t, modelAt(url, set), set, Options{WorkDir: dir})
			missing := before.Inference.Failed
			if missing == 0 || missing == before.Inference.Asked {
				t.Fatalf("%d of %d failed: nothing is shown", missing, before.Inference.Asked)
			}
			had := 0
			for _, rec := range measured(t, first.Run, before.Task) {
				if rec.OK() {
					had++
				}
			}
			sim, url := startSim(t, set, simulator.Config{Accuracy: 0.5, Seed: 3})
			again, after := runOnce(t, modelAt(url, set), set, Options{WorkDir: dir, Reuse: "latest"})
			if after.Err != nil {
				t.Fatal(after.Err)
			}
			if again.Run.Dir() != first.Run.Dir() {
				t.Errorf("the run went on in %s, not in %s", again.Run.Dir(), first.Run.Dir())
			}
			// Of a question with labels those are asked for that have no score yet.
			perQuestion := max(len(after.Estimate.Set.Samples[0].Choices), 1)
			want := before.Inference.Asked*perQuestion - had + 1 // and the one that looks whether the server works
			if s := sim.Stats(); s.QuestionsAsked != int64(missing) || s.Requests != int64(want) {
				t.Errorf("%d requests about %d questions, want %d about the %d that have no answer", s.Requests, s.QuestionsAsked, want, missing)
			}
			ok, retries := 0, 0
			for _, rec := range measured(t, again.Run, after.Task) {
				if rec.OK() {
					ok++
				}
				if rec.Attempt > 0 {
					retries++
				}
			}
			if ok != before.Inference.Asked*perQuestion || retries != missing {
				t.Errorf("the records hold %d answers and %d further attempts, want %d and %d", ok, retries, before.Inference.Asked*perQuestion, missing)
			}
			if r := after.Inference; r.Resumed != r.Asked-missing || r.Answered != missing || r.Failed != 0 {
				t.Errorf("kept %d, answered %d, failed %d; want %d, %d, 0", r.Resumed, r.Answered, r.Failed, r.Asked-missing, missing)
			}
			if s := after.Accuracy.Overall; s.Failed != 0 || s.N != before.Inference.Asked || s.Right == 0 || s.Wrong == 0 {
				t.Errorf("after completion: %s", counts(s))
			}

			// Scoring again needs no server.
			sim.Close()
			_, scored := runOnce(t, modelAt(url, set), set, Options{WorkDir: dir, Reuse: "latest", Mode: ModeEval})
			if scored.Err != nil {
				t.Fatalf("scoring again: %v", scored.Err)
			}
			if a, b := counts(scored.Accuracy.Overall), counts(after.Accuracy.Overall); a != b {
				t.Errorf("scored again without asking: %s, before %s", a, b)
			}
		})
	}
}

// TestReuseRefusesAMixture: answers given under other conditions are not
// completed, nor scored as if they belonged to other questions.
func TestReuseRefusesAMixture(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	dir := t.TempDir()
	sim, url := startSim(t, set, simulator.Config{Accuracy: 0.5, ServedModelNames: []string{"sim", "another"}})
	runOnce(t, modelAt(url, set), set, Options{WorkDir: dir})
	asked := sim.Stats().Requests
	for name, c := range map[string]struct {
		change func(*ModelChoice, *DatasetChoice)
		want   string
		eval   string // what scoring alone says; "" = it goes on
	}{
		"model":        {func(m *ModelChoice, _ *DatasetChoice) { m.Config.Model = "another" }, `model "sim"`, ""},
		"sampling":     {func(m *ModelChoice, _ *DatasetChoice) { m.Config.GenerationKwargs = map[string]any{"temperature": 0.7} }, "sampling", ""},
		"output cap":   {func(_ *ModelChoice, d *DatasetChoice) { d.Config.MaxOutLen = 7 }, "output caps", ""},
		"fewer rows":   {func(_ *ModelChoice, d *DatasetChoice) { d.Load.NumPrompts = 5 }, "prompts have changed", ""},
		"changed rows": {func(_ *ModelChoice, d *DatasetChoice) { d.Load.Path = changed(t, d.Load.Path) }, "prompts have changed", "another prompt"},
	} {
		t.Run(name, func(t *testing.T) {
			m, d := modelAt(url, set), set
			c.change(&m, &d)
			_, task := runOnce(t, m, d, Options{WorkDir: dir, Reuse: "latest"})
			if task.Err == nil || !strings.Contains(task.Err.Error(), c.want) {
				t.Errorf("the run went on or failed otherwise: %v", task.Err)
			}
			_, task = runOnce(t, m, d, Options{WorkDir: dir, Reuse: "latest", Mode: ModeEval})
			if c.eval == "" != (task.Err == nil) || c.eval != "" && !strings.Contains(task.Err.Error(), c.eval) {
				t.Errorf("scoring alone: %v, want %q", task.Err, c.eval)
			}
		})
	}
	if now := sim.Stats().Requests; now != asked {
		t.Errorf("%d requests were sent by runs that had to refuse", now-asked)
	}
}

// TestReuseSeesEveryCandidate: of a likelihood sample not only the first label's
// prompt counts.
func TestReuseSeesEveryCandidate(t *testing.T) {
	set := kinds["likelihood of two"].choice(t)
	dir := t.TempDir()
	_, url := startSim(t, set, simulator.Config{Accuracy: 0.5})
	runOnce(t, modelAt(url, set), set, Options{WorkDir: dir})
	other := set
	other.Load.Path = changed(t, set.Load.Path)
	_, task := runOnce(t, modelAt(url, set), other, Options{WorkDir: dir, Reuse: "latest"})
	if task.Err == nil || !strings.Contains(task.Err.Error(), "prompts have changed") {
		t.Errorf("a changed second candidate went unnoticed: %v", task.Err)
	}
}

// changed copies a directory of data with the last question of every JSONL file
// worded otherwise (of a likelihood sample: its last candidate).
func changed(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		s := strings.Replace(string(b), "Shelf 19 of", "Board 19 of", 1)
		s = strings.Replace(s, "water over lid 19", "milk over lid 19", 1)
		if err := os.WriteFile(filepath.Join(to, f.Name()), []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestRepeatsGiveSamplingMetrics: n answers a question, drawn anew each time, give
// avg@n, pass@k and cons@k that agree with the simulator's own log.
func TestRepeatsGiveSamplingMetrics(t *testing.T) {
	set := kinds["numeric without a worked solution"].choice(t)
	set.Config.N = 4
	sim, url := startSim(t, set, simulator.Config{Accuracy: 0.5, Seed: 5, VaryByRepeat: true})
	out, task := runOnce(t, modelAt(url, set), set, Options{})
	if task.Err != nil {
		t.Fatal(task.Err)
	}
	right := map[string]int{}
	for id, o := range outcomes(t, out.Run, task.Task) {
		sample, _, _ := strings.Cut(id, "#")
		right[sample] += 0
		if o == "right" {
			right[sample]++
		}
	}
	items, total, any2 := len(right), 0, 0.0
	spread := map[int]bool{}
	for _, c := range right {
		total += c
		spread[c] = true
		// Of the six pairs out of four answers those without a right one.
		wrong := 4 - c
		any2 += 1 - float64(wrong*(wrong-1)/2)/6
	}
	if len(spread) < 3 {
		t.Fatalf("repeats hardly vary: %v", right)
	}
	r := task.Accuracy.Overall.Repeats
	if r == nil || r.N != 4 {
		t.Fatalf("no metrics of repeats: %+v", r)
	}
	near := func(what string, got, want float64) {
		if d := got - want; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s %.6f, want %.6f", what, got, want)
		}
	}
	near("avg@4", r.AvgAtN, float64(sim.Stats().AnswersRight)/float64(4*items))
	near("avg@4 from verdicts", r.AvgAtN, float64(total)/float64(4*items))
	near("pass@1", r.PassAt[1], r.AvgAtN)
	near("pass@2", r.PassAt[2], any2/float64(items))
	atLeastOnce := 0.0
	for _, c := range right {
		if c > 0 {
			atLeastOnce++
		}
	}
	near("pass@4", r.PassAt[4], atLeastOnce/float64(items))
	if c := r.ConsAt[4]; c < r.PassHat[4] || c > r.PassAt[4] {
		t.Errorf("cons@4 %.3f is outside pass^4 %.3f … pass@4 %.3f", c, r.PassHat[4], r.PassAt[4])
	}
	if task.Accuracy.Overall.N != 4*items && task.Accuracy.Overall.N != items {
		t.Errorf("n is %d for %d items of 4 answers", task.Accuracy.Overall.N, items)
	}
}
