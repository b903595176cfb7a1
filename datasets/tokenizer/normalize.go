package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/dlclark/regexp2"
	"golang.org/x/text/unicode/norm"

	"ais_bench/registry"
)

// normalizer rewrites text before it is split. It must not depend on anything
// but its argument.
type normalizer func(string) string

// pattern is how tokenizer.json writes what to look for: {"String": …} or
// {"Regex": …}.
type pattern struct {
	String *string `json:"String"`
	Regex  *string `json:"Regex"`
}

type normalizerJSON struct {
	Type               string            `json:"type"`
	Normalizers        []json.RawMessage `json:"normalizers"`
	Pattern            pattern           `json:"pattern"`
	Content            string            `json:"content"`
	Prepend            string            `json:"prepend"`
	StripLeft          bool              `json:"strip_left"`
	StripRight         bool              `json:"strip_right"`
	CleanText          *bool             `json:"clean_text"`
	HandleChineseChars *bool             `json:"handle_chinese_chars"`
	StripAccents       *bool             `json:"strip_accents"`
	Lowercase          *bool             `json:"lowercase"`
	Charsmap           string            `json:"precompiled_charsmap"`
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// parseNormalizer gives nil for none.
func parseNormalizer(raw json.RawMessage) (normalizer, error) {
	if isNull(raw) {
		return nil, nil
	}
	var j normalizerJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, fmt.Errorf("normalizer: %w", registry.ExplainJSON(raw, err))
	}
	switch j.Type {
	case "Sequence":
		var list []normalizer
		for _, r := range j.Normalizers {
			n, err := parseNormalizer(r)
			if err != nil {
				return nil, err
			}
			if n != nil {
				list = append(list, n)
			}
		}
		if len(list) == 0 {
			return nil, nil
		}
		return func(s string) string {
			for _, n := range list {
				s = n(s)
			}
			return s
		}, nil
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "Lowercase":
		return lowercase, nil
	case "StripAccents":
		return func(s string) string { return stripMarks(s, unicode.M) }, nil
	case "Strip":
		return func(s string) string {
			if j.StripLeft {
				s = strings.TrimLeftFunc(s, unicode.IsSpace)
			}
			if j.StripRight {
				s = strings.TrimRightFunc(s, unicode.IsSpace)
			}
			return s
		}, nil
	case "Prepend":
		return func(s string) string {
			if s == "" {
				return s
			}
			return j.Prepend + s
		}, nil
	case "Replace":
		return parseReplace(j.Pattern, j.Content)
	case "Nmt":
		return nmt, nil
	case "ByteLevel":
		return toByteAlphabet, nil
	case "BertNormalizer":
		lower := j.Lowercase == nil || *j.Lowercase
		accents := lower
		if j.StripAccents != nil {
			accents = *j.StripAccents
		}
		return bertNormalizer(j.CleanText == nil || *j.CleanText, j.HandleChineseChars == nil || *j.HandleChineseChars, accents, lower), nil
	case "Precompiled":
		return parseCharsmap(j.Charsmap)
	}
	return nil, fmt.Errorf("normalizer type %q is not known", j.Type)
}

func parseReplace(p pattern, content string) (normalizer, error) {
	if p.String != nil {
		old := *p.String
		return func(s string) string { return strings.ReplaceAll(s, old, content) }, nil
	}
	if p.Regex == nil {
		return nil, fmt.Errorf("replace without a pattern")
	}
	m, err := newMatcher(p)
	if err != nil {
		return nil, err
	}
	return func(s string) string {
		var b strings.Builder
		done := 0
		for from := 0; from < len(s); {
			start, end := m.next(s, from)
			if start < 0 || end == start {
				break
			}
			b.WriteString(s[done:start])
			b.WriteString(content)
			done, from = end, end
		}
		if done == 0 {
			return s
		}
		b.WriteString(s[done:])
		return b.String()
	}, nil
}

// lowercase maps each character on its own, with the one mapping that grows.
func lowercase(s string) string {
	if strings.ContainsRune(s, 'İ') {
		s = strings.ReplaceAll(s, "İ", "i\u0307")
	}
	return strings.ToLower(s)
}

func stripMarks(s string, marks *unicode.RangeTable) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && unicode.Is(marks, r) {
			return -1
		}
		return r
	}, s)
}

// nmt is SentencePiece's nmt rule: control characters go, odd blanks become spaces.
func nmt(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 1 && r <= 8, r == 0x0B, r >= 0x0E && r <= 0x1F, r == 0x7F, r == 0x8F, r == 0x9F:
			return -1
		case r == 9, r == 10, r == 12, r == 13, r == 0x1680, r >= 0x200B && r <= 0x200F, r == 0x2028, r == 0x2029,
			r == 0x2581, r == 0xFEFF, r == 0xFFFD:
			return ' '
		}
		return r
	}, s)
}

func bertNormalizer(clean, chinese, accents, lower bool) normalizer {
	return func(s string) string {
		if clean {
			s = strings.Map(func(r rune) rune {
				switch {
				case r == '\t' || r == '\n' || r == '\r' || unicode.IsSpace(r):
					return ' '
				case r == 0 || r == 0xFFFD || isOther(r):
					return -1
				}
				return r
			}, s)
		}
		if chinese && strings.IndexFunc(s, isBertIdeograph) >= 0 {
			var b strings.Builder
			for _, r := range s {
				if isBertIdeograph(r) {
					b.WriteByte(' ')
					b.WriteRune(r)
					b.WriteByte(' ')
				} else {
					b.WriteRune(r)
				}
			}
			s = b.String()
		}
		if accents {
			s = stripMarks(norm.NFD.String(s), unicode.Mn)
		}
		if lower {
			s = lowercase(s)
		}
		return s
	}
}

// isOther is the general category C as the reference has it: control, format and
// private use, but not the code points nobody has assigned.
func isOther(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7F
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

func isBertIdeograph(r rune) bool {
	return r >= 0x4E00 && (r <= 0x9FFF || r >= 0xF900 && r <= 0xFAFF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0x2F800 && r <= 0x2FA1F) || r >= 0x3400 && r <= 0x4DBF
}

// charsmap is SentencePiece's compiled replacement table: a double-array trie
// over bytes whose values are offsets into a blob of NUL-ended strings.
type charsmap struct {
	units []uint32
	blob  string
}

func parseCharsmap(encoded string) (normalizer, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("normalizer Precompiled: %w", err)
	}
	if len(raw) == 0 {
		return nil, nil
	}
	if len(raw) < 4 || int(binary.LittleEndian.Uint32(raw)) > len(raw)-4 {
		return nil, fmt.Errorf("normalizer Precompiled: the table is cut short")
	}
	n := int(binary.LittleEndian.Uint32(raw))
	m := charsmap{units: make([]uint32, n/4), blob: string(raw[4+n:])}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(raw[4+4*i:])
	}
	return m.apply, nil
}

// find is the replacement of the shortest entry that s begins with. The shortest
// because that is what the reference implementation takes.
func (m charsmap) find(s string) (string, bool) {
	offset := func(u uint32) uint32 { return (u >> 10) << ((u & (1 << 9)) >> 6) }
	if len(m.units) == 0 {
		return "", false
	}
	node := offset(m.units[0])
	for i := 0; i < len(s); i++ {
		if s[i] == 0 {
			return "", false
		}
		node ^= uint32(s[i])
		if int(node) >= len(m.units) || m.units[node]&(1<<31|0xFF) != uint32(s[i]) {
			return "", false
		}
		u := m.units[node]
		node ^= offset(u)
		if u>>8&1 == 1 && int(node) < len(m.units) {
			at := int(m.units[node] & (1<<31 - 1))
			if at > len(m.blob) {
				return "", false
			}
			text, _, _ := strings.Cut(m.blob[at:], "\x00")
			return text, true
		}
	}
	return "", false
}

func (m charsmap) apply(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	g := graphemes.FromString(s)
	for g.Next() {
		cluster := g.Value()
		if len(cluster) < 6 {
			if text, ok := m.find(cluster); ok {
				b.WriteString(text)
				continue
			}
		}
		for i, w := 0, 0; i < len(cluster); i += w {
			_, w = utf8.DecodeRuneInString(cluster[i:])
			if text, ok := m.find(cluster[i : i+w]); ok {
				b.WriteString(text)
			} else {
				b.WriteString(cluster[i : i+w])
			}
		}
	}
	return b.String()
}

// engine is the fallback for patterns without a scanner.
type engine struct{ re *regexp2.Regexp }

func newEngine(expr string) (*engine, error) {
	re, err := regexp2.Compile(expr, regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", expr, err)
	}
	return &engine{re}, nil
}
