package outputs

import (
	"iter"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func TestAnswersRoundTrip(t *testing.T) {
	run, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run.SetRedactor(NewRedactor("sk-secret-value"))
	score, ext := 1.0, "42"
	list := []*Prediction{
		{SampleID: "0", Prediction: "so #### 42, key sk-secret-value", Extracted: &ext, Gold: "42", Outcome: "right", Score: &score, Status: StatusOK},
		{SampleID: "1", Gold: []any{"a", "b"}, Outcome: "failed", Status: StatusDial},
	}
	seq := iter.Seq2[*Prediction, error](func(yield func(*Prediction, error) bool) {
		for _, p := range list {
			if !yield(p, nil) {
				return
			}
		}
	})
	if err := run.WriteAnswers("m", "d", "gsm8k", "1", seq); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.ReadFile[answerRow](run.Path("results", "m", "d.parquet"))
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	a, b := rows[0], rows[1]
	if a.Answer != "so #### 42, key [redacted]" || a.Extracted == nil || *a.Extracted != "42" || a.Score == nil || *a.Score != 1 || a.Scorer != "gsm8k" || a.Prompt != nil {
		t.Errorf("first row: %+v", a)
	}
	if b.Gold != `["a","b"]` || b.Outcome != "failed" || b.Score != nil || b.Extracted != nil {
		t.Errorf("second row: %+v", b)
	}
}
