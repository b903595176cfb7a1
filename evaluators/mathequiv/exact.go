package mathequiv

import (
	"encoding/binary"
	"errors"
	"math/big"
	"sort"
)

// Bounds on exact arithmetic. Beyond them the numeric test decides.
const (
	maxBits     = 1 << 14 // of a numerator or denominator
	maxTerms    = 1500    // of a polynomial
	maxPolyWork = 300_000 // term operations in one comparison, long coefficients counting more
	maxAllWork  = 900_000 // and in all comparisons of one pair of answers
)

var (
	errNotExact  = errors.New("not a rational function of roots and constants")
	errTooBig    = errors.New("too large for exact arithmetic")
	errUndefined = errors.New("undefined")
)

// algebra turns trees into quotients of polynomials in generators: variables,
// pi, e, i and roots of primes. Roots and i are kept reduced by their relation
// (g^n = value), so two equal values have the same polynomial wherever the
// generators are independent.
type algebra struct {
	gens   []generator
	byName map[string]int
	work   int // left
	// unsure is set when generators may depend on each other (2^(1/2) beside
	// 2^(1/3), a root of an unfactored integer): then unequal polynomials do not
	// prove unequal values.
	unsure bool
}

type generator struct {
	name  string
	order int      // of the relation g^order = value; 0 for none
	value *big.Rat // -1 for i, p for a root of p
}

// poly maps monomials to coefficients. A monomial is the exponents of the
// generators by index, two bytes each, without trailing zeros.
type poly map[string]*big.Rat

type quotient struct{ num, den poly }

func newAlgebra() *algebra { return &algebra{byName: map[string]int{}} }

func (a *algebra) gen(name string, order int, value *big.Rat) int {
	if i, ok := a.byName[name]; ok {
		return i
	}
	a.gens = append(a.gens, generator{name, order, value})
	a.byName[name] = len(a.gens) - 1
	return len(a.gens) - 1
}

func constant(r *big.Rat) poly {
	if r.Sign() == 0 {
		return poly{}
	}
	return poly{"": r}
}

func (a *algebra) monomial(gen, exp int) poly {
	m := make([]byte, 2*gen+2)
	binary.BigEndian.PutUint16(m[2*gen:], uint16(exp))
	return poly{string(m): big.NewRat(1, 1)}
}

func tooBig(r *big.Rat) bool { return r.Num().BitLen() > maxBits || r.Denom().BitLen() > maxBits }

func (p poly) add(q poly, sign int64) poly {
	out := make(poly, len(p)+len(q))
	for m, c := range p {
		out[m] = c
	}
	s := big.NewRat(sign, 1)
	for m, c := range q {
		t := new(big.Rat).Mul(c, s)
		if old, ok := out[m]; ok {
			t.Add(t, old)
		}
		if t.Sign() == 0 {
			delete(out, m)
		} else {
			out[m] = t
		}
	}
	return out
}

func (a *algebra) mul(p, q poly) (poly, error) {
	out := poly{}
	for m1, c1 := range p {
		for m2, c2 := range q {
			bits := c1.Num().BitLen() + c1.Denom().BitLen() + c2.Num().BitLen() + c2.Denom().BitLen()
			if a.work -= 1 + bits*bits>>16; a.work < 0 {
				return nil, errTooBig
			}
			c := new(big.Rat).Mul(c1, c2)
			m := a.mulMonomials(m1, m2, c)
			if c.Sign() == 0 {
				return nil, errTooBig
			}
			if tooBig(c) {
				return nil, errTooBig
			}
			if old, ok := out[m]; ok {
				c.Add(c, old)
			}
			if c.Sign() == 0 {
				delete(out, m)
			} else {
				out[m] = c
			}
		}
	}
	if len(out) > maxTerms {
		return nil, errTooBig
	}
	return out, nil
}

// mulMonomials multiplies two monomials, applying the relations of the
// generators to c.
func (a *algebra) mulMonomials(m1, m2 string, c *big.Rat) string {
	if len(m1) < len(m2) {
		m1, m2 = m2, m1
	}
	out := []byte(m1)
	for i := 0; i < len(m1); i += 2 {
		e := int(binary.BigEndian.Uint16(out[i:]))
		if i < len(m2) {
			e += int(m2[i])<<8 | int(m2[i+1])
		}
		if g := a.gens[i/2]; g.order > 0 {
			for e >= g.order {
				e -= g.order
				c.Mul(c, g.value)
			}
		}
		if e > 0xFFFF {
			c.SetInt64(0) // flagged as too big by the caller
			e = 0xFFFF
		}
		binary.BigEndian.PutUint16(out[i:], uint16(e))
	}
	for len(out) > 0 && out[len(out)-1] == 0 && out[len(out)-2] == 0 {
		out = out[:len(out)-2]
	}
	return string(out)
}

func (a *algebra) quo(x, y quotient) (quotient, error) {
	if len(y.num) == 0 {
		return quotient{}, errUndefined
	}
	n, err := a.mul(x.num, y.den)
	if err != nil {
		return quotient{}, err
	}
	d, err := a.mul(x.den, y.num)
	if err != nil {
		return quotient{}, err
	}
	return a.tidy(quotient{n, d}), nil
}

// tidy makes a constant denominator 1, which keeps sums small.
func (a *algebra) tidy(q quotient) quotient {
	if len(q.den) == 1 {
		if c, ok := q.den[""]; ok && c.Cmp(ratOne) != 0 {
			inv := new(big.Rat).Inv(c)
			n := make(poly, len(q.num))
			for m, v := range q.num {
				n[m] = new(big.Rat).Mul(v, inv)
			}
			return quotient{n, constant(ratOne)}
		}
	}
	return q
}

var ratOne = big.NewRat(1, 1)

func (a *algebra) sum(x, y quotient, sign int64) (quotient, error) {
	l, err := a.mul(x.num, y.den)
	if err != nil {
		return quotient{}, err
	}
	r, err := a.mul(y.num, x.den)
	if err != nil {
		return quotient{}, err
	}
	d, err := a.mul(x.den, y.den)
	if err != nil {
		return quotient{}, err
	}
	if a.work -= len(l) + len(r); a.work < 0 {
		return quotient{}, errTooBig
	}
	return a.tidy(quotient{l.add(r, sign), d}), nil
}

func (a *algebra) product(x, y quotient) (quotient, error) {
	n, err := a.mul(x.num, y.num)
	if err != nil {
		return quotient{}, err
	}
	d, err := a.mul(x.den, y.den)
	if err != nil {
		return quotient{}, err
	}
	return a.tidy(quotient{n, d}), nil
}

func rational(r *big.Rat) quotient { return quotient{constant(r), constant(ratOne)} }

// value returns the rational number a quotient is, if it is one.
func (q quotient) value() (*big.Rat, bool) {
	c := func(p poly) (*big.Rat, bool) {
		if len(p) == 0 {
			return new(big.Rat), true
		}
		r, ok := p[""]
		return r, ok && len(p) == 1
	}
	n, ok1 := c(q.num)
	d, ok2 := c(q.den)
	if !ok1 || !ok2 || d.Sign() == 0 {
		return nil, false
	}
	return new(big.Rat).Quo(n, d), true
}

// of converts a tree.
func (a *algebra) of(n *node) (quotient, error) {
	switch n.kind {
	case kNum:
		if tooBig(n.val) {
			return quotient{}, errTooBig
		}
		return rational(n.val), nil
	case kSym:
		switch n.name {
		case "infty", "ldots":
			return quotient{}, errNotExact
		case "i":
			return quotient{a.monomial(a.gen("i", 2, big.NewRat(-1, 1)), 1), constant(ratOne)}, nil
		}
		return quotient{a.monomial(a.gen(n.name, 0, nil), 1), constant(ratOne)}, nil
	case kNeg:
		x, err := a.of(n.args[0])
		if err != nil {
			return x, err
		}
		return quotient{poly{}.add(x.num, -1), x.den}, nil
	case kAdd:
		acc := rational(new(big.Rat))
		for _, t := range n.args {
			x, err := a.of(t)
			if err == nil {
				acc, err = a.sum(acc, x, 1)
			}
			if err != nil {
				return acc, err
			}
		}
		return acc, nil
	case kMul:
		acc := rational(ratOne)
		for _, t := range n.args {
			x, err := a.of(t)
			if err == nil {
				acc, err = a.product(acc, x)
			}
			if err != nil {
				return acc, err
			}
		}
		return acc, nil
	case kDiv:
		x, err := a.of(n.args[0])
		if err != nil {
			return x, err
		}
		y, err := a.of(n.args[1])
		if err != nil {
			return y, err
		}
		return a.quo(x, y)
	case kPercent:
		x, err := a.of(n.args[0])
		if err != nil {
			return x, err
		}
		return a.quo(x, rational(big.NewRat(100, 1)))
	case kPow:
		return a.power(n.args[0], n.args[1])
	case kRoot:
		d, err := a.of(n.args[1])
		if err != nil {
			return d, err
		}
		r, ok := d.value()
		if !ok || r.Sign() == 0 {
			return d, errNotExact
		}
		return a.root(n.args[0], new(big.Rat).Inv(r))
	case kFunc:
		return a.function(n)
	case kBase:
		v, ok := baseValue(n)
		if !ok {
			return quotient{}, errNotExact
		}
		return rational(v), nil
	}
	return quotient{}, errNotExact
}

func (a *algebra) power(base, exp *node) (quotient, error) {
	e, err := a.of(exp)
	if err != nil {
		return e, err
	}
	r, ok := e.value()
	if !ok {
		return e, errNotExact
	}
	if r.IsInt() {
		x, err := a.of(base)
		if err != nil {
			return x, err
		}
		return a.intPower(x, r.Num())
	}
	return a.root(base, r)
}

func (a *algebra) intPower(x quotient, n *big.Int) (quotient, error) {
	if !n.IsInt64() {
		return x, errTooBig
	}
	k := n.Int64()
	if k < 0 {
		if len(x.num) == 0 {
			return x, errUndefined
		}
		x, k = quotient{x.den, x.num}, -k
	}
	if k > maxBits || len(x.num) > 1 && k > 200 {
		return x, errTooBig
	}
	acc := rational(ratOne)
	for ; k > 0; k >>= 1 {
		var err error
		if k&1 == 1 {
			if acc, err = a.product(acc, x); err != nil {
				return acc, err
			}
		}
		if k > 1 {
			if x, err = a.product(x, x); err != nil {
				return x, err
			}
		}
	}
	return a.tidy(acc), nil
}

// root is base^r for a base that is rational and a fraction r with a small
// denominator; odd roots of negative numbers are real.
func (a *algebra) root(base *node, r *big.Rat) (quotient, error) {
	x, err := a.of(base)
	if err != nil {
		return x, err
	}
	v, ok := x.value()
	if !ok || !r.Denom().IsInt64() || r.Denom().Int64() > 24 {
		return x, errNotExact
	}
	order := int(r.Denom().Int64())
	if v.Sign() == 0 {
		if r.Sign() <= 0 {
			return x, errUndefined
		}
		return rational(new(big.Rat)), nil
	}
	acc := rational(ratOne)
	if v.Sign() < 0 {
		switch {
		case order == 2:
			acc = quotient{a.monomial(a.gen("i", 2, big.NewRat(-1, 1)), 1), constant(ratOne)}
		case order%2 == 1:
			acc = rational(big.NewRat(-1, 1))
		default:
			return x, errNotExact
		}
		v = new(big.Rat).Neg(v)
	}
	// (n/d)^(1/k) = (n·d^(k-1))^(1/k) / d
	d := v.Denom()
	if d.BitLen()*order+v.Num().BitLen() > maxBits {
		return x, errTooBig
	}
	radicand := new(big.Int).Exp(d, big.NewInt(int64(order-1)), nil)
	radicand.Mul(radicand, v.Num())
	outside, gens := a.extract(radicand, order)
	acc, err = a.product(acc, rational(new(big.Rat).SetFrac(outside, d)))
	for _, g := range gens {
		if err != nil {
			return acc, err
		}
		acc, err = a.product(acc, g)
	}
	if err != nil {
		return acc, err
	}
	return a.intPower(acc, r.Num())
}

// extract writes n^(1/k) as outside times roots of primes.
func (a *algebra) extract(n *big.Int, k int) (outside *big.Int, gens []quotient) {
	outside = big.NewInt(1)
	rest := new(big.Int).Set(n)
	take := func(p *big.Int, times int) {
		outside.Mul(outside, new(big.Int).Exp(p, big.NewInt(int64(times/k)), nil))
		if e := times % k; e > 0 {
			order := k
			for order%2 == 0 && e%2 == 0 || order%3 == 0 && e%3 == 0 || order%5 == 0 && e%5 == 0 { // 4^(1/4) is 2^(1/2)
				for _, f := range []int{2, 3, 5} {
					if order%f == 0 && e%f == 0 {
						order, e = order/f, e/f
					}
				}
			}
			name := "root " + big.NewInt(int64(order)).String() + " of " + p.String()
			for _, g := range a.gens {
				if g.order > 0 && g.order != order && g.value.Sign() > 0 {
					a.unsure = true
				}
			}
			g := a.gen(name, order, new(big.Rat).SetInt(p))
			gens = append(gens, quotient{a.monomial(g, e), constant(ratOne)})
		}
	}
	q, m := new(big.Int), new(big.Int)
	for f := int64(2); f < 4000 && rest.BitLen() > 1; f++ {
		p := big.NewInt(f)
		times := 0
		for {
			q.QuoRem(rest, p, m)
			if m.Sign() != 0 {
				break
			}
			rest.Set(q)
			times++
		}
		if times > 0 {
			take(p, times)
		}
		if new(big.Int).Mul(p, p).Cmp(rest) > 0 {
			break
		}
	}
	if rest.Cmp(big.NewInt(1)) > 0 {
		if root, ok := perfectRoot(rest, k); ok {
			outside.Mul(outside, root)
		} else {
			if rest.BitLen() > 23 { // 4000² < 2^24: a larger cofactor may be composite
				a.unsure = true
			}
			take(rest, 1)
		}
	}
	return outside, gens
}

// perfectRoot returns the integer k-th root of n when there is one.
func perfectRoot(n *big.Int, k int) (*big.Int, bool) {
	lo, hi := big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(n.BitLen()/k+1))
	e := big.NewInt(int64(k))
	for lo.Cmp(hi) < 0 {
		mid := new(big.Int).Add(lo, hi)
		mid.Rsh(mid, 1)
		switch c := new(big.Int).Exp(mid, e, nil).Cmp(n); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid.Add(mid, big.NewInt(1))
		default:
			hi = mid
		}
	}
	if new(big.Int).Exp(lo, e, nil).Cmp(n) == 0 {
		return lo, true
	}
	return nil, false
}

func (a *algebra) function(n *node) (quotient, error) {
	vals := make([]*big.Rat, len(n.args))
	for i, arg := range n.args {
		x, err := a.of(arg)
		if err != nil {
			return x, err
		}
		v, ok := x.value()
		if !ok {
			return x, errNotExact
		}
		vals[i] = v
	}
	if r, ok := rationalFunction(n.name, vals); ok {
		return rational(r), nil
	}
	return quotient{}, errNotExact
}

// rationalFunction evaluates the functions that map rationals to rationals.
func rationalFunction(name string, v []*big.Rat) (*big.Rat, bool) {
	small := func(r *big.Rat, max int64) (int64, bool) {
		return r.Num().Int64(), r.IsInt() && r.Num().IsInt64() && r.Sign() >= 0 && r.Num().Int64() <= max
	}
	switch {
	case name == "abs" && len(v) == 1:
		return new(big.Rat).Abs(v[0]), true
	case name == "floor" && len(v) == 1:
		return new(big.Rat).SetInt(floorRat(v[0])), true
	case name == "ceil" && len(v) == 1:
		return new(big.Rat).SetInt(new(big.Int).Neg(floorRat(new(big.Rat).Neg(v[0])))), true
	case name == "factorial" && len(v) == 1:
		if n, ok := small(v[0], 1500); ok {
			return new(big.Rat).SetInt(new(big.Int).MulRange(1, max(n, 1))), true
		}
	case name == "binom" && len(v) == 2:
		n, ok1 := small(v[0], 5000)
		k, ok2 := small(v[1], 5000)
		if ok1 && ok2 {
			return new(big.Rat).SetInt(new(big.Int).Binomial(n, k)), true
		}
	case (name == "max" || name == "min") && len(v) > 0:
		best := v[0]
		for _, x := range v[1:] {
			if c := x.Cmp(best); c > 0 && name == "max" || c < 0 && name == "min" {
				best = x
			}
		}
		return best, true
	case (name == "gcd" || name == "lcm") && len(v) == 2 && v[0].IsInt() && v[1].IsInt() && v[0].Sign() > 0 && v[1].Sign() > 0:
		g := new(big.Int).GCD(nil, nil, v[0].Num(), v[1].Num())
		if name == "lcm" {
			g.Div(new(big.Int).Mul(v[0].Num(), v[1].Num()), g)
		}
		return new(big.Rat).SetInt(g), true
	}
	return nil, false
}

func floorRat(r *big.Rat) *big.Int {
	return new(big.Int).Div(r.Num(), r.Denom()) // Euclidean: floors, denominators being positive
}

// baseValue is the value of digits written in a base.
func baseValue(n *node) (*big.Rat, bool) {
	b := n.args[0].val
	if !b.IsInt() || !b.Num().IsInt64() || b.Num().Int64() < 2 || b.Num().Int64() > 36 || len(n.name) > 200 {
		return nil, false
	}
	v, ok := new(big.Int).SetString(n.name, int(b.Num().Int64()))
	if !ok {
		return nil, false
	}
	return new(big.Rat).SetInt(v), true
}

// exactEqual compares two expressions exactly. decided is false when exact
// arithmetic cannot tell.
//
// work is the caller's budget; what is spent is taken off it.
func exactEqual(x, y *node, work *int) (equal, decided bool) {
	a := newAlgebra()
	a.work = min(maxPolyWork, *work)
	granted := a.work
	defer func() { *work -= granted - max(a.work, 0) + 50 }()
	if granted <= 0 {
		return false, false
	}
	p, err := a.of(x)
	if err != nil {
		return false, false
	}
	q, err := a.of(y)
	if err != nil {
		return false, false
	}
	l, err := a.mul(p.num, q.den)
	if err != nil {
		return false, false
	}
	r, err := a.mul(q.num, p.den)
	if err != nil {
		return false, false
	}
	if len(l.add(r, -1)) == 0 {
		return len(p.den) > 0 && len(q.den) > 0, true
	}
	return false, !a.unsure
}

// variables lists the free variables of a tree in order.
func variables(n *node) []string {
	seen := map[string]bool{}
	n.has(func(n *node) bool {
		if n.kind == kSym && n.name != "pi" && n.name != "e" && n.name != "i" && n.name != "infty" {
			seen[n.name] = true
		}
		return false
	})
	names := make([]string, 0, len(seen))
	for s := range seen {
		names = append(names, s)
	}
	sort.Strings(names)
	return names
}
