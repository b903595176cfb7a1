package tasks

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// gate stands before a server. It lets so many requests for answers through, the one
// that looks whether the server works among them, and holds the others back until it
// is opened: what happens in between happens before the run can be through, however
// slow whoever makes it happen is.
type gate struct {
	open chan struct{}
	left atomic.Int64
}

// startGate gives the address of the gate. open is closed by the test; nil = never.
func startGate(t *testing.T, server string, pass int64, open chan struct{}) string {
	t.Helper()
	g := &gate{open: open}
	g.left.Store(pass)
	onward := &http.Transport{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if r.Method == http.MethodPost && g.left.Add(-1) < 0 {
			select {
			case <-g.open:
			case <-r.Context().Done(): // whoever asked is gone
				return
			}
		}
		out, err := http.NewRequestWithContext(r.Context(), r.Method, server+r.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		out.Header = r.Header.Clone()
		resp, err := onward.RoundTrip(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		for k, v := range resp.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body) // the client sees a cut answer
	}))
	t.Cleanup(func() {
		srv.Close()
		onward.CloseIdleConnections()
	})
	return srv.URL
}
