package tasks

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"ais_bench/models/simulator"
	"ais_bench/outputs"
)

// rescored is the one pair of a run scored again, and its result as it would be
// written.
func rescored(t *testing.T, run *outputs.Run, o RescoreOptions) (Rescored, string) {
	t.Helper()
	m, err := run.ReadManifest()
	if err != nil {
		t.Fatal(err)
	}
	list, err := Rescore(t.Context(), run, m, o)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d pairs, %v", len(list), err)
	}
	if list[0].Result == nil {
		t.Fatalf("no result: %s", list[0].Why)
	}
	b, err := outputs.MarshalJSON(list[0].Result)
	if err != nil {
		t.Fatal(err)
	}
	return list[0], string(b)
}

// storedResult is results/*.json without blanks.
func storedResult(t *testing.T, run *outputs.Run, p outputs.Pair) string {
	t.Helper()
	doc, err := os.ReadFile(run.ResultsPath(p.Model, p.Dataset))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRescoreGivesTheStoredScores: for every kind of data set, scoring again from
// what the run folder keeps gives the stored result to the last digit; so does
// counting the stored verdicts, where scoring needs a judge or a sandbox or data
// that are gone.
func TestRescoreGivesTheStoredScores(t *testing.T) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if k.needs != nil {
				k.needs(t)
			}
			set := k.choice(t)
			set.Load.NumPrompts = 7 // not all: the run has to remember
			_, url := startSim(t, set, simulator.Config{Accuracy: 0.6, Seed: 7})
			var o Options
			if k.judged {
				o.Judges, o.JudgeConcurrency = []ModelChoice{startJudge(t)}, 4
			}
			out, task := runOnce(t, modelAt(url, set), set, o)
			if task.Err != nil {
				t.Fatal(task.Err)
			}
			r, again := rescored(t, out.Run, RescoreOptions{})
			if want := storedResult(t, out.Run, r.Pair); again != want {
				t.Errorf("scored again\n got %s\nwant %s", again, want)
			}
			program := takes(task.Accuracy.Scorer, "sandbox")
			if r.Counted != (k.judged || program) {
				t.Errorf("counted %v: %s", r.Counted, r.Why)
			}
			switch {
			case k.judged && !strings.Contains(r.Why, "judge"):
				t.Errorf("why: %s", r.Why)
			case program:
				r, again := rescored(t, out.Run, RescoreOptions{Sandbox: "native"})
				if want := storedResult(t, out.Run, r.Pair); again != want || r.Counted {
					t.Errorf("in a sandbox (counted %v: %s)\n got %s\nwant %s", r.Counted, r.Why, again, want)
				}
			}
			// Without the data the verdicts are counted, to the same result.
			if k.file != "" {
				r, again := rescored(t, out.Run, RescoreOptions{DatasetPath: t.TempDir()})
				if want := storedResult(t, out.Run, r.Pair); again != want || !r.Counted {
					t.Errorf("counted %v\n got %s\nwant %s", r.Counted, again, want)
				}
			}
		})
	}
}

// TestRescoreSeesWhatWasChanged: an answer that was made better gives another
// score, and a question that was changed is told apart from the data of the run.
func TestRescoreSeesWhatWasChanged(t *testing.T) {
	k := kinds["custom question and answer"]
	set := k.choice(t)
	_, url := startSim(t, set, simulator.Config{Accuracy: 0.5, Seed: 7})
	out, task := runOnce(t, modelAt(url, set), set, Options{})
	p := outputs.Pair{Model: task.Task.ModelAbbr, Dataset: task.Task.DatasetAbbr}
	path := out.Run.PredictionsPath(p.Model, p.Dataset)
	var all []*outputs.Prediction
	var wrong *outputs.Prediction
	for a, err := range outputs.ReadPredictions(path) {
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, a); wrong == nil && a.Outcome == "wrong" {
			wrong = a
			a.Prediction = a.Gold.(string)
		}
	}
	if wrong == nil {
		t.Fatal("nothing is wrong")
	}
	if err := out.Run.WritePredictions(p.Model, p.Dataset, func(yield func(*outputs.Prediction, error) bool) {
		for _, a := range all {
			if !yield(a, nil) {
				return
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	r, again := rescored(t, out.Run, RescoreOptions{})
	if again == storedResult(t, out.Run, p) || r.Result.Overall.Right != task.Accuracy.Overall.Right+1 {
		t.Errorf("a better answer made no difference: %s", again)
	}
	if a := r.Answers[wrong.Key()]; a == nil || a.Outcome != "right" {
		t.Errorf("the answer now: %+v", a)
	}

	doc, err := os.ReadFile(set.Config.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(set.Config.Path, bytes.Replace(doc, []byte("room 3?"), []byte("room 4?"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	r, _ = rescored(t, out.Run, RescoreOptions{})
	if !r.Counted || !strings.Contains(r.Why, "another prompt") || len(r.Data) != 1 {
		t.Errorf("counted %v: %s; data %q", r.Counted, r.Why, r.Data)
	}
}
