package evalscope

import (
	"slices"
	"testing"
)

func TestParseAnswers(t *testing.T) {
	labels := Labels(4)
	for text, want := range map[string][]string{
		"ANSWER: B, not C": {"B"}, "ANSWER: [LETTER]\nANSWER: D": {"D"}, "The answer is C": {"C"}, "ANSWER: b": nil, "ANSWER: (A)": {"A"}, "": nil,
		"All Done": {"D"}, // the last capital of the text
	} {
		if got := ParseAnswers(text, labels, false); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if got := ParseAnswers("ANSWER: C, A", labels, true); !slices.Equal(got, []string{"A", "C"}) {
		t.Errorf("several: %v", got)
	}
	if CEval("答案: B") != "" || CEval("答案：A……答案：D") != "D" {
		t.Error("C-Eval wants the full-width colon and takes the last")
	}
}

func TestJudgeVerdict(t *testing.T) {
	for reply, want := range map[string]string{`{"verdict":"A"}`: "A", `{"verdict":"A"} {"verdict":"B"}`: ParseError, `A`: ParseError, `{"verdict":"D"}`: ParseError, "```json\n{\"verdict\": \"C\", \"x\": \"}\"}\n```": "C"} {
		if got := JudgeVerdict(reply, "A", "B", "C"); got != want {
			t.Errorf("%q: %s, want %s", reply, got, want)
		}
	}
}

func TestThinkingTakesOnePair(t *testing.T) {
	for in, want := range map[string]string{"<think>a</think>B<think>c</think>D": "B<think>c</think>D", "a</think>B": "a</think>B", `<think signature="x">a</think> B`: "B"} {
		if got := Thinking(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
