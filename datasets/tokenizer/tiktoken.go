package tokenizer

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// A tiktoken file has one "base64-of-bytes rank" a line; the rank is the id. The
// merges are implied: two neighbours merge when their join is a token, the lowest
// rank first. Split pattern and special tokens are not in the file; they follow
// from its name (cl100k_base, o200k_base, p50k_base, r50k_base, qwen, Llama 3's
// tokenizer.model), else from the size of the vocabulary.

const (
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwenPattern   = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	o200kPattern  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

func isTiktoken(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		return false
	}
	_, _, err = tiktokenLine(line)
	return err == nil
}

func tiktokenLine(line string) (string, int, error) {
	code, rank, ok := strings.Cut(strings.TrimSpace(line), " ")
	if !ok {
		return "", 0, fmt.Errorf("want \"base64 rank\", got %q", line)
	}
	raw, err := base64.StdEncoding.DecodeString(code)
	if err != nil {
		return "", 0, err
	}
	id, err := strconv.Atoi(rank)
	if err != nil {
		return "", 0, err
	}
	return string(raw), id, checkID(string(raw), id)
}

func parseTiktoken(file string, data []byte) (*Tokenizer, error) {
	m := &bpe{byteLevel: true, ignoreMerges: true, unk: -1, vocab: map[string]int32{}, glue: map[rune]bool{}}
	var l listing
	sc := bufio.NewScanner(bytes.NewReader(data))
	splits := 0
	for n := 1; sc.Scan(); n++ {
		if strings.TrimSpace(sc.Text()) == "" {
			continue
		}
		raw, id, err := tiktokenLine(sc.Text())
		if err != nil {
			return nil, fmt.Errorf("line %d: neither JSON nor a tiktoken line: %w", n, err)
		}
		m.vocab[raw] = int32(id)
		l.tokens, l.ids = append(l.tokens, toByteAlphabet(raw)), append(l.ids, int32(id))
		splits += len(raw) - 1
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	if len(l.ids) == 0 {
		return nil, fmt.Errorf("the file is empty")
	}
	m.listed = l.each
	m.indexBytes()
	m.merges = newPairTable(splits)
	for raw, id := range m.vocab {
		for i := 1; i < len(raw); i++ {
			a, okA := m.vocab[raw[:i]]
			b, okB := m.vocab[raw[i:]]
			if okA && okB {
				m.merges.put(a, b, uint64(id)<<32|uint64(uint32(id)))
			}
		}
	}
	t := &Tokenizer{model: m, byteDecode: true}
	expr, special := tiktokenFamily(filepath.Base(file), len(l.ids))
	if expr == qwenPattern {
		t.normalize = norm.NFC.String
	}
	t.split = []preTokenizer{&splitter{m: scanners[expr], behavior: "Isolated"}}
	for content, id := range special {
		t.added.list = append(t.added.list, addedToken{ID: id, Content: content, Special: true})
	}
	return t, nil
}

// tiktokenFamily is the split pattern and special tokens of a tiktoken file.
func tiktokenFamily(name string, size int) (string, map[string]int) {
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "o200k") || size > 199000:
		return o200kPattern, map[string]int{"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
	case strings.Contains(name, "qwen") || size > 151000 && size < 152000:
		special := map[string]int{"<|endoftext|>": 151643, "<|im_start|>": 151644, "<|im_end|>": 151645}
		for i := range 205 {
			special[fmt.Sprintf("<|extra_%d|>", i)] = 151646 + i
		}
		return qwenPattern, special
	case size == 128000: // Llama 3
		special := map[string]int{}
		for i, s := range []string{"<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>",
			"<|reserved_special_token_1|>", "<|reserved_special_token_2|>", "<|reserved_special_token_3|>",
			"<|start_header_id|>", "<|end_header_id|>", "<|reserved_special_token_4|>", "<|eot_id|>"} {
			special[s] = 128000 + i
		}
		for i := 5; i < 251; i++ {
			special[fmt.Sprintf("<|reserved_special_token_%d|>", i)] = 128005 + i
		}
		return cl100kPattern, special
	case size < 51000: // r50k_base, p50k_base, gpt2
		return gpt2Pattern, map[string]int{"<|endoftext|>": 50256}
	}
	return cl100kPattern, map[string]int{"<|endoftext|>": 100257, "<|fim_prefix|>": 100258,
		"<|fim_middle|>": 100259, "<|fim_suffix|>": 100260, "<|endofprompt|>": 100276}
}
