package outputs

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// translator turns the fixed texts of one report into Chinese. Texts are looked
// up whole; a term with verbs ("%d of %d requests failed") stands for every text
// that fmt could have made of it, and its translation names the values by their
// position ("{1}"). Values of %s and %v are translated in turn, but for those that
// are somebody's own words ("{1!}").
type translator struct {
	zh       bool
	extra    map[string]string
	patterns []pattern
	known    map[string]string // translated before
}

func newTranslator(d *ReportData) *translator {
	t := &translator{zh: d.Lang == "zh", extra: d.Translations, known: map[string]string{}, patterns: standardPatterns()}
	if own := patternsOf(d.Translations); len(own) > 0 {
		t.patterns = append(own, t.patterns...)
	}
	return t
}

// term is a text in the report's language.
func (t *translator) term(s string) string {
	if !t.zh {
		return s
	}
	return t.chinese(s)
}

// chinese is the text in Chinese; itself where it has no translation.
func (t *translator) chinese(s string) string { return t.nested(s, 0) }

// maxPattern is the longest text that patterns are tried on: fixed texts with a
// value in them are sentences, not answers.
const maxPattern = 1000

func (t *translator) nested(s string, depth int) string {
	if v, ok := t.exact(s); ok {
		return v
	}
	if len(s) > maxPattern || depth > 7 || strings.TrimSpace(s) == "" {
		return s
	}
	if v, ok := t.known[s]; ok {
		return v
	}
	out := s
	for i := range t.patterns {
		if v, ok := t.patterns[i].apply(s, func(part string) string { return t.nested(part, depth+1) }); ok {
			out = v
			break
		}
	}
	if out == s {
		out = t.pieces(s, depth+1)
	}
	if len(t.known) < 1<<16 {
		t.known[s] = out
	}
	return out
}

// pieces translates what a longer text is made of: an indented row of a table,
// several texts in one cell.
func (t *translator) pieces(s string, depth int) string {
	if trimmed := strings.TrimLeft(s, " "); trimmed != s {
		return s[:len(s)-len(trimmed)] + t.nested(trimmed, depth)
	}
	parts := strings.Split(s, "; ")
	if len(parts) == 1 {
		return s
	}
	for i := range parts {
		parts[i] = t.nested(parts[i], depth)
	}
	if strings.Join(parts, "; ") == s {
		return s
	}
	return strings.Join(parts, "；")
}

func (t *translator) exact(s string) (string, bool) {
	if v, ok := t.extra[s]; ok {
		return v, true
	}
	v, ok := terms()[s]
	return v, ok
}

// label is the translated heading of a column.
func (t *translator) label(c Column) string {
	c.Name, c.Unit = t.term(c.Name), t.term(c.Unit)
	if t.zh && c.Unit != "" {
		return c.Name + "（" + c.Unit + "）"
	}
	return c.Label()
}

// pattern is a term with verbs.
type pattern struct {
	key     string // the term
	prefix  string // what the text begins with
	longest string // the longest fixed part: most texts are refused by it
	re      *regexp.Regexp
	text    []bool // whether the i-th value is text, to be translated in turn
	zh      string
}

var (
	verb        = regexp.MustCompile(`%[-+#0]*\d*(?:\.\d+)?[a-zA-Z%]`)
	placeholder = regexp.MustCompile(`\{(\d)!?\}`)
)

// shortPattern is the length of fixed text below which a pattern says so little
// that its values must be single words; %v is always one.
const shortPattern = 10

func newPattern(key, zh string) pattern {
	p := pattern{key: key, zh: zh}
	fixed := 0
	for _, part := range verb.Split(key, -1) {
		fixed += len(strings.TrimSpace(part))
		if len(part) > len(p.longest) {
			p.longest = part
		}
	}
	some := `.+?`
	head, _, _ := strings.Cut(key, "%") // "knee at %s" and "on: %s" say enough by their beginning
	if fixed < shortPattern && !strings.Contains(key, "%v") && len(head) < 6 && (len(head) < 4 || !strings.ContainsAny(head, ":,")) {
		some = `\S+?`
	}
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	at := 0
	for i, loc := range verb.FindAllStringIndex(key, -1) {
		if i == 0 {
			p.prefix = key[:loc[0]]
		}
		b.WriteString(regexp.QuoteMeta(key[at:loc[0]]))
		at = loc[1]
		text := false
		switch key[at-1] {
		case '%':
			b.WriteString(`%`)
			continue
		case 'd':
			b.WriteString(`(-?\d+)`)
		case 'f', 'g', 'e':
			b.WriteString(`(-?[\d.]+(?:e[-+]?\d+)?)`)
		case 'q':
			b.WriteString(`("(?:[^"\\]|\\.)*")`)
		case 'v':
			b.WriteString(`(\S+?)`)
			text = true
		default:
			value := some
			if at < len(key) && some == `.+?` {
				value = `(?:[^;]|;[^ ])+?` // "; " parts texts: only the last value may hold several
			}
			b.WriteString("(" + value + ")")
			text = true
		}
		p.text = append(p.text, text)
	}
	b.WriteString(regexp.QuoteMeta(key[at:]) + `\z`)
	p.re = regexp.MustCompile(b.String())
	return p
}

func (p *pattern) apply(s string, inner func(string) string) (string, bool) {
	if !strings.HasPrefix(s, p.prefix) || !strings.Contains(s, p.longest) {
		return "", false
	}
	m := p.re.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	return placeholder.ReplaceAllStringFunc(p.zh, func(ref string) string {
		i, _ := strconv.Atoi(ref[1:2])
		if i < 1 || i >= len(m) {
			return ref
		}
		if p.text[i-1] && ref[2] != '!' {
			return inner(m[i])
		}
		return m[i]
	}), true
}

// patternsOf are the terms with verbs: those that begin with words first, and of
// them those that say most.
func patternsOf(list map[string]string) []pattern {
	var out []pattern
	for _, key := range slices.Sorted(maps.Keys(list)) {
		if verb.MatchString(key) {
			out = append(out, newPattern(key, list[key]))
		}
	}
	slices.SortStableFunc(out, func(a, b pattern) int {
		// "it can never pass: %s" before what could stand behind it.
		if a, b := a.prefix == "", b.prefix == ""; a != b {
			if a {
				return 1
			}
			return -1
		}
		return cmp.Compare(len(verb.ReplaceAllString(b.key, "")), len(verb.ReplaceAllString(a.key, "")))
	})
	return out
}

var standardPatterns = sync.OnceValue(func() []pattern { return patternsOf(terms()) })
