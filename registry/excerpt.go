package registry

import "regexp"

// Excerpt is a text as an error line shows it: whole where it is short, else what
// is around a column (1-based, in characters; 0 = the beginning).
func Excerpt(text string, column int) string {
	const most, around = 120, 50
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	from := min(max(column-around, 0), len(r)-1)
	to := min(from+2*around, len(r))
	out := string(r[from:to])
	if from > 0 {
		out = "…" + out
	}
	if to < len(r) {
		out += "…"
	}
	return out
}

var goNumber = regexp.MustCompile(`(?:invalid \w+ literal: )?strconv\.Parse\w+: parsing "([^"]*)": (value out of range|invalid syntax)`)

// PlainNumber words what Go's number parser says, within a message of a library,
// for readers.
func PlainNumber(msg string) string {
	return goNumber.ReplaceAllStringFunc(msg, func(s string) string {
		m := goNumber.FindStringSubmatch(s)
		if m[2] == "invalid syntax" {
			return Excerpt(m[1], 0) + " is no number"
		}
		return Excerpt(m[1], 0) + " is beyond what can be counted with: give a finite number that can be reached"
	})
}
