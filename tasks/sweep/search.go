package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// State is what is known of a candidate.
type State string

// The states.
const (
	Holds     State = "holds"
	Fails     State = "fails"
	Undecided State = "undecided"
)

// Search looks for the highest value that holds a condition, taking for granted
// that below a value that holds all hold and above one that fails all fail.
//
// Coarse steps come first: Steps in ascending order, then doubling up to Max. The
// first that does not hold ends them; if it is the first of all, halving down to
// Min follows. Then the gap between the highest that holds and the lowest that does
// not is halved until it is no wider than one step: Resolution × value, at least 1
// for whole numbers.
//
// Every candidate is measured Runs times, and then again until it is decided or
// was measured MaxRuns times. A candidate still undecided then counts as one that
// does not hold: the answer is the highest value that was shown to hold.
type Search struct {
	Steps      []float64
	Min, Max   float64 // Max 0 = the last step
	Whole      bool    // values are whole numbers
	Resolution float64 // relative
	Runs       int     // at least this many of every candidate
	MaxRuns    int
}

// Trial is what came of one candidate, in the order they were tried.
type Trial struct {
	Value float64 `json:"value"`
	State State   `json:"state"`
	Runs  int     `json:"runs"`
}

// Answer is what a search found.
type Answer struct {
	// Highest is the highest value that holds; nil when none does.
	Highest *float64 `json:"highest"`
	// Above is the lowest value tried that fails or is undecided; nil when even the
	// highest candidate holds.
	Above      *float64 `json:"above"`
	AboveState State    `json:"above_state,omitempty"`
	Step       float64  `json:"step"` // how fine the answer is
	Trials     []Trial  `json:"trials"`
}

// check finds what cannot be searched.
func (s *Search) check() error {
	switch {
	case len(s.Steps) == 0:
		return errors.New("no value to start with")
	case !slices.IsSorted(s.Steps) || s.Steps[0] <= 0:
		return fmt.Errorf("steps %v must ascend from above 0", s.Steps)
	case s.Runs < 1 || s.MaxRuns < s.Runs:
		return fmt.Errorf("%d to %d runs of a candidate: give at least 1, and no maximum below that", s.Runs, s.MaxRuns)
	case !(s.Resolution > 0) || s.Resolution >= 1:
		return fmt.Errorf("resolution %g: give a share above 0 and below 1, such as 0.05", s.Resolution)
	}
	return nil
}

// Find carries the search out. measure makes one run of a candidate (number from
// 1); judge says what the runs made so far mean. An error of either ends the
// search; the answer then holds what was known by then.
func (s Search) Find(measure func(value float64, run int) error, judge func(value float64) (State, error)) (*Answer, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	a := &Answer{Trials: []Trial{}}
	try := func(v float64) (bool, error) {
		t, err := s.Try(v, measure, judge)
		if err != nil {
			return false, err
		}
		a.Trials = append(a.Trials, t)
		if t.State == Holds {
			a.Highest = &v
			return true, nil
		}
		a.Above, a.AboveState = &v, t.State
		return false, nil
	}
	if err := s.coarse(a, try); err != nil {
		return a, err
	}
	for a.Highest != nil && a.Above != nil {
		mid, ok := s.between(*a.Highest, *a.Above)
		if !ok {
			break
		}
		if _, err := try(mid); err != nil {
			return a, err
		}
	}
	if a.Highest != nil {
		a.Step = s.step(*a.Highest)
	}
	return a, nil
}

// Try measures one candidate until it is decided, or MaxRuns times.
func (s Search) Try(v float64, measure func(value float64, run int) error, judge func(value float64) (State, error)) (Trial, error) {
	t := Trial{Value: v, State: Undecided}
	for run := 1; run <= s.MaxRuns; run++ {
		if err := measure(v, run); err != nil {
			return t, err
		}
		if t.Runs = run; run < s.Runs {
			continue
		}
		var err error
		if t.State, err = judge(v); err != nil || t.State != Undecided {
			return t, err
		}
	}
	return t, nil
}

// coarse finds a value that holds and one that does not, as far as there are such.
func (s Search) coarse(a *Answer, try func(float64) (bool, error)) error {
	last := s.Steps[len(s.Steps)-1]
	limit := max(s.Max, last)
	steps := slices.Clone(s.Steps)
	for v := 2 * last; last < limit; v *= 2 {
		last = min(v, limit)
		steps = append(steps, last)
	}
	for _, v := range steps {
		ok, err := try(v)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
	}
	lowest := s.Min
	if s.Whole {
		lowest = max(lowest, 1)
	}
	if lowest <= 0 {
		lowest = s.Steps[0] / 64
	}
	for v := s.Steps[0]; a.Highest == nil && v > lowest; {
		next := s.tidy(max(v/2, lowest))
		if next >= v { // the lowest value, rounded up to what tidy keeps, was tried
			break
		}
		v = next
		if _, err := try(v); err != nil {
			return err
		}
	}
	return nil
}

// step is how far apart neighbouring values are around v.
func (s Search) step(v float64) float64 {
	if s.Whole {
		return max(1, math.Floor(s.Resolution*v))
	}
	return s.Resolution * v
}

// between is the value in the middle; false when the gap is one step wide.
func (s Search) between(low, high float64) (float64, bool) {
	if high-low <= s.step(low)*(1+1e-9) {
		return 0, false
	}
	mid := s.tidy((low + high) / 2)
	return mid, mid > low && mid < high
}

// tidy rounds a value to a whole number, or to three significant digits.
func (s Search) tidy(v float64) float64 {
	if s.Whole {
		return math.Floor(v)
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	if unit < 1 { // multiplying by a whole number rounds to the decimal itself
		return math.Round(v*math.Round(1/unit)) / math.Round(1/unit)
	}
	return math.Round(v/unit) * unit
}
