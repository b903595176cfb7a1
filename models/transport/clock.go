// Package transport is the way to the server and back, built for measuring:
// HTTP/1.1 on connections of its own whose arrivals are stamped by the kernel,
// one goroutine a request (the caller's), no hidden limit and no hidden retry.
//
// A Client serves one origin. Client.Do sends a request and returns an
// Exchange as soon as the response header is there; Exchange.Next yields the
// body piece by piece as it arrives, each piece with its arrival time. net/http
// is not used on this path: its read loop adds two goroutines and two context
// switches to every connection, which at thousands of streams is most of the
// cost and all of the memory.
//
// HTTP/2 is never negotiated: multiplexing hides when a stream's bytes arrived.
package transport

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// Clock gives nanoseconds since the run's zero on the monotonic clock. One
// Clock serves a whole run: schedule, client and records share its zero.
type Clock struct {
	zero time.Time // carries the monotonic reading

	offset  atomic.Int64 // wall − monotonic, ns
	start   int64        // the offset when the clock was made
	stepMu  sync.Mutex
	steps   atomic.Int64
	largest atomic.Int64

	otherReads atomic.Int64
	rejected   atomic.Int64
	delays     delayHistogram
}

// stepNoise is how far two readings of the offset may lie apart without a step
// of the clock: a thread can be put aside between reading wall and monotonic
// time.
const stepNoise = 200_000 // ns

// NewClock starts a clock whose zero is now.
func NewClock() *Clock { return newClock(time.Now()) }

// NewClockAt goes on with an earlier run's clock: its zero is that wall time,
// from now on it is monotonic. What it shows of the time between the two is as
// good as the wall clock.
func NewClockAt(zero time.Time) *Clock {
	now := time.Now()
	return newClock(now.Add(zero.Round(0).Sub(now))) // Add keeps the monotonic reading
}

func newClock(zero time.Time) *Clock {
	c := &Clock{zero: zero}
	c.start = c.measureOffset()
	c.offset.Store(c.start)
	return c
}

// Now is the monotonic time since zero in nanoseconds.
func (c *Clock) Now() int64 { return int64(time.Since(c.zero)) }

// Zero is the wall time of the clock's zero, for the manifest.
func (c *Clock) Zero() time.Time { return c.zero }

// both reads the monotonic and the wall time together.
func (c *Clock) both() (mono, wall int64) {
	t := time.Now()
	return int64(t.Sub(c.zero)), t.UnixNano()
}

// measureOffset is the median of several readings of wall − monotonic, so that
// one interrupted reading does not matter.
func (c *Clock) measureOffset() int64 {
	var v [9]int64
	for i := range v {
		mono, wall := c.both()
		d := wall - mono
		j := i
		for ; j > 0 && v[j-1] > d; j-- {
			v[j] = v[j-1]
		}
		v[j] = d
	}
	return v[len(v)/2]
}

// arrival translates a kernel stamp (wall ns) of data that has just been read.
// notBefore is the earliest time that can be true (the previous arrival on the
// connection, or its making). ok is false when the stamp cannot be true, as
// after a step of the wall clock between arrival and read; at is then the
// time of the read.
func (c *Clock) arrival(stamp, notBefore int64) (at int64, ok bool) {
	mono, wall := c.both()
	offset := c.offset.Load()
	if d := wall - mono - offset; d > stepNoise || d < -stepNoise {
		offset = c.checkStep()
	}
	at = stamp - offset
	if at > mono || at < notBefore {
		if at > mono && at-mono < stepNoise || at < notBefore && notBefore-at < stepNoise {
			// Within the accuracy of the offset: true, only not to the nanosecond.
			at = min(max(at, notBefore), mono)
		} else {
			c.rejected.Add(1)
			c.otherReads.Add(1)
			return mono, false
		}
	}
	c.delays.add(mono - at)
	return at, true
}

// checkStep measures the offset again and counts a step if it has moved.
func (c *Clock) checkStep() int64 {
	c.stepMu.Lock()
	defer c.stepMu.Unlock()
	was, is := c.offset.Load(), c.measureOffset()
	if d := is - was; d > stepNoise || d < -stepNoise {
		c.steps.Add(1)
		if abs(d) > abs(c.largest.Load()) {
			c.largest.Store(d)
		}
		c.offset.Store(is)
		return is
	}
	return was
}

// Report is the state of the clock so far.
func (c *Clock) Report() ClockReport {
	end := c.checkStep()
	r := ClockReport{
		StampSource: StampRead, KernelReads: c.delays.count(), OtherReads: c.otherReads.Load(),
		OffsetStartNS: c.start, OffsetEndNS: end, Steps: c.steps.Load(), LargestStepNS: c.largest.Load(),
		Rejected: c.rejected.Load(),
	}
	if r.KernelReads > 0 {
		r.ReadDelayP50NS, r.ReadDelayP99NS, r.ReadDelayMaxNS = c.delays.quantile(0.5), c.delays.quantile(0.99), c.delays.max.Load()
	}
	if r.KernelReads > r.OtherReads {
		r.StampSource = StampKernel
	}
	return r
}

// delayHistogram counts durations in buckets of 1/8 of an octave.
type delayHistogram struct {
	buckets [64 * 8]atomic.Int64
	max     atomic.Int64
}

func (h *delayHistogram) add(ns int64) {
	h.buckets[delayBucket(ns)].Add(1)
	for m := h.max.Load(); ns > m && !h.max.CompareAndSwap(m, ns); m = h.max.Load() {
	}
}

func delayBucket(ns int64) int {
	if ns < 8 {
		return int(max(ns, 0))
	}
	e := bits.Len64(uint64(ns)) - 4 // ns>>e is 8..15
	return (e+1)*8 + int(ns>>e) - 8
}

// delayBound is the largest duration of a bucket.
func delayBound(b int) int64 {
	if b < 8 {
		return int64(b)
	}
	e := b/8 - 1
	return (int64(b%8)+9)<<e - 1
}

func (h *delayHistogram) count() (n int64) {
	for i := range h.buckets {
		n += h.buckets[i].Load()
	}
	return n
}

func (h *delayHistogram) quantile(q float64) int64 {
	want := int64(q * float64(h.count()))
	var n int64
	for i := range h.buckets {
		if n += h.buckets[i].Load(); n > want {
			return min(delayBound(i), h.max.Load())
		}
	}
	return h.max.Load()
}

func abs(v int64) int64 { return max(v, -v) }
