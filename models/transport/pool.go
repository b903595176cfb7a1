package transport

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"
)

// IdleTimeout is how long an unused connection is kept: less than the 5 s after
// which uvicorn, under most inference servers, closes one, because a request
// sent into a closing connection is lost.
const IdleTimeout = 4 * time.Second

// Stats are counters of a client's connections since it was made. SetupWaits
// counts the connections that had to wait for one of ClientConfig.MaxDials set-up
// slots; SetupWaitNS and MaxSetupWaitNS are how long, in total and at most. That
// wait lies between Sent and Connected: it is the client's, not the server's.
type Stats struct {
	Opened, Reused, Open, MaxOpen, Resent   int64
	SetupWaits, SetupWaitNS, MaxSetupWaitNS int64
}

// conn is a connection with its read buffer. buf[r:w] is read but not consumed.
type conn struct {
	raw       *stampConn
	rw        net.Conn // raw, or TLS over it
	buf       []byte
	r, w      int
	uses      int
	idleSince int64
}

const (
	smallBuffer = 4 << 10  // of a live stream
	largeBuffer = 64 << 10 // grown to when the server sends faster than it is read
	maxHeader   = 256 << 10
)

// fill reads once. Consumed bytes are dropped first; the buffer grows only when
// it is full of unconsumed bytes or when a read has filled it to the brim.
func (c *conn) fill() error {
	if c.r == c.w {
		if c.w == len(c.buf) && len(c.buf) < largeBuffer && c.w > 0 {
			c.buf = make([]byte, 2*len(c.buf))
		}
		c.r, c.w = 0, 0
	}
	if c.buf == nil {
		c.buf = make([]byte, smallBuffer)
	}
	if c.w == len(c.buf) {
		if c.r > 0 {
			c.w = copy(c.buf, c.buf[c.r:c.w])
			c.r = 0
		} else {
			c.buf = append(c.buf, make([]byte, len(c.buf))...)
		}
	}
	n, err := c.rw.Read(c.buf[c.w:])
	c.w += n
	if n > 0 {
		return nil
	}
	return err
}

// pool keeps idle connections, the one used last on top: the fewest connections
// stay warm and the rest age out.
type pool struct {
	dialer *dialer
	clock  *Clock

	mu     sync.Mutex
	idle   []*conn
	ending int           // connections whose answer is complete but for its end
	queue  []chan *conn  // requests that wait for one of those
	wait   time.Duration // at most so long; endingWait
	reaper bool
	closed bool
	stats  Stats
}

// endingWait bounds the wait for a connection whose answer is complete but for
// its end, which usually follows within the same millisecond. A server that
// takes longer gets a second connection, after which there is an idle one.
const endingWait = 5 * time.Millisecond

// reuse returns a connection that has carried a request before: an idle one, or
// one that is about to become idle. nil: there is none, a new one is needed.
func (p *pool) reuse(ctx context.Context) *conn {
	c, turn := p.idleOrQueue()
	if turn == nil {
		return p.again(c)
	}
	t := time.NewTimer(p.wait)
	defer t.Stop()
	select {
	case c := <-turn:
		return p.again(c)
	case <-t.C:
	case <-ctx.Done():
	}
	p.mu.Lock()
	if i := slices.Index(p.queue, turn); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
		p.mu.Unlock()
		return nil
	}
	p.mu.Unlock()
	return p.again(<-turn) // it came in the same moment
}

// again counts a connection as reused; nil stays nil.
func (p *pool) again(c *conn) *conn {
	if c == nil {
		return nil
	}
	p.mu.Lock()
	p.stats.Reused++
	p.mu.Unlock()
	c.uses++
	return c
}

// dial makes a new connection. waited is how long it waited for a set-up slot.
func (p *pool) dial(ctx context.Context, deadline int64) (c *conn, waited int64, err error) {
	raw, rw, waited, err := p.dialer.connect(ctx, deadline)
	p.mu.Lock()
	defer p.mu.Unlock()
	if waited > 0 {
		p.stats.SetupWaits++
		p.stats.SetupWaitNS += waited
		p.stats.MaxSetupWaitNS = max(p.stats.MaxSetupWaitNS, waited)
	}
	if err != nil {
		return nil, waited, err
	}
	p.stats.Opened++
	p.stats.Open++
	p.stats.MaxOpen = max(p.stats.MaxOpen, p.stats.Open)
	return &conn{raw: raw, rw: rw, uses: 1}, waited, nil
}

// expect tells that a connection is about to come back, or (-1) that it has, or
// never will: then one of those who wait for it goes on without.
func (p *pool) expect(n int) {
	p.mu.Lock()
	p.ending += n
	if len(p.queue) > p.ending {
		p.queue[0] <- nil
		p.queue = p.queue[1:]
	}
	p.mu.Unlock()
}

// idleOrQueue is an idle connection or, in the same look at the pool, a place in
// the queue for one that is about to become idle; neither when there is none. Looked
// at one after the other, a connection that came back in between would be idle while
// somebody waits for one.
func (p *pool) idleOrQueue() (*conn, chan *conn) {
	for {
		p.mu.Lock()
		n := len(p.idle)
		if n == 0 {
			defer p.mu.Unlock()
			if len(p.queue) >= p.ending {
				return nil, nil
			}
			turn := make(chan *conn, 1)
			p.queue = append(p.queue, turn)
			return nil, turn
		}
		c := p.idle[n-1]
		p.idle[n-1] = nil
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		if p.clock.Now()-c.idleSince > int64(IdleTimeout) || c.raw.stale() {
			p.drop(c)
			continue
		}
		return c, nil
	}
}

// put gives a connection back for reuse. The limits of the request it carried end
// with that: a deadline left behind would make it look dead once it has passed.
func (p *pool) put(c *conn) {
	_ = c.raw.SetDeadline(time.Time{}) // a closed connection says so when it is next used
	c.idleSince = p.clock.Now()
	c.r, c.w = 0, 0
	if len(c.buf) > smallBuffer {
		c.buf = nil
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		p.drop(c)
		return
	}
	if len(p.queue) > 0 {
		p.queue[0] <- c
		p.queue = p.queue[1:]
		p.mu.Unlock()
		return
	}
	p.idle = append(p.idle, c)
	if !p.reaper {
		p.reaper = true
		time.AfterFunc(IdleTimeout, p.reap)
	}
	p.mu.Unlock()
}

// drop closes a connection for good.
func (p *pool) drop(c *conn) {
	if c.raw.closed.Swap(true) {
		return
	}
	_ = c.raw.Close() // without a TLS farewell, which could block
	p.mu.Lock()
	p.stats.Open--
	p.mu.Unlock()
}

// reap drops connections that have been idle for too long and comes back while
// there are any left.
func (p *pool) reap() {
	old := p.clock.Now() - int64(IdleTimeout)
	p.mu.Lock()
	n := 0 // idle is in order of idleSince except for reuse from the top
	for n < len(p.idle) && p.idle[n].idleSince <= old {
		n++
	}
	dead := append([]*conn(nil), p.idle[:n]...)
	p.idle = append(p.idle[:0], p.idle[n:]...)
	p.reaper = len(p.idle) > 0
	if p.reaper {
		time.AfterFunc(IdleTimeout/4, p.reap)
	}
	p.mu.Unlock()
	for _, c := range dead {
		p.drop(c)
	}
}

// close drops what is idle; connections in use are dropped when they come back.
func (p *pool) close() {
	p.mu.Lock()
	dead := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, c := range dead {
		p.drop(c)
	}
}

func (p *pool) resent() {
	p.mu.Lock()
	p.stats.Resent++
	p.mu.Unlock()
}

func (p *pool) snapshot() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}
