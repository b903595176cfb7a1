package tokenizer

import (
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/buger/jsonparser"
)

// unigram picks the split of a piece whose tokens have the highest summed log
// probability (Viterbi). A character no token covers is unknown at the lowest
// score of the vocabulary − 10; neighbouring unknowns are one token, or the
// character's <0xNN> tokens with byte fallback.
type unigram struct {
	pieces     []string
	scores     []float64
	index      map[string]int32
	trie       pairTable // (node, byte) → child
	leaf       []int32   // node → token id, -1 = none
	unk        int32     // -1 = none
	unkScore   float64
	fallback   bool
	fallbackID [256]int32
}

func newUnigram(pieces []string, scores []float64, unk int, fallback bool) (*unigram, error) {
	m := &unigram{pieces: pieces, scores: scores, unk: int32(unk), fallback: fallback,
		index: make(map[string]int32, len(pieces))}
	total := 0
	lowest := math.Inf(1)
	for i, p := range pieces {
		total += len(p)
		m.index[p] = int32(i)
		lowest = min(lowest, scores[i])
	}
	if unk >= len(pieces) {
		return nil, fmt.Errorf("unk_id %d is beyond the vocabulary of %d", unk, len(pieces))
	}
	m.unkScore = lowest - 10
	m.trie = newPairTable(total)
	m.leaf = []int32{-1}
	for i, p := range pieces {
		node := int32(0)
		for j := 0; j < len(p); j++ {
			next := m.trie.get(node, int32(p[j]))
			if next == noMerge {
				next = uint64(len(m.leaf))
				m.trie.put(node, int32(p[j]), next)
				m.leaf = append(m.leaf, -1)
			}
			node = int32(next)
		}
		if node != 0 {
			m.leaf[node] = int32(i)
		}
	}
	for b := range m.fallbackID {
		m.fallbackID[b] = -1
		if id, ok := m.index[fmt.Sprintf("<0x%02X>", b)]; ok {
			m.fallbackID[b] = id
		}
	}
	return m, nil
}

func (m *unigram) id(token string) (int, bool) {
	id, ok := m.index[token]
	return int(id), ok
}

func (m *unigram) each(f func(int, string)) {
	for i, p := range m.pieces {
		f(i, p)
	}
}

// latticeState is the best path to each byte offset.
type latticeState struct {
	score []float64
	from  []int32 // offset the best token ending here starts at; -1 = unreached
	token []int32
	path  []int32 // offsets of the best path, last first
}

func (m *unigram) tokenize(piece string, s *scratch, ids []int) []int {
	st := &s.lattice
	n := len(piece)
	st.from, st.token = grow(st.from, n+1), grow(st.token, n+1)
	if cap(st.score) < n+1 {
		st.score = make([]float64, n+1)
	}
	st.score = st.score[:n+1]
	for i := range st.from {
		st.from[i] = -1
	}
	st.from[0], st.score[0] = 0, 0
	for at, w := 0, 0; at < n; at += w {
		_, w = utf8.DecodeRuneInString(piece[at:])
		single := false
		node := int32(0)
		for end := at; end < n; {
			next := m.trie.get(node, int32(piece[end]))
			if next == noMerge {
				break
			}
			node = int32(next)
			end++
			id := m.leaf[node]
			if id < 0 {
				continue
			}
			if score := st.score[at] + m.scores[id]; st.from[end] < 0 || score > st.score[end] {
				st.from[end], st.token[end], st.score[end] = int32(at), id, score
			}
			single = single || end == at+w
		}
		if !single {
			if score := st.score[at] + m.unkScore; st.from[at+w] < 0 || score > st.score[at+w] {
				st.from[at+w], st.token[at+w], st.score[at+w] = int32(at), m.unk, score
			}
		}
	}
	st.path = st.path[:0]
	for end := int32(n); end > 0; end = st.from[end] {
		st.path = append(st.path, end)
	}
	unkFrom := int32(-1) // start of a run of unknown characters
	flush := func(to int32) {
		if unkFrom < 0 {
			return
		}
		ids = m.unknown(piece[unkFrom:to], ids)
		unkFrom = -1
	}
	for i := len(st.path) - 1; i >= 0; i-- {
		end := st.path[i]
		start := st.from[end]
		if st.token[end] == m.unk {
			if unkFrom < 0 {
				unkFrom = start
			}
			continue
		}
		flush(start)
		ids = append(ids, int(st.token[end]))
	}
	flush(int32(n))
	return ids
}

// unknown appends the ids of text that no token covers.
func (m *unigram) unknown(text string, ids []int) []int {
	if id, ok := m.index[text]; ok {
		return append(ids, int(id))
	}
	if m.fallback {
		begin, whole := len(ids), true
		for i := 0; i < len(text) && whole; i++ {
			id := m.fallbackID[text[i]]
			whole = id >= 0
			ids = append(ids, int(id))
		}
		if whole {
			return ids
		}
		ids = ids[:begin]
	}
	if m.unk >= 0 {
		ids = append(ids, int(m.unk))
	}
	return ids
}

func parseUnigram(j *modelJSON) (model, error) {
	var pieces []string
	var scores []float64
	var failed error
	_, err := jsonparser.ArrayEach(j.vocab, func(value []byte, _ jsonparser.ValueType, _ int, _ error) {
		if failed != nil {
			return
		}
		var pair []json.RawMessage
		var piece string
		var score float64
		if err := json.Unmarshal(value, &pair); err != nil || len(pair) != 2 ||
			json.Unmarshal(pair[0], &piece) != nil || json.Unmarshal(pair[1], &score) != nil {
			failed = fmt.Errorf("model vocab[%d]: %s is not [token, score]", len(pieces), value)
			return
		}
		pieces, scores = append(pieces, piece), append(scores, score)
	})
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, fmt.Errorf("model vocab: %w", err)
	}
	unk := -1
	if j.UnkID != nil {
		unk = *j.UnkID
	}
	return newUnigram(pieces, scores, unk, j.ByteFallback)
}
