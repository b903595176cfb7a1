package workloads

import (
	"fmt"
	"math"
)

// The most that a workload can be asked for. A wrong digit is told apart from a load
// here, before memory runs out. The bounds lie far above any service: a hundred
// thousand prompts of 8,192 tokens, or a million of a thousand, are a fifth of the
// last one.
const (
	// MaxTokens is the longest prompt, answer or part of a prompt.
	MaxTokens = 1 << 26
	// MaxRequests is the most requests of a run; a turn of a conversation is one.
	MaxRequests = 10_000_000
	// MaxPromptTokens is the most tokens that the prompts of a run have together.
	MaxPromptTokens = 1 << 32
)

// CheckSize refuses a number in c that is negative or beyond the bounds, by itself or
// multiplied with others, for the workload (or data set) called name. Rows of a file
// are held against the same bounds as they are read.
func (c *Config) CheckSize(name string) error {
	for _, n := range []struct {
		what        string
		v           int
		least, most int
		unit        string
	}{
		{"input length", c.InputLen, 0, MaxTokens, " tokens"},
		{"output length", c.OutputLen, -1, MaxTokens, " tokens"}, // -1 is custom's; check refuses it elsewhere
		{"prefix length", c.PrefixLen, 0, MaxTokens, " tokens"},
		{"suffix length", c.SuffixLen, 0, MaxTokens, " tokens"},
		{"system prompt length", c.SystemPromptLen, 0, MaxTokens, " tokens"},
		{"question length", c.QuestionLen, 0, MaxTokens, " tokens"},
		{"input length of later turns", c.TurnInputLen, 0, MaxTokens, " tokens"},
		{"context length", c.ContextLen, 0, MaxTokens, " tokens"},
		{"the model's length (--max-model-len)", c.MaxModelLen, 0, MaxTokens, " tokens"},
		{"chunk hash size", c.ChunkHashSize, 0, MaxTokens, " tokens"},
		{"batch size", c.BatchSize, 0, MaxRequests, ""},
		{"number of prompts", c.NumPrompts, math.MinInt, MaxRequests, ""}, // 0 or less is every row of a file
		{"number of prefixes", c.NumPrefixes, 0, MaxRequests, ""},
		{"number of groups", c.NumGroups, 0, MaxRequests, ""},
		{"prompts a group", c.PromptsPerGroup, 0, MaxRequests, ""},
		{"number of turns", c.NumTurns, 0, MaxRequests, ""},
		{"fewest turns", c.MinTurns, 0, MaxRequests, ""},
		{"most turns", c.MaxTurns, 0, MaxRequests, ""},
	} {
		switch {
		case n.v < n.least:
			return fmt.Errorf("%s must not be negative, got %d", n.what, n.v)
		case n.v > n.most:
			return fmt.Errorf("%s %d is too much: at most %d%s", n.what, n.v, n.most, n.unit)
		}
	}
	requests, by, tokens := c.size(name)
	switch {
	case requests > MaxRequests:
		return fmt.Errorf("%s make %.4g requests: at most %d", by, requests, MaxRequests)
	case tokens > MaxPromptTokens:
		return tooManyTokens(tokens)
	}
	return nil
}

func tooManyTokens(n float64) error {
	return fmt.Errorf("the prompts have %.4g tokens together: at most %d; lower their number or their length", n, int64(MaxPromptTokens))
}

// size is how many requests are made, of what, and how many tokens their prompts have
// together, before a range ratio; 0 tokens where a file decides. As floats no product
// overflows.
func (c *Config) size(name string) (requests float64, by string, tokens float64) {
	k, err := find(name)
	if err != nil {
		return float64(c.NumPrompts), "", 0
	}
	n := float64(c.NumPrompts)
	turns := float64(max(c.NumTurns, c.MinTurns, c.MaxTurns, 1))
	requests, by = n, fmt.Sprintf("%d prompts", c.NumPrompts)
	conversations := func() {
		if requests *= turns; turns > 1 {
			by += fmt.Sprintf(" of %g turns", turns)
		}
	}
	switch k.name {
	case "random":
		conversations()
		later := c.TurnInputLen
		if later == 0 {
			later = c.InputLen
		}
		tokens = n * (float64(c.PrefixLen) + float64(c.InputLen) + (turns-1)*float64(later))
	case "random_token_ids":
		tokens = n * (float64(c.PrefixLen) + float64(c.InputLen))
	case "random_rerank", "sonnet":
		tokens = n * float64(c.InputLen)
	case "prefix_repetition":
		tokens = (n+float64(c.NumPrefixes))*float64(c.PrefixLen) + n*float64(c.SuffixLen)
	case "generated_shared_prefix":
		n = float64(c.NumGroups) * float64(c.PromptsPerGroup)
		requests, by = n, fmt.Sprintf("%d groups of %d prompts", c.NumGroups, c.PromptsPerGroup)
		conversations()
		tokens = (n+float64(c.NumGroups))*float64(c.SystemPromptLen) + n*turns*float64(c.QuestionLen)
	}
	return requests, by, tokens
}

// promptTokens adds up the prompts of rows and refuses what is too much.
type promptTokens float64

func (p *promptTokens) add(n int) error {
	if *p += promptTokens(n); *p > MaxPromptTokens {
		return tooManyTokens(float64(*p))
	}
	return nil
}
