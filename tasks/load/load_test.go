package load

import (
	"context"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ais_bench/models/transport"
	"ais_bench/outputs"
)

func take(s Schedule, n int) []time.Duration {
	var out []time.Duration
	for t := range s.Arrivals() {
		if len(out) == n {
			break
		}
		out = append(out, t)
	}
	return out
}

func schedules() []Schedule {
	return []Schedule{
		AllAtOnce{}, Constant{Rate: 50}, Poisson(50, 7), Gamma{Rate: 50, Burstiness: 0.25, Seed: 7}, Gamma{Rate: 50, Burstiness: 9, Seed: 7},
		Ramp{Start: 10, End: 100, Count: 500, Burstiness: 1, Seed: 7}, Ramp{Start: 10, End: 100, Count: 500, Exponential: true, Burstiness: math.Inf(1), Seed: 7},
		Stages{List: []Stage{{20, 10 * time.Second}, {0, 5 * time.Second}, {100, 10 * time.Second}}, Seed: 7},
		Replay{Times: []time.Duration{3e9, 1e9, 2e9}, Speed: 2},
		Rescaled{Of: Poisson(50, 7), Count: 100, Rate: 50},
	}
}

func TestSchedulesAreMonotonicAndRepeatable(t *testing.T) {
	for _, s := range schedules() {
		a, b := take(s, 2000), take(s, 2000)
		if len(a) == 0 {
			t.Errorf("%s: no arrivals", s)
		}
		for i := range a {
			if a[i] != b[i] {
				t.Fatalf("%s: arrival %d is %v, then %v", s, i, a[i], b[i])
			}
			if i > 0 && a[i] < a[i-1] || a[i] < 0 {
				t.Fatalf("%s: arrival %d at %v after %v", s, i, a[i], a[i-1])
			}
		}
	}
}

func TestSeedsDiffer(t *testing.T) {
	a, b := take(Poisson(10, 1), 5), take(Poisson(10, 2), 5)
	if a[0] == b[0] && a[4] == b[4] {
		t.Error("two seeds give the same arrivals")
	}
}

func TestGammaMeanAndVariation(t *testing.T) {
	for _, b := range []float64{0.25, 1, 4} {
		times := take(Gamma{Rate: 100, Burstiness: b, Seed: 3}, 40000)
		var sum, sq float64
		for i := range times {
			g := times[i].Seconds()
			if i > 0 {
				g -= times[i-1].Seconds()
			}
			sum += g
			sq += g * g
		}
		n := float64(len(times))
		mean := sum / n
		cv := math.Sqrt(sq/n-mean*mean) / mean
		if math.Abs(mean-0.01) > 0.0005 {
			t.Errorf("burstiness %g: mean gap %g s, want 0.01", b, mean)
		}
		if want := 1 / math.Sqrt(b); math.Abs(cv-want) > 0.05*want {
			t.Errorf("burstiness %g: CV %g, want %g", b, cv, want)
		}
	}
}

func TestExactTimes(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		s    Schedule
		want []time.Duration
	}{
		{Constant{Rate: 10}, []time.Duration{0, 100 * ms, 200 * ms}},
		{Constant{Rate: 10, Wait: true}, []time.Duration{100 * ms, 200 * ms, 300 * ms}},
		{Replay{Times: []time.Duration{3 * time.Second, time.Second, 2 * time.Second}, Speed: 2}, []time.Duration{0, 500 * ms, 1000 * ms}},
		{Ramp{Start: 1, End: 3, Count: 3, Burstiness: math.Inf(1)}, []time.Duration{1000 * ms, 1500 * ms, 1500*ms + time.Second/3}},
		{Ramp{Start: 1, End: 4, Count: 3, Exponential: true, Burstiness: math.Inf(1)}, []time.Duration{1000 * ms, 1500 * ms, 1750 * ms}},
	} {
		got := take(c.s, len(c.want))
		for i := range c.want {
			if d := got[i] - c.want[i]; d < -time.Microsecond || d > time.Microsecond {
				t.Errorf("%s: arrival %d at %v, want %v", c.s, i, got[i], c.want[i])
			}
		}
	}
	r := take(Rescaled{Of: Poisson(5, 1), Count: 40, Rate: 5}, 100)
	if len(r) != 40 || (r[39]-8*time.Second).Abs() > time.Microsecond {
		t.Errorf("rescaled: %d arrivals, last at %v; want 40, 8s", len(r), r[len(r)-1])
	}
}

// TestRampOverATime: as many requests as bring the rate to its end with the run,
// against the closed forms D·(e−s)/ln(e/s) and D·ln(e/s)/(1/s − 1/e).
func TestRampOverATime(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		start, end  float64
		exponential bool
		d           time.Duration
	}{{1, 10, false, time.Minute}, {1, 10, true, time.Minute}, {0, 20, false, time.Minute}, {5, 5, false, 10 * time.Second},
		{5, 5, true, 10 * time.Second}, {200, 3000, false, 5 * time.Minute}, {200, 3000, true, 5 * time.Minute}, {0.1, 1, false, time.Second}} {
		a := Arrivals{RampUp: "linear", RampStart: c.start, RampEnd: c.end, RampWithin: c.d, Burstiness: inf}
		if c.exponential {
			a.RampUp = "exponential"
		}
		s, err := a.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		r := s.(Ramp)
		times := take(r, r.Count+1)
		if last, next := times[r.Count-1], times[r.Count]; r.Count > 1 && last > c.d+time.Microsecond || next+seconds(2/c.end) <= c.d && c.start > 0 {
			t.Errorf("%s in %s: request %d of %d is due at %s, the next at %s", r, c.d, r.Count, r.Count, last, next)
		}
		if rate := r.rate(r.Count - 1); r.Count > 1 && math.Abs(rate-c.end) > 1e-9*c.end {
			t.Errorf("%s: the last request comes at %g requests/s", r, rate)
		}
		want := c.d.Seconds() * (c.end - c.start) / math.Log(c.end/c.start)
		if c.exponential {
			want = c.d.Seconds() * math.Log(c.end/c.start) / (1/c.start - 1/c.end)
		}
		if c.start > 0 && c.start < c.end && math.Abs(float64(r.Count)-want) > 0.01*want+1 {
			t.Errorf("%s in %s: the closed form has %g requests", r, c.d, want)
		}
	}
	// Sums and closed forms agree where one takes over from the other.
	for _, r := range []Ramp{{Start: 3, End: 40}, {Start: 3, End: 40, Exponential: true}, {End: 40}, {Start: 4, End: 4, Exponential: true}} {
		step := r.span(exactSpan+1) - r.span(exactSpan)
		if step <= 0 || step > 1 {
			t.Errorf("%s: request %d is due %g s after the one before", r, exactSpan+1, step)
		}
	}
	for _, c := range []struct {
		a    Arrivals
		want int
	}{
		{Arrivals{Count: 50}, 50},
		{Arrivals{RampWithin: 10 * time.Second}, 100},
		{Arrivals{Count: 50, RampWithin: 10 * time.Second}, 50}, // whichever ends the run first
		{Arrivals{Count: 500, RampWithin: 10 * time.Second}, 100},
		{Arrivals{Count: 50, RampFor: 20 * time.Second}, 200}, // the run sees its first quarter
	} {
		c.a.RampUp, c.a.RampStart, c.a.RampEnd = "linear", 10, 10
		s, err := c.a.Schedule()
		if err != nil || s.(Ramp).Count != c.want {
			t.Errorf("%+v: %v, %v; want a ramp over %d", c.a, s, err, c.want)
		}
	}
}

func TestReplayAgainAndAgain(t *testing.T) {
	r := Replay{Times: []time.Duration{7e9, 5e9, 6e9}, Speed: 2, Period: 4 * time.Second}
	want := []time.Duration{0, 500e6, 1e9, 2e9, 2500e6, 3e9, 4e9}
	for i, at := range take(r, len(want)) {
		if at != want[i] {
			t.Errorf("arrival %d at %s, want %s", i, at, want[i])
		}
	}
	if n := len(take(Replay{Speed: 1}, 5)) + len(take(Replay{Speed: 1, Period: 1}, 5)); n != 0 {
		t.Errorf("a replay of nothing has %d arrivals", n)
	}
}

// TestCountedArrivalsEndOnTime: the last of n requests is due at n/R for every
// burstiness; an open run with constant gaps has R requests in every second.
func TestCountedArrivalsEndOnTime(t *testing.T) {
	for _, burstiness := range []float64{0.3, 1, 8, math.Inf(1)} {
		s, err := Arrivals{RequestRate: 20, Burstiness: burstiness, Count: 10, Seed: 4}.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		got := take(s, 10)
		if d := got[9] - 500*time.Millisecond; d.Abs() > time.Microsecond || got[0] == 0 {
			t.Errorf("burstiness %g: from %v to %v, want a first gap and the last at 500ms", burstiness, got[0], got[9])
		}
	}
	s, err := Arrivals{RequestRate: 20, Burstiness: math.Inf(1)}.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, at := range take(s, 100) {
		if at < time.Second {
			n++
		}
	}
	if n != 20 {
		t.Errorf("%d requests in the first second, want 20", n)
	}
}

func TestArrivalsErrors(t *testing.T) {
	for _, a := range []Arrivals{
		{RequestRate: -1}, {Burstiness: -1, RequestRate: 1}, {RampUp: "lin"}, {RampUp: "linear", RequestRate: 3, RampEnd: 2, Count: 1},
		{RampUp: "exponential", RampEnd: 3, Count: 5}, {RampUp: "linear", RampStart: 5, RampEnd: 3, Count: 5}, {RampUp: "linear", RampStart: 1, RampEnd: 3},
	} {
		if s, err := a.Schedule(); err == nil {
			t.Errorf("%+v: got %s, want an error", a, s)
		}
	}
	for _, a := range []Arrivals{{}, {RequestRate: math.Inf(1)}} {
		if s, err := a.Schedule(); err != nil || s != (AllAtOnce{}) {
			t.Errorf("%+v: %v, %v; want all at once", a, s, err)
		}
	}
}

func TestParseStages(t *testing.T) {
	got, err := ParseStages("5x30s, 0x1m")
	if err != nil || len(got) != 2 || got[0] != (Stage{5, 30 * time.Second}) || got[1] != (Stage{0, time.Minute}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"5", "x3s", "-1x3s", "infx3s", "5x-3s", "5x0s", "5xfoo"} {
		if _, err := ParseStages(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestConcurrencyCapIsNeverExceeded(t *testing.T) {
	var live, peak atomic.Int64
	seen := make([]atomic.Int32, 300)
	rep := Run(context.Background(), Config{Clock: transport.NewClock(), Count: 300, MaxConcurrency: 7}, func(_ context.Context, s Slot) {
		n := live.Add(1)
		for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
		}
		seen[s.Index].Add(1)
		time.Sleep(200 * time.Microsecond)
		live.Add(-1)
	})
	if rep.Dispatched != 300 || peak.Load() > 7 || rep.MaxInFlight > 7 {
		t.Errorf("dispatched %d with at most %d (report: %d) in flight; want 300, ≤ 7", rep.Dispatched, peak.Load(), rep.MaxInFlight)
	}
	for i := range seen {
		if seen[i].Load() != 1 {
			t.Fatalf("request %d was sent %d times", i, seen[i].Load())
		}
	}
	if len(rep.Lag) != 300 || len(rep.SlotWait) != 300 || rep.SlotWait[299] <= rep.SlotWait[0] {
		t.Errorf("the wait for a slot is not reported: %d lags, last wait %d", len(rep.Lag), rep.SlotWait[299])
	}
}

func TestScheduledTimesSurviveTheCap(t *testing.T) {
	clock := transport.NewClock()
	var mu sync.Mutex
	at := map[int]int64{}
	rep := Run(context.Background(), Config{Clock: clock, Schedule: Constant{Rate: 1000}, Count: 20, MaxConcurrency: 1}, func(_ context.Context, s Slot) {
		mu.Lock()
		at[s.Index] = s.Scheduled
		mu.Unlock()
		time.Sleep(3 * time.Millisecond)
	})
	for i := range 20 {
		if want := rep.Started + int64(i)*1e6; at[i] != want {
			t.Errorf("request %d scheduled at %d, want %d: the schedule must not wait for the service", i, at[i], want)
		}
	}
}

func TestCooldownFollowsTheMeasuredRequests(t *testing.T) {
	var mu sync.Mutex
	phases := map[outputs.Phase][]int{}
	rep := Run(context.Background(), Config{Clock: transport.NewClock(), Count: 10, Cooldown: 3, MaxConcurrency: 2, Phase: outputs.PhaseMeasured}, func(_ context.Context, s Slot) {
		mu.Lock()
		phases[s.Phase] = append(phases[s.Phase], s.Index)
		mu.Unlock()
	})
	if rep.Dispatched != 13 || len(phases[outputs.PhaseMeasured]) != 10 || len(phases[outputs.PhaseCooldown]) != 3 {
		t.Errorf("dispatched %d, phases %v; want 10 measured and 3 of cool-down", rep.Dispatched, phases)
	}
	for _, i := range phases[outputs.PhaseCooldown] {
		if i < 10 {
			t.Errorf("request %d is cool-down, before the measured ones are through", i)
		}
	}
}

func TestStopDrainsThenCancels(t *testing.T) {
	stop := make(chan struct{})
	var started, cancelled atomic.Int64
	rep := Run(context.Background(), Config{Clock: transport.NewClock(), Count: 1000, MaxConcurrency: 4, Stop: stop, Drain: 20 * time.Millisecond},
		func(ctx context.Context, s Slot) {
			if started.Add(1) == 4 {
				close(stop)
			}
			<-ctx.Done() // never finishes by itself
			cancelled.Add(1)
		})
	if !rep.Stopped || rep.Dispatched != 4 || cancelled.Load() != 4 {
		t.Errorf("stopped %v, dispatched %d, cancelled %d; want true, 4, 4", rep.Stopped, rep.Dispatched, cancelled.Load())
	}
}

func TestCancelledContextEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	rep := Run(ctx, Config{Clock: transport.NewClock(), Schedule: Constant{Rate: 1}, Count: 1000}, func(context.Context, Slot) { cancel() })
	if !rep.Stopped || rep.Dispatched != 1 {
		t.Errorf("stopped %v, dispatched %d; want true, 1", rep.Stopped, rep.Dispatched)
	}
}

func TestPressureKeepsClientsBusy(t *testing.T) {
	var perClient [5]atomic.Int64
	var live, peak atomic.Int64
	rep := Run(context.Background(), Config{Clock: transport.NewClock(), Clients: 5, Count: 500, Duration: time.Hour}, func(_ context.Context, s Slot) {
		n := live.Add(1)
		for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
		}
		perClient[s.Client].Add(1)
		time.Sleep(50 * time.Microsecond)
		live.Add(-1)
	})
	total := int64(0)
	for i := range perClient {
		if perClient[i].Load() == 0 {
			t.Errorf("client %d sent nothing", i)
		}
		total += perClient[i].Load()
	}
	if total != 500 || rep.Dispatched != 500 || peak.Load() > 5 {
		t.Errorf("sent %d (report %d) with up to %d clients; want 500 with 5", total, rep.Dispatched, peak.Load())
	}
}

// TestPressureKnowsThatItWasInterrupted: the interrupt comes when all clients
// have long been started.
func TestPressureKnowsThatItWasInterrupted(t *testing.T) {
	stop := make(chan struct{})
	var n atomic.Int64
	rep := Run(context.Background(), Config{Clock: transport.NewClock(), Clients: 2, Duration: time.Hour, Stop: stop}, func(context.Context, Slot) {
		time.Sleep(time.Millisecond)
		if n.Add(1) == 20 {
			close(stop)
		}
	})
	if !rep.Stopped {
		t.Errorf("an interrupted run of %d requests counts as complete", rep.Dispatched)
	}
}

func TestDurationEndsAnOpenSchedule(t *testing.T) {
	var n atomic.Int64
	rep := Run(context.Background(), Config{Clock: transport.NewClock(), Schedule: Constant{Rate: 1000}, Duration: 25 * time.Millisecond}, func(context.Context, Slot) { n.Add(1) })
	if rep.Dispatched > 25 || int64(rep.Dispatched) != n.Load() {
		t.Errorf("dispatched %d in 25 ms at 1000/s (ran %d); want at most 25", rep.Dispatched, n.Load())
	}
	// However busy the machine: two arrivals within the hour, none waited for after it.
	n.Store(0)
	rep = Run(context.Background(), Config{Clock: transport.NewClock(), Schedule: Replay{Times: []time.Duration{0, 1e6, 2 * time.Hour}, Speed: 1}, Duration: time.Hour}, func(context.Context, Slot) { n.Add(1) })
	if rep.Dispatched != 2 || n.Load() != 2 {
		t.Errorf("dispatched %d (ran %d), want the two that are due in time", rep.Dispatched, n.Load())
	}
	ended := Run(context.Background(), Config{Clock: transport.NewClock(), Schedule: finite{3}}, func(context.Context, Slot) {})
	if ended.Dispatched != 3 {
		t.Errorf("a schedule of 3 arrivals dispatched %d", ended.Dispatched)
	}
}

type finite struct{ n int }

func (f finite) String() string { return "finite" }
func (f finite) Arrivals() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for range f.n {
			if !yield(0) {
				return
			}
		}
	}
}
