// Package sglang reads the answers of SGLang's native /generate protocol.
package sglang

import (
	"ais_bench/models/wire"
)

// Scan walks one event's data or one whole body of /generate and adds what it
// holds to a. A whole body may be a list (n > 1), whose first element is taken
// as the answer.
//
// An event has the text so far, or with the server's incremental streaming only
// what is new, and meta_info with the number of output tokens so far.
func Scan(doc []byte, a *wire.Answer) wire.Verdict {
	l := wire.NewLexer(doc)
	var v wire.Verdict
	if l.Array() {
		for index := 0; l.Elem(); index++ {
			if index == 0 {
				v |= scanObject(&l, a)
				continue
			}
			more := wire.NewAnswer()
			more.Whole = a.Whole
			v |= scanObject(&l, more)
			a.More = append(a.More, wire.Choice{Index: index, Content: more.Content})
		}
	} else {
		v = scanObject(&l, a)
	}
	if !l.End() {
		v |= wire.Malformed
	}
	return v
}

func scanObject(l *wire.Lexer, a *wire.Answer) (v wire.Verdict) {
	if !l.Object() {
		l.Skip()
		return wire.Malformed
	}
	index := 0 // of several answers (n); it comes after the text
	for {
		key, ok := l.Key()
		if !ok {
			a.Saw(index, v.Has(wire.Finish))
			return v
		}
		switch key {
		case "index":
			if n, ok := l.Int(); ok {
				index = int(n)
			} else {
				l.Skip()
			}
		case "text":
			t, ok := l.Text()
			if !ok {
				l.Skip()
				continue
			}
			v |= wire.Choices
			isNew := len(t) > 0
			if a.Whole {
				a.Content = append(a.Content[:0], t...)
			} else {
				isNew = a.AddRunning(t)
			}
			if isNew {
				v |= wire.Payload | wire.Content
			}
		case "meta_info":
			v |= scanMeta(l, a)
		case "error":
			v |= a.ReadFailure(l)
		default:
			l.Skip()
		}
	}
}

func scanMeta(l *wire.Lexer, a *wire.Answer) (v wire.Verdict) {
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
		case "prompt_tokens":
			v |= l.Count(&a.InputTokens, wire.Usage)
		case "completion_tokens":
			v |= l.Count(&a.OutputTokens, wire.Usage|wire.Tokens)
		case "cached_tokens":
			v |= l.Count(&a.CachedTokens, wire.Usage)
		case "finish_reason": // {"type": "stop", …}, or a string
			if t, ok := l.Text(); ok {
				a.FinishReason = wire.Unescape(t)
				v |= wire.Finish
				continue
			}
			if !l.Object() {
				l.Skip()
				continue
			}
			var kind, message string
			for {
				key, ok := l.Key()
				if !ok {
					break
				}
				t, ok := l.Text()
				if !ok {
					l.Skip()
					continue
				}
				switch key {
				case "type":
					kind = wire.Unescape(t)
				case "message":
					message = wire.Unescape(t)
				}
			}
			a.FinishReason = kind
			v |= wire.Finish
			if kind == "abort" {
				v |= wire.Failure
				if a.Failure = message; message == "" {
					a.Failure = "the server aborted the request"
				}
			}
		default:
			l.Skip()
		}
	}
}
