package contract

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/facts"
)

// Verdict is the judgement of a contract on runs. Its JSON keys are stable.
type Verdict struct {
	State   State    `json:"verdict"`
	Reason  string   `json:"reason"` // one sentence
	Clauses []Ruling `json:"clauses"`
	// Problems make the runs unfit to pass: incomplete, or asked on a server that
	// changed. They turn PASS into INCONCLUSIVE.
	Problems []string `json:"problems"`
	Notes    []string `json:"notes"`
}

// Ruling is the judgement of one clause.
type Ruling struct {
	Name       string   `json:"name"`
	Expr       string   `json:"expr"`
	Severity   Severity `json:"severity"`
	Decides    bool     `json:"decides"` // a minor clause does not
	Reason     string   `json:"reason"`  // why it is demanded, from the contract
	MinSamples int64    `json:"min_samples"`
	Confidence float64  `json:"confidence"`
	State      State    `json:"verdict"`
	Why        string   `json:"why"` // "" where the figures say it
	Metrics    []Metric `json:"metrics"`
}

// Metric is a figure that a clause mentions, with the interval that it was judged
// by.
type Metric struct {
	Name   string   `json:"name"`
	Value  any      `json:"value"` // number, text, yes or no; null = undefined
	Unit   string   `json:"unit"`
	N      int64    `json:"n"`
	Low    *float64 `json:"low"` // null = open, or no interval
	High   *float64 `json:"high"`
	Level  *float64 `json:"level"`            // of this interval: above the clause's confidence where several figures share it
	Method string   `json:"method"`           // observed where the figure is certain
	Reason string   `json:"reason,omitempty"` // why it is undefined
	Notes  []string `json:"notes,omitempty"`

	share bool
}

// Judge judges the runs of a set. The error is the contract's: a name that does
// not exist, or a comparison of things that cannot be compared.
func (c *Contract) Judge(set *facts.Set) (*Verdict, error) {
	v := &Verdict{Problems: append([]string{}, set.Problems()...), Notes: append([]string{}, set.Notes()...)}
	for _, p := range set.BaselineProblems(c.Compares()) { // against half a run everything is an improvement
		v.Problems = append(v.Problems, "the baseline: "+p)
	}
	var bad []error
	for i := range c.Clauses {
		r, err := c.Clauses[i].judge(set)
		if err != nil {
			bad = append(bad, fmt.Errorf("clause %q: %w", c.Clauses[i].Name, err))
			continue
		}
		v.Clauses = append(v.Clauses, *r)
	}
	if len(bad) > 0 {
		return nil, fmt.Errorf("contract %s: %w", c.Path, oneLine(bad))
	}
	v.overall()
	return v, nil
}

// oneLine joins errors on one line.
func oneLine(list []error) error {
	var lines []string
	for _, e := range list {
		lines = append(lines, e.Error())
	}
	return errors.New(strings.Join(lines, "; "))
}

// levels are those of the intervals by which a clause is tested for PASS and for
// FAIL (see tree.go).
func (cl *Clause) levels(root condition) (pass, fail float64) {
	alpha := 1 - cl.level
	return 1 - alpha/float64(max(root.passWays(), 1)), 1 - alpha/float64(max(root.failWays(), 1))
}

func (cl *Clause) judge(set *facts.Set) (*Ruling, error) {
	t, err := cl.source.compile(set)
	if err != nil {
		return nil, err
	}
	r := &Ruling{Name: cl.Name, Expr: cl.Expr, Severity: cl.severity, Decides: cl.severity.Decides(), Reason: cl.Reason, MinSamples: cl.MinSamples,
		Confidence: cl.level, State: Inconclusive}
	passLevel, failLevel := cl.levels(t.root)
	shown := passLevel
	e := &env{level: passLevel}
	switch {
	case t.root.eval(e) == Pass:
		r.State = Pass
	case t.root.eval(&env{level: failLevel}) == Fail:
		r.State, shown = Fail, failLevel
	default:
		r.Why = strings.Join(e.why, "; ")
		b := &env{level: passLevel}
		if t.defined() && !t.root.possible(b).pass && len(b.blocks) > 0 {
			r.Why = "it can never pass: " + strings.Join(b.blocks, "; ")
		}
	}
	for _, f := range t.facts {
		m := MetricOf(f, shown)
		r.Metrics = append(r.Metrics, m)
		if cl.MinSamples > 0 && f.Kind != facts.Text && f.N < cl.MinSamples && r.State != Inconclusive {
			r.State, r.Why = Inconclusive, fmt.Sprintf("%s is made from %d samples, min_samples is %d", f.Name, f.N, cl.MinSamples)
		}
	}
	return r, nil
}

// MetricOf is a figure with its interval at a level.
func MetricOf(f *facts.Fact, level float64) Metric {
	m := Metric{Name: f.Name, Unit: f.Unit, N: f.N, share: f.Kind == facts.Share}
	switch {
	case f.Value != nil:
		m.Value = *f.Value
	case f.Text != nil:
		m.Value, m.Method = f.Text, string(facts.Observed)
		return m
	case f.Bounded():
		m.Reason = f.Reason
	default:
		m.Reason = f.Reason
		return m
	}
	i, err := f.Interval(level)
	m.Notes = f.Notes
	if err != nil {
		m.Reason = err.Error()
		return m
	}
	m.Method, m.Level = i.Method, &i.Level
	if !math.IsInf(i.Lo, 0) {
		m.Low = &i.Lo
	}
	if !math.IsInf(i.Hi, 0) {
		m.High = &i.Hi
	}
	return m
}

// overall combines the clauses that decide: one FAIL fails, else one INCONCLUSIVE
// leaves it open.
func (v *Verdict) overall() {
	var failed, open []string
	decide := 0
	for _, r := range v.Clauses {
		if !r.Decides {
			continue
		}
		decide++
		switch r.State {
		case Fail:
			failed = append(failed, r.Name)
		case Inconclusive:
			open = append(open, r.Name)
		}
	}
	of := "of " + outputs.Counted(decide, "deciding clause")
	switch {
	case len(failed) > 0:
		v.State, v.Reason = Fail, fmt.Sprintf("%d %s failed: %s", len(failed), of, strings.Join(failed, ", "))
	case len(open) > 0:
		v.State, v.Reason = Inconclusive, fmt.Sprintf("%d %s undecided: %s", len(open), of, strings.Join(open, ", "))
	case len(v.Problems) > 0:
		v.State, v.Reason = Inconclusive, "every deciding clause passed, but not on a valid run: "+strings.Join(v.Problems, "; ")
	case decide == 1:
		v.State, v.Reason = Pass, "the one deciding clause passed"
	default:
		v.State, v.Reason = Pass, fmt.Sprintf("all %d deciding clauses passed", decide)
	}
	for _, r := range v.Clauses {
		if !r.Decides && r.State != Pass {
			v.Reason += fmt.Sprintf("; minor: %s is %s", r.Name, r.State)
		}
	}
}
