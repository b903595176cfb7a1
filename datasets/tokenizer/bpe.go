package tokenizer

import (
	"hash/maphash"
	"strings"
	"unicode/utf8"
)

// bpe is byte-pair encoding: start from characters (or bytes), merge the
// adjacent pair of lowest rank, the leftmost of equals, until none can be.
type bpe struct {
	vocab  map[string]int32 // keys are raw bytes where byteLevel
	merges pairTable
	listed func(func(id int, token string)) // vocabulary as written

	byteLevel    bool
	byteID       [256]int32 // byteLevel: id of each single byte, -1 = none
	ignoreMerges bool       // a whole piece in the vocabulary is taken as it is
	fallback     bool       // a character outside the vocabulary becomes its <0xNN> tokens
	fallbackID   [256]int32
	unk          int32 // -1 = characters outside the vocabulary vanish
	fuseUnk      bool
	prefix       string // continuing_subword_prefix
	suffix       string // end_of_word_suffix

	// cuttable: "▁" may be cut off before it where no merge joins the character
	// before to it (glue lists those that do). SentencePiece-style vocabularies
	// have no pre-tokenizer, so a document is one word; cutting gives pieces short
	// enough to cache and changes no result.
	cuttable bool
	glue     map[rune]bool
}

const metaspace = "▁"

func (m *bpe) id(token string) (int, bool) {
	if m.byteLevel {
		raw, ok := fromByteAlphabet(token)
		if !ok {
			return 0, false
		}
		token = raw
	}
	id, ok := m.vocab[token]
	return int(id), ok
}

func (m *bpe) each(f func(int, string)) { m.listed(f) }

func (m *bpe) tokenize(piece string, s *scratch, ids []int) []int {
	if !m.cuttable {
		return m.word(piece, s, ids)
	}
	for start := 0; start < len(piece); {
		end := len(piece)
		for from := start + 1; ; {
			i := strings.Index(piece[min(from, len(piece)):], metaspace)
			if i < 0 {
				break
			}
			i += from
			if r, _ := utf8.DecodeLastRuneInString(piece[:i]); !m.glue[r] {
				end = i
				break
			}
			from = i + len(metaspace)
		}
		ids = m.word(piece[start:end], s, ids)
		start = end
	}
	return ids
}

// word encodes one piece, from the cache where it has been seen lately.
func (m *bpe) word(piece string, s *scratch, ids []int) []int {
	if m.ignoreMerges {
		if id, ok := m.vocab[piece]; ok {
			return append(ids, int(id))
		}
	}
	if m.byteLevel && len(piece) == 1 {
		if id := m.byteID[piece[0]]; id >= 0 {
			return append(ids, int(id))
		}
	}
	if len(piece) > maxCachedPiece {
		return m.merge(piece, s, ids)
	}
	e := s.cache.slot(piece)
	if e.key == piece {
		for _, id := range e.ids {
			ids = append(ids, int(id))
		}
		return ids
	}
	n := len(ids)
	ids = m.merge(piece, s, ids)
	e.key = strings.Clone(piece)
	e.ids = make([]int32, len(ids)-n)
	for i, id := range ids[n:] {
		e.ids[i] = int32(id)
	}
	return ids
}

// symbols are the ids of a piece's characters before any merge.
func (m *bpe) symbols(piece string, out []int32) []int32 {
	if m.byteLevel && m.prefix == "" && m.suffix == "" {
		unk := false
		for i := 0; i < len(piece); i++ {
			id := m.byteID[piece[i]]
			if id < 0 {
				if m.unk < 0 || m.fuseUnk && unk {
					continue
				}
				id, unk = m.unk, true
			} else {
				unk = false
			}
			out = append(out, id)
		}
		return out
	}
	unk := false
	for i, w := 0, 0; i < len(piece); i += w {
		if m.byteLevel {
			w = 1
		} else {
			_, w = utf8.DecodeRuneInString(piece[i:])
		}
		char := piece[i : i+w]
		sym := char
		if i > 0 && m.prefix != "" {
			sym = m.prefix + sym
		}
		if i+w == len(piece) && m.suffix != "" {
			sym += m.suffix
		}
		if id, ok := m.vocab[sym]; ok {
			out, unk = append(out, id), false
			continue
		}
		if m.fallback && m.hasBytes(char) {
			for j := 0; j < len(char); j++ {
				out = append(out, m.fallbackID[char[j]])
			}
			unk = false
			continue
		}
		if m.unk >= 0 && !(m.fuseUnk && unk) {
			out = append(out, m.unk)
		}
		unk = m.unk >= 0
	}
	return out
}

func (m *bpe) hasBytes(char string) bool {
	for i := 0; i < len(char); i++ {
		if m.fallbackID[char[i]] < 0 {
			return false
		}
	}
	return true
}

// mergeState is the working memory of merge.
type mergeState struct {
	ids        []int32
	ranks      []uint64 // of the pair (i, i+1): rank<<32 | merged id
	prev, next []int32
	heap       []uint64 // rank<<32 | position
}

// shortPiece is the length up to which looking at every pair again and again
// is faster than keeping a heap.
const shortPiece = 48

const noMerge = ^uint64(0)

func (m *bpe) merge(piece string, s *scratch, ids []int) []int {
	st := &s.merge
	st.ids = m.symbols(piece, st.ids[:0])
	if len(st.ids) > shortPiece {
		return m.mergeLong(st, ids)
	}
	sym := st.ids
	ranks := st.ranks[:0]
	for i := 0; i+1 < len(sym); i++ {
		ranks = append(ranks, m.merges.get(sym[i], sym[i+1]))
	}
	for {
		best, at := noMerge, -1
		for i, r := range ranks {
			if r < best {
				best, at = r, i
			}
		}
		if at < 0 {
			break
		}
		sym[at] = int32(uint32(best))
		sym = append(sym[:at+1], sym[at+2:]...)
		ranks = append(ranks[:at], ranks[at+1:]...)
		if at > 0 {
			ranks[at-1] = m.merges.get(sym[at-1], sym[at])
		}
		if at < len(ranks) {
			ranks[at] = m.merges.get(sym[at], sym[at+1])
		}
	}
	st.ranks = ranks
	for _, id := range sym {
		ids = append(ids, int(id))
	}
	return ids
}

// mergeLong is merge in O(n log n): a heap of candidate pairs over a linked
// list of symbols. An entry is stale when the pair at its position no longer has
// its rank.
func (m *bpe) mergeLong(st *mergeState, ids []int) []int {
	n := len(st.ids)
	sym := st.ids
	prev, next := grow(st.prev, n), grow(st.next, n)
	h := st.heap[:0]
	for i := range n {
		prev[i], next[i] = int32(i-1), int32(i+1)
		if i+1 < n {
			if r := m.merges.get(sym[i], sym[i+1]); r != noMerge {
				h = append(h, r&^0xFFFFFFFF|uint64(i))
			}
		}
	}
	heapify(h)
	for len(h) > 0 {
		top := h[0]
		h = heapPop(h)
		i := int32(uint32(top))
		j := next[i]
		if sym[i] < 0 || int(j) >= n {
			continue
		}
		r := m.merges.get(sym[i], sym[j])
		if r == noMerge || r>>32 != top>>32 {
			continue
		}
		sym[i], sym[j] = int32(uint32(r)), -1
		next[i] = next[j]
		if k := next[i]; int(k) < n {
			prev[k] = i
			if r := m.merges.get(sym[i], sym[k]); r != noMerge {
				h = heapPush(h, r&^0xFFFFFFFF|uint64(i))
			}
		}
		if k := prev[i]; k >= 0 {
			if r := m.merges.get(sym[k], sym[i]); r != noMerge {
				h = heapPush(h, r&^0xFFFFFFFF|uint64(k))
			}
		}
	}
	for i := int32(0); int(i) < n; i = next[i] {
		ids = append(ids, int(sym[i]))
	}
	st.prev, st.next, st.heap = prev, next, h
	return ids
}

func grow(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n)
	}
	return s[:n]
}

func heapify(h []uint64) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		siftDown(h, i)
	}
}

func siftDown(h []uint64, i int) {
	v := h[i]
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if v <= h[c] {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = v
}

func heapPop(h []uint64) []uint64 {
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	if last > 0 {
		siftDown(h, 0)
	}
	return h
}

func heapPush(h []uint64, v uint64) []uint64 {
	h = append(h, v)
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if h[p] <= v {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = v
	return h
}

// pairTable maps a pair of non-negative int32 to rank<<32 | id, in one flat
// open-addressing table: the merge loop does nothing but look up.
type pairTable struct {
	keys []uint64 // 0 = free; otherwise the pair + 1
	vals []uint64
	mask uint64
}

func newPairTable(n int) pairTable {
	size := 16
	for size < 2*n {
		size *= 2
	}
	return pairTable{keys: make([]uint64, size), vals: make([]uint64, size), mask: uint64(size - 1)}
}

func pairHash(k uint64) uint64 { return (k * 0x9E3779B97F4A7C15) >> 20 }

func (t *pairTable) get(a, b int32) uint64 {
	if a < 0 || b < 0 || t.keys == nil {
		return noMerge
	}
	k := uint64(a)<<32 | uint64(b) + 1
	for i := pairHash(k) & t.mask; ; i = (i + 1) & t.mask {
		if t.keys[i] == k {
			return t.vals[i]
		}
		if t.keys[i] == 0 {
			return noMerge
		}
	}
}

// put stores a pair; the table must have been made large enough.
func (t *pairTable) put(a, b int32, v uint64) {
	k := uint64(a)<<32 | uint64(b) + 1
	i := pairHash(k) & t.mask
	for t.keys[i] != 0 && t.keys[i] != k {
		i = (i + 1) & t.mask
	}
	t.keys[i], t.vals[i] = k, v
}

// pieceCache remembers the ids of recent pieces, one to a slot: text repeats
// its words, and a collision costs no more than the merge it would have saved.
type pieceCache struct{ entries []cacheEntry }

type cacheEntry struct {
	key string
	ids []int32
}

const (
	maxCachedPiece = 64
	cacheSlots     = 1 << 15
)

var cacheSeed = maphash.MakeSeed()

func (c *pieceCache) slot(piece string) *cacheEntry {
	if c.entries == nil {
		c.entries = make([]cacheEntry, cacheSlots)
	}
	return &c.entries[maphash.String(cacheSeed, piece)&(cacheSlots-1)]
}
