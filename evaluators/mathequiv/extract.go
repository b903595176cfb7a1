package mathequiv

import (
	"regexp"
	"strings"
)

// maxReplyTail bounds how much of a reply is searched, from its end.
const maxReplyTail = 1 << 20

// Extract finds the final answer in a reply, in this order of trust: the last
// complete \boxed{…} or \fbox{…} (nested boxes give the inner one; boxes joined
// by "and", "or" or a comma give a list), the text after the last "final answer
// is", "answer is", "answer:", "####" or 答案, the last $…$ (with those it is enumerated with), the last number.
// found is false when the text holds none of these.
func Extract(text string) (answer string, found bool) {
	if len(text) > maxReplyTail {
		text = text[len(text)-maxReplyTail:]
	}
	if a, ok := extractBoxed(text); ok {
		return a, true
	}
	if a, ok := extractMarked(text); ok {
		return a, true
	}
	if a, ok := lastMath(text); ok {
		return a, true
	}
	return lastNumber(text)
}

type span struct {
	start, end int
	content    string
}

// boxes lists the complete boxes of a text that are not inside another.
func boxes(text string) (all []span, openBox string) {
	for i := 0; i < len(text); {
		j := strings.Index(text[i:], `box`)
		if j < 0 {
			break
		}
		at := i + j
		i = at + 3
		start, after := -1, 0
		switch {
		case strings.HasPrefix(text[at:], "boxed") && at > 0 && text[at-1] == '\\':
			start, after = at-1, at+5
		case at > 1 && text[at-2:at] == `\f`:
			start, after = at-2, at+3
		default:
			continue
		}
		k := after
		for k < len(text) && (text[k] == ' ' || text[k] == '\n' || text[k] == '\t') {
			k++
		}
		if k >= len(text) {
			break
		}
		if text[k] != '{' {
			// \boxed 7: up to the end of the math or the line.
			if text[after] == ' ' || isDigit(text[after]) {
				end := strings.IndexAny(text[k:], "$\n\\ ")
				if end < 0 {
					end = len(text) - k
				}
				if c := strings.TrimRight(text[k:k+end], ".,"); c != "" {
					all = append(all, span{start, k + end, c})
				}
			}
			continue
		}
		end := matchBrace(text, k)
		if end < 0 {
			if openBox == "" {
				line := text[k+1:]
				if n := strings.IndexAny(line, "$\n"); n >= 0 {
					line = line[:n]
				}
				openBox = strings.TrimSpace(line)
			}
			// One scan to the end per unclosed box would be quadratic: the
			// braces that follow cannot be trusted anyway.
			if len(all) == 0 && strings.Count(text, "box") > 1000 {
				break
			}
			continue
		}
		all = append(all, span{start, end + 1, text[k+1 : end]})
		i = end + 1
	}
	return all, openBox
}

var boxJoint = regexp.MustCompile(`^[\s$,;.]*(?:\\\)|\\\]|\\text\{\s*(?:and|or)\s*\}|and|or|,|\\quad|\\,|[\s$,;]|\\\(|\\\[|[a-z](?:_\w)?\s*=)*$`)

func extractBoxed(text string) (string, bool) {
	all, openBox := boxes(text)
	if len(all) == 0 {
		return openBox, openBox != ""
	}
	last := len(all) - 1
	parts := []string{peelBox(all[last].content)}
	for i := last; i > 0 && len(parts) < 10; i-- {
		between := text[all[i-1].end:all[i].start]
		if len(between) > 40 || !boxJoint.MatchString(between) || strings.Contains(between, "\n\n") || strings.Contains(between, ". ") {
			break
		}
		prev := peelBox(all[i-1].content)
		if prev == parts[0] {
			continue
		}
		parts = append([]string{prev}, parts...)
	}
	return strings.TrimSpace(strings.Join(parts, ", ")), true
}

// peelBox takes boxes and a doubled brace off the content of a box.
func peelBox(s string) string {
	for range 8 {
		t := strings.TrimSpace(s)
		if inner, _ := boxes(t); len(inner) == 1 && inner[0].start == 0 && inner[0].end == len(t) {
			s = inner[0].content
			continue
		}
		if len(t) > 1 && t[0] == '{' && matchBrace(t, 0) == len(t)-1 {
			s = t[1 : len(t)-1]
			continue
		}
		return t
	}
	return s
}

var (
	marker     = regexp.MustCompile(`(?i)(?:final answer is|final answer\**\s*:|answer is|answer\s*\**\s*[:：]|\bans\s*[:：]|####|最终答案[是为：:]*|答案[是为：:]+|答[：:])`)
	hopeSuffix = regexp.MustCompile(`(?i)\.?\s*I hope it is correct.*$`)
	clauseEnd  = regexp.MustCompile(`(?i)\.(?:\s|\*|$)|[。！]|,?\s+(?:because|since|which|so that|as we)\b`)
)

func extractMarked(text string) (string, bool) {
	hits := marker.FindAllStringIndex(text, -1)
	for i := len(hits) - 1; i >= 0 && i > len(hits)-6; i-- {
		rest := strings.TrimLeft(text[hits[i][1]:], " \t\n\r:：*")
		line := rest
		if n := strings.IndexByte(line, '\n'); n >= 0 && !strings.HasPrefix(line, `\[`) && !strings.HasPrefix(line, "$$") {
			line = line[:n]
		}
		line = hopeSuffix.ReplaceAllString(line, "")
		if a, ok := leadingMath(line); ok {
			return a, true
		}
		if m := clauseEnd.FindStringIndex(line); m != nil {
			line = line[:m[0]]
		}
		line = strings.Trim(strings.TrimSpace(line), "*`")
		line = strings.TrimRight(strings.TrimSpace(line), ".。,*/")
		if line != "" {
			return line, true
		}
	}
	return "", false
}

var mathPairs = [...][2]string{{"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}}

// leadingMath is the formula a line starts with, when only words follow it.
func leadingMath(line string) (string, bool) {
	for _, d := range mathPairs {
		if !strings.HasPrefix(line, d[0]) {
			continue
		}
		rest := line[len(d[0]):]
		n := strings.Index(rest, d[1])
		if n <= 0 {
			return "", false
		}
		if d[0] == "$" && isDigit(rest[0]) && !strings.ContainsAny(rest[:n], `\^_=+`) && strings.Contains(rest[:n], " ") {
			return "", false // "$5 and $6" is money
		}
		if strings.Contains(rest[n+len(d[1]):], d[0]) {
			return "", false // several formulas: the whole clause is the answer
		}
		return strings.TrimSpace(rest[:n]), true
	}
	return "", false
}

// lastMath is the content of the last pair of math delimiters.
func lastMath(text string) (string, bool) {
	best, at := "", -1
	for _, d := range mathPairs {
		end := strings.LastIndex(text, d[1])
		if end <= 0 {
			continue
		}
		start := strings.LastIndex(text[:end], d[0])
		if start < 0 || start <= at {
			continue
		}
		content := strings.TrimSpace(text[start+len(d[0]) : end])
		if content == "" || len(content) > 500 || strings.Contains(content, "\n\n") {
			continue
		}
		if d[0] == "$" && strings.Count(text, "$")%2 == 1 {
			continue // currency
		}
		best, at = content, start
	}
	// "$5$ or $6$" states two answers, not the last one.
	for range 8 {
		m := mathBefore.FindStringSubmatchIndex(text[max(0, at-300):max(0, at)])
		if m == nil {
			break
		}
		base := max(0, at-300)
		best, at = text[base+m[2]:base+m[3]]+", "+best, base+m[0]
	}
	return best, at >= 0
}

var mathBefore = regexp.MustCompile(`\$([^$\n]+)\$,?\s*(?:or|and|,)\s*$`)

var number = regexp.MustCompile(`[-−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:/\d+)?%?`)

func lastNumber(text string) (string, bool) {
	text = canonicalRunes(text)
	all := number.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return "", false
	}
	m := all[len(all)-1]
	s := text[m[0]:m[1]]
	if s[0] == '-' && m[0] > 0 && (isDigit(text[m[0]-1]) || isLetter(text[m[0]-1])) {
		s = s[1:] // 3-5 is not minus five
	}
	return s, true
}
