package models

import (
	"context"
	"fmt"

	"ais_bench/models/transport"
)

// ServerTokenizer is a service's own tokenizer, POST /tokenize and /detokenize
// in the shape of vLLM and SGLang. It is safe for concurrent use.
type ServerTokenizer struct{ s *service }

// NewServerTokenizer makes the tokenizer of cfg's service; nothing is sent yet.
func NewServerTokenizer(cfg Config) (*ServerTokenizer, error) {
	s, err := newService(cfg, transport.NewClock(), Options{})
	if err != nil {
		return nil, err
	}
	return &ServerTokenizer{s}, nil
}

// Tokenize gives the ids of text, with the special tokens the model adds where
// addSpecial asks for them.
func (t *ServerTokenizer) Tokenize(ctx context.Context, text string, addSpecial bool) ([]int, error) {
	var out struct {
		Tokens []int `json:"tokens"`
	}
	if err := t.s.tokenizer(ctx, "/tokenize", map[string]any{"prompt": text, "add_special_tokens": addSpecial}, &out); err != nil {
		return nil, err
	}
	if out.Tokens == nil {
		return nil, fmt.Errorf("/tokenize of model %s answers without tokens", t.s.cfg.name())
	}
	return out.Tokens, nil
}

// Detokenize gives the text of ids.
func (t *ServerTokenizer) Detokenize(ctx context.Context, ids []int) (string, error) {
	return t.s.Detokenize(ctx, ids)
}

// Close drops idle connections.
func (t *ServerTokenizer) Close() { t.s.Close() }
