package mathequiv

import (
	"errors"
	"math/big"
)

// maxEvaluations bounds the elementary functions evaluated in one comparison.
const maxEvaluations = 12_000

// evaluator computes trees at one point.
type evaluator struct {
	point  map[string]complexNum
	budget *int
}

var errBudget = errors.New("too much to evaluate")

func (e *evaluator) spend(n int) error {
	if *e.budget -= n; *e.budget < 0 {
		return errBudget
	}
	return nil
}

func (e *evaluator) eval(n *node) (complexNum, error) {
	z, err := e.evalRaw(n)
	if err != nil {
		return z, err
	}
	return z.settle()
}

func (e *evaluator) evalRaw(n *node) (complexNum, error) {
	if err := e.spend(1); err != nil {
		return complexNum{}, err
	}
	switch n.kind {
	case kNum:
		return realNum(bf().SetRat(n.val)), nil
	case kSym:
		switch n.name {
		case "pi":
			return realNum(piValue()), nil
		case "e":
			x, err := expReal(fromInt(1))
			return complexNum{x, bf()}, err
		case "i":
			return complexNum{bf(), fromInt(1)}, nil
		}
		if z, ok := e.point[n.name]; ok {
			return z, nil
		}
		return complexNum{}, errUndefined
	case kBase:
		if v, ok := baseValue(n); ok {
			return realNum(bf().SetRat(v)), nil
		}
		return complexNum{}, errUndefined
	case kPow:
		return e.power(n.args[0], n.args[1])
	}
	args := make([]complexNum, len(n.args))
	for i, a := range n.args {
		z, err := e.eval(a)
		if err != nil {
			return z, err
		}
		args[i] = z
	}
	switch n.kind {
	case kNeg:
		return args[0].neg(), nil
	case kAdd:
		z := args[0]
		for _, w := range args[1:] {
			z = z.add(w)
		}
		return z, nil
	case kMul:
		z := args[0]
		for _, w := range args[1:] {
			var err error
			if z, err = z.mul(w).settle(); err != nil {
				return z, err
			}
		}
		return z, nil
	case kDiv:
		return args[0].quo(args[1])
	case kPercent:
		return args[0].quo(realNum(fromInt(100)))
	case kRoot:
		return e.root(args[0], args[1])
	case kFunc:
		return e.function(n.name, args)
	}
	return complexNum{}, errUndefined
}

// smallInt returns z as an integer when it is one of moderate size.
func smallInt(z complexNum) (int64, bool) {
	if !z.isReal() || !z.re.IsInt() {
		return 0, false
	}
	i, acc := z.re.Int64()
	return i, acc == big.Exact && i >= -100_000 && i <= 100_000
}

func (e *evaluator) root(x, degree complexNum) (complexNum, error) {
	k, ok := smallInt(degree)
	switch {
	case ok && k == 2:
		return x.sqrt()
	case ok && k > 0 && k%2 == 1 && x.isReal() && x.re.Sign() < 0:
		z, err := e.root(x.neg(), degree)
		return z.neg(), err
	case x.isZero():
		return x, nil
	}
	if err := e.spend(20); err != nil {
		return x, err
	}
	inv, err := realNum(fromInt(1)).quo(degree)
	if err != nil {
		return x, err
	}
	return e.general(x, inv)
}

func (e *evaluator) general(x, y complexNum) (complexNum, error) {
	if err := e.spend(20); err != nil {
		return x, err
	}
	l, err := x.log()
	if err != nil {
		return x, err
	}
	p, err := l.mul(y).settle()
	if err != nil {
		return x, err
	}
	return p.exp()
}

func (e *evaluator) power(base, exp *node) (complexNum, error) {
	x, err := e.eval(base)
	if err != nil {
		return x, err
	}
	// x^(p/q) with odd q of a negative number is real, as at school.
	if exp.kind == kDiv && x.isReal() && x.re.Sign() < 0 {
		p, err1 := e.eval(exp.args[0])
		q, err2 := e.eval(exp.args[1])
		pi, ok1 := smallInt(p)
		qi, ok2 := smallInt(q)
		if err1 == nil && err2 == nil && ok1 && ok2 && qi%2 != 0 {
			z, err := e.root(x, q)
			if err != nil {
				return z, err
			}
			return intPow(z, pi)
		}
	}
	y, err := e.eval(exp)
	if err != nil {
		return y, err
	}
	if k, ok := smallInt(y); ok {
		return intPow(x, k)
	}
	if x.isZero() {
		if y.re.Sign() > 0 {
			return x, nil
		}
		return x, errUndefined
	}
	return e.general(x, y)
}

func intPow(x complexNum, k int64) (complexNum, error) {
	if k < 0 {
		inv, err := realNum(fromInt(1)).quo(x)
		if err != nil {
			return x, err
		}
		x, k = inv, -k
	}
	z := realNum(fromInt(1))
	var err error
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			if z, err = z.mul(x).settle(); err != nil {
				return z, err
			}
		}
		if k > 1 {
			if x, err = x.mul(x).settle(); err != nil {
				return x, err
			}
		}
	}
	return z, nil
}

func (e *evaluator) function(name string, args []complexNum) (complexNum, error) {
	if err := e.spend(20); err != nil {
		return complexNum{}, err
	}
	allReal := true
	for _, a := range args {
		allReal = allReal && a.isReal()
	}
	if len(args) != 1 {
		if !allReal || len(args) == 0 {
			return complexNum{}, errUndefined
		}
		rats := make([]*big.Rat, len(args))
		for i, a := range args {
			if name != "max" && name != "min" {
				if !a.re.IsInt() {
					return complexNum{}, errUndefined
				}
			}
			rats[i], _ = a.re.Rat(nil)
		}
		if r, ok := rationalFunction(name, rats); ok {
			return realNum(bf().SetRat(r)), nil
		}
		return complexNum{}, errUndefined
	}
	z := args[0]
	one := realNum(fromInt(1))
	i := complexNum{bf(), fromInt(1)}
	switch name {
	case "abs":
		return realNum(z.abs()), nil
	case "ln", "log":
		l, err := z.log()
		if err != nil || name == "ln" {
			return l, err
		}
		ten, err := lnReal(fromInt(10))
		if err != nil {
			return l, err
		}
		return l.quo(realNum(ten))
	case "sin", "cos", "tan", "cot", "sec", "csc":
		s, c, err := z.sincos()
		if err != nil {
			return z, err
		}
		if s, err = s.settle(); err != nil {
			return z, err
		}
		if c, err = c.settle(); err != nil {
			return z, err
		}
		switch name {
		case "sin":
			return s, nil
		case "cos":
			return c, nil
		case "tan":
			return s.quo(c)
		case "cot":
			return c.quo(s)
		case "sec":
			return one.quo(c)
		}
		return one.quo(s)
	case "sinh", "cosh", "tanh", "coth":
		p, err := z.exp()
		if err != nil {
			return z, err
		}
		q, err := one.quo(p)
		if err != nil {
			return z, err
		}
		s, c := p.add(q.neg()), p.add(q)
		h := realNum(half(fromInt(1)))
		switch name {
		case "sinh":
			return s.mul(h), nil
		case "cosh":
			return c.mul(h), nil
		case "tanh":
			return s.quo(c)
		}
		return c.quo(s)
	case "arcsin", "arccos":
		// −i ln(iz + √(1 − z²))
		r, err := one.add(z.mul(z).neg()).sqrt()
		if err != nil {
			return z, err
		}
		w, err := i.mul(z).add(r).settle()
		if err != nil {
			return z, err
		}
		l, err := w.log()
		if err != nil {
			return z, err
		}
		as := i.neg().mul(l)
		if name == "arcsin" {
			return as, nil
		}
		return realNum(half(piValue())).add(as.neg()), nil
	case "arctan", "arccot":
		if !z.isReal() {
			return z, errUndefined
		}
		a, err := atanReal(z.re)
		if err != nil {
			return z, err
		}
		if name == "arccot" {
			a = sub(half(piValue()), a)
		}
		return realNum(a), nil
	case "floor", "ceil", "factorial":
		if !z.isReal() || z.re.MantExp(nil) > 60 {
			return z, errUndefined
		}
		r, _ := z.re.Rat(nil)
		if r == nil {
			return z, errUndefined
		}
		if v, ok := rationalFunction(name, []*big.Rat{r}); ok {
			return realNum(bf().SetRat(v)), nil
		}
	}
	return complexNum{}, errUndefined
}
