package tradeoff

import (
	"strings"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
)

// TestRecallFailures: grid.json says why combinations were not measured; one that
// it does not know was never begun.
func TestRecallFailures(t *testing.T) {
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	combinations := [][]Setting{{{"a", "1"}, {"b", "x"}}, {{"a", "2"}, {"b", "x"}}, {{"a", "3"}, {"b", "x"}}}
	g := New(combinations, nil)
	g.Combinations[0].Level.Runs = []capacity.Run{{}}
	g.Combinations[1].Failure = "the engine ended: out of memory"
	if err := run.WriteJSON(run.Path("grid.json"), map[string]any{"combinations": []any{
		map[string]any{"settings": map[string]string{"a": "1", "b": "x"}, "failure": nil},
		map[string]any{"settings": map[string]string{"b": "x", "a": "2"}, "failure": g.Combinations[1].Failure},
	}}); err != nil {
		t.Fatal(err)
	}
	again := New(combinations, nil)
	again.Combinations[0].Level.Runs = []capacity.Run{{}}
	again.RecallFailures(run)
	if got := strings.Join(again.Failures(), "; "); got != "a 2, b x: the engine ended: out of memory; a 3, b x: not measured" {
		t.Error(got)
	}
	if strings.Join(again.Params, ",") != "a,b" || again.First() != again.Combinations[0] || again.Runs() != 1 || again.Best() != nil {
		t.Errorf("%v, %v, %d runs, best %v", again.Params, again.First(), again.Runs(), again.Best())
	}
}
