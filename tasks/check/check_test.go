package check

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ais_bench/models"
	"ais_bench/models/simulator"
)

func config(url string) models.Config {
	return models.Config{Abbr: "m", Type: "openai_chat", Stream: true, URL: url, BatchSize: 4}
}

// quiet is a machine without a proxy, a container or a hub cache, and one that may be
// busy: no answer comes too late for it, and a stall is nobody's buffering.
func quiet(cfg models.Config) Options {
	return Options{Config: cfg, Name: "m", StepTimeout: time.Minute, noticeable: time.Hour, Getenv: func(string) string { return "" },
		Exists: func(string) bool { return false }, ReadFile: func(string) ([]byte, error) { return nil, os.ErrNotExist },
		FileLimit: func() (uint64, uint64, error) { return 1024, 1024, nil }}
}

func check(t *testing.T, o Options) *Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	r, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func line(r *Report, name string) Line {
	for _, l := range r.Lines {
		if l.Check == name {
			return l
		}
	}
	return Line{}
}

// expect fails unless the line says what is wanted. words must stand in what was
// found or in the remedy.
func expect(t *testing.T, r *Report, name string, status Status, cause string, words ...string) {
	t.Helper()
	l := line(r, name)
	if l.Status != status || l.Cause != cause {
		t.Errorf("%s: %s %q, want %s %q: %s", name, l.Status, l.Cause, status, cause, l.Found)
	}
	for _, w := range words {
		if !strings.Contains(l.Found+" "+l.Remedy, w) {
			t.Errorf("%s: %q is not in %q → %q", name, w, l.Found, l.Remedy)
		}
	}
	if (l.Status == Fail || l.Status == Warn) && l.Remedy == "" {
		t.Errorf("%s: no remedy", name)
	}
}

func simulate(t *testing.T, cfg simulator.Config) string {
	t.Helper()
	if cfg.Preset == "" {
		cfg.Preset = "instant"
	}
	srv, err := simulator.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	url, err := srv.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// page is a server that gives every request the same answer.
func page(t *testing.T, code int, header, body string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, h := range strings.Split(header, "|") {
			if k, v, ok := strings.Cut(h, ": "); ok {
				w.Header().Set(k, v)
			}
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// listener accepts connections and gives each to serve.
func listener(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return ln.Addr().String()
}

func TestAllIsWell(t *testing.T) {
	r := check(t, quiet(config(simulate(t, simulator.Config{}))))
	var names []string
	for _, l := range r.Lines {
		names = append(names, l.Check)
		if l.Check == "clock" { // this machine may be busy
			continue
		}
		if l.Status != OK && l.Check != "tls" {
			t.Errorf("%s: %s: %s", l.Check, l.Status, l.Found)
		}
	}
	want := slices.DeleteFunc(slices.Clone(Checks), func(s string) bool { return s == "request" })
	if !slices.Equal(names, want) {
		t.Errorf("lines %v, want %v", names, want)
	}
	if !r.Reached || len(r.Failed()) > 0 {
		t.Errorf("reached %v, failed %v", r.Reached, r.Failed())
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestNothingThere(t *testing.T) {
	const addr = "127.0.0.1:1" // nobody's, unlike a port that has just been given back
	o := quiet(config("http://" + addr))
	r := check(t, o)
	expect(t, r, "tcp", Fail, CauseRefused, "connection refused", "nothing listens there")
	if r.Reached {
		t.Error("reached although refused")
	}
	for _, l := range r.Lines {
		if l.Check == "chat" && (l.Status != Skip || !strings.Contains(l.Found, "tcp failed")) {
			t.Errorf("chat: %s %s", l.Status, l.Found)
		}
	}

	o.Exists = func(p string) bool { return p == "/.dockerenv" }
	r = check(t, o)
	expect(t, r, "address", OK, CauseContainerLoopback, "container")
	expect(t, r, "tcp", Fail, CauseContainerLoopback, "127.0.0.1 is the container itself", "host.docker.internal")

	o = quiet(config("http://" + addr))
	o.ReadFile = func(string) ([]byte, error) { return []byte("0::/kubepods/besteffort/pod1"), nil }
	expect(t, check(t, o), "tcp", Fail, CauseContainerLoopback)

	o = quiet(config("http://" + addr))
	o.Getenv = func(n string) string { return map[string]string{"HTTP_PROXY": "http://proxy.example:3128"}[n] }
	r = check(t, o) // loopback is never proxied by the environment
	expect(t, r, "proxy", OK, "", "go straight")
}

func TestNames(t *testing.T) {
	o := quiet(config("http://nowhere.invalid:8000"))
	o.ResolveHost = func(context.Context, string) ([]string, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true}
	}
	r := check(t, o)
	expect(t, r, "dns", Fail, CauseUnknownHost, "no such host", "getent hosts")
	expect(t, r, "tcp", Skip, "", "dns failed")

	o.Getenv = func(n string) string { return map[string]string{"http_proxy": "http://proxy.example:3128"}[n] }
	r = check(t, o)
	expect(t, r, "proxy", OK, CauseProxyEnvUnused, "HTTP_PROXY names http://proxy.example:3128", "--proxy env")
	expect(t, r, "dns", Fail, CauseUnknownHost, "--proxy env")

	o = quiet(config("http://vllm:8000"))
	o.Exists = func(p string) bool { return p == "/.dockerenv" }
	o.ResolveHost = func(context.Context, string) ([]string, error) {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	expect(t, check(t, o), "dns", Fail, CauseUnknownHost, "short name")
	o = quiet(config("http://host.docker.internal:8000"))
	o.ResolveHost = func(context.Context, string) ([]string, error) {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	expect(t, check(t, o), "dns", Fail, CauseUnknownHost, "host-gateway")
	o.ResolveHost = func(context.Context, string) ([]string, error) {
		return nil, &net.DNSError{Err: "i/o timeout", IsTimeout: true}
	}
	expect(t, check(t, o), "dns", Fail, CauseNameServer, "resolv.conf")
}

func TestAddress(t *testing.T) {
	url := simulate(t, simulator.Config{})
	r := check(t, quiet(config(url+"/v1/v1")))
	expect(t, r, "address", Warn, CauseDoubledVersion, "--url "+url+"/v1")
	expect(t, r, "path", Fail, CauseOtherPath, "the API is at "+url+"/v1")

	r = check(t, quiet(config(url+"/chat/completions"))) // the whole path given, without /v1
	expect(t, r, "path", Fail, CauseOtherPath, "give --url "+url+"/v1")

	r = check(t, quiet(config(url+"/gateway")))
	expect(t, r, "path", Fail, CauseOtherPath, "give --url "+url+"/v1")

	port := url[strings.LastIndexByte(url, ':'):]
	r = check(t, quiet(config("http://0.0.0.0"+port)))
	expect(t, r, "address", Warn, CauseListenAddress, "127.0.0.1")

	r = check(t, quiet(config(page(t, 404, "Content-Type: application/json", `{"detail":"Not Found"}`))))
	expect(t, r, "path", Fail, CauseNoSuchPath, "HTTP 404 and 404", "http://host:8000")
	if !r.Reached {
		t.Error("an answer is an answer")
	}
}

func TestFirstAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		code         int
		header, body string
		check, cause string
		words        []string
	}{
		"401":               {401, "Content-Type: application/json|WWW-Authenticate: Bearer", `{"error":{"message":"Incorrect API key provided"}}`, "auth", CauseUnauthorized, []string{"Incorrect API key", "it wants Bearer", "--api-key-env"}},
		"403":               {403, "Content-Type: application/json", `{"error":{"message":"not allowed"}}`, "auth", CauseForbidden, []string{"not allowed", "rights"}},
		"web page":          {200, "Content-Type: text/html", `<html><title>Grafana</title>dashboards</html>`, "answer", CauseHTML, []string{`"Grafana"`, "web site"}},
		"log-in page":       {200, "Content-Type: text/html", `<html><title>Sign in</title><form action="/oauth2/start"></form></html>`, "answer", CauseLogin, []string{"OAuth", "--header"}},
		"401 page":          {401, "Content-Type: text/html", `<html><title>Log in</title></html>`, "answer", CauseLogin, []string{"single-sign-on"}},
		"log-in redirect":   {302, "Location: https://sso.example/oauth2/authorize?client=x", "", "answer", CauseLogin, []string{"https://sso.example/oauth2/authorize"}},
		"to https":          {301, "Location: https://api.example/v1/models", "", "answer", CauseRedirect, []string{"use https://"}},
		"elsewhere":         {308, "Location: http://other.example/v1/models", "", "answer", CauseRedirect, []string{"http://other.example"}},
		"429":               {429, "Retry-After: 7|Content-Type: application/json", `{"error":{"message":"quota"}}`, "answer", CauseRateLimited, []string{"quota", "asks to wait 7", "--request-rate"}},
		"503 loading":       {503, "Content-Type: application/json", `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, "answer", CauseLoading, []string{"Loading model", "--ready-timeout"}},
		"502":               {502, "Content-Type: text/html|Server: nginx", `<html><title>502 Bad Gateway</title></html>`, "answer", CauseBadGateway, []string{"nginx", "502 Bad Gateway"}},
		"proxy wants a key": {407, "Proxy-Authenticate: Basic realm=x", "", "answer", CauseProxyRefused, []string{"USER:PASSWORD"}},
		"proxy page":        {403, "Content-Type: text/html|X-Squid-Error: ERR_ACCESS_DENIED 0|Via: 1.1 p (squid)", `<html><title>ERROR: The requested URL could not be retrieved</title></html>`, "answer", CauseProxyRefused, []string{"squid", "--proxy"}},
		"plain on TLS":      {400, "", "Client sent an HTTP request to an HTTPS server.\n", "answer", CauseHTTPOnHTTPS, []string{"use https://"}},
		"500":               {500, "Content-Type: application/json", `{"error":{"message":"boom"}}`, "answer", CauseServerError, []string{"boom"}},
		"no choices":        {200, "Content-Type: application/json", `{"id":"x","object":"list","data":[{"id":"m"}],"result":"hello"}`, "chat-stream", CauseNoChoices, []string{"not of this protocol"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := check(t, quiet(config(page(t, tc.code, tc.header, tc.body))))
			status := Fail
			if tc.cause == CauseServerError {
				status = Warn
			}
			expect(t, r, tc.check, status, tc.cause, tc.words...)
			if !r.Reached {
				t.Error("an answer is an answer")
			}
		})
	}
}

func TestProxyBetween(t *testing.T) {
	r := check(t, quiet(config(page(t, 200, "Content-Type: application/json|Via: 1.1 cache (squid/6)", `{"data":[{"id":"m"}]}`))))
	expect(t, r, "answer", Warn, CauseProxyBetween, "squid/6", "chat-stream")

	// A forwarding proxy that was named.
	sim := simulate(t, simulator.Config{})
	onward := &http.Transport{} // its own: every test server that closes closes the default one's connections
	defer onward.CloseIdleConnections()
	forward := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body) // all of it first: RoundTrip may outlast the handler, and with it the body
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		out, err := http.NewRequestWithContext(req.Context(), req.Method, req.URL.String(), bytes.NewReader(body))
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		res, err := onward.RoundTrip(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	defer forward.Close()
	cfg := config(sim)
	cfg.Proxy = forward.URL
	r = check(t, quiet(cfg))
	expect(t, r, "proxy", Warn, CauseProxyUsed, forward.URL)
	expect(t, r, "tcp", OK, "", "the proxy")
	expect(t, r, "chat-stream", OK, "")
}

func TestSilence(t *testing.T) {
	silent := listener(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	o := quiet(config("http://" + silent))
	o.StepTimeout = time.Second
	r := check(t, o)
	expect(t, r, "answer", Fail, CauseSilent, "no answer comes within 1s", "--step-timeout")
	if r.Reached {
		t.Error("silence is no answer")
	}
	o.Config.URL = "https://" + silent
	expect(t, check(t, o), "tls", Fail, CauseSilent, "no hand-shake within")

	r = check(t, quiet(config("http://"+listener(t, func(c net.Conn) { c.Close() }))))
	expect(t, r, "answer", Fail, CauseClosed, "ends without an answer")
	ssh := listener(t, func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n"); _, _ = io.Copy(io.Discard, c) })
	expect(t, check(t, quiet(config("http://"+ssh))), "answer", Fail, CauseNotHTTP, "SSH-2.0")
}

// certificate makes one that names itself as its issuer, or one by an authority.
func certificate(t *testing.T, dns string, until time.Time, self bool) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "server"}, DNSNames: []string{dns},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: until, KeyUsage: x509.KeyUsageDigitalSignature}
	if ip := net.ParseIP(dns); ip != nil {
		tpl.DNSNames, tpl.IPAddresses = nil, []net.IP{ip}
	}
	parent, signer := tpl, key
	if !self {
		if signer, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			t.Fatal(err)
		}
		parent = &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "Some Authority"}, NotBefore: tpl.NotBefore, NotAfter: until, IsCA: true, BasicConstraintsValid: true}
	}
	der, err := x509.CreateCertificate(rand.Reader, tpl, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// secure serves the simulator over TLS and gives its address without the scheme.
func secure(t *testing.T, cert tls.Certificate) string {
	t.Helper()
	srv, err := simulator.New(simulator.Config{Preset: "instant"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = srv.Serve(tls.NewListener(ln, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}))
	}()
	return ln.Addr().String()
}

func TestCertificates(t *testing.T) {
	year := time.Now().Add(365 * 24 * time.Hour)
	self := certificate(t, "127.0.0.1", year, true)
	addr := secure(t, self)

	r := check(t, quiet(config("https://"+addr)))
	expect(t, r, "tls", Fail, CauseSelfSigned, "self-signed", "--ca-file server.pem", "--insecure", "openssl s_client")
	expect(t, r, "answer", Skip, "", "tls failed")
	if r.Reached {
		t.Error("reached although the hand-shake is refused")
	}

	cfg := config("https://" + addr)
	cfg.Insecure = true
	r = check(t, quiet(cfg))
	expect(t, r, "tls", Warn, CauseUnchecked, "self-signed", "--ca-file")
	expect(t, r, "chat-stream", OK, "")

	file := filepath.Join(t.TempDir(), "server.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: self.Certificate[0]}), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg = config("https://" + addr)
	cfg.CAFile = file
	r = check(t, quiet(cfg))
	expect(t, r, "tls", OK, "", "certificate of server by server")
	expect(t, r, "chat-stream", OK, "")
	cfg.Insecure = true
	expect(t, check(t, quiet(cfg)), "tls", Warn, CauseUnchecked, "not needed")

	for name, tc := range map[string]struct {
		cert  tls.Certificate
		cause string
		words []string
	}{
		"unknown authority": {certificate(t, "127.0.0.1", year, false), CauseUnknownAuthority, []string{"by Some Authority", "authority is not known"}},
		"wrong name":        {certificate(t, "api.example", year, true), CauseWrongName, []string{"not made for 127.0.0.1 but for api.example", "self-signed"}},
		"expired":           {certificate(t, "127.0.0.1", time.Now().Add(-time.Hour), true), CauseExpired, []string{"has expired"}},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, check(t, quiet(config("https://"+secure(t, tc.cert)))), "tls", Fail, tc.cause, tc.words...)
		})
	}
	soon := certificate(t, "127.0.0.1", time.Now().Add(48*time.Hour), true)
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: soon.Certificate[0]}), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg = config("https://" + secure(t, soon))
	cfg.CAFile = file
	expect(t, check(t, quiet(cfg)), "tls", Warn, CauseExpiresSoon, "long runs")
}

func TestSchemesMixedUp(t *testing.T) {
	addr := secure(t, certificate(t, "127.0.0.1", time.Now().Add(time.Hour), true))
	r := check(t, quiet(config("http://"+addr)))
	expect(t, r, "answer", Fail, CauseHTTPOnHTTPS, "use https://")
	plain := strings.TrimPrefix(simulate(t, simulator.Config{}), "http://")
	r = check(t, quiet(config("https://"+plain)))
	expect(t, r, "tls", Fail, CauseHTTPSOnHTTP, "use http://")
	// A server that ends the connection instead of answering in plain.
	mute := listener(t, func(c net.Conn) {
		b := make([]byte, 1)
		if _, err := io.ReadFull(c, b); err != nil || b[0] != 0x16 {
			c.Close()
			return
		}
		cert := certificate(t, "127.0.0.1", time.Now().Add(time.Hour), true)
		_ = tls.Server(prefixed{c, b}, &tls.Config{Certificates: []tls.Certificate{cert}}).Handshake()
	})
	expect(t, check(t, quiet(config("http://"+mute))), "answer", Fail, CauseHTTPOnHTTPS, "use https://")
}

// prefixed is a connection of which a byte has been read already.
type prefixed struct {
	net.Conn
	first []byte
}

func (p prefixed) Read(b []byte) (int, error) {
	if len(p.first) > 0 && p.first[0] != 0 {
		n := copy(b, p.first)
		p.first[0] = 0
		return n, nil
	}
	return p.Conn.Read(b)
}

func TestKeys(t *testing.T) {
	url := simulate(t, simulator.Config{APIKey: "sk-right"})
	r := check(t, quiet(config(url)))
	expect(t, r, "auth", Fail, CauseUnauthorized, "a key is needed", "--api-key-env")
	expect(t, r, "chat", Skip, "", "auth failed")

	o := quiet(config(url))
	o.Getenv = func(n string) string { return map[string]string{"OPENAI_API_KEY": "x"}[n] }
	expect(t, check(t, o), "auth", Fail, CauseUnauthorized, "--api-key-env OPENAI_API_KEY")

	cfg := config(url)
	cfg.APIKey = "sk-wrong-key"
	r = check(t, quiet(cfg))
	expect(t, r, "auth", Fail, CauseUnauthorized, "is not accepted")
	if b, _ := json.Marshal(r); strings.Contains(string(b), "sk-wrong-key") {
		t.Error("the key stands in the report")
	}
	cfg.APIKey = "sk-right"
	r = check(t, quiet(cfg))
	expect(t, r, "auth", OK, "", "accepted; without one the answer is HTTP 401")
	expect(t, r, "chat-stream", OK, "")

	cfg = config(simulate(t, simulator.Config{}))
	cfg.APIKey = "sk-any"
	expect(t, check(t, quiet(cfg)), "auth", OK, CauseNoKeyAsked)

	// The list of models wants a key, requests do not; and the other way round.
	answer := func(list, chat int) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			code := chat
			if strings.HasSuffix(req.URL.Path, "/models") {
				code = list
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			if code == 200 {
				_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
			}
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	cfg = config(answer(403, 200))
	cfg.Model = "m"
	expect(t, check(t, quiet(cfg)), "auth", Warn, CauseNoModelList, "refused with HTTP 403")
	expect(t, check(t, quiet(config(answer(404, 401)))), "path", Fail, CauseUnauthorized, "a key is needed")
}
