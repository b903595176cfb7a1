package mathequiv

import "math/big"

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
