package textmetrics

import "strings"

// porterStem is Porter's algorithm (1980) with the departures that NLTK makes
// in its default mode, which is what rouge_score uses: a table of irregular
// forms, "ies"/"ied" of short words, "y" to "i" only behind a consonant, and the
// extra suffixes "alli" chains, "fulli" and "logi".
func porterStem(w string) string {
	if s, ok := irregular[w]; ok {
		return s
	}
	if len(w) <= 2 {
		return w
	}
	w = step1a(w)
	w = step1b(w)
	w = step1c(w)
	w = step2(w)
	w = replaceSuffix(w, step3Rules, positive)
	w = step4(w)
	return step5(w)
}

var irregular = map[string]string{
	"sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing", "cannings": "canning", "canning": "canning",
	"howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}

func isConsonant(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !isConsonant(w, i-1)
	}
	return true
}

// measure counts the vowel-consonant sequences.
func measure(w string) int {
	m, vowel := 0, false
	for i := range len(w) {
		c := isConsonant(w, i)
		if c && vowel {
			m++
		}
		vowel = !c
	}
	return m
}

func positive(stem string) bool { return measure(stem) > 0 }

func hasVowel(w string) bool {
	for i := range len(w) {
		if !isConsonant(w, i) {
			return true
		}
	}
	return false
}

func doubleConsonant(w string) bool {
	n := len(w)
	return n >= 2 && w[n-1] == w[n-2] && isConsonant(w, n-1)
}

// endsCVC: consonant, vowel, consonant other than w, x, y; or, in NLTK, a
// two-letter vowel-consonant word.
func endsCVC(w string) bool {
	n := len(w)
	if n >= 3 && isConsonant(w, n-3) && !isConsonant(w, n-2) && isConsonant(w, n-1) && !strings.ContainsRune("wxy", rune(w[n-1])) {
		return true
	}
	return n == 2 && !isConsonant(w, 0) && isConsonant(w, 1)
}

type suffixRule struct{ from, to string }

// replaceSuffix applies the first rule whose suffix matches; when its condition
// fails the word stays.
func replaceSuffix(w string, rules []suffixRule, condition func(string) bool) string {
	for _, r := range rules {
		if stem, ok := strings.CutSuffix(w, r.from); ok {
			if condition(stem) {
				return stem + r.to
			}
			return w
		}
	}
	return w
}

func step1a(w string) string {
	if strings.HasSuffix(w, "ies") && len(w) == 4 {
		return w[:1] + "ie"
	}
	return replaceSuffix(w, []suffixRule{{"sses", "ss"}, {"ies", "i"}, {"ss", "ss"}, {"s", ""}}, func(string) bool { return true })
}

func step1b(w string) string {
	if strings.HasSuffix(w, "ied") {
		if len(w) == 4 {
			return w[:1] + "ie"
		}
		return w[:len(w)-3] + "i"
	}
	if stem, ok := strings.CutSuffix(w, "eed"); ok {
		if positive(stem) {
			return stem + "ee"
		}
		return w
	}
	for _, suffix := range [...]string{"ed", "ing"} {
		stem, ok := strings.CutSuffix(w, suffix)
		if !ok {
			continue
		}
		if !hasVowel(stem) {
			continue
		}
		switch {
		case strings.HasSuffix(stem, "at"), strings.HasSuffix(stem, "bl"), strings.HasSuffix(stem, "iz"):
			return stem + "e"
		case doubleConsonant(stem):
			if strings.ContainsRune("lsz", rune(stem[len(stem)-1])) {
				return stem
			}
			return stem[:len(stem)-1]
		case measure(stem) == 1 && endsCVC(stem):
			return stem + "e"
		}
		return stem
	}
	return w
}

func step1c(w string) string {
	if stem, ok := strings.CutSuffix(w, "y"); ok && len(stem) > 1 && isConsonant(stem, len(stem)-1) {
		return stem + "i"
	}
	return w
}

func step2(w string) string {
	if stem, ok := strings.CutSuffix(w, "alli"); ok && positive(stem) {
		return step2(stem + "al")
	}
	if stem, ok := strings.CutSuffix(w, "logi"); ok && !strings.HasSuffix(w, "fulli") { // the measure counts the l
		if positive(stem + "l") {
			return stem + "log"
		}
		return w
	}
	return replaceSuffix(w, step2Rules, positive)
}

var step2Rules = []suffixRule{{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"bli", "ble"}, {"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"}, {"fulli", "ful"}}

var step3Rules = []suffixRule{{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}

func step4(w string) string {
	for _, suffix := range [...]string{"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"} {
		stem, ok := strings.CutSuffix(w, suffix)
		if !ok {
			continue
		}
		if suffix == "ion" && !(strings.HasSuffix(stem, "s") || strings.HasSuffix(stem, "t")) {
			return w
		}
		if measure(stem) > 1 {
			return stem
		}
		return w
	}
	return w
}

func step5(w string) string {
	if stem, ok := strings.CutSuffix(w, "e"); ok {
		if m := measure(stem); m > 1 || m == 1 && !endsCVC(stem) {
			w = stem
		}
	}
	if strings.HasSuffix(w, "ll") && measure(w[:len(w)-1]) > 1 {
		return w[:len(w)-1]
	}
	return w
}
