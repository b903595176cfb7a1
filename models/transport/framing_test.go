package transport

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// take feeds text to a framing in pieces of the size given.
func take(f *framing, text string, size int) (body string, rest int, err error) {
	for len(text) > 0 {
		p := []byte(text[:min(size, len(text))])
		for {
			b, n, err := f.next(p)
			body += string(b)
			p, text = p[n:], text[n:]
			if err != nil {
				return body, len(text), err
			}
			if len(p) == 0 {
				break
			}
		}
	}
	_, _, err = f.next(nil)
	return body, 0, err
}

func TestFraming(t *testing.T) {
	chunkedHeader := Header{{"transfer-encoding", "Chunked"}}
	tests := []struct {
		name   string
		header Header
		text   string
		body   string
		rest   int
		end    string // "eof", "more" or part of the error
	}{
		{"length", Header{{"content-length", "3"}}, "abcd", "abc", 1, "eof"},
		{"length, cut", Header{{"content-length", "5"}}, "abc", "abc", 0, "more"},
		{"length 0", Header{{"content-length", "0"}}, "x", "", 1, "eof"},
		{"chunks", chunkedHeader, "3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\nX", "abc0123456789", 1, "eof"},
		{"chunk extension", chunkedHeader, "3;a=b\r\nabc\r\n0;x\r\n\r\n", "abc", 0, "eof"},
		{"bare line feeds", chunkedHeader, "3\nabc\n0\n\n", "abc", 0, "eof"},
		{"blank after the size", chunkedHeader, "3  \r\nabc\r\n0\r\n\r\n", "abc", 0, "eof"},
		{"trailers", chunkedHeader, "1\r\na\r\n0\r\nX: 1\r\nY: 2\r\n\r\n", "a", 0, "eof"},
		{"cut in a size", chunkedHeader, "1\r\na\r\n1", "a", 0, "more"},
		{"cut before the last line", chunkedHeader, "1\r\na\r\n0\r\n", "a", 0, "more"},
		{"no size", chunkedHeader, "\r\nabc", "", 5, "starts with"},
		{"not a size", chunkedHeader, "1g\r\na", "", 4, "in a chunk size"},
		{"size does not fit", chunkedHeader, "2\r\nabc\r\n", "ab", 3, "does not end"},
		{"huge size", chunkedHeader, "ffffffffffffffff\r\n", "", 7, "too large"},
		{"until close", nil, "abc", "abc", 0, "more"},
	}
	for _, tc := range tests {
		for _, size := range []int{1, 2, 3, 1 << 10} {
			f, err := newFraming(200, tc.header)
			if err != nil {
				t.Fatal(err)
			}
			body, rest, err := take(&f, tc.text, size)
			ok := false
			switch tc.end {
			case "eof":
				ok = errors.Is(err, io.EOF)
			case "more":
				ok = err == nil
			default:
				ok = err != nil && !errors.Is(err, io.EOF) && strings.Contains(err.Error(), tc.end)
			}
			if !ok || body != tc.body || (tc.end == "eof" && rest != tc.rest) {
				t.Errorf("%s in pieces of %d: body %q, %d left, error %v", tc.name, size, body, rest, err)
			}
		}
	}
	for _, h := range []Header{{{"content-length", "-1"}}, {{"content-length", "3, 3"}}, {{"transfer-encoding", "gzip, chunked"}}} {
		if _, err := newFraming(200, h); err == nil {
			t.Errorf("%v is accepted", h)
		}
	}
	if f, err := newFraming(204, Header{{"content-length", "5"}}); err != nil || !f.done {
		t.Errorf("a 204 has a body: %v", err)
	}
}
