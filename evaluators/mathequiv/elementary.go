package mathequiv

import (
	"math"
	"math/big"
	"sync"
)

// precision of evaluation in bits; results are trusted to agreeBits.
const (
	precision = 320
	agreeBits = 200
	zeroBits  = 250     // a difference below 2^-zeroBits is rounding
	maxExp    = 1 << 16 // binary exponents beyond ± this count as undefined
)

func bf() *big.Float                 { return new(big.Float).SetPrec(precision) }
func fromInt(n int64) *big.Float     { return bf().SetInt64(n) }
func add(x, y *big.Float) *big.Float { return bf().Add(x, y) }
func sub(x, y *big.Float) *big.Float { return bf().Sub(x, y) }
func mul(x, y *big.Float) *big.Float { return bf().Mul(x, y) }
func quo(x, y *big.Float) *big.Float { return bf().Quo(x, y) }
func neg(x *big.Float) *big.Float    { return bf().Neg(x) }
func half(x *big.Float) *big.Float   { return bf().SetMantExp(x, -1) }

// below reports |x| < 2^-bits.
func below(x *big.Float, bits int) bool { return x.Sign() == 0 || x.MantExp(nil) < -bits }

var piValue = sync.OnceValue(func() *big.Float {
	// Machin: pi = 16 atan(1/5) − 4 atan(1/239)
	atanInv := func(n int64) *big.Float {
		sum, power, n2 := bf(), quo(fromInt(1), fromInt(n)), fromInt(n*n)
		for k := int64(0); !below(power, precision+8); k++ {
			t := quo(power, fromInt(2*k+1))
			if k%2 == 0 {
				sum.Add(sum, t)
			} else {
				sum.Sub(sum, t)
			}
			power = quo(power, n2)
		}
		return sum
	}
	return sub(mul(fromInt(16), atanInv(5)), mul(fromInt(4), atanInv(239)))
})

var ln2Value = sync.OnceValue(func() *big.Float {
	// ln 2 = Σ 1/(k 2^k)
	sum, power := bf(), half(fromInt(1))
	for k := int64(1); !below(power, precision+8); k++ {
		sum.Add(sum, quo(power, fromInt(k)))
		power = half(power)
	}
	return sum
})

func expReal(x *big.Float) (*big.Float, error) {
	f, _ := x.Float64()
	if math.Abs(f) > 40_000 {
		return nil, errUndefined
	}
	k := math.Round(f / math.Ln2)
	r := sub(x, mul(bf().SetFloat64(k), ln2Value()))
	const halvings = 16
	r.SetMantExp(r, -halvings)
	sum, term := fromInt(1), fromInt(1)
	for n := int64(1); n < 60 && !below(term, precision+16); n++ {
		term = quo(mul(term, r), fromInt(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum = mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(k)), nil
}

func lnReal(x *big.Float) (*big.Float, error) {
	if x.Sign() <= 0 {
		return nil, errUndefined
	}
	m := bf()
	e := x.MantExp(m)
	f, _ := m.Float64()
	y := bf().SetFloat64(math.Log(f))
	for range 2 { // Halley: 53 bits become 159, then 477
		ey, err := expReal(y)
		if err != nil {
			return nil, err
		}
		y = add(y, quo(mul(fromInt(2), sub(m, ey)), add(m, ey)))
	}
	return add(y, mul(fromInt(int64(e)), ln2Value())), nil
}

func sincosReal(x *big.Float) (s, c *big.Float, err error) {
	f, _ := x.Float64()
	if math.Abs(f) > 1<<40 {
		return nil, nil, errUndefined
	}
	tau := mul(fromInt(2), piValue())
	q, _ := quo(x, tau).Float64()
	r := sub(x, mul(bf().SetFloat64(math.Round(q)), tau))
	const halvings = 12
	r.SetMantExp(r, -halvings)
	r2 := mul(r, r)
	s, term := bf().Set(r), bf().Set(r)
	for n := int64(1); n < 40 && !below(term, precision+16); n++ {
		term = neg(quo(mul(term, r2), fromInt(2*n*(2*n+1))))
		s.Add(s, term)
	}
	// v = 1 − cos is doubled instead of the cosine, which would cancel.
	v, term := bf(), fromInt(-1)
	for n := int64(1); n < 40 && !below(term, precision+40); n++ {
		term = neg(quo(mul(term, r2), fromInt((2*n-1)*2*n)))
		v.Add(v, term)
	}
	for range halvings {
		s = mul(mul(fromInt(2), s), sub(fromInt(1), v)) // sin 2r = 2 sin r cos r
		v = mul(mul(fromInt(2), v), sub(fromInt(2), v)) // 1 − cos 2r = 2v(2 − v)
	}
	return s, sub(fromInt(1), v), nil
}

func atanReal(x *big.Float) (*big.Float, error) {
	f, _ := x.Float64()
	if math.Abs(f) > 1e15 {
		if f > 0 {
			a, err := atanReal(quo(fromInt(1), x))
			if err != nil {
				return nil, err
			}
			return sub(half(piValue()), a), nil
		}
		a, err := atanReal(neg(x))
		if err != nil {
			return nil, err
		}
		return neg(a), nil
	}
	y := bf().SetFloat64(math.Atan(f))
	for range 3 { // Newton on tan y = x
		s, c, err := sincosReal(y)
		if err != nil {
			return nil, err
		}
		y = sub(y, sub(mul(s, c), mul(x, mul(c, c))))
	}
	return y, nil
}
