package models

import (
	"errors"

	"ais_bench/models/wire"
)

// tgiNames are OpenAI's names of sampling parameters where TGI has its own, or
// none ("").
var tgiNames = map[string]string{"max_tokens": "max_new_tokens", "max_completion_tokens": "max_new_tokens", "repetition_penalty": "repetition_penalty",
	"ignore_eos": "ignore_eos_token", "stream": "", "stream_options": "", "model": "", "n": ""}

// tgiBody is the body of /generate_stream, which always streams. TGI refuses a
// temperature of 0: greedy decoding is its do_sample false.
func (s *service) tgiBody(q question) (map[string]any, error) {
	parameters := map[string]any{"details": true}
	params := s.params(q.req)
	limit := s.limit(q.req, params, "max_new_tokens", "max_tokens", "max_completion_tokens")
	for k, v := range params {
		if own, ok := tgiNames[k]; ok {
			k = own
		}
		switch {
		case k == "":
		case k == "temperature" && isZero(v):
			parameters["do_sample"] = false
		default:
			parameters[k] = v
		}
	}
	if limit > 0 {
		parameters["max_new_tokens"] = limit
	}
	if q.req.PromptTokenIDs != nil {
		return nil, errors.New("TGI takes text, not token ids: use a completions model for token-id prompts")
	}
	text, err := s.promptText(q.req)
	return map[string]any{"inputs": text, "parameters": parameters}, err
}

func isZero(v any) bool {
	switch v := v.(type) {
	case int:
		return v == 0
	case int64:
		return v == 0
	case uint64:
		return v == 0
	case float64:
		return v == 0
	}
	return false
}

// generationOnly are parameters that mean nothing where no text is generated.
var generationOnly = []string{"stream", "stream_options", "max_tokens", "max_completion_tokens", "ignore_eos", "temperature", "top_p", "top_k", "min_p",
	"frequency_penalty", "presence_penalty", "repetition_penalty", "stop"}

func (s *service) poolingBody(q question) map[string]any {
	m := s.params(q.req)
	for _, k := range generationOnly {
		delete(m, k)
	}
	if q.model != "" {
		m["model"] = q.model
	}
	return m
}

// embeddingsBody asks for the embedding of the prompt, or of the texts in the
// parameter "input" where a request carries several.
func (s *service) embeddingsBody(q question) (map[string]any, error) {
	m := s.poolingBody(q)
	if _, given := m["input"]; given {
		return m, nil
	}
	if q.req.PromptTokenIDs != nil {
		m["input"] = q.req.PromptTokenIDs
		return m, nil
	}
	text, err := s.promptText(q.req)
	m["input"] = text
	return m, err
}

// rerankBody asks for the scores of the parameter "documents" for the parameter
// "query". A prompt alone (a readiness check) is scored against itself.
func (s *service) rerankBody(q question) (map[string]any, error) {
	m := s.poolingBody(q)
	text, err := s.promptText(q.req)
	if _, given := m["query"]; !given {
		m["query"] = text
	}
	if _, given := m["documents"]; !given {
		m["documents"] = []string{text}
	}
	return m, err
}

func noLogprobs([]byte, int32) ([]wire.Logprob, error) {
	return nil, errors.New("this protocol gives no log-probabilities: use a chat or completions model")
}
