package models

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ais_bench/models/transport"
	"ais_bench/outputs"
)

const modelList = `{"object":"list","data":[{"id":"Qwen/Qwen3-8B","object":"model","owned_by":"vllm","root":"/models/qwen","max_model_len":40960},{"id":"lora-a"}]}`

// goodServer answers like an engine; it knows only the models it lists.
func goodServer(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/models":
		_, _ = io.WriteString(w, modelList)
	case "/v1/chat/completions":
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), "Qwen/Qwen3-8B") {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"object":"error","message":"The model does not exist.","code":404}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n")
	case "/tokenize":
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"add_special_tokens":false`) || !strings.Contains(string(body), `"prompt":"hi"`) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, `{"count":2,"max_model_len":40960,"tokens":[5,6]}`)
	case "/detokenize":
		_, _ = io.WriteString(w, `{"prompt":"hi"}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"detail":"Not Found"}`)
	}
}

func ready(t *testing.T, cfg Config, timeout time.Duration) error {
	t.Helper()
	client, err := New(cfg, transport.NewClock(), Options{})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // against hanging for ever
	defer cancel()
	return Ready(ctx, client, cfg, timeout, func(string) {})
}

func TestDiscover(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(goodServer))
	defer srv.Close()
	got, err := Discover(context.Background(), chatConfig(srv.URL))
	want := []ModelInfo{{ID: "Qwen/Qwen3-8B", Root: "/models/qwen", MaxModelLen: 40960, OwnedBy: "vllm"}, {ID: "lora-a"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	cfg := chatConfig(srv.URL)
	cfg.Model = ""
	if err := ready(t, cfg, 0); err != nil {
		t.Errorf("a model without a name: %v", err)
	}
}

func TestTokenize(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(goodServer))
	defer srv.Close()
	ids, err := Tokenize(context.Background(), chatConfig(srv.URL+"/v1"), "hi")
	if err != nil || !reflect.DeepEqual(ids, []int{5, 6}) {
		t.Errorf("%v, %v", ids, err)
	}
	text, err := Detokenize(context.Background(), chatConfig(srv.URL), ids)
	if err != nil || text != "hi" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestReady(t *testing.T) {
	answer := func(code int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	tests := []struct {
		name    string
		handler http.HandlerFunc
		change  func(*Config)
		status  outputs.Status // "" = ready
		mention []string
	}{
		{"good", goodServer, func(c *Config) { c.Model = "Qwen/Qwen3-8B" }, "", nil},
		{"unknown model", goodServer, func(c *Config) { c.Model = "Qwen/Qwen3-7B" }, outputs.StatusHTTP4xx,
			[]string{`"Qwen/Qwen3-7B"`, "lora-a", `did you mean "Qwen/Qwen3-8B"?`}},
		{"no list but answers", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/models" {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			goodServer(w, r)
		}, func(c *Config) { c.Model = "Qwen/Qwen3-8B" }, "", nil},
		{"401", answer(401, "application/json", `{"error":{"message":"Incorrect API key provided"}}`), nil, outputs.StatusHTTP4xx,
			[]string{"401", "Incorrect API key provided", "--api-key-env"}},
		{"403 with a key", answer(403, "application/json", `{"error":"no"}`), func(c *Config) { c.APIKey = "sk-1234" }, outputs.StatusHTTP4xx, []string{"not accepted"}},
		{"404", answer(404, "application/json", `{"detail":"Not Found"}`), nil, outputs.StatusHTTP4xx, []string{"/v1/chat/completions", "Not Found", "--url"}},
		{"log-in page", answer(200, "text/html", `<html><title>Sign in</title></html>`), nil, outputs.StatusMalformed, []string{"HTML", "log-in"}},
		{"redirect to a log-in page", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://sso.example/login", http.StatusFound)
		}, nil, outputs.StatusMalformed, []string{"sso.example", "log-in"}},
		{"no choices", answer(200, "application/json", `{"id":"x"}`), nil, outputs.StatusMalformed, []string{"no choices", "--url"}},
		{"500", answer(500, "text/plain", "CUDA error"), nil, outputs.StatusHTTP5xx, []string{"CUDA error", "log"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			srv := httptest.NewServer(tc.handler)
			defer srv.Close()
			cfg := chatConfig(srv.URL)
			if tc.change != nil {
				tc.change(&cfg)
			}
			err := ready(t, cfg, 0)
			if tc.status == "" {
				if err != nil {
					t.Errorf("not ready: %v", err)
				}
				return
			}
			un, ok := err.(*Unavailable)
			if !ok || un.Status != tc.status || strings.Contains(un.Msg, "\n") {
				t.Fatalf("error %#v, want status %s", err, tc.status)
			}
			for _, m := range tc.mention {
				if !strings.Contains(un.Msg, m) {
					t.Errorf("%q does not mention %q", un.Msg, m)
				}
			}
		})
	}
}

func TestReadyWithoutServer(t *testing.T) {
	const addr = "127.0.0.1:1" // nobody's, unlike a port that has just been given back
	err := ready(t, chatConfig(addr), 0)
	if err == nil || !strings.Contains(err.Error(), "refused") || !strings.Contains(err.Error(), addr) || !strings.Contains(err.Error(), "--url") {
		t.Errorf("error %v", err)
	}
}

func TestReadyWaits(t *testing.T) {
	var n atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		goodServer(w, r)
	}))
	defer srv.Close()
	cfg := chatConfig(srv.URL)
	cfg.Model = "Qwen/Qwen3-8B"
	if err := ready(t, cfg, time.Minute); err != nil {
		t.Errorf("a server that is coming up: %v", err)
	}
}

func TestTLS(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(goodServer))
	srv.EnableHTTP2 = true
	srv.TLS = &tls.Config{}
	srv.Config.ErrorLog = quiet
	srv.StartTLS()
	defer srv.Close()
	cfg := chatConfig(srv.URL)
	cfg.Model = "Qwen/Qwen3-8B"

	r := ask(t, mustNew(t, cfg, Options{}), streamed("x"))
	if r.Status != outputs.StatusTLS {
		t.Errorf("unknown authority: status %s (%s)", r.Status, r.Error)
	}
	if err := ready(t, cfg, 0); err == nil || !strings.Contains(err.Error(), "--insecure") {
		t.Errorf("unknown authority: %v", err)
	}
	cfg.Insecure = true
	clock := transport.NewClock()
	client, err := New(cfg, clock, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i := range 2 {
		if r := ask(t, client, streamed("x")); r.Status != outputs.StatusOK || r.Text != "a" || r.Reused != (i == 1) {
			t.Errorf("insecure: %+v", r)
		}
	}
	cfg.Insecure = false
	cfg.CAFile = filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(cfg.CAFile, block, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, mustNew(t, cfg, Options{}), streamed("x")); r.Status != outputs.StatusOK {
		t.Errorf("with the CA file: %s (%s)", r.Status, r.Error)
	}
	cfg.CAFile += ".missing"
	if _, err := New(cfg, transport.NewClock(), Options{}); err == nil || !strings.Contains(err.Error(), "ca.pem.missing") {
		t.Errorf("a missing CA file: %v", err)
	}
	cfg.CAFile = ""
	cfg.URL = strings.Replace(srv.URL, "https://", "http://", 1)
	if err := ready(t, cfg, 0); err == nil || !strings.Contains(err.Error(), "https") {
		t.Errorf("http to an https port: %v", err)
	}
	plain := httptest.NewServer(http.HandlerFunc(goodServer))
	defer plain.Close()
	cfg.URL = strings.Replace(plain.URL, "http://", "https://", 1)
	if err := ready(t, cfg, 0); err == nil || !strings.Contains(err.Error(), "http://") {
		t.Errorf("https to an http port: %v", err)
	}
}

// TestProxy: nothing goes through the environment's proxy unasked, plain HTTP
// goes in absolute form, TLS through a tunnel, and the password is shown nowhere.
func TestProxy(t *testing.T) {
	var absolute, tunnels atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic dTpwcm94eXBhc3M=" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		if r.Method == http.MethodConnect {
			tunnels.Add(1)
			up, err := net.Dial("tcp", r.Host)
			if err != nil {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
			go func() { _, _ = io.Copy(up, c); _ = up.Close() }()
			_, _ = io.Copy(c, up)
			_ = c.Close()
			return
		}
		if r.URL.Host == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		absolute.Add(1)
		goodServer(w, r)
	}))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	withUser := strings.Replace(proxy.URL, "http://", "http://u:proxypass@", 1)

	plain := httptest.NewServer(http.HandlerFunc(goodServer))
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.HandlerFunc(goodServer))
	secure.Config.ErrorLog = quiet
	secure.StartTLS()
	defer secure.Close()

	do := func(url, proxy string) *Result {
		cfg := chatConfig(url)
		cfg.Model, cfg.Proxy, cfg.Insecure = "Qwen/Qwen3-8B", proxy, true
		client := mustNew(t, cfg, Options{})
		if p := client.(interface{ Proxy() string }).Proxy(); strings.Contains(p, "proxypass") || (p == "") != (proxy == "") {
			t.Errorf("the proxy is reported as %q", p)
		}
		r := ask(t, client, streamed("x"))
		client.Close()
		return r
	}
	if r := do(plain.URL, ""); r.Status != outputs.StatusOK || absolute.Load() != 0 {
		t.Errorf("no proxy: %s (%s), %d requests through it", r.Status, r.Error, absolute.Load())
	}
	if r := do("http://service.invalid", withUser); r.Status != outputs.StatusOK || absolute.Load() != 1 {
		t.Errorf("plain: %s (%s), %d requests through it", r.Status, r.Error, absolute.Load())
	}
	if r := do(secure.URL, withUser); r.Status != outputs.StatusOK || tunnels.Load() != 1 {
		t.Errorf("tunnel: %s (%s), %d tunnels", r.Status, r.Error, tunnels.Load())
	}
	if r := do(secure.URL, proxy.URL); r.Status != outputs.StatusDial || !strings.Contains(r.Error, "407") {
		t.Errorf("without the password: %s (%s)", r.Status, r.Error)
	}
}

func TestKeepHeaders(t *testing.T) {
	srv := serve(t, func(c *call) {
		c.send(strings.Replace(sseHead, "\r\n\r\n", "\r\nX-Queue: 3\r\n\r\n", 1))
		c.text("a")
		c.finish(1)
	})
	if r := ask(t, mustNew(t, chatConfig(srv.URL), Options{KeepHeaders: true}), streamed("x")); r.Headers["x-queue"] != "3" {
		t.Errorf("headers %v", r.Headers)
	}
	if r := ask(t, mustNew(t, chatConfig(srv.URL), Options{}), streamed("x")); r.Headers != nil {
		t.Errorf("headers %v", fmt.Sprint(r.Headers))
	}
}
