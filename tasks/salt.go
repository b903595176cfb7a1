package tasks

import (
	"fmt"
	"maps"
	"slices"

	"ais_bench/datasets"
	"ais_bench/outputs"
)

// promptParams are the request parameters that are prompts themselves: the texts of
// a batched embeddings request, and what a rerank request compares. The sample's
// Prompt does not reach the server beside them, so that a change of prompts must
// change them too.
var promptParams = []string{"input", "query", "documents"}

// changePrompts puts every prompt of a sample through change: its prompt, its
// choices and those in its parameters. The sample given stays as it is.
func changePrompts(s datasets.Sample, change func(datasets.Prompt) datasets.Prompt) datasets.Sample {
	s.Prompt = change(s.Prompt)
	s.Choices = slices.Clone(s.Choices)
	for i := range s.Choices {
		s.Choices[i] = change(s.Choices[i])
	}
	s.Params = maps.Clone(s.Params)
	for _, name := range promptParams {
		if v, ok := s.Params[name]; ok {
			s.Params[name] = changeParam(v, change)
		}
	}
	return s
}

// changeParam changes a text, token ids, or a list of either; anything else is no
// prompt and stays.
func changeParam(v any, change func(datasets.Prompt) datasets.Prompt) any {
	switch v := v.(type) {
	case string:
		return change(datasets.Prompt{Text: v}).Text
	case []string:
		out := make([]string, len(v))
		for i := range v {
			out[i] = change(datasets.Prompt{Text: v[i]}).Text
		}
		return out
	case []int:
		return change(datasets.Prompt{TokenIDs: v}).TokenIDs
	case [][]int:
		out := make([][]int, len(v))
		for i := range v {
			out[i] = change(datasets.Prompt{TokenIDs: v[i]}).TokenIDs
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = changeParam(v[i], change)
		}
		return out
	}
	return v
}

// saltUnmeasured is what makes the i-th request of a phase that is not measured
// share no prefix with a measured one: a first line of its own. Token ids, to which
// no line can be added without a tokenizer, come in reverse.
func saltUnmeasured(phase outputs.Phase, i int) func(datasets.Prompt) datasets.Prompt {
	salt := fmt.Sprintf("Not measured, %s %d.\n", phase, i)
	return func(p datasets.Prompt) datasets.Prompt {
		switch {
		case len(p.TokenIDs) > 0:
			ids := slices.Clone(p.TokenIDs)
			slices.Reverse(ids)
			return datasets.Prompt{TokenIDs: ids}
		case len(p.Turns) > 0:
			turns := slices.Clone(p.Turns)
			turns[0].Text = salt + turns[0].Text
			return datasets.Prompt{Turns: turns}
		}
		return datasets.Prompt{Text: salt + p.Text}
	}
}
