package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/datasets/workloads"
	"ais_bench/models"
	"ais_bench/registry"
	"ais_bench/tasks/bench"
)

const (
	groupSampling = "Sampling (not given = the server decides)"
	groupAsked    = "The service"
	groupBenchSet = "Requests"
	groupLaunch   = "Engine"
)

// benchServiceFlags say who is asked; all three benchmarks have them.
func benchServiceFlags() []cli.Flag {
	return append(serverFlags(), []cli.Flag{
		&cli.StringFlag{Name: "backend", Aliases: []string{"endpoint-type"}, Category: groupAsked, Value: "openai", Usage: strings.Join(bench.BackendNames(), ", ")},
		&cli.StringFlag{Name: "base-url", Category: groupAsked, Usage: "`URL` of the service, with or without path prefix and /v1; wins over host and port"},
		&cli.StringFlag{Name: "host", Category: groupAsked, Value: "127.0.0.1", Usage: "host name or address"},
		&cli.IntFlag{Name: "port", Category: groupAsked, DefaultText: "8000; sglang 30000; lmdeploy 23333", Usage: "port"},
		&cli.StringFlag{Name: "endpoint", Category: groupAsked, DefaultText: "the backend's", Usage: "`PATH` that is asked, such as /v1/chat/completions"},
		&cli.StringSliceFlag{Name: "header", Category: groupAsked, Usage: "extra request header `NAME=VALUE`"},
		&cli.BoolFlag{Name: "insecure", Category: groupAsked, Usage: "accept any TLS certificate"},
		&cli.StringFlag{Name: "ca-file", Category: groupAsked, Usage: "PEM `FILE` of extra certificate authorities"},
		&cli.StringFlag{Name: "proxy", Category: groupAsked, Usage: "none unless given: http(s)://HOST:PORT, or env for the environment's"},
		&cli.StringFlag{Name: "timeout", Category: groupAsked, Value: "6h", Usage: "bound of a whole request (`DURATION`: 90, 1m30s; 0 = none)"},
		&cli.StringFlag{Name: "model", Category: groupAsked, DefaultText: "the first of /v1/models", Usage: "model id"},
		&cli.StringFlag{Name: "served-model-name", Category: groupAsked, DefaultText: "the model id", Usage: "`NAME` that requests carry"},
		&cli.StringFlag{Name: "tokenizer", Category: groupAsked, DefaultText: "the model's", Usage: "`DIR` with tokenizer.json, a tokenizer file, or a hub id in the local cache"},
		&cli.StringFlag{Name: "tokenizer-mode", Category: groupAsked, Value: "auto", Usage: "auto (disk, hub cache, server, none), hf, server, none"},
		&cli.BoolFlag{Name: "skip-tokenizer-init", Category: groupAsked, Usage: "no tokenizer: what needs one is null"},
		&cli.BoolFlag{Name: "trust-remote-code", Category: groupAsked, Usage: "accepted; no model code is ever run"},
		&cli.StringFlag{Name: "ready-check-timeout-sec", Category: groupAsked, Value: "0", Usage: "wait so many `SECONDS` for a server that is coming up; 0 = one try"},

		&cli.Int64Flag{Name: "seed", Category: groupRun, Usage: "of prompts and arrivals: the same seed sends the same bytes in the same order"},
		&cli.StringFlag{Name: "work-dir", Aliases: []string{"w"}, Category: groupRun, Value: "outputs/default", Usage: "root of run folders"},
		&cli.StringFlag{Name: "config-dir", Category: groupRun, Value: "configs", Usage: "your own data set configurations"},
		&cli.BoolFlag{Name: "disable-tqdm", Category: groupRun, Usage: "no progress display"},
		&cli.StringFlag{Name: "drain", Category: groupRun, Value: "30s", Usage: "after Ctrl-C, wait this long for requests in flight"},
		&cli.BoolFlag{Name: "no-store-prompts", Category: groupRun, Usage: "keep only the prompts' hashes"},
		&cli.StringFlag{Name: "title", Category: groupReport, Usage: "title of the reports"},
		&cli.BoolFlag{Name: "tables", Category: groupReport, Usage: "print the tables of the run's reports too"},
	}...)
}

// datasetFlags say what is asked.
func datasetFlags() []cli.Flag {
	// Zero is not what happens where such a flag is not given; the text says what does.
	unset := func(name, text, usage string) cli.Flag {
		return &cli.IntFlag{Name: name, Category: groupBenchSet, DefaultText: text, Usage: usage}
	}
	i := func(name string, value int, usage string) cli.Flag {
		return &cli.IntFlag{Name: name, Value: value, Category: groupBenchSet, Usage: usage}
	}
	opt := func(name, usage string) cli.Flag {
		return &cli.IntFlag{Name: name, Category: groupBenchSet, DefaultText: "the data set's", Usage: usage}
	}
	b := func(name, usage string) cli.Flag {
		return &cli.BoolFlag{Name: name, Category: groupBenchSet, Usage: usage}
	}
	s := func(name, value, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Value: value, Category: groupBenchSet, Usage: usage}
	}
	return append(slices.Concat(foreignFlagList(), syntheticFlags()),
		s("dataset-name", "random", strings.Join(workloads.Names(), ", ")+", or a data set of the registry (`NAME`)"),
		s("dataset-path", "", "`FILE` of the data set"),
		s("dataset", "", "old spelling: a ShareGPT `FILE`, or the name of a data set"),
		&cli.IntFlag{Name: "num-prompts", Aliases: []string{"num-prompt"}, Value: 1000, Category: groupBenchSet, Usage: "requests"},
		opt("input-len", "prompt `TOKENS`"),
		opt("output-len", "answer `TOKENS`"),
		b("no-oversample", "fewer requests instead of repeated rows"),
		b("disable-shuffle", "keep the file's order"),
		b("skip-chat-template", "send conversations to completions endpoints without the model's template"),
		b("apply-chat-template", "completions backends: render the prompts of sharegpt too, which are sent as they are otherwise"),
		s("prompt-suffix", "", "sharegpt, custom: put this `TEXT` behind every prompt"),
		&cli.BoolFlag{Name: "tokenize-prompt", Aliases: []string{"prompt-token-ids"}, Category: groupBenchSet, Usage: "send the prompts' token ids instead of their text (completions and sglang)"},
		s("chat-template", "", "Jinja `FILE` instead of the tokenizer's template"),
		b("no-stream", "accepted: the data set is read as a whole (this never concerned the answers; see --disable-stream)"),
		s("cache-bust", "", "put this `SALT` before every prompt, so that no prefix cache knows it"),
		unset("max-model-len", "no bound", "leave out or refuse requests with more `TOKENS` than this, prompt and answer together"),

		b("multi-turn", "hold conversations (random, sharegpt, custom, spec_bench, generated-shared-prefix): each turn is asked when the one before has been answered, behind the model's own replies; --num-prompts counts conversations"),
		i("multi-turn-num-turns", 3, "--multi-turn with generated prompts: turns of a conversation"),
		unset("multi-turn-min-turns", "as --multi-turn-num-turns; 2 with files", "--multi-turn: turns of a conversation at least; with files, shorter ones are left out"),
		unset("multi-turn-max-turns", "as --multi-turn-num-turns; no bound with files", "--multi-turn: turns of a conversation at most"),
		i("multi-turn-delay-ms", 0, "conversations: milliseconds between an answer and the next turn"),
		unset("per-turn-input-len", "as the first", "--multi-turn with random: tokens of every turn after the first"),
		&cli.Float64Flag{Name: "multi-turn-prefix-global-ratio", Category: groupBenchSet, Usage: "--multi-turn with random: share of every turn that all conversations have in common; turns are then sent without history"},
		&cli.Float64Flag{Name: "multi-turn-prefix-conversation-ratio", Category: groupBenchSet, Usage: "the same: share that the turns of one conversation have in common"},
		s("infer-mode", "", "conversations of a file (sharegpt, custom, spec_bench): every (turn, behind the model's replies), every_with_gt (behind the file's), last (turn alone)"),

		&cli.IntFlag{Name: "random-input-len", Aliases: []string{"random-input"}, Value: 1024, Category: groupBenchSet, Usage: "random: prompt tokens"},
		&cli.IntFlag{Name: "random-output-len", Aliases: []string{"random-output"}, Value: 128, Category: groupBenchSet, Usage: "random: answer tokens"},
		s("random-range-ratio", "0.0", "random: spread of the lengths, a number or JSON with input and output"),
		s("range-ratio-mode", "vllm", "what the ratio means: vllm (L·(1±r)) or sglang (between L·r and L)"),
		i("random-prefix-len", 0, "random: tokens shared by all prompts"),
		i("random-batch-size", 1, "random: prompts a request carries (embeddings); documents of random-rerank"),
		b("no-reranker", "random-rerank: the model scores by embeddings"),
		opt("sharegpt-output-len", "sharegpt: answer tokens instead of the file's"),
		&cli.IntFlag{Name: "sharegpt-context-len", Category: groupBenchSet, DefaultText: "no bound", Usage: "sharegpt: most tokens of prompt and answer together"},
		i("sonnet-input-len", 550, "sonnet: prompt tokens"),
		i("sonnet-output-len", 150, "sonnet: answer tokens"),
		i("sonnet-prefix-len", 200, "sonnet: tokens shared by all prompts; where it is not given, at most half of the prompt"),
		i("custom-output-len", 256, "custom: answer tokens; -1 = each row's output_tokens"),
		i("spec-bench-output-len", 256, "spec_bench: answer tokens"),
		s("spec-bench-category", "", "spec_bench: only this category"),
		&cli.StringFlag{Name: "speed-bench-dataset-subset", Aliases: []string{"speed-bench-config"}, Value: "qualitative", Category: groupBenchSet, Usage: "speed_bench: qualitative, throughput_1k, _2k, _8k, _16k or _32k; the file of the folder"},
		s("speed-bench-category", "", "speed_bench: only this category"),
		i("speed-bench-output-len", 4096, "speed_bench: answer tokens"),
		i("prefix-repetition-prefix-len", 256, "prefix_repetition: tokens of a prefix"),
		i("prefix-repetition-suffix-len", 256, "prefix_repetition: tokens after it"),
		i("prefix-repetition-num-prefixes", 10, "prefix_repetition: prefixes"),
		i("prefix-repetition-output-len", 128, "prefix_repetition: answer tokens"),
		opt("hf-output-len", "registry data sets: answer tokens"),
		i("gsp-num-groups", 64, "generated-shared-prefix: system prompts"),
		i("gsp-prompts-per-group", 16, "generated-shared-prefix: questions a system prompt"),
		i("gsp-system-prompt-len", 2048, "generated-shared-prefix: tokens of a system prompt"),
		i("gsp-question-len", 128, "generated-shared-prefix: tokens of a question"),
		i("gsp-output-len", 256, "generated-shared-prefix: answer tokens"),
		&cli.Float64Flag{Name: "gsp-range-ratio", Value: 1, Category: groupBenchSet, Usage: "generated-shared-prefix: lengths between L·r and L"},
		b("gsp-ordered", "generated-shared-prefix: one group after the other"),
		i("gsp-num-turns", 1, "generated-shared-prefix: turns of a conversation, each asked when the one before has been answered"),
		b("gsp-send-routing-key", "generated-shared-prefix: header X-SMG-Routing-Key, the same for a group"),
		b("gsp-fast-prepare", "accepted: preparing is fast, and the statistics stay"),
		s("gsp-group-distribution", "uniform", "generated-shared-prefix: uniform or zipf"),
		&cli.Float64Flag{Name: "gsp-zipf-alpha", Value: 1, Category: groupBenchSet, Usage: "generated-shared-prefix: exponent of zipf"},
		i("timed-trace-chunk-hash-size", 16, "timed_trace: tokens a hash id stands for"),
		&cli.Float64Flag{Name: "timed-trace-sec-multiplier", Aliases: []string{"mooncake-slowdown-factor"}, Value: 1, Category: groupBenchSet, Usage: "traces: multiply the trace's times; above 1 is slower"},
		s("timed-trace-label-timestamp", "timestamp", "timed_trace: name of the column"),
		s("timed-trace-label-input-length", "input_length", "timed_trace: name of the column"),
		s("timed-trace-label-output-length", "output_length", "timed_trace: name of the column"),
		s("timed-trace-label-hash-ids", "hash_ids", "timed_trace: name of the column"),
		b("self-timed", "send when the trace's time stamps say (the default of traces)"),
		b("no-self-timed", "pay no heed to the trace's time stamps: bench serve sends by --request-rate, bench throughput all at once"),
		&cli.BoolFlag{Name: "use-trace-timestamps", Hidden: true},
	)
}

// benchOptions reads what all three benchmarks share.
func benchOptions(c *cli.Context) (bench.Options, error) {
	o := bench.Options{Backend: c.String("backend"), BaseURL: c.String("base-url"), Host: c.String("host"), Port: c.Int("port"), Endpoint: c.String("endpoint"),
		Model: c.String("model"), ServedModelName: c.String("served-model-name"), Tokenizer: c.String("tokenizer"), TokenizerMode: c.String("tokenizer-mode"),
		Insecure: c.Bool("insecure"), CAFile: c.String("ca-file"), Proxy: c.String("proxy"), Seed: c.Int64("seed"), WorkDir: c.String("work-dir"),
		NoStorePrompts: c.Bool("no-store-prompts"), Body: map[string]any{}, Headers: map[string]string{}}
	var err error
	if o.ConfigDir, err = configDir(c, "datasets"); err != nil {
		return o, err
	}
	if c.Bool("skip-tokenizer-init") {
		o.TokenizerMode = "none"
	}
	if p := o.Port; c.IsSet("port") && (p < 1 || p > 65535) {
		return o, usagef("--port %d: give 1 to 65535", p)
	}
	if o.Seed < 0 {
		return o, usagef("--seed %d: give 0 or more", o.Seed)
	}
	for _, h := range c.StringSlice("header") {
		k, v, ok := strings.Cut(h, "=")
		if !ok {
			k, v, ok = strings.Cut(h, ":")
		}
		if k = strings.TrimSpace(k); !ok || k == "" {
			return o, usagef("--header %s: write NAME=VALUE", k)
		}
		o.Headers[k] = strings.TrimSpace(v)
	}
	for flag, field := range map[string]*time.Duration{"drain": &o.Drain, "ready-check-timeout-sec": &o.ReadyTimeout, "timeout": (*time.Duration)(&o.Timeouts.Total)} {
		d, err := models.ParseDuration(c.String(flag))
		if err != nil {
			return o, usagef("--%s: %w", flag, err)
		}
		*field = time.Duration(d)
	}
	o.ServerOptions, err = serverOptions(c)
	return o, err
}

// chooseDataset reads the data set flags.
func chooseDataset(c *cli.Context, o *bench.Options) error {
	if err := refuseForeign(c); err != nil {
		return err
	}
	name, path := c.String("dataset-name"), c.String("dataset-path")
	if old := c.String("dataset"); old != "" {
		switch {
		case c.IsSet("dataset-name") && path == "":
			path = old
		case c.IsSet("dataset-name"):
			return usagef("--dataset and --dataset-path both name a file: leave one out")
		case workloads.Describe(old) != "":
			name = old
		default:
			name, path = "sharegpt", old
		}
	}
	name, synthetic, err := syntheticSet(c, name)
	if err != nil {
		return err
	}
	cfg := workloads.Defaults(name)
	canonical := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	cfg.DatasetPath = path
	if n := c.Int("num-prompts"); c.IsSet("num-prompts") {
		cfg.NumPrompts = n
	}
	set := func(flag string, field *int) {
		if c.IsSet(flag) {
			*field = c.Int(flag)
		}
	}
	set("input-len", &cfg.InputLen)
	set("output-len", &cfg.OutputLen)
	cfg.NoOversample, cfg.DisableShuffle = c.Bool("no-oversample"), c.Bool("disable-shuffle")
	cfg.CacheBust, cfg.MaxModelLen = c.String("cache-bust"), c.Int("max-model-len")
	cfg.ApplyChatTemplate, cfg.PromptSuffix, o.TokenizePrompt = c.Bool("apply-chat-template"), c.String("prompt-suffix"), c.Bool("tokenize-prompt")
	o.SkipChatTemplate, o.ChatTemplate = c.Bool("skip-chat-template"), c.String("chat-template")
	switch canonical {
	case "random", "random_ids", "random_token_ids", "random_rerank":
		set("random-input-len", &cfg.InputLen)
		set("random-output-len", &cfg.OutputLen)
		set("random-prefix-len", &cfg.PrefixLen)
		set("random-batch-size", &cfg.BatchSize)
		cfg.NoReranker = c.Bool("no-reranker")
		cfg.RangeRatioMode = workloads.RangeRatioMode(c.String("range-ratio-mode"))
		if m := cfg.RangeRatioMode; m != workloads.RangeVLLM && m != workloads.RangeSGLang {
			return usagef("--range-ratio-mode %s: give vllm or sglang", m)
		}
		if cfg.RangeRatioInput, cfg.RangeRatioOutput, err = workloads.ParseRangeRatio(c.String("random-range-ratio")); err != nil {
			return usagef("--random-range-ratio: %w", err)
		}
		if b, err := bench.FindBackend(o.Backend); err == nil && b.SGLang && c.IsSet("random-range-ratio") && !c.IsSet("range-ratio-mode") {
			fmt.Fprintln(c.App.ErrWriter, "note: --random-range-ratio has vLLM's meaning here, L·(1±r); --range-ratio-mode sglang gives SGLang's, between L·r and L")
		}
		if cfg.RangeRatioMode == workloads.RangeSGLang && !c.IsSet("random-range-ratio") {
			cfg.RangeRatioInput, cfg.RangeRatioOutput = 1, 1
		}
	case "synthetic_string", "synthetic_tokenid":
		if err := chooseSynthetic(c, canonical, synthetic, &cfg); err != nil {
			return err
		}
	case "sharegpt":
		set("sharegpt-output-len", &cfg.OutputLen)
		set("sharegpt-context-len", &cfg.ContextLen)
	case "sonnet":
		set("sonnet-input-len", &cfg.InputLen)
		set("sonnet-output-len", &cfg.OutputLen)
		set("sonnet-prefix-len", &cfg.PrefixLen)
		if half := cfg.InputLen / 2; !c.IsSet("sonnet-prefix-len") && cfg.PrefixLen > half {
			fmt.Fprintf(c.App.ErrWriter, "note: sonnet: the shared prefix is %d tokens instead of %d, because prompts have only %d (--sonnet-prefix-len chooses)\n", half, cfg.PrefixLen, cfg.InputLen)
			cfg.PrefixLen = half
		}
	case "openai": // SGLang's data set of this name has each row's own length
		cfg.OutputLen = -1
		set("custom-output-len", &cfg.OutputLen)
	case "custom":
		set("custom-output-len", &cfg.OutputLen)
	case "spec_bench", "mt_bench", "mtbench":
		set("spec-bench-output-len", &cfg.OutputLen)
		cfg.Category = c.String("spec-bench-category")
	case "speed_bench":
		set("speed-bench-output-len", &cfg.OutputLen)
		cfg.Category, cfg.Subset = c.String("speed-bench-category"), c.String("speed-bench-dataset-subset")
	case "prefix_repetition":
		set("prefix-repetition-prefix-len", &cfg.PrefixLen)
		set("prefix-repetition-suffix-len", &cfg.SuffixLen)
		set("prefix-repetition-num-prefixes", &cfg.NumPrefixes)
		set("prefix-repetition-output-len", &cfg.OutputLen)
	case "generated_shared_prefix", "gsp":
		set("gsp-num-groups", &cfg.NumGroups)
		set("gsp-prompts-per-group", &cfg.PromptsPerGroup)
		set("gsp-system-prompt-len", &cfg.SystemPromptLen)
		set("gsp-question-len", &cfg.QuestionLen)
		set("gsp-output-len", &cfg.OutputLen)
		if !c.IsSet("num-prompts") {
			cfg.NumPrompts = cfg.NumGroups * cfg.PromptsPerGroup
		}
		cfg.RangeRatioInput, cfg.RangeRatioOutput = c.Float64("gsp-range-ratio"), c.Float64("gsp-range-ratio")
		set("gsp-num-turns", &cfg.NumTurns)
		cfg.SendRoutingKey = c.Bool("gsp-send-routing-key")
		cfg.Ordered, cfg.GroupDistribution, cfg.ZipfAlpha = c.Bool("gsp-ordered"), c.String("gsp-group-distribution"), c.Float64("gsp-zipf-alpha")
	case "timed_trace", "mooncake", "mooncake_trace", "azure", "azure_trace":
		set("timed-trace-chunk-hash-size", &cfg.ChunkHashSize)
		cfg.SecMultiplier = c.Float64("timed-trace-sec-multiplier")
		cfg.LabelTimestamp, cfg.LabelInputLen = c.String("timed-trace-label-timestamp"), c.String("timed-trace-label-input-length")
		cfg.LabelOutputLen, cfg.LabelHashIDs = c.String("timed-trace-label-output-length"), c.String("timed-trace-label-hash-ids")
	default:
		set("hf-output-len", &cfg.OutputLen)
	}
	if c.Command.Name != "throughput" { // whose own lengths win in vLLM too
		generalLengths(c, canonical, &cfg)
	}
	if err := chooseTurns(c, canonical, &cfg); err != nil {
		return err
	}
	if c.Bool("self-timed") && c.Bool("no-self-timed") {
		return usagef("--self-timed and --no-self-timed exclude each other")
	}
	switch {
	case c.Bool("self-timed") || c.Bool("use-trace-timestamps"):
		o.SelfTimed = bench.Yes
	case c.Bool("no-self-timed"):
		o.SelfTimed = bench.No
	}
	if err := cfg.CheckSize(name); err != nil {
		return usagef("--dataset-name %s: %w", name, err)
	}
	o.Dataset, o.Workload = name, cfg
	return nil
}

// mappedLengths are the workloads' own length flags that vLLM's `bench serve`
// overwrites with --input-len and --output-len where these are given, so that a
// command line means the same here. Workloads that are not among them keep to their
// own flags. "" = none; "hf" stands for data sets of the registry.
var mappedLengths = map[string]struct{ input, output string }{
	"random": {"random-input-len", "random-output-len"}, "random_ids": {"random-input-len", "random-output-len"},
	"random_token_ids": {"random-input-len", "random-output-len"}, "random_rerank": {"random-input-len", "random-output-len"},
	"sharegpt": {"", "sharegpt-output-len"}, "custom": {"", "custom-output-len"}, "hf": {"", "hf-output-len"},
	"spec_bench": {"", "spec-bench-output-len"}, "mt_bench": {"", "spec-bench-output-len"}, "mtbench": {"", "spec-bench-output-len"},
	"prefix_repetition": {"", "prefix-repetition-output-len"},
}

// generalLengths lets the general length flags win over the workload's own, and
// says so where both were given.
func generalLengths(c *cli.Context, workload string, cfg *workloads.Config) {
	own, ok := mappedLengths[workload]
	if !ok && workloads.Describe(workload) == "" {
		own = mappedLengths["hf"]
	}
	for _, f := range []struct {
		general, own string
		field        *int
	}{{"input-len", own.input, &cfg.InputLen}, {"output-len", own.output, &cfg.OutputLen}} {
		if f.own == "" || !c.IsSet(f.general) {
			continue
		}
		if n := c.Int(f.general); n != *f.field {
			fmt.Fprintf(c.App.ErrWriter, "note: --%s %d wins over --%s %d, as in vllm bench serve\n", f.general, n, f.own, *f.field)
			*f.field = n
		}
	}
}

// maxThinkMS is the longest pause between the turns of a conversation.
const maxThinkMS = 86_400_000

// chooseTurns reads the flags of conversations, which are those of the Rust
// vllm-bench and, for files, AISBench's infer_mode.
func chooseTurns(c *cli.Context, workload string, cfg *workloads.Config) error {
	const files, made = "sharegpt custom openai spec_bench mt_bench mtbench speed_bench", "random generated_shared_prefix gsp"
	in := func(list string) bool { return slices.Contains(strings.Fields(list), workload) }
	if cfg.InferMode = c.String("infer-mode"); cfg.InferMode != "" && !in(files) {
		return usagef("--infer-mode: %s has no conversations; it goes with sharegpt, custom and spec_bench", workload)
	}
	if !c.Bool("multi-turn") {
		for _, flag := range []string{"multi-turn-num-turns", "multi-turn-min-turns", "multi-turn-max-turns", "per-turn-input-len", "multi-turn-prefix-global-ratio", "multi-turn-prefix-conversation-ratio"} {
			if c.IsSet(flag) {
				return usagef("--%s goes with --multi-turn", flag)
			}
		}
	}
	cfg.MinTurns, cfg.MaxTurns = c.Int("multi-turn-min-turns"), c.Int("multi-turn-max-turns")
	if ms := c.Int("multi-turn-delay-ms"); ms < 0 || ms > maxThinkMS {
		return usagef("--multi-turn-delay-ms %d: give 0 to %d (a day)", ms, maxThinkMS)
	}
	cfg.ThinkTime = time.Duration(c.Int("multi-turn-delay-ms")) * time.Millisecond
	if c.Bool("multi-turn") {
		switch {
		case in(files):
			if cfg.InferMode == "" {
				cfg.InferMode = workloads.InferEvery
			}
			if !c.IsSet("multi-turn-min-turns") {
				cfg.MinTurns = 2
			}
		case workload == "random":
			cfg.TurnInputLen = c.Int("per-turn-input-len")
			cfg.SharedFrac, cfg.SessionFrac = c.Float64("multi-turn-prefix-global-ratio"), c.Float64("multi-turn-prefix-conversation-ratio")
			if cfg.NumTurns = c.Int("multi-turn-num-turns"); cfg.NumTurns < 1 {
				return usagef("--multi-turn-num-turns %d: give a number above 0", cfg.NumTurns)
			}
		case in(made):
			if !c.IsSet("gsp-num-turns") {
				cfg.NumTurns = c.Int("multi-turn-num-turns")
			}
		default:
			return usagef("--multi-turn: %s makes single requests; it goes with random, sharegpt, custom, spec_bench and generated-shared-prefix", workload)
		}
	}
	return nil
}

// jsonObject reads a flag that holds a JSON object.
func jsonObject(flag, text string) (map[string]any, error) {
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil || m == nil {
		why := "it is null"
		if err != nil {
			why = registry.ExplainJSON([]byte(text), err).Error()
		}
		return nil, usageError{fmt.Errorf("--%s: give a JSON object like '{\"key\": 1}': %s", flag, why)}
	}
	return m, nil
}
