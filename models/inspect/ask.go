package inspect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"ais_bench/models"
	"ais_bench/models/transport"
)

// Ask sends one GET request and returns the body of an answer with status 200, of
// at most 8 MiB. The error is one line: what came instead, and what to do.
func Ask(ctx context.Context, get *models.Getter, url string) ([]byte, error) {
	body, _, err := ask(ctx, get, url)
	return body, explained(ctx, err)
}

// statusError is an answer that is not 200.
type statusError struct {
	code   int
	status string
}

func (e *statusError) Error() string { return "HTTP " + strings.TrimSpace(e.status) }

// explained words what went wrong with a question for metrics.
func explained(ctx context.Context, err error) error {
	var s *statusError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &s):
		return refused(s)
	}
	return unreached(ctx, err)
}

// unreached words the failure of a GET request, without the address, which every
// caller names.
func unreached(ctx context.Context, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var dns *net.DNSError
	var op *net.OpError
	var timeout net.Error
	var record tls.RecordHeaderError
	text := err.Error()
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return err
	case errors.As(err, &dns):
		return fmt.Errorf("the host %s is not known (%s): check the name", dns.Name, dns.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused, nothing listens there: is the server up, and is it this port?")
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return errors.New("there is no route to it: is this machine in the right network?")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("no complete answer in time: does something else listen there, or does a firewall drop packets?")
	case strings.Contains(text, "redirects"):
		return errors.New("it redirects in a circle: give the address that answers itself")
	case errors.As(err, &record), strings.Contains(text, "HTTP response to HTTPS client"):
		return errors.New("the port speaks no TLS: use http://")
	case transport.IsTLS(err):
		return fmt.Errorf("TLS: %s: give the authority's certificate by --ca-file FILE, or --insecure to accept any", text)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return errors.New("the connection was closed without a complete answer: does the port speak TLS (https://), and is the server still up?")
	case strings.Contains(text, "malformed HTTP"), strings.Contains(text, "transport connection broken"):
		return errors.New("the answer is no HTTP, something else than a web server listens there: check the port")
	case errors.As(err, &op) && op.Err != nil:
		return fmt.Errorf("no connection: %w", op.Err)
	}
	return err
}

// refused words an answer that is not 200.
func refused(s *statusError) error {
	do := "give the address of the metrics, usually http://HOST:PORT/metrics"
	switch code := s.code; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		do = "it asks for a key; that of --api-key-env and --header goes only to the service's own host and port: name an address that needs none"
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
		do = "there is no such path: give the address of the metrics, usually http://HOST:PORT/metrics; engines may have to be told to serve them (SGLang: --enable-metrics, llama.cpp: --metrics)"
	case code/100 == 3:
		do = "give the address it points to"
	case code >= 500:
		do = "look at the server's log"
	}
	return fmt.Errorf("it answers %w: %s", s, do)
}
