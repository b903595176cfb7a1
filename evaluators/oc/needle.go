package oc

import (
	"strings"
	"unicode"
)

// NeedleOrigin is NeedleBench's single-needle score in [0,1]: 1 when the keyword
// of a reference "sentence*keyword" occurs in the raw prediction, else a fifth of
// the similarity in edits, blanks ignored.
func NeedleOrigin(pred, ref string) float64 {
	sentence, keyword, _ := strings.Cut(ref, "*")
	if keyword != "" && strings.Contains(pred, keyword) {
		return 1
	}
	p, s := squeeze(pred), squeeze(sentence)
	longest := max(len([]rune(p)), len([]rune(s)))
	if longest == 0 {
		return 0
	}
	return 0.2 * (1 - float64(Levenshtein(p, s))/float64(longest))
}

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
