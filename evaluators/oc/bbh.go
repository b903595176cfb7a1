package oc

import (
	"regexp"
	"strings"

	"ais_bench/evaluators/pytext"
)

var (
	bracketCapital = regexp.MustCompile(`\(([A-Z])\)*`)
	answerIs       = regexp.MustCompile(`(?i)answer is[\s\p{Z}]*:?[\s\p{Z}]*`)
	bold           = regexp.MustCompile(`\*\*(.*?)\*\*`)
	digitComma     = regexp.MustCompile(`\p{Nd}[\s\p{Z}]*,[\s\p{Z}]*\p{Nd}`)
	commaBlank     = regexp.MustCompile(`[\s\p{Z}]*,[\s\p{Z}]*`)
)

// BBHChoice is bbh_mcq_postprocess: behind the first "answer is ", the first
// bracketed capital, else the first capital, else the text itself. It is applied
// to gold too.
func BBHChoice(text string) string {
	if parts := strings.SplitN(text, "answer is ", 3); len(parts) > 1 {
		text = pytext.Strip(parts[1])
	}
	if m := bracketCapital.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return 'A' <= r && r <= 'Z' }); i >= 0 {
		return text[i : i+1]
	}
	return text
}

// BBHFreeform is AISBench's bbh_freeform_postprocess: the line behind the first
// "answer is ", without a final full stop; what stands between ** if anything
// does.
func BBHFreeform(text string) string {
	if parts := strings.SplitN(text, "answer is ", 3); len(parts) > 1 {
		text = pytext.Strip(parts[1])
	}
	text = pytext.Strip(pytext.FirstLine(text))
	text = pytext.Strip(strings.TrimSuffix(text, "."))
	if m := bold.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return text
}

// BBHFreeform2026 is OpenCompass's rule since 2026: behind the last "answer is"
// in any letter case; yes, no, true and false alone; commas between words
// removed. Comparison ignores letter case.
func BBHFreeform2026(text string) string {
	if parts := answerIs.Split(text, -1); len(parts) > 1 {
		text = pytext.Strip(parts[len(parts)-1])
	}
	text = pytext.Strip(pytext.FirstLine(text))
	if strings.HasSuffix(text, ".") {
		text = pytext.Strip(strings.TrimSuffix(text, "."))
	}
	if m := bold.FindStringSubmatch(text); m != nil {
		text = pytext.Strip(m[1])
	}
	for _, word := range []string{"Yes", "No", "True", "False"} {
		if len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) {
			continue
		}
		boundary := true
		for _, r := range text[len(word):] {
			boundary = !pytext.IsWord(r)
			break
		}
		if boundary {
			return word
		}
	}
	if !digitComma.MatchString(text) {
		text = commaBlank.ReplaceAllString(text, " ")
	}
	return strings.Join(pytext.Fields(text), " ")
}
