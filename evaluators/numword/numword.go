// Package numword turns English number words into numbers the way the Python
// package word2number does, which several published graders call.
package numword

import (
	"strconv"
	"strings"

	"ais_bench/evaluators/pytext"
)

var values = map[string]int{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
	"seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
	"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1_000,
	"million": 1_000_000, "billion": 1_000_000_000,
}

// Parse is word_to_num: the number the words of s spell, as a decimal literal.
// Words that are no number words are ignored; ok is false when none is left or
// they are out of order. A string of digits is its own number.
func Parse(s string) (literal string, ok bool) {
	s = strings.ToLower(strings.ReplaceAll(s, "-", " "))
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !pytext.IsDigit(r) }) < 0 {
		n, good := pytext.Int(s)
		if !good {
			return "", false
		}
		return n.String(), true
	}
	var words, decimals []string
	points := 0
	for _, w := range pytext.Fields(s) {
		if w == "point" {
			points++
			continue
		}
		if _, known := values[w]; !known {
			continue
		}
		if points > 0 {
			decimals = append(decimals, w)
		} else {
			words = append(words, w)
		}
	}
	if points > 1 || len(words)+len(decimals)+points == 0 {
		return "", false
	}
	whole, good := wholeNumber(words)
	if !good {
		return "", false
	}
	if points == 0 {
		return strconv.Itoa(whole), true
	}
	var frac strings.Builder
	for _, d := range decimals {
		if values[d] > 9 {
			return "", false
		}
		frac.WriteByte(byte('0' + values[d]))
	}
	if frac.Len() == 0 {
		return strconv.Itoa(whole), true
	}
	return strconv.Itoa(whole) + "." + frac.String(), true
}

func wholeNumber(words []string) (int, bool) {
	if len(words) == 0 {
		return 0, true
	}
	if len(words) == 1 {
		return values[words[0]], true
	}
	total, from := 0, 0
	for _, scale := range []string{"billion", "million", "thousand"} {
		at := -1
		for i, w := range words {
			if w != scale {
				continue
			}
			if at >= 0 || i < from {
				return 0, false // twice, or behind a smaller one
			}
			at = i
		}
		if at < 0 {
			continue
		}
		total += group(words[from:at]) * values[scale]
		from = at + 1
	}
	if from < len(words) {
		total += group(words[from:])
	}
	return total, true
}

// group reads up to four words below a thousand.
func group(words []string) int {
	n := make([]int, len(words))
	for i, w := range words {
		n[i] = values[w]
	}
	switch {
	case len(n) == 0:
		return 1
	case len(n) == 4:
		return n[0]*n[1] + n[2] + n[3]
	case len(n) == 3:
		return n[0]*n[1] + n[2]
	case len(n) == 2 && (n[0] == 100 || n[1] == 100):
		return n[0] * n[1]
	case len(n) == 2:
		return n[0] + n[1]
	}
	return n[0]
}

// First finds the first spelled number in a lower-case text: number words,
// also inside other words, joined by blanks, commas, "and" and "&".
func First(text string) (literal string, ok bool) {
	start, end := -1, 0
	for at := 0; at < len(text); {
		if w := wordAt(text[at:]); w != "" {
			if start < 0 {
				start = at
			}
			at += len(w)
			end = at
			continue
		}
		if start >= 0 {
			if n := linkAt(text[at:]); n > 0 {
				at += n
				continue
			}
			break
		}
		at++
	}
	if start < 0 {
		return "", false
	}
	return Parse(text[start:end])
}

// wordAt is the longest number word s starts with.
func wordAt(s string) string {
	best := ""
	for w := range values {
		if len(w) > len(best) && strings.HasPrefix(s, w) {
			best = w
		}
	}
	return best
}

func linkAt(s string) int {
	switch {
	case strings.HasPrefix(s, "and"):
		return 3
	case s[0] == ' ' || s[0] == '\t' || s[0] == ',' || s[0] == '&':
		return 1
	}
	return 0
}

// IsWord reports whether w is a number word, in any letter case.
func IsWord(w string) bool {
	_, ok := values[strings.ToLower(w)]
	return ok
}

// Any reports whether one of words is a number word.
func Any(words []string) bool {
	for _, w := range words {
		if IsWord(w) {
			return true
		}
	}
	return false
}
