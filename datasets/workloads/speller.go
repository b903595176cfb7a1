package workloads

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// speller writes texts of an exact number of tokens.
//
// The tools it follows take consecutive ids of the vocabulary, decode them and
// encode the text again, because a server counts tokens of the text and not the
// ids it came from; a text that came out too long is cut, one too short is
// lengthened, at most ten times. Done a prompt at a time this means encoding
// everything several times over. The ids of all prompts are however windows of
// one ring, so the speller decodes and encodes the ring once and notes where its
// tokens end. A prompt is then a piece of the ring's text: only its two ends are
// encoded again, until they agree with the ring's tokens (both ends of a piece can
// split otherwise than inside the ring). Where the text of the ring cannot be
// matched with its tokens the plain loop runs instead.
//
// Ids that are not text on their own (special tokens, unused ids, bytes of an
// unfinished character) are left out of the ring: they cannot survive the way
// through text.
type speller struct {
	tok  Tokenizer
	ids  []int    // the ring
	strs []string // token strings by id; nil without a local vocabulary

	text string
	off  []int32 // off[k]: where ring token k begins in text; the ring is laid out once and a bit
	cuts cuts    // ends of the tokens that encoding text gives
	fast bool

	checkEvery int // of the pieces cut from the ring, one in so many is encoded as a whole
}

// cuts are the ends of tokens in a text. end is ascending; whole is false
// where a token ends inside a character, which is no place to cut.
type cuts struct {
	end   []int32
	whole []bool
}

const (
	rounds      = 10  // corrections before a length is given up, as in vLLM
	windowBytes = 384 // text encoded again at a piece's ends
	agreeing    = 8   // token ends in a row that must coincide to call two encodings in step
)

var errNoVocabulary = errors.New("the tokenizer has no ordinary tokens to make prompts of")

// fullyChecked is the number of tokens in all up to which every text is encoded
// as a whole to see that its length is right; beyond it, one in sampleEvery.
const (
	fullyChecked = 4 << 20
	sampleEvery  = 512
)

// newSpeller prepares texts of up to maxTokens tokens, about n of them.
func newSpeller(ctx context.Context, tok Tokenizer, maxTokens, n int) (*speller, error) {
	s := &speller{tok: tok, checkEvery: 1}
	if maxTokens*n > fullyChecked {
		s.checkEvery = sampleEvery
	}
	special := make(map[int]bool)
	for _, id := range tok.SpecialIDs() {
		special[id] = true
	}
	if 2*len(special) < tok.VocabSize() {
		s.spellVocabulary(special)
	} else {
		// A server's vocabulary is not shown: only some ids are known, and asking for
		// the string of each is a call.
		for id := range tok.VocabSize() {
			if !special[id] {
				s.ids = append(s.ids, id)
			}
		}
	}
	if len(s.ids) == 0 {
		return nil, errNoVocabulary
	}
	if s.strs == nil {
		return s, ctx.Err()
	}
	for extra := maxTokens + maxTokens/4 + 1024; extra < 8*maxTokens+4096; extra *= 2 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.layOut(len(s.ids) + extra)
		if !s.fast {
			break
		}
		// The last place a piece can start must still have maxTokens behind it.
		if len(s.cuts.end)-s.cuts.after(s.off[len(s.ids)]) > maxTokens+256 {
			return s, nil
		}
	}
	s.fast, s.text, s.off, s.cuts = false, "", nil, cuts{}
	return s, nil
}

// spellVocabulary finds the string of every id. A decoder may treat the first
// token of a text specially (SentencePiece drops its space), so strings are read
// behind another token.
func (s *speller) spellVocabulary(special map[int]bool) {
	anchor := s.anchor(special)
	lead := ""
	var first []int
	if anchor >= 0 {
		first = []int{anchor}
		lead = s.tok.Decode(first, false)
	}
	s.strs = make([]string, s.tok.VocabSize())
	parallel(len(s.strs), func(lo, hi int) {
		pair := append([]int(nil), first...)
		pair = append(pair, 0)
		for id := lo; id < hi; id++ {
			pair[len(pair)-1] = id
			if t := s.tok.Decode(pair, false); strings.HasPrefix(t, lead) {
				s.strs[id] = t[len(lead):]
			}
		}
	})
	// A normalizer may compose a combining mark with the letter before it, or map
	// a letter to another; such text does not come back as it went in.
	survives := make([]bool, len(s.strs))
	parallel(len(s.strs), func(lo, hi int) {
		for id := lo; id < hi; id++ {
			if t := s.strs[id]; t != "" && !special[id] && !strings.ContainsRune(t, utf8.RuneError) {
				first, _ := utf8.DecodeRuneInString(t)
				survives[id] = !unicode.Is(unicode.M, first) && s.tok.Decode(s.tok.Encode("a"+t, false), false) == "a"+t
			}
		}
	})
	for id, ok := range survives {
		if ok {
			s.ids = append(s.ids, id)
		}
	}
}

// anchor is an ordinary token to decode others behind, -1 when there is none.
func (s *speller) anchor(special map[int]bool) int {
	for _, id := range s.tok.Encode("a", false) {
		if !special[id] && id < s.tok.VocabSize() && s.tok.Decode([]int{id}, false) != "" {
			return id
		}
	}
	return -1
}

// layOut writes n tokens of the ring one after the other and encodes the text.
func (s *speller) layOut(n int) {
	var b strings.Builder
	s.off = make([]int32, n+1)
	for k := range n {
		s.off[k] = int32(b.Len())
		b.WriteString(s.strs[s.ids[k%len(s.ids)]])
	}
	s.off[n] = int32(b.Len())
	s.text = b.String()
	s.cuts, s.fast = s.align(s.tok.Encode(s.text, false), s.text, 0)
}

// align finds where each of ids ends in text; base is added to every end. It
// fails when the tokens do not spell the text (a normalizer changed it).
func (s *speller) align(ids []int, text string, base int) (cuts, bool) {
	c := cuts{end: make([]int32, len(ids)), whole: make([]bool, len(ids))}
	pos := 0
	if len(ids) > 0 && ids[0] < len(s.strs) && strings.HasPrefix(s.strs[ids[0]], " ") && !strings.HasPrefix(text, " ") {
		pos = -1 // the space some tokenizers put before any text
	}
	for i := 0; i < len(ids); i++ {
		if ids[i] >= len(s.strs) || s.strs[ids[i]] == "" {
			return c, false
		}
		t, from := s.strs[ids[i]], i
		for strings.ContainsRune(t, utf8.RuneError) && !strings.HasPrefix(text[max(pos, 0):], t) {
			// Part of a character: it is text only together with its neighbours.
			c.end[i] = int32(base + max(pos, 0))
			if i++; i == len(ids) || i-from > 8 {
				return c, false
			}
			t = s.tok.Decode(ids[from:i+1], false)
		}
		if pos < 0 {
			t = t[1:]
			pos = 0
		}
		if !strings.HasPrefix(text[pos:], t) {
			return c, false
		}
		pos += len(t)
		c.end[i], c.whole[i] = int32(base+pos), true
	}
	return c, pos == len(text)
}

// after is the index of the first token that ends behind byte at.
func (c cuts) after(at int32) int {
	return sort.Search(len(c.end), func(i int) bool { return c.end[i] > at })
}

// inStep finds the first place from which the tokens of part, a piece of the
// same text, end where the whole's do: token i of part is token r of c.
// Only ends behind byte least are looked at.
func (c cuts) inStep(part cuts, least int32) (i, r int, ok bool) {
	for i = 0; i+agreeing <= len(part.end); i++ {
		if !part.whole[i] || part.end[i] <= least {
			continue
		}
		r = c.after(part.end[i] - 1)
		run := 0
		for run < agreeing && r+run < len(c.end) && c.end[r+run] == part.end[i+run] && c.whole[r+run] == part.whole[i+run] {
			run++
		}
		if run == agreeing {
			return i, r, true
		}
	}
	return 0, 0, false
}

// parallel runs work over [0,n) in contiguous shares, one a core.
func parallel(n int, work func(lo, hi int)) {
	cores := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for c := range cores {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work(n*c/cores, n*(c+1)/cores)
		}()
	}
	wg.Wait()
}

// ring gives n ids of the ring from position start on.
func (s *speller) ring(start, n int) []int {
	ids := make([]int, n)
	for k := range ids {
		ids[k] = s.ids[(start+k)%len(s.ids)]
	}
	return ids
}

// draw gives n ids drawn independently from the ring.
func (s *speller) draw(r *rand.Rand, n int) []int {
	ids := make([]int, n)
	for k := range ids {
		ids[k] = s.ids[r.IntN(len(s.ids))]
	}
	return ids
}
