package ifeval

import (
	"regexp"
	"strings"
	"unicode"
)

// isWordRune is Python's \w.
func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// countWords counts runs of letters, digits and '_'.
func countWords(s string) int {
	n, in := 0, false
	for _, r := range s {
		w := isWordRune(r)
		if w && !in {
			n++
		}
		in = w
	}
	return n
}

// rewrite is one substitution of the Treebank word tokenizer.
type rewrite struct {
	pattern *regexp.Regexp
	to      string
}

func rewrites(pairs ...string) []rewrite {
	var out []rewrite
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, rewrite{regexp.MustCompile(pairs[i]), pairs[i+1]})
	}
	return out
}

// The Penn Treebank conventions as NLTK's word_tokenize applies them to one
// sentence. They matter here for which pieces are counted as words: DON'T is DO
// and N'T, U.S. stays whole, NASA-led is one word.
var (
	beforePadding = rewrites(
		"([«“‘„]|`+)", " $1 ",
		`^"`, "`` ",
		"(``)", " $1 ",
		`([ (\[{<])("|'{2})`, "$1 `` ",
		`([^.])(\.)([\])}>"'»”’ ]*)\s*$`, "$1 $2 $3 ",
		`([:,])([^\d])`, " $1 $2",
		`([:,])$`, " $1 ",
		`(\.{2,})`, " $1 ",
		`([;@#$%&])`, " $1 ",
		`([^.])(\.)([\])}>"']*)\s*$`, "$1 $2$3 ",
		`([?!])`, " $1 ",
		`([^'])'\s`, "$1 ' ",
		`([*])`, " $1 ",
		`([\]\[(){}<>])`, " $1 ",
		`(--)`, " $1 ",
	)
	afterPadding = rewrites(
		`([»”’])`, " $1 ",
		`('')`, " $1 ",
		`(")`, " '' ",
		`([^' ])('[sS]|'[mM]|'[dD]|') `, "$1 $2 ",
		`([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) `, "$1 $2 ",
		`(?i)\b(can)(not)\b`, " $1 $2 ",
		`(?i)\b(d)('ye)\b`, " $1 $2 ",
		`(?i)\b(gim)(me)\b`, " $1 $2 ",
		`(?i)\b(gon)(na)\b`, " $1 $2 ",
		`(?i)\b(got)(ta)\b`, " $1 $2 ",
		`(?i)\b(lem)(me)\b`, " $1 $2 ",
		`(?i)\b(more)('n)\b`, " $1 $2 ",
		`(?i)\b(wan)(na)\s`, " $1 $2 ",
		`(?i) ('t)(is)\b`, " $1 $2 ",
		`(?i) ('t)(was)\b`, " $1 $2 ",
	)
)

// treebankWords splits a text into sentences and those into words.
func treebankWords(s string) ([]string, error) {
	parts, err := splitSentences(s)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range parts {
		for _, r := range beforePadding {
			p = r.pattern.ReplaceAllString(p, r.to)
		}
		p = " " + p + " "
		for _, r := range afterPadding {
			p = r.pattern.ReplaceAllString(p, r.to)
		}
		out = append(out, strings.Fields(p)...)
	}
	return out, nil
}

// isUpper and isLower are Python's: at least one cased letter, and none of the
// other case.
func isUpper(s string) bool { return onlyCase(s, unicode.IsUpper, unicode.IsLower) }
func isLower(s string) bool { return onlyCase(s, unicode.IsLower, unicode.IsUpper) }

func onlyCase(s string, want, other func(rune) bool) bool {
	found := false
	for _, r := range s {
		if other(r) || unicode.IsTitle(r) {
			return false
		}
		found = found || want(r)
	}
	return found
}
