package evaluators

import (
	"ais_bench/evaluators/evalscope"
	"ais_bench/evaluators/lmeval"
	"ais_bench/evaluators/oc"
)

const (
	aisHuman = "benchmark/ais_bench/benchmark/datasets/humaneval.py:"
	aisMBPP  = "benchmark/ais_bench/benchmark/datasets/mbpp.py:"
	aisLive  = "benchmark/ais_bench/benchmark/datasets/livecodebench/"
)

var goldenCode = map[string]goldenFunc{
	aisHuman + "humaneval_postprocess_v2 (first block; == evalscope humaneval _postprocess)": func(r goldenRow) any { return oc.HumanEvalFirst(r.text()) },
	aisHuman + "humaneval_postprocess_v3 (last block)":                                       func(r goldenRow) any { return oc.HumanEvalLast(r.text()) },
	aisHuman + "humaneval_internal_v2_postprocess":                                           func(r goldenRow) any { return oc.HumanEvalBody(r.text()) },
	aisHuman + "humaneval_internal_v1_postprocess":                                           func(r goldenRow) any { return oc.HumanEvalBodyV1(r.text()) },
	lmTasks + "humaneval/utils.py:build_predictions_instruct":                                func(r goldenRow) any { return lmeval.HumanEvalInstruct(r.field("text"), r.field("prompt")) },
	aisMBPP + "MBPPEvaluator._process_answer":                                                func(r goldenRow) any { return oc.MBPP(r.text()) },
	aisMBPP + "MBPPEvaluator2._process_answer":                                               func(r goldenRow) any { return oc.MBPPV2(r.text()) },
	lmTasks + "mbpp/utils.py:extract_code_blocks":                                            func(r goldenRow) any { return lmeval.MBPPCode(r.text()) },
	"evalscope/evalscope/utils/code_utils.py:extract_code_from_freeform_completion[python, first_block_only]": func(r goldenRow) any {
		source, kind := evalscope.FirstCode(r.text())
		return []string{source, kind}
	},
	aisLive + "extract_utils.py:extract_code_generation (v1: first pair)": func(r goldenRow) any { return oc.LiveCodeFirst(r.text()) },
	aisLive + "extract_utils.py:extract_code_generation_v2 (last pair)":   func(r goldenRow) any { return oc.LiveCodeLast(r.text()) },
	aisLive + "extract_utils.py:extract_code_execution": func(r goldenRow) any {
		return oc.LiveCodeExecution(r.field("text"), r.Input.(map[string]any)["cot"] == true)
	},
	aisLive + "extract_utils.py:extract_test_output_code": func(r goldenRow) any { return oc.LiveCodeTestOutput(r.text()) },
	aisLive + "testing_util.py:custom_compare_":           func(r goldenRow) any { return oc.LiveCodeCompare(spans(r.Input), r.ref()) },
}
