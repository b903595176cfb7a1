package capacity

import (
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// Evaluate fills in what follows from the curve: knee, limit, and the words for a
// search's answer. The curve must have a level.
func (d *Document) Evaluate() {
	d.Knee = d.Curve.Knee()
	d.Limit = d.Curve.Limit(d.Knee)
	if d.Capacity != nil && d.SLO != nil {
		d.Curve.Rejudge(d.Capacity, d.SLO)
		d.Curve.Explain(d.Capacity, d.SLO)
	}
	if len(d.Metrics) == 0 {
		d.Metrics = []string{"ttft", "tpot", "e2el"}
	}
	d.cacheNotes()
}

// cacheNotes warns where the server answered from its prefix cache.
func (d *Document) cacheNotes() {
	most, at := 0.0, 0.0
	for i := range d.Curve.Levels {
		l := &d.Curve.Levels[i]
		if s := l.Over(cachedShare).Mean; s != nil && *s > most {
			most, at = *s, l.Value
		}
	}
	if most >= 0.01 {
		d.Notes = append(d.Notes, "up to "+percent(most)+" of the input tokens (at "+d.Curve.Axis.label(at)+") came from the server's prefix cache: prompts share beginnings, or were asked before (--cache cold prevents the latter)")
	}
}

// Tables are the tables of the console and of the summary files.
func (d *Document) Tables() []outputs.Table {
	tables := []outputs.Table{d.Table()}
	if d.Capacity != nil {
		tables = append(tables, d.CapacityTable())
	}
	if d.ByLength {
		tables = append(tables, d.LengthTable())
	}
	return tables
}

// Sections are the report's chapters.
func (d *Document) Sections() []outputs.Section {
	main := outputs.Section{ID: "sweep", Title: "Sweep over " + strings.ToLower(d.Curve.Axis.Title()), Sheet: "Sweep", Tables: []outputs.Table{d.Table()}, Charts: d.Charts()}
	if d.Capacity != nil {
		main.Tables = append(main.Tables, d.CapacityTable())
	}
	main.Tables = append(main.Tables, d.KneeTable())
	if d.ByLength {
		main.Tables = append(main.Tables, d.LengthTable())
	}
	return []outputs.Section{main}
}

// Headlines are the numbers a stakeholder reads first.
func (d *Document) Headlines() []outputs.Headline {
	axis := d.Curve.Axis
	var list []outputs.Headline
	load := func(name string, v *float64, note string, mark outputs.Mark) {
		list = append(list, outputs.Headline{Name: name, Value: v, Unit: axis.Unit, Kind: d.axisColumn().Kind, Note: note, Mark: mark})
	}
	if c := d.Capacity; c != nil {
		mark := outputs.MarkGood
		note := c.SLO
		if c.Highest == nil {
			mark, note = outputs.MarkBad, "no load tried holds "+c.SLO
		}
		load("Highest "+axis.Name+" that holds the SLO", c.Highest, note, mark)
		if c.Recommended != nil {
			load("Recommended "+axis.Name, c.Recommended, percent(c.Headroom)+" below the highest", outputs.MarkNone)
		}
	}
	if k := d.Knee; k.Value != nil && k.State != KneeNotReached {
		load("Knee, "+axis.Name, k.Value, "limited by: "+d.Limit.Cause, outputs.MarkNone)
		x := must(k.Basis)
		list = append(list, outputs.Headline{Name: "Throughput at the knee", Value: k.Throughput, Unit: x.Unit, Kind: outputs.KindFloat, Format: "%.1f", Note: x.Name})
	}
	top := -1
	x := must(d.Knee.Basis)
	for i := range d.Curve.Levels {
		if v := d.Curve.Levels[i].Over(x).Mean; v != nil && (top < 0 || *v > *d.Curve.Levels[top].Over(x).Mean) {
			top = i
		}
	}
	if top >= 0 {
		list = append(list, outputs.Headline{Name: "Largest throughput", Value: d.Curve.Levels[top].Over(x).Mean, Unit: x.Unit, Kind: outputs.KindFloat, Format: "%.1f", Note: "measured at " + axis.label(d.Curve.Levels[top].Value)})
	}
	return list
}

// Definitions is the reading help for what sweeps add.
func Definitions() []outputs.Definition {
	return []outputs.Definition{
		{Metric: "Knee", Unit: "", Text: "the load with the largest power, throughput / mean E2EL (Kleinrock 1979): below it, doubling the load brings more than √2 times the throughput; levels with more than 1 % failures are no candidates"},
		{Metric: "Mean over runs", Unit: "", Text: "a figure of a point is the mean of its runs' figures, a percentile the mean of the runs' percentiles; CV is the runs' standard deviation / mean, the interval Student's at 95 %"},
		{Metric: "Head-room", Unit: "%", Text: "what is left to a limit: (limit − value)/limit for an upper one; for a lower one of a share, the unused part of what may fail"},
		{Metric: "Past first token", Unit: "requests", Text: "answers under way at once: request throughput × (mean E2EL − mean TTFT), by Little's law"},
	}
}

// jsonRun is a run in sweep.json.
type jsonRun struct {
	Run         int                 `json:"run"`
	Dir         string              `json:"dir"`
	NumPrompts  int                 `json:"num_prompts"`
	Seed        int64               `json:"seed"`
	Requests    metrics.Requests    `json:"requests"`
	ClientBound string              `json:"client_bound"`
	Figures     map[string]*float64 `json:"figures"`
}

type jsonPoint struct {
	Concurrency *float64             `json:"concurrency"`
	RequestRate *float64             `json:"request_rate"`
	Requests    int64                `json:"requests"`
	Failed      int64                `json:"failed"`
	Figures     map[string]Statistic `json:"figures"`
	// Pooled are percentiles of all runs' requests together.
	Pooled      map[string]*float64 `json:"pooled,omitempty"`
	ByLength    []metrics.Bucket    `json:"by_input_length,omitempty"`
	SLO         *Judgement          `json:"slo"`
	ClientBound string              `json:"client_bound"`
	Runs        []jsonRun           `json:"runs"`
}

// JSON is sweep.json; meta stands in it under its own keys (settings, tool …).
func (d *Document) JSON(meta map[string]any) map[string]any {
	figures := append(d.figures(), must("avg_concurrency"), must("success"), cachedShare)
	points := []jsonPoint{}
	for i := range d.Curve.Levels {
		l := &d.Curve.Levels[i]
		total, failed := l.Requests()
		p := jsonPoint{Requests: total, Failed: failed, Figures: map[string]Statistic{}, ClientBound: l.ClientBound(), Runs: []jsonRun{}}
		if v := l.Value; d.Curve.Axis == RequestRate {
			p.RequestRate = &v
		} else {
			p.Concurrency = &v
		}
		for _, f := range figures {
			p.Figures[f.key()] = l.Over(f)
		}
		if d.SLO != nil {
			j := d.SLO.Judge(l)
			p.SLO = &j
		}
		if l.Pooled != nil {
			p.Pooled = map[string]*float64{}
			for _, f := range figures {
				if f.Percentile != nil {
					p.Pooled[f.key()] = f.Of(l.Pooled)
				}
			}
			if d.ByLength {
				p.ByLength = l.Pooled.ByLength
			}
		}
		for j := range l.Runs {
			r := &l.Runs[j]
			run := jsonRun{Run: r.Number, Dir: r.Dir, NumPrompts: r.NumPrompts, Seed: r.Seed, Requests: r.Result.Requests, ClientBound: r.ClientBound, Figures: map[string]*float64{}}
			for _, f := range figures {
				run.Figures[f.key()] = f.Of(r.Result)
			}
			p.Runs = append(p.Runs, run)
		}
		points = append(points, p)
	}
	doc := map[string]any{"version": 1, "axis": d.Curve.Axis.Name, "points": points, "knee": d.Knee, "limited_by": d.Limit, "search": d.Capacity, "notes": d.Notes}
	for k, v := range meta {
		doc[k] = v
	}
	return doc
}
