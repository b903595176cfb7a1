package ifeval

import (
	"strings"

	"ais_bench/evaluators/pytext"
)

// syllables estimates the syllables of a lower-case English word by its vowel
// groups: a final e is silent unless it follows a consonant and l, so are the e
// of -es and -ed where nothing asks for it, and vowels that do not melt (ia, io,
// eo, ua …) count twice. Words with digits have none. It agrees with a
// pronunciation dictionary on most words, not on all.
func syllables(w string) int {
	if strings.IndexFunc(w, pytext.IsDigit) >= 0 {
		return 0
	}
	if n, ok := irregularSyllables[w]; ok {
		return n
	}
	n := 0
	for i := 0; i < len(w); i++ {
		if isVowel(w, i) && (i == 0 || !isVowel(w, i-1) || hiatus(w, i)) {
			n++
		}
	}
	switch {
	case n < 2:
	case strings.HasSuffix(w, "e"):
		l := len(w)
		consonantLE := l > 2 && w[l-2] == 'l' && !isVowel(w, l-3)
		if !consonantLE && !isVowel(w, l-2) {
			n--
		}
	case strings.HasSuffix(w, "es") && len(w) > 3 && !strings.ContainsRune("sxzcgaeiou", rune(w[len(w)-3])) && !sibilantBefore(w[:len(w)-2]):
		if !(len(w) > 4 && w[len(w)-3] == 'l' && !isVowel(w, len(w)-4)) {
			n--
		}
	case strings.HasSuffix(w, "ed") && len(w) > 3 && !strings.ContainsRune("tdaeiou", rune(w[len(w)-3])):
		if !(len(w) > 4 && w[len(w)-3] == 'l' && !isVowel(w, len(w)-4)) {
			n--
		}
	}
	return max(n, 1)
}

// sibilantBefore reports whether -es is a syllable of its own: dishes, churches.
func sibilantBefore(stem string) bool {
	return strings.HasSuffix(stem, "sh") || strings.HasSuffix(stem, "ch")
}

// hiatus reports whether the vowel at i begins a syllable although a vowel
// stands before it.
func hiatus(w string, i int) bool {
	pair := w[i-1 : i+1]
	rest := w[i+1:]
	switch pair {
	case "ia":
		return !strings.HasPrefix(rest, "l") || i < 2 || !strings.ContainsRune("ct", rune(w[i-2]))
	case "io":
		return !(i >= 2 && strings.ContainsRune("tscxg", rune(w[i-2])) && (strings.HasPrefix(rest, "n") || strings.HasPrefix(rest, "u")))
	case "eo", "iu", "uo", "ii":
		return true
	case "ua":
		return i < 2 || w[i-2] != 'q' && w[i-2] != 'g'
	case "ea":
		return strings.HasSuffix(w, "eate") || strings.HasSuffix(w, "eation") || strings.HasPrefix(w, "rea") && strings.HasPrefix(rest, "ct")
	case "ie":
		return rest == "t" || rest == "ty" || strings.HasPrefix(rest, "nc") || strings.HasPrefix(rest, "nt")
	case "ue":
		return strings.HasPrefix(rest, "nt") || strings.HasPrefix(rest, "nc") || rest == "l"
	case "yi", "ye", "ya", "yo":
		return true
	}
	return false
}

// isVowel takes y for one except at the start of a word.
func isVowel(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return i > 0 && !(isPlainVowel(w[i-1]) && i+1 < len(w) && isPlainVowel(w[i+1]))
	}
	return false
}

func isPlainVowel(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }

// irregularSyllables are frequent words that the rules get wrong.
var irregularSyllables = map[string]int{
	"area": 3, "being": 2, "business": 2, "chocolate": 2, "every": 2, "everyone": 3, "everything": 3, "family": 3, "friend": 1, "friends": 1,
	"idea": 3, "ideas": 3, "maybe": 2, "people": 2, "quiet": 2, "real": 1, "really": 2, "science": 2, "something": 2, "someone": 2,
	"sometimes": 2, "therefore": 2, "create": 2, "creates": 2, "created": 3, "lion": 2, "poem": 2, "poet": 2, "doing": 2, "going": 2,
	"seeing": 2, "said": 1, "theory": 3, "video": 3, "radio": 3, "museum": 3, "ocean": 2, "average": 3, "evening": 2, "different": 3,
	"interesting": 4, "world": 1, "fire": 1, "hour": 1, "our": 1, "the": 1, "somewhere": 2, "lonely": 2, "safely": 2, "homework": 2, "sometime": 2,
}
