package lmeval

import (
	"regexp"
	"strings"
)

var codeBlock = regexp.MustCompile("(?s)```(?:[\\p{L}\\p{N}_]+)?\n?(.*?)\n?```")

// MBPPCode is mbpp_instruct's extract_code_blocks: the first block of the reply
// with an opening fence put in front of it, because the prompt ended in one. Its
// word after the fence is taken for a language tag.
func MBPPCode(text string) string {
	m := codeBlock.FindStringSubmatch("```" + text)
	if m == nil {
		m = codeBlock.FindStringSubmatch(strings.ReplaceAll(text, "```python", "```"))
	}
	if m == nil {
		return ""
	}
	return m[1]
}

// HumanEvalInstruct is build_predictions_instruct: the prompt and the reply up
// to its first fence.
func HumanEvalInstruct(text, prompt string) string {
	body, _, _ := strings.Cut(text, "```")
	return prompt + body
}
