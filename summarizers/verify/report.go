package verify

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"ais_bench/outputs"
)

// report makes report.json again. Its sentences and titles, and chapters that a
// command added, are its writer's own.
func (v *verifier) report() {
	file := v.rel(v.run.JSONPath())
	doc, err := outputs.ReadFile(v.run.JSONPath())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var stored outputs.ReportJSON
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(doc))
		d.UseNumber() // as they are written
		err = d.Decode(&stored)
	}
	if err != nil {
		v.add(Finding{Check: "report", File: file, Status: Unreadable, Detail: err.Error()})
		return
	}
	if !v.same {
		v.notChecked("report", file, "written by version %s of the program, whose tables may be others", v.m.Tool.Version)
		return
	}
	data, err := v.reportAgain(&stored)
	switch {
	case err != nil:
		v.add(Finding{Check: "report", File: file, Status: Unreadable, Detail: "it cannot be made again: " + err.Error()})
		return
	case data == nil:
		v.notChecked("report", file, "its tables are of runs below this folder")
		return
	}
	again := data.JSON()
	if v.o.Sweep == nil && v.otherPercentiles(heads(&stored)) {
		v.notChecked("report", file, "%q of the checklist: performances/*.json have other percentiles by now", outputs.ItemTailPercentiles)
		again.Checklist = slices.Clone(again.Checklist)
		for i, item := range stored.Checklist {
			if item.Item == outputs.ItemTailPercentiles && i < len(again.Checklist) {
				again.Checklist[i] = item
			}
		}
	}
	made := map[string]bool{}
	for _, s := range again.Sections {
		made[s.ID] = true
	}
	var own []string
	kept := stored.Sections[:0:0]
	for _, s := range stored.Sections {
		if made[s.ID] {
			kept = append(kept, s)
		} else {
			own = append(own, s.Title)
		}
	}
	stored.Sections = kept
	if len(own) > 0 {
		v.notChecked("report", file, "chapters that are not made from the run's files: %s", strings.Join(own, ", "))
	}
	if stored.Verdict != nil {
		v.notChecked("report", file, "its verdict is a contract's: `ais_bench gate` gives it again")
	}
	now, err := treeOf(figuresOf(&stored, len(again.Findings) > 0))
	if err != nil {
		v.add(Finding{Check: "report", File: file, Status: Unreadable, Detail: err.Error()})
		return
	}
	v.compareJSON("report", file, now, figuresOf(again, len(again.Findings) > 0))
}

// reportAgain is what the reports show; nil where it is of runs below the folder
// that nobody computed.
func (v *verifier) reportAgain(stored *outputs.ReportJSON) (*outputs.ReportData, error) {
	if s := v.o.Sweep; s != nil {
		if s.Why != "" {
			return nil, errors.New(s.Why)
		}
		return s.Report, nil
	}
	if pairs, err := v.run.Pairs(); err == nil && len(pairs) == 0 {
		return nil, nil
	}
	o := v.reportOptions(heads(stored))
	if v.last != nil {
		o.ByLength = v.last.options.ByLength // the reports always have it
	}
	_, data, err := v.recompute(o)
	return data, err
}

// heads are those of all tables.
func heads(stored *outputs.ReportJSON) []section {
	var tables []section
	for _, s := range stored.Sections {
		for _, t := range s.Tables {
			tables = append(tables, headOf(&t))
		}
	}
	return tables
}

// headOf is a table's heading and first column, as a summary has them.
func headOf(t *outputs.TableJSON) section {
	var b strings.Builder
	w := csv.NewWriter(&b)
	head := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = c.Name
	}
	_ = w.Write(head) // a Builder takes everything
	for _, r := range t.Rows {
		row := make([]string, len(t.Columns))
		if len(r) > 0 && len(row) > 0 {
			row[0] = fmt.Sprint(r[0])
		}
		_ = w.Write(row)
	}
	w.Flush()
	return section{title: t.Title, lines: strings.Split(strings.TrimRight(b.String(), "\n"), "\n")}
}

// figuresOf is what of a report is made from the run's files, by chapter and table.
func figuresOf(r *outputs.ReportJSON, findings bool) map[string]any {
	out := map[string]any{"headlines": r.Headlines, "checklist": r.Checklist, "records": r.Records, "config": r.Config}
	if findings {
		out["findings"] = r.Findings
	}
	for _, s := range r.Sections {
		tables := map[string]any{}
		for i, t := range s.Tables {
			name := cmp.Or(t.ID, "table")
			if _, taken := tables[name]; taken {
				name = fmt.Sprintf("%s-%d", name, i+1)
			}
			tables[name] = map[string]any{"columns": t.Columns, "rows": t.Rows}
		}
		out[s.ID] = tables
	}
	return out
}
