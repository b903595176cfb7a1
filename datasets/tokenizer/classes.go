package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// Bits of a character's class, as the split patterns distinguish them.
const (
	cLetter uint8 = 1 << iota // \p{L}
	cNumber                   // \p{N}
	cSpace                    // \s
	cMark                     // \p{M}
	cUpper                    // \p{Lu} \p{Lt}
	cLower                    // \p{Ll}
	cPunct                    // \p{P}
	cSymbol                   // \p{S}
)

// bmpClass holds the classes of the first plane. 64 KiB, filled when the program
// starts: the scanners look up every character of every text.
var bmpClass = func() *[1 << 16]uint8 {
	t := new([1 << 16]uint8)
	for _, c := range []struct {
		bit    uint8
		tables []*unicode.RangeTable
	}{
		{cLetter, []*unicode.RangeTable{unicode.L}},
		{cNumber, []*unicode.RangeTable{unicode.N}},
		{cSpace, []*unicode.RangeTable{unicode.White_Space}},
		{cMark, []*unicode.RangeTable{unicode.M}},
		{cUpper, []*unicode.RangeTable{unicode.Lu, unicode.Lt}},
		{cLower, []*unicode.RangeTable{unicode.Ll}},
		{cPunct, []*unicode.RangeTable{unicode.P}},
		{cSymbol, []*unicode.RangeTable{unicode.S}},
	} {
		for _, table := range c.tables {
			for _, r := range table.R16 {
				for x := int(r.Lo); x <= int(r.Hi); x += int(r.Stride) {
					t[x] |= c.bit
				}
			}
		}
	}
	return t
}()

func classOf(r rune) uint8 {
	if uint32(r) < 1<<16 {
		return bmpClass[r]
	}
	switch {
	case unicode.Is(unicode.Lo, r):
		return cLetter
	case unicode.Is(unicode.So, r), unicode.Is(unicode.Sm, r), unicode.Is(unicode.Sk, r), unicode.Is(unicode.Sc, r):
		return cSymbol
	case unicode.IsLetter(r):
		c := cLetter
		if unicode.IsUpper(r) || unicode.IsTitle(r) {
			c |= cUpper
		} else if unicode.Is(unicode.Ll, r) {
			c |= cLower
		}
		return c
	case unicode.IsMark(r):
		return cMark
	case unicode.IsNumber(r):
		return cNumber
	case unicode.IsPunct(r):
		return cPunct
	}
	return 0
}

// classAt is the class and width of the character at s[i]; i must be in range.
func classAt(s string, i int) (uint8, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return bmpClass[c], 1
	}
	r, w := utf8.DecodeRuneInString(s[i:])
	return classOf(r), w
}

// run is the end of the longest run from i whose characters have a class bit of any.
func run(s string, i int, any uint8) int {
	for i < len(s) {
		c, w := classAt(s, i)
		if c&any == 0 {
			break
		}
		i += w
	}
	return i
}

// runNot is the end of the longest run from i whose characters have no class bit of none.
func runNot(s string, i int, none uint8) int {
	for i < len(s) {
		c, w := classAt(s, i)
		if c&none != 0 {
			break
		}
		i += w
	}
	return i
}

// blank matches `\s*[\r\n]+|\s+(?!\S)|\s+` at i, where white space stands: up to
// and including the last line break of the run; else all but the last character
// of a run that text follows; else the run.
func blank(s string, i int) int {
	end, last, lineEnd := i, i, -1
	for end < len(s) {
		c, w := classAt(s, end)
		if c&cSpace == 0 {
			break
		}
		if s[end] == '\n' || s[end] == '\r' {
			lineEnd = end + 1
		}
		last = end
		end += w
	}
	switch {
	case lineEnd >= 0:
		return lineEnd
	case end == len(s) || last == i:
		return end
	}
	return last
}

// blankPlain is blank for patterns without the line-break alternative:
// `\s+(?!\S)|\s+`.
func blankPlain(s string, i int) int {
	end, last := i, i
	for end < len(s) {
		c, w := classAt(s, end)
		if c&cSpace == 0 {
			break
		}
		last = end
		end += w
	}
	if end == len(s) || last == i {
		return end
	}
	return last
}

// contraction is the length of `'s|'t|'re|'ve|'m|'ll|'d` at i, 0 when there is
// none; fold ignores case, where U+017F (long s) is an s.
func contraction(s string, i int, fold bool) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return 0
	}
	lower := func(c byte) byte {
		if fold && c >= 'A' && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}
	a := lower(s[i+1])
	switch a {
	case 's', 't', 'm', 'd':
		return 2
	}
	if fold && i+2 < len(s) && s[i+1] == "ſ"[0] && s[i+2] == "ſ"[1] {
		return 3
	}
	if i+2 < len(s) {
		switch b := lower(s[i+2]); {
		case a == 'r' && b == 'e', a == 'v' && b == 'e', a == 'l' && b == 'l':
			return 3
		}
	}
	return 0
}
