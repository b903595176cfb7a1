package simulator

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// conn is one client connection. Its goroutine reads requests; while an answer
// is being written by somebody else the goroutine waits for the next request's first
// byte, which is also how it notices that the client went away.
type conn struct {
	srv *Server
	nc  net.Conn
	raw syscall.RawConn // nil where writes go through nc
	br  *bufio.Reader

	mu      sync.Mutex // guards everything below; held during a write
	data    []byte     // operand of writeOnce
	n       int
	would   bool
	err     error // first write error; nothing is written after it
	once    func(uintptr) bool
	backlog []byte // bytes the socket did not take, or a slow-loris holds back
	slow    bool   // write one byte at a time, slowly
	busy    bool   // the backlog's goroutine runs
	idle    sync.Cond
}

// maxBody is the largest request body read.
const maxBody = 256 << 20

func newConn(srv *Server, nc net.Conn) *conn {
	c := &conn{srv: srv, nc: nc, br: bufio.NewReaderSize(nc, 2048)}
	c.idle.L = &c.mu
	if tcp, ok := nc.(*net.TCPConn); ok {
		_ = tcp.SetNoDelay(true)
		if rawWrites {
			c.raw, _ = tcp.SyscallConn()
		}
	}
	c.once = func(fd uintptr) bool {
		c.n, c.would, c.err = tryWrite(fd, c.data)
		return true // never wait: others share this goroutine
	}
	return c
}

// serve answers requests until the connection ends.
func (c *conn) serve() {
	defer c.nc.Close()
	for {
		if k := c.srv.cfg.KeepAlive; k > 0 {
			_ = c.nc.SetReadDeadline(time.Now().Add(k))
		}
		if _, err := c.br.Peek(1); err != nil {
			return
		}
		_ = c.nc.SetReadDeadline(time.Time{})
		r, err := http.ReadRequest(c.br)
		if err != nil {
			if err != io.EOF && !errors.Is(err, net.ErrClosed) {
				c.reply(nil, jsonError(400, "BadRequestError", "malformed HTTP request: "+err.Error()))
			}
			return
		}
		if r.Header.Get("Expect") == "100-continue" {
			c.write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		if err != nil {
			return
		}
		if len(body) > maxBody {
			c.reply(r, jsonError(413, "BadRequestError", "the request body is larger than 256 MiB"))
			return
		}
		closeAfter := r.Close || !r.ProtoAtLeast(1, 1)
		pending := c.srv.handle(c, r, body)
		if pending != nil {
			r, body = nil, nil
			if !c.await(pending) {
				return
			}
		}
		if closeAfter || c.failed() {
			c.drain()
			return
		}
	}
}

// await waits until a call's answer is complete; false when the connection ended.
func (c *conn) await(p *call) bool {
	if _, err := c.br.Peek(1); err != nil {
		select {
		case <-p.done: // complete, then idle for too long or closed
		default:
			p.abandon()
		}
		return false
	}
	<-p.done
	if p.hangUp {
		c.drain()
	}
	return !p.hangUp
}

func (c *conn) failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil
}

// write hands b to the socket without waiting; what the socket does not take
// is written by a goroutine of its own as the client reads. b may be reused
// when write returns. It reports false when the connection is dead.
func (c *conn) write(b []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false
	}
	c.srv.writes.Add(1)
	if c.busy || c.slow || c.raw == nil {
		c.queue(b)
		return true
	}
	c.data = b
	if err := c.raw.Write(c.once); err != nil && c.err == nil {
		c.err = err
	}
	c.data = nil
	if c.err == nil && c.n < len(b) {
		c.queue(b[c.n:])
	}
	return c.err == nil
}

func (c *conn) queue(b []byte) {
	c.backlog = append(c.backlog, b...)
	if !c.busy {
		c.busy = true
		go c.flushBacklog()
	}
}

// slowLoris is the pause between two bytes of a slow-loris.
const slowLoris = 20 * time.Millisecond

func (c *conn) flushBacklog() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.backlog) > 0 && c.err == nil {
		b := c.backlog
		c.backlog = nil
		if c.slow {
			b, c.backlog = b[:1], b[1:]
		}
		slow := c.slow
		c.mu.Unlock()
		_, err := c.nc.Write(b)
		if slow {
			select {
			case <-c.srv.quit:
			case <-time.After(slowLoris):
			}
		}
		c.mu.Lock()
		if err != nil {
			c.err = err
		}
	}
	c.busy = false
	c.idle.Broadcast()
}

// drain waits until everything written has reached the socket.
func (c *conn) drain() {
	c.mu.Lock()
	for c.busy {
		c.idle.Wait()
	}
	c.mu.Unlock()
}

// afterBacklog runs f when everything written has reached the socket: now if
// it has, else on a goroutine of its own.
func (c *conn) afterBacklog(f func()) {
	c.mu.Lock()
	busy := c.busy
	c.mu.Unlock()
	if !busy {
		f()
		return
	}
	go func() {
		c.drain()
		f()
	}()
}

// reset ends the connection with an RST.
func (c *conn) reset() {
	if tcp, ok := c.nc.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.nc.Close()
}

// reply is one complete answer that is not streamed.
type reply struct {
	status int
	ctype  string
	header []string // alternating names and values
	body   []byte
}

// reply writes an answer in one piece; r may be nil.
func (c *conn) reply(r *http.Request, p reply) bool {
	return c.write(p.encode(requestID(r), true))
}

// encode gives header and body; without the body when !body.
func (p reply) encode(id string, body bool) []byte {
	var b bytes.Buffer
	b.Grow(256 + len(p.body))
	writeStatus(&b, p.status)
	b.WriteString("content-type: " + p.ctype + "\r\n")
	writeCommon(&b, id, p.header)
	b.WriteString("content-length: " + itoa(len(p.body)) + "\r\n\r\n")
	if body {
		b.Write(p.body)
	}
	return b.Bytes()
}

func writeStatus(b *bytes.Buffer, status int) {
	b.WriteString("HTTP/1.1 " + itoa(status) + " " + http.StatusText(status) + "\r\nserver: ais-bench-sim\r\n")
}

func writeCommon(b *bytes.Buffer, id string, header []string) {
	if id != "" {
		b.WriteString("x-request-id: " + id + "\r\n")
	}
	for i := 0; i+1 < len(header); i += 2 {
		b.WriteString(header[i] + ": " + header[i+1] + "\r\n")
	}
}

// requestID is the client's x-request-id where it is fit for a header.
func requestID(r *http.Request) string {
	if r == nil {
		return ""
	}
	id := r.Header.Get("X-Request-Id")
	for i := range len(id) {
		if id[i] < ' ' || id[i] == 0x7f {
			return ""
		}
	}
	return id
}
