package tokenizer

import "unicode/utf8"

// scanners holds the hand-written matchers by the exact pattern they stand for.
// Each gives the same matches as the pattern on an engine with Unicode classes,
// at 5–10 times the speed.
var scanners = map[string]matcher{
	`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`:                                          total(scanGPT2),
	`(?:'s|'t|'re|'ve|'m|'ll|'d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`:                                      total(scanGPT2),
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`: total(scanCL100K(3)),
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`:      total(scanCL100K(1)),
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`: total(scanO200K),
	`\p{N}{1,3}`:        matcherFunc(findDigits),
	"[一-龥\u3040-ゟ゠-ヿ]+": matcherFunc(findCJK),
	"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+": matcherFunc(findDeepSeek),
}

// scanGPT2 gives the end of the match at i.
func scanGPT2(s string, i int) int {
	if n := contraction(s, i, false); n > 0 {
		return i + n
	}
	j := i
	if s[i] == ' ' && i+1 < len(s) {
		j++
	}
	c, w := classAt(s, j)
	switch {
	case c&cLetter != 0:
		return run(s, j+w, cLetter)
	case c&cNumber != 0:
		return run(s, j+w, cNumber)
	case c&cSpace == 0:
		return runNot(s, j+w, cLetter|cNumber|cSpace)
	}
	return blankPlain(s, i)
}

// scanCL100K is the pattern of cl100k_base and Llama 3 (digits in threes) and of
// Qwen (digits one by one).
func scanCL100K(digits int) func(string, int) int {
	return func(s string, i int) int {
		if n := contraction(s, i, true); n > 0 {
			return i + n
		}
		c, w := classAt(s, i)
		if c&cLetter != 0 {
			return run(s, i+w, cLetter)
		}
		if c&cNumber != 0 {
			return digitRun(s, i, digits)
		}
		if s[i] != '\r' && s[i] != '\n' && i+w < len(s) {
			if c2, w2 := classAt(s, i+w); c2&cLetter != 0 {
				return run(s, i+w+w2, cLetter)
			}
		}
		j := i
		if s[i] == ' ' {
			j++
		}
		if e := runNot(s, j, cLetter|cNumber|cSpace); e > j {
			return lineBreaks(s, e)
		}
		return blank(s, i)
	}
}

// scanO200K is the pattern of o200k_base (GPT-4o, gpt-oss): words are cut where
// lower case turns to upper case.
func scanO200K(s string, i int) int {
	c, w := classAt(s, i)
	if c&cNumber != 0 {
		return digitRun(s, i, 3)
	}
	takesLead := c&cLetter == 0 && s[i] != '\r' && s[i] != '\n'
	if takesLead {
		if e := capsThenLower(s, i+w); e > 0 {
			return e + contraction(s, e, true)
		}
	}
	if c&(cLetter|cMark) != 0 {
		if e := capsThenLower(s, i); e > 0 {
			return e + contraction(s, e, true)
		}
	}
	if takesLead {
		if e := capsRun(s, i+w); e > i+w {
			e = lowerRun(s, e)
			return e + contraction(s, e, true)
		}
	}
	if c&(cLetter|cMark) != 0 {
		if e := capsRun(s, i); e > i {
			e = lowerRun(s, e)
			return e + contraction(s, e, true)
		}
	}
	j := i
	if s[i] == ' ' {
		j++
	}
	if e := runNot(s, j, cLetter|cNumber|cSpace); e > j {
		for e < len(s) && (s[e] == '\r' || s[e] == '\n' || s[e] == '/') {
			e++
		}
		return e
	}
	return blank(s, i)
}

// inCaps is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], inLower [\p{Ll}\p{Lm}\p{Lo}\p{M}].
func inCaps(c uint8) bool  { return c&(cLetter|cMark) != 0 && c&cLower == 0 }
func inLower(c uint8) bool { return c&(cLetter|cMark) != 0 && c&cUpper == 0 }

func capsRun(s string, i int) int {
	for i < len(s) {
		c, w := classAt(s, i)
		if !inCaps(c) {
			break
		}
		i += w
	}
	return i
}

func lowerRun(s string, i int) int {
	for i < len(s) {
		c, w := classAt(s, i)
		if !inLower(c) {
			break
		}
		i += w
	}
	return i
}

// capsThenLower matches `caps*lower+` at i with the backtracking of a regular
// expression: 0 when there is no match. Characters without case are in both
// sets, so a run of capitals gives back its last caseless one when no lower-case
// letter follows.
func capsThenLower(s string, i int) int {
	j, both := i, -1 // both: end of the last character that is in both sets
	for j < len(s) {
		c, w := classAt(s, j)
		if !inCaps(c) {
			break
		}
		j += w
		if inLower(c) {
			both = j
		}
	}
	if e := lowerRun(s, j); e > j {
		return e
	}
	if both >= 0 {
		return both
	}
	return 0
}

func digitRun(s string, i, most int) int {
	for n := 0; n < most && i < len(s); n++ {
		c, w := classAt(s, i)
		if c&cNumber == 0 {
			break
		}
		i += w
	}
	return i
}

func lineBreaks(s string, i int) int {
	for i < len(s) && (s[i] == '\r' || s[i] == '\n') {
		i++
	}
	return i
}

// findDigits finds `\p{N}{1,3}`.
func findDigits(s string, from int) (int, int) {
	for i := from; i < len(s); {
		c, w := classAt(s, i)
		if c&cNumber != 0 {
			return i, digitRun(s, i, 3)
		}
		i += w
	}
	return -1, -1
}

// findCJK finds a run of the ideographs U+4E00–U+9FA5 and of kana.
func findCJK(s string, from int) (int, int) {
	start := -1
	for i := from; i < len(s); {
		if s[i] < utf8.RuneSelf {
			if start >= 0 {
				return start, i
			}
			i++
			continue
		}
		r, w := utf8.DecodeRuneInString(s[i:])
		in := r >= 0x4E00 && r <= 0x9FA5 || r >= 0x3040 && r <= 0x30FF
		if in && start < 0 {
			start = i
		} else if !in && start >= 0 {
			return start, i
		}
		i += w
	}
	if start >= 0 {
		return start, len(s)
	}
	return -1, -1
}

// findDeepSeek finds the third split of DeepSeek V3. Control characters and
// unassigned code points are in none of its alternatives.
func findDeepSeek(s string, from int) (int, int) {
	for i := from; i < len(s); {
		if e := matchDeepSeek(s, i); e > i {
			return i, e
		}
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return -1, -1
}

func matchDeepSeek(s string, i int) int {
	c, w := classAt(s, i)
	if s[i] < utf8.RuneSelf && c&(cPunct|cSymbol) != 0 {
		j := i + 1
		for j < len(s) && (s[j] >= 'a' && s[j] <= 'z' || s[j] >= 'A' && s[j] <= 'Z') {
			j++
		}
		if j > i+1 {
			return j
		}
	}
	if c&(cLetter|cPunct|cSymbol) == 0 && s[i] != '\r' && s[i] != '\n' {
		if e := run(s, i+w, cLetter|cMark); e > i+w {
			return e
		}
	}
	if c&(cLetter|cMark) != 0 {
		return run(s, i+w, cLetter|cMark)
	}
	j := i
	if s[i] == ' ' {
		j++
	}
	if e := run(s, j, cPunct|cSymbol); e > j {
		return lineBreaks(s, e)
	}
	if c&cSpace != 0 {
		return blank(s, i)
	}
	return i
}
