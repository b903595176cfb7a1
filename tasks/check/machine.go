package check

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"ais_bench/models/inspect"
	"ais_bench/models/transport"
	"ais_bench/outputs"
)

// server says what the server is, and whether its counters can be read.
func (r *run) server(ctx context.Context) {
	const name = "server"
	if r.skipped(name) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.StepTimeout)
	defer cancel()
	cfg := r.Config
	cfg.Model = r.model
	s := inspect.Take(ctx, cfg)
	metrics := "no /metrics"
	for _, e := range s.Errors {
		if why, ok := strings.CutPrefix(e, "/metrics: "); ok && strings.Contains(why, "it gives") { // it is there, and cannot be used
			metrics = "no usable /metrics: " + short(why)
		}
	}
	if n := len(s.Metrics); n > 0 {
		metrics = fmt.Sprintf("/metrics with %d series", n)
	}
	switch {
	case s.Engine == "" && s.Version == "" && len(s.Metrics) == 0:
		r.warn(name, CauseServerAnonymous, "it does not say what it is: no version, no parameters, "+metrics,
			"a run's report will not know the server: say what you know by --server-meta KEY=VALUE and --server-command FILE")
	case len(s.Metrics) == 0:
		r.warn(name, CauseServerAnonymous, fmt.Sprintf("%s %s, %s", orUnnamed(s.Engine, "engine unknown"), orUnnamed(s.Version, "(no version)"), metrics),
			"queue, KV use and cache hits of the server will not be known (SGLang: start it with --enable-metrics)")
	default:
		r.ok(name, fmt.Sprintf("%s %s, %s", orUnnamed(s.Engine, "engine unknown"), orUnnamed(s.Version, "(no version)"), metrics))
	}
}

// Bounds of this machine's clock.
const (
	maxSkew      = 3 * time.Second // Date has seconds, and the answer was under way
	maxOversleep = 5 * time.Millisecond
)

// clocks says how well this machine tells the time, and whether the server's
// clock agrees.
func (r *run) clocks(ctx context.Context) {
	const name = "clock"
	resolution := clockResolution()
	late := oversleep()
	rep := r.clock.Report()
	found := fmt.Sprintf("resolution %s, a sleep of 1 ms ends %s late", short(resolution.String()), millis(late))
	if rep.StampSource == transport.StampKernel {
		found += ", arrivals stamped by the kernel"
	} else if rep.OtherReads > 0 {
		found += ", arrivals stamped by the program"
	}
	skew, known := r.skew()
	if known {
		found += fmt.Sprintf(", the server's clock is %s", ahead(skew))
	}
	switch {
	case rep.Steps > 0:
		r.warn(name, CauseClockStep, fmt.Sprintf("%s; the wall clock jumped by %s while this ran", found, millis(time.Duration(rep.LargestStepNS))),
			"something sets this clock (NTP, the hypervisor): latencies are monotonic and not hurt, times of day are; let the clock settle")
	case resolution > 100*time.Microsecond || late > maxOversleep:
		r.warn(name, CauseClockCoarse, found, "this machine is busy or its timer is coarse: arrivals will not be on time; see schedule lag in the reports, and ais_bench calibrate")
	case known && (skew > maxSkew || skew < -maxSkew):
		r.warn(name, CauseClockSkew, found, "latencies are not hurt, but times of day in both logs cannot be compared: set both clocks by NTP")
	default:
		r.ok(name, found)
	}
}

func ahead(skew time.Duration) string {
	switch {
	case skew > time.Second:
		return fmt.Sprintf("%.0f s ahead", skew.Seconds())
	case skew < -time.Second:
		return fmt.Sprintf("%.0f s behind", -skew.Seconds())
	}
	return "the same to the second"
}

// skew is by how much the server's Date lies ahead of this machine's clock in the
// middle of the exchange.
func (r *run) skew() (time.Duration, bool) {
	if r.first == nil || r.first.Header["date"] == "" {
		return 0, false
	}
	at, err := http.ParseTime(r.first.Header["date"])
	if err != nil || r.first.Sent == outputs.Never {
		return 0, false
	}
	here := r.clock.Zero().Add(time.Duration(r.first.Sent) + r.first.Took/2)
	return at.Add(500 * time.Millisecond).Sub(here), true // Date is cut off to the second
}

// clockResolution is the smallest step of the monotonic clock seen in many
// readings.
func clockResolution() time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 2000 {
		t := time.Now()
		d := time.Since(t)
		for d == 0 {
			d = time.Since(t)
		}
		least = min(least, d)
	}
	return least
}

// oversleep is the median of how late short sleeps end.
func oversleep() time.Duration {
	late := make([]time.Duration, 0, 15)
	for range cap(late) {
		t := time.Now()
		time.Sleep(time.Millisecond)
		late = append(late, time.Since(t)-time.Millisecond)
	}
	slices.Sort(late)
	return late[len(late)/2]
}

// reservedFiles is what a run opens beside its streams.
const reservedFiles = 64

// files says whether as many streams can be open as the run wants.
func (r *run) files(context.Context) {
	const name = "files"
	soft, hard, err := r.FileLimit()
	need := uint64(r.Concurrency) + reservedFiles
	limit := fmt.Sprint(soft)
	if soft >= math.MaxInt64 {
		limit = "unlimited"
	}
	switch {
	case soft < need:
		r.fail(name, CauseFewFiles, fmt.Sprintf("%s open files allowed, %d needed for %s at once", limit, need, outputs.Counted(r.Concurrency, "request")),
			fmt.Sprintf("raise the limit (ulimit -n %d; Docker: --ulimit nofile=%d) or lower --batch-size; the hard limit is %d", need, need, hard), false)
	case err != nil:
		r.warn(name, CauseFewFiles, fmt.Sprintf("%s open files allowed; the limit could not be raised: %v", limit, err), "raise it with ulimit -n before many streams")
	default:
		r.ok(name, fmt.Sprintf("%s open files allowed, %d needed for %s at once", limit, need, outputs.Counted(r.Concurrency, "request")))
	}
}
