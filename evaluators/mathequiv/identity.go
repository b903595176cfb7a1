package mathequiv

import (
	"errors"
	"math/big"
)

// agree reports whether two values are the same up to rounding.
func agree(z, w complexNum) bool {
	d := z.add(w.neg()).abs()
	if below(d, zeroBits) {
		return true
	}
	m := z.abs()
	if n := w.abs(); n.Cmp(m) > 0 {
		m = n
	}
	return m.Sign() != 0 && d.MantExp(nil) < m.MantExp(nil)-agreeBits
}

// points gives the test points: the first positive ones, where every branch of
// a root or logarithm is the usual one, then ones of mixed sign. The values
// come from a fixed linear congruential generator, so that a verdict never
// depends on the run.
const positivePoints, mixedPoints = 3, 2

// integerPoints are used instead where a step function or a factorial would be
// constant or undefined at points between zero and two.
const integerPoints = 12

func isStep(n *node) bool {
	return n.kind == kFunc && (n.name == "floor" || n.name == "ceil" || n.name == "factorial" || n.name == "binom" || n.name == "gcd" || n.name == "lcm")
}

func integerPoint(k int, vars []string) map[string]complexNum {
	p := make(map[string]complexNum, len(vars))
	for i, v := range vars {
		p[v] = realNum(fromInt(int64(1 + (k*k+3*k+i*(k+5))%47)))
	}
	return p
}

func point(k int, vars []string) map[string]complexNum {
	p := make(map[string]complexNum, len(vars))
	state := uint64(k)*0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D
	for _, v := range vars {
		state = state*6364136223846793005 + 1442695040888963407
		f := new(big.Rat).SetFrac64(int64(state>>33)+1, 1<<30) // (0, 2]
		x := bf().SetRat(f)
		x.Add(x, bf().SetFloat64(0.125))
		if k >= positivePoints && state&(1<<20) != 0 {
			x.Neg(x)
		}
		p[v] = realNum(x)
	}
	if k >= positivePoints && len(vars) > 0 { // at least one is negative
		first := p[vars[k%len(vars)]]
		p[vars[k%len(vars)]] = realNum(neg(bf().Abs(first.re)))
	}
	return p
}

// relation of two expressions over the test points.
type numericVerdict struct {
	equal   bool
	decided bool // enough points were defined on both sides
}

// numericEqual is the identity test. Values that agree where all variables are
// positive but not elsewhere are equal unless an absolute value makes the sign
// matter: √(ab) is √a√b in every answer key, √(x²) is |x| and not x.
func numericEqual(x, y *node, budget *int) numericVerdict {
	vars := mergeNames(variables(x), variables(y))
	isAbs := func(n *node) bool { return n.kind == kFunc && n.name == "abs" }
	signed := x.has(isAbs) || y.has(isAbs)
	total, positive, at := positivePoints+mixedPoints, positivePoints, point
	switch {
	case len(vars) == 0:
		total = 1
	case x.has(isStep) || y.has(isStep):
		total, positive, at = integerPoints, integerPoints, integerPoint
	}
	agreed := 0
	for k := range total {
		e := evaluator{at(k, vars), budget}
		z, err1 := e.eval(x)
		w, err2 := e.eval(y)
		if err1 != nil || err2 != nil {
			if errors.Is(err1, errBudget) || errors.Is(err2, errBudget) {
				return numericVerdict{}
			}
			continue
		}
		if !agree(z, w) {
			if k < positive || signed {
				return numericVerdict{false, true}
			}
			continue
		}
		agreed++
	}
	if agreed >= min(2, total) {
		return numericVerdict{true, true}
	}
	return numericVerdict{}
}

func mergeNames(a, b []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range append(append([]string(nil), a...), b...) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
