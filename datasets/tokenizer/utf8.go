package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// lossy replaces what is not UTF-8 by U+FFFD, one for each maximal part that
// could have begun a character (Unicode 15 §3.9, "substitution of maximal
// subparts"; Rust's from_utf8_lossy). Go's own conversion gives one a byte.
func lossy(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		if r != utf8.RuneError || w > 1 {
			b.WriteString(s[i : i+w])
			i += w
			continue
		}
		b.WriteString("\uFFFD")
		i += brokenPart(s[i:])
	}
	return b.String()
}

// brokenPart is the length of the maximal subpart at the start of s, which does
// not begin with a whole character.
func brokenPart(s string) int {
	c := s[0]
	lo, hi, need := byte(0x80), byte(0xBF), 0
	switch {
	case c >= 0xC2 && c <= 0xDF:
		need = 1
	case c >= 0xE0 && c <= 0xEF:
		need = 2
		if c == 0xE0 {
			lo = 0xA0
		} else if c == 0xED {
			hi = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		need = 3
		if c == 0xF0 {
			lo = 0x90
		} else if c == 0xF4 {
			hi = 0x8F
		}
	default:
		return 1
	}
	n := 1
	for n <= need && n < len(s) && s[n] >= lo && s[n] <= hi {
		lo, hi = 0x80, 0xBF
		n++
	}
	return n
}

// byteRune is the printable character that byte-level vocabularies write for
// each byte: itself for the visible Latin-1 characters, the next free code point
// from U+0100 on for the others.
var byteRune = func() (t [256]rune) {
	next := rune(256)
	for b := range t {
		if b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE {
			t[b] = rune(b)
		} else {
			t[b] = next
			next++
		}
	}
	return t
}()

// runeByte inverts byteRune; -1 where a character stands for no byte.
var runeByte = func() (t [324]int16) {
	for i := range t {
		t[i] = -1
	}
	for b, r := range byteRune {
		t[r] = int16(b)
	}
	return t
}()

// fromByteAlphabet undoes the printable alphabet; false when token contains a
// character outside it.
func fromByteAlphabet(token string) (string, bool) {
	out := make([]byte, 0, len(token))
	for _, r := range token {
		if r < 0 || int(r) >= len(runeByte) || runeByte[r] < 0 {
			return "", false
		}
		out = append(out, byte(runeByte[r]))
	}
	return string(out), true
}

func fromByteAlphabetOrSame(token string) string {
	if raw, ok := fromByteAlphabet(token); ok {
		return raw
	}
	return token
}

func toByteAlphabet(raw string) string {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		b.WriteRune(byteRune[raw[i]])
	}
	return b.String()
}
