package summarizers

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"ais_bench/evaluators"
	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
	"ais_bench/summarizers/server"
)

// ReportOptions say what Report makes of a run folder.
type ReportOptions struct {
	Title string // "" = the models and data sets
	Tool  string // program and version, shown in reports
	Lang  string // en or zh

	Accuracy    bool // tables of results/
	Performance bool // tables of the records
	Metrics     metrics.Options

	// StableStage adds AISBench's tables of its own stable stage; it reads the
	// records twice more.
	StableStage bool
	// ByLength shows latencies by input length in the summary and on the console; the
	// spreadsheet and the page always do.
	ByLength bool

	Excel, HTML bool
	// Formats, where given, are what is written: txt, csv or md (the summary, in
	// all three), json (performances/*.json and report.json), xlsx, html. Nil: the
	// first four, and what Excel and HTML say.
	Formats  []string
	Findings []string // what was found, in sentences
	Notes    []string // warnings that must not be missed
	Verdict  *outputs.Verdict
	Sections []outputs.Section // further chapters: sweeps, comparisons
	// Health is the client's health; nil = as recorded in the manifest.
	Health any
}

// Formats are the names ReportOptions.Formats knows.
var Formats = []string{"txt", "csv", "md", "json", "xlsx", "html"}

// wants reports whether a format is to be written.
func (o *ReportOptions) wants(format string) bool {
	switch {
	case o.Formats != nil:
		return slices.Contains(o.Formats, format)
	case format == "xlsx":
		return o.Excel
	case format == "html":
		return o.HTML
	}
	return true
}

// Summary is what Report found, for printing.
type Summary struct {
	Accuracy    []evaluators.Result
	Performance []PairPerformance
	Tables      []outputs.Table // in the order of the reports
	ByLength    []outputs.Table // of these, those by input length; nil unless asked for
	Checklist   []outputs.CheckItem
	Invalid     []string // why the figures are not those of a whole run as it was left (Distrusted)
	Warnings    []string // Invalid, and those of the manifest
	Files       []string // written, relative to the run folder
	// Server is the server's side of every pair that was watched, ServerWarnings what of
	// it must not be missed.
	Server         []*server.Analysis
	ServerWarnings []string

	help      []outputs.Table // reading help, for the summary files
	unwritten error           // of the first file that could not be written
}

// PairPerformance is the performance of one model on one data set.
type PairPerformance struct {
	outputs.Pair
	Result *metrics.Result
	Stable []outputs.Table // AISBench's stable stage; nil when not asked for

	partings []parting
	timings  map[answerKey]timing // of answered questions, where samples are shown
}

// answerKey tells the answers of one pair apart.
type answerKey struct {
	sample       string
	repeat, turn int32
}

// timing is how long an answer took, in ms; NaN = unknown.
type timing struct{ ttft, e2e float32 }

// Report computes a run's tables from what is on disk and writes
// performances/*.json, summary/ and the reports. It works on any run folder,
// finished or not. Where files cannot be written (a full disk) the summary comes with
// the first one's error, and the others were tried: what was measured can be shown.
func Report(run *outputs.Run, o ReportOptions) (*Summary, error) {
	s, pairs, m, err := compute(run, &o, true)
	if err != nil {
		return nil, err
	}
	if len(s.Tables) == 0 {
		return s, nil
	}
	if o.wants("txt") || o.wants("csv") || o.wants("md") { // one summary in three forms
		s.summaryFiles(run, s.SummaryTables())
	}
	s.reports(run, pairs, m, o)
	return s, s.unwritten
}

// summaryFiles writes the summary in its three forms.
func (s *Summary) summaryFiles(run *outputs.Run, tables []outputs.Table) {
	files, err := outputs.WriteSummary(run, tables...)
	for _, path := range files {
		s.wrote(run, path, nil)
	}
	if err != nil {
		s.wrote(run, "", err)
	}
}

// Recompute is what Report computes and what its reports show, without writing
// anything.
func Recompute(run *outputs.Run, o ReportOptions) (*Summary, *outputs.ReportData, error) {
	s, pairs, m, err := compute(run, &o, false)
	if err != nil {
		return nil, nil, err
	}
	return s, s.data(run, pairs, m, o), nil
}

// SummaryTables are the tables of the summary files: those of the console, the
// reproducibility checklist, and the reading help.
func (s *Summary) SummaryTables() []outputs.Table {
	return append(slices.Clip(s.Tables), append([]outputs.Table{outputs.ChecklistTable(s.Checklist)}, s.help...)...)
}

func compute(run *outputs.Run, o *ReportOptions, write bool) (*Summary, []outputs.Pair, *outputs.Manifest, error) {
	pairs, err := run.Pairs()
	if err != nil {
		return nil, nil, nil, err
	}
	if len(pairs) == 0 {
		return nil, nil, nil, fmt.Errorf("%s holds neither records nor answers: nothing to report", run.Dir())
	}
	m, err := manifestOf(run)
	if err != nil {
		return nil, nil, nil, err
	}
	s := &Summary{}
	if m != nil {
		s.Invalid = Distrusted(run, m)
		if o.Health == nil {
			o.Health = m.ClientHealth
		}
	}
	if o.Accuracy {
		if s.Accuracy, err = readResults(run, pairs); err != nil {
			return nil, nil, nil, err
		}
	}
	if o.Performance {
		if err := s.measure(run, pairs, m, *o, write); err != nil {
			return nil, nil, nil, err
		}
	}
	s.Checklist = run.Checklist(m) // it looks at the figures just written
	if m != nil {
		s.Invalid = append(s.Invalid, s.missing(m)...)
		s.Warnings = slices.Clone(s.Invalid)
		for _, w := range m.Warnings {
			if !slices.Contains(s.Warnings, w) {
				s.Warnings = append(s.Warnings, w)
			}
		}
	}
	s.tables(*o, o.Health)
	if len(s.Tables) > 0 && len(s.Invalid) > 0 {
		s.Tables = append([]outputs.Table{invalidTable(s.Invalid)}, s.Tables...)
	}
	if o.Performance {
		if err := s.watched(run, pairs, o.Health, write); err != nil {
			return nil, nil, nil, err
		}
	}
	s.help = helpTables(s, m, o.Health)
	return s, pairs, m, nil
}

// wrote notes a file for the list of what was written, or the first one's error.
func (s *Summary) wrote(run *outputs.Run, path string, err error) {
	if err != nil {
		if s.unwritten == nil {
			s.unwritten = err
		}
		return
	}
	if rel, err := filepath.Rel(run.Dir(), path); err == nil {
		path = rel
	}
	s.Files = append(s.Files, path)
}

// helpTables are the reading help of the summary files: what the figures may
// not be compared with, and the definition of every metric shown.
func helpTables(s *Summary, m *outputs.Manifest, health any) []outputs.Table {
	var out []outputs.Table
	if t := Cautions(s.Accuracy, s.Performance, m, health); len(t.Rows) > 0 {
		out = append(out, t)
	}
	if len(s.Performance) > 0 {
		out = append(out, definitionTable(metrics.Definitions()))
	}
	return out
}

func definitionTable(list []outputs.Definition) outputs.Table {
	t := outputs.Table{ID: "help", Title: "Reading help", Columns: []outputs.Column{{Name: "Metric"}, {Name: "Unit"}, {Name: "Definition", Wrap: true}}}
	for _, d := range list {
		t.AddRow(d.Metric, d.Unit, d.Text)
	}
	return t
}

// readResults reads the scores of every pair that was scored.
func readResults(run *outputs.Run, pairs []outputs.Pair) ([]evaluators.Result, error) {
	var out []evaluators.Result
	for _, p := range pairs {
		var r evaluators.Result
		err := outputs.ReadJSON(run.ResultsPath(p.Model, p.Dataset), &r)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// measure computes the strict metrics of every pair that has records. The
// records are read once for everything, and twice more for AISBench's tables.
func (s *Summary) measure(run *outputs.Run, pairs []outputs.Pair, m *outputs.Manifest, o ReportOptions, write bool) error {
	for _, p := range pairs {
		path := run.RecordsPath(p.Model, p.Dataset)
		if path == "" {
			continue
		}
		perf := PairPerformance{Pair: p}
		var ends tails
		scored := write && o.wants("html") && slices.ContainsFunc(s.Accuracy, func(r evaluators.Result) bool { return r.Model == p.Model && r.Dataset == p.Dataset })
		if scored {
			perf.timings = map[answerKey]timing{}
		}
		records := watch(run.Records(p.Model, p.Dataset), func(r *outputs.Record) {
			ends.add(r)
			if scored && r.OK() {
				perf.timings[answerKey{r.SampleID, r.Repeat, r.Turn}] = timingOf(r)
			}
		})
		var err error
		if perf.Result, err = metrics.Compute(records, o.Metrics); err != nil {
			return fmt.Errorf("performance of %s on %s: %w", p.Model, p.Dataset, err)
		}
		perf.partings = ends.partings(perf.Result)
		if write && o.wants("json") {
			s.wrote(run, run.PerformancePath(p.Model, p.Dataset, "json"), run.WritePerformance(p.Model, p.Dataset, perf.Result))
		}
		if o.StableStage {
			if perf.Stable, err = stableTables(run, p, m); err != nil {
				return err
			}
		}
		s.Performance = append(s.Performance, perf)
	}
	return nil
}

func timingOf(r *outputs.Record) timing {
	t := timing{float32(math.NaN()), float32(math.NaN())}
	if v, ok := r.TTFT(); ok {
		t.ttft = float32(float64(v) / 1e6)
	}
	if v, ok := r.E2EL(); ok {
		t.e2e = float32(float64(v) / 1e6)
	}
	return t
}

func (s *Summary) tables(o ReportOptions, health any) {
	if len(s.Accuracy) > 0 {
		s.Tables = append(s.Tables, AccuracyTable(s.Accuracy), OutcomeTable(s.Accuracy))
	}
	for _, p := range s.Performance {
		s.Tables = append(s.Tables, p.tables()...)
		if t := LengthTable(p.Result); o.ByLength {
			t.Title += ": " + p.Model + " on " + p.Dataset
			s.Tables, s.ByLength = append(s.Tables, t), append(s.ByLength, t)
		}
	}
	if t := ClientTable(health); o.Performance && len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
}

func (p PairPerformance) tables() []outputs.Table {
	tables := append(PerfTables(p.Result), p.Stable...)
	if len(p.partings) > 0 {
		tables = append(tables, partingTable(p.partings))
	}
	for i := range tables {
		tables[i].Title = p.titled(tables[i].Title)
	}
	return tables
}

func (p PairPerformance) titled(title string) string {
	return title + ": " + p.Model + " on " + p.Dataset
}

// reports writes the spreadsheet, the page and report.json.
func (s *Summary) reports(run *outputs.Run, pairs []outputs.Pair, m *outputs.Manifest, o ReportOptions) {
	if o.wants("json") || o.wants("xlsx") || o.wants("html") {
		s.write(run, s.data(run, pairs, m, o), o)
	}
}

func (s *Summary) write(run *outputs.Run, d *outputs.ReportData, o ReportOptions) {
	for _, f := range []struct {
		format, path string
		write        func(*outputs.ReportData) error
	}{{"xlsx", run.ExcelPath(), run.WriteExcel}, {"html", run.HTMLPath(), run.WriteHTML}, {"json", run.JSONPath(), run.WriteReportJSON}} {
		if o.wants(f.format) {
			s.wrote(run, f.path, f.write(d))
		}
	}
}
