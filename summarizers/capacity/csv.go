package capacity

import (
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// CSVTable is sweep.csv: one row a level, keys as names, numbers in full.
func (d *Document) CSVTable() outputs.Table {
	var t outputs.Table
	add := func(name string, kind outputs.Kind) {
		t.Columns = append(t.Columns, outputs.Column{Name: name, Kind: kind})
	}
	for _, name := range []string{"concurrency", "request_rate"} {
		add(name, outputs.KindFloat)
	}
	for _, name := range []string{"runs", "num_prompts", "requests", "success", "failed"} {
		add(name, outputs.KindInt)
	}
	add("failed_share", outputs.KindFloat)
	figures := d.figures()
	for _, f := range figures {
		add(f.key(), outputs.KindFloat)
	}
	for _, name := range []string{"duration_s", "avg_concurrency", "cached_share", "power"} {
		add(name, outputs.KindFloat)
	}
	for _, name := range []string{"client_bound", "knee", "slo", "undersampled"} {
		add(name, outputs.KindText)
	}
	for _, f := range figures {
		add(f.key()+"_cv", outputs.KindFloat)
		add(f.key()+"_ci_low", outputs.KindFloat)
		add(f.key()+"_ci_high", outputs.KindFloat)
	}
	for i := range d.Curve.Levels {
		t.AddRow(d.csvRow(&d.Curve.Levels[i], figures)...)
	}
	return t
}

func (d *Document) csvRow(l *Level, figures []Figure) []any {
	var row []any
	for _, axis := range []Axis{Concurrency, RequestRate} {
		if axis == d.Curve.Axis {
			row = append(row, l.Value)
		} else {
			row = append(row, nil)
		}
	}
	total, failed := l.Requests()
	row = append(row, len(l.Runs), l.Runs[0].NumPrompts, total, total-failed, failed, l.FailedShare())
	var weak []string
	stats := make([]Statistic, len(figures))
	for i, f := range figures {
		stats[i] = l.Over(f)
		row = append(row, stats[i].Mean)
		if stats[i].Undersampled {
			weak = append(weak, f.Name)
		}
	}
	duration := Figure{of: func(r *metrics.Result) *float64 { return r.DurationS }}
	slo := ""
	if d.SLO != nil {
		slo = string(d.SLO.Judge(l).State)
	}
	row = append(row, l.Over(duration).Mean, l.Over(must("avg_concurrency")).Mean, l.Over(cachedShare).Mean, d.powerAt(l.Value),
		l.ClientBound(), d.Knee.Value != nil && *d.Knee.Value == l.Value && d.Knee.State != KneeNotReached, slo, strings.Join(weak, " "))
	for _, s := range stats {
		row = append(row, s.CV, s.Low, s.High)
	}
	return row
}

func (d *Document) powerAt(v float64) *float64 {
	for _, p := range d.Knee.Powers {
		if p.Value == v {
			return p.Power
		}
	}
	return nil
}

// cachedShare is the share of input tokens the server took from its prefix cache;
// undefined where its usage does not tell.
var cachedShare = Figure{Name: "cached_share", Share: true, of: func(r *metrics.Result) *float64 {
	if r.CachedTokens == nil || r.TotalInputTokens == nil || *r.TotalInputTokens == 0 {
		return nil
	}
	v := float64(*r.CachedTokens) / float64(*r.TotalInputTokens)
	return &v
}}

// LengthCSV is sweep_by_length.csv: LengthTable with keys as names.
func (d *Document) LengthCSV() outputs.Table {
	t := d.LengthTable()
	names := []string{d.Curve.Axis.Name, "bucket", "input_tokens", "requests", "failed", "ttft_mean_ms", "ttft_p50_ms", "ttft_p95_ms", "ttft_p99_ms",
		"tpot_mean_ms", "tpot_p99_ms", "e2el_mean_ms", "e2el_p50_ms", "e2el_p95_ms", "e2el_p99_ms", "output_tokens_mean"}
	for i := range t.Columns {
		t.Columns[i].Name, t.Columns[i].Unit = names[i], ""
	}
	return t
}

// RunsTable is sweep_runs.csv: one row a run.
func (d *Document) RunsTable() outputs.Table {
	var t outputs.Table
	for _, name := range []string{d.Curve.Axis.Name, "run", "num_prompts", "seed", "requests", "failed"} {
		t.Columns = append(t.Columns, outputs.Column{Name: name, Kind: outputs.KindFloat})
	}
	figures := d.figures()
	for _, f := range figures {
		t.Columns = append(t.Columns, outputs.Column{Name: f.key(), Kind: outputs.KindFloat})
	}
	t.Columns = append(t.Columns, outputs.Column{Name: "client_bound"}, outputs.Column{Name: "dir"})
	for i := range d.Curve.Levels {
		l := &d.Curve.Levels[i]
		for j := range l.Runs {
			r := &l.Runs[j]
			row := []any{l.Value, r.Number, r.NumPrompts, r.Seed, r.Result.Requests.Total, r.Result.Requests.Failed}
			for _, f := range figures {
				row = append(row, f.Of(r.Result))
			}
			t.AddRow(append(row, r.ClientBound, r.Dir)...)
		}
	}
	return t
}
