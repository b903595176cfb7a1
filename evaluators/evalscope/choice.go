// Package evalscope reproduces the answer parsers of evalscope as functions of
// text. They serve the scorers named evalscope/….
package evalscope

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
)

var (
	marker     = regexp.MustCompile(`(?i)ANSWER[\s\p{Z}]*:[\s\p{Z}]*\**[\s\p{Z}]*`)
	markerZH   = regexp.MustCompile(`答案[\s\p{Z}]*[:：][\s\p{Z}]*\**[\s\p{Z}]*`)
	bracketed  = regexp.MustCompile(`^[(\[（【]\s*([A-Za-z\d](?:\s*[,，]\s*[A-Za-z\d])*)\s*[)\]）】]`)
	plain      = regexp.MustCompile(`^([A-Za-z\d][A-Za-z\d ,]*)`)
	plainZH    = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9,，]*)`)
	labelToken = regexp.MustCompile(`[A-Za-z\d]+`)
	cevalZH    = regexp.MustCompile(`答案：([A-D])`)
)

// Labels are the letters of n choices: A, B, C ….
func Labels(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = string(rune('A' + i))
	}
	return out
}

// ParseAnswers is parse_answers: the labels behind the last "ANSWER:" that has
// any; without such a marker, the text's last upper-case letter if it is a
// label. The result is sorted; empty means no answer.
func ParseAnswers(text string, labels []string, multiple bool) []string {
	return parse(text, labels, multiple, marker, plain, ".")
}

// ParseAnswersZH is parse_answers_zh: the same behind "答案：".
func ParseAnswersZH(text string, labels []string, multiple bool) []string {
	return parse(text, labels, multiple, markerZH, plainZH, "。.")
}

func parse(text string, labels []string, multiple bool, mark, bare *regexp.Regexp, stops string) []string {
	found, ok := lastLabelled(text, labels, mark, bare)
	if !ok {
		return lastUpper(text, labels)
	}
	found = strings.TrimRight(strings.TrimSpace(found), stops)
	if !multiple {
		if slices.Contains(labels, found) {
			return []string{found}
		}
		return nil
	}
	found = strings.NewReplacer(" and ", "", " 和 ", "", " ", "", "，", ",").Replace(found)
	for _, parts := range [][]string{strings.Split(found, ","), strings.Split(found, "")} {
		if len(parts) > 0 && subset(parts, labels) {
			sort.Strings(parts)
			return slices.Compact(parts)
		}
	}
	return nil
}

func subset(parts, labels []string) bool {
	for _, p := range parts {
		if !slices.Contains(labels, p) {
			return false
		}
	}
	return true
}

// lastLabelled scans the markers from the last to the first for one that is
// followed by labels.
func lastLabelled(text string, labels []string, mark, bare *regexp.Regexp) (string, bool) {
	marks := mark.FindAllStringIndex(text, -1)
	for i := len(marks) - 1; i >= 0; i-- {
		tail := text[marks[i][1]:]
		for _, re := range []*regexp.Regexp{bracketed, bare} {
			if m := re.FindStringSubmatch(tail); m != nil {
				if p := labelPrefix(m[1], labels); p != "" {
					return p, true
				}
			}
		}
	}
	return "", false
}

// labelPrefix is the leading part of s made of labels only.
func labelPrefix(s string, labels []string) string {
	end := 0
	for _, t := range labelToken.FindAllStringIndex(s, -1) {
		word := s[t[0]:t[1]]
		if !slices.Contains(labels, word) && !subset(strings.Split(word, ""), labels) {
			break
		}
		end = t[1]
	}
	return s[:end]
}

func lastUpper(text string, labels []string) []string {
	last := ""
	for _, r := range text {
		if unicode.IsUpper(r) {
			last = string(r)
		}
	}
	if last != "" && slices.Contains(labels, last) {
		return []string{last}
	}
	return nil
}

// CEval is the C-Eval adapter's rule: the letter of the last "答案：X" with a
// full-width colon.
func CEval(text string) string {
	all := cevalZH.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// Thinking is the content part of parse_content_with_reasoning: the text without
// its first <think …>…</think> pair. A lone closing tag stays.
func Thinking(text string) string {
	m := firstThink.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}
	return strings.TrimSpace(text[:m[0]] + text[m[1]:])
}

var firstThink = regexp.MustCompile(`(?s)<think(?:\s[^>]*)?>(.*?)</think>`)
