package summarizers

import (
	"fmt"
	"strings"

	"ais_bench/outputs"
)

// Distrusted are the warnings over a run's figures that must stand wherever the
// figures do: its files are not those the manifest vouches for (outputs.Run.Mismatches),
// it was killed or is still going on, or it ended before all was asked that was due.
func Distrusted(run *outputs.Run, m *outputs.Manifest) []string {
	var out []string
	for _, text := range run.Mismatches(m) {
		out = append(out, Untrusted(text))
	}
	if m.State == outputs.StateRunning {
		return out // it left no counts: missing counts the records
	}
	said := false // the run's own warning has the model too, and what became of the scores
	for _, w := range m.Warnings {
		if incomplete := strings.Contains(w, ": incomplete: "); incomplete || strings.HasPrefix(w, "INVALID") {
			out, said = append(out, w), said || incomplete
		}
	}
	for i := range m.Pairs {
		if text := m.Pairs[i].Unfinished(); text != "" && !(said && m.Pairs[i].NotAsked > 0) {
			out = append(out, Untrusted(text))
		}
	}
	return out
}

// Untrusted is one such warning.
func Untrusted(mismatch string) string { return "INVALID: " + mismatch }

// missing says of a run that left no end how much of what was due has a record.
func (s *Summary) missing(m *outputs.Manifest) []string {
	if m.State != outputs.StateRunning {
		return nil
	}
	var out []string
	for _, p := range s.Performance {
		if n, due := p.Result.Requests.Total, m.Planned(p.Pair); n < due {
			out = append(out, Untrusted(fmt.Sprintf("incomplete: %d of %d requests of %s on %s have a record; the figures are of these", n, due, p.Model, p.Dataset)))
		}
	}
	return out
}

// invalidTable puts the warnings before the figures.
func invalidTable(warnings []string) outputs.Table {
	t := outputs.Table{ID: "invalid", Title: "Not to be relied on", Columns: []outputs.Column{{Name: "Warning", Wrap: true}}}
	for _, w := range warnings {
		t.AddRow(outputs.Cell{Value: w, Mark: outputs.MarkBad})
	}
	return t
}
