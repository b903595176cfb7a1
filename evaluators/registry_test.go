package evaluators

import (
	"context"
	"strings"
	"testing"

	"ais_bench/evaluators/sandbox"
)

// fixedJudge says the same thing every time.
type fixedJudge string

func (j fixedJudge) Ask(context.Context, string) (string, error) { return string(j), nil }

// refusingBox is a sandbox that runs nothing.
type refusingBox struct{}

func (refusingBox) Run(context.Context, sandbox.Program) (sandbox.Result, error) {
	return sandbox.Result{Exit: 1}, nil
}

// scorerOptions are what some scorers cannot be built without.
func scorerOptions(d Description) map[string]any {
	opts := map[string]any{}
	for _, o := range d.Options {
		switch o {
		case "judge":
			opts[o] = Judge(fixedJudge("VERDICT: CORRECT"))
		case "sandbox":
			opts[o] = refusingBox{}
		case "command":
			opts[o] = []string{"false"}
		case "pattern":
			opts[o] = `answer (\w)`
		}
	}
	return opts
}

func TestEveryScorerIsDescribedAndSurvivesAnyText(t *testing.T) {
	texts := []string{"", " ", "\x00", "\xff\xfe", "A", "answer is", "####", `\boxed{`, `\boxed{}}`, "```", "```python\n", "<think>", "</think>", "答案", "：", "((((", "1e999", "/", `\frac`, `\sqrt`, "=", "a/b/c", "VERDICT:", "Answer:", "(A) (B)", strings.Repeat("answer is ", 300), strings.Repeat("{", 300), "９９９", "[DONE]", "[f(x=", "{\"name\":"}
	items := []Item{
		{},
		{ID: "1", Gold: "A", Golds: []string{"A", ""}, Labels: []string{"A", "B"}, Fields: map[string]any{"options": []any{"x", "y"}, "lang": "zh", "all_classes": []any{"a"}}},
		{ID: "2", Gold: "#### 1,000*k#1*2", Fields: map[string]any{"choices": map[string]any{"text": []any{"p", "q"}}, "kwargs": "[]", "input": "List: b a", "test_list": []any{}}},
	}
	for _, id := range IDs() {
		d, err := Describe(id)
		if err != nil || d.Summary == "" || d.Version == "" || d.ID != id {
			t.Errorf("%s: description %+v, %v", id, d, err)
		}
		s := mustNew(t, id, scorerOptions(d))
		if s.ID() != id || s.Version() != d.Version {
			t.Errorf("%s says it is %s version %s", id, s.ID(), s.Version())
		}
		for _, it := range items {
			for _, text := range texts {
				v, err := s.Score(t.Context(), Answer{Text: text, ToolCalls: text, LabelLogprobs: []float64{-1, -2}}, it)
				if err != nil {
					continue // a column the scorer needs is missing: a message, not a panic
				}
				switch v.Outcome {
				case Right, Wrong, Unparsable, Empty, Failed:
				default:
					t.Errorf("%s on %q: outcome %q", id, text, v.Outcome)
				}
				if v.Score < 0 || v.Score > 1 || v.Score != v.Score {
					t.Errorf("%s on %q: score %v", id, text, v.Score)
				}
			}
		}
		if v, err := s.Score(t.Context(), Answer{Failed: true, Text: "A"}, Item{Gold: "A", Fields: map[string]any{"instruction_id_list": []any{"x"}}}); err == nil && v.Outcome != Failed {
			t.Errorf("%s scores a failed request as %s", id, v.Outcome)
		}
	}
}

func TestNewNamesTheNearest(t *testing.T) {
	for _, c := range []struct {
		id   string
		opts map[string]any
		want string
	}{
		{"gms8k", nil, `did you mean "gsm8k"?`},
		{"oc/first-option", nil, `did you mean "oc/first_option"?`},
		{"choice", map[string]any{"label": "AB"}, `did you mean "labels"?`},
		{"gsm8k", map[string]any{"labels": "AB"}, "it has no options"},
		{"choice", map[string]any{"multiple": "yes"}, "want true or false"},
		{"ppl", map[string]any{"normalize": "words"}, "none, chars or bytes"},
		{"judge", nil, "no judge model"},
		{"judge", map[string]any{"judge": Judge(fixedJudge("")), "prompt": "Is {answer} right?"}, "{gold} is missing"},
		{"oc/match_answer", nil, "pattern is missing"},
		{"oc/match_answer", map[string]any{"pattern": "("}, "option pattern"},
	} {
		_, err := New(c.id, c.opts)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("New(%s, %v): %v, want %q", c.id, c.opts, err, c.want)
		}
	}
	if _, err := Describe("drp"); err == nil || !strings.Contains(err.Error(), `"drop"`) {
		t.Errorf("Describe(drp): %v", err)
	}
}
