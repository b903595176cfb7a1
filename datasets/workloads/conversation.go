package workloads

import (
	"fmt"
	"strconv"

	"ais_bench/datasets"
)

// Ways to ask a conversation of several turns (Config.InferMode; the names are
// AISBench's). The empty mode asks its first turn only, as vLLM does.
const (
	// InferEvery is one sample a conversation: the first user turn, the later ones
	// in FieldFollowUps, to be asked with the model's own replies between them.
	InferEvery = "every"
	// InferEveryGold is one sample a user turn, with the file's replies as history.
	// All samples of a conversation share their SessionID.
	InferEveryGold = "every_with_gt"
	// InferLast is one sample a conversation: its last user turn, with all before
	// it as history.
	InferLast = "last"
)

func checkInferMode(mode string) error {
	switch mode {
	case "", InferEvery, InferEveryGold, InferLast:
		return nil
	}
	return fmt.Errorf("infer mode %q is not known; give every, every_with_gt or last", mode)
}

// conversationSamples makes the samples of one conversation. turns end with the
// last one to be asked or with its reply; replies are nil-length where the file
// has none, which only InferEvery can do without.
func (c *Config) conversationSamples(id string, turns []datasets.Turn, outputLen func(reply string) int) ([]datasets.Sample, error) {
	var asks []int
	for i, t := range turns {
		if t.Role == "user" {
			asks = append(asks, i)
		}
	}
	if len(asks) == 0 {
		return nil, fmt.Errorf("no user turn")
	}
	reply := func(i int) string {
		if i+1 < len(turns) && turns[i+1].Role == "assistant" {
			return turns[i+1].Text
		}
		return ""
	}
	if c.InferMode == InferLast {
		asks = asks[len(asks)-1:]
	}
	var out []datasets.Sample
	for n, at := range asks {
		sid := id
		if c.InferMode == InferEveryGold {
			sid += "/" + strconv.Itoa(n)
		}
		s := c.sample(sid, outputLen(reply(at)))
		s.SessionID = id
		s.Prompt.Turns = append([]datasets.Turn(nil), turns[:at+1]...)
		s.Prompt.Turns[0].Text = c.salted(s.Prompt.Turns[0].Text)
		if err := c.renderTurns(&s); err != nil {
			return nil, err
		}
		c.measure(&s)
		out = append(out, s)
		if c.InferMode == InferEvery {
			var later []string
			for _, l := range asks[1:] {
				later = append(later, turns[l].Text)
			}
			if later != nil {
				out[0].Fields[FieldFollowUps] = later
			}
			break
		}
	}
	return out, nil
}

// renderTurns turns Prompt.Turns into text where a chat template is set.
func (c *Config) renderTurns(s *datasets.Sample) error {
	if c.ChatTemplate == nil {
		return nil
	}
	text, err := c.ChatTemplate(s.Prompt.Turns)
	if err != nil {
		return fmt.Errorf("chat template: %w", err)
	}
	s.Prompt = datasets.Prompt{Text: text}
	return nil
}

// tooLong reports whether a request does not fit MaxModelLen.
func (c *Config) tooLong(s *datasets.Sample) bool {
	n, _ := s.Fields[FieldInputLen].(int)
	return c.MaxModelLen > 0 && n+s.MaxTokens > c.MaxModelLen
}
