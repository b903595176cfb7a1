package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"ais_bench/registry"
)

// decoder turns tokens as the vocabulary writes them into parts of text.
type decoder func(tokens []string) []string

type decoderJSON struct {
	Type           string            `json:"type"`
	Decoders       []json.RawMessage `json:"decoders"`
	Pattern        pattern           `json:"pattern"`
	Content        string            `json:"content"`
	Start          int               `json:"start"`
	Stop           int               `json:"stop"`
	Replacement    string            `json:"replacement"`
	PrependScheme  string            `json:"prepend_scheme"`
	AddPrefixSpace *bool             `json:"add_prefix_space"`
	Prefix         string            `json:"prefix"`
	Suffix         string            `json:"suffix"`
	Cleanup        *bool             `json:"cleanup"`
	PadToken       string            `json:"pad_token"`
	WordDelimiter  string            `json:"word_delimiter_token"`
}

// parseDecoder gives nil for none; byteLevel reports a plain ByteLevel decoder,
// which has a faster road.
func parseDecoder(raw json.RawMessage) (d decoder, byteLevel bool, err error) {
	if isNull(raw) {
		return nil, false, nil
	}
	var j decoderJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, false, fmt.Errorf("decoder: %w", registry.ExplainJSON(raw, err))
	}
	switch j.Type {
	case "Sequence":
		var list []decoder
		for _, r := range j.Decoders {
			d, _, err := parseDecoder(r)
			if err != nil {
				return nil, false, err
			}
			if d != nil {
				list = append(list, d)
			}
		}
		return func(tokens []string) []string {
			for _, d := range list {
				tokens = d(tokens)
			}
			return tokens
		}, false, nil
	case "ByteLevel":
		return func(tokens []string) []string {
			var b strings.Builder
			for _, tok := range tokens {
				b.WriteString(fromByteAlphabetOrSame(tok))
			}
			return []string{lossy(b.String())}
		}, true, nil
	case "Replace":
		n, err := parseReplace(j.Pattern, j.Content)
		if err != nil {
			return nil, false, fmt.Errorf("decoder: %w", err)
		}
		return perToken(func(_ int, tok string) string { return n(tok) }), false, nil
	case "ByteFallback":
		return decodeByteFallback, false, nil
	case "Fuse":
		return func(tokens []string) []string { return []string{strings.Join(tokens, "")} }, false, nil
	case "Strip":
		return perToken(func(_ int, tok string) string {
			for i := 0; i < j.Start && strings.HasPrefix(tok, j.Content); i++ {
				tok = tok[len(j.Content):]
			}
			for i := 0; i < j.Stop && strings.HasSuffix(tok, j.Content); i++ {
				tok = tok[:len(tok)-len(j.Content)]
			}
			return tok
		}), false, nil
	case "Metaspace":
		mark := j.Replacement
		if mark == "" {
			mark = metaspace
		}
		never := strings.EqualFold(j.PrependScheme, "never") || j.PrependScheme == "" && j.AddPrefixSpace != nil && !*j.AddPrefixSpace
		return perToken(func(i int, tok string) string {
			if i == 0 && !never {
				return strings.ReplaceAll(tok, mark, "")
			}
			return strings.ReplaceAll(tok, mark, " ")
		}), false, nil
	case "WordPiece":
		prefix, cleanup := j.Prefix, j.Cleanup == nil || *j.Cleanup
		if prefix == "" {
			prefix = "##"
		}
		return perToken(func(i int, tok string) string {
			if i > 0 {
				if rest, ok := strings.CutPrefix(tok, prefix); ok {
					tok = rest
				} else {
					tok = " " + tok
				}
			}
			if cleanup {
				tok = cleanUp(tok)
			}
			return tok
		}), false, nil
	case "BPEDecoder":
		suffix := j.Suffix
		if suffix == "" {
			suffix = "</w>"
		}
		return func(tokens []string) []string {
			out := make([]string, len(tokens))
			for i, tok := range tokens {
				blank := " "
				if i == len(tokens)-1 {
					blank = ""
				}
				out[i] = strings.ReplaceAll(tok, suffix, blank)
			}
			return out
		}, false, nil
	case "CTC":
		return func(tokens []string) []string {
			var out []string
			for i, tok := range tokens {
				if i > 0 && tok == tokens[i-1] || tok == j.PadToken {
					continue
				}
				if j.Cleanup == nil || *j.Cleanup {
					tok = strings.ReplaceAll(cleanUp(tok), j.WordDelimiter, " ")
				}
				out = append(out, tok)
			}
			return out
		}, false, nil
	}
	return nil, false, fmt.Errorf("decoder type %q is not known", j.Type)
}

func perToken(f func(i int, tok string) string) decoder {
	return func(tokens []string) []string {
		out := make([]string, len(tokens))
		for i, tok := range tokens {
			out[i] = f(i, tok)
		}
		return out
	}
}

// cleanUp takes back the blanks that splitting English punctuation puts in.
var cleanUp = func() func(string) string {
	pairs := [][2]string{{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"},
		{" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}}
	return func(s string) string {
		for _, p := range pairs { // one after the other: a later rule sees what an earlier one made
			s = strings.ReplaceAll(s, p[0], p[1])
		}
		return s
	}
}()

// decodeByteFallback joins runs of <0xNN> tokens into the text of their bytes;
// a run that is not UTF-8 gives one U+FFFD a byte.
func decodeByteFallback(tokens []string) []string {
	var out []string
	var run []byte
	flush := func() {
		if len(run) == 0 {
			return
		}
		if utf8.Valid(run) {
			out = append(out, string(run))
		} else {
			out = append(out, strings.Repeat("\uFFFD", len(run)))
		}
		run = run[:0]
	}
	for _, tok := range tokens {
		if b, ok := byteToken(tok); ok {
			run = append(run, b)
			continue
		}
		flush()
		out = append(out, tok)
	}
	flush()
	return out
}

// byteToken parses <0xNN>.
func byteToken(tok string) (byte, bool) {
	if len(tok) != 6 || tok[:3] != "<0x" || tok[5] != '>' {
		return 0, false
	}
	hi, lo := hexDigit(tok[3]), hexDigit(tok[4])
	return byte(hi<<4 | lo), hi >= 0 && lo >= 0
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

type postJSON struct {
	Type       string            `json:"type"`
	Processors []json.RawMessage `json:"processors"`
	Single     []struct {
		SpecialToken *struct {
			ID string `json:"id"`
		} `json:"SpecialToken"`
		Sequence *struct {
			ID string `json:"id"`
		} `json:"Sequence"`
	} `json:"single"`
	SpecialTokens map[string]struct {
		IDs []int `json:"ids"`
	} `json:"special_tokens"`
	CLS json.RawMessage `json:"cls"`
	SEP json.RawMessage `json:"sep"`
}

// parsePost gives the ids a post-processor puts before and after one text.
func parsePost(raw json.RawMessage) (prefix, suffix []int, err error) {
	if isNull(raw) {
		return nil, nil, nil
	}
	var j postJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, nil, fmt.Errorf("post_processor: %w", registry.ExplainJSON(raw, err))
	}
	switch j.Type {
	case "ByteLevel":
		return nil, nil, nil
	case "Sequence":
		for _, r := range j.Processors {
			p, s, err := parsePost(r)
			if err != nil {
				return nil, nil, err
			}
			prefix, suffix = append(p, prefix...), append(suffix, s...)
		}
		return prefix, suffix, nil
	case "TemplateProcessing":
		seen := false
		for _, piece := range j.Single {
			if piece.SpecialToken == nil {
				seen = true
				continue
			}
			tok, ok := j.SpecialTokens[piece.SpecialToken.ID]
			if !ok {
				return nil, nil, fmt.Errorf("post_processor: template names %q, which special_tokens does not define", piece.SpecialToken.ID)
			}
			if seen {
				suffix = append(suffix, tok.IDs...)
			} else {
				prefix = append(prefix, tok.IDs...)
			}
		}
		return prefix, suffix, nil
	case "BertProcessing", "RobertaProcessing":
		cls, err := tokenAndID(j.CLS)
		if err != nil {
			return nil, nil, fmt.Errorf("post_processor cls: %w", err)
		}
		sep, err := tokenAndID(j.SEP)
		if err != nil {
			return nil, nil, fmt.Errorf("post_processor sep: %w", err)
		}
		return []int{cls}, []int{sep}, nil
	}
	return nil, nil, fmt.Errorf("post_processor type %q is not known", j.Type)
}

func tokenAndID(raw json.RawMessage) (int, error) {
	var pair []json.RawMessage
	if err := json.Unmarshal(raw, &pair); err != nil {
		return 0, err
	}
	if len(pair) != 2 {
		return 0, fmt.Errorf("want [token, id], got %d values", len(pair))
	}
	var id int
	return id, json.Unmarshal(pair[1], &id)
}
