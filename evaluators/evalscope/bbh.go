package evalscope

import (
	"strings"

	"ais_bench/evaluators/oc"
)

const soTheAnswer = "So the answer is "

// BBHChoice is the BBH adapter's multiple-choice rule: OpenCompass's, tried on
// what follows the first "answer is ".
func BBHChoice(text string) string { return oc.BBHChoice(text) }

// BBHFreeform is the BBH adapter's free-form rule: the line behind the last "So
// the answer is ".
func BBHFreeform(text string) string {
	if i := strings.LastIndex(text, soTheAnswer); i >= 0 {
		text = text[i+len(soTheAnswer):]
	} else if strings.Contains(text, "answer is ") {
		// without the phrase the text is taken whole, not from "answer is "
		text = strings.ReplaceAll(text, "answer is ", "answer\x00is ")
	}
	return strings.ReplaceAll(oc.BBHFreeform(text), "\x00", " ")
}
