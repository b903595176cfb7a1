package outputs

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

//go:embed report/report.html
var reportPage string

//go:embed report/report.css
var reportStyle string

//go:embed report/report.js
var reportScript string

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
		return fmt.Errorf("write %s: %w", path, err)
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

// htmlCell is [text, sort value, mark, note], cut after the last one used.
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

// htmlTimeline holds little-endian arrays in base64: microseconds since the
// first send as float32 pairs would lose precision, so uint32 in units of
// Unit nanoseconds.
type htmlTimeline struct {
	Total    int64    `json:"total"`
	Shown    int      `json:"shown"`
	Lanes    int      `json:"lanes"`
	UnitNS   int64    `json:"unit_ns"`
	Sent     []byte   `json:"sent"`  // uint32
	First    []byte   `json:"first"` // uint32; 0xffffffff = never
	End      []byte   `json:"end"`   // uint32
	Lane     []byte   `json:"lane"`  // uint32
	Status   []byte   `json:"status"`
	Statuses []string `json:"statuses"`
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

func htmlData(d *ReportData, red *Redactor) (*htmlReport, error) {
	h := &htmlReport{Title: red.String(d.Title), Run: red.String(d.RunName), Tool: red.String(d.Tool), Lang: d.Lang,
		Terms: map[string]string{}, Notes: red.Strings(d.Notes)}
	for k, v := range Terms {
		h.Terms[k] = v
	}
	for k, v := range d.Translations {
		h.Terms[red.String(k)] = red.String(v)
	}
	if !d.Generated.IsZero() {
		h.Generated = d.Generated.Format(time.RFC3339)
	}
	if v := d.Verdict; v != nil {
		h.Verdict = &htmlVerdict{State: red.String(v.State), Reason: red.String(v.Reason), Mark: markOf(Column{Kind: KindVerdict}, Cell{Value: v.State})}
		if v.Clauses != nil {
			t := toHTMLTable(v.Clauses, red)
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
		h.Headlines = append(h.Headlines, htmlHeadline{red.String(x.Name), red.String(c.valueText(cell)), red.String(unit), red.String(x.Note), max(x.Mark, cell.Mark)})
	}
	var gathered *recordCharts
	if d.Records != nil {
		var err error
		if gathered, err = gatherRecords(d.Records()); err != nil {
			return nil, err
		}
	}
	for _, s := range d.Sections {
		h.Sections = append(h.Sections, toHTMLSection(&s, red))
	}
	if gathered != nil && gathered.measured > 0 {
		charts := Section{ID: "charts", Title: "Charts", Charts: gathered.charts()}
		h.Sections = append(h.Sections, toHTMLSection(&charts, red))
		h.Timeline = gathered.line.encode()
		if bad := statusTable(gathered); bad != nil {
			s := Section{ID: "status", Title: "Requests by status", Tables: []Table{*bad}}
			if d.RecordsPath != "" {
				s.Notes = []string{d.RecordsPath}
			}
			h.Sections = append(h.Sections, toHTMLSection(&s, red))
		}
	}
	if d.Samples != nil {
		var err error
		if h.Samples, err = gatherSamples(d, red); err != nil {
			return nil, err
		}
	}
	tail := []Section{}
	if len(d.Checklist) > 0 {
		t := ChecklistTable(d.Checklist)
		t.Title = ""
		tail = append(tail, Section{ID: "checklist", Title: "Reproducibility checklist", Tables: []Table{t}})
	}
	if len(d.Help) > 0 {
		t := helpTable(d.Help)
		t.Title = ""
		tail = append(tail, Section{ID: "help", Title: "Reading help", Tables: []Table{t}})
	}
	if len(d.Config) > 0 {
		t := Table{Columns: []Column{{Name: "Group"}, {Name: "Key"}, {Name: "Value"}}}
		for _, c := range d.Config {
			t.AddRow(c.Group, c.Key, c.Value)
		}
		tail = append(tail, Section{ID: "config", Title: "Config", Tables: []Table{t}})
	}
	for i := range tail {
		h.Sections = append(h.Sections, toHTMLSection(&tail[i], red))
	}
	return h, nil
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

func toHTMLSection(s *Section, red *Redactor) htmlSection {
	out := htmlSection{ID: FileName(s.ID), Title: red.String(s.Title), Notes: red.Strings(s.Notes)}
	for i := range s.Tables {
		out.Tables = append(out.Tables, toHTMLTable(&s.Tables[i], red))
	}
	for _, c := range s.Charts {
		h := htmlChart{ID: c.ID, Title: red.String(c.Title), Kind: c.Kind, XLabel: red.String(c.XLabel), YLabel: red.String(c.YLabel),
			XLog: c.XLog, YLog: c.YLog, Notes: red.Strings(c.Notes)}
		for _, m := range c.Marks {
			if math.IsNaN(m.X) || math.IsInf(m.X, 0) {
				continue
			}
			h.Marks = append(h.Marks, ChartMark{m.X, red.String(m.Label)})
		}
		for _, x := range c.Series {
			n := min(len(x.X), len(x.Y))
			h.Series = append(h.Series, htmlSeries{red.String(x.Name), x.X[:n], x.Y[:n], x.Right, red.String(x.YLabel)})
		}
		out.Charts = append(out.Charts, h)
	}
	return out
}

func toHTMLTable(t *Table, red *Redactor) htmlTable {
	out := htmlTable{Title: red.String(t.Title), Notes: red.Strings(t.Notes)}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, htmlColumn{red.String(c.Name), c.Unit, c.Kind.Numeric()})
	}
	for i, row := range t.Rows {
		if i == htmlMaxRows {
			out.More = len(t.Rows) - i
			break
		}
		cells := make([]htmlCell, len(t.Columns))
		for j, c := range t.Columns {
			cell := t.cell(row, j)
			text := c.valueText(cell)
			if cell.Unit != "" && cell.Unit != c.Unit && cell.Value != nil {
				text += " " + cell.Unit
			}
			var sortBy any
			switch v := cell.Value.(type) {
			case int64, uint64, float64:
				sortBy = v
				if c.Kind == KindPercent && c.Unit == "" {
					text += "%"
				}
			}
			h := htmlCell{cutText(red.String(text), tableText), sortBy, markOf(c, cell), red.String(cell.Note)}
			switch {
			case cell.Note != "":
			case h[2] != MarkNone:
				h = h[:3]
			case sortBy != nil:
				h = h[:2]
			default:
				h = h[:1]
			}
			cells[j] = h
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// encode packs the timeline. The unit grows with the run, so that 32 bits
// always hold it: 1 µs up to an hour.
func (t *timelineSample) encode() *htmlTimeline {
	if len(t.rows) == 0 {
		return nil
	}
	lanes := t.pack()
	zero, last := t.rows[0].sent, int64(math.MinInt64)
	for _, r := range t.rows {
		last = max(last, r.end)
	}
	unit := int64(1000)
	for (last-zero)/unit >= 1<<32-2 {
		unit *= 10
	}
	h := &htmlTimeline{Total: t.seen, Shown: len(t.rows), Lanes: lanes, UnitNS: unit}
	code := map[Status]byte{}
	for _, r := range t.rows {
		first := uint32(math.MaxUint32)
		if r.first != Never && r.first >= r.sent && r.first <= r.end {
			first = uint32((r.first - zero) / unit)
		}
		h.Sent = binary.LittleEndian.AppendUint32(h.Sent, uint32((r.sent-zero)/unit))
		h.First = binary.LittleEndian.AppendUint32(h.First, first)
		h.End = binary.LittleEndian.AppendUint32(h.End, uint32((r.end-zero)/unit))
		h.Lane = binary.LittleEndian.AppendUint32(h.Lane, uint32(r.lane))
		c, ok := code[r.status]
		if !ok {
			c = byte(min(len(h.Statuses), 255))
			code[r.status] = c
			h.Statuses = append(h.Statuses, string(r.status))
		}
		h.Status = append(h.Status, c)
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
			return nil, err
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
