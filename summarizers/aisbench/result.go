package aisbench

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"ais_bench/outputs"
)

// Stages.
const (
	StageTotal  = "total"
	StageStable = "stable"
)

// ErrNoStableStage is AISBench's CALC-DATA-002: the number of requests in
// flight did not reach the configured concurrency twice.
var ErrNoStableStage = errors.New("CALC-DATA-002: can not find a stable stage")

// ErrAllFailed is AISBench's CALC-DATA-001: no request succeeded.
var ErrAllFailed = errors.New("CALC-DATA-001: all requests failed, there is nothing to calculate")

// ErrNoConcurrency: the stable stage is defined by the configured concurrency,
// and there is none.
var ErrNoConcurrency = errors.New("the stable stage needs the configured concurrency (batch_size): set it to 1 or more")

// DefaultStats is AISBench's default stats_list.
var DefaultStats = []string{"Average", "Min", "Max", "Median", "P75", "P90", "P99"}

// maxStats is how many columns stats_list may name.
const maxStats = 8

// Options are what AISBench's calculators know besides the requests.
type Options struct {
	StatsList []string // Average, Min, Max, Median, P1 … P99, at most 8; nil = DefaultStats
	// MaxConcurrency is the configured batch_size; the stable stage needs it.
	MaxConcurrency int
	Stable         bool // the stable stage instead of all requests
}

func (o Options) check() (Options, error) {
	if len(o.StatsList) == 0 {
		o.StatsList = DefaultStats
	}
	if len(o.StatsList) > maxStats {
		return o, fmt.Errorf("stats_list names %d statistics; at most %d", len(o.StatsList), maxStats)
	}
	seen := map[string]bool{}
	for _, s := range o.StatsList {
		if _, ok := percentile(s); !ok && s != "Average" && s != "Min" && s != "Max" && s != "Median" {
			return o, fmt.Errorf("stats_list: %q is unknown; use Average, Min, Max, Median or P1 … P99", s)
		}
		if seen[s] {
			return o, fmt.Errorf("stats_list names %q twice", s)
		}
		seen[s] = true
	}
	if o.Stable && o.MaxConcurrency < 1 {
		return o, ErrNoConcurrency
	}
	return o, nil
}

// percentile reads P1 … P99.
func percentile(name string) (float64, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "P"))
	ok := err == nil && n >= 1 && n <= 99 && name == "P"+strconv.Itoa(n)
	return float64(n), ok
}

// Param is a row of "Performance Parameters".
type Param struct {
	Name   string
	Unit   string    // ms, token/s, "" for token counts
	Values []float64 // in the order of StatsList, rounded as AISBench rounds
	N      int64
}

// Common is a row of "Common Metric".
type Common struct {
	Name  string
	Unit  string // ms, req/s, token/s, "" for counts
	Value float64
	Count bool // an integer
}

// Result are AISBench's figures of one stage.
type Result struct {
	Stage     string
	StatsList []string
	Params    []Param
	Common    []Common
	// StableStart is the start of the stable stage after the first request's, in
	// seconds; 0 in stage total.
	StableStart float64
}

// pythonFloat is str(v): always with a decimal point.
func pythonFloat(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func withUnit(s, unit string) string { return strings.TrimSpace(s + " " + unit) }

// Text is the value as AISBench prints and stores it: "98431.2 ms", "8".
func (c Common) Text() string {
	if c.Count {
		return strconv.FormatFloat(c.Value, 'f', 0, 64)
	}
	return withUnit(pythonFloat(c.Value), c.Unit)
}

// WriteCSV writes "Performance Parameters" as performances/<model>/<dataset>.csv
// has it.
func (r *Result) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{append(append([]string{"Performance Parameters", "Stage"}, r.StatsList...), "N")}
	for _, p := range r.Params {
		row := []string{p.Name, r.Stage}
		for _, v := range p.Values {
			row = append(row, withUnit(pythonFloat(v), p.Unit))
		}
		rows = append(rows, append(row, strconv.FormatInt(p.N, 10)))
	}
	if err := c.WriteAll(rows); err != nil {
		return fmt.Errorf("write aisbench's table: %w", err)
	}
	return nil
}

// MarshalJSON is "Common Metric" as performances/<model>/<dataset>.json has it:
// {"Benchmark Duration": {"total": "98431.2 ms"}, …}.
func (r *Result) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, c := range r.Common {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(c.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(map[string]string{r.Stage: c.Text()})
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

// Tables are the two tables with numbers in their cells.
func (r *Result) Tables() []outputs.Table {
	params := outputs.Table{ID: "aisbench_parameters", Title: "Performance Parameters",
		Columns: []outputs.Column{{Name: "Performance Parameters"}, {Name: "Stage"}}}
	for _, s := range r.StatsList {
		params.Columns = append(params.Columns, outputs.Column{Name: s, Kind: outputs.KindFloat})
	}
	params.Columns = append(params.Columns, outputs.Column{Name: "N", Kind: outputs.KindInt})
	for _, p := range r.Params {
		row := []any{p.Name, r.Stage}
		for _, v := range p.Values {
			row = append(row, outputs.Cell{Value: v, Unit: p.Unit})
		}
		params.AddRow(append(row, p.N)...)
	}
	common := outputs.Table{ID: "aisbench_common", Title: "Common Metric",
		Columns: []outputs.Column{{Name: "Common Metric"}, {Name: "Stage"}, {Name: "Value", Kind: outputs.KindFloat}}}
	for _, c := range r.Common {
		value := outputs.Cell{Value: c.Value, Unit: c.Unit}
		if c.Count {
			value.Value = int64(c.Value)
		}
		common.AddRow(c.Name, r.Stage, value)
	}
	return []outputs.Table{params, common}
}
