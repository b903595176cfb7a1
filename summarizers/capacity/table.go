package capacity

import (
	"fmt"
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// Document is everything a sweep's reports say.
type Document struct {
	Curve    *Curve
	Knee     Knee
	Limit    Limit
	Capacity *Capacity // nil without an SLO
	SLO      *SLO      // nil without
	// Metrics are the latencies shown on the console, of ttft, tpot, itl, e2el.
	Metrics []string
	// Percentiles are those of CSV and JSON beside p50, p95 and p99.
	Percentiles []float64
	ByLength    bool // buckets by input length: needs Curve.Pool
	Notes       []string
}

// MainLatencies are the four latencies every point has.
var MainLatencies = []string{"ttft", "tpot", "itl", "e2el"}

// percentiles are all percentiles of the document, ascending.
func (d *Document) percentiles() []float64 {
	all := append([]float64{50, 95, 99}, d.Percentiles...)
	slices.Sort(all)
	return slices.Compact(all)
}

// figures are the figures of CSV and JSON in their order.
func (d *Document) figures() []Figure {
	var list []Figure
	for _, name := range []string{"request_throughput", "input_throughput", "output_throughput", "total_token_throughput"} {
		list = append(list, must(name))
	}
	for _, l := range MainLatencies {
		list = append(list, must(l+"_mean"))
		for _, p := range d.percentiles() {
			list = append(list, must(l+"_"+percentileStatistic(p)))
		}
	}
	return list
}

// Table is the sweep for people: one row a level, means over the runs with half
// of their 95 % interval where there are several.
func (d *Document) Table() outputs.Table {
	t := outputs.Table{ID: "sweep", Title: "Sweep over " + strings.ToLower(d.Curve.Axis.Title()),
		Columns: []outputs.Column{d.axisColumn(), {Name: "Runs", Kind: outputs.KindInt},
			{Name: "Requests", Kind: outputs.KindInt}, {Name: "Failed", Kind: outputs.KindInt}}}
	shown := []Figure{must("request_throughput"), must("output_throughput"), must("total_token_throughput")}
	names := []string{"Throughput", "Output", "Input + output"}
	for _, l := range d.Metrics {
		for _, s := range []string{"mean", "p99"} {
			shown, names = append(shown, must(l+"_"+s)), append(names, strings.ToUpper(l)+" "+strings.Replace(s, "p99", "P99", 1))
		}
	}
	for i, f := range shown {
		t.Columns = append(t.Columns, outputs.Column{Name: names[i], Unit: f.Unit, Kind: outputs.KindFloat, Format: formatOf(f)})
	}
	if d.SLO != nil {
		t.Columns = append(t.Columns, outputs.Column{Name: "SLO"})
	}
	t.Columns = append(t.Columns, outputs.Column{Name: "Note"})
	weak, repeated := false, false
	for i := range d.Curve.Levels {
		l := &d.Curve.Levels[i]
		total, failed := l.Requests()
		f := outputs.Cell{Value: failed}
		if failed > 0 {
			f.Mark = outputs.MarkBad
		}
		row := []any{l.Value, len(l.Runs), total, f}
		for _, fig := range shown {
			s := l.Over(fig)
			cell := outputs.Cell{Value: s.Mean}
			if note := s.Spread(formatOf(fig)); note != "" {
				cell.Note, repeated = note, true
			}
			if s.Undersampled {
				cell.Mark, weak = outputs.MarkWarn, true
				cell.Note = strings.TrimSpace(cell.Note + " *")
			}
			row = append(row, cell)
		}
		if d.SLO != nil {
			row = append(row, stateCell(d.SLO.Judge(l).State))
		}
		t.AddRow(append(row, d.remarks(l))...)
	}
	if repeated {
		t.Notes = append(t.Notes, NoteSpread)
	}
	if weak {
		t.Notes = append(t.Notes, "* a run is too small a sample for this percentile (p90 needs 10 requests, p95 20, p99 100)")
	}
	t.Notes = append(append(t.Notes, d.Texts()...), d.Notes...)
	return t
}

// axisColumn is the column of the load.
func (d *Document) axisColumn() outputs.Column {
	c := outputs.Column{Name: d.Curve.Axis.Title(), Unit: d.Curve.Axis.Unit, Kind: outputs.KindFloat}
	if d.Curve.Axis == Concurrency {
		c.Name, c.Kind = "Concurrency limit", outputs.KindInt // that which was reached is another figure
	}
	return c
}

// Texts are the conclusions, one line each. Notes are apart: they are warnings.
func (d *Document) Texts() []string {
	lines := []string{d.Knee.Text}
	if d.Limit.Cause != LimitUnknown || d.Knee.Value != nil {
		lines = append(lines, "limited by: "+d.Limit.Text)
	}
	if d.Capacity != nil {
		lines = append(lines, d.Capacity.Text...)
	}
	return lines
}

// remarks marks a level: the knee, the answer, a client in the way.
func (d *Document) remarks(l *Level) string {
	var parts []string
	if d.Knee.Value != nil && *d.Knee.Value == l.Value && d.Knee.State != KneeNotReached {
		parts = append(parts, "knee")
	}
	if c := d.Capacity; c != nil {
		if c.Highest != nil && *c.Highest == l.Value {
			parts = append(parts, "highest that holds")
		}
		if c.Recommended != nil && *c.Recommended == l.Value {
			parts = append(parts, "recommended")
		}
	}
	switch l.ClientBound() {
	case "yes":
		parts = append(parts, "client-bound")
	case "suspect":
		parts = append(parts, "client suspect")
	}
	return strings.Join(parts, "; ")
}

func stateCell(s Truth) outputs.Cell {
	mark := map[Truth]outputs.Mark{Holds: outputs.MarkGood, Fails: outputs.MarkBad, Undecided: outputs.MarkWarn}[s]
	return outputs.Cell{Value: string(s), Mark: mark}
}

func formatOf(f Figure) string {
	switch f.Unit {
	case "req/s":
		return "%.2f"
	case "ms":
		return "%.2f"
	}
	return "%.1f"
}

// LengthTable is the latencies by input length, one row a level and bucket, of the
// requests of all runs of the level together.
func (d *Document) LengthTable() outputs.Table {
	ms := func(name string) outputs.Column {
		return outputs.Column{Name: name, Unit: "ms", Kind: outputs.KindFloat, Format: "%.2f"}
	}
	t := outputs.Table{ID: "sweep_by_length", Title: "By input length", Columns: []outputs.Column{
		d.axisColumn(), {Name: "Length"}, {Name: "Input tokens"}, {Name: "Requests", Kind: outputs.KindInt}, {Name: "Failed", Kind: outputs.KindInt},
		ms("TTFT mean"), ms("TTFT P50"), ms("TTFT P95"), ms("TTFT P99"), ms("TPOT mean"), ms("TPOT P99"), ms("E2EL mean"), ms("E2EL P50"), ms("E2EL P95"), ms("E2EL P99"),
		{Name: "Output tokens, mean", Kind: outputs.KindFloat, Format: "%.1f"}}}
	weak := false
	for i := range d.Curve.Levels {
		l := &d.Curve.Levels[i]
		if l.Pooled == nil {
			continue
		}
		for _, b := range l.Pooled.ByLength {
			if b.Requests == 0 {
				continue
			}
			cell := func(s metrics.Stat, p float64) any {
				for _, q := range s.P {
					if q.P == p && q.Undersampled {
						weak = true
						return outputs.Cell{Value: q.Value, Mark: outputs.MarkWarn, Note: "*"}
					}
				}
				return s.Percentile(p)
			}
			t.AddRow(l.Value, b.Name, lengths(b), b.Requests, b.Requests-b.Success, b.TTFT.Mean, cell(b.TTFT, 50), cell(b.TTFT, 95), cell(b.TTFT, 99),
				b.TPOT.Mean, cell(b.TPOT, 99), b.E2EL.Mean, cell(b.E2EL, 50), cell(b.E2EL, 95), cell(b.E2EL, 99), b.OutputTokens.Mean)
		}
	}
	if weak {
		t.Notes = append(t.Notes, "* the sample is too small to support this percentile (p90 needs 10 values, p95 20, p99 100)")
	}
	return t
}

// lengths is a bucket's range.
func lengths(b metrics.Bucket) string {
	if b.MaxTokens == nil {
		return fmt.Sprintf("%d and more", b.MinTokens)
	}
	return fmt.Sprintf("%d to %d", b.MinTokens, *b.MaxTokens)
}

// KneeTable shows the rule at work: power by level.
func (d *Document) KneeTable() outputs.Table {
	x := must(d.Knee.Basis)
	t := outputs.Table{ID: "sweep_knee", Title: "Knee: power by load", Columns: []outputs.Column{
		d.axisColumn(), {Name: "Throughput", Unit: x.Unit, Kind: outputs.KindFloat, Format: "%.1f"},
		{Name: "E2EL mean", Unit: "ms", Kind: outputs.KindFloat, Format: "%.2f"}, {Name: "Power", Unit: x.Unit + "/s", Kind: outputs.KindFloat, Format: "%.1f"},
		{Name: "Of the largest", Unit: "%", Kind: outputs.KindPercent}, {Name: "Past first token", Unit: "requests", Kind: outputs.KindFloat, Format: "%.1f"}, {Name: "Note"}}}
	best := 0.0
	for _, p := range d.Knee.Powers {
		if p.Power != nil && p.Excluded == "" {
			best = max(best, *p.Power)
		}
	}
	for i, p := range d.Knee.Powers {
		l := &d.Curve.Levels[i]
		var of any
		if p.Power != nil && best > 0 {
			of = *p.Power / best
		}
		note := p.Excluded
		if note == "" && d.Knee.Value != nil && *d.Knee.Value == p.Value && d.Knee.State != KneeNotReached {
			note = "knee"
		}
		t.AddRow(p.Value, l.Over(x).Mean, l.Over(must("e2el_mean")).Mean, p.Power, of, l.inAnswer(), note)
	}
	t.Notes = append(t.Notes, "power = throughput / mean E2EL; it rises while doubling the load brings more than √2 times the throughput, and is largest at the knee (Kleinrock 1979)",
		"past first token = request throughput × (E2EL − TTFT), by Little's law the number of answers under way at once")
	return t
}

// CapacityTable is what the search tried: one row a candidate, one column a
// clause of the condition.
func (d *Document) CapacityTable() outputs.Table {
	t := outputs.Table{ID: "sweep_slo", Title: "Search for the highest load: " + d.Capacity.SLO, Columns: []outputs.Column{
		d.axisColumn(), {Name: "Runs", Kind: outputs.KindInt}, {Name: "Result"}}}
	for _, n := range d.SLO.comparisons {
		t.Columns = append(t.Columns, outputs.Column{Name: n.String(), Kind: outputs.KindFloat, Format: "%.3f"})
	}
	t.Columns = append(t.Columns, outputs.Column{Name: "Least head-room", Unit: "%", Kind: outputs.KindPercent})
	seen := map[float64]bool{}
	add := func(v float64) {
		l := d.Curve.At(v)
		if l == nil || seen[v] {
			return
		}
		seen[v] = true
		j := d.SLO.Judge(l)
		row := []any{v, j.Runs, stateCell(j.State)}
		var least *float64
		for _, c := range j.Clauses {
			cell := outputs.Cell{Value: c.Value, Mark: stateCell(c.State).Mark}
			if c.Low != nil && c.High != nil {
				low := *c.Low
				if !c.Figure {
					low = 0 // a difference may well be negative
				}
				cell.Note = spread(low, *c.High, (*c.High-*c.Low)/2, "%.3f")
			}
			row = append(row, cell)
			if c.Headroom != nil && (least == nil || *c.Headroom < *least) {
				least = c.Headroom
			}
		}
		t.AddRow(append(row, least)...)
	}
	for _, tried := range d.Capacity.Tried {
		add(tried.Value)
	}
	if r := d.Capacity.Recommended; r != nil {
		add(*r)
	}
	t.Notes = append(t.Notes, "in the order they were tried; a candidate is repeated until Student's 95 % interval over its runs decides")
	return t
}
