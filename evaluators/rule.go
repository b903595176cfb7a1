package evaluators

import (
	"context"
	"strings"
)

// rule is the scorer made of an extractor and a comparator, which is what most
// scorers are. extract and equal must be safe for concurrent use.
type rule struct {
	meta
	// clean takes the gradable text out of the content; nil = StripThinking.
	clean func(string) string
	// extract takes the answer out of the text; false when there is none, in
	// which case the string is what the published rule puts in its place.
	extract func(text string, it Item) (string, bool)
	// equal compares what was extracted with the item's references.
	equal func(extracted string, it Item) bool
	// lax compares even when nothing was extracted, as the published rules do.
	lax bool
}

func (r rule) Score(_ context.Context, a Answer, it Item) (Verdict, error) {
	text, verdict, done := gradable(a, r.clean)
	if done {
		return verdict, nil
	}
	got, ok := r.extract(text, it)
	if (ok || r.lax) && r.equal(got, it) {
		return Verdict{Outcome: Right, Extracted: got, Score: 1}, nil
	}
	if !ok {
		return unreadable(a, got), nil
	}
	return Verdict{Outcome: Wrong, Extracted: got}, nil
}

// gradable is the text to grade, or the verdict of an answer that has none.
func gradable(a Answer, clean func(string) string) (text string, v Verdict, done bool) {
	if a.Failed {
		return "", Verdict{Outcome: Failed, Detail: "the request failed"}, true
	}
	if clean == nil {
		clean = StripThinking
	}
	text = clean(a.Text)
	if strings.TrimSpace(text) == "" {
		why := "no content"
		switch {
		case a.FinishReason == "length":
			why = "cut by the length limit before an answer"
		case strings.TrimSpace(a.Text) != "" || strings.TrimSpace(a.Reasoning) != "":
			why = "nothing after thinking"
		}
		return "", Verdict{Outcome: Empty, Detail: why}, true
	}
	return text, Verdict{}, false
}

// unreadable is the verdict of an answer in which no answer was found: cut
// short, or simply not there.
func unreadable(a Answer, got string) Verdict {
	if a.FinishReason == "length" {
		return Verdict{Outcome: Empty, Extracted: got, Detail: "cut by the length limit before an answer"}
	}
	return Verdict{Outcome: Unparsable, Extracted: got, Detail: "no answer found in the text"}
}

// graded is the verdict of a metric that gives a share instead of yes or no. An
// answer counts as right when the share is full.
func graded(extracted string, score float64, parts map[string]float64) Verdict {
	score = min(1, max(0, score)) // rounding may leave a full mark a hair above one
	v := Verdict{Outcome: Wrong, Extracted: extracted, Score: score, Parts: parts}
	if score >= 1-1e-12 {
		v.Outcome = Right
	}
	return v
}

// anyReference reports whether same holds for one of the item's references.
func anyReference(it Item, same func(ref string) bool) bool {
	for _, ref := range it.References() {
		if same(ref) {
			return true
		}
	}
	return false
}

// scoreFunc is a scorer that is one pure function.
type scoreFunc struct {
	meta
	grade func(Answer, Item) Verdict
}

func (s scoreFunc) Score(_ context.Context, a Answer, it Item) (Verdict, error) {
	return s.grade(a, it), nil
}
