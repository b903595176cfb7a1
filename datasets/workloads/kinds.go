package workloads

// kinds is the table of workloads under the names that `vllm bench serve` and
// SGLang's bench_serving give them, and AISBench's synthetic ones.
var kinds = table(
	kind{name: "random", needsTok: true, make: newRandom,
		rule:     "text of exact token lengths drawn around --random-input-len / --random-output-len",
		defaults: func(c *Config) { c.InputLen, c.OutputLen = 1024, 128 }},
	kind{name: "random_token_ids", needsTok: true, make: newRandomIDs,
		rule:     "the same, sent as token ids to a completions endpoint",
		defaults: func(c *Config) { c.InputLen, c.OutputLen = 1024, 128 }},
	kind{name: "random_rerank", needsTok: true, make: newRerank,
		rule:     "batches of one query and random documents for a rerank endpoint",
		defaults: func(c *Config) { c.InputLen, c.BatchSize = 1024, 2 }},
	kind{name: "prefix_repetition", needsTok: true, make: newPrefixRepetition,
		rule:     "a few shared prefixes, each followed by many different suffixes",
		defaults: func(c *Config) { c.PrefixLen, c.SuffixLen, c.NumPrefixes, c.OutputLen = 256, 256, 10, 128 }},
	kind{name: "generated_shared_prefix", needsTok: true, make: newSharedPrefix,
		rule: "groups of questions behind a long system prompt each",
		defaults: func(c *Config) {
			c.NumGroups, c.PromptsPerGroup, c.SystemPromptLen, c.QuestionLen, c.OutputLen = 64, 16, 2048, 128, 256
			c.RangeRatioMode, c.RangeRatioInput, c.RangeRatioOutput = RangeSGLang, 1, 1
			c.NumPrompts = 64 * 16
		}},
	kind{name: "synthetic_string", make: newSyntheticString,
		rule: "the word A repeated, lengths uniform, gaussian or zipf (AISBench)",
		defaults: func(c *Config) {
			c.InputLengths = Lengths{Method: "uniform", Min: 1, Max: 200}
			c.OutputLengths = Lengths{Method: "gaussian", Mean: 100, Var: 200, Min: 1, Max: 100}
		}},
	kind{name: "synthetic_tokenid", needsTok: true, make: newSyntheticTokenID,
		rule:     "random vocabulary ids sent as text of exactly that many tokens, a share of them common to all (AISBench)",
		defaults: func(c *Config) { c.InputLen, c.OutputLen = 10, 512 }},
	kind{name: "sharegpt", file: fileNeeded, make: newShareGPT,
		rule: "first human turn of ShareGPT conversations, or whole conversations"},
	kind{name: "sonnet", needsTok: true, file: fileOptional, make: newSonnet,
		rule:     "lines of a poem behind a shared first part",
		defaults: func(c *Config) { c.InputLen, c.OutputLen, c.PrefixLen = 550, 150, 200 }},
	kind{name: "custom", file: fileNeeded, make: newCustom,
		rule:     "a JSONL file of prompt or messages, optionally output_tokens",
		defaults: func(c *Config) { c.OutputLen = 256 }},
	kind{name: "spec_bench", file: fileNeeded, make: newSpecBench,
		rule:     "turns of a Spec-Bench or MT-Bench JSONL file",
		defaults: func(c *Config) { c.OutputLen = 256 }},
	kind{name: "speed_bench", file: fileNeeded, make: newSpeedBench,
		rule:     "conversations of a SPEED-Bench folder, for speculative decoding",
		defaults: func(c *Config) { c.OutputLen, c.Subset = 4096, "qualitative" }},
	kind{name: "burstgpt", needsTok: true, file: fileNeeded, make: newBurstGPT,
		rule: "GPT-4 rows of a BurstGPT CSV: its lengths, generated prompts"},
	kind{name: "mooncake", file: fileNeeded, needsTok: true, timed: true, make: newMooncake,
		rule:     "a Mooncake trace: arrival, lengths and shared 512-token blocks",
		defaults: func(c *Config) { traceDefaults(512, "ms")(c); c.TraceAsText = true }},
	kind{name: "timed_trace", file: fileNeeded, needsTok: true, timed: true, make: newMooncake,
		rule:     "any such JSONL trace, column names and block size choosable (vLLM)",
		defaults: func(c *Config) { traceDefaults(16, "s")(c); c.KeepOffset = true }},
	kind{name: "azure", file: fileNeeded, needsTok: true, timed: true, make: newAzure,
		rule:     "an Azure LLM inference trace CSV: arrival and lengths",
		defaults: func(c *Config) { traceDefaults(512, "s")(c); c.TraceAsText = true }},
)

func table(list ...kind) map[string]kind {
	m := make(map[string]kind, len(list))
	for _, k := range list {
		m[k.name] = k
	}
	return m
}

func traceDefaults(block int, unit string) func(*Config) {
	return func(c *Config) {
		c.ChunkHashSize, c.TimestampUnit, c.NumPrompts = block, unit, 0
		c.LabelTimestamp, c.LabelInputLen, c.LabelOutputLen, c.LabelHashIDs = "timestamp", "input_length", "output_length", "hash_ids"
	}
}

// aliases are further spellings found in published scripts.
var aliases = map[string]string{
	"random_ids":            "random_token_ids",
	"openai":                "custom", // SGLang's name for rows of messages
	"gsp":                   "generated_shared_prefix",
	"mooncake_trace":        "mooncake",
	"mooncake_trace_gen":    "mooncake",
	"azure_trace":           "azure",
	"synthetic":             "synthetic_string",
	"synthetic_gen":         "synthetic_tokenid", // AISBench's file of shared settings says so
	"synthetic_gen_string":  "synthetic_string",
	"synthetic_gen_tokenid": "synthetic_tokenid",
	"sharegpt_gen":          "sharegpt",
	"mtbench":               "spec_bench",
	"mtbench_gen":           "spec_bench",
	"mt_bench":              "spec_bench",
}
