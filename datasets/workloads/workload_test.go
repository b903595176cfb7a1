package workloads

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ais_bench/datasets"
)

// fixture is a small valid file of a workload that reads one.
func fixture(t *testing.T, name string) string {
	t.Helper()
	var b strings.Builder
	file := name + ".jsonl"
	switch name {
	case "sharegpt":
		file = "sharegpt.json"
		b.WriteString("[")
		for i := range 30 {
			if i > 0 {
				b.WriteString(",\n")
			}
			fmt.Fprintf(&b, `{"id":"c%d","conversations":[{"from":"human","value":"gra lo mi question number %d"},{"from":"gpt","value":"an answer of some words %d"},{"from":"human","value":"and then?"},{"from":"gpt","value":"then nothing more"}]}`, i, i, i)
		}
		b.WriteString("]")
	case "custom":
		for i := range 30 {
			fmt.Fprintf(&b, `{"prompt":"question %d","output_tokens":%d}`+"\n", i, i+1)
		}
	case "spec_bench":
		for i := range 30 {
			fmt.Fprintf(&b, `{"question_id":%d,"category":"c%d","turns":["first %d","second %d"]}`+"\n", i, i%3, i, i)
		}
	case "speed_bench":
		for i := range 30 {
			fmt.Fprintf(&b, `{"category":"c%d","messages":[{"role":"user","content":"first %d"},{"role":"user","content":"second %d"}]}`+"\n", i%3, i, i)
		}
	case "burstgpt":
		file = "burst.csv"
		b.WriteString("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
		for i := range 30 {
			fmt.Fprintf(&b, "%d,GPT-4,%d,%d,0,Conversation log\n%d,ChatGPT,5,5,10,API log\n", i, 20+i, 3+i, i)
		}
	case "mooncake", "timed_trace":
		for i := range 30 {
			fmt.Fprintf(&b, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [0, %d, %d]}`+"\n", 1000+i*100, 1030+i, 5+i, i%2+1, 100+i)
		}
	case "azure":
		file = "azure.csv"
		b.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens\r\n")
		for i := range 30 {
			fmt.Fprintf(&b, "2023-11-16 18:17:%02d.9799600,%d,%d\r\n", i, 40+i, 5+i)
		}
	default:
		return ""
	}
	return write(t, file, b.String())
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// small is a configuration of a workload that is quick to make.
func small(t *testing.T, name string) Config {
	cfg := Defaults(name)
	cfg.Seed, cfg.NumPrompts, cfg.Tokenizer, cfg.DatasetPath = 1, 20, newPieceTokenizer(), fixture(t, name)
	cfg.IgnoreEOS, cfg.CacheBust = true, "salt 1"
	cfg.NumGroups, cfg.PromptsPerGroup = 4, 5
	cfg.SystemPromptLen, cfg.QuestionLen = min(cfg.SystemPromptLen, 60), min(cfg.QuestionLen, 12)
	return cfg
}

func samplesOf(t *testing.T, name string, cfg Config) []datasets.Sample {
	t.Helper()
	w, err := New(name, cfg)
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Samples(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(w.String()) == "" {
		t.Error("the workload does not describe itself")
	}
	return s
}

func bytesOf(t *testing.T, s []datasets.Sample) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSameSeedSameBytes(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			cfg := small(t, name)
			once, again := samplesOf(t, name, cfg), samplesOf(t, name, cfg)
			if bytesOf(t, once) != bytesOf(t, again) {
				t.Error("the same seed gave other samples")
			}
			cfg.Seed = 2
			other := samplesOf(t, name, cfg)
			if bytesOf(t, once) == bytesOf(t, other) {
				t.Error("another seed gave the same samples")
			}
			same := 0
			for i := range min(len(once), len(other)) {
				if bytesOf(t, once[i:i+1]) == bytesOf(t, other[i:i+1]) {
					same++
				}
			}
			if same > len(once)/2 {
				t.Errorf("another seed left %d of %d samples as they were", same, len(once))
			}
			cfg.Seed, cfg.CacheBust = 1, "salt 2"
			for i, s := range samplesOf(t, name, cfg) {
				if promptOf(s) == promptOf(once[i]) {
					t.Errorf("sample %d: another salt left the prompt as it was", i)
				}
			}
			ids := map[string]bool{}
			for _, s := range once {
				if ids[s.ID] {
					t.Errorf("id %s twice", s.ID)
				}
				ids[s.ID] = true
				if got := s.Params["ignore_eos"]; (got == true) == (name == "random_rerank") { // no output, no end of it
					t.Errorf("sample %s: ignore_eos = %v", s.ID, got)
				}
				if Timed(name) != (s.ArriveNS >= 0) {
					t.Errorf("sample %s: arrival %d", s.ID, s.ArriveNS)
				}
				if promptOf(s) == "" {
					t.Errorf("sample %s has no prompt", s.ID)
				}
			}
		})
	}
}

func promptOf(s datasets.Sample) string {
	b := s.Prompt.Text
	for _, t := range s.Prompt.Turns {
		b += t.Role + t.Text
	}
	if s.Prompt.TokenIDs != nil {
		b += fmt.Sprint(s.Prompt.TokenIDs)
	}
	return b
}

// The number noted with a sample is what the tokenizer really counts.
func TestInputLengthIsTrue(t *testing.T) {
	for _, name := range Names() {
		cfg := small(t, name)
		for _, s := range samplesOf(t, name, cfg) {
			want, _ := s.Fields[FieldInputLen].(int)
			got := len(s.Prompt.TokenIDs)
			if s.Fields[FieldBatch] != nil {
				continue
			}
			if s.Prompt.Text != "" {
				got = cfg.Tokenizer.Count(s.Prompt.Text) + 1
			}
			if got != want {
				t.Errorf("%s: sample %s says %d tokens, has %d", name, s.ID, want, got)
			}
		}
	}
}

func TestMalformedFilesNameTheRow(t *testing.T) {
	const conversation = `{"conversations":[{"from":"human","value":"one two three four"},{"from":"gpt","value":"five six seven eight"}]}`
	for _, c := range []struct{ workload, file, text, want string }{
		{"sharegpt", "a.json", "", "the file is empty"},
		{"sharegpt", "a.json", `"text"`, "must be a JSON list"},
		{"sharegpt", "a.json", "[" + conversation + `,{"conversations":3}]`, `a.json: row 2: "conversations" must be a list, but is a JSON number`},
		{"sharegpt", "a.json", "[" + conversation + `,{"conversations":[{"from":"human"},{"from":"gpt","value":"x"}]}]`, `a.json: row 2: turn 0 has no "value"`},
		{"sharegpt", "a.json", "[" + conversation + "," + conversation, "a.json: row 3: the list does not end"},
		{"sharegpt", "a.json", "[" + conversation + ",{]", "a.json: row 2: not valid JSON"},
		{"sharegpt", "a.json", `[{"conversations":[{"from":"human","value":"only one"}]}]`, "left out 1 row (row 1): fewer than two turns"},
		{"custom", "a.jsonl", `{"prompt":"x"}` + "\n{oops}\n", "a.jsonl:2: not valid JSON at byte 2"},
		{"custom", "a.jsonl", `{"prompt":"x"}` + "\n\n" + `{"promt":"y"}`, `a.jsonl:3: no "prompt"; did you mean it by "promt"?`},
		{"custom", "a.jsonl", `{"prompt":7}`, `a.jsonl:1: "prompt" must be a string, but is a JSON number`},
		{"custom", "a.jsonl", `[1]`, "a.jsonl:1: the row must be a JSON object, but is a JSON array"},
		{"custom", "a.jsonl", `{"messages":[{"role":"bot","content":"x"}]}`, `a.jsonl:1: message 0: role "bot" is not known`},
		{"custom", "a.jsonl", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, `content part of type "image_url"`},
		{"spec_bench", "a.jsonl", `{"turns":["x"]}` + "\n" + `{"turns":[]}`, `a.jsonl:2: no "turns" to ask`},
		{"burstgpt", "a.csv", "Timestamp,Model,Request token,Response tokens\n", `a.csv:1: no column "Request tokens"`},
		{"burstgpt", "a.csv", "Model,Request tokens,Response tokens\nGPT-4,1,2\nGPT-4,x,2\n", `a.csv:3: column Request tokens: "x" is not a number of tokens`},
		{"burstgpt", "a.csv", "Model,Request tokens,Response tokens\nGPT-4,1\n", `a.csv:2: wrong number of fields`},
		{"azure", "a.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,1,2\nyesterday,1,2\n", `a.csv:3: TIMESTAMP "yesterday" is not a time`},
		{"azure", "a.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,-1,2\n", `a.csv:2: column ContextTokens: "-1"`},
		{"mooncake", "a.jsonl", `{"timestamp":0,"input_length":5,"output_length":5}` + "\n" + `{"timestamp":0,"input_len":5,"output_length":5}`, `a.jsonl:2: no "input_length"; did you mean "input_len"?`},
		{"mooncake", "a.jsonl", `{"timestamp":"noon","input_length":5,"output_length":5}`, `a.jsonl:1: "timestamp" must be a number`},
		{"mooncake", "a.jsonl", `{"timestamp":0,"input_length":5,"output_length":5,"hash_ids":"x"}`, `a.jsonl:1: "hash_ids" must be a list of whole numbers`},
		{"mooncake", "a.jsonl", `{"timestamp":0,"input_length":5,"output_length":0}`, `a.jsonl:1: "output_length" must be a whole number of at least 1, but is 0`},
		{"timed_trace", "a.jsonl", `{"timestamp":0,"input_length":5,"output_length":1}` + "\n" + `{"timestamp":0,"input_length":5.7,"output_length":5}`, `a.jsonl:2: "input_length" must be a whole number of at least 1, but is 5.7`},
		{"mooncake", "a.jsonl", `{"timestamp":0,"input_length":5,"output_length":2.5}`, `a.jsonl:1: "output_length" must be a whole number`},
		{"sharegpt", "a.json", "[" + conversation + "]]", "a.json: after row 1 the list ends, but something follows it"},
		{"sharegpt", "a.json", "[" + conversation + "] [" + conversation + "]", "a.json: after row 1 the list ends, but something follows it ([)"},
		{"sonnet", "a.txt", "\n\n", "the file has no lines"},
	} {
		cfg := small(t, c.workload)
		cfg.DatasetPath, cfg.NumPrompts = write(t, c.file, c.text), 5
		w, err := New(c.workload, cfg)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Samples(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s with %q:\n got %v\nwant one line with %s", c.workload, c.text, err, c.want)
		}
	}
	for _, name := range Names() {
		if cfg := small(t, name); cfg.DatasetPath != "" {
			cfg.DatasetPath = filepath.Join(t.TempDir(), "none")
			w, err := New(name, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = w.Samples(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no file") {
				t.Errorf("%s: a missing file gave %v", name, err)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	tok := newPieceTokenizer()
	for _, c := range []struct {
		name string
		set  func(*Config)
		want string
	}{
		{"randm", func(*Config) {}, `did you mean "random"`},
		{"random", func(c *Config) { c.Tokenizer = nil }, "needs a tokenizer"},
		{"random", func(c *Config) { c.DatasetPath = "x" }, "takes no --dataset-path"},
		{"random", func(c *Config) { c.RangeRatioInput = 1 }, "must be in [0, 1), got 1; for SGLang's meaning"},
		{"random", func(c *Config) { c.RangeRatioMode = "both" }, "give vllm or sglang"},
		{"random", func(c *Config) { c.InputLen = 1 }, "allow an empty prompt"},
		{"random", func(c *Config) { c.NumPrompts = 0 }, "--num-prompts"},
		{"sharegpt", func(c *Config) { c.DatasetPath = "" }, "needs --dataset-path"},
		{"sharegpt", func(c *Config) { c.DatasetPath, c.InferMode = "x", "all" }, "every, every_with_gt or last"},
		{"spec_bench", func(c *Config) { c.DatasetPath, c.InferMode = "x", InferLast }, "needs the replies"},
		{"prefix_repetition", func(c *Config) { c.NumPrompts = 5 }, "at least as many prompts as prefixes"},
		{"gsp", func(c *Config) { c.GroupDistribution = "normal" }, "uniform or zipf"},
		{"synthetic_string", func(c *Config) { c.InputLengths = Lengths{Method: "zipf", Alpha: 1, Min: 1, Max: 2} }, "Alpha must be in (1, 10]"},
		{"synthetic_string", func(c *Config) { c.InputLengths, c.InputLen = Lengths{}, 0 }, "RequestSize must be between 1 and 1048576, got 0"},
		{"synthetic_string", func(c *Config) { c.OutputLengths = Lengths{Method: "uniform", Min: 5, Max: 4} }, "output lengths must satisfy"},
		{"synthetic_string", func(c *Config) { c.PrefixLen = 3 }, "takes no prefix length"},
		{"synthetic_string", func(c *Config) { c.NumPrompts = 1<<20 + 1 }, "RequestCount must be at most 1048576"},
		{"synthetic_tokenid", func(c *Config) { c.PrefixLen = 11 }, "does not fit into the shortest prompt, which has 10"},
		{"synthetic_tokenid", func(c *Config) { c.PrefixLen = -1 }, "prefix length must not be negative"},
		{"synthetic_tokenid", func(c *Config) { c.Tokenizer = nil }, "needs a tokenizer"},
		{"mooncake", func(c *Config) { c.DatasetPath, c.SecMultiplier = "x", 0 }, "must be above 0"},
		{"mooncake", func(c *Config) { c.DatasetPath, c.StartOffset, c.EndOffset = "x", 5, 4 }, "is not after"},
	} {
		cfg := Defaults(c.name)
		cfg.Tokenizer = tok
		c.set(&cfg)
		if _, err := New(c.name, cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
