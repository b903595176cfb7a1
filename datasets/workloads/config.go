package workloads

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"ais_bench/datasets"
)

// RangeRatioMode says what a range ratio ρ does to a length L. The two tools
// give the same flag opposite meanings, so it is always said which is meant.
type RangeRatioMode string

const (
	// RangeVLLM: U[⌊L(1−ρ)⌋, ⌈L(1+ρ)⌉], ρ in [0,1); 0 = always L.
	RangeVLLM RangeRatioMode = "vllm"
	// RangeSGLang: U[max(⌊Lρ⌋,1), L], ρ in [0,1]; 1 = always L, 0 = anything up to L.
	RangeSGLang RangeRatioMode = "sglang"
)

// Config is everything a workload can be told. Fields a workload does not name
// in its doc comment are ignored by it. Values are taken literally: start from
// Defaults.
type Config struct {
	Seed       uint64
	NumPrompts int // requests to make; <= 0 = every row of the file (file workloads only)

	DatasetPath string    // file to read
	Tokenizer   Tokenizer // nil: workloads that cannot do without refuse

	InputLen  int // tokens
	OutputLen int // tokens; 0 = the row's own where it has one; -1 (custom) = each row's output_tokens
	PrefixLen int // random, sonnet, prefix_repetition, synthetic tokenid: tokens shared by all requests

	RangeRatioMode   RangeRatioMode
	RangeRatioInput  float64
	RangeRatioOutput float64

	SuffixLen   int // prefix_repetition: tokens after the prefix
	NumPrefixes int // prefix_repetition: distinct prefixes

	NumGroups         int     // generated-shared-prefix: distinct system prompts
	PromptsPerGroup   int     // generated-shared-prefix: questions a system prompt
	SystemPromptLen   int     // generated-shared-prefix: tokens
	QuestionLen       int     // generated-shared-prefix: tokens
	GroupDistribution string  // generated-shared-prefix: uniform | zipf
	ZipfAlpha         float64 // generated-shared-prefix with zipf: exponent, > 0
	Ordered           bool    // generated-shared-prefix: keep groups together instead of shuffling

	NumTurns       int           // random, generated-shared-prefix: turns of a conversation, asked one after the other; 0 or 1 = single requests
	MinTurns       int           // random: with MaxTurns, draw the number of turns between the two; files: leave out shorter conversations
	MaxTurns       int           // see MinTurns; files: ask no more turns of a conversation; 0 = all
	TurnInputLen   int           // random: tokens of every turn after the first; 0 = InputLen
	ThinkTime      time.Duration // between an answer and the next turn of its conversation
	SharedFrac     float64       // random: share of every turn that all conversations have in common, see conversation
	SessionFrac    float64       // random: share of every turn that the turns of one conversation have in common
	SendRoutingKey bool          // generated-shared-prefix: header X-SMG-Routing-Key, one value a group

	BatchSize  int  // random: prompts a request carries (embeddings); 0 = 1. random_rerank: documents + 1
	NoReranker bool // random_rerank: the model scores by embeddings, see there

	ContextLen int    // sharegpt: most tokens of prompt + answer; 0 = vLLM's limits (1024 and 2048)
	InferMode  string // sharegpt, custom, spec_bench: "" = one request a row, else InferEvery, InferEveryGold, InferLast
	Category   string // spec_bench, speed_bench: only rows of this category
	Subset     string // speed_bench: file of the folder, without .jsonl

	ChunkHashSize  int     // timed traces: tokens a hash id stands for
	SecMultiplier  float64 // timed traces: a trace's time is multiplied by it; > 1 slows down
	TimestampUnit  string  // timed traces: s | ms | auto (by workload)
	KeepOffset     bool    // timed traces: do not rebase arrivals to the first row
	StartOffset    float64 // timed traces: seconds of trace time to skip
	EndOffset      float64 // timed traces: seconds of trace time to stop at; <= 0 = none
	LaxTrace       bool    // mooncake: AISBench's rows, which need neither time stamp nor output length
	LabelTimestamp string  // timed_trace: column names
	LabelInputLen  string
	LabelOutputLen string
	LabelHashIDs   string
	TraceAsText    bool    // timed traces: send text instead of token ids (chat endpoints)
	InputLengths   Lengths // synthetic string and tokenid; without Method always InputLen
	OutputLengths  Lengths // synthetic string and tokenid; without Method always OutputLen
	ConfigFile     string  // file the settings come from, for the manifest; "" = none

	NoOversample   bool // fewer rows than NumPrompts: make fewer requests instead of repeating rows
	DisableShuffle bool // keep the file's order

	// ChatTemplate renders turns for a completions endpoint; nil sends the plain
	// text, which is right for chat endpoints (the server renders).
	ChatTemplate func(turns []datasets.Turn) (string, error)
	// ApplyChatTemplate renders the prompts of sharegpt too, which vLLM sends as
	// they are (SGLang's --apply-chat-template).
	ApplyChatTemplate bool
	PromptSuffix      string // sharegpt, custom: put behind every prompt of one turn
	IgnoreEOS         bool   // ask the server to produce exactly MaxTokens
	CacheBust         string // salt at the start of every prompt; "" = none. Same salt, same bytes
	MaxModelLen       int    // refuse (generated) or skip (files) requests with more tokens in total; 0 = no limit
}

// Defaults is the Config of the workload called name with that tool's published
// defaults; the zero-seeded Config when there is no such workload (New reports it).
func Defaults(name string) Config {
	cfg := Config{NumPrompts: 1000, RangeRatioMode: RangeVLLM, SecMultiplier: 1, TimestampUnit: "auto",
		GroupDistribution: "uniform", ZipfAlpha: 1}
	if k, err := find(name); err == nil && k.defaults != nil {
		k.defaults(&cfg)
	}
	return cfg
}

// kind is one entry of the table of workloads.
type kind struct {
	name     string
	rule     string
	needsTok bool // cannot work without a tokenizer
	file     fileUse
	timed    bool
	defaults func(*Config)
	make     func(Config) (Workload, error)
}

type fileUse int

const (
	fileNone     fileUse = iota // refuses a DatasetPath
	fileOptional                // has data of its own
	fileNeeded
)

func canonical(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "-", "_")
}

// withoutTokenizer is the error of a workload that needs a tokenizer and has none. A
// data file that is not there is said before it: no tokenizer would bring it.
func (c *Config) withoutTokenizer(why string) error {
	if c.DatasetPath != "" {
		if _, err := os.Stat(c.DatasetPath); errors.Is(err, os.ErrNotExist) {
			return missingFile(c.DatasetPath)
		}
	}
	return errors.New("needs a tokenizer " + why)
}

func (c *Config) check(k kind) error {
	if k.needsTok && c.Tokenizer == nil {
		return c.withoutTokenizer("to make prompts of a given length; give --tokenizer DIR (a folder with tokenizer.json)")
	}
	switch {
	case k.file == fileNone && c.DatasetPath != "":
		return fmt.Errorf("makes its own prompts and takes no --dataset-path (got %q); use --dataset-name custom or sharegpt for a file", c.DatasetPath)
	case k.file == fileNeeded && c.DatasetPath == "":
		return fmt.Errorf("needs --dataset-path FILE")
	case k.file != fileNeeded && c.NumPrompts < 1:
		return fmt.Errorf("needs --num-prompts of at least 1, got %d", c.NumPrompts)
	}
	if err := c.CheckSize(k.name); err != nil {
		return err
	}
	if err := c.checkTurns(); err != nil {
		return err
	}
	if c.OutputLen < 0 && !(k.name == "custom" && c.OutputLen == -1) {
		return fmt.Errorf("output length must not be negative, got %d", c.OutputLen)
	}
	return nil
}
