package models

import "context"

// Message is one chat message in OpenAI's roles.
type Message struct {
	Role    string // system, user, assistant, tool
	Content string
	// Parts replaces Content where a message is a list of content parts; it is
	// marshalled as it is.
	Parts any
}

// Request is one question in wire-neutral terms. Exactly one of Messages,
// Prompt and PromptTokenIDs is used: chat protocols take Messages (a Prompt
// becomes one user message), completions protocols take Prompt or
// PromptTokenIDs (Messages are rendered by the model's chat template where
// one is known, else joined as plain text).
type Request struct {
	ID             string // sent as x-request-id
	Messages       []Message
	Prompt         string
	PromptTokenIDs []int
	MaxTokens      int            // 0 leaves it to the server
	Params         map[string]any // merged into the body after the model's generation_kwargs; wins
	Headers        map[string]string
	Model          string // overrides the configured model name (LoRA)
	Stream         bool
	// Plain makes completions protocols join Messages as plain text even where a
	// chat template is known (likelihoods of prompts).
	Plain bool

	prepared *prepared // made ahead, see Preparer
}

// Client asks one endpoint over one wire protocol. It is safe for concurrent
// use.
type Client interface {
	// Do sends the request and returns what happened. It never returns nil and
	// has no error: every failure is a class in Result.Status with its cause in
	// Result.Error, because a failure is a measurement too.
	// Cancelling ctx gives StatusCancelled.
	Do(ctx context.Context, req *Request) *Result
	// Stats are the connection pool's counters so far, for the client-health report.
	Stats() PoolStats
	// Close drops idle connections.
	Close()
}

// PoolStats are counters of a client's connections and requests since it was
// made. SetupWaits counts the connections that waited for a set-up slot
// (Options.MaxDials), SetupWaitNS and MaxSetupWaitNS how long in total and at
// most: a wait that lies in the TTFT of its request and is the client's own.
// Fallbacks counts refused requests that were asked once more in another form
// (Result.Fallbacks).
type PoolStats struct {
	Opened, Reused, Open, MaxOpen, Resent              int64
	SetupWaits, SetupWaitNS, MaxSetupWaitNS, Fallbacks int64
}
