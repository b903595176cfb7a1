package contract

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"ais_bench/outputs"
)

// Document is a verdict with what it is a verdict on: the JSON file of the gate.
// Its keys are stable.
type Document struct {
	Schema      int         `json:"schema_version"` // 1
	GeneratedAt string      `json:"generated_at"`   // RFC 3339
	Tool        string      `json:"tool"`
	Contract    ContractRef `json:"contract"`
	Runs        []string    `json:"runs"`     // folders, as they were named
	Baseline    *string     `json:"baseline"` // null = none
	// BaselineSHA256 is that of the baseline's manifest.json, which has the hashes of
	// the rest; null = none.
	BaselineSHA256 *string `json:"baseline_sha256"`
	ExitCode       int     `json:"exit_code"`
	// Checklist is the reproducibility checklist over the runs; null where they have
	// none.
	Checklist []outputs.CheckItem `json:"checklist"`
	*Verdict
}

// ContractRef identifies a contract.
type ContractRef struct {
	Name       string  `json:"name"`
	Path       string  `json:"path"`
	SHA256     string  `json:"sha256"`
	Confidence float64 `json:"confidence"`
}

// Ref identifies the contract.
func (c *Contract) Ref() ContractRef {
	level := DefaultConfidence
	if c.Confidence != nil {
		level = *c.Confidence
	}
	return ContractRef{Name: c.Name, Path: c.Path, SHA256: c.SHA256, Confidence: level}
}

// NewDocument puts a verdict into its file's form; b may be nil.
func NewDocument(c *Contract, v *Verdict, tool string, runs []string, b *Baseline) *Document {
	d := &Document{Schema: 1, GeneratedAt: time.Now().Format(time.RFC3339), Tool: tool, Contract: c.Ref(), Runs: runs, ExitCode: v.State.ExitCode(), Verdict: v}
	if b != nil {
		dir := b.Run.Dir()
		d.Baseline = &dir
		if sum := b.SHA256(); sum != "" {
			d.BaselineSHA256 = &sum
		}
	}
	return d
}

// ExitCode is the exit code of a command whose result is the verdict.
func (s State) ExitCode() int {
	switch s {
	case Pass:
		return 0
	case Fail:
		return 1
	}
	return 4
}

// WriteJSON writes the document, indented.
func (d *Document) WriteJSON(w io.Writer) error {
	text, err := outputs.MarshalJSON(d)
	if err != nil {
		return fmt.Errorf("the verdict as JSON: %w", err)
	}
	var doc json.RawMessage = text
	pretty, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("the verdict as JSON: %w", err)
	}
	_, err = w.Write(append(pretty, '\n'))
	return err
}

// Report is the verdict for the run's reports.
func (v *Verdict) Report() *outputs.Verdict {
	t := v.Table()
	return &outputs.Verdict{State: string(v.State), Reason: v.Reason, Clauses: &t}
}

// Table has one row a clause.
func (v *Verdict) Table() outputs.Table {
	t := outputs.Table{ID: "contract", Title: "Acceptance contract", Columns: []outputs.Column{{Name: "Clause", Data: true}, {Name: "Severity"}, {Name: "Verdict", Kind: outputs.KindVerdict},
		{Name: "Value", Kind: outputs.KindFloat}, {Name: "Interval"}, {Name: "n", Kind: outputs.KindInt}, {Name: "Condition", Data: true}, {Name: "Why", Wrap: true}}}
	for _, r := range v.Clauses {
		var value, span, n any
		if len(r.Metrics) == 1 {
			m := r.Metrics[0]
			value, span, n = outputs.Cell{Value: m.Value, Unit: m.Unit}, m.span(), m.N
			if x, ok := m.Value.(float64); ok {
				value = outputs.Cell{Value: rounded(x), Unit: m.Unit}
			}
		} else {
			var values, spans []string
			least := int64(math.MaxInt64)
			for _, m := range r.Metrics {
				values = append(values, m.Name+" "+m.text())
				spans = append(spans, m.span())
				least = min(least, m.N)
			}
			value, span = strings.Join(values, "; "), strings.Join(spans, "; ")
			if len(r.Metrics) > 0 {
				n = least
			}
		}
		why := r.Why
		if why == "" && r.State == Fail {
			why = r.Reason
		}
		t.AddRow(r.Name, string(r.Severity), string(r.State), value, span, n, r.Expr, why)
	}
	for _, p := range v.Problems {
		t.Notes = append(t.Notes, "not a valid run: "+p)
	}
	t.Notes = append(t.Notes, v.Notes...)
	for _, r := range v.Clauses {
		for _, m := range r.Metrics {
			for _, note := range m.Notes {
				t.Notes = append(t.Notes, m.Name+": "+note)
			}
		}
	}
	t.Notes = compact(t.Notes)
	return t
}

func compact(list []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// Words are the value and the interval as text, without the unit.
func (m Metric) Words() (value, span string) {
	m.Unit = ""
	return m.text(), m.span()
}

// text is the figure in words: 1850 ms.
func (m Metric) text() string {
	var s string
	switch v := m.Value.(type) {
	case nil:
		return "-"
	case float64:
		s = number6(v)
	default:
		s = fmt.Sprint(v)
	}
	if m.Unit != "" {
		s += " " + m.Unit
	}
	return s
}

// span is the interval in words: 1700 to 2100.
func (m Metric) span() string {
	switch {
	case m.Method == "":
		return "-"
	case m.Low != nil && m.High != nil && *m.Low == *m.High && m.Method != "search" && m.Method != "power": // loads between which none was tried
		return "certain"
	case m.Low == nil && m.High == nil && m.Level == nil:
		return "certain"
	}
	end := func(v *float64) string {
		if v == nil {
			return "?"
		}
		return number6(*v)
	}
	if m.Low != nil && *m.Low < 0 && m.Unit != "" && !strings.HasPrefix(m.Name, "compare.") { // no time and no rate is negative
		return "0 to " + end(m.High)
	}
	return end(m.Low) + " to " + end(m.High)
}

// number6 shows six significant digits.
func number6(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// rounded keeps six significant digits, so that tables do not show noise.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(number6(v), 64)
	if err != nil {
		return v
	}
	return r
}
