package models

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// Probe asks a service single questions over the connections that measured
// requests use, and gives back the bare answer: no redirect is followed, no
// refusal cured, nothing sent twice. It is what a diagnosis looks through.
type Probe struct{ s *service }

// NewProbe makes a Probe of cfg's service; nothing is sent yet. The error is
// that of New: an unset variable, an unreadable CA file, an impossible address.
func NewProbe(cfg Config) (*Probe, error) {
	s, err := newService(cfg, transport.NewClock(), Options{})
	if err != nil {
		return nil, err
	}
	return &Probe{s}, nil
}

// Question is one HTTP request of a Probe.
type Question struct {
	Method string // "" = GET, POST where there is a Body
	// Path is below the origin, with its prefix.
	Path string
	Body any // marshalled as JSON; nil = none
	// Anonymous leaves out the key and every header of the configuration.
	Anonymous bool
	Limit     time.Duration // from sending to the end of the answer; 0 = 30 s
}

// Reply is what came back.
type Reply struct {
	// Status is ok for any complete HTTP answer, whatever its code; else the class
	// of failure, with Error as its cause.
	Status outputs.Status
	Error  string
	Code   int
	// Header has lower-case names; values that are credentials are blanked out.
	Header map[string]string
	Body   []byte // secrets blanked out
	Cut    bool   // the answer is longer than what was read of it (8 MiB)
	Sent   int64  // ns on the probe's clock
	Took   time.Duration
}

// HTML reports whether the answer is a web page.
func (r *Reply) HTML() bool {
	return strings.Contains(r.Header["content-type"], "html") || strings.HasPrefix(strings.TrimSpace(string(r.Body)), "<")
}

// Message is the server's own message within a JSON error body, else the start
// of the body on one line, "" for none.
func (r *Reply) Message() string {
	text := strings.TrimSpace(string(r.Body))
	if strings.HasPrefix(text, "{") {
		if own := serverMessage(text); own != "" {
			text = own
		}
	}
	text = quote([]byte(text))
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}

// Brief is why a request failed, with the server's own message instead of the
// JSON it came in; "" for a request that did not.
func (r *Result) Brief() string {
	msg := r.Error
	if i := strings.Index(msg, "{"); i >= 0 && r.HTTPStatus >= 400 {
		if own := serverMessage(msg[i:]); own != "" {
			msg = msg[:i] + own
		}
	}
	return msg
}

// probeBody is how much of an answer is read: the lists of models of large gateways
// have hundreds of kilobytes.
const probeBody = 8 << 20

// Ask sends one question and reads the answer.
func (p *Probe) Ask(ctx context.Context, q Question) *Reply {
	s := p.s
	r := &Reply{Header: map[string]string{}}
	var body []byte
	method := q.Method
	if q.Body != nil {
		var err error
		if body, err = json.Marshal(q.Body); err != nil {
			r.Status, r.Error = outputs.StatusMalformed, err.Error()
			return r
		}
		if method == "" {
			method = http.MethodPost
		}
	}
	if method == "" {
		method = http.MethodGet
	}
	header := s.header
	if q.Anonymous {
		header = []transport.Field{{Name: "Content-Type", Value: "application/json"}}
	}
	limit := q.Limit
	if limit <= 0 {
		limit = sideLimit
	}
	x, err := s.http.Do(ctx, &transport.Request{Method: method, Path: q.Path, Header: header, Body: body, Limits: transport.Limits{Total: limit}})
	r.Sent = x.Sent
	defer func() { r.Took = time.Duration(s.clock.Now() - r.Sent) }()
	if err != nil {
		r.fail(s, err)
		return r
	}
	r.Code = x.StatusCode
	for _, f := range x.Header {
		if f.Name == "set-cookie" {
			f.Value = Redacted
		}
		if f.Name == "location" {
			f.Value = redactURL(f.Value)
		}
		r.Header[f.Name] = Scrub(f.Value, s.secrets)
	}
	got, _, err := readBody(x, probeBody)
	x.Close()
	r.Cut = len(got) >= probeBody
	r.Body = []byte(Scrub(string(got), s.secrets))
	if err != nil {
		r.fail(s, err)
		return r
	}
	r.Status = outputs.StatusOK
	return r
}

func (r *Reply) fail(s *service, err error) {
	r.Status, r.Error = outputs.StatusStreamError, err.Error()
	var te *transport.Error
	if errors.As(err, &te) {
		r.Status, r.Error = te.Status, te.Error()
	}
	r.Error = Scrub(r.Error, s.secrets)
}

// Clock is the clock of Reply.Sent.
func (p *Probe) Clock() *transport.Clock { return p.s.clock }

// Path is where the configured protocol's requests go, below the origin.
func (p *Probe) Path() string { return p.s.path }

// TLS is a copy of the settings that connections to the service use.
func (p *Probe) TLS() (*tls.Config, error) { return p.s.cfg.tls() }

// Proxy is the proxy in use without its credentials, nil for none.
func (p *Probe) Proxy() *url.URL {
	raw := p.s.http.Proxy()
	if raw == "" {
		return nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	return u
}

// Keyed reports whether requests carry a key or another credential.
func (p *Probe) Keyed() bool {
	for _, f := range p.s.header {
		if sensitiveHeader.MatchString(f.Name) {
			return true
		}
	}
	return false
}

// Close drops idle connections.
func (p *Probe) Close() { p.s.Close() }
