package ifeval

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/neurosnap/sentences"
	"github.com/neurosnap/sentences/data"
)

// Sentences are split by Punkt (Kiss and Strunk, 2006) with the published
// English parameters, deciding as NLTK's PunktSentenceTokenizer does. The
// parameters come with the sentences library; its own decisions differ where
// Markdown or typographic quotes follow a full stop, which model replies are
// full of, and so the decisions are made here.

// punktParameters are loaded once, when a rule first needs them.
var punktParameters = sync.OnceValues(func() (*sentences.Storage, error) {
	b, err := data.Asset("data/english.json")
	if err != nil {
		return nil, fmt.Errorf("ifeval: load the sentence splitter: %w", err)
	}
	s, err := sentences.LoadTraining(b)
	if err != nil {
		return nil, fmt.Errorf("ifeval: load the sentence splitter: %w", err)
	}
	return s, nil
})

// Bits of the orthographic context: where, and with which case, the training
// text had a word.
const (
	orthoMidUpper = 1 << 2
	orthoUpper    = 1<<1 | 1<<2 | 1<<3
	orthoBegLower = 1 << 4
	orthoLower    = 1<<4 | 1<<5 | 1<<6
)

func splitSentences(text string) ([]string, error) {
	params, err := punktParameters()
	if err != nil {
		return nil, err
	}
	r := []rune(text)
	var out []string
	for _, s := range realign(r, sentenceSlices(r, params)) {
		if t := strings.TrimSpace(string(r[s[0]:s[1]])); t != "" {
			out = append(out, t)
		}
	}
	return out, nil
}

func isEnd(r rune) bool { return r == '.' || r == '?' || r == '!' }

// isNonWord are the characters that cannot be part of a word.
func isNonWord(r rune) bool { return strings.ContainsRune(`)";}]*:@'({[!?`, r) }

// startsWord is false for the characters that cannot begin a word.
func startsWord(r rune) bool { return !strings.ContainsRune("(\"`{[:;&#*@)}]-,", r) }

// candidate is a place where a sentence may end.
type candidate struct {
	at      int // of the end character
	tail    int // end of the text that decides with it: one mark, or space and the next word
	next    int // start of the next word, -1 when a mark follows
	wordBeg int // start of the word that the end character closes
}

// sentenceSlices cuts the text behind every candidate whose context holds a
// sentence break.
func sentenceSlices(r []rune, params *sentences.Storage) (slices [][2]int) {
	last := 0
	decide := func(c candidate) {
		context := append(append([]rune(nil), r[c.wordBeg:c.at+1]...), r[c.at+1:c.tail]...)
		if !hasBreak(context, params) {
			return
		}
		slices = append(slices, [2]int{last, c.at + 1})
		last = c.at + 1
		if c.next >= 0 {
			last = c.next
		}
	}
	// Of several candidates in one word only the last counts.
	var pending *candidate
	wordBeg, wordEnd := 0, 0
	for i, x := range r {
		if !isEnd(x) || i+1 >= len(r) {
			continue
		}
		c := candidate{at: i, next: -1}
		switch {
		case isNonWord(r[i+1]):
			c.tail = i + 2
		case unicode.IsSpace(r[i+1]):
			j := i + 1
			for j < len(r) && unicode.IsSpace(r[j]) {
				j++
			}
			if j == len(r) {
				continue
			}
			c.next = j
			for j < len(r) && !unicode.IsSpace(r[j]) {
				j++
			}
			c.tail = j
		default:
			continue
		}
		beg := wordBeg
		for k := i - 1; k > wordEnd; k-- { // a space at the very start of the gap does not count, as published
			if unicode.IsSpace(r[k]) {
				beg = k + 1
				break
			}
		}
		c.wordBeg = beg
		if pending != nil && wordEnd <= beg {
			decide(*pending)
		}
		pending, wordBeg, wordEnd = &c, beg, i
	}
	if pending != nil {
		decide(*pending)
	}
	end := len(r)
	for end > 0 && unicode.IsSpace(r[end-1]) {
		end--
	}
	if end > last {
		slices = append(slices, [2]int{last, end})
	}
	return slices
}

// realign moves closing quotes and brackets from the start of a sentence to the
// end of the one before.
func realign(r []rune, slices [][2]int) (out [][2]int) {
	shift := 0
	for i, s := range slices {
		s[0] += shift
		shift = 0
		if i+1 < len(slices) {
			next := slices[i+1]
			j := next[0]
			for j < next[1] && strings.ContainsRune(`"')]}`, r[j]) {
				j++
			}
			closes := j
			for j < next[1] && unicode.IsSpace(r[j]) {
				j++
			}
			if closes > next[0] && (j > closes || closes == next[1] || closes+1 < next[1] && r[closes] == '-' && r[closes+1] == '-') {
				s[1] = closes
				shift = j - next[0]
			}
		}
		if s[0] < s[1] {
			out = append(out, s)
		}
	}
	return out
}

// punktToken is a token with what the passes find out about it.
type punktToken struct {
	text                   string
	typ                    string // lower case, numbers as ##number##
	abbr, ellipsis, breaks bool
}

var (
	numericToken = regexp.MustCompile(`^-?[.,]?\p{Nd}[\p{Nd},.\-]*\.?$`)
	ellipsisTok  = regexp.MustCompile(`^\.\.+$`)
	initialTok   = regexp.MustCompile(`^[\p{L}_]\.$`)
)

func newToken(s string) punktToken {
	t := punktToken{text: s, typ: strings.ToLower(s)}
	if numericToken.MatchString(t.typ) {
		t.typ = "##number##"
	}
	return t
}

func (t punktToken) periodFinal() bool { return strings.HasSuffix(t.text, ".") }

func (t punktToken) noPeriod() string {
	if len(t.typ) > 1 {
		return strings.TrimSuffix(t.typ, ".")
	}
	return t.typ
}

func (t punktToken) noSentencePeriod() string {
	if t.breaks {
		return t.noPeriod()
	}
	return t.typ
}

func (t punktToken) first() rune {
	for _, r := range t.text {
		return r
	}
	return 0
}

// hasBreak reports whether a context is broken before its last token.
func hasBreak(context []rune, params *sentences.Storage) bool {
	var tokens []punktToken
	for _, line := range strings.Split(string(context), "\n") {
		tokens = append(tokens, punktTokens([]rune(line))...)
	}
	for i := range tokens {
		firstPass(&tokens[i], params)
	}
	for i := 0; i+1 < len(tokens); i++ {
		secondPass(&tokens[i], tokens[i+1], params)
		if tokens[i].breaks {
			return true
		}
	}
	return false
}

// firstPass classifies a token by itself.
func firstPass(t *punktToken, params *sentences.Storage) {
	switch {
	case t.text == "." || t.text == "?" || t.text == "!":
		t.breaks = true
	case ellipsisTok.MatchString(t.text):
		t.ellipsis = true
	case t.periodFinal() && !strings.HasSuffix(t.text, ".."):
		word := strings.ToLower(strings.TrimSuffix(t.text, "."))
		if params.AbbrevTypes.Has(word) || params.AbbrevTypes.Has(word[strings.LastIndexByte(word, '-')+1:]) {
			t.abbr = true
		} else {
			t.breaks = true
		}
	}
}

// secondPass reconsiders a token that ends in a period by the token after it.
func secondPass(t *punktToken, next punktToken, params *sentences.Storage) {
	if !t.periodFinal() {
		return
	}
	typ, nextTyp := t.noPeriod(), next.noSentencePeriod()
	initial := initialTok.MatchString(t.text)
	if params.Collocations.Has(typ + "," + nextTyp) {
		t.breaks, t.abbr = false, true
		return
	}
	starter := sentenceStarter(next, params)
	if (t.abbr || t.ellipsis) && !initial {
		if starter == yes || unicode.IsUpper(next.first()) && params.SentStarters.Has(nextTyp) {
			t.breaks = true
			return
		}
	}
	if initial || typ == "##number##" {
		switch {
		case starter == no:
			t.breaks, t.abbr = false, true
		case starter == unknown && initial && unicode.IsUpper(next.first()) && params.OrthoContext[nextTyp]&orthoLower == 0:
			t.breaks, t.abbr = false, true
		}
	}
}

type guess uint8

const (
	unknown guess = iota
	yes
	no
)

// sentenceStarter is the orthographic heuristic: does this token's case say
// that it begins a sentence?
func sentenceStarter(t punktToken, params *sentences.Storage) guess {
	if len(t.text) == 1 && strings.Contains(";:,.!?", t.text) {
		return no
	}
	seen := params.OrthoContext[t.noSentencePeriod()]
	switch first := t.first(); {
	case unicode.IsUpper(first) && seen&orthoLower != 0 && seen&orthoMidUpper == 0:
		return yes
	case unicode.IsLower(first) && (seen&orthoUpper != 0 || seen&orthoBegLower == 0):
		return no
	}
	return unknown
}

// multiPunct returns the length of dashes, dots or spaced dots at i, 0 for none.
func multiPunct(r []rune, i int) int {
	for _, c := range [...]rune{'-', '.'} {
		n := 0
		for i+n < len(r) && r[i+n] == c {
			n++
		}
		if n >= 2 {
			return n
		}
	}
	n := 0
	for i+n+1 < len(r) && r[i+n] == '.' && unicode.IsSpace(r[i+n+1]) {
		n += 2
	}
	if n >= 4 && i+n < len(r) && r[i+n] == '.' {
		return n + 1
	}
	if n >= 6 { // the last dot of the run closes it
		return n - 1
	}
	return 0
}

// punktTokens cuts a line into words and marks.
func punktTokens(r []rune) (tokens []punktToken) {
	for i := 0; i < len(r); {
		if unicode.IsSpace(r[i]) {
			i++
			continue
		}
		n := multiPunct(r, i)
		if n == 0 {
			n = 1
			if startsWord(r[i]) {
				for i+n < len(r) && !wordEnds(r, i+n) {
					n++
				}
			}
		}
		tokens = append(tokens, newToken(string(r[i:i+n])))
		i += n
	}
	return tokens
}

// wordEnds reports whether a word that reaches i ends there.
func wordEnds(r []rune, i int) bool {
	stop := func(i int) bool {
		return i >= len(r) || unicode.IsSpace(r[i]) || isNonWord(r[i]) || multiPunct(r, i) > 0
	}
	return stop(i) || r[i] == ',' && stop(i+1)
}
