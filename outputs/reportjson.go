package outputs

import "time"

// WriteReportJSON writes report.json: what report.xlsx and report.html show, for
// programs. Numbers are unrounded, shares are shares, undefined is null; texts
// are English. Requests and samples are not in it: RecordsPath names their file.
func (r *Run) WriteReportJSON(d *ReportData) error {
	return writeJSONFile(r.JSONPath(), d.JSON(), r.Redactor())
}

// ReportJSON is the shape of report.json. Keys are only ever added.
type ReportJSON struct {
	Version   int            `json:"report_version"` // 1
	Title     string         `json:"title"`
	Run       string         `json:"run"`
	Generated string         `json:"generated"`
	Tool      string         `json:"tool"`
	Verdict   *VerdictJSON   `json:"verdict"` // null without a contract
	Headlines []HeadlineJSON `json:"headlines"`
	Findings  []string       `json:"findings"`
	Warnings  []string       `json:"warnings"`
	Checklist []CheckItem    `json:"checklist"`
	Sections  []SectionJSON  `json:"sections"`
	Help      []Definition   `json:"help"`
	Records   string         `json:"records"` // all requests, relative to the run folder
	Config    []ConfigEntry  `json:"config"`
}

// VerdictJSON is the overall decision.
type VerdictJSON struct {
	State   string     `json:"state"` // PASS, FAIL, INCONCLUSIVE
	Reason  string     `json:"reason"`
	Clauses *TableJSON `json:"clauses"`
}

// HeadlineJSON is one of the first numbers. Shares are in [0,1] whatever Unit says.
type HeadlineJSON struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	Unit  string `json:"unit"`
	Note  string `json:"note"`
}

// SectionJSON is a chapter.
type SectionJSON struct {
	ID     string      `json:"id"`
	Title  string      `json:"title"`
	Notes  []string    `json:"notes"`
	Tables []TableJSON `json:"tables"`
}

// TableJSON is a table: rows hold one value a column.
type TableJSON struct {
	ID      string       `json:"id"`
	Title   string       `json:"title"`
	Columns []ColumnJSON `json:"columns"`
	Rows    [][]any      `json:"rows"`
	Notes   []string     `json:"notes"`
}

// ColumnJSON heads a column.
type ColumnJSON struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

// JSON is what report.json holds.
func (d *ReportData) JSON() *ReportJSON {
	out := &ReportJSON{Version: 1, Title: d.Title, Run: d.RunName, Tool: d.Tool, Records: d.RecordsPath,
		Headlines: []HeadlineJSON{}, Findings: append([]string{}, d.Findings...), Warnings: append([]string{}, d.Notes...), Checklist: append([]CheckItem{}, d.Checklist...),
		Sections: []SectionJSON{}, Help: append([]Definition{}, d.Help...), Config: append([]ConfigEntry{}, d.Config...)}
	if !d.Generated.IsZero() {
		out.Generated = d.Generated.Format(time.RFC3339)
	}
	if v := d.Verdict; v != nil {
		out.Verdict = &VerdictJSON{State: v.State, Reason: v.Reason}
		if v.Clauses != nil {
			t := jsonTable(v.Clauses)
			out.Verdict.Clauses = &t
		}
	}
	for _, h := range d.Headlines {
		out.Headlines = append(out.Headlines, HeadlineJSON{h.Name, normalCell(h.Value).Value, h.Unit, h.Note})
	}
	for i := range d.Sections {
		s := &d.Sections[i]
		sec := SectionJSON{ID: s.ID, Title: s.Title, Notes: append([]string{}, s.Notes...), Tables: []TableJSON{}}
		for j := range s.Tables {
			sec.Tables = append(sec.Tables, jsonTable(&s.Tables[j]))
		}
		out.Sections = append(out.Sections, sec)
	}
	return out
}

func jsonTable(t *Table) TableJSON {
	out := TableJSON{ID: t.ID, Title: t.Title, Columns: []ColumnJSON{}, Rows: [][]any{}, Notes: append([]string{}, t.Notes...)}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, ColumnJSON{c.Name, c.Unit})
	}
	for _, r := range t.Rows {
		row := make([]any, len(t.Columns))
		for i := range t.Columns {
			row[i] = t.cell(r, i).Value
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
