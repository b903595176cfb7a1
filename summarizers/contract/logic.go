package contract

import (
	"strings"

	"ais_bench/summarizers/facts"
)

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
