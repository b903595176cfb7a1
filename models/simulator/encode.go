package simulator

import (
	"strconv"
	"unicode/utf8"
)

// Events are written as bytes, not marshalled: an event costs well under a
// microsecond this way, and the time between the schedule and the write call is what
// the instrument is about.

// appendJSON appends text as the inside of a JSON string. Broken UTF-8 becomes U+FFFD.
func appendJSON(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c < 0x20:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, "\uFFFD"...)
			} else {
				dst = append(dst, text[i:i+n]...)
			}
			i += n
			continue
		}
		i++
	}
	return dst
}

// appendUsage appends OpenAI's usage object.
func (c *call) appendUsage(dst []byte) []byte {
	prompt, completion, reasoning, cached := c.counts()
	dst = append(dst, `{"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(prompt), 10)
	dst = append(dst, `,"total_tokens":`...)
	dst = strconv.AppendInt(dst, int64(prompt+completion), 10)
	dst = append(dst, `,"completion_tokens":`...)
	dst = strconv.AppendInt(dst, int64(completion), 10)
	dst = append(dst, `,"prompt_tokens_details":{"cached_tokens":`...)
	dst = strconv.AppendInt(dst, int64(cached), 10)
	dst = append(dst, '}')
	if reasoning > 0 {
		dst = append(dst, `,"completion_tokens_details":{"reasoning_tokens":`...)
		dst = strconv.AppendInt(dst, int64(reasoning), 10)
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// counts sums the tokens over the choices, as far as they have been sent.
func (c *call) counts() (prompt, completion, reasoning, cached int) {
	for i, s := range c.seqs {
		if i%c.perPrompt == 0 {
			prompt += s.promptLen
			cached += int(s.cached.Load())
		}
		if !c.silent || c.stream {
			completion += s.sent
			reasoning += min(s.sent, s.plan.reasoning)
		}
	}
	return
}

// head is the beginning shared by all events of a call, up to the choice's index.
func (c *call) buildHead() {
	object := "chat.completion.chunk"
	switch c.proto {
	case protoCompletions:
		object = "text_completion"
	case protoGenerate, protoTGI:
		return
	}
	b := append([]byte(nil), `{"id":"`...)
	b = append(b, c.id...)
	b = append(b, `","object":"`...)
	b = append(b, object...)
	b = append(b, `","created":`...)
	b = strconv.AppendInt(b, c.created, 10)
	b = append(b, `,"model":"`...)
	b = appendJSON(b, []byte(c.model))
	c.head = append(b, `","choices":[`...)
}

// appendDelta appends the JSON of tokens [from, to) of s; final adds the finish
// reason. It reports the kind of event; ok is false when there is nothing to
// say (all of the text is hidden by a stop string).
func (c *call) appendDelta(dst []byte, s *sequence, from, to int, final bool) (_ []byte, kind ChunkKind, ok bool) {
	var scratch [256]byte
	text := scratch[:0]
	kind = ChunkContent
	p := &s.plan
	switch {
	case c.silent:
	case to <= p.reasoning:
		kind = ChunkReasoning
	case p.tool != nil:
		kind = ChunkTool
	}
	for i := from; i < to; i++ {
		if kind == ChunkTool && i == p.reasoning {
			continue // the name
		}
		text = appendText(text, p.token(i))
	}
	if kind == ChunkContent && p.cut >= 0 {
		text = text[:min(len(text), max(0, p.cut-s.shown))]
	}
	if kind == ChunkContent {
		s.shown += len(text)
	}
	if len(text) == 0 && kind != ChunkTool {
		if !final {
			return dst, kind, false
		}
		kind = ChunkRole
	}
	switch c.proto {
	case protoChat:
		dst = c.appendChatDelta(dst, s, text, kind, from, to, final)
		if kind == ChunkTool && len(text) == 0 {
			kind = ChunkToolName
		}
		return dst, kind, true
	case protoCompletions:
		dst = append(dst, c.head...)
		dst = append(dst, `{"index":`...)
		dst = strconv.AppendInt(dst, int64(s.index), 10)
		dst = append(dst, `,"text":"`...)
		if c.echo && from == 0 {
			dst = appendJSON(dst, []byte(c.inputs[s.index/c.perPrompt].text))
		}
		dst = appendJSON(dst, text)
		dst = append(dst, `","logprobs":`...)
		dst = c.appendLogprobs(dst, s, from, to)
		dst = append(dst, `,"finish_reason":`...)
		dst = appendFinish(dst, p, final)
		dst = append(dst, `,"stop_reason":`...)
		if final && p.stop != "" {
			dst = append(dst, '"')
			dst = appendJSON(dst, []byte(p.stop))
			dst = append(dst, '"')
		} else {
			dst = append(dst, "null"...)
		}
		dst = append(dst, "}]"...)
		if c.usageEvery {
			dst = append(dst, `,"usage":`...)
			dst = c.appendUsage(dst)
		}
		return append(dst, '}'), kind, true
	case protoGenerate:
		return c.appendGenerate(dst, s, text, final), kind, true
	}
	return c.appendTGI(dst, s, text, to, final), kind, true
}

func appendFinish(dst []byte, p *outputPlan, final bool) []byte {
	if !final {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = append(dst, p.finish...)
	return append(dst, '"')
}

func (c *call) appendChatDelta(dst []byte, s *sequence, text []byte, kind ChunkKind, from, to int, final bool) []byte {
	first := from == s.plan.reasoning
	dst = append(dst, c.head...)
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(s.index), 10)
	dst = append(dst, `,"delta":{`...)
	switch kind {
	case ChunkReasoning:
		dst = append(dst, '"')
		dst = append(dst, c.srv.cfg.ReasoningField...)
		dst = append(dst, `":"`...)
		dst = append(appendJSON(dst, text), '"')
	case ChunkTool:
		dst = append(dst, `"tool_calls":[{"index":0,`...)
		if first {
			dst = append(dst, `"id":"`...)
			dst = append(dst, s.plan.tool.id...)
			dst = append(dst, `","type":"function",`...)
		}
		dst = append(dst, `"function":{`...)
		if first {
			dst = append(dst, `"name":"`...)
			dst = append(appendJSON(dst, []byte(s.plan.tool.name)), `",`...)
		}
		dst = append(dst, `"arguments":"`...)
		dst = append(appendJSON(dst, text), `"}}]`...)
	default:
		dst = append(dst, `"content":"`...)
		dst = append(appendJSON(dst, text), '"')
	}
	dst = append(dst, `},"logprobs":`...)
	dst = c.appendLogprobs(dst, s, from, to)
	dst = append(dst, `,"finish_reason":`...)
	dst = appendFinish(dst, &s.plan, final)
	if final && s.plan.stop != "" {
		dst = append(dst, `,"stop_reason":"`...)
		dst = append(appendJSON(dst, []byte(s.plan.stop)), '"')
	}
	dst = append(dst, "}]"...)
	if c.usageEvery {
		dst = append(dst, `,"usage":`...)
		dst = c.appendUsage(dst)
	}
	return append(dst, '}')
}

// appendRole appends the role-only first delta of a chat choice.
func (c *call) appendRole(dst []byte, s *sequence) []byte {
	dst = append(dst, c.head...)
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(s.index), 10)
	dst = append(dst, `,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
	if c.usageEvery {
		dst = append(dst, `,"usage":`...)
		dst = c.appendUsage(dst)
	}
	return append(dst, '}')
}

// appendUsageEvent appends the last event of an OpenAI stream, which has no choices.
func (c *call) appendUsageEvent(dst []byte) []byte {
	dst = append(dst, c.head...)
	dst = append(dst, `],"usage":`...)
	return append(c.appendUsage(dst), '}')
}

// appendGenerate appends an event of SGLang's /generate: the text so far.
func (c *call) appendGenerate(dst []byte, s *sequence, text []byte, final bool) []byte {
	s.total = appendJSON(s.total, text)
	dst = append(dst, `{"text":"`...)
	dst = append(dst, s.total...)
	dst = append(dst, `","meta_info":`...)
	dst = c.appendMeta(dst, s, final)
	if len(c.seqs) > 1 {
		dst = append(dst, `,"index":`...)
		dst = strconv.AppendInt(dst, int64(s.index), 10)
	}
	return append(dst, '}')
}

func (c *call) appendMeta(dst []byte, s *sequence, final bool) []byte {
	dst = append(dst, `{"id":"`...)
	dst = append(dst, c.id...)
	dst = append(dst, `","finish_reason":`...)
	if final {
		dst = append(dst, `{"type":"`...)
		dst = append(dst, s.plan.finish...)
		switch {
		case s.plan.finish == "length":
			dst = append(dst, `","length":`...)
			dst = strconv.AppendInt(dst, int64(s.plan.total), 10)
		case s.plan.stop != "":
			dst = append(dst, `","matched":"`...)
			dst = append(appendJSON(dst, []byte(s.plan.stop)), '"')
		default:
			dst = append(dst, '"')
		}
		dst = append(dst, '}')
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(s.promptLen), 10)
	dst = append(dst, `,"completion_tokens":`...)
	said := s.ready
	if c.silent && !c.stream {
		said = 0
	}
	dst = strconv.AppendInt(dst, int64(said), 10)
	dst = append(dst, `,"cached_tokens":`...)
	dst = strconv.AppendInt(dst, int64(s.cached.Load()), 10)
	return append(dst, '}')
}

// appendTGI appends an event of TGI's /generate_stream.
func (c *call) appendTGI(dst []byte, s *sequence, text []byte, to int, final bool) []byte {
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(to), 10)
	dst = append(dst, `,"token":{"id":`...)
	dst = strconv.AppendInt(dst, int64(s.plan.token(max(to-1, 0))), 10)
	dst = append(dst, `,"text":"`...)
	dst = appendJSON(dst, text)
	dst = append(dst, `","logprob":-0.1,"special":false},"generated_text":`...)
	if !final {
		return append(dst, `null,"details":null}`...)
	}
	dst = append(dst, '"')
	dst = appendJSON(dst, s.plan.answerText())
	dst = append(dst, `","details":{"finish_reason":"`...)
	dst = append(dst, tgiFinish(&s.plan)...)
	dst = append(dst, `","generated_tokens":`...)
	dst = strconv.AppendInt(dst, int64(s.plan.total), 10)
	return append(dst, `,"seed":null}}`...)
}

func tgiFinish(p *outputPlan) string {
	switch {
	case p.stop != "":
		return "stop_sequence"
	case p.finish == "length":
		return "length"
	}
	return "eos_token"
}
