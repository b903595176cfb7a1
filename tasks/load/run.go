package load

import (
	"context"
	"runtime"
	"sync"
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
	// Cooldown is how many requests follow those that Count and Duration ask for,
	// by the same schedule or from the same clients, in phase cooldown, so that the
	// last measured ones end under load.
	Cooldown int

	// MaxConcurrency bounds requests in flight; 0 = no bound. A request that is
	// due while all slots are taken waits with its Scheduled time kept.
	MaxConcurrency int

	// Clients > 0 is the closed loop of --pressure: that many clients send one
	// request after the other for Duration (or until Count requests were sent);
	// client k starts at the k-th arrival of Schedule (the ramp-in). A request
	// is scheduled when its client is ready for it: when the answer before ended.
	Clients int

	// Stop, when closed, ends dispatching; requests in flight have Drain to
	// finish, then their context is cancelled. nil = never.
	Stop <-chan struct{}
	// Drain bounds the wait for requests in flight after Stop; 0 = no bound.
	Drain time.Duration
}

// Slot is one request to send. The function that Run calls tells it, from its
// own goroutine, when the request was sent and when its answer ended; where it
// does not, the time of the call and that of the return are taken.
type Slot struct {
	Index     int   // 0-based within the phase, in dispatch order
	Scheduled int64 // ns on the run's clock
	Client    int   // of a closed loop; else 0
	Phase     outputs.Phase

	f *flight
}

// Sent tells when the request left, in ns on the run's clock. The first call
// counts: a retry is no second request.
func (s Slot) Sent(at int64) {
	if s.f != nil && !s.f.left {
		s.f.left, s.f.sent = true, at
	}
}

// Done tells when the answer ended, in ns on the run's clock: from then on the
// slot was free, whatever is still to be done about what came. The first call
// counts. It blocks while too many ended requests are unwritten, which shows as
// lag of the requests behind.
func (s Slot) Done(at int64) {
	if s.f != nil {
		s.f.end(at)
	}
}

// Report is what dispatching was like; all durations in ns.
type Report struct {
	Started, Ended int64 // on the run's clock; Ended is the end of the last answer
	Dispatched     int   // cool-down included
	Measured       int   // cool-down not included
	Stopped        bool  // Stop or a cancelled context kept requests from being sent or cut some off
	MaxInFlight    int64
	// Lag is, per request in dispatch order, how late the client itself was: sent −
	// max(scheduled, slot free). It is the client's error; making the request's
	// bytes, and whatever was left to do about the answer before it, is in it.
	Lag []int64
	// SlotWait is, per request in dispatch order, how long it waited for a slot
	// below the concurrency cap. It is the service's slowness, seen by the user.
	SlotWait []int64
}

// maxUnwritten bounds the requests that have ended but that do has not returned
// from, so that a disk slower than the service costs lag and not memory.
func maxUnwritten(cfg Config) int { return max(1024, 2*max(cfg.MaxConcurrency, cfg.Clients)) }

// maxPresized bounds the report's lists that are made in one piece.
const maxPresized = 1 << 22

// Run dispatches do for every request of cfg, each in a goroutine of its own,
// and returns when all calls have returned. do must return when its context is
// cancelled.
func Run(ctx context.Context, cfg Config, do func(context.Context, Slot)) Report {
	if cfg.Schedule == nil {
		cfg.Schedule = AllAtOnce{}
	}
	inflight, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &runner{cfg: cfg, do: do, ctx: inflight, zero: cfg.Clock.Now(), done: ctx.Done(), unwritten: make(chan struct{}, maxUnwritten(cfg))}
	if n := cfg.Count + cfg.Cooldown; cfg.Count > 0 { // growing a large one would hold requests up
		r.report.Lag, r.report.SlotWait = make([]int64, 0, min(n, maxPresized)), make([]int64, 0, min(n, maxPresized))
	}
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
		r.closedLoop()
	} else {
		r.openLoop()
	}
	r.calls.Wait()
	close(finished)
	<-watched
	r.report.Started = r.zero
	if r.report.Dispatched == 0 {
		r.report.Ended = cfg.Clock.Now()
	}
	return r.report
}

type runner struct {
	cfg       Config
	do        func(context.Context, Slot)
	ctx       context.Context // of the requests
	zero      int64
	done      <-chan struct{}
	unwritten chan struct{} // a token for every call that has ended and not returned
	calls     sync.WaitGroup

	mu     sync.Mutex // guards everything below
	report Report
	live   int64
	cool   int // cool-down requests dispatched
}

// flight is one request from its dispatch to its end.
type flight struct {
	r     *runner
	n     int   // its place in the report
	ready int64 // when it could have been sent: due, and a slot free
	sent  int64
	left  bool // sent is what the caller said
	ended bool
	free  func(at int64) // gives the slot back; nil = nobody waits for it
}

func (f *flight) end(at int64) {
	if f.ended {
		return
	}
	f.ended = true
	r := f.r
	r.unwritten <- struct{}{}
	r.mu.Lock()
	r.live--
	r.report.Lag[f.n] = max(f.sent-f.ready, 0)
	r.report.Ended = max(r.report.Ended, at)
	if r.ctx.Err() != nil {
		r.report.Stopped = true // cut off
	}
	r.mu.Unlock()
	if f.free != nil {
		f.free(at)
		// Whoever waited for the slot goes first: it is next on this processor, where
		// this goroutine would else go on for as long as writing takes.
		runtime.Gosched()
	}
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

func (r *runner) markStopped() {
	r.mu.Lock()
	r.report.Stopped = true
	r.mu.Unlock()
}

// cooling reports whether the measured requests are through. The caller holds mu.
func (r *runner) cooling(now int64) bool {
	return r.cool > 0 || r.cfg.Count > 0 && r.report.Measured >= r.cfg.Count ||
		r.cfg.Duration > 0 && now-r.zero >= int64(r.cfg.Duration)
}

// over reports whether everything that is to be sent has been.
func (r *runner) over() bool {
	now := r.cfg.Clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cooling(now) && r.cool >= r.cfg.Cooldown
}

// next gives the request that is sent at now, due at due and ready at ready its
// number and phase; false when none is to be sent any more.
func (r *runner) next(now, due, ready int64) (Slot, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Slot{Index: r.report.Dispatched, Scheduled: due, Phase: r.cfg.Phase}
	cooling := r.cooling(max(now, due))
	switch {
	case cooling && r.cool >= r.cfg.Cooldown:
		return s, false
	case cooling:
		r.cool++
		s.Phase = outputs.PhaseCooldown
	default:
		r.report.Measured++
	}
	s.f = &flight{r: r, n: r.report.Dispatched, ready: ready, sent: now}
	r.report.Dispatched++
	r.report.Lag = append(r.report.Lag, 0)
	r.report.SlotWait = append(r.report.SlotWait, ready-due)
	r.live++
	r.report.MaxInFlight = max(r.report.MaxInFlight, r.live)
	return s, true
}

// call runs one request; free is called with the time its slot became free.
func (r *runner) call(s Slot, free func(at int64)) {
	s.f.free = free
	r.calls.Add(1)
	go func() {
		defer r.calls.Done()
		r.do(r.ctx, s)
		if !s.f.ended {
			s.f.end(r.cfg.Clock.Now())
		}
		<-r.unwritten
	}()
}

// openLoop sends by the schedule, whatever the service does.
func (r *runner) openLoop() {
	// slots holds the free slots, each with the time it became free, so that the
	// client's own lateness can be told from the wait for the service.
	var slots chan int64
	var free func(int64)
	if r.cfg.MaxConcurrency > 0 {
		slots = make(chan int64, r.cfg.MaxConcurrency)
		for range r.cfg.MaxConcurrency {
			slots <- r.zero
		}
		free = func(at int64) { slots <- at }
	}
	var sleep sleeper
	defer sleep.close()
	for at := range r.cfg.Schedule.Arrivals() {
		due := r.zero + int64(at)
		// An arrival beyond the duration is nobody's; with a cool-down it may be one of that.
		if r.over() || r.cfg.Duration > 0 && at >= r.cfg.Duration && r.cfg.Cooldown == 0 {
			break
		}
		if !r.waitUntil(&sleep, due) {
			r.markStopped()
			break
		}
		ready := due
		switch slots {
		case nil: // no cap: only what has ended and is not written holds requests up
			select {
			case r.unwritten <- struct{}{}:
				<-r.unwritten
			case <-r.cfg.Stop:
			case <-r.done:
			}
		default:
			select {
			case freed := <-slots:
				ready = max(due, freed)
			case <-r.cfg.Stop:
			case <-r.done:
			}
		}
		if r.stopped() {
			r.markStopped()
			break
		}
		s, ok := r.next(r.cfg.Clock.Now(), due, ready)
		if !ok {
			break
		}
		r.call(s, free)
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

// closedLoop runs Config.Clients clients, each of which sends its next request
// when the answer to the one before has ended.
func (r *runner) closedLoop() {
	var clients sync.WaitGroup
	defer clients.Wait()
	k := 0
	var sleep sleeper
	defer sleep.close()
	for at := range r.cfg.Schedule.Arrivals() {
		due := r.zero + int64(at)
		if k == r.cfg.Clients || r.cfg.Duration > 0 && at >= r.cfg.Duration || r.over() {
			break
		}
		if !r.waitUntil(&sleep, due) {
			r.markStopped()
			break
		}
		client := k
		clients.Go(func() { r.client(client, due) })
		k++
	}
}

// client sends one request after the other; the first is due at ready.
func (r *runner) client(k int, ready int64) {
	free := make(chan int64, 1)
	for {
		if r.stopped() {
			if !r.over() {
				r.markStopped()
			}
			return
		}
		s, ok := r.next(r.cfg.Clock.Now(), ready, ready)
		if !ok {
			return
		}
		s.Client = k
		r.call(s, func(at int64) { free <- at })
		ready = <-free
	}
}
