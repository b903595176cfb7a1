package evaluators

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
	"testing"
)

// goldenRow is one recorded behaviour of a public function.
type goldenRow struct {
	Family, Func               string
	Input, Reference, Expected any
	rawInput, rawReference     json.RawMessage
}

// goldenFunc is our counterpart of a recorded function.
type goldenFunc func(r goldenRow) any

// goldenTables map the func labels of the golden file to our functions, one
// table per family file. A label is matched whole.
func goldenTables() []map[string]goldenFunc {
	return []map[string]goldenFunc{
		goldenGSM8K, goldenChoice, goldenMath, goldenText, goldenCode, goldenStats, goldenJudge, goldenMetrics, ifevalRows(),
	}
}

// goldenElsewhere are the families whose rows are run in another package.
var goldenElsewhere = map[string]string{
	"ifeval": "evaluators/ifeval",
	"rng":    "datasets/pyrandom",
}

const jiebaReason = "jieba: the words come from its dictionary, which is not shipped; Han text is cut into characters"

// goldenDeviations are the rows that do not pass, by label and input; each says
// why. A row that starts to pass must leave the list.
var goldenDeviations = map[string]string{
	esMath + `math_equal(prediction, strip_answer_string(reference)) | "\\tfrac34" | "\\frac{3}{4}"`:                                                                             "sympy: its LaTeX readers refuse \\tfrac34; ours reads it",
	esMath + `math_equal(prediction, strip_answer_string(reference)) | "\\text{Yes}" | "yes"`:                                                                                    "sympy: its LaTeX reader takes \\text{Yes} for the product of letters y, e, s",
	esMath + `math_equal(prediction, strip_answer_string(reference)) | "3 1/2" | "3.5"`:                                                                                          "sympy: its readers take a mixed number for a product, or refuse it",
	esMath + `math_equal(prediction, strip_answer_string(reference)) | "a\\!b" | "ab"`:                                                                                           "sympy: its LaTeX reader does not know the negative space; ours does",
	`lm-evaluation-harness/lm_eval/tasks/longbench/metrics.py:qa_f1_zh_score (jieba 0.42.1) | "北京是中国的首都" | "中国首都是北京"`:                                                            jiebaReason,
	`lm-evaluation-harness/lm_eval/tasks/longbench/metrics.py:qa_f1_zh_score (jieba 0.42.1) | "2019年5月" | "2019年五月"`:                                                             jiebaReason,
	`lm-evaluation-harness/lm_eval/tasks/longbench/metrics.py:rouge_zh_score (jieba + pltrdy rouge-l f) | "今天天气很好" | "今天的天气不错"`:                                                  jiebaReason,
	`lm-evaluation-harness/lm_eval/tasks/longbench/metrics.py:rouge_zh_score (jieba + pltrdy rouge-l f) | "会议讨论了预算问题" | "会议讨论预算"`:                                                jiebaReason,
	`benchmark/ais_bench/benchmark/openicl/icl_evaluator/icl_jieba_rouge_evaluator.py:JiebaRougeEvaluator.score (rouge_chinese + jieba 0.42.1) | "上海今日有雨" | "上海今天下雨"`:            jiebaReason,
	`benchmark/ais_bench/benchmark/openicl/icl_evaluator/icl_jieba_rouge_evaluator.py:JiebaRougeEvaluator.score (rouge_chinese + jieba 0.42.1) | "公司发布财报。利润增长" | "公司财报显示利润增长"`:   jiebaReason,
	`benchmark/ais_bench/benchmark/openicl/icl_evaluator/icl_jieba_rouge_evaluator.py:JiebaRougeEvaluator.score (rouge_chinese + jieba 0.42.1) | "A股上涨3.5%" | "A股涨3.5%"`:         jiebaReason,
	`opencompass/opencompass/datasets/flores.py:flores_postprocess_chinese | "你好  世界，今天天气不错" | null`:                                                                             jiebaReason,
	`opencompass/opencompass/datasets/flores.py:flores_postprocess_chinese | "我来到北京清华大学" | null`:                                                                                 jiebaReason,
	"benchmark/ais_bench/benchmark/openicl/icl_evaluator/math_evaluator.py:MATHEvaluator.score (math_verify 0.8.0 + latex2sympy2_extended 1.11.0) | " + `"\\boxed{i+1}" | "1+i"`: "sympy: in math_verify i is the imaginary unit on one side and a symbol on the other",
}

func (r goldenRow) key() string {
	in, _ := json.Marshal(r.Input)
	ref, _ := json.Marshal(r.Reference)
	return r.Func + " | " + string(in) + " | " + string(ref)
}

func (r goldenRow) text() string { return r.Input.(string) }

// field is a string member of an object input.
func (r goldenRow) field(name string) string {
	s, _ := r.Input.(map[string]any)[name].(string)
	return s
}

func (r goldenRow) ref() string { s, _ := r.Reference.(string); return s }

func (r goldenRow) refs() []string {
	if s, ok := r.Reference.(string); ok {
		return []string{s}
	}
	l, _ := asStrings(r.Reference)
	return l
}

// noneIf is nil (Python's None) where ok is false.
func noneIf(s string, ok bool) any {
	if !ok {
		return nil
	}
	return s
}

// sameJSON compares a result with an expectation as JSON values; numbers within
// the rounding of the golden file are equal.
func sameJSON(got, want any) bool {
	b, err := json.Marshal(got)
	if err != nil {
		return false
	}
	var g any
	if json.Unmarshal(b, &g) != nil {
		return false
	}
	return sameValue(g, want)
}

func sameValue(g, w any) bool {
	switch w := w.(type) {
	case float64:
		if b, ok := g.(bool); ok { // Python's True == 1.0
			return b == (w == 1)
		}
		f, ok := g.(float64)
		return ok && math.Abs(f-w) <= 1e-6*math.Max(1, math.Abs(w))
	case bool:
		if f, ok := g.(float64); ok {
			return (f == 1) == w && (f == 0 || f == 1)
		}
		return g == w
	case []any:
		l, ok := g.([]any)
		if !ok || len(l) != len(w) {
			return false
		}
		for i := range w {
			if !sameValue(l[i], w[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		m, ok := g.(map[string]any)
		if !ok {
			return false
		}
		for k := range w {
			if !sameValue(m[k], w[k]) {
				return false
			}
		}
		return true
	}
	return g == w
}

// TestGolden runs every row of golden_extract.jsonl through our counterpart of
// the function it records. docs/conformance.md is written from its log (-v).
func TestGolden(t *testing.T) {
	rows := readJSONL[goldenRow](t, conformanceFile(t, "golden_extract.jsonl"))
	funcs := map[string]goldenFunc{}
	for _, table := range goldenTables() {
		for label, f := range table {
			if funcs[label] != nil {
				t.Fatalf("label registered twice: %s", label)
			}
			funcs[label] = f
		}
	}
	type tally struct{ rows, passed, listed int }
	byFamily := map[string]*tally{}
	missing := map[string]int{}
	used := map[string]bool{}
	for _, r := range rows {
		if goldenElsewhere[r.Family] != "" && funcs[r.Func] == nil {
			continue
		}
		c := byFamily[r.Family]
		if c == nil {
			c = &tally{}
			byFamily[r.Family] = c
		}
		c.rows++
		f := funcs[r.Func]
		if f == nil {
			missing[r.Family+": "+r.Func]++
			continue
		}
		used[r.Func] = true
		got := f(r)
		ok := sameJSON(got, r.Expected)
		reason := goldenDeviations[r.key()]
		switch {
		case ok && reason != "":
			t.Errorf("row passes now, take it off the list: %s", r.key())
		case ok:
			c.passed++
		case reason != "":
			c.listed++
		default:
			g, _ := json.Marshal(got)
			w, _ := json.Marshal(r.Expected)
			t.Errorf("%s\n  %s\n  got  %s\n  want %s", r.Family, r.key(), g, w)
		}
	}
	for label := range funcs {
		if !used[label] {
			t.Errorf("registered label has no row: %s", label)
		}
	}
	page, err := os.ReadFile("../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for fam, c := range byFamily {
		line := fmt.Sprintf("| %s | %d | %d | %d |", fam, c.rows, c.passed, c.listed)
		lines = append(lines, line)
		if !strings.Contains(string(page), line) {
			t.Errorf("docs/conformance.md does not say %q", line)
		}
	}
	sort.Strings(lines)
	t.Log("\n| family | rows | passed | listed |\n" + strings.Join(lines, "\n"))
	var open []string
	for m, n := range missing {
		open = append(open, fmt.Sprintf("%s (%d rows)", m, n))
	}
	sort.Strings(open)
	if len(open) > 0 {
		t.Errorf("no function for:\n%s", strings.Join(open, "\n"))
	}
}
