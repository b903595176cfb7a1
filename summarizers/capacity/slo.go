package capacity

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"ais_bench/registry"
	"ais_bench/summarizers/interval"
	"ais_bench/summarizers/metrics"
)

// SLO is a condition on the figures of runs, such as
//
//	ttft_p99 <= 2000 && tpot_p99 <= 50 && success >= 0.99
//
// in the grammar of expr: comparisons (<=, <, >=, >) of arithmetic on figures
// and numbers, joined by && and ||, negated by !. Anything else is refused when
// it is parsed.
type SLO struct {
	Text        string
	root        ast.Node
	figures     map[string]Figure
	comparisons []*ast.BinaryNode // in the order of the text
}

// ParseSLO reads a condition and checks every name. The error is one line.
func ParseSLO(text string) (*SLO, error) {
	tree, err := parser.Parse(text)
	if err != nil {
		var where *file.Error
		if errors.As(err, &where) {
			return nil, fmt.Errorf("%q, character %d: %s", registry.Excerpt(text, where.From+1), where.From+1, registry.Excerpt(registry.PlainNumber(where.Message), 0))
		}
		return nil, fmt.Errorf("%q: %w", registry.Excerpt(text, 0), err)
	}
	s := &SLO{Text: text, root: tree.Node, figures: map[string]Figure{}}
	if err := s.condition(tree.Node); err != nil {
		return nil, fmt.Errorf("%q: %w", registry.Excerpt(text, 0), err)
	}
	return s, nil
}

// condition checks a node that must be true or false.
func (s *SLO) condition(n ast.Node) error {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			return s.condition(n.Node)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and", "||", "or":
			if err := s.condition(n.Left); err != nil {
				return err
			}
			return s.condition(n.Right)
		case "<=", "<", ">=", ">":
			before := len(s.figures)
			if err := s.quantity(n.Left); err != nil {
				return err
			}
			if err := s.quantity(n.Right); err != nil {
				return err
			}
			if len(s.figures) == before && !s.mentions(n) {
				return fmt.Errorf("%s compares no figure and decides nothing; write comparisons such as ttft_p99 <= 2000", shown(n))
			}
			for _, side := range []ast.Node{n.Left, n.Right} {
				if err := s.finite(side); err != nil {
					return err
				}
			}
			s.comparisons = append(s.comparisons, n)
			return nil
		case "==", "!=":
			return fmt.Errorf("%s: a measured figure equals nothing exactly; write <= or >=", shown(n))
		}
	}
	return fmt.Errorf("%s is no comparison; write comparisons such as ttft_p99 <= 2000, joined by && or ||", shown(n))
}

// finite refuses numbers that no figure can reach, and divisions by 0: a limit of
// 1e999 is none.
func (s *SLO) finite(n ast.Node) error {
	if !s.mentions(n) {
		if v, ok := s.value(n, nil); !ok || math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Errorf("%s is no finite number: give a limit that can be reached", shown(n))
		}
		return nil
	}
	switch n := n.(type) {
	case *ast.UnaryNode:
		return s.finite(n.Node)
	case *ast.BinaryNode:
		if err := s.finite(n.Left); err != nil {
			return err
		}
		return s.finite(n.Right)
	}
	return nil
}

// shown is a part of the condition as an error line has it.
func shown(n ast.Node) string { return registry.Excerpt(n.String(), 0) }

// mentions reports whether a figure stands below n.
func (s *SLO) mentions(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return true
	case *ast.UnaryNode:
		return s.mentions(n.Node)
	case *ast.BinaryNode:
		return s.mentions(n.Left) || s.mentions(n.Right)
	}
	return false
}

// quantity checks a node that must be a number.
func (s *SLO) quantity(n ast.Node) error {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return nil
	case *ast.IdentifierNode:
		f, err := FigureNamed(n.Value)
		if err != nil {
			return err
		}
		s.figures[n.Value] = f
		return nil
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			return s.quantity(n.Node)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "+", "-", "*", "/":
			if err := s.quantity(n.Left); err != nil {
				return err
			}
			return s.quantity(n.Right)
		}
	}
	return fmt.Errorf("%s cannot be used here; a quantity is a figure, a number, or + - * / of these", shown(n))
}

// Percentiles are those the condition needs computed.
func (s *SLO) Percentiles() []float64 {
	var out []float64
	for _, f := range s.figures {
		if f.Percentile != nil {
			out = append(out, *f.Percentile)
		}
	}
	return out
}

// Figures are the figures the condition names.
func (s *SLO) Figures() []Figure {
	var out []Figure
	for _, name := range sortedKeys(s.figures) {
		out = append(out, s.figures[name])
	}
	return out
}

// Truth is what can be said of a condition.
type Truth string

// The truths.
const (
	Holds     Truth = "holds"
	Fails     Truth = "fails"
	Undecided Truth = "undecided" // the interval over the runs contains the limit
)

// Judgement is what the runs of a level say of a condition.
type Judgement struct {
	State   Truth    `json:"state"`
	Runs    int      `json:"runs"`
	Clauses []Clause `json:"clauses"`
	// Undefined names figures that have no value in some run; the state says
	// nothing then.
	Undefined []string `json:"undefined,omitempty"`
	// Weak names figures for which a run is too small a sample.
	Weak []string `json:"undersampled,omitempty"`
}

// Clause is one comparison of a condition.
type Clause struct {
	Text  string `json:"clause"`
	State Truth  `json:"state"`
	// Value is the mean over runs of the left side, Limit of the right one (of the
	// other way round where the figure stands right).
	Value *float64 `json:"value"`
	Limit *float64 `json:"limit"`
	Low   *float64 `json:"ci_low"` // of Value − Limit, plus Limit's mean; nil for one run
	High  *float64 `json:"ci_high"`
	// Headroom is how much of the limit is left: (limit − value)/limit for an upper
	// one, (value − limit)/limit for a lower one. Negative when it is broken. For a
	// lower limit of a share it is the part of the allowed rest that is left:
	// (value − limit)/(1 − limit).
	Headroom *float64 `json:"headroom"`
	// Share is set when value and limit are shares.
	Share bool `json:"share,omitempty"`
	// Figure: the value is one figure, which cannot be negative.
	Figure bool   `json:"-"`
	Unit   string `json:"unit,omitempty"`
}

// Judge evaluates the condition over the runs of a level. With one run the
// figures decide by themselves; with several each comparison holds or fails when
// Student's 95 % interval of (left − right) over the runs lies on one side of 0,
// and is undecided otherwise. && , || and ! follow Kleene's logic, so one clause that fails
// decides a conjunction whatever the others are.
func (s *SLO) Judge(l *Level) Judgement { return s.JudgeAt(l, Level95) }

// JudgeAt is Judge at another level of confidence.
func (s *SLO) JudgeAt(l *Level, level float64) Judgement {
	j := Judgement{Runs: len(l.Runs), Clauses: []Clause{}}
	states := map[*ast.BinaryNode]Truth{}
	for _, f := range s.Figures() {
		st := l.Over(f)
		if st.Mean == nil {
			j.Undefined = append(j.Undefined, f.Name)
		} else if st.Undersampled {
			j.Weak = append(j.Weak, f.Name)
		}
	}
	for _, n := range s.comparisons {
		c := s.clause(n, l, level)
		states[n] = c.State
		j.Clauses = append(j.Clauses, c)
	}
	j.State = truth(s.root, states)
	if len(j.Undefined) > 0 || len(l.Runs) == 0 {
		j.State = Undecided
	}
	return j
}

// truth combines the comparisons' states.
func truth(n ast.Node, states map[*ast.BinaryNode]Truth) Truth {
	switch n := n.(type) {
	case *ast.UnaryNode:
		switch truth(n.Node, states) {
		case Holds:
			return Fails
		case Fails:
			return Holds
		}
		return Undecided
	case *ast.BinaryNode:
		if t, ok := states[n]; ok {
			return t
		}
		decisive := Fails // of a conjunction
		if n.Operator == "||" || n.Operator == "or" {
			decisive = Holds
		}
		a, b := truth(n.Left, states), truth(n.Right, states)
		switch {
		case a == decisive || b == decisive:
			return decisive
		case a == Undecided || b == Undecided:
			return Undecided
		}
		return a
	}
	return Undecided
}

func (s *SLO) clause(n *ast.BinaryNode, l *Level, level float64) Clause {
	c := Clause{Text: n.String(), State: Undecided}
	upper := n.Operator == "<=" || n.Operator == "<" // the left side is bounded from above
	left, right := n.Left, n.Right
	if !s.mentions(left) { // 2000 >= ttft_p99
		left, right, upper = right, left, !upper
	}
	var values, limits, gaps []float64
	for i := range l.Runs {
		a, okA := s.value(left, l.Runs[i].Result)
		b, okB := s.value(right, l.Runs[i].Result)
		if !okA || !okB {
			return c
		}
		values, limits = append(values, a), append(limits, b)
		if upper {
			gaps = append(gaps, b-a)
		} else {
			gaps = append(gaps, a-b)
		}
	}
	if len(gaps) == 0 {
		return c
	}
	value, limit, gap := mean(values), mean(limits), mean(gaps)
	c.Value, c.Limit = &value, &limit
	if f, ok := s.single(left); ok {
		c.Unit, c.Share, c.Figure = f.Unit, f.Share, true
	}
	lo, hi := gap, gap
	if r, ok := interval.RunsMean(gaps, level); ok {
		lo, hi = r.Interval.Lo, r.Interval.Hi
		a, b := limit-hi, limit-lo
		if !upper {
			a, b = limit+lo, limit+hi
		}
		c.Low, c.High = &a, &b
	}
	strict := n.Operator == "<" || n.Operator == ">"
	switch {
	case lo > 0 || lo == 0 && !strict:
		c.State = Holds
	case hi < 0 || hi == 0 && strict:
		c.State = Fails
	}
	whole := limit
	if c.Share && !upper {
		whole = 1 - limit
	}
	if whole > 0 {
		h := gap / whole
		c.Headroom = &h
	}
	return c
}

// single is the figure a node consists of.
func (s *SLO) single(n ast.Node) (Figure, bool) {
	if id, ok := n.(*ast.IdentifierNode); ok {
		f, ok := s.figures[id.Value]
		return f, ok
	}
	return Figure{}, false
}

// value computes a quantity; false when a figure is undefined or a divisor 0.
func (s *SLO) value(n ast.Node, r *metrics.Result) (float64, bool) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return float64(n.Value), true
	case *ast.FloatNode:
		return n.Value, true
	case *ast.IdentifierNode:
		v := s.figures[n.Value].Of(r)
		if v == nil {
			return 0, false
		}
		return *v, true
	case *ast.UnaryNode:
		v, ok := s.value(n.Node, r)
		if n.Operator == "-" {
			v = -v
		}
		return v, ok
	case *ast.BinaryNode:
		a, okA := s.value(n.Left, r)
		b, okB := s.value(n.Right, r)
		if !okA || !okB {
			return 0, false
		}
		switch n.Operator {
		case "+":
			return a + b, true
		case "-":
			return a - b, true
		case "*":
			return a * b, true
		case "/":
			return a / b, b != 0
		}
	}
	return 0, false
}

// String is the condition as it was written.
func (s *SLO) String() string { return strings.TrimSpace(s.Text) }
