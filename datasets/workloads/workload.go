// Package workloads makes the requests of a performance run: how many tokens
// go in, how many come out, what the prompts share with one another and, for
// traces, when each arrives.
//
// A workload is chosen by name, configured by one Config and gives a slice of
// datasets.Sample. Start from Defaults(name), override what the user gave and
// call New; all checks that need no data happen there:
//
//	cfg := workloads.Defaults("random")
//	cfg.NumPrompts, cfg.InputLen, cfg.Tokenizer = 1000, 1024, tok
//	w, err := workloads.New("random", cfg)
//	samples, err := w.Samples(ctx)
//
// Every workload is a pure function of its Config and of the file it reads:
// the same seed gives the same bytes in the same order on every machine, another
// seed gives other prompts. Random numbers come from math/rand/v2's PCG; the
// rules and distributions are those of the tools named in each file, their random
// streams are not.
package workloads

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"ais_bench/datasets"
	"ais_bench/registry"
)

// Tokenizer is what a workload needs to make text of a given length and to
// measure it. *tokenizer.Tokenizer and *tokenizer.Remote satisfy it. Methods are
// called concurrently.
type Tokenizer interface {
	Encode(text string, addSpecial bool) []int
	Decode(ids []int, skipSpecial bool) string
	Count(text string) int // tokens of text without special tokens
	VocabSize() int        // one more than the largest id
	SpecialIDs() []int     // ids that must not occur inside a prompt
	AddedByDefault() int   // special tokens that Encode(text, true) adds to any text
}

// Workload makes the requests of one run.
type Workload interface {
	// Samples gives the requests in sending order. Each has a prompt (Text, Turns
	// or TokenIDs), MaxTokens (0 = the server's default) and, for traces, ArriveNS
	// (else -1). Fields holds FieldInputLen where a tokenizer measured the prompt.
	// Params holds ignore_eos where Config.IgnoreEOS asks for it.
	Samples(ctx context.Context) ([]datasets.Sample, error)
	// String says in one line what is asked, for logs and the manifest.
	String() string
	// Notes says, after Samples, which rows of the file were left out and why, one
	// line a reason.
	Notes() []string
}

// Keys of datasets.Sample.Fields set by workloads.
const (
	// FieldInputLen is an int: the prompt's length in tokens (of a conversation: its
	// first turn's) as the tokenizer counts it, special tokens included that the
	// server will add. What the server
	// really saw is in its usage; the report compares the two.
	FieldInputLen = "input_len"
	// FieldOversampled is true on a row that repeats an earlier one because the
	// file had fewer rows than requests were asked for.
	FieldOversampled = "oversampled"
	// FieldGroup is an int: the group of a shared system prompt, for a routing key.
	FieldGroup = "group"
	// FieldRow is an int: the line of the file whose lengths a request has.
	FieldRow = "row"
	// FieldBatch is a []string: all texts of a request that carries several
	// (embeddings, rerank); Prompt.Text is the first.
	FieldBatch = "batch"
)

// New checks cfg and returns the workload called name. Names are those of
// `vllm bench serve` and of SGLang's bench_serving (see Names); dashes and
// underscores are the same.
func New(name string, cfg Config) (Workload, error) {
	k, err := find(name)
	if err != nil {
		return nil, err
	}
	if err := cfg.check(k); err != nil {
		return nil, fmt.Errorf("workload %s: %w", k.name, err)
	}
	w, err := k.make(cfg)
	if err != nil {
		return nil, fmt.Errorf("workload %s: %w", k.name, err)
	}
	return named{k.name, w}, nil
}

// Names lists the workloads in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(kinds))
	for n := range kinds {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Describe is the one-line rule of the workload called name, "" when there is none.
func Describe(name string) string {
	k, err := find(name)
	if err != nil {
		return ""
	}
	return k.rule
}

// Resolve is the name under which Names lists the workload called name, "" when
// there is none.
func Resolve(name string) string {
	k, err := find(name)
	if err != nil {
		return ""
	}
	return k.name
}

// NeedsTokenizer reports whether the workload called name cannot be made without a
// tokenizer. sharegpt needs one where no output length is set.
func NeedsTokenizer(name string) bool {
	k, err := find(name)
	return err == nil && k.needsTok
}

// Timed reports whether the samples of the workload called name carry arrival times.
func Timed(name string) bool {
	k, err := find(name)
	return err == nil && k.timed
}

func find(name string) (kind, error) {
	if k, ok := kinds[canonical(name)]; ok {
		return k, nil
	}
	if k, ok := kinds[aliases[canonical(name)]]; ok {
		return k, nil
	}
	return kind{}, fmt.Errorf("no workload is called %q%s", name, registry.DidYouMean(name, Names()))
}

// ParseRangeRatio reads --random-range-ratio: a number for both lengths, or JSON
// with the keys input and output (one left out is 0).
func ParseRangeRatio(text string) (input, output float64, err error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		if input, err = strconv.ParseFloat(text, 64); err != nil {
			return 0, 0, fmt.Errorf("range ratio %q is neither a number nor JSON like {\"input\": 0.1, \"output\": 0.2}", text)
		}
		return input, input, nil
	}
	var both map[string]float64
	if err := json.Unmarshal([]byte(text), &both); err != nil {
		return 0, 0, fmt.Errorf("range ratio %s: %w; both values must be numbers", text, registry.ExplainJSON([]byte(text), err))
	}
	for k := range both {
		if k != "input" && k != "output" {
			return 0, 0, fmt.Errorf("range ratio %s: unknown key %q; give input and output", text, k)
		}
	}
	return both["input"], both["output"], nil
}

// named puts the workload's name before its errors.
type named struct {
	name string
	Workload
}

func (n named) Samples(ctx context.Context) ([]datasets.Sample, error) {
	s, err := n.Workload.Samples(ctx)
	if err != nil {
		return nil, fmt.Errorf("workload %s: %w", n.name, err)
	}
	return s, nil
}

// nearestOf suggests one of the keys of known for name.
func nearestOf(name string, known map[string]bool) string {
	return registry.DidYouMean(name, slices.Sorted(maps.Keys(known)))
}
