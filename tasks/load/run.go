package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// Config is one phase of a load run.
type Config struct {
	Clock    *transport.Clock
	Schedule Schedule // nil = AllAtOnce
	Phase    outputs.Phase

	Count    int           // requests; 0 = until Duration is over or the schedule ends
	Duration time.Duration // no arrival is dispatched after it; 0 = until Count
	// Cooldown is how many requests follow the Count measured ones by the same
	// schedule, in phase cooldown, so that the last measured ones end under load.
	Cooldown int

	// MaxConcurrency bounds requests in flight; 0 = no bound. A request that is
	// due while all slots are taken waits with its Scheduled time kept.
	MaxConcurrency int

	// Clients > 0 is the closed loop of --pressure: that many clients send one
	// request after the other for Duration (or until Count requests were sent);
	// client k starts at the k-th arrival of Schedule (the ramp-in). A request
	// is scheduled when its client is ready for it.
	Clients int

	// Stop, when closed, ends dispatching; requests in flight have Drain to
	// finish, then their context is cancelled. nil = never.
	Stop <-chan struct{}
	// Drain bounds the wait for requests in flight after Stop; 0 = no bound.
	Drain time.Duration
}

// Slot is one request to send.
type Slot struct {
	Index     int   // 0-based within the phase, in dispatch order
	Scheduled int64 // ns on the run's clock
	Client    int   // of a closed loop; else 0
	Phase     outputs.Phase
}

// Report is what dispatching was like; all durations in ns.
type Report struct {
	Started, Ended int64 // on the run's clock
	Dispatched     int
	Stopped        bool // ended by Stop or a cancelled context
	MaxInFlight    int64
	// Lag is, per request, how late the client itself was: dispatch time −
	// max(scheduled, slot free). It is the client's error.
	Lag []int64
	// SlotWait is, per request, how long it waited for a slot below the
	// concurrency cap. It is the service's slowness, seen by the user.
	SlotWait []int64
}

// Run dispatches do for every request of cfg, each in a goroutine of its own,
// and returns when all have ended. do must return when its context is cancelled.
func Run(ctx context.Context, cfg Config, do func(context.Context, Slot)) Report {
	if cfg.Schedule == nil {
		cfg.Schedule = AllAtOnce{}
	}
	r := &runner{cfg: cfg, do: do, zero: cfg.Clock.Now(), done: ctx.Done()}
	inflight, cancel := context.WithCancel(ctx)
	defer cancel()
	finished := make(chan struct{})
	watched := make(chan struct{})
	go func() { // after Stop, bound the drain
		defer close(watched)
		select {
		case <-finished:
			return
		case <-cfg.Stop:
		}
		if cfg.Drain <= 0 {
			return
		}
		t := time.NewTimer(cfg.Drain)
		defer t.Stop()
		select {
		case <-finished:
		case <-t.C:
			cancel()
		}
	}()
	if cfg.Clients > 0 {
		r.closedLoop(inflight)
	} else {
		r.openLoop(inflight)
	}
	r.inFlight.Wait()
	if cfg.Clients > 0 { // the clients go on long after the last of them was started
		r.report.Stopped = r.stopped()
	}
	close(finished)
	<-watched
	r.report.Started, r.report.Ended = r.zero, cfg.Clock.Now()
	r.report.MaxInFlight = r.peak.Load()
	return r.report
}

type runner struct {
	cfg  Config
	do   func(context.Context, Slot)
	zero int64
	done <-chan struct{}

	mu       sync.Mutex // guards report while clients run
	report   Report
	inFlight sync.WaitGroup
	live     atomic.Int64
	peak     atomic.Int64
}

// stopped reports whether dispatching must end.
func (r *runner) stopped() bool {
	select {
	case <-r.cfg.Stop:
		return true
	case <-r.done:
		return true
	default:
		return false
	}
}

func (r *runner) over(i int, now int64) bool {
	if r.cfg.Count > 0 && i >= r.cfg.Count+r.cfg.Cooldown {
		return true
	}
	return r.cfg.Duration > 0 && now-r.zero >= int64(r.cfg.Duration)
}

// start runs one request and keeps the count of those in flight.
func (r *runner) start(ctx context.Context, s Slot, after func()) {
	n := r.live.Add(1)
	for p := r.peak.Load(); n > p && !r.peak.CompareAndSwap(p, n); p = r.peak.Load() {
	}
	r.do(ctx, s)
	r.live.Add(-1)
	if after != nil {
		after()
	}
}

func (r *runner) openLoop(ctx context.Context) {
	// slots holds the free slots, each with the time it became free, so that the
	// client's own lateness can be told from the wait for the service.
	var slots chan int64
	if r.cfg.MaxConcurrency > 0 {
		slots = make(chan int64, r.cfg.MaxConcurrency)
		for range r.cfg.MaxConcurrency {
			slots <- r.zero
		}
	}
	sleep := newSleeper()
	defer sleep.close()
	i := 0
	for at := range r.cfg.Schedule.Arrivals() {
		due := r.zero + int64(at)
		if r.cfg.Duration > 0 && int64(at) >= int64(r.cfg.Duration) || r.over(i, r.cfg.Clock.Now()) {
			break
		}
		if !r.waitUntil(sleep, due) {
			r.report.Stopped = true
			break
		}
		ready := due
		if slots != nil {
			select {
			case free := <-slots:
				ready = max(due, free)
			case <-r.cfg.Stop:
			case <-r.done:
			}
			if r.stopped() {
				r.report.Stopped = true
				return
			}
			if r.over(i, r.cfg.Clock.Now()) {
				break
			}
		}
		now := r.cfg.Clock.Now()
		r.report.Lag = append(r.report.Lag, max(now-ready, 0))
		r.report.SlotWait = append(r.report.SlotWait, ready-due)
		r.report.Dispatched++
		s := Slot{Index: i, Scheduled: due, Phase: r.cfg.Phase}
		if r.cfg.Count > 0 && i >= r.cfg.Count {
			s.Phase = outputs.PhaseCooldown
		}
		r.inFlight.Add(1)
		go func() {
			defer r.inFlight.Done()
			r.start(ctx, s, func() {
				if slots != nil {
					slots <- r.cfg.Clock.Now()
				}
			})
		}()
		i++
	}
}

// waitUntil sleeps until due; false when dispatching has to stop.
func (r *runner) waitUntil(sleep *sleeper, due int64) bool {
	for {
		if r.stopped() {
			return false
		}
		left := due - r.cfg.Clock.Now()
		if left <= 0 {
			return true
		}
		// Short naps keep Ctrl-C responsive without a channel on the precise path.
		sleep.nap(min(time.Duration(left), 20*time.Millisecond))
	}
}

func (r *runner) closedLoop(ctx context.Context) {
	sleep := newSleeper()
	defer sleep.close()
	var next atomic.Int64
	k := 0
	for at := range r.cfg.Schedule.Arrivals() {
		if k == r.cfg.Clients || r.over(0, r.cfg.Clock.Now()) {
			break
		}
		due := r.zero + int64(at)
		if r.cfg.Duration > 0 && at >= r.cfg.Duration || !r.waitUntil(sleep, due) {
			break
		}
		client := k
		r.inFlight.Add(1)
		go func() {
			defer r.inFlight.Done()
			ready := due
			for {
				i := int(next.Add(1) - 1)
				now := r.cfg.Clock.Now()
				if r.stopped() || r.over(i, now) {
					return
				}
				r.mu.Lock()
				r.report.Dispatched++
				r.report.Lag = append(r.report.Lag, max(now-ready, 0))
				r.report.SlotWait = append(r.report.SlotWait, 0)
				r.mu.Unlock()
				r.start(ctx, Slot{Index: i, Scheduled: ready, Client: client, Phase: r.cfg.Phase}, nil)
				ready = r.cfg.Clock.Now()
			}
		}()
		k++
	}
}
