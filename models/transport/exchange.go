package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"ais_bench/outputs"
)

// Exchange is one request and its response, read by one goroutine.
//
// Its time-outs: Total counts from Sent to the end. FirstToken counts from Sent
// until Exchange.Token is called, Idle from the last Token or Progress. Which
// bytes are progress is the caller's to say, so that keep-alive comments and a
// server that drips single bytes do not count as life.
//
// Deadlines cost nothing on the hot path: the socket's deadline is armed once
// and moved on only when it strikes.
type Exchange struct {
	Sent      int64 // the request was ready: just before it was written, or a connection for it was set up
	Connected int64 // a connection was in hand
	FirstByte int64 // arrival of the response's first byte
	SetupWait int64 // ns of Connected − Sent in which the client's own limit of set-ups held it up
	Reused    bool
	Resent    int

	StatusCode int
	Header     Header

	client *Client
	ctx    context.Context
	conn   *conn
	stop   func() bool

	totalAt, firstAt int64 // deadlines on the clock, 0 = none
	idle             int64 // ns, 0 = none
	lastEvent        int64
	tokens           bool

	bytesBase int64
	bytesIn   int64
	unstamped bool // some read was not stamped by the kernel
	keepAlive bool
	body      framing
}

// Header is a response's header; names are lower-case.
type Header []Field

// Get is the first value of the field (name in lower case), "" without one.
func (h Header) Get(name string) string {
	for _, f := range h {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func (x *Exchange) setLimits(l Limits) {
	if l.Total > 0 {
		x.totalAt = x.Sent + int64(l.Total)
	}
	if l.FirstToken > 0 {
		x.firstAt = x.Sent + int64(l.FirstToken)
	}
	x.idle = int64(l.Idle)
}

// deadline is the earliest limit that is in force now.
func (x *Exchange) deadline() (at int64, status outputs.Status) {
	at, status = x.totalAt, outputs.StatusTimeoutTotal
	if !x.tokens {
		if x.firstAt > 0 && (at == 0 || x.firstAt < at) {
			at, status = x.firstAt, outputs.StatusTimeoutFirstToken
		}
	} else if x.idle > 0 && (at == 0 || x.lastEvent+x.idle < at) {
		at, status = x.lastEvent+x.idle, outputs.StatusTimeoutIdle
	}
	return at, status
}

func (x *Exchange) arm() {
	var t time.Time
	if at, _ := x.deadline(); at > 0 {
		t = x.client.clock.zero.Add(time.Duration(at))
	}
	_ = x.conn.raw.SetDeadline(t) // a closed connection says so at the next read
	if x.ctx.Err() != nil {
		_ = x.conn.raw.SetDeadline(time.Unix(1, 0)) // cancelled while we were moving it on
	}
}

// Token tells that the first token has arrived at the time given: from here on
// the idle time-out is in force.
func (x *Exchange) Token(at int64) {
	if x.tokens {
		x.lastEvent = at
		return
	}
	x.tokens, x.lastEvent = true, at
	if (x.idle > 0 || x.firstAt > 0) && x.conn != nil {
		x.arm()
	}
}

// Progress tells that the server was alive at the time given.
func (x *Exchange) Progress(at int64) { x.lastEvent = at }

func (x *Exchange) attach(c *conn) {
	x.conn, x.Connected, x.Reused = c, x.client.clock.Now(), c.uses > 1
	x.bytesBase = c.raw.bytes
	x.arm()
	raw := c.raw
	x.stop = context.AfterFunc(x.ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
}

// detach gives the connection back, for reuse if it is in a state for that.
func (x *Exchange) detach(reuse bool) {
	c := x.conn
	if c == nil {
		return
	}
	x.conn = nil
	x.bytesIn = c.raw.bytes - x.bytesBase
	if !x.stop() && x.ctx.Done() != nil {
		reuse = false // the cancellation may still be moving the deadline
	}
	if reuse {
		x.client.pool.put(c)
	} else {
		x.client.pool.drop(c)
	}
}

// BytesIn is what arrived so far, header and framing included.
func (x *Exchange) BytesIn() int64 {
	if x.conn != nil {
		return x.conn.raw.bytes - x.bytesBase
	}
	return x.bytesIn
}

// At is the arrival of the bytes read last.
func (x *Exchange) At() int64 { return x.conn.raw.at }

// KernelStamp reports whether the kernel stamped every read so far.
func (x *Exchange) KernelStamp() bool { return !x.unstamped && x.FirstByte != outputs.Never }

// Close ends the exchange. The connection is reused if the body has been read
// to its end.
func (x *Exchange) Close() {
	if x.conn != nil {
		x.detach(x.body.done && x.keepAlive && x.conn.r == x.conn.w)
	}
}

// Finish is Close for an answer that is complete but for the end of its body
// (the terminating chunk). It does not wait for that: it is read beside, until
// patience is over, so that the connection can be used again. x must not be
// used afterwards.
func (x *Exchange) Finish(patience time.Duration) {
	if x.conn == nil {
		return
	}
	x.skip()
	if x.body.done || !x.keepAlive || patience <= 0 || !x.stop() {
		x.Close()
		return
	}
	// From here on the exchange is nobody's: no cancellation, no limit but patience.
	x.ctx, x.stop = context.Background(), func() bool { return true }
	x.totalAt, x.firstAt, x.idle = x.client.clock.Now()+int64(patience), 0, 0
	x.client.pool.expect(1)
	go func() {
		defer x.client.pool.expect(-1)
		x.arm()
		for drained := 0; drained < largeBuffer; {
			p, _, err := x.Next()
			if err != nil {
				break
			}
			drained += len(p)
		}
		x.Close()
	}()
}

// skip passes over what has been read of the body already.
func (x *Exchange) skip() {
	for c := x.conn; !x.body.done && c.r < c.w; {
		_, n, err := x.body.next(c.buf[c.r:c.w])
		c.r += n
		if err != nil || n == 0 {
			return
		}
	}
}

// fill reads once more, within the limits.
func (x *Exchange) fill() error {
	for {
		err := x.conn.fill()
		if err == nil {
			if !x.conn.raw.kernel {
				x.unstamped = true
			}
			if x.FirstByte == outputs.Never {
				x.FirstByte = x.conn.raw.at
			}
			return nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if err := x.timedOut(); err != nil {
			return err
		}
		x.arm()
	}
}

// timedOut is what a deadline that has struck means; nil when the limit has
// moved on in the meantime.
func (x *Exchange) timedOut() error {
	if x.ctx.Err() != nil {
		return fail(outputs.StatusCancelled, "cancelled: %w", context.Cause(x.ctx))
	}
	at, status := x.deadline()
	now := x.client.clock.Now()
	if at == 0 || now < at {
		return nil
	}
	after := time.Duration(now - x.Sent).Round(time.Millisecond)
	switch status {
	case outputs.StatusTimeoutFirstToken:
		return fail(status, "no first token %v after sending", after)
	case outputs.StatusTimeoutIdle:
		return fail(status, "nothing more for %v", time.Duration(now-x.lastEvent).Round(time.Millisecond))
	}
	return fail(status, "not complete %v after sending", after)
}

// roundTrip writes the request and reads the response's header.
func (x *Exchange) roundTrip(msg []byte) error {
	if _, werr := x.conn.rw.Write(msg); werr != nil {
		if errors.Is(werr, os.ErrDeadlineExceeded) {
			if err := x.timedOut(); err != nil {
				return err
			}
			return werr
		}
		// A server may answer (413, 429) and close without reading all of it.
		if err := x.readHeader(); err == nil {
			x.keepAlive = false
			return nil
		}
		return werr
	}
	return x.readHeader()
}

func (x *Exchange) readHeader() error {
	c := x.conn
	scanned := 0
	for {
		if end, next := headerEnd(c.buf[c.r:c.w], scanned); end >= 0 {
			head := string(c.buf[c.r : c.r+end])
			c.r += next
			if err := x.parseHeader(head); err != nil {
				return err
			}
			if x.StatusCode >= 200 {
				return nil
			}
			if x.StatusCode == http.StatusSwitchingProtocols { // what follows is no HTTP
				return fail(outputs.StatusMalformed, "HTTP 101: the server changes to another protocol, which was not asked for")
			}
			scanned = 0 // 1xx: the real one follows
			continue
		}
		scanned = max(0, c.w-c.r-3)
		if c.w-c.r >= 5 && !bytes.HasPrefix(c.buf[c.r:c.w], []byte("HTTP/")) {
			return notHTTP(c.buf[c.r:c.w])
		}
		if c.w-c.r > maxHeader {
			return fail(outputs.StatusMalformed, "response header exceeds %d KiB", maxHeader>>10)
		}
		if err := x.fill(); err != nil {
			if errors.Is(err, io.EOF) && c.w > c.r {
				if !bytes.HasPrefix(c.buf[c.r:c.w], []byte("HTTP/")) {
					return notHTTP(c.buf[c.r:c.w])
				}
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
}

func notHTTP(p []byte) error {
	if p[0] == 0x15 && len(p) > 1 && p[1] == 0x03 {
		return fmt.Errorf("%w but TLS: use https", errNotHTTP)
	}
	return fmt.Errorf("%w: %.80q", errNotHTTP, p)
}

// headerEnd finds the blank line: the header's length and where the body starts.
func headerEnd(p []byte, from int) (end, next int) {
	for i := from; i < len(p); {
		j := bytes.IndexByte(p[i:], '\n')
		if j < 0 {
			return -1, 0
		}
		i += j + 1
		if i < len(p) && p[i] == '\n' {
			return i, i + 1
		}
		if i+1 < len(p) && p[i] == '\r' && p[i+1] == '\n' {
			return i, i + 2
		}
	}
	return -1, 0
}

func (x *Exchange) parseHeader(head string) error {
	line, rest, _ := strings.Cut(head, "\n")
	proto, status, _ := strings.Cut(strings.TrimRight(line, "\r"), " ")
	code, _, _ := strings.Cut(status, " ")
	n, err := strconv.Atoi(code)
	if err != nil || n < 100 || n > 999 || !strings.HasPrefix(proto, "HTTP/1.") {
		return fmt.Errorf("%w/1.1: %.80q", errNotHTTP, line)
	}
	x.StatusCode = n
	x.Header = make(Header, 0, strings.Count(rest, "\n"))
	for rest != "" {
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimRight(line, "\r")
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" {
			if line == "" {
				continue
			}
			return fail(outputs.StatusMalformed, "response header line %.80q has no colon", line)
		}
		x.Header = append(x.Header, Field{strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)})
	}
	connection := strings.ToLower(x.Header.Get("connection"))
	x.keepAlive = !strings.Contains(connection, "close") && (proto != "HTTP/1.0" || strings.Contains(connection, "keep-alive"))
	x.body, err = newFraming(x.StatusCode, x.Header)
	if x.body.kind == untilClose {
		x.keepAlive = false
	}
	return err
}

// Next is the next piece of the body and its arrival. The piece is valid until
// the next call. The error is io.EOF at the proper end, else an *Error.
func (x *Exchange) Next() ([]byte, int64, error) {
	if x.conn == nil {
		return nil, 0, io.EOF
	}
	c := x.conn
	for {
		p, n, err := x.body.next(c.buf[c.r:c.w])
		c.r += n
		if len(p) > 0 {
			return p, c.raw.at, nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil, c.raw.at, io.EOF
			}
			return nil, c.raw.at, fail(outputs.StatusMalformed, "read the response: %w", err)
		}
		if err := x.fill(); err != nil {
			if errors.Is(err, io.EOF) && x.body.kind == untilClose {
				x.body.done = true
				return nil, c.raw.at, io.EOF
			}
			return nil, c.raw.at, classifyIO(x.ctx, "read the response", err)
		}
	}
}

// hasBody tells status codes whose responses have none.
func hasBody(code int) bool { return code != http.StatusNoContent && code != http.StatusNotModified }
