package verify

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers"
	"ais_bench/summarizers/metrics"
)

// summaries makes the tables of summary/ again. Of every table the newest file
// that has it is checked: older ones may be of a state before a later scoring.
func (v *verifier) summaries() {
	paths, _ := os.ReadDir(v.run.Path("summary")) // none is no error
	var stamps []string
	for _, e := range paths {
		if base, ok := strings.CutSuffix(e.Name(), ".csv"); ok && strings.HasPrefix(base, "summary_") {
			stamps = append(stamps, base)
		}
	}
	slices.Sort(stamps)
	slices.Reverse(stamps)
	covered := map[string]bool{}
	for _, base := range stamps {
		file := v.rel(v.run.Path("summary", base+".csv"))
		doc, err := outputs.ReadFile(v.run.Path("summary", base+".csv"))
		if err != nil {
			v.add(Finding{Check: "summary", File: file, Status: Unreadable, Detail: err.Error()})
			continue
		}
		parts := sections(doc)
		fresh := map[string]bool{}
		for _, p := range parts {
			if !covered[p.title] {
				fresh[p.title] = true
			}
		}
		if len(fresh) == 0 {
			v.notChecked("summary", file, "a later summary has the same tables")
			continue
		}
		for _, p := range parts {
			covered[p.title] = true
		}
		v.summary(base, parts, fresh)
	}
}

func allFresh(stored []section, fresh map[string]bool) bool {
	for _, p := range stored {
		if !fresh[p.title] {
			return false
		}
	}
	return true
}

// section is one table of a summary's CSV.
type section struct {
	title string
	lines []string // heading and rows
}

func sections(doc []byte) []section {
	var out []section
	for line := range strings.Lines(string(doc)) {
		line = strings.TrimRight(line, "\r\n")
		title, isTitle := strings.CutPrefix(line, outputs.SummaryTitle)
		switch {
		case isTitle:
			out = append(out, section{title: title})
		case len(out) == 0: // a single table has no title
			out = append(out, section{lines: []string{line}})
		case line != "":
			out[len(out)-1].lines = append(out[len(out)-1].lines, line)
		}
	}
	return out
}

// summary checks one set of summary files.
func (v *verifier) summary(base string, stored []section, fresh map[string]bool) {
	file := v.rel(v.run.Path("summary", base+".csv"))
	made, err := v.tables(stored)
	if err != nil {
		v.add(Finding{Check: "summary", File: file, Status: Unreadable, Detail: "its tables cannot be made again: " + err.Error()})
		return
	}
	if made == nil {
		v.notChecked("summary", file, "its tables are of runs below this folder")
		return
	}
	byTitle := map[string]outputs.Table{}
	for _, t := range made {
		byTitle[t.Title] = t
	}
	other := v.otherPercentiles(stored)
	var tables []outputs.Table
	var unknown []string
	for _, p := range stored {
		if t, ok := byTitle[p.title]; ok {
			if other && t.ID == "checklist" {
				v.notChecked("summary", file, "%q of the checklist: performances/*.json have other percentiles by now", outputs.ItemTailPercentiles)
				t = withItem(t, p)
			}
			tables = append(tables, t)
		} else if len(stored) == 1 && len(made) == 1 { // a single table has no title
			tables = made
		} else {
			unknown = append(unknown, p.title)
		}
	}
	text, csv, markdown, err := outputs.RenderSummary(v.run, tables...)
	if err != nil {
		v.add(Finding{Check: "summary", File: file, Status: Unreadable, Detail: err.Error()})
		return
	}
	for _, name := range unknown {
		v.notChecked("summary", file, "the table %q is not made from the run's files", name)
	}
	if !v.same {
		v.notChecked("summary", file, "written by version %s of the program: of the tables only cells that this version has too are compared", v.m.Tool.Version)
	}
	list := &limited{r: v.Report, check: "summary", file: file}
	now := map[string]section{}
	for _, p := range sections(csv) {
		now[p.title] = p
	}
	if len(tables) == 1 && len(stored) == 1 { // neither has a title
		now[stored[0].title] = sections(csv)[0]
	}
	cells := 0
	for _, p := range stored {
		if again, ok := now[p.title]; ok && fresh[p.title] {
			cells += v.cells(list, p, again)
		}
	}
	v.Numbers += int64(cells)
	if list.end() {
		v.ok("summary", file, "%d tables, %d cells, each as made again", len(tables), cells)
	}
	if !v.same || len(unknown) > 0 {
		return // layouts differ between versions
	}
	if !allFresh(stored, fresh) {
		v.notChecked("summary", file, "tables that a later summary has, too: they may be of a state before a later scoring")
		return
	}
	for ext, want := range map[string][]byte{"txt": text, "md": markdown} {
		v.sameText(v.run.Path("summary", base+"."+ext), want)
	}
}

// tables are those of the summary, made again; nil where they are of runs below the
// folder that nobody computed.
func (v *verifier) tables(stored []section) ([]outputs.Table, error) {
	if s := v.o.Sweep; s != nil {
		if s.Why != "" {
			return nil, errors.New(s.Why)
		}
		return s.Tables, nil
	}
	if pairs, err := v.run.Pairs(); err == nil && len(pairs) == 0 {
		return nil, nil
	}
	s, _, err := v.recompute(v.reportOptions(stored))
	if err != nil {
		return nil, err
	}
	return s.SummaryTables(), nil
}

// computed is what Recompute gave.
type computed struct {
	options summarizers.ReportOptions
	summary *summarizers.Summary
	report  *outputs.ReportData
}

// recompute computes the run's tables, once for the same options.
func (v *verifier) recompute(o summarizers.ReportOptions) (*summarizers.Summary, *outputs.ReportData, error) {
	if c := v.last; c != nil && reflect.DeepEqual(c.options, o) {
		return c.summary, c.report, nil
	}
	s, d, err := summarizers.Recompute(v.run, o)
	if err != nil {
		return nil, nil, err
	}
	v.last = &computed{o, s, d}
	return s, d, nil
}

// reportOptions are those that the stored tables were made with.
func (v *verifier) reportOptions(stored []section) summarizers.ReportOptions {
	o := summarizers.ReportOptions{}
	for _, p := range stored {
		switch title := p.title; {
		case title == "Accuracy":
			o.Accuracy = true
		case strings.HasPrefix(title, "Performance Parameters"), strings.HasPrefix(title, "Common Metric"):
			o.Performance = true
		}
		if strings.HasPrefix(p.title, "By input length") {
			o.ByLength = true
		}
		if strings.Contains(p.title, "of AISBench's stable stage") {
			o.StableStage = true
		}
	}
	if len(stored) == 1 && stored[0].title == "" {
		o.Accuracy, o.Performance = true, true
	}
	pairs, _ := v.run.Pairs() // read before
	for _, p := range pairs {
		doc, err := outputs.ReadFile(v.run.PerformancePath(p.Model, p.Dataset, "json"))
		if err != nil {
			continue
		}
		if t, err := tree(doc); err == nil {
			o.Metrics = optionsOf(t)
			break
		}
	}
	bounds := orDefault(o.Metrics.LengthBounds)
	if o.Performance {
		o.Metrics = shown(stored)
	}
	o.Metrics.LengthBounds = bounds
	return o
}

// otherPercentiles reports whether tables show other percentiles than
// performances/*.json hold by now: of those the checklist speaks.
func (v *verifier) otherPercentiles(stored []section) bool {
	seen := shown(stored).Percentiles
	if len(seen) == 0 || v.o.Sweep != nil {
		return false
	}
	pairs, _ := v.run.Pairs() // read before
	for _, p := range pairs {
		doc, err := outputs.ReadFile(v.run.PerformancePath(p.Model, p.Dataset, "json"))
		if err != nil {
			continue
		}
		t, err := tree(doc)
		if err != nil {
			continue
		}
		held := optionsOf(t).Percentiles
		for _, x := range held {
			if !slices.Contains(seen, x) {
				return true
			}
		}
		return len(held) != len(seen)
	}
	return false
}

// withItem is the checklist with the item on percentiles as it was stored.
func withItem(t outputs.Table, stored section) outputs.Table {
	g, err := table(stored)
	if err != nil {
		return t
	}
	t.Rows = slices.Clone(t.Rows)
	for i, r := range t.Rows {
		if row := g.find([]string{fmt.Sprint(r[0])}, i); r[0] == outputs.ItemTailPercentiles && len(row) == 3 {
			t.Rows[i] = []any{r[0], row[1], row[2]}
		}
	}
	return t
}

// shown are the percentiles and service levels that the tables themselves show:
// another report of the same run may have chosen others.
func shown(stored []section) metrics.Options {
	o := metrics.Options{}
	for _, p := range stored {
		g, err := table(p)
		if err != nil {
			continue
		}
		if len(o.Percentiles) == 0 && strings.HasPrefix(p.title, "Performance Parameters") {
			for _, h := range g.head {
				if h == "Median" {
					o.Percentiles = append(o.Percentiles, 50)
				} else if x, err := strconv.ParseFloat(strings.TrimPrefix(h, "P"), 64); err == nil && strings.HasPrefix(h, "P") {
					o.Percentiles = append(o.Percentiles, x)
				}
			}
		}
		if len(o.SLOs) == 0 && strings.HasPrefix(p.title, "Common Metric") {
			for _, row := range g.rows {
				name, limit, ok := strings.Cut(strings.TrimSpace(row[0]), " ≤ ")
				if ms, err := strconv.ParseFloat(strings.TrimSuffix(limit, " ms"), 64); ok && err == nil {
					o.SLOs = append(o.SLOs, metrics.SLO{Metric: name, MaxMS: ms})
				}
			}
		}
	}
	return o
}

func orDefault(bounds []int) []int {
	if len(bounds) == 0 {
		return metrics.DefaultLengthBounds
	}
	return bounds
}

// cells compares two tables cell by cell: rows by their first columns of text,
// columns by their headings.
func (v *verifier) cells(list *limited, stored, now section) (n int) {
	a, errA := table(stored)
	b, errB := table(now)
	if errA != nil || errB != nil {
		list.add(Finding{Status: Unreadable, Where: stored.title, Detail: "no CSV"})
		return 0
	}
	if v.same && len(a.rows) != len(b.rows) {
		list.add(Finding{Where: stored.title, Detail: "rows", Stored: fmt.Sprint(len(a.rows)), Recomputed: fmt.Sprint(len(b.rows))})
	}
	if v.same {
		for _, name := range a.head {
			if !slices.Contains(b.head, name) {
				list.add(Finding{Where: where(stored.title) + ", column " + name, Detail: "there is no such column"})
			}
		}
	}
	for i, row := range a.rows {
		again := b.find(row, i)
		if again == nil {
			if v.same {
				list.add(Finding{Where: fmt.Sprintf("%s, row %d", where(stored.title), i+1), Detail: "there is no such row", Stored: strings.Join(row, ",")})
			}
			continue
		}
		for c, name := range a.head {
			d := slices.Index(b.head, name)
			if slices.Index(a.head, name) != c { // a second column of the name, as intervals have
				d = c
			}
			if d < 0 || d >= len(again) || c >= len(row) {
				continue
			}
			n++
			if row[c] != again[d] {
				list.add(Finding{Where: fmt.Sprintf("%s, %s, column %s", where(stored.title), row[0], name), Stored: row[c], Recomputed: again[d]})
			}
		}
	}
	return n
}

func where(title string) string {
	if title == "" {
		return "table"
	}
	return title
}

// sameText compares a whole text file line by line.
func (v *verifier) sameText(path string, want []byte) {
	file := v.rel(path)
	got, err := outputs.ReadFile(path)
	if err != nil {
		v.add(Finding{Check: "summary", File: file, Status: Missing, Detail: "it belongs to the summary's CSV"})
		return
	}
	v.sameLines("summary", file, got, want, "as made again")
}

// sameLines compares two texts line by line.
func (v *verifier) sameLines(check, file string, got, want []byte, agreed string) {
	if bytes.Equal(got, want) {
		v.ok(check, file, "%s", agreed)
		return
	}
	list := &limited{r: v.Report, check: check, file: file}
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(a), len(b)) {
		x, y := "", ""
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			list.add(Finding{Where: fmt.Sprintf("line %d", i+1), Stored: x, Recomputed: y})
		}
	}
	list.end()
}
