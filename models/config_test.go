package models

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBuiltinConfigs(t *testing.T) {
	reg, err := OpenRegistry("")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		protocol Protocol
		stream   bool
	}{
		"vllm_api_general": {Completions, false}, "vllm_api_general_stream": {Completions, true}, "vllm_api_general_chat": {Chat, true},
		"vllm_api_stream_chat": {Chat, true}, "vllm_api_stream_chat_multiturn": {Chat, true}, "sglang_api_chat": {Chat, true}, "sglang_generate": {Generate, true},
		"openai_api_chat": {Chat, true}, "sim_chat": {Chat, true}, "sim_completions": {Completions, true},
	}
	abbrs := map[string]bool{}
	for name, w := range want {
		e, err := reg.Get(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := e.Value.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		c := e.Value
		if c.Protocol() != w.protocol || c.Stream != w.stream || c.Description == "" || abbrs[c.Abbr] {
			t.Errorf("%s: %+v", name, c)
		}
		if c.Simulated() != strings.HasPrefix(name, "sim_") || c.Timeouts.Connect != Duration(10*time.Second) || c.Timeouts.FirstToken != Duration(10*time.Minute) {
			t.Errorf("%s: simulated %v, timeouts %+v", name, c.Simulated(), c.Timeouts)
		}
		abbrs[c.Abbr] = true
	}
	if got := len(reg.Names()); got != len(want) {
		t.Errorf("%d built-in configurations, want %d: %v", got, len(want), reg.Names())
	}
}

func TestSetAndUserConfigs(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte("abbr: mine\ntype: VLLMCustomAPIChat\nhost_ip: ::1\nhost_port: 8000\ntimeouts: {total: 90}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reg, err := OpenRegistry(dir)
	if err != nil {
		t.Fatal(err)
	}
	e, err := reg.Get("mine")
	if err != nil {
		t.Fatal(err)
	}
	for field, value := range map[string]string{"timeouts.idle": "1m30s", "generation_kwargs.top_k": "5", "headers.X-A": "b", "stream": "true", "traffic_cfg.burstiness": "0.5"} {
		if err := e.Set(field, value); err != nil {
			t.Error(err)
		}
	}
	c := e.Value
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if c.Timeouts.Total != Duration(90*time.Second) || c.Timeouts.Idle != Duration(90*time.Second) || fmt.Sprint(c.GenerationKwargs["top_k"]) != "5" ||
		c.Headers["X-A"] != "b" || !c.Stream || c.TrafficCfg.Burstiness != 0.5 {
		t.Errorf("%+v", c)
	}
	if err := e.Set("timeouts.first_tokn", "5"); err == nil || !strings.Contains(err.Error(), "first_token") {
		t.Errorf("an unknown field gives %v", err)
	}
	if err := e.Set("timeouts.idle", "soon"); err == nil || !strings.Contains(err.Error(), "soon") {
		t.Errorf("a bad duration gives %v", err)
	}
}

func TestEndpoint(t *testing.T) {
	tests := []struct{ url, host, server, api string }{
		{"host:8000", "", "http://host:8000", "http://host:8000/v1"},
		{"http://host:8000/", "", "http://host:8000", "http://host:8000/v1"},
		{"https://host/api", "", "https://host/api", "https://host/api/v1"},
		{"https://host/api/", "", "https://host/api", "https://host/api/v1"},
		{"https://host/api/v1", "", "https://host/api", "https://host/api/v1"},
		{"https://host/api/v1/", "", "https://host/api", "https://host/api/v1"},
		{"https://host/api/v1/chat/completions", "", "https://host/api", "https://host/api/v1"},
		{"https://host/v1/completions/", "", "https://host", "https://host/v1"},
		{"https://host/v1/models", "", "https://host", "https://host/v1"},
		{"https://host/api/v3", "", "https://host/api", "https://host/api/v3"},
		{"https://host/v1beta/openai/chat/completions", "", "https://host/v1beta/openai", "https://host/v1beta/openai"},
		{"http://host:30000/generate", "", "http://host:30000", "http://host:30000/v1"},
		{"http://[::1]:8000/v1", "", "http://[::1]:8000", "http://[::1]:8000/v1"},
		{"", "localhost", "http://localhost:9000", "http://localhost:9000/v1"},
		{"", "10.0.0.1", "http://10.0.0.1:9000", "http://10.0.0.1:9000/v1"},
		{"", "::1", "http://[::1]:9000", "http://[::1]:9000/v1"},
		{"", "[fe80::1]", "http://[fe80::1]:9000", "http://[fe80::1]:9000/v1"},
		{"", "gpu-7.example", "http://gpu-7.example:9000", "http://gpu-7.example:9000/v1"},
	}
	for _, tc := range tests {
		ep, err := Config{Abbr: "m", URL: tc.url, HostIP: tc.host, HostPort: 9000}.Endpoint()
		if err != nil || ep.Server != tc.server || ep.API != tc.api {
			t.Errorf("url %q host %q: %+v, %v; want %s and %s", tc.url, tc.host, ep, err, tc.server, tc.api)
		}
	}
	for _, bad := range []Config{{URL: "ftp://host"}, {URL: "http://"}, {URL: "http://host?x=1"}, {URL: "http://host:99999"}, {HostIP: "http://host"}, {HostIP: "a:b"}, {}, {URL: "http://u:pa55word@ho st"}} {
		if _, err := bad.Endpoint(); err == nil || strings.Contains(err.Error(), "pa55word") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v gives %v", bad, err)
		}
	}
}

func TestValidate(t *testing.T) {
	good := Config{Abbr: "m", Type: "openai_chat", URL: "http://h"}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		change  func(*Config)
		mention string
	}{
		{"no abbr", func(c *Config) { c.Abbr = "" }, "abbr"},
		{"abbr with a slash", func(c *Config) { c.Abbr = "a/b" }, "a/b"},
		{"type", func(c *Config) { c.Type = "openai_chatt" }, `did you mean "openai_chat"`},
		{"local", func(c *Config) { c.Attr = "local" }, "service"},
		{"rate", func(c *Config) { c.RequestRate = math.NaN() }, "request_rate"},
		{"rate too high", func(c *Config) { c.RequestRate = 64001 }, "64000"},
		{"retry", func(c *Config) { c.Retry = -1 }, "retry"},
		{"batch size", func(c *Config) { c.BatchSize = 100001 }, "batch_size"},
		{"length", func(c *Config) { c.MaxOutLen = -1 }, "max_out_len"},
		{"port", func(c *Config) { c.HostPort = 70000 }, "host_port"},
		{"ramp", func(c *Config) { c.TrafficCfg.RampUpStrategy = "cubic" }, "linear or exponential"},
		{"ramp without a strategy", func(c *Config) { c.TrafficCfg.RampUpEndRPS = 5 }, "ramp_up_strategy"},
		{"exponential from 0", func(c *Config) { c.TrafficCfg = TrafficCfg{RampUpStrategy: "exponential", RampUpEndRPS: 5} }, "ramp_up_start_rps"},
		{"header name", func(c *Config) { c.Headers = map[string]string{"a b": "c"} }, "a b"},
		{"header value", func(c *Config) { c.Headers = map[string]string{"a": "c\r\nd: e"} }, "header"},
		{"proxy", func(c *Config) { c.Proxy = "socks5://u:pa55word@h" }, "proxy"},
		{"sim options", func(c *Config) { c.Sim = map[string]any{"a": 1} }, "sim_chat"},
		{"length among the kwargs", func(c *Config) { c.GenerationKwargs = map[string]any{"max_tokens": 7} }, "--max-out-len"},
		{"messages among the kwargs", func(c *Config) { c.GenerationKwargs = map[string]any{"messages": []any{}} }, "template"},
		{"no address", func(c *Config) { c.URL = "" }, "--url"},
	}
	for _, tc := range tests {
		c := good
		tc.change(&c)
		err := c.Validate()
		if err == nil || !strings.Contains(err.Error(), tc.mention) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "pa55word") {
			t.Errorf("%s: %v, want it to mention %q", tc.name, err, tc.mention)
		}
	}
	sim := Config{Abbr: "m", Type: "sim_chat"}
	if err := sim.Validate(); err != nil {
		t.Errorf("a simulated model without an address: %v", err)
	}
}

func TestRedacted(t *testing.T) {
	t.Setenv("AIS_TEST_KEY", "sk-fromenv")
	c := Config{
		Abbr: "m", APIKey: "${AIS_TEST_KEY}", URL: "https://user:pass1234@host/v1", Proxy: "http://p:proxypass@h:1",
		Headers: map[string]string{"Authorization": "Bearer tok-12345", "X-Api-Key": "${AIS_TEST_KEY}", "X-Team": "blue", "X-Odd": "${AIS_TEST_KEY}"},
	}
	r := c.Redacted()
	if r.APIKey != "${AIS_TEST_KEY}" || r.Headers["X-Api-Key"] != "${AIS_TEST_KEY}" || r.Headers["X-Team"] != "blue" || r.Headers["Authorization"] != Redacted ||
		c.Headers["Authorization"] != "Bearer tok-12345" {
		t.Errorf("%+v", r)
	}
	if s := fmt.Sprintf("%+v", r); strings.Contains(s, "pass1234") || strings.Contains(s, "proxypass") || strings.Contains(s, "tok-12345") || !strings.Contains(r.URL, "host/v1") {
		t.Errorf("a secret shows in %s", s)
	}
	text := Scrub("sk-fromenv Bearer tok-12345 pass1234 proxypass blue", c.Secrets())
	for _, s := range []string{"sk-fromenv", "tok-12345", "pass1234", "proxypass"} {
		if strings.Contains(text, s) {
			t.Errorf("%s remains in %q", s, text)
		}
	}
	if !strings.Contains(text, "blue") {
		t.Errorf("what is no secret is gone: %q", text)
	}
	c.APIKey = "sk-inclear"
	if got := c.Redacted().APIKey; got != Redacted {
		t.Errorf("a key in clear shows as %q", got)
	}
}
