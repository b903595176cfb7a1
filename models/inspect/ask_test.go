package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"ais_bench/models"
)

// What came instead of metrics is said in words that tell what to do.
func TestAskExplains(t *testing.T) {
	get, err := models.NewGetter(models.Config{Abbr: "m", Type: "openai_chat", URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer get.Close()
	web := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL + "/metrics"
	}
	raw := func(text string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Read(make([]byte, 4096)) // else the end is a reset
				_, _ = io.WriteString(c, text)
				c.Close()
			}
		}()
		return "http://" + l.Addr().String() + "/metrics"
	}
	for name, c := range map[string]struct{ url, want string }{
		"nobody":   {"http://127.0.0.1:1/metrics", "connection refused, nothing listens there"},
		"404":      {web(http.NotFound), "it answers HTTP 404 Not Found: there is no such path"},
		"401":      {web(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }), "it asks for a key"},
		"500":      {web(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }), "look at the server's log"},
		"circle":   {web(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }), "redirects in a circle"},
		"ssh":      {raw("SSH-2.0-OpenSSH_9.6\r\n"), "no HTTP, something else than a web server listens there"},
		"hangs up": {raw(""), "closed without a complete answer"},
		"no TLS":   {strings.Replace(web(http.NotFound), "http://", "https://", 1), "speaks no TLS: use http://"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Ask(t.Context(), get, c.url)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			for _, word := range []string{"Get ", "dial tcp", "http:", "net/"} {
				if word == "http:" && strings.Contains(c.want, "http:") {
					continue
				}
				if strings.Contains(strings.ReplaceAll(err.Error(), "http://HOST:PORT", ""), word) {
					t.Errorf("in Go's words: %v", err)
				}
			}
		})
	}
	silent := web(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Ask(ctx, get, silent); err == nil || !strings.Contains(err.Error(), "no complete answer in time") {
		t.Errorf("%v", err)
	}
	if err := unreached(t.Context(), &url.Error{Op: "Get", URL: "x", Err: &net.OpError{Op: "dial", Err: errors.New("odd")}}); fmt.Sprint(err) != "no connection: odd" {
		t.Errorf("%v", err)
	}
}
