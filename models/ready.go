package models

import (
	"github.com/google/uuid"

	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ais_bench/models/transport"
	"ais_bench/models/wire"
	"ais_bench/outputs"
	"ais_bench/registry"
)

// Unavailable is the error of a service that could not be used: cause and
// remedy in one line, and the class of failure.
type Unavailable struct {
	Status outputs.Status
	Msg    string
}

func (e *Unavailable) Error() string { return e.Msg }

// explain turns a failed request to target into one line with cause and remedy.
func (s *service) explain(target string, r *Result) error {
	msg := r.Error
	if i := strings.Index(msg, "{"); i >= 0 && r.HTTPStatus >= 400 {
		// The server's own message says it better than its JSON.
		if own := serverMessage(msg[i:]); own != "" {
			msg = msg[:i] + own
		}
	}
	if len(msg) > 400 {
		msg = strings.ToValidUTF8(msg[:400], "") + "…"
	}
	remedy := ""
	switch r.Status {
	case outputs.StatusDial:
		remedy = "is the server running there? check --url, or --host-ip and --host-port"
		if strings.Contains(r.Error, "no such host") || strings.Contains(r.Error, "server misbehaving") || strings.Contains(r.Error, "name resolution") {
			remedy = "the host name is not known: check it for typing errors"
		}
		if strings.Contains(r.Error, "too many open files") {
			remedy = "raise the limit of open files (ulimit -n)"
		}
	case outputs.StatusTLS:
		remedy = "give the authority's certificate by ca_file, or --insecure to accept any"
		if strings.Contains(r.Error, "first record does not look like a TLS handshake") || strings.Contains(r.Error, "HTTP response to HTTPS client") {
			remedy = "the server speaks plain http: use http:// in --url"
		}
	case outputs.StatusTimeoutConnect:
		remedy = "the address does not answer: check --url and firewalls, or raise timeouts.connect"
	case outputs.StatusTimeoutFirstToken, outputs.StatusTimeoutIdle, outputs.StatusTimeoutTotal:
		remedy = "the server accepts but does not answer: look at its log, or raise --timeout"
	case outputs.StatusHTTP429:
		remedy = "the service limits requests: lower --request-rate or --max-concurrency, or wait"
	case outputs.StatusHTTP5xx:
		remedy = "the server failed: look at its log"
	case outputs.StatusTruncated, outputs.StatusStreamError:
		remedy = "the server gave up: look at its log"
	case outputs.StatusEmpty:
		remedy = "the server generates nothing: look at its log"
	case outputs.StatusHTTP4xx:
		switch r.HTTPStatus {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
			remedy = "the key is missing or wrong: name the variable that holds it by --api-key-env"
			if s.cfg.APIKey != "" {
				remedy = "the key given is not accepted: check api_key and the variable it refers to"
			}
		case http.StatusNotFound, http.StatusMethodNotAllowed:
			remedy = "no such path there: --url takes the base with its prefix, for example http://host:8000 or https://host/api/v1"
		default:
			if strings.Contains(r.Error, "HTTPS port") || strings.Contains(r.Error, "HTTPS server") {
				remedy = "use https:// in --url"
			}
		}
	case outputs.StatusMalformed:
		switch {
		case strings.Contains(r.Error, "HTML instead of JSON"), r.HTTPStatus/100 == 3:
			remedy = "a web or log-in page answers there, not the API: check --url, and whether a proxy or log-in stands before the service"
			if i := strings.Index(msg, "HTML instead of JSON"); i >= 0 {
				msg = msg[:i] + "HTML instead of JSON"
			}
		case strings.Contains(r.Error, renderFailed):
			remedy = "nothing was sent: give another template with --chat-template FILE, or --skip-chat-template"
		case strings.Contains(r.Error, "but TLS"):
			remedy = "use https:// in --url"
		case strings.Contains(r.Error, "not HTTP"):
			remedy = "something else listens there: check the port"
		default:
			remedy = "the server does not speak this protocol: check --url and the model's type"
		}
	}
	line := target + ": " + strings.TrimSuffix(msg, ": ")
	if remedy != "" {
		line += "; " + remedy
	}
	return &Unavailable{Status: r.Status, Msg: Scrub(line, s.secrets)}
}

// serverMessage is the message within the JSON body of an error answer.
func serverMessage(body string) string {
	l := wire.NewLexer([]byte(body))
	if !l.Object() {
		return ""
	}
	for {
		key, ok := l.Key()
		if !ok {
			return ""
		}
		switch key {
		case "error", "message", "detail":
			if raw := l.Skip(); len(raw) > 0 && string(raw) != "null" {
				return strings.Join(strings.Fields(wire.ErrorMessage(raw)), " ")
			}
		default:
			l.Skip()
		}
	}
}

// comingUp tells failures that pass while a server is still loading its model.
func comingUp(status outputs.Status, code int) bool {
	switch status {
	case outputs.StatusDial, outputs.StatusTimeoutConnect, outputs.StatusTruncated, outputs.StatusStreamError:
		return true
	}
	return code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout
}

// Ready checks a service before the first request: /v1/models, then one tiny
// request, repeated until timeout (0 = one try) while the server is still
// coming up (refused, 502, 503). progress (may be nil) gets a line per step.
// The error is one line with cause and remedy. A server without /v1/models is
// ready if it answers the request.
func Ready(ctx context.Context, client Client, cfg Config, timeout time.Duration, progress func(string)) error {
	s, ok := client.(*service)
	if !ok {
		var err error
		if s, err = newService(cfg, transport.NewClock(), Options{}); err != nil {
			return err
		}
		defer s.Close()
	}
	say := func(format string, args ...any) {
		if progress != nil {
			progress(Scrub(fmt.Sprintf(format, args...), s.secrets))
		}
	}
	deadline := time.Now().Add(timeout)
	pause := 250 * time.Millisecond
	for {
		err, again := s.tryReady(ctx, client, say)
		if err == nil || !again || ctx.Err() != nil || !time.Now().Add(pause).Before(deadline) {
			return err
		}
		say("not ready yet: %v", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		pause = min(2*pause, 4*time.Second)
	}
}

func (s *service) tryReady(ctx context.Context, client Client, say func(string, ...any)) (err error, again bool) {
	ep, err := s.cfg.Endpoint()
	if err != nil {
		return err, false
	}
	list, err := s.discover(ctx)
	var un *Unavailable
	switch {
	case err == nil:
		names := make([]string, len(list))
		for i, m := range list {
			names[i] = m.ID
		}
		say("%s/models serves %s", ep.API, strings.Join(names, ", "))
	case errors.As(err, &un) && (un.Status == outputs.StatusDial || un.Status == outputs.StatusTLS || un.Status == outputs.StatusTimeoutConnect || un.Status == outputs.StatusCancelled):
		return err, comingUp(un.Status, 0) // the request would meet the same
	default:
		say("no list of models: %v", err)
	}
	target := ep.API + s.protocol.path
	if s.protocol.onServer {
		target = ep.Server + s.protocol.path
	}
	req := &Request{ID: uuid.NewString(), Messages: []Message{{Role: "user", Content: "Hi"}}, MaxTokens: 1, Stream: s.cfg.Stream}
	r := client.Do(ctx, req)
	if r.HTTPStatus == http.StatusBadRequest && (strings.Contains(r.Error, "max_tokens") || strings.Contains(r.Error, "max_output_tokens") || strings.Contains(r.Error, "max_completion_tokens")) {
		req.MaxTokens = 16 // some services have a least length
		r = client.Do(ctx, req)
	}
	if req.Stream && !r.Stream && r.Status == outputs.StatusOK && r.Fallbacks == 0 && !s.quirks.streams.Load() {
		s.learn(quirks{noStream: true}) // asked for a stream, it gave a document
	}
	switch {
	case r.Status == outputs.StatusOK:
		say("%s answers", target)
		return nil, false
	case r.Status == outputs.StatusEmpty && r.HTTPStatus == http.StatusOK:
		say("%s answers (one token without text)", target)
		return nil, false
	}
	if name := s.cfg.Model; name != "" && len(list) > 0 && (r.HTTPStatus == http.StatusNotFound || r.HTTPStatus == http.StatusBadRequest || r.HTTPStatus == http.StatusUnprocessableEntity) {
		ids := make([]string, len(list))
		for i, m := range list {
			if ids[i] = m.ID; m.ID == name {
				return s.explain(target, r), false
			}
		}
		return &Unavailable{Status: r.Status, Msg: fmt.Sprintf("%s does not serve model %q; it serves %s%s", ep.API, name, strings.Join(ids, ", "), registry.DidYouMean(name, ids))}, false
	}
	return s.explain(target, r), comingUp(r.Status, r.HTTPStatus)
}
