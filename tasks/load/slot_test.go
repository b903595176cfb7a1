package load

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// loops are the two ways to keep one request in flight.
var loops = map[string]Config{"one slot": {MaxConcurrency: 1}, "one client": {Clients: 1}}

// TestSlotIsFreeWhenTheAnswerHasEnded: what is done about an answer afterwards
// keeps no request waiting. Were the slot held, no call would ever return.
func TestSlotIsFreeWhenTheAnswerHasEnded(t *testing.T) {
	for name, cfg := range loops {
		const n = 20
		started := make([]chan struct{}, n+1)
		for i := range started {
			started[i] = make(chan struct{})
		}
		close(started[n])
		cfg.Clock, cfg.Count = transport.NewClock(), n
		rep := Run(t.Context(), cfg, func(_ context.Context, s Slot) {
			close(started[s.Index])
			s.Done(cfg.Clock.Now())
			<-started[s.Index+1] // writing lasts until the next request is under way
		})
		if rep.Dispatched != n || rep.MaxInFlight != 1 {
			t.Errorf("%s: %d sent, %d in flight at once", name, rep.Dispatched, rep.MaxInFlight)
		}
	}
}

// TestLagIsFromTheSlotToTheSend: the times are the caller's, so that the figures
// are exact. Every request leaves 5 ms after it could have and lasts to 10 ms.
func TestLagIsFromTheSlotToTheSend(t *testing.T) {
	const ms = int64(time.Millisecond)
	for name, cfg := range loops {
		cfg.Clock, cfg.Count = transport.NewClock(), 8
		var ready int64 = -1
		rep := Run(t.Context(), cfg, func(_ context.Context, s Slot) {
			if ready < 0 || cfg.Clients > 0 {
				ready = s.Scheduled
			}
			s.Sent(ready + 5*ms)
			s.Sent(ready + 7*ms) // a retry
			end := ready + 10*ms
			ready = end
			s.Done(end)
			s.Done(end + ms)
		})
		for i := range rep.Lag {
			wait := int64(i) * 10 * ms
			if cfg.Clients > 0 { // a client's request is due when the answer before has ended
				wait = 0
			}
			if rep.Lag[i] != 5*ms || rep.SlotWait[i] != wait {
				t.Errorf("%s: request %d: lag %v, wait %v; want 5ms, %v", name, i, time.Duration(rep.Lag[i]), time.Duration(rep.SlotWait[i]), time.Duration(wait))
			}
		}
		if rep.Ended != rep.Started+80*ms {
			t.Errorf("%s: ended %v after the start, want 80ms", name, time.Duration(rep.Ended-rep.Started))
		}
	}
}

// TestUnwrittenIsBounded: a disk slower than the service costs lag, not memory.
func TestUnwrittenIsBounded(t *testing.T) {
	for name, cfg := range loops {
		cfg.Clock, cfg.Count = transport.NewClock(), 2000
		bound := maxUnwritten(cfg)
		var started atomic.Int64
		full, release := make(chan struct{}), make(chan struct{})
		go func() {
			<-full
			if n := started.Load(); n > int64(bound)+1 {
				t.Errorf("%s: %d requests were sent before any was written, with a bound of %d", name, n, bound)
			}
			close(release)
		}()
		rep := Run(t.Context(), cfg, func(_ context.Context, s Slot) {
			if started.Add(1) == int64(bound)+1 {
				close(full) // the slot of the last one within the bound was given back
			}
			s.Done(cfg.Clock.Now())
			<-release
		})
		if rep.Dispatched != 2000 {
			t.Errorf("%s: %d sent", name, rep.Dispatched)
		}
	}
}

// TestCooldownOfEveryLoop: so many requests follow, whatever ends the measured part.
func TestCooldownOfEveryLoop(t *testing.T) {
	const short = 300 * time.Millisecond // and long beside what keeps the first request of a busy machine
	for name, cfg := range map[string]Config{
		"clients by count":    {Clients: 3, Count: 10},
		"clients by time":     {Clients: 3, Duration: short},
		"slots by time":       {MaxConcurrency: 2, Duration: short},
		"schedule by time":    {Schedule: Constant{Rate: 1000}, Duration: short},
		"schedule by count":   {Schedule: Constant{Rate: 10000}, Count: 10},
		"count before time":   {Clients: 3, Count: 10, Duration: time.Hour},
		"a slow, capped load": {Schedule: Constant{Rate: 1000}, MaxConcurrency: 1, Duration: short},
	} {
		cfg.Clock, cfg.Cooldown, cfg.Phase = transport.NewClock(), 4, outputs.PhaseMeasured
		var mu sync.Mutex
		phases := map[outputs.Phase]int{}
		last, first := -1, 1<<30
		rep := Run(t.Context(), cfg, func(_ context.Context, s Slot) {
			mu.Lock()
			phases[s.Phase]++
			if s.Phase == outputs.PhaseMeasured {
				last = max(last, s.Index)
			} else {
				first = min(first, s.Index)
			}
			mu.Unlock()
			time.Sleep(time.Millisecond)
		})
		m := phases[outputs.PhaseMeasured]
		if phases[outputs.PhaseCooldown] != 4 || m != rep.Measured || rep.Dispatched != m+4 || m == 0 || cfg.Count > 0 && m != cfg.Count || last > first || rep.Stopped {
			t.Errorf("%s: %v of %+v; the last measured is %d, the first of the cool-down %d", name, phases, rep.Dispatched, last, first)
		}
	}
}

// TestCutOffWhileDraining: everything had been sent, but not everything ended.
func TestCutOffWhileDraining(t *testing.T) {
	for _, c := range []struct {
		drain time.Duration
		cut   bool
	}{{time.Millisecond, true}, {time.Hour, false}} {
		stop := make(chan struct{})
		rep := Run(t.Context(), Config{Clock: transport.NewClock(), Count: 1, Stop: stop, Drain: c.drain}, func(ctx context.Context, s Slot) {
			close(stop)
			if c.cut {
				<-ctx.Done()
			}
		})
		if rep.Stopped != c.cut {
			t.Errorf("with %s to drain: stopped %v, want %v", c.drain, rep.Stopped, c.cut)
		}
	}
}

// TestNothingIsWaitedForAtTheEnd: the arrival after the last request is nobody's.
func TestNothingIsWaitedForAtTheEnd(t *testing.T) {
	rep := Run(t.Context(), Config{Clock: transport.NewClock(), Schedule: Constant{Rate: 1e-5}, Count: 1}, func(context.Context, Slot) {})
	if rep.Dispatched != 1 {
		t.Errorf("%d sent", rep.Dispatched)
	}
}
