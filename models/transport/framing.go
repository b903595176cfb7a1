package transport

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// framing takes a response's body apart as its header says: a known length,
// chunks, or everything until the connection closes. It keeps no bytes: what it
// needs to remember of a broken chunk line is in its state.
type framing struct {
	kind  framingKind
	done  bool
	left  int64 // bytes of the body, or of the chunk
	state chunkState
	size  int64 // chunk size being read
	digit bool  // at least one digit of it seen
}

type framingKind uint8

const (
	byLength framingKind = iota
	chunked
	untilClose
)

type chunkState uint8

const (
	inSize     chunkState = iota
	inExt                 // rest of the size line
	inData                //
	afterData             // CRLF after the data
	trailer               // at the start of a trailer line
	inTrailer             // within one
	trailerEnd            // CR of the final blank line seen
)

func newFraming(code int, h Header) (framing, error) {
	if !hasBody(code) {
		return framing{done: true}, nil
	}
	if te := h.Get("transfer-encoding"); te != "" {
		if !strings.EqualFold(te, "chunked") {
			return framing{}, fmt.Errorf("transfer-encoding %q is not supported; only chunked is", te)
		}
		return framing{kind: chunked}, nil
	}
	if cl := h.Get("content-length"); cl != "" {
		n, err := strconv.ParseInt(cl, 10, 64)
		if err != nil || n < 0 {
			return framing{}, fmt.Errorf("content-length %q is not a length", cl)
		}
		return framing{kind: byLength, left: n, done: n == 0}, nil
	}
	return framing{kind: untilClose}, nil
}

var errChunk = errors.New("broken chunked encoding")

// next returns the first run of body bytes in p and how much of p was consumed.
// No bytes and no error: more input is needed. io.EOF: the body is complete.
func (f *framing) next(p []byte) (body []byte, consumed int, err error) {
	if f.done {
		return nil, 0, io.EOF
	}
	switch f.kind {
	case untilClose:
		return p, len(p), nil
	case byLength:
		n := int(min(int64(len(p)), f.left))
		if f.left -= int64(n); f.left == 0 {
			f.done = true
		}
		return p[:n], n, nil
	}
	i := 0
	for i < len(p) {
		c := p[i]
		switch f.state {
		case inData:
			n := int(min(int64(len(p)-i), f.left))
			if f.left -= int64(n); f.left == 0 {
				f.state = afterData
			}
			return p[i : i+n], i + n, nil
		case inSize:
			d := hexDigit(c)
			switch {
			case d >= 0:
				if f.size > 1<<40 {
					return nil, i, fmt.Errorf("%w: chunk too large", errChunk)
				}
				f.size, f.digit = f.size<<4|int64(d), true
			case !f.digit:
				return nil, i, fmt.Errorf("%w: chunk size starts with %q", errChunk, c)
			case c == '\n':
				f.chunk()
			case c == '\r' || c == ';' || c == ' ' || c == '\t':
				f.state = inExt
			default:
				return nil, i, fmt.Errorf("%w: %q in a chunk size", errChunk, c)
			}
		case inExt:
			if c == '\n' {
				f.chunk()
			}
		case afterData:
			switch c {
			case '\r':
			case '\n':
				f.state = inSize
			default:
				return nil, i, fmt.Errorf("%w: chunk does not end where its size says", errChunk)
			}
		case trailer:
			switch c {
			case '\r':
				f.state = trailerEnd
			case '\n':
				f.done = true
				return nil, i + 1, io.EOF
			default:
				f.state = inTrailer
			}
		case inTrailer:
			if c == '\n' {
				f.state = trailer
			}
		case trailerEnd:
			if c != '\n' {
				return nil, i, fmt.Errorf("%w: no line end after the last chunk", errChunk)
			}
			f.done = true
			return nil, i + 1, io.EOF
		}
		i++
	}
	return nil, i, nil
}

// chunk starts the data of a chunk whose size line is complete.
func (f *framing) chunk() {
	f.left, f.state = f.size, inData
	if f.size == 0 {
		f.state = trailer
	}
	f.size, f.digit = 0, false
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
