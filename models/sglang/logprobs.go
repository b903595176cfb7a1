package sglang

import (
	"errors"

	"ais_bench/models/wire"
)

// PromptLogprobs are the log-probabilities of the prompt's tokens in a whole body
// that was asked for with return_logprob and logprob_start_len 0:
// meta_info.input_token_logprobs, a list of [logprob, token id, text].
func PromptLogprobs(body []byte, _ int32) ([]wire.Logprob, error) {
	l := wire.NewLexer(body)
	if l.Array() {
		l.Elem()
	}
	var out []wire.Logprob
	if l.Object() {
		for {
			key, ok := l.Key()
			if !ok {
				break
			}
			if key != "meta_info" || !l.Object() {
				l.Skip()
				continue
			}
			for {
				key, ok := l.Key()
				if !ok {
					break
				}
				if key == "input_token_logprobs" && l.Array() {
					out = triples(&l)
					continue
				}
				l.Skip()
			}
		}
	}
	if err := l.Err(); err != nil {
		return nil, err
	}
	if out == nil {
		return nil, errors.New("the answer has no input_token_logprobs: ask with return_logprob and logprob_start_len 0")
	}
	return out, nil
}

func triples(l *wire.Lexer) []wire.Logprob {
	out := []wire.Logprob{}
	for l.Elem() {
		lp := wire.Logprob{Unset: true}
		if !l.Array() {
			l.Skip()
			out = append(out, lp)
			continue
		}
		for i := 0; l.Elem(); i++ {
			if i == 0 {
				v, unset, ok := l.Float()
				lp.Value, lp.Unset = v, unset || !ok
				continue
			}
			if t, ok := l.Text(); ok && i == 2 {
				lp.Token = wire.Unescape(t)
				continue
			} else if ok {
				continue
			}
			l.Skip()
		}
		out = append(out, lp)
	}
	return out
}
