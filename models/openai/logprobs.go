package openai

import (
	"errors"

	"ais_bench/models/wire"
)

// PromptLogprobs are the log-probabilities of the prompt's tokens in a whole
// body, in either of the forms servers give them: vLLM's prompt_logprobs (asked
// for by prompt_logprobs; per token an object whose first entry is the token
// itself) or the legacy logprobs of a completion with echo. The latter goes on
// with generated tokens; promptTokens, from usage, says where the prompt ends.
func PromptLogprobs(body []byte, promptTokens int32) ([]wire.Logprob, error) {
	l := wire.NewLexer(body)
	var out, echoed []wire.Logprob
	if l.Object() {
		for {
			key, ok := l.Key()
			if !ok {
				break
			}
			switch {
			case key == "prompt_logprobs" && l.Peek() == '[': // chat has it here
				out = vllmLogprobs(&l)
			case key == "choices" && l.Array():
				for first := true; l.Elem(); first = false {
					if !first || !l.Object() {
						l.Skip()
						continue
					}
					for {
						key, ok := l.Key()
						if !ok {
							break
						}
						switch {
						case key == "prompt_logprobs" && l.Peek() == '[':
							out = vllmLogprobs(&l)
						case key == "logprobs" && l.Peek() == '{':
							echoed = legacyLogprobs(&l)
						default:
							l.Skip()
						}
					}
				}
			default:
				l.Skip()
			}
		}
	}
	if err := l.Err(); err != nil {
		return nil, err
	}
	if out != nil {
		return out, nil
	}
	if echoed == nil {
		return nil, errors.New("the answer has neither prompt_logprobs nor echoed logprobs: the server does not give log-probabilities of the prompt")
	}
	if promptTokens > 0 && int(promptTokens) < len(echoed) {
		echoed = echoed[:promptTokens]
	}
	return echoed, nil
}

// vllmLogprobs reads [null, {"<id>": {"logprob": …, "decoded_token": …}, …}, …].
// The order of the entries matters: the token that is in the prompt comes first.
func vllmLogprobs(l *wire.Lexer) []wire.Logprob {
	out := []wire.Logprob{}
	l.Array()
	for l.Elem() {
		lp := wire.Logprob{Unset: true}
		if !l.Object() {
			l.Skip()
			out = append(out, lp)
			continue
		}
		for first := true; ; first = false {
			_, ok := l.Key()
			if !ok {
				break
			}
			if !first || !l.Object() {
				l.Skip()
				continue
			}
			for {
				key, ok := l.Key()
				if !ok {
					break
				}
				switch key {
				case "logprob":
					v, unset, ok := l.Float()
					lp.Value, lp.Unset = v, unset || !ok
				case "decoded_token":
					if t, ok := l.Text(); ok {
						lp.Token = wire.Unescape(t)
					} else {
						l.Skip()
					}
				default:
					l.Skip()
				}
			}
		}
		out = append(out, lp)
	}
	return out
}

// legacyLogprobs reads {"tokens": […], "token_logprobs": [null, …], …}.
func legacyLogprobs(l *wire.Lexer) []wire.Logprob {
	var tokens []string
	var out []wire.Logprob
	l.Object()
	for {
		key, ok := l.Key()
		if !ok {
			break
		}
		switch {
		case key == "tokens" && l.Array():
			for l.Elem() {
				if t, ok := l.Text(); ok {
					tokens = append(tokens, wire.Unescape(t))
				} else {
					l.Skip()
					tokens = append(tokens, "")
				}
			}
		case key == "token_logprobs" && l.Array():
			for l.Elem() {
				v, unset, ok := l.Float()
				out = append(out, wire.Logprob{Value: v, Unset: unset || !ok})
			}
		default:
			l.Skip()
		}
	}
	for i := range out {
		if i < len(tokens) {
			out[i].Token = tokens[i]
		}
	}
	return out
}
