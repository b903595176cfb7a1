package ifeval

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"ais_bench/evaluators/pytext"
)

// layoutRules look at how a reply is laid out.
var layoutRules = map[string]rule{
	"format:parentheses": func(_ *arguments, r string) bool { return nestedBrackets(r, 5) },
	"format:quotes":      func(_ *arguments, r string) bool { return nestedQuotes(r, 3) },
	"format:options":     oneOfOptions,
	"format:newline": func(_ *arguments, r string) bool {
		r = pytext.Strip(pytext.DeletePunctuation(r))
		n := 0
		for _, line := range strings.Split(r, "\n") {
			if line != "" {
				n++
			}
		}
		return n == len(pytext.Fields(r))
	},
	"format:emoji": func(a *arguments, r string) bool {
		parts := a.sentences(r)
		for i, s := range parts {
			if endsInEmoji(s) {
				continue
			}
			// An emoji behind the full stop is cut off as the next sentence's first.
			if i+1 == len(parts) || pytext.Strip(pytext.DeletePunctuation(s)) == "" || !isEmoji(first(pytext.Strip(pytext.DeletePunctuation(parts[i+1])))) {
				return false
			}
		}
		return true
	},
	"format:line_indent": func(_ *arguments, r string) bool {
		last := -1
		for _, line := range stairs(r) {
			n := len(line) - len(strings.TrimLeft(line, " "))
			if n <= last {
				return false
			}
			last = n
		}
		return true
	},
	"format:quote_unquote": func(_ *arguments, r string) bool {
		r = strings.NewReplacer("“", `"`, "”", `"`).Replace(r)
		r = strings.ReplaceAll(r, `'"'`, "") // speaks of the mark
		r = strings.Join(pytext.Fields(r), "")
		if strings.Contains(r, `""`) {
			return false
		}
		return !strings.HasSuffix(strings.Trim(r, "0123456789"+strings.ReplaceAll(pytext.Punctuation, `"`, "")), `"`)
	},
	"format:list": func(a *arguments, r string) bool {
		mark := a.text("sep")
		return mark != "" && strings.Count(r, mark) >= 2
	},
	"format:thesis": func(_ *arguments, r string) bool {
		_, rest, ok := strings.Cut(r, "<i>")
		if !ok {
			if _, rest, ok = strings.Cut(r, "<em>"); !ok {
				return false
			}
		}
		thesis, text, ok := strings.Cut(rest, "</i>")
		if !ok {
			if thesis, text, ok = strings.Cut(rest, "</em>"); !ok {
				return false
			}
		}
		return pytext.Strip(thesis) != "" && pytext.Strip(text) != ""
	},
	"format:sub-bullets": func(_ *arguments, r string) bool {
		for _, bullet := range strings.Split(r, "*")[1:] {
			if !strings.Contains(bullet, "-") {
				return false
			}
		}
		return true
	},
	"format:no_bullets_bullets": func(a *arguments, r string) bool {
		sentences, bullets := 0, 0
		open := true // more sentences may come: no bullet and no blank line yet
		for _, line := range strings.Split(r, "\n") {
			line = pytext.Strip(line)
			switch {
			case strings.HasPrefix(line, "*"):
				if sentences < 2 {
					return false
				}
				open = false
				bullets++
			case open:
				n := len(a.sentences(line))
				sentences += n
				open = n > 0
			default:
				return false
			}
		}
		return bullets >= 2
	},
	"format:title_case": func(a *arguments, r string) bool {
		for _, w := range a.words(r) {
			c, size := utf8.DecodeRuneInString(w)
			if !unicode.IsLower(c) {
				continue
			}
			if rest := w[size:]; rest == "" || isLower(rest) || isUpper(rest) {
				return false
			}
		}
		return true
	},
	"format:output_template": func(_ *arguments, r string) bool {
		return strings.Contains(r, "My Answer:") && strings.Contains(r, "My Conclusion:") && strings.Contains(r, "Future Outlook:")
	},
	"format:no_whitespace": func(_ *arguments, r string) bool { return strings.IndexFunc(r, pytext.IsSpace) < 0 },
}

// nestedBrackets reports whether brackets of any kind are nested depth deep and
// close again; a bracket of the wrong kind starts over.
func nestedBrackets(s string, depth int) bool {
	var open []rune
	deepest := 0
	partner := map[rune]rune{')': '(', ']': '[', '}': '{'}
	for _, c := range s {
		switch c {
		case '(', '[', '{':
			open = append(open, c)
			deepest = max(deepest, len(open))
		case ')', ']', '}':
			if n := len(open); n > 0 && open[n-1] == partner[c] {
				if deepest >= depth {
					return true
				}
				open = open[:n-1]
				continue
			}
			open, deepest = nil, 0
		}
	}
	return false
}

// nestedQuotes reports whether straight quotes alternate depth deep and all of
// these levels close again.
func nestedQuotes(s string, depth int) bool {
	var open []rune
	deepest := 0
	for _, c := range s {
		switch n := len(open); {
		case n > 0 && open[n-1] == c:
			open = open[:n-1]
			if deepest-len(open) >= depth {
				return true
			}
		case c == '"' || c == '\'':
			open = append(open, c)
			deepest = max(deepest, len(open))
		}
	}
	return false
}

var letteredOptions = regexp.MustCompile(`^\W*[aA]\W*[bB]\W*[cC]`)

// oneOfOptions wants a reply that is one of the options; lettered ones exactly,
// others without regard to case and surrounding punctuation.
func oneOfOptions(a *arguments, r string) bool {
	list := a.text("options")
	separator := ","
	switch {
	case strings.Contains(list, "/"):
		separator = "/"
	case strings.Contains(list, "or"):
		separator = "or"
	}
	exact := letteredOptions.MatchString(list)
	for _, o := range strings.Split(list, separator) {
		o = pytext.Strip(o)
		if exact && o == r || !exact && sameLower(bare(o), bare(r)) {
			return true
		}
	}
	return false
}

// stairs are the lines to compare. The published check removes blank lines while
// it walks over them, and so keeps every second of several in a row.
func stairs(r string) []string {
	lines := strings.Split(r, "\n")
	for i := 0; i < len(lines); i++ {
		if pytext.Strip(lines[i]) == "" {
			lines = append(lines[:i:i], lines[i+1:]...)
		}
	}
	return lines
}

// endsInEmoji looks at the last two characters, since a variation selector may
// be the last.
func endsInEmoji(s string) bool {
	r := []rune(pytext.Strip(pytext.DeletePunctuation(s)))
	n := len(r)
	return n > 0 && (isEmoji(r[n-1]) || isEmoji(r[max(n-2, 0)]))
}
