package outputs

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

// Limits of the xlsx format.
const (
	excelMaxRows = 1_048_576
	excelMaxText = 32_767 // UTF-16 units in a cell
	excelMaxName = 31     // characters of a sheet's name
	// excelMaxErrors bounds the Errors sheet; the counts above it are complete.
	excelMaxErrors = 10_000
	excelFont      = "Calibri"
)

// excelReport builds one workbook.
type excelReport struct {
	f       *excelize.File
	d       *ReportData
	red     *Redactor
	tr      *translator
	styles  map[excelStyle]int
	next    map[string]int // next free row of a sheet, 1-based
	layouts map[string]*layout
	charts  int // columns used on the chart data sheet
	later   []func() error
	// streamed is the sheet that was written as a stream and is closed.
	streamed string
	maxRows  int // of the Requests sheet, heading included
}

type excelStyle struct {
	format string
	mark   Mark
	bold   bool
	header bool
	title  bool
	note   bool
	wrap   bool
	grid   bool // a thin line below
	right  bool
}

// WriteExcel writes the report as a workbook: Summary, one sheet a group of
// sections, Requests (at most 1,048,575 rows; the Parquet file has all),
// Errors, Config. Numbers are numbers with number formats; text is text
// whatever it begins with; control characters are removed and cells cut at
// the format's limit.
func WriteExcel(path string, d *ReportData, red *Redactor) error {
	return writeExcel(path, d, red, excelMaxRows)
}

func writeExcel(path string, d *ReportData, red *Redactor, maxRows int) error {
	x := &excelReport{maxRows: maxRows, f: excelize.NewFile(), d: d, red: red, tr: newTranslator(d),
		styles: map[excelStyle]int{}, next: map[string]int{}, layouts: map[string]*layout{}}
	defer x.f.Close()
	if err := x.build(); err != nil {
		return explainWrite(path, err)
	}
	x.tidyCharts()
	out, err := createAtomic(path, nil, false)
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := x.f.Write(out); err != nil {
		return explainWrite(path, err)
	}
	return out.Commit()
}

func (x *excelReport) build() error {
	summary := x.sheetName("Summary")
	if err := x.f.SetSheetName("Sheet1", summary); err != nil {
		return err
	}
	x.next[summary] = 1
	if err := x.summary(summary); err != nil {
		return err
	}
	// Sheets in the order readers expect; sections may name others.
	order := []string{"Verdict", "Accuracy", "Performance", "Sweep"}
	seen := map[string]bool{"Verdict": true, "Accuracy": true, "Performance": true, "Sweep": true, "Reading help": true, "Environment": true}
	bySheet := map[string][]Section{}
	for _, s := range x.d.Sections {
		name := s.Sheet
		if name == "" {
			name = "Performance"
		}
		if !seen[name] {
			seen[name] = true
			order = append(order, name)
		}
		bySheet[name] = append(bySheet[name], s)
	}
	if v := x.d.Verdict; v != nil && v.Clauses != nil {
		bySheet["Verdict"] = append(bySheet["Verdict"], Section{Title: "Clauses", Tables: []Table{*v.Clauses}})
	}
	if len(x.d.Help) > 0 {
		t := helpTable(x.d.Help)
		t.Title = ""
		bySheet["Reading help"] = append(bySheet["Reading help"], Section{Title: "Definitions", Tables: []Table{t}})
	}
	order = append(order, "Reading help")
	for _, name := range order {
		if err := x.sections(name, bySheet[name]); err != nil {
			return err
		}
	}
	if x.d.Records != nil {
		if err := x.requests(); err != nil {
			return err
		}
	}
	if err := x.sections("Environment", bySheet["Environment"]); err != nil {
		return err
	}
	if len(x.d.Config) > 0 {
		t := configTable(x.d.Config)
		if err := x.single("Config", &t); err != nil {
			return err
		}
	}
	// A chart is anchored to the cells below it: their sizes must be final.
	if err := x.arrange(); err != nil {
		return err
	}
	for _, draw := range x.later {
		if err := draw(); err != nil {
			return err
		}
	}
	return x.arrange()
}

// sheetName translates and makes a valid, unique sheet name.
func (x *excelReport) sheetName(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`:\/?*[]`, r) {
			return '-'
		}
		return r
	}, excelText(x.red.String(x.tr.term(name))))
	name = strings.Trim(name, "'")
	for utf8.RuneCountInString(name) > excelMaxName {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	if name == "" {
		name = "Sheet"
	}
	return name
}

func (x *excelReport) newSheet(name string) (string, error) {
	sheet := x.sheetName(name)
	if _, ok := x.next[sheet]; ok {
		return sheet, nil
	}
	x.next[sheet] = 1
	_, err := x.f.NewSheet(sheet)
	return sheet, err
}

// table writes t at the sheet's next free row; it returns the first and last
// row of the grid (header included).
func (x *excelReport) table(sheet string, t *Table) (top, bottom int, err error) {
	return x.wideTable(sheet, t, 0)
}

// wideTable is table; the last column of a table with fewer than span columns
// reaches as far as column span.
func (x *excelReport) wideTable(sheet string, t *Table, span int) (top, bottom int, err error) {
	if err := t.Check(); err != nil {
		return 0, 0, err
	}
	if t.Title != "" {
		if err := x.line(sheet, x.text(t.Title), excelStyle{bold: true}); err != nil {
			return 0, 0, err
		}
	}
	n := len(t.Columns)
	wide := func(i int) bool { return i == n-1 && n < span }
	// The cells beside a wide one are part of it and need its style.
	put := func(i, row int, v any, st excelStyle) error {
		if !wide(i) {
			return x.put(sheet, i+1, row, v, st)
		}
		st.wrap = true
		for c := n + 1; c <= span; c++ {
			if err := x.put(sheet, c, row, nil, st); err != nil {
				return err
			}
		}
		text, _ := v.(string)
		l := x.layout(sheet)
		l.blocks = append(l.blocks, textBlock{row: row, col: n, last: span, text: text})
		return x.putCell(sheet, n, row, v, st)
	}
	top = x.next[sheet]
	for i, c := range t.Columns {
		if err := put(i, top, x.raw(x.tr.label(c)), excelStyle{header: true, right: c.Kind.Numeric()}); err != nil {
			return 0, 0, err
		}
	}
	row := top
	for _, r := range t.Rows {
		row++
		if row > excelMaxRows-2 {
			return 0, 0, fmt.Errorf("table %q has %d rows, more than a sheet can hold", t.Title, len(t.Rows))
		}
		for i, c := range t.Columns {
			cell := t.cell(r, i)
			var v any = cell.Value
			switch s := v.(type) {
			case string:
				if v = x.raw(s); !c.Data {
					v = x.text(s)
				}
			case bool:
				v = x.text(map[bool]string{true: "yes", false: "no"}[s])
			}
			st := excelStyle{format: numberFormat(c, cell), mark: markOf(c, cell), grid: true, right: rightAligned(c, cell)}
			if unit := x.raw(x.tr.term(cell.Unit)); unit != "" && cell.Unit != c.Unit {
				if st.format != "" {
					st.format += ` "` + strings.ReplaceAll(unit, `"`, "") + `"`
				} else if text, ok := v.(string); ok {
					v = text + " " + unit
				}
			}
			if err := put(i, row, v, st); err != nil {
				return 0, 0, err
			}
			if cell.Note != "" {
				note := x.tr.term(cell.Note)
				ref, _ := excelize.CoordinatesToCellName(i+1, row)
				if err := x.f.AddComment(sheet, excelize.Comment{Cell: ref, Author: "ais_bench", Text: x.raw(note), Width: 200, Height: 60}); err != nil {
					return 0, 0, err
				}
			}
		}
	}
	if err := x.verdictColours(sheet, t, top+1, row); err != nil {
		return 0, 0, err
	}
	x.next[sheet] = row + 1
	for _, n := range t.Notes {
		if err := x.line(sheet, x.text(n), excelStyle{note: true}); err != nil {
			return 0, 0, err
		}
	}
	x.next[sheet]++
	return top, row, nil
}

// verdictColours colours verdict columns by their text, so that the colour
// follows when someone edits or filters.
func (x *excelReport) verdictColours(sheet string, t *Table, top, bottom int) error {
	if bottom < top {
		return nil
	}
	for i, c := range t.Columns {
		if c.Kind != KindVerdict {
			continue
		}
		from, _ := excelize.CoordinatesToCellName(i+1, top)
		to, _ := excelize.CoordinatesToCellName(i+1, bottom)
		var rules []excelize.ConditionalFormatOptions
		for _, rule := range []struct{ text, fill string }{{"PASS", "C6EFCE"}, {"FAIL", "FFC7CE"}, {"INCONCLUSIVE", "FFEB9C"}} {
			id, err := x.f.NewConditionalStyle(&excelize.Style{Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{rule.fill}}})
			if err != nil {
				return err
			}
			rules = append(rules, excelize.ConditionalFormatOptions{Type: "cell", Criteria: "==", Value: `"` + x.text(rule.text) + `"`, Format: &id})
		}
		if err := x.f.SetConditionalFormat(sheet, from+":"+to, rules); err != nil {
			return err
		}
	}
	return nil
}

// single fills a sheet with one table: frozen header and filter.
func (x *excelReport) single(name string, t *Table) error {
	sheet, err := x.newSheet(name)
	if err != nil {
		return err
	}
	top, bottom, err := x.table(sheet, t)
	if err != nil {
		return err
	}
	return x.freeze(sheet, top, bottom, len(t.Columns))
}

func (x *excelReport) freeze(sheet string, top, bottom, columns int) error {
	below, _ := excelize.CoordinatesToCellName(1, top+1)
	if err := x.f.SetPanes(sheet, &excelize.Panes{Freeze: true, YSplit: top, TopLeftCell: below, ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	from, _ := excelize.CoordinatesToCellName(1, top)
	to, _ := excelize.CoordinatesToCellName(columns, max(bottom, top+1))
	return x.f.AutoFilter(sheet, from+":"+to, nil)
}

// sections fills one sheet with tables and native charts. The header is frozen
// and filtered where the sheet holds a single table: above several, the first
// one's would stand over the others' rows.
func (x *excelReport) sections(name string, list []Section) error {
	tables, charts, span := 0, 0, 0
	for _, s := range list {
		tables += len(s.Tables)
		for _, t := range s.Tables {
			span = max(span, len(t.Columns))
		}
		for _, c := range s.Charts {
			if c.Excel {
				charts++
			}
		}
	}
	if tables+charts == 0 {
		return nil
	}
	sheet, err := x.newSheet(name)
	if err != nil {
		return err
	}
	top, bottom, columns := 0, 0, 0
	for _, s := range list {
		if len(list) > 1 && s.Title != "" {
			if err := x.line(sheet, x.text(s.Title), excelStyle{title: true}); err != nil {
				return err
			}
		}
		for _, n := range s.Notes {
			if err := x.line(sheet, x.text(n), excelStyle{note: true}); err != nil {
				return err
			}
		}
		for i := range s.Tables {
			// A last column of sentences runs as far as the widest table: it would
			// make a column of numbers above or below it wide.
			reach := 0
			if c := s.Tables[i].Columns; len(c) > 0 && c[len(c)-1].Wrap {
				reach = span
			}
			a, b, err := x.wideTable(sheet, &s.Tables[i], reach)
			if err != nil {
				return err
			}
			if top == 0 {
				top, bottom, columns = a, b, len(s.Tables[i].Columns)
			}
		}
		for i := range s.Charts {
			if s.Charts[i].Excel {
				// The chart's place is fixed now; its data go to the last sheet.
				at, c := x.next[sheet], &s.Charts[i]
				x.next[sheet] += excelChartRows
				if err := x.keepTogether(sheet, at); err != nil {
					return err
				}
				x.later = append(x.later, func() error { return x.chart(sheet, at, c) })
			}
		}
	}
	if tables == 1 {
		return x.freeze(sheet, top, bottom, columns)
	}
	return nil
}

// keepTogether begins a new page before a chart where the last one began at
// least a chart's height above, so that no chart is cut in two when printed.
func (x *excelReport) keepTogether(sheet string, row int) error {
	l := x.layout(sheet)
	if row-l.page < 2*excelChartRows && l.page > 0 {
		return nil
	}
	l.page = row
	at, err := excelize.CoordinatesToCellName(1, row)
	if err != nil {
		return err
	}
	return x.f.InsertPageBreak(sheet, at)
}
