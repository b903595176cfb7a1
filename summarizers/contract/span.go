package contract

import "math"

// span is a closed range of numbers, the value of an arithmetic expression whose
// figures lie in their intervals.
type span struct{ lo, hi float64 }

func point(v float64) span { return span{v, v} }

var everything = span{math.Inf(-1), math.Inf(1)}

// whole replaces undefined ends (∞ − ∞) by open ones.
func (s span) whole() span {
	if math.IsNaN(s.lo) {
		s.lo = math.Inf(-1)
	}
	if math.IsNaN(s.hi) {
		s.hi = math.Inf(1)
	}
	return s
}

func (s span) neg() span       { return span{-s.hi, -s.lo} }
func (s span) add(o span) span { return span{s.lo + o.lo, s.hi + o.hi}.whole() }

func (s span) mul(o span) span {
	out := span{math.Inf(1), math.Inf(-1)}
	for _, a := range []float64{s.lo, s.hi} {
		for _, b := range []float64{o.lo, o.hi} {
			p := a * b
			if math.IsNaN(p) { // 0 · ∞: the factor that is 0 is exactly 0
				p = 0
			}
			out.lo, out.hi = min(out.lo, p), max(out.hi, p)
		}
	}
	return out
}

// div is the quotient; a divisor that may be 0 leaves it open.
func (s span) div(o span) span {
	if o.lo <= 0 && o.hi >= 0 {
		return everything
	}
	return s.mul(span{1 / o.hi, 1 / o.lo})
}

func (s span) abs() span {
	switch {
	case s.lo >= 0:
		return s
	case s.hi <= 0:
		return s.neg()
	}
	return span{0, max(-s.lo, s.hi)}
}

func (s span) least(o span) span    { return span{min(s.lo, o.lo), min(s.hi, o.hi)} }
func (s span) greatest(o span) span { return span{max(s.lo, o.lo), max(s.hi, o.hi)} }

// compare judges s op o.
func (s span) compare(op string, o span) State {
	switch op {
	case "<=":
		switch {
		case s.hi <= o.lo:
			return Pass
		case s.lo > o.hi:
			return Fail
		}
		return Inconclusive
	case ">=":
		return o.compare("<=", s)
	case ">":
		return not(s.compare("<=", o))
	case "<":
		return not(o.compare("<=", s))
	case "==":
		switch {
		case s.lo == s.hi && o.lo == o.hi && s.lo == o.lo:
			return Pass
		case s.hi < o.lo || s.lo > o.hi:
			return Fail
		}
		return Inconclusive
	}
	return not(s.compare("==", o)) // !=
}
