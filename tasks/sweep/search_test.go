package sweep

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// below judges by a limit: values up to it hold.
func below(limit float64) func(float64) (State, error) {
	return func(v float64) (State, error) {
		if v <= limit {
			return Holds, nil
		}
		return Fails, nil
	}
}

func none(float64, int) error { return nil }

func TestSearchFindsEveryLimit(t *testing.T) {
	base := Search{Steps: []float64{1, 2, 4, 8, 16, 32, 64}, Whole: true, Resolution: 0.01, Runs: 1, MaxRuns: 1}
	for limit := 0.0; limit <= 70; limit++ {
		a, err := base.Find(none, below(limit))
		if err != nil {
			t.Fatal(err)
		}
		want := min(limit, 64)
		switch {
		case limit == 0:
			if a.Highest != nil || *a.Above != 1 {
				t.Errorf("limit 0: %+v", a)
			}
		case a.Highest == nil || *a.Highest != want:
			t.Errorf("limit %g: %+v", limit, a)
		case limit >= 64 && a.Above != nil, limit < 64 && *a.Above != want+1:
			t.Errorf("limit %g: above %v", limit, a.Above)
		}
		seen := map[float64]bool{}
		for _, trial := range a.Trials {
			if seen[trial.Value] {
				t.Errorf("limit %g: %g was tried twice", limit, trial.Value)
			}
			seen[trial.Value] = true
		}
	}
}

func TestSearchWithinOneStep(t *testing.T) {
	for _, s := range []Search{
		{Steps: []float64{4}, Max: 500, Whole: true, Resolution: 0.05, Runs: 1, MaxRuns: 1},
		{Steps: []float64{1}, Max: 500, Resolution: 0.05, Runs: 1, MaxRuns: 1},
		{Steps: []float64{100, 300}, Whole: true, Resolution: 0.1, Runs: 1, MaxRuns: 1},
		{Steps: []float64{10, 20}, Resolution: 0.02, Runs: 1, MaxRuns: 1},
	} {
		for limit := 1.5; limit < 290; limit *= 1.07 {
			a, err := s.Find(none, below(limit))
			if err != nil || a.Highest == nil {
				t.Fatalf("limit %g: %+v, %v", limit, a, err)
			}
			if *a.Highest > limit || a.Above != nil && *a.Above-*a.Highest > a.Step*1.01+1e-9 || a.Above == nil && limit < max(s.Max, s.Steps[len(s.Steps)-1]) {
				t.Errorf("%+v: limit %g: %g to %v, step %g", s, limit, *a.Highest, a.Above, a.Step)
			}
			if len(a.Trials) > 25 {
				t.Errorf("limit %g: %d candidates", limit, len(a.Trials))
			}
		}
	}
}

// TestSearchRepeatsUntilDecided: noisy candidates near the limit are repeated,
// clear ones are not, and what stays undecided counts as not holding.
func TestSearchRepeatsUntilDecided(t *testing.T) {
	runs := map[float64]int{}
	measure := func(v float64, run int) error { runs[v] = max(runs[v], run); return nil }
	judge := func(v float64) (State, error) {
		switch {
		case v == 24: // never decided
			return Undecided, nil
		case v == 20 && runs[v] < 4:
			return Undecided, nil
		}
		return below(22)(v)
	}
	a, err := Search{Steps: []float64{8, 16, 32}, Whole: true, Resolution: 0.01, Runs: 2, MaxRuns: 5}.Find(measure, judge)
	if err != nil || *a.Highest != 22 || *a.Above != 23 {
		t.Fatalf("%+v, %v", a, err)
	}
	if runs[8] != 2 || runs[24] != 5 || runs[20] != 4 || runs[32] != 2 {
		t.Errorf("runs %v", runs)
	}
	i := slices.IndexFunc(a.Trials, func(t Trial) bool { return t.Value == 24 })
	if i < 0 || a.Trials[i].State != Undecided || a.Trials[i].Runs != 5 {
		t.Errorf("trials %+v", a.Trials)
	}
}

func TestSearchEndsWithAnError(t *testing.T) {
	boom := errors.New("boom")
	a, err := Search{Steps: []float64{1, 2, 4}, Whole: true, Resolution: 0.05, Runs: 1, MaxRuns: 1}.Find(func(v float64, _ int) error {
		if v == 4 {
			return boom
		}
		return nil
	}, below(99))
	if !errors.Is(err, boom) || a.Highest == nil || *a.Highest != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	for _, s := range []Search{{}, {Steps: []float64{2, 1}, Runs: 1, MaxRuns: 1, Resolution: 0.1}, {Steps: []float64{1}, Runs: 2, MaxRuns: 1, Resolution: 0.1}, {Steps: []float64{1}, Runs: 1, MaxRuns: 1}} {
		if _, err := s.Find(none, below(1)); err == nil {
			t.Errorf("%+v was accepted", s)
		}
	}
}

func TestTidyValuesStayBetween(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := Search{Resolution: 0.01}
	for range 10000 {
		low := math.Exp(rng.Float64()*14 - 7)
		high := low * (1 + 0.011 + rng.Float64())
		if mid, ok := s.between(low, high); ok && (mid <= low || mid >= high) {
			t.Fatalf("%g lies not between %g and %g", mid, low, high)
		}
		if v := s.tidy(low); len(Number(v)) > 8 && v < 1000 {
			t.Fatalf("%g becomes %s", low, Number(v))
		}
	}
}

// 3/64 and 0.1236 are rounded up by tidy and are then never reached from above.
func TestSearchOfWhatNeverHoldsEnds(t *testing.T) {
	for _, s := range []Search{
		{Steps: []float64{3}, Resolution: 0.05, Runs: 1, MaxRuns: 1},
		{Steps: []float64{0.2}, Min: 0.1236, Resolution: 0.05, Runs: 1, MaxRuns: 1},
		{Steps: []float64{7}, Min: 1.5, Whole: true, Resolution: 0.05, Runs: 1, MaxRuns: 1},
	} {
		tries := 0
		a, err := s.Find(func(float64, int) error {
			if tries++; tries > 100 {
				return errors.New("it goes on for ever")
			}
			return nil
		}, below(0))
		if err != nil || a.Highest != nil {
			t.Errorf("%+v: %+v, %v", s, a, err)
		}
	}
}
