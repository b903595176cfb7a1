package mathequiv

import (
	"encoding/binary"
	"errors"
	"math/big"
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
