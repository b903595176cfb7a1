// Package openai reads the answers of OpenAI's chat and completions protocols,
// whole and streamed, as vLLM, SGLang, llama.cpp and the remote services speak them.
package openai

import (
	"bytes"

	"ais_bench/models/wire"
)

// choice is what one element of choices held, as spans of the document: which
// choice it belongs to may be said last.
type choice struct {
	index                                 int
	content, reasoning, thinking, refusal []byte // escaped strings; thinking is the newer name of reasoning_content
	parts, tools, function                []byte // raw values
	finish                                []byte
	hasFinish                             bool
	hasRole, empty                        bool // a role; the content is ""
}

// Scan walks one event's data or one whole body and adds what it holds to a.
// It takes about half a microsecond for an event of 250 bytes and allocates only
// what the answer grows by.
//
// A delta without text is not a payload: the role, null, "" and empty lists.
// Where a server sends the reasoning under both of its names, one is taken.
func Scan(doc []byte, a *wire.Answer) wire.Verdict {
	l := wire.NewLexer(doc)
	if !l.Object() {
		return wire.Malformed
	}
	var v wire.Verdict
	var isError bool
	var message []byte
	for {
		key, ok := l.Key()
		if !ok {
			break
		}
		switch key {
		case "choices":
			if !l.Array() {
				l.Skip()
				continue
			}
			for first := true; l.Elem(); first = false {
				found := scanChoice(&l, a)
				if !first {
					found &^= wire.Output // vLLM's client looks at one choice
				}
				v |= found
			}
		case "usage":
			v |= scanUsage(&l, a)
		case "model":
			if len(a.Model) > 0 {
				l.Skip()
			} else if t, ok := l.Text(); ok {
				a.SawModel(t)
			} else {
				l.Skip()
			}
		case "error":
			v |= a.ReadFailure(&l)
		case "object":
			if t, ok := l.Text(); ok {
				isError = string(t) == "error"
			} else {
				l.Skip()
			}
		case "message":
			if t, ok := l.Text(); ok {
				message = t
			} else {
				l.Skip()
			}
		default:
			l.Skip()
		}
	}
	if !l.End() {
		return v | wire.Malformed
	}
	if isError && !v.Has(wire.Failure) {
		v |= wire.Failure
		if a.Failure = wire.Unescape(message); a.Failure == "" {
			a.Failure = string(doc)
		}
	}
	return v
}

func scanChoice(l *wire.Lexer, a *wire.Answer) wire.Verdict {
	if !l.Object() {
		l.Skip()
		return 0
	}
	var c choice
	v := wire.Choices
	for {
		key, ok := l.Key()
		if !ok {
			break
		}
		switch key {
		case "index":
			if n, ok := l.Int(); ok {
				c.index = int(n)
			} else {
				l.Skip()
			}
		case "delta", "message":
			scanMessage(l, &c)
		case "text":
			if t, ok := l.Text(); ok {
				c.content = t
			} else {
				l.Skip()
			}
		case "finish_reason":
			if t, ok := l.Text(); ok {
				c.finish, c.hasFinish = t, len(t) > 0
			} else if raw := l.Skip(); len(raw) > 0 && string(raw) != "null" {
				c.finish, c.hasFinish = raw, true
			}
		case "usage": // Moonshot puts it here
			v |= scanUsage(l, a)
		default:
			l.Skip()
		}
	}
	if l.Err() != nil {
		return v
	}
	return v | c.apply(a)
}

func scanMessage(l *wire.Lexer, c *choice) {
	if !l.Object() {
		l.Skip()
		return
	}
	text := func(into *[]byte) {
		if t, ok := l.Text(); ok {
			*into = t
		} else {
			l.Skip()
		}
	}
	for {
		key, ok := l.Key()
		if !ok {
			return
		}
		switch key {
		case "content":
			if l.Peek() == '[' {
				c.parts = l.Skip()
			} else {
				text(&c.content)
				c.empty = c.content != nil && len(c.content) == 0
			}
		case "role":
			c.hasRole = true
			l.Skip()
		case "reasoning_content":
			text(&c.reasoning)
		case "reasoning":
			text(&c.thinking)
		case "refusal":
			text(&c.refusal)
		case "tool_calls":
			c.tools = l.Skip()
		case "function_call":
			c.function = l.Skip()
		default:
			l.Skip()
		}
	}
}

// output is vLLM's rule (0.33) for a chunk of a chat that holds a token: content,
// reasoning under its newer name, a tool call even by its name alone, or a content of
// "" that does not come with the role. It knows neither reasoning_content nor
// refusals.
func (c *choice) output() bool {
	return len(c.content) > 0 || filled(c.parts) || len(c.thinking) > 0 || filled(c.tools) || filled(c.function) || c.empty && !c.hasRole
}

// filled reports whether a raw value is what Python calls true: no null and no
// empty list, object or string.
func filled(raw []byte) bool {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "false" || string(raw) == `""` {
		return false
	}
	return raw[0] != '[' && raw[0] != '{' || len(bytes.TrimSpace(raw[1:len(raw)-1])) > 0
}

// apply adds the choice to the answer.
func (c *choice) apply(a *wire.Answer) (v wire.Verdict) {
	if c.output() {
		v |= wire.Output
	}
	a.Saw(c.index, false)
	if len(c.content) > 0 {
		a.AddContent(c.index, c.content)
		v |= wire.Payload | wire.Content
	}
	if len(c.parts) > 0 {
		v |= c.applyParts(a)
	}
	reasoning := c.reasoning
	if len(reasoning) == 0 {
		reasoning = c.thinking
	}
	if len(reasoning) > 0 {
		v |= wire.Payload
		if c.index == 0 {
			a.Reasoning = append(a.Reasoning, reasoning...)
		}
	}
	if len(c.refusal) > 0 {
		v |= wire.Payload | wire.Content // a refusal is the answer
		if c.index == 0 {
			a.Refusal = append(a.Refusal, c.refusal...)
		}
	}
	if len(c.tools) > 0 {
		v |= c.applyTools(a)
	}
	if len(c.function) > 0 {
		l := wire.NewLexer(c.function)
		v |= applyFunction(&l, c.tool(a, 0, nil, true))
	}
	if c.hasFinish {
		v |= wire.Finish
		a.Saw(c.index, true)
		if c.index == 0 || a.FinishReason == "" {
			a.FinishReason = finishReason(c.finish)
		}
	}
	return v
}

// finishReason spares the common reasons an allocation each.
func finishReason(raw []byte) string {
	switch string(raw) {
	case "stop":
		return "stop"
	case "length":
		return "length"
	case "tool_calls":
		return "tool_calls"
	case "content_filter":
		return "content_filter"
	}
	return wire.Unescape(raw)
}

// applyParts takes content that is a list of parts ({"type":"text","text":…}).
func (c *choice) applyParts(a *wire.Answer) (v wire.Verdict) {
	l := wire.NewLexer(c.parts)
	l.Array()
	for l.Elem() {
		if t, ok := l.Text(); ok {
			if len(t) > 0 {
				a.AddContent(c.index, t)
				v |= wire.Payload | wire.Content
			}
			continue
		}
		if !l.Object() {
			l.Skip()
			continue
		}
		for {
			key, ok := l.Key()
			if !ok {
				break
			}
			switch key {
			case "text", "refusal":
				if t, ok := l.Text(); ok {
					if len(t) > 0 {
						a.AddContent(c.index, t)
						v |= wire.Payload | wire.Content
					}
					continue
				}
				l.Skip()
			case "thinking", "reasoning":
				// Mistral nests the thinking as a list of parts; a string is as good.
				if t, ok := l.Text(); ok {
					if len(t) > 0 {
						v |= wire.Payload
						a.Reasoning = append(a.Reasoning, t...)
					}
					continue
				}
				raw := l.Skip()
				if len(raw) > 0 && raw[0] == '[' {
					var inner wire.Answer
					nested := choice{parts: raw}
					if nested.applyParts(&inner).Has(wire.Payload) {
						v |= wire.Payload
						a.Reasoning = append(a.Reasoning, inner.Content...)
					}
				}
			default:
				l.Skip()
			}
		}
	}
	return v
}

// applyTools merges fragments of tool calls by their index. Only arguments are
// payload: the name comes with an empty fragment before the model has said more.
func (c *choice) applyTools(a *wire.Answer) (v wire.Verdict) {
	l := wire.NewLexer(c.tools)
	if !l.Array() {
		return 0
	}
	for position := 0; l.Elem(); position++ {
		if !l.Object() {
			l.Skip()
			continue
		}
		index, hasIndex := position, false
		var id, kind, function []byte
		for {
			key, ok := l.Key()
			if !ok {
				break
			}
			switch key {
			case "index":
				if n, ok := l.Int(); ok {
					index, hasIndex = int(n), true
				} else {
					l.Skip()
				}
			case "id":
				id = textOrNil(&l)
			case "type":
				kind = textOrNil(&l)
			case "function":
				function = l.Skip()
			default:
				l.Skip()
			}
		}
		if l.Err() != nil {
			return v
		}
		t := c.tool(a, index, id, hasIndex)
		if len(t.ID) == 0 {
			t.ID = append(t.ID, id...)
		}
		if len(t.Type) == 0 {
			t.Type = append(t.Type, kind...)
		}
		if len(function) > 0 {
			f := wire.NewLexer(function)
			v |= applyFunction(&f, t)
		}
	}
	return v
}

func textOrNil(l *wire.Lexer) []byte {
	if t, ok := l.Text(); ok {
		return t
	}
	l.Skip()
	return nil
}

// tool finds the tool call a fragment belongs to, or starts it. Calls of choices
// other than the first are measured but not kept.
func (c *choice) tool(a *wire.Answer, index int, id []byte, hasIndex bool) *wire.ToolCall {
	if c.index != 0 {
		return &wire.ToolCall{}
	}
	n := len(a.Tools)
	if !hasIndex && !a.Whole && n > 0 {
		// Without an index a fragment continues the call before unless it brings a new id.
		if last := &a.Tools[n-1]; len(id) == 0 || bytes.Equal(last.ID, id) {
			return last
		}
		index = a.Tools[n-1].Index + 1
	}
	for i := range a.Tools {
		if a.Tools[i].Index == index {
			return &a.Tools[i]
		}
	}
	a.Tools = append(a.Tools, wire.ToolCall{Index: index})
	return &a.Tools[n]
}

func applyFunction(l *wire.Lexer, t *wire.ToolCall) (v wire.Verdict) {
	if !l.Object() {
		return 0
	}
	for {
		key, ok := l.Key()
		if !ok {
			return v
		}
		switch key {
		case "name":
			if name := textOrNil(l); len(name) > 0 && !bytes.Equal(t.Name, name) {
				t.Name = append(t.Name, name...)
			}
		case "arguments":
			if args, ok := l.Text(); ok {
				if len(args) > 0 {
					t.Arguments = append(t.Arguments, args...)
					v |= wire.Payload
				}
				continue
			}
			if raw := l.Skip(); len(raw) > 0 && string(raw) != "null" {
				t.Arguments = wire.AppendEscaped(t.Arguments, raw)
				v |= wire.Payload
			}
		default:
			l.Skip()
		}
	}
}

func scanUsage(l *wire.Lexer, a *wire.Answer) (v wire.Verdict) {
	if !l.Object() {
		l.Skip() // null on all but the last chunk
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
		case "reasoning_tokens": // SGLang
			v |= l.Count(&a.ReasoningTokens, wire.Usage)
		case "cached_tokens", "prompt_cache_hit_tokens": // Moonshot, DeepSeek
			v |= l.Count(&a.CachedTokens, wire.Usage)
		case "prompt_tokens_details", "completion_tokens_details":
			if !l.Object() {
				l.Skip()
				continue
			}
			for {
				key, ok := l.Key()
				if !ok {
					break
				}
				switch key {
				case "cached_tokens":
					v |= l.Count(&a.CachedTokens, wire.Usage)
				case "reasoning_tokens":
					v |= l.Count(&a.ReasoningTokens, wire.Usage)
				default:
					l.Skip()
				}
			}
		default:
			l.Skip()
		}
	}
}
