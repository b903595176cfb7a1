// Package stats holds the statistics that stand beside every score: intervals,
// standard errors that respect repeats, multi-sample metrics and paired tests.
// All functions are pure; shares are in [0,1]; an undefined result is reported
// by ok == false, never by NaN.
package stats

import (
	"encoding/json"
	"fmt"
	"math"
)

// Interval is a two-sided confidence interval. It is written to JSON as
// [low, high].
type Interval struct{ Low, High float64 }

// MarshalJSON writes [low, high].
func (i Interval) MarshalJSON() ([]byte, error) { return json.Marshal([2]float64{i.Low, i.High}) }

// UnmarshalJSON reads [low, high].
func (i *Interval) UnmarshalJSON(b []byte) error {
	var a [2]float64
	if err := json.Unmarshal(b, &a); err != nil {
		return fmt.Errorf("interval: %w", err)
	}
	i.Low, i.High = a[0], a[1]
	return nil
}

// Z95 is the two-sided 95 % quantile of the normal distribution.
const Z95 = 1.959963984540054

// Wilson is the 95 % score interval of a share of right out of n (Wilson 1927,
// without continuity correction). It stays inside [0,1] and is sensible for
// shares of 0 and 1. ok is false when n is 0.
func Wilson(right, n int) (ci Interval, ok bool) {
	return WilsonAt(float64(right), float64(n), Z95)
}

// WilsonAt is Wilson with z the two-sided normal quantile of another level
// (NormalQuantile((1+level)/2)), and with counts that need not be whole: an
// effective sample size is smaller than the number of dependent answers.
func WilsonAt(right, n, z float64) (ci Interval, ok bool) {
	if !(n > 0 && right >= 0 && right <= n && z >= 0) {
		return Interval{}, false
	}
	p, z2 := right/n, z*z
	centre := (p + z2/(2*n)) / (1 + z2/n)
	half := z / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	ci = Interval{math.Max(0, centre-half), math.Min(1, centre+half)}
	if right == 0 {
		ci.Low = 0
	}
	if right == n {
		ci.High = 1
	}
	return ci, true
}

// ClopperPearson is the exact interval of a share (Clopper, Pearson 1934): the
// shares that a binomial test with (1−level)/2 in each tail does not reject. It
// covers at least level whatever the share and n, and is wider than Wilson's
// for it. Counts need not be whole, as in WilsonAt. ok is false when n is 0.
func ClopperPearson(right, n, level float64) (ci Interval, ok bool) {
	if !(n > 0 && right >= 0 && right <= n && level > 0 && level < 1) {
		return Interval{}, false
	}
	tail := (1 - level) / 2
	ci = Interval{0, 1}
	if right > 0 {
		ci.Low = BetaQuantile(tail, right, n-right+1)
	}
	if right < n {
		ci.High = BetaQuantile(1-tail, right+1, n-right)
	}
	return ci, true
}
