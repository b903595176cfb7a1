package oc

import (
	"strings"
	"testing"
)

func TestKnownFaultsAreKept(t *testing.T) {
	for _, c := range []struct{ what, got, want string }{
		{"thousands separator", GSM8K("The answer is 1,234,567."), "567"},
		{"no number", GSM8K("none"), "NULL"},
		{"next question", GSM8K("55\nQuestion: 99?"), "55"},
		{"first capital of a word", FirstCapital("The answer is C"), "T"},
		{"last capital of a word", LastCapital("B. Done"), "D"},
		{"the A of Answer", FirstOption("Answer: (B)", "ABCD", true), "A"},
		{"option order wins over text order", FirstOption("Both B and A", "AB", true), "A"},
		{"a letter out of prose", LastOption("The answer is A. All Done", "ABCD"), "D"},
		{"unclosed thought", NonReasoning("<think>a"), "<think>a"},
		{"first answer is", BBHChoice("the answer is (A). No, the answer is (C)."), "A"},
		{"full-width digits", GSM8K("答案是１２"), "１２"},
		{"judge's last character", JudgeLastChar("A. because"), "B"},
		{"CORRECT is C", SimpleQAGrade("CORRECT"), "C"},
		{"text without options", FirstOption("I think it is the second one.", "ABCD", true), ""},
		{"no options", FirstOption("A", "", true), ""},
		{"last 200 characters", FirstOptionV1("The answer is B. "+strings.Repeat("y ", 150), "ABCD"), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
	if DropEqual("17", "7") != true || ContainsReference(TriviaQA("no idea"), []string{""}) != true || MMLUProEqual("A", "A. 3.5. units") {
		t.Error("a kept fault of a comparison was mended")
	}
}

func TestLevenshtein(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"kitten", "sitting", 3}, {"", "abc", 3}, {"中国", "中间", 1}, {"flaw", "lawn", 2}} {
		if got := Levenshtein(c.a, c.b); got != c.want {
			t.Errorf("Levenshtein(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestCustomChoice(t *testing.T) {
	labels, texts := []string{"A", "B"}, []string{"red fox", "blue whale"}
	for text, want := range map[string]string{"B": "B", "答案是A": "A", "it is the blue whale": "B", "blue whal": "B", "red or maybe": "A"} {
		if got := CustomChoice(text, labels, texts); got != want {
			t.Errorf("CustomChoice(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzExtractors(f *testing.F) {
	for _, s := range []string{"Answer: (B)", "```python\nx\n```", "[BEGIN]\n'x'\n[DONE]", "1. A", "<think>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 2000 {
			return
		}
		FirstOption(s, "ABCD", true)
		MBPP(s)
		MBPPV2(s)
		HumanEvalBodyV1(s)
		LiveCodeTestOutput(s)
		NonReasoning(s)
		BBHFreeform2026(s)
		LEvalGSM100(s)
		MGSM(s, "zh")
	})
}
