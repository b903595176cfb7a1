package lmeval

import (
	"regexp"
	"strings"
	"unicode"

	"ais_bench/evaluators/pytext"
)

var mmluPro = regexp.MustCompile(`answer is \(?([ABCDEFGHIJ])\)?`)

// MMLUPro is the custom-extract filter: the letter of the first "answer is (X)".
func MMLUPro(text string) string {
	if !strings.Contains(text, "answer is ") {
		return Invalid
	}
	return firstGroup(mmluPro, text)
}

// AfterPhrase is (?<=phrase)(.*)(?=.): the rest of the line behind the first
// occurrence of phrase that has one, without the line's last character, because
// the look-ahead wants a character that the capture may not have.
func AfterPhrase(text, phrase string) string {
	for {
		i := strings.Index(text, phrase)
		if i < 0 {
			return Invalid
		}
		text = text[i+len(phrase):]
		line := []rune(pytext.FirstLine(text))
		if len(line) > 0 {
			return pytext.Strip(string(line[:len(line)-1]))
		}
	}
}

// GPQAStrict is gpqa's strict-match.
func GPQAStrict(text string) string { return AfterPhrase(text, "The answer is ") }

// BBHCoT is bbh_cot_fewshot's get-answer.
func BBHCoT(text string) string { return AfterPhrase(text, "the answer is ") }

// MMLUGenerative is mmlu_generative's filter: the first line.
func MMLUGenerative(text string) string { return pytext.FirstLine(text) }

// ExactMatch is the exact_match metric with the given things ignored.
type ExactMatch struct {
	IgnoreCase        bool
	IgnorePunctuation bool
	// Delete removes what regexes_to_ignore match; nil for none.
	Delete func(string) string
}

// Equal compares a prediction with one reference.
func (m ExactMatch) Equal(pred, ref string) bool { return m.key(pred) == m.key(ref) }

func (m ExactMatch) key(s string) string {
	if m.Delete != nil {
		s = m.Delete(s)
	}
	if m.IgnoreCase {
		s = strings.ToLower(s)
	}
	if m.IgnorePunctuation {
		s = pytext.DeletePunctuation(s)
	}
	return s
}

// choicePattern is (\([A-Z]\)).
var choicePattern = regexp.MustCompile(`\([A-Z]\)`)

// ChoiceFilter is MultiChoiceRegexFilter: a bracketed letter; else the text of
// a choice; else a letter behind a colon.
type ChoiceFilter struct {
	Last              bool // group_select −1 instead of 0
	IgnoreCase        bool
	IgnorePunctuation bool
}

// Find extracts "(X)", or Invalid.
func (f ChoiceFilter) Find(text string, choices []string) string {
	if m := f.pick(choicePattern.FindAllString(text, -1)); m != "" {
		return m
	}
	folded := f.fold(text)
	letters := map[string]string{}
	var folds []string
	for i, c := range choices {
		key := f.fold(pytext.Strip(c))
		folds = append(folds, key)
		letters[key] = "(" + string(rune('A'+i)) + ")"
	}
	if m := f.pick(findAny(folded, folds)); m != "" {
		if l, ok := letters[m]; ok {
			return l
		}
		return m
	}
	var behind []string
	for at := 0; at < len(text); at++ {
		if text[at] != ':' {
			continue
		}
		rest := pytext.StripLeft(text[at+1:])
		if rest != "" && 'A' <= rest[0] && int(rest[0]-'A') < len(choices) {
			behind = append(behind, "("+rest[:1]+")")
		}
	}
	if m := f.pick(behind); m != "" {
		return m
	}
	return Invalid
}

func (f ChoiceFilter) pick(all []string) string {
	if len(all) == 0 {
		return ""
	}
	m := all[0]
	if f.Last {
		m = all[len(all)-1]
	}
	return pytext.Strip(m)
}

func (f ChoiceFilter) fold(s string) string {
	if f.IgnoreCase {
		s = strings.ToLower(s)
	}
	if f.IgnorePunctuation {
		s = strings.Map(func(r rune) rune {
			if unicode.IsPunct(r) {
				return -1
			}
			return r
		}, s)
	}
	return s
}

// findAny is re.findall of an alternation of literals: at each position the
// first of words that matches there.
func findAny(text string, words []string) []string {
	var found []string
	for at := 0; at < len(text); {
		hit := ""
		for _, w := range words {
			if w != "" && strings.HasPrefix(text[at:], w) {
				hit = w
				break
			}
		}
		if hit == "" {
			at++
			continue
		}
		found = append(found, hit)
		at += len(hit)
	}
	return found
}

var inputChoices = regexp.MustCompile(`\([A-Z]\)([^\n^(]*)`)

// ChoicesOf are the option texts behind (A), (B) … of a question.
func ChoicesOf(question string) []string {
	var out []string
	for _, m := range inputChoices.FindAllStringSubmatch(question, -1) {
		out = append(out, m[1])
	}
	return out
}

// NQOpen is the metric of nq_open: the articles "The ", "the ", "An ", "A ", "a "
// and "an " are deleted at word starts before case and punctuation are.
var NQOpen = ExactMatch{IgnoreCase: true, IgnorePunctuation: true, Delete: func(s string) string {
	return articles.ReplaceAllString(s, "")
}}

var articles = regexp.MustCompile(`\b(?:The |the |An |A |a |an )`)
