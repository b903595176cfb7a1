package datasets

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// utf8Reader passes text on and ends with an error at the first byte that is not
// UTF-8: a decoder would replace it without a word, and another question would be
// asked than the file holds.
type utf8Reader struct {
	r    io.Reader
	line int    // lines that are complete
	rest []byte // start of a character whose end has not been read
	err  error
}

func (u *utf8Reader) Read(p []byte) (int, error) {
	if u.err != nil {
		return 0, u.err
	}
	n, err := u.r.Read(p)
	text := append(u.rest, p[:n]...)
	if utf8.Valid(text) {
		u.line += bytes.Count(text, []byte("\n"))
		u.rest = text[:0]
		return n, err
	}
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if c == '\n' {
				u.line++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			if err == nil && !utf8.FullRune(text[i:]) {
				u.rest = bytes.Clone(text[i:])
				return n, nil
			}
			u.err = fmt.Errorf("line %d is not UTF-8 (byte 0x%02X); convert the file, for example with iconv", u.line+1, text[i])
			return 0, u.err
		}
		i += size
	}
	u.rest = u.rest[:0]
	return n, err
}
