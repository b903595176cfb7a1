package wire

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape is the text of a JSON string's content. It is tolerant: an unknown
// escape stands for itself, a lone surrogate and each invalid byte become U+FFFD.
// Because pieces are joined before they are unescaped, a character whose bytes or
// surrogates were split over two events comes out whole.
func Unescape(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return valid(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		j := bytes.IndexByte(raw[i:], '\\')
		if j < 0 {
			out = append(out, raw[i:]...)
			break
		}
		out = append(out, raw[i:i+j]...)
		i += j
		if i+1 >= len(raw) {
			out = append(out, '\\')
			break
		}
		c := raw[i+1]
		i += 2
		switch c {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case '"', '\\', '/':
			out = append(out, c)
		case 'u':
			r, ok := hex4(raw[i:])
			if !ok {
				out = append(out, '\\', 'u')
				continue
			}
			i += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if i+1 < len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
					low, ok = hex4(raw[i+2:])
				}
				if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
					r = pair
					i += 6
				} else {
					r = utf8.RuneError
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, '\\', c)
		}
	}
	return valid(out)
}

func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b))) // each invalid byte becomes U+FFFD
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// AppendEscaped appends text as the content of a JSON string.
func AppendEscaped(dst []byte, text []byte) []byte {
	const hex = "0123456789abcdef"
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
