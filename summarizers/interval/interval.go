package interval

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Interval is a two-sided confidence interval in the unit of its statistic.
type Interval struct {
	Lo, Hi float64 // ±Inf: the sample is too small to bound this end
	Level  float64 // 0.95: in the long run it contains the true value that often, or more often
	Method string  // wilson, order-statistics, bootstrap-bca, batch-means-t …
}

// Bounded reports whether both ends are finite.
func (i Interval) Bounded() bool { return !math.IsInf(i.Lo, 0) && !math.IsInf(i.Hi, 0) }

// Contains reports whether x lies in the closed interval.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }

// Scale is the interval of k times the statistic; k must be positive.
func (i Interval) Scale(k float64) Interval {
	i.Lo, i.Hi = i.Lo*k, i.Hi*k
	return i
}

// String is "[0.76, 0.84] (95 %, wilson)"; an open end is written as ∞.
func (i Interval) String() string {
	return fmt.Sprintf("[%s, %s] (%s %%, %s)", bound(i.Lo), bound(i.Hi), strconv.FormatFloat(math.Round(i.Level*1e6)/1e4, 'f', -1, 64), i.Method)
}

func bound(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "-∞"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

type intervalJSON struct {
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Level  float64  `json:"level"`
	Method string   `json:"method"`
}

// MarshalJSON writes {"low", "high", "level", "method"}; an open end is null.
func (i Interval) MarshalJSON() ([]byte, error) {
	j := intervalJSON{Level: i.Level, Method: i.Method}
	if !math.IsInf(i.Lo, 0) {
		j.Low = &i.Lo
	}
	if !math.IsInf(i.Hi, 0) {
		j.High = &i.Hi
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (i *Interval) UnmarshalJSON(b []byte) error {
	var j intervalJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("interval: %w", err)
	}
	*i = Interval{Lo: math.Inf(-1), Hi: math.Inf(1), Level: j.Level, Method: j.Method}
	if j.Low != nil {
		i.Lo = *j.Low
	}
	if j.High != nil {
		i.Hi = *j.High
	}
	return nil
}

// Estimate is a figure with its interval.
type Estimate struct {
	Value    float64
	Interval Interval
}

// validLevel refuses what is so near to 1 that a float64 cannot tell the quantile from
// 1: its ends would be infinite or no numbers.
func validLevel(level float64) bool { return level > 0 && level < 1 && 1-tail(level) < 1 }

// tail is the probability beyond one end.
func tail(level float64) float64 { return (1 - level) / 2 }
