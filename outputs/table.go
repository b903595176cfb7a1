package outputs

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Kind is what the cells of a column are. It decides alignment, number
// formats and sorting; cells of another Go type than the kind suggests are
// shown as they are.
type Kind uint8

// The kinds.
const (
	KindText    Kind = iota // left-aligned string
	KindInt                 // counts: 12,032 in Excel, 12032 in text
	KindFloat               // measured values in Column.Unit
	KindPercent             // a share in [0,1]; shown ×100 with two decimals, exported as the share
	KindBool                // yes / no
	KindTime                // time.Time; shown as RFC 3339
	KindVerdict             // PASS, FAIL, INCONCLUSIVE …; coloured
)

// Numeric reports whether cells of the kind are numbers (right-aligned).
func (k Kind) Numeric() bool { return k == KindInt || k == KindFloat || k == KindPercent }

// Column describes one column of a Table.
type Column struct {
	Name string
	Unit string // "ms", "token/s" …; "" when the cells have none
	Kind Kind
	// Format is the fmt verb of numbers in txt and md ("%.2f"); "" means: %d for
	// KindInt, two decimals for KindPercent, four significant decimals at most
	// for KindFloat. Excel's number format is derived from it.
	Format string
	// Whole keeps WriteText from cutting long cells of the column.
	Whole bool
	// Data is for columns whose texts are data (names, paths, what a server said):
	// they are never translated.
	Data bool
	// Wrap is for columns of sentences: text output breaks long cells into lines
	// instead of cutting them.
	Wrap bool
}

// Label is the column's heading: the name, with the unit in parentheses.
func (c Column) Label() string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + " (" + c.Unit + ")"
}

// Mark is a judgement about one cell that reports show as a colour.
type Mark uint8

// The marks.
const (
	MarkNone Mark = iota
	MarkGood      // within limits, passed
	MarkBad       // out of limits, failed
	MarkWarn      // undecided, or too few samples to support the figure
)

// Cell is a cell with a judgement. A plain value is a Cell without one.
type Cell struct {
	Value any
	Mark  Mark
	// Note is a few words shown after the value in text ("12.3 *") and as a
	// tooltip or comment elsewhere. Keep it short ("n<100").
	Note string
	// Unit and Format override the column's for this cell, for tables whose rows
	// are different metrics. "" means the column's.
	Unit, Format string
}

// Table is the unit of every report. Rows hold one value a column: string,
// any integer or float, bool, time.Time, a pointer to one of these (nil =
// undefined), a Cell, or nil. NaN and infinities count as undefined.
type Table struct {
	ID      string // stable key for programs ("perf_params"); "" derives none
	Title   string
	Columns []Column
	Rows    [][]any
	Notes   []string // shown under the table: definitions, warnings
}

// AddRow appends a row. Missing cells are undefined; surplus ones are kept
// and reported by Check.
func (t *Table) AddRow(cells ...any) { t.Rows = append(t.Rows, cells) }

// Check reports the first row that has more cells than the table has columns.
func (t *Table) Check() error {
	for i, r := range t.Rows {
		if len(r) > len(t.Columns) {
			return fmt.Errorf("table %q row %d: %d cells for %d columns", t.Title, i, len(r), len(t.Columns))
		}
	}
	return nil
}

// cell returns row r's cell of column c normalised: pointers followed, typed
// nils, NaN and infinities turned into nil, integers widened to int64 or
// uint64, floats to float64, other strings kinds to string.
func (t *Table) cell(r []any, c int) Cell {
	if c >= len(r) {
		return Cell{}
	}
	return normalCell(r[c])
}

func normalCell(v any) Cell {
	switch x := v.(type) {
	case Cell:
		inner := normalCell(x.Value)
		x.Value = inner.Value
		return x
	case *Cell:
		if x == nil {
			return Cell{}
		}
		return normalCell(*x)
	case nil:
		return Cell{}
	case string:
		return Cell{Value: x}
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return Cell{}
		}
		return Cell{Value: x}
	case time.Time:
		if x.IsZero() {
			return Cell{}
		}
		return Cell{Value: x}
	case time.Duration:
		return Cell{Value: x.String()}
	case error:
		return Cell{Value: x.Error()}
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Pointer, reflect.Interface:
		if rv.IsNil() {
			return Cell{}
		}
		return normalCell(rv.Elem().Interface())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if s, ok := v.(fmt.Stringer); ok {
			return Cell{Value: s.String()}
		}
		return Cell{Value: rv.Int()}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if s, ok := v.(fmt.Stringer); ok {
			return Cell{Value: s.String()}
		}
		return Cell{Value: rv.Uint()}
	case reflect.Float32, reflect.Float64:
		return normalCell(rv.Float())
	case reflect.Bool:
		return Cell{Value: rv.Bool()}
	case reflect.String:
		return Cell{Value: rv.String()}
	}
	return Cell{Value: fmt.Sprint(v)}
}

// undefinedText is how text and Markdown show an undefined value.
const undefinedText = "-"

// text is the cell as people read it in a console.
func (c Column) text(cell Cell) string {
	s := c.valueText(cell)
	if cell.Unit != "" && cell.Unit != c.Unit && cell.Value != nil {
		s += " " + cell.Unit
	}
	if cell.Note != "" {
		s += " " + cell.Note
	}
	return s
}

func (c Column) valueText(cell Cell) string {
	format := c.Format
	if cell.Format != "" {
		format = cell.Format
	}
	switch v := cell.Value.(type) {
	case nil:
		return undefinedText
	case string:
		return v
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case time.Time:
		return v.Format(time.RFC3339)
	case float64:
		if c.Kind == KindPercent {
			v *= 100
			if format == "" {
				format = "%.2f"
			}
		}
		if format == "" || !strings.ContainsAny(format, "eEfFgG") {
			if c.Kind == KindInt && v == math.Trunc(v) {
				return strconv.FormatFloat(v, 'f', 0, 64)
			}
			return shortFloat(v)
		}
		return fmt.Sprintf(format, v)
	case int64:
		return intText(format, c.Kind, v, float64(v))
	case uint64:
		return intText(format, c.Kind, v, float64(v))
	}
	return fmt.Sprint(cell.Value)
}

// intText formats an integer in a column that may be meant for floats.
func intText(format string, kind Kind, v any, f float64) string {
	switch {
	case kind == KindPercent:
		if format == "" {
			format = "%.2f"
		}
		return fmt.Sprintf(format, f*100)
	case format != "" && strings.ContainsAny(format, "eEfFgG"):
		return fmt.Sprintf(format, f)
	case format != "" && strings.Contains(format, "d"):
		return fmt.Sprintf(format, v)
	}
	return fmt.Sprint(v)
}

// shortFloat shows at most four decimals, without trailing zeros, and keeps
// four significant digits of small values.
func shortFloat(v float64) string {
	decimals := 4
	if a := math.Abs(v); a > 0 && a < 0.1 {
		decimals = min(12, 3-int(math.Floor(math.Log10(a))))
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// exact is the cell for CSV: full precision, no unit, "" when undefined.
func exact(cell Cell) string {
	switch v := cell.Value.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	}
	return fmt.Sprint(cell.Value)
}
