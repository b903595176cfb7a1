//go:build !linux

package load

import "time"

// sleeper naps with the runtime's timers.
type sleeper struct{}

func (*sleeper) close()              {}
func (*sleeper) nap(d time.Duration) { time.Sleep(d) }
