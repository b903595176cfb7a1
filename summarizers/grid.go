package summarizers

import (
	"fmt"
	"path/filepath"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/tradeoff"
)

// GridReport writes what a grid's folder holds beside its points: grid.csv (one row
// a combination), grid_runs.csv, grid.json, the summary files, the spreadsheet, the
// page and report.json, as far as o names them. run is the grid's folder; g must have
// been evaluated. meta goes into grid.json. Files that cannot be written are told as
// Report does.
func GridReport(run *outputs.Run, g *tradeoff.Grid, meta map[string]any, o ReportOptions) (*Summary, error) {
	s := &Summary{Tables: gridTables(g)}
	if o.wants("csv") {
		csv := GridCSV(g)
		for _, name := range sortedNames(csv) {
			t := csv[name]
			s.wrote(run, run.Path(name), run.WriteTable(run.Path(name), &t))
		}
	}
	if o.wants("json") {
		s.wrote(run, run.Path("grid.json"), run.WriteJSON(run.Path("grid.json"), g.JSON(meta)))
	}
	return s, s.reportPoints(run, o, gridPoints(run, g))
}

// gridPoints is what a grid's reports say.
func gridPoints(run *outputs.Run, g *tradeoff.Grid) points {
	var dirs []string
	for _, c := range g.Combinations {
		for _, r := range c.Level.Runs {
			dirs = append(dirs, run.Path(filepath.FromSlash(r.Dir)))
		}
	}
	return points{dirs: dirs, title: "Grid over " + strings.Join(g.Params, " × "), headlines: g.Headlines(), sections: g.Sections(), help: tradeoff.Definitions(), health: gridHealth(g),
		cautions: func(m *outputs.Manifest) outputs.Table { return gridCautions(g, m) }}
}

// gridTables are those of the console.
func gridTables(g *tradeoff.Grid) []outputs.Table {
	return []outputs.Table{g.Table(), g.Effects()}
}

// RecomputeGrid is the tables of a grid's summary files and what its reports show,
// without writing anything.
func RecomputeGrid(run *outputs.Run, g *tradeoff.Grid) ([]outputs.Table, *outputs.ReportData, error) {
	return gridPoints(run, g).recompute(run, gridTables(g))
}

// GridCSV are the CSV files of a grid's folder, by name.
func GridCSV(g *tradeoff.Grid) map[string]outputs.Table {
	return map[string]outputs.Table{"grid.csv": g.CSVTable(), "grid_runs.csv": g.RunsTable()}
}

// gridCautions says what a grid's points may not be compared with.
func gridCautions(g *tradeoff.Grid, m *outputs.Manifest) outputs.Table {
	t := cautionTable()
	var measured []PairPerformance
	for _, c := range g.Combinations {
		for _, r := range c.Level.Runs {
			if r.Result == nil || r.Result.Requests.Success == 0 {
				continue
			}
			if len(measured) == 0 {
				t.AddRow("every point", "other lengths", lengths(r.Result))
			}
			measured = append(measured, PairPerformance{Result: r.Result})
		}
	}
	if len(measured) > 0 {
		pointCautions(&t, measured, m, ClientBound(gridHealth(g)))
	}
	return t
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
