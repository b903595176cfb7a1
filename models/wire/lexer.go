// Package wire is what the wire protocols share: a lexer that walks one JSON
// document once without decoding it, and the Answer that grows from a stream's
// events in its still escaped form.
//
// Decoding JSON while streams are live costs more than everything else a client
// does and steals time from the reads that are being measured. So an event is
// only walked: each value is either one of the few that matter (and is copied,
// still escaped) or skipped. The walk is complete – key order, white space,
// escaped keys and unknown fields make no difference – so there is no second,
// slower path that could see something else.
package wire

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"unsafe"
)

// ErrSyntax: the document is not JSON.
var ErrSyntax = errors.New("broken JSON")

// Lexer walks one JSON document. After the first error every call says "no" and
// Err reports it. Skipped values are checked only as far as is needed to find
// their end.
type Lexer struct {
	b     []byte
	i     int
	first bool // nothing has been read of the container entered last
	bad   bool
}

// NewLexer walks doc.
func NewLexer(doc []byte) Lexer { return Lexer{b: doc} }

// Err is ErrSyntax if the walk failed.
func (l *Lexer) Err() error {
	if l.bad {
		return ErrSyntax
	}
	return nil
}

// End reports whether nothing but white space is left, and fails the walk otherwise.
func (l *Lexer) End() bool {
	l.space()
	if l.i < len(l.b) {
		l.bad = true
	}
	return !l.bad
}

func (l *Lexer) space() {
	for l.i < len(l.b) {
		switch l.b[l.i] {
		case ' ', '\t', '\n', '\r':
			l.i++
		default:
			return
		}
	}
}

// Peek is the first byte of the next value ('{', '[', '"', 'n', 't', 'f', a digit
// or '-'), 0 at the end.
func (l *Lexer) Peek() byte {
	l.space()
	if l.bad || l.i >= len(l.b) {
		return 0
	}
	return l.b[l.i]
}

func (l *Lexer) fail() bool {
	l.bad = true
	return false
}

// Object enters an object; false, without consuming anything, if the next value
// is none.
func (l *Lexer) Object() bool { return l.enter('{') }

// Array enters an array; false, without consuming anything, if the next value is none.
func (l *Lexer) Array() bool { return l.enter('[') }

func (l *Lexer) enter(open byte) bool {
	if l.Peek() != open {
		return false
	}
	l.i++
	l.first = true
	return true
}

// Key is the next key of the object entered; false at its end. The key is valid
// as long as the document. The caller must consume its value.
func (l *Lexer) Key() (string, bool) {
	if !l.more('}') {
		return "", false
	}
	raw, ok := l.Text()
	if !ok {
		return "", l.fail()
	}
	if l.Peek() != ':' {
		return "", l.fail()
	}
	l.i++
	if bytes.IndexByte(raw, '\\') >= 0 {
		return Unescape(raw), true
	}
	return unsafe.String(unsafe.SliceData(raw), len(raw)), true
}

// Elem reports whether the array entered has another element, which the caller
// must consume.
func (l *Lexer) Elem() bool { return l.more(']') }

func (l *Lexer) more(end byte) bool {
	c := l.Peek()
	if c == 0 {
		return l.fail()
	}
	if c == end {
		l.i++
		l.first = false
		return false
	}
	if l.first {
		l.first = false
		return true
	}
	if c != ',' {
		return l.fail()
	}
	l.i++
	return true
}

// Text is the next value's content, still escaped, if it is a string; false,
// without consuming anything, if it is something else.
func (l *Lexer) Text() ([]byte, bool) {
	if l.Peek() != '"' {
		return nil, false
	}
	start := l.i + 1
	for i, j := start, start-1; ; {
		if j < i { // the quote found before, if any, was escaped
			k := bytes.IndexByte(l.b[i:], '"')
			if k < 0 {
				return nil, l.fail()
			}
			j = i + k
		}
		k := bytes.IndexByte(l.b[i:j], '\\')
		if k < 0 {
			l.i = j + 1
			return l.b[start:j], true
		}
		if i += k + 2; i > len(l.b) { // behind the escaped character, which may be the quote
			return nil, l.fail()
		}
	}
}

// Int is the next value if it is a number (a fraction is cut off); false,
// without consuming anything, if it is something else.
func (l *Lexer) Int() (int64, bool) {
	c := l.Peek()
	if c != '-' && (c < '0' || c > '9') {
		return 0, false
	}
	i, neg := l.i, c == '-'
	if neg {
		i++
	}
	var v int64
	digits := i
	for ; i < len(l.b) && l.b[i] >= '0' && l.b[i] <= '9'; i++ {
		if v < 1<<58 {
			v = v*10 + int64(l.b[i]-'0')
		}
	}
	if i == digits {
		l.bad = true
		return 0, false
	}
	for i < len(l.b) && !delimiter(l.b[i]) {
		if c := l.b[i]; c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' && (c < '0' || c > '9') {
			l.bad = true
			return 0, false
		}
		i++
	}
	text := l.b[l.i:i]
	l.i = i
	if len(text) > digitsOf(text, neg) { // a fraction or an exponent: 1e3 and 10.0 are whole numbers too
		f, err := strconv.ParseFloat(string(text), 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return -1, true // no count of anything
		}
		return int64(f), true
	}
	if neg {
		v = -v
	}
	return v, true
}

// digitsOf is the length of the sign and leading digits of a number.
func digitsOf(text []byte, neg bool) int {
	n := 0
	if neg {
		n++
	}
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// Count consumes the next value and, if it can be a token count, sets it and
// returns found; else it returns 0.
func (l *Lexer) Count(into *int32, found Verdict) Verdict {
	n, ok := l.Int()
	if !ok {
		l.Skip()
		return 0
	}
	if n < 0 || n > 1<<31-1 {
		return 0
	}
	*into = int32(n)
	return found
}

// Skip consumes the next value and returns it as it stands.
func (l *Lexer) Skip() []byte {
	c := l.Peek()
	start := l.i
	switch c {
	case 0:
		l.bad = true
		return nil
	case '"':
		if _, ok := l.Text(); !ok {
			return nil
		}
	case '{', '[':
		l.skipContainer()
	default:
		if c != '-' && (c < '0' || c > '9') && bytes.IndexByte([]byte("tfnNI"), c) < 0 { // Python writes NaN and Infinity
			l.bad = true
			return nil
		}
		for l.i < len(l.b) && !delimiter(l.b[l.i]) {
			l.i++
		}
		if w := l.b[start:l.i]; c == 't' && string(w) != "true" || c == 'f' && string(w) != "false" || c == 'n' && string(w) != "null" {
			l.bad = true
		}
	}
	if l.bad {
		return nil
	}
	l.first = false
	return l.b[start:l.i]
}

func (l *Lexer) skipContainer() {
	depth := 0
	for l.i < len(l.b) {
		switch l.b[l.i] {
		case '"':
			if _, ok := l.Text(); !ok {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				l.i++
				return
			}
		}
		l.i++
	}
	l.bad = true
}

func delimiter(c byte) bool {
	switch c {
	case ',', '}', ']', ' ', '\t', '\n', '\r', ':', '"', '{', '[':
		return true
	}
	return false
}
