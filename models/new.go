package models

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"ais_bench/models/transport"
)

// Options are what a client cannot know from its configuration.
type Options struct {
	// Dial replaces the network dialer (tests, in-process servers); nil dials TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Warn receives each one-time warning (server refuses to stream, …) as one
	// line without a line end; nil drops it. It may be called from any goroutine.
	Warn func(string)
	// RenderChat renders messages for completions protocols by the model's chat
	// template; nil joins them as plain text.
	RenderChat func([]Message) (string, error)
	// KeepHeaders keeps the response headers of successful requests too.
	KeepHeaders bool
	// MaxDials bounds concurrent connection set-ups; 0 = 128. The wait for a
	// set-up slot lies between Sent and Connected.
	MaxDials int
}

// service is the Client of every protocol: the protocols differ in the body they
// are asked with and in how an answer is walked, not in how it is fetched.
type service struct {
	cfg      Config // resolved
	protocol protocol
	path     string
	http     *transport.Client
	clock    *transport.Clock
	opts     Options
	secrets  []string
	header   []transport.Field
	quirks   quirkMemory
	answered answeredAs

	tokenizeForm atomic.Int32 // index of the tokenizeForms entry that worked last

	model     atomic.Pointer[string] // discovered name, where none is configured
	modelOnce sync.Mutex
}

// New makes the client of cfg's protocol. Times in its results are on clock.
// References to the environment are resolved here; an unset variable, an
// unreadable CA file or an impossible address is an error of one line.
func New(cfg Config, clock *transport.Clock, opts Options) (Client, error) {
	return newService(cfg, clock, opts)
}

func newService(cfg Config, clock *transport.Clock, opts Options) (*service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	secrets := cfg.Secrets()
	cfg, err := cfg.resolved()
	if err != nil {
		return nil, err
	}
	ep, err := cfg.Endpoint()
	if err != nil {
		return nil, err
	}
	s := &service{cfg: cfg, protocol: protocols[cfg.Protocol()], clock: clock, opts: opts, secrets: secrets}
	target := ep.API
	if s.protocol.onServer {
		target = ep.Server
	}
	origin, path := splitOrigin(target + s.protocol.path)
	s.path = path
	tlsCfg, err := cfg.tls()
	if err != nil {
		return nil, err
	}
	s.http, err = transport.NewClient(transport.ClientConfig{
		Origin: origin, TLS: tlsCfg, Proxy: cfg.Proxy, Dial: opts.Dial,
		Connect: time.Duration(cfg.Timeouts.Connect), MaxDials: opts.MaxDials, UserAgent: "ais_bench",
	}, clock)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", cfg.name(), err)
	}
	s.header = cfg.header()
	return s, nil
}

// header is what every request to the service carries.
func (c Config) header() []transport.Field {
	h := []transport.Field{{Name: "Content-Type", Value: "application/json"}}
	own := false
	for k, v := range c.Headers {
		own = own || equalFold(k, "Authorization")
		if equalFold(k, "Content-Type") {
			h = h[1:]
		}
		h = append(h, transport.Field{Name: k, Value: v})
	}
	u, err := c.baseURL()
	switch {
	case own:
	case c.APIKey != "":
		h = append(h, transport.Field{Name: "Authorization", Value: "Bearer " + c.APIKey})
	case err == nil && u.User != nil:
		h = append(h, transport.Field{Name: "Authorization", Value: basicAuth(u.User)})
	}
	return h
}

func (c Config) tls() (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.Insecure}
	if c.CAFile == "" {
		return t, nil
	}
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, fmt.Errorf("model %s: read ca_file %s: %w", c.name(), c.CAFile, err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("model %s: ca_file %s holds no certificate in PEM form", c.name(), c.CAFile)
	}
	t.RootCAs = roots
	return t, nil
}

// splitOrigin takes a URL of our own making apart.
func splitOrigin(raw string) (origin, path string) {
	u, err := url.Parse(raw)
	if err != nil {
		return raw, "/"
	}
	return u.Scheme + "://" + u.Host, u.EscapedPath()
}

// Stats are the connection pool's counters so far.
func (s *service) Stats() PoolStats {
	t := s.http.Stats()
	return PoolStats{Opened: t.Opened, Reused: t.Reused, Open: t.Open, MaxOpen: t.MaxOpen, Resent: t.Resent,
		SetupWaits: t.SetupWaits, SetupWaitNS: t.SetupWaitNS, MaxSetupWaitNS: t.MaxSetupWaitNS, Fallbacks: s.quirks.fallbacks.Load()}
}

// Close drops idle connections.
func (s *service) Close() { s.http.Close() }

// Proxy is the proxy in use without its credentials, "" for none; for the
// manifest. A Client made by New has it.
func (s *service) Proxy() string { return s.http.Proxy() }

func (s *service) warn(format string, args ...any) {
	if s.opts.Warn != nil {
		s.opts.Warn(Scrub(fmt.Sprintf(format, args...), s.secrets))
	}
}

// served is the model name to send.
func (s *service) served(ctx context.Context, req *Request) string {
	switch {
	case req.Model != "":
		return req.Model
	case s.cfg.Model != "":
		return s.cfg.Model
	case s.protocol.onServer:
		return "" // /generate takes none
	}
	if m := s.model.Load(); m != nil {
		return *m
	}
	s.modelOnce.Lock()
	defer s.modelOnce.Unlock()
	if m := s.model.Load(); m != nil {
		return *m
	}
	name := ""
	if list, err := s.discover(ctx); err == nil && len(list) > 0 {
		name = list[0].ID
	} else if ctx.Err() != nil {
		return ""
	}
	s.model.Store(&name)
	return name
}
