package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// question is a request as it is about to be asked: with the model's name and
// with what the server has been found not to accept left out.
type question struct {
	req    *Request
	model  string
	stream bool
	quirks quirks
}

// clientSide are generation_kwargs that AISBench's users write for the client;
// they are no business of the server's.
var clientSide = map[string]bool{"num_return_sequences": true, "lora_data_map_file": true}

// params merges generation_kwargs and the request's own; the latter win, and a
// null there removes a key.
func (s *service) params(req *Request) map[string]any {
	m := make(map[string]any, len(s.cfg.GenerationKwargs)+len(req.Params)+6)
	for k, v := range s.cfg.GenerationKwargs {
		if !clientSide[k] {
			m[k] = v
		}
	}
	for k, v := range req.Params {
		switch {
		case clientSide[k]:
		case v == nil:
			delete(m, k)
		default:
			m[k] = v
		}
	}
	return m
}

// limit is the length to ask for: the request's own, else the configured one
// unless the parameters already name a length; 0 = none.
func (s *service) limit(req *Request, m map[string]any, keys ...string) int {
	for _, k := range keys {
		if _, ok := req.Params[k]; ok {
			return 0
		}
	}
	if req.MaxTokens > 0 {
		for _, k := range keys {
			delete(m, k)
		}
		return req.MaxTokens
	}
	for _, k := range keys {
		if _, ok := m[k]; ok {
			return 0
		}
	}
	return s.cfg.MaxOutLen
}

func (s *service) openaiBody(q question) map[string]any {
	m := s.params(q.req)
	if n := s.limit(q.req, m, "max_tokens", "max_completion_tokens"); n > 0 {
		m["max_tokens"] = n
	}
	if v, ok := m["max_tokens"]; ok && q.quirks.completionTokens {
		delete(m, "max_tokens")
		m["max_completion_tokens"] = v
	}
	if q.model != "" {
		m["model"] = q.model
	}
	m["stream"] = q.stream
	delete(m, "stream_options")
	if q.stream && !q.quirks.noStreamOptions {
		opts := map[string]any{"include_usage": true}
		for _, given := range []any{s.cfg.GenerationKwargs["stream_options"], q.req.Params["stream_options"]} {
			if g, ok := given.(map[string]any); ok {
				for k, v := range g {
					opts[k] = v
				}
			}
		}
		m["stream_options"] = opts
	}
	return m
}

type wireMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

func (s *service) chatBody(q question) (map[string]any, error) {
	m := s.openaiBody(q)
	if q.req.PromptTokenIDs != nil {
		return nil, errors.New("a chat protocol takes messages, not token ids: use a completions model for token-id prompts")
	}
	msgs := make([]wireMessage, 0, max(1, len(q.req.Messages)))
	for _, msg := range q.req.Messages {
		w := wireMessage{Role: msg.Role, Content: msg.Content}
		if msg.Parts != nil {
			w.Content = msg.Parts
		}
		msgs = append(msgs, w)
	}
	if len(msgs) == 0 {
		msgs = append(msgs, wireMessage{Role: "user", Content: q.req.Prompt})
	}
	m["messages"] = msgs
	return m, nil
}

func (s *service) completionsBody(q question) (map[string]any, error) {
	m := s.openaiBody(q)
	if q.req.PromptTokenIDs != nil {
		m["prompt"] = q.req.PromptTokenIDs
		return m, nil
	}
	text, err := s.promptText(q.req)
	m["prompt"] = text
	return m, err
}

// renderFailed begins the error of a conversation that no text can be made of.
const renderFailed = "render the chat template"

// promptText is the request as one text.
func (s *service) promptText(req *Request) (string, error) {
	if len(req.Messages) == 0 {
		return req.Prompt, nil
	}
	if s.opts.RenderChat != nil && !req.Plain {
		text, err := s.opts.RenderChat(req.Messages)
		if err != nil {
			return "", fmt.Errorf(renderFailed+" of model %s: %w", s.cfg.name(), err)
		}
		return text, nil
	}
	texts := make([]string, len(req.Messages))
	for i, m := range req.Messages {
		if m.Parts != nil {
			return "", fmt.Errorf("message %d has content parts, which a completions protocol cannot take: use a chat model", i+1)
		}
		texts[i] = m.Content
	}
	return strings.Join(texts, "\n"), nil
}

// generateTop are the fields of /generate beside sampling_params.
var generateTop = map[string]bool{
	"return_logprob": true, "logprob_start_len": true, "top_logprobs_num": true, "token_ids_logprob": true,
	"return_text_in_logprobs": true, "lora_path": true, "session_params": true, "rid": true, "image_data": true,
	"video_data": true, "audio_data": true, "return_hidden_states": true, "custom_logit_processor": true,
	"data_parallel_rank": true, "priority": true, "log_metrics": true, "input_embeds": true, "extra_key": true,
	"bootstrap_host": true, "bootstrap_port": true, "bootstrap_room": true, "no_logs": true,
}

// generateNames are OpenAI's names of sampling parameters where /generate has its own.
var generateNames = map[string]string{"max_tokens": "max_new_tokens", "max_completion_tokens": "max_new_tokens", "seed": "sampling_seed"}

func (s *service) generateBody(q question) (map[string]any, error) {
	m := map[string]any{"stream": q.stream}
	sampling := map[string]any{}
	params := s.params(q.req)
	limit := s.limit(q.req, params, "max_new_tokens", "max_tokens", "max_completion_tokens")
	for k, v := range params {
		switch {
		case generateTop[k]:
			m[k] = v
		case k == "sampling_params":
			if given, ok := v.(map[string]any); ok {
				for name, value := range given {
					sampling[name] = value
				}
			}
		case k == "stream", k == "stream_options", k == "model":
		default:
			if own, ok := generateNames[k]; ok {
				k = own
			}
			sampling[k] = v
		}
	}
	if limit > 0 {
		sampling["max_new_tokens"] = limit
	}
	m["sampling_params"] = sampling
	if q.req.Model != "" {
		m["lora_path"] = q.req.Model
	}
	if q.req.PromptTokenIDs != nil {
		m["input_ids"] = q.req.PromptTokenIDs
		return m, nil
	}
	text, err := s.promptText(q.req)
	m["text"] = text
	return m, err
}

// wantsLogprobs tells a body that asks for the log-probabilities of its prompt;
// no server streams those.
func wantsLogprobs(m map[string]any) bool {
	if v, ok := m["prompt_logprobs"]; ok && v != nil && v != false {
		return true
	}
	if echo, ok := m["echo"].(bool); ok && echo {
		v, ok := m["logprobs"]
		return ok && v != nil && v != false
	}
	// SGLang returns those of the prompt from logprob_start_len on; -1, its default,
	// is none of them.
	if v, ok := m["return_logprob"].(bool); !ok || !v {
		return false
	}
	start, given := m["logprob_start_len"]
	return given && fmt.Sprint(start) != "-1"
}

func encode(m map[string]any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
