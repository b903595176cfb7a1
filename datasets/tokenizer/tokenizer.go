// Package tokenizer turns text into token ids and back, in pure Go, exactly as
// the model's own tokenizer does.
//
// Load reads what lies beside a model's weights: a Hugging Face tokenizer.json
// (byte-level BPE, SentencePiece-style BPE, Unigram, WordPiece; added tokens,
// normalizers, pre-tokenizers, post-processors, decoders) or a tiktoken file.
// Resolve finds that folder from a model's name, and falls back to a server's
// /tokenize and /detokenize (Remote) when nothing is on disk.
//
//	tok, err := tokenizer.Load("models/Qwen3-8B")
//	ids := tok.Encode("Hello", true) // with the special tokens the model adds
//	text := tok.Decode(ids, true)    // without them
//	n := tok.Count("Hello")          // plain tokens
//
// The pipeline is the one of the tokenizers library: cut out added tokens →
// normalize each remaining segment → cut out added tokens that are matched on
// normalized text → pre-tokenize → model → post-process. Text is handled as
// bytes: the printable alphabet that byte-level vocabularies are written in is
// undone once while loading, not at every call. Split patterns of the common
// families (GPT-2, cl100k/Llama-3, Qwen, o200k, DeepSeek) have hand-written
// scanners chosen by the exact pattern; any other pattern runs on a regular
// expression engine.
//
// A Tokenizer is immutable after loading and safe for concurrent use.
package tokenizer

import (
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// Tokenizer is a loaded tokenizer. Load makes one.
type Tokenizer struct {
	path   string
	config Config

	added      addedTokens
	normalize  normalizer     // nil = leave as is
	split      []preTokenizer // in order
	model      model
	prefix     []int // ids that post-processing puts before any text
	suffix     []int // and after it
	decode     decoder
	byteDecode bool // decoder is plain ByteLevel: join bytes[id]

	tokens  []string // id → token as the file writes it; "" where the id is unused
	bytes   []string // id → the bytes it stands for, for byteDecode
	special []bool   // id → skipped by Decode(…, true)

	pool sync.Pool // *scratch
}

// Config is what tokenizer_config.json says beside the tokenizer itself. All
// fields are empty when there is no such file.
type Config struct {
	Class              string            // tokenizer_class
	ChatTemplate       string            // the default Jinja template
	ChatTemplates      map[string]string // further named templates
	BOS, EOS, PAD, UNK string            // contents of the special tokens
	ModelMaxLength     int               // 0 = unknown or unlimited
}

// Path is the file the tokenizer was loaded from.
func (t *Tokenizer) Path() string { return t.path }

// Config is what tokenizer_config.json says.
func (t *Tokenizer) Config() Config { return t.config }

// VocabSize is one more than the largest id, added tokens included.
func (t *Tokenizer) VocabSize() int { return len(t.tokens) }

// SpecialIDs lists, ascending, the ids that Decode(…, true) leaves out.
func (t *Tokenizer) SpecialIDs() []int {
	var ids []int
	for id, s := range t.special {
		if s {
			ids = append(ids, id)
		}
	}
	return ids
}

// AddedByDefault is the number of special tokens that Encode(text, true) adds to
// any text (1 for a begin-of-text token, 2 for BERT's [CLS] and [SEP]).
func (t *Tokenizer) AddedByDefault() int { return len(t.prefix) + len(t.suffix) }

// Token is the token of id as the vocabulary writes it, false when no token has that id.
func (t *Tokenizer) Token(id int) (string, bool) {
	if id < 0 || id >= len(t.tokens) || t.tokens[id] == "" {
		return "", false
	}
	return t.tokens[id], true
}

// ID is the id of a token as the vocabulary writes it.
func (t *Tokenizer) ID(token string) (int, bool) {
	if id, ok := t.added.byContent[token]; ok {
		return id, true
	}
	return t.model.id(token)
}

// Encode gives the token ids of text; addSpecial adds the special tokens the
// model's post-processor puts around a text. Special tokens written out in text
// are recognised in either case. Bytes that are not UTF-8 count as U+FFFD.
func (t *Tokenizer) Encode(text string, addSpecial bool) []int {
	s := t.scratch()
	ids := s.ids[:0]
	if addSpecial {
		ids = append(ids, t.prefix...)
	}
	ids = t.encode(text, s, ids)
	if addSpecial {
		ids = append(ids, t.suffix...)
	}
	out := make([]int, len(ids))
	copy(out, ids)
	s.ids = ids
	t.pool.Put(s)
	return out
}

// Count is len(Encode(text, false)).
func (t *Tokenizer) Count(text string) int {
	s := t.scratch()
	s.ids = t.encode(text, s, s.ids[:0])
	n := len(s.ids)
	t.pool.Put(s)
	return n
}

func (t *Tokenizer) scratch() *scratch {
	if s, ok := t.pool.Get().(*scratch); ok {
		return s
	}
	return &scratch{}
}

func (t *Tokenizer) encode(text string, s *scratch, ids []int) []int {
	if !utf8.ValidString(text) {
		text = lossy(text)
	}
	t.added.raw.cut(text, func(segment string, id int, start bool) {
		if id >= 0 {
			ids = append(ids, id)
			return
		}
		if t.normalize != nil {
			segment = t.normalize(segment)
		}
		t.added.normalized.cut(segment, func(part string, id int, first bool) {
			if id >= 0 {
				ids = append(ids, id)
				return
			}
			ids = t.encodePart(part, start && first, s, ids)
		})
	})
	return ids
}

// encodePart is pre-tokenizers and model on a text free of added tokens. first
// says that it stands at the very start of the text.
func (t *Tokenizer) encodePart(part string, first bool, s *scratch, ids []int) []int {
	if part == "" {
		return ids
	}
	s.pieces = append(s.pieces[:0], part)
	for _, p := range t.split {
		s.next = p.split(s.pieces, first, s.next[:0])
		s.pieces, s.next = s.next, s.pieces
	}
	for _, piece := range s.pieces {
		ids = t.model.tokenize(piece, s, ids)
	}
	return ids
}

// Decode gives the text of ids, with the special tokens written out or, with
// skipSpecial, left out. Ids that no token has are left out. Bytes that do not
// form UTF-8 give U+FFFD, one for each maximal broken part.
func (t *Tokenizer) Decode(ids []int, skipSpecial bool) string {
	if t.byteDecode {
		n := 0
		for _, id := range ids {
			if id >= 0 && id < len(t.bytes) && !(skipSpecial && t.special[id]) {
				n += len(t.bytes[id])
			}
		}
		var b strings.Builder
		b.Grow(n)
		for _, id := range ids {
			if id >= 0 && id < len(t.bytes) && !(skipSpecial && t.special[id]) {
				b.WriteString(t.bytes[id])
			}
		}
		return lossy(b.String())
	}
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if tok, ok := t.Token(id); ok && !(skipSpecial && t.special[id]) {
			tokens = append(tokens, tok)
		}
	}
	if t.decode == nil {
		return strings.Join(tokens, " ")
	}
	return strings.Join(t.decode(tokens), "")
}

// scratch is one call's working memory, pooled because a run tokenizes millions
// of short texts.
type scratch struct {
	ids     []int
	pieces  []string
	next    []string
	merge   mergeState
	lattice latticeState
	cache   pieceCache
}

// model turns one pre-tokenized piece into ids.
type model interface {
	tokenize(piece string, s *scratch, ids []int) []int
	id(token string) (int, bool)
	// tokens lists every (id, token as written) of the vocabulary.
	each(func(id int, token string))
}

// finish fills the tables that depend on the whole vocabulary.
func (t *Tokenizer) finish() {
	n := 0
	t.model.each(func(id int, _ string) { n = max(n, id+1) })
	for _, a := range t.added.list {
		n = max(n, a.ID+1)
	}
	t.tokens, t.special = make([]string, n), make([]bool, n)
	t.model.each(func(id int, token string) { t.tokens[id] = token })
	sort.SliceStable(t.added.list, func(i, j int) bool { return t.added.list[i].ID < t.added.list[j].ID })
	for _, a := range t.added.list {
		t.tokens[a.ID] = a.Content
		t.special[a.ID] = t.special[a.ID] || a.Special
	}
	if t.byteDecode {
		t.bytes = make([]string, n)
		for id, token := range t.tokens {
			t.bytes[id] = fromByteAlphabetOrSame(token)
		}
	}
	t.added.build(t.normalize)
}
