package summarizers

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
	"ais_bench/summarizers/tradeoff"
)

// GridReport writes what a grid's folder holds beside its points: grid.csv (one row
// a combination), grid_runs.csv, grid.json, the summary files, the spreadsheet and
// the page. run is the grid's folder; g must have been evaluated. meta goes into
// grid.json.
func GridReport(run *outputs.Run, g *tradeoff.Grid, meta map[string]any, o ReportOptions) (*Summary, error) {
	s := &Summary{Tables: []outputs.Table{g.Table(), g.Effects()}}
	for name, t := range map[string]outputs.Table{"grid.csv": g.CSVTable(), "grid_runs.csv": g.RunsTable()} {
		if err := run.WriteTable(run.Path(name), &t); err != nil {
			return nil, err
		}
	}
	if err := run.WriteJSON(run.Path("grid.json"), g.JSON(meta)); err != nil {
		return nil, err
	}
	s.Files = append(s.Files, "grid.csv", "grid_runs.csv", "grid.json")
	files, err := outputs.WriteSummary(run, s.Tables...)
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		if rel, err := filepath.Rel(run.Dir(), path); err == nil {
			path = rel
		}
		s.Files = append(s.Files, path)
	}
	if !o.Excel && !o.HTML {
		return s, nil
	}
	health := gridHealth(g)
	data := &outputs.ReportData{Title: o.Title, RunName: filepath.Base(run.Dir()), Generated: time.Now(), Tool: o.Tool, Lang: o.Lang, Verdict: o.Verdict,
		Headlines: g.Headlines(), Notes: append(append([]string{}, o.Notes...), ClientBound(health)...), Sections: g.Sections(),
		Help: append(tradeoff.Definitions(), metrics.Definitions()...)}
	if data.Title == "" {
		data.Title = "Grid over " + strings.Join(g.Params, " × ")
	}
	if m, err := run.ReadManifest(); err == nil {
		data.Checklist, data.Config = m.Checklist, configEntries(m)
	}
	if t := ClientTable(health); len(t.Rows) > 0 {
		data.Sections = append(data.Sections, outputs.Section{ID: "client-health", Title: "Client health", Sheet: "Environment", Tables: []outputs.Table{t}})
	}
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

// gridHealth is the client's health of every run, by combination.
func gridHealth(g *tradeoff.Grid) any {
	all := map[string]any{}
	for _, c := range g.Combinations {
		for _, r := range c.Level.Runs {
			byPair, _ := r.Health.(map[string]any)
			for _, h := range byPair {
				all[fmt.Sprintf("%s: %s, run %d", c.Letter, c.Name(), r.Number)] = h
			}
		}
	}
	return all
}
