package models

import (
	"strings"
	"sync/atomic"

	"ais_bench/outputs"
)

// quirks are what a server has been found not to accept. Each is tried as a
// cure when a request is refused with a hint at it, and remembered – with one
// warning – once it has worked.
type quirks struct {
	noStreamOptions  bool // stream_options is refused: usage cannot be asked for
	completionTokens bool // max_tokens is refused in favour of max_completion_tokens
	noStream         bool // streaming is refused: answers come as a whole
}

type quirkMemory struct {
	known  atomic.Pointer[quirks]
	failed atomic.Int32 // cures that did not work
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

// cure is what to try after a refusal; ok is false where nothing is left to try.
func (m *quirkMemory) cure(r *Result, q quirks, stream bool) (quirks, bool) {
	if r.Status != outputs.StatusHTTP4xx || (r.HTTPStatus != 400 && r.HTTPStatus != 422 && r.HTTPStatus != 405 && r.HTTPStatus != 415) ||
		m.failed.Load() >= maxFailedCures {
		return q, false
	}
	text := strings.ToLower(r.Error)
	switch {
	case strings.Contains(text, "max_completion_tokens") && strings.Contains(text, "max_tokens") && !q.completionTokens:
		q.completionTokens = true
	case stream && (strings.Contains(text, "stream_options") || strings.Contains(text, "include_usage")) && !q.noStreamOptions:
		q.noStreamOptions = true
	case stream && strings.Contains(text, "stream") && !q.noStream:
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
			s.warn("model %s: the server refuses to stream; answers come as a whole and TTFT, TPOT and ITL are undefined", s.cfg.name())
		}
		return
	}
}
