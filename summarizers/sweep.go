package summarizers

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/metrics"
)

// SweepReport writes what a sweep's folder holds beside its points: sweep.csv (one row
// a point), sweep.json, the summary files, the spreadsheet and the page. run is
// the sweep's folder; d must have been evaluated. meta goes into sweep.json.
func SweepReport(run *outputs.Run, d *capacity.Document, meta map[string]any, o ReportOptions) (*Summary, error) {
	s := &Summary{Tables: d.Tables()}
	health := sweepHealth(d)
	csv := SweepCSV(d)
	for _, name := range sortedNames(csv) {
		t := csv[name]
		if err := run.WriteTable(run.Path(name), &t); err != nil {
			return nil, err
		}
		s.Files = append(s.Files, name)
	}
	if err := run.WriteJSON(run.Path("sweep.json"), d.JSON(meta)); err != nil {
		return nil, err
	}
	files, err := outputs.WriteSummary(run, s.Tables...)
	if err != nil {
		return nil, err
	}
	s.Files = append(s.Files, "sweep.json")
	for _, path := range files {
		if rel, err := filepath.Rel(run.Dir(), path); err == nil {
			path = rel
		}
		s.Files = append(s.Files, path)
	}
	if !o.Excel && !o.HTML {
		return s, nil
	}
	data := &outputs.ReportData{Title: o.Title, RunName: filepath.Base(run.Dir()), Generated: time.Now(), Tool: o.Tool, Lang: o.Lang, Verdict: o.Verdict,
		Headlines: d.Headlines(), Notes: append(append([]string{}, o.Notes...), sweepClient(d)...), Sections: d.Sections(), Help: append(capacity.Definitions(), metrics.Definitions()...)}
	if data.Title == "" {
		data.Title = "Sweep over " + strings.ReplaceAll(d.Curve.Axis.Name, "_", " ")
	}
	if m, err := run.ReadManifest(); err == nil {
		data.Checklist, data.Config = m.Checklist, configEntries(m)
	}
	if t := ClientTable(health); len(t.Rows) > 0 {
		t.Notes = sweepClient(d)
		data.Sections = append(data.Sections, outputs.Section{ID: "client-health", Title: "Client health", Sheet: "Environment", Tables: []outputs.Table{t}})
	}
	data.Sections = append(data.Sections, o.Sections...)
	if o.Excel {
		if err := run.WriteExcel(data); err != nil {
			return nil, err
		}
		s.Files = append(s.Files, filepath.Base(run.ExcelPath()))
	}
	if o.HTML {
		if err := run.WriteHTML(data); err != nil {
			return nil, err
		}
		s.Files = append(s.Files, filepath.Base(run.HTMLPath()))
	}
	return s, nil
}

// SweepCSV are the CSV files of a sweep's folder, by name.
func SweepCSV(d *capacity.Document) map[string]outputs.Table {
	files := map[string]outputs.Table{"sweep.csv": d.CSVTable(), "sweep_runs.csv": d.RunsTable()}
	if d.ByLength {
		files["sweep_by_length.csv"] = d.LengthCSV()
	}
	return files
}

// sweepClient says in one line at which points the client was in the way.
func sweepClient(d *capacity.Document) []string {
	var bound, suspect []string
	runs := 0
	for _, l := range d.Curve.Levels {
		for _, r := range l.Runs {
			runs++
			name := fmt.Sprintf("%g/%d", l.Value, r.Number)
			switch r.ClientBound {
			case "yes":
				bound = append(bound, name)
			case "suspect":
				suspect = append(suspect, name)
			}
		}
	}
	var notes []string
	if len(bound) > 0 {
		notes = append(notes, fmt.Sprintf("the client was the bottleneck in %d of %d runs: their figures describe this machine as much as the service (load/run: %s)", len(bound), runs, strings.Join(bound, ", ")))
	}
	if len(suspect) > 0 {
		notes = append(notes, fmt.Sprintf("the client may have been the bottleneck in %d of %d runs: see Client health before trusting their tail latencies (load/run: %s)", len(suspect), runs, strings.Join(suspect, ", ")))
	}
	return notes
}

// sweepHealth is the client's health of every run, by point.
func sweepHealth(d *capacity.Document) any {
	all := map[string]any{}
	for _, l := range d.Curve.Levels {
		for _, r := range l.Runs {
			byPair, _ := r.Health.(map[string]any)
			for _, h := range byPair {
				all[fmt.Sprintf("%s %g, run %d", d.Curve.Axis.Name, l.Value, r.Number)] = h
			}
		}
	}
	return all
}
