package tasks

import (
	"io"
	"net"
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
	var tunnels atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect { // the questions beside the measured ones
			http.Error(w, "only tunnels here", http.StatusNotImplemented)
			return
		}
		tunnels.Add(1)
		far, err := net.Dial("tcp", r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer far.Close()
		near, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer near.Close()
		if _, err := io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
			return
		}
		go func() {
			defer far.Close()
			_, _ = io.Copy(far, near) // ends with the tunnel
		}()
		_, _ = io.Copy(near, far)
	}))
	defer proxy.Close()
	m := modelAt(url, set)
	m.Config.Proxy = proxy.URL
	out, task := runOnce(t, m, set, Options{})
	if tunnels.Load() == 0 || task.Inference == nil || task.Inference.Answered != 8 {
		t.Errorf("%d tunnels, inference %+v; want 8 answers through the proxy", tunnels.Load(), task.Inference)
	}
	if got := manifestOf(t, out.Run).Extra["proxy of sim"]; got != proxy.URL {
		t.Errorf("the manifest names proxy %v, want %s", got, proxy.URL)
	}
	before := tunnels.Load()
	m.Config.Proxy = ""
	out, _ = runOnce(t, m, set, Options{})
	if got := manifestOf(t, out.Run).Extra["proxy of sim"]; got != nil || tunnels.Load() != before {
		t.Errorf("no proxy was asked for; the manifest names %v, %d further tunnels", got, tunnels.Load()-before)
	}
}
