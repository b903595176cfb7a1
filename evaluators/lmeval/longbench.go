package lmeval

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"ais_bench/evaluators/pytext"
)

var integers = regexp.MustCompile(`\p{Nd}+`)

// NumberShare is LongBench's count_score: the share of the numbers in a
// prediction that are the wanted one; 0 without numbers.
func NumberShare(pred, want string) float64 {
	all := integers.FindAllString(pred, -1)
	if len(all) == 0 {
		return 0
	}
	right := 0.0
	for _, n := range all {
		if n == want {
			right++
		}
	}
	return right / float64(len(all))
}

// Retrieval is retrieval_score: NumberShare for the number behind prefix
// ("Paragraph " or "段落") in the reference. ok is false when the reference has
// none.
func Retrieval(pred, ref, prefix string) (share float64, ok bool) {
	for {
		i := strings.Index(ref, prefix)
		if i < 0 {
			return 0, false
		}
		ref = ref[i+len(prefix):]
		end := 0
		for end < len(ref) {
			r, size := utf8.DecodeRuneInString(ref[end:])
			if !pytext.IsDigit(r) {
				break
			}
			end += size
		}
		if end > 0 {
			return NumberShare(pred, ref[:end]), true
		}
	}
}

// Classification is classification_score: one over the number of class names in
// the prediction if the gold is among them. Names that are part of the gold are
// dropped, but while the list is walked, so that the neighbour of a dropped name
// escapes.
func Classification(pred, gold string, classes []string) float64 {
	var found []string
	for _, c := range classes {
		if strings.Contains(pred, c) {
			found = append(found, c)
		}
	}
	for i := 0; i < len(found); i++ {
		if c := found[i]; strings.Contains(gold, c) && c != gold {
			first := slices.Index(found, c)
			found = slices.Delete(found, first, first+1)
		}
	}
	if !slices.Contains(found, gold) {
		return 0
	}
	return 1 / float64(len(found))
}

// RulerAll is string_match_all: the share of references the cleaned prediction
// holds, letter case ignored.
func RulerAll(pred string, refs []string) float64 {
	if len(refs) == 0 {
		return 0
	}
	pred = strings.ToLower(RulerClean(pred))
	found := 0.0
	for _, r := range refs {
		if strings.Contains(pred, strings.ToLower(r)) {
			found++
		}
	}
	return found / float64(len(refs))
}

// RulerPart is string_match_part: 1 when the cleaned prediction holds any
// reference.
func RulerPart(pred string, refs []string) float64 {
	if RulerAll(pred, refs) > 0 {
		return 1
	}
	return 0
}

// RulerClean trims a prediction and turns control characters into newlines.
func RulerClean(pred string) string {
	return pytext.Strip(strings.Map(func(r rune) rune {
		if r < 0x20 {
			return '\n'
		}
		return r
	}, pytext.Strip(pred)))
}
