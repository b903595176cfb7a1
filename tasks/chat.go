package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"ais_bench/datasets"
	"ais_bench/datasets/chattemplate"
	"ais_bench/datasets/tokenizer"
	"ais_bench/models"
)

// ChatRenderer renders conversations for protocols that take text: completions,
// SGLang's /generate, TGI. A chat endpoint renders by itself.
type ChatRenderer struct {
	// Source is where the template is from: a file, or the tokenizer's folder.
	Source string
	SHA256 string // of the template's text

	tpl    *chattemplate.Template
	kwargs json.RawMessage
	// bos is taken off the front of a rendered text when the server's tokenizer
	// will put it there once more; "" when it will not.
	bos string
}

// NewChatRenderer compiles the Jinja template in file, or with "" that of the
// tokenizer, which may be nil and gives the special tokens in either case.
// kwargs are further variables (chat_template_kwargs). The error is
// chattemplate.ErrNoTemplate when neither has a template.
func NewChatRenderer(file string, local *tokenizer.Tokenizer, kwargs any) (*ChatRenderer, error) {
	r := &ChatRenderer{Source: file}
	source, tokens := "", chattemplate.Tokens{}
	if local != nil {
		c := local.Config()
		source, tokens = c.ChatTemplate, chattemplate.Tokens{BOS: c.BOS, EOS: c.EOS, PAD: c.PAD, UNK: c.UNK}
		if c.BOS != "" {
			if ids := local.Encode("", true); len(ids) > 0 && local.Decode(ids[:1], false) == c.BOS {
				r.bos = c.BOS
			}
		}
	}
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("chat template: %w", err)
		}
		source = string(b)
	} else if local != nil {
		r.Source = local.Path()
	}
	var err error
	if r.tpl, err = chattemplate.New(source, tokens); err != nil {
		return nil, err
	}
	r.SHA256 = sha256Hex(source)
	if kwargs != nil {
		if r.kwargs, err = json.Marshal(kwargs); err != nil {
			return nil, fmt.Errorf("chat_template_kwargs: %w", err)
		}
	}
	return r, nil
}

// Messages gives the prompt for a conversation. One that ends with a turn of the
// assistant is left open behind its text, for the model to go on with.
func (r *ChatRenderer) Messages(msgs []models.Message) (string, error) {
	list := make([]chattemplate.Message, len(msgs))
	for i, m := range msgs {
		if m.Parts != nil {
			return "", fmt.Errorf("message %d has content parts, which a completions protocol cannot take: use a chat model", i+1)
		}
		list[i] = chattemplate.Message{Role: m.Role, Content: m.Content}
	}
	text, err := r.tpl.Conversation(list, r.kwargs)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(text, r.bos), nil
}

// Turns is Messages for the turns of a sample.
func (r *ChatRenderer) Turns(turns []datasets.Turn) (string, error) {
	return r.Messages(messages(turns))
}

// chatTemplateKwargs is the key of generation_kwargs that a chat server hands to
// its template; where the template is rendered here, here is where it goes.
const chatTemplateKwargs = "chat_template_kwargs"

// rendersChat tells that a service of this protocol is asked with text.
func rendersChat(cfg models.Config) bool {
	switch cfg.Protocol() {
	case models.Completions, models.Generate, models.TGI:
		return true
	}
	return false
}

// hasTurns reports whether a data set asks conversations, in one request or in
// several; PPL candidates are sent as plain text and do not count.
func hasTurns(set *datasets.Set) bool {
	for i := range set.Samples {
		if s := &set.Samples[i]; len(s.Choices) == 0 && (len(s.Prompt.Turns) > 0 || len(s.FollowUps) > 0) {
			return true
		}
	}
	return false
}

// findChat decides how a task's conversations become text, where they have to.
func (to *TaskOutcome) findChat(ctx context.Context, opts *Options) error {
	cfg := to.Task.Model.Config
	if cfg.ChatTemplate != "" && !rendersChat(cfg) {
		to.Notes = append(to.Notes, "the chat template given is not used: this protocol sends messages, and the server renders them with its own")
	}
	if !rendersChat(cfg) || !hasTurns(to.Estimate.Set) {
		return nil
	}
	if to.Chat = opts.Chat; to.Chat != nil {
		return nil
	}
	var why string
	var err error
	if to.Chat, why, err = chatRenderer(ctx, cfg); why != "" {
		to.Notes = append(to.Notes, why)
	}
	return err
}

// chatRenderer finds what renders the conversations that are sent to a service
// that takes text: the configuration's chat_template, else the template of the
// tokenizer at its path. nil when none is needed, or there is none: turns are then
// joined with line ends, and why says so.
func chatRenderer(ctx context.Context, cfg models.Config) (r *ChatRenderer, why string, err error) {
	if !rendersChat(cfg) || cfg.SkipChatTemplate {
		return nil, "", nil
	}
	var local *tokenizer.Tokenizer
	reason := "no tokenizer is given"
	if cfg.Path != "" {
		found, err := tokenizer.Resolve(ctx, cfg.Path, tokenizer.ModeLocal, tokenizer.Options{})
		switch {
		case err == nil:
			local = found.Local
		case errors.Is(err, fs.ErrNotExist):
			reason = err.Error()
		default:
			return nil, "", fmt.Errorf("the tokenizer that has the chat template: %w", err)
		}
	}
	r, err = NewChatRenderer(cfg.ChatTemplate, local, cfg.GenerationKwargs[chatTemplateKwargs])
	if errors.Is(err, chattemplate.ErrNoTemplate) {
		if local != nil {
			reason = local.Path() + " has no chat template"
		}
		return nil, "this protocol takes text and no chat template is known (" + reason + "): turns are joined with line ends; " +
			"give --tokenizer DIR of a model with a chat template, --chat-template FILE, or a chat model, whose server renders", nil
	}
	return r, "", err
}
