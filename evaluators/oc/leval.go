package oc

import (
	"strings"

	"ais_bench/evaluators/pytext"
)

// LEvalContains is LEvalEMEvaluator: the cleaned prediction holds the cleaned or
// the raw reference.
func LEvalContains(pred, ref string) bool {
	pred = General(pred)
	return strings.Contains(pred, General(ref)) || strings.Contains(pred, ref)
}

// LEvalGSM100 is gsm100_postprocess: the digits of the first word with a digit
// behind the first "The answer is".
func LEvalGSM100(text string) string {
	parts := strings.SplitN(text, "The answer is", 3)
	if len(parts) < 2 {
		return ""
	}
	for _, word := range strings.Split(parts[1], " ") {
		digits := strings.Map(func(r rune) rune {
			if pytext.IsDigit(r) {
				return r
			}
			return -1
		}, word)
		if digits != "" {
			return digits
		}
	}
	return ""
}
