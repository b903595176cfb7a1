//go:build linux

package simulator

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// sleeper waits until an instant with the precision of a kernel timer. The
// runtime's own timers are rounded to a millisecond while the process is
// otherwise idle, because its poller waits in milliseconds; a timerfd makes the
// poller return at the instant itself. One goroutine waits; others may call wake.
type sleeper struct {
	fd   int
	file *os.File
	buf  [8]byte
}

func newSleeper() *sleeper {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return &sleeper{fd: -1}
	}
	return &sleeper{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}
}

// arm makes the next wait end after d; at once when d is not positive.
func (s *sleeper) arm(d time.Duration) {
	if s.fd >= 0 {
		spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))}
		_ = unix.TimerfdSettime(s.fd, 0, &spec, nil)
	}
}

// wait returns when the armed time is over. Without a timerfd (no descriptors
// left) it sleeps for a millisecond, so that callers keep going.
func (s *sleeper) wait() {
	if s.fd >= 0 {
		if _, err := s.file.Read(s.buf[:]); err == nil {
			return
		}
	}
	time.Sleep(time.Millisecond)
}

// wake ends a wait of another goroutine now.
func (s *sleeper) wake() { s.arm(1) }

// close frees the descriptor; nobody may wait any more.
func (s *sleeper) close() {
	if s.file != nil {
		_ = s.file.Close()
	}
}

// until waits until clock reads at least at. The last few microseconds are not
// worth a system call.
func (s *sleeper) until(at int64, clock func() int64) {
	for {
		left := at - clock()
		if left <= 0 {
			return
		}
		if left < 3000 {
			continue
		}
		s.arm(time.Duration(left))
		s.wait()
	}
}
