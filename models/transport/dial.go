package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"ais_bench/outputs"
)

// DialFunc connects to addr (host:port) over network ("tcp").
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// dialer makes stamped connections to one origin.
type dialer struct {
	scheme  string // of the origin
	addr    string // host:port of the origin
	proxy   *url.URL
	tls     *tls.Config
	dial    DialFunc
	timeout time.Duration
	slots   chan struct{} // paces set-ups
	clock   *Clock
}

// connect waits for a set-up slot, then connects: TCP, proxy's CONNECT, TLS.
// waited is the wait for the slot in ns, 0 when one was free.
func (d *dialer) connect(ctx context.Context, deadline int64) (raw *stampConn, rw net.Conn, waited int64, err error) {
	outer := ctx
	if deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(deadline-d.clock.Now()))
		defer cancel()
	}
	if waited, err = d.slot(ctx); err == nil {
		raw, rw, err = d.setUp(ctx)
		<-d.slots
	}
	if err != nil && deadline > 0 && ctx.Err() != nil && outer.Err() == nil {
		err = fail(outputs.StatusTimeoutTotal, "connect to %s: the total time-out passed", d.addr)
	}
	return raw, rw, waited, err
}

func (d *dialer) setUp(ctx context.Context) (*stampConn, net.Conn, error) {
	dialCtx := ctx
	if d.timeout > 0 {
		var cancel context.CancelFunc
		dialCtx, cancel = context.WithTimeout(ctx, d.timeout)
		defer cancel()
	}
	addr := d.addr
	if d.proxy != nil {
		addr = hostPort(d.proxy)
	}
	c, err := d.dial(dialCtx, "tcp", addr)
	if err != nil {
		return nil, nil, classifyDial(ctx, dialCtx, addr, err)
	}
	raw := newStampConn(c, d.clock)
	rw, err := d.layers(dialCtx, raw)
	if err != nil {
		_ = c.Close()
		return nil, nil, classifyDial(ctx, dialCtx, addr, err)
	}
	return raw, rw, nil
}

// slot takes a set-up slot and tells how long it waited where none was free.
func (d *dialer) slot(ctx context.Context) (waited int64, err error) {
	select {
	case d.slots <- struct{}{}:
		return 0, nil
	default:
	}
	since := d.clock.Now()
	select {
	case d.slots <- struct{}{}:
	case <-ctx.Done():
		err = fail(outputs.StatusCancelled, "wait to connect to %s: %w", d.addr, context.Cause(ctx))
	}
	return max(d.clock.Now()-since, 1), err
}

// layers adds the proxy's tunnel and TLS to a TCP connection.
func (d *dialer) layers(ctx context.Context, raw *stampConn) (net.Conn, error) {
	if dl, ok := ctx.Deadline(); ok {
		_ = raw.SetDeadline(dl)
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var rw net.Conn = raw
	if d.proxy != nil && d.proxy.Scheme == "https" {
		t, err := d.handshake(ctx, rw, d.proxy.Hostname())
		if err != nil {
			return nil, err
		}
		rw = t
	}
	if d.scheme == "https" {
		if d.proxy != nil {
			if err := d.tunnel(rw); err != nil {
				return nil, err
			}
		}
		host, _, err := net.SplitHostPort(d.addr)
		if err != nil {
			return nil, err
		}
		t, err := d.handshake(ctx, rw, host)
		if err != nil {
			return nil, err
		}
		rw = t
	}
	if !stop() {
		return nil, context.Cause(ctx) // the deadline may have been moved into the past just now
	}
	return rw, raw.SetDeadline(time.Time{})
}

func (d *dialer) handshake(ctx context.Context, c net.Conn, host string) (net.Conn, error) {
	cfg := d.tls.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName = host
	}
	t := tls.Client(c, cfg)
	if err := t.HandshakeContext(ctx); err != nil {
		if isTimeout(err) || ctx.Err() != nil {
			return nil, fail(outputs.StatusTimeoutConnect, "connect to %s: TLS hand-shake timed out", d.addr)
		}
		return nil, &handshakeError{err}
	}
	return t, nil
}

// tunnel asks an HTTP proxy for a connection to the origin.
func (d *dialer) tunnel(c net.Conn) error {
	head := "CONNECT " + d.addr + " HTTP/1.1\r\nHost: " + d.addr + "\r\n"
	if auth := proxyAuth(d.proxy); auth != "" {
		head += "Proxy-Authorization: " + auth + "\r\n"
	}
	if _, err := c.Write([]byte(head + "\r\n")); err != nil {
		return err
	}
	// One byte at a time: nothing of the tunnelled stream may end up in a buffer
	// that is thrown away. Once a connection, so the cost does not matter.
	resp, err := http.ReadResponse(bufio.NewReaderSize(oneByte{c}, 16), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return fmt.Errorf("proxy %s: %w", d.proxy.Host, err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("proxy %s refused to connect to %s: %s", d.proxy.Host, d.addr, resp.Status)
	}
	return nil
}

type oneByte struct{ c net.Conn }

func (o oneByte) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, errors.New("read into nothing")
	}
	return o.c.Read(p[:1])
}

func proxyAuth(u *url.URL) string {
	if u == nil || u.User == nil {
		return ""
	}
	pass, _ := u.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+pass))
}

func hostPort(u *url.URL) string {
	if p := u.Port(); p != "" {
		return net.JoinHostPort(u.Hostname(), p)
	}
	if u.Scheme == "https" {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}
