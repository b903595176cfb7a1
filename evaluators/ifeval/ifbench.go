package ifeval

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"ais_bench/evaluators/pytext"
)

// furtherRules are IFBench's 58 instructions (Pyatkin et al., 2025). What counts
// is what its published checks accept, quirks included, since its scores are
// made with them; two that ask a statistical tagger and a pronunciation
// dictionary there are decided by rules here (verbs.go, syllables.go).
var furtherRules = merged(countRules, ratioRules, wordRules, sentenceRules, layoutRules, answerRules)

func merged(groups ...map[string]rule) map[string]rule {
	all := map[string]rule{}
	for _, g := range groups {
		maps.Copy(all, g)
	}
	return all
}

// FurtherIDs lists IFBench's own instructions in order of their ids.
func FurtherIDs() []string { return slices.Sorted(maps.Keys(furtherRules)) }

// NamesKey is the argument that count:person_names needs beside the published
// ones: the prompt, which holds the list of names.
const NamesKey = "prompt"

// countRules count things.
var countRules = map[string]rule{
	"count:word_count_range": func(a *arguments, r string) bool {
		low, high, n := a.number("min_words"), a.number("max_words"), countWords(r)
		return low <= n && n <= high
	},
	"count:unique_word_count": func(a *arguments, r string) bool {
		seen := map[string]bool{}
		for _, w := range pytext.Fields(strings.ToLower(r)) {
			seen[bare(w)] = true
		}
		return len(seen) >= a.number("N")
	},
	// Distinct spellings count: "And" beside "and" are two.
	"count:conjunctions": func(a *arguments, r string) bool {
		seen := map[string]bool{}
		for _, w := range pytext.Fields(r) {
			switch strings.ToLower(bare(w)) {
			case "for", "and", "nor", "but", "or", "yet", "so":
				seen[w] = true
			}
		}
		return len(seen) >= a.number("small_n")
	},
	"count:person_names": func(a *arguments, r string) bool {
		want, found := a.number("N"), 0
		for _, name := range promptNames(a.text(NamesKey)) {
			if containsWord(r, name) {
				found++
			}
		}
		return found >= want
	},
	// Punctuation goes first, so that 1,000.50 is one number.
	"count:numbers": func(a *arguments, r string) bool {
		return runs(pytext.DeletePunctuation(r), pytext.IsDigit) == a.number("N")
	},
	// The interrobang is needed besides a question and an exclamation mark.
	"count:punctuation": func(_ *arguments, r string) bool {
		rest := r
		switch {
		case strings.Contains(r, "?!"):
			rest = strings.Replace(r, "?!", "", 1)
		case strings.Contains(r, "!?"):
			rest = strings.Replace(r, "!?", "", 1)
		case !strings.Contains(r, "‽"):
			return false
		}
		for _, mark := range ".,!?;:" {
			if !strings.ContainsRune(rest, mark) {
				return false
			}
		}
		return true
	},
	"count:words_japanese": func(a *arguments, r string) bool {
		n := a.positive("N")
		for i, w := range pytext.Fields(r) {
			w = bare(w)
			if n == 0 || (i+1)%n != 0 || w == "" || strings.IndexFunc(w, isNoDigit) < 0 {
				continue
			}
			if strings.IndexFunc(w, isJapanese) < 0 {
				return false
			}
		}
		return n > 0
	},
	"count:pronouns": func(a *arguments, r string) bool {
		n := 0
		for _, w := range a.words(strings.ToLower(strings.ReplaceAll(r, "/", " "))) {
			if pronouns[w] {
				n++
			}
		}
		return n >= a.number("N")
	},
	"count:keywords_multiple": func(a *arguments, r string) bool {
		r = strings.ToLower(r)
		ok := true
		for i, times := range [...]int{1, 2, 3, 5, 7} {
			word := strings.ToLower(pytext.Strip(a.text("keyword" + string(rune('1'+i)))))
			ok = ok && word != "" && strings.Count(r, word) == times
		}
		return ok
	},
}

// ratioRules compare shares.
var ratioRules = map[string]rule{
	"ratio:stop_words": func(a *arguments, r string) bool {
		limit := a.share("percentage")
		words, stop := 0, 0
		for _, w := range strings.FieldsFunc(strings.ToLower(r), func(c rune) bool { return !isWordRune(c) }) {
			words++
			if isStopWord(w) {
				stop++
			}
		}
		return words > 0 && float64(stop)/float64(words)*100 <= limit
	},
	"ratio:sentence_type": func(a *arguments, r string) bool {
		declarative, interrogative, _ := a.endings(r)
		return declarative == 2*interrogative
	},
	"ratio:sentence_balance": func(a *arguments, r string) bool {
		declarative, interrogative, exclamatory := a.endings(r)
		return declarative == interrogative && interrogative == exclamatory
	},
	// Three sentences of the same length; that their words differ is not checked.
	"ratio:sentence_words": func(a *arguments, r string) bool {
		parts := a.sentences(r)
		if len(parts) != 3 {
			return false
		}
		length := func(i int) int { return len([]rune(pytext.Strip(parts[i]))) }
		return length(0) == length(1) && length(1) == length(2)
	},
	// Trigrams are of characters.
	"ratio:overlap": func(a *arguments, r string) bool {
		want := a.share("percentage")
		mine, theirs := trigrams(r), trigrams(a.text("reference_text"))
		if len(mine) == 0 {
			return false
		}
		common := 0
		for g := range mine {
			if theirs[g] {
				common++
			}
		}
		got := float64(common) / float64(len(mine)) * 100
		return want-2 <= got && got <= want+2
	},
}

var pronouns = wordSet(`
	i me my mine myself we us our ours ourselves you your yours yourself yourselves
	he him his himself she her hers herself it its itself they them their theirs themselves
	this that these those who whom whose which what whoever whomever whatever whichever
	anybody anyone anything everybody everyone everything nobody nothing somebody someone something
	each either neither both all some any none`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// bare is a word without the ASCII punctuation around it.
func bare(w string) string { return strings.Trim(w, pytext.Punctuation+" ") }

// containsWord reports whether s holds word with no word character beside it.
func containsWord(s, word string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, after := []rune(s[:i]), []rune(s[i+len(word):])
		if (len(before) == 0 || !isWordRune(before[len(before)-1])) && (len(after) == 0 || !isWordRune(after[0])) {
			return true
		}
		from = i + 1
	}
}

// promptNames reads "… from this list of person names: Ann, Bob, Cy ." out of a
// prompt.
func promptNames(prompt string) []string {
	_, list, ok := strings.Cut(prompt, "list of person names:")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(list, ".")
	var names []string
	for _, n := range strings.Split(list, ",") {
		if n = strings.TrimSpace(n); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// runs counts the runs of characters of a class.
func runs(s string, is func(rune) bool) int {
	n, in := 0, false
	for _, r := range s {
		now := is(r)
		if now && !in {
			n++
		}
		in = now
	}
	return n
}

func trigrams(s string) map[[3]rune]bool {
	r := []rune(s)
	set := map[[3]rune]bool{}
	for i := 0; i+3 <= len(r); i++ {
		set[[3]rune(r[i:i+3])] = true
	}
	return set
}

func isNoDigit(r rune) bool  { return !unicode.IsDigit(r) }
func isJapanese(r rune) bool { return 0x3040 <= r && r <= 0x30ff || 0x4e00 <= r && r <= 0x9fff }

// positive is a number of at least 1; 0 after an error.
func (a *arguments) positive(key string) int {
	n := a.number(key)
	if n < 1 {
		a.fail(key, "must be at least 1")
		return 0
	}
	return n
}

// share is a percentage, which need not be whole.
func (a *arguments) share(key string) float64 {
	if v, ok := a.kwargs[key].(float64); ok {
		return v
	}
	return float64(a.number(key))
}

func (a *arguments) sentences(r string) []string {
	parts, err := splitSentences(r)
	if err != nil && a.err == nil {
		a.err = err
	}
	return parts
}

func (a *arguments) words(r string) []string {
	words, err := treebankWords(r)
	if err != nil && a.err == nil {
		a.err = err
	}
	return words
}

// endings counts sentences by their last character.
func (a *arguments) endings(r string) (period, question, exclamation int) {
	for _, s := range a.sentences(r) {
		switch {
		case strings.HasSuffix(s, "."):
			period++
		case strings.HasSuffix(s, "?"):
			question++
		case strings.HasSuffix(s, "!"):
			exclamation++
		}
	}
	return period, question, exclamation
}
