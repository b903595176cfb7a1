package outputs

import (
	"strings"
	"time"
)

// summaryColumns are the columns of the Summary sheet: a name, a value, a unit
// and room for a sentence.
var summaryColumns = []float64{34, 16, 12, 58}

func (x *excelReport) summary(sheet string) error {
	d := x.d
	if err := x.line(sheet, x.text(d.Title), excelStyle{title: true}); err != nil {
		return err
	}
	when := ""
	if !d.Generated.IsZero() {
		when = d.Generated.Format(time.RFC3339)
	}
	for _, s := range []string{strings.TrimSpace(d.RunName + "  " + when), d.Tool} {
		if s != "" {
			if err := x.line(sheet, x.raw(s), excelStyle{}); err != nil {
				return err
			}
		}
	}
	x.next[sheet]++
	for i, w := range summaryColumns {
		x.layout(sheet).widths[i+1] = w
	}
	if v := d.Verdict; v != nil {
		t := Table{Columns: []Column{{Name: "Verdict", Kind: KindVerdict}, {Name: "Reason"}}}
		t.AddRow(v.State, v.Reason)
		if _, _, err := x.wideTable(sheet, &t, len(summaryColumns)); err != nil {
			return err
		}
	}
	if len(d.Headlines) > 0 {
		if err := x.headlines(sheet); err != nil {
			return err
		}
	}
	if len(d.Findings) > 0 {
		t := Table{Columns: []Column{{Name: "Findings"}}}
		for _, f := range d.Findings {
			t.AddRow(f)
		}
		if _, _, err := x.wideTable(sheet, &t, len(summaryColumns)); err != nil {
			return err
		}
	}
	if v := d.Verdict; v != nil && v.Clauses != nil {
		short := x.shortClauses(v.Clauses)
		if _, _, err := x.wideTable(sheet, &short, len(summaryColumns)); err != nil {
			return err
		}
	}
	if len(d.Notes) > 0 {
		t := Table{Title: "Warnings", Columns: []Column{{Name: "Warning"}}}
		for _, n := range d.Notes {
			t.AddRow(Cell{Value: n, Mark: MarkWarn})
		}
		if _, _, err := x.wideTable(sheet, &t, len(summaryColumns)); err != nil {
			return err
		}
	}
	if len(d.Checklist) > 0 {
		t := ChecklistTable(d.Checklist)
		if _, _, err := x.wideTable(sheet, &t, len(summaryColumns)); err != nil {
			return err
		}
	}
	return nil
}

// shortClauses is the table of clauses as the Summary sheet has room for it: the
// clause, its verdict, and all else in one sentence. The whole table has a sheet of
// its own.
func (x *excelReport) shortClauses(t *Table) Table {
	short := Table{Title: t.Title, Columns: []Column{{Name: t.Columns[0].Name, Data: true}, {Name: "Verdict", Kind: KindVerdict}, {Name: "Detail", Data: true}}}
	for _, r := range t.Rows {
		var name, verdict any
		var rest []string
		for i, c := range t.Columns {
			cell := t.cell(r, i)
			switch {
			case i == 0:
				name = cell
			case c.Kind == KindVerdict && verdict == nil:
				verdict = cell
			case cell.Value != nil && cell.Value != "":
				text := c.text(cell)
				if !c.Data {
					text = x.tr.term(text)
				}
				rest = append(rest, x.tr.label(c)+": "+text)
			}
		}
		short.AddRow(name, verdict, strings.Join(rest, "; "))
	}
	return short
}

// headlines are rows of different kinds, so each cell has its own format.
func (x *excelReport) headlines(sheet string) error {
	if err := x.line(sheet, x.text("Headlines"), excelStyle{bold: true}); err != nil {
		return err
	}
	for i, h := range []string{"Metric", "Value", "Unit", "Note"} {
		if err := x.put(sheet, i+1, x.next[sheet], x.text(h), excelStyle{header: true, right: i == 1}); err != nil {
			return err
		}
	}
	x.next[sheet]++
	for _, h := range x.d.Headlines {
		row := x.next[sheet]
		cell := normalCell(h.Value)
		if h.Mark != MarkNone {
			cell.Mark = h.Mark
		}
		c := Column{Kind: h.Kind, Format: h.Format}
		v := cell.Value
		if s, ok := v.(string); ok {
			v = x.text(s)
		}
		for i, p := range []struct {
			v  any
			st excelStyle
		}{{x.text(h.Name), excelStyle{grid: true}}, {v, excelStyle{format: numberFormat(c, cell), mark: markOf(c, cell), bold: true, grid: true, right: true}},
			{x.text(h.Unit), excelStyle{grid: true}}, {x.text(h.Note), excelStyle{grid: true}}} {
			if err := x.put(sheet, i+1, row, p.v, p.st); err != nil {
				return err
			}
		}
		x.next[sheet]++
	}
	x.next[sheet]++
	return nil
}

func helpTable(list []Definition) Table {
	t := Table{ID: "help", Title: "Reading help", Columns: []Column{{Name: "Metric"}, {Name: "Unit"}, {Name: "Definition", Wrap: true}}}
	for _, h := range list {
		t.AddRow(h.Metric, h.Unit, h.Text)
	}
	return t
}
