package verify

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/facts"
)

// Sweep is a sweep's or a grid's files made again from the records of its points.
type Sweep struct {
	File   string                   // of JSON; "" = sweep.json
	Tables []outputs.Table          // of summary/
	CSV    map[string]outputs.Table // by file name
	JSON   map[string]any           // keys of File
	Report *outputs.ReportData      // of report.json
	Why    string                   // why they could not be made
	// Facts are the figures that a contract is judged by; nil where there are none.
	Facts func(*outputs.Run, facts.Options) (*facts.Set, error)
}

// sweep compares the files beside a sweep's points.
func (v *verifier) sweep() {
	s := v.o.Sweep
	if s == nil {
		return
	}
	file := cmp.Or(s.File, "sweep.json")
	if s.Why != "" {
		v.add(Finding{Check: "sweep", File: file, Status: Unreadable, Detail: "it cannot be made again: " + s.Why})
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.CSV)) {
		v.sweepCSV(name, s.CSV[name])
	}
	var stored map[string]any
	if err := outputs.ReadJSON(v.run.Path(file), &stored); err != nil {
		v.add(Finding{Check: "sweep", File: file, Status: Missing, Detail: err.Error()})
		return
	}
	part := map[string]any{}
	for key := range s.JSON {
		part[key] = stored[key]
	}
	now, err := treeOf(part)
	if err == nil {
		v.compareJSON("sweep", file, now, s.JSON)
	}
}

func (v *verifier) sweepCSV(name string, t outputs.Table) {
	doc, err := outputs.ReadFile(v.run.Path(name))
	if err != nil {
		v.add(Finding{Check: "sweep", File: name, Status: Missing, Detail: "it belongs to every sweep"})
		return
	}
	var again bytes.Buffer
	if err := t.WriteCSV(&again); err != nil {
		v.add(Finding{Check: "sweep", File: name, Status: Unreadable, Detail: err.Error()})
		return
	}
	part := func(b []byte) section {
		return section{lines: strings.Split(strings.TrimRight(strings.ReplaceAll(string(b), "\r", ""), "\n"), "\n")}
	}
	list := &limited{r: v.Report, check: "sweep", file: name}
	n := v.cells(list, part(doc), part(again.Bytes()))
	v.Numbers += int64(n)
	if list.end() {
		v.ok("sweep", name, "%d cells, each as made again", n)
	}
}
