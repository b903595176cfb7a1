package evaluators

import (
	"ais_bench/evaluators/evalscope"
	"ais_bench/evaluators/lmeval"
	"ais_bench/evaluators/oc"
)

func (r goldenRow) number(name string) int {
	f, _ := r.Input.(map[string]any)[name].(float64)
	return int(f)
}

func (r goldenRow) strings(name string) []string {
	l, _ := asStrings(r.Input.(map[string]any)[name])
	return l
}

const (
	esChoices = "evalscope/evalscope/utils/multi_choices.py:"
	lmBBH     = "lm-evaluation-harness/lm_eval/tasks/bbh/zeroshot/utils.py:"
	esBBH     = "evalscope/evalscope/benchmarks/bbh/bbh_adapter.py:BBHAdapter."
)

func esParse(parse func(string, []string, bool) []string, multiple bool) goldenFunc {
	return func(r goldenRow) any {
		got := parse(r.field("text"), evalscope.Labels(r.number("n_choices")), multiple)
		if got == nil {
			got = []string{}
		}
		return got
	}
}

var goldenChoice = map[string]goldenFunc{
	aisText + "first_capital_postprocess":       func(r goldenRow) any { return oc.FirstCapital(r.text()) },
	aisText + "last_capital_postprocess":        func(r goldenRow) any { return oc.LastCapital(r.text()) },
	aisText + "first_capital_postprocess_multi": func(r goldenRow) any { return oc.FirstCapitalMulti(r.text()) },
	aisText + "multiple_select_postprocess":     func(r goldenRow) any { return oc.MultipleSelect(r.text()) },
	aisText + "first_option_postprocess": func(r goldenRow) any {
		cushion := r.Input.(map[string]any)["cushion"]
		return oc.FirstOption(r.field("text"), r.field("options"), cushion != false)
	},
	aisText + "first_option_postprocess_v1": func(r goldenRow) any { return oc.FirstOptionV1(r.field("text"), r.field("options")) },
	aisText + "last_option_postprocess":     func(r goldenRow) any { return oc.LastOption(r.field("text"), r.field("options")) },
	aisText + "first_number_postprocess": func(r goldenRow) any {
		f, ok := oc.FirstNumber(r.text())
		if !ok {
			return nil
		}
		return f
	},
	aisText + "xml_tag_postprocessor": func(r goldenRow) any { return oc.XMLTag(r.field("text"), r.field("tag")) },
	aisText + "match_answer_pattern": func(r goldenRow) any {
		find, err := patternGroup(r.field("pattern"))
		if err != nil {
			return err.Error()
		}
		return find(r.field("text"))
	},
	aisText + "general_postprocess": func(r goldenRow) any { return oc.General(r.text()) },
	"benchmark/ais_bench/benchmark/datasets/gpqa.py:GPQA_Simple_Eval_postprocess (last match)": func(r goldenRow) any { return noneIf(oc.GPQALast(r.text())) },
	"opencompass/opencompass/datasets/gpqa.py:GPQA_Simple_Eval_postprocess (first match)":      func(r goldenRow) any { return noneIf(oc.GPQAFirst(r.text())) },
	"benchmark/ais_bench/benchmark/datasets/mmlu_pro.py:MMLUProBaseEvaluator.is_equal":         func(r goldenRow) any { return oc.MMLUProEqual(r.text(), r.ref()) },
	lmFilters + "RegexFilter[mmlu_pro custom-extract]":                                         func(r goldenRow) any { return lmeval.MMLUPro(r.text()) },
	lmFilters + `RegexFilter[gpqa strict-match "(?<=The answer is )(.*)(?=.)"]`:                func(r goldenRow) any { return lmeval.GPQAStrict(r.text()) },
	lmFilters + "MultiChoiceRegexFilter[gpqa flexible-extract, group_select=-1, ignore_case, ignore_punctuation]": func(r goldenRow) any {
		return lmeval.ChoiceFilter{Last: true, IgnoreCase: true, IgnorePunctuation: true}.Find(r.field("text"), r.strings("choices"))
	},
	"lm-evaluation-harness:mmlu_generative filter chain get_response": func(r goldenRow) any { return lmeval.MMLUGenerative(r.text()) },
	lmMetrics + "exact_match_hf_evaluate[ignore_case, ignore_punctuation]": func(r goldenRow) any {
		return lmeval.ExactMatch{IgnoreCase: true, IgnorePunctuation: true}.Equal(r.text(), r.ref())
	},
	esChoices + "parse_answers":                                                         esParse(evalscope.ParseAnswers, false),
	esChoices + "parse_answers[multiple_correct]":                                       esParse(evalscope.ParseAnswers, true),
	esChoices + "parse_answers_zh":                                                      esParse(evalscope.ParseAnswersZH, false),
	esChoices + "parse_answers_zh[multiple_correct]":                                    esParse(evalscope.ParseAnswersZH, true),
	"evalscope/evalscope/benchmarks/ceval/ceval_adapter.py:CEVALAdapter.extract_answer": func(r goldenRow) any { return evalscope.CEval(r.text()) },
	"evalscope/evalscope/api/messages/utils.py:parse_content_with_reasoning (content part)": func(r goldenRow) any {
		return evalscope.Thinking(r.text())
	},
	"benchmark/ais_bench/benchmark/datasets/mgsm.py:mgsm_postprocess": func(r goldenRow) any { return oc.MGSM(r.field("text"), r.field("lang")) },

	lmFilters + `RegexFilter[bbh_cot_fewshot get-answer "(?<=the answer is )(.*)(?=.)"]`:                     func(r goldenRow) any { return lmeval.BBHCoT(r.text()) },
	"benchmark/ais_bench/benchmark/datasets/bbh.py:bbh_mcq_postprocess (== OpenCompass)":                     func(r goldenRow) any { return oc.BBHChoice(r.text()) },
	"benchmark/ais_bench/benchmark/datasets/bbh.py:bbh_freeform_postprocess":                                 func(r goldenRow) any { return oc.BBHFreeform(r.text()) },
	"opencompass/opencompass/datasets/bbh.py:bbh_freeform_postprocess (2026 version, then casefold compare)": func(r goldenRow) any { return oc.BBHFreeform2026(r.text()) },
	esBBH + "_extract_mc_answer": func(r goldenRow) any { return evalscope.BBHChoice(r.text()) },
	esBBH + "_extract_ff_answer": func(r goldenRow) any { return evalscope.BBHFreeform(r.text()) },
	lmBBH + "MultiChoiceRegexFilter[date_understanding flexible-extract]": func(r goldenRow) any {
		return lmeval.ChoiceFilter{IgnoreCase: true, IgnorePunctuation: true}.Find(r.field("text"), lmeval.ChoicesOf(r.field("doc_input")))
	},
	lmBBH + "NumberParseRegexFilter[object_counting]": func(r goldenRow) any { return lmeval.NumberParse(r.text()) },
	lmBBH + "WordSortFilter":                          func(r goldenRow) any { return lmeval.WordSort(r.field("text"), r.field("doc_input")) },
	lmBBH + "MapRegexFilter[web_of_lies]":             func(r goldenRow) any { return lmeval.WebOfLies(r.text()) },
}
