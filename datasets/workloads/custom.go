package workloads

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ais_bench/datasets"
	"ais_bench/registry"
)

// custom asks the rows of a JSONL file, in vLLM's form {"prompt": "…"} or with a
// list of chat messages {"messages": [{"role", "content"}]} (SGLang's openai data
// set). The output length is OutputLen, or with -1 the row's output_tokens
// (max_completion_tokens and max_tokens are read as well), which must then be there. Tools and
// tool_choice of a row go into its body. Shuffled by the seed,
// then cut or topped up to NumPrompts.
//
// With InferMode the messages are a conversation that is held anew: every user turn
// in order with the model's own replies in place of the file's (InferEvery), with
// the file's (InferEveryGold), or the last alone (InferLast). A prompt is a
// conversation of one turn.
//
// A prompt is rendered with ChatTemplate where one is set: for completions
// endpoints only, a chat endpoint renders by itself.
//
// Uses: NumPrompts, OutputLen, InferMode, MinTurns, MaxTurns, ThinkTime,
// NoOversample, DisableShuffle, ChatTemplate, Tokenizer (optional), CacheBust,
// MaxModelLen.
type custom struct {
	notes
	cfg Config
}

type customRow struct {
	Prompt       *string         `json:"prompt"`
	Messages     []customMessage `json:"messages"`
	OutputTokens *int            `json:"output_tokens"`
	MaxTokens    *int            `json:"max_tokens"`
	MaxOutput    *int            `json:"max_completion_tokens"`
	Tools        json.RawMessage `json:"tools"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
}

type customMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

func newCustom(cfg Config) (Workload, error) {
	if err := checkInferMode(cfg.InferMode); err != nil {
		return nil, err
	}
	return &custom{cfg: cfg}, nil
}

func (w *custom) String() string {
	return fmt.Sprintf("custom: rows of %s%s, seed %d", w.cfg.DatasetPath, w.cfg.turnsAsked(), w.cfg.Seed)
}

func (w *custom) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	w.reset()
	var all []datasets.Sample
	err := eachLine(cfg.DatasetPath, func(line []byte, number int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, why, err := w.row(line, number)
		if err != nil {
			return err
		}
		if why != "" {
			w.skip(number, why)
			return nil
		}
		if len(s.FollowUps) == 0 { // else measured already, as it will be rendered
			cfg.measure(&s)
		}
		if !cfg.withinContext(&s, cfg.MaxModelLen) {
			w.skip(number, fmt.Sprintf("longer than the model's %d tokens", cfg.MaxModelLen))
			return nil
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no rows to ask%s", cfg.DatasetPath, because(w.Notes()))
	}
	return cfg.fit(cfg.shuffled(all)), nil
}

// row makes the sample of one row, or says why it is left out.
func (w *custom) row(line []byte, number int) (s datasets.Sample, why string, err error) {
	cfg := &w.cfg
	var row customRow
	if err := unmarshal(line, &row); err != nil {
		return s, "", err
	}
	out := cfg.OutputLen
	if out == -1 {
		n := cmp.Or(row.OutputTokens, row.MaxOutput, row.MaxTokens)
		switch {
		case n == nil:
			return s, "", fmt.Errorf(`no "output_tokens", which --custom-output-len -1 takes the length from`)
		case *n < 1:
			return s, "", fmt.Errorf(`"output_tokens" must be at least 1, got %d`, *n)
		}
		out = *n
	}
	id := strconv.Itoa(number)
	defer func() {
		if err == nil {
			row.addTools(&s)
		}
	}()
	s = cfg.sample(id, out)
	switch {
	case row.Prompt != nil && row.Messages != nil:
		return s, "", fmt.Errorf(`both "prompt" and "messages"; give one`)
	case row.Prompt != nil:
		if strings.TrimSpace(*row.Prompt) == "" {
			return s, "", fmt.Errorf(`"prompt" is empty`)
		}
		if cfg.MinTurns > 1 {
			return s, fmt.Sprintf("fewer than %d turns", cfg.MinTurns), nil
		}
		if s.Prompt.Text, err = cfg.templated(cfg.salted(*row.Prompt) + cfg.PromptSuffix); err != nil {
			return s, "", fmt.Errorf("chat template: %w", err)
		}
		return s, "", nil
	case len(row.Messages) > 0:
		var turns []datasets.Turn
		for i, m := range row.Messages {
			t, err := m.turn()
			if err != nil {
				return s, "", fmt.Errorf("message %d: %w", i, err)
			}
			turns = append(turns, t)
		}
		if cfg.InferMode != "" {
			return cfg.conversation(id, turns, func(string) int { return out })
		}
		turns[0].Text = cfg.salted(turns[0].Text)
		s.Prompt.Turns = turns
		return s, "", cfg.renderTurns(&s)
	}
	var keys map[string]json.RawMessage
	_ = json.Unmarshal(line, &keys) // it just decoded as an object
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if near := registry.Nearest(k, []string{"prompt", "messages"}); near != "" {
			return s, "", fmt.Errorf(`no %q; did you mean it by %q?`, near, k)
		}
	}
	return s, "", fmt.Errorf(`neither "prompt" nor "messages"`)
}

// addTools puts the tools of a row into its request's body.
func (r *customRow) addTools(s *datasets.Sample) {
	for key, raw := range map[string]json.RawMessage{"tools": r.Tools, "tool_choice": r.ToolChoice} {
		var v any
		if len(raw) == 0 || json.Unmarshal(raw, &v) != nil || v == nil {
			continue
		}
		if s.Params == nil {
			s.Params = map[string]any{}
		}
		s.Params[key] = v
	}
}

// because puts the reasons for left-out rows behind an error.
func because(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return ": " + strings.Join(notes, "; ")
}

// turn reads a message whose content is a string or a list of text parts.
func (m customMessage) turn() (datasets.Turn, error) {
	switch m.Role {
	case "system", "user", "assistant", "tool":
	case "developer":
		m.Role = "system"
	default:
		return datasets.Turn{}, fmt.Errorf("role %q is not known; give system, user, assistant or tool", m.Role)
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return datasets.Turn{Role: m.Role, Text: text}, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return datasets.Turn{}, fmt.Errorf(`"content" must be a string or a list of parts`)
	}
	for _, p := range parts {
		if p.Type != "text" {
			return datasets.Turn{}, fmt.Errorf("content part of type %q; this workload asks text only", p.Type)
		}
		text += p.Text
	}
	return datasets.Turn{Role: m.Role, Text: text}, nil
}
