package metrics

import (
	"fmt"
	"strconv"
	"strings"
)

// Unit is the unit of a metric; its Suffix is part of the JSON keys, so that a
// number never travels without its unit.
type Unit struct {
	Name   string // as in tables: "ms", "token/s", "tokens"
	Suffix string // "_ms" …
	Format string // fmt verb of tables
}

// The units.
var (
	Milliseconds    = Unit{"ms", "_ms", "%.3f"}
	Tokens          = Unit{"tokens", "", "%.2f"}
	TokensPerSecond = Unit{"token/s", "_tps", "%.2f"}
)

// Stat summarizes one distribution. Undefined is nil, never 0.
type Stat struct {
	N    int64
	Unit Unit
	Mean *float64
	Min  *float64
	Max  *float64
	Std  *float64 // population
	// P are the percentiles, ascending.
	P []Percentile
}

// Percentile is one percentile of a Stat.
type Percentile struct {
	P            float64 // 0–100
	Value        *float64
	Undersampled bool // fewer than 1/(1−p) values: the figure is an extreme, not a quantile
}

// PercentileName is p99 for 99, p99.9 for 99.9.
func PercentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

// supported reports whether n values can tell the p-th percentile from the
// extremes: at least one value is expected beyond it (n·(1−p) ≥ 1), so p95
// needs 20 values, p99 100, p99.9 1,000.
func supported(p float64, n int64) bool {
	tail := min(p, 100-p) / 100
	return tail <= 0 || float64(n)*tail >= 1-1e-9
}

// statOf reads a distribution whose ticks are worth tick units each.
func statOf(d *Dist, u Unit, tick float64, ps []float64) Stat {
	s := Stat{N: d.n, Unit: u}
	values := d.Percentiles(ps)
	for i, p := range ps {
		q := Percentile{P: p}
		if values != nil {
			v := values[i] * tick
			q.Value, q.Undersampled = &v, !supported(p, d.n)
		}
		s.P = append(s.P, q)
	}
	if mean, ok := d.Mean(); ok {
		std, _ := d.Std()
		lo, hi := float64(d.min)*tick, float64(d.max)*tick
		mean, std = mean*tick, std*tick
		s.Mean, s.Min, s.Max, s.Std = &mean, &lo, &hi, &std
	}
	return s
}

// Percentile is the value at p, nil when it was not computed or is undefined.
func (s Stat) Percentile(p float64) *float64 {
	for _, q := range s.P {
		if q.P == p {
			return q.Value
		}
	}
	return nil
}

// MarshalJSON writes one flat object: n, mean_ms, min_ms, max_ms, std_ms,
// p50_ms …, and undersampled with the names of percentiles the sample is too
// small for.
func (s Stat) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, `{"n":%d`, s.N)
	put := func(name string, v *float64) {
		b.WriteString(`,"` + name + s.Unit.Suffix + `":`)
		if v == nil {
			b.WriteString("null")
			return
		}
		b.WriteString(strconv.FormatFloat(*v, 'g', -1, 64))
	}
	put("mean", s.Mean)
	put("min", s.Min)
	put("max", s.Max)
	put("std", s.Std)
	var weak []string
	for _, q := range s.P {
		put(PercentileName(q.P), q.Value)
		if q.Undersampled {
			weak = append(weak, `"`+PercentileName(q.P)+`"`)
		}
	}
	b.WriteString(`,"undersampled":[` + strings.Join(weak, ",") + `]}`)
	return []byte(b.String()), nil
}
