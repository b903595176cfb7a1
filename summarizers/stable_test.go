package summarizers

import (
	"strings"
	"testing"

	"ais_bench/outputs"
)

// overlapping is a run of two slots that are both in use again and again.
func overlapping(t *testing.T) *outputs.Run {
	t.Helper()
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	j, err := run.Journal("m", "d")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		r := record(i, outputs.StatusOK) // 90 ms every 50 ms
		shift := int64(i) * 50 * ms
		for _, at := range []*int64{&r.Scheduled, &r.Sent, &r.Connected, &r.FirstByte, &r.FirstEvent, &r.FirstToken, &r.FirstAnswerToken, &r.LastToken, &r.End} {
			*at -= shift
		}
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestStableTables(t *testing.T) {
	run, p := overlapping(t), outputs.Pair{Model: "m", Dataset: "d"}
	configured := func(n any) *outputs.Manifest {
		return &outputs.Manifest{Workload: map[string]any{"m × d": map[string]any{"batch_size": n}}}
	}
	for _, c := range []struct {
		name     string
		manifest *outputs.Manifest
		tables   int
		note     string
	}{
		{"two slots", configured(2.0), 2, "begins 0.100 s after the first request"},
		{"a third slot that nothing used", configured(3.0), 1, "CALC-DATA-002"},
		{"another pair's manifest", &outputs.Manifest{}, 1, "needs the configured concurrency"},
		{"no manifest", nil, 1, "needs the configured concurrency"},
	} {
		tables, err := stableTables(run, p, c.manifest)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if len(tables) != c.tables || len(tables[0].Notes) != 1 || !strings.Contains(tables[0].Notes[0], c.note) {
			t.Errorf("%s: %d tables, notes %q", c.name, len(tables), tables[0].Notes)
		}
		if c.tables == 1 {
			continue
		}
		if got := tables[1].Rows[0]; got[0] != "Benchmark Duration" || got[1] != "stable" || got[2].(outputs.Cell).Value != 150.0 {
			t.Errorf("%s: %v, want 100 to 250 ms", c.name, got)
		}
	}
}
