package oc

import (
	"strings"

	"ais_bench/evaluators/pytext"
)

// NonReasoning is extract_non_reasoning_content: with closing tags only, the
// text after the last one; otherwise every <think>…</think> is deleted, each
// ending at the nearest closing tag, so that nested thoughts leave their tail
// behind and an unclosed thought stays whole.
func NonReasoning(text string) string { return pytext.Strip(NonReasoningRaw(text)) }

// NonReasoningRaw is NonReasoning without trimming.
func NonReasoningRaw(text string) string {
	const open, shut = "<think>", "</think>"
	if !strings.Contains(text, open) {
		if i := strings.LastIndex(text, shut); i >= 0 {
			return pytext.Strip(text[i+len(shut):])
		}
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, open)
		if i < 0 {
			break
		}
		j := strings.Index(text[i:], shut)
		if j < 0 {
			break
		}
		b.WriteString(text[:i])
		text = text[i+j+len(shut):]
	}
	b.WriteString(text)
	return b.String()
}
