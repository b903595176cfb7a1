package lmeval

import (
	"regexp"
	"strings"

	"ais_bench/evaluators/numword"
	"ais_bench/evaluators/pytext"
)

var firstInteger = regexp.MustCompile(`[-0-9]+`)

// NumberParse is NumberParseRegexFilter: the first run of digits and hyphens,
// else the first number spelled in English.
func NumberParse(text string) string {
	if m := firstInteger.FindString(text); m != "" {
		return m
	}
	if n, ok := numword.First(strings.ToLower(text)); ok {
		return n
	}
	return Invalid
}

// WordSort is WordSortFilter: the words of the question's list in the order of
// their last occurrence in the reply.
func WordSort(text, question string) string {
	_, list, _ := strings.Cut(question, "List:")
	list, _, _ = strings.Cut(list, "List:")
	words := pytext.Fields(list)
	var seen []string
	for at := 0; at < len(text); {
		hit := ""
		for _, w := range words {
			if strings.HasPrefix(text[at:], w) && atBoundary(text, at) && atBoundary(text, at+len(w)) {
				hit = w
				break
			}
		}
		if hit == "" {
			at++
			continue
		}
		seen = append(seen, hit)
		at += len(hit)
	}
	var kept []string
	used := map[string]bool{}
	for i := len(seen) - 1; i >= 0; i-- {
		if !used[seen[i]] {
			used[seen[i]] = true
			kept = append(kept, seen[i])
		}
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	return strings.Join(kept, " ")
}

// atBoundary is \b at byte at.
func atBoundary(text string, at int) bool {
	before, after := false, false
	for _, r := range text[at:] {
		after = pytext.IsWord(r)
		break
	}
	if at > 0 {
		r := []rune(text[max(0, at-4):at])
		before = pytext.IsWord(r[len(r)-1])
	}
	return before != after
}

// phraseValue maps one of several phrases to a value.
type phraseValue struct{ phrase, value string }

// mapFirst is MapRegexFilter with group_select 0: of the phrases that occur as
// whole words, the one that occurs first (in list order at one place).
func mapFirst(text string, phrases []phraseValue) string {
	text = strings.ToLower(text)
	for at := 0; at < len(text); at++ {
		for _, p := range phrases {
			if strings.HasPrefix(text[at:], p.phrase) && atBoundary(text, at) && atBoundary(text, at+len(p.phrase)) {
				return p.value
			}
		}
	}
	return Invalid
}

// WebOfLies is the web_of_lies filter of bbh_zeroshot.
func WebOfLies(text string) string {
	return mapFirst(text, []phraseValue{
		{"no", "no"}, {"does not tell the truth", "no"}, {"is not telling the truth", "no"},
		{"yes", "yes"}, {"tells the truth", "yes"}, {"is telling the truth", "yes"}})
}

// SportsUnderstanding is the sports_understanding filter of bbh_zeroshot.
func SportsUnderstanding(text string) string {
	return mapFirst(text, []phraseValue{{"no", "no"}, {"not plausible", "no"}, {"yes", "yes"}, {"plausible", "yes"}})
}
