package mathequiv

import "math/big"

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
