package ifeval

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ais_bench/evaluators/pytext"
)

// wordRules look at single words and their order.
var wordRules = map[string]rule{
	"words:alphabet": func(_ *arguments, r string) bool {
		words := plainWords(strings.ToLower(r))
		if len(words) == 0 {
			return false
		}
		want := first(words[0])
		for _, w := range words {
			if want < 'a' || want > 'z' || first(w) != want {
				return false
			}
			if want++; want > 'z' {
				want = 'a'
			}
		}
		return true
	},
	"words:vowel": func(_ *arguments, r string) bool {
		r = strings.ToLower(pytext.Strip(r))
		if strings.Contains(r, "\n") {
			return false
		}
		n := 0
		for _, v := range "aeiou" {
			if strings.ContainsRune(r, v) {
				n++
			}
		}
		return n <= 3
	},
	"words:consonants": func(_ *arguments, r string) bool {
		for _, w := range pytext.Fields(strings.ToLower(r)) {
			cluster := false
			for i := 0; i+1 < len(w); i++ {
				cluster = cluster || isConsonant(w[i]) && isConsonant(w[i+1])
			}
			if !cluster {
				return false
			}
		}
		return true
	},
	"words:palindrome": func(_ *arguments, r string) bool {
		n := 0
		for _, w := range plainWords(strings.ToLower(r)) {
			if utf8.RuneCountInString(w) >= 5 && w == reversed(w) {
				n++
			}
		}
		return n >= 10
	},
	"words:prime_lengths": func(_ *arguments, r string) bool {
		for _, w := range plainWords(r) {
			if !isPrime(utf8.RuneCountInString(w)) {
				return false
			}
		}
		return true
	},
	"words:start_verb": func(a *arguments, r string) bool {
		words := a.words(r)
		return len(words) > 0 && isVerb(strings.ToLower(words[0]))
	},
	"words:repeats": func(a *arguments, r string) bool {
		most := a.number("small_n")
		seen := map[string]int{}
		for _, w := range plainWords(strings.ToLower(r)) {
			if seen[w]++; seen[w] > most {
				return false
			}
		}
		return true
	},
	"words:odd_even_syllables": func(_ *arguments, r string) bool {
		last := -1
		for _, w := range plainWords(strings.ToLower(r)) {
			odd := syllables(w) % 2
			if odd == last {
				return false
			}
			last = odd
		}
		return true
	},
	"words:last_first": func(a *arguments, r string) bool {
		parts := a.sentences(r)
		for i := 0; i+1 < len(parts); i++ {
			end := pytext.Fields(strings.TrimRight(parts[i], pytext.Punctuation+" "))
			begin := pytext.Fields(strings.TrimLeft(parts[i+1], pytext.Punctuation+" "))
			if len(end) == 0 || len(begin) == 0 || !sameLower(end[len(end)-1], begin[0]) {
				return false
			}
		}
		return true
	},
	"words:paragraph_last_first": func(_ *arguments, r string) bool {
		for _, p := range strings.Split(strings.ToLower(r), "\n") {
			words := pytext.Fields(bare(pytext.Strip(p)))
			if n := len(words); n > 0 && words[0] != words[n-1] {
				return false
			}
		}
		return true
	},
	"words:no_consecutive": func(_ *arguments, r string) bool {
		words := plainWords(strings.ToLower(r))
		for i := 0; i+1 < len(words); i++ {
			if first(words[i]) == first(words[i+1]) {
				return false
			}
		}
		return true
	},
	// A mark between words is not a word here …
	"words:keywords_specific_position": func(a *arguments, r string) bool {
		keyword, n, m := pytext.Strip(a.text("keyword")), a.positive("n"), a.positive("m")
		parts := a.sentences(r)
		if n == 0 || m == 0 || len(parts) < n {
			return false
		}
		var words []string
		for _, w := range a.words(parts[n-1]) {
			if strings.IndexFunc(w, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }) >= 0 {
				words = append(words, w)
			}
		}
		return len(words) >= m && sameLower(words[m-1], keyword)
	},
	// … and here it is, except for one at the end.
	"words:words_position": func(a *arguments, r string) bool {
		keyword := strings.ToLower(pytext.Strip(a.text("keyword")))
		words := a.words(r)
		if n := len(words); n > 0 && strings.Contains(pytext.Punctuation, words[n-1]) {
			words = words[:n-1]
		}
		n := len(words)
		return n >= 2 && strings.ToLower(words[1]) == keyword && strings.ToLower(words[n-2]) == keyword
	},
}

// plainWords are the words of a text whose punctuation is deleted.
func plainWords(s string) []string { return pytext.Fields(pytext.DeletePunctuation(s)) }

func first(w string) rune {
	r, _ := utf8.DecodeRuneInString(w)
	return r
}

func reversed(s string) string {
	r := []rune(s)
	for a, b := 0, len(r)-1; a < b; a, b = a+1, b-1 {
		r[a], r[b] = r[b], r[a]
	}
	return string(r)
}

func isConsonant(c byte) bool {
	return 'a' <= c && c <= 'z' && c != 'a' && c != 'e' && c != 'i' && c != 'o' && c != 'u'
}

// isPrime knows the primes below a hundred; no word is longer.
func isPrime(n int) bool {
	if n < 2 || n > 99 {
		return false
	}
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}

// sameLower compares lower-cased texts, as the original does; that is narrower
// than Unicode folding (strings.EqualFold).
func sameLower(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b
}
