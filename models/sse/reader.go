// Package sse reads server-sent events as they come off a connection: whatever
// the boundaries of the reads, the events are the same, and each has the time at
// which the read arrived that completed its last line.
//
// It is the standard's line discipline (LF, CRLF and CR; comments; a byte order
// mark; data over several lines) with two allowances for servers that are careless
// of the blank line: the last event may lack it, and a data line that starts a new
// JSON document after a complete one starts a new event.
package sse

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Source yields a body piece by piece: a piece, valid until the next call, and
// its arrival in ns. io.EOF is the body's proper end.
type Source interface {
	Next() (p []byte, at int64, err error)
}

// Event is one event with data. Name and Data are valid until the next call.
type Event struct {
	Name []byte // of the event: line, nil without one
	Data []byte
	At   int64 // arrival of the event's last line, ns
	// Cut tells that the body ended within the event's last line. It may be whole
	// (some servers end without a line end) or not; only its content can tell.
	Cut bool
}

// MaxEvent is the largest line and the largest event in bytes.
const MaxEvent = 16 << 20

// ErrTooLong: a line or an event exceeds MaxEvent.
var ErrTooLong = fmt.Errorf("an event exceeds %d MiB", MaxEvent>>20)

const maxStray = 2 << 10

// Reader reads events from a source.
type Reader struct {
	src  Source
	max  int
	p    []byte // what is left of the current piece
	at   int64  // its arrival
	err  error  // of the source, once the pieces are used up
	line []byte // start of a line whose end has not come yet
	cr   bool   // the line before ended with CR: a LF at once belongs to it

	begun bool   // a byte order mark can no longer come
	data  []byte // data lines of the event so far, joined by LF
	has   bool   // at least one data line
	name  []byte
	last  int64 // arrival of the event's last line

	held  []byte // a data line that starts the next event
	hold  bool
	heldA int64

	cut        bool // the body ended without a line end
	stray      []byte
	strayLines int
}

// NewReader reads from src.
func NewReader(src Source) *Reader { return &Reader{src: src, max: MaxEvent} }

// Stray is the start (up to 2 KiB) of what came that is no event: a server that
// has promised a stream and answers with an error page says its reason there.
func (r *Reader) Stray() []byte { return r.stray }

// StrayLines is the number of complete lines that are no part of an event.
func (r *Reader) StrayLines() int { return r.strayLines }

// Cut tells that the body ended within a line.
func (r *Reader) Cut() bool { return r.cut }

// Next is the next event. After the last one the error is the source's; after
// ErrTooLong the stream cannot be read on.
func (r *Reader) Next() (Event, error) {
	if r.hold {
		// The slices given out with the event before are free now.
		r.data = append(r.data[:0], r.held...)
		r.hold, r.has, r.last = false, true, r.heldA
		r.name = r.name[:0]
	}
	for {
		line, whole, err := r.nextLine()
		if err != nil {
			if r.has && !errors.Is(err, ErrTooLong) {
				return r.dispatch(), nil
			}
			return Event{}, err
		}
		if len(line) == 0 {
			if r.has {
				return r.dispatch(), nil
			}
			r.name = r.name[:0]
			continue
		}
		field, value := split(line)
		switch string(field) {
		case "data":
			if !r.has {
				// The usual event is one line and a blank one, both here: no copy.
				if whole && r.blankFollows() {
					r.last = r.at
					ev := Event{Data: value, At: r.at}
					if len(r.name) > 0 {
						ev.Name = append([]byte(nil), r.name...)
						r.name = r.name[:0]
					}
					return ev, nil
				}
				r.data, r.has, r.last = append(r.data[:0], value...), true, r.at
				continue
			}
			if startsDocument(value) && complete(r.data) {
				r.held, r.hold, r.heldA = append(r.held[:0], value...), true, r.at
				return r.dispatch(), nil
			}
			if len(r.data)+len(value) >= r.max {
				return Event{}, ErrTooLong
			}
			r.data = append(append(r.data, '\n'), value...)
			r.last = r.at
		case "event":
			r.name = append(r.name[:0], value...)
			if r.has {
				r.last = r.at
			}
		case "", "id", "retry":
		default:
			if !r.cut {
				r.strayLines++
			}
			if n := maxStray - len(r.stray); n > 0 {
				r.stray = append(append(r.stray, line[:min(n, len(line))]...), '\n')
			}
		}
	}
}

// dispatch gives out the event gathered in data and name.
func (r *Reader) dispatch() Event {
	ev := Event{Data: r.data, At: r.last, Cut: r.cut}
	if len(r.name) > 0 {
		ev.Name = append([]byte(nil), r.name...)
		r.name = r.name[:0]
	}
	r.has = false
	return ev
}

// split takes a line apart; a line without a colon is all field.
func split(line []byte) (field, value []byte) {
	i := bytes.IndexByte(line, ':')
	if i < 0 {
		return line, nil
	}
	field, value = line[:i], line[i+1:]
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return field, value
}

func startsDocument(value []byte) bool {
	return len(value) > 0 && (value[0] == '{' || bytes.Equal(value, []byte("[DONE]")))
}

func complete(data []byte) bool {
	return bytes.Equal(bytes.TrimSpace(data), []byte("[DONE]")) || len(data) > 0 && data[0] == '{' && json.Valid(data)
}

// blankFollows consumes the blank line if it lies in the current piece in one of
// its usual forms.
func (r *Reader) blankFollows() bool {
	p := r.p
	if r.cr && len(p) > 0 && p[0] == '\n' {
		p = p[1:]
	}
	switch {
	case len(p) > 1 && p[0] == '\r' && p[1] == '\n':
		r.p, r.cr = p[2:], false
		return true
	case len(p) > 0 && p[0] == '\n':
		r.p, r.cr = p[1:], false
		return true
	}
	return false
}

// nextLine is the next line without its end. whole tells that it lies in the
// current piece and so stays valid while that is not used up. At the end of the
// source a last line without an end counts if the end was a proper one.
func (r *Reader) nextLine() (line []byte, whole bool, err error) {
	for {
		if r.cr && len(r.p) > 0 {
			if r.p[0] == '\n' {
				r.p = r.p[1:]
			}
			r.cr = false
		}
		if len(r.p) > 0 {
			if end := lineEnd(r.p); end >= 0 {
				line, r.cr = r.p[:end], r.p[end] == '\r'
				r.p = r.p[end+1:]
				whole = true
				if len(r.line) > 0 {
					if len(r.line)+len(line) > r.max {
						return nil, false, ErrTooLong
					}
					line = append(r.line, line...)
					r.line, whole = line[:0], false
				}
				return r.begin(line), whole, nil
			}
			if len(r.line)+len(r.p) > r.max {
				return nil, false, ErrTooLong
			}
			r.line = append(r.line, r.p...)
			r.p = nil
		}
		if r.err != nil {
			if len(r.line) > 0 && errors.Is(r.err, io.EOF) {
				line, r.line, r.cut = r.line, nil, true
				return r.begin(line), false, nil
			}
			return nil, false, r.err
		}
		var at int64
		r.p, at, r.err = r.src.Next()
		if len(r.p) > 0 {
			r.at = at
		}
	}
}

// begin drops the byte order mark of the first line.
func (r *Reader) begin(line []byte) []byte {
	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line
}

// lineEnd is the position of the first CR or LF.
func lineEnd(p []byte) int {
	lf := bytes.IndexByte(p, '\n')
	if lf < 0 {
		return bytes.IndexByte(p, '\r')
	}
	if cr := bytes.IndexByte(p[:lf], '\r'); cr >= 0 {
		return cr
	}
	return lf
}
