// Package pytext reproduces the parts of Python's string semantics that
// published scoring rules rely on without saying so: Unicode-aware \d, \w and
// \s, str.split and strip, isupper and islower, and what float() and int()
// accept. Go's regexp classes are ASCII, so compatible rules are written with
// these instead.
package pytext

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// Punctuation is string.punctuation: the 32 ASCII punctuation characters.
const Punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// IsDigit is \d: any decimal digit of any script.
func IsDigit(r rune) bool {
	if r < 0x80 {
		return '0' <= r && r <= '9'
	}
	return unicode.Is(unicode.Nd, r)
}

// DigitValue is the value of a decimal digit of any script, -1 for other runes.
// Unicode encodes every set of decimal digits as ten consecutive code points
// from zero up, so the distance from the start of the range says the value.
func DigitValue(r rune) int {
	if '0' <= r && r <= '9' {
		return int(r - '0')
	}
	if r < 0x80 {
		return -1
	}
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return int(r-rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return int(r-rune(t.Lo)) % 10
		}
	}
	return -1
}

// IsSpace is \s and what strip and split remove.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

// IsWord is \w: letters and numbers of any script, and the underscore.
func IsWord(r rune) bool {
	if r < 0x80 {
		return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// Strip is str.strip().
func Strip(s string) string { return strings.TrimFunc(s, IsSpace) }

// StripLeft is str.lstrip().
func StripLeft(s string) string { return strings.TrimLeftFunc(s, IsSpace) }

// StripRight is str.rstrip().
func StripRight(s string) string { return strings.TrimRightFunc(s, IsSpace) }

// Fields is str.split().
func Fields(s string) []string { return strings.FieldsFunc(s, IsSpace) }

// FirstLine is s.split('\n')[0].
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// IsUpper is str.isupper(): at least one cased character and no lower-case one.
func IsUpper(s string) bool {
	cased := false
	for _, r := range s {
		if unicode.IsLower(r) || unicode.IsTitle(r) {
			return false
		}
		cased = cased || unicode.IsUpper(r)
	}
	return cased
}

// IsLower is str.islower(): at least one cased character and no upper-case one.
func IsLower(s string) bool {
	cased := false
	for _, r := range s {
		if unicode.IsUpper(r) || unicode.IsTitle(r) {
			return false
		}
		cased = cased || unicode.IsLower(r)
	}
	return cased
}

// number brings a numeric literal to ASCII: strips, folds digits, drops single
// underscores between digits. ok is false where Python would raise.
func number(s string) (string, bool) {
	s = Strip(s)
	if s == "" {
		return "", false
	}
	var b strings.Builder
	prevDigit, rs := false, []rune(s)
	for i, r := range rs {
		switch {
		case IsDigit(r):
			b.WriteByte(byte('0' + DigitValue(r)))
			prevDigit = true
			continue
		case r == '_':
			if !prevDigit || i+1 == len(rs) || !IsDigit(rs[i+1]) {
				return "", false
			}
		case r >= 0x80:
			return "", false
		default:
			b.WriteRune(r)
		}
		prevDigit = false
	}
	return b.String(), true
}

// Float is float(s). It accepts exponents, inf, nan, single underscores between
// digits and digits of any script, and no hexadecimal.
func Float(s string) (float64, bool) {
	n, ok := number(s)
	if !ok || strings.ContainsAny(n, "xXpP_") {
		return 0, false
	}
	f, err := strconv.ParseFloat(n, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// Int is int(s).
func Int(s string) (*big.Int, bool) {
	n, ok := number(s)
	if !ok {
		return nil, false
	}
	digits := strings.TrimLeft(n, "+-")
	if len(n)-len(digits) > 1 || digits == "" || len(digits) > 4300 { // CPython's own limit
		return nil, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return nil, false
		}
	}
	return new(big.Int).SetString(n, 10)
}

// FormatFloat is repr(f): the shortest digits that round-trip, with ".0" for
// whole numbers and exponents outside 1e-4 … 1e16.
func FormatFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// DeletePunctuation removes string.punctuation.
func DeletePunctuation(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && strings.IndexByte(Punctuation, byte(r)) >= 0 {
			return -1
		}
		return r
	}, s)
}
