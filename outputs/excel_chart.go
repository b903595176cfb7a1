package outputs

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

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
	// Every chart is a scatter chart, with or without lines: the axis of a line
	// chart has categories, which would stand 1, 2, 4, 64 at equal distances.
	var left, right []excelize.ChartSeries
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
		if s.Right {
			right = append(right, cs)
		} else {
			left = append(left, cs)
		}
		return nil
	}
	both := false // whether the series need two axes
	for _, s := range c.Series[min(1, len(c.Series)):] {
		both = both || s.Right != c.Series[0].Right
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	second := ""
	for i, s := range c.Series {
		s.Right = s.Right && both
		if s.Right && second == "" {
			second = s.YLabel
		}
		for _, y := range s.Y {
			if !s.Right && !math.IsNaN(y) && !math.IsInf(y, 0) {
				lo, hi = min(lo, y), max(hi, y)
			}
		}
		if err := add(s, c.Kind != "scatter", c.Kind == "scatter" || len(s.X) <= 40, chartColours[i%len(chartColours)]); err != nil {
			return err
		}
	}
	if len(left) == 0 {
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
	ch := &excelize.Chart{Type: excelize.Scatter, Series: left, Title: title(c.Title),
		XAxis:     excelize.ChartAxis{Font: *font, Title: title(c.XLabel), NumFmt: axisFormat(c.Series, func(s *Series) []float64 { return s.X })},
		YAxis:     excelize.ChartAxis{Font: *font, Title: title(c.YLabel), MajorGridLines: true, NumFmt: axisFormat(c.Series, func(s *Series) []float64 { return s.Y })},
		Legend:    excelize.ChartLegend{Position: "bottom"},
		Dimension: excelize.ChartDimension{Width: 760, Height: 380},
		Format:    excelize.GraphicOptions{AltText: x.text(c.Title), Positioning: "oneCell"},
	}
	if c.XLog {
		ch.XAxis.LogBase = 10
	}
	if c.YLog {
		ch.YAxis.LogBase = 10
	}
	at, _ := excelize.CoordinatesToCellName(1, row)
	if len(right) == 0 {
		return x.f.AddChart(sheet, at, ch)
	}
	err = x.f.AddChart(sheet, at, ch, &excelize.Chart{Type: excelize.Scatter, Series: right,
		YAxis: excelize.ChartAxis{Secondary: true, Font: *font, Title: title(second), NumFmt: ch.YAxis.NumFmt}})
	if err != nil {
		return err
	}
	return x.addAxes(x.text(c.YLabel))
}

// addAxes completes the chart that was just added. Of two scatter charts in one
// the library writes the x axis twice and the first y axis and the second x axis
// not at all; they are made from those that are there.
func (x *excelReport) addAxes(ylabel string) error {
	name, n := "", 0
	x.f.Pkg.Range(func(key, _ any) bool {
		var i int
		if k, _ := key.(string); strings.HasPrefix(k, "xl/charts/chart") {
			if fmt.Sscanf(k, "xl/charts/chart%d.xml", &i); i > n {
				name, n = k, i
			}
		}
		return true
	})
	value, _ := x.f.Pkg.Load(name)
	raw, _ := value.([]byte)
	axes := chartAxis.FindAll(raw, -1)
	if len(axes) != 3 {
		return fmt.Errorf("chart with two axes: the spreadsheet library wrote %d of them, 3 were expected", len(axes))
	}
	ids := chartAxisID.FindAllSubmatch(raw[:bytes.Index(raw, axes[0])], -1)
	if len(ids) != 4 {
		return fmt.Errorf("chart with two axes: the spreadsheet library named %d of them, 4 were expected", len(ids))
	}
	x1, y1, x2, y2 := string(ids[0][1]), string(ids[1][1]), string(ids[2][1]), string(ids[3][1])
	var text bytes.Buffer
	if err := xml.EscapeText(&text, []byte(ylabel)); err != nil {
		return err
	}
	put := func(axis []byte, what *regexp.Regexp, with string) []byte {
		return what.ReplaceAllLiteral(axis, []byte(with))
	}
	val := func(name, v string) string { return "<" + name + ` val="` + v + `"></` + name + ">" }
	first := put(axes[2], chartAxisID, val("axId", y1))
	first = put(first, chartCrossAx, val("crossAx", x1))
	first = put(first, chartAxPos, val("axPos", "l")+`<majorGridlines><spPr><a:ln w="9525"><a:solidFill><a:srgbClr val="D9D9D9"></a:srgbClr></a:solidFill></a:ln></spPr></majorGridlines>`)
	first = put(first, chartCrosses, val("crosses", "autoZero"))
	first = put(first, chartTitleText, "<a:t>"+text.String()+"</a:t>")
	axis, other := axes[0], axes[1] // the same axis, one with its title
	if !chartTitleText.Match(axis) {
		axis, other = other, axis
	}
	hidden := put(other, chartAxisID, val("axId", x2))
	hidden = put(hidden, chartCrossAx, val("crossAx", y2))
	hidden = put(hidden, chartDelete, val("delete", "1"))
	at := bytes.Index(raw, axes[0])
	end := at + len(bytes.Join(axes, nil))
	raw = slices.Concat(raw[:at], axis, first, hidden, axes[2], raw[end:])
	x.f.Pkg.Store(name, raw)
	return nil
}

// axisFormat shows whole numbers where all values are large.
func axisFormat(list []Series, of func(*Series) []float64) excelize.ChartNumFmt {
	top := 0.0
	for i := range list {
		for _, v := range of(&list[i]) {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				top = max(top, math.Abs(v))
			}
		}
	}
	if top >= 20 {
		return excelize.ChartNumFmt{CustomNumFmt: "#,##0"}
	}
	return excelize.ChartNumFmt{CustomNumFmt: "General"}
}

// The library writes charts that some programs misread: x values of a scatter
// chart declared as text, elements that value axes do not have, and an empty
// text style that takes back the rotation of an axis title (LibreOffice obeys it).
var (
	chartTextX     = regexp.MustCompile(`<xVal><strRef>(<f>[^<]*</f>)</strRef></xVal>`)
	chartAxis      = regexp.MustCompile(`(?s)<valAx>.*?</valAx>`)
	chartNoAxis    = regexp.MustCompile(`<(auto|lblAlgn|lblOffset|noMultiLvlLbl) [^>]*></(?:auto|lblAlgn|lblOffset|noMultiLvlLbl)>`)
	chartAxisID    = regexp.MustCompile(`<axId val="(\d+)"></axId>`)
	chartCrossAx   = regexp.MustCompile(`<crossAx val="\d+"></crossAx>`)
	chartAxPos     = regexp.MustCompile(`<axPos val="\w"></axPos>`)
	chartCrosses   = regexp.MustCompile(`<crosses val="\w+"></crosses>`)
	chartDelete    = regexp.MustCompile(`<delete val="0"></delete>`)
	chartTitleText = regexp.MustCompile(`<a:t>[^<]*</a:t>`)
	chartStyle     = regexp.MustCompile(`<txPr><a:bodyPr[^>]*></a:bodyPr><a:p></a:p></txPr></title>`)
)

// tidyCharts corrects the charts of the finished workbook.
func (x *excelReport) tidyCharts() {
	x.f.Pkg.Range(func(key, value any) bool {
		name, _ := key.(string)
		raw, ok := value.([]byte)
		if !ok || !strings.HasPrefix(name, "xl/charts/chart") {
			return true
		}
		raw = chartTextX.ReplaceAll(raw, []byte("<xVal><numRef>$1</numRef></xVal>"))
		raw = chartStyle.ReplaceAll(raw, []byte("</title>"))
		raw = chartAxis.ReplaceAllFunc(raw, func(axis []byte) []byte { return chartNoAxis.ReplaceAll(axis, nil) })
		x.f.Pkg.Store(name, raw)
		return true
	})
}
