package mathequiv

import "strings"

// isName reports whether a tree is what an answer is called rather than the
// answer: x, x_1, f(x), \angle ABC, "the area".
func isName(n *node) bool {
	switch n.kind {
	case kSym:
		return n.name != "pi" && n.name != "e" && n.name != "infty" && n.name != "i"
	case kWords:
		return true
	case kMul:
		if len(n.args) > 4 {
			return false
		}
		for _, a := range n.args {
			if a.kind == kTuple {
				for _, b := range a.args {
					if !isName(b) {
						return false
					}
				}
			} else if !isName(a) && !(a.bracketed && a.kind == kNum) {
				return false
			}
		}
		return true
	case kFunc:
		return (n.name == "prime" || n.name == "abs" || n.name == "det") && len(n.args) == 1 && isName(n.args[0])
	}
	return false
}

// lastSide is the value an equation ends in: x = 2 + 3 = 5 gives 5, 5 = x too.
func lastSide(n *node) *node {
	if n.kind != kRel {
		return n
	}
	for _, o := range n.ops {
		if o != "=" && o != "==" && o != "in" && o != "->" && o != "~" {
			return n
		}
	}
	last := n.args[len(n.args)-1]
	if len(n.args) == 2 && isName(last) && !isName(n.args[0]) && n.ops[0] == "=" {
		return n.args[0]
	}
	if n.ops[len(n.ops)-1] == "~" && len(n.args) >= 2 {
		return n.args[len(n.args)-2] // the exact side of x = pi ≈ 3.14
	}
	return last
}

func hasOp(n *node, ops ...string) bool {
	for _, o := range n.ops {
		for _, want := range ops {
			if o == want {
				return true
			}
		}
	}
	return false
}

// relations compares when at least one side is an equation, an inequality or a
// range.
func (c *comparer) relations(g, p *node, depth int) (bool, string) {
	gRel, pRel := g.kind == kRel, p.kind == kRel
	if isRange(g) && isRange(p) {
		if eq, ok := c.ranges(g, p, depth); ok {
			if eq {
				return true, "same range"
			}
			if !gRel || !pRel {
				return false, "different ranges"
			}
		}
	}
	switch {
	case gRel && pRel:
		return c.twoRelations(g, p, depth)
	case gRel:
		return c.relationAndValue(g, p, depth)
	case pRel:
		return c.relationAndValue(p, g, depth)
	}
	return c.collections(g, p, depth)
}

func (c *comparer) relationAndValue(r, v *node, depth int) (bool, string) {
	if hasOp(r, "<", ">", "<=", ">=", "!=", "subset", "propto") {
		return false, "an inequality and a value"
	}
	side := lastSide(r)
	if side.kind == kRel {
		return false, "a relation and a value"
	}
	if len(r.args) == 2 && r.ops[0] == "=" && !isName(r.args[0]) && !isName(r.args[1]) {
		// An equation in its own right (y + x = 3) is not a value, but a
		// calculation (2/4 = 1/2) is.
		if len(variables(r.args[0])) > 0 {
			return false, "an equation and a value"
		}
	}
	if eq, why := c.equal(side, v, depth+1); eq {
		return true, why
	}
	if hasOp(r, "~") {
		return c.equal(r.args[len(r.args)-1], v, depth+1)
	}
	return false, "different values"
}

func (c *comparer) twoRelations(g, p *node, depth int) (bool, string) {
	if len(g.ops) > 1 || len(p.ops) > 1 {
		if strings.Join(g.ops, " ") == strings.Join(p.ops, " ") && len(g.args) == len(p.args) {
			if eq, _ := c.ordered(g.args, p.args, depth); eq {
				return true, "same chain of relations"
			}
		}
		gl, pl := lastSide(g), lastSide(p)
		if gl.kind == kRel || pl.kind == kRel {
			return false, "different relations"
		}
		return c.equal(gl, pl, depth+1)
	}
	gOp, pOp := g.ops[0], p.ops[0]
	if gOp == "in" && pOp == "in" || gOp == "=" && pOp == "in" || gOp == "in" && pOp == "=" {
		return c.equal(g.args[1], p.args[1], depth+1)
	}
	flip := map[string]string{">": "<", ">=": "<="}
	gl, gr, pl, pr := g.args[0], g.args[1], p.args[0], p.args[1]
	if f, ok := flip[gOp]; ok {
		gOp, gl, gr = f, gr, gl
	}
	if f, ok := flip[pOp]; ok {
		pOp, pl, pr = f, pr, pl
	}
	if gOp != pOp {
		return false, "different relations"
	}
	if isName(gl) && isName(pl) {
		if eq, why := c.equal(gr, pr, depth+1); eq {
			if gl.key() == pl.key() || textForm(gl.name) == textForm(pl.name) && gl.kind == pl.kind {
				return true, why
			}
			// y = 2x + 1 and f(x) = 2x + 1 define the same function.
			if gOp == "=" && len(variables(gr)) > 0 && (gl.kind != kSym || pl.kind != kSym || gl.name == "y" || pl.name == "y") {
				return true, why
			}
		}
	}
	for _, side := range [...]*node{gl, gr, pl, pr} {
		if isCollection(side) || side.kind == kRel || side.kind == kRatio {
			eq, _ := c.ordered([]*node{gl, gr}, []*node{pl, pr}, depth)
			if !eq && gOp == "=" {
				eq, _ = c.ordered([]*node{gl, gr}, []*node{pr, pl}, depth)
			}
			return eq, map[bool]string{true: "same relation", false: "different relations"}[eq]
		}
	}
	// The differences of the two sides are proportional: by any factor for
	// equations, by a positive one for inequalities.
	d1, d2 := op(kAdd, gl, op(kNeg, gr)), op(kAdd, pl, op(kNeg, pr))
	if c.proportional(d1, d2, gOp != "=" && gOp != "!=") {
		return true, "same relation"
	}
	return false, "different relations"
}

// proportional tests d1 = k·d2 for a constant k ≠ 0 at the test points.
func (c *comparer) proportional(d1, d2 *node, positive bool) bool {
	d1, d2 = resolveDegrees(d1), resolveDegrees(d2)
	vars := mergeNames(variables(d1), variables(d2))
	var k complexNum
	found := 0
	for i := range positivePoints + mixedPoints {
		e := evaluator{point(i, vars), &c.budget}
		z, err1 := e.eval(d1)
		w, err2 := e.eval(d2)
		if err1 != nil || err2 != nil {
			continue
		}
		if below(z.abs(), zeroBits) && below(w.abs(), zeroBits) {
			continue
		}
		q, err := z.quo(w)
		if err != nil || below(q.abs(), zeroBits) {
			return false
		}
		if found > 0 && !agree(k, q) {
			return false
		}
		k = q
		found++
	}
	if found < 2 {
		return false
	}
	return !positive || k.isReal() && k.re.Sign() > 0
}

// interval is a range of one variable; nil ends are infinite.
type interval struct {
	lo, hi         *node
	loOpen, hiOpen bool
}

func isInf(n *node) bool { return n.kind == kSym && n.name == "infty" }

func isNegInf(n *node) bool { return n.kind == kNeg && isInf(n.args[0]) }

// isRange reports whether a tree can be read as a set of real numbers.
func isRange(n *node) bool {
	_, ok := intervals(n)
	return ok
}

// intervals reads interval notation, inequalities in one variable and unions
// (or lists of inequalities, meaning "or").
func intervals(n *node) ([]interval, bool) {
	switch n.kind {
	case kSym:
		return []interval{{loOpen: true, hiOpen: true}}, n.name == "bb R"
	case kTuple:
		if len(n.args) != 2 || n.name == "row" {
			return nil, false
		}
		iv := interval{n.args[0], n.args[1], n.name[0] == '(', n.name[1] == ')'}
		if isNegInf(iv.lo) {
			iv.lo, iv.loOpen = nil, true
		}
		if isInf(iv.hi) || iv.hi.kind == kAdd && len(iv.hi.args) == 1 && isInf(iv.hi.args[0]) {
			iv.hi, iv.hiOpen = nil, true
		}
		return []interval{iv}, true
	case kSet:
		var out []interval
		for _, a := range n.args {
			if isCollection(a) || a.kind == kRel {
				return nil, false
			}
			out = append(out, interval{a, a, false, false})
		}
		return out, len(out) > 0
	case kMinus: // all numbers but one
		hole := n.args[1]
		if hole.kind == kSet && len(hole.args) == 1 && !isCollection(hole.args[0]) && n.args[0].kind == kSym && n.args[0].name == "bb R" {
			return []interval{finite(nil, hole.args[0], true, true), finite(hole.args[0], nil, true, true)}, true
		}
		return nil, false
	case kUnion, kList:
		var out []interval
		for _, a := range n.args {
			if n.kind == kList && a.kind != kRel {
				return nil, false
			}
			iv, ok := intervals(a)
			if !ok {
				return nil, false
			}
			out = append(out, iv...)
		}
		return out, len(out) > 0
	case kRel:
		return relationRange(n)
	}
	return nil, false
}

func relationRange(n *node) ([]interval, bool) {
	if len(n.ops) == 1 && n.ops[0] == "in" {
		if n.args[0].kind != kSym {
			return nil, false
		}
		return intervals(n.args[1])
	}
	less := func(o string) bool { return o == "<" || o == "<=" }
	more := func(o string) bool { return o == ">" || o == ">=" }
	isVar := func(m *node) bool { return m.kind == kSym && isName(m) && !strings.HasPrefix(m.name, "bb ") }
	switch {
	case len(n.ops) == 1 && n.ops[0] == "!=" && isVar(n.args[0]) && len(variables(n.args[1])) == 0:
		return []interval{finite(nil, n.args[1], true, true), finite(n.args[1], nil, true, true)}, true
	case len(n.ops) == 1 && isVar(n.args[0]) && len(variables(n.args[1])) == 0:
		if less(n.ops[0]) {
			return []interval{finite(nil, n.args[1], true, n.ops[0] == "<")}, true
		}
		if more(n.ops[0]) {
			return []interval{finite(n.args[1], nil, n.ops[0] == ">", true)}, true
		}
	case len(n.ops) == 1 && isVar(n.args[1]) && len(variables(n.args[0])) == 0:
		if less(n.ops[0]) {
			return []interval{finite(n.args[0], nil, n.ops[0] == "<", true)}, true
		}
		if more(n.ops[0]) {
			return []interval{finite(nil, n.args[0], true, n.ops[0] == ">")}, true
		}
	case len(n.ops) == 2 && isVar(n.args[1]) && less(n.ops[0]) && less(n.ops[1]):
		return []interval{finite(n.args[0], n.args[2], n.ops[0] == "<", n.ops[1] == "<")}, true
	case len(n.ops) == 2 && isVar(n.args[1]) && more(n.ops[0]) && more(n.ops[1]):
		return []interval{finite(n.args[2], n.args[0], n.ops[1] == ">", n.ops[0] == ">")}, true
	}
	return nil, false
}

func finite(lo, hi *node, loOpen, hiOpen bool) interval {
	if lo != nil && isNegInf(lo) {
		lo, loOpen = nil, true
	}
	if hi != nil && isInf(hi) {
		hi, hiOpen = nil, true
	}
	return interval{lo, hi, loOpen, hiOpen}
}

// ranges compares two ranges; ok is false when one is not a range. The variable
// must be the same where both sides name one.
func (c *comparer) ranges(g, p *node, depth int) (equal, ok bool) {
	gi, ok1 := intervals(g)
	pi, ok2 := intervals(p)
	if !ok1 || !ok2 {
		return false, false
	}
	if gv, pv := rangeVariable(g), rangeVariable(p); gv != "" && pv != "" && gv != pv {
		return false, true
	}
	if len(gi) != len(pi) {
		return false, true
	}
	end := func(a, b *node) bool {
		if a == nil || b == nil {
			return a == b
		}
		eq, _ := c.equal(a, b, depth+1)
		return eq
	}
	used := make([]bool, len(pi))
	for _, a := range gi {
		found := false
		for j, b := range pi {
			if !used[j] && a.loOpen == b.loOpen && a.hiOpen == b.hiOpen && end(a.lo, b.lo) && end(a.hi, b.hi) {
				used[j], found = true, true
				break
			}
		}
		if !found {
			return false, true
		}
	}
	return true, true
}

// rangeVariable is the variable that inequalities speak of, "" for intervals.
func rangeVariable(n *node) string {
	name := ""
	n.has(func(m *node) bool {
		if m.kind == kRel {
			for _, a := range m.args {
				if a.kind == kSym && isName(a) && name == "" && !strings.HasPrefix(a.name, "bb ") {
					name = a.name
				}
			}
		}
		return false
	})
	return name
}
