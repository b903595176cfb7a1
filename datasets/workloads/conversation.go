package workloads

import (
	"fmt"

	"ais_bench/datasets"
)

// Ways to ask a conversation of several turns (Config.InferMode; the names are
// AISBench's). The empty mode is one request a row: of ShareGPT and Spec-Bench the
// first turn, as vLLM does, of custom all messages as they are.
const (
	// InferEvery asks every user turn in order, with the model's own replies as
	// history (datasets.FollowUp).
	InferEvery = "every"
	// InferEveryGold asks every user turn in order, with the file's replies as history.
	InferEveryGold = "every_with_gt"
	// InferLast asks the last user turn alone, with all before it as history.
	InferLast = "last"
)

// InferModes lists the values of Config.InferMode.
var InferModes = []string{InferEvery, InferEveryGold, InferLast}

func checkInferMode(mode string) error {
	switch mode {
	case "", InferEvery, InferEveryGold, InferLast:
		return nil
	}
	return fmt.Errorf("infer mode %q is not known; give every, every_with_gt or last", mode)
}

// turnsAsked describes the mode of a file of conversations.
func (c *Config) turnsAsked() string {
	switch c.InferMode {
	case InferEvery:
		return ", every turn behind the model's own replies"
	case InferEveryGold:
		return ", every turn behind the file's replies"
	case InferLast:
		return ", last turns"
	}
	return ""
}

// withoutReplies refuses the modes that need the replies of a file which has none.
func (c *Config) withoutReplies() error {
	if c.InferMode != "" && c.InferMode != InferEvery {
		return fmt.Errorf("infer mode %q needs the replies, which the file does not have; give every", c.InferMode)
	}
	return nil
}

func (c *Config) checkTurns() error {
	switch {
	case c.MaxTurns > 0 && c.MaxTurns < c.MinTurns:
		return fmt.Errorf("at most %d turns are fewer than at least %d", c.MaxTurns, c.MinTurns)
	case c.ThinkTime < 0:
		return fmt.Errorf("the delay between turns must not be negative, got %s", c.ThinkTime)
	case !(c.SharedFrac >= 0 && c.SessionFrac >= 0 && c.SharedFrac+c.SessionFrac < 1):
		return fmt.Errorf("the shared shares of a turn must not be negative and must add up to less than 1, got %g and %g", c.SharedFrac, c.SessionFrac)
	}
	return nil
}

// conversation makes the sample of one conversation whose roles are known. outputLen
// is the output cap for an answer that the file has; 0 = unknown, which ends the
// conversation before that turn where the file decides the lengths. why says why
// there is none, "" when there is one.
func (c *Config) conversation(id string, turns []datasets.Turn, outputLen func(reply string) int) (s datasets.Sample, why string, err error) {
	var asks []int // turns that the model answers
	for i, t := range turns {
		if t.Role == "user" && (i+1 == len(turns) || turns[i+1].Role != "user") {
			asks = append(asks, i)
		}
	}
	if len(asks) == 0 {
		return s, "no user turn", nil
	}
	reply := func(i int) string {
		if i+1 < len(turns) && turns[i+1].Role == "assistant" {
			return turns[i+1].Text
		}
		return ""
	}
	if c.Tokenizer != nil { // else nobody can tell lengths, and OutputLen is set or left to the server
		for n, at := range asks {
			if outputLen(reply(at)) == 0 {
				asks = asks[:n]
				break
			}
		}
	}
	switch {
	case len(asks) == 0:
		return s, "no answer to take the output length from", nil
	case len(asks) < c.MinTurns:
		return s, fmt.Sprintf("fewer than %d turns", c.MinTurns), nil
	case c.MaxTurns > 0 && len(asks) > c.MaxTurns:
		asks = asks[:c.MaxTurns]
	}
	if c.InferMode == InferLast {
		asks = asks[len(asks)-1:]
	}
	first := asks[0]
	s = c.sample(id, outputLen(reply(first)))
	s.SessionID = id
	s.Prompt.Turns = append([]datasets.Turn(nil), turns[:first+1]...)
	s.Prompt.Turns[0].Text = c.salted(s.Prompt.Turns[0].Text)
	for n, at := range asks[1:] {
		f := datasets.FollowUp{MaxTokens: outputLen(reply(at)), DelayNS: c.ThinkTime.Nanoseconds()}
		for i := asks[n] + 1; i <= at; i++ { // users may say several things before they are answered
			switch turns[i].Role {
			case "user":
				if f.Text != "" {
					f.Text += "\n"
				}
				f.Text += turns[i].Text
			case "assistant":
				if c.InferMode == InferEveryGold && f.Reply == nil {
					f.Reply = &turns[i].Text
				}
			}
		}
		s.FollowUps = append(s.FollowUps, f)
	}
	return s, "", c.openTurns(&s)
}

// openTurns measures the first turn of a conversation and, where nothing follows,
// renders it. Where turns follow, all are rendered when they are asked: what they
// say depends on the answers.
func (c *Config) openTurns(s *datasets.Sample) error {
	if len(s.FollowUps) == 0 {
		if err := c.renderTurns(s); err != nil {
			return err
		}
		c.measure(s)
		return nil
	}
	first := *s
	if err := c.renderTurns(&first); err != nil {
		return err
	}
	c.measure(&first) // Fields is shared
	return nil
}

// withinContext takes off the turns that would go beyond limit tokens of prompt and
// answer, counted with answers of full length; false when not even the first fits.
// limit 0 is none.
func (c *Config) withinContext(s *datasets.Sample, limit int) bool {
	total, known := s.Fields[FieldInputLen].(int)
	if limit <= 0 || !known {
		return true
	}
	if total += s.MaxTokens; total > limit {
		return false
	}
	for i, f := range s.FollowUps {
		n := c.Tokenizer.Count(f.Text) + f.MaxTokens
		if f.MaxTokens == 0 {
			n += s.MaxTokens
		}
		if f.Alone {
			total = 0
		}
		if total += n; total > limit {
			s.FollowUps = s.FollowUps[:i]
			return true
		}
	}
	return true
}

// renderTurns turns Prompt.Turns into text where a chat template is set.
func (c *Config) renderTurns(s *datasets.Sample) error {
	if c.ChatTemplate == nil || len(s.Prompt.Turns) == 0 {
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
