// Package tgi reads the answers of Text Generation Inference's own protocol,
// POST /generate_stream.
package tgi

import "ais_bench/models/wire"

// Scan walks one event's data, or one whole body of /generate, and adds what it
// holds to a. An event is one token: {"token":{"text":…,"special":…},
// "generated_text":null,"details":null}; the last one has the whole text and
// the details with the reason of the end. Special tokens count as tokens, but
// their text is no answer.
func Scan(doc []byte, a *wire.Answer) wire.Verdict {
	l := wire.NewLexer(doc)
	v := scan(&l, a)
	if !l.End() {
		v |= wire.Malformed
	}
	return v
}

func scan(l *wire.Lexer, a *wire.Answer) (v wire.Verdict) {
	if !l.Object() {
		l.Skip()
		return wire.Malformed
	}
	for {
		key, ok := l.Key()
		if !ok {
			return v
		}
		switch key {
		case "token":
			v |= scanToken(l, a)
		case "generated_text":
			t, ok := l.Text()
			if !ok {
				l.Skip() // null until the end
				continue
			}
			v |= wire.Choices | wire.Finish
			a.Saw(0, true)
			if a.Whole {
				a.Content = append(a.Content[:0], t...)
				v |= wire.Payload | wire.Content
			}
		case "details":
			v |= scanDetails(l, a)
		case "error":
			v |= a.ReadFailure(l)
		default:
			l.Skip()
		}
	}
}

func scanToken(l *wire.Lexer, a *wire.Answer) (v wire.Verdict) {
	if !l.Object() {
		l.Skip()
		return 0
	}
	var text []byte
	special := false
	for {
		key, ok := l.Key()
		if !ok {
			break
		}
		switch key {
		case "text":
			if t, ok := l.Text(); ok {
				text = t
				continue
			}
			l.Skip()
		case "special":
			special = string(l.Skip()) == "true"
		default:
			l.Skip()
		}
	}
	a.OutputTokens = max(a.OutputTokens, 0) + 1
	v = wire.Choices | wire.Tokens
	if len(text) > 0 && !special {
		a.Content = append(a.Content, text...)
		v |= wire.Payload | wire.Content
	}
	return v
}

func scanDetails(l *wire.Lexer, a *wire.Answer) (v wire.Verdict) {
	if !l.Object() {
		l.Skip()
		return 0
	}
	for {
		key, ok := l.Key()
		if !ok {
			return v
		}
		switch key {
		case "finish_reason":
			if t, ok := l.Text(); ok {
				a.FinishReason = wire.Unescape(t)
				v |= wire.Finish
				a.Saw(0, true)
				continue
			}
			l.Skip()
		case "generated_tokens":
			v |= l.Count(&a.OutputTokens, wire.Usage|wire.Tokens)
		case "input_length":
			v |= l.Count(&a.InputTokens, wire.Usage)
		default:
			l.Skip()
		}
	}
}
