package models

import (
	"ais_bench/models/transport"
	"time"

	"context"
	"net"
)

// Options are what a client cannot know from its configuration.
type Options struct {
	// Dial replaces the network dialer (tests, in-process servers); nil dials TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Warn receives each one-time warning (server refuses to stream, …) as one
	// line without a line end; nil drops it. It may be called from any goroutine.
	Warn func(string)
	// RenderChat renders messages for completions protocols by the model's chat
	// template; nil joins them as plain text.
	RenderChat func([]Message) (string, error)
	// KeepHeaders keeps the response headers of successful requests too.
	KeepHeaders bool
	// MaxDials bounds concurrent connection set-ups; 0 = 128. The wait for a
	// set-up slot lies between Sent and Connected.
	MaxDials int
}

// ModelInfo is one entry of /v1/models.
type ModelInfo struct {
	ID          string
	Root        string
	MaxModelLen int // tokens; 0 when the server does not say
	OwnedBy     string
}

// New makes the client of cfg's protocol. Times in its results are on clock.
// References to the environment are resolved here; an unset variable, an
// unreadable CA file or an impossible address is an error of one line.
func New(cfg Config, clock *transport.Clock, opts Options) (Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return newClient(cfg, clock, opts)
}

// Discover asks /v1/models. The error is one line with cause and remedy.
func Discover(ctx context.Context, cfg Config) ([]ModelInfo, error) { return discover(ctx, cfg) }

// Ready checks a service before the first request: /v1/models, then one tiny
// request, repeated until timeout (0 = one try) while the server is still
// coming up (refused, 502, 503). progress (may be nil) gets a line per step.
// The error is one line with cause and remedy.
func Ready(ctx context.Context, client Client, cfg Config, timeout time.Duration, progress func(string)) error {
	return ready(ctx, client, cfg, timeout, progress)
}

// Tokenize asks the server's /tokenize (vLLM's shape) for the ids of text,
// special tokens not added.
func Tokenize(ctx context.Context, cfg Config, text string) ([]int, error) {
	return tokenize(ctx, cfg, text)
}

// Detokenize asks the server's /detokenize (vLLM's shape).
func Detokenize(ctx context.Context, cfg Config, ids []int) (string, error) {
	return detokenize(ctx, cfg, ids)
}
