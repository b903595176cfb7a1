package load

import (
	"math"
	"strings"
	"testing"
	"time"
)

// The mean time of an arrival is that of the schedule's own arrivals.
func TestSpan(t *testing.T) {
	const n = 50
	for _, a := range []Arrivals{
		{RequestRate: 4, Burstiness: math.Inf(1), Count: n},
		{RequestRate: 4, Count: n},
		{RampUp: "linear", RampStart: 1, RampEnd: 9, Burstiness: math.Inf(1), Count: n},
		{RampUp: "linear", RampEnd: 9, Burstiness: math.Inf(1), Count: n},
		{RampUp: "exponential", RampStart: 1, RampEnd: 9, Burstiness: math.Inf(1), Count: 20},
	} {
		s, err := a.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		last, i := 0.0, 0
		for at := range s.Arrivals() {
			if i++; i == n {
				last = at.Seconds()
				break
			}
		}
		if got := Span(s, n); math.Abs(got-last) > 1e-6*last {
			t.Errorf("%s: %g s, the arrivals have %g s", s, got, last)
		}
	}
	r := Replay{Times: []time.Duration{5 * time.Second, time.Second, 3 * time.Second}, Speed: 2, Period: 6 * time.Second}
	for n, want := range map[int]float64{1: 0, 2: 1, 3: 2, 4: 3, 6: 5} {
		if got := Span(r, n); got != want {
			t.Errorf("arrival %d of a replay: %g s, want %g", n, got, want)
		}
	}
}

func TestAbsurdSpansAreRefused(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		a      Arrivals
		count  int
		within time.Duration
		want   string // "" = fine
	}{
		{Arrivals{RequestRate: 1e-300}, 10, 0, "--request-rate 1e-300: the first request would be sent after"},
		{Arrivals{RequestRate: 1e-300, Burstiness: math.Inf(1)}, 10, 0, "at most 30 days can be planned"},
		{Arrivals{RequestRate: 1e-300}, 0, time.Minute, "the first request"},
		{Arrivals{RequestRate: 0.001}, 10000, 0, "sending the 10000 requests would take 116 days; at most 30 days"},
		{Arrivals{RequestRate: 0.001}, 10000, time.Minute, ""},
		{Arrivals{RequestRate: 0.001}, 1000, 0, ""},
		{Arrivals{RequestRate: math.Inf(1)}, 1 << 30, 0, ""},
		{Arrivals{RampUp: "linear", RampStart: 1e-300, RampEnd: 1}, 10, 0, "--ramp-up-start-rps 1e-300 to --ramp-up-end-rps 1"},
		{Arrivals{RampUp: "exponential", RampStart: 1e-12, RampEnd: 1e-11}, 10, time.Hour, "raise them"},
		{Arrivals{RampUp: "linear", RampEnd: 1e-9}, 10, 0, "years"},
		{Arrivals{RampUp: "linear", RampEnd: 10}, 1000, 0, ""},
	} {
		c.a.Count = c.count
		c.a.RampWithin = c.within
		s, err := c.a.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		err = CheckSpan(s, c.count, c.within)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v, %d requests within %s: %v, want %q", c.a, c.count, c.within, err, c.want)
		}
	}
	r := Replay{Times: []time.Duration{0, 20 * day}, Speed: 0.5}
	if err := CheckSpan(r, 2, 0); err == nil || !strings.Contains(err.Error(), "--replay-speed 0.5: sending the 2 requests would take 40 days") {
		t.Errorf("%v", err)
	}
	if err := CheckSpan(Replay{Times: r.Times, Speed: 1}, 2, 0); err != nil {
		t.Error(err)
	}
	if err := CheckSpan(Stages{List: []Stage{{0, 90 * day}}}, 2, 0); err != nil {
		t.Errorf("stages say how long they are: %v", err)
	}
}

func TestReplayTakes(t *testing.T) {
	for want, last := range map[string]time.Duration{"5.0 s": 10 * time.Second, "2.5 min": 5 * time.Minute, "1.5 h": 3 * time.Hour, "4.0 days": 8 * 24 * time.Hour} {
		if got := (Replay{Speed: 2, Times: []time.Duration{0, last}}).Takes(2); got != want {
			t.Errorf("%s: %s", want, got)
		}
	}
}
