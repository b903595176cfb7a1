package models

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// ModelInfo is one entry of /v1/models.
type ModelInfo struct {
	ID          string
	Root        string
	MaxModelLen int // tokens; 0 when the server does not say
	OwnedBy     string
}

// sideLimit bounds the small requests beside the measured ones where the
// configuration sets no tighter limit.
const sideLimit = 30 * time.Second

// call sends one small request (no streaming) below the API or server root and
// returns the JSON body of a 200. The error is an *ask, which explain turns into
// one line.
func (s *service) call(ctx context.Context, method, target string, in any) ([]byte, *Result) {
	_, path := splitOrigin(target)
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return nil, s.failed(newResult(s.clock.Now()), outputs.StatusMalformed, err.Error())
		}
	}
	limit := sideLimit
	if t := time.Duration(s.cfg.Timeouts.Total); t > 0 && t < limit {
		limit = t
	}
	x, err := s.http.Do(ctx, &transport.Request{Method: method, Path: path, Header: s.header, Body: body,
		Limits: transport.Limits{Total: limit}})
	r := newResult(x.Sent)
	if err != nil {
		return nil, s.failedBy(r, err)
	}
	r.HTTPStatus = x.StatusCode
	if x.StatusCode != http.StatusOK {
		return nil, s.refused(r, x)
	}
	out, _, err := readBody(x, maxBody)
	x.Close()
	switch trimmed := strings.TrimSpace(string(out)); {
	case err != nil:
		return nil, s.failedBy(r, err)
	case strings.Contains(x.Header.Get("content-type"), "html") || strings.HasPrefix(trimmed, "<"):
		return nil, s.failed(r, outputs.StatusMalformed, "HTML instead of JSON: "+quote(out))
	case !json.Valid(out):
		return nil, s.failed(r, outputs.StatusMalformed, "broken JSON: "+quote(out))
	}
	r.Status = outputs.StatusOK
	return out, r
}

// Discover asks /v1/models. The error is one line with cause and remedy.
func Discover(ctx context.Context, cfg Config) ([]ModelInfo, error) {
	s, err := newService(cfg, transport.NewClock(), Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.discover(ctx)
}

func (s *service) discover(ctx context.Context) ([]ModelInfo, error) {
	ep, err := s.cfg.Endpoint()
	if err != nil {
		return nil, err
	}
	target := ep.API + "/models"
	body, r := s.call(ctx, http.MethodGet, target, nil)
	if r.Status != outputs.StatusOK {
		return nil, s.explain(target, r)
	}
	var list struct {
		Data []struct {
			ID          string `json:"id"`
			Root        string `json:"root"`
			OwnedBy     string `json:"owned_by"`
			MaxModelLen int    `json:"max_model_len"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Data == nil {
		return nil, fmt.Errorf("%s answers something else than a list of models: %.200s", target, quote(body))
	}
	out := make([]ModelInfo, 0, len(list.Data))
	for _, m := range list.Data {
		out = append(out, ModelInfo{ID: m.ID, Root: m.Root, MaxModelLen: m.MaxModelLen, OwnedBy: m.OwnedBy})
	}
	return out, nil
}

// Tokenize asks the server's /tokenize (vLLM's shape) for the ids of text,
// special tokens not added.
func Tokenize(ctx context.Context, cfg Config, text string) ([]int, error) {
	s, err := newService(cfg, transport.NewClock(), Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Tokenize(ctx, text)
}

// Tokenizer is a Client's side door to the server's tokenizer; every Client made
// by New has it. It spares a connection a call.
type Tokenizer interface {
	Tokenize(ctx context.Context, text string) ([]int, error)
	Detokenize(ctx context.Context, ids []int) (string, error)
}

// tokenizeForms are the ways servers are asked to tokenize, in the order they
// are tried: vLLM's and SGLang's, llama.cpp's, llama-cpp-python's.
var tokenizeForms = []struct {
	path, text string // endpoint and name of the text's field
}{{"/tokenize", "prompt"}, {"/tokenize", "content"}, {"/extras/tokenize", "input"}}

// Tokenize implements Tokenizer. The form that worked is remembered.
func (s *service) Tokenize(ctx context.Context, text string) ([]int, error) {
	var firstErr error
	start := int(s.tokenizeForm.Load())
	for i := range tokenizeForms {
		form := (start + i) % len(tokenizeForms)
		f := tokenizeForms[form]
		in := map[string]any{f.text: text, "add_special_tokens": false}
		if f.text != "prompt" {
			in = map[string]any{f.text: text}
		}
		var out struct {
			Tokens []int `json:"tokens"`
		}
		err := s.tokenizer(ctx, f.path, in, &out)
		if err == nil && (out.Tokens != nil || text == "") {
			s.tokenizeForm.Store(int32(form))
			return out.Tokens, nil
		}
		if err == nil {
			err = fmt.Errorf("%s of model %s answers without tokens", f.path, s.cfg.name())
		}
		if firstErr == nil {
			firstErr = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, firstErr
}

// Detokenize asks the server's /detokenize (vLLM's shape).
func Detokenize(ctx context.Context, cfg Config, ids []int) (string, error) {
	s, err := newService(cfg, transport.NewClock(), Options{})
	if err != nil {
		return "", err
	}
	defer s.Close()
	return s.Detokenize(ctx, ids)
}

// Detokenize implements Tokenizer.
func (s *service) Detokenize(ctx context.Context, ids []int) (string, error) {
	if ids == nil {
		ids = []int{}
	}
	var out struct {
		Prompt *string `json:"prompt"`
		Text   *string `json:"text"` // SGLang
	}
	if err := s.tokenizer(ctx, "/detokenize", map[string]any{"tokens": ids}, &out); err != nil {
		return "", err
	}
	switch {
	case out.Prompt != nil:
		return *out.Prompt, nil
	case out.Text != nil:
		return *out.Text, nil
	}
	return "", fmt.Errorf("/detokenize of model %s answers without a text", s.cfg.name())
}

func (s *service) tokenizer(ctx context.Context, path string, in map[string]any, out any) error {
	ep, err := s.cfg.Endpoint()
	if err != nil {
		return err
	}
	if m := s.served(ctx, &Request{}); m != "" {
		in["model"] = m
	}
	body, r := s.call(ctx, http.MethodPost, ep.Server+path, in)
	if r.Status != outputs.StatusOK {
		return s.explain(ep.Server+path, r)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%s answers something else than tokens: %.200s", ep.Server+path, quote(body))
	}
	return nil
}
