package bench

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ais_bench/datasets/workloads"
)

// wireRows is how many rows the tests' files have: more than a run asks for, so
// that the seed has to choose.
const wireRows = 24

// wireFile writes a small file of a workload that reads one; "" for those that
// make their own prompts.
func wireFile(t *testing.T, workload string) string {
	t.Helper()
	var b strings.Builder
	name := workload + ".jsonl"
	// Every row has a text of its own: words i and i/2 apart never repeat.
	text := func(i int) string {
		return strings.Join(slices.Concat(words[i:i+5], words[2*i:2*i+4]), " ")
	}
	switch workload {
	case "sharegpt":
		name = "sharegpt.json"
		var rows []string
		for i := range wireRows {
			rows = append(rows, fmt.Sprintf(`{"id":"%d","conversations":[{"from":"human","value":"%s"},{"from":"gpt","value":"%s"}]}`, i, text(i), text(i+1)))
		}
		b.WriteString("[" + strings.Join(rows, ",\n") + "]")
	case "custom":
		for i := range wireRows {
			if i%2 == 0 {
				fmt.Fprintf(&b, `{"prompt":"%s","output_tokens":%d}`+"\n", text(i), i+1)
				continue
			}
			fmt.Fprintf(&b, `{"messages":[{"role":"system","content":"%s"},{"role":"user","content":"%s"}],"output_tokens":3}`+"\n", words[i], text(i))
		}
	case "spec_bench":
		for i := range wireRows {
			fmt.Fprintf(&b, `{"question_id":%d,"category":"c%d","turns":["%s","%s"]}`+"\n", i, i%3, text(i), text(i+1))
		}
	case "speed_bench":
		for i := range wireRows {
			fmt.Fprintf(&b, `{"category":"c%d","messages":[{"role":"user","content":"%s"}]}`+"\n", i%3, text(i))
		}
	case "sonnet":
		name = "sonnet.txt"
		for i := range wireRows {
			b.WriteString(text(i) + "\n")
		}
	case "burstgpt":
		name = "burst.csv"
		b.WriteString("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
		for i := range wireRows {
			fmt.Fprintf(&b, "%d,GPT-4,%d,%d,0,Conversation log\n", i, 8+i, 2+i)
		}
	case "mooncake", "timed_trace":
		for i := range wireRows {
			fmt.Fprintf(&b, `{"timestamp":%d,"input_length":%d,"output_length":2,"hash_ids":[%d,%d]}`+"\n", i, 20+i, i%3, i+100)
		}
	case "azure":
		name = "azure.csv"
		b.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens\n")
		for i := range wireRows {
			fmt.Fprintf(&b, "2023-11-16 18:17:%02d.9799600,%d,2\n", i, 20+i)
		}
	default:
		return ""
	}
	return writeFile(t, name, b.String())
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wireConfigDir is a configuration directory with a data set of the user's own.
func wireConfigDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var rows strings.Builder
	for i := range wireRows {
		fmt.Fprintf(&rows, `{"question":"%s","answer":"%d"}`+"\n", strings.Join(words[i:i+6], " "), i)
	}
	for name, text := range map[string]string{"ours/rows.jsonl": rows.String(),
		"datasets/our_questions.yaml": "abbr: our_questions\ndescription: questions of our own\nsource:\n  title: ours\n  language: en\n  dirs: [ours]\n  splits:\n    test:\n      - path: rows.jsonl\ntemplate: \"{question}\"\nscorer: gsm8k\nmax_out_len: 4\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("AIS_BENCH_DATASETS_CACHE", dir)
	return filepath.Join(dir, "datasets")
}

// wirePrompts takes what is asked out of the bodies: prompts, messages, documents.
func wirePrompts(t *testing.T, bodies []string) []string {
	t.Helper()
	out := make([]string, len(bodies))
	for i, line := range bodies {
		_, text, _ := strings.Cut(line, " ")
		var body map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		for _, key := range []string{"prompt", "messages", "input", "query", "documents"} {
			out[i] += string(body[key])
		}
		if out[i] == "" {
			t.Fatalf("no prompt in %s", line)
		}
	}
	return out
}

// TestSameSeedSameBytesOnTheWire looks at what arrives at a server, for every
// workload there is and a data set of the registry, through a completions and a
// chat backend: the same seed sends the same bytes in the same order, another seed
// other prompts.
func TestSameSeedSameBytesOnTheWire(t *testing.T) {
	configs := wireConfigDir(t)
	// Further forms of a workload, by what follows its name.
	forms := map[string]func(*workloads.Config){
		"synthetic_string/gaussian": func(c *workloads.Config) {
			c.InputLengths = workloads.Lengths{Method: "gaussian", Mean: 40, Var: 200, Min: 5, Max: 90}
		},
		"synthetic-string/zipf": func(c *workloads.Config) {
			c.InputLengths = workloads.Lengths{Method: "zipf", Alpha: 1.3, Min: 2, Max: 300}
		},
		"synthetic_tokenid/gaussian": func(c *workloads.Config) {
			c.InputLengths = workloads.Lengths{Method: "gaussian", Mean: 14, Var: 9, Min: 9, Max: 20}
		},
		"synthetic-tokenid/zipf": func(c *workloads.Config) {
			c.InputLengths, c.PrefixLen = workloads.Lengths{Method: "zipf", Alpha: 1.2, Min: 8, Max: 30}, 4
		},
		"synthetic_tokenid/output": func(c *workloads.Config) {
			c.OutputLengths = workloads.Lengths{Method: "uniform", Min: 1, Max: 9}
		},
	}
	for _, dataset := range append(append(workloads.Names(), slices.Sorted(maps.Keys(forms))...), "our_questions", "demo_gsm8k_gen_0_shot_cot_str_perf", "random-ids", "generated-shared-prefix", "mooncake-trace", "synthetic_gen_tokenid") {
		label, form := dataset, forms[dataset]
		dataset, _, _ = strings.Cut(dataset, "/")
		for _, backend := range []string{"openai", "openai-chat"} {
			if dataset == "random_rerank" {
				if backend == "openai-chat" {
					continue
				}
				backend = "vllm-rerank"
			}
			if backend == "openai-chat" && (dataset == "random_token_ids" || dataset == "random-ids") {
				continue // refused there: token ids go to completions endpoints
			}
			t.Run(label+"/"+backend, func(t *testing.T) {
				canonical := strings.ReplaceAll(strings.TrimSuffix(dataset, "-trace"), "-", "_")
				path := wireFile(t, canonical)
				send := func(seed int64) []string {
					rec := record(t, nil)
					o := options(t, rec, dataset)
					o.Backend, o.Seed, o.ConfigDir, o.Workload.DatasetPath = backend, seed, configs, path
					o.SelfTimed = No // the order of arrival is that of sending only one by one
					w := &o.Workload
					w.NumPrompts = 6
					switch canonical {
					case "prefix_repetition":
						w.PrefixLen, w.SuffixLen, w.NumPrefixes = 6, 6, 2
					case "sonnet":
						w.InputLen, w.PrefixLen, w.OutputLen = 120, 60, 2
					case "generated_shared_prefix":
						w.NumGroups, w.PromptsPerGroup, w.SystemPromptLen, w.QuestionLen, w.OutputLen = 2, 3, 10, 4, 2
					case "custom":
						w.OutputLen = -1
					}
					if form != nil {
						form(w)
					}
					run(t, o)
					return rec.sent()
				}
				a, b, c := send(1), send(1), send(2)
				if len(a) < 6 || !slices.Equal(a, b) {
					t.Fatalf("the same seed sent different bytes:\n%s\n\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
				}
				first, other := wirePrompts(t, a), wirePrompts(t, c)
				if slices.Equal(first, other) {
					t.Errorf("another seed sent the same prompts:\n%s", strings.Join(first, "\n"))
				}
				same := 0
				for i := range min(len(first), len(other)) {
					if first[i] == other[i] {
						same++
					}
				}
				if same > len(first)/2 {
					t.Errorf("another seed left %d of %d prompts where they were:\n%s", same, len(first), strings.Join(first, "\n"))
				}
			})
		}
	}
}
