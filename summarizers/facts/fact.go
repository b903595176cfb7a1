package facts

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"ais_bench/summarizers/interval"
)

// Kind says how sure a figure can be and how.
type Kind string

// The kinds.
const (
	Share      Kind = "share"      // part of N
	Percentile Kind = "percentile" // of N values
	Mean       Kind = "mean"       // of N values
	Rate       Kind = "rate"       // per second, of N events
	Change     Kind = "change"     // against a baseline
	Load       Kind = "load"       // that a sweep found
	Observed   Kind = "observed"   // certain of these runs; no estimate
	Text       Kind = "text"       // a string, or yes and no
)

// Estimated reports whether figures of the kind have intervals.
func (k Kind) Estimated() bool { return k != Observed && k != Text }

// Fact is one figure.
type Fact struct {
	Name   string // canonical
	Unit   string // "ms", "token/s", "" …
	Kind   Kind
	Method string  // of the interval, "" where there is none
	Q      float64 // of a percentile, in (0,1)
	N      int64   // values behind it; 0 = none, or not planned
	Known  bool    // N is known: always after a run, before it unless the run is for a length of time

	Value *float64 // nil: undefined, see Reason; a share in [0,1]
	Text  any      // string or bool of a Text; nil: undefined
	// Reason says why the figure is undefined, and afterwards why an end of its interval is.
	Reason string
	Notes  []string // what was assumed or found

	at     func(level float64) (interval.Interval, error)
	reach  func(level float64) (highestLow, lowestHigh float64) // see Reach; nil = by kind
	open   string                                               // why an end of the interval last given is open, where it is not for want of values
	design float64                                              // the largest design effect noted
}

// OpenEnd says why the interval that was last asked for has an open end; "" where
// there are too few values.
func (f *Fact) OpenEnd() string { return f.open }

// Bounded reports whether there is something to judge by: a value, or, where there
// is no value, bounds that it would have to lie in. Of loads of which none holds
// there is no highest, and yet it is known to lie below the lowest.
func (f *Fact) Bounded() bool { return f.Value != nil || f.at != nil }

// Defined reports whether there is a value.
func (f *Fact) Defined() bool { return f.Value != nil || f.Text != nil }

// Interval is the figure's interval at a level; an observed figure is certain.
// The error says why there is none.
func (f *Fact) Interval(level float64) (interval.Interval, error) {
	switch {
	case f.at != nil:
		return f.at(level)
	case f.Value == nil:
		return interval.Interval{}, errors.New(f.Reason)
	}
	return interval.Interval{Lo: *f.Value, Hi: *f.Value, Level: level, Method: string(Observed)}, nil
}

// Reach is the highest low end and the lowest high end that the interval can
// have with N values, whatever they are: with too few values a p99 has no high
// end (+Inf), and N successes of N leave a low end below 1. Where nothing is
// known before the run it is (+Inf, −Inf): anything can happen.
func (f *Fact) Reach(level float64) (highestLow, lowestHigh float64) {
	if f.reach != nil {
		return f.reach(level)
	}
	highestLow, lowestHigh = math.Inf(1), math.Inf(-1)
	if !f.Known {
		return highestLow, lowestHigh
	}
	switch f.Kind {
	case Share:
		highestLow, lowestHigh = 1, 0
		if f.N > 0 {
			highestLow = interval.ShareFloor(f.N, level)
			lowestHigh = 1 - highestLow
		}
	case Percentile:
		lo, hi := interval.Ranks(f.N, f.Q, level)
		if lo < 1 {
			highestLow = math.Inf(-1)
		}
		if hi > f.N {
			lowestHigh = math.Inf(1)
		}
	case Mean:
		if f.Value == nil && f.N < interval.MinBootstrap { // of one run; repeats are known after it
			highestLow, lowestHigh = math.Inf(-1), math.Inf(1)
		}
	}
	return highestLow, lowestHigh
}

// Needed is how many values the figure needs for an interval with both ends, or
// for a share of 1 to be shown above limit; 0 = no such number.
func (f *Fact) Needed(level float64, limit float64) int64 {
	switch f.Kind {
	case Percentile:
		return max(interval.PercentileMinN(f.Q, level), interval.PercentileMinN(1-f.Q, level))
	case Mean:
		return interval.MinBootstrap
	case Share:
		return interval.ShareMinN(max(limit, 1-limit), level)
	}
	return 0
}

// UnknownError is a name that does not exist, with what may have been meant.
type UnknownError struct {
	Name string
	Hint string // "; did you mean …?", or a remark
}

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown metric %s%s", e.Name, e.Hint) }

// percentileOf reads p99_ms or p99.9_ms: the percentile in (0,1).
func percentileOf(key, suffix string) (q float64, ok bool) {
	if len(key) < 2 || key[0] != 'p' {
		return 0, false
	}
	body := key[1:]
	if suffix != "" {
		if len(body) <= len(suffix) || body[len(body)-len(suffix):] != suffix {
			return 0, false
		}
		body = body[:len(body)-len(suffix)]
	}
	p, err := strconv.ParseFloat(body, 64)
	if err != nil || !(p > 0 && p < 100) {
		return 0, false
	}
	return p / 100, true
}
