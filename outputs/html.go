package outputs

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

//go:embed report/report.html
var reportPage string

//go:embed report/report.css
var reportStyle string

//go:embed report/base.js
var scriptBase string

//go:embed report/chart.js
var scriptChart string

//go:embed report/timeline.js
var scriptTimeline string

//go:embed report/samples.js
var scriptSamples string

//go:embed report/page.js
var scriptPage string

// reportScript is the page's script: its parts in one function.
var reportScript = "(function () {\n" + scriptBase + scriptChart + scriptTimeline + scriptSamples + scriptPage + "})();\n"

// WriteHTML writes report.html.
func (r *Run) WriteHTML(d *ReportData) error { return WriteHTML(r.HTMLPath(), d, r.Redactor()) }

// WriteHTML writes the report as one file that needs no network. Its policy
// (CSP) allows exactly the script and style inside it, by hash, and nothing
// else: no request leaves the page, and no text of a model can run. All data
// are one JSON block escaped by html/template; the script puts them into the
// page as text only.
func WriteHTML(path string, d *ReportData, red *Redactor) error {
	page, err := template.New("report").Parse(reportPage)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	filled, err := htmlData(d, red)
	if err != nil {
		return explainWrite(path, err)
	}
	// html/template would show a value that cannot be encoded as null; here it
	// is an error.
	data, err := json.Marshal(filled)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	lang := "en"
	if d.Lang == "zh" {
		lang = "zh"
	}
	out, err := createAtomic(path, nil, false)
	if err != nil {
		return err
	}
	defer out.Abort()
	// Only the program's own style and script are trusted as they are; what the
	// policy names is the hash of exactly these bytes.
	err = page.Execute(out, map[string]any{
		"Lang": lang, "Title": red.String(d.Title), "Data": json.RawMessage(data),
		"Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src '" + cspHash(reportStyle) + "'; script-src '" + cspHash(reportScript) + "'",
		"Style":  template.HTML("<style>" + reportStyle + "</style>"),
		"Script": template.HTML("<script>" + reportScript + "</script>"),
	})
	if err != nil {
		return explainWrite(path, err)
	}
	return out.Commit()
}

func cspHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// The JSON block of the page. Short keys: it holds up to 200,000 requests.
type htmlReport struct {
	Title     string            `json:"title"`
	Run       string            `json:"run"`
	Generated string            `json:"generated"`
	Tool      string            `json:"tool"`
	Lang      string            `json:"lang"`
	Terms     map[string]string `json:"terms"`
	Verdict   *htmlVerdict      `json:"verdict"`
	Headlines []htmlHeadline    `json:"headlines"`
	Findings  []string          `json:"findings"`
	Notes     []string          `json:"notes"`
	Sections  []htmlSection     `json:"sections"`
	Timeline  *htmlTimeline     `json:"timeline"`
	Samples   *htmlSamples      `json:"samples"`
}

type htmlVerdict struct {
	State, Reason string
	Mark          Mark
	Clauses       *htmlTable
}

type htmlHeadline struct {
	Name, Value, Unit, Note string
	Mark                    Mark
}

type htmlSection struct {
	ID     string      `json:"id"`
	Title  string      `json:"title"`
	Notes  []string    `json:"notes"`
	Tables []htmlTable `json:"tables"`
	Charts []htmlChart `json:"charts"`
}

type htmlTable struct {
	Title   string       `json:"title"`
	Columns []htmlColumn `json:"columns"`
	Rows    [][]htmlCell `json:"rows"`
	Notes   []string     `json:"notes"`
	More    int          `json:"more"` // rows left out
}

type htmlColumn struct {
	Name    string `json:"name"`
	Unit    string `json:"unit"`
	Numeric bool   `json:"numeric"`
}

// htmlCell is [text, sort value, mark, note, unit], cut after the last one used.
type htmlCell []any

type htmlChart struct {
	ID     string       `json:"id"`
	Title  string       `json:"title"`
	Kind   string       `json:"kind"`
	XLabel string       `json:"xlabel"`
	YLabel string       `json:"ylabel"`
	XLog   bool         `json:"xlog"`
	YLog   bool         `json:"ylog"`
	Series []htmlSeries `json:"series"`
	Marks  []ChartMark  `json:"marks"`
	Notes  []string     `json:"notes"`
}

type htmlSeries struct {
	Name   string `json:"name"`
	X      floats `json:"x"`
	Y      floats `json:"y"`
	Right  bool   `json:"right"`
	YLabel string `json:"ylabel"`
}

type htmlSamples struct {
	Total  int64            `json:"total"`
	Counts map[string]int64 `json:"counts"`
	List   []*Sample        `json:"list"`
}

// floats marshals NaN and infinities as null and others with seven digits,
// beyond what any pixel can show.
type floats []float64

// MarshalJSON implements json.Marshaler.
func (f floats) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 8*len(f)+2), '[')
	for i, v := range f {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, v, 'g', 7, 64)
		}
	}
	return append(b, ']'), nil
}

// htmlMaxRows bounds one table of the page; the files beside it have all rows.
const htmlMaxRows = 5000

// pageBuilder fills the page's data. Every fixed text it meets is translated
// here, so that the page can change its language without knowing how.
type pageBuilder struct {
	d   *ReportData
	red *Redactor
	tr  *translator
	out *htmlReport
}

// fixed is a text the page may translate.
func (b *pageBuilder) fixed(s string) string {
	if s == "" {
		return ""
	}
	zh := b.tr.chinese(s)
	clean := b.red.String(s)
	if zh != s {
		b.out.Terms[clean] = b.red.String(zh)
	}
	return clean
}

func (b *pageBuilder) allFixed(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, b.fixed(s))
	}
	return out
}

func htmlData(d *ReportData, red *Redactor) (*htmlReport, error) {
	h := &htmlReport{Run: red.String(d.RunName), Tool: red.String(d.Tool), Lang: d.Lang, Terms: map[string]string{}}
	b := &pageBuilder{d: d, red: red, tr: newTranslator(d), out: h}
	for _, s := range pageWords() {
		b.fixed(s)
	}
	h.Title, h.Findings, h.Notes = b.fixed(d.Title), b.allFixed(d.Findings), b.allFixed(d.Notes)
	if !d.Generated.IsZero() {
		h.Generated = d.Generated.Format(time.RFC3339)
	}
	if v := d.Verdict; v != nil {
		h.Verdict = &htmlVerdict{State: b.fixed(v.State), Reason: b.fixed(v.Reason), Mark: markOf(Column{Kind: KindVerdict}, Cell{Value: v.State})}
		if v.Clauses != nil {
			t := b.table(v.Clauses)
			h.Verdict.Clauses = &t
		}
	}
	for _, x := range d.Headlines {
		cell := normalCell(x.Value)
		c := Column{Kind: x.Kind, Format: x.Format}
		unit := x.Unit
		if x.Kind == KindPercent && unit == "" {
			unit = "%"
		}
		h.Headlines = append(h.Headlines, htmlHeadline{b.fixed(x.Name), b.fixed(c.valueText(cell)), b.fixed(unit), b.fixed(x.Note), max(x.Mark, cell.Mark)})
	}
	drawn := []Section{}
	if d.Records != nil {
		gathered, err := gatherRecords(d.Records())
		if err != nil {
			return nil, err
		}
		if gathered.measured > 0 {
			drawn = append(drawn, Section{ID: "charts", Title: "Charts", Charts: gathered.charts()})
			h.Timeline = gathered.line.encode()
			for _, s := range h.timelineStatuses() {
				b.fixed(s)
			}
			status := Section{ID: "status", Title: "Requests by status", Tables: []Table{*statusTable(gathered)}}
			if d.RecordsPath != "" {
				status.Notes = []string{fmt.Sprintf("All requests: %s", d.RecordsPath)}
			}
			drawn = append(drawn, status)
		}
	}
	for _, s := range b.ordered(drawn) {
		h.Sections = append(h.Sections, b.section(&s))
	}
	if d.Samples != nil {
		var err error
		if h.Samples, err = gatherSamples(d, red); err != nil {
			return nil, err
		}
		for outcome := range h.Samples.Counts {
			b.fixed(outcome)
		}
	}
	return h, nil
}

func (h *htmlReport) timelineStatuses() []string {
	if h.Timeline == nil {
		return nil
	}
	return h.Timeline.Statuses
}

// ordered is the page's chapters: the given ones, with what was drawn from the
// records after the last one on performance, then checklist, help and
// configuration.
func (b *pageBuilder) ordered(drawn []Section) []Section {
	at := len(b.d.Sections)
	for i, s := range b.d.Sections {
		if s.Sheet == "" || s.Sheet == "Performance" {
			at = i + 1
		}
	}
	list := slices.Concat(b.d.Sections[:at], drawn, b.d.Sections[at:])
	if len(b.d.Checklist) > 0 {
		t := ChecklistTable(b.d.Checklist)
		t.Title = ""
		list = append(list, Section{ID: "checklist", Title: "Reproducibility checklist", Tables: []Table{t}})
	}
	if len(b.d.Help) > 0 {
		t := helpTable(b.d.Help)
		t.Title = ""
		list = append(list, Section{ID: "help", Title: "Reading help", Tables: []Table{t}})
	}
	if len(b.d.Config) > 0 {
		t := configTable(b.d.Config)
		list = append(list, Section{ID: "config", Title: "Config", Tables: []Table{t}})
	}
	return list
}

func configTable(list []ConfigEntry) Table {
	t := Table{ID: "config", Columns: []Column{{Name: "Group"}, {Name: "Key"}, {Name: "Value", Data: true}}}
	for _, c := range list {
		t.AddRow(c.Group, c.Key, c.Value)
	}
	return t
}

func statusTable(c *recordCharts) *Table {
	t := &Table{Columns: []Column{{Name: "Status"}, {Name: "Requests", Kind: KindInt}, {Name: "Share", Unit: "%", Kind: KindPercent}}}
	for _, s := range Statuses {
		if n := c.counts[s]; n > 0 {
			mark := MarkBad
			if s == StatusOK {
				mark = MarkGood
			}
			t.AddRow(Cell{Value: string(s), Mark: mark}, n, float64(n)/float64(c.measured))
		}
	}
	return t
}

func (b *pageBuilder) section(s *Section) htmlSection {
	out := htmlSection{ID: FileName(s.ID), Title: b.fixed(s.Title), Notes: b.allFixed(s.Notes)}
	for i := range s.Tables {
		out.Tables = append(out.Tables, b.table(&s.Tables[i]))
	}
	for _, c := range s.Charts {
		if c.SheetOnly && b.out.Timeline != nil {
			continue
		}
		h := htmlChart{ID: c.ID, Title: b.fixed(c.Title), Kind: c.Kind, XLabel: b.fixed(c.XLabel), YLabel: b.fixed(c.YLabel),
			XLog: c.XLog, YLog: c.YLog, Notes: b.allFixed(c.Notes), Series: []htmlSeries{}}
		for _, m := range c.Marks {
			if math.IsNaN(m.X) || math.IsInf(m.X, 0) {
				continue
			}
			h.Marks = append(h.Marks, ChartMark{m.X, b.fixed(m.Label)})
		}
		for _, x := range c.Series {
			n := min(len(x.X), len(x.Y))
			h.Series = append(h.Series, htmlSeries{b.fixed(x.Name), x.X[:n], x.Y[:n], x.Right, b.fixed(x.YLabel)})
		}
		out.Charts = append(out.Charts, h)
	}
	return out
}

func (b *pageBuilder) table(t *Table) htmlTable {
	out := htmlTable{Title: b.fixed(t.Title), Notes: b.allFixed(t.Notes)}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, htmlColumn{b.fixed(c.Name), b.fixed(c.Unit), c.Kind.Numeric()})
	}
	for i, row := range t.Rows {
		if i == htmlMaxRows {
			out.More = len(t.Rows) - i
			break
		}
		cells := make([]htmlCell, len(t.Columns))
		for j, c := range t.Columns {
			cells[j] = b.cell(c, t.cell(row, j))
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

func (b *pageBuilder) cell(c Column, cell Cell) htmlCell {
	text := c.valueText(cell)
	var sortBy any
	switch v := cell.Value.(type) {
	case int64, uint64, float64:
		sortBy = v
		if c.Kind == KindPercent && c.Unit == "" {
			text += "%"
		}
	case string, bool:
		if len(text) > tableText || c.Data && cell.Value == text {
			text = cutText(b.red.String(text), tableText)
		} else {
			text = b.fixed(text)
		}
	}
	unit := ""
	if cell.Unit != c.Unit && cell.Value != nil {
		unit = b.fixed(cell.Unit)
	}
	h := htmlCell{text, sortBy, markOf(c, cell), b.fixed(cell.Note), unit}
	for len(h) > 1 && (h[len(h)-1] == nil || h[len(h)-1] == "" || h[len(h)-1] == MarkNone) {
		h = h[:len(h)-1]
	}
	return h
}

const (
	tableText   = 2 << 10  // longest text of a table cell in the page
	sampleText  = 16 << 10 // longest text of a sample kept in the page
	samplesText = 24 << 20 // all of them together
)

// gatherSamples keeps the first MaxSamples answers, those that are not right
// before the others.
func gatherSamples(d *ReportData, red *Redactor) (*htmlSamples, error) {
	limit := d.MaxSamples
	if limit <= 0 {
		limit = 2000
	}
	h := &htmlSamples{Counts: map[string]int64{}}
	var bad, good []*Sample
	badBytes, goodBytes := 0, 0
	for s, err := range d.Samples {
		if err != nil {
			return nil, sourceError{err}
		}
		h.Total++
		h.Counts[s.Outcome]++
		list, size := &bad, &badBytes
		if s.Outcome == "right" {
			list, size = &good, &goodBytes
		}
		if len(*list) >= limit || *size >= samplesText {
			continue
		}
		c := *s
		for _, p := range []*string{&c.Model, &c.Dataset, &c.ID, &c.Subset, &c.Prompt, &c.Reasoning, &c.Answer, &c.Extracted, &c.Gold, &c.Outcome, &c.Detail, &c.Finish} {
			*p = cutText(red.String(*p), sampleText)
			*size += len(*p)
		}
		for _, p := range []**float64{&c.Score, &c.TTFTms, &c.E2Ems} {
			if *p != nil && (math.IsNaN(**p) || math.IsInf(**p, 0)) {
				*p = nil
			}
		}
		*list = append(*list, &c)
	}
	size := badBytes
	h.List = bad
	for _, s := range good {
		if len(h.List) >= limit || size >= samplesText {
			break
		}
		size += len(s.Prompt) + len(s.Reasoning) + len(s.Answer)
		h.List = append(h.List, s)
	}
	return h, nil
}

// cutText cuts at a character boundary and says so.
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + fmt.Sprintf(" … [%d bytes cut]", len(s)-limit)
}
