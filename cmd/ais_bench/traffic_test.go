package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// What stands between the program and a simulator, so that what a test needs to
// happen does happen, however busy the machine is.

// whole has a request's body in full before it passes it on. Otherwise a proxy's
// transport may still be looking for the body's end when the answer begins, finds it
// closed by the server it stands in, and cuts the answer; and a handler that waits
// would not see that its client has gone.
func whole(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // the client is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// relay passes requests on to a service, flushing as it goes.
func relay(t interface{ Fatalf(string, ...any) }, to string) http.Handler {
	u, err := url.Parse(to)
	if err != nil {
		t.Fatalf("relay: %v", err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.FlushInterval = -1
	return whole(proxy)
}

// asksForAnswer tells requests for an answer from those about the service.
func asksForAnswer(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/completions") }

// between puts a handler before a service: f sees the n-th request for an answer before it is passed on.
func between(t *testing.T, to string, f func(n int64)) string {
	proxy := relay(t, to)
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asksForAnswer(r) {
			f(n.Add(1))
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// withMetrics stands before a service and answers /metrics itself.
func withMetrics(t *testing.T, to string, text func() string) string {
	proxy := relay(t, to)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			fmt.Fprint(w, text())
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// barrier holds requests for an answer up: those that come once a file is there.
type barrier struct {
	mu      sync.Mutex
	pattern string        // of the file; "" = none is held
	open    chan struct{} // closed by release
}

func (b *barrier) hold(pattern string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pattern, b.open = pattern, make(chan struct{})
}

func (b *barrier) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pattern != "" {
		b.pattern = ""
		close(b.open)
	}
}

func (b *barrier) wait(ctx context.Context) {
	b.mu.Lock()
	pattern, open := b.pattern, b.open
	b.mu.Unlock()
	if found, _ := filepath.Glob(pattern); len(found) == 0 { // "" matches nothing
		return
	}
	select {
	case <-open:
	case <-ctx.Done():
	}
}

// barrierKey is where a script's barrier is kept.
type barrierKey struct{}

// hold PATTERN: requests for an answer that come once a file matches the pattern
// wait until `release`. The barrier is put before $URL, and changes it.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold PATTERN")
	}
	kept := ts.Value(barrierKey{}).(**barrier)
	if *kept == nil {
		b := &barrier{}
		proxy := relay(ts, ts.Getenv("URL"))
		srv := httptest.NewServer(whole(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asksForAnswer(r) {
				b.wait(r.Context())
			}
			proxy.ServeHTTP(w, r)
		})))
		ts.Defer(func() {
			b.release()
			srv.Close()
		})
		ts.Setenv("URL", srv.URL)
		*kept = b
	}
	(*kept).hold(ts.MkAbs(args[0]))
}

// release lets go of what `hold` holds up, and of all that comes.
func release(ts *testscript.TestScript, neg bool, args []string) {
	b := *ts.Value(barrierKey{}).(**barrier)
	if neg || len(args) != 0 || b == nil {
		ts.Fatalf("usage: release, after hold PATTERN")
	}
	b.release()
}

// atMost N: the service behind $URL takes N requests for an answer at once and turns
// the others away with a 503. It is put before $URL, and changes it.
func atMost(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: atmost N")
	}
	most, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	proxy := relay(ts, ts.Getenv("URL"))
	var inside atomic.Int64
	srv := httptest.NewServer(whole(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !asksForAnswer(r) {
			proxy.ServeHTTP(w, r)
			return
		}
		if inside.Add(1) > most {
			inside.Add(-1)
			http.Error(w, `{"error":{"message":"too many requests at once"}}`, http.StatusServiceUnavailable)
			return
		}
		// Counted out before the client can see the end and ask the next.
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		inside.Add(-1)
		for k, v := range answer.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // a client that has gone needs none
	})))
	ts.Defer(srv.Close)
	ts.Setenv("URL", srv.URL)
}
