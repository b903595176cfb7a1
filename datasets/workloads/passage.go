package workloads

import (
	"math/rand/v2"
	"strings"

	"ais_bench/datasets"
)

// passage is a text and its length in tokens, without special tokens.
type passage struct {
	text   string
	tokens int

	// For texts that continue this one: its last tokens, and how many tokens come
	// before them.
	tail   string
	before int
}

// piece is a text of n tokens behind prefix (the zero passage for none): prefix
// and n tokens of the ring from start on, prefix.tokens+n in total. r is used
// only where the text has to be lengthened with random tokens. Where no such text
// was found within the rounds the nearest is returned; its tokens field is true.
func (s *speller) piece(prefix passage, start, n int, r *rand.Rand) passage {
	start %= len(s.ids)
	if s.fast {
		if p, ok := s.fastPiece(prefix, start, n); ok {
			return p
		}
	}
	return s.correct(prefix.text, s.ring(start, n), prefix.tokens+n, r)
}

// fastPiece cuts the piece out of the ring's text.
func (s *speller) fastPiece(prefix passage, start, n int) (passage, bool) {
	if n <= 0 {
		return passage{}, false
	}
	want := prefix.tokens + n
	from := s.off[start]
	// In the text "prefix.tail + ring" ring bytes begin at shift.
	shift := from - int32(len(prefix.tail))
	window := s.runes(from, from+windowBytes)
	headText := prefix.tail + s.text[from:window]
	head, ok := s.align(s.tok.Encode(headText, false), headText, int(shift))
	if !ok {
		return passage{}, false
	}
	// tokenEnd gives the end of the k-th token (from 1) of prefix+ring, from the
	// head where it reaches, else from the ring.
	i, r, step := s.cuts.inStep(cuts{head.end[:len(head.end)*3/4], head.whole[:len(head.end)*3/4]}, from)
	tokenEnd := func(k int) (int32, bool) {
		k -= prefix.before + 1
		switch {
		case k < 0:
			return 0, false
		case step && k >= i:
			if k = r + k - i; k >= len(s.cuts.end) {
				return 0, false
			}
			return s.cuts.end[k], s.cuts.whole[k]
		case k < len(head.end):
			return head.end[k], head.whole[k]
		}
		return 0, false
	}
	guess := want
	for range rounds {
		end, whole := tokenEnd(guess)
		for down := 0; !whole && down < 8; down++ {
			guess--
			end, whole = tokenEnd(guess)
		}
		if !whole || end <= from {
			return passage{}, false
		}
		got, ok := s.length(prefix, from, end, i, r, step)
		if !ok {
			return passage{}, false
		}
		if got == want {
			text := s.text[from:end]
			if prefix.text != "" {
				text = prefix.text + text
			}
			return passage{text: text, tokens: got}, true
		}
		guess += want - got
	}
	return passage{}, false
}

// length counts the tokens of prefix + text[from:end]. Long pieces are counted
// from the ring: their head is known to be in step with it at token r (token i of
// the head), their tail is encoded again until it is.
func (s *speller) length(prefix passage, from, end int32, i, r int, step bool) (int, bool) {
	if !step || end-from < 3*windowBytes {
		return prefix.before + s.tok.Count(prefix.tail+s.text[from:end]), true
	}
	at := s.cuts.after(end - windowBytes)
	for at < len(s.cuts.end) && !s.cuts.whole[at] {
		at++
	}
	begin := s.cuts.end[at]
	ids := s.tok.Encode(s.text[begin:end], false)
	tail, ok := s.align(ids, s.text[begin:end], int(begin))
	if !ok {
		return 0, false
	}
	ti, tr, ok := s.cuts.inStep(tail, begin)
	if !ok || tr < r {
		return 0, false
	}
	return prefix.before + (i + 1) + (tr - r) + (len(ids) - 1 - ti), true
}

// runes moves the end of text[from:to] back to a character's boundary and inside the text.
func (s *speller) runes(from, to int32) int32 {
	to = min(to, int32(len(s.text)))
	for to > from && to < int32(len(s.text)) && s.text[to]&0xC0 == 0x80 {
		to--
	}
	return to
}

// correct makes a text of want tokens: prefix + ids decoded, encoded again, cut
// or lengthened with random tokens, at most ten times.
func (s *speller) correct(prefix string, ids []int, want int, r *rand.Rand) passage {
	best := passage{tokens: -1}
	for range rounds {
		text := prefix + s.tok.Decode(ids, false)
		if strings.TrimSpace(text) == "" && want > 0 {
			ids = s.draw(r, len(ids)+1)
			continue
		}
		got := s.tok.Encode(text, false)
		if best.tokens < 0 || distance(len(got), want) < distance(best.tokens, want) {
			best = passage{text: text, tokens: len(got)}
		}
		switch {
		case len(got) == want:
			return best
		case len(got) < want:
			ids = append(got, s.draw(r, want-len(got))...)
		default:
			ids = got[:want]
		}
		prefix = "" // from now on ids spell all of it
	}
	best.tokens = max(best.tokens, 0)
	return best
}

func distance(a, b int) int {
	if a < b {
		return b - a
	}
	return a - b
}

// opening is what all texts of a run begin with: the salt, filled up with random
// ids to n tokens.
func (s *speller) opening(cfg *Config, r *rand.Rand, n int) passage {
	p := passage{text: cfg.salted("")}
	if p.text != "" {
		p.tokens = s.tok.Count(p.text)
	}
	if n > p.tokens {
		p = s.correct(p.text, s.draw(r, n-p.tokens), n, r)
	}
	p.tail, p.before = p.text, 0
	if s.strs == nil || p.tokens < 256 {
		return p
	}
	c, ok := s.align(s.tok.Encode(p.text, false), p.text, 0)
	if !ok {
		return p
	}
	// A short tail spares encoding the whole opening with every request.
	for at := len(c.end) - 96; at < len(c.end)-32; at++ {
		if rest := p.text[c.end[at]:]; c.whole[at] && s.tok.Count(rest) == len(c.end)-at-1 {
			p.tail, p.before = rest, at+1
			break
		}
	}
	return p
}

// fill gives sample a text of want tokens in all: opening, then the ring from
// start on. Random numbers, where needed, come from the stream of purpose.
func (s *speller) fill(cfg *Config, sample *datasets.Sample, opening passage, start, want int, purpose uint64) error {
	r := stream(cfg.Seed, purpose)
	n := max(want-opening.tokens, min(1, want))
	p := s.piece(opening, start, n, r)
	if s.fast && purpose%uint64(s.checkEvery) == 0 {
		if got := s.tok.Count(p.text); got != p.tokens {
			p = s.correct(opening.text, s.ring(start, n), opening.tokens+n, r)
		}
	}
	sample.Prompt.Text = p.text
	sample.Fields[FieldInputLen] = p.tokens + s.tok.AddedByDefault()
	return cfg.lengthCheck(p.tokens+s.tok.AddedByDefault(), sample.MaxTokens)
}

// fillIDs is fill for prompts that are sent as ids, which need no correction.
func (s *speller) fillIDs(cfg *Config, sample *datasets.Sample, opening []int, start, want int) error {
	ids := append(make([]int, 0, max(want, len(opening))), opening...)
	sample.Prompt.TokenIDs = append(ids, s.ring(start, max(0, want-len(opening)))...)
	sample.Fields[FieldInputLen] = len(sample.Prompt.TokenIDs)
	return cfg.lengthCheck(len(sample.Prompt.TokenIDs), sample.MaxTokens)
}
