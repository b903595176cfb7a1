package strict

import (
	"fmt"
	"strconv"
	"strings"

	"ais_bench/outputs"
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
	Tokens          = Unit{"tokens", "", "%.1f"}
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
	// P are the percentiles in the order asked.
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
// extremes: beyond it at least one value is expected (n·(1−p) ≥ 1), so p99
// needs 100, p99.9 needs 1,000.
func supported(p float64, n int64) bool {
	tail := min(p, 100-p) / 100
	return tail <= 0 || float64(n)*tail >= 1-1e-9
}

// statOf reads a distribution whose values are scale units.
func statOf(d *Dist, u Unit, scale float64, ps []float64) Stat {
	s := Stat{N: d.n, Unit: u}
	values, std := d.Percentiles(ps)
	for i, p := range ps {
		q := Percentile{P: p}
		if values != nil {
			v := values[i] * scale
			q.Value, q.Undersampled = &v, !supported(p, d.n)
		}
		s.P = append(s.P, q)
	}
	if d.n == 0 {
		return s
	}
	mean, lo, hi, sd := d.sum/float64(d.n)*scale, d.min*scale, d.max*scale, std*scale
	s.Mean, s.Min, s.Max, s.Std = &mean, &lo, &hi, &sd
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

// cells are a table row's cells for the named statistics.
func (s Stat) cells(columns []column) []any {
	out := make([]any, len(columns))
	for i, c := range columns {
		v, weak := c.get(s)
		if v == nil {
			continue
		}
		cell := outputs.Cell{Value: *v, Format: s.Unit.Format}
		if weak {
			cell.Mark, cell.Note = outputs.MarkWarn, "*"
		}
		out[i] = cell
	}
	return out
}

// column is one statistic of a table.
type column struct {
	name string
	get  func(Stat) (*float64, bool)
}

// columnsOf are Average, Min, Max, Std and the percentiles (Median for P50).
func columnsOf(ps []float64) []column {
	cols := []column{
		{"Average", func(s Stat) (*float64, bool) { return s.Mean, false }},
		{"Min", func(s Stat) (*float64, bool) { return s.Min, false }},
		{"Max", func(s Stat) (*float64, bool) { return s.Max, false }},
		{"Std", func(s Stat) (*float64, bool) { return s.Std, false }},
	}
	for i, p := range ps {
		name := strings.ToUpper(PercentileName(p))
		if p == 50 {
			name = "Median"
		}
		cols = append(cols, column{name, func(s Stat) (*float64, bool) {
			if i >= len(s.P) {
				return nil, false
			}
			return s.P[i].Value, s.P[i].Undersampled
		}})
	}
	return cols
}
