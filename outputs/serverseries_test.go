package outputs

import (
	"errors"
	"io/fs"
	"reflect"
	"testing"
)

// A later session adds its samples to those of earlier ones; one that breaks off
// leaves the file as it was.
func TestServerSeriesOfSessions(t *testing.T) {
	r, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.ServerWatches("m", "d"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("nothing was watched: %v", err)
	}
	r.SetRedactor(NewRedactor("sk-secret-value"))
	session := func(n int, samples ...ServerSample) *ServerWriter {
		w, err := r.ServerWriter("m", "d")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(samples); err != nil {
			t.Fatal(err)
		}
		return w
	}
	a := ServerSample{T: 1, Session: 1, Source: "s", Series: "requests_running", Metric: "vllm:num_requests_running", Labels: `engine="0"`, Value: 3}
	b := ServerSample{T: 2, Session: 2, Source: "s", Series: "ttft_bucket", Metric: "m", Labels: `le="+Inf"`, Value: 0.5}
	if err := session(1, a).Close(ServerWatch{Session: 1, Start: 1, Sources: []ServerSource{{Name: "s", Error: "sk-secret-value refused"}}}); err != nil {
		t.Fatal(err)
	}
	session(2, b).Abort()
	if err := session(2, b).Close(ServerWatch{Session: 2, Start: 2}); err != nil {
		t.Fatal(err)
	}
	var got []ServerSample
	for s, err := range r.ServerSamples("m", "d") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s)
	}
	if !reflect.DeepEqual(got, []ServerSample{a, b}) {
		t.Errorf("samples %+v", got)
	}
	w, err := r.ServerWatches("m", "d")
	if err != nil || len(w) != 2 || w[1].Start != 2 || w[0].Sources[0].Error != "[redacted] refused" {
		t.Errorf("watches %+v, %v", w, err)
	}
	if pairs, err := r.Pairs(); err != nil || len(pairs) != 0 {
		t.Errorf("the server's file counts as records: %v, %v", pairs, err)
	}
}
