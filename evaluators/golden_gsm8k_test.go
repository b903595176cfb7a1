package evaluators

import (
	"context"

	"ais_bench/evaluators/lmeval"
	"ais_bench/evaluators/oc"
)

const (
	aisGSM8K   = "benchmark/ais_bench/benchmark/datasets/gsm8k.py:"
	lmFilters  = "lm-evaluation-harness/lm_eval/filters/extraction.py:"
	lmMetrics  = "lm-evaluation-harness/lm_eval/api/metrics.py:"
	aisText    = "benchmark/ais_bench/benchmark/utils/postprocess/text_postprocessors.py:"
	aisModel   = "benchmark/ais_bench/benchmark/utils/postprocess/model_postprocessors.py:"
	lmPostproc = "lm-evaluation-harness/lm_eval/models/utils.py:postprocess_generated_text"
)

// right runs a scorer by id on a row's text and reference.
func right(id string) goldenFunc {
	return func(r goldenRow) any {
		s, err := New(id, nil)
		if err != nil {
			return err.Error()
		}
		v, err := s.Score(context.Background(), Answer{Text: r.text()}, Item{Gold: r.ref(), Golds: r.refs()})
		if err != nil {
			return err.Error()
		}
		return v.Outcome == Right
	}
}

var goldenGSM8K = map[string]goldenFunc{
	"grade-school-math/grade_school_math/dataset.py:extract_answer":                                         func(r goldenRow) any { return openaiGSM8K(r.text()) },
	aisGSM8K + "gsm8k_postprocess (== opencompass/opencompass/datasets/gsm8k.py)":                           func(r goldenRow) any { return oc.GSM8K(r.text()) },
	aisGSM8K + "gsm8k_dataset_postprocess":                                                                  func(r goldenRow) any { return oc.GSM8KGold(r.text()) },
	aisGSM8K + "Gsm8kEvaluator.is_equal":                                                                    func(r goldenRow) any { return oc.GSM8KEqual(r.text(), r.ref()) },
	aisGSM8K + "gsm8k_postprocess + Gsm8kEvaluator.is_equal":                                                func(r goldenRow) any { return oc.GSM8KEqual(oc.GSM8K(r.text()), r.ref()) },
	lmFilters + `RegexFilter[gsm8k strict-match "#### (\-?[0-9\.\,]+)", group_select=0]`:                    func(r goldenRow) any { return lmeval.GSM8KStrict(r.text()) },
	lmFilters + `RegexFilter[gsm8k flexible-extract "(-?[$0-9.,]{2,})|(-?[0-9]+)", group_select=-1]`:        func(r goldenRow) any { return lmeval.GSM8KFlexible(r.text()) },
	lmFilters + `RegexFilter[gsm8k_cot strict-match "The answer is (\-?[0-9\.\,]+)."]`:                      func(r goldenRow) any { return lmeval.GSM8KCoTStrict(r.text()) },
	lmFilters + `RegexFilter[gsm8k_cot_llama strict-match, group_select=-1]`:                                func(r goldenRow) any { return lmeval.GSM8KCoTLlamaStrict(r.text()) },
	lmMetrics + `exact_match_hf_evaluate[ignore_case, regexes_to_ignore=[",", "\$", "(?s).*#### ", "\.$"]]`: func(r goldenRow) any { return lmeval.GSM8KEqual(r.text(), r.ref()) },
	"E2E AISBench: gsm8k_postprocess + is_equal (gold 55)":                                                  right("oc/gsm8k"),
	"E2E OpenAI grade_school_math is_correct (gold 55)":                                                     right("openai/gsm8k"),
	"E2E lm-eval gsm8k strict-match exact_match (gold 55)":                                                  right("lmeval/gsm8k-strict"),
	"E2E lm-eval gsm8k flexible-extract exact_match (gold 55)":                                              right("lmeval/gsm8k-flexible"),

	aisModel + "extract_non_reasoning_content":     func(r goldenRow) any { return oc.NonReasoning(r.text()) },
	aisModel + "extract_non_reasoning_content_raw": func(r goldenRow) any { return oc.NonReasoningRaw(r.text()) },
	lmPostproc + "(stop=None, think_end_token='</think>')": func(r goldenRow) any {
		return lmeval.AfterThinking(r.text())
	},
	lmPostproc + "(stop, think_end_token='</think>')": func(r goldenRow) any {
		stop, _ := asStrings(r.Input.(map[string]any)["stop"])
		return lmeval.AfterThinkingStop(r.field("text"), stop)
	},
}
