package models

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"ais_bench/models/transport"
)

// Getter asks the endpoints beside the API (metrics, server information) with
// the model's headers, key and TLS settings. These questions are not measured,
// so an ordinary client does.
type Getter struct {
	client *http.Client
	header http.Header
}

// NewGetter makes a Getter for a model's server.
func NewGetter(cfg Config) (*Getter, error) {
	s, err := newService(cfg, transport.NewClock(), Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	tr := http.DefaultTransport.(*http.Transport).Clone()
	tr.Proxy = nil
	switch p := s.cfg.Proxy; p {
	case "":
	case "env":
		tr.Proxy = http.ProxyFromEnvironment
	default:
		u, err := url.Parse(p)
		if err != nil {
			return nil, err
		}
		tr.Proxy = http.ProxyURL(u)
	}
	tls, err := s.cfg.tls()
	if err != nil {
		return nil, err
	}
	tr.TLSClientConfig = tls
	tr.DisableCompression = true // packing the answer would be work for the server under test
	g := &Getter{client: &http.Client{Transport: tr}, header: http.Header{}}
	for _, f := range s.header {
		if http.CanonicalHeaderKey(f.Name) != "Content-Type" {
			g.header.Add(f.Name, f.Value)
		}
	}
	return g, nil
}

// Get sends one GET request; the caller closes the body.
func (g *Getter) Get(ctx context.Context, target string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	req.Header = g.header.Clone()
	return g.client.Do(req)
}

// Post sends one POST request with an empty JSON object; the caller closes the body.
func (g *Getter) Post(ctx context.Context, target string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader("{}"))
	if err != nil {
		return nil, err
	}
	req.Header = g.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	return g.client.Do(req)
}

// Close drops idle connections.
func (g *Getter) Close() { g.client.CloseIdleConnections() }
