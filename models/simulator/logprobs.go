package simulator

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Log-probabilities are made up, but to a plan: they are a function of the
// text alone, and where a prompt holds a known question followed by a candidate answer,
// the tokens after the question are likely (about −0.01) for the candidate the
// answer sheet wants to win and unlikely (below −8) for all others. The mean
// over the whole prompt, the sum over the candidate and the mean over the candidate then
// all prefer the same label.

// tokenLogprob is the log-probability of token i of a text with the given hash.
func tokenLogprob(seed uint64, i int) float64 {
	return -0.02 - 0.2*unit(mix(seed, uint64(i)))
}

// promptLogprobs gives one log-probability per prompt token; the first has none.
func (s *Server) promptLogprobs(in *input) []float64 {
	seed := mix(uint64(s.cfg.Seed), 0x10b)
	out := make([]float64, len(in.ids))
	tail := len(in.ids) // first token after the question
	scale := 1.0
	if s.answers != nil {
		if q := s.answers.findIn(in.text); q != nil {
			text, end := afterQuestion(in.text, q.anchor)
			used := 0
			var b []byte
			for i, id := range in.ids {
				b = appendText(b[:0], id)
				used += len(b)
				if used > end {
					tail = i
					break
				}
			}
			scale = 0.01
			if !s.answers.prefers(q, text) {
				scale = 10
			}
		}
	}
	for i := 1; i < len(out); i++ {
		lp := -0.8 - 0.8*unit(mix(mix(seed, uint64(uint32(in.ids[i]))), uint64(uint32(in.ids[i-1]))))
		if i >= tail {
			lp *= scale
		}
		out[i] = lp
	}
	return out
}

// afterQuestion gives the text after the last occurrence of a normalised
// anchor, and the byte offset where it begins.
func afterQuestion(text, anchor string) (string, int) {
	s := squeeze(text)
	k := strings.LastIndex(s, anchor)
	if k < 0 {
		return "", len(text)
	}
	left := k + len(anchor) // squeezed bytes up to the end of the question
	for i := range len(text) {
		if left == 0 {
			return text[i:], i
		}
		if c := text[i]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			left--
		}
	}
	return "", len(text)
}

// prefers reports whether the candidate at the end of tail is the one that
// should win. With choices the candidate is the label or the text of a choice; without,
// it is the gold answer or anything else.
func (a *answerSheet) prefers(q *question, tail string) bool {
	if q.goldIdx < 0 {
		return strings.HasSuffix(squeeze(tail), squeeze(q.gold)) == a.isRight(q, mix(0, 0))
	}
	return q.candidate(tail) == a.preferredChoice(q)
}

// candidate is the choice a text ends with: the longest choice text, else a label; −1 for none.
func (q *question) candidate(tail string) int {
	trimmed := strings.TrimRight(tail, " \n\t.。)]")
	s := squeeze(trimmed)
	best := -1
	for i, c := range q.choices {
		c = strings.TrimRight(squeeze(c), ".。)]")
		if c != "" && strings.HasSuffix(s, c) && (best < 0 || len(c) > len(squeeze(q.choices[best]))) {
			best = i
		}
	}
	label := -1
	for i, l := range q.letters {
		if strings.HasSuffix(trimmed, l) {
			before := strings.TrimSuffix(trimmed, l)
			if before == "" || !lower(before[len(before)-1]) && !upper(before[len(before)-1]) {
				label = i
			}
		}
	}
	if label >= 0 && (best < 0 || len(q.choices[best]) <= 1) {
		return label
	}
	return best
}

// wantsLogprobs reads the logprobs field: a number for completions, a boolean for chat.
func (r *apiRequest) wantsLogprobs() bool {
	return len(r.Logprobs) > 0 && string(r.Logprobs) != "null" && string(r.Logprobs) != "false"
}

// appendLogprobs appends the logprobs of output tokens [from, to), or null.
func (c *call) appendLogprobs(dst []byte, s *sequence, from, to int) []byte {
	if !c.logprobs {
		return append(dst, "null"...)
	}
	if c.proto == protoChat {
		dst = append(dst, `{"content":[`...)
		first := true
		for i := max(from, s.plan.reasoning); i < to; i++ {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			text := appendText(nil, s.plan.token(i))
			dst = append(dst, `{"token":"`...)
			dst = appendJSON(dst, text)
			dst = append(dst, `","logprob":`...)
			dst = strconv.AppendFloat(dst, tokenLogprob(s.plan.seed, i), 'g', 6, 64)
			dst = append(dst, `,"bytes":`...)
			dst = appendInts(dst, text)
			dst = append(dst, `,"top_logprobs":[]}`...)
		}
		return append(dst, "]}"...)
	}
	lp := c.outputLogprobs(s, from, to)
	if c.echo && from == 0 {
		lp = joinLogprobs(c.echoLogprobs(s), lp)
	}
	b, err := json.Marshal(lp)
	if err != nil { // NaN cannot occur
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

func appendInts(dst, bytes []byte) []byte {
	dst = append(dst, '[')
	for i, b := range bytes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(b), 10)
	}
	return append(dst, ']')
}

// completionLogprobs is the logprobs object of /v1/completions.
type completionLogprobs struct {
	TextOffset    []int                `json:"text_offset"`
	TokenLogprobs []*float64           `json:"token_logprobs"`
	Tokens        []string             `json:"tokens"`
	TopLogprobs   []map[string]float64 `json:"top_logprobs"`
}

func (l *completionLogprobs) add(token string, lp *float64, offset int) {
	l.TextOffset = append(l.TextOffset, offset)
	l.Tokens = append(l.Tokens, token)
	l.TokenLogprobs = append(l.TokenLogprobs, lp)
	if lp == nil {
		l.TopLogprobs = append(l.TopLogprobs, nil)
		return
	}
	l.TopLogprobs = append(l.TopLogprobs, map[string]float64{token: *lp})
}

func (c *call) outputLogprobs(s *sequence, from, to int) *completionLogprobs {
	l := new(completionLogprobs)
	offset := 0
	for i := from; i < min(to, s.plan.total); i++ {
		token := string(appendText(nil, s.plan.token(i)))
		lp := tokenLogprob(s.plan.seed, i)
		l.add(token, &lp, offset)
		offset += len(token)
	}
	return l
}

func (c *call) echoLogprobs(s *sequence) *completionLogprobs {
	in := &c.inputs[s.index/c.perPrompt]
	l := new(completionLogprobs)
	offset := 0
	for i, lp := range c.srv.promptLogprobs(in) {
		token := string(appendText(nil, in.ids[i]))
		if i == 0 {
			l.add(token, nil, 0)
		} else {
			l.add(token, &lp, offset)
		}
		offset += len(token)
	}
	return l
}

func joinLogprobs(a, b *completionLogprobs) *completionLogprobs {
	offset := 0
	if n := len(a.Tokens); n > 0 {
		offset = a.TextOffset[n-1] + len(a.Tokens[n-1])
	}
	for i := range b.Tokens {
		a.add(b.Tokens[i], b.TokenLogprobs[i], offset+b.TextOffset[i])
	}
	return a
}

// vllmPromptLogprobs is vLLM's prompt_logprobs: null for the first token, then
// for every token an object from token id to log-probability, rank and text.
func (c *call) vllmPromptLogprobs(s *sequence) []any {
	in := &c.inputs[s.index/c.perPrompt]
	out := make([]any, len(in.ids))
	for i, lp := range c.srv.promptLogprobs(in) {
		if i == 0 {
			continue
		}
		rank := 1
		if lp < -2 {
			rank = 100
		}
		out[i] = map[string]any{strconv.Itoa(int(in.ids[i])): map[string]any{
			"logprob": lp, "rank": rank, "decoded_token": string(appendText(nil, in.ids[i]))}}
	}
	return out
}
