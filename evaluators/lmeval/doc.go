// Package lmeval reproduces the answer filters and exact-match metrics of
// lm-evaluation-harness, faults included, as functions of text. They serve the
// scorers named lmeval/….
package lmeval

import (
	"strings"

	"ais_bench/evaluators/pytext"
)

// Invalid is what a filter returns where nothing matched.
const Invalid = "[invalid]"

// AfterThinking is the post-processing with think_end_token set to </think>:
// what follows the last closing tag, left-trimmed; text without one as it is.
func AfterThinking(text string) string { return AfterThinkingStop(text, nil) }

// AfterThinkingStop also applies stop strings, in the given order, to what
// remains, each cutting at its first occurrence.
func AfterThinkingStop(text string, stop []string) string {
	const end = "</think>"
	if i := strings.LastIndex(text, end); i >= 0 {
		text = pytext.StripLeft(text[i+len(end):])
	}
	for _, s := range stop {
		if s != "" {
			text, _, _ = strings.Cut(text, s)
		}
	}
	return text
}
