package evaluators

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ais_bench/evaluators/code"
	"ais_bench/evaluators/lmeval"
	"ais_bench/evaluators/oc"
	"ais_bench/evaluators/sandbox"
)

// codeScorers run programs in a sandbox. Option sandbox is the sandbox to run
// in (a *sandbox.Sandbox or anything with its Run); without it the native one is
// used, which refuses to run where it cannot isolate.
var codeScorers = []entry{
	{"humaneval", "1", "runs the function of the reply (last complete fenced block that defines it, or a body joined to the prompt) against the problem's tests in a sandbox (columns prompt, test, entry_point)", sandboxOption,
		codeScorer(func(ctx context.Context, box code.Runner, it Item, text string) (code.Verdict, error) {
			return code.HumanEval(ctx, box, code.HumanEvalProblem{Prompt: it.fieldText("prompt"), Test: it.fieldText("test"), EntryPoint: it.fieldText("entry_point")}, text)
		}, "prompt", "test", "entry_point")},
	{"humanevalx", "1", "as humaneval for Python, C++, Go, Java and JavaScript, where the host has the toolchain (columns prompt, declaration, test, test_setup; language from column language or the task id)", sandboxOption,
		codeScorer(func(ctx context.Context, box code.Runner, it Item, text string) (code.Verdict, error) {
			return code.HumanEvalX(ctx, box, code.HumanEvalXProblem{Language: programmingLanguage(it), Prompt: it.fieldText("prompt"), Declaration: it.fieldText("declaration"),
				Test: it.fieldText("test"), TestSetup: it.fieldText("test_setup"), EntryPoint: it.fieldText("entry_point")}, text)
		}, "prompt", "test")},
	{"mbpp", "1", "runs the program of the reply against the task's assertions in a sandbox (columns test_list, test_setup_code, test_imports)", sandboxOption,
		codeScorer(func(ctx context.Context, box code.Runner, it Item, text string) (code.Verdict, error) {
			return code.MBPP(ctx, box, mbppProblem(it), text)
		}, "test_list")},
	{"livecodebench", "1", "runs the program of the reply on all public and private cases in a sandbox, stdin or call-based, stopping at the first that fails (columns test_cases, or public_test_cases and private_test_cases; metadata.func_name)", sandboxOption,
		codeScorer(func(ctx context.Context, box code.Runner, it Item, text string) (code.Verdict, error) {
			p, err := liveCodeProblem(it)
			if err != nil {
				return code.Verdict{}, err
			}
			return code.LiveCodeBench(ctx, box, p, text)
		})},

	{"oc/humaneval", "1", "AISBench's rule: prompt, FIRST fenced block (or the whole reply) and tests as one program, 3 s", sandboxOption,
		codeScorer(ocHumanEval(func(text string, _ Item) string { return oc.HumanEvalFirst(text) }), "prompt", "test", "entry_point")},
	{"oc/humaneval_last", "1", "OpenCompass's humaneval_postprocess_v3: the LAST fenced block", sandboxOption,
		codeScorer(ocHumanEval(func(text string, _ Item) string { return oc.HumanEvalLast(text) }), "prompt", "test", "entry_point")},
	{"lmeval/humaneval_instruct", "1", "lm-evaluation-harness humaneval_instruct: the prompt and the reply up to its first fence", sandboxOption,
		codeScorer(func(ctx context.Context, box code.Runner, it Item, text string) (code.Verdict, error) {
			program := lmeval.HumanEvalInstruct(text, it.fieldText("prompt")) + "\n" + it.fieldText("test") + "\ncheck(" + it.fieldText("entry_point") + ")"
			return code.RunPython(ctx, box, program, code.RunOptions{Timeout: 3 * time.Second})
		}, "prompt", "test", "entry_point")},
	{"oc/mbpp", "1", "AISBench's and OpenCompass's MBPPEvaluator: the capture of the first of twenty greedy searches, joined to the assertions, 10 s", sandboxOption, codeScorer(mbppWith(oc.MBPP), "test_list")},
	{"oc/mbpp_v2", "1", "OpenCompass's MBPPEvaluator2: the first fenced block", sandboxOption, codeScorer(mbppWith(oc.MBPPV2), "test_list")},
	{"lmeval/mbpp", "1", "lm-evaluation-harness mbpp_instruct: the first block of the reply behind an implied opening fence", sandboxOption, codeScorer(mbppWith(lmeval.MBPPCode), "test_list")},
	{"oc/livecodebench", "1", "AISBench's extraction: the lines between the FIRST two fences", sandboxOption, codeScorer(liveCodeWith(oc.LiveCodeFirst))},
	{"oc/livecodebench_last", "1", "OpenCompass's extraction v2: the lines between the LAST two fences", sandboxOption, codeScorer(liveCodeWith(oc.LiveCodeLast))},
}

var sandboxOption = []string{"sandbox"}

type codeJudge func(ctx context.Context, box code.Runner, it Item, text string) (code.Verdict, error)

// codeScorer builds a scorer around a judge; needs are columns without which an
// item cannot be judged.
func codeScorer(judge codeJudge, needs ...string) func(meta, *options) (Scorer, error) {
	return func(m meta, o *options) (Scorer, error) {
		s := programScorer{meta: m, judge: judge, needs: needs}
		switch v := o.values["sandbox"].(type) {
		case nil:
			box, err := sandbox.New(sandbox.Options{})
			if err != nil {
				return nil, err
			}
			s.box = box
		case code.Runner:
			s.box = v
		default:
			o.bad("sandbox", "a sandbox")
		}
		return s, nil
	}
}

type programScorer struct {
	meta
	box   code.Runner
	judge codeJudge
	needs []string
}

func (s programScorer) Score(ctx context.Context, a Answer, it Item) (Verdict, error) {
	text, v, done := gradable(a, stripThoughts)
	if done {
		return v, nil
	}
	for _, col := range s.needs {
		if it.Fields[col] == nil {
			return Verdict{}, fmt.Errorf("scorer %s: item %s has no column %s; load the data set with its tests", s.id, it.ID, col)
		}
	}
	r, err := s.judge(ctx, s.box, it, text)
	if err != nil {
		return Verdict{}, fmt.Errorf("scorer %s: item %s: %w", s.id, it.ID, err)
	}
	out := Verdict{Outcome: Wrong, Extracted: r.Code, Detail: string(r.Status)}
	if r.Detail != "" {
		out.Detail += ": " + r.Detail
	}
	if r.Total > 0 {
		out.Parts = map[string]float64{"cases_passed": float64(r.Passed) / float64(r.Total)}
	}
	switch r.Status {
	case code.Pass:
		out.Outcome, out.Score = Right, 1
	case code.NoCode:
		out = unreadable(a, r.Code)
	case code.Skipped:
		return Verdict{}, fmt.Errorf("scorer %s: %s; install the toolchain or leave this sub-set out", s.id, out.Detail)
	}
	return out, nil
}

func ocHumanEval(extract func(string, Item) string) codeJudge {
	return func(ctx context.Context, box code.Runner, it Item, text string) (code.Verdict, error) {
		body := extract(text, it)
		program := it.fieldText("prompt") + body + "\n" + it.fieldText("test") + "\ncheck(" + it.fieldText("entry_point") + ")"
		v, err := code.RunPython(ctx, box, program, code.RunOptions{Timeout: 3 * time.Second})
		v.Code = body
		return v, err
	}
}

func mbppProblem(it Item) code.MBPPProblem {
	tests, _ := asStrings(it.Fields["test_list"])
	imports, _ := asStrings(it.Fields["test_imports"])
	return code.MBPPProblem{Setup: it.fieldText("test_setup_code"), Imports: imports, Tests: tests}
}

func mbppWith(extract func(string) string) codeJudge {
	return func(ctx context.Context, box code.Runner, it Item, text string) (code.Verdict, error) {
		p := mbppProblem(it)
		body := extract(text)
		parts := append([]string{body}, p.Tests...)
		v, err := code.RunPython(ctx, box, strings.Join(parts, "\n"), code.RunOptions{Timeout: 10 * time.Second})
		v.Code = body
		return v, err
	}
}

// liveCodeWith hands the compatible extraction to the judge as the only block of
// an answer, so that its own extraction changes nothing.
func liveCodeWith(extract func(string) string) codeJudge {
	return func(ctx context.Context, box code.Runner, it Item, text string) (code.Verdict, error) {
		body := extract(text)
		if strings.TrimSpace(body) == "" {
			return code.Verdict{Status: code.NoCode}, nil
		}
		p, err := liveCodeProblem(it)
		if err != nil {
			return code.Verdict{}, err
		}
		return code.LiveCodeBench(ctx, box, p, "```python\n"+body+"\n```")
	}
}

// programmingLanguage is column language, or the part of a task id ("CPP/0")
// or sub-set before its slash.
func programmingLanguage(it Item) string {
	for _, s := range []string{it.fieldText("language"), it.fieldText("task_id"), it.Subset} {
		if s == "" {
			continue
		}
		s, _, _ = strings.Cut(strings.ToLower(s), "/")
		if i := strings.LastIndexAny(s, "-_"); i >= 0 {
			s = s[i+1:]
		}
		switch s {
		case "javascript":
			return "js"
		case "c++":
			return "cpp"
		case "golang":
			return "go"
		}
		return s
	}
	return ""
}

// liveCodeProblem reads a problem's cases from the columns of the published
// files: lists, or JSON in strings.
func liveCodeProblem(it Item) (code.LiveCodeBenchProblem, error) {
	p := code.LiveCodeBenchProblem{FuncName: it.fieldText("func_name")}
	var found bool
	for _, col := range []string{"test_cases", "public_test_cases", "private_test_cases"} {
		v := it.Fields[col]
		if v == nil {
			continue
		}
		// Private cases unpack to many times their size, so a reader may leave
		// that to the moment they are needed.
		if packed, ok := v.(interface{ Unpack() (any, error) }); ok {
			var err error
			if v, err = packed.Unpack(); err != nil {
				return p, fmt.Errorf("column %s: %w", col, err)
			}
		}
		if s, ok := v.(string); ok {
			var decoded any
			if err := json.Unmarshal([]byte(s), &decoded); err != nil {
				return p, fmt.Errorf("column %s is not JSON: %w", col, err)
			}
			v = decoded
		}
		list, ok := v.([]any)
		if !ok {
			return p, fmt.Errorf("column %s is not a list of cases", col)
		}
		for i, e := range list {
			m, ok := e.(map[string]any)
			if !ok {
				return p, fmt.Errorf("column %s: case %d is not an object", col, i)
			}
			in, _ := asText(m["input"])
			out, _ := asText(m["output"])
			p.Cases = append(p.Cases, code.Case{Input: in, Output: out})
		}
		found = true
	}
	if !found {
		return p, fmt.Errorf("no column test_cases, public_test_cases or private_test_cases")
	}
	metadata := it.Fields["metadata"]
	if s, ok := metadata.(string); ok && s != "" {
		if err := json.Unmarshal([]byte(s), &metadata); err != nil {
			return p, fmt.Errorf("column metadata is not JSON: %w", err)
		}
	}
	if m, ok := metadata.(map[string]any); ok && p.FuncName == "" {
		p.FuncName, _ = asText(m["func_name"])
	}
	return p, nil
}
