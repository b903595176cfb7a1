package outputs

import (
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// redacted stands where a secret was.
const redacted = "[redacted]"

var urlPassword = regexp.MustCompile(`(\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*):[^\s/@]+@`)

// WithoutURLPasswords hides the password of every URL in s, however short: a
// redactor leaves out what is too short to be looked for everywhere.
func WithoutURLPasswords(s string) string { return urlPassword.ReplaceAllString(s, "$1:"+redacted+"@") }

// minSecret is the shortest secret that is scrubbed: shorter ones would hit
// ordinary words.
const minSecret = 4

// placeholders are values people give where a key is required but unused.
// They are no secrets, and scrubbing them would damage ordinary text.
var placeholders = map[string]bool{"empty": true, "none": true, "null": true, "dummy": true, "token-abc123": true, "test": true, "true": true, "false": true}

// Redactor removes secret values from text. The zero value and nil remove
// nothing. It is immutable after NewRedactor and safe for concurrent use.
//
// A secret is found as it is, percent-encoded, and inside JSON at any depth of
// escaping (sk\u002dabc, "a\\\"b"), because servers echo requests in errors.
type Redactor struct {
	literals []string       // fast path
	escaped  *regexp.Regexp // slow path, taken when the text holds a backslash, & or %
	words    []string       // literals that a byte stream may be scrubbed of (not bare numbers)
	stream   *regexp.Regexp
	chars    [256]bool // bytes that occur in secrets: an escape of another one needs no slow path
	special  bool      // a secret holds characters that encoders escape in several ways
	longest  int       // longest match in bytes, for streams
}

// NewRedactor returns a redactor of the given values. Values shorter than
// four bytes and conventional placeholders (EMPTY, none) are ignored.
func NewRedactor(secrets ...string) *Redactor {
	seen := map[string]bool{}
	r := &Redactor{}
	for _, s := range secrets {
		s = strings.TrimSpace(s)
		if len(s) < minSecret || placeholders[strings.ToLower(s)] || seen[s] {
			continue
		}
		seen[s] = true
		r.literals = append(r.literals, s)
	}
	// Longest first: a secret that contains another goes as a whole.
	sort.Slice(r.literals, func(i, j int) bool { return len(r.literals[i]) > len(r.literals[j]) })
	var all, streamed []string
	for _, s := range r.literals {
		p := escapedPattern(s)
		all = append(all, p)
		for _, c := range []byte(s) {
			r.chars[c] = true
			plain := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._~", c) >= 0
			r.special = r.special || !plain
		}
		// A stream holds numbers too: a secret of digits alone is scrubbed from
		// text fields but must not punch holes into measurements.
		if strings.Trim(s, "0123456789.") != "" {
			streamed = append(streamed, p)
			r.words = append(r.words, s)
			r.longest = max(r.longest, utf8.RuneCountInString(s)*maxEscaped)
		}
	}
	if len(all) > 0 {
		r.escaped = regexp.MustCompile(strings.Join(all, "|"))
	}
	if len(streamed) > 0 {
		r.stream = regexp.MustCompile(strings.Join(streamed, "|"))
	}
	return r
}

// maxEscaped bounds the bytes one character may take: eight backslashes and
// uXXXX twice (a surrogate pair).
const maxEscaped = 26

// escapedPattern matches s with every character either literal, behind
// backslashes, as \uXXXX, as %XX, or as an HTML entity.
func escapedPattern(s string) string {
	var b strings.Builder
	b.WriteString("(?:")
	for _, c := range s {
		b.WriteString(`(?:\\{0,8}` + regexp.QuoteMeta(string(c)))
		if c < 0x10000 {
			b.WriteString(`|\\{1,8}u(?i:` + hex4(uint16(c)) + `)`)
		} else {
			c -= 0x10000
			b.WriteString(`|\\{1,8}u(?i:` + hex4(uint16(0xd800+c>>10)) + `)\\{1,8}u(?i:` + hex4(uint16(0xdc00+c&0x3ff)) + `)`)
			c += 0x10000
		}
		b.WriteString(`|(?i:`)
		for _, x := range []byte(string(c)) {
			b.WriteString(`%` + hex4(uint16(x))[2:])
		}
		b.WriteString(`)`)
		switch c {
		case '&':
			b.WriteString(`|&amp;`)
		case '<':
			b.WriteString(`|&lt;`)
		case '>':
			b.WriteString(`|&gt;`)
		case '"':
			b.WriteString(`|&#34;|&quot;`)
		case '\'':
			b.WriteString(`|&#39;|&apos;`)
		case '+':
			b.WriteString(`|&#43;`)
		case ' ':
			b.WriteString(`|\+`)
		}
		b.WriteString(")")
	}
	b.WriteString(")")
	return b.String()
}

func hex4(v uint16) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[v>>12], digits[v>>8&15], digits[v>>4&15], digits[v&15]})
}

// Empty reports whether there is nothing to remove.
func (r *Redactor) Empty() bool { return r == nil || len(r.literals) == 0 }

// String returns s without the secrets.
func (r *Redactor) String(s string) string {
	if r.Empty() || s == "" {
		return s
	}
	for _, l := range r.literals {
		if strings.Contains(s, l) {
			s = strings.ReplaceAll(s, l, redacted)
		}
	}
	if r.suspicious(s) {
		s = r.escaped.ReplaceAllLiteralString(s, redacted)
	}
	return s
}

// suspicious says whether s may hold a secret in an escaped form. Most text
// holds no escape of any character that occurs in a secret, and is spared the
// regular expression.
func (r *Redactor) suspicious(s string) bool {
	if r.special {
		return strings.ContainsAny(s, `\%&`)
	}
	for i := 0; i+2 < len(s); i++ {
		switch s[i] {
		case '%':
			if c, ok := unhex(s[i+1 : i+3]); ok && r.chars[c] {
				return true
			}
		case '\\':
			if s[i+1] == 'u' && i+5 < len(s) && s[i+2:i+4] == "00" {
				if c, ok := unhex(s[i+4 : i+6]); ok && r.chars[c] {
					return true
				}
			}
		}
	}
	return false
}

func unhex(s string) (byte, bool) {
	v, err := strconv.ParseUint(s, 16, 8)
	return byte(v), err == nil
}

// Strings returns a scrubbed copy of list.
func (r *Redactor) Strings(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = r.String(s)
	}
	return out
}

// Record returns rec itself when it holds no secret, else a scrubbed copy.
func (r *Redactor) Record(rec *Record) *Record {
	if r.Empty() {
		return rec
	}
	out := rec
	for _, field := range recordStrings {
		s := *field(rec)
		if clean := r.String(s); clean != s {
			if out == rec {
				dup := *rec
				out = &dup
			}
			*field(out) = clean
		}
	}
	return out
}

// recordStrings are the free-text fields of a Record.
var recordStrings = []func(*Record) *string{
	func(r *Record) *string { return &r.Model },
	func(r *Record) *string { return &r.Dataset },
	func(r *Record) *string { return &r.SampleID },
	func(r *Record) *string { return &r.SessionID },
	func(r *Record) *string { return &r.RequestID },
	func(r *Record) *string { return &r.FinishReason },
	func(r *Record) *string { return &r.Error },
	func(r *Record) *string { return &r.Text },
	func(r *Record) *string { return &r.Reasoning },
	func(r *Record) *string { return &r.ToolCalls },
	func(r *Record) *string { return &r.Prompt },
}

// Writer returns a writer that scrubs what passes through, also secrets split
// over several writes. Close flushes the held-back tail; it does not close w.
// Secrets that are numbers alone are left to field-wise scrubbing.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	if r == nil || r.stream == nil {
		return passWriter{w}
	}
	return &redactWriter{r: r, w: w}
}

type passWriter struct{ io.Writer }

func (passWriter) Close() error { return nil }

type redactWriter struct {
	r   *Redactor
	w   io.Writer
	buf []byte
	err error
}

func (w *redactWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.buf = append(w.buf, p...)
	if len(w.buf) >= 2*w.r.longest+4096 {
		w.flush(w.r.longest)
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// flush scrubs the buffer and writes all but the last keep bytes, which may
// hold the beginning of a secret.
func (w *redactWriter) flush(keep int) {
	text := w.buf
	if loc := w.r.find(text); loc != nil {
		var out []byte
		for loc != nil {
			out = append(append(out, text[:loc[0]]...), redacted...)
			text = text[loc[1]:]
			loc = w.r.find(text)
		}
		// The part before the last match is final; only what follows may start
		// another one.
		if w.write(out); w.err != nil {
			return
		}
	}
	if cut := len(text) - keep; cut > 0 {
		w.write(text[:cut])
		text = text[cut:]
	}
	w.buf = append(w.buf[:0], text...)
}

func (r *Redactor) find(text []byte) []int { return r.stream.FindIndex(text) }

func (w *redactWriter) write(p []byte) {
	if w.err == nil && len(p) > 0 {
		_, w.err = w.w.Write(p)
	}
}

// Flush writes everything held back. Text that follows is scrubbed on its own.
func (w *redactWriter) Flush() error {
	w.flush(0)
	return w.err
}

func (w *redactWriter) Close() error { return w.Flush() }
