package evaluators

import (
	"encoding/json"
	"testing"
)

func TestGSM8KAgreesWithHumanFlags(t *testing.T) {
	type solution struct {
		Solution string `json:"solution"`
		Correct  bool   `json:"is_correct"`
	}
	rows := readJSONL[map[string]json.RawMessage](t, conformanceFile(t, "gsm8k", "model_solutions.jsonl"))
	want := map[string]int{"6b_finetuning": 286, "175b_verification": 742}
	for _, id := range []string{"gsm8k", "oc/gsm8k", "lmeval/gsm8k-flexible"} {
		s := mustNew(t, id, nil)
		for column, count := range want {
			got := 0
			for i, row := range rows {
				var gold string
				var sol solution
				if err := json.Unmarshal(row["gold"], &gold); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(row[column], &sol); err != nil {
					t.Fatal(err)
				}
				v := score(t, s, sol.Solution, Item{Gold: gold})
				if v.Outcome == Right {
					got++
				}
				if (v.Outcome == Right) != sol.Correct {
					t.Errorf("%s %s row %d: %s %q, people said %v (gold %s)\n%s", id, column, i, v.Outcome, v.Extracted, sol.Correct, gold, sol.Solution)
				}
			}
			if got != count || len(rows) != 1319 {
				t.Errorf("%s on %s: %d right of %d, want %d of 1319", id, column, got, len(rows), count)
			}
		}
	}
}

func TestGSM8KReadsGoldSolutions(t *testing.T) {
	rows := readJSONL[struct{ Answer string }](t, conformanceFile(t, "gsm8k", "test.jsonl"))
	for _, id := range []string{"gsm8k", "oc/gsm8k", "lmeval/gsm8k-strict", "openai/gsm8k"} {
		s := mustNew(t, id, nil)
		for i, row := range rows {
			if v := score(t, s, row.Answer, Item{Gold: row.Answer}); v.Outcome != Right && id != "oc/gsm8k" {
				t.Errorf("%s row %d: %s %q for its own gold", id, i, v.Outcome, v.Extracted)
			}
		}
	}
}

func TestGSM8KDefaultReadsWhatPeopleWrite(t *testing.T) {
	cases := []struct{ text, gold, want string }{
		{"#### 1,055", "1055", "1055"},
		{"The answer is 1,234,567.", "1234567", "1234567"},
		{"It costs $12,345.67 in total", "12345.67", "12345.67"},
		{"The answer is $55.", "55", "55"},
		{"The final answer is **$55.00**", "55", "55"},
		{"Total = 5.5e1", "55", "55"},
		{`So \(5.5 \times 10^{1}\)`, "55", "55"},
		{".75 of a cake", "0.75", "0.75"},
		{"The change is −55 degrees", "-55", "-55"},
		{"The change is -$55", "-55", "-55"},
		{"72-17=55", "55", "55"},
		{"so 72 -17", "17", "17"},
		{"答案是５５。", "55", "55"},
		{"答案：1，055", "1055", "1055"},
		{"#### 55\nExtra: 7", "55", "55"},
		{"Answer: 1450 (in 2 steps)", "1450", "1450"},
		{"The answer is 55, or 56.", "55", "55"},
		{"The answer is 72 - 17 = 55.", "55", "55"},
		{"The answer is 55. Check: 55 + 17 = 72.", "55", "55"},
		{`Thus \boxed{55}. I hope 3 of you liked it.`, "55", "55"},
		{`Thus \boxed{8,000}`, "8000", "8000"},
		{`Thus \boxed{8{,}000}`, "8000", "8000"},
		{"#### 54\nWait, I made an error.\n#### 55", "55", "55"},
		{"**Answer:**\n\n55 bottles", "55", "55"},
		{"### Final Answer\n55", "55", "55"},
		{"The answer to the question is 55 bottles, for 3 people.", "55", "55"},
		{"The answer is not 54 but rather: answer is 55", "55", "55"},
		{"<think>maybe 12. #### 12</think>It is 55", "55", "55"},
		{"It is 55 because 72 - 17 = 55.\n\nQuestion: what about 99?\nAnswer: 99", "55", "55"},
		{"Numbers 1, 2, and 55", "55", "55"},
		{"Half, i.e. 1/2", "0.5", "0.5"},
		{`\boxed{\frac{1}{2}}`, "0.5", "0.5"},
		{"one third is 1/3", "0.333333333", "1/3"},
		{"answer:55%", "55", "55"},
		{"There are 55.", "55", "55"},
		{"The answer is 1\u00a0055", "1055", "1055"},
		{"#### 1,00,000", "100000", "100000"},
		{"The answer is 17.9999999", "18", "17.9999999"},
		{"She gets 18 eggs (room v2, version 2.5.5)", "18", "18"},
		{"Answer:\nJanet has 16 - 3 - 4 = 9 eggs.\nShe makes 9*2 = $18.", "18", "18"},
		{"Answer: Janet sells 16 - 3 - 4 = 9 eggs daily. She makes 9*2 = $18.", "18", "18"},
		{"Answer: 18\nExplanation: 9*2 = 18 and 3 are left.", "18", "18"},
		{"The answer is 10% of 200, which is 20.", "20", "20"},
		{"The answer is eighteen.", "18", "18"},
		{"The answer is 3 1/2 cups.", "3.5", "3.5"},
		{`\boxed{3\frac{1}{2}}`, "3.5", "3.5"},
		{`= \boxed{18\text{ dollars}}`, "18", "18"},
		{"**Answer: $18**", "18", "18"},
		{"**Final Answer:** She makes 9 * 2 = $18 a day.\n\nI used 3 steps.", "18", "18"},
		{"Answer: approximately 18.5 km", "18.5", "18.5"},
	}
	s := mustNew(t, "gsm8k", nil)
	for _, c := range cases {
		if v := score(t, s, c.text, Item{Gold: c.gold}); v.Outcome != Right || v.Extracted != c.want {
			t.Errorf("%q: %s %q, want right %q", c.text, v.Outcome, v.Extracted, c.want)
		}
	}
	for _, c := range []struct{ text, gold string }{{"1,055", "55"}, {"The answer is 55.5", "55"}, {"-55", "55"}, {"#### 10000005", "10000000"}} {
		if v := score(t, s, c.text, Item{Gold: c.gold}); v.Outcome != Wrong {
			t.Errorf("%q against %s: %s %q, want wrong", c.text, c.gold, v.Outcome, v.Extracted)
		}
	}
}

func TestOutcomesAreKeptApart(t *testing.T) {
	s := mustNew(t, "gsm8k", nil)
	it := Item{Gold: "55"}
	for _, c := range []struct {
		a    Answer
		want Outcome
	}{
		{Answer{Text: "55", FinishReason: "stop"}, Right},
		{Answer{Text: "54", FinishReason: "stop"}, Wrong},
		{Answer{Text: "no idea", FinishReason: "stop"}, Unparsable},
		{Answer{Text: "so we add", FinishReason: "length"}, Empty},
		{Answer{Text: "<think>55", FinishReason: "length"}, Empty},
		{Answer{Reasoning: "55", FinishReason: "length"}, Empty},
		{Answer{Text: "  "}, Empty},
		{Answer{Failed: true, Text: "55"}, Failed},
	} {
		v, err := s.Score(t.Context(), c.a, it)
		if err != nil || v.Outcome != c.want {
			t.Errorf("%+v: %s (%v), want %s", c.a, v.Outcome, err, c.want)
		}
	}
}

func TestStripThinking(t *testing.T) {
	for in, want := range map[string]string{
		"<think>a</think>B":                  "B",
		"a</think>B":                         "B",
		"<think>a":                           "",
		"<think>a</think>B<think>c</think>D": "BD",
		"pre<think>a</think>post":            "prepost",
		"a</think>b</think>C":                "C",
		"plain":                              "plain",
		"<think><think>a</think>b</think>c":  "c",
		"<thinking>a</thinking>B":            "B",
		"<Think signature=\"x\">a</Think> B": "B",
		"x < y and <b>bold</b>":              "x < y and <b>bold</b>",
		"A<think>b</think></think>C":         "C",
		"◁think▷a◁/think▷B":                  "B",
		"Use the `<think>` tag. B":           "Use the `<think>` tag. B",
		"[THINK]a[/THINK]B":                  "B",
		"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>": "B",
		"answer 5 <think>let me check, 7 or so":                                                          "answer 5",
	} {
		if got := StripThinking(in); got != want {
			t.Errorf("StripThinking(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNumbersNeverPanic(t *testing.T) {
	for _, s := range []string{"1e999999999", "9999999999999999999999999999e300", `\frac{`, `\frac{1}{0}`, "1/0", "-", "−", "1,", ",1", ".", "...", "1.2.3.4", "\xff1", "１２．５", "1e", "1/", `\boxed{`, "####", "answer is", "答案是"} {
		finalNumber(s)
		goldNumber(s)
	}
}

func FuzzFinalNumber(f *testing.F) {
	f.Add("The answer is 1,234.5e3 \\boxed{\\frac{1}{2}}")
	f.Fuzz(func(t *testing.T, s string) {
		if n, ok := finalNumber(s); ok && n.value == nil {
			t.Fatal("a number without a value")
		}
		StripThinking(s)
	})
}
