package mathequiv

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

var namedFunctions = set("sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh coth ln log lg exp abs floor ceil max min gcd lcm det")

var matrixEnvironments = set("matrix pmatrix bmatrix vmatrix Bmatrix Vmatrix smallmatrix array tabular")

// Greek and other commands that stand for a variable.
var symbolCommands = set("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell hbar ldots angle triangle square aleph mho partial nabla imath jmath Re Im")

func (p *parser) atom() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	t := p.peek()
	if t.kind == tokEnd {
		return nil, errors.New("incomplete expression")
	}
	p.pos++
	switch t.kind {
	case tokNumber:
		return p.numberAtom(t)
	case tokLetter:
		return sym(t.text), nil
	case tokWords:
		return &node{kind: kWords, name: t.text}, nil
	case tokSep:
		return nil, errors.New("missing operand")
	case tokCommand:
		return p.commandAtom(t)
	}
	switch t.text {
	case "(", "[":
		return p.brackets(t.text)
	case "{":
		n, err := p.list(func(t token) bool { return t.symbol("}") })
		if err != nil {
			return nil, err
		}
		if !p.accept("}") {
			return nil, errors.New("unclosed brace")
		}
		if n.kind == kList && len(n.args) == 0 {
			return nil, errors.New("empty group")
		}
		c := *n
		c.bracketed = true
		if n.integer { // {12} is still a literal: \frac{1}{2}, 3{,}000
			c.bracketed = false
		}
		return &c, nil
	case `\{`:
		return p.setAtom()
	case "|":
		p.bars++
		n, err := p.list(func(t token) bool { return t.symbol("|") })
		p.bars--
		if err != nil {
			return nil, err
		}
		if !p.accept("|") {
			return nil, errors.New("unclosed |")
		}
		return fn("abs", n), nil
	}
	return nil, fmt.Errorf("unexpected %q", t.text)
}

func (p *parser) numberAtom(t token) (*node, error) {
	v, ok := parseNumber(t.text)
	if !ok {
		return nil, fmt.Errorf("number %.20q is out of range", t.text)
	}
	n := num(v)
	n.name = t.text
	n.integer = !strings.ContainsAny(t.text, ".e")
	// 0.1\overline{6}: a repeating decimal.
	if dot := strings.IndexByte(t.text, '.'); dot >= 0 && (p.peek().command("overline") || p.peek().command("dot")) {
		if g := p.peekAt(1); g.symbol("{") && p.peekAt(2).kind == tokNumber && p.peekAt(3).symbol("}") {
			digits := p.peekAt(2).text
			if rep, ok := new(big.Int).SetString(digits, 10); ok && len(digits) < 50 {
				p.pos += 4
				places := int64(len(t.text) - dot - 1)
				den := new(big.Int).Sub(pow10(int64(len(digits))), big.NewInt(1))
				den.Mul(den, pow10(places))
				return num(new(big.Rat).Add(v, new(big.Rat).SetFrac(rep, den))), nil
			}
		}
	}
	return n, nil
}

func pow10(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// maxDigits bounds the digits of a literal: beyond it, answers are text.
const maxDigits = 4000

func parseNumber(s string) (*big.Rat, bool) {
	if len(s) > maxDigits {
		return nil, false
	}
	if i := strings.IndexByte(s, 'e'); i >= 0 {
		exp := strings.TrimLeft(s[i+1:], "+-")
		if len(strings.TrimLeft(exp, "0")) > 3 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(strings.TrimSuffix(s, "."))
}

// brackets parses what stands between ( or [ and ) or ]. One item in matching
// round or square brackets is a grouping, several are a tuple or interval.
func (p *parser) brackets(open string) (*node, error) {
	bars := p.bars
	p.bars = 0
	defer func() { p.bars = bars }()
	closing := func(t token) bool { return t.symbol(")") || t.symbol("]") }
	n, err := p.list(closing)
	if err != nil {
		return nil, err
	}
	t := p.peek()
	if !closing(t) {
		return nil, fmt.Errorf("unclosed %q", open)
	}
	p.pos++
	if n.kind != kList {
		c := *n
		c.bracketed = true
		return &c, nil
	}
	if len(n.args) == 0 {
		return nil, errors.New("empty brackets")
	}
	return &node{kind: kTuple, name: open + t.text, args: n.args}, nil
}

// setAtom parses a set, or the condition of a set builder {x | condition}.
func (p *parser) setAtom() (*node, error) {
	bars := p.bars
	p.bars = 1 // a bar inside braces is "such that", not an absolute value
	defer func() { p.bars = bars }()
	end := func(t token) bool {
		return t.symbol(`\}`) || t.symbol("|") || t.command("mid") || t.symbol(":")
	}
	n, err := p.list(end)
	if err != nil {
		return nil, err
	}
	if n.kind == kRatio && len(n.args) == 2 { // {x : x > 2} was read as a ratio
		if p.accept(`\}`) {
			return n.args[1], nil
		}
	}
	if n.kind == kRel && n.args[0].kind == kRatio && len(n.args[0].args) == 2 {
		c := *n
		c.args = append([]*node{n.args[0].args[1]}, n.args[1:]...)
		n = &c
		if p.accept(`\}`) {
			return n, nil
		}
	}
	if t := p.peek(); t.symbol("|") || t.command("mid") {
		p.pos++
		p.bars = 0
		n, err = p.list(func(t token) bool { return t.symbol(`\}`) })
		if err != nil {
			return nil, err
		}
		if !p.accept(`\}`) {
			return nil, errors.New("unclosed set")
		}
		return n, nil
	}
	if !p.accept(`\}`) {
		return nil, errors.New("unclosed set")
	}
	if n.kind == kList {
		return op(kSet, n.args...), nil
	}
	return op(kSet, n), nil
}

// argument reads a braced group or one token. digit makes a run of digits give
// its first digit only, as TeX does: \frac12.
func (p *parser) argument(digit bool) (*node, error) {
	t := p.peek()
	if digit && t.kind == tokNumber && len(t.text) > 1 && !strings.ContainsAny(t.text, ".e") {
		p.toks = append([]token(nil), p.toks...)
		p.toks[p.pos].text = t.text[1:]
		n := intNode(int64(t.text[0] - '0'))
		n.integer, n.name = true, t.text[:1]
		return n, nil
	}
	if t.symbol("-") {
		p.pos++
		n, err := p.argument(digit)
		if err != nil {
			return nil, err
		}
		return op(kNeg, n), nil
	}
	return p.atom()
}

func (p *parser) commandAtom(t token) (*node, error) {
	name := t.text
	switch {
	case name == "pi":
		return sym("pi"), nil
	case name == "infty":
		return sym("infty"), nil
	case name == "emptyset":
		return op(kSet), nil
	case strings.HasPrefix(name, "bb "):
		return sym(name), nil
	case name == "frac":
		return p.fraction()
	case name == "sqrt" || name == "cbrt":
		degree := intNode(2)
		if name == "cbrt" {
			degree = intNode(3)
		} else if p.peek().symbol("[") {
			p.pos++
			d, err := p.list(func(t token) bool { return t.symbol("]") })
			if err != nil {
				return nil, err
			}
			if !p.accept("]") {
				return nil, errors.New("unclosed index of a root")
			}
			degree = d
		}
		x, err := p.argument(false)
		if err != nil {
			return nil, err
		}
		return op(kRoot, x, degree), nil
	case name == "binom":
		n, err := p.argument(true)
		if err != nil {
			return nil, err
		}
		k, err := p.argument(true)
		if err != nil {
			return nil, err
		}
		return fn("binom", n, k), nil
	case name == "lfloor" || name == "lceil":
		end := map[string]string{"lfloor": "rfloor", "lceil": "rceil"}[name]
		x, err := p.list(func(t token) bool { return t.command(end) })
		if err != nil {
			return nil, err
		}
		if !p.peek().command(end) {
			return nil, errors.New("unclosed \\" + name)
		}
		p.pos++
		return fn(map[string]string{"lfloor": "floor", "lceil": "ceil"}[name], x), nil
	case strings.HasPrefix(name, "begin "):
		return p.matrix(strings.TrimPrefix(name, "begin "))
	case name == "overline" || name == "dot" || name == "ddot" || name == "widetilde" || name == "overrightarrow":
		if p.peek().symbol("{") {
			_, text, err := p.subscript()
			return sym(name + " " + text), err
		}
		x, err := p.atom()
		if err != nil {
			return nil, err
		}
		return fn(name, x), nil
	case name == "mod" || name == "pmod" || name == "bmod":
		return &node{kind: kWords, name: "mod"}, nil
	case namedFunctions[name]:
		return p.function(name)
	case symbolCommands[name]:
		return sym(name), nil
	}
	return nil, fmt.Errorf("unsupported \\%s", name)
}

func (p *parser) fraction() (*node, error) {
	a, err := p.argument(true)
	if err != nil {
		return nil, err
	}
	b, err := p.argument(true)
	if err != nil {
		return nil, err
	}
	d := op(kDiv, a, b)
	d.literal = a.integer && b.integer
	return d, nil
}

// function parses the power, the base and the argument of a named function:
// \sin^2 x, \log_2 8, \ln(2), \sin 2x.
func (p *parser) function(name string) (*node, error) {
	var exp, base *node
	for {
		var err error
		if p.accept("^") {
			exp, err = p.exponent()
		} else if p.peek().symbol("_") {
			p.pos++
			base, err = p.argument(false)
		} else {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	var args []*node
	t := p.peek()
	if t.symbol("(") || t.symbol("[") || t.symbol("{") {
		x, err := p.atom()
		if err != nil {
			return nil, err
		}
		if x.kind == kTuple {
			args = x.args
		} else {
			args = []*node{x}
		}
	} else {
		var x *node
		for p.startsFactor(p.peek()) || x == nil {
			t := p.peek()
			if x != nil && (t.kind == tokCommand && namedFunctions[t.text] || t.symbol("(") || t.symbol("[") || t.kind == tokWords) {
				break
			}
			f, err := p.power()
			if err != nil {
				return nil, err
			}
			if x == nil {
				x = f
			} else {
				x = times(x, f)
			}
		}
		args = []*node{x}
	}
	var f *node
	inverse := exp != nil && exp.kind == kNeg && exp.args[0].kind == kNum && exp.args[0].val.Cmp(big.NewRat(1, 1)) == 0
	switch {
	case inverse && (name == "sin" || name == "cos" || name == "tan"):
		f, exp = fn("arc"+name, args...), nil
	case base != nil && (name == "log" || name == "ln" || name == "lg"):
		f = op(kDiv, fn("ln", args...), fn("ln", base))
	case name == "lg":
		f = op(kDiv, fn("ln", args...), fn("ln", intNode(10)))
	case base != nil:
		return nil, fmt.Errorf("subscript on \\%s", name)
	case name == "exp" && len(args) == 1:
		f = op(kPow, sym("e"), args[0])
	default:
		f = fn(name, args...)
	}
	if exp != nil {
		f = op(kPow, f, exp)
	}
	return f, nil
}

// matrix parses rows up to \end{env}.
func (p *parser) matrix(env string) (*node, error) {
	if !matrixEnvironments[env] {
		if env == "cases" || env == "aligned" || env == "align" || env == "split" {
			return nil, fmt.Errorf("unsupported environment %s", env)
		}
		return nil, fmt.Errorf("unknown environment %.20q", env)
	}
	m := &node{kind: kMatrix}
	if env == "vmatrix" {
		m.name = "det"
	}
	row := &node{kind: kTuple, name: "row"}
	end := func(t token) bool {
		return t.symbol("&") || t.symbol(`\\`) || t.kind == tokCommand && strings.HasPrefix(t.text, "end ")
	}
	for {
		t := p.peek()
		switch {
		case t.kind == tokEnd:
			return nil, errors.New("unclosed matrix")
		case t.symbol("&"):
			p.pos++
		case t.symbol(`\\`):
			p.pos++
			if len(row.args) > 0 {
				m.args = append(m.args, row)
			}
			row = &node{kind: kTuple, name: "row"}
		case end(t):
			p.pos++
			if len(row.args) > 0 {
				m.args = append(m.args, row)
			}
			if len(m.args) == 0 {
				return nil, errors.New("empty matrix")
			}
			return m, nil
		default:
			x, err := p.list(end)
			if err != nil {
				return nil, err
			}
			if !end(p.peek()) {
				return nil, fmt.Errorf("unexpected %q in a matrix", p.peek().text)
			}
			row.args = append(row.args, x)
		}
	}
}
