package transport

import (
	"testing"
	"time"
)

func TestArrival(t *testing.T) {
	c := NewClock()
	mono, wall := c.both()
	at, ok := c.arrival(wall-1_000_000, -1<<60)
	if d := at - (mono - 1_000_000); !ok || d > stepNoise || d < -stepNoise {
		t.Errorf("data that lay for 1 ms arrived at %d, want %d", at, mono-1_000_000)
	}
	// A stamp that is a trifle before what was already known is put there.
	if at, ok := c.arrival(wall-1000, mono); !ok || at < mono {
		t.Errorf("arrival %d before %d", at, mono)
	}
	// Stamps that cannot be true are replaced by the time of the read.
	for _, stamp := range []int64{wall + int64(time.Hour), wall - int64(time.Hour)} {
		before := c.Now()
		if at, ok := c.arrival(stamp, 0); ok || at < before || at > c.Now() {
			t.Errorf("an impossible stamp gives %d, %v", at, ok)
		}
	}
	r := c.Report()
	if r.KernelReads != 2 || r.OtherReads != 2 || r.Rejected != 2 || r.Steps != 0 || r.StampSource != StampRead {
		t.Errorf("report %+v", r)
	}
}

// TestClockStep pretends that the wall clock has been set forward since the clock
// was made.
func TestClockStep(t *testing.T) {
	const step = int64(5 * time.Second)
	c := NewClock()
	c.offset.Add(-step)
	c.start -= step
	mono, wall := c.both()
	at, ok := c.arrival(wall-1000, 0)
	if d := at - mono; !ok || d > stepNoise || d < -stepNoise {
		t.Errorf("after the step an arrival is off by %v", time.Duration(d))
	}
	r := c.Report()
	if d := r.LargestStepNS - step; r.Steps != 1 || d > stepNoise || d < -stepNoise || r.OffsetEndNS-r.OffsetStartNS < step/2 {
		t.Errorf("report %+v", r)
	}
}

func TestDelayHistogram(t *testing.T) {
	var h delayHistogram
	last := -1
	for _, ns := range []int64{-5, 0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 1000, 1_000_000, 1 << 40, 1<<62 + 5} {
		b := delayBucket(ns)
		if b < last || b >= len(h.buckets) || ns > delayBound(b) || ns > 0 && float64(delayBound(b)) > float64(ns)*1.126 {
			t.Errorf("%d ns is in bucket %d, up to %d", ns, b, delayBound(b))
		}
		last = b
	}
	for i := range int64(1000) {
		h.add(i)
	}
	if p := h.quantile(0.5); p < 500 || p > 563 {
		t.Errorf("median %d", p)
	}
	if p := h.quantile(1); p != 999 || h.count() != 1000 {
		t.Errorf("maximum %d of %d", p, h.count())
	}
}
