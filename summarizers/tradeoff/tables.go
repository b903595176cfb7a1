package tradeoff

import (
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
)

// shown are the figures of the table for people, by column.
var shown = []struct{ column, figure, format string }{
	{"Requests", "request_throughput", "%.2f"}, {"Output", "output_throughput", "%.1f"}, {"TTFT mean", "ttft_mean", "%.2f"}, {"TTFT P99", "ttft_p99", "%.2f"},
	{"TPOT P99", "tpot_p99", "%.2f"}, {"E2EL P99", "e2el_p99", "%.2f"},
}

// stored are the figures of the files.
var stored = []string{"request_throughput", "input_throughput", "output_throughput", "total_token_throughput", "ttft_mean", "ttft_p50", "ttft_p95", "ttft_p99",
	"tpot_mean", "tpot_p50", "tpot_p95", "tpot_p99", "itl_mean", "itl_p99", "e2el_mean", "e2el_p50", "e2el_p95", "e2el_p99", "success", "avg_concurrency"}

func named(name string) capacity.Figure {
	f, err := capacity.FigureNamed(name)
	if err != nil {
		panic(err) // the names are written here
	}
	return f
}

// key is a figure's name in files, with the unit of latencies.
func key(f capacity.Figure) string {
	if f.Unit == "ms" {
		return f.Name + "_ms"
	}
	return f.Name
}

// Table is the trade-off for people: one row a combination.
func (g *Grid) Table() outputs.Table {
	t := outputs.Table{ID: "grid", Title: "Trade-off of " + strings.Join(g.Params, " × "), Columns: []outputs.Column{{Name: ""}}}
	for _, p := range g.Params {
		t.Columns = append(t.Columns, outputs.Column{Name: p})
	}
	t.Columns = append(t.Columns, outputs.Column{Name: "Runs", Kind: outputs.KindInt}, outputs.Column{Name: "Failed", Unit: "requests", Kind: outputs.KindInt})
	for _, s := range shown {
		t.Columns = append(t.Columns, outputs.Column{Name: s.column, Unit: named(s.figure).Unit, Kind: outputs.KindFloat, Format: s.format})
	}
	if g.SLO != nil {
		t.Columns = append(t.Columns, outputs.Column{Name: "SLO"})
	}
	t.Columns = append(t.Columns, outputs.Column{Name: "Note"})
	repeated, weak := false, false
	for _, c := range g.Combinations {
		row := []any{c.Letter}
		for _, s := range c.Settings {
			row = append(row, s.Value)
		}
		_, failed := c.Level.Requests()
		f := outputs.Cell{Value: failed}
		if failed > 0 {
			f.Mark = outputs.MarkBad
		}
		row = append(row, len(c.Level.Runs), f)
		for _, s := range shown {
			if !c.Measured() {
				row = append(row, nil)
				continue
			}
			st := c.Level.Over(named(s.figure))
			cell := outputs.Cell{Value: st.Mean}
			if note := st.Spread(s.format); note != "" {
				cell.Note, repeated = note, true
			}
			if st.Undersampled {
				cell.Mark, weak = outputs.MarkWarn, true
				cell.Note = strings.TrimSpace(cell.Note + " *")
			}
			row = append(row, cell)
		}
		if g.SLO != nil {
			row = append(row, judged(c.Judgement))
		}
		t.AddRow(append(row, c.remark())...)
	}
	if repeated {
		t.Notes = append(t.Notes, capacity.NoteSpread)
	}
	if weak {
		t.Notes = append(t.Notes, "* a run is too small a sample for this percentile (p99 needs 100 requests)")
	}
	t.Notes = append(t.Notes, g.Texts...)
	return t
}

func judged(j *capacity.Judgement) outputs.Cell {
	switch {
	case j == nil:
		return outputs.Cell{}
	case len(j.Undefined) > 0:
		return outputs.Cell{Value: "undefined", Mark: outputs.MarkWarn}
	}
	mark := map[capacity.Truth]outputs.Mark{capacity.Holds: outputs.MarkGood, capacity.Fails: outputs.MarkBad, capacity.Undecided: outputs.MarkWarn}[j.State]
	return outputs.Cell{Value: string(j.State), Mark: mark}
}

// remark is what stands behind a row.
func (c *Combination) remark() string {
	var parts []string
	if c.Best {
		parts = append(parts, "best")
	}
	if c.Pareto {
		parts = append(parts, "Pareto")
	}
	if c.Measured() {
		switch c.Level.ClientBound() {
		case "yes":
			parts = append(parts, "client-bound")
		case "suspect":
			parts = append(parts, "client suspect")
		}
	}
	if c.Failure != "" {
		parts = append(parts, c.Failure)
	}
	return strings.Join(parts, ", ")
}

// Effects is what each value of a parameter does, on average over the others: the
// two figures' means over the combinations with the value.
func (g *Grid) Effects() outputs.Table {
	t := outputs.Table{ID: "grid_effects", Title: "Each parameter by itself", Columns: []outputs.Column{{Name: "Parameter"}, {Name: "Value"}, {Name: "Combinations", Kind: outputs.KindInt},
		{Name: spell(g.Throughput), Unit: g.Throughput.Unit, Kind: outputs.KindFloat, Format: "%.1f"}, {Name: "against the first", Unit: "%", Kind: outputs.KindFloat, Format: "%+.1f"},
		{Name: spell(g.Latency), Unit: g.Latency.Unit, Kind: outputs.KindFloat, Format: "%.2f"}, {Name: "against the first ", Unit: "%", Kind: outputs.KindFloat, Format: "%+.1f"}}}
	for i, p := range g.Params {
		var values []string
		for _, c := range g.Combinations {
			if v := c.Settings[i].Value; !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) < 2 {
			continue
		}
		var x0, y0 *float64
		for _, v := range values {
			x, y, n := g.meanOf(i, v)
			if n == 0 {
				t.AddRow(p, v, 0, nil, nil, nil, nil)
				continue
			}
			if x0 == nil {
				x0, y0 = &x, &y
				t.AddRow(p, v, n, x, nil, y, nil)
				continue
			}
			t.AddRow(p, v, n, x, change(x, *x0), y, change(y, *y0))
		}
	}
	t.Notes = append(t.Notes, "means over the combinations with this value; where a combination is missing the other values' means are of more, and a parameter that acts only together with another does not show here")
	return t
}

func change(v, base float64) any {
	if base == 0 {
		return nil
	}
	return 100 * (v - base) / base
}

// meanOf is the two figures' means over the combinations whose i-th parameter has
// the value.
func (g *Grid) meanOf(i int, value string) (x, y float64, n int) {
	for _, c := range g.Combinations {
		if c.Settings[i].Value != value {
			continue
		}
		if cx, cy, ok := g.point(c); ok {
			x, y, n = x+cx, y+cy, n+1
		}
	}
	if n > 0 {
		x, y = x/float64(n), y/float64(n)
	}
	return x, y, n
}

// CSVTable is grid.csv: one row a combination, keys as names, numbers in full.
func (g *Grid) CSVTable() outputs.Table {
	var t outputs.Table
	add := func(name string, kind outputs.Kind) {
		t.Columns = append(t.Columns, outputs.Column{Name: name, Kind: kind})
	}
	add("mark", outputs.KindText)
	for _, p := range g.Params {
		add(p, outputs.KindText)
	}
	for _, name := range []string{"runs", "requests", "failed"} {
		add(name, outputs.KindInt)
	}
	for _, name := range stored {
		k := key(named(name))
		add(k, outputs.KindFloat)
		add(k+"_cv", outputs.KindFloat)
		add(k+"_ci_low", outputs.KindFloat)
		add(k+"_ci_high", outputs.KindFloat)
	}
	add("ready_s", outputs.KindFloat)
	for _, name := range []string{"pareto", "best"} {
		add(name, outputs.KindBool)
	}
	for _, name := range []string{"slo", "client_bound", "failure"} {
		add(name, outputs.KindText)
	}
	for _, c := range g.Combinations {
		row := []any{c.Letter}
		for _, s := range c.Settings {
			row = append(row, s.Value)
		}
		total, failed := c.Level.Requests()
		row = append(row, len(c.Level.Runs), total, failed)
		for _, name := range stored {
			if !c.Measured() {
				row = append(row, nil, nil, nil, nil)
				continue
			}
			s := c.Level.Over(named(name))
			row = append(row, s.Mean, s.CV, s.Low, s.High)
		}
		row = append(row, c.ReadyS, c.Pareto, c.Best)
		slo := ""
		if c.Judgement != nil {
			slo = string(c.Judgement.State)
		}
		t.AddRow(append(row, slo, c.Level.ClientBound(), c.Failure)...)
	}
	return t
}

// RunsTable is grid_runs.csv: one row a run.
func (g *Grid) RunsTable() outputs.Table {
	t := outputs.Table{Columns: []outputs.Column{{Name: "mark"}}}
	for _, p := range g.Params {
		t.Columns = append(t.Columns, outputs.Column{Name: p})
	}
	t.Columns = append(t.Columns, outputs.Column{Name: "run", Kind: outputs.KindInt}, outputs.Column{Name: "folder"}, outputs.Column{Name: "seed", Kind: outputs.KindInt},
		outputs.Column{Name: "num_prompts", Kind: outputs.KindInt}, outputs.Column{Name: "failed", Kind: outputs.KindInt})
	for _, name := range stored {
		t.Columns = append(t.Columns, outputs.Column{Name: key(named(name)), Kind: outputs.KindFloat})
	}
	for _, c := range g.Combinations {
		for i := range c.Level.Runs {
			r := &c.Level.Runs[i]
			row := []any{c.Letter}
			for _, s := range c.Settings {
				row = append(row, s.Value)
			}
			row = append(row, r.Number, r.Dir, r.Seed, r.NumPrompts, r.Result.Requests.Failed)
			for _, name := range stored {
				row = append(row, named(name).Of(r.Result))
			}
			t.AddRow(row...)
		}
	}
	return t
}

// JSON is grid.json; meta stands in it under its own keys.
func (g *Grid) JSON(meta map[string]any) map[string]any {
	combinations := []any{}
	for _, c := range g.Combinations {
		settings := map[string]string{}
		for _, s := range c.Settings {
			settings[s.Name] = s.Value
		}
		figures := map[string]capacity.Statistic{}
		runs := []any{}
		if c.Measured() {
			for _, name := range stored {
				f := named(name)
				figures[key(f)] = c.Level.Over(f)
			}
		}
		for i := range c.Level.Runs {
			r := &c.Level.Runs[i]
			runs = append(runs, map[string]any{"run": r.Number, "dir": r.Dir, "seed": r.Seed, "num_prompts": r.NumPrompts, "requests": r.Result.Requests, "client_bound": r.ClientBound})
		}
		var failure any
		if c.Failure != "" {
			failure = c.Failure
		}
		combinations = append(combinations, map[string]any{"mark": c.Letter, "settings": settings, "figures": figures, "runs": runs, "pareto": c.Pareto, "best": c.Best,
			"slo": c.Judgement, "ready_s": c.ReadyS, "failure": failure})
	}
	var slo any
	if g.SLO != nil {
		slo = g.SLO.Text
	}
	doc := map[string]any{"version": 1, "params": g.Params, "slo": slo, "throughput": g.Throughput.Name, "latency": key(g.Latency), "combinations": combinations, "conclusions": g.Texts}
	for k, v := range meta {
		doc[k] = v
	}
	return doc
}
