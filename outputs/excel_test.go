package outputs

import (
	"archive/zip"
	"encoding/xml"
	"io"
	"iter"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

// writeReports writes every report format of the package.
func writeReports(r *Run, d *ReportData) error {
	if err := r.WriteExcel(d); err != nil {
		return err
	}
	return r.WriteHTML(d)
}

func demoReport() *ReportData {
	perf := demoTable()
	perf.Title = "Performance Parameters"
	acc := Table{Title: "Accuracy", Columns: []Column{{Name: "dataset"}, {Name: "accuracy", Kind: KindPercent}}}
	acc.AddRow("gsm8k", 0.8125)
	acc.AddRow("=HYPERLINK(\"http://x\")", 0.5)
	acc.AddRow(strings.Repeat("😀", 40_000), nil)
	acc.AddRow("bell\x07 and \x1b[31m and nul\x00", nil)
	env := Table{Title: "Host", Columns: []Column{{Name: "Key"}, {Name: "Value"}}}
	env.AddRow("started", time.Date(2026, 11, 29, 16, 15, 0, 0, time.UTC))
	return &ReportData{
		Title: "m on d", RunName: "20261129_161500", Generated: time.Date(2026, 11, 29, 16, 15, 0, 0, time.UTC), Tool: "ais_bench 1.0.0",
		Verdict:   &Verdict{State: "FAIL", Reason: "TTFT p99 too high"},
		Headlines: []Headline{{Name: "accuracy", Value: 0.8125, Kind: KindPercent, Note: "n=1319"}, {Name: "TTFT p99", Value: 123.456, Unit: "ms", Format: "%.1f", Mark: MarkBad}, {Name: "unknown", Value: math.NaN()}},
		Checklist: []CheckItem{{ItemSeed, CheckYes, "--seed 1"}, {ItemPrefixCaching, CheckNo, "unknown"}},
		Sections: []Section{{ID: "acc", Title: "Accuracy", Sheet: "Accuracy", Tables: []Table{acc}},
			{ID: "perf", Title: "Performance", Tables: []Table{perf}, Charts: []Chart{{ID: "c", Title: "Throughput", XLabel: "concurrency", YLabel: "token/s", Excel: true,
				Series: []Series{{Name: "output", X: []float64{1, 2, 4}, Y: []float64{10, 19, math.NaN()}}}, Marks: []ChartMark{{2, "knee"}}}}},
			{ID: "env", Title: "Environment", Sheet: "Environment", Tables: []Table{env}}},
		Help: []Definition{{"TTFT", "ms", "send to first payload"}},
		Records: func() iter.Seq2[*Record, error] {
			return func(yield func(*Record, error) bool) {
				for i := range 100 {
					r := sampleRecord(i)
					if i%10 == 9 {
						r.Status, r.Error, r.FirstToken, r.LastToken = StatusHTTP5xx, "=boom\x00", Never, Never
					}
					if !yield(r, nil) {
						return
					}
				}
			}
		},
		RecordsPath: "performances/m/d.parquet",
		Config:      []ConfigEntry{{"model", "batch_size", "64"}},
	}
}

func TestExcelReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.xlsx")
	if err := WriteExcel(path, demoReport(), nil); err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, want := strings.Join(f.GetSheetList(), " "), "Summary Accuracy Performance Reading help Requests Errors Environment Config Chart data"; got != want {
		t.Errorf("sheets %q, want %q", got, want)
	}
	raw := excelize.Options{RawCellValue: true}
	find := func(sheet, text string) (col, row int) {
		t.Helper()
		rows, err := f.GetRows(sheet, raw)
		if err != nil {
			t.Fatal(err)
		}
		for r, cells := range rows {
			for c, v := range cells {
				if v == text {
					return c + 1, r + 1
				}
			}
		}
		t.Fatalf("sheet %s has no cell %q", sheet, text)
		return 0, 0
	}
	at := func(col, row int) string { s, _ := excelize.CoordinatesToCellName(col, row); return s }
	number := func(sheet, cell, want, shown string) {
		t.Helper()
		v, _ := f.GetCellValue(sheet, cell, raw)
		typ, _ := f.GetCellType(sheet, cell)
		s, _ := f.GetCellValue(sheet, cell)
		if v != want || s != shown || typ != excelize.CellTypeUnset && typ != excelize.CellTypeNumber {
			t.Errorf("%s!%s is %q (type %v, shown %q), want the number %s shown as %s", sheet, cell, v, typ, s, want, shown)
		}
	}
	c, r := find("Summary", "accuracy")
	number("Summary", at(c+1, r), "0.8125", "81.25%")
	c, r = find("Summary", "TTFT p99")
	number("Summary", at(c+1, r), "123.456", "123.5")
	c, r = find("Accuracy", "gsm8k")
	number("Accuracy", at(c+1, r), "0.8125", "81.25%")
	c, r = find("Performance", "首字延迟 TTFT")
	number("Performance", at(c+1, r), "12.345678", "12.35")
	number("Performance", at(c+2, r), "12032", "12,032")

	c, r = find("Accuracy", `=HYPERLINK("http://x")`)
	if formula, _ := f.GetCellFormula("Accuracy", at(c, r)); formula != "" {
		t.Errorf("text became the formula %q", formula)
	}
	find("Accuracy", "bell and [31m and nul")
	rows, _ := f.GetRows("Accuracy", raw)
	longest := 0
	for _, cells := range rows {
		for _, v := range cells {
			longest = max(longest, len([]rune(v)))
		}
	}
	if longest != (excelMaxText-len("… [cut]"))/2+7 {
		t.Errorf("the long cell has %d characters", longest)
	}

	rows, _ = f.GetRows("Requests", raw)
	if len(rows) != 101 || rows[0][0] != "model" {
		t.Errorf("Requests has %d rows", len(rows))
	}
	col, _ := find("Requests", "ttft_ms")
	number("Requests", at(col, 2), "19.9995", "20.000")
	if v, _ := f.GetCellValue("Requests", at(col, 11), raw); v != "" {
		t.Errorf("TTFT of a failed request is %q", v)
	}
	find("Errors", string(StatusHTTP5xx))
	find("Errors", "=boom")
	col, row := 0, 0
	rows, _ = f.GetRows("Errors", raw)
	for i, v := range rows[0] {
		if v == "Requests" {
			col = i + 1
		}
	}
	for i, cells := range rows {
		if len(cells) >= col && col > 1 && cells[col-2] == string(StatusHTTP5xx) {
			row = i + 1
		}
	}
	number("Errors", at(col, row), "10", "10")
	for _, sheet := range []string{"Requests", "Accuracy", "Errors", "Config"} {
		if p, err := f.GetPanes(sheet); err != nil || !p.Freeze {
			t.Errorf("%s: the header is not frozen (%v)", sheet, err)
		}
	}
}

func TestExcelChinese(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.xlsx")
	d := demoReport()
	d.Lang = "zh"
	d.Translations = map[string]string{"TTFT p99": "首字延迟 p99"}
	if err := WriteExcel(path, d, nil); err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, want := strings.Join(f.GetSheetList(), " "), "摘要 精度 性能 阅读说明 请求 错误 环境 配置 图表数据"; got != want {
		t.Errorf("sheets %q, want %q", got, want)
	}
	rows, _ := f.GetRows("摘要")
	all := ""
	for _, r := range rows {
		all += strings.Join(r, "|") + "\n"
	}
	for _, want := range []string{"首字延迟 p99", "未通过", "可复现性检查表"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

func TestExcelTextLimit(t *testing.T) {
	for _, n := range []int{excelMaxText - 1, excelMaxText, excelMaxText + 1} {
		got := excelText(strings.Repeat("x", n))
		if n <= excelMaxText && len(got) != n || n > excelMaxText && !strings.HasSuffix(got, "[cut]") {
			t.Errorf("%d characters became %d", n, len(got))
		}
	}
	// 20,000 CJK characters are 60,000 bytes but fit.
	if s := strings.Repeat("长", 20_000); excelText(s) != s {
		t.Error("text within the limit was cut")
	}
}

func TestExcelRequestsAreCapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.xlsx")
	if err := writeExcel(path, demoReport(), nil, 51); err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if rows, _ := f.GetRows("Requests"); len(rows) != 51 {
		t.Errorf("%d rows, want the heading and 50 requests", len(rows))
	}
	summary, _ := f.GetRows("Summary")
	note := ""
	for _, r := range summary {
		if len(r) > 0 && strings.Contains(r[0], "first 50 of 100") {
			note = r[0]
		}
	}
	if !strings.Contains(note, "performances/m/d.parquet") {
		t.Errorf("the summary does not point to the Parquet file: %q", note)
	}
	errs, _ := f.GetRows("Errors")
	if len(errs) != 11 { // all ten failures, also those behind the cap
		t.Errorf("%d rows in Errors", len(errs))
	}
}

// Every axis a chart refers to is in it once, with the axis it crosses: the
// library leaves some out of charts with two y axes.
func TestExcelChartsHaveTheirAxes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.xlsx")
	line := Series{Name: "a", X: []float64{1, 4, 64}, Y: []float64{10, 20, 30}}
	second := Series{Name: "b & <c>", X: line.X, Y: []float64{1, 2, 3}, Right: true, YLabel: "in flight <&>"}
	d := &ReportData{Sections: []Section{{ID: "s", Sheet: "Sweep", Charts: []Chart{
		{ID: "1", Title: "one", XLabel: "x", YLabel: "y", Excel: true, Series: []Series{line}},
		{ID: "2", Title: "two", XLabel: "x2", YLabel: "left <&>", Excel: true, Series: []Series{line, second}, Marks: []ChartMark{{4, "knee"}}},
		{ID: "3", Title: "all at the right", XLabel: "x", YLabel: "y", Excel: true, Series: []Series{second}},
		{ID: "4", Title: "none", Excel: true},
	}}}}
	if err := WriteExcel(path, d, nil); err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	charts := 0
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "xl/charts/") {
			continue
		}
		charts++
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		type value struct {
			Val string `xml:"val,attr"`
		}
		var c struct {
			Plot struct {
				Scatter []struct {
					Ax  []value    `xml:"axId"`
					Ser []struct{} `xml:"ser"`
				} `xml:"scatterChart"`
				Axes []struct {
					ID    value    `xml:"axId"`
					Cross value    `xml:"crossAx"`
					Label []value  `xml:"lblAlgn"`
					Title []string `xml:"title>tx>rich>p>r>t"`
				} `xml:"valAx"`
			} `xml:"chart>plotArea"`
		}
		if err := xml.Unmarshal(raw, &c); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		crosses := map[string]string{}
		titles := ""
		for _, a := range c.Plot.Axes {
			if crosses[a.ID.Val] != "" || len(a.Label) > 0 {
				t.Errorf("%s: axis %s stands twice or has what a value axis has not", f.Name, a.ID.Val)
			}
			crosses[a.ID.Val] = a.Cross.Val
			titles += strings.Join(a.Title, "") + "|"
		}
		for _, s := range c.Plot.Scatter {
			if len(s.Ax) != 2 || crosses[s.Ax[0].Val] != s.Ax[1].Val || crosses[s.Ax[1].Val] != s.Ax[0].Val {
				t.Errorf("%s: axes %v, crossing %v", f.Name, s.Ax, crosses)
			}
		}
		if strings.Contains(string(raw), "<xVal><strRef>") {
			t.Errorf("%s: x values are declared as text", f.Name)
		}
		if len(c.Plot.Scatter) == 2 && titles != "x2|left <&>||in flight <&>|" {
			t.Errorf("%s: axis titles %q", f.Name, titles)
		}
	}
	if charts != 3 {
		t.Errorf("%d charts, want 3", charts)
	}
}
