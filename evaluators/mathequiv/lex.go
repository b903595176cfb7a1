package mathequiv

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on what is parsed at all. A longer or deeper answer is compared as
// text: no final answer of any data set comes near them, hostile input does.
const (
	maxAnswerBytes = 1 << 16
	maxTokens      = 8192
	maxDepth       = 120
)

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokNumber
	tokLetter  // one variable: a letter
	tokCommand // \name, without the backslash
	tokWords   // \text{…} or a bare word, already trimmed
	tokSymbol  // one punctuation mark
	tokSep     // a separator between answers: "," ";" "and" "or"
)

type token struct {
	kind  tokenKind
	text  string
	space bool // white space stood before it
}

// canonicalRunes rewrites typed mathematics (and full-width forms) into ASCII LaTeX.
func canonicalRunes(s string) string {
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if form, ok := runeForms[r]; ok {
			b.WriteString(form)
		} else if r >= 0xFF01 && r <= 0xFF5E {
			b.WriteRune(r - 0xFEE0)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// lexer cuts an answer into tokens. mergeThousands reads "1,234" outside
// brackets as one number; without it, as two.
type lexer struct {
	src            string
	pos            int
	toks           []token
	depth          int // of ( [ \{
	mergeThousands bool
	sawThousands   bool // a comma was (or could have been) read as a thousands separator
	failed         bool
}

func (l *lexer) emit(kind tokenKind, text string, space bool) {
	if len(l.toks) >= maxTokens {
		l.failed = true
		return
	}
	l.toks = append(l.toks, token{kind: kind, text: text, space: space})
}

// group returns the content of the {…} that starts at the next non-space byte,
// or a single token's text, and moves past it.
func (l *lexer) group() (string, bool) {
	l.skipSpace()
	if l.pos >= len(l.src) {
		return "", false
	}
	if l.src[l.pos] != '{' {
		_, n := utf8.DecodeRuneInString(l.src[l.pos:])
		s := l.src[l.pos : l.pos+n]
		l.pos += n
		return s, true
	}
	end := matchBrace(l.src, l.pos)
	if end < 0 {
		return "", false
	}
	s := l.src[l.pos+1 : end]
	l.pos = end + 1
	return s, true
}

// matchBrace returns the index of the brace that closes the one at open, -1
// when there is none. Escaped braces do not count.
func matchBrace(s string, open int) int {
	depth := 0
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

func (l *lexer) skipSpace() bool {
	start := l.pos
	for l.pos < len(l.src) {
		r, n := utf8.DecodeRuneInString(l.src[l.pos:])
		if r != '~' && !unicode.IsSpace(r) {
			break
		}
		l.pos += n
	}
	return l.pos > start
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// run tokenises the source; ok is false when it is too long or malformed.
func (l *lexer) run() (ok bool) {
	space := false
	for !l.failed {
		space = l.skipSpace() || space
		if l.pos >= len(l.src) {
			break
		}
		c := l.src[l.pos]
		before := len(l.toks)
		switch {
		case c == '\\':
			if !l.command(space) {
				return false
			}
		case isDigit(c) || c == '.' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]):
			l.number(space)
		case isLetter(c):
			l.letters(space)
		case c == '$':
			l.pos++
		case c == ',' || c == ';':
			l.pos++
			l.emit(tokSep, ",", space)
		case c >= utf8.RuneSelf:
			l.otherWord(space)
		case c == '"' || c == '`':
			l.pos++
		case c == '*' && strings.HasPrefix(l.src[l.pos:], "**"):
			l.pos += 2
			if l.pos < len(l.src) && (isDigit(l.src[l.pos]) || l.src[l.pos] == '(' || l.src[l.pos] == '-') && len(l.toks) > 0 {
				l.emit(tokSymbol, "^", space) // Python's power; elsewhere "**" is Markdown
			}
		case c == '<' || c == '>' || c == '!':
			if l.pos+1 < len(l.src) && l.src[l.pos+1] == '=' {
				l.emit(tokCommand, map[byte]string{'<': "le", '>': "ge", '!': "ne"}[c], space)
				l.pos += 2
			} else {
				l.pos++
				l.emit(tokSymbol, string(c), space)
			}
		default:
			l.pos++
			switch c {
			case '(', '[':
				l.depth++
			case ')', ']':
				l.depth--
			}
			l.emit(tokSymbol, string(c), space)
		}
		if len(l.toks) > before {
			space = false
		} else {
			space = true
		}
	}
	return !l.failed
}

func (l *lexer) number(space bool) {
	var b strings.Builder
	s := l.src
	dot := false
	for l.pos < len(s) {
		c := s[l.pos]
		if isDigit(c) {
			b.WriteByte(c)
			l.pos++
			continue
		}
		if c == '.' && !dot && l.pos+1 < len(s) && isDigit(s[l.pos+1]) {
			dot = true
			b.WriteByte('.')
			l.pos++
			continue
		}
		if c == '.' && !dot && l.pos+1 < len(s) && strings.IndexByte("/*+-^)", s[l.pos+1]) >= 0 { // 1./3
			l.pos++
			continue
		}
		if c == '.' && !dot && (l.pos+1 == len(s) || strings.HasPrefix(s[l.pos+1:], `\overline`) || strings.HasPrefix(s[l.pos+1:], `\dot{`)) {
			if l.pos+1 < len(s) {
				dot = true
				b.WriteByte('.')
			}
			l.pos++
			continue
		}
		if n := l.thousands(dot, b.Len()); n > 0 {
			l.pos += n
			continue
		}
		break
	}
	// 1e3, 1E-5: an exponent directly behind the digits.
	if l.pos+1 < len(s) && (s[l.pos] == 'e' || s[l.pos] == 'E') {
		j := l.pos + 1
		if s[j] == '+' || s[j] == '-' {
			j++
		}
		k := j
		for k < len(s) && isDigit(s[k]) {
			k++
		}
		if k > j && k-j <= 4 && (k == len(s) || !isLetter(s[k])) {
			b.WriteString("e" + s[l.pos+1:k])
			l.pos = k
		}
	}
	// Ordinals: 3rd, 4th, \text{th} is handled as a unit.
	for _, suffix := range [...]string{"st", "nd", "rd", "th"} {
		if strings.HasPrefix(s[l.pos:], suffix) && (l.pos+2 == len(s) || !isLetter(s[l.pos+2])) {
			l.pos += 2
			break
		}
	}
	l.emit(tokNumber, b.String(), space)
}

// thousands tells how many bytes at pos are a thousands separator between
// digits, 0 when they are not one. "{,}" and ",\!" always are.
func (l *lexer) thousands(dot bool, digits int) int {
	rest := l.src[l.pos:]
	three := func(r string) bool {
		return len(r) >= 3 && isDigit(r[0]) && isDigit(r[1]) && isDigit(r[2]) && (len(r) == 3 || !isDigit(r[3]))
	}
	if dot {
		return 0
	}
	for _, sep := range [...]string{"{,}", `,\!`, `{,}\!`, `\,`, `{\,}`, `\!`} {
		if strings.HasPrefix(rest, sep) && three(rest[len(sep):]) {
			return len(sep)
		}
	}
	if len(rest) > 3 && rest[0] == ',' && three(rest[1:]) && digits > 0 {
		// The group before the first comma has one to three digits; later ones
		// three, which three() has made sure of.
		i := l.pos - 1
		for i >= 0 && isDigit(l.src[i]) {
			i--
		}
		if l.pos-1-i > 3 || l.depth > 0 {
			return 0
		}
		l.sawThousands = true
		if l.mergeThousands {
			return 1
		}
	}
	return 0
}

func (l *lexer) letters(space bool) {
	start := l.pos
	for l.pos < len(l.src) && isLetter(l.src[l.pos]) {
		l.pos++
	}
	w := l.src[start:l.pos]
	lower := strings.ToLower(w)
	afterNumber := len(l.toks) > 0 && l.toks[len(l.toks)-1].kind == tokNumber
	switch {
	case len(w) == 1:
		l.emit(tokLetter, w, space)
	case lower == "and" || lower == "or":
		l.emit(tokSep, ",", space)
	case lower == "percent":
		l.emit(tokSymbol, "%", space)
	case lower == "pi":
		l.emit(tokCommand, "pi", space)
	case lower == "inf" || lower == "infty" || lower == "infinity" || lower == "oo":
		l.emit(tokCommand, "infty", space)
	case bareFunctions[w]:
		l.emit(tokCommand, w, space)
	case afterNumber && letterUnits[w]:
		l.emit(tokWords, w, space)
	case lower == "frac" || lower == "dfrac":
		l.emit(tokCommand, "frac", space)
	case isWord(w) || numberWords[lower] != "":
		if n := numberWords[lower]; n != "" {
			l.emit(tokNumber, l.compoundNumber(n), space)
		} else {
			l.emit(tokWords, w, space)
		}
	default:
		for i := 0; i < len(w); i++ {
			l.emit(tokLetter, w[i:i+1], space && i == 0)
		}
	}
}

// compoundNumber adds the unit that follows a ten: twenty-five is 25.
func (l *lexer) compoundNumber(tens string) string {
	if len(tens) != 2 || tens[1] != '0' || tens == "10" || l.pos+1 >= len(l.src) || l.src[l.pos] != '-' && l.src[l.pos] != ' ' {
		return tens
	}
	end := l.pos + 1
	for end < len(l.src) && isLetter(l.src[end]) {
		end++
	}
	unit := numberWords[strings.ToLower(l.src[l.pos+1:end])]
	if len(unit) != 1 || unit == "0" {
		return tens
	}
	l.pos = end
	return tens[:1] + unit
}

// isWord guesses whether a run of letters is a word rather than a product of
// variables: four letters or more with a vowel, or a short common word.
func isWord(w string) bool {
	lower := strings.ToLower(w)
	if shortWords[lower] {
		return true
	}
	return len(w) >= 4 && strings.ContainsAny(lower, "aeiouy") && (w[1:] == lower[1:] || w == strings.ToUpper(w))
}

func (l *lexer) otherWord(space bool) {
	start := l.pos
	for l.pos < len(l.src) && l.src[l.pos] >= utf8.RuneSelf {
		_, n := utf8.DecodeRuneInString(l.src[l.pos:])
		l.pos += n
	}
	w := l.src[start:l.pos]
	if w == "和" || w == "或" || w == "或者" || w == "且" || w == "与" {
		l.emit(tokSep, ",", space)
		return
	}
	l.emit(tokWords, w, space)
}

func (l *lexer) command(space bool) bool {
	s := l.src
	if l.pos+1 >= len(s) {
		l.pos++
		return true
	}
	c := s[l.pos+1]
	if !isLetter(c) {
		l.pos += 2
		switch c {
		case '{':
			l.depth++
			l.emit(tokSymbol, `\{`, space)
		case '}':
			l.depth--
			l.emit(tokSymbol, `\}`, space)
		case '%':
			l.emit(tokSymbol, "%", space)
		case '|':
			l.emit(tokSymbol, "|", space)
		case '\\':
			l.emit(tokSymbol, `\\`, space)
		case '_', '#', '&':
			l.emit(tokSymbol, string(c), space)
		default: // \, \; \! \: \$ \( \) \[ \] and control space
		}
		return true
	}
	start := l.pos + 1
	l.pos = start
	for l.pos < len(s) && isLetter(s[l.pos]) {
		l.pos++
	}
	name := s[start:l.pos]
	switch {
	case name == "left" || name == "right":
		l.skipSpace()
		if l.pos < len(s) && s[l.pos] == '.' {
			l.pos++
		}
	case layoutCommands[name]:
	case unwrapCommands[name]:
	case wordCommands[name]:
		content, ok := l.group()
		if !ok {
			return false
		}
		l.words(strings.TrimRight(content, " "), space)
	case name == "textdollar" || name == "dollar" || name == "pounds" || name == "euro":
	case name == "begin" || name == "end":
		env, ok := l.group()
		if !ok {
			return false
		}
		env = strings.TrimSuffix(env, "*")
		if name == "begin" && (env == "array" || env == "tabular") {
			l.skipSpace()
			if l.pos < len(s) && s[l.pos] == '{' {
				l.group()
			}
		}
		if name == "begin" {
			l.depth++
		} else {
			l.depth--
		}
		l.emit(tokCommand, name+" "+env, space)
	case name == "mathbb" || name == "Bbb":
		content, ok := l.group()
		if !ok {
			return false
		}
		l.emit(tokCommand, "bb "+strings.TrimSpace(content), space)
	case name == "lbrace":
		l.depth++
		l.emit(tokSymbol, `\{`, space)
	case name == "rbrace":
		l.depth--
		l.emit(tokSymbol, `\}`, space)
	default:
		if form, ok := commandForms[name]; ok {
			name = form
		}
		switch name {
		case "(", ")", "[", "]", "|", "<", ">", "/", "*", "%", ":":
			l.emit(tokSymbol, name, space)
		default:
			l.emit(tokCommand, name, space)
		}
	}
	return true
}

// words emits the content of \text{…}: a separator, a number, or words.
func (l *lexer) words(content string, space bool) {
	trimmed := strings.TrimSpace(strings.Trim(strings.TrimSpace(content), ","))
	lower := strings.ToLower(trimmed)
	switch {
	case strings.TrimSpace(content) == "":
		return
	case lower == "" || lower == "and" || lower == "or" || lower == "和" || lower == "或":
		l.emit(tokSep, ",", space)
	case lower == "i" || lower == "e":
		l.emit(tokLetter, trimmed, space)
	case lower == "percent" || lower == "%":
		l.emit(tokSymbol, "%", space)
	case bareFunctions[lower]:
		l.emit(tokCommand, lower, space)
	case isPlainMath(trimmed) || isNumberWords(lower):
		sub := lexer{src: trimmed, mergeThousands: l.mergeThousands}
		if sub.run() {
			l.sawThousands = l.sawThousands || sub.sawThousands
			for _, t := range sub.toks {
				l.emit(t.kind, t.text, t.space)
			}
		}
	default:
		l.emit(tokWords, trimmed, space)
	}
}

// isNumberWords reports whether text is one number in words.
func isNumberWords(s string) bool {
	words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '-' })
	for _, w := range words {
		if numberWords[w] == "" {
			return false
		}
	}
	return len(words) == 1 || len(words) == 2
}

// isPlainMath reports whether text inside \text{…} is digits and operators.
func isPlainMath(s string) bool {
	digits := false
	for _, r := range s {
		if r >= '0' && r <= '9' {
			digits = true
		} else if !strings.ContainsRune("+-*/.,()[] ", r) {
			return false
		}
	}
	return digits
}
