package evaluators

import (
	"encoding/json"
	"fmt"
	"strings"

	"ais_bench/evaluators/bfcl"
	"ais_bench/evaluators/evalscope"
	"ais_bench/evaluators/oc"
	"ais_bench/evaluators/stats"
)

func grades(r goldenRow) []Grade {
	var out []Grade
	for _, s := range spans(r.Input) {
		out = append(out, letterGrade(s))
	}
	return out
}

func simpleQAResults(r goldenRow) any {
	m := SimpleQAMetrics(grades(r))
	n := float64(len(spans(r.Input)))
	return map[string]float64{
		"accuracy": 100 * m["correct"], "accuracy_given_attempted": 100 * m["accuracy_given_attempted"], "f1": m["f1"],
		"attempted_ratio": 100 * (m["correct"] + m["incorrect"]), "correct_count": n * m["correct"], "incorrect_count": n * m["incorrect"], "not_attempted_count": n * m["not_attempted"],
	}
}

const bfclAST = "ShishirPatil/gorilla@6ea57973 bfcl_eval/eval_checker/ast_eval/ast_checker.py:"

// bfclRow decodes a row's calls, functions and allowed answers with numbers as
// written.
func bfclRow(r goldenRow) (calls []bfcl.Call, fs []bfcl.Function, want []bfcl.Answer) {
	var in struct {
		Output    json.RawMessage `json:"model_output"`
		Function  json.RawMessage `json:"function"`
		Functions []string        `json:"functions"`
	}
	if err := json.Unmarshal(r.rawInput, &in); err != nil {
		panic(err)
	}
	calls, err := bfcl.ReadCalls(string(in.Output))
	if err != nil {
		panic(err)
	}
	if in.Function != nil {
		fs, err = bfcl.Functions(string(in.Function))
	}
	for _, name := range in.Functions { // named only: every parameter of the allowed answer is a string
		f := bfcl.Function{Name: name}
		f.Parameters.Properties = map[string]bfcl.Property{"x": {Type: "integer"}, "y": {Type: "string"}}
		fs = append(fs, f)
	}
	if err != nil {
		panic(err)
	}
	want, err = bfcl.Answers(string(r.rawReference))
	if err != nil {
		panic(err)
	}
	return calls, fs, want
}

func fault(f bfcl.Fault) any {
	if f == "" {
		return []any{true, nil}
	}
	return []any{false, string(f)}
}

var goldenJudge = map[string]goldenFunc{
	"benchmark/ais_bench/benchmark/datasets/utils/llm_judge.py:get_a_or_b (last char only)":          func(r goldenRow) any { return oc.JudgeLastChar(r.text()) },
	"opencompass/opencompass/datasets/generic.py:_generic_llmjudge_postprocess (first A|B anywhere)": func(r goldenRow) any { return oc.JudgeFirst(r.text()) },
	"opencompass/opencompass/datasets/simpleqa.py:_single_simpleqa_postprocess":                      func(r goldenRow) any { return oc.SimpleQAGrade(r.text()) },
	"evalscope/evalscope/api/judge/contracts.py:OutputContract(Grade).parse":                         func(r goldenRow) any { return evalscope.JudgeVerdict(r.text(), "A", "B", "C") },
	"opencompass/opencompass/datasets/simpleqa.py:get_final_results (minus details)":                 simpleQAResults,
	"opencompass/opencompass/datasets/generic.py:get_final_results (minus details)":                  simpleQAResults,
	"opencompass/opencompass/datasets/chinese_simpleqa.py:calculate_metrics": func(r goldenRow) any {
		m := SimpleQAMetrics(grades(r))
		return map[string]float64{"correct": m["correct"], "incorrect": m["incorrect"], "not_attempted": m["not_attempted"], "given_attempted_accuracy": m["accuracy_given_attempted"], "F1": m["f1"]}
	},
	bfclAST + "ast_checker[simple, Python, underscore_to_dot] -> [valid, error_type]": func(r goldenRow) any {
		calls, fs, want := bfclRow(r)
		return fault(bfcl.Simple(calls, fs[0], want[0]))
	},
	bfclAST + "ast_checker[parallel] -> [valid, error_type]": func(r goldenRow) any { calls, fs, want := bfclRow(r); return fault(bfcl.Parallel(calls, fs, want)) },
	bfclAST + "ast_checker[multiple] -> [valid, error_type]": func(r goldenRow) any { calls, fs, want := bfclRow(r); return fault(bfcl.Multiple(calls, fs, want)) },
	bfclAST + "standardize_string":                           func(r goldenRow) any { return bfcl.Standard(r.text()) },
	"benchmark/ais_bench/benchmark/openicl/icl_evaluator/icl_base_evaluator.py:BaseEvaluator.evaluate (item-major dataset, n=k=num_return_sequences) — AS SHIPPED: pass@k/cons@k mis-grouped": func(r goldenRow) any {
		golds, _ := asStrings(r.Reference)
		var items []stats.Samples
		right, n := 0, 0
		for i, list := range r.Input.([]any) {
			var s stats.Samples
			for _, a := range spans(list) {
				s = append(s, stats.Sample{Right: a == golds[i]})
			}
			right, n = right+s.RightCount(), len(s)
			items = append(items, s)
		}
		pass, cons := 0.0, 0.0
		for _, s := range stats.MixedAsAISBench(items) {
			pass += 100 * stats.PassAtK(len(s), s.RightCount(), n) / float64(len(items))
			cons += 100 * stats.MajorityRightAtK(s.RightCount(), n) / float64(len(items))
		}
		avg := 100 * float64(right) / float64(n*len(items))
		return map[string]float64{fmt.Sprintf("accuracy (%d runs average)", n): avg, fmt.Sprintf("avg@%d", n): avg, fmt.Sprintf("pass@%d", n): pass, fmt.Sprintf("cons@%d", n): cons}
	},
}

// UnmarshalJSON keeps the raw input and reference beside the decoded ones.
func (r *goldenRow) UnmarshalJSON(b []byte) error {
	var row struct {
		Family, Func     string
		Input, Reference json.RawMessage
		Expected         any
	}
	if err := json.Unmarshal(b, &row); err != nil {
		return err
	}
	*r = goldenRow{Family: row.Family, Func: row.Func, Expected: row.Expected, rawInput: row.Input, rawReference: row.Reference}
	if err := json.Unmarshal(row.Input, &r.Input); err != nil {
		return err
	}
	if strings.TrimSpace(string(row.Reference)) == "" {
		return nil
	}
	return json.Unmarshal(row.Reference, &r.Reference)
}
