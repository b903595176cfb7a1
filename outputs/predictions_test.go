package outputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func readAll(t *testing.T, path string) []*Prediction {
	t.Helper()
	var out []*Prediction
	for p, err := range ReadPredictions(path) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func TestPredictionsHaveAISBenchKeysInOrder(t *testing.T) {
	r := newRun(t)
	w, err := r.Predictions("m", "d")
	if err != nil {
		t.Fatal(err)
	}
	var p Prediction
	p.FromRecord(sampleRecord(3))
	p.ID, p.Gold = 3, "42"
	nan := math.NaN()
	p.Score = &nan
	if err := w.Append(&p); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(r.PredictionsPath("m", "d"))
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.Token()
	var keys []string
	for d.More() {
		k, _ := d.Token()
		keys = append(keys, k.(string))
		var v json.RawMessage
		d.Decode(&v)
		if k == "score" && string(v) != "null" {
			t.Errorf("NaN became %s", v)
		}
	}
	if got, want := strings.Join(keys[:7], " "), "data_abbr id success uuid origin_prompt prediction gold"; got != want {
		t.Errorf("keys %q, want %q", got, want)
	}
	got := readAll(t, r.PredictionsPath("m", "d"))[0]
	p.Score = nil
	if !reflect.DeepEqual(got, &p) {
		t.Errorf("read back\n got %+v\nwant %+v", got, &p)
	}
	if got.PromptText() != "问题?" || *got.InputTokens != 103 || !got.Success {
		t.Errorf("%+v", got)
	}
}

func TestPredictionsResume(t *testing.T) {
	r := newRun(t)
	path := r.PredictionsPath("m", "d")
	write := func(list ...Prediction) {
		t.Helper()
		w, err := r.Predictions("m", "d")
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if err := w.Append(&list[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write(Prediction{SampleID: "a", Success: true, Prediction: "1"}, Prediction{SampleID: "b"}, Prediction{SampleID: "c", Success: true, Prediction: "old"})
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString(`{"data_abbr":"d","id":3,"predic`)
	f.Close()
	if got := readAll(t, path); len(got) != 3 {
		t.Fatalf("%d predictions beside a torn line, want 3", len(got))
	}
	w, err := r.Predictions("m", "d")
	if err != nil || !strings.Contains(w.Note(), "torn") {
		t.Fatalf("note %q, %v", w.Note(), err)
	}
	w.Close()
	write(Prediction{SampleID: "b", Success: true, Attempt: 1}, Prediction{SampleID: "c"})
	byKey, order, err := LatestPredictions(path)
	if err != nil || len(order) != 3 {
		t.Fatalf("%v, %v", order, err)
	}
	if b := byKey[PredictionKey{SampleID: "b"}]; !b.Success {
		t.Error("a later success must replace a failure")
	}
	if c := byKey[PredictionKey{SampleID: "c"}]; !c.Success || c.Prediction != "old" {
		t.Error("a later failure must not hide an answer")
	}
	if m, _, err := LatestPredictions(filepath.Join(t.TempDir(), "absent.jsonl")); !errors.Is(err, fs.ErrNotExist) || len(m) != 0 {
		t.Errorf("a file that is not there: %v, %v", m, err)
	}
}

func TestPredictionsNameTheBadLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.jsonl")
	os.WriteFile(path, []byte("{\"id\":7,\"success\":true,\"prediction\":\"x\"}\n\nnot json\n{}\n"), 0o644)
	var got []*Prediction
	var bad error
	for p, err := range ReadPredictions(path) {
		if err != nil {
			bad = err
		} else {
			got = append(got, p)
		}
	}
	if len(got) != 1 || got[0].SampleID != "7" || got[0].Status != StatusOK {
		t.Errorf("AISBench's line was read as %+v", got)
	}
	if bad == nil || !strings.Contains(bad.Error(), path+":3:") {
		t.Errorf("error %v does not name line 3", bad)
	}
}

func TestWritePredictionsReplacesWhole(t *testing.T) {
	r := newRun(t)
	path := r.PredictionsPath("m", "d")
	w, _ := r.Predictions("m", "d")
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { w.Append(&Prediction{ID: i, SampleID: fmt.Sprint(i), Success: true}) })
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	scored := func(fail bool) iter.Seq2[*Prediction, error] {
		return func(yield func(*Prediction, error) bool) {
			for p, err := range ReadPredictions(path) {
				if fail && p.SampleID == "25" {
					yield(nil, errors.New("judge unreachable"))
					return
				}
				p.Outcome = "right"
				if !yield(p, err) {
					return
				}
			}
		}
	}
	if err := r.WritePredictions("m", "d", scored(true)); err == nil || !strings.Contains(err.Error(), "judge unreachable") {
		t.Errorf("error %v", err)
	}
	if got := readAll(t, path); len(got) != 50 || got[0].Outcome != "" {
		t.Error("a failed rewrite touched the file")
	}
	if err := r.WritePredictions("m", "d", scored(false)); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, path); len(got) != 50 || got[49].Outcome != "right" {
		t.Error("verdicts are missing")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
