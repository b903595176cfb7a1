package mathstring

import "strings"

// LastBoxed is the content of the last \boxed{…} or \fbox{…} of a text, one
// extra pair of braces around it peeled off. Braces are counted without regard
// to escapes. ok is false when there is no box or it never closes.
func LastBoxed(text string) (content string, ok bool) {
	box, found := LastBoxedString(text)
	if !found {
		return "", false
	}
	inner := box[strings.IndexByte(box, '{')+1 : len(box)-1]
	return peel(inner), true
}

// LastBoxedString is last_boxed_only_string of OpenCompass and AISBench: the last
// \boxed, else the last \fbox, through the brace that closes it.
func LastBoxedString(text string) (box string, ok bool) {
	at := strings.LastIndex(text, `\boxed`)
	if at < 0 {
		if at = strings.LastIndex(text, `\fbox`); at < 0 {
			return "", false
		}
	}
	depth := 0
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
			if depth == 0 {
				return text[at : i+1], true
			}
		}
	}
	return "", false
}

// OCBoxed is extract_boxed_answer with double braces stripped: the content of the
// last \boxed{…}; an \fbox is found but not read (OpenCompass gives nothing
// there, AISBench fails).
func OCBoxed(text string) (content string, ok bool) {
	box, found := LastBoxedString(text)
	if !found || !strings.HasPrefix(box, `\boxed{`) {
		return "", false
	}
	return peel(box[len(`\boxed{`) : len(box)-1]), true
}

// peel removes one pair of braces that stands around one line.
func peel(s string) string {
	if len(s) >= 2 && s[0] == '{' && s[len(s)-1] == '}' && !strings.Contains(s, "\n") {
		return s[1 : len(s)-1]
	}
	return s
}

// LMBoxedString is lm-evaluation-harness's last_boxed_only_string, which also
// accepts "\boxed " followed by text up to the next "$".
func LMBoxedString(text string) (box string, ok bool) {
	const spaced = `\boxed `
	if i := strings.LastIndex(text, spaced); i >= 0 {
		rest, _, _ := strings.Cut(text[i+len(spaced):], "$")
		return spaced + rest, true
	}
	return LastBoxedString(text)
}

// LMBoxed is remove_boxed of LMBoxedString; ok is false where the original
// raises (an \fbox) or finds nothing.
func LMBoxed(text string) (content string, ok bool) {
	box, found := LMBoxedString(text)
	if !found {
		return "", false
	}
	if strings.HasPrefix(box, `\boxed `) {
		return box[len(`\boxed `):], true
	}
	if !strings.HasPrefix(box, `\boxed{`) || strings.Contains(box, `\boxed `) {
		return "", false
	}
	return box[len(`\boxed{`) : len(box)-1], true
}
