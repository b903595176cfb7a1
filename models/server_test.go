package models

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"ais_bench/models/transport"
)

// call is one request as a rawServer has received it.
type call struct {
	conn   int // number of the connection, from 0
	nth    int // number of the request on it, from 0
	req    *http.Request
	body   map[string]any
	raw    string
	w      net.Conn
	server *rawServer
}

// send writes bytes as they are.
func (c *call) send(parts ...string) {
	for _, p := range parts {
		_, _ = io.WriteString(c.w, p) // a client that has gone away is part of some tests
	}
}

const sseHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"

// event sends one event as a chunk.
func (c *call) event(data string) {
	c.send(chunk("data: " + data + "\n\n"))
}

// chunk frames a piece of a body.
func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

func (c *call) end() { c.send("0\r\n\r\n") }

// text streams each piece as a content delta.
func (c *call) text(pieces ...string) {
	for _, p := range pieces {
		q, _ := json.Marshal(p)
		c.event(`{"choices":[{"index":0,"delta":{"content":` + string(q) + `},"finish_reason":null}]}`)
	}
}

// finish streams the reason, the usage, [DONE] and the end. The end comes with
// [DONE], so that the connection is idle when the answer has been read: one whose
// end comes later is waited for only so long (transport tests that).
func (c *call) finish(out int) {
	c.event(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	c.event(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":%d}}`, out))
	c.send(chunk("data: [DONE]\n\n") + "0\r\n\r\n")
}

func (c *call) json(code int, body string) {
	c.send(fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", code, http.StatusText(code), len(body), body))
}

func (c *call) reset() {
	raw := c.w
	if secure, ok := raw.(*tls.Conn); ok {
		raw = secure.NetConn()
	}
	_ = raw.(*net.TCPConn).SetLinger(0)
	_ = raw.Close()
}

// rawServer is an HTTP server whose answers are written byte by byte by a test.
// After the handler returns the next request on the connection is read, unless
// the handler has closed it.
type rawServer struct {
	URL  string
	l    net.Listener
	mu   sync.Mutex
	seen []*call
	wg   sync.WaitGroup
	stop chan struct{}
}

func serve(t testing.TB, handler func(c *call)) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, "http", handler)
}

// serveTLS is serve behind TLS, with a certificate that no authority has signed.
func serveTLS(t testing.TB, handler func(c *call)) *rawServer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, "https", handler)
}

func serveOn(t testing.TB, l net.Listener, scheme string, handler func(c *call)) *rawServer {
	t.Helper()
	s := &rawServer{URL: scheme + "://" + l.Addr().String(), l: l, stop: make(chan struct{})}
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.wg.Add(1)
			go func() {
				defer s.wg.Done()
				defer c.Close()
				go func() { <-s.stop; _ = c.Close() }()
				r := bufio.NewReader(c)
				for nth := 0; ; nth++ {
					req, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					raw, _ := io.ReadAll(req.Body)
					one := &call{conn: n, nth: nth, req: req, raw: string(raw), w: c, server: s}
					_ = json.Unmarshal(raw, &one.body)
					s.mu.Lock()
					s.seen = append(s.seen, one)
					s.mu.Unlock()
					handler(one)
				}
			}()
		}
	}()
	t.Cleanup(func() {
		close(s.stop)
		_ = l.Close()
		s.wg.Wait()
	})
	return s
}

func (s *rawServer) calls() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*call(nil), s.seen...)
}

// hold keeps the connection open until the test is over.
func (c *call) hold() { <-c.server.stop }

func chatConfig(url string) Config {
	return Config{Abbr: "m", Type: "openai_chat", URL: url, Model: "m", Stream: true}
}

func mustNew(t testing.TB, cfg Config, opts Options) Client {
	t.Helper()
	c, err := New(cfg, transport.NewClock(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func ask(t testing.TB, c Client, req *Request) *Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // against hanging for ever
	defer cancel()
	r := c.Do(ctx, req)
	r.Decode()
	return r
}

func streamed(prompt string) *Request { return &Request{Prompt: prompt, Stream: true} }

type warnings struct {
	mu  sync.Mutex
	got []string
}

func (w *warnings) add(s string) { w.mu.Lock(); w.got = append(w.got, s); w.mu.Unlock() }

func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.got, "\n")
}

// quiet is for servers whose complaints about bad hand-shakes are expected.
var quiet = log.New(io.Discard, "", 0)
