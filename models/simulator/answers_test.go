package simulator

import (
	"fmt"
	"strings"
	"testing"
)

func contains(s, sub string) bool { return strings.Contains(s, sub) }

func sheet(t *testing.T, accuracy float64, rows ...string) *answerSheet {
	t.Helper()
	a, err := newAnswerSheet(&Config{AnswersData: []byte(strings.Join(rows, "\n")), Accuracy: accuracy})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFindsTheQuestionAsked(t *testing.T) {
	a := sheet(t, 1,
		`{"id":"apples","question":"Tom has 3 apples and buys 4 more. How many apples has he?","answer":"7"}`,
		`{"id":"pears","question":"Ann has 10 pears and eats 2 of them. How many pears are left over?","answer":"8"}`,
		`{"id":"both","question":"First: Tom has 3 apples and buys 4 more. How many apples has he? Then add five.","answer":"12"}`,
		`{"id":"short","question":"1+1?","answer":"2"}`,
		`{"id":"middle","question":"What is 17 + 25?","answer":"42"}`,
		`{"id":"mcq1","question":"Which of these is the correct choice here?","choices":["red","green"],"answer":"A"}`,
		`{"id":"mcq2","question":"Which of these is the correct choice here?","choices":["up","down"],"answer":1}`,
	)
	for prompt, want := range map[string]string{
		"Q: Ann has 10 pears and eats 2 of them. How many pears are left over?\nA: 8\n\nQ: Tom has 3 apples and buys 4 more.\n  How many apples has he?\nA:": "apples",
		"First: Tom has 3 apples and buys 4 more. How many apples has he? Then add five.\nThink.":                                                            "both",
		"Question: 1+1?\nAnswer:":                                               "short",
		"Please tell me: what is 17 + 25? Be brief":                             "middle",
		"Which of these is the correct choice here?\nA. up\nB. down\nAnswer:":   "mcq2",
		"Which of these is the correct choice here?\nA. red\nB. green\nAnswer:": "mcq1",
		"Nothing known is asked in this prompt at all, is it?":                  "",
	} {
		q := a.find(&input{text: prompt, last: prompt})
		got := ""
		if q != nil {
			got = q.id
		}
		if got != want {
			t.Errorf("%q: found %q, want %q", prompt, got, want)
		}
	}
}

// Right answers carry the gold result where the usual extractors look; wrong
// ones do not carry it there.
func TestWordingOfAnswers(t *testing.T) {
	tests := []struct {
		name, row, prompt string
		right             string // suffix of the right answer
		result            func(text string) string
		gold              string
	}{
		{"gsm8k", `{"question":"How many eggs does it take in all of these boxes?","answer":"2*3=<<2*3=6>>6 eggs\n#### 6"}`, "step by step", "The answer is 6\n#### 6", after("#### "), "6"},
		{"thousands", `{"question":"How many eggs does it take in all of these boxes?","answer":"It is 1,200.\n#### 1,200"}`, "", "#### 1,200", after("#### "), "1,200"},
		{"number, boxed", `{"problem":"Find the number of minutes the walk takes her.","answer":27.0}`, `put it in \boxed{}`, `\boxed{27}`, after(`\boxed{`), "27}"},
		{"formula", `{"problem":"Find the value of x in terms of y and z here.","answer":"\\frac{1}{2}"}`, `put it in \boxed{}`, `\boxed{\frac{1}{2}}`, after(`\boxed{`), `\frac{1}{2}}`},
		{"math solution", `{"problem":"Find the value of x in terms of y and z here.","solution":"So $x=\\boxed{\\sqrt{2}}$."}`, ``, `\boxed{\sqrt{2}}`, after(`\boxed{`), `\sqrt{2}}`},
		{"choice by letter", `{"question":"Which of these is the best one of all?","options":["a","b","c","d"],"answer":"C"}`, "", "(C).\nANSWER: C", after("ANSWER: "), "C"},
		{"choice by index", `{"question":"Which of these is the best one of all?","choices":["a","b","c","d"],"answer":2}`, "", "ANSWER: C", first, "C"},
		{"choice, columns", `{"question":"Which of these is the best one of all?","A":"a","B":"b","answer":"B"}`, "请给出答案", "答案：B", first, "B"},
		{"arc", `{"question":"Which of these is the best one of all?","choices":{"text":["x","y"],"label":["1","2"]},"answerKey":"2"}`, "", "ANSWER: 2", after("ANSWER: "), "2"},
		{"yes", `{"question":"Is the sky blue on a clear summer day?","target":"Yes"}`, "", "Yes", whole, "Yes"},
		{"bbh", `{"input":"Which of the options follows from the text?","target":"(B)"}`, "So the answer is (A).", "So the answer is (B).", after("answer is "), "(B)."},
		{"text", `{"question":"Who wrote this book about the sea?","answers":["Melville","Herman Melville"]}`, "", "Melville", whole, "Melville"},
		{"json", `{"question":"Give the record of the person as JSON.","answer":{"a":1}}`, "", `{"a":1}`, whole, `{"a":1}`},
		{"code", `{"task_id":"T/1","prompt":"def add(a, b):\n    \"\"\"Adds.\"\"\"\n","canonical_solution":"    return a + b\n","entry_point":"add"}`, "", "return a + b\n```", after("return "), "a + b\n```"},
		{"mbpp", `{"text":"Write a function that adds two numbers.","code":"def add(a, b):\n    return a + b","test_list":["assert add(1,2)==3"]}`, "", "return a + b\n```", after("return "), "a + b\n```"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			other := `{"question":"a wholly different question about nothing","answer":"Something else"}`
			for _, right := range []bool{true, false} {
				accuracy := 0.0
				if right {
					accuracy = 1
				}
				a := sheet(t, accuracy, tc.row, other)
				g, text := a.answer(a.rows[0], 0, tc.prompt)
				if g.Right != right {
					t.Fatalf("accuracy %v decided %v", accuracy, g.Right)
				}
				if right && !strings.HasSuffix(text, tc.right) {
					t.Errorf("right answer %q does not end in %q", text, tc.right)
				}
				if got := tc.result(text); (got == tc.gold) != right {
					t.Errorf("right %v: result %q of %q, gold %q", right, got, text, tc.gold)
				}
			}
		})
	}
}

func after(sep string) func(string) string {
	return func(s string) string { _, a, _ := lastCut(s, sep); return a }
}
func whole(s string) string { return s }
func first(s string) string { return s[:1] }

func TestWrongAnswersAreNeverRight(t *testing.T) {
	for _, gold := range []string{"0", "1", "-3", "3.50", "1,000", "$5", "50%", "7.0", "100000000000"} {
		a := sheet(t, 0, fmt.Sprintf(`{"question":"some question that is long enough","answer":%q}`, gold), `{"question":"another question that is long enough","answer":"18"}`)
		for h := range uint64(200) {
			w := a.wrong(a.rows[0], mix(h, 1))
			if numeric(w) == numeric(gold) || w == "" {
				t.Fatalf("wrong answer %q to gold %q", w, gold)
			}
		}
	}
}

func numeric(s string) string {
	s = strings.NewReplacer(",", "", "$", "", "%", "").Replace(s)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func TestConformanceSetsLoad(t *testing.T) {
	for _, name := range []string{"humaneval/HumanEval.jsonl.gz", "mmlu_pro/Qwen1.5-72B-Chat.jsonl.gz", "math/aime24.jsonl", "math/svamp.jsonl",
		"math/mmlu_stem.jsonl", "math/olympiadbench.jsonl", "math/cmath.jsonl", "math/math_sampled_responses.jsonl", "bbh/data/boolean_expressions.json", "gsm8k/model_solutions.jsonl"} {
		path := conformance(t, name)
		a, err := newAnswerSheet(&Config{Answers: path, Accuracy: 1})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		g, text := a.answer(a.rows[0], 0, "")
		if text == "" || !g.Right {
			t.Errorf("%s: answer %q", name, text)
		}
	}
}

func TestVaryByRepeatAndSeed(t *testing.T) {
	a := sheet(t, 0.5, `{"question":"some question that is long enough","answer":"7"}`)
	a.vary = true
	right := 0
	for range 400 {
		if g, _ := a.answer(a.rows[0], 0, ""); g.Right {
			right++
		}
	}
	if right < 150 || right > 250 {
		t.Errorf("%d of 400 repeats right at accuracy 0.5", right)
	}
}
