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
