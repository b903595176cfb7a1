package ifeval

import (
	"strings"

	"ais_bench/evaluators/pytext"
)

// sentenceRules look at sentences one after another.
var sentenceRules = map[string]rule{
	// Every sentence has more alliterating words than the one before.
	"sentence:alliteration_increment": func(a *arguments, r string) bool {
		last := -1
		for _, s := range a.sentences(r) {
			n := alliterating(strings.ToLower(s))
			if n <= last {
				return false
			}
			last = n
		}
		return true
	},
	"sentence:keyword": func(a *arguments, r string) bool {
		word, n := strings.ToLower(a.text("word")), a.positive("N")
		parts := a.sentences(r)
		return n > 0 && len(parts) >= n && containsWord(strings.ToLower(parts[n-1]), word)
	},
	"sentence:increment": func(a *arguments, r string) bool {
		step := a.number("small_n")
		last := -1
		for _, s := range a.sentences(r) {
			n := len(plainWords(s))
			if last >= 0 && n != last+step {
				return false
			}
			last = n
		}
		return true
	},
}

// alliterating counts the words that share their first letter with a
// neighbour: a run of n counts n.
func alliterating(s string) int {
	total, run := 0, 1
	var before rune
	for _, w := range pytext.Fields(s) {
		w = strings.TrimLeft(w, pytext.Punctuation+" ")
		if w == "" {
			continue
		}
		switch c := first(w); {
		case c != before:
			run = 1
		case run == 1:
			total += 2
			run = 2
		default:
			total++
			run++
		}
		before = first(w)
	}
	return total
}
