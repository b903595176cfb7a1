package tasks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	"ais_bench/datasets"
	"ais_bench/models"
)

// question is one request of a task before it is sent: a sample, or one label
// of a PPL sample, with its repeat.
type question struct {
	sample *datasets.Sample
	index  int // of the sample in its set
	repeat int32
}

// numReturnSequences is AISBench's spelling of repeats. It is ours to carry
// out, so it never reaches the server.
const numReturnSequences = "num_return_sequences"

// newRequest renders a sample for the model. The output cap of the sample wins
// over the data set's, that over the model's.
func newRequest(cfg models.Config, set datasets.Config, s *datasets.Sample, prompt datasets.Prompt) *models.Request {
	req := &models.Request{Stream: cfg.Stream, MaxTokens: cfg.MaxOutLen}
	if sub := set.For(s.Subset); sub.MaxOutLen > 0 {
		req.MaxTokens = sub.MaxOutLen
	}
	if s.MaxTokens > 0 {
		req.MaxTokens = s.MaxTokens
	}
	switch {
	case len(prompt.TokenIDs) > 0:
		req.PromptTokenIDs = prompt.TokenIDs
	case len(prompt.Turns) > 0:
		req.Messages = messages(prompt.Turns)
	default:
		req.Prompt = prompt.Text
	}
	req.Headers = s.Headers
	if len(s.Params) > 0 {
		req.Params = maps.Clone(s.Params)
		if name, ok := s.Params["model"].(string); ok { // an adapter (LoRA) served under a name of its own
			req.Model = name
			delete(req.Params, "model")
		}
	}
	return req
}

// messages merges consecutive turns of one role, because chat templates reject
// or misrender them, and drops an empty last assistant turn: it is a cue for
// completions models.
func messages(turns []datasets.Turn) []models.Message {
	var out []models.Message
	for _, t := range turns {
		if n := len(out); n > 0 && out[n-1].Role == t.Role {
			out[n-1].Content += "\n" + t.Text
			continue
		}
		out = append(out, models.Message{Role: t.Role, Content: t.Text})
	}
	if n := len(out); n > 1 && out[n-1].Role == "assistant" && out[n-1].Content == "" {
		out = out[:n-1]
	}
	return out
}

// promptText is the prompt as it is stored: text, or the JSON of its messages.
func promptText(req *models.Request) string {
	switch {
	case len(req.PromptTokenIDs) > 0:
		b, _ := json.Marshal(req.PromptTokenIDs) // ints always marshal
		return string(b)
	case len(req.Messages) > 0:
		type turn struct {
			Role   string `json:"role"`
			Prompt any    `json:"prompt"`
		}
		list := make([]turn, len(req.Messages))
		for i, m := range req.Messages {
			list[i] = turn{m.Role, m.Content}
			if m.Parts != nil {
				list[i].Prompt = m.Parts
			}
		}
		b, err := json.Marshal(list)
		if err != nil {
			return ""
		}
		return string(b)
	}
	return req.Prompt
}

func sha256Hex(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
