package load

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sleeper naps more precisely than time.Sleep, whose timers are rounded up to
// the poller's millisecond: it sleeps in nanosleep on a thread of its own. The
// thread is taken at the first nap, because a goroutine that is bound to one is
// slower to wake when a slot becomes free: a load without a timetable never naps.
type sleeper struct{ bound bool }

func (s *sleeper) close() {
	if s.bound {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // 0 restores the default
		runtime.UnlockOSThread()
	}
}

func (s *sleeper) nap(d time.Duration) {
	if !s.bound {
		s.bound = true
		runtime.LockOSThread()
		// The default timer slack (50 µs) is added to every nap; ask for 1 µs.
		// Failing is harmless: naps are then a little longer, and the lag is measured.
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
	}
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil) // a nap cut short by a signal is taken again by the caller
}
