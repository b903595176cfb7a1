package evaluators

import (
	"path/filepath"
	"strings"
	"testing"
)

type mmluProRow struct {
	Question   string   `json:"question"`
	Options    []string `json:"options"`
	Answer     string   `json:"answer"`
	Category   string   `json:"category"`
	Prediction string   `json:"prediction"`
}

func (r mmluProRow) item() Item {
	return Item{Gold: r.Answer, Subset: r.Category, Fields: map[string]any{"options": r.Options}}
}

func TestMMLUProOnRealOutputs(t *testing.T) {
	type expectation struct {
		N          int
		ByCategory map[string][2]int `json:"by_category"`
	}
	expected := readJSON[map[string]expectation](t, conformanceFile(t, "mmlu_pro", "expected.json"))
	for _, c := range []struct {
		model        string
		right        int
		byCategory   bool // expected.json was made with this rule, without a random guess
		defaultLeast int
	}{
		{"Qwen1.5-72B-Chat", 5673, true, 5673},
		{"Meta-Llama-3_1-8B-Instruct", 5217, false, 5217},
	} {
		rows := readJSONL[mmluProRow](t, conformanceFile(t, "mmlu_pro", c.model+".jsonl.gz"))
		compatible, plain := mustNew(t, "lmeval/mmlu_pro", nil), mustNew(t, "mmlu_pro", nil)
		var byRule, byDefault []Scored
		gained, lost := 0, 0
		for i, row := range rows {
			it := row.item()
			a := Scored{ItemID: string(rune(i)), Subset: row.Category, Verdict: score(t, compatible, row.Prediction, it)}
			b := Scored{ItemID: string(rune(i)), Subset: row.Category, Verdict: score(t, plain, row.Prediction, it)}
			byRule, byDefault = append(byRule, a), append(byDefault, b)
			if a.Verdict.Outcome == Right && b.Verdict.Outcome != Right {
				lost++
				if lost <= 8 {
					t.Logf("%s: rule %s, default %s %q: …%s", row.Answer, a.Verdict.Extracted, b.Verdict.Outcome, b.Verdict.Extracted, tail(row.Prediction, 300))
				}
			}
			if a.Verdict.Outcome != Right && b.Verdict.Outcome == Right {
				gained++
			}
		}
		sum := Summarize(byRule)
		if sum.Right != c.right || sum.N != 12032 {
			t.Errorf("%s: lmeval/mmlu_pro gives %d right of %d, want %d of 12032", c.model, sum.Right, sum.N, c.right)
		}
		if c.byCategory {
			subsets := SummarizeBySubset(byRule)
			for name, want := range expected[c.model].ByCategory {
				if got := subsets[name]; got.Right != want[0] || got.N != want[1] {
					t.Errorf("%s %s: %d of %d, want %d of %d", c.model, name, got.Right, got.N, want[0], want[1])
				}
			}
		}
		d := Summarize(byDefault)
		t.Logf("%s: default mmlu_pro %d right, %d wrong, %d unparsable, %d empty; gained %d, lost %d against the published rule", c.model, d.Right, d.Wrong, d.Unparsable, d.Empty, gained, lost)
	}
}

func tail(s string, n int) string {
	if len(s) > n {
		s = s[len(s)-n:]
	}
	return strings.ReplaceAll(s, "\n", "⏎")
}

func TestBBHOnRealOutputs(t *testing.T) {
	type result struct {
		Accuracy float64
		N        int
	}
	type row struct{ Question, Prediction, Target string }
	expected := readJSON[map[string]result](t, conformanceFile(t, "bbh", "expected.json"))
	if len(expected) != 9 {
		t.Fatalf("expected.json has %d subtasks, want 9", len(expected))
	}
	for task, want := range expected {
		ids := []string{"bbh_mcq", "oc/bbh_mcq"}
		if task == "boolean_expressions" || task == "multistep_arithmetic_two" {
			ids = []string{"bbh_freeform", "oc/bbh_freeform", "oc/bbh_freeform_2026"}
		}
		rows := readJSONL[row](t, conformanceFile(t, filepath.Join("bbh", "outputs"), task+".jsonl"))
		for _, id := range ids {
			s := mustNew(t, id, nil)
			right := 0
			for _, r := range rows {
				v := score(t, s, r.Prediction, Item{Gold: r.Target, Fields: map[string]any{"question": r.Question}})
				if v.Outcome == Right {
					right++
				}
			}
			got := 100 * float64(right) / float64(len(rows))
			if d := got - want.Accuracy; len(rows) != want.N || d > 0.1 || d < -0.1 {
				t.Errorf("%s by %s: %.4f of %d, want %.4f of %d", task, id, got, len(rows), want.Accuracy, want.N)
			}
		}
	}
}

func TestChoiceReadsExplicitAnswers(t *testing.T) {
	plain := Item{Gold: "C", Fields: map[string]any{"options": []string{"Blue whale", "A dog", "Red fox", "none of these"}}}
	s := mustNew(t, "choice", nil)
	for _, text := range []string{
		"C", "(C)", "C.", "**C**", "C) Red fox", "c", "Ｃ", "ANSWER: C", "Answer: (C)", "Answer: $C", "**Answer:** C", "**Answer: C**", "answer:c", "Answer: **C**",
		"The answer is (C).", "The answer is **C**.", "the answer is C", "The correct answer is option C.", "The correct answer is: C", `So the answer is \boxed{C}.`, `\boxed{\text{C}}`, `$\boxed{\textbf{(C)}}$`,
		"答案是C", "答案：C", "答案: Ｃ", "正确答案是 C。", "故选：C。", "故选C", "本题选C。", "因此选项 C 正确", "A和B都错误，所以选择C", "选项A错误，选项C正确",
		"The answer is not A, it is: answer C? Well.\nAnswer: C", "Answer: A\nWait, that is wrong.\nAnswer: C", "The answer is (A). No, the answer is (C).",
		"First, ANSWER: [LETTER] is the form. ANSWER: C", "Thus, (C) Red fox", "Red fox", "It must be the red fox.", "Answer: Red fox", "Option C is correct because foxes are red.",
		"Let me think. Option A is wrong. Option B is wrong. So the answer is \\boxed{C}.", "C\nBecause A and B are wrong.", "Both A and C look plausible.\n\nFinal answer: C",
		"<think>Perhaps A... Answer: A</think>C", "Answer: C, because A is wrong and B too.", "ANSWER: C, not D", "**Final Answer**\n\nC", "The best option is C.", "#### C", "Answer：C", "答案为 C", "答案应该是 (C)",
		"I would choose C.", "The answer is C because the others are not red.", "A dog is not it. The answer is Red fox.",
	} {
		if v := score(t, s, text, plain); v.Outcome != Right {
			t.Errorf("%q: %s %q, want right", text, v.Outcome, v.Extracted)
		}
	}
}

func TestChoiceTakesNoLetterOutOfProse(t *testing.T) {
	it := Item{Gold: "A", Fields: map[string]any{"options": []string{"Blue whale", "A dog", "Red fox", "none of these"}}}
	s := mustNew(t, "choice", nil)
	for _, text := range []string{
		"I think it is the second one.", "None of the options are right.", "A large animal lives there.", "All Done.", "Both A and C look plausible, but I am not sure.",
		"Answer: A or C", "The answer is A and C", "Answer: it depends.", "I refuse", "Although it seems easy, Dogs Bark.", "ANSWER: [LETTER]", "The answer is a matter of taste.", "The answer is not A.",
	} {
		if v := score(t, s, text, it); v.Outcome != Unparsable {
			t.Errorf("%q: %s %q, want unparsable", text, v.Outcome, v.Extracted)
		}
	}
	// what the text says is another option than the letter it begins with
	for text, want := range map[string]string{"Answer: A dog": "B", "A dog": "B", "The answer is A.": "A", "A": "A", "A.": "A"} {
		if v := score(t, s, text, it); v.Extracted != want {
			t.Errorf("%q: %q, want %q", text, v.Extracted, want)
		}
	}
}

func TestChoiceMultiple(t *testing.T) {
	s := mustNew(t, "choice", map[string]any{"labels": "ABCD", "multiple": true})
	for text, gold := range map[string]string{"Answer: A, C and D": "ACD", "ACD": "ACD", "答案：AC": "AC", "答案是A、C": "AC", "The answer is (A)(C).": "CA", "Answer: B": "B"} {
		if v := score(t, s, text, Item{Gold: gold}); v.Outcome != Right {
			t.Errorf("%q against %s: %s %q", text, gold, v.Outcome, v.Extracted)
		}
	}
	if v := score(t, s, "Answer: A, C", Item{Gold: "ACD"}); v.Outcome != Wrong {
		t.Errorf("a partial set is %s, want wrong", v.Outcome)
	}
}

func TestChoiceReadsNumericOptions(t *testing.T) {
	it := Item{Gold: "B", Fields: map[string]any{"options": []string{"2", "3", "30", "3.5"}}}
	s := mustNew(t, "choice", nil)
	for text, want := range map[string]string{"The answer is 3.": "B", "The answer is 3.5.": "D", "Answer: 30": "C", `\boxed{3}`: "B", "The answer is B.": "B", "Answer: 4": ""} {
		if v := score(t, s, text, it); v.Extracted != want {
			t.Errorf("%q: %q, want %q", text, v.Extracted, want)
		}
	}
}

func TestChoiceGoldForms(t *testing.T) {
	fields := map[string]any{"A": "Paris", "B": "London", "C": "Rome. Italy"}
	s := mustNew(t, "custom_mcq", nil)
	for gold, text := range map[string]string{"B": "Answer: B", "London": "B", "C. Rome. Italy": "The answer is C", "1": "B", "b": "B"} {
		if v := score(t, s, text, Item{Gold: gold, Fields: fields}); v.Outcome != Right {
			t.Errorf("gold %q, text %q: %s %q", gold, text, v.Outcome, v.Extracted)
		}
	}
}

func FuzzChoice(f *testing.F) {
	f.Add("The answer is (A). 答案：Ｂ \\boxed{C} **D**")
	c := choices{labels: letters(4), texts: []string{"a", "A dog", "ä", ""}}
	f.Fuzz(func(t *testing.T, s string) {
		if l, ok := c.extract(s); ok && !strings.Contains("ABCD", l) {
			t.Fatalf("%q is no label", l)
		}
		c.extractMultiple(s)
	})
}
