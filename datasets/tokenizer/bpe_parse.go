package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/buger/jsonparser"
)

// parseBPE reads vocabulary and merges of a model of type BPE.
func parseBPE(j *modelJSON, byteLevel, noSplit bool) (model, error) {
	if j.merges == nil {
		return nil, fmt.Errorf("model of type BPE has no merges; the file is not whole")
	}
	var key func(string) (string, bool)
	if byteLevel {
		key = fromByteAlphabet
	}
	vocab, l, err := parseVocab(j.vocab, key)
	if err != nil {
		return nil, err
	}
	m := &bpe{vocab: vocab, listed: l.each, byteLevel: byteLevel, ignoreMerges: j.IgnoreMerges,
		fallback: j.ByteFallback, fuseUnk: j.FuseUnk, prefix: j.ContinuingSubwordPrefix, suffix: j.EndOfWordSuffix, unk: -1}
	if j.UnkToken != nil && *j.UnkToken != "" {
		id, ok := vocab[*j.UnkToken]
		if ok {
			m.unk = id
		}
	}
	m.indexBytes()
	m.merges = newPairTable(bytes.Count(j.merges, []byte(","))/1 + 1)
	m.glue = map[rune]bool{}
	rank := 0
	byteMerge := false
	var failed error
	_, err = jsonparser.ArrayEach(j.merges, func(value []byte, kind jsonparser.ValueType, _ int, _ error) {
		if failed != nil {
			return
		}
		a, b, err := mergePair(value, kind)
		if err == nil {
			err = m.addMerge(a, b, rank)
		}
		if err != nil {
			failed = fmt.Errorf("model merges[%d]: %w", rank, err)
			return
		}
		if !byteLevel && strings.HasPrefix(b, metaspace) {
			r, _ := utf8.DecodeLastRuneInString(a)
			m.glue[r] = true
		}
		_, isA := byteToken(a)
		_, isB := byteToken(b)
		byteMerge = byteMerge || isA || isB
		rank++
	})
	if failed == nil && err != nil && len(j.merges) > 0 && !bytes.Equal(bytes.TrimSpace(j.merges), []byte("[]")) {
		failed = fmt.Errorf("model merges: %w", err)
	}
	if failed != nil {
		return nil, failed
	}
	_, hasMark := vocab[metaspace]
	m.cuttable = !byteLevel && hasMark && m.prefix == "" && m.suffix == "" && !byteMerge && !m.ignoreMerges
	return m, nil
}

func (m *bpe) indexBytes() {
	for b := range 256 {
		m.byteID[b], m.fallbackID[b] = -1, -1
		if m.byteLevel {
			if id, ok := m.vocab[string([]byte{byte(b)})]; ok {
				m.byteID[b] = id
			}
		}
		if id, ok := m.vocab[fmt.Sprintf("<0x%02X>", b)]; ok {
			m.fallbackID[b] = id
		}
	}
}

// mergePair reads a merge in either spelling: "a b" or ["a","b"].
func mergePair(value []byte, kind jsonparser.ValueType) (a, b string, err error) {
	if kind == jsonparser.String {
		s, err := jsonparser.ParseString(value)
		if err != nil {
			return "", "", err
		}
		a, b, ok := strings.Cut(s, " ")
		if !ok || strings.Contains(b, " ") {
			return "", "", fmt.Errorf("%q is not two tokens with a blank between", s)
		}
		return a, b, nil
	}
	var parts []string
	if err := json.Unmarshal(value, &parts); err != nil || len(parts) != 2 {
		return "", "", fmt.Errorf("%s is not a pair of tokens", value)
	}
	return parts[0], parts[1], nil
}

func (m *bpe) addMerge(a, b string, rank int) error {
	key := func(tok string) (string, error) {
		if !m.byteLevel {
			return tok, nil
		}
		raw, ok := fromByteAlphabet(tok)
		if !ok {
			return "", fmt.Errorf("%q has a character outside the byte alphabet", tok)
		}
		return raw, nil
	}
	ka, err := key(a)
	if err != nil {
		return err
	}
	kb, err := key(b)
	if err != nil {
		return err
	}
	ia, okA := m.vocab[ka]
	ib, okB := m.vocab[kb]
	merged, okM := m.vocab[ka+strings.TrimPrefix(kb, m.prefix)]
	switch {
	case !okA:
		return fmt.Errorf("%q is not in the vocabulary", a)
	case !okB:
		return fmt.Errorf("%q is not in the vocabulary", b)
	case !okM:
		return fmt.Errorf("%q, which it makes of %q and %q, is not in the vocabulary", a+strings.TrimPrefix(b, m.prefix), a, b)
	}
	m.merges.put(ia, ib, uint64(rank)<<32|uint64(uint32(merged)))
	return nil
}
