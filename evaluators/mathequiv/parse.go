package mathequiv

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

var errTooDeep = errors.New("nested too deeply")

// parser is a recursive descent over tokens. Precedence, loosest first:
// enumeration, logic, relation, union, ratio, sum, product (written or implied),
// power, atom.
type parser struct {
	toks  []token
	pos   int
	depth int
	bars  int // open |…|: a bar then closes
}

type reading struct {
	tree      *node
	ambiguous bool // "1,234" could be read the other way
}

// parse reads an answer. mergeThousands decides what "1,234" is.
func parse(s string, mergeThousands bool) (reading, error) {
	if len(s) > maxAnswerBytes {
		return reading{}, errors.New("too long to parse")
	}
	l := lexer{src: s, mergeThousands: mergeThousands}
	if !l.run() {
		return reading{}, errors.New("cannot be read as mathematics")
	}
	toks := l.toks
	for len(toks) > 0 && (toks[len(toks)-1].kind == tokSep || toks[len(toks)-1].kind == tokSymbol && toks[len(toks)-1].text == ".") {
		toks = toks[:len(toks)-1]
	}
	if len(toks) == 0 {
		return reading{}, errors.New("empty")
	}
	p := &parser{toks: toks}
	n, err := p.list(func(token) bool { return false })
	if err != nil {
		return reading{}, err
	}
	if p.peek().kind != tokEnd {
		return reading{}, fmt.Errorf("unexpected %q", p.peek().text)
	}
	return reading{n, l.sawThousands}, nil
}

func (p *parser) peek() token {
	if p.pos < len(p.toks) {
		return p.toks[p.pos]
	}
	return token{kind: tokEnd}
}

func (p *parser) peekAt(i int) token {
	if p.pos+i < len(p.toks) {
		return p.toks[p.pos+i]
	}
	return token{kind: tokEnd}
}

func (t token) symbol(s string) bool  { return t.kind == tokSymbol && t.text == s }
func (t token) command(s string) bool { return t.kind == tokCommand && t.text == s }

func (p *parser) accept(s string) bool {
	if p.peek().symbol(s) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return errTooDeep
	}
	return nil
}

// list parses items between separators up to stop; one item is itself.
func (p *parser) list(stop func(token) bool) (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	var items []*node
	for {
		for p.peek().kind == tokSep || p.peek().command("lor") {
			p.pos++
		}
		if p.peek().kind == tokEnd || stop(p.peek()) {
			break
		}
		item, err := p.relation()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		t := p.peek()
		if t.kind != tokSep && !t.command("lor") && !t.command("land") {
			break
		}
		p.pos++
	}
	if len(items) == 1 {
		return items[0], nil
	}
	return op(kList, items...), nil
}

var relations = map[string]string{"=": "=", "<": "<", ">": ">", "le": "<=", "ge": ">=", "ne": "!=", "approx": "~", "equiv": "==", "in": "in", "to": "->", "rightarrow": "->", "Rightarrow": "=>", "implies": "=>", "mapsto": "->", "mid": "|", "subset": "subset", "subseteq": "subset", "cong": "~", "notin": "notin", "propto": "propto", "perp": "perp", "parallel": "parallel"}

func (p *parser) relation() (*node, error) {
	left, err := p.union()
	if err != nil {
		return nil, err
	}
	rel := op(kRel, left)
	for {
		t := p.peek()
		o, ok := "", false
		if t.kind == tokSymbol || t.kind == tokCommand {
			o, ok = relations[t.text]
		}
		if !ok || o == "|" {
			break
		}
		p.pos++
		if o == "=" && p.peek().symbol("=") { // "=="
			p.pos++
		}
		right, err := p.union()
		if err != nil {
			return nil, err
		}
		rel.args = append(rel.args, right)
		rel.ops = append(rel.ops, o)
	}
	if len(rel.ops) == 0 {
		return left, nil
	}
	return rel, nil
}

func (p *parser) union() (*node, error) {
	left, err := p.ratio()
	if err != nil {
		return nil, err
	}
	for {
		t := p.peek()
		var k kind
		switch {
		case t.command("cup") || t.command("bigcup") || t.kind == tokLetter && t.text == "U" && left.kind == kTuple && (p.peekAt(1).symbol("(") || p.peekAt(1).symbol("[")):
			k = kUnion
		case t.command("cap"):
			k = kInter
		case t.command("setminus") || t.command("backslash"):
			k = kMinus
		default:
			return left, nil
		}
		p.pos++
		right, err := p.ratio()
		if err != nil {
			return nil, err
		}
		if left.kind == k && k != kMinus {
			left.args = append(left.args, right)
		} else {
			left = op(k, left, right)
		}
	}
}

func (p *parser) ratio() (*node, error) {
	first, err := p.sum()
	if err != nil {
		return nil, err
	}
	if !p.peek().symbol(":") {
		return first, nil
	}
	r := op(kRatio, first)
	for p.accept(":") {
		next, err := p.sum()
		if err != nil {
			return nil, err
		}
		r.args = append(r.args, next)
	}
	return r, nil
}

func (p *parser) sum() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	var terms []*node
	for first := true; ; first = false {
		t := p.peek()
		sign := ""
		switch {
		case t.symbol("+") || t.symbol("-"):
			sign = t.text
		case t.command("pm"):
			sign = "pm"
		case t.command("mp"):
			sign = "mp"
		case !first:
			if len(terms) == 1 {
				return terms[0], nil
			}
			return op(kAdd, terms...), nil
		}
		if sign != "" {
			p.pos++
		}
		term, err := p.product()
		if err != nil {
			return nil, err
		}
		switch sign {
		case "-":
			term = op(kNeg, term)
		case "pm":
			term = op(kPM, term)
		case "mp":
			term = &node{kind: kPM, name: "-", args: []*node{term}}
		}
		terms = append(terms, term)
	}
}

// product parses factors. A division binds only the next factor: 1/2x is x/2.
func (p *parser) product() (*node, error) {
	left, err := p.signedPower()
	if err != nil {
		return nil, err
	}
	for {
		t := p.peek()
		switch {
		case t.symbol("*") || t.command("cdot") || t.command("times"):
			p.pos++
			right, err := p.signedPower()
			if err != nil {
				return nil, err
			}
			left = times(left, right)
		case t.symbol("/") || t.command("div"):
			p.pos++
			right, err := p.signedPower()
			if err != nil {
				return nil, err
			}
			d := op(kDiv, left, right)
			// "3 1/2": the integer before the fraction was already multiplied in.
			if left.kind == kMul && len(left.args) == 2 && left.literal && right.integer {
				if m := mixed(left.args[0], left.args[1], right); m != nil {
					left = m
					continue
				}
			}
			d.literal = left.integer && right.integer && !left.bracketed
			left = d
		case p.startsFactor(t):
			right, err := p.power()
			if err != nil {
				return nil, err
			}
			if left.integer && right.kind == kDiv && right.literal && !left.bracketed && !right.bracketed {
				if m := mixed(left, right.args[0], right.args[1]); m != nil {
					left = m
					continue
				}
			}
			spaced := left.integer && right.integer && t.space && t.kind == tokNumber
			left = times(left, right)
			if spaced {
				left.literal = true
			}
		default:
			return left, nil
		}
	}
}

// mixed is whole + a/b when that is a proper fraction, nil otherwise.
func mixed(whole, a, b *node) *node {
	if !whole.integer || !a.integer || !b.integer || a.val.Sign() <= 0 || a.val.Cmp(b.val) >= 0 {
		return nil
	}
	sum := new(big.Rat).Quo(a.val, b.val)
	return num(sum.Add(sum, whole.val))
}

func times(a, b *node) *node {
	if a.kind == kMul && !a.bracketed && !a.literal {
		args := append(append([]*node(nil), a.args...), b)
		return op(kMul, args...)
	}
	return op(kMul, a, b)
}

// signedPower allows a sign after an operator: 3 \cdot -2.
func (p *parser) signedPower() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	if p.accept("-") {
		n, err := p.signedPower()
		if err != nil {
			return nil, err
		}
		return op(kNeg, n), nil
	}
	if p.accept("+") {
		return p.signedPower()
	}
	return p.power()
}

func (p *parser) startsFactor(t token) bool {
	switch t.kind {
	case tokNumber, tokLetter, tokWords:
		return true
	case tokSymbol:
		return t.text == "(" || t.text == "[" || t.text == "{" || t.text == `\{` || t.text == "|" && p.bars == 0
	case tokCommand:
		if _, isRel := relations[t.text]; isRel {
			return false
		}
		switch t.text {
		case "cdot", "times", "div", "cup", "cap", "setminus", "backslash", "pm", "mp", "rfloor", "rceil", "lor", "land", "bigcup", "degree", "circ", "prime", "choose", "over":
			return false
		}
		return !strings.HasPrefix(t.text, "end ")
	}
	return false
}

func (p *parser) power() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	base, err := p.atom()
	if err != nil {
		return nil, err
	}
	for {
		t := p.peek()
		switch {
		case t.symbol("(") && !t.space && base.kind == kSym && p.peekAt(1).kind == tokNumber && p.peekAt(2).symbol(")"):
			// f(0) is the value of a function, not f times zero.
			base = sym(base.name + "(" + p.peekAt(1).text + ")")
			p.pos += 3
		case t.symbol("^"):
			p.pos++
			if n := p.peek(); n.command("circ") || n.command("degree") || n.symbol("{") && (p.peekAt(1).command("circ") || p.peekAt(1).command("degree")) && p.peekAt(2).symbol("}") {
				p.pos++
				if n.symbol("{") {
					p.pos += 2
				}
				base = op(kDegree, base)
				continue
			}
			if n := p.peek(); n.command("prime") || n.symbol("'") || n.symbol("{") && p.peekAt(1).command("prime") && p.peekAt(2).symbol("}") {
				p.pos++
				if n.symbol("{") {
					p.pos += 2
				}
				base = fn("prime", base)
				continue
			}
			exp, err := p.exponent()
			if err != nil {
				return nil, err
			}
			if base.kind == kFunc && base.name == "prime" && len(base.args) == 0 {
				return nil, errors.New("misplaced power")
			}
			base = op(kPow, base, exp)
		case t.command("degree") || t.command("circ"):
			p.pos++
			base = op(kDegree, base)
		case t.symbol("%"):
			p.pos++
			base = op(kPercent, base)
		case t.symbol("!"):
			p.pos++
			base = fn("factorial", base)
		case t.symbol("'"):
			p.pos++
			base = fn("prime", base)
		case t.symbol("_"):
			p.pos++
			sub, text, err := p.subscript()
			if err != nil {
				return nil, err
			}
			switch {
			case base.kind == kSym:
				base = sym(base.name + "_" + text)
			case base.kind == kNum && base.integer && sub != nil && sub.kind == kNum:
				base = &node{kind: kBase, name: base.name, args: []*node{sub}}
			default:
				return nil, errors.New("subscript on an expression")
			}
		default:
			return base, nil
		}
	}
}

// exponent parses what follows ^: a group, a signed atom or a function.
func (p *parser) exponent() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	if p.accept("-") {
		n, err := p.exponent()
		if err != nil {
			return nil, err
		}
		return op(kNeg, n), nil
	}
	n, err := p.atom()
	if err != nil {
		return nil, err
	}
	if p.accept("^") { // 2^3^4 without braces associates to the right
		e, err := p.exponent()
		if err != nil {
			return nil, err
		}
		return op(kPow, n, e), nil
	}
	return n, nil
}

// subscript reads an index as text, and as a number where it is one.
func (p *parser) subscript() (*node, string, error) {
	start := p.pos
	if p.accept("{") {
		depth := 1
		for depth > 0 {
			t := p.peek()
			if t.kind == tokEnd {
				return nil, "", errors.New("unclosed subscript")
			}
			if t.symbol("{") {
				depth++
			} else if t.symbol("}") {
				depth--
			}
			p.pos++
		}
	} else if p.peek().kind == tokEnd {
		return nil, "", errors.New("empty subscript")
	} else {
		p.pos++
	}
	var b strings.Builder
	inner := p.toks[start:p.pos]
	for _, t := range inner {
		if !t.symbol("{") && !t.symbol("}") {
			b.WriteString(t.text)
		}
	}
	text := b.String()
	if v, ok := new(big.Rat).SetString(text); ok && len(text) < 5 {
		return num(v), text, nil
	}
	return nil, text, nil
}
