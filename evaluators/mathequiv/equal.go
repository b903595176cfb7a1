package mathequiv

import (
	"fmt"
	"math/big"
	"strings"
)

// Equal reports whether pred states the same answer as gold. Both are answers
// (the content of \boxed{}), not whole replies: use Extract first. reason is one
// short line saying by which rule they are equal, or how they differ. It never
// panics, and its time is bounded whatever the input.
func Equal(gold, pred string) (equal bool, reason string) {
	if len(gold) > maxAnswerBytes || len(pred) > maxAnswerBytes {
		if strings.TrimSpace(gold) == strings.TrimSpace(pred) {
			return true, "identical text"
		}
		return false, "too long to parse, and the texts differ"
	}
	g, p := clean(gold), clean(pred)
	switch {
	case g == "" || p == "":
		if g == p {
			return true, "both empty"
		}
		return false, "one side is empty"
	case g == p:
		return true, "identical text"
	}
	if letter := choiceLetter(g); letter != "" {
		if predictedLetter(p) == letter {
			return true, "same choice " + letter
		}
	}
	if eq, ok := clockEqual(g, p); ok {
		if eq {
			return true, "same time of day"
		}
		return false, "different times of day"
	}
	// "1,234" is one number or two: any pair of readings that agrees will do.
	golds, gerr := readings(g)
	preds, perr := readings(p)
	reason = "different"
	c := comparer{budget: maxEvaluations, work: maxAllWork, comparisons: 4000}
	for _, a := range golds {
		for _, b := range preds {
			eq, why := c.equal(a, b, 0)
			if eq {
				return true, why
			}
			reason = why
		}
	}
	if textForm(g) == textForm(p) && textForm(g) != "" {
		return true, "same text"
	}
	switch {
	case gerr != nil:
		return false, "the reference is text (" + gerr.Error() + ") and differs"
	case perr != nil:
		return false, "the answer cannot be read as mathematics: " + perr.Error()
	}
	return false, reason
}

// EqualWithin reports whether both answers are single numbers that differ by no
// more than rel times the reference: for data sets whose reference is a
// measured or rounded value. Equal answers are within any tolerance.
func EqualWithin(gold, pred string, rel float64) (equal bool, reason string) {
	if eq, why := Equal(gold, pred); eq {
		return true, why
	}
	g, ok1 := Value(gold)
	p, ok2 := Value(pred)
	if !ok1 || !ok2 {
		return false, "not two numbers"
	}
	diff, scale := g-p, g
	if diff < 0 {
		diff = -diff
	}
	if scale < 0 {
		scale = -scale
	}
	if diff <= rel*scale {
		return true, fmt.Sprintf("within %g of the reference", rel)
	}
	return false, fmt.Sprintf("%g differs from %g by more than %g of it", p, g, rel)
}

// Value is the real number an answer states, when it states one.
func Value(answer string) (v float64, ok bool) {
	if len(answer) > maxAnswerBytes {
		return 0, false
	}
	trees, err := readings(clean(answer))
	if err != nil || len(trees) == 0 {
		return 0, false
	}
	n := lastSide(simplify(trees[0]))
	if n.kind == kDegree || n.kind == kPercent {
		n = n.args[0]
	}
	budget := maxEvaluations
	e := evaluator{nil, &budget}
	z, err := e.eval(n)
	if err != nil || !z.isReal() {
		return 0, false
	}
	v, _ = z.re.Float64()
	return v, true
}

func readings(s string) ([]*node, error) {
	r, err := parse(s, true)
	var out []*node
	if err == nil {
		out = append(out, r.tree)
	}
	if err != nil || r.ambiguous {
		if r2, err2 := parse(s, false); err2 == nil {
			out = append(out, r2.tree)
			err = nil
		}
	}
	return out, err
}

// comparer carries the budgets of one Equal.
type comparer struct {
	budget      int // elementary function evaluations
	work        int // term operations of exact arithmetic
	comparisons int // pairs of expressions
}

// equal compares two trees by the rule that their kinds call for.
func (c *comparer) equal(g, p *node, depth int) (bool, string) {
	if depth > 12 {
		return false, "nested too deeply to compare"
	}
	if c.comparisons--; c.comparisons < 0 {
		return false, "too many parts to compare"
	}
	gUnit, pUnit := unitOf(g), unitOf(p)
	g, p = simplify(g), simplify(p)
	if g.key() == p.key() && (gUnit == pUnit || gUnit == "" || pUnit == "") {
		return true, "same expression"
	}
	if gUnit != "" && pUnit != "" && gUnit != pUnit {
		return c.withUnits(g, p, gUnit, pUnit, depth)
	}
	if g.kind == kWords || p.kind == kWords {
		if g.kind == p.kind && textForm(g.name) == textForm(p.name) {
			return true, "same words"
		}
		return false, "different words"
	}
	gs, ps := expandSigns(g), expandSigns(p)
	if len(gs) > 1 || len(ps) > 1 {
		if len(gs) > 1 {
			g = op(kList, gs...)
		}
		if len(ps) > 1 {
			p = op(kList, ps...)
		}
		return c.collections(g, p, depth)
	}
	if g.kind == kRel || p.kind == kRel || isRange(g) != isRange(p) {
		return c.relations(g, p, depth)
	}
	if isCollection(g) || isCollection(p) {
		return c.collections(g, p, depth)
	}
	if g.kind == kRatio || p.kind == kRatio {
		return c.ratios(g, p, depth)
	}
	return c.expressions(g, p)
}

func isCollection(n *node) bool {
	switch n.kind {
	case kTuple, kSet, kList, kUnion, kInter, kMinus, kMatrix:
		return true
	}
	return false
}

// expressions compares two values: exactly where possible, otherwise by
// evaluation at fixed points.
func (c *comparer) expressions(g, p *node) (bool, string) {
	// One percent sign too many or too few is a way of writing, not a value.
	if (g.kind == kPercent) != (p.kind == kPercent) {
		x, y := g, p
		if x.kind != kPercent {
			x, y = y, x
		}
		if eq, why := c.values(x.args[0], y); eq {
			return true, why + ", percent sign aside"
		}
		return c.values(x, y)
	}
	if g.kind == kPercent {
		return c.values(g.args[0], p.args[0])
	}
	if (g.kind == kDegree) != (p.kind == kDegree) {
		x, y := g, p
		if x.kind != kDegree {
			x, y = y, x
		}
		if eq, why := c.values(x.args[0], y); eq {
			return true, why + ", degree sign aside"
		}
		hasPi := y.has(func(n *node) bool { return n.kind == kSym && n.name == "pi" })
		if !hasPi {
			return false, "different values"
		}
		return c.values(op(kDiv, op(kMul, x.args[0], sym("pi")), intNode(180)), y)
	}
	if g.kind == kDegree {
		return c.values(g.args[0], p.args[0])
	}
	if (g.kind == kBase) != (p.kind == kBase) {
		// "in base 5" is often said by the question: the digits alone will do.
		x, y := g, p
		if x.kind != kBase {
			x, y = y, x
		}
		if y.kind == kNum && strings.TrimLeft(x.name, "0") == strings.TrimLeft(y.name, "0") {
			return true, "same digits"
		}
	}
	return c.values(g, p)
}

func (c *comparer) values(g, p *node) (bool, string) {
	g, p = resolveDegrees(g), resolveDegrees(p)
	g, p = electrical(g, p), electrical(p, g)
	if eq, decided := exactEqual(g, p, &c.work); decided {
		if eq {
			return true, "equal exactly"
		}
		return false, "different values"
	}
	if v := numericEqual(g, p, &c.budget); v.decided {
		if v.equal {
			return true, "equal at every test point"
		}
		return false, "different values"
	}
	// Nothing could evaluate them (10^10^10, an undefined function): equal when
	// built alike from equal parts.
	if g.kind == p.kind && g.name == p.name && len(g.args) == len(p.args) && len(g.args) > 0 && c.comparisons > 0 {
		c.comparisons--
		for i := range g.args {
			if eq, _ := c.values(g.args[i], p.args[i]); !eq {
				return false, "different expressions"
			}
		}
		return true, "same structure"
	}
	if g.key() == p.key() {
		return true, "same expression"
	}
	return false, "different expressions"
}

// electrical reads j as the imaginary unit where the other side writes i.
func electrical(n, other *node) *node {
	uses := func(n *node, name string) bool {
		return n.has(func(n *node) bool { return n.kind == kSym && n.name == name })
	}
	if !uses(n, "j") || uses(n, "i") || !uses(other, "i") || uses(other, "j") {
		return n
	}
	var replace func(n *node) *node
	replace = func(n *node) *node {
		if n.kind == kSym && n.name == "j" {
			return sym("i")
		}
		return n.mapArgs(replace)
	}
	return replace(n)
}

// resolveDegrees turns degrees inside an expression into radians.
func resolveDegrees(n *node) *node {
	if n.kind == kDegree {
		return op(kDiv, op(kMul, resolveDegrees(n.args[0]), sym("pi")), intNode(180))
	}
	return n.mapArgs(resolveDegrees)
}

func (c *comparer) ratios(g, p *node, depth int) (bool, string) {
	if g.kind == kRatio && p.kind == kRatio {
		if len(g.args) != len(p.args) {
			return false, "ratios of different length"
		}
		for i := 1; i < len(g.args); i++ {
			if eq, _ := c.values(op(kMul, g.args[0], p.args[i]), op(kMul, p.args[0], g.args[i])); !eq {
				return false, "different ratios"
			}
		}
		return true, "same ratio"
	}
	r, v := g, p
	if r.kind != kRatio {
		r, v = v, r
	}
	if len(r.args) != 2 || isCollection(v) {
		return false, "a ratio and something else"
	}
	return c.values(op(kDiv, r.args[0], r.args[1]), v)
}

// collections compares tuples in order and sets, lists and unions without.
func (c *comparer) collections(g, p *node, depth int) (bool, string) {
	if g.kind == kMatrix || p.kind == kMatrix {
		return c.matrices(g, p, depth)
	}
	if isRange(g) && isRange(p) {
		if eq, ok := c.ranges(g, p, depth); ok && eq {
			return true, "same range"
		}
		if g.kind != kTuple || p.kind != kTuple {
			return false, "different ranges"
		}
	}
	if g.kind == kTuple && p.kind == kTuple {
		if g.name != p.name && len(g.args) == 2 && len(p.args) == 2 && g.name != "row" && p.name != "row" {
			return false, "open and closed ends differ"
		}
		return c.ordered(g.args, p.args, depth)
	}
	if g.kind == kTuple && p.kind == kList || g.kind == kList && p.kind == kTuple {
		gi, pi := itemsOf(g), itemsOf(p)
		return c.ordered(stripNames(gi, pi), stripNames(pi, gi), depth)
	}
	enumerates := func(n *node) bool { return n.kind == kSet || n.kind == kList }
	if enumerates(g) && (enumerates(p) || !isCollection(p)) || enumerates(p) && !isCollection(g) {
		gi, pi := itemsOf(g), itemsOf(p)
		if len(gi) > len(pi) {
			gi = dropConditions(gi)
		} else if len(pi) > len(gi) {
			pi = dropConditions(pi)
		}
		if len(gi) == 1 && len(pi) == 1 {
			return c.equal(gi[0], pi[0], depth+1)
		}
		return c.unordered(stripNames(gi, pi), stripNames(pi, gi), depth)
	}
	if g.kind == p.kind && (g.kind == kUnion || g.kind == kInter) {
		return c.unordered(g.args, p.args, depth)
	}
	if g.kind == p.kind && g.kind == kMinus {
		return c.ordered(g.args, p.args, depth)
	}
	return false, "different kinds of answer"
}

// dropConditions leaves out what only says where a parameter runs: k ∈ Z.
func dropConditions(items []*node) []*node {
	var out []*node
	for _, n := range items {
		if n.kind == kRel && len(n.ops) == 1 && n.ops[0] == "in" && n.args[0].kind == kSym && n.args[1].kind == kSym && strings.HasPrefix(n.args[1].name, "bb ") {
			continue
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return items
	}
	return out
}

func itemsOf(n *node) []*node {
	switch n.kind {
	case kSet, kList, kTuple:
		return n.args
	}
	return []*node{n}
}

// stripNames takes "x =" off the items when the other side has none.
func stripNames(items, other []*node) []*node {
	named := func(list []*node) bool {
		for _, n := range list {
			if n.kind == kRel {
				return true
			}
		}
		return false
	}
	if !named(items) || named(other) {
		return items
	}
	out := make([]*node, len(items))
	for i, n := range items {
		out[i] = lastSide(n)
	}
	return out
}

func (c *comparer) ordered(a, b []*node, depth int) (bool, string) {
	if len(a) != len(b) {
		return false, fmt.Sprintf("%d parts, not %d", len(b), len(a))
	}
	for i := range a {
		if eq, why := c.equal(a[i], b[i], depth+1); !eq {
			return false, fmt.Sprintf("part %d: %s", i+1, why)
		}
	}
	return true, "all parts equal"
}

func (c *comparer) unordered(a, b []*node, depth int) (bool, string) {
	if len(a) != len(b) {
		return false, fmt.Sprintf("%d parts, not %d", len(b), len(a))
	}
	used := make([]bool, len(b))
	for i, x := range a {
		found := false
		for j := range b {
			k := (i + j) % len(b) // the same place first
			if used[k] {
				continue
			}
			if eq, _ := c.equal(x, b[k], depth+1); eq {
				used[k], found = true, true
				break
			}
		}
		if !found {
			return false, fmt.Sprintf("part %d of the reference is missing", i+1)
		}
	}
	return true, "same parts"
}

func (c *comparer) matrices(g, p *node, depth int) (bool, string) {
	if g.kind == kMatrix && p.kind == kMatrix && len(g.args) == len(p.args) {
		return c.ordered(g.args, p.args, depth)
	}
	gv, ok1 := vector(g)
	pv, ok2 := vector(p)
	if ok1 && ok2 && (g.kind != kMatrix || p.kind != kMatrix) {
		return c.ordered(gv, pv, depth)
	}
	return false, "matrices of different shape"
}

// vector lists the entries of a tuple, a row or a column.
func vector(n *node) ([]*node, bool) {
	switch {
	case n.kind == kTuple || n.kind == kList:
		return n.args, true
	case n.kind == kMatrix && len(n.args) == 1:
		return n.args[0].args, true
	case n.kind == kMatrix:
		var out []*node
		for _, row := range n.args {
			if len(row.args) != 1 {
				return nil, false
			}
			out = append(out, row.args[0])
		}
		return out, true
	}
	return nil, false
}

// expandSigns replaces ± by its two readings, all signs turning together.
func expandSigns(n *node) []*node {
	isPM := func(n *node) bool { return n.kind == kPM }
	if !n.has(isPM) {
		return []*node{n}
	}
	if n.kind == kList || n.kind == kSet {
		var out []*node
		for _, a := range n.args {
			out = append(out, expandSigns(a)...)
		}
		return out
	}
	var pick func(n *node, plus bool) *node
	pick = func(n *node, plus bool) *node {
		if n.kind == kPM {
			arg := pick(n.args[0], plus)
			if plus == (n.name == "") {
				return arg
			}
			return op(kNeg, arg)
		}
		return n.mapArgs(func(a *node) *node { return pick(a, plus) })
	}
	return []*node{pick(n, true), pick(n, false)}
}

func (c *comparer) withUnits(g, p *node, gu, pu string, depth int) (bool, string) {
	a, ok1 := units[gu]
	b, ok2 := units[pu]
	if !ok1 || !ok2 {
		return c.equal(g, p, depth+1) // at least one is a mere noun
	}
	if a.dimension != b.dimension {
		return false, fmt.Sprintf("%s is not %s", pu, gu)
	}
	if isCollection(g) || isCollection(p) || g.kind == kRel || p.kind == kRel {
		return c.equal(g, p, depth+1)
	}
	fa, _ := new(big.Rat).SetString(a.factor)
	fb, _ := new(big.Rat).SetString(b.factor)
	return c.values(op(kMul, g, num(fa)), op(kMul, p, num(fb)))
}
