package contract

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
	if n.f.Value == nil {
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
		if !ok || !f.f.Known {
			continue
		}
		limit, isLimit := pair[1].(literal)
		switch {
		case f.f.Kind == facts.Percentile:
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

// text is a fact or a literal that is a string or yes and no.
type text struct {
	value any
	f     *facts.Fact // nil for a literal
}

func (t text) get(e *env) (any, bool) {
	if t.f == nil {
		return t.value, true
	}
	if t.f.Text == nil {
		e.because("%s has no value: %s", t.f.Name, textReason(t.f))
		return nil, false
	}
	return t.f.Text, true
}

func textReason(f *facts.Fact) string {
	if f.Value != nil {
		return "it is a number"
	}
	return reasonOf(f)
}

// match is a comparison of texts.
type match struct {
	op   string
	a    text
	list []text // one for other operators than in
}

func (m match) eval(e *env) State {
	a, ok := m.a.get(e)
	if !ok {
		return Inconclusive
	}
	out := Fail
	for _, t := range m.list {
		b, ok := t.get(e)
		if !ok {
			return Inconclusive
		}
		x, isX := a.(string)
		y, isY := b.(string)
		hit := a == b
		switch m.op {
		case "contains":
			hit = isX && isY && strings.Contains(x, y)
		case "startsWith":
			hit = isX && isY && strings.HasPrefix(x, y)
		case "endsWith":
			hit = isX && isY && strings.HasSuffix(x, y)
		}
		if hit {
			out = Pass
		}
	}
	if m.op == "!=" {
		return not(out)
	}
	return out
}

func (m match) possible(*env) possible { return possible{true, true} }
func (m match) passWays() int          { return 0 }
func (m match) failWays() int          { return 0 }

// truth is a fact that is yes or no, or a literal true or false.
type truth struct{ t text }

func (t truth) eval(e *env) State {
	v, ok := t.t.get(e)
	b, isBool := v.(bool)
	switch {
	case !ok:
		return Inconclusive
	case !isBool:
		e.because("%s is not yes or no", t.t.f.Name)
		return Inconclusive
	case b:
		return Pass
	}
	return Fail
}

func (t truth) possible(*env) possible { return possible{true, true} }
func (t truth) passWays() int          { return 0 }
func (t truth) failWays() int          { return 0 }

// logic combines conditions: &&, ||, ! and c ? a : b.
type logic struct {
	op   string // and, or, not, if
	args []condition
}

func (l logic) eval(e *env) State {
	v := make([]State, len(l.args))
	var whys [][]string
	for i, a := range l.args {
		inner := &env{level: e.level}
		v[i] = a.eval(inner)
		whys = append(whys, inner.why)
	}
	var out State
	switch l.op {
	case "not":
		out = not(v[0])
	case "if": // (c and a) or (not c and b), and what both branches agree on
		out = or(and(v[0], v[1]), and(not(v[0]), v[2]))
		if v[0] == Inconclusive && v[1] == v[2] {
			out = v[1]
		}
	default:
		out = v[0]
		for _, s := range v[1:] {
			if l.op == "and" {
				out = and(out, s)
			} else {
				out = or(out, s)
			}
		}
	}
	if out == Inconclusive { // only undecided parts matter
		for i, w := range whys {
			if v[i] == Inconclusive {
				for _, s := range w {
					e.because("%s", s)
				}
			}
		}
	}
	return out
}

func (l logic) possible(e *env) possible {
	p := make([]possible, len(l.args))
	for i, a := range l.args {
		p[i] = a.possible(e)
	}
	switch l.op {
	case "not":
		return p[0].not()
	case "if":
		return p[0].and(p[1]).or(p[0].not().and(p[2]))
	}
	out := p[0]
	for _, q := range p[1:] {
		if l.op == "and" {
			out = out.and(q)
		} else {
			out = out.or(q)
		}
	}
	return out
}

func (l logic) passWays() int { return l.ways(condition.passWays, condition.failWays, "and") }
func (l logic) failWays() int { return l.ways(condition.failWays, condition.passWays, "or") }

// ways counts: same is of this verdict, other of the opposite one; free is the
// connective that adds no ways.
func (l logic) ways(same, other func(condition) int, free string) int {
	switch l.op {
	case "not":
		return other(l.args[0])
	case "if":
		return l.args[0].passWays() + l.args[0].failWays() + same(l.args[1]) + same(l.args[2])
	}
	n := 0
	for _, a := range l.args {
		if l.op == free {
			n = max(n, same(a))
		} else {
			n += same(a)
		}
	}
	return n
}
