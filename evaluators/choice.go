package evaluators

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// extract finds the option a text chooses. In order of trust:
//
//  1. the last explicit announcement that is followed by a label or by an
//     option's text: "answer is", "Answer:", 答案, \boxed{}, ####, "correct option
//     is", 故选 …;
//  2. a statement about a label: "(B) is correct", 选项B正确;
//  3. a text that is nothing but a label, or starts or ends with a line that is
//     one ("B", "(B)", "**B**", "B. 42 kg");
//  4. a last line that names exactly one bracketed label ("Thus, (C) Monday");
//  5. a short text, or last line, that names exactly one option's text.
//
// A letter in running prose is never an answer: "A dog", "I think", "None of
// the options" choose nothing. An announcement of two labels ("A or B") chooses
// nothing either.
func (c choices) extract(text string) (string, bool) {
	text = beforeNextQuestion(text)
	marks := append(finalMarkers(text), choiceMarkers(text)...)
	sort.Ints(marks)
	marks = latest(marks)
	for i := len(marks) - 1; i >= 0; i-- {
		at := marks[i]
		if l, ok := c.optionAt(text, at); ok && len(c.texts) > 0 {
			return l, true
		}
		if l, end, ok := c.readLabel(text, at); ok {
			if c.alternative(text, end, l) {
				return "", false
			}
			return l, true
		}
		if l, ok := c.onlyOption(markedRegion(text, at)); ok {
			return l, true
		}
	}
	if l, ok := c.statement(text); ok {
		return l, true
	}
	if l, ok := c.bare(text); ok {
		return l, true
	}
	return c.named(text)
}

// choiceMarkers are announcements that make sense only for a choice.
func choiceMarkers(text string) []int {
	var at []int
	for _, m := range []string{"correct option", "correct choice", "best option", "best choice", "final choice", "right option", "right choice", "correct letter", "final:", "i choose", "i would choose", "i'd choose", "i pick", "i'd pick", "i select", "i would select", "we choose", "we select", "choose option", "select option", "choice:", "option:"} {
		for from := 0; ; {
			i := indexFold(text[from:], m)
			if i < 0 {
				break
			}
			from += i + len(m)
			end := skipMarkup(text, from)
			for _, verb := range []string{"is:", "is", "would be", "should be", ":", "："} {
				if len(text) >= end+len(verb) && strings.EqualFold(text[end:end+len(verb)], verb) {
					end = skipMarkup(text, end+len(verb))
					break
				}
			}
			if !hasPrefixFold(text[end:], "not ") {
				at = append(at, end)
			}
		}
	}
	for _, m := range []string{"故选", "应选", "應選", "选择", "選擇", "选：", "选:", "本题选", "所以选", "因此选"} {
		for from := 0; ; {
			i := strings.Index(text[from:], m)
			if i < 0 {
				break
			}
			from += i + len(m)
			at = append(at, from)
		}
	}
	return at
}

func hasPrefixFold(s, lower string) bool {
	return len(s) >= len(lower) && foldEqual(s[:len(lower)], lower)
}

// optionAt matches an option's whole text at a marker, where it says more than a
// letter could: texts that begin with a label-like word ("A dog", "I"), and
// texts a model gives instead of the letter. The longest match wins.
func (c choices) optionAt(text string, at int) (string, bool) {
	rest := strings.TrimLeft(text[at:], " \t*_`\"'$:：(（“")
	best, label := 0, ""
	for i, t := range c.texts {
		t = strings.Trim(t, " .。")
		if t == "" || len(t) == 1 && isLatin(rune(t[0])) || len(t) <= best || len(rest) < len(t) || !strings.EqualFold(rest[:len(t)], t) {
			continue
		}
		if next := firstRune(rest[len(t):]); isLatin(next) || '0' <= next && next <= '9' {
			continue
		}
		if next := firstRune(rest[len(t):]); next == '.' && len(rest) > len(t)+1 && '0' <= rest[len(t)+1] && rest[len(t)+1] <= '9' {
			continue // "3" of "3.5"
		}
		best, label = len(t), c.labels[i]
	}
	return label, best > 0
}

// onlyOption finds the one option whose text a region names; an option text
// inside a longer one that is named too does not count.
func (c choices) onlyOption(region string) (string, bool) {
	if len(c.texts) == 0 {
		return "", false
	}
	low := strings.ToLower(region)
	label, span := "", 0
	for i, t := range c.texts {
		t = strings.ToLower(strings.Trim(t, " .。"))
		if utf8.RuneCountInString(t) < 2 || !containsWhole(low, t) {
			continue
		}
		switch {
		case label == "" || len(t) > span && strings.Contains(t, strings.ToLower(strings.Trim(c.textOf(label), " .。"))):
			label, span = c.labels[i], len(t)
		case strings.Contains(strings.ToLower(c.textOf(label)), t):
		default:
			return "", false
		}
	}
	return label, label != ""
}

func (c choices) textOf(label string) string {
	for i, l := range c.labels {
		if l == label && i < len(c.texts) {
			return c.texts[i]
		}
	}
	return ""
}

// containsWhole finds sub as whole words (CJK text needs no boundary).
func containsWhole(s, sub string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], sub)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after := firstRune(s[i+len(sub):])
		wordy := func(r rune) bool { return isLatin(r) || '0' <= r && r <= '9' }
		if !(wordy(before) && wordy(firstRune(sub))) && !(wordy(after) && wordy(rune(sub[len(sub)-1]))) {
			return true
		}
		from = i + 1
	}
}

// statement finds the last "(B) is correct", "B is the right answer", 选项B正确,
// B是正确的. Negations ("is not correct", 不正确) are no such statements.
func (c choices) statement(text string) (string, bool) {
	label, where := "", -1
	for _, s := range []string{" is correct", " is the correct", " is right", " is the right", " is the best", " is the answer", " is the most", "是正确", "正确", "是对的", "符合题意"} {
		for from := 0; ; {
			i := strings.Index(text[from:], s)
			if i < 0 {
				break
			}
			at := from + i
			from = at + len(s)
			if at <= where {
				continue
			}
			if l, ok := c.labelBefore(text[:at]); ok {
				label, where = l, at
			}
		}
	}
	return label, where >= 0
}

// labelBefore reads the label a text ends with, through brackets and markup; a
// bare letter must be preceded by "option", a bracket or a sentence start.
func (c choices) labelBefore(head string) (string, bool) {
	trimmed := strings.TrimRight(head, " *_`)）]】\"'”$}")
	closed := trimmed != strings.TrimRight(head, " ")
	for _, l := range c.labels {
		start := len(trimmed) - len(l)
		if start < 0 {
			continue
		}
		if _, ok := matchFolded(trimmed, start, l, false); !ok || trimmed[start:] != l {
			continue
		}
		before := strings.TrimRight(trimmed[:start], " ")
		switch prev, _ := utf8.DecodeLastRuneInString(trimmed[:start]); {
		case isLatin(prev) || '0' <= prev && prev <= '9':
			return "", false
		case closed && strings.ContainsRune("(（[【*_`\"'“${", prev):
			return l, true
		case before == "", hasSuffixFold(before, "option"), hasSuffixFold(before, "choice"), hasSuffixFold(before, "answer"), strings.HasSuffix(before, "选项"), strings.HasSuffix(before, "项"):
			return l, true
		case l != "A" && l != "I" && strings.ContainsRune(".,;:\n，。；：", lastRune(before)):
			return l, true
		}
		return "", false
	}
	return "", false
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// bare accepts a text, a first line or a last line that is a label, with or
// without its option's text behind a delimiter.
func (c choices) bare(text string) (string, bool) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if l, ok := c.labelLine(last); ok && !c.enumerates(lines) {
		return l, true
	}
	if l, ok := c.labelLine(strings.TrimSpace(lines[0])); ok && !c.enumerates(lines) {
		return l, true
	}
	return "", false
}

// labelLine reads a line that is a label: "B", "(B)", "**B.**", "B) text",
// "B: text", "Option B".
func (c choices) labelLine(line string) (string, bool) {
	l, end, ok := c.readLabel(line, 0)
	if !ok || c.alternative(line, end, l) {
		return "", false
	}
	rest := strings.TrimLeft(line[end:], " *_`$}\"'”")
	if rest == "" {
		return l, true
	}
	if strings.ContainsRune(".):：、）]】,，。-–—", firstRune(rest)) {
		after := strings.Trim(rest, " .):：、）]】,，。-–—*_`$}\"")
		if after == "" {
			return l, true
		}
		// another label with the same delimiter in the line makes it a discussion
		for _, other := range c.labels {
			if other != l && (strings.Contains(rest, " "+other+rest[:1]) || strings.Contains(rest, " ("+other+")")) {
				return "", false
			}
		}
		return l, true
	}
	return "", false
}

// enumerates reports whether several lines start with different labels, as when
// a model discusses the options one by one.
func (c choices) enumerates(lines []string) bool {
	if len(lines) < 2 {
		return false
	}
	seen := map[string]bool{}
	for _, line := range lines {
		if l, ok := c.labelLine(strings.TrimLeft(strings.TrimSpace(line), "-*• ")); ok {
			seen[l] = true
		}
	}
	return len(seen) > 1
}

// named accepts a last line with exactly one bracketed label, and a short text
// or last line with exactly one option's text.
func (c choices) named(text string) (string, bool) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := lines[len(lines)-1]
	found := ""
	for i := 0; i < len(last); i++ {
		open := firstRune(last[i:])
		if open != '(' && open != '（' {
			continue
		}
		size := utf8.RuneLen(open)
		l, end, ok := c.labelAt(last, i+size, false)
		if !ok || !strings.HasPrefix(last[end:], ")") && !strings.HasPrefix(last[end:], "）") {
			continue
		}
		if found != "" && found != l {
			found = "\x00"
			break
		}
		found = l
	}
	if found != "" && found != "\x00" {
		return found, true
	}
	total := 0
	for _, t := range c.texts {
		total += len(t)
	}
	if len(text) <= 2*total+40 {
		if l, ok := c.onlyOption(text); ok {
			return l, true
		}
	}
	return c.onlyOption(last)
}

// extractMultiple finds the set of options a text chooses, in label order: behind
// the last announcement, else on a line of its own.
func (c choices) extractMultiple(text string) (string, bool) {
	text = beforeNextQuestion(text)
	marks := append(finalMarkers(text), choiceMarkers(text)...)
	sort.Ints(marks)
	marks = latest(marks)
	for i := len(marks) - 1; i >= 0; i-- {
		if ls := c.readLabels(text, marks[i]); len(ls) > 0 {
			return strings.Join(ls, ""), true
		}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range []string{lines[len(lines)-1], lines[0]} {
		if ls := c.readLabels(strings.TrimSpace(line), 0); len(ls) > 0 {
			return strings.Join(ls, ""), true
		}
	}
	return "", false
}
