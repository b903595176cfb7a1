package facts

import (
	"errors"
	"os"
	"strings"
	"testing"

	"ais_bench/outputs"
)

// withManifest writes a manifest into a run of scores.
func withManifest(t *testing.T, change func(*outputs.Manifest)) *outputs.Run {
	t.Helper()
	run := scoredRun(t, "m", "maths", 10, 1, func(int, int) bool { return true })
	m := outputs.NewManifest(run, outputs.ToolInfo{Name: "ais_bench", Version: "1.2.3"}, []string{"ais_bench"})
	m.State = outputs.StateDone
	m.Pairs = []outputs.PairState{{Model: "m", Dataset: "maths", State: outputs.PairDone, Requests: 10}}
	m.ClientHealth = map[string]any{"m × maths": map[string]any{"client_bound": "no", "cpu_share": 0.25, "cores": 2, "gc": map[string]any{"pause_max_ms": nil}}}
	m.Configs = []outputs.ConfigFile{{Kind: "model", Name: "m", SHA256: "aa"}}
	if change != nil {
		change(m)
	}
	for i := range m.Pairs {
		if err := errors.Join(run.SealRecords(&m.Pairs[i]), run.SealAnswers(&m.Pairs[i])); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	return run
}

// TestAManifestOfNothing: an emptied manifest says as little of the run as none.
func TestAManifestOfNothing(t *testing.T) {
	s := open(t, Options{}, withManifest(t, func(m *outputs.Manifest) { m.Pairs = nil }))
	if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0], "names no model and data set") {
		t.Errorf("problems %q", p)
	}
}

func TestFactsOfTheManifest(t *testing.T) {
	s := open(t, Options{}, withManifest(t, nil))
	for name, want := range map[string]any{"manifest.tool.version": "1.2.3", "manifest.state": "done", "manifest.tool.dirty": false, "client.client_bound": "no", "client.cpu_share": 0.25} {
		f := get(t, s, name)
		if f.Text != want && (f.Value == nil || *f.Value != want) {
			t.Errorf("%s = %v %v, want %v", name, f.Text, f.Value, want)
		}
	}
	if f := get(t, s, "client.gc.pause_max_ms"); f.Defined() || f.Reason == "" {
		t.Errorf("null in the manifest: %+v", f)
	}
	if f := get(t, s, "manifest.server_before.engine"); f.Defined() {
		t.Errorf("a server that told nothing: %+v", f)
	}
	for name, want := range map[string]string{"manifest.tol.version": `did you mean "tool"?`, "client.gc": "it is a group; name one entry of it: pause_max_ms", "manifest.tool": "group"} {
		if _, err := s.Lookup(strings.Split(name, ".")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if len(s.Problems()) > 0 {
		t.Errorf("a run that is whole has problems: %v", s.Problems())
	}
}

func TestRunsThatAreNotValid(t *testing.T) {
	for want, change := range map[string]func(*outputs.Manifest){
		"2 of 10 questions of maths were not asked": func(m *outputs.Manifest) { m.Pairs[0].NotAsked = 2 },
		"m on maths is interrupted":                 func(m *outputs.Manifest) { m.Pairs[0].State = outputs.PairInterrupted },
		"m on maths ended early: no disk": func(m *outputs.Manifest) {
			m.Pairs[0].State, m.Pairs[0].Error = outputs.PairFailed, "no disk"
		},
		"were not scored: the judge":  func(m *outputs.Manifest) { m.Pairs[0].Scoring = "the judge did not answer" },
		"INVALID: the server changed": func(m *outputs.Manifest) { m.Warnings = []string{"INVALID: the server changed while m × maths ran"} },
	} {
		s := open(t, Options{}, withManifest(t, change))
		if p := strings.Join(s.Problems(), "; "); !strings.Contains(p, want) {
			t.Errorf("problems %q, want %q", p, want)
		}
	}
}

func TestRunsThatDiffer(t *testing.T) {
	s := open(t, Options{}, withManifest(t, nil), withManifest(t, func(m *outputs.Manifest) {
		m.Configs[0].SHA256 = "bb"
		m.ClientHealth = map[string]any{"m × maths": map[string]any{"client_bound": "yes", "cpu_share": 0.95}}
	}))
	if notes := strings.Join(s.Notes(), "; "); !strings.Contains(notes, "another model m") {
		t.Errorf("notes %q", notes)
	}
	if f := get(t, s, "client.client_bound"); f.Defined() || !strings.Contains(f.Reason, "differs between the runs") {
		t.Errorf("%+v", f)
	}
	if i, err := get(t, s, "client.cpu_share").Interval(0.95); err != nil || i.Lo != 0.25 || i.Hi != 0.95 {
		t.Errorf("an observed figure of two runs: %v %v", i, err)
	}
}

// TestEvidenceThatWasTouched: what the manifest does not vouch for decides nothing.
func TestEvidenceThatWasTouched(t *testing.T) {
	for want, touch := range map[string]func(*outputs.Run) error{
		"results/m/maths.json was changed after the run": func(r *outputs.Run) error {
			var doc map[string]any
			if err := outputs.ReadJSON(r.ResultsPath("m", "maths"), &doc); err != nil {
				return err
			}
			doc["overall"].(map[string]any)["right"] = 3
			return r.WriteResults("m", "maths", doc)
		},
		"contradict themselves: 10 of 10 right, and an accuracy of 0.5": func(r *outputs.Run) error {
			var doc map[string]any
			if err := outputs.ReadJSON(r.ResultsPath("m", "maths"), &doc); err != nil {
				return err
			}
			doc["overall"].(map[string]any)["accuracy"] = 0.5
			return r.WriteResults("m", "maths", doc)
		},
		"predictions/m/maths.jsonl is gone": func(r *outputs.Run) error { return os.Remove(r.PredictionsPath("m", "maths")) },
	} {
		run := withManifest(t, nil)
		if err := touch(run); err != nil {
			t.Fatal(err)
		}
		if p := strings.Join(open(t, Options{}, run).Problems(), "; "); !strings.Contains(p, want) {
			t.Errorf("problems %q, want %q", p, want)
		}
	}
}
