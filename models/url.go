package models

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

var (
	versionSegment = regexp.MustCompile(`^v[0-9]+[a-z0-9]*$`)
	methodSuffixes = []string{"/chat/completions", "/completions", "/models", "/tokenize", "/detokenize", "/generate", "/generate_stream", "/embeddings", "/rerank"}
)

// Endpoint is where a service lives, split so that every known path can be
// formed from whatever the user gave.
type Endpoint struct {
	Server string // scheme://host[:port][/prefix], no trailing slash: /tokenize, /generate, /health, /metrics
	API    string // Server plus the version segment (/v1 unless the URL named another): /chat/completions, /models
}

// Endpoint resolves url, or host_ip, host_port and enable_ssl.
//
// The URL may be bare (host:port gets http://), a base with a path prefix, or
// any of these with a trailing /v1, /v1/, /v1/chat/completions. A last segment
// that is another version (/api/v3) is kept as it is.
func (c Config) Endpoint() (Endpoint, error) {
	u, err := c.baseURL()
	if err != nil {
		return Endpoint{}, err
	}
	p := strings.TrimRight(u.Path, "/")
	explicit := false
	for _, m := range methodSuffixes {
		if strings.HasSuffix(p, m) {
			p, explicit = strings.TrimSuffix(p, m), m == "/chat/completions" || m == "/completions" || m == "/models" || m == "/embeddings"
			break
		}
	}
	origin := u.Scheme + "://" + u.Host
	dir, last := "", ""
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		dir, last = p[:i], p[i+1:]
	}
	switch {
	case versionSegment.MatchString(last):
		return Endpoint{Server: origin + dir, API: origin + p}, nil
	case explicit:
		return Endpoint{Server: origin + p, API: origin + p}, nil
	}
	return Endpoint{Server: origin + p, API: origin + p + "/v1"}, nil
}

func (c Config) baseURL() (*url.URL, error) {
	raw := strings.TrimSpace(c.URL)
	if raw == "" {
		if c.HostIP == "" {
			return nil, fmt.Errorf("model %s has no address: give --url, or --host-ip and --host-port", c.name())
		}
		host := strings.TrimSuffix(strings.TrimPrefix(c.HostIP, "["), "]")
		if strings.ContainsAny(host, "/@? ") || (strings.Contains(host, ":") && net.ParseIP(strings.SplitN(host, "%", 2)[0]) == nil) {
			return nil, fmt.Errorf("host_ip %q of model %s is not a host: give an IPv4, IPv6 or host name alone, or --url for the rest", c.HostIP, c.name())
		}
		scheme := "http"
		if c.EnableSSL {
			scheme = "https"
		}
		port := c.HostPort
		if port == 0 {
			port = 8080
		}
		return &url.URL{Scheme: scheme, Host: net.JoinHostPort(host, strconv.Itoa(port))}, nil
	}
	if !strings.Contains(raw, "://") {
		scheme := "http://"
		if c.EnableSSL {
			scheme = "https://"
		}
		raw = scheme + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("url of model %s: %s is not a URL; give one like http://host:8000", c.name(), redactURL(c.URL))
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("url of model %s: scheme %q is not http or https", c.name(), u.Scheme)
	case u.Hostname() == "":
		return nil, fmt.Errorf("url of model %s: %s has no host; give one like http://host:8000", c.name(), redactURL(c.URL))
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("url of model %s: %s has a query or fragment; give the base URL alone", c.name(), redactURL(c.URL))
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return nil, fmt.Errorf("url of model %s: port %s is not within 1..65535", c.name(), p)
		}
	}
	return u, nil
}

// name is what messages call the configuration.
func (c Config) name() string {
	if c.Abbr != "" {
		return c.Abbr
	}
	return "(no abbr)"
}
