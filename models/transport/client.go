package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"ais_bench/outputs"
)

// ClientConfig is how to reach one origin.
type ClientConfig struct {
	Origin   string      // scheme://host[:port]
	TLS      *tls.Config // nil = the system's authorities
	Proxy    string      // "" = none, "env" = the environment's, or http(s)://[user:password@]host:port
	Dial     DialFunc    // nil = TCP
	Connect  time.Duration
	MaxDials int // concurrent set-ups; 0 = 128
	// UserAgent is sent unless a request has its own.
	UserAgent string
}

// Client sends requests to one origin over connections of its own. It is safe
// for concurrent use.
type Client struct {
	origin    *url.URL
	pool      *pool
	clock     *Clock
	absolute  string // request-target prefix towards an HTTP proxy
	proxyAuth string
	userAgent string
	proxy     string // without credentials, for the record
}

// Field is one header line.
type Field struct{ Name, Value string }

// Request is one HTTP request.
type Request struct {
	Method string
	Path   string // origin form, with the query
	Header []Field
	Body   []byte
	Limits Limits
}

// Limits bound an exchange; 0 = no bound. See Exchange for when each applies.
type Limits struct{ FirstToken, Idle, Total time.Duration }

// NewClient checks cfg and makes a client. Nothing is sent.
func NewClient(cfg ClientConfig, clock *Clock) (*Client, error) {
	u, err := url.Parse(cfg.Origin)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%q is not http://host[:port] or https://host[:port]", cfg.Origin)
	}
	proxy, err := resolveProxy(cfg.Proxy, u)
	if err != nil {
		return nil, err
	}
	d := &dialer{scheme: u.Scheme, addr: hostPort(u), proxy: proxy, dial: cfg.Dial, timeout: cfg.Connect, clock: clock}
	if d.tls = cfg.TLS.Clone(); d.tls == nil {
		d.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	d.tls.NextProtos = []string{"http/1.1"}
	if d.dial == nil {
		d.dial = (&net.Dialer{}).DialContext
	}
	n := cfg.MaxDials
	if n <= 0 {
		n = 128
	}
	d.slots = make(chan struct{}, n)
	c := &Client{origin: u, clock: clock, userAgent: cfg.UserAgent, pool: &pool{dialer: d, clock: clock, wait: endingWait}}
	if proxy != nil {
		c.proxy = proxy.Scheme + "://" + proxy.Host
		if u.Scheme == "http" {
			c.absolute, c.proxyAuth = "http://"+u.Host, proxyAuth(proxy)
		}
	}
	return c, nil
}

func resolveProxy(spec string, origin *url.URL) (*url.URL, error) {
	switch spec {
	case "":
		return nil, nil
	case "env":
		p, err := http.ProxyFromEnvironment(&http.Request{URL: origin})
		if err != nil {
			return nil, fmt.Errorf("proxy of the environment (HTTP_PROXY, HTTPS_PROXY): %w", err)
		}
		if p != nil && p.Scheme != "http" && p.Scheme != "https" {
			return nil, fmt.Errorf("proxy of the environment is of scheme %s; only http and https are supported", p.Scheme)
		}
		return p, nil
	}
	p, err := url.Parse(spec)
	if err != nil || p.Host == "" || (p.Scheme != "http" && p.Scheme != "https") {
		return nil, errors.New(`proxy is not http://host:port, https://host:port or "env"`)
	}
	return p, nil
}

// Proxy is the proxy in use without its credentials, "" for none.
func (c *Client) Proxy() string { return c.proxy }

// Stats are the pool's counters so far.
func (c *Client) Stats() Stats { return c.pool.snapshot() }

// Close drops idle connections and, as they come back, those in use.
func (c *Client) Close() { c.pool.close() }

// Do sends a request and reads the response's header. The Exchange is never
// nil: after an error (of type *Error) it still holds the times of what
// happened. Without an error the caller must end it with Exchange.Close or Finish.
//
// A request that dies on a reused connection before any byte of a response is
// sent again on a new one and counted in Exchange.Resent: the server had closed
// the connection in the same moment and never saw the request.
func (c *Client) Do(ctx context.Context, req *Request) (*Exchange, error) {
	msg := c.render(req)
	cn := c.pool.reuse(ctx)
	x := &Exchange{client: c, ctx: ctx, Sent: c.clock.Now(), FirstByte: outputs.Never, Connected: outputs.Never}
	x.setLimits(req.Limits)
	fresh := false
	for {
		if cn == nil {
			var waited int64
			var err error
			cn, waited, err = c.pool.dial(ctx, x.totalAt)
			x.SetupWait += waited
			if err != nil {
				return x, classifyIO(ctx, "connect to "+c.origin.Host, err)
			}
		}
		x.attach(cn)
		cn = nil
		err := x.roundTrip(msg)
		if err == nil {
			return x, nil
		}
		// Not BytesIn: under TLS the farewell of a server that closes (close_notify) is
		// bytes too, and none of a response.
		seen := x.FirstByte != outputs.Never
		x.detach(false)
		if x.Reused && !seen && !fresh && ctx.Err() == nil && connectionDied(err) {
			fresh = true
			x.Resent++
			c.pool.resent()
			continue
		}
		doing := "wait for the response"
		if seen {
			doing = "read the response header"
		}
		return x, classifyIO(ctx, doing, err)
	}
}

func connectionDied(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || isReset(err) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrClosed)
}

// render makes the request as one message, so that it leaves in one write.
func (c *Client) render(req *Request) []byte {
	var b bytes.Buffer
	b.Grow(512 + len(req.Body))
	b.WriteString(req.Method)
	b.WriteByte(' ')
	b.WriteString(c.absolute)
	b.WriteString(req.Path)
	b.WriteString(" HTTP/1.1\r\nHost: ")
	b.WriteString(c.origin.Host)
	b.WriteString("\r\n")
	agent, encoding := false, false
	for _, f := range req.Header {
		agent = agent || strings.EqualFold(f.Name, "User-Agent")
		encoding = encoding || strings.EqualFold(f.Name, "Accept-Encoding")
		if strings.EqualFold(f.Name, "Host") || strings.EqualFold(f.Name, "Content-Length") || strings.EqualFold(f.Name, "Transfer-Encoding") {
			continue // framing is ours
		}
		b.WriteString(f.Name)
		b.WriteString(": ")
		b.WriteString(f.Value)
		b.WriteString("\r\n")
	}
	if !agent && c.userAgent != "" {
		b.WriteString("User-Agent: " + c.userAgent + "\r\n")
	}
	if !encoding {
		b.WriteString("Accept-Encoding: identity\r\n") // a compressing proxy holds tokens back
	}
	if c.proxyAuth != "" {
		b.WriteString("Proxy-Authorization: " + c.proxyAuth + "\r\n")
	}
	if req.Body != nil || req.Method == http.MethodPost {
		b.WriteString("Content-Length: ")
		b.WriteString(strconv.Itoa(len(req.Body)))
		b.WriteString("\r\n")
	}
	b.WriteString("\r\n")
	b.Write(req.Body)
	return b.Bytes()
}
