package tasks

import (
	"reflect"
	"testing"

	"ais_bench/datasets"
	"ais_bench/outputs"
)

// TestSaltsReachEveryPrompt: requests whose prompts are parameters (batched
// embeddings, rerank) are salted like those that have one of their own, and the
// set they come from stays as it is.
func TestSaltsReachEveryPrompt(t *testing.T) {
	sample := datasets.Sample{
		Prompt:  datasets.Prompt{Text: "q"},
		Choices: []datasets.Prompt{{Turns: []datasets.Turn{{Role: "user", Text: "c"}}}},
		Params: map[string]any{"input": []string{"a", "b"}, "query": "q", "documents": []any{"d", map[string]any{"text": "e"}, []int{1, 2, 3}},
			"top_n": 3, "model": "m"},
	}
	before := map[string]any{"input": []string{"a", "b"}, "query": "q", "documents": []any{"d", map[string]any{"text": "e"}, []int{1, 2, 3}},
		"top_n": 3, "model": "m"}
	got := changePrompts(sample, saltUnmeasured(outputs.PhaseWarmup, 7))
	const salt = "Not measured, warmup 7.\n"
	want := map[string]any{"input": []string{salt + "a", salt + "b"}, "query": salt + "q",
		"documents": []any{salt + "d", map[string]any{"text": "e"}, []int{3, 2, 1}}, "top_n": 3, "model": "m"}
	if !reflect.DeepEqual(got.Params, want) || got.Prompt.Text != salt+"q" || got.Choices[0].Turns[0].Text != salt+"c" {
		t.Errorf("%+v", got)
	}
	if !reflect.DeepEqual(sample.Params, before) || sample.Choices[0].Turns[0].Text != "c" {
		t.Errorf("the set was changed: %+v", sample)
	}

	set := &datasets.Set{Samples: []datasets.Sample{sample, {Prompt: datasets.Prompt{Text: "x"}}}}
	cold := SaltPrompts(set, "[s]")
	if in := cold.Samples[0].Params["input"]; !reflect.DeepEqual(in, []string{"[s] a", "[s] b"}) || cold.Samples[0].Params["query"] != "[s] q" {
		t.Errorf("a cold cache's salt: %v", cold.Samples[0].Params)
	}
	if cold.Samples[1].Params != nil || cold.Samples[1].Prompt.Text != "[s] x" || !reflect.DeepEqual(set.Samples[0].Params, before) {
		t.Errorf("%+v; the set %+v", cold.Samples[1], set.Samples[0])
	}
}
