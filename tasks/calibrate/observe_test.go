package calibrate

import (
	"strings"
	"testing"
	"time"

	"ais_bench/outputs"
)

// TestObservedLoad: the load of a calibration is that of the run's measured
// requests, by hand.
func TestObservedLoad(t *testing.T) {
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	j, err := run.Journal("m", "d")
	if err != nil {
		t.Fatal(err)
	}
	const ms = int64(time.Millisecond)
	for i, r := range []outputs.Record{
		{Phase: outputs.PhaseWarmup, Sent: 0, End: 900 * ms, ChunkAt: []int64{0, 1}},
		{Sent: 0, End: 100 * ms, ChunkAt: []int64{10 * ms, 60 * ms}},                         // 1 gap in 50 ms
		{Sent: 50 * ms, End: 200 * ms, ChunkAt: []int64{10 * ms, 60 * ms, 85 * ms, 85 * ms}}, // 3 in 75 ms
		{Sent: 100 * ms, End: 300 * ms, ChunkAt: []int64{5 * ms}},                            // as the first ends
		{Sent: outputs.Never, End: 150 * ms},
		{Sent: 400 * ms, End: 500 * ms},
	} {
		r.Model, r.Dataset, r.SampleID = "m", "d", string(rune('a'+i))
		if r.Phase == "" {
			r.Phase = outputs.PhaseMeasured
		}
		if err := j.Append(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := Observe(run, []outputs.Pair{{Model: "m", Dataset: "d"}})
	if want := (Observed{Streams: 2, Rate: 32}); err != nil || got != want { // 4 gaps in 125 ms
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, c := range []struct {
		l       Observed
		streams int
		rate    float64
		from    string
	}{
		{Observed{2, 32}, 2, 32, "mean chunk rate"},
		{Observed{4, 0}, 4, 20, "no answer shows a chunk rate"},
		{Observed{9000, 5e6}, 5000, 1000, "(5000000/s), bounded to 1000/s; of 9000 streams 5000"},
	} {
		streams, rate, from := c.l.Load()
		if streams != c.streams || rate != c.rate || !strings.Contains(from, c.from) {
			t.Errorf("%+v: %d × %g, %s", c.l, streams, rate, from)
		}
	}
}
