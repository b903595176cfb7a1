package evaluators

import (
	"fmt"
	"strings"

	"ais_bench/evaluators/bfcl"
)

// bfclScorers grade function calls.
var bfclScorers = []entry{
	{"bfcl", "1", "the Berkeley Function-Calling Leaderboard's AST check of the tool calls (or of JSON or Python calls in the text) against the allowed answers (columns function, ground_truth); option category says what is right: simple, multiple, parallel, parallel_multiple, irrelevance (no call), relevance (a call); Python types", []string{"category"}, newBFCL},
}

func newBFCL(m meta, o *options) (Scorer, error) {
	category := o.text("category", "")
	return scoreFunc{m, func(a Answer, it Item) Verdict {
		if a.Failed {
			return Verdict{Outcome: Failed, Detail: "the request failed"}
		}
		kind := category
		if kind == "" {
			kind = it.Subset
		}
		kind = strings.ToLower(strings.TrimPrefix(kind, "live_"))
		source := a.ToolCalls
		if strings.TrimSpace(source) == "" || strings.TrimSpace(source) == "[]" {
			source = StripThinking(a.Text)
		}
		calls, err := bfcl.ReadCalls(source)
		switch {
		case strings.Contains(kind, "irrelevance"):
			return yesNo(err != nil || len(calls) == 0, source, "called a function where none fits")
		case strings.Contains(kind, "relevance"):
			return yesNo(err == nil && len(calls) > 0, source, "called no function")
		case strings.TrimSpace(source) == "":
			return Verdict{Outcome: Empty, Detail: "no content and no tool call"}
		case err != nil:
			v := unreadable(a, source)
			v.Detail = err.Error()
			return v
		}
		functions, err := bfcl.Functions(it.Fields["function"])
		if err != nil {
			return Verdict{Outcome: Failed, Detail: fmt.Sprintf("column function of item %s: %v", it.ID, err)}
		}
		truth := it.Fields["ground_truth"]
		if truth == nil {
			truth = it.Gold
		}
		want, err := bfcl.Answers(truth)
		if err != nil || len(want) == 0 || len(functions) == 0 {
			return Verdict{Outcome: Failed, Detail: fmt.Sprintf("columns function and ground_truth of item %s hold no function or no allowed answer (%v)", it.ID, err)}
		}
		var fault bfcl.Fault
		switch {
		case strings.Contains(kind, "parallel") || kind == "" && len(want) > 1:
			fault = bfcl.Parallel(calls, functions, want)
		case strings.Contains(kind, "multiple") || kind == "" && len(functions) > 1:
			fault = bfcl.Multiple(calls, functions, want)
		default:
			fault = bfcl.Simple(calls, functions[0], want[0])
		}
		return yesNo(fault == "", source, string(fault))
	}}, nil
}

func yesNo(ok bool, extracted, why string) Verdict {
	if ok {
		return Verdict{Outcome: Right, Extracted: extracted, Score: 1}
	}
	return Verdict{Outcome: Wrong, Extracted: extracted, Detail: why}
}
