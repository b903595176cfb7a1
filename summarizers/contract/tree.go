package contract

import (
	"fmt"
	"math"
	"slices"

	"ais_bench/summarizers/facts"
)

// A clause is compiled to a tree of conditions over numbers and texts.
//
// The level of intervals. Let α = 1 − confidence. A comparison of one estimated
// figure with a limit is passed wrongly with probability α/2: one end of one
// interval is wrong. More figures open more ways to the same wrong verdict, and
// the probabilities add up at most (Bonferroni): the figures of one comparison,
// and for PASS the branches of ||, for FAIL those of &&. A wrong PASS of a && b
// needs the wrong PASS of a false branch, so && costs nothing there, nor || for
// FAIL. passWays and failWays count the ways; a clause is tested for PASS with
// intervals at 1 − α/passWays and for FAIL at 1 − α/failWays.

// condition is true, false or undecided.
type condition interface {
	eval(e *env) State
	possible(e *env) possible
	passWays() int
	failWays() int
}

// number is an arithmetic expression.
type number interface {
	eval(e *env) (span, bool) // false: undefined, the reason is in e
	// reach is the highest low and the lowest high end that the range can have,
	// whatever comes out of the run.
	reach(e *env) span
	estimates() []string // names of estimated figures in it
}

// env is what a tree is evaluated in.
type env struct {
	level  float64
	why    []string
	blocks []string // why it can never be decided
}

func (e *env) because(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(e.why, s) {
		e.why = append(e.why, s)
	}
}

func (e *env) never(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(e.blocks, s) {
		e.blocks = append(e.blocks, s)
	}
}

// literal is a number in the text.
type literal float64

func (l literal) eval(*env) (span, bool) { return point(float64(l)), true }
func (l literal) reach(*env) span        { return point(float64(l)) }
func (l literal) estimates() []string    { return nil }

// figure is a fact that is a number.
type figure struct{ f *facts.Fact }

func (n figure) eval(e *env) (span, bool) {
	if !n.f.Bounded() {
		e.because("%s has no value: %s", n.f.Name, reasonOf(n.f))
		return everything, false
	}
	i, err := n.f.Interval(e.level)
	if err != nil {
		e.because("%s has no interval: %s", n.f.Name, err)
		return everything, false
	}
	return span{i.Lo, i.Hi}, true
}

func reasonOf(f *facts.Fact) string {
	switch {
	case f.Reason != "":
		return f.Reason
	case f.Text != nil:
		return "it is a text"
	}
	return "it is undefined"
}

func (n figure) reach(e *env) span {
	if !n.f.Kind.Estimated() && n.f.Value != nil {
		if i, err := n.f.Interval(e.level); err == nil {
			return span{i.Lo, i.Hi}
		}
	}
	lo, hi := n.f.Reach(e.level)
	return span{lo, hi}
}

func (n figure) estimates() []string {
	if n.f.Kind.Estimated() {
		return []string{n.f.Name}
	}
	return nil
}

// arithmetic is an operation on numbers: neg, abs, + - * /, min and max.
type arithmetic struct {
	op   string
	args []number
}

func (n arithmetic) eval(e *env) (span, bool) {
	values, ok := make([]span, len(n.args)), true
	for i, a := range n.args {
		v, defined := a.eval(e)
		values[i], ok = v, ok && defined
	}
	if !ok {
		return everything, false
	}
	if n.op == "/" && values[1] == point(0) {
		e.because("division by 0")
		return everything, false
	}
	return n.apply(values), true
}

func (n arithmetic) apply(v []span) span {
	switch n.op {
	case "neg":
		return v[0].neg()
	case "abs":
		return v[0].abs()
	case "+":
		return v[0].add(v[1])
	case "-":
		return v[0].add(v[1].neg())
	case "*":
		return v[0].mul(v[1])
	case "/":
		return v[0].div(v[1])
	}
	out := v[0]
	for _, x := range v[1:] {
		if n.op == "min" {
			out = out.least(x)
		} else {
			out = out.greatest(x)
		}
	}
	return out
}

func (n arithmetic) reach(e *env) span {
	anything := span{math.Inf(1), math.Inf(-1)}
	v := make([]span, len(n.args))
	for i, a := range n.args {
		v[i] = a.reach(e)
	}
	switch n.op {
	case "abs":
		return anything
	case "*", "/":
		// A constant factor scales the reach; two figures may come out anyhow.
		for i, k := range v {
			if k.lo != k.hi || math.IsInf(k.lo, 0) || n.op == "/" && (i == 0 || k.lo == 0) {
				continue
			}
			c := k.lo
			if n.op == "/" {
				c = 1 / c
			}
			o := v[1-i]
			switch {
			case c == 0:
				return point(0)
			case c < 0:
				return span{o.hi * c, o.lo * c}
			}
			return span{o.lo * c, o.hi * c}
		}
		return anything
	}
	return n.apply(v)
}

func (n arithmetic) estimates() []string {
	var out []string
	for _, a := range n.args {
		for _, name := range a.estimates() {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// comparison is a op b.
type comparison struct {
	op   string
	a, b number
}

func (c comparison) eval(e *env) State {
	a, okA := c.a.eval(e)
	b, okB := c.b.eval(e)
	if !okA || !okB {
		return Inconclusive
	}
	s := a.compare(c.op, b)
	if s == Inconclusive {
		c.explain(e, a, b)
	}
	return s
}

// explain says why a comparison is undecided.
func (c comparison) explain(e *env, a, b span) {
	for _, side := range []struct {
		n number
		v span
	}{{c.a, a}, {c.b, b}} {
		f, ok := side.n.(figure)
		if !ok || !math.IsInf(side.v.hi, 1) && !math.IsInf(side.v.lo, -1) {
			continue
		}
		if why := f.f.OpenEnd(); why != "" {
			e.because("%s: %s", f.f.Name, why)
			return
		}
		if f.f.Kind == facts.Load || f.f.Kind == facts.Rate {
			continue
		}
		end := "upper"
		if math.IsInf(side.v.lo, -1) {
			end = "lower"
		}
		e.because("%d values are too few for the %s end of %s%s", f.f.N, end, f.f.Name, atLeast(f.f.Needed(e.level, 0)))
		return
	}
	e.because("the interval includes the limit")
}

func atLeast(n int64) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(", at least %d are needed", n)
}

func (c comparison) possible(e *env) possible {
	for _, n := range []number{c.a, c.b} {
		if f, ok := n.(figure); ok && f.f.Known && f.f.N == 0 && f.f.Value == nil {
			e.never("%s: %s", f.f.Name, reasonOf(f.f))
			return possible{}
		}
	}
	a, b := c.a.reach(e), c.b.reach(e)
	p := possibleOf(c.op, a, b)
	if (c.op == "==" || c.op == "!=") && len(append(c.a.estimates(), c.b.estimates()...)) > 0 {
		if c.op == "==" {
			p.pass = false
			e.never("an estimated figure is never shown to be exactly equal to something; write a range")
		} else {
			p.fail = false
		}
		return p
	}
	if !p.pass {
		c.blame(e)
	}
	return p
}

// possibleOf is what a op b can come out as when the ends of the ranges reach so
// far: span.lo is the highest low, span.hi the lowest high.
func possibleOf(op string, a, b span) possible {
	switch op {
	case "<=":
		return possible{a.hi <= b.lo, a.lo > b.hi}
	case "<":
		return possible{a.hi < b.lo, a.lo >= b.hi}
	case ">=":
		return possibleOf("<=", b, a)
	case ">":
		return possibleOf("<", b, a)
	case "==":
		return possible{true, a.hi < b.lo || a.lo > b.hi}
	}
	return possibleOf("==", a, b).not()
}

// blame says which figure has too few values.
func (c comparison) blame(e *env) {
	for _, pair := range [][2]number{{c.a, c.b}, {c.b, c.a}} {
		f, ok := pair[0].(figure)
		limit, isLimit := pair[1].(literal)
		if ok && f.f.Kind == facts.Load && isLimit {
			e.never("%s cannot be shown to reach %g by what is planned", f.f.Name, float64(limit))
		}
		if !ok || !f.f.Known {
			continue
		}
		switch {
		case f.f.Kind == facts.Percentile, f.f.Kind == facts.Mean:
			if need := f.f.Needed(e.level, 0); f.f.N < need {
				e.never("%s of %d values has no closed interval at confidence %s, %d are needed", f.f.Name, f.f.N, percent(e.level), need)
			}
		case f.f.Kind == facts.Share && isLimit:
			need := f.f.Needed(e.level, float64(limit))
			switch {
			case need == 0:
				e.never("no number of samples shows a share of %g: the interval always reaches beyond it", float64(limit))
			case f.f.N < need:
				e.never("%s of %d samples: even if all are as demanded, the interval at confidence %s leaves out %g only from %d on", f.f.Name, f.f.N, percent(e.level), float64(limit), need)
			}
		}
	}
}

func percent(level float64) string { return fmt.Sprintf("%.4g %%", 100*level) }

func (c comparison) passWays() int {
	names := c.a.estimates()
	for _, n := range c.b.estimates() {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return len(names)
}

func (c comparison) failWays() int { return c.passWays() }
