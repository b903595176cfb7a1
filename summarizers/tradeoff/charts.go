package tradeoff

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
)

// namedPoints is up to how many combinations each has a series of its own in the
// trade-off chart, so that the legend names it.
const namedPoints = 12

// Charts are the trade-off and, for each parameter of numbers, the two figures
// along it.
func (g *Grid) Charts() []outputs.Chart {
	trade := outputs.Chart{ID: "grid-trade", Title: "Trade-off: " + spell(g.Latency) + " against " + spell(g.Throughput), Kind: "scatter",
		XLabel: label(g.Throughput), YLabel: label(g.Latency), Excel: true,
		Notes: []string{"one point a combination; to the right is more throughput, downwards is faster; no other combination is better in both than those of the Pareto front"}}
	rest := map[bool]*outputs.Series{true: {Name: "Pareto front"}, false: {Name: "beaten in both"}}
	few := len(g.Combinations) <= namedPoints
	for _, c := range g.Combinations {
		x, y, ok := g.point(c)
		if !ok {
			continue
		}
		if !few {
			s := rest[c.Pareto]
			s.Name += " " + c.Letter
			s.X, s.Y = append(s.X, x), append(s.Y, y)
			continue
		}
		name := c.Letter + ": " + c.Name()
		if c.Best {
			name += " (best)"
		} else if c.Pareto {
			name += " (Pareto)"
		}
		trade.Series = append(trade.Series, outputs.Series{Name: name, X: []float64{x}, Y: []float64{y}})
	}
	for _, pareto := range []bool{true, false} {
		if s := rest[pareto]; len(s.X) > 0 {
			trade.Series = append(trade.Series, *s)
		}
	}
	var charts []outputs.Chart
	if len(trade.Series) > 0 {
		charts = append(charts, trade)
	}
	for i := range g.Params {
		for _, f := range []capacity.Figure{g.Throughput, g.Latency} {
			if ch, ok := g.along(i, f); ok {
				charts = append(charts, ch)
			}
		}
	}
	return charts
}

// along is a figure against a parameter of numbers, one line for each setting of
// the others.
func (g *Grid) along(i int, f capacity.Figure) (outputs.Chart, bool) {
	p := g.Params[i]
	ch := outputs.Chart{ID: "grid-" + outputs.FileName(p) + "-" + f.Name, Title: spell(f) + " along " + p, XLabel: p, YLabel: label(f), Excel: true}
	at := map[string]int{}
	for _, c := range g.Combinations {
		x, err := strconv.ParseFloat(c.Settings[i].Value, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return ch, false
		}
		if !c.Measured() {
			continue
		}
		y := c.Level.Over(f).Mean
		if y == nil {
			continue
		}
		var others []string
		for j, s := range c.Settings {
			if j != i {
				others = append(others, s.Name+" "+s.Value)
			}
		}
		name := strings.Join(others, ", ")
		if name == "" {
			name = spell(f)
		}
		k, ok := at[name]
		if !ok {
			k = len(ch.Series)
			at[name] = k
			ch.Series = append(ch.Series, outputs.Series{Name: name})
		}
		ch.Series[k].X, ch.Series[k].Y = append(ch.Series[k].X, x), append(ch.Series[k].Y, *y)
	}
	for _, s := range ch.Series {
		if len(s.X) > 1 {
			return ch, true
		}
	}
	return ch, false
}

func label(f capacity.Figure) string {
	if f.Unit == "" {
		return spell(f)
	}
	return spell(f) + " (" + f.Unit + ")"
}

// The size of the terminal's chart in characters.
const (
	chartWidth  = 60
	chartHeight = 14
)

// Plot draws the trade-off for a terminal: letters are combinations, those of the
// Pareto front with an asterisk. It is "" with fewer than two points.
func (g *Grid) Plot() string {
	type dot struct {
		x, y float64
		c    *Combination
	}
	var dots []dot
	for _, c := range g.Combinations {
		if x, y, ok := g.point(c); ok {
			dots = append(dots, dot{x, y, c})
		}
	}
	if len(dots) < 2 {
		return ""
	}
	lowX, highX, lowY, highY := dots[0].x, dots[0].x, dots[0].y, dots[0].y
	for _, d := range dots {
		lowX, highX, lowY, highY = min(lowX, d.x), max(highX, d.x), min(lowY, d.y), max(highY, d.y)
	}
	place := func(v, low, high float64, cells int) int {
		if high == low {
			return cells / 2
		}
		return int(math.Round((v - low) / (high - low) * float64(cells-1)))
	}
	rows := make([][]rune, chartHeight)
	for i := range rows {
		rows[i] = []rune(strings.Repeat(" ", chartWidth+8))
	}
	var hidden []string
	for _, d := range dots {
		mark := d.c.Letter
		if d.c.Pareto {
			mark += "*"
		}
		row := rows[chartHeight-1-place(d.y, lowY, highY, chartHeight)]
		at := place(d.x, lowX, highX, chartWidth)
		free := true
		for i := range mark {
			free = free && row[at+i] == ' '
		}
		if !free {
			hidden = append(hidden, mark)
			continue
		}
		copy(row[at:], []rune(mark))
	}
	left := []string{plain(highY), plain(lowY)}
	width := max(len(left[0]), len(left[1]))
	var b strings.Builder
	fmt.Fprintf(&b, "%s ↑\n", label(g.Latency))
	for i, row := range rows {
		text := ""
		switch i {
		case 0:
			text = left[0]
		case chartHeight - 1:
			text = left[1]
		}
		fmt.Fprintf(&b, "%*s ┤ %s\n", width, text, strings.TrimRight(string(row), " "))
	}
	fmt.Fprintf(&b, "%*s └%s→ %s\n", width, "", strings.Repeat("─", chartWidth+2), label(g.Throughput))
	fmt.Fprintf(&b, "%*s   %-*s%s\n", width, "", chartWidth-len(plain(highX)), plain(lowX), plain(highX))
	if len(hidden) > 0 {
		fmt.Fprintf(&b, "%*s   behind others: %s\n", width, "", strings.Join(hidden, ", "))
	}
	return b.String()
}

// Sections are the report's chapters.
func (g *Grid) Sections() []outputs.Section {
	return []outputs.Section{{ID: "grid", Title: "Trade-off", Sheet: "Grid", Tables: []outputs.Table{g.Table(), g.Effects()}, Charts: g.Charts()}}
}

// Headlines are the numbers a stakeholder reads first.
func (g *Grid) Headlines() []outputs.Headline {
	var list []outputs.Headline
	add := func(what string, c *Combination, f capacity.Figure, mark outputs.Mark) {
		list = append(list, outputs.Headline{Name: what, Value: c.Level.Over(f).Mean, Unit: f.Unit, Kind: outputs.KindFloat, Format: "%.1f", Note: c.Name(), Mark: mark})
	}
	for _, c := range g.Combinations {
		if c.Best {
			add(spell(g.Throughput)+" of the best within the SLO", c, g.Throughput, outputs.MarkGood)
			add(spell(g.Latency)+" of the best within the SLO", c, g.Latency, outputs.MarkGood)
		}
	}
	if front := g.front(); len(front) > 0 {
		add("Largest "+spell(g.Throughput), front[len(front)-1], g.Throughput, outputs.MarkNone)
		add("Lowest "+spell(g.Latency), front[0], g.Latency, outputs.MarkNone)
	}
	return list
}

// Definitions is the reading help for what grids add.
func Definitions() []outputs.Definition {
	return []outputs.Definition{
		{Metric: "Pareto front", Unit: "", Text: "the combinations that no other beats: none has at least as much throughput and at most the latency, and is better in one of the two"},
		{Metric: "Best within the SLO", Unit: "", Text: "the largest throughput among the combinations whose condition holds; with several runs a condition holds when the interval over the runs lies within the limit"},
	}
}
