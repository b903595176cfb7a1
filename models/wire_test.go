package models

import (
	"context"
	"net"
	"sync"
	"time"
)

// reader is the client's end of a connection, for servers that send the next event
// when the client has read the one before: however late the client is, no two
// events then share a read, and so a stamp.
type reader struct {
	mu   sync.Mutex
	conn *net.TCPConn
}

func (r *reader) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err == nil {
		r.mu.Lock()
		r.conn = c.(*net.TCPConn)
		r.mu.Unlock()
	}
	return c, err
}

// caughtUp waits until the client has read everything that was sent to it, or one
// of the two is gone: nothing is on the way to its socket, and nothing lies there.
func (r *reader) caughtUp(server net.Conn) {
	r.mu.Lock()
	client := r.conn
	r.mu.Unlock()
	for {
		onTheWay, lying, err := queued(server.(*net.TCPConn), client)
		if err != nil || onTheWay == 0 && lying == 0 {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// pipes is a listener whose connections exist in memory alone, so that time can be
// that of a synctest bubble.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.accepted <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.closed); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
