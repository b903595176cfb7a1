package summarizers

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/metrics"
)

// SweepReport writes what a sweep's folder holds beside its points: sweep.csv (one row
// a point), sweep.json, the summary files, the spreadsheet, the page and report.json,
// as far as o names them. run is the sweep's folder; d must have been evaluated. meta
// goes into sweep.json. Files that cannot be written are told as Report does.
func SweepReport(run *outputs.Run, d *capacity.Document, meta map[string]any, o ReportOptions) (*Summary, error) {
	s := &Summary{Tables: d.Tables()}
	if o.wants("csv") {
		csv := SweepCSV(d)
		for _, name := range sortedNames(csv) {
			t := csv[name]
			s.wrote(run, run.Path(name), run.WriteTable(run.Path(name), &t))
		}
	}
	if o.wants("json") || o.wants("csv") || o.wants("txt") || o.wants("md") { // it says how the others are made again
		s.wrote(run, run.Path("sweep.json"), run.WriteJSON(run.Path("sweep.json"), d.JSON(meta)))
	}
	return s, s.reportPoints(run, o, sweepPoints(run, d))
}

// sweepPoints is what a sweep's reports say.
func sweepPoints(run *outputs.Run, d *capacity.Document) points {
	var dirs []string
	for _, l := range d.Curve.Levels {
		for _, r := range l.Runs {
			dirs = append(dirs, run.Path(filepath.FromSlash(r.Dir)))
		}
	}
	return points{dirs: dirs, title: "Sweep over " + strings.ReplaceAll(d.Curve.Axis.Name, "_", " "), headlines: d.Headlines(), sections: d.Sections(), help: capacity.Definitions(),
		health: sweepHealth(d), bound: sweepClient(d), cautions: func(m *outputs.Manifest) outputs.Table { return sweepCautions(d, m) }}
}

// RecomputeSweep is the tables of a sweep's summary files and what its reports
// show, without writing anything.
func RecomputeSweep(run *outputs.Run, d *capacity.Document) ([]outputs.Table, *outputs.ReportData, error) {
	return sweepPoints(run, d).recompute(run, d.Tables())
}

// points is what the reports of many runs in one folder say: a sweep's, a grid's.
type points struct {
	dirs      []string // of their runs
	title     string
	headlines []outputs.Headline
	sections  []outputs.Section
	help      []outputs.Definition
	health    any
	bound     []string // where the client was in the way; nil = one line a run
	cautions  func(*outputs.Manifest) outputs.Table
}

// recompute is the tables of the summary files and what the reports show.
func (p points) recompute(run *outputs.Run, console []outputs.Table) ([]outputs.Table, *outputs.ReportData, error) {
	m, err := manifestOf(run)
	if err != nil {
		return nil, nil, err
	}
	list, err := outputs.ChecklistsOf(p.dirs)
	if err != nil {
		return nil, nil, err
	}
	return p.tables(console, m, list), p.data(run, m, list, ReportOptions{}), nil
}

// tables are those of the summary files: the console's, the checklist over all runs
// and the reading help.
func (p points) tables(console []outputs.Table, m *outputs.Manifest, list []outputs.CheckItem) []outputs.Table {
	tables := slices.Clone(console)
	if t := p.cautions(m); len(t.Rows) > 0 {
		tables = append(tables, t)
	}
	return append(tables, outputs.ChecklistTable(list), definitionTable(append(p.help, metrics.Definitions()...)))
}

// reportPoints writes summary files, spreadsheet, page and report.json as far as o
// names them.
func (s *Summary) reportPoints(run *outputs.Run, o ReportOptions, p points) error {
	m, err := manifestOf(run)
	if err != nil {
		return err
	}
	if s.Checklist, err = outputs.ChecklistsOf(p.dirs); err != nil {
		return err
	}
	if o.wants("txt") || o.wants("csv") || o.wants("md") {
		s.summaryFiles(run, p.tables(s.Tables, m, s.Checklist))
	}
	s.write(run, p.data(run, m, s.Checklist, o), o)
	return s.unwritten
}

// data is the content of the reports.
func (p points) data(run *outputs.Run, m *outputs.Manifest, list []outputs.CheckItem, o ReportOptions) *outputs.ReportData {
	if p.bound == nil {
		p.bound = ClientBound(p.health)
	}
	d := &outputs.ReportData{Title: o.Title, RunName: filepath.Base(run.Dir()), Generated: time.Now(), Tool: o.Tool, Lang: o.Lang, Verdict: o.Verdict,
		Headlines: p.headlines, Findings: o.Findings, Notes: append(slices.Clone(o.Notes), p.bound...), Sections: p.sections, Help: append(p.help, metrics.Definitions()...)}
	if d.Title == "" {
		d.Title = p.title
	}
	d.Sections = append(d.Sections, o.Sections...)
	if t := p.cautions(m); len(t.Rows) > 0 {
		t.Title = ""
		d.Sections = append(d.Sections, outputs.Section{ID: "cautions", Title: "Not to be compared", Sheet: "Reading help", Tables: []outputs.Table{t}})
	}
	if t := ClientTable(p.health); len(t.Rows) > 0 {
		t.Notes = p.bound
		d.Sections = append(d.Sections, outputs.Section{ID: "client-health", Title: "Client health", Sheet: "Environment", Tables: []outputs.Table{t}})
	}
	if m != nil {
		d.Config = configEntries(m)
		d.Sections = append(d.Sections, environment(m))
	}
	d.Checklist = list
	return d
}

// sweepCautions says what a sweep's points may not be compared with.
func sweepCautions(d *capacity.Document, m *outputs.Manifest) outputs.Table {
	t := cautionTable()
	var pooled []PairPerformance
	for i := range d.Curve.Levels {
		l := &d.Curve.Levels[i]
		if l.Pooled == nil || l.Pooled.Requests.Success == 0 {
			continue
		}
		if len(pooled) == 0 {
			t.AddRow("every point", "other lengths", lengths(l.Pooled))
		}
		pooled = append(pooled, PairPerformance{Result: l.Pooled})
		if q := l.Pooled.Requests; q.Failed > 0 {
			t.AddRow(fmt.Sprintf("latencies of %s", d.Curve.Axis.Name+" "+fmt.Sprintf("%g", l.Value)), "runs in which all succeed",
				outputs.Cell{Value: fmt.Sprintf("%d of %d requests failed; latencies and token rates are of the %d that succeeded", q.Failed, q.Total, q.Success), Mark: outputs.MarkWarn})
		}
	}
	if len(pooled) == 0 {
		return t
	}
	pointCautions(&t, pooled, m, sweepClient(d))
	return t
}

// pointCautions are those that every collection of points has.
func pointCautions(t *outputs.Table, pooled []PairPerformance, m *outputs.Manifest, bound []string) {
	prefixCaution(t, pooled, m)
	for _, text := range bound {
		t.AddRow("these runs", "any other client or machine", outputs.Cell{Value: text, Mark: outputs.MarkBad})
	}
	profileCaution(t)
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
