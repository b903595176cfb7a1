// Package pooling reads answers that hold numbers instead of text: embeddings
// (OpenAI's POST /v1/embeddings) and the scores of rerankers (POST /v1/rerank in
// the shape of Jina and Cohere, which vLLM serves).
package pooling

import (
	"fmt"

	"ais_bench/models/wire"
)

// Scan walks one whole body. The answer's text is what came back in words ("2
// embeddings of 1024 numbers"): the numbers themselves are not kept. No output
// token is generated, so their number is 0.
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
		case "data", "results":
			items, numbers := scanItems(l)
			if items == 0 {
				continue
			}
			text := fmt.Sprintf("%d scores", items)
			if numbers > 0 {
				text = fmt.Sprintf("%d embeddings of %d numbers", items, numbers)
			}
			a.Content, a.OutputTokens, a.FinishReason = []byte(text), 0, "stop"
			v |= wire.Choices | wire.Payload | wire.Content | wire.Finish
		case "usage":
			v |= scanUsage(l, a)
		case "error":
			v |= a.ReadFailure(l)
		default:
			l.Skip()
		}
	}
}

// scanItems counts the elements of a list and the numbers of the first vector.
func scanItems(l *wire.Lexer) (items, numbers int) {
	if !l.Array() {
		l.Skip()
		return 0, 0
	}
	for l.Elem() {
		items++
		if items > 1 || !l.Object() {
			l.Skip()
			continue
		}
		for {
			key, ok := l.Key()
			if !ok {
				break
			}
			if key == "embedding" && l.Array() {
				for l.Elem() {
					l.Skip()
					numbers++
				}
				continue
			}
			l.Skip()
		}
	}
	return items, numbers
}

func scanUsage(l *wire.Lexer, a *wire.Answer) (v wire.Verdict) {
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
		case "total_tokens": // rerankers report nothing else
			var total int32 = wire.Unknown
			v |= l.Count(&total, wire.Usage)
			if a.InputTokens == wire.Unknown {
				a.InputTokens = total
			}
		default:
			l.Skip()
		}
	}
}
