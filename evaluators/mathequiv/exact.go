package mathequiv

import (
	"math/big"
	"sort"
)

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
