package simulator

import "encoding/json"

// respond writes the whole answer to a request that was not streamed. It runs
// on its own goroutine: a long body must not delay the chunks of others.
func (k *call) respond() {
	go func() {
		rep := k.body()
		if k.fault != nil && k.faultInBody(&rep) {
			return
		}
		if !k.settle() {
			return
		}
		k.account()
		tokens := 0
		for _, s := range k.seqs {
			tokens += s.plan.total
		}
		k.stamp(TruthChunk{Kind: ChunkBody, Tokens: uint16(min(tokens, 0xffff))})
		k.c.write(rep.encode(k.xid, true))
		k.finish()
	}()
}

// body words the answer in the request's protocol.
func (k *call) body() reply {
	switch k.proto {
	case protoChat:
		return jsonReply(200, k.chatBody())
	case protoCompletions:
		return jsonReply(200, k.completionsBody())
	case protoTGI:
		p := k.spoken(k.seqs[0])
		return jsonReply(200, map[string]any{"generated_text": string(p.answerText()), "details": map[string]any{
			"finish_reason": tgiFinish(p), "generated_tokens": p.total, "seed": nil}})
	}
	list := make([]map[string]any, len(k.seqs))
	for i, s := range k.seqs {
		p := k.spoken(s)
		ids := make([]int32, 0, p.total)
		for j := range p.total {
			ids = append(ids, p.token(j))
		}
		list[i] = map[string]any{"text": string(p.answerText()), "output_ids": ids,
			"meta_info": json.RawMessage(k.appendMeta(nil, s, true))}
	}
	if len(list) == 1 {
		return jsonReply(200, list[0])
	}
	return jsonReply(200, list)
}

// spoken is the plan of s as far as it is said: all of it, or nothing when a
// fault swallows it. The plan itself belongs to the engine as well and stays as it is.
func (k *call) spoken(s *sequence) *outputPlan {
	if k.silent {
		return &outputPlan{finish: "stop", cut: -1}
	}
	return &s.plan
}

func (k *call) usage() json.RawMessage { return k.appendUsage(nil) }

type chatAnswer struct {
	ID      string          `json:"id"`
	Object  string          `json:"object"`
	Created int64           `json:"created"`
	Model   string          `json:"model"`
	Choices []chatChoice    `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Prompt  []any           `json:"prompt_logprobs"`
}

type chatChoice struct {
	Index        int             `json:"index"`
	Message      map[string]any  `json:"message"`
	Logprobs     json.RawMessage `json:"logprobs"`
	FinishReason string          `json:"finish_reason"`
	StopReason   *string         `json:"stop_reason"`
}

func (k *call) chatBody() chatAnswer {
	out := chatAnswer{ID: k.id, Object: "chat.completion", Created: k.created, Model: k.model, Usage: k.usage()}
	for _, s := range k.seqs {
		p := k.spoken(s)
		message := map[string]any{"role": "assistant", "content": string(p.answerText())}
		if p.reasoning > 0 {
			message[k.srv.cfg.ReasoningField] = string(p.reasoningText())
		}
		if p.tool != nil {
			message["content"] = nil
			message["tool_calls"] = []any{map[string]any{"id": p.tool.id, "type": "function",
				"function": map[string]any{"name": p.tool.name, "arguments": string(p.answerText())}}}
		}
		out.Choices = append(out.Choices, chatChoice{Index: s.index, Message: message, FinishReason: p.finish,
			Logprobs: k.appendLogprobs(nil, s, 0, p.total), StopReason: stopReason(p)})
	}
	if k.promptLogprobs {
		out.Prompt = k.vllmPromptLogprobs(k.seqs[0])
	}
	return out
}

type completionAnswer struct {
	ID      string             `json:"id"`
	Object  string             `json:"object"`
	Created int64              `json:"created"`
	Model   string             `json:"model"`
	Choices []completionChoice `json:"choices"`
	Usage   json.RawMessage    `json:"usage"`
}

type completionChoice struct {
	Index          int             `json:"index"`
	Text           string          `json:"text"`
	Logprobs       json.RawMessage `json:"logprobs"`
	FinishReason   string          `json:"finish_reason"`
	StopReason     *string         `json:"stop_reason"`
	PromptLogprobs []any           `json:"prompt_logprobs"`
}

func (k *call) completionsBody() completionAnswer {
	out := completionAnswer{ID: k.id, Object: "text_completion", Created: k.created, Model: k.model, Usage: k.usage()}
	for _, s := range k.seqs {
		p := k.spoken(s)
		c := completionChoice{Index: s.index, Text: string(p.answerText()), FinishReason: p.finish,
			Logprobs: k.appendLogprobs(nil, s, 0, p.total), StopReason: stopReason(p)}
		if k.echo {
			c.Text = k.inputs[s.index/k.perPrompt].text + c.Text
		}
		if k.promptLogprobs {
			c.PromptLogprobs = k.vllmPromptLogprobs(s)
		}
		out.Choices = append(out.Choices, c)
	}
	return out
}

func stopReason(p *outputPlan) *string {
	if p.stop == "" {
		return nil
	}
	return &p.stop
}

// jsonReply marshals v as the body of an answer.
func jsonReply(status int, v any) reply {
	body, err := json.Marshal(v)
	if err != nil {
		return jsonError(500, "InternalServerError", err.Error())
	}
	return reply{status: status, ctype: "application/json", body: body}
}

// jsonError is an error in OpenAI's form as vLLM writes it.
func jsonError(status int, kind, message string) reply { return errorReply(status, kind, message, nil) }

func paramError(e *badRequest) reply {
	var param any
	if e.param != "" {
		param = e.param
	}
	return errorReply(400, "BadRequestError", e.message, param)
}

func errorReply(status int, kind, message string, param any) reply {
	return jsonReply(status, map[string]any{"error": map[string]any{"message": message, "type": kind, "param": param, "code": status}})
}
