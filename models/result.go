package models

import "ais_bench/outputs"

// Result is what one request did: time stamps in ns on the run's clock
// (outputs.Never where the event did not happen) and the answer.
//
// While a phase runs, a streamed answer stays in its escaped form; Decode,
// called after the phase (or when memory is short), fills Text, Reasoning and
// ToolCalls. Reading them before Decode gives "".
type Result struct {
	Status       outputs.Status
	HTTPStatus   int
	FinishReason string
	Error        string

	Sent, Connected, FirstByte, FirstEvent, FirstToken, FirstAnswerToken, LastToken, End int64

	ChunkAt     []int64 // ns after Sent
	ChunkTokens []int32 // nil when unknown

	InputTokens, OutputTokens, ReasoningTokens, CachedTokens int32 // outputs.UnknownTokens where not reported
	UsageSeen                                                bool

	Stream, KernelStamp, Reused bool
	Resent, Reads, Coalesced    int32
	BytesIn                     int64
	RetryAfter                  int64 // ns the server asked to wait (429, 503); 0 = not said

	Text, Reasoning, ToolCalls string
	PromptLogprobs             []TokenLogprob // only where asked (PPL)
	Headers                    map[string]string
}

// TokenLogprob is the log-probability of one prompt token.
type TokenLogprob struct {
	Token   string
	Logprob float64
	Unset   bool // the first token has none
}
