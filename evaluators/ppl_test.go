package evaluators

import (
	"math"
	"testing"
)

func TestPPLTakesTheLikeliest(t *testing.T) {
	it := Item{Gold: "B", Labels: []string{"A", "B", "C"}, Fields: map[string]any{"choices": []string{"yes", "a much longer text", "no"}}}
	s := mustNew(t, "ppl", nil)
	norm := mustNew(t, "ppl", map[string]any{"normalize": "chars"})
	for _, c := range []struct {
		s    Scorer
		p    []float64
		want Outcome
	}{
		{s, []float64{-3, -1, -2}, Right},
		{s, []float64{-3, -9, -2}, Wrong},
		{norm, []float64{-3, -9, -2}, Right}, // −9 over 18 characters beats −3 over 3
		{s, []float64{-1, -1, -2}, Wrong},    // the first of equals
		{s, []float64{-3, math.NaN(), -2}, Failed},
		{s, []float64{0, math.Inf(-1), -2}, Failed},
		{s, []float64{-3, -1}, Failed},
		{s, nil, Failed},
	} {
		v, err := c.s.Score(t.Context(), Answer{LabelLogprobs: c.p}, it)
		if err != nil || v.Outcome != c.want {
			t.Errorf("%v: %s (%v), want %s", c.p, v.Outcome, err, c.want)
		}
	}
	// a failed request recorded as likelihood 0 must not win
	if v, _ := s.Score(t.Context(), Answer{Failed: true, LabelLogprobs: []float64{-3, 0, -2}}, it); v.Outcome != Failed {
		t.Errorf("a failed request is %s", v.Outcome)
	}
	v, _ := s.Score(t.Context(), Answer{LabelLogprobs: []float64{-3, -9, -2}}, it)
	if v.Parts["acc"] != 0 || v.Parts["acc_norm"] != 1 {
		t.Errorf("parts %v", v.Parts)
	}
}

func TestTruthfulQAMC2(t *testing.T) {
	s := mustNew(t, "truthfulqa_mc2", nil)
	it := Item{Fields: map[string]any{"mc2_targets": map[string]any{"labels": []any{1.0, 0.0, 1.0}}}}
	v, err := s.Score(t.Context(), Answer{LabelLogprobs: []float64{math.Log(0.2), math.Log(0.5), math.Log(0.3)}}, it)
	if err != nil || !near(v.Score, 0.5) {
		t.Errorf("mc2 = %v (%v), want 0.5", v.Score, err)
	}
}
