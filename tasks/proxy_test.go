package tasks

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"ais_bench/models/simulator"
)

// A proxy is used only when asked for, and then the manifest names it.
func TestProxyInUseIsRecorded(t *testing.T) {
	set := builtinSet(t, "demo_gsm8k_gen_0_shot_cot_str_perf")
	_, url := startSim(t, set, simulator.Config{})
	var through atomic.Int64
	onward := &http.Transport{} // its own: every test server that closes closes the default one's connections
	defer onward.CloseIdleConnections()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through.Add(1)
		body, err := io.ReadAll(r.Body) // all of it first: RoundTrip may outlast the handler, and with it the body
		if err != nil {
			return
		}
		out, err := http.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), bytes.NewReader(body))
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
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body) // the client sees a cut answer
	}))
	defer proxy.Close()
	m := modelAt(url, set)
	m.Config.Proxy = proxy.URL
	out, task := runOnce(t, m, set, Options{})
	if through.Load() < 8 || task.Inference == nil || task.Inference.Answered != 8 {
		t.Errorf("%d requests through the proxy, inference %+v, error %v; want 8 answers", through.Load(), task.Inference, task.Err)
	}
	if got := manifestOf(t, out.Run).Extra["proxy of sim"]; got != proxy.URL {
		t.Errorf("the manifest names proxy %v, want %s", got, proxy.URL)
	}
	before := through.Load()
	m.Config.Proxy = ""
	out, _ = runOnce(t, m, set, Options{})
	if got := manifestOf(t, out.Run).Extra["proxy of sim"]; got != nil || through.Load() != before {
		t.Errorf("no proxy was asked for; the manifest names %v, %d requests went through one", got, through.Load()-before)
	}
}
