// Package chattemplate renders a model's chat template, so that a conversation
// can be sent to a completions endpoint and a prompt's tokens can be counted
// exactly as the server will count them. Chat endpoints render for themselves.
//
// A template is Jinja as transformers runs it: trim_blocks and lstrip_blocks on,
// loop controls, raise_exception, strftime_now, tojson that keeps the order of
// keys. Data therefore goes in as JSON, never as a Go map, whose order is lost.
//
//	tpl, err := chattemplate.New(cfg.ChatTemplate, chattemplate.Tokens{BOS: cfg.BOS, EOS: cfg.EOS})
//	text, err := tpl.Chat([]chattemplate.Message{{Role: "user", Content: "Hello"}})
package chattemplate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Tokens are the special tokens a template may write out.
type Tokens struct{ BOS, EOS, PAD, UNK string }

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Input is what a template sees. JSON fields keep the order of their keys.
type Input struct {
	Messages            json.RawMessage // list of messages as a chat request has them
	Tools               json.RawMessage // list of tools; nil = none
	AddGenerationPrompt bool            // end with the opening of the assistant's turn
	Kwargs              json.RawMessage // object of further variables (chat_template_kwargs); nil = none
}

// Template is a compiled template, safe for concurrent use.
type Template struct {
	run    renderer
	tokens Tokens
}

// renderer is the part of a Jinja engine that is used; the engine can be
// replaced in one file.
type renderer interface {
	// render gives the text for the variables, JSON by name. An error raised by
	// the template itself carries the template's words.
	render(vars map[string]json.RawMessage) (string, error)
}

// ErrNoTemplate tells that the model's folder has no chat template.
var ErrNoTemplate = errors.New("the tokenizer has no chat template; give one with --chat-template FILE, or use a chat endpoint, where the server renders")

// New compiles source; ErrNoTemplate when it is empty.
func New(source string, tokens Tokens) (*Template, error) {
	if strings.TrimSpace(source) == "" {
		return nil, ErrNoTemplate
	}
	run, err := compile(source)
	if err != nil {
		return nil, fmt.Errorf("chat template: %w", err)
	}
	return &Template{run, tokens}, nil
}

// Render gives the prompt for in.
func (t *Template) Render(in Input) (string, error) {
	vars := map[string]json.RawMessage{}
	if len(in.Kwargs) > 0 {
		if err := json.Unmarshal(in.Kwargs, &vars); err != nil {
			return "", fmt.Errorf("chat_template_kwargs: %w", err)
		}
	}
	vars["messages"] = in.Messages
	if len(in.Messages) == 0 {
		vars["messages"] = json.RawMessage("[]")
	}
	vars["add_generation_prompt"] = json.RawMessage(fmt.Sprint(in.AddGenerationPrompt))
	vars["tools"] = json.RawMessage("null")
	if len(in.Tools) > 0 {
		vars["tools"] = in.Tools
	}
	for name, text := range map[string]string{"bos_token": t.tokens.BOS, "eos_token": t.tokens.EOS,
		"pad_token": t.tokens.PAD, "unk_token": t.tokens.UNK} {
		if text == "" && name != "bos_token" && name != "eos_token" {
			continue // undefined, as in a tokenizer without it
		}
		raw, err := json.Marshal(text)
		if err != nil {
			return "", err
		}
		vars[name] = raw
	}
	text, err := t.run.render(vars)
	if err != nil {
		return "", fmt.Errorf("chat template: %w", err)
	}
	return text, nil
}

// Chat renders messages up to the opening of the assistant's turn.
func (t *Template) Chat(messages []Message) (string, error) { return t.Conversation(messages, nil) }

// Conversation renders messages, with further variables, up to where the model
// goes on: the opening of the assistant's turn, or, where the last message is the
// assistant's already, the end of its text (transformers' continue_final_message).
func (t *Template) Conversation(messages []Message, kwargs json.RawMessage) (string, error) {
	raw, err := json.Marshal(messages)
	if err != nil {
		return "", err
	}
	begun := ""
	if n := len(messages); n > 0 && messages[n-1].Role == "assistant" {
		begun = messages[n-1].Content
	}
	if strings.TrimSpace(begun) == "" {
		return t.Render(Input{Messages: raw, AddGenerationPrompt: true, Kwargs: kwargs})
	}
	text, err := t.Render(Input{Messages: raw, Kwargs: kwargs})
	if err != nil {
		return "", err
	}
	core := strings.TrimSpace(begun)
	at := strings.LastIndex(text, core)
	if at < 0 {
		return "", errors.New("chat template: it does not write out the assistant's last message, so that the model could not go on with it")
	}
	// Blanks at its end stay where the template kept them.
	if whole := strings.TrimLeftFunc(begun, unicode.IsSpace); strings.HasPrefix(text[at:], whole) {
		return text[:at+len(whole)], nil
	}
	return text[:at+len(core)], nil
}
