package textmetrics

import (
	"regexp"
	"slices"
	"strings"
)

var digits = regexp.MustCompile(`\p{Nd}+`)

// CountScore is LongBench's count_score: the share of the numbers in pred that
// are the reference.
func CountScore(ref, pred string) float64 {
	return shareEqual(digits.FindAllString(pred, -1), strings.TrimSpace(ref))
}

var (
	paragraphEn = regexp.MustCompile(`Paragraph (\d+)`)
	paragraphZh = regexp.MustCompile(`段落(\d+)`)
)

// RetrievalScore is LongBench's retrieval_score for references that name a
// "Paragraph N" or 段落N: the share of the numbers in pred that are N.
func RetrievalScore(ref, pred string) float64 {
	m := paragraphEn.FindStringSubmatch(ref)
	if m == nil {
		m = paragraphZh.FindStringSubmatch(ref)
	}
	if m == nil {
		return 0
	}
	return shareEqual(digits.FindAllString(pred, -1), m[1])
}

func shareEqual(found []string, want string) float64 {
	if len(found) == 0 {
		return 0
	}
	hits := 0
	for _, f := range found {
		if f == want {
			hits++
		}
	}
	return float64(hits) / float64(len(found))
}

// ClassificationScore is LongBench's classification_score: 1/n when the
// reference is among the n class names that pred contains, not counting names
// that are only a part of the reference. The published loop removes from the
// list it walks over and so passes over the name after a removed one; that is
// kept, because published scores have it.
func ClassificationScore(ref, pred string, classes []string) float64 {
	var found []string
	for _, c := range classes {
		if strings.Contains(pred, c) {
			found = append(found, c)
		}
	}
	for i := 0; i < len(found); i++ {
		if c := found[i]; c != ref && strings.Contains(ref, c) {
			found = slices.Delete(found, i, i+1)
		}
	}
	if !slices.Contains(found, ref) {
		return 0
	}
	return 1 / float64(len(found))
}

// NeedleBenchScore is NeedleBench's score of a reply against a reference of the
// form "sentence*keyword", in [0,1]: 1 when the keyword occurs in the reply,
// otherwise a fifth of the similarity (1 − edit distance / longest) of reply and
// sentence without white space.
func NeedleBenchScore(ref, pred string) float64 {
	sentence, keyword, ok := strings.Cut(ref, "*")
	if !ok {
		keyword = sentence
	}
	if strings.Contains(pred, keyword) {
		return 1
	}
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	a, b := squeeze(pred), squeeze(sentence)
	longest := max(len([]rune(a)), len([]rune(b)))
	if longest == 0 {
		return 0
	}
	return 0.2 * (1 - float64(EditDistance(a, b))/float64(longest))
}
