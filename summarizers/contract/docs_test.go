package contract

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/facts"
)

// The contracts of docs/gate.md are read, and can be decided by a run of 5,000
// questions.
func TestContractsOfTheDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "gate.md"))
	if err != nil {
		t.Fatal(err)
	}
	pairs := []facts.PlannedPair{{Model: "qwen", Dataset: "sums", Requests: 5000, Stream: true, Goodput: true, Rows: []facts.PlannedRow{{Name: "sums", N: 5000}}}}
	set := facts.Plan(pairs, facts.Plan(pairs, nil))
	planned, sweeps := facts.PlanSweep(facts.SweepPlan{Axis: capacity.Concurrency, Loads: []float64{8, 16, 32}, Requests: []int64{1000, 1000, 1000}, Runs: 3, MaxRuns: 5, SLO: "ttft_p99 <= 500",
		Max: 64, Headroom: 0.2, Stream: true}), 0
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 3 {
		t.Fatalf("%d contracts in docs/gate.md", len(blocks))
	}
	for _, b := range blocks {
		c, err := Parse("docs/gate.md", []byte(b[1]))
		of := set
		if strings.Contains(b[1], "sweep.") {
			of, sweeps = planned, sweeps+1
		}
		if err == nil {
			err = c.Check(of)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if sweeps == 0 {
		t.Error("no contract of a sweep in docs/gate.md")
	}
	// Names in the tables of names exist.
	for _, m := range regexp.MustCompile("`(sweep\\.(?:search|knee|max|points|limited_by|axis|requests|failed)[^` ]*)`").FindAllStringSubmatch(string(text), -1) {
		name := strings.Replace(m[1], "KEY", "ttft.p99_ms", 1)
		s, err := parse(name + " == 0")
		if err == nil {
			_, err = planned.Lookup(s.paths()[0])
		}
		if err != nil {
			t.Errorf("docs/gate.md names %s: %v", m[1], err)
		}
	}
	names := 0
	for _, m := range regexp.MustCompile("`((?:perf|accuracy|client|manifest|compare)[^` ]*)(?: [^`]*)?`").FindAllStringSubmatch(string(text), -1) {
		name := m[1]
		if strings.ContainsAny(name, "…*") || strings.Contains(name, "KEY") || strings.Contains(name, "NAME") || strings.Contains(name, "ROW") || name == "perf." || strings.Contains(name, "qwen/gsm8k") ||
			!strings.ContainsAny(name, ".[") {
			continue
		}
		s, err := parse(name + " == 0")
		if err == nil {
			_, err = set.Lookup(s.paths()[0])
		}
		if err != nil {
			t.Errorf("docs/gate.md names %s: %v", name, err)
		}
		names++
	}
	if names < 12 {
		t.Errorf("only %d names found in docs/gate.md", names)
	}
}
