package evaluators

import "context"

// Outcome is one of five states of a scored answer. They are counted apart;
// a failed request is never silently a wrong answer.
type Outcome string

// The outcomes.
const (
	Right      Outcome = "right"
	Wrong      Outcome = "wrong"
	Unparsable Outcome = "unparsable" // answered, but no answer could be extracted
	Empty      Outcome = "empty"      // nothing after thinking, or cut by the length limit before an answer
	Failed     Outcome = "failed"     // the request failed; there is no answer
)

// Answer is what a model said to one sample.
type Answer struct {
	Text         string // content; may still hold <think> blocks
	Reasoning    string // reasoning_content, where the server splits it
	FinishReason string
	// ToolCalls is the JSON of the message's tool_calls, "" when there are none;
	// for scorers of function calling.
	ToolCalls string
	Failed    bool // the request failed
	// LabelLogprobs holds, for a PPL sample, the score of each label in label
	// order (larger is likelier); nil for generation.
	LabelLogprobs []float64
}

// Item is the reference side of one sample.
type Item struct {
	ID     string
	Subset string
	Gold   string
	Golds  []string // all accepted references; when empty, Gold alone
	Labels []string // of a PPL sample
	Prompt string   // as asked, for judges
	Fields map[string]any
}

// References are all accepted references of an item.
func (it Item) References() []string {
	if len(it.Golds) > 0 {
		return it.Golds
	}
	return []string{it.Gold}
}

// Verdict is the score of one answer.
type Verdict struct {
	Outcome   Outcome
	Extracted string  // what the extractor took from the text
	Score     float64 // in [0,1]: 1/0 for right/wrong, a share for graded metrics (F1, ROUGE)
	// Parts are further per-sample metrics by name in [0,1] (ifeval's strict and
	// loose, rouge1/2/L, em/f1 …), nil when the scorer has only Score.
	Parts  map[string]float64
	Detail string // one line for a human: why, e.g. the judge's verdict or the test's error
}

// Scorer decides whether an answer is right. It is (extractor, comparator)
// under one id and version; both go into results, so that a number can be
// traced to the rule that made it. Bug-compatible scorers are namespaced
// (oc/gsm8k, lmeval/gsm8k-flexible); the plain name is the right one.
// Scorers are safe for concurrent use.
type Scorer interface {
	ID() string
	Version() string
	// Score never panics on any text. The error is not about the answer but about
	// the scorer's own means (no sandbox, judge unreachable): it aborts the
	// evaluation of the data set with a message that says what to do.
	Score(ctx context.Context, a Answer, it Item) (Verdict, error)
}
