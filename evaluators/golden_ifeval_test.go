package evaluators

import (
	"ais_bench/evaluators/ifeval"
)

const lmIFEval = lmTasks + "ifeval/instructions.py:check_following["

// instructionRow runs one instruction on a row's response.
func instructionRow(id string, check func(string, map[string]any, string) (bool, error)) goldenFunc {
	return func(r goldenRow) any {
		in := r.Input.(map[string]any)
		kwargs, _ := in["kwargs"].(map[string]any)
		ok, err := check(id, kwargs, r.field("response"))
		if err != nil {
			return map[string]any{"__error__": "KeyError"} // what the original raises for a language it does not know
		}
		return ok
	}
}

// countOf finds a count through the instruction that bounds it: the largest n of
// which "at least n" holds.
func countOf(id, argument string) goldenFunc {
	return func(r goldenRow) any {
		n := 0
		for ; n < 100; n++ {
			ok, err := ifeval.Check(id, map[string]any{"relation": "at least", argument: n + 1}, r.text())
			if err != nil {
				return err.Error()
			}
			if !ok {
				break
			}
		}
		return n
	}
}

func ifevalRows() map[string]goldenFunc {
	table := map[string]goldenFunc{
		lmIFEval + "language:response_language] strict (langdetect 1.0.9, seed 0)": instructionRow("language:response_language", ifeval.Check),
		lmTasks + "ifeval/instructions_util.py:count_words":                        countOf("length_constraints:number_words", "num_words"),
		lmTasks + "ifeval/instructions_util.py:count_sentences":                    countOf("length_constraints:number_sentences", "num_sentences"),
		lmTasks + "ifeval/utils.py:test_instruction_following_loose": func(r goldenRow) any {
			return instructionRow(r.field("instruction_id"), ifeval.CheckLoose)(r)
		},
	}
	for _, id := range []string{
		"keywords:existence", "keywords:frequency", "keywords:forbidden_words", "keywords:letter_frequency", "language:response_language",
		"length_constraints:number_sentences", "length_constraints:number_paragraphs", "length_constraints:number_words", "length_constraints:nth_paragraph_first_word",
		"detectable_content:number_placeholders", "detectable_content:postscript", "detectable_format:number_bullet_lists", "detectable_format:constrained_response",
		"detectable_format:number_highlighted_sections", "detectable_format:multiple_sections", "detectable_format:json_format", "detectable_format:title",
		"combination:two_responses", "combination:repeat_prompt", "startend:end_checker", "startend:quotation", "change_case:capital_word_frequency",
		"change_case:english_capital", "punctuation:no_comma",
	} {
		table[lmIFEval+id+"] strict"] = instructionRow(id, ifeval.Check)
	}
	return table
}
