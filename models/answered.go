package models

import (
	"fmt"
	"slices"
	"sync"

	"ais_bench/models/wire"
)

// Answerer is a Client that knows which models answered. Clients made by New are.
type Answerer interface {
	// Answered says, one line each, for which model asked for answers of more than one
	// came: their figures are of none of them. An alias that is always the same is fine.
	Answered() []string
}

// answeredAs are the names that answers gave, by the name that was asked for.
type answeredAs struct {
	mu sync.Mutex
	by map[string][]string // the last one seen first
}

// saw takes the name in an answer; raw is escaped and may be empty. A name seen
// last time costs a comparison.
func (s *answeredAs) saw(asked string, raw []byte) {
	if len(raw) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	names := s.by[asked]
	if len(names) > 0 && names[0] == string(raw) {
		return
	}
	if i := slices.IndexFunc(names, func(n string) bool { return n == string(raw) }); i > 0 {
		names[0], names[i] = names[i], names[0]
		return
	}
	if len(names) >= maxAnswered {
		return
	}
	if s.by == nil {
		s.by = map[string][]string{}
	}
	s.by[asked] = append([]string{string(raw)}, names...)
}

// maxAnswered bounds the names kept: some gateways make one a request.
const maxAnswered = 10

// Answered implements Answerer.
func (s *service) Answered() []string {
	s.answered.mu.Lock()
	defer s.answered.mu.Unlock()
	var out []string
	for asked, names := range s.answered.by {
		if len(names) < 2 {
			continue
		}
		list := make([]string, len(names))
		for i, n := range names {
			list[i] = printable(wire.Unescape([]byte(n)))
		}
		slices.Sort(list)
		of := ""
		if asked != "" {
			of = " for " + asked
		}
		out = append(out, fmt.Sprintf("more than one model answered%s: %s", of, quotedList(list)))
	}
	slices.Sort(out)
	return out
}

func quotedList(list []string) string {
	text := ""
	for i, n := range list {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%q", n)
	}
	return text
}
