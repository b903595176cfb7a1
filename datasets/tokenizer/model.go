package tokenizer

import (
	"fmt"

	"github.com/buger/jsonparser"
)

// modelJSON is the "model" of a tokenizer.json. vocab and merges are not yet read.
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

// parseModel reads the "model" of a tokenizer.json. byteLevel and noSplit say what the
// pre-tokenizer does.
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
		return parseWordPiece(&j)
	case "WordLevel":
		return parseWordLevel(&j)
	}
	return nil, fmt.Errorf("model type %q is not known (BPE, Unigram, WordPiece and WordLevel are)", j.Type)
}
