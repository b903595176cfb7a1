package workloads

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"ais_bench/datasets"
)

// conversationFile has conversations of three turns and of one.
const conversationFile = `{"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"one two"},{"role":"user","content":"three"},{"role":"assistant","content":"four"},{"role":"user","content":"five six"},{"role":"assistant","content":"seven"},{"role":"user","content":"eight"}]}
{"messages":[{"role":"user","content":"alone"}]}
{"prompt":"a prompt"}
`

func TestCustomConversations(t *testing.T) {
	cfg := small(t, "custom")
	cfg.DatasetPath, cfg.NumPrompts, cfg.CacheBust, cfg.DisableShuffle, cfg.OutputLen = write(t, "c.jsonl", conversationFile), 0, "", true, 9
	cfg.Tokenizer, cfg.ThinkTime = wordTokenizer{newPieceTokenizer()}, 2*time.Second
	four, seven := "four", "seven"
	for _, c := range []struct {
		mode  string
		min   int
		max   int
		limit int
		turns int // of the first sample's prompt
		want  []datasets.FollowUp
		rows  int
		note  string
	}{
		{mode: "", turns: 7, rows: 3},
		{mode: InferEvery, turns: 3, rows: 3, want: []datasets.FollowUp{{Text: "five six", MaxTokens: 9, DelayNS: 2e9}, {Text: "eight", MaxTokens: 9, DelayNS: 2e9}}},
		{mode: InferEveryGold, turns: 3, rows: 3, want: []datasets.FollowUp{{Text: "five six", Reply: &four, MaxTokens: 9, DelayNS: 2e9}, {Text: "eight", Reply: &seven, MaxTokens: 9, DelayNS: 2e9}}},
		{mode: InferLast, turns: 7, rows: 3},
		{mode: InferEvery, min: 2, turns: 3, rows: 1, want: []datasets.FollowUp{{Text: "five six", MaxTokens: 9, DelayNS: 2e9}, {Text: "eight", MaxTokens: 9, DelayNS: 2e9}}, note: "left out 2 rows (rows 2, 3): fewer than 2 turns"},
		{mode: InferEvery, max: 2, turns: 3, rows: 3, want: []datasets.FollowUp{{Text: "five six", MaxTokens: 9, DelayNS: 2e9}}},
		// 5 words and 9 answers, 2 and 9: the third turn would need 1 and 9 more.
		{mode: InferEvery, limit: 30, turns: 3, rows: 3, want: []datasets.FollowUp{{Text: "five six", MaxTokens: 9, DelayNS: 2e9}}},
	} {
		cfg.InferMode, cfg.MinTurns, cfg.MaxTurns, cfg.MaxModelLen = c.mode, c.min, c.max, c.limit
		w, err := New("custom", cfg)
		if err != nil {
			t.Fatal(err)
		}
		s, err := w.Samples(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(s) != c.rows || len(s[0].Prompt.Turns) != c.turns || !reflect.DeepEqual(s[0].FollowUps, c.want) {
			t.Errorf("mode %q, %d to %d turns, %d tokens: %d rows, %d turns in the first prompt, then %+v", c.mode, c.min, c.max, c.limit, len(s), len(s[0].Prompt.Turns), s[0].FollowUps)
		}
		if notes := strings.Join(w.Notes(), "\n"); notes != c.note {
			t.Errorf("mode %q: notes %q, want %q", c.mode, notes, c.note)
		}
	}
}

// A first turn is measured as it will be sent, with what the template adds, and
// stays a list of turns for the ones after it.
func TestConversationsAreRenderedWhenAsked(t *testing.T) {
	for _, name := range []string{"custom", "spec_bench", "sharegpt", "gsp", "random"} {
		cfg := small(t, name)
		cfg.CacheBust, cfg.Tokenizer = "", wordTokenizer{newPieceTokenizer()}
		cfg.ChatTemplate = func(turns []datasets.Turn) (string, error) { return "open the " + turns[0].Text + " close", nil }
		switch name {
		case "custom":
			cfg.DatasetPath = write(t, "c.jsonl", conversationFile)
			cfg.InferMode, cfg.OutputLen, cfg.NumPrompts = InferEvery, 5, 0
		case "gsp", "random":
			cfg.NumTurns = 2
		default:
			cfg.InferMode = InferEvery
		}
		for _, s := range samplesOf(t, name, cfg) {
			text := s.Prompt.Text
			if len(s.FollowUps) > 0 {
				if len(s.Prompt.Turns) == 0 || text != "" {
					t.Errorf("%s: sample %s of several turns was rendered: %q", name, s.ID, text)
				}
				text = "open the " + s.Prompt.Turns[0].Text + " close"
			} else if !strings.HasPrefix(text, "open the ") {
				t.Errorf("%s: sample %s was not rendered: %+v", name, s.ID, s.Prompt)
			}
			if got := s.Fields[FieldInputLen]; got != len(strings.Fields(text))+1 {
				t.Errorf("%s: sample %s has %v tokens, want %d words and one special token", name, s.ID, got, len(strings.Fields(text)))
			}
		}
	}
}

func TestRandomDialogue(t *testing.T) {
	cfg := small(t, "random")
	cfg.CacheBust, cfg.InputLen, cfg.TurnInputLen, cfg.PrefixLen, cfg.OutputLen = "", 61, 20, 10, 7
	cfg.MinTurns, cfg.MaxTurns, cfg.NumPrompts = 2, 4, 60
	count := cfg.Tokenizer.Count
	seen := map[int]int{}
	samples := samplesOf(t, "random", cfg)
	for _, s := range samples {
		seen[1+len(s.FollowUps)]++
		if n := count(s.Prompt.Turns[0].Text); n != 70 || s.Fields[FieldInputLen] != 70 { // one of the 61 is the special token that the server adds
			t.Errorf("sample %s: first turn of %d tokens, said to be %v", s.ID, n, s.Fields[FieldInputLen])
		}
		for i, f := range s.FollowUps {
			if n := count(f.Text); n != 20 || f.MaxTokens != 7 || f.Alone {
				t.Errorf("sample %s, turn %d: %d tokens, %+v", s.ID, i+1, n, f)
			}
		}
	}
	if len(seen) != 3 || seen[2] < 5 || seen[3] < 5 || seen[4] < 5 {
		t.Errorf("turns a conversation: %v", seen)
	}
	if n := commonPrefix(samples[0].Prompt.Turns[0].Text, samples[1].Prompt.Turns[0].Text); count(samples[0].Prompt.Turns[0].Text[:n]) < 9 {
		t.Errorf("conversations share %d bytes, want the prefix of 10 tokens", n)
	}

	cfg.PrefixLen, cfg.SharedFrac, cfg.SessionFrac, cfg.MinTurns, cfg.MaxTurns, cfg.NumTurns = 0, .5, .25, 0, 0, 3
	samples = samplesOf(t, "random", cfg)
	a, b := samples[0], samples[1]
	for i, f := range a.FollowUps {
		if n := count(f.Text); n != 60 || !f.Alone {
			t.Errorf("turn %d: %d tokens, alone %v", i+1, n, f.Alone)
		}
		if n := count(f.Text[:commonPrefix(f.Text, a.Prompt.Turns[0].Text)]); n < 43 || n > 47 {
			t.Errorf("turn %d shares %d tokens with the first, want 45", i+1, n)
		}
	}
	if n := count(a.Prompt.Turns[0].Text[:commonPrefix(a.Prompt.Turns[0].Text, b.Prompt.Turns[0].Text)]); n < 28 || n > 32 {
		t.Errorf("conversations share %d tokens, want 30", n)
	}
}

func TestTurnsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*Config)
		want string
	}{
		{"random", func(c *Config) { c.MinTurns, c.MaxTurns = 5, 2 }, "at most 2 turns are fewer than at least 5"},
		{"random", func(c *Config) { c.SharedFrac, c.SessionFrac = .5, .5 }, "less than 1"},
		{"random", func(c *Config) { c.SharedFrac, c.PrefixLen = .5, 3 }, "exclude each other"},
		{"random", func(c *Config) { c.NumTurns, c.BatchSize = 2, 2 }, "exclude each other"},
		{"random_token_ids", func(c *Config) { c.NumTurns = 2 }, "give random"},
		{"random", func(c *Config) { c.ThinkTime = -1 }, "must not be negative"},
		{"custom", func(c *Config) { c.InferMode, c.DatasetPath = "all", "x" }, "every, every_with_gt or last"},
	} {
		cfg := Defaults(c.name)
		cfg.Tokenizer = newPieceTokenizer()
		c.set(&cfg)
		if _, err := New(c.name, cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	cfg := small(t, "random")
	cfg.NumTurns, cfg.InputLen, cfg.OutputLen, cfg.MaxModelLen = 3, 20, 10, 80
	w, err := New("random", cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Samples(t.Context()); err == nil || !strings.Contains(err.Error(), "a conversation of 3 turns is longer than the model's 80 tokens") {
		t.Errorf("a context of 90 tokens: %v", err)
	}
}

// Lines of one length, rounded up, are too long for ever: a line less is taken.
func TestSonnetOfEqualLines(t *testing.T) {
	cfg := small(t, "sonnet")
	cfg.Tokenizer = wordTokenizer{newPieceTokenizer()}
	cfg.DatasetPath, cfg.CacheBust, cfg.PrefixLen, cfg.NumPrompts = write(t, "s.txt", strings.Repeat("gra lo mi an by so ta ne ro vu\n", 20)), "", 0, 3
	base := len(strings.Fields(sonnetInstruction)) + 1
	cfg.InputLen = base + 37 // 3.7 lines of ten words: four do not fit
	for _, s := range samplesOf(t, "sonnet", cfg) {
		if got := s.Fields[FieldInputLen]; got != base+30 {
			t.Errorf("sample %s has %v tokens, want three lines, %d", s.ID, got, base+30)
		}
	}
}
