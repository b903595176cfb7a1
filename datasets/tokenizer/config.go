package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"ais_bench/registry"
)

// readConfig adds what tokenizer_config.json and chat_template.jinja say. Tokens
// that only added_tokens_decoder knows become added tokens, as they do in the
// model's own library.
func (t *Tokenizer) readConfig(dir string) error {
	file := filepath.Join(dir, "tokenizer_config.json")
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("tokenizer: %w", err)
	}
	if err == nil {
		if err := t.applyConfig(data); err != nil {
			return fmt.Errorf("tokenizer %s: %w", file, err)
		}
	}
	if tpl, err := os.ReadFile(filepath.Join(dir, "chat_template.jinja")); err == nil {
		t.config.ChatTemplate = string(tpl)
	}
	return nil
}

// tokenText is a special token in either spelling: "x" or {"content": "x", …}.
type tokenText string

func (s *tokenText) UnmarshalJSON(raw []byte) error {
	var obj struct {
		Content string `json:"content"`
	}
	if len(raw) > 0 && raw[0] == '{' {
		err := json.Unmarshal(raw, &obj)
		*s = tokenText(obj.Content)
		return err
	}
	var text *string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	if text != nil {
		*s = tokenText(*text)
	}
	return nil
}

func (t *Tokenizer) applyConfig(data []byte) error {
	var j struct {
		Class        string                `json:"tokenizer_class"`
		ChatTemplate json.RawMessage       `json:"chat_template"`
		BOS          tokenText             `json:"bos_token"`
		EOS          tokenText             `json:"eos_token"`
		PAD          tokenText             `json:"pad_token"`
		UNK          tokenText             `json:"unk_token"`
		ModelMaxLen  float64               `json:"model_max_length"`
		AddedTokens  map[string]addedToken `json:"added_tokens_decoder"`
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return registry.ExplainJSON(data, err)
	}
	t.config = Config{Class: j.Class, BOS: string(j.BOS), EOS: string(j.EOS), PAD: string(j.PAD), UNK: string(j.UNK)}
	if j.ModelMaxLen > 0 && j.ModelMaxLen < 1e12 { // larger means "no limit"
		t.config.ModelMaxLength = int(j.ModelMaxLen)
	}
	if !isNull(j.ChatTemplate) {
		var list []struct{ Name, Template string }
		if json.Unmarshal(j.ChatTemplate, &t.config.ChatTemplate) != nil {
			if err := json.Unmarshal(j.ChatTemplate, &list); err != nil {
				return fmt.Errorf("chat_template is neither text nor a list of named templates: %w", registry.ExplainJSON(j.ChatTemplate, err))
			}
			t.config.ChatTemplates = map[string]string{}
			for _, e := range list {
				t.config.ChatTemplates[e.Name] = e.Template
			}
			t.config.ChatTemplate = t.config.ChatTemplates["default"]
		}
	}
	taken := map[int]bool{}
	t.model.each(func(id int, _ string) { taken[id] = true })
	for _, a := range t.added.list {
		taken[a.ID] = true
	}
	for key, a := range j.AddedTokens {
		id, err := strconv.Atoi(key)
		if err == nil {
			err = checkID(a.Content, id)
		}
		if err != nil {
			return fmt.Errorf("added_tokens_decoder: key %q: %w", key, err)
		}
		if !taken[id] {
			a.ID = id
			t.added.list = append(t.added.list, a)
		}
	}
	return nil
}
