package outputs

import (
	"fmt"
	"io"
	"time"
)

// SummaryFiles are the paths WriteSummary wrote.
type SummaryFiles struct{ Text, CSV, Markdown string }

// WriteSummary writes the tables to summary/summary_<ts>.{txt,csv,md}. The
// text file has no colour. In CSV, tables follow each other with a comment
// line (# title) before and an empty line between.
func WriteSummary(r *Run, tables ...Table) (SummaryFiles, error) {
	return writeSummaryAt(r, time.Now(), tables)
}

func writeSummaryAt(r *Run, now time.Time, tables []Table) (SummaryFiles, error) {
	base := "summary_" + now.Format(stampLayout)
	files := SummaryFiles{r.Path("summary", base+".txt"), r.Path("summary", base+".csv"), r.Path("summary", base+".md")}
	red := r.Redactor()
	clean := make([]Table, len(tables))
	for i := range tables {
		clean[i] = tables[i].redact(red)
	}
	write := func(path string, one func(*Table, io.Writer) error, between string) error {
		return writeAtomic(path, red, func(w io.Writer) error {
			for i := range clean {
				if i > 0 {
					if _, err := io.WriteString(w, between); err != nil {
						return err
					}
				}
				if err := one(&clean[i], w); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := write(files.Text, func(t *Table, w io.Writer) error { return t.WriteText(w, TextOptions{}) }, "\n"); err != nil {
		return files, err
	}
	if err := write(files.Markdown, (*Table).WriteMarkdown, ""); err != nil {
		return files, err
	}
	return files, write(files.CSV, func(t *Table, w io.Writer) error {
		if len(clean) > 1 && t.Title != "" {
			if _, err := fmt.Fprintf(w, "# %s\n", oneLine(t.Title)); err != nil {
				return err
			}
		}
		return t.WriteCSV(w)
	}, "\n")
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
