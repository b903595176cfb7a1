package evaluators

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// finalMarkers are the byte offsets just behind the phrases that announce a
// final answer, in order: "####", "\boxed{", "answer is", "answer:", "Answer =",
// a "Final Answer" heading, 答案 with or without 是/为/：, 答え. Markup around the
// words ("**Answer**:") and full-width colons are read through. "the answer is
// not …" announces nothing.
func finalMarkers(text string) []int {
	var at []int
	for _, fixed := range []string{"####", `\boxed{`, `\fbox{`} {
		for from := 0; ; {
			i := strings.Index(text[from:], fixed)
			if i < 0 {
				break
			}
			from += i + len(fixed)
			at = append(at, from)
		}
	}
	for from := 0; ; {
		i := indexFold(text[from:], "answer")
		if i < 0 {
			break
		}
		word := from + i
		from = word + len("answer")
		if end, ok := answerMarker(text, word, from); ok {
			at = append(at, end)
		}
	}
	for _, han := range []string{"答案", "答え", "答：", "答:"} {
		for from := 0; ; {
			i := strings.Index(text[from:], han)
			if i < 0 {
				break
			}
			from += i + len(han)
			end := from
			for again := true; again; {
				again = false
				for _, link := range []string{"应该是", "应为", "是", "为", "為", "选", "選", "は", "：", ":", "*", " ", "选项"} {
					if strings.HasPrefix(text[end:], link) {
						end += len(link)
						again = true
					}
				}
			}
			if !strings.HasPrefix(text[end:], "不") {
				at = append(at, end)
			}
		}
	}
	sort.Ints(at)
	return at
}

// maxMarkers and maxRegion bound the work on a reply that repeats itself without
// end: only the last announcements are read, and only so far.
const (
	maxMarkers = 64
	maxRegion  = 4096
)

// latest are the last maxMarkers of marks.
func latest(marks []int) []int { return marks[max(0, len(marks)-maxMarkers):] }

// answerMarker reads what follows the word "answer" (text[word:from]): the end
// of the marker, or false when the word announces nothing.
func answerMarker(text string, word, from int) (end int, ok bool) {
	pos := skipMarkup(text, from)
	rest := text[pos:]
	switch {
	case strings.HasPrefix(rest, ":"), strings.HasPrefix(rest, "="):
		return skipMarkup(text, pos+1), true
	case strings.HasPrefix(rest, "："):
		return skipMarkup(text, pos+len("：")), true
	case strings.HasPrefix(rest, "\n"):
		if prev := strings.TrimRight(text[:word], " *_#"); hasSuffixFold(prev, "final") || strings.HasSuffix(prev, "\n") || prev == "" {
			return pos, true
		}
		return 0, false
	}
	// "answer is", "answer to the question is", "answer should be"
	clause := rest
	if len(clause) > 100 {
		clause = clause[:100]
	}
	if i := strings.IndexAny(clause, ".\n:?!"); i >= 0 {
		clause = clause[:i]
	}
	for _, verb := range []string{"is", "should be", "must be", "would be", "will be", "=", "equals"} {
		i := indexWordFold(clause, verb)
		if i < 0 || i > 0 && !linkPhrase(clause[:i]) {
			continue
		}
		end = skipMarkup(text, pos+i+len(verb))
		for _, c := range []string{":", "："} {
			if strings.HasPrefix(text[end:], c) {
				end = skipMarkup(text, end+len(c))
			}
		}
		for _, no := range []string{"not ", "neither ", "none of"} {
			if len(text) >= end+len(no) && strings.EqualFold(text[end:end+len(no)], no) {
				return 0, false
			}
		}
		return end, true
	}
	return 0, false
}

// linkPhrase accepts what may stand between "answer" and its verb: nothing, or
// a prepositional phrase ("to the question", "for part (a)") or a noun
// ("choice", "option").
func linkPhrase(s string) bool {
	s = strings.ToLower(strings.Trim(s, " \t*_`\"'"))
	if s == "" {
		return true
	}
	for _, start := range []string{"to ", "for ", "of ", "in ", "choice", "option", "here", "letter", "("} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}

// skipMarkup moves over blanks and Markdown emphasis on the line.
func skipMarkup(text string, pos int) int {
	for pos < len(text) {
		switch text[pos] {
		case ' ', '\t', '*', '_', '`', '"', '\'':
			pos++
			continue
		}
		if r, size := utf8.DecodeRuneInString(text[pos:]); r == '\u00a0' || r == '\u3000' || r == '”' || r == '“' {
			pos += size
			continue
		}
		break
	}
	return pos
}

// indexFold is strings.Index ignoring the case of ASCII letters; lower must be
// lower-case ASCII.
func indexFold(s, lower string) int {
	first := lower[0]
	upper := first - 'a' + 'A'
	for i := 0; i+len(lower) <= len(s); i++ {
		if c := s[i]; c != first && c != upper {
			continue
		}
		if foldEqual(s[i:i+len(lower)], lower) {
			return i
		}
	}
	return -1
}

// lastIndexFold is strings.LastIndex ignoring the case of ASCII letters.
func lastIndexFold(s, lower string) int {
	for i := len(s) - len(lower); i >= 0; i-- {
		if foldEqual(s[i:i+len(lower)], lower) {
			return i
		}
	}
	return -1
}

func foldEqual(s, lower string) bool {
	for i := range len(lower) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// indexWordFold finds lower as a whole word.
func indexWordFold(s, lower string) int {
	for from := 0; ; {
		i := indexFold2(s[from:], lower)
		if i < 0 {
			return -1
		}
		i += from
		beforeOK := i == 0 || !isLatin(rune(s[i-1]))
		afterOK := i+len(lower) == len(s) || !isLatin(rune(s[i+len(lower)])) || lower == "="
		if beforeOK && afterOK {
			return i
		}
		from = i + 1
	}
}

// indexFold2 is indexFold for needles that may start with a non-letter.
func indexFold2(s, lower string) int {
	for i := 0; i+len(lower) <= len(s); i++ {
		if foldEqual(s[i:i+len(lower)], lower) {
			return i
		}
	}
	return -1
}

func hasSuffixFold(s, lower string) bool {
	return len(s) >= len(lower) && foldEqual(s[len(s)-len(lower):], lower)
}
