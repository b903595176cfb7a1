package load

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sleeper naps more precisely than time.Sleep, whose timers are rounded up to
// the poller's millisecond: it sleeps in nanosleep on a thread of its own.
type sleeper struct{}

func newSleeper() *sleeper {
	runtime.LockOSThread()
	// The default timer slack (50 µs) is added to every nap; ask for 1 µs.
	// Failing is harmless: naps are then a little longer, and the lag is measured.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
	return &sleeper{}
}

func (*sleeper) close() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // 0 restores the default
	runtime.UnlockOSThread()
}

func (*sleeper) nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil) // a nap cut short by a signal is taken again by the caller
}
