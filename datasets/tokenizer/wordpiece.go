package tokenizer

import (
	"fmt"
	"unicode/utf8"
)

// wordPiece splits a word greedily into the longest pieces of the vocabulary,
// those after the first written with prefix ("##"). A word that cannot be
// covered, or has more than maxChars characters, is one unknown token.
type wordPiece struct {
	vocab    map[string]int32
	unk      int32
	prefix   string
	maxChars int
}

func (m *wordPiece) id(token string) (int, bool) {
	id, ok := m.vocab[token]
	return int(id), ok
}

func (m *wordPiece) each(f func(int, string)) {
	for tok, id := range m.vocab {
		f(int(id), tok)
	}
}

func (m *wordPiece) tokenize(piece string, _ *scratch, ids []int) []int {
	if utf8.RuneCountInString(piece) > m.maxChars {
		return append(ids, int(m.unk))
	}
	begin := len(ids)
	for start := 0; start < len(piece); {
		end, found := len(piece), -1
		for end > start {
			sub := piece[start:end]
			if start > 0 {
				sub = m.prefix + sub
			}
			if id, ok := m.vocab[sub]; ok {
				found = int(id)
				break
			}
			_, w := utf8.DecodeLastRuneInString(piece[start:end])
			end -= w
		}
		if found < 0 {
			return append(ids[:begin], int(m.unk))
		}
		ids = append(ids, found)
		start = end
	}
	return ids
}

func parseWordPiece(j *modelJSON) (model, error) {
	vocab, _, err := parseVocab(j.vocab, nil)
	if err != nil {
		return nil, err
	}
	m := &wordPiece{vocab: vocab, prefix: j.ContinuingSubwordPrefix, maxChars: j.MaxInputCharsPerWord}
	if m.maxChars == 0 {
		m.maxChars = 100
	}
	unk := "[UNK]"
	if j.UnkToken != nil {
		unk = *j.UnkToken
	}
	id, ok := vocab[unk]
	if !ok {
		return nil, fmt.Errorf("WordPiece vocabulary has no unknown token %q", unk)
	}
	m.unk = id
	return m, nil
}
