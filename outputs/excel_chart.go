package outputs

import (
	"fmt"
	"math"

	"github.com/xuri/excelize/v2"
)

// chartColours are readable on white and distinguishable for the colour-blind
// (Okabe-Ito).
var chartColours = []string{"0072B2", "D55E00", "009E73", "CC79A7", "E69F00", "56B4E9", "000000", "F0E442"}

// excelChartRows is the height of a chart in rows, with a margin.
const excelChartRows = 21

// chart adds a native chart. Its numbers go to the sheet "Chart data", so that
// the chart stays editable.
func (x *excelReport) chart(sheet string, row int, c *Chart) error {
	data, err := x.newSheet("Chart data")
	if err != nil {
		return err
	}
	kind := excelize.Scatter
	var series []excelize.ChartSeries
	add := func(s Series, line, marker bool, colour string) error {
		col := x.charts + 1
		x.charts += 2
		name := x.text(s.Name)
		if err := x.put(data, col, 1, x.raw(x.tr.term(c.Title)+": "+x.tr.term(c.XLabel)), excelStyle{header: true}); err != nil {
			return err
		}
		if err := x.put(data, col+1, 1, name, excelStyle{header: true}); err != nil {
			return err
		}
		row := 1
		for i := range min(len(s.X), len(s.Y)) {
			if math.IsNaN(s.Y[i]) || math.IsInf(s.Y[i], 0) || math.IsNaN(s.X[i]) {
				continue
			}
			row++
			if err := x.put(data, col, row, s.X[i], excelStyle{}); err != nil {
				return err
			}
			if err := x.put(data, col+1, row, s.Y[i], excelStyle{}); err != nil {
				return err
			}
		}
		xs, _ := excelize.ColumnNumberToName(col)
		ys, _ := excelize.ColumnNumberToName(col + 1)
		ref := func(name string) string { return fmt.Sprintf("'%s'!$%s$2:$%s$%d", data, name, name, max(row, 2)) }
		// Line and marker are stated in full: some programs draw nothing otherwise.
		cs := excelize.ChartSeries{
			Name: fmt.Sprintf("'%s'!$%s$1", data, ys), Categories: ref(xs), Values: ref(ys),
			Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{colour}},
			Line: excelize.LineOptions{Width: 2, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{colour}}},
		}
		if line {
			cs.Line.Type = excelize.LineSolid
		} else {
			cs.Line.Type = excelize.LineNone
		}
		if marker {
			cs.Marker = excelize.ChartMarker{Symbol: "circle", Size: 6, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{colour}}}
		} else {
			cs.Marker = excelize.ChartMarker{Symbol: "none"}
		}
		series = append(series, cs)
		return nil
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, s := range c.Series {
		for _, y := range s.Y {
			if !math.IsNaN(y) && !math.IsInf(y, 0) {
				lo, hi = min(lo, y), max(hi, y)
			}
		}
		if err := add(s, c.Kind != "scatter", c.Kind == "scatter" || len(s.X) <= 40, chartColours[i%len(chartColours)]); err != nil {
			return err
		}
	}
	if len(series) == 0 {
		return nil
	}
	// A mark is a vertical line over the range of the data.
	for _, m := range c.Marks {
		if math.IsInf(lo, 0) {
			break
		}
		if err := add(Series{Name: m.Label, X: []float64{m.X, m.X}, Y: []float64{min(lo, 0), hi}}, true, false, "C00000"); err != nil {
			return err
		}
	}
	font := &excelize.Font{Color: "333333", Size: 9}
	title := func(s string) excelize.ChartTitle {
		return excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: x.text(s), Font: &excelize.Font{Color: "333333", Size: 11}}}}
	}
	ch := &excelize.Chart{Type: kind, Series: series, Title: title(c.Title),
		XAxis:     excelize.ChartAxis{Font: *font, Title: title(c.XLabel)},
		YAxis:     excelize.ChartAxis{Font: *font, Title: title(c.YLabel), MajorGridLines: true},
		Legend:    excelize.ChartLegend{Position: "bottom"},
		Dimension: excelize.ChartDimension{Width: 760, Height: 380},
	}
	if c.XLog {
		ch.XAxis.LogBase = 10
	}
	if c.YLog {
		ch.YAxis.LogBase = 10
	}
	at, _ := excelize.CoordinatesToCellName(1, row)
	return x.f.AddChart(sheet, at, ch)
}
