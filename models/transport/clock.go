package transport

import "time"

// Clock gives nanoseconds since the run's zero on the monotonic clock. One
// Clock serves a whole run: schedule, client and records share its zero.
type Clock struct {
	zero time.Time // carries the monotonic reading
}

// NewClock starts a clock whose zero is now.
func NewClock() *Clock { return &Clock{zero: time.Now()} }

// Now is the monotonic time since zero in nanoseconds.
func (c *Clock) Now() int64 { return int64(time.Since(c.zero)) }

// Zero is the wall time of the clock's zero, for the manifest.
func (c *Clock) Zero() time.Time { return c.zero }
