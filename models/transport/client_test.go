package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ais_bench/outputs"
)

func newTestClient(t testing.TB, cfg ClientConfig) *Client {
	t.Helper()
	c, err := NewClient(cfg, NewClock())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func fetch(t testing.TB, c *Client, req *Request) (*Exchange, string) {
	t.Helper()
	x, err := c.Do(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var body strings.Builder
	for {
		p, at, err := x.Next()
		body.Write(p)
		if at < x.FirstByte {
			t.Errorf("a piece arrived at %d, before the first byte at %d", at, x.FirstByte)
		}
		if errors.Is(err, io.EOF) {
			return x, body.String()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestBodies(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 64<<10) // 1 MiB
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo":
			body, _ := io.ReadAll(r.Body)
			_, _ = w.Write(body)
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		case "/close":
			w.Header().Set("Connection", "close")
			_, _ = io.WriteString(w, "x")
		case "/long-header":
			for i := range 100 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("h", 500))
			}
			_, _ = io.WriteString(w, "x")
		default:
			_, _ = io.WriteString(w, r.URL.RawQuery)
		}
	}))
	defer srv.Close()
	c := newTestClient(t, ClientConfig{Origin: srv.URL, UserAgent: "test"})
	for _, tc := range []struct{ path, send, want string }{
		{"/echo", big, big}, {"/echo", "", ""}, {"/none", "", ""}, {"/q?a=b", "", "a=b"}, {"/long-header", "", "x"}, {"/close", "", "x"}, {"/q?c", "", "c"},
	} {
		x, got := fetch(t, c, &Request{Method: "POST", Path: tc.path, Body: []byte(tc.send)})
		if got != tc.want {
			t.Errorf("%s: %d bytes, want %d", tc.path, len(got), len(tc.want))
		}
		if x.BytesIn() < int64(len(got)) {
			t.Errorf("%s: %d bytes in", tc.path, x.BytesIn())
		}
	}
	if st := c.Stats(); st.Opened != 2 || st.Reused != 5 || st.MaxOpen != 1 {
		t.Errorf("pool %+v", st)
	}
}

// TestKernelStamps: data that lies in the socket before it is read has the time
// at which it came, plain and under TLS.
func TestKernelStamps(t *testing.T) {
	headRead := make(chan struct{})
	clock := NewClock()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-headRead
		_, _ = io.WriteString(w, "x")
	})
	for _, secure := range []bool{false, true} {
		srv := httptest.NewUnstartedServer(handler)
		cfg := ClientConfig{}
		if secure {
			srv.StartTLS()
			cfg.TLS = srv.Client().Transport.(*http.Transport).TLSClientConfig
		} else {
			srv.Start()
		}
		cfg.Origin = srv.URL
		c, err := NewClient(cfg, clock)
		if err != nil {
			t.Fatal(err)
		}
		x, err := c.Do(context.Background(), &Request{Method: "GET", Path: "/"})
		if err != nil {
			t.Fatal(err)
		}
		if !x.conn.raw.stamps {
			t.Skip("this system has no kernel stamps")
		}
		headRead <- struct{}{}
		for !x.conn.raw.stale() { // nothing is there to be read
			time.Sleep(time.Millisecond)
		}
		there := clock.Now()
		time.Sleep(50 * time.Millisecond)
		p, at, err := x.Next()
		if err != nil || string(p) != "x" || !x.KernelStamp() {
			t.Fatalf("TLS %v: %q, %v, stamped by the kernel: %v", secure, p, err, x.KernelStamp())
		}
		// Without kernel stamps at would be 50 ms and more after there.
		if at > there+stepNoise {
			t.Errorf("TLS %v: arrival %v after it had come", secure, time.Duration(at-there))
		}
		x.Close()
		c.Close()
		srv.Close()
	}
	if r := clock.Report(); r.StampSource != StampKernel || r.ReadDelayMaxNS < int64(40*time.Millisecond) {
		t.Errorf("report %+v", r)
	}
}

// TestOtherConnections: a connection without a socket is stamped at its reads.
func TestOtherConnections(t *testing.T) {
	dial := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			if _, err := http.ReadRequest(bufio.NewReader(server)); err != nil {
				return
			}
			_, _ = io.WriteString(server, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
			_, _ = io.WriteString(server, "hi")
		}()
		return client, nil
	}
	clock := NewClock()
	c, err := NewClient(ClientConfig{Origin: "http://x", Dial: dial}, clock)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if x, body := fetch(t, c, &Request{Method: "GET", Path: "/"}); body != "hi" || x.KernelStamp() {
		t.Errorf("%q, stamped by the kernel: %v", body, x.KernelStamp())
	}
	if r := clock.Report(); r.StampSource != StampRead || r.OtherReads == 0 {
		t.Errorf("report %+v", r)
	}
}

func TestIdleConnections(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }))
	defer srv.Close()
	c := newTestClient(t, ClientConfig{Origin: srv.URL})
	req := &Request{Method: "GET", Path: "/"}
	fetch(t, c, req)
	c.pool.mu.Lock()
	c.pool.idle[0].idleSince -= int64(IdleTimeout) + 1
	c.pool.mu.Unlock()
	if x, _ := fetch(t, c, req); x.Reused {
		t.Error("a connection that had been idle for too long was used again")
	}
	c.pool.mu.Lock()
	c.pool.idle[0].idleSince -= int64(IdleTimeout) + 1
	c.pool.mu.Unlock()
	c.pool.reap()
	if st := c.Stats(); st.Open != 0 || st.Opened != 2 {
		t.Errorf("after the reaper: %+v", st)
	}
	fetch(t, c, req)
	srv.CloseClientConnections()
	// The server's farewell is seen before the next request, which goes out once.
	c.pool.mu.Lock()
	last := c.pool.idle[0].raw
	c.pool.mu.Unlock()
	for last.stamps && !last.stale() { // without kernel stamps it is not seen but got over
		time.Sleep(5 * time.Millisecond)
	}
	if x, body := fetch(t, c, req); x.Reused || body != "x" {
		t.Errorf("reused %v, body %q", x.Reused, body)
	}
}

// lastDeadline is a connection that knows the deadline it was given last.
type lastDeadline struct {
	net.Conn
	at    time.Time
	armed bool // it was given one
}

func (l *lastDeadline) SetDeadline(t time.Time) error {
	l.at, l.armed = t, l.armed || !t.IsZero()
	return l.Conn.SetDeadline(t)
}

// TestLimitsEndWithTheirRequest: an idle connection has no deadline of the request
// before, so that it is alive when that would have passed.
func TestLimitsEndWithTheirRequest(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }))
	defer srv.Close()
	const limit = time.Hour
	for _, limits := range []Limits{{Total: limit}, {FirstToken: limit}, {Idle: limit}, {FirstToken: limit, Idle: limit, Total: limit}} {
		var conn *lastDeadline
		c := newTestClient(t, ClientConfig{Origin: srv.URL, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			conn = &lastDeadline{Conn: nc}
			return conn, err
		}})
		for range 3 {
			x, err := c.Do(context.Background(), &Request{Method: "GET", Path: "/", Limits: limits})
			if err != nil {
				t.Fatalf("%+v: %v", limits, err)
			}
			x.Token(x.FirstByte)
			for err == nil {
				_, _, err = x.Next()
			}
			x.Close()
			if !conn.armed || !conn.at.IsZero() {
				t.Errorf("%+v: it was given a deadline: %v; now it has %v, want none", limits, conn.armed, conn.at)
			}
			conn.armed = false
		}
		if st := c.Stats(); st.Opened != 1 || st.Reused != 2 {
			t.Errorf("%+v: pool %+v, want one connection used three times", limits, st)
		}
	}
}

// TestReuseBesidePut: whoever finds no idle connection and one ending never misses
// the one that comes back in that moment, and so never waits out endingWait, nor
// opens a connection, beside an idle one.
func TestReuseBesidePut(t *testing.T) {
	server, client := net.Pipe()
	defer server.Close()
	clock := NewClock()
	p := &pool{clock: clock, wait: time.Hour} // to miss it is to hang
	defer p.close()
	c := &conn{raw: newStampConn(client, clock), rw: client, uses: 1}
	for range 20000 {
		p.expect(1)
		var back sync.WaitGroup
		back.Go(func() {
			p.put(c)
			p.expect(-1)
		})
		got := p.reuse(context.Background())
		back.Wait()
		if got == nil { // it came too late to be waited for: then it is idle
			t.Fatal("no connection, though one was on its way back")
		}
	}
}

func TestPacedDials(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }))
	defer srv.Close()
	var now, most atomic.Int32
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(2 * time.Millisecond)
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	c := newTestClient(t, ClientConfig{Origin: srv.URL, Dial: dial, MaxDials: 3})
	var wg sync.WaitGroup
	for range 32 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if x, _ := fetch(t, c, &Request{Method: "GET", Path: "/"}); x.Connected < x.Sent {
				t.Errorf("connected at %d, sent at %d", x.Connected, x.Sent)
			}
		}()
	}
	wg.Wait()
	if most.Load() > 3 {
		t.Errorf("%d set-ups at once", most.Load())
	}
}

// TestEarlyAnswer: a server may refuse a large request without reading it.
func TestEarlyAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 413 Payload Too Large\r\nContent-Length: 3\r\n\r\nbig")
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, io.LimitReader(c, 1<<20))
		time.Sleep(20 * time.Millisecond)
		_ = c.Close()
	}()
	c := newTestClient(t, ClientConfig{Origin: "http://" + l.Addr().String()})
	x, body := fetch(t, c, &Request{Method: "POST", Path: "/", Body: make([]byte, 32<<20)})
	if x.StatusCode != 413 || body != "big" {
		t.Errorf("status %d, body %q", x.StatusCode, body)
	}
}

func TestBadClients(t *testing.T) {
	for _, cfg := range []ClientConfig{{Origin: "host"}, {Origin: "ftp://h"}, {Origin: "http://h", Proxy: "socks5://p"}, {Origin: "http://h", Proxy: "p"}} {
		if _, err := NewClient(cfg, NewClock()); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}

func TestUnknownHost(t *testing.T) {
	dial := func(_ context.Context, _, addr string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: addr, IsNotFound: true}}
	}
	c := newTestClient(t, ClientConfig{Origin: "http://no-such-host.invalid", Dial: dial})
	_, err := c.Do(context.Background(), &Request{Method: "GET", Path: "/"})
	var te *Error
	if !errors.As(err, &te) || te.Status != outputs.StatusDial || !strings.Contains(te.Error(), "no such host") {
		t.Errorf("error %v", err)
	}
}

func TestRaiseFileLimit(t *testing.T) {
	soft, hard, err := RaiseFileLimit()
	if err != nil || soft != hard {
		t.Errorf("soft %d, hard %d, %v", soft, hard, err)
	}
}

// TestWaitForASetUpSlotIsCounted: with one slot, a second connection waits for
// the first to be set up, and that wait – part of its TTFT – is reported.
func TestWaitForASetUpSlotIsCounted(t *testing.T) {
	clock := NewClock()
	inside, release := make(chan struct{}), make(chan struct{})
	c, err := NewClient(ClientConfig{Origin: "http://127.0.0.1:1", MaxDials: 1, Dial: func(context.Context, string, string) (net.Conn, error) {
		inside <- struct{}{}
		<-release
		return nil, errors.New("no")
	}}, clock)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	done := make(chan struct{}, 3)
	do := func(ctx context.Context) {
		_, _ = c.Do(ctx, &Request{Method: "GET", Path: "/"}) // nothing is there
		done <- struct{}{}
	}
	go do(context.Background())
	<-inside
	if st := c.Stats(); st.SetupWaits != 0 {
		t.Errorf("the first waited: %+v", st)
	}
	go do(context.Background())
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	go do(cancelled) // gives up waiting, and has waited
	<-done
	release <- struct{}{}
	<-done
	<-inside
	release <- struct{}{}
	<-done
	st := c.Stats()
	if st.SetupWaits < 1 || st.SetupWaits > 2 || st.MaxSetupWaitNS <= 0 || st.SetupWaitNS < st.MaxSetupWaitNS {
		t.Errorf("%+v", st)
	}
}
