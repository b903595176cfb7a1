package tasks

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"ais_bench/models"
	"ais_bench/models/transport"
)

// An interrupt ends the wait for a server that is coming up, whether the list of
// models or the answer is waited for.
func TestInterruptEndsTheWaitForAService(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer srv.Close()
	for _, name := range []string{"", "m"} {
		stop := make(chan struct{})
		told := false
		note := func(string) {
			if !told { // the wait has begun
				told = true
				close(stop)
			}
		}
		cfg := models.Config{Abbr: "m", Type: "openai_chat", URL: srv.URL, Model: name, Stream: true}
		_, err := startService(context.Background(), cfg, transport.NewClock(), nil, nil, time.Hour, stop, note)
		if !errors.Is(err, errInterrupted) {
			t.Errorf("model %q: %v", name, err)
		}
	}
}
