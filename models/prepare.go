package models

import (
	"context"
	"math"
)

// Preparer is a Client that can make a request's bytes before it is to be sent.
// Clients made by New are.
type Preparer interface {
	// Prepare makes what Do would make first. The next Do then has only to send it; it
	// makes it anew where the server has meanwhile been found to want another form.
	// The request must not be changed in between. What is wrong with a request is
	// told by Do.
	Prepare(ctx context.Context, req *Request)
}

// prepared is the body of a request and what it was made for. body is nil once it
// has been sent.
type prepared struct {
	quirks   quirks
	fields   map[string]any
	body     []byte
	err      error
	stream   bool
	choices  int  // answers asked for (n)
	logprobs bool // the body asks for those of the prompt, which no server streams
}

// Prepare implements Preparer.
func (s *service) Prepare(ctx context.Context, req *Request) {
	req.prepared = s.prepare(ctx, req, s.quirks.get())
}

func (s *service) prepare(ctx context.Context, req *Request, q quirks) *prepared {
	p := &prepared{quirks: q, stream: req.Stream && !q.noStream}
	model := s.served(ctx, req)
	p.fields, p.err = s.protocol.body(s, question{req: req, model: model, stream: p.stream, quirks: q})
	if p.logprobs = p.err == nil && wantsLogprobs(p.fields); p.logprobs && p.stream {
		p.stream = false
		p.fields, p.err = s.protocol.body(s, question{req: req, model: model, quirks: q})
	}
	if p.err == nil {
		p.choices = answers(p.fields)
		p.body, p.err = encode(p.fields)
	}
	return p
}

// answers is how many answers the body asks for: n, which SGLang's own protocol has
// among its sampling parameters.
func answers(fields map[string]any) int {
	n, ok := fields["n"]
	if !ok {
		if sampling, isMap := fields["sampling_params"].(map[string]any); isMap {
			n = sampling["n"]
		}
	}
	switch n := n.(type) {
	case int:
		return max(n, 1)
	case int64:
		return max(int(n), 1)
	case uint64:
		return max(int(min(n, math.MaxInt32)), 1)
	case float64:
		return max(int(n), 1)
	}
	return 1
}

// Size is the length in bytes of the body that Prepare made, 0 without one.
func (r *Request) Size() int {
	if r.prepared == nil {
		return 0
	}
	return len(r.prepared.body)
}
