//go:build !linux

package simulator

import "time"

// sleeper waits until an instant by the runtime's timers. One goroutine waits;
// others may call wake.
type sleeper struct {
	timer *time.Timer
	woken chan struct{}
}

func newSleeper() *sleeper {
	return &sleeper{timer: time.NewTimer(time.Hour), woken: make(chan struct{}, 1)}
}

// arm makes the next wait end after d; at once when d is not positive.
func (s *sleeper) arm(d time.Duration) { s.timer.Reset(max(d, 1)) }

// wait returns when the armed time is over or wake was called.
func (s *sleeper) wait() {
	select {
	case <-s.timer.C:
	case <-s.woken:
	}
}

// wake ends a wait of another goroutine now.
func (s *sleeper) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

func (s *sleeper) close() { s.timer.Stop() }

// until waits until clock reads at least at.
func (s *sleeper) until(at int64, clock func() int64) {
	for {
		left := at - clock()
		if left <= 0 {
			return
		}
		s.arm(time.Duration(left))
		s.wait()
	}
}
