package evaluators

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestReadVerdict(t *testing.T) {
	for reply, want := range map[string]Grade{
		"VERDICT: CORRECT":                                     GradeCorrect,
		"The values agree.\nVERDICT: CORRECT":                  GradeCorrect,
		"It is correct in spirit, but no.\nVERDICT: INCORRECT": GradeIncorrect,
		"**Verdict:** Not correct":                             GradeIncorrect,
		"VERDICT: NOT_ATTEMPTED":                               GradeNotAttempted,
		"VERDICT: CORRECT\nOn reflection:\nVERDICT: INCORRECT": GradeIncorrect,
		`{"verdict": "A"}`:                                     GradeCorrect,
		`{"reason": "x", "verdict": "incorrect"}`:              GradeIncorrect,
		"A":                         GradeCorrect,
		"**B**":                     GradeIncorrect,
		"CORRECT.":                  GradeCorrect,
		"A. because it agrees":      GradeUnreadable,
		"The answer is not correct": GradeUnreadable,
		"Both A and B":              GradeUnreadable,
		"":                          GradeUnreadable,
		"VERDICT: a clear mistake":  GradeUnreadable,
		"<think>VERDICT: CORRECT</think>VERDICT: INCORRECT": GradeIncorrect,
		"判定：正确":  GradeCorrect,
		"判定：不正确": GradeIncorrect,
	} {
		if got := ReadVerdict(reply); got != want {
			t.Errorf("%q: %q, want %q", reply, got, want)
		}
	}
}

// askedJudge records prompts.
type askedJudge struct {
	reply string
	err   error
	asked *[]string
}

func (j askedJudge) Ask(_ context.Context, prompt string) (string, error) {
	*j.asked = append(*j.asked, prompt)
	return j.reply, j.err
}

func TestJudgeMajorityAndRecord(t *testing.T) {
	var asked []string
	judges := func(replies ...string) []Judge {
		var out []Judge
		for _, r := range replies {
			out = append(out, askedJudge{r, nil, &asked})
		}
		return out
	}
	it := Item{ID: "q1", Gold: "Paris", Prompt: "Capital of France?"}
	for _, c := range []struct {
		replies []string
		want    Outcome
	}{
		{[]string{"VERDICT: CORRECT"}, Right},
		{[]string{"VERDICT: CORRECT", "VERDICT: INCORRECT", "VERDICT: CORRECT"}, Right},
		{[]string{"VERDICT: INCORRECT", "VERDICT: INCORRECT", "VERDICT: CORRECT"}, Wrong},
		{[]string{"VERDICT: INCORRECT", "VERDICT: CORRECT"}, Unparsable},
		{[]string{"hm", "VERDICT: CORRECT"}, Right},
		{[]string{"I cannot say"}, Unparsable},
	} {
		asked = nil
		s := mustNew(t, "judge", map[string]any{"judges": judges(c.replies...)})
		v := score(t, s, "<think>x</think>It is Paris.", it)
		if v.Outcome != c.want {
			t.Errorf("%v: %s, want %s", c.replies, v.Outcome, c.want)
		}
		if len(asked) != len(c.replies) || !strings.Contains(asked[0], "Capital of France?") || !strings.Contains(asked[0], "Paris") || strings.Contains(asked[0], "<think>") {
			t.Errorf("prompts: %q", asked)
		}
		var record struct{ Judges []judgement }
		if err := json.Unmarshal([]byte(v.Detail), &record); err != nil || len(record.Judges) != len(c.replies) || record.Judges[0].Reply != c.replies[0] || strings.Contains(v.Detail, "\n") {
			t.Errorf("detail %q (%v)", v.Detail, err)
		}
	}
	asked = nil
	s := mustNew(t, "judge", map[string]any{"judge": Judge(askedJudge{"", errors.New("503"), &asked})})
	if _, err := s.Score(t.Context(), Answer{Text: "Paris"}, it); err == nil || !strings.Contains(err.Error(), "q1") || !strings.Contains(err.Error(), "503") {
		t.Errorf("a judge that fails: %v", err)
	}
	asked = nil
	if v, _ := s.Score(t.Context(), Answer{Failed: true}, it); v.Outcome != Failed || len(asked) != 0 {
		t.Errorf("a failed request is %s and was put to the judge %d times", v.Outcome, len(asked))
	}
}

func TestSimpleQAThreeWay(t *testing.T) {
	var scored []Scored
	for i, reply := range []string{"VERDICT: CORRECT", "VERDICT: CORRECT", "VERDICT: INCORRECT", "VERDICT: NOT_ATTEMPTED"} {
		s := mustNew(t, "simpleqa_judge", map[string]any{"judge": Judge(fixedJudge(reply))})
		scored = append(scored, Scored{ItemID: string(rune('a' + i)), Verdict: score(t, s, "x", Item{Gold: "y"})})
	}
	sum := SummarizeWith(mustNew(t, "simpleqa_judge", map[string]any{"judge": Judge(fixedJudge(""))}), scored)
	if !near(sum.Metrics["accuracy_given_attempted"], 2.0/3) || !near(sum.Metrics["f1"], 4.0/7) || !near(sum.Parts["not_attempted"], 0.25) || sum.Right != 2 || sum.Wrong != 2 {
		t.Errorf("%+v", sum)
	}
}
