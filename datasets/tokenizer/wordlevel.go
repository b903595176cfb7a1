package tokenizer

// wordLevel looks whole words up.
type wordLevel struct {
	vocab map[string]int32
	unk   int32
}

func (m *wordLevel) id(token string) (int, bool) {
	id, ok := m.vocab[token]
	return int(id), ok
}

func (m *wordLevel) each(f func(int, string)) {
	for tok, id := range m.vocab {
		f(int(id), tok)
	}
}

func (m *wordLevel) tokenize(piece string, _ *scratch, ids []int) []int {
	id, ok := m.vocab[piece]
	if !ok {
		id = m.unk
	}
	if id < 0 {
		return ids
	}
	return append(ids, int(id))
}

func parseWordLevel(j *modelJSON) (model, error) {
	vocab, _, err := parseVocab(j.vocab, nil)
	if err != nil {
		return nil, err
	}
	m := &wordLevel{vocab: vocab, unk: -1}
	if j.UnkToken != nil {
		if id, ok := vocab[*j.UnkToken]; ok {
			m.unk = id
		}
	}
	return m, nil
}
