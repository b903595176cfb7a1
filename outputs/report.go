package outputs

import (
	"iter"
	"time"
)

// ReportData is everything report.xlsx and report.html show. Producers fill
// it with plain values and do not care for formats; the writers do not know
// what a metric is. Every part may be empty.
//
// Texts are English. The writers translate the fixed ones to Chinese (the
// terms_*.go; a test finds those that are missing); Translations adds or
// overrides terms. A fixed text with values in it is translated under its
// format, as it is written in the source ("%d of %d requests failed").
type ReportData struct {
	Title     string // "vllm_api_general_chat on gsm8k"
	RunName   string // name of the run folder
	Generated time.Time
	Tool      string // "ais_bench 1.0.0 (commit abc1234)"
	Lang      string // "en" (default) or "zh": the language a reader meets first

	Verdict   *Verdict    // nil when no contract was given
	Headlines []Headline  // the few numbers a stakeholder reads
	Checklist []CheckItem // the reproducibility checklist
	Findings  []string    // what was found, in sentences: the knee, the capacity
	Notes     []string    // warnings that must not be missed
	Sections  []Section
	Help      []Definition // reading help, one entry a metric

	// Records yields every request for the timeline, the charts drawn from
	// records and Excel's Requests and Errors sheets. It is called several times
	// and must start over each time. Nil when the run has no records.
	Records func() iter.Seq2[*Record, error]
	// RecordsPath is what a reader is pointed to for all requests (the Parquet
	// file, relative to the run folder).
	RecordsPath string
	// Samples yields answers with their verdicts, for the samples browser. It is
	// called once. Nil when nothing was scored.
	Samples iter.Seq2[*Sample, error]
	// MaxSamples bounds the samples kept in the HTML (wrong and failed ones come
	// first); 0 = 2,000.
	MaxSamples int

	Config       []ConfigEntry // what ran, flattened, for the Config sheet
	Translations map[string]string
}

// Verdict is the overall decision.
type Verdict struct {
	State   string // PASS, FAIL or INCONCLUSIVE
	Reason  string // one sentence
	Clauses *Table // one row a clause; may be nil
}

// Headline is one number a stakeholder reads first.
type Headline struct {
	Name   string
	Value  any // as a Table cell
	Unit   string
	Kind   Kind
	Format string
	Note   string // interval, n, or what it may not be compared with
	Mark   Mark
}

// Section is one subject. In Excel all sections with the same Sheet share a
// sheet, one below the other; in HTML each is a chapter.
type Section struct {
	ID     string // anchor: letters, digits, dashes
	Title  string
	Sheet  string // "Accuracy", "Performance", "Sweep", "Reading help", "Environment"; "" = Performance
	Notes  []string
	Tables []Table
	Charts []Chart
}

// Chart is a line, scatter, step or bar chart of number pairs.
type Chart struct {
	ID, Title      string
	Kind           string // line (default), scatter, step, bar
	XLabel, YLabel string // with the unit
	XLog, YLog     bool
	Series         []Series
	Marks          []ChartMark
	Notes          []string
	// Excel asks for a native chart in the spreadsheet as well.
	Excel bool
	// SheetOnly keeps a chart out of the page where it draws a finer one of the
	// same from the records.
	SheetOnly bool
}

// Series is one line of a chart. X and Y have the same length; NaN in Y is a
// gap.
type Series struct {
	Name string
	X, Y []float64
	// Right puts the series on a second axis at the right, labelled YLabel.
	Right  bool
	YLabel string
}

// ChartMark is a vertical line, such as the knee of a sweep.
type ChartMark struct {
	X     float64
	Label string
}

// CheckItem is one line of the reproducibility checklist.
type CheckItem struct {
	Item     string `json:"item"`
	State    string `json:"state"`    // yes, no, partly
	Evidence string `json:"evidence"` // where it is recorded, or what is missing
}

// Definition is one entry of the reading help.
type Definition struct {
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	Text   string `json:"text"`
}

// ConfigEntry is one line of the Config sheet.
type ConfigEntry struct {
	Group string `json:"group"`
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Sample is one scored answer in the samples browser.
type Sample struct {
	Model     string   `json:"model"`
	Dataset   string   `json:"dataset"`
	ID        string   `json:"id"`
	Subset    string   `json:"subset,omitempty"`
	Repeat    int32    `json:"repeat,omitempty"`
	Prompt    string   `json:"prompt,omitempty"`
	Reasoning string   `json:"reasoning,omitempty"`
	Answer    string   `json:"answer"`
	Extracted string   `json:"extracted"`
	Gold      string   `json:"gold"`
	Outcome   string   `json:"outcome"` // right, wrong, unparsable, empty, failed
	Score     *float64 `json:"score,omitempty"`
	Detail    string   `json:"detail,omitempty"`
	Finish    string   `json:"finish,omitempty"`
	Tokens    *int32   `json:"tokens,omitempty"` // output tokens
	TTFTms    *float64 `json:"ttft_ms,omitempty"`
	E2Ems     *float64 `json:"e2e_ms,omitempty"`
}

// WriteExcel writes report.xlsx.
func (r *Run) WriteExcel(d *ReportData) error { return WriteExcel(r.ExcelPath(), d, r.Redactor()) }
