package stats

import "math"

// StudentQuantile is the p-quantile of Student's t distribution with df degrees
// of freedom, found by bisection of its distribution function (the regularised
// incomplete beta function). It serves intervals of means of few values. p must
// be in (0,1) and df positive; the result is accurate to about 1e-10.
func StudentQuantile(p, df float64) float64 {
	if p == 0.5 {
		return 0
	}
	if p < 0.5 {
		return -StudentQuantile(1-p, df)
	}
	low, high := 0.0, 1.0
	for StudentCDF(high, df) < p && high < 1e12 {
		high *= 2
	}
	for range 200 {
		mid := (low + high) / 2
		if mid == low || mid == high {
			break
		}
		if StudentCDF(mid, df) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// StudentCDF is the probability that Student's t with df degrees of freedom is
// at most t.
func StudentCDF(t, df float64) float64 {
	tail := IncompleteBeta(df/(df+t*t), df/2, 0.5) / 2
	if t < 0 {
		return tail
	}
	return 1 - tail
}

// IncompleteBeta is the regularised incomplete beta function I_x(a,b) by Lentz's
// continued fraction (Numerical Recipes §6.4): the distribution function of the
// beta distribution, and with it of Student's t and of the binomial.
func IncompleteBeta(x, a, b float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	if x < (a+1)/(a+b+2) {
		return front * betaFraction(x, a, b) / a
	}
	return 1 - front*betaFraction(1-x, b, a)/b
}

func betaFraction(x, a, b float64) float64 {
	const tiny = 1e-300
	guard := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/guard(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < 1e6; m++ { // takes some √max(a,b) steps
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / guard(1+even*d)
		c = guard(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / guard(1+odd*d)
		c = guard(1 + odd/c)
		step := d * c
		h *= step
		if math.Abs(step-1) < 1e-15 {
			break
		}
	}
	return h
}
