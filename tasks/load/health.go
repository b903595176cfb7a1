package load

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"ais_bench/models"
	"ais_bench/models/transport"
)

// Bound is the verdict whether the client was the bottleneck.
type Bound string

// The verdicts.
const (
	BoundNo      Bound = "no"
	BoundSuspect Bound = "suspect" // a figure is out of the ordinary: look at it before trusting tails
	BoundYes     Bound = "yes"     // the figures describe the client as much as the service
)

// threshold is what a figure is compared with: at or above suspect (yes) it gives
// that verdict; the worst one wins. Zero means the figure never gives it.
type threshold struct {
	name, unit   string
	suspect, yes float64
	of           func(*Health) *float64
	why          string
}

// thresholds are those of the verdict. That of the lag depends on the answers.
func (h *Health) thresholds() []threshold {
	return []threshold{
		{"cpu_share", "of the available cores", 0.7, 0.9, func(h *Health) *float64 { return h.CPUShare }, "beyond 70 % goroutines queue for a core in bursts, at 90 % they always do"},
		h.ScheduleLagJudged.threshold(),
		{"gc_pause_max_ms", "ms", 10, 0, func(h *Health) *float64 { return h.GC.PauseMaxMS }, "nothing is sent or read during a pause"},
		{"goroutine_wait_p99_ms", "ms", 2, 20, func(h *Health) *float64 { return h.GoroutineWaitP99MS }, "runnable goroutines waited this long for a core"},
		{"open_files_share", "of the limit of open files", 0.9, 1, func(h *Health) *float64 { return h.OpenFilesShare }, "every stream is an open file, beyond the limit connections fail on this side"},
		{"setup_wait_max_ms", "ms", 1, 0, func(h *Health) *float64 { return h.SetupWait.Max }, "so long the client's own limit of connection set-ups held a request up, which is part of its TTFT"},
		{"read_delay_p99_ms", "ms", 5, 0, func(h *Health) *float64 { return h.ReadDelayP99MS }, "data lay this long in the socket before they were read (arrival times are the kernel's, so only later sends are affected)"},
	}
}

// Health is the client's own condition during a phase. Null is unknown. CPU,
// memory, files and the garbage collector are the whole process's: a simulator
// or other tasks inside it count.
type Health struct {
	ClientBound Bound     `json:"client_bound"` // no, suspect or yes
	Reasons     []Finding `json:"reasons"`      // the figures behind suspect and yes

	WallS      float64  `json:"wall_s"`
	Cores      int      `json:"cores"` // available to the process (cgroup limits included)
	CPUSeconds *float64 `json:"cpu_s"`
	CPUShare   *float64 `json:"cpu_share"` // cpu_s / (wall_s · cores)

	GC                 GCHealth `json:"gc"`
	GoroutinesMax      uint64   `json:"goroutines_max"`
	HeapMaxBytes       uint64   `json:"heap_max_bytes"`
	GoroutineWaitP99MS *float64 `json:"goroutine_wait_p99_ms"`
	OpenFilesMax       *int64   `json:"open_files_max"`   // sampled each second
	OpenFilesLimit     *uint64  `json:"open_files_limit"` // the soft limit
	OpenFilesShare     *float64 `json:"open_files_share"`

	ScheduleLag       Spread        `json:"schedule_lag_ms"`     // sent − max(scheduled, slot free): the client's error
	ScheduleLagJudged *LagJudgement `json:"schedule_lag_judged"` // nil without a lag
	SlotWait          Spread        `json:"slot_wait_ms"`        // wait for a slot below the concurrency cap: the service's slowness

	ConnectionsOpened  int64    `json:"connections_opened"`
	ConnectionsReused  int64    `json:"connections_reused"`
	ConnectionsMaxOpen int64    `json:"connections_max_open"` // since the client was made
	SetupWait          Spread   `json:"setup_wait_ms"`        // of measured requests that waited for a connection set-up slot; part of their TTFT
	Resends            int64    `json:"resends"`
	Fallbacks          int64    `json:"fallbacks"` // requests asked once more in another form, because the server refused an option
	StampSource        string   `json:"stamp_source"`
	KernelStampShare   *float64 `json:"kernel_stamp_share"` // of reads
	ReadDelayP99MS     *float64 `json:"read_delay_p99_ms"`  // kernel's stamp to read; since the run began, as the next
	ReadDelayMaxMS     *float64 `json:"read_delay_max_ms"`
	ClockSteps         int64    `json:"clock_steps"`
	CoalescedShare     *float64 `json:"coalesced_share"` // events that shared their read with an earlier one
}

// Finding is one figure that crossed its threshold.
type Finding struct {
	Figure    string  `json:"figure"`
	Value     float64 `json:"value"`
	Threshold float64 `json:"threshold"`
	Verdict   Bound   `json:"verdict"`
	Text      string  `json:"text"`
}

// GCHealth is what the garbage collector did.
type GCHealth struct {
	Cycles       int64    `json:"cycles"`
	PauseTotalMS float64  `json:"pause_total_ms"`
	PauseMaxMS   *float64 `json:"pause_max_ms"` // upper bound of the histogram's bucket
}

// Spread summarizes durations in ms; null for none.
type Spread struct {
	N   int      `json:"n"`
	P50 *float64 `json:"p50"`
	P99 *float64 `json:"p99"`
	Max *float64 `json:"max"`
}

// HealthInput is what the sampler cannot see by itself: running totals, taken
// when the phase starts and when it ends.
type HealthInput struct {
	Load       Report  // at the end
	SetupWaits []int64 // at the end: ns that requests of this phase waited for a connection set-up slot
	// FirstTokens are, at the end, the ns from the send of every request of this phase
	// that succeeded to its first token; to its end where it was not streamed.
	FirstTokens []int64
	Pool        models.PoolStats
	Clock       transport.ClockReport
	// Events and Coalesced count the events of the streams, and those of them
	// that shared their read with an earlier one.
	Events, Coalesced int64
}

// HealthSampler watches the process during a phase: Start, then Stop once. It
// costs one reading of the runtime's counters every interval.
type HealthSampler struct {
	before   HealthInput
	interval time.Duration
	begin    time.Time
	cpu      float64
	cpuOK    bool
	gc       debug.GCStats
	pauses   []uint64 // histogram counts at the start
	waits    []uint64

	mu         sync.Mutex // guards the maxima
	goroutines uint64
	heap       uint64
	files      int64
	filesKnown bool
	filesAt    time.Time // when they were last counted
	stop       chan struct{}
	stopped    sync.WaitGroup
}

// NewHealthSampler makes a sampler that reads the counters every interval;
// 0 = 100 ms.
func NewHealthSampler(interval time.Duration) *HealthSampler {
	if interval <= 0 {
		interval = 100 * time.Millisecond
	}
	return &HealthSampler{interval: interval, stop: make(chan struct{})}
}

const (
	pausesMetric     = "/sched/pauses/total/gc:seconds"
	waitsMetric      = "/sched/latencies:seconds"
	goroutinesMetric = "/sched/goroutines:goroutines"
	heapMetric       = "/memory/classes/heap/objects:bytes"
)

// Start begins watching. before are the totals of earlier phases and tasks,
// which are no part of this one.
func (s *HealthSampler) Start(before HealthInput) {
	s.before, s.begin = before, time.Now()
	s.cpu, s.cpuOK = processCPU()
	debug.ReadGCStats(&s.gc)
	_, s.pauses = readHistogram(pausesMetric)
	_, s.waits = readHistogram(waitsMetric)
	s.sample()
	s.stopped.Add(1)
	go func() {
		defer s.stopped.Done()
		t := time.NewTicker(s.interval)
		defer t.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-t.C:
				s.sample()
			}
		}
	}()
}

func (s *HealthSampler) sample() {
	m := []metrics.Sample{{Name: goroutinesMetric}, {Name: heapMetric}}
	metrics.Read(m)
	s.mu.Lock()
	defer s.mu.Unlock()
	if m[0].Value.Kind() == metrics.KindUint64 {
		s.goroutines = max(s.goroutines, m[0].Value.Uint64())
	}
	if m[1].Value.Kind() == metrics.KindUint64 {
		s.heap = max(s.heap, m[1].Value.Uint64())
	}
	// Counting may walk a directory of 10,000 entries: once a second is enough.
	if now := time.Now(); now.Sub(s.filesAt) >= time.Second {
		s.filesAt = now
		if n, ok := openFiles(); ok {
			s.files, s.filesKnown = max(s.files, n), true
		}
	}
}

// Stop ends watching and judges. Call it once, after Start.
func (s *HealthSampler) Stop(in HealthInput) Health {
	close(s.stop)
	s.stopped.Wait()
	s.filesAt = time.Time{}
	s.sample()
	h := Health{WallS: time.Since(s.begin).Seconds(), Cores: runtime.GOMAXPROCS(0), GoroutinesMax: s.goroutines, HeapMaxBytes: s.heap}
	if cpu, ok := processCPU(); ok && s.cpuOK {
		used := cpu - s.cpu
		h.CPUSeconds = &used
		if h.WallS > 0 {
			share := used / (h.WallS * float64(h.Cores))
			h.CPUShare = &share
		}
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	h.GC.Cycles = gc.NumGC - s.gc.NumGC
	h.GC.PauseTotalMS = float64(gc.PauseTotal-s.gc.PauseTotal) / 1e6
	h.GC.PauseMaxMS = runtimeQuantile(pausesMetric, s.pauses, 1)
	h.GoroutineWaitP99MS = runtimeQuantile(waitsMetric, s.waits, 0.99)
	if s.filesKnown {
		h.OpenFilesMax = &s.files
	}
	if limit, ok := openFilesLimit(); ok {
		h.OpenFilesLimit = &limit
		if s.filesKnown && limit > 0 {
			share := float64(s.files) / float64(limit)
			h.OpenFilesShare = &share
		}
	}
	h.fill(in.since(s.before))
	h.judge()
	return h
}

// since takes earlier totals off the counters. What is a maximum or a quantile
// has no difference and stays as it is.
func (in HealthInput) since(before HealthInput) HealthInput {
	in.Events -= before.Events
	in.Coalesced -= before.Coalesced
	in.Pool.Opened -= before.Pool.Opened
	in.Pool.Reused -= before.Pool.Reused
	in.Pool.Resent -= before.Pool.Resent
	in.Pool.Fallbacks -= before.Pool.Fallbacks
	in.Clock.KernelReads -= before.Clock.KernelReads
	in.Clock.OtherReads -= before.Clock.OtherReads
	in.Clock.Steps -= before.Clock.Steps
	return in
}

// fill adds what others counted.
func (h *Health) fill(in HealthInput) {
	lags := slices.Clone(in.Load.Lag)
	slices.Sort(lags)
	h.ScheduleLag, h.SlotWait = spreadOf(lags), spread(in.Load.SlotWait)
	h.ScheduleLagJudged = judgeLag(lags, in.FirstTokens)
	h.ConnectionsOpened, h.ConnectionsReused, h.ConnectionsMaxOpen = in.Pool.Opened, in.Pool.Reused, in.Pool.MaxOpen
	h.Resends, h.Fallbacks, h.SetupWait = in.Pool.Resent, in.Pool.Fallbacks, spread(in.SetupWaits)
	c := in.Clock
	h.StampSource, h.ClockSteps = string(c.StampSource), c.Steps
	if n := c.KernelReads + c.OtherReads; n > 0 {
		share := float64(c.KernelReads) / float64(n)
		h.KernelStampShare = &share
	}
	if c.KernelReads > 0 {
		p99, worst := float64(c.ReadDelayP99NS)/1e6, float64(c.ReadDelayMaxNS)/1e6
		h.ReadDelayP99MS, h.ReadDelayMaxMS = &p99, &worst
	}
	if in.Events > 0 {
		share := float64(in.Coalesced) / float64(in.Events)
		h.CoalescedShare = &share
	}
}

// judge compares the figures with the thresholds.
func (h *Health) judge() {
	h.ClientBound, h.Reasons = BoundNo, []Finding{}
	for _, t := range h.thresholds() {
		v := t.of(h)
		if v == nil {
			continue
		}
		f := Finding{Figure: t.name, Value: *v}
		switch {
		case t.yes > 0 && *v >= t.yes:
			f.Verdict, f.Threshold = BoundYes, t.yes
			h.ClientBound = BoundYes
		case *v >= t.suspect:
			f.Verdict, f.Threshold = BoundSuspect, t.suspect
			if h.ClientBound == BoundNo {
				h.ClientBound = BoundSuspect
			}
		default:
			continue
		}
		f.Text = fmt.Sprintf("%s is %.3g %s (threshold %.3g): %s", t.name, *v, t.unit, f.Threshold, t.why)
		h.Reasons = append(h.Reasons, f)
	}
}

// spread reads durations in ns; percentiles by linear interpolation.
func spread(ns []int64) Spread {
	v := slices.Clone(ns)
	slices.Sort(v)
	return spreadOf(v)
}

// spreadOf is spread of sorted durations.
func spreadOf(sorted []int64) Spread {
	s := Spread{N: len(sorted)}
	if len(sorted) == 0 {
		return s
	}
	at := func(q float64) *float64 { v := percentileMS(sorted, q); return &v }
	s.P50, s.P99, s.Max = at(0.5), at(0.99), at(1)
	return s
}

// readHistogram copies a histogram of the runtime: bucket bounds in seconds and
// counts; nil where this runtime has none.
func readHistogram(name string) (bounds []float64, counts []uint64) {
	m := []metrics.Sample{{Name: name}}
	metrics.Read(m)
	if m[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil, nil
	}
	h := m[0].Value.Float64Histogram()
	return slices.Clone(h.Buckets), slices.Clone(h.Counts)
}

// runtimeQuantile is the upper bound in ms of the bucket that holds quantile q of what
// a histogram of the runtime counted since before; nil when it counted nothing.
func runtimeQuantile(name string, before []uint64, q float64) *float64 {
	bounds, counts := readHistogram(name)
	return bucketQuantile(bounds, counts, before, q)
}

func bucketQuantile(bounds []float64, counts, before []uint64, q float64) *float64 {
	if len(bounds) != len(counts)+1 || len(before) != len(counts) {
		return nil
	}
	total := uint64(0)
	for i, n := range counts {
		total += n - before[i]
	}
	if total == 0 {
		return nil
	}
	rank := max(uint64(math.Ceil(q*float64(total))), 1)
	seen := uint64(0)
	for i, n := range counts {
		if seen += n - before[i]; seen >= rank {
			bound := bounds[i+1]
			if math.IsInf(bound, 1) {
				bound = bounds[i]
			}
			ms := bound * 1e3
			return &ms
		}
	}
	return nil
}
