package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"ais_bench/registry"
)

// preTokenizer cuts pieces into smaller ones, appended to out. first says that
// pieces[0] stands at the very start of the text.
type preTokenizer interface {
	split(pieces []string, first bool, out []string) []string
}

// matcher finds the next match of a pattern in s at or after from; start < 0
// when there is none.
type matcher interface {
	next(s string, from int) (start, end int)
}

type matcherFunc func(s string, from int) (int, int)

func (f matcherFunc) next(s string, from int) (int, int) { return f(s, from) }

// total is a scanner whose pattern matches at every position.
type total func(s string, i int) (end int)

func (f total) next(s string, from int) (int, int) {
	if from >= len(s) {
		return -1, -1
	}
	return from, f(s, from)
}

type literal string

func (l literal) next(s string, from int) (int, int) {
	i := strings.Index(s[from:], string(l))
	if i < 0 {
		return -1, -1
	}
	return from + i, from + i + len(l)
}

// next of the engine works on characters, so it converts; the whole string is
// scanned at each call, which newMatcher's caller avoids through all.
func (e *engine) next(s string, from int) (int, int) {
	m, err := e.re.FindStringMatch(s[from:])
	if err != nil || m == nil || m.Length == 0 {
		return -1, -1
	}
	start := from + runeOffset(s[from:], m.Index)
	return start, start + runeOffset(s[start:], m.Length)
}

// all finds every match in one pass, so that look-behind sees the text before.
func (e *engine) all(s string, found func(start, end int)) {
	m, err := e.re.FindStringMatch(s)
	chars, at := 0, 0 // characters and bytes passed
	for err == nil && m != nil {
		at += runeOffset(s[at:], m.Index-chars)
		end := at + runeOffset(s[at:], m.Length)
		if end > at {
			found(at, end)
		}
		chars, at = m.Index+m.Length, end
		m, err = e.re.FindNextMatch(m)
	}
}

func runeOffset(s string, runes int) int {
	i := 0
	for ; runes > 0 && i < len(s); runes-- {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return i
}

func newMatcher(p pattern) (matcher, error) {
	switch {
	case p.String != nil:
		if *p.String == "" {
			return nil, fmt.Errorf("pattern is empty")
		}
		return literal(*p.String), nil
	case p.Regex == nil:
		return nil, fmt.Errorf("pattern is missing")
	}
	if m, ok := scanners[*p.Regex]; ok {
		return m, nil
	}
	return newEngine(*p.Regex)
}

// splitter is Split and every pre-tokenizer that is a pattern and a behaviour.
type splitter struct {
	m        matcher
	behavior string // Isolated | Removed | MergedWithPrevious | MergedWithNext | Contiguous
	invert   bool   // what does not match is the delimiter
}

func newSplitter(p pattern, behavior string, invert bool) (preTokenizer, error) {
	m, err := newMatcher(p)
	if err != nil {
		return nil, err
	}
	switch behavior {
	case "Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous":
	default:
		return nil, fmt.Errorf("split behavior %q is not known", behavior)
	}
	return &splitter{m, behavior, invert}, nil
}

func (p *splitter) split(pieces []string, _ bool, out []string) []string {
	_, isTotal := p.m.(total)
	if isTotal && (p.behavior == "Isolated" && !p.invert || p.behavior == "Removed" && p.invert) {
		scan := p.m.(total)
		for _, s := range pieces {
			for i := 0; i < len(s); {
				end := scan(s, i)
				out = append(out, s[i:end])
				i = end
			}
		}
		return out
	}
	for _, s := range pieces {
		out = p.one(s, out)
	}
	return out
}

// stretch is a part of a piece: what the pattern matches, or what lies between.
type stretch struct {
	start, end int
	delim      bool
}

func (p *splitter) one(s string, out []string) []string {
	var parts []stretch
	done := 0
	add := func(start, end int, delim bool) {
		if start < end {
			parts = append(parts, stretch{start, end, delim})
		}
	}
	found := func(start, end int) {
		add(done, start, p.invert)
		add(start, end, !p.invert)
		done = end
	}
	if e, ok := p.m.(*engine); ok {
		e.all(s, found)
	} else {
		for from := 0; from < len(s); {
			start, end := p.m.next(s, from)
			if start < 0 {
				break
			}
			found(start, end)
			from = end
		}
	}
	add(done, len(s), p.invert)
	held := 0 // start of what is not out yet
	for i, part := range parts {
		var next stretch
		if i+1 < len(parts) {
			next = parts[i+1]
		}
		join := false // with the next part
		switch p.behavior {
		case "Removed":
			if part.delim {
				held = part.end
				continue
			}
		case "Contiguous":
			join = part.delim == next.delim
		case "MergedWithPrevious": // a delimiter joins what it follows; a second one stands alone
			join = !part.delim && next.delim
		case "MergedWithNext":
			join = part.delim && !next.delim
		}
		if !join || i+1 == len(parts) {
			out = append(out, s[held:part.end])
			held = part.end
		}
	}
	return out
}

// byteLevelPrefix is ByteLevel's add_prefix_space; the byte alphabet itself is
// the vocabulary's business here.
type byteLevelPrefix struct{}

func (byteLevelPrefix) split(pieces []string, _ bool, out []string) []string {
	for _, s := range pieces {
		if !strings.HasPrefix(s, " ") {
			s = " " + s
		}
		out = append(out, s)
	}
	return out
}

// metaspacePre writes blanks as "▁" and, where asked, cuts before each.
type metaspacePre struct {
	replacement string
	scheme      string // always | first | never: whether a text without a leading blank gets one
	cut         bool
}

func (p *metaspacePre) split(pieces []string, first bool, out []string) []string {
	for i, s := range pieces {
		s = strings.ReplaceAll(s, " ", p.replacement)
		if !strings.HasPrefix(s, p.replacement) && (p.scheme == "always" || p.scheme == "first" && first && i == 0) {
			s = p.replacement + s
		}
		if !p.cut {
			out = append(out, s)
			continue
		}
		for s != "" {
			j := strings.Index(s[1:], p.replacement)
			if j < 0 {
				out = append(out, s)
				break
			}
			out = append(out, s[:j+1])
			s = s[j+1:]
		}
	}
	return out
}

// byRune cuts by the character: drop = removed, alone = a piece of its own.
type byRune struct{ drop, alone func(rune) bool }

func (p byRune) split(pieces []string, _ bool, out []string) []string {
	for _, s := range pieces {
		start := 0
		for i, r := range s {
			drop := p.drop != nil && p.drop(r)
			if !drop && (p.alone == nil || !p.alone(r)) {
				continue
			}
			if start < i {
				out = append(out, s[start:i])
			}
			start = i + utf8.RuneLen(r)
			if !drop {
				out = append(out, s[i:start])
			}
		}
		if start < len(s) {
			out = append(out, s[start:])
		}
	}
	return out
}

// runsOf cuts between characters that f tells apart (digit runs).
type runsOf func(rune) bool

func (f runsOf) split(pieces []string, _ bool, out []string) []string {
	for _, s := range pieces {
		start, last := 0, false
		for i, r := range s {
			is := f(r)
			if i > 0 && is != last {
				out = append(out, s[start:i])
				start = i
			}
			last = is
		}
		if start < len(s) {
			out = append(out, s[start:])
		}
	}
	return out
}

// findWord finds `\w+|[^\w\s]+`.
func findWord(s string, from int) (int, int) {
	kind := func(r rune) int {
		switch {
		case unicode.IsSpace(r):
			return 0
		case isWord(r):
			return 1
		}
		return 2
	}
	start, in := -1, 0
	for i, r := range s[from:] {
		k := kind(r)
		if start >= 0 && k != in {
			return start, from + i
		}
		if start < 0 && k != 0 {
			start, in = from+i, k
		}
	}
	if start < 0 {
		return -1, -1
	}
	return start, len(s)
}

func isASCIIPunct(r rune) bool {
	return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
}

func isBertPunct(r rune) bool { return isASCIIPunct(r) || unicode.IsPunct(r) }

type preTokenizerJSON struct {
	Type             string            `json:"type"`
	PreTokenizers    []json.RawMessage `json:"pretokenizers"`
	Pattern          pattern           `json:"pattern"`
	Behavior         string            `json:"behavior"`
	Invert           bool              `json:"invert"`
	AddPrefixSpace   *bool             `json:"add_prefix_space"`
	UseRegex         *bool             `json:"use_regex"`
	Replacement      string            `json:"replacement"`
	PrependScheme    string            `json:"prepend_scheme"`
	Split            *bool             `json:"split"`
	IndividualDigits bool              `json:"individual_digits"`
	Delimiter        string            `json:"delimiter"`
}

// gpt2Pattern is what ByteLevel splits by.
const gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// parsePreTokenizer appends the pre-tokenizers of raw; byteLevel reports that
// the model works on the byte alphabet.
func parsePreTokenizer(raw json.RawMessage, list []preTokenizer) (_ []preTokenizer, byteLevel bool, err error) {
	if isNull(raw) {
		return list, false, nil
	}
	var j preTokenizerJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, false, fmt.Errorf("pre_tokenizer: %w", registry.ExplainJSON(raw, err))
	}
	add := func(p preTokenizer, err error) ([]preTokenizer, bool, error) {
		if err != nil {
			return nil, false, fmt.Errorf("pre_tokenizer %s: %w", j.Type, err)
		}
		return append(list, p), false, nil
	}
	switch j.Type {
	case "Sequence":
		for _, r := range j.PreTokenizers {
			var b bool
			if list, b, err = parsePreTokenizer(r, list); err != nil {
				return nil, false, err
			}
			byteLevel = byteLevel || b
		}
		return list, byteLevel, nil
	case "Split":
		return add(newSplitter(j.Pattern, j.Behavior, j.Invert))
	case "ByteLevel":
		if j.AddPrefixSpace == nil || *j.AddPrefixSpace {
			list = append(list, byteLevelPrefix{})
		}
		if j.UseRegex == nil || *j.UseRegex {
			list = append(list, &splitter{m: scanners[gpt2Pattern], behavior: "Isolated"})
		}
		return list, true, nil
	case "Metaspace":
		p := &metaspacePre{replacement: j.Replacement, scheme: strings.ToLower(j.PrependScheme), cut: j.Split == nil || *j.Split}
		if p.replacement == "" {
			p.replacement = metaspace
		}
		if p.scheme == "" {
			p.scheme = "always"
			if j.AddPrefixSpace != nil && !*j.AddPrefixSpace {
				p.scheme = "never"
			}
		}
		return add(p, nil)
	case "BertPreTokenizer":
		return add(byRune{drop: unicode.IsSpace, alone: isBertPunct}, nil)
	case "WhitespaceSplit":
		return add(byRune{drop: unicode.IsSpace}, nil)
	case "Whitespace":
		return add(&splitter{m: matcherFunc(findWord), behavior: "Removed", invert: true}, nil)
	case "Punctuation":
		if j.Behavior == "" {
			j.Behavior = "Isolated"
		}
		p := &splitter{m: matcherFunc(func(s string, from int) (int, int) {
			i := strings.IndexFunc(s[from:], isBertPunct)
			if i < 0 {
				return -1, -1
			}
			_, w := utf8.DecodeRuneInString(s[from+i:])
			return from + i, from + i + w
		}), behavior: j.Behavior}
		return add(p, nil)
	case "Digits":
		if j.IndividualDigits {
			return add(byRune{alone: unicode.IsNumber}, nil)
		}
		return add(runsOf(unicode.IsNumber), nil)
	case "CharDelimiterSplit":
		if j.Delimiter == "" {
			return add(nil, fmt.Errorf("delimiter is missing"))
		}
		return add(&splitter{m: literal(j.Delimiter), behavior: "Removed"}, nil)
	}
	return nil, false, fmt.Errorf("pre_tokenizer type %q is not known", j.Type)
}
