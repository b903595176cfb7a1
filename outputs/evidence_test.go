package outputs

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// sealedRun is a run of one pair as a session leaves it.
func sealedRun(t *testing.T) (*Run, *Manifest) {
	t.Helper()
	run, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	j, err := run.Journal("m", "d")
	if err != nil {
		t.Fatal(err)
	}
	rec := Record{}
	rec.Model, rec.Dataset, rec.SampleID, rec.Phase, rec.Status = "m", "d", "1", PhaseMeasured, StatusOK
	if err := errors.Join(j.Append(&rec), j.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Seal("m", "d"); err != nil {
		t.Fatal(err)
	}
	w, err := run.Predictions("m", "d")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(&Prediction{SampleID: "1", Success: true}), w.Close(), run.WriteResults("m", "d", map[string]any{"n": 1})); err != nil {
		t.Fatal(err)
	}
	m := NewManifest(run, ToolInfo{Name: "ais_bench"}, nil)
	m.State, m.Pairs = StateDone, []PairState{{Model: "m", Dataset: "d", State: PairDone, Requests: 1, Sessions: 1}}
	if err := errors.Join(run.SealRecords(&m.Pairs[0]), run.SealAnswers(&m.Pairs[0]), run.WriteManifest(m)); err != nil {
		t.Fatal(err)
	}
	return run, m
}

func TestAnUntouchedRunHasNoMismatch(t *testing.T) {
	run, m := sealedRun(t)
	if list := run.Mismatches(m); len(list) > 0 {
		t.Errorf("mismatches %q", list)
	}
}

func TestWhatWasTouchedIsNamed(t *testing.T) {
	for want, touch := range map[string]func(*Run, *Manifest) error{
		"performances/m/d.parquet was changed after the run": func(r *Run, _ *Manifest) error { return os.Truncate(r.RecordsPath("m", "d"), 40) },
		"results/m/d.json was changed after the run":         func(r *Run, _ *Manifest) error { return r.WriteResults("m", "d", map[string]any{"n": 2}) },
		"predictions/m/d.jsonl is gone":                      func(r *Run, _ *Manifest) error { return os.Remove(r.PredictionsPath("m", "d")) },
		"results/m/d.json: the manifest has no hash":         func(_ *Run, m *Manifest) error { m.Pairs[0].Results = ""; return nil },
		`there is no state "perfect" of a run`:               func(_ *Run, m *Manifest) error { m.State = "perfect"; return nil },
		`there is no state "fine" of m on d`:                 func(_ *Run, m *Manifest) error { m.Pairs[0].State = "fine"; return nil },
		"still going on, or it was killed":                   func(_ *Run, m *Manifest) error { m.State = StateRunning; return nil },
		"performances/m/d.journal: the manifest knows nothing of these records": func(r *Run, _ *Manifest) error {
			j, err := r.Journal("m", "d")
			if err != nil {
				return err
			}
			rec := Record{}
			rec.Model, rec.Dataset = "m", "d"
			return errors.Join(j.Append(&rec), j.Close())
		},
		"knows nothing of the records and answers of m on other": func(r *Run, _ *Manifest) error {
			return r.WriteResults("m", "other", map[string]any{"n": 1})
		},
	} {
		run, m := sealedRun(t)
		if err := touch(run, m); err != nil {
			t.Fatal(err)
		}
		if list := run.Mismatches(m); len(list) != 1 || !strings.Contains(list[0], want) {
			t.Errorf("mismatches %q, want %q", list, want)
		}
	}
}

// A copy of a run is that run, also when it was scored again or its start was
// edited; another of the same configuration is not.
func TestSameRun(t *testing.T) {
	run, m := sealedRun(t)
	copied := func() *Manifest {
		of, err := run.ReadManifest()
		if err != nil {
			t.Fatal(err)
		}
		return of
	}
	rescored, moved, continued := copied(), copied(), copied()
	rescored.Pairs[0].Predictions = "other"
	moved.StartedAt = "2026-01-01T00:00:00Z"
	continued.Pairs[0].SHA256 = "other"
	for name, of := range map[string]*Manifest{"copy": copied(), "rescored": rescored, "moved": moved, "continued": continued} {
		if !SameRun(m, of) {
			t.Errorf("%s is taken for another run", name)
		}
	}
	if _, other := sealedRun(t); SameRun(m, other) {
		t.Error("two runs are taken for one")
	}
	if SameRun(NewManifest(run, ToolInfo{}, nil), &Manifest{}) {
		t.Error("runs of which nothing is known are taken for one")
	}
}
