package summarizers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

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

	Excel, HTML bool
	Notes       []string // warnings that must not be missed
	Verdict     *outputs.Verdict
	Sections    []outputs.Section // further chapters: sweeps, comparisons
	// Health is the client's health; nil = as recorded in the manifest.
	Health any
}

// Summary is what Report found, for printing.
type Summary struct {
	Accuracy    []evaluators.Result
	Performance []PairPerformance
	Tables      []outputs.Table // in the order of the reports
	Checklist   []outputs.CheckItem
	Warnings    []string // of the manifest
	Files       []string // written, relative to the run folder
	// Server is the server's side of every pair that was watched, ServerWarnings what of
	// it must not be missed.
	Server         []*server.Analysis
	ServerWarnings []string
}

// PairPerformance is the performance of one model on one data set.
type PairPerformance struct {
	outputs.Pair
	Result *metrics.Result
	Stable []outputs.Table // AISBench's stable stage; nil when not asked for
}

// Report computes a run's tables from what is on disk and writes
// performances/*.json, summary/ and the reports. It works on any run folder,
// finished or not.
func Report(run *outputs.Run, o ReportOptions) (*Summary, error) {
	s, pairs, err := compute(run, o, true)
	if err != nil {
		return nil, err
	}
	if len(s.Tables) == 0 {
		return s, nil
	}
	files, err := outputs.WriteSummary(run, s.SummaryTables()...)
	if err != nil {
		return nil, err
	}
	for _, path := range []string{files.Text, files.CSV, files.Markdown} {
		if rel, err := filepath.Rel(run.Dir(), path); err == nil {
			path = rel
		}
		s.Files = append(s.Files, path)
	}
	return s, s.reports(run, pairs, o)
}

// Recompute is what Report computes, without writing anything.
func Recompute(run *outputs.Run, o ReportOptions) (*Summary, error) {
	s, _, err := compute(run, o, false)
	return s, err
}

// SummaryTables are the tables of the summary files: those of the console, then
// the reproducibility checklist.
func (s *Summary) SummaryTables() []outputs.Table {
	return append(slices.Clip(s.Tables), outputs.ChecklistTable(s.Checklist))
}

func compute(run *outputs.Run, o ReportOptions, write bool) (*Summary, []outputs.Pair, error) {
	pairs, err := run.Pairs()
	if err != nil {
		return nil, nil, err
	}
	if len(pairs) == 0 {
		return nil, nil, fmt.Errorf("%s holds neither records nor answers: nothing to report", run.Dir())
	}
	s := &Summary{}
	if o.Accuracy {
		if s.Accuracy, err = readResults(run, pairs); err != nil {
			return nil, nil, err
		}
	}
	if o.Performance {
		if err := s.measure(run, pairs, o, write); err != nil {
			return nil, nil, err
		}
	}
	m, _ := run.ReadManifest() // a folder of another tool has none
	if m != nil && o.Health == nil {
		o.Health = m.ClientHealth
	}
	if m != nil {
		s.Warnings = m.Warnings
	}
	s.Checklist = run.Checklist(m)
	s.tables(o, o.Health)
	if o.Performance {
		if err := s.watched(run, pairs, o.Health, write); err != nil {
			return nil, nil, err
		}
	}
	return s, pairs, nil
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

// measure computes the strict metrics of every pair that has records.
func (s *Summary) measure(run *outputs.Run, pairs []outputs.Pair, o ReportOptions, write bool) error {
	var m *outputs.Manifest
	if o.StableStage {
		var err error
		if m, err = run.ReadManifest(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, p := range pairs {
		if run.RecordsPath(p.Model, p.Dataset) == "" {
			continue
		}
		r, err := metrics.Compute(run.Records(p.Model, p.Dataset), o.Metrics)
		if err != nil {
			return fmt.Errorf("performance of %s on %s: %w", p.Model, p.Dataset, err)
		}
		if write {
			if err := run.WritePerformance(p.Model, p.Dataset, r); err != nil {
				return err
			}
		}
		perf := PairPerformance{Pair: p, Result: r}
		if o.StableStage {
			if perf.Stable, err = stableTables(run, p, m); err != nil {
				return err
			}
		}
		s.Performance = append(s.Performance, perf)
	}
	return nil
}

func (s *Summary) tables(o ReportOptions, health any) {
	if len(s.Accuracy) > 0 {
		s.Tables = append(s.Tables, AccuracyTable(s.Accuracy), OutcomeTable(s.Accuracy))
	}
	for _, p := range s.Performance {
		s.Tables = append(s.Tables, p.tables()...)
	}
	if t := ClientTable(health); o.Performance && len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
}

func (p PairPerformance) tables() []outputs.Table {
	tables := append(PerfTables(p.Result), p.Stable...)
	for i := range tables {
		tables[i].Title += ": " + p.Model + " on " + p.Dataset
	}
	return tables
}

// reports writes the spreadsheet and the page.
func (s *Summary) reports(run *outputs.Run, pairs []outputs.Pair, o ReportOptions) error {
	if !o.Excel && !o.HTML {
		return nil
	}
	d := s.data(run, pairs, o)
	if o.Excel {
		if err := run.WriteExcel(d); err != nil {
			return err
		}
		s.Files = append(s.Files, filepath.Base(run.ExcelPath()))
	}
	if o.HTML {
		if err := run.WriteHTML(d); err != nil {
			return err
		}
		s.Files = append(s.Files, filepath.Base(run.HTMLPath()))
	}
	return nil
}

// data is the content of the reports.
func (s *Summary) data(run *outputs.Run, pairs []outputs.Pair, o ReportOptions) *outputs.ReportData {
	d := &outputs.ReportData{Title: o.Title, RunName: filepath.Base(run.Dir()), Generated: time.Now(), Tool: o.Tool, Lang: o.Lang,
		Verdict: o.Verdict, Notes: o.Notes, Help: metrics.Definitions()}
	if d.Title == "" {
		d.Title = titleOf(pairs)
	}
	d.Checklist = s.Checklist
	if m, err := run.ReadManifest(); err == nil {
		d.Notes = append(d.Notes, m.Warnings...)
		d.Config = configEntries(m)
	}
	health := plain(o.Health)
	d.Notes = append(append(d.Notes, s.ServerWarnings...), ClientBound(health)...)
	s.headlines(d)
	if len(s.Accuracy) > 0 {
		sec := outputs.Section{ID: "accuracy", Title: "Accuracy", Sheet: "Accuracy", Tables: []outputs.Table{AccuracyTable(s.Accuracy), OutcomeTable(s.Accuracy)}}
		if t := ReferenceTable(s.Accuracy); len(t.Rows) > 0 {
			sec.Tables = append(sec.Tables, t)
		}
		d.Sections = append(d.Sections, sec)
	}
	for i, p := range s.Performance {
		sec := outputs.Section{ID: fmt.Sprintf("performance-%d", i+1), Title: "Performance of " + p.Model + " on " + p.Dataset, Sheet: "Performance"}
		sec.Tables = append(sec.Tables, p.tables()...)
		for _, t := range []outputs.Table{LengthTable(p.Result), PositionTable(p.Result)} {
			if len(t.Rows) > 0 {
				t.Title += ": " + p.Model + " on " + p.Dataset
				sec.Tables = append(sec.Tables, t)
			}
		}
		sec.Charts = Charts(fmt.Sprintf("p%d", i+1), p.Result)
		d.Sections = append(d.Sections, sec)
	}
	d.Sections = append(d.Sections, s.serverSections()...)
	if t := HealthTable(health); len(t.Rows) > 0 {
		d.Sections = append(d.Sections, outputs.Section{ID: "client-health", Title: "Client health", Sheet: "Environment", Tables: []outputs.Table{t}})
	}
	d.Sections = append(d.Sections, o.Sections...)
	if len(s.Performance) > 0 {
		d.Records = func() iter.Seq2[*outputs.Record, error] { return allRecords(run, pairs) }
		if path := run.RecordsPath(s.Performance[0].Model, s.Performance[0].Dataset); path != "" {
			if rel, err := filepath.Rel(run.Dir(), path); err == nil {
				d.RecordsPath = rel
			}
		}
	}
	if len(s.Accuracy) > 0 {
		d.Samples = samples(run, pairs)
	}
	return d
}

func titleOf(pairs []outputs.Pair) string {
	title := pairs[0].Model + " on " + pairs[0].Dataset
	if n := len(pairs) - 1; n > 0 {
		title += fmt.Sprintf(" and %d more", n)
	}
	return title
}

// headlines are the few numbers a stakeholder reads first.
func (s *Summary) headlines(d *outputs.ReportData) {
	for _, r := range s.Accuracy {
		note := fmt.Sprintf("n %d", r.Overall.N)
		if ci := interval(r.Overall); ci != "" {
			note = "95 % CI " + ci + " %, " + note
		}
		d.Headlines = append(d.Headlines, outputs.Headline{Name: r.Metric + ", " + r.Dataset, Value: r.Overall.Accuracy, Kind: outputs.KindPercent, Unit: "%", Note: note})
	}
	for _, p := range s.Performance {
		r := p.Result
		on := ", " + p.Dataset
		if p99 := r.TTFT.Percentile(99); p99 != nil {
			d.Headlines = append(d.Headlines, outputs.Headline{Name: "TTFT P99" + on, Value: p99, Unit: "ms", Kind: outputs.KindFloat, Format: "%.1f", Note: fmt.Sprintf("of %d requests", r.TTFT.N)})
		}
		if p99 := r.TPOT.Percentile(99); p99 != nil {
			d.Headlines = append(d.Headlines, outputs.Headline{Name: "TPOT P99" + on, Value: p99, Unit: "ms", Kind: outputs.KindFloat, Format: "%.2f", Note: fmt.Sprintf("of %d requests", r.TPOT.N)})
		}
		if r.OutputThroughput != nil {
			d.Headlines = append(d.Headlines, outputs.Headline{Name: "Output Token Throughput" + on, Value: r.OutputThroughput, Unit: "token/s", Kind: outputs.KindFloat, Format: "%.1f",
				Note: fmt.Sprintf("%d requests, %d output tokens", r.Requests.Success, *r.TotalOutputTokens)})
		}
		if q := r.Requests; q.Total > 0 {
			h := outputs.Headline{Name: "Success rate" + on, Value: float64(q.Success) / float64(q.Total), Unit: "%", Kind: outputs.KindPercent, Note: fmt.Sprintf("%d of %d requests failed", q.Failed, q.Total)}
			if q.Failed > 0 {
				h.Mark = outputs.MarkBad
			}
			d.Headlines = append(d.Headlines, h)
		}
	}
}

func allRecords(run *outputs.Run, pairs []outputs.Pair) iter.Seq2[*outputs.Record, error] {
	return func(yield func(*outputs.Record, error) bool) {
		for _, p := range pairs {
			if run.RecordsPath(p.Model, p.Dataset) == "" {
				continue
			}
			for rec, err := range run.Records(p.Model, p.Dataset) {
				if !yield(rec, err) {
					return
				}
			}
		}
	}
}

// samples are the scored answers of all pairs.
func samples(run *outputs.Run, pairs []outputs.Pair) iter.Seq2[*outputs.Sample, error] {
	return func(yield func(*outputs.Sample, error) bool) {
		for _, p := range pairs {
			path := run.PredictionsPath(p.Model, p.Dataset)
			if _, err := os.Stat(path); err != nil {
				continue
			}
			for pr, err := range outputs.ReadPredictions(path) {
				if err != nil {
					yield(nil, err)
					return
				}
				if pr.Outcome == "" {
					continue
				}
				smp := &outputs.Sample{Model: p.Model, Dataset: p.Dataset, ID: pr.SampleID, Subset: pr.Subset, Repeat: pr.Repeat, Prompt: pr.PromptText(),
					Reasoning: pr.Reasoning, Answer: pr.Prediction, Gold: goldText(pr.Gold), Outcome: pr.Outcome, Score: pr.Score, Detail: pr.Detail,
					Finish: pr.FinishReason, Tokens: pr.OutputTokens}
				if pr.Extracted != nil {
					smp.Extracted = *pr.Extracted
				}
				if !yield(smp, nil) {
					return
				}
			}
		}
	}
}

func goldText(v any) string {
	switch g := v.(type) {
	case nil:
		return ""
	case string:
		return g
	case []any:
		text := ""
		for i, x := range g {
			if i > 0 {
				text += " | "
			}
			text += fmt.Sprint(x)
		}
		return text
	}
	return fmt.Sprint(v)
}

// configEntries flatten what ran for the Config sheet.
func configEntries(m *outputs.Manifest) []outputs.ConfigEntry {
	var out []outputs.ConfigEntry
	put := func(group, key string, v any) {
		out = append(out, outputs.ConfigEntry{Group: group, Key: key, Value: fmt.Sprint(v)})
	}
	put("tool", "version", m.Tool.Version)
	put("tool", "commit", m.Tool.Commit)
	for i, a := range m.Command.Args {
		put("command", fmt.Sprintf("argument %d", i), a)
	}
	for _, c := range m.Configs {
		put("configuration", c.Kind+" "+c.Name, c.Source+", sha256 "+c.SHA256)
	}
	for _, f := range m.Data {
		put("data", f.Dataset, f.Path+", sha256 "+f.SHA256)
	}
	for _, group := range []struct {
		name string
		m    map[string]any
	}{{"seed", m.Seeds}, {"sampling", m.Sampling}, {"workload", m.Workload}} {
		for _, k := range sortedNames(group.m) {
			put(group.name, k, compact(group.m[k]))
		}
	}
	put("host", "cpu", deref(m.Host.CPUModel))
	put("host", "cpus", m.Host.CPUs)
	put("host", "os", m.Host.OS+" "+deref(m.Host.Kernel))
	if m.Clock != nil {
		put("clock", "stamp source", m.Clock.StampSource)
		put("clock", "zero", m.Clock.ZeroWall)
	}
	return out
}

func deref(s *string) string {
	if s == nil {
		return "unknown"
	}
	return *s
}

func compact(v any) string {
	b, err := outputs.MarshalJSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// plain turns any value into JSON's own types; nil when it has no JSON form.
func plain(v any) any {
	b, err := outputs.MarshalJSON(v)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(b, &out) != nil {
		return nil
	}
	return out
}
