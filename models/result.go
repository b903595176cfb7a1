package models

import (
	"ais_bench/models/wire"
	"ais_bench/outputs"
)

// Result is what one request did: time stamps in ns on the run's clock
// (outputs.Never where the event did not happen) and the answer.
//
// A streamed answer stays in its escaped form until Decode, called when nothing
// waits for the caller any more, fills Text, Reasoning and
// ToolCalls. Reading them before Decode gives "".
type Result struct {
	Status       outputs.Status
	StreamEnd    outputs.StreamEnd
	HTTPStatus   int
	FinishReason string
	Error        string

	// FirstEvent, FirstToken and FirstAnswerToken are known for streams only: an
	// answer that comes as a whole says nothing about when its first token was
	// made. LastToken is then the arrival of the body's end.
	Sent, Connected, FirstByte, FirstEvent, FirstToken, FirstAnswerToken, LastToken, End int64
	// FirstOutput and LastOutput are the first and last event that vLLM's client
	// takes for output (protocol.output), LastEvent is the last one but [DONE].
	FirstOutput, LastOutput, LastEvent int64

	ChunkAt     []int64 // ns after Sent
	ChunkTokens []int32 // nil when unknown

	InputTokens, OutputTokens, ReasoningTokens, CachedTokens int32 // outputs.UnknownTokens where not reported
	UsageSeen                                                bool

	Stream, KernelStamp, Reused bool // Stream: the answer came as a stream
	Resent, Reads, Coalesced    int32
	// Fallbacks is how often the server had refused the request (400, 405, 415,
	// 422) before it was asked in the form this result is of: without
	// stream_options, with max_completion_tokens, or not streamed. The times are
	// those of the last form alone.
	Fallbacks int32
	// SetupWait is how long, in ns, the client's own limit of connection set-ups
	// (Options.MaxDials) held the request up: a part of its TTFT that is not the
	// server's.
	SetupWait  int64
	BytesIn    int64
	RetryAfter int64 // ns the server asked to wait (429, 503); 0 = not said

	Text, Reasoning, ToolCalls string
	MoreTexts                  []string       // answers of choices 1, 2, … (n > 1)
	PromptLogprobs             []TokenLogprob // only where asked (PPL)
	Headers                    map[string]string

	answer *wire.Answer // until Decode
}

// TokenLogprob is the log-probability of one prompt token.
type TokenLogprob struct {
	Token   string
	Logprob float64
	Unset   bool // the first token has none
}

func newResult(sent int64) *Result {
	const never, unknown = outputs.Never, outputs.UnknownTokens
	return &Result{
		Sent: sent, Connected: never, FirstByte: never, FirstEvent: never, FirstToken: never,
		FirstAnswerToken: never, LastToken: never, End: never,
		FirstOutput: never, LastOutput: never, LastEvent: never,
		InputTokens: unknown, OutputTokens: unknown, ReasoningTokens: unknown, CachedTokens: unknown,
	}
}

// Decode fills Text, Reasoning, ToolCalls and MoreTexts and frees the escaped
// form. A refusal is the text where there is no content. Calling it again
// changes nothing.
func (r *Result) Decode() {
	a := r.answer
	if a == nil {
		return
	}
	r.answer = nil
	r.Text, r.Reasoning, r.ToolCalls = wire.Unescape(a.Content), wire.Unescape(a.Reasoning), a.ToolJSON()
	if r.Text == "" {
		r.Text = wire.Unescape(a.Refusal)
	}
	for _, c := range a.More {
		r.MoreTexts = append(r.MoreTexts, wire.Unescape(c.Content))
	}
}

// take copies the counts and the reason from the answer, which stays escaped.
func (r *Result) take(a *wire.Answer) {
	r.answer = a
	r.FinishReason = a.FinishReason
	r.InputTokens, r.OutputTokens = a.InputTokens, a.OutputTokens
	r.ReasoningTokens, r.CachedTokens = a.ReasoningTokens, a.CachedTokens
	r.UsageSeen = a.OutputTokens != wire.Unknown
}
