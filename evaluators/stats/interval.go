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
	if n <= 0 || right < 0 || right > n {
		return Interval{}, false
	}
	p, N, z2 := float64(right)/float64(n), float64(n), Z95*Z95
	centre := (p + z2/(2*N)) / (1 + z2/N)
	half := Z95 / (1 + z2/N) * math.Sqrt(p*(1-p)/N+z2/(4*N*N))
	ci = Interval{math.Max(0, centre-half), math.Min(1, centre+half)}
	if right == 0 {
		ci.Low = 0
	}
	if right == n {
		ci.High = 1
	}
	return ci, true
}
