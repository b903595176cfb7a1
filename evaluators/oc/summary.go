package oc

import (
	"strings"

	"ais_bench/evaluators/pytext"
)

// XSum is Xsum_postprocess, and flores_postprocess: the trimmed first line.
func XSum(text string) string { return pytext.Strip(pytext.FirstLine(pytext.Strip(text))) }

// LCSTS is lcsts_postprocess: the first line; where it starts with "1. " or "- ",
// without every such mark; without full-width commas and stops at its ends.
func LCSTS(text string) string {
	text = XSum(text)
	for _, mark := range []string{"1. ", "- "} {
		if strings.HasPrefix(text, mark) {
			text = strings.ReplaceAll(text, mark, "")
		}
	}
	return strings.Trim(text, "，。！")
}
