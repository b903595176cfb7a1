package workloads

import (
	"math"
	"strings"
	"testing"
)

func TestSizesAreBounded(t *testing.T) {
	const huge = math.MaxInt
	for _, c := range []struct {
		name string
		set  func(*Config)
		want string // "" = allowed
	}{
		{"random", func(c *Config) { c.NumPrompts, c.InputLen = 100_000, 8192 }, ""},
		{"random", func(c *Config) { c.NumPrompts, c.InputLen = 1_000_000, 1000 }, ""},
		{"random", func(c *Config) { c.NumPrompts, c.InputLen = 4, 20_000_000 }, ""},
		{"random", func(c *Config) { c.OutputLen = huge }, "output length 9223372036854775807 is too much: at most 67108864 tokens"},
		{"random", func(c *Config) { c.InputLen = huge }, "input length"},
		{"random", func(c *Config) { c.InputLen = 2_000_000_000 }, "input length 2000000000 is too much: at most 67108864 tokens"},
		{"random", func(c *Config) { c.PrefixLen = huge }, "prefix length"},
		{"random", func(c *Config) { c.NumPrompts = huge }, "number of prompts 9223372036854775807 is too much: at most 10000000"},
		{"random", func(c *Config) { c.NumPrompts = 1_000_000_000 }, "number of prompts"},
		{"random", func(c *Config) { c.NumPrompts, c.InputLen = 1_000_000, 8192 }, "the prompts have 8.192e+09 tokens together: at most 4294967296"},
		{"random", func(c *Config) { c.NumTurns = huge }, "number of turns"},
		{"random", func(c *Config) { c.NumPrompts, c.NumTurns = 10_000, 10_000 }, "10000 prompts of 10000 turns make 1e+08 requests: at most 10000000"},
		{"random", func(c *Config) { c.TurnInputLen = huge }, "input length of later turns"},
		{"random", func(c *Config) { c.BatchSize = huge }, "batch size"},
		{"random", func(c *Config) { c.MaxModelLen = -1 }, "--max-model-len"},
		{"random_token_ids", func(c *Config) { c.NumPrompts, c.InputLen = 10_000_000, 8192 }, "tokens together"},
		{"random_rerank", func(c *Config) { c.NumPrompts, c.InputLen = 10_000_000, 8192 }, "tokens together"},
		{"sonnet", func(c *Config) { c.NumPrompts, c.InputLen = 10_000_000, 8192 }, "tokens together"},
		{"prefix_repetition", func(c *Config) { c.NumPrompts, c.SuffixLen = 10_000_000, 8192 }, "tokens together"},
		{"prefix_repetition", func(c *Config) { c.NumPrefixes = huge }, "number of prefixes"},
		{"gsp", func(c *Config) { c.NumGroups = huge }, "number of groups"},
		{"gsp", func(c *Config) { c.PromptsPerGroup = huge }, "prompts a group"},
		{"gsp", func(c *Config) { c.SystemPromptLen = huge }, "system prompt length"},
		{"gsp", func(c *Config) { c.QuestionLen = huge }, "question length"},
		{"gsp", func(c *Config) { c.NumGroups, c.PromptsPerGroup = 1_000_000, 1_000_000 }, "1000000 groups of 1000000 prompts make 1e+12 requests"},
		{"gsp", func(c *Config) { c.NumTurns = 100_000 }, "of 100000 turns make"},
		{"gsp", func(c *Config) { c.NumGroups, c.PromptsPerGroup, c.SystemPromptLen = 1000, 1000, 1<<20 }, "tokens together"},
		{"sharegpt", func(c *Config) { c.NumPrompts = huge }, "number of prompts"},
		{"sharegpt", func(c *Config) { c.ContextLen = -1 }, "context length must not be negative"},
		{"custom", func(c *Config) { c.OutputLen = -1 }, ""},
		{"custom", func(c *Config) { c.OutputLen = -2 }, "output length must not be negative"},
		{"custom", func(c *Config) { c.NumPrompts = -5 }, ""}, // every row
		{"mooncake", func(c *Config) { c.ChunkHashSize = huge }, "chunk hash size"},
		{"gsm8k", func(c *Config) { c.NumPrompts = huge }, "number of prompts"}, // a data set of the registry
	} {
		cfg := Defaults(c.name)
		c.set(&cfg)
		err := cfg.CheckSize(c.name)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if c.want == "" || c.name == "gsm8k" {
			continue
		}
		cfg.Tokenizer = newPieceTokenizer() // New holds the same bounds, before anything is made
		if c.name == "sharegpt" || c.name == "custom" || c.name == "mooncake" {
			cfg.DatasetPath = "x"
		}
		if _, err := New(c.name, cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%s): got %v, want %q", c.name, err, c.want)
		}
	}
}

// What rows of a file add up to is bounded like the product of flags.
func TestRowsTogetherAreBounded(t *testing.T) {
	long := `{"timestamp":0,"input_length":67108864,"output_length":1}` + "\n"
	csv := "Model,Request tokens,Response tokens\n" + strings.Repeat("GPT-4,67108864,1\n", 65)
	blocks := `{"timestamp":0,"input_length":5,"output_length":1,"hash_ids":[1]}` + "\n"
	for _, c := range []struct {
		name, text string
		set        func(*Config)
		want       string
	}{
		{"mooncake", strings.Repeat(long, 65), func(*Config) {}, "a.txt:65: the prompts have"},
		{"timed_trace", strings.Repeat(blocks, 65), func(c *Config) { c.ChunkHashSize = MaxTokens }, "a.txt:65: the prompts have"},
		{"burstgpt", csv, func(*Config) {}, "the prompts have"},
	} {
		cfg := small(t, c.name)
		cfg.NumPrompts, cfg.DatasetPath = 65, write(t, "a.txt", c.text)
		c.set(&cfg)
		w, err := New(c.name, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = w.Samples(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestDataFilesAreOrdinary(t *testing.T) {
	for _, name := range []string{"sharegpt", "custom", "spec_bench", "speed_bench", "burstgpt", "mooncake", "azure", "sonnet"} {
		cfg := small(t, name)
		cfg.DatasetPath = "/dev/null"
		w, err := New(name, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = w.Samples(t.Context()); err == nil || !strings.Contains(err.Error(), "it is a device, no ordinary file") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
