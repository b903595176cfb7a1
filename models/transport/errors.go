package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"ais_bench/outputs"
)

// Error is a failed exchange: what class of failure it is and why.
type Error struct {
	Status outputs.Status
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// errNotHTTP: the peer answered something else than HTTP/1.
var errNotHTTP = errors.New("the answer is not HTTP")

func fail(s outputs.Status, format string, args ...any) *Error {
	return &Error{Status: s, Err: fmt.Errorf(format, args...)}
}

// classifyIO gives the class of an error met while a request was under way on a
// connection. Time-outs are classified where the limits are known.
func classifyIO(ctx context.Context, doing string, err error) *Error {
	var own *Error
	switch {
	case errors.As(err, &own):
		return own
	case ctx.Err() != nil:
		return fail(outputs.StatusCancelled, "%s: %w", doing, context.Cause(ctx))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fail(outputs.StatusTruncated, "%s: the server closed the connection", doing)
	case errors.Is(err, errNotHTTP):
		return fail(outputs.StatusMalformed, "%s: %w", doing, err)
	case isReset(err):
		return fail(outputs.StatusStreamError, "%s: connection reset by the server", doing)
	}
	return fail(outputs.StatusStreamError, "%s: %w", doing, err)
}

// classifyDial gives the class of an error met while connecting.
func classifyDial(ctx, dialCtx context.Context, addr string, err error) *Error {
	var own *Error
	switch {
	case errors.As(err, &own):
		return own
	case ctx.Err() != nil:
		return fail(outputs.StatusCancelled, "connect to %s: %w", addr, context.Cause(ctx))
	case IsTLS(err):
		return fail(outputs.StatusTLS, "connect to %s: %w", addr, err)
	case dialCtx.Err() != nil, errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return fail(outputs.StatusTimeoutConnect, "connect to %s: timed out", addr)
	}
	return fail(outputs.StatusDial, "connect to %s: %w", addr, shortDial(err))
}

// shortDial drops the addresses that net.OpError repeats.
func shortDial(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// IsTLS reports whether err comes from a TLS hand-shake.
func IsTLS(err error) bool {
	var (
		record  tls.RecordHeaderError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		alert   tls.AlertError
		shake   *handshakeError
	)
	return errors.As(err, &record) || errors.As(err, &cert) || errors.As(err, &unknown) || errors.As(err, &host) ||
		errors.As(err, &invalid) || errors.As(err, &alert) || errors.As(err, &shake)
}

// handshakeError marks any other failure of a hand-shake.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return "TLS hand-shake: " + e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }
