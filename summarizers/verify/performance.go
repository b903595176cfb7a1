package verify

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// performance recomputes a pair's figures and its table of requests.
func (v *verifier) performance(p outputs.Pair) {
	records := v.run.RecordsPath(p.Model, p.Dataset)
	path := v.run.PerformancePath(p.Model, p.Dataset, "json")
	file := v.rel(path)
	doc, err := outputs.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if records != "" {
			v.notChecked("performance", file, "not there: no performance was reported for these records")
		}
	case err != nil:
		v.add(Finding{Check: "performance", File: file, Status: Unreadable, Detail: err.Error()})
	case records == "":
		v.add(Finding{Check: "performance", File: file, Status: Missing, Detail: "the records these figures were made from are gone"})
	default:
		v.figures(p, file, doc)
	}
	v.requests(p)
}

func (v *verifier) figures(p outputs.Pair, file string, doc []byte) {
	stored, err := tree(doc)
	if err != nil {
		v.add(Finding{Check: "performance", File: file, Status: Unreadable, Detail: "no JSON: " + err.Error()})
		return
	}
	r, err := metrics.Compute(v.run.Records(p.Model, p.Dataset), optionsOf(stored))
	if err != nil {
		v.add(Finding{Check: "performance", File: file, Status: Unreadable, Detail: "the figures cannot be recomputed: " + err.Error()})
		return
	}
	v.compareJSON("performance", file, stored, r)
}

// compareJSON compares a stored document with what it is recomputed to.
func (v *verifier) compareJSON(check, file string, stored any, recomputed any) {
	now, err := treeOf(recomputed)
	if err != nil {
		v.add(Finding{Check: check, File: file, Status: Unreadable, Detail: err.Error()})
		return
	}
	list := &limited{r: v.Report, check: check, file: file}
	c := &comparison{strict: v.same, report: func(where, a, b string) { list.add(Finding{Where: where, Stored: a, Recomputed: b}) }}
	c.walk("", stored, now)
	v.Numbers += c.numbers
	if len(c.extra) > 0 {
		v.notChecked(check, file, "written by another version of the program (%s), which has other figures: %s", v.m.Tool.Version, short(c.extra))
	}
	if list.end() {
		v.ok(check, file, "%d numbers, each as recomputed", c.numbers)
	}
}

func short(list []string) string {
	if len(list) > 5 {
		return strings.Join(list[:5], ", ") + " and " + strconv.Itoa(len(list)-5) + " more"
	}
	return strings.Join(list, ", ")
}

// optionsOf reads from stored figures what they were computed with: percentiles,
// service levels, bounds of lengths.
func optionsOf(stored any) metrics.Options {
	var o metrics.Options
	doc, _ := stored.(map[string]any)
	if e2el, ok := doc["e2el"].(map[string]any); ok {
		for k := range e2el {
			name, ok := strings.CutSuffix(k, "_ms")
			if !ok || len(name) < 2 || name[0] != 'p' {
				continue
			}
			if p, err := strconv.ParseFloat(name[1:], 64); err == nil {
				o.Percentiles = append(o.Percentiles, p)
			}
		}
	}
	if levels, ok := doc["slo_attainment"].([]any); ok {
		for _, l := range levels {
			m, _ := l.(map[string]any)
			name, _ := m["metric"].(string)
			if ms, ok := number(m["max_ms"]); ok && name != "" {
				o.SLOs = append(o.SLOs, metrics.SLO{Metric: name, MaxMS: ms})
			}
		}
	}
	if buckets, ok := doc["by_input_length"].([]any); ok && len(buckets) > 1 {
		o.LengthBounds = []int{}
		for i, b := range buckets[:len(buckets)-1] {
			m, _ := b.(map[string]any)
			to, ok := number(m["max_tokens"])
			if !ok {
				continue
			}
			if i == 0 {
				to++ // short is below the first bound, the others end with theirs
			}
			o.LengthBounds = append(o.LengthBounds, int(to))
		}
	}
	return o
}

func number(v any) (float64, bool) {
	n, ok := v.(interface{ Float64() (float64, error) })
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// requests recomputes performances/*.csv, row by row.
func (v *verifier) requests(p outputs.Pair) {
	path := v.run.PerformancePath(p.Model, p.Dataset, "csv")
	if v.run.RecordsPath(p.Model, p.Dataset) == "" {
		return
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		v.notChecked("performance", v.rel(path), "is not there: nothing to compare with the records")
		return
	}
	file := v.rel(path)
	list := &limited{r: v.Report, check: "performance", file: file}
	stored, err := outputs.OpenFile(path)
	if err != nil {
		list.add(Finding{Status: Unreadable, Detail: err.Error()})
		return
	}
	defer stored.Close()
	// The two are read side by side: a million requests need no memory.
	out, in := io.Pipe()
	go func() {
		in.CloseWithError(outputs.WriteRecordsCSV(in, v.run.Records(p.Model, p.Dataset), v.run.Redactor()))
	}()
	defer out.Close()
	rows, numbers := v.lines(list, bufio.NewReaderSize(stored, 64<<10), bufio.NewReaderSize(out, 64<<10))
	v.Numbers += numbers
	if list.end() {
		v.ok("performance", file, "%d rows, each as in the records", rows)
	}
}

// lines compares two CSV texts whose rows hold no line breaks in numbers; a
// difference names row and column.
func (v *verifier) lines(list *limited, stored, now *bufio.Reader) (rows, numbers int64) {
	var header []string
	for line := 1; ; line++ {
		a, errA := stored.ReadBytes('\n')
		b, errB := now.ReadBytes('\n')
		if len(a) == 0 && len(b) == 0 {
			if errB != nil && !errors.Is(errB, io.EOF) {
				list.add(Finding{Status: Unreadable, Detail: errB.Error()})
			}
			return rows, numbers
		}
		if line == 1 {
			header = strings.Split(strings.TrimRight(string(b), "\r\n"), ",")
		} else {
			rows++
			numbers += int64(bytes.Count(b, []byte(","))) + 1
		}
		if !bytes.Equal(a, b) {
			list.add(differentRow(line, header, strings.TrimRight(string(a), "\r\n"), strings.TrimRight(string(b), "\r\n")))
		}
		if list.n > maxDifferences && (errA != nil || errB != nil) {
			return rows, numbers
		}
	}
}

// differentRow names the columns in which two rows differ.
func differentRow(line int, header []string, stored, now string) Finding {
	f := Finding{Where: "line " + strconv.Itoa(line), Stored: stored, Recomputed: now}
	a, b := strings.Split(stored, ","), strings.Split(now, ",")
	if len(a) != len(b) || len(a) != len(header) {
		return f
	}
	for i := range a {
		if a[i] != b[i] {
			f.Where += ", column " + header[i]
			f.Stored, f.Recomputed = a[i], b[i]
			return f
		}
	}
	return f
}
