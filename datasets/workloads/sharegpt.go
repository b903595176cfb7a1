package workloads

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"ais_bench/datasets"
)

// shareGPT asks the conversations of a ShareGPT file: a JSON list (or one object
// a line) of {"id", "conversations": [{"from", "value"}, …]}.
//
// vLLM's rule, the default: rows with at least two turns, shuffled by the seed;
// the prompt is turn 0 and the output length that of turn 1 in tokens, or
// OutputLen. A row is left out when its prompt has fewer than 4 tokens, its answer
// has fewer than 4 (unless OutputLen is set), its prompt has more than 1024 or both
// together more than 2048; with ContextLen that is the only upper limit and the
// lower ones are 2 (SGLang's rule). Rows are taken until there are NumPrompts, then
// topped up (Config.fit). Roles do not matter to this rule, and the prompt is sent as
// it is unless ApplyChatTemplate.
//
// With InferMode the whole conversation is used instead: human, user and prompter
// ask; gpt, assistant, chatgpt, bing, bard and model answer; a row with any other
// role but system is left out, named in Notes. The output length of a turn is that of
// the file's answer to it, or OutputLen; a conversation ends before the first turn
// that has neither, and before the one that would go beyond ContextLen or
// MaxModelLen.
//
// The file is read a row at a time and only chosen rows are kept, so its size
// does not matter. Without a tokenizer the token limits cannot be applied, so
// OutputLen is needed.
//
// Uses: NumPrompts, OutputLen, ContextLen, InferMode, MinTurns, MaxTurns,
// ThinkTime, ApplyChatTemplate, PromptSuffix, NoOversample, DisableShuffle, ChatTemplate, Tokenizer (optional), CacheBust, MaxModelLen.
type shareGPT struct {
	notes
	cfg Config
}

type shareGPTRow struct {
	Conversations []shareGPTTurn `json:"conversations"`
}

type shareGPTTurn struct {
	From  string  `json:"from"`
	Role  string  `json:"role"`
	Value *string `json:"value"`
}

var shareGPTRoles = map[string]string{
	"human": "user", "user": "user", "prompter": "user",
	"gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant", "model": "assistant",
	"system": "system",
}

func newShareGPT(cfg Config) (Workload, error) {
	if err := checkInferMode(cfg.InferMode); err != nil {
		return nil, err
	}
	if cfg.Tokenizer == nil && cfg.OutputLen == 0 {
		return nil, cfg.withoutTokenizer("to measure the answers (--tokenizer DIR), or --sharegpt-output-len")
	}
	return &shareGPT{cfg: cfg}, nil
}

func (w *shareGPT) String() string {
	return fmt.Sprintf("sharegpt: conversations of %s%s, seed %d", w.cfg.DatasetPath, w.cfg.turnsAsked(), w.cfg.Seed)
}

func (w *shareGPT) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	w.reset()
	index, err := indexJSON(cfg.DatasetPath, func(raw []byte, number int) (bool, error) {
		var row shareGPTRow
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if err := unmarshal(raw, &row); err != nil {
			return false, err
		}
		for i, t := range row.Conversations {
			if t.Value == nil {
				return false, fmt.Errorf(`turn %d has no "value"`, i)
			}
		}
		if len(row.Conversations) < 2 {
			w.skip(number, "fewer than two turns")
			return false, nil
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	defer index.Close()
	var samples []datasets.Sample
	for _, i := range cfg.order(len(index.rows)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		got, why, err := w.row(index, i)
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", cfg.DatasetPath, index.rows[i].number, err)
		}
		if why != "" {
			w.skip(index.rows[i].number, why)
			continue
		}
		samples = append(samples, got)
		if cfg.NumPrompts > 0 && len(samples) >= cfg.NumPrompts {
			break
		}
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("%s: no row can be asked: %s", cfg.DatasetPath, strings.Join(w.Notes(), "; "))
	}
	return cfg.fit(samples), nil
}

// row makes the sample of one row, or says why it is left out.
func (w *shareGPT) row(index *jsonRows, i int) (s datasets.Sample, why string, err error) {
	raw, err := index.read(i)
	if err != nil {
		return s, "", err
	}
	var row shareGPTRow
	if err := unmarshal(raw, &row); err != nil {
		return s, "", err
	}
	id := strconv.Itoa(index.rows[i].number)
	if w.cfg.InferMode != "" {
		return w.conversation(row, id)
	}
	return w.firstTurn(row, id)
}

func (w *shareGPT) firstTurn(row shareGPTRow, id string) (s datasets.Sample, why string, err error) {
	cfg := &w.cfg
	prompt, answer := *row.Conversations[0].Value, *row.Conversations[1].Value
	out := cfg.OutputLen
	if cfg.Tokenizer != nil {
		in := cfg.Tokenizer.Count(prompt) + cfg.Tokenizer.AddedByDefault()
		if out == 0 {
			out = cfg.Tokenizer.Count(answer) + cfg.Tokenizer.AddedByDefault()
		}
		least := 4
		if cfg.ContextLen > 0 {
			least = 2
		}
		switch {
		case in < least:
			return s, fmt.Sprintf("prompt of fewer than %d tokens", least), nil
		case cfg.OutputLen == 0 && (out < least || answer == ""):
			return s, fmt.Sprintf("answer of fewer than %d tokens", least), nil
		case cfg.ContextLen > 0 && in+out > cfg.ContextLen:
			return s, fmt.Sprintf("prompt and answer of more than %d tokens", cfg.ContextLen), nil
		case cfg.ContextLen == 0 && in > 1024:
			return s, "prompt of more than 1024 tokens", nil
		case cfg.ContextLen == 0 && in+out > 2048:
			return s, "prompt and answer of more than 2048 tokens", nil
		}
	} else if strings.TrimSpace(prompt) == "" {
		return s, "empty prompt", nil
	}
	s = cfg.sample(id, out)
	if s.Prompt.Text = cfg.salted(prompt) + cfg.PromptSuffix; cfg.ApplyChatTemplate {
		if s.Prompt.Text, err = cfg.templated(s.Prompt.Text); err != nil {
			return s, "", fmt.Errorf("chat template: %w", err)
		}
	}
	cfg.measure(&s)
	if cfg.tooLong(&s) {
		return s, fmt.Sprintf("longer than the model's %d tokens", cfg.MaxModelLen), nil
	}
	return s, "", nil
}

func (w *shareGPT) conversation(row shareGPTRow, id string) (s datasets.Sample, why string, err error) {
	cfg := &w.cfg
	var turns []datasets.Turn
	asked := false
	for _, t := range row.Conversations {
		from := t.From
		if from == "" {
			from = t.Role
		}
		role, known := shareGPTRoles[strings.ToLower(from)]
		if !known {
			return s, fmt.Sprintf("unknown role %q", from), nil
		}
		if role == "assistant" && !asked {
			continue // an answer to nothing
		}
		asked = asked || role == "user"
		turns = append(turns, datasets.Turn{Role: role, Text: *t.Value})
	}
	s, why, err = cfg.conversation(id, turns, func(reply string) int {
		if cfg.OutputLen > 0 || cfg.Tokenizer == nil {
			return cfg.OutputLen
		}
		return cfg.Tokenizer.Count(reply)
	})
	if why != "" || err != nil {
		return s, why, err
	}
	if !cfg.withinContext(&s, cmp.Or(cfg.ContextLen, cfg.MaxModelLen)) {
		return s, "first turn beyond the context length", nil
	}
	return s, "", nil
}
