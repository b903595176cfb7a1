package capacity

import (
	"math"
	"strings"

	"ais_bench/outputs"
)

// Charts are the sweep's curves, natively in the spreadsheet too: throughput and
// tail latencies against load, and against each other.
func (d *Document) Charts() []outputs.Chart {
	c := d.Curve
	x := make([]float64, len(c.Levels))
	for i := range c.Levels {
		x[i] = c.Levels[i].Value
	}
	xLabel := strings.ToLower(c.Axis.Title())
	if c.Axis == Concurrency {
		xLabel = "concurrency (requests in flight at most)"
	}
	if c.Axis.Unit != "" {
		xLabel += " (" + c.Axis.Unit + ")"
	}
	line := func(name string, f Figure) outputs.Series { return outputs.Series{Name: name, X: x, Y: d.along(f)} }
	throughput := must(d.Knee.Basis)
	kind := "line"
	marks := d.marks()
	charts := []outputs.Chart{
		{ID: "sweep-throughput", Title: "Throughput against " + strings.ToLower(c.Axis.Title()), Kind: kind, XLabel: xLabel, YLabel: unitName(throughput), Excel: true, Marks: marks,
			Series: []outputs.Series{line(strings.ReplaceAll(throughput.Name, "_", " "), throughput), {Name: "in proportion to the first", X: x, Y: d.proportional(throughput)}},
			Notes:  []string{"the second line is what the first level's throughput would grow to if every added request brought as much; it is cut where it leaves the data"}},
		{ID: "sweep-first-token", Title: "Time to first token against " + strings.ToLower(c.Axis.Title()), Kind: kind, XLabel: xLabel, YLabel: "TTFT (ms)", Excel: true, Marks: marks,
			Series: []outputs.Series{line("TTFT mean", must("ttft_mean")), line("TTFT P99", must("ttft_p99"))}},
		{ID: "sweep-token", Title: "Time per token against " + strings.ToLower(c.Axis.Title()), Kind: kind, XLabel: xLabel, YLabel: "TPOT and ITL (ms)", Excel: true, Marks: marks,
			Series: []outputs.Series{line("TPOT mean", must("tpot_mean")), line("TPOT P99", must("tpot_p99")), line("ITL P99", must("itl_p99"))}},
		{ID: "sweep-latency", Title: "Latency against " + strings.ToLower(c.Axis.Title()), Kind: kind, XLabel: xLabel, YLabel: "E2EL (ms)", Excel: true, Marks: marks,
			Series: []outputs.Series{line("E2EL mean", must("e2el_mean")), line("E2EL P99", must("e2el_p99"))}},
	}
	trade := outputs.Chart{ID: "sweep-trade", Title: "Latency against throughput", Kind: "scatter", XLabel: unitName(throughput), YLabel: "E2EL (ms)", Excel: true,
		Series: []outputs.Series{{Name: "E2EL mean", X: d.along(throughput), Y: d.along(must("e2el_mean"))}, {Name: "E2EL P99", X: d.along(throughput), Y: d.along(must("e2el_p99"))}},
		Notes:  []string{"one point a level; to the right is more throughput, upwards is slower: beyond the knee points rise without moving right"}}
	if d.Knee.Throughput != nil && d.Knee.State != KneeNotReached {
		trade.Marks = []outputs.ChartMark{{X: *d.Knee.Throughput, Label: "knee"}}
	}
	charts = append(charts, trade)
	out := charts[:0]
	for _, ch := range charts {
		if ch.Series = defined(ch.Series); len(ch.Series) > 0 {
			out = append(out, ch)
		}
	}
	return out
}

// marks are the vertical lines of charts over the load; where several fall
// together there is one.
func (d *Document) marks() []outputs.ChartMark {
	var m []outputs.ChartMark
	add := func(x *float64, label string) {
		if x == nil {
			return
		}
		for i := range m {
			if m[i].X == *x {
				m[i].Label += "; " + label
				return
			}
		}
		m = append(m, outputs.ChartMark{X: *x, Label: label})
	}
	if d.Knee.State != KneeNotReached {
		add(d.Knee.Value, "knee")
	}
	if c := d.Capacity; c != nil {
		add(c.Highest, "SLO")
		add(c.Recommended, "recommended")
	}
	return m
}

// along is a figure by level; NaN where undefined.
func (d *Document) along(f Figure) []float64 {
	y := make([]float64, len(d.Curve.Levels))
	for i := range d.Curve.Levels {
		y[i] = math.NaN()
		if v := d.Curve.Levels[i].Over(f).Mean; v != nil {
			y[i] = *v
		}
	}
	return y
}

// proportional is the first level's figure scaled with the load, NaN from where it
// is more than half above the largest measured.
func (d *Document) proportional(f Figure) []float64 {
	y := d.along(f)
	top := math.Inf(-1)
	for _, v := range y {
		if !math.IsNaN(v) {
			top = max(top, v)
		}
	}
	out := make([]float64, len(y))
	for i := range y {
		out[i] = y[0] * d.Curve.Levels[i].Value / d.Curve.Levels[0].Value
		if !(out[i] <= 1.5*top) {
			out[i] = math.NaN()
		}
	}
	return out
}

func unitName(f Figure) string { return strings.ReplaceAll(f.Name, "_", " ") + " (" + f.Unit + ")" }

// defined drops series without a value.
func defined(list []outputs.Series) []outputs.Series {
	out := list[:0]
	for _, s := range list {
		for i := range s.Y {
			if !math.IsNaN(s.Y[i]) && !math.IsNaN(s.X[i]) {
				out = append(out, s)
				break
			}
		}
	}
	return out
}
