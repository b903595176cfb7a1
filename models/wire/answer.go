package wire

import "math/bits"

// Verdict says what one event or body held.
type Verdict uint16

// The findings of a walk.
const (
	Payload   Verdict = 1 << iota // generated text of any kind: content, reasoning, refusal, tool-call arguments
	Content                       // generated text of the answer itself
	Tokens                        // the number of output tokens so far
	Usage                         // any usage figure
	Finish                        // a reason why generation ended
	Choices                       // at least one choice
	Failure                       // an error object; Answer.Failure has its message
	Malformed                     // not JSON, or not an object
	Output                        // what vLLM's client takes for output of a chat
)

// Has reports whether any of the findings in w is there.
func (v Verdict) Has(w Verdict) bool { return v&w != 0 }

// Unknown is a token count nobody reported.
const Unknown int32 = -1

// Answer grows event by event. Texts are kept as the escaped content of JSON
// strings, joined; see Unescape.
type Answer struct {
	Content   []byte // of choice 0
	Reasoning []byte
	Refusal   []byte
	Tools     []ToolCall
	More      []Choice // choices 1, 2, …

	FinishReason    string // of choice 0
	InputTokens     int32  // Unknown until reported, like the next three; the last report wins
	OutputTokens    int32
	ReasoningTokens int32
	CachedTokens    int32
	Failure         string // message of an error object
	Model           []byte // escaped name in the first event that has one; nil without
	modelSpace      [48]byte

	// Whole tells that the document is a complete answer, not a delta.
	Whole bool

	finished [maxChoices / 64]uint64 // choices that have a reason why they ended
	choices  int                     // one more than the highest index seen

	Cumulative cumulative // how a server that may repeat its text does so
}

// maxChoices is the most choices a server gives to one request (n).
const maxChoices = 128

// Saw tells that an event was of the choice with the index given, and whether it
// is finished.
func (a *Answer) Saw(index int, finished bool) {
	if index < 0 || index >= maxChoices {
		return
	}
	a.choices = max(a.choices, index+1)
	if finished {
		a.finished[index/64] |= 1 << (index % 64)
	}
}

// Finished reports whether every choice has ended: those asked for (n), and any
// other that was seen.
func (a *Answer) Finished(n int) bool {
	ended := 0
	for _, set := range a.finished {
		ended += bits.OnesCount64(set)
	}
	return ended > 0 && ended >= min(max(n, a.choices), maxChoices)
}

// Choice is the answer of one of several choices.
type Choice struct {
	Index   int
	Content []byte // escaped
}

// ToolCall is one tool call merged from its fragments.
type ToolCall struct {
	Index           int
	ID, Type, Name  []byte // escaped
	Arguments       []byte // escaped
	CustomArguments bool   // Arguments was an object, not a string
}

// SawModel keeps the first name of the model that answers.
func (a *Answer) SawModel(raw []byte) {
	if len(a.Model) == 0 && len(raw) > 0 {
		a.Model = append(a.modelSpace[:0], raw...)
	}
}

// NewAnswer is an empty answer with unknown counts.
func NewAnswer() *Answer {
	return &Answer{InputTokens: Unknown, OutputTokens: Unknown, ReasoningTokens: Unknown, CachedTokens: Unknown}
}

// Any reports whether anything was generated, a tool call without arguments included.
func (a *Answer) Any() bool {
	if len(a.Content)+len(a.Reasoning)+len(a.Refusal)+len(a.Tools) > 0 {
		return true
	}
	for _, c := range a.More {
		if len(c.Content) > 0 {
			return true
		}
	}
	return false
}

// AddContent appends the answer's text of the choice with the index given. An index
// that no choice can have adds nothing: text nobody asked for is no answer.
func (a *Answer) AddContent(index int, raw []byte) {
	if index < 0 || index >= maxChoices {
		return
	}
	if index == 0 {
		a.Content = append(a.Content, raw...)
		return
	}
	for i := range a.More {
		if a.More[i].Index == index {
			a.More[i].Content = append(a.More[i].Content, raw...)
			return
		}
	}
	a.More = append(a.More, Choice{Index: index, Content: append([]byte(nil), raw...)})
}

// ToolJSON is the tool calls as a JSON array in OpenAI's shape, "" without any.
func (a *Answer) ToolJSON() string {
	if len(a.Tools) == 0 {
		return ""
	}
	out := []byte{'['}
	for i, t := range a.Tools {
		if i > 0 {
			out = append(out, ',')
		}
		kind := t.Type
		if len(kind) == 0 {
			kind = []byte("function")
		}
		out = append(out, `{"id":"`...)
		out = append(out, t.ID...)
		out = append(out, `","type":"`...)
		out = append(out, kind...)
		out = append(out, `","function":{"name":"`...)
		out = append(out, t.Name...)
		out = append(out, `","arguments":"`...)
		out = append(out, t.Arguments...)
		out = append(out, `"}}`...)
	}
	return valid(append(out, ']'))
}

// cumulative decides whether a server sends the text so far with each event or
// only what is new. Until that is certain both readings are kept.
type cumulative struct {
	decided bool
	whole   bool   // each event repeats the text so far
	grown   int    // events that were a true extension of the one before
	last    []byte // reading "text so far"
	joined  []byte // reading "only what is new"
}

// AddRunning takes the next event's text from a server that may send either the
// text so far or only what is new; it reports whether there was anything new.
// Three events in a row, each a true extension of the one before, decide for the
// first reading; one that is no extension decides for the second.
func (a *Answer) AddRunning(raw []byte) bool {
	c := &a.Cumulative
	if c.decided {
		if !c.whole {
			a.Content = append(a.Content, raw...)
			return len(raw) > 0
		}
		grew := len(raw) > len(a.Content)
		if len(raw) >= len(a.Content) {
			a.Content = append(a.Content, raw[len(a.Content):]...)
		}
		return grew
	}
	isNew := len(raw) > 0
	switch extends := len(raw) >= len(c.last) && string(raw[:len(c.last)]) == string(c.last); {
	case !extends:
		c.decided = true
		a.Content = append(append(a.Content[:0], c.joined...), raw...)
		c.last, c.joined = nil, nil
		return isNew
	case len(raw) > len(c.last) && len(c.last) > 0:
		if c.grown++; c.grown >= 3 {
			c.decided, c.whole = true, true
			a.Content = append(a.Content[:0], raw...)
			c.last, c.joined = nil, nil
			return true
		}
	case len(c.last) > 0:
		isNew = false // more likely a token without text of its own than a repetition
	}
	c.last = append(c.last[:0], raw...)
	c.joined = append(c.joined, raw...)
	a.Content = append(a.Content[:0], raw...)
	return isNew
}
