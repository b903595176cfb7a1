package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"ais_bench/models"
	"ais_bench/outputs"
)

// said is what an answer says beside its text, read from its bytes: a run's clients
// only scan for what they need.
type said struct {
	models []string // names in "model", each once, in order
	usage  *saidUsage
	body   []byte
}

type saidUsage struct {
	Prompt     *float64 `json:"prompt_tokens"`
	Completion *float64 `json:"completion_tokens"`
	Total      *float64 `json:"total_tokens"`
	Reasoning  *float64 `json:"reasoning_tokens"`
	Details    *struct {
		Reasoning *float64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// listen asks once more, to see an answer as it comes.
func (r *run) listen(ctx context.Context, stream bool) said {
	body := r.tinyBody()
	if stream {
		body["stream"] = true
		if p := r.Config.Protocol(); p == models.Chat || p == models.Completions {
			body["stream_options"] = map[string]any{"include_usage": true}
		}
	}
	reply := r.probe.Ask(ctx, models.Question{Path: r.probe.Path(), Body: body, Limit: r.StepTimeout})
	s := said{body: reply.Body}
	if reply.Status != outputs.StatusOK || reply.Code/100 != 2 {
		return s
	}
	s.read(reply.Body)
	for line := range bytes.Lines(reply.Body) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			s.read(data)
		}
	}
	return s
}

// read takes what one JSON document says; what is none says nothing.
func (s *said) read(doc []byte) {
	var d struct {
		Model string     `json:"model"`
		Usage *saidUsage `json:"usage"`
	}
	if json.Unmarshal(doc, &d) != nil {
		return
	}
	if d.Usage != nil {
		s.usage = d.Usage
	}
	for _, known := range s.models {
		if known == d.Model {
			return
		}
	}
	if d.Model != "" {
		s.models = append(s.models, d.Model)
	}
}

// contradiction is what the parts of usage say against each other, "" for nothing.
func (u *saidUsage) contradiction() string {
	if u == nil || u.Prompt == nil || u.Completion == nil {
		return ""
	}
	if u.Total != nil && *u.Total != *u.Prompt+*u.Completion {
		return fmt.Sprintf("total_tokens %g, but prompt_tokens %g and completion_tokens %g are %g", *u.Total, *u.Prompt, *u.Completion, *u.Prompt+*u.Completion)
	}
	reasoning := u.Reasoning
	if u.Details != nil && u.Details.Reasoning != nil {
		reasoning = u.Details.Reasoning
	}
	if reasoning != nil && *reasoning > *u.Completion {
		return fmt.Sprintf("reasoning_tokens %g, which are part of completion_tokens %g", *reasoning, *u.Completion)
	}
	return ""
}

// wrongName is what is odd about the names that answers give, "" for nothing.
func (s *said) wrongName(asked string) string {
	switch {
	case len(s.models) > 1:
		return "one answer names several models: " + strings.Join(s.models, ", ")
	case len(s.models) == 1 && asked != "" && s.models[0] != asked:
		return fmt.Sprintf("the answer names model %s where %s was asked", s.models[0], asked)
	}
	return ""
}
