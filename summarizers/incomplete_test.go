package summarizers

import (
	"strings"
	"testing"

	"ais_bench/evaluators"
	"ais_bench/outputs"
)

// TestIncompleteScoresAreMarked: a score over a part of the questions does not
// look like one over all of them.
func TestIncompleteScoresAreMarked(t *testing.T) {
	r := result()
	whole := AccuracyTable([]evaluators.Result{r})
	r.Overall.NotAsked = 38
	part := AccuracyTable([]evaluators.Result{r})
	marked := func(table outputs.Table) (n int) {
		for _, row := range table.Rows {
			if c, ok := row[5].(outputs.Cell); ok && c.Note == "incomplete" && c.Mark == outputs.MarkWarn {
				n++
			}
		}
		return n
	}
	if marked(whole) != 0 || len(whole.Notes) != 0 {
		t.Errorf("a complete result is marked: %v", whole.Notes)
	}
	if marked(part) == 0 || len(part.Notes) != 1 || !strings.Contains(part.Notes[0], "38 were not put to") {
		t.Errorf("%d rows marked, notes %q", marked(part), part.Notes)
	}
	if c, ok := OutcomeTable([]evaluators.Result{r}).Rows[0][3].(outputs.Cell); !ok || c.Note != "of 41" {
		t.Errorf("the count of outcomes hides the questions not asked: %v", c)
	}
}
