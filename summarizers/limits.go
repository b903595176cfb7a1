package summarizers

import (
	"ais_bench/outputs"
	"ais_bench/summarizers/aisbench"
	"ais_bench/summarizers/vllm"
)

// ProfileLimits lists where the profiles vllm and aisbench cannot give those
// tools' own numbers, because the records do not hold what they would have seen. The sentences are
// the table's notes: cells are too narrow for them.
func ProfileLimits() outputs.Table {
	t := outputs.Table{ID: "profile_limits", Title: "Where the profiles differ from the tools themselves",
		Columns: []outputs.Column{{Name: "Profile"}, {Name: "Known differences", Kind: outputs.KindInt}}}
	for _, p := range []struct {
		name        string
		differences []string
	}{{"vllm", vllm.Differences}, {"aisbench", aisbench.Differences}} {
		t.AddRow(p.name, len(p.differences))
		for _, s := range p.differences {
			t.Notes = append(t.Notes, p.name+": "+s)
		}
	}
	return t
}
