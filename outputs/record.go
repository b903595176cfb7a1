package outputs

import (
	"math"
	"strings"
)

// Never is the value of a time field whose event did not happen. Times are
// nanoseconds relative to the run's zero and may be 0 (the first request is
// scheduled at 0), so 0 cannot stand for "did not happen". Files store null.
const Never int64 = math.MinInt64

// Status is what became of one request attempt.
type Status string

// The statuses. StatusOK is the only success: the stream ended properly
// (finish_reason, [DONE] or the protocol's terminal event) and carried a
// payload. Every other one is a class of failure.
const (
	StatusOK                Status = "ok"
	StatusDial              Status = "dial"
	StatusTLS               Status = "tls"
	StatusTimeoutConnect    Status = "timeout_connect"
	StatusTimeoutFirstToken Status = "timeout_first_token"
	StatusTimeoutIdle       Status = "timeout_idle"
	StatusTimeoutTotal      Status = "timeout_total"
	StatusHTTP4xx           Status = "http_4xx"
	StatusHTTP429           Status = "http_429"
	StatusHTTP5xx           Status = "http_5xx"
	StatusStreamError       Status = "stream_error" // an error object inside the stream, or a reset in mid-stream
	StatusTruncated         Status = "truncated"    // the body ended without a terminal event
	StatusEmpty             Status = "empty"        // ended properly without any payload
	StatusMalformed         Status = "malformed"    // not the protocol: HTML, broken JSON, no choices
	StatusCancelled         Status = "cancelled"
)

// Statuses lists every status in the order reports show them.
var Statuses = []Status{StatusOK, StatusDial, StatusTLS, StatusTimeoutConnect, StatusTimeoutFirstToken,
	StatusTimeoutIdle, StatusTimeoutTotal, StatusHTTP4xx, StatusHTTP429, StatusHTTP5xx,
	StatusStreamError, StatusTruncated, StatusEmpty, StatusMalformed, StatusCancelled}

// TokenSource says where a record's token counts come from. A count is never
// the requested length and never made up.
type TokenSource string

// The token sources, best first.
const (
	TokensUsage          TokenSource = "usage"
	TokensServerTokenize TokenSource = "server_tokenize"
	TokensLocalTokenizer TokenSource = "local_tokenizer"
	TokensUnknown        TokenSource = "unknown"
)

// TokensImpossible ends the source of a request whose usage told what cannot be, so that
// none of its numbers is used: alone where nobody else could count the output, else after
// who did ("local_tokenizer_usage_impossible").
const TokensImpossible TokenSource = "usage_impossible"

// Impossible reports whether the request's usage told what cannot be.
func (s TokenSource) Impossible() bool { return strings.HasSuffix(string(s), string(TokensImpossible)) }

// CountedBy is the source after somebody else counted the output.
func (s TokenSource) CountedBy(who TokenSource) TokenSource {
	if s.Impossible() {
		return who + "_" + TokensImpossible
	}
	return who
}

// Phase says which part of the run a request belongs to. Only PhaseMeasured
// counts in reports.
type Phase string

// The phases.
const (
	PhaseReadiness Phase = "readiness"
	PhaseWarmup    Phase = "warmup"
	PhaseMeasured  Phase = "measured"
	PhaseCooldown  Phase = "cooldown"
)

// UnknownTokens is the value of a token count nobody reported.
const UnknownTokens int32 = -1

// Record is one request attempt: the only thing any number in any report is
// computed from.
//
// All times are nanoseconds on the monotonic clock relative to the run's zero
// (the manifest maps zero to wall time); Never where the event did not happen.
type Record struct {
	Model     string // abbreviation of the model configuration
	Dataset   string // abbreviation of the data set
	SampleID  string // stable id of the sample within its data set
	Repeat    int32  // 0-based repetition of the same sample (avg@n, pass@k)
	Turn      int32  // 0-based turn within a conversation
	SessionID string // conversation the turn belongs to; empty for single-turn
	Attempt   int32  // 0-based attempt; > 0 only after a recorded retry
	Phase     Phase
	RequestID string // sent as x-request-id

	Scheduled        int64 // when the arrival process wanted it sent
	Sent             int64 // just before the request is written, or a connection for it is set up
	Connected        int64 // a connection is in hand (new or reused)
	FirstByte        int64 // first byte of the response, header included
	FirstEvent       int64 // first event of any kind (role-only deltas too)
	FirstToken       int64 // first event with a payload: content, reasoning, refusal, tool-call arguments
	FirstAnswerToken int64 // first event with content (after the thinking)
	LastToken        int64 // last event with a payload; non-stream: the end of the body
	FirstOutput      int64 // first event that vLLM's client takes for output, see StreamEnd
	LastOutput       int64 // last such event, one without a payload included
	LastEvent        int64 // last event of any kind but [DONE]
	End              int64 // the response is complete or has failed

	ChunkAt     []int64 // arrival of every payload-bearing event, ns after Sent, ascending
	ChunkTokens []int32 // tokens of each of these events where known; nil when unknown

	InputTokens     int32 // UnknownTokens where nobody reported it; so are the next three
	OutputTokens    int32 // reasoning included
	ReasoningTokens int32
	CachedTokens    int32 // prompt tokens served from the prefix cache
	TokenSource     TokenSource
	MaxTokens       int32 // output length asked for; 0 = left to the server

	Status       Status
	StreamEnd    StreamEnd // how reading the answer came to its end
	HTTPStatus   int32     // 0 when no response header arrived
	FinishReason string
	Error        string // message and the first 2 KiB of the body

	Stream      bool  // asked as a stream
	KernelStamp bool  // arrivals were stamped by the kernel
	Reused      bool  // sent on a connection that had carried a request before
	Resent      int32 // times it was sent again because a stale reused connection died before any byte
	Reads       int32 // reads that delivered at least one event
	Coalesced   int32 // events that shared their read with an earlier event
	BytesIn     int64

	Text         string // answer, reasoning excluded
	Reasoning    string
	ToolCalls    string // JSON array as received, "" when none
	Prompt       string // as sent; "" with --no-store-prompts
	PromptSHA256 string // hex digest of the request's messages or prompt
}

// OK reports whether the request succeeded.
func (r *Record) OK() bool { return r.Status == StatusOK }

// Cancelled reports whether the user cut the request off: it neither succeeded nor
// failed, and is counted apart from both.
func (r *Record) Cancelled() bool { return r.Status == StatusCancelled }
