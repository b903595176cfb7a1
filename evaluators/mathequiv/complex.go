package mathequiv

import "math/big"

// complexNum is a point of the complex plane.
type complexNum struct{ re, im *big.Float }

func realNum(x *big.Float) complexNum { return complexNum{x, bf()} }

// settle sets a part to zero that is only rounding beside the other, so that
// values on a branch cut stay on it, and rejects values too large to handle.
func (z complexNum) settle() (complexNum, error) {
	if z.re.IsInf() || z.im.IsInf() {
		return z, errUndefined
	}
	er, ei := z.re.MantExp(nil), z.im.MantExp(nil)
	if z.re.Sign() != 0 && (er > maxExp || er < -maxExp) || z.im.Sign() != 0 && (ei > maxExp || ei < -maxExp) {
		return z, errUndefined
	}
	if z.im.Sign() != 0 && (z.re.Sign() != 0 && er-ei > zeroBits || ei < -zeroBits && z.re.Sign() == 0) {
		z.im = bf()
	}
	if z.re.Sign() != 0 && (z.im.Sign() != 0 && ei-er > zeroBits || er < -zeroBits-60 && z.im.Sign() == 0) {
		z.re = bf()
	}
	return z, nil
}

func (z complexNum) isZero() bool { return z.re.Sign() == 0 && z.im.Sign() == 0 }
func (z complexNum) isReal() bool { return z.im.Sign() == 0 }

func (z complexNum) add(w complexNum) complexNum {
	return complexNum{add(z.re, w.re), add(z.im, w.im)}
}

func (z complexNum) neg() complexNum { return complexNum{neg(z.re), neg(z.im)} }

func (z complexNum) mul(w complexNum) complexNum {
	return complexNum{sub(mul(z.re, w.re), mul(z.im, w.im)), add(mul(z.re, w.im), mul(z.im, w.re))}
}

func (z complexNum) norm() *big.Float { return add(mul(z.re, z.re), mul(z.im, z.im)) }

func (z complexNum) abs() *big.Float { return bf().Sqrt(z.norm()) }

func (z complexNum) quo(w complexNum) (complexNum, error) {
	n := w.norm()
	if below(n, 2*zeroBits) {
		return z, errUndefined
	}
	q := z.mul(complexNum{w.re, neg(w.im)})
	return complexNum{quo(q.re, n), quo(q.im, n)}, nil
}

func (z complexNum) arg() (*big.Float, error) {
	switch {
	case z.im.Sign() == 0 && z.re.Sign() >= 0:
		return bf(), nil
	case z.im.Sign() == 0:
		return piValue(), nil
	}
	// atan2 by the half-angle formula: 2 atan(im / (|z| + re)), stable for re ≥ 0.
	if z.re.Sign() >= 0 {
		a, err := atanReal(quo(z.im, add(z.abs(), z.re)))
		if err != nil {
			return nil, err
		}
		return mul(fromInt(2), a), nil
	}
	a, err := atanReal(quo(sub(z.abs(), z.re), z.im))
	if err != nil {
		return nil, err
	}
	return mul(fromInt(2), a), nil
}

func (z complexNum) log() (complexNum, error) {
	if z.isZero() {
		return z, errUndefined
	}
	l, err := lnReal(z.norm())
	if err != nil {
		return z, err
	}
	a, err := z.arg()
	if err != nil {
		return z, err
	}
	return complexNum{half(l), a}, nil
}

func (z complexNum) exp() (complexNum, error) {
	r, err := expReal(z.re)
	if err != nil {
		return z, err
	}
	if z.isReal() {
		return realNum(r), nil
	}
	s, c, err := sincosReal(z.im)
	if err != nil {
		return z, err
	}
	return complexNum{mul(r, c), mul(r, s)}, nil
}

func (z complexNum) sqrt() (complexNum, error) {
	switch {
	case z.isReal() && z.re.Sign() >= 0:
		return realNum(bf().Sqrt(z.re)), nil
	case z.isReal():
		return complexNum{bf(), bf().Sqrt(neg(z.re))}, nil
	}
	m := z.abs()
	if z.re.Sign() >= 0 {
		a := bf().Sqrt(half(add(m, z.re)))
		return complexNum{a, half(quo(z.im, a))}, nil
	}
	b := bf().Sqrt(half(sub(m, z.re)))
	if z.im.Sign() < 0 {
		b = neg(b)
	}
	return complexNum{half(quo(z.im, b)), b}, nil
}

func (z complexNum) sincos() (s, c complexNum, err error) {
	sr, cr, err := sincosReal(z.re)
	if err != nil || z.isReal() {
		return realNum(sr), realNum(cr), err
	}
	p, err := expReal(z.im)
	if err != nil {
		return s, c, err
	}
	q := quo(fromInt(1), p)
	sh, ch := half(sub(p, q)), half(add(p, q))
	return complexNum{mul(sr, ch), mul(cr, sh)}, complexNum{mul(cr, ch), neg(mul(sr, sh))}, nil
}
