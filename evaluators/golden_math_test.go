package evaluators

import (
	"fmt"

	"ais_bench/evaluators/mathstring"
)

const (
	aisMath = "benchmark/ais_bench/benchmark/datasets/math.py:"
	lmTasks = "lm-evaluation-harness/lm_eval/tasks/"
	esMath  = "evalscope/evalscope/metrics/math/parser.py:"
)

func orError(s string, ok bool) any {
	if !ok {
		return map[string]any{"__error__": "raised"}
	}
	return s
}

var goldenMath = map[string]goldenFunc{
	aisMath + "last_boxed_only_string":                                                             func(r goldenRow) any { return noneIf(mathstring.LastBoxedString(r.text())) },
	aisMath + "extract_boxed_answer[strip_double_curly_brace=True]":                                func(r goldenRow) any { return noneIf(mathstring.OCBoxed(r.text())) },
	"opencompass/opencompass/datasets/math.py:extract_boxed_answer[strip_double_curly_brace=True]": func(r goldenRow) any { return noneIf(mathstring.OCBoxed(r.text())) },
	lmTasks + "hendrycks_math/utils.py:last_boxed_only_string":                                     func(r goldenRow) any { return noneIf(mathstring.LMBoxedString(r.text())) },
	esMath + "extract_answer":                                                                      func(r goldenRow) any { return mathstring.ESExtract(r.text()) },
	esMath + "strip_answer_string":                                                                 func(r goldenRow) any { return mathstring.ESStrip(r.text()) },
	esMath + "math_equal(prediction, strip_answer_string(reference))":                              func(r goldenRow) any { return mathstring.ESEqual(r.text(), mathstring.ESStrip(r.ref())) },
	aisMath + "normalize_final_answer":                                                             func(r goldenRow) any { return mathstring.OCNormalize(r.text()) },
	lmTasks + "minerva_math/utils.py:normalize_final_answer":                                       func(r goldenRow) any { return mathstring.MinervaNormalize(r.text()) },
	lmTasks + "minerva_math/utils.py:get_unnormalized_answer":                                      func(r goldenRow) any { return mathstring.MinervaAnswer(r.text()) },
	aisMath + "math_postprocess_v2":                                                                func(r goldenRow) any { return mathstring.OCPostprocessV2(r.text()) },
	aisMath + "math_postprocess":                                                                   func(r goldenRow) any { return mathstring.OCPostprocess(r.text()) },
	aisMath + "extract_answer":                                                                     func(r goldenRow) any { return mathstring.OCAnswerLine(r.text()) },
	aisMath + "MATHEvaluator(version='v1').is_equiv":                                               func(r goldenRow) any { return mathstring.OCEqual(r.text(), r.ref(), mathstring.StripHendrycks) },
	aisMath + "MATHEvaluator(version='v2').is_equiv":                                               func(r goldenRow) any { return mathstring.OCEqual(r.text(), r.ref(), mathstring.StripV2) },
	aisMath + "MATHEvaluator(version='v2')._strip_string_v2":                                       func(r goldenRow) any { return orError(mathstring.StripV2(r.text())) },
	lmTasks + "hendrycks_math/utils.py:strip_string":                                               func(r goldenRow) any { return orError(mathstring.StripHendrycks(r.text())) },
	lmTasks + "hendrycks_math/utils.py:is_equiv":                                                   func(r goldenRow) any { return mathstring.LMEqual(r.text(), r.ref()) },
	lmTasks + "hendrycks_math/utils.py:process_results":                                            func(r goldenRow) any { return mathstring.LMHendrycks(r.text(), r.refField("solution")) },
	lmTasks + "aime/utils.py:process_results": func(r goldenRow) any {
		return mathstring.LMEqual(mathstring.LMAimeAnswer(r.text()), r.refField("answer"))
	},
	"benchmark/ais_bench/benchmark/datasets/dapo_math.py:extract_pred_by_minerva":               func(r goldenRow) any { return mathstring.DapoMinerva(r.text()) },
	"benchmark/ais_bench/benchmark/datasets/dapo_math.py:extract_pred_by_strict_box":            func(r goldenRow) any { return mathstring.DapoBox(r.text()) },
	"evalscope/evalscope/benchmarks/aime/grader.py:grade_answer":                                func(r goldenRow) any { return mathstring.PRM800KEqual(r.text(), r.ref()) },
	`E2E AISBench: math_postprocess_v2 + MATHEvaluator(version="v2").is_equiv`:                  right("oc/math"),
	"E2E evalscope nlp/metrics.py MathAcc: math_equal(strip(extract_answer(pred)), strip(ref))": right("evalscope/math"),
	`E2E lm-eval hendrycks_math/utils.py:process_results (gold solution = \boxed{ref})`: func(r goldenRow) any {
		return mathstring.LMHendrycks(r.text(), `\boxed{`+r.ref()+"}")
	},
	"E2E evalscope math_acc (gold 55)": right("evalscope/gsm8k"),
	"benchmark/ais_bench/benchmark/openicl/icl_evaluator/math_evaluator.py:MATHEvaluator.score (math_verify 0.8.0 + latex2sympy2_extended 1.11.0)": func(r goldenRow) any {
		return right("oc/math_verify")(r)
	},
}

// refField is a string member of an object reference.
func (r goldenRow) refField(name string) string {
	m, _ := r.Reference.(map[string]any)
	return fmt.Sprint(m[name])
}
