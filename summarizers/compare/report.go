package compare

import (
	"strings"
	"time"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// Tables are all tables in the order of the console.
func (r *Result) Tables() []outputs.Table {
	tables := []outputs.Table{r.RunsTable()}
	add := func(t outputs.Table) {
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		add(c.DifferencesTable())
		add(c.ChangesTable(r))
		add(c.AccuracyTable())
	}
	if p := r.Repeatability; p != nil && p.Applies {
		add(p.Table())
	}
	return tables
}

// ReportData is the content of the comparison's spreadsheet and page.
func (r *Result) ReportData(title, tool, lang string) *outputs.ReportData {
	var sides []string
	for _, s := range r.Sides {
		sides = append(sides, s.Name)
	}
	if title == "" {
		title = "Comparison of " + strings.Join(sides, ", ")
	}
	d := &outputs.ReportData{Title: title, RunName: strings.Join(sides, ", "), Generated: time.Now(), Tool: tool, Lang: lang, Help: metrics.Definitions()}
	d.Verdict = r.reportVerdict()
	d.Notes = append(append(d.Notes, r.Verdicts()...), r.Notes...)
	runs := outputs.Section{ID: "compared", Title: "What is compared", Sheet: "Comparison", Tables: []outputs.Table{r.RunsTable()}}
	if t := r.ChecklistTable(); len(t.Rows) > 0 {
		runs.Tables = append(runs.Tables, t)
	}
	d.Sections = append(d.Sections, runs)
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		sec := outputs.Section{ID: "comparison-" + string(rune('a'+i%26)) + strings.Repeat("-x", i/26), Title: c.of(), Sheet: "Comparison"}
		for _, t := range []outputs.Table{c.DifferencesTable(), c.ChangesTable(r), c.AccuracyTable()} {
			if len(t.Rows) > 0 {
				sec.Tables = append(sec.Tables, t)
			}
		}
		if ch := c.chart(i); len(ch.Series) > 0 {
			sec.Charts = append(sec.Charts, ch)
		}
		d.Sections = append(d.Sections, sec)
		if t := c.FlipsTable(); len(t.Rows) > 0 {
			d.Sections = append(d.Sections, outputs.Section{ID: sec.ID + "-flips", Title: "Answers that turned", Sheet: "Flips", Tables: []outputs.Table{t}})
		}
		d.Headlines = append(d.Headlines, c.headlines()...)
	}
	if p := r.Repeatability; p != nil && p.Applies {
		d.Sections = append(d.Sections, outputs.Section{ID: "repeatability", Title: "Repeatability", Sheet: "Comparison", Tables: []outputs.Table{p.Table()}})
	}
	return d
}

// reportVerdict is the decision in the report's own words: FAIL for a regression and for
// runs that do not repeat, INCONCLUSIVE for what cannot be compared.
func (r *Result) reportVerdict() *outputs.Verdict {
	lines := r.Verdicts()
	if len(lines) == 0 {
		return nil
	}
	v := &outputs.Verdict{State: "PASS", Reason: lines[0]}
	switch {
	case !r.Comparable():
		v.State = "INCONCLUSIVE"
	case r.Regression() || !r.Repeats():
		v.State = "FAIL"
	}
	for _, l := range lines {
		if v.State == "FAIL" && (strings.Contains(l, "REGRESSION") || strings.Contains(l, ": FAIL")) || v.State == "INCONCLUSIVE" && strings.Contains(l, "NOT COMPARABLE") {
			v.Reason = l
			break
		}
	}
	return v
}

// headlines are the changes that a stakeholder reads first.
func (c *Comparison) headlines() (out []outputs.Headline) {
	if c.Performance == nil {
		return nil
	}
	for _, name := range []string{"output_throughput", "ttft.p99_ms", "tpot.p99_ms"} {
		for _, ch := range c.Performance.Changes {
			if ch.Metric != name || ch.Change == nil {
				continue
			}
			note := string(ch.Verdict)
			if t, ok := intervalText(ch.Interval, false).(string); ok {
				note += ", 95 % CI " + t + " %"
			}
			out = append(out, outputs.Headline{Name: ch.Title + ", change, " + c.Other, Value: ch.Change, Unit: "%", Kind: outputs.KindPercent, Note: note, Mark: verdictMark[ch.Verdict]})
		}
	}
	return out
}

// chart shows the changes of all figures with their intervals' ends, as points over
// the figure's number.
func (c *Comparison) chart(i int) outputs.Chart {
	ch := outputs.Chart{ID: "changes-" + string(rune('a'+i%26)) + strings.Repeat("x", i/26), Title: "Change of performance", Kind: "scatter", XLabel: "figure, in the order of the table", YLabel: "change (%)", Excel: true}
	if c.Performance == nil {
		return ch
	}
	value, low, high := outputs.Series{Name: "change"}, outputs.Series{Name: "95 % interval, low"}, outputs.Series{Name: "95 % interval, high"}
	for k, x := range c.Performance.Changes {
		if x.Change == nil {
			continue
		}
		at := float64(k + 1)
		value.X, value.Y = append(value.X, at), append(value.Y, 100**x.Change)
		if x.Interval != nil && x.Interval.Bounded() {
			low.X, low.Y = append(low.X, at), append(low.Y, 100*x.Interval.Lo)
			high.X, high.Y = append(high.X, at), append(high.Y, 100*x.Interval.Hi)
		}
	}
	for _, s := range []outputs.Series{value, low, high} {
		if len(s.X) > 0 {
			ch.Series = append(ch.Series, s)
		}
	}
	return ch
}
