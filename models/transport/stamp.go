package transport

import (
	"net"
	"sync/atomic"
)

// stampConn is a connection that knows when what it last read had arrived.
// Reads are made by one goroutine at a time.
type stampConn struct {
	net.Conn
	clock  *Clock
	at     int64 // arrival of the last read, ns on the clock; never decreases
	kernel bool  // at comes from the kernel
	bytes  int64
	stamps bool // k is in use: the system and the kind of connection have stamps
	k      kernelStamps
	closed atomic.Bool
}

func newStampConn(c net.Conn, clock *Clock) *stampConn {
	s := &stampConn{Conn: c, clock: clock, at: clock.Now()}
	s.stamps = s.k.use(c)
	return s
}

// Read reads and stamps.
func (c *stampConn) Read(p []byte) (int, error) {
	if !c.stamps {
		n, err := c.Conn.Read(p)
		if n > 0 {
			c.at, c.kernel = c.clock.Now(), false
			c.bytes += int64(n)
			c.clock.otherReads.Add(1)
		}
		return n, err
	}
	n, stamp, err := c.k.read(p)
	if n > 0 {
		if stamp != 0 {
			c.at, c.kernel = c.clock.arrival(stamp, c.at)
		} else {
			c.at, c.kernel = c.clock.Now(), false
			c.clock.otherReads.Add(1)
		}
		c.bytes += int64(n)
	}
	return n, err
}

// stale reports whether an idle connection has been closed by the server or
// has got bytes nobody asked for.
func (c *stampConn) stale() bool { return c.stamps && c.k.stale() }
