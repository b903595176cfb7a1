package outputs

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// WriteSummary writes the tables to summary/summary_<ts>.{txt,csv,md} and returns
// the paths. The text file has no colour. In CSV, tables follow each other with a
// comment line (# title) before and an empty line between.
func WriteSummary(r *Run, tables ...Table) ([]string, error) {
	return writeSummaryAt(r, time.Now(), tables)
}

func writeSummaryAt(r *Run, now time.Time, tables []Table) ([]string, error) {
	text, csv, markdown, err := RenderSummary(r, tables...)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, f := range []struct {
		ext string
		doc []byte
	}{{"txt", text}, {"csv", csv}, {"md", markdown}} {
		path := r.Path("summary", "summary_"+now.Format(stampLayout)+"."+f.ext)
		if err := writeAtomic(path, r.Redactor(), func(w io.Writer) error { _, err := w.Write(f.doc); return err }); err != nil {
			return files, err
		}
		files = append(files, path)
	}
	return files, nil
}

// RenderSummary is what WriteSummary writes into the three files.
func RenderSummary(r *Run, tables ...Table) (text, csv, markdown []byte, err error) {
	red := r.Redactor()
	clean := make([]Table, len(tables))
	for i := range tables {
		clean[i] = tables[i].redact(red)
	}
	render := func(one func(*Table, io.Writer) error, between string) []byte {
		var b bytes.Buffer
		for i := range clean {
			if i > 0 {
				b.WriteString(between)
			}
			if e := one(&clean[i], &b); e != nil && err == nil {
				err = e
			}
		}
		return b.Bytes()
	}
	text = render(func(t *Table, w io.Writer) error { return t.WriteText(w, TextOptions{}) }, "\n")
	markdown = render((*Table).WriteMarkdown, "")
	csv = render(func(t *Table, w io.Writer) error {
		if len(clean) > 1 && t.Title != "" {
			if _, err := fmt.Fprintf(w, "%s%s\n", SummaryTitle, oneLine(t.Title)); err != nil {
				return err
			}
		}
		return t.WriteCSV(w)
	}, "\n")
	return text, csv, markdown, err
}

// SummaryTitle begins the line with a table's title in a summary's CSV.
const SummaryTitle = "# "

// WriteTable writes one table as CSV to a file of the run: scrubbed, atomic. path is
// absolute (run.Path(…)).
func (r *Run) WriteTable(path string, t *Table) error {
	clean := t.redact(r.Redactor())
	return writeAtomic(path, r.Redactor(), clean.WriteCSV)
}

// redact returns the table with every text scrubbed; itself when there is
// nothing to scrub.
func (t *Table) redact(red *Redactor) Table {
	if red.Empty() {
		return *t
	}
	out := *t
	out.Title = red.String(t.Title)
	out.Notes = red.Strings(t.Notes)
	out.Columns = make([]Column, len(t.Columns))
	for i, c := range t.Columns {
		c.Name = red.String(c.Name)
		out.Columns[i] = c
	}
	out.Rows = make([][]any, len(t.Rows))
	for i, row := range t.Rows {
		out.Rows[i] = make([]any, len(row))
		for j := range row {
			cell := normalCell(row[j])
			cell.Note = red.String(cell.Note)
			if s, ok := cell.Value.(string); ok {
				cell.Value = red.String(s)
			}
			out.Rows[i][j] = cell
		}
	}
	return out
}
