package check

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// expiry is how long before its end a certificate is warned of.
const expiry = 14 * 24 * time.Hour

// tls makes a hand-shake of its own that accepts any certificate, and then
// checks the certificate, so that the line can say what is wrong with it.
func (r *run) tls(ctx context.Context) {
	const name = "tls"
	if r.skipped(name) {
		return
	}
	if r.target().Scheme != "https" {
		r.skip(name, "not used: the address is http://")
		return
	}
	if r.probe.Proxy() != nil {
		r.skip(name, "within the proxy's tunnel: see answer")
		return
	}
	host, port, _ := r.peer()
	addr := net.JoinHostPort(host, port)
	state, err := r.handshake(ctx, addr, host)
	if err != nil {
		r.handshakeFailed(ctx, addr, err)
		return
	}
	cert := state.PeerCertificates[0]
	found := fmt.Sprintf("%s, certificate of %s by %s, until %s", tls.VersionName(state.Version), subject(cert), issuer(cert), cert.NotAfter.Format("2006-01-02"))
	cause, wrong := r.verify(state, host)
	switch {
	case wrong != "" && r.Config.Insecure:
		r.warn(name, CauseUnchecked, found+"; not accepted without --insecure: "+wrong, "--ca-file FILE with the authority's certificate checks it and is safer")
	case wrong != "":
		remedy := "give the authority's certificate by --ca-file FILE, or --insecure to accept any"
		switch cause {
		case CauseSelfSigned:
			remedy = fmt.Sprintf("save it (openssl s_client -connect %s </dev/null | openssl x509 > server.pem) and give --ca-file server.pem, or --insecure to accept any", addr)
		case CauseWrongName:
			remedy = "give a name the certificate is made for in --url, or --insecure to accept any"
		case CauseExpired:
			remedy = "the server needs a new certificate (is this machine's date right?), or --insecure to accept any"
		}
		r.fail(name, cause, found+": "+wrong, remedy, true)
	case r.Config.Insecure:
		r.warn(name, CauseUnchecked, found+"; --insecure is not needed: the certificate is accepted", "leave --insecure out")
	case time.Until(cert.NotAfter) < expiry:
		r.warn(name, CauseExpiresSoon, found, "it expires soon: long runs may not end before")
	default:
		r.ok(name, found)
	}
}

// handshake accepts any certificate.
func (r *run) handshake(ctx context.Context, addr, host string) (*tls.ConnectionState, error) {
	cfg, err := r.probe.TLS()
	if err != nil {
		return nil, err
	}
	cfg.InsecureSkipVerify, cfg.ServerName, cfg.NextProtos = true, host, []string{"http/1.1"}
	c, _, err := r.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, r.connectLimit())
	defer cancel()
	t := tls.Client(c, cfg)
	if err := t.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	state := t.ConnectionState()
	if len(state.PeerCertificates) == 0 {
		return nil, errors.New("the server shows no certificate")
	}
	return &state, nil
}

func (r *run) handshakeFailed(ctx context.Context, addr string, err error) {
	const name = "tls"
	var record tls.RecordHeaderError
	var ne net.Error
	text := err.Error()
	switch {
	case errors.As(err, &record) || r.speaksHTTP(ctx):
		r.fail(name, CauseHTTPSOnHTTP, addr+" speaks plain http", "use http:// in --url", true)
	case errors.As(err, &ne) && ne.Timeout() || errors.Is(err, context.DeadlineExceeded):
		r.fail(name, CauseSilent, fmt.Sprintf("%s accepts the connection and then says nothing: no hand-shake within %s", addr, r.connectLimit()),
			"the server hangs, or speaks another protocol: look at its log, check the port and whether it should be http://", true)
	case strings.Contains(text, "certificate required") || strings.Contains(text, "bad certificate"):
		r.fail(name, CauseClientCertificate, addr+" asks for a certificate of the client's", "not supported: ask for an entrance without one, or put a proxy before it that has one", true)
	case strings.Contains(text, "protocol version"):
		r.fail(name, CauseHandshake, addr+": "+text, "the server speaks TLS 1.1 or older only: it needs TLS 1.2", true)
	default:
		r.fail(name, CauseHandshake, addr+": "+text, "look at the server's log; is TLS set up there at all?", true)
	}
}

// verify says what is wrong with a certificate, "" for nothing.
func (r *run) verify(state *tls.ConnectionState, host string) (cause, wrong string) {
	cfg, err := r.probe.TLS()
	if err != nil {
		return CauseHandshake, err.Error()
	}
	cert := state.PeerCertificates[0]
	opts := x509.VerifyOptions{Roots: cfg.RootCAs, DNSName: host, Intermediates: x509.NewCertPool()}
	for _, c := range state.PeerCertificates[1:] {
		opts.Intermediates.AddCert(c)
	}
	_, err = cert.Verify(opts)
	if err == nil {
		return "", ""
	}
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		if time.Now().Before(cert.NotBefore) {
			return CauseExpired, "it is valid from " + cert.NotBefore.Format("2006-01-02") + " only"
		}
		return CauseExpired, "it has expired"
	case errors.As(err, &name):
		wrong = fmt.Sprintf("it is not made for %s but for %s", host, strings.Join(names(cert), ", "))
		if selfSigned(cert) {
			wrong += ", and it is self-signed"
		}
		return CauseWrongName, wrong
	case errors.As(err, &authority) && selfSigned(cert):
		return CauseSelfSigned, "it is self-signed"
	case errors.As(err, &authority):
		return CauseUnknownAuthority, "its authority is not known to this machine"
	}
	return CauseHandshake, err.Error()
}

// selfSigned reports whether a certificate names itself as its issuer. The
// signature is not looked at: one without the right to sign others is meant, too.
func selfSigned(c *x509.Certificate) bool { return string(c.RawSubject) == string(c.RawIssuer) }

func names(c *x509.Certificate) []string {
	all := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return []string{subject(c) + " (without a subject alternative name)"}
	}
	return all
}

func subject(c *x509.Certificate) string { return orUnnamed(c.Subject.CommonName, c.Subject.String()) }
func issuer(c *x509.Certificate) string  { return orUnnamed(c.Issuer.CommonName, c.Issuer.String()) }

func orUnnamed(candidates ...string) string {
	for _, s := range candidates {
		if s != "" {
			return s
		}
	}
	return "nobody"
}
