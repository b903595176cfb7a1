package evaluators

import (
	"ais_bench/evaluators/evalscope"
	"ais_bench/evaluators/lmeval"
	"ais_bench/evaluators/oc"
)

const lmLong = "lm-evaluation-harness/lm_eval/tasks/longbench/metrics.py:"

// spans reads an input that is one span or a list of spans.
func spans(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	l, _ := asStrings(v)
	return l
}

var goldenText = map[string]goldenFunc{
	lmTasks + "drop/utils.py:get_metrics -> [em, f1] (== evalscope drop/utils.py)": func(r goldenRow) any {
		em, f1 := lmeval.DropMetrics(spans(r.Input), spans(r.Reference))
		return []float64{em, f1}
	},
	lmTasks + "drop/utils.py:_normalize": func(r goldenRow) any { return lmeval.DropNormalize(r.text()) },
	"benchmark/ais_bench/benchmark/datasets/drop_simple_eval.py:DropOpenAIEvaluator.score (substring either way)": func(r goldenRow) any {
		for _, row := range r.refs() {
			for _, ref := range dropGolds(row) {
				if oc.DropEqual(oc.Drop(r.text()), ref[0]) {
					return true
				}
			}
		}
		return false
	},
	"benchmark/ais_bench/benchmark/datasets/triviaqa.py:TriviaQAEvaluator.score (details[0].correct)": func(r goldenRow) any { return oc.ContainsReference(oc.TriviaQA(r.text()), r.refs()) },
	"opencompass/opencompass/datasets/natural_question.py:NQEvaluator.score (details[0].correct)":     func(r goldenRow) any { return oc.ContainsReference(oc.NQ(r.text()), r.refs()) },
	"opencompass/opencompass/datasets/squad20.py:SQuAD20Evaluator.score (/100)":                       func(r goldenRow) any { return oc.EqualsReference(oc.SQuAD(r.text()), r.refs()) },
	lmMetrics + "exact_match_hf_evaluate[nq_open: ignore_case, ignore_punctuation, article regex]":    func(r goldenRow) any { return lmeval.NQOpen.Equal(r.text(), r.ref()) },
	lmMetrics + "exact_match_hf_evaluate[triviaqa: ignore_case, ignore_punctuation]": func(r goldenRow) any {
		return lmeval.ExactMatch{IgnoreCase: true, IgnorePunctuation: true}.Equal(r.text(), r.ref())
	},
	"evalscope/evalscope/benchmarks/trivia_qa/trivia_qa_adapter.py:extract_answer": func(r goldenRow) any { return evalscope.TriviaQA(r.text()) },
	"benchmark/ais_bench/benchmark/openicl/icl_evaluator/icl_hf_evaluator.py:EDAccEvaluator._preprocess (argmin index)": func(r goldenRow) any {
		var options [][]string
		for _, c := range r.Reference.(map[string]any)["candidates"].([]any) {
			l, _ := asStrings(c)
			options = append(options, l)
		}
		return oc.NearestOption(r.text(), options)
	},
	lmLong + "count_score":        func(r goldenRow) any { return lmeval.NumberShare(r.text(), r.ref()) },
	lmLong + "retrieval_score":    func(r goldenRow) any { s, _ := lmeval.Retrieval(r.text(), r.ref(), "Paragraph "); return s },
	lmLong + "retrieval_zh_score": func(r goldenRow) any { s, _ := lmeval.Retrieval(r.text(), r.ref(), "段落"); return s },
	lmLong + "classification_score": func(r goldenRow) any {
		return lmeval.Classification(r.field("text"), r.ref(), r.strings("all_classes"))
	},
	"lm-evaluation-harness/lm_eval/tasks/ruler/common_utils.py:string_match_all(postprocess_pred)":  func(r goldenRow) any { return lmeval.RulerAll(r.text(), r.refs()) },
	"lm-evaluation-harness/lm_eval/tasks/ruler/common_utils.py:string_match_part(postprocess_pred)": func(r goldenRow) any { return lmeval.RulerPart(r.text(), r.refs()) },
	"benchmark/ais_bench/benchmark/datasets/lcsts.py:lcsts_postprocess":                             func(r goldenRow) any { return oc.LCSTS(r.text()) },
	"benchmark/ais_bench/benchmark/datasets/xsum.py:Xsum_postprocess":                               func(r goldenRow) any { return oc.XSum(r.text()) },
	"opencompass/opencompass/datasets/flores.py:flores_postprocess":                                 func(r goldenRow) any { return oc.XSum(r.text()) },
	"opencompass/opencompass/datasets/needlebench/origin.py:NeedleBenchOriginEvaluator.score":       func(r goldenRow) any { return oc.NeedleOrigin(r.text(), r.ref()) },
}
