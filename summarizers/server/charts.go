package server

import (
	"fmt"
	"math"
	"strings"

	"ais_bench/outputs"
)

// ClientSeries is what the client saw over time, to be drawn on the same axis: figures
// per step from the first scheduled request.
type ClientSeries struct {
	StepS        float64
	InFlight     []int64
	OutputTokens []int64
	TTFTMeanMS   []*float64
}

// maxLines bounds the lines of a chart with one a label (one a GPU).
const maxLines = 16

// Section is the chapter of the reports: tables, and the server's curves under the
// client's, on the client's time axis. prefix keeps ids of several pairs apart.
func (a *Analysis) Section(prefix string, c ClientSeries) outputs.Section {
	s := outputs.Section{ID: prefix + "-server", Title: "The server's side of " + a.name(), Sheet: "Server", Notes: a.Warnings()}
	for _, t := range append(a.Tables(), a.readingTable(), a.parameterTable(), a.sourceTable()) {
		if len(t.Rows) > 0 {
			s.Tables = append(s.Tables, t)
		}
	}
	s.Charts = a.charts(prefix, c)
	if t := a.samplesTable(); len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
	return s
}

// axis maps the run's clock to the charts' time: seconds since the first request
// was due. Only what lies in the measured phase is drawn.
type axis struct{ zero, from, to int64 }

func (a *Analysis) axis() (axis, bool) {
	from, to, ok := a.client.measured.window()
	return axis{a.client.measured.first, from, to}, ok && a.IntervalMS > 0
}

func (x axis) seconds(t int64) float64 { return float64(t-x.zero) / 1e9 }

// stepped makes a line of gauges: the values in the phase, the last one before it
// at its beginning, and the last one at its end, so that every chart spans the same time.
func (x axis) stepped(name string, list []moment, f func(*moment) *float64) outputs.Series {
	s := outputs.Series{Name: name}
	var last *float64
	for i := range list {
		v := f(&list[i])
		t := list[i].t
		switch {
		case t < x.from:
			last = v
			continue
		case t > x.to:
			continue
		}
		if len(s.X) == 0 && last != nil && t > x.from {
			s.X, s.Y = append(s.X, x.seconds(x.from)), append(s.Y, *last)
		}
		y := math.NaN()
		if v != nil {
			y = *v
		}
		s.X, s.Y = append(s.X, x.seconds(t)), append(s.Y, y)
		last = v
	}
	if n := len(s.X); n > 0 && s.X[n-1] < x.seconds(x.to) {
		s.X, s.Y = append(s.X, x.seconds(x.to)), append(s.Y, s.Y[n-1])
	}
	if !known(s.Y) {
		return outputs.Series{}
	}
	return s
}

// rate makes a line of what rose per second, drawn in the middle between scrapes.
func (x axis) rate(name string, list []moment, f func(*moment) *float64) outputs.Series {
	s := outputs.Series{Name: name}
	for i := 1; i < len(list); i++ {
		mid := list[i-1].t + (list[i].t-list[i-1].t)/2
		if mid < x.from || mid > x.to || list[i].t == list[i-1].t {
			continue
		}
		y := math.NaN()
		if v := f(&list[i]); v != nil {
			y = *v / (float64(list[i].t-list[i-1].t) / 1e9)
		}
		s.X, s.Y = append(s.X, x.seconds(mid)), append(s.Y, y)
	}
	if !known(s.Y) {
		return outputs.Series{}
	}
	return s
}

func known(values []float64) bool {
	for _, v := range values {
		if !math.IsNaN(v) {
			return true
		}
	}
	return false
}

// quotient divides what rose between scrapes, times 100 where percent.
func quotient(num, den func(*moment) *float64, scale float64) func(*moment) *float64 {
	return func(m *moment) *float64 {
		n, d := num(m), den(m)
		if n == nil || d == nil || *d <= 0 {
			return nil
		}
		return ptr(scale * *n / *d)
	}
}

func (a *Analysis) charts(prefix string, c ClientSeries) []outputs.Chart {
	x, ok := a.axis()
	if !ok {
		return nil
	}
	list := a.view.moments()
	const time = "time (s)"
	client := func(name string, y func(i int) float64, n int) outputs.Series {
		s := outputs.Series{Name: name}
		for i := range n {
			s.X, s.Y = append(s.X, float64(i)*c.StepS), append(s.Y, y(i))
		}
		return s
	}
	chart := func(id, title, y string, kind string, excel bool, series ...outputs.Series) outputs.Chart {
		ch := outputs.Chart{ID: prefix + "-server-" + id, Title: title, Kind: kind, XLabel: time, YLabel: y, Excel: excel}
		for _, s := range series {
			if len(s.X) > 0 {
				ch.Series = append(ch.Series, s)
			}
		}
		return ch
	}
	right := func(s outputs.Series, label string) outputs.Series {
		s.Right, s.YLabel = true, label
		return s
	}
	percent := func(f func(*moment) *float64) func(*moment) *float64 {
		return func(m *moment) *float64 {
			if v := f(m); v != nil {
				return ptr(100 * *v)
			}
			return nil
		}
	}
	all := []outputs.Chart{
		chart("requests", "Requests: in flight at the client, running and waiting in the engine", "requests", "step", true,
			client("client: in flight", func(i int) float64 { return float64(c.InFlight[i]) }, len(c.InFlight)),
			x.stepped("server: running", list, func(m *moment) *float64 { return m.running }),
			x.stepped("server: waiting", list, func(m *moment) *float64 { return m.waiting })),
		chart("tokens", "Tokens per second: the client's and the engine's", "token/s", "line", true,
			client("client: output", func(i int) float64 { return float64(c.OutputTokens[i]) / c.StepS }, len(c.OutputTokens)),
			x.rate("server: output", list, func(m *moment) *float64 { return m.outputTokens }),
			right(x.rate("server: prompt", list, func(m *moment) *float64 { return m.promptTokens }), "prompt token/s")),
		chart("kv", "KV memory in use, and prefix-cache hits", "%", "step", true,
			x.stepped("KV memory in use", list, percent(func(m *moment) *float64 { return m.kv })),
			x.stepped("prefix-cache hits of prompt tokens", list, quotient(func(m *moment) *float64 { return m.hits }, func(m *moment) *float64 { return m.queries }, 100))),
		chart("ttft", "TTFT over time: the client's mean and the engine's", "ms", "line", false,
			client("client", func(i int) float64 { return orGap(c.TTFTMeanMS[i]) }, len(c.TTFTMeanMS)),
			x.stepped("server", list, quotient(func(m *moment) *float64 { return m.ttftSum }, func(m *moment) *float64 { return m.ttftN }, 1e3))),
		chart("preemptions", "Requests thrown out of the batch", "per second", "line", false,
			nonZero(x.rate("preemptions", list, func(m *moment) *float64 { return m.preemptions }))),
		chart("spec", "Speculative tokens accepted", "%", "line", false,
			x.stepped("accepted of drafted", list, quotient(func(m *moment) *float64 { return m.accepted }, func(m *moment) *float64 { return m.drafted }, 100))),
	}
	if r := a.Reading; r != nil && r.Limit != nil {
		lim := outputs.Series{Name: "server: limit", X: []float64{x.seconds(x.from), x.seconds(x.to)}, Y: []float64{r.Limit.Requests, r.Limit.Requests}}
		all[0].Series = append(all[0].Series, lim)
	}
	var out []outputs.Chart
	for _, ch := range append(all, a.exporterCharts(prefix, x)...) {
		server := false
		for _, s := range ch.Series {
			server = server || !strings.HasPrefix(s.Name, "client") && s.Name != "server: limit"
		}
		if server {
			out = append(out, ch)
		}
	}
	return out
}

func nonZero(s outputs.Series) outputs.Series {
	for _, y := range s.Y {
		if y > 0 {
			return s
		}
	}
	return outputs.Series{}
}

func orGap(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// exporterCharts draw the series to which a map gives a title: accelerators,
// machines, a user's own. One line a label set; a counter as its rate.
func (a *Analysis) exporterCharts(prefix string, x axis) []outputs.Chart {
	type id struct{ source, series string }
	var order []id
	lines := map[id][]key{}
	for _, k := range a.store.keys {
		if k.session != a.view.session || a.watch.Series[k.series].Title == "" {
			continue
		}
		i := id{k.source, k.series}
		if lines[i] == nil {
			order = append(order, i)
		}
		lines[i] = append(lines[i], k)
	}
	var out []outputs.Chart
	for n, i := range order {
		info := a.watch.Series[i.series]
		counter := info.Kind == "counter"
		ch := outputs.Chart{ID: fmt.Sprintf("%s-server-x%d", prefix, n+1), Title: info.Title + ": " + i.source, Kind: "line", XLabel: "time (s)", YLabel: info.Unit}
		for j, k := range lines[i] {
			if j == maxLines {
				ch.Notes = append(ch.Notes, fmt.Sprintf("%d more are in the Parquet file", len(lines[i])-maxLines))
				break
			}
			p := a.store.series[k]
			s := outputs.Series{Name: k.labels}
			if s.Name == "" {
				s.Name = i.series
			}
			for m := range p.t {
				if p.t[m] < x.from || p.t[m] > x.to {
					continue
				}
				y := p.v[m]
				if counter {
					if m == 0 || p.t[m] == p.t[m-1] {
						continue
					}
					y = (p.v[m] - p.v[m-1]) / (float64(p.t[m]-p.t[m-1]) / 1e9)
				}
				s.X, s.Y = append(s.X, x.seconds(p.t[m])), append(s.Y, y)
			}
			if len(s.X) > 0 {
				ch.Series = append(ch.Series, s)
			}
		}
		if len(ch.Series) > 0 {
			out = append(out, ch)
		}
	}
	return out
}

// maxSamples bounds the rows of the samples table; the Parquet file has all.
const maxSamples = 300

// samplesTable is the server over time as numbers, for the spreadsheet.
func (a *Analysis) samplesTable() outputs.Table {
	num := func(name, unit string) outputs.Column {
		return outputs.Column{Name: name, Unit: unit, Kind: outputs.KindFloat, Format: "%.2f"}
	}
	t := outputs.Table{ID: "server_samples", Title: "The engine over time: " + a.name(), Columns: []outputs.Column{num("Time", "s"), num("Running", ""), num("Waiting", ""),
		num("KV memory", "%"), num("Prompt tokens", "token/s"), num("Output tokens", "token/s"), num("Prefix-cache hits", "%"), num("TTFT mean", "ms"), num("Preemptions", "")}}
	x, ok := a.axis()
	if !ok {
		return t
	}
	list := a.view.moments()
	var inside []int
	for i := range list {
		if i > 0 && list[i].t >= x.from && list[i-1].t <= x.to {
			inside = append(inside, i)
		}
	}
	every := (len(inside) + maxSamples - 1) / maxSamples
	for n, i := range inside {
		if every > 1 && n%every != 0 {
			continue
		}
		m := &list[i]
		d := float64(m.t-list[i-1].t) / 1e9
		per := func(v *float64) any {
			if v == nil || d <= 0 {
				return nil
			}
			return *v / d
		}
		ratio := func(n, den *float64, scale float64) any {
			if n == nil || den == nil || *den <= 0 {
				return nil
			}
			return scale * *n / *den
		}
		var kv any
		if m.kv != nil {
			kv = 100 * *m.kv
		}
		t.AddRow(x.seconds(m.t), m.running, m.waiting, kv, per(m.promptTokens), per(m.outputTokens), ratio(m.hits, m.queries, 100), ratio(m.ttftSum, m.ttftN, 1e3), m.preemptions)
	}
	if every > 1 {
		t.Notes = append(t.Notes, fmt.Sprintf("every %d. of %d scrapes; server/*.parquet has all", every, len(inside)))
	}
	return t
}
