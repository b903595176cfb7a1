package tokenizer

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/buger/jsonparser"

	"ais_bench/registry"
)

// Load reads a tokenizer from a model's folder (tokenizer.json, or a tiktoken
// file, with tokenizer_config.json beside it), from a tokenizer.json itself or
// from a tiktoken file; .gz files are unpacked. Truncation and padding that
// tokenizer.json may ask for are not applied: a benchmark counts whole texts.
//
// A path that is not there gives an error that wraps fs.ErrNotExist and says
// what to give instead.
func Load(path string) (*Tokenizer, error) {
	file, err := findFile(path)
	if err != nil {
		return nil, err
	}
	data, err := readFile(file)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	var t *Tokenizer
	if looksLikeJSON(data) {
		t, err = parse(data)
	} else {
		t, err = parseTiktoken(file, data)
	}
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", file, err)
	}
	t.path = file
	if err := t.readConfig(filepath.Dir(file)); err != nil {
		return nil, err
	}
	t.finish()
	return t, nil
}

func looksLikeJSON(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\uFEFF")), " \t\r\n"), []byte("{"))
}

// findFile is the tokenizer's file for path, which may be a folder.
func findFile(path string) (string, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", missing(fmt.Sprintf("tokenizer path %q does not exist; give the folder of the model (the one with tokenizer.json) or a tokenizer.json file", path))
	}
	if err != nil {
		return "", fmt.Errorf("tokenizer: %w", err)
	}
	if !st.IsDir() {
		return path, nil
	}
	for _, name := range []string{"tokenizer.json", "tokenizer.json.gz"} {
		if p := filepath.Join(path, name); isFile(p) {
			return p, nil
		}
	}
	for _, glob := range []string{"*.tiktoken", "tiktoken.model", "tokenizer.model"} {
		found, _ := filepath.Glob(filepath.Join(path, glob))
		for _, p := range found {
			if glob != "tokenizer.model" || isTiktoken(p) {
				return p, nil
			}
		}
	}
	hint := "it has neither tokenizer.json nor a tiktoken file"
	if isFile(filepath.Join(path, "tokenizer.model")) {
		hint = "its tokenizer.model is a SentencePiece file, which is not read; save tokenizer.json beside it (transformers: AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR))"
	}
	return "", missing(fmt.Sprintf("tokenizer folder %q: %s", path, hint))
}

// missing is an fs.ErrNotExist in words of our own.
type missing string

func (m missing) Error() string      { return string(m) }
func (missing) Is(target error) bool { return target == fs.ErrNotExist }

func isFile(p string) bool {
	st, err := os.Stat(p)
	return err == nil && !st.IsDir()
}

func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) > 2 && data[0] == 0x1f && data[1] == 0x8b {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if data, err = io.ReadAll(z); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return data, nil
}

// parse reads tokenizer.json. Vocabulary and merges, nearly all of the file, are
// walked in place.
func parse(data []byte) (*Tokenizer, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	sections := map[string]json.RawMessage{}
	var modelRaw []byte
	err := jsonparser.ObjectEach(data, func(key, value []byte, kind jsonparser.ValueType, _ int) error {
		switch string(key) {
		case "model":
			modelRaw = value
		case "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder":
			sections[string(key)] = json.RawMessage(value)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("not a tokenizer.json: %w", err)
	}
	if modelRaw == nil {
		return nil, fmt.Errorf("not a tokenizer.json: it has no \"model\"")
	}
	t := &Tokenizer{}
	if raw := sections["added_tokens"]; !isNull(raw) {
		if err := json.Unmarshal(raw, &t.added.list); err != nil {
			return nil, fmt.Errorf("added_tokens: %w", registry.ExplainJSON(raw, err))
		}
	}
	for _, a := range t.added.list {
		if err := checkID(a.Content, a.ID); err != nil {
			return nil, fmt.Errorf("added_tokens: %w", err)
		}
	}
	if t.normalize, err = parseNormalizer(sections["normalizer"]); err != nil {
		return nil, err
	}
	var byteLevel bool
	if t.split, byteLevel, err = parsePreTokenizer(sections["pre_tokenizer"], nil); err != nil {
		return nil, err
	}
	if t.prefix, t.suffix, err = parsePost(sections["post_processor"]); err != nil {
		return nil, err
	}
	if t.decode, t.byteDecode, err = parseDecoder(sections["decoder"]); err != nil {
		return nil, err
	}
	if t.model, err = parseModel(modelRaw, byteLevel, len(t.split) == 0); err != nil {
		return nil, err
	}
	return t, nil
}

type modelJSON struct {
	Type                    string
	UnkToken                *string
	UnkID                   *int
	ContinuingSubwordPrefix string
	EndOfWordSuffix         string
	FuseUnk                 bool
	ByteFallback            bool
	IgnoreMerges            bool
	MaxInputCharsPerWord    int
	vocab, merges           []byte
	vocabIsList             bool
}

// maxID bounds ids: a wrong file must not ask for a table of gigabytes.
const maxID = 1 << 24

func checkID(token string, id int) error {
	if id < 0 || id > maxID {
		return fmt.Errorf("token %q has id %d, which is not between 0 and %d", token, id, maxID)
	}
	return nil
}

func parseModel(raw []byte, byteLevel, noSplit bool) (model, error) {
	var j modelJSON
	err := jsonparser.ObjectEach(raw, func(key, value []byte, kind jsonparser.ValueType, _ int) error {
		var err error
		text := func() string {
			var s string
			if kind == jsonparser.String {
				s, err = jsonparser.ParseString(value)
			}
			return s
		}
		flag := func() bool { return kind == jsonparser.Boolean && string(value) == "true" }
		switch string(key) {
		case "type":
			j.Type = text()
		case "unk_token":
			if kind == jsonparser.String {
				s := text()
				j.UnkToken = &s
			}
		case "unk_id":
			if kind == jsonparser.Number {
				var n int64
				n, err = jsonparser.ParseInt(value)
				id := int(n)
				j.UnkID = &id
			}
		case "continuing_subword_prefix":
			j.ContinuingSubwordPrefix = text()
		case "end_of_word_suffix":
			j.EndOfWordSuffix = text()
		case "fuse_unk":
			j.FuseUnk = flag()
		case "byte_fallback":
			j.ByteFallback = flag()
		case "ignore_merges":
			j.IgnoreMerges = flag()
		case "max_input_chars_per_word":
			var n int64
			n, err = jsonparser.ParseInt(value)
			j.MaxInputCharsPerWord = int(n)
		case "vocab":
			j.vocab, j.vocabIsList = value, kind == jsonparser.Array
		case "merges":
			j.merges = value
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if j.vocab == nil {
		return nil, fmt.Errorf("model has no vocab")
	}
	if j.Type == "" { // older files leave it out
		switch {
		case j.merges != nil:
			j.Type = "BPE"
		case j.vocabIsList:
			j.Type = "Unigram"
		default:
			j.Type = "WordPiece"
		}
	}
	switch j.Type {
	case "BPE":
		return parseBPE(&j, byteLevel, noSplit)
	case "Unigram":
		return parseUnigram(&j)
	case "WordPiece":
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
	case "WordLevel":
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
	return nil, fmt.Errorf("model type %q is not known (BPE, Unigram, WordPiece and WordLevel are)", j.Type)
}

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

// listing is a vocabulary in file order.
type listing struct {
	tokens []string
	ids    []int32
}

func (l listing) each(f func(int, string)) {
	for i, tok := range l.tokens {
		f(int(l.ids[i]), tok)
	}
}

// parseVocab reads {"token": id, …}; key turns a token into its map key and
// drops it with false.
func parseVocab(raw []byte, key func(string) (string, bool)) (map[string]int32, listing, error) {
	n := bytes.Count(raw, []byte(",")) + 1
	n = min(n, len(raw)/5+1)
	vocab := make(map[string]int32, n)
	l := listing{make([]string, 0, n), make([]int32, 0, n)}
	err := jsonparser.ObjectEach(raw, func(k, value []byte, kind jsonparser.ValueType, _ int) error {
		tok := string(k)
		id, err := jsonparser.ParseInt(value)
		if err == nil {
			err = checkID(tok, int(id))
		}
		if err != nil {
			return fmt.Errorf("token %q: %w", tok, err)
		}
		l.tokens, l.ids = append(l.tokens, tok), append(l.ids, int32(id))
		if key != nil {
			var ok bool
			if tok, ok = key(tok); !ok {
				return nil
			}
		}
		vocab[tok] = int32(id)
		return nil
	})
	if err == nil {
		err = l.unique()
	}
	if err != nil {
		return nil, l, fmt.Errorf("model vocab: %w", err)
	}
	return vocab, l, nil
}

// unique refuses a vocabulary in which two tokens have one id.
func (l listing) unique() error {
	ids := slices.Clone(l.ids)
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] != ids[i-1] {
			continue
		}
		first := slices.Index(l.ids, ids[i])
		second := first + 1 + slices.Index(l.ids[first+1:], ids[i])
		return fmt.Errorf("tokens %q and %q have the same id %d", l.tokens[first], l.tokens[second], ids[i])
	}
	return nil
}

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
