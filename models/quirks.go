package models

import (
	"strings"
	"sync/atomic"

	"ais_bench/outputs"
)

// quirks are what a server has been found not to accept. Each is tried as a
// cure when a request is refused with a hint at it, and remembered – with one
// warning – once it has worked. What the server has accepted before is no quirk
// of it: a later refusal is the failure of that one request.
type quirks struct {
	noStreamOptions  bool // stream_options is refused: usage cannot be asked for
	completionTokens bool // max_tokens is refused in favour of max_completion_tokens
	noStream         bool // streaming is refused: answers come as a whole
}

type quirkMemory struct {
	known  atomic.Pointer[quirks]
	failed atomic.Int32 // cures that did not work

	fallbacks atomic.Int64 // requests asked once more in another form
	whole     atomic.Bool  // it has been warned of a whole answer to a request for a stream
	// What a request with status 200 has shown to be accepted.
	streams, streamOptions, maxTokens atomic.Bool
}

// maxFailedCures bounds the requests spent on cures for refusals that only look
// curable.
const maxFailedCures = 3

func (m *quirkMemory) get() quirks {
	if q := m.known.Load(); q != nil {
		return *q
	}
	return quirks{}
}

// accepted notes what a successful request shows: body is what was sent.
func (m *quirkMemory) accepted(r *Result, body map[string]any) {
	set := func(b *atomic.Bool) {
		if !b.Load() { // the usual case costs no write to a shared line
			b.Store(true)
		}
	}
	if r.Stream && r.Status == outputs.StatusOK {
		set(&m.streams)
	}
	if body["stream_options"] != nil {
		set(&m.streamOptions)
	}
	if body["max_tokens"] != nil {
		set(&m.maxTokens)
	}
}

// cure is what to try after a refusal; ok is false where nothing is left to try.
func (m *quirkMemory) cure(r *Result, q quirks, stream bool) (quirks, bool) {
	if r.Status != outputs.StatusHTTP4xx || (r.HTTPStatus != 400 && r.HTTPStatus != 422 && r.HTTPStatus != 405 && r.HTTPStatus != 415) ||
		m.failed.Load() >= maxFailedCures {
		return q, false
	}
	text := strings.ToLower(r.Error)
	switch {
	case strings.Contains(text, "max_completion_tokens") && strings.Contains(text, "max_tokens") && !q.completionTokens && !m.maxTokens.Load():
		q.completionTokens = true
	case stream && (strings.Contains(text, "stream_options") || strings.Contains(text, "include_usage")) && !q.noStreamOptions && !m.streamOptions.Load():
		q.noStreamOptions = true
	case stream && strings.Contains(text, "stream") && !q.noStream && !m.streams.Load():
		q.noStream = true
	default:
		return q, false
	}
	return q, true
}

// learn remembers what has worked and warns of what is new.
func (s *service) learn(q quirks) {
	for {
		was := s.quirks.known.Load()
		var old quirks
		if was != nil {
			old = *was
		}
		merged := quirks{
			noStreamOptions:  old.noStreamOptions || q.noStreamOptions,
			completionTokens: old.completionTokens || q.completionTokens,
			noStream:         old.noStream || q.noStream,
		}
		if merged == old {
			return
		}
		if !s.quirks.known.CompareAndSwap(was, &merged) {
			continue
		}
		if merged.noStreamOptions && !old.noStreamOptions {
			s.warn("model %s: the server refuses stream_options; token counts may be missing from streams", s.cfg.name())
		}
		if merged.completionTokens && !old.completionTokens {
			s.warn("model %s: the server wants max_completion_tokens instead of max_tokens; sending that", s.cfg.name())
		}
		if merged.noStream && !old.noStream {
			s.warn("model %s: the server does not stream; answers come as a whole and TTFT, TPOT and ITL are undefined", s.cfg.name())
		}
		return
	}
}
