package evaluators

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// choices are the labels of a question and, where known, the option texts.
type choices struct {
	labels []string
	texts  []string // nil, or one per label
}

// letters are the labels A, B, C … of n options.
func letters(n int) []string {
	out := make([]string, min(n, 26))
	for i := range out {
		out[i] = string(rune('A' + i))
	}
	return out
}

// choicesOf finds an item's options: labels as configured, else as many letters
// as the item has option texts, else letters up to the gold and at least D.
func choicesOf(it Item, labels []string) choices {
	c := choices{labels: labels, texts: optionTexts(it)}
	if len(c.labels) == 0 {
		c.labels = it.Labels
	}
	if len(c.labels) == 0 {
		n := len(c.texts)
		if n == 0 {
			n = 4
			if g := it.Gold; len(g) > 0 && 'A' <= g[0] && g[0] <= 'Z' && (len(g) == 1 || !isLatin(rune(g[1]))) {
				n = max(n, int(g[0]-'A')+1)
			}
		}
		c.labels = letters(n)
	}
	if len(c.texts) > len(c.labels) {
		c.texts = c.texts[:len(c.labels)]
	} else if len(c.texts) < len(c.labels) {
		c.texts = nil
	}
	return c
}

// optionColumns are the column sets data sets keep their option texts in.
var optionColumns = [][]string{
	{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P"},
	{"choice_A", "choice_B", "choice_C", "choice_D"},
	{"option1", "option2", "option3", "option4"},
	{"answerA", "answerB", "answerC"},
	{"sol1", "sol2"},
}

// optionTexts reads the option texts of a row, nil when it has none: a list
// (options, choices, endings), a {text, label} object, or one column each.
func optionTexts(it Item) []string {
	for _, key := range []string{"options", "choices", "endings"} {
		v := it.Fields[key]
		if m, ok := v.(map[string]any); ok {
			v = m["text"]
		}
		if l, ok := asStrings(v); ok && len(l) > 1 {
			return l
		}
		if list, ok := v.([]any); ok && len(list) > 1 {
			var texts []string
			for _, e := range list {
				if m, isMap := e.(map[string]any); isMap {
					if s, isText := asText(m["text"]); isText {
						texts = append(texts, s)
					}
				}
			}
			if len(texts) == len(list) {
				return texts
			}
		}
	}
	for _, cols := range optionColumns {
		var texts []string
		for _, c := range cols {
			s, ok := asText(it.Fields[c])
			if !ok {
				break
			}
			texts = append(texts, s)
		}
		if len(texts) > 1 {
			return texts
		}
	}
	return nil
}

// goldLabel is the label a reference stands for: the label itself in any case or
// width, "X. text", the option's text, or a zero-based index.
func (c choices) goldLabel(ref string) (string, bool) {
	ref = strings.TrimSpace(ref)
	for _, l := range c.labels {
		if ref == l {
			return l, true
		}
	}
	if l, n, ok := c.labelAt(ref, 0, true); ok {
		rest := strings.TrimLeft(ref[n:], ".):：、 ")
		if rest == "" || rest != ref[n:] {
			return l, true
		}
	}
	for i, t := range c.texts {
		if strings.EqualFold(strings.TrimSpace(t), ref) {
			return c.labels[i], true
		}
	}
	if len(ref) == 1 && '0' <= ref[0] && int(ref[0]-'0') < len(c.labels) {
		return c.labels[ref[0]-'0'], true
	}
	return "", false
}

// foldWidth maps a full-width letter or digit to its ASCII form.
func foldWidth(r rune) rune {
	if 0xFF01 <= r && r <= 0xFF5E {
		return r - 0xFEE0
	}
	return r
}

// labelAt reads a label at byte pos: its canonical form and the end. anyCase
// accepts a single letter of the other case; words are matched in any case.
// What follows must not continue a word.
func (c choices) labelAt(text string, pos int, anyCase bool) (label string, end int, ok bool) {
	for _, l := range c.labels {
		end, matched := matchFolded(text, pos, l, anyCase || len(l) > 1)
		if !matched {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[end:])
		if isLatin(foldWidth(next)) && next != '_' || '0' <= next && next <= '9' || next == '\'' && end+1 < len(text) && isLatin(rune(text[end+1])) {
			continue
		}
		return l, end, true
	}
	return "", pos, false
}

// matchFolded compares text at pos with want, full-width forms folded and, with
// anyCase, letter case too.
func matchFolded(text string, pos int, want string, anyCase bool) (end int, ok bool) {
	end = pos
	for _, w := range want {
		r, size := utf8.DecodeRuneInString(text[end:])
		if size == 0 {
			return pos, false
		}
		r = foldWidth(r)
		if r != w && !(anyCase && unicode.ToLower(r) == unicode.ToLower(w)) {
			return pos, false
		}
		end += size
	}
	return end, true
}

// openers may stand around a label: brackets, quotes, Markdown, LaTeX.
var labelOpeners = []string{
	`\boxed{`, `\fbox{`, `\textbf{`, `\mathbf{`, `\text{`, `\mathrm{`, `\textit{`, `\(`, `\[`, `$$`, `$`, "**", "*", "__", "_", "`", `"`, "'", "“", "‘", "「", "(", "[", "{", "（", "【", "［", "<", ">", "#",
	"the ", "option", "Option", "OPTION", "choice", "Choice", "letter", "Letter", "选项", "選項", "：", ":", "=", "\n", "\r", "\t", " ", "\u00a0", "\u3000", "~",
}

// readLabel reads the label announced at byte pos, through openers. bracket says
// that a bracket or markup stood directly before it, which makes a lower-case
// letter or an "A" or "I" in running text unmistakable.
func (c choices) readLabel(text string, pos int) (label string, end int, ok bool) {
	bracket := false
	for skipped := 0; skipped < 24; skipped++ {
		if l, e, found := c.labelAt(text, pos, true); found && c.standsAlone(text, pos, e, l, bracket) {
			return l, e, true
		}
		moved := false
		for _, o := range labelOpeners {
			if strings.HasPrefix(text[pos:], o) {
				pos += len(o)
				moved = true
				bracket = strings.ContainsAny(o, "({[*$`\"'_（【［“‘「") || bracket && strings.TrimSpace(o) == ""
				break
			}
		}
		if !moved {
			break
		}
	}
	return "", pos, false
}

// afterArticle are the words that follow a label but not the article "a" or the
// pronoun "I".
var afterArticle = []string{"because", "since", "as ", "which", "is ", "was ", "due", "based", "given", "not ", "and ", "or ", "for the", "with ", "in the", "over "}

// standsAlone tells a label from the start of a sentence or option text: "A"
// and "I" followed by a word, and lower-case letters, are labels only where
// something says so.
func (c choices) standsAlone(text string, start, end int, label string, bracket bool) bool {
	if len(label) != 1 || bracket {
		return true
	}
	rest := text[end:]
	first, _ := utf8.DecodeRuneInString(text[start:])
	lower := unicode.IsLower(foldWidth(first)) && unicode.IsUpper(rune(label[0]))
	if !strings.HasPrefix(rest, " ") {
		return !lower || rest == "" || strings.ContainsRune(".,;:)]}!\n\r*$`，。；：）", firstRune(rest))
	}
	word := strings.TrimLeft(rest, " ")
	next := firstRune(word)
	if lower {
		return word == "" || next == '\n'
	}
	if label != "A" && label != "I" {
		return true
	}
	if word == "" || !unicode.IsLower(next) && !unicode.IsUpper(next) {
		return true
	}
	for _, w := range afterArticle {
		if strings.HasPrefix(word, w) || strings.TrimSpace(word) == strings.TrimSpace(w) {
			return true
		}
	}
	return false
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// alternative reports whether a second label follows at once ("A or B", "A, C",
// "A/B", "A和B"), so that no single one was chosen.
func (c choices) alternative(text string, end int, label string) bool {
	rest := strings.TrimLeft(text[end:], "*_`)）]】$}\" ")
	for _, link := range []string{"or ", "and ", "and/or ", "/", "&", "或", "和", "、", ",", "，"} {
		if !strings.HasPrefix(rest, link) {
			continue
		}
		at := len(rest) - len(strings.TrimLeft(rest[len(link):], " *_(（[$"))
		if other, e, ok := c.labelAt(rest, at, false); ok && other != label && c.standsAlone(rest, at, e, other, false) {
			return true
		}
	}
	return false
}

// readLabels reads a run of labels for questions with several right answers:
// "ACD", "A, C and D", "(A)(C)", "A、C". They come back in label order.
func (c choices) readLabels(text string, pos int) []string {
	first, end, ok := c.readLabel(text, pos)
	chosen := map[string]bool{}
	if !ok {
		// "ACD": letters run together
		for pos < len(text) && strings.ContainsRune(" *_`$({[（【\"'：:", firstRune(text[pos:])) {
			_, size := utf8.DecodeRuneInString(text[pos:])
			pos += size
		}
		end = pos
		for {
			matched := false
			for _, l := range c.labels {
				if e, m := matchFolded(text, end, l, false); m {
					chosen[l], end, matched = true, e, true
					break
				}
			}
			if !matched {
				break
			}
		}
		if isLatin(firstRune(text[end:])) {
			return nil
		}
	} else {
		chosen[first] = true
	}
	for {
		rest := text[end:]
		trimmed := strings.TrimLeft(rest, " ,，、;；*_`()（）[]【】$&+")
		for _, w := range []string{"and ", "和", "与", "及"} {
			trimmed = strings.TrimLeft(strings.TrimPrefix(trimmed, w), " (（[*")
		}
		if trimmed == rest {
			break
		}
		l, e, more := c.labelAt(trimmed, 0, false)
		if !more || !c.standsAlone(trimmed, 0, e, l, false) {
			break
		}
		chosen[l] = true
		end += len(rest) - len(trimmed) + e
	}
	var out []string
	for _, l := range c.labels {
		if chosen[l] {
			out = append(out, l)
		}
	}
	return out
}
