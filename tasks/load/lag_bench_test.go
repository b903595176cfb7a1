package load

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"ais_bench/models/transport"
)

// BenchmarkScheduleLag measures how late requests start at a given rate. The
// lag is taken inside the request, so that the start of its goroutine is part
// of it, and is given beside the dispatcher's own figure (Report.Lag). Every
// request holds on for 20 ms, as a request waiting for its answer does.
//
//	go test -run '^$' -bench ScheduleLag -benchtime 1x ./tasks/load
func BenchmarkScheduleLag(b *testing.B) {
	for _, rate := range []float64{100, 1000, 5000} {
		b.Run(fmt.Sprintf("%.0f_per_s", rate), func(b *testing.B) {
			var started, dispatched []int64
			var sent int
			var took time.Duration
			for range b.N {
				count := int(2 * rate)
				lag := make([]int64, count)
				clock := transport.NewClock()
				rep := Run(context.Background(), Config{Clock: clock, Schedule: Constant{Rate: rate}, Count: count},
					func(ctx context.Context, s Slot) {
						lag[s.Index] = clock.Now() - s.Scheduled
						time.Sleep(20 * time.Millisecond)
					})
				started, dispatched = append(started, lag...), append(dispatched, rep.Lag...)
				sent += rep.Dispatched
				took += time.Duration(rep.Ended-rep.Started) - 20*time.Millisecond
			}
			slices.Sort(started)
			slices.Sort(dispatched)
			at := func(sorted []int64, p float64) float64 { return float64(sorted[int(p*float64(len(sorted)-1))]) / 1e3 }
			b.ReportMetric(0, "ns/op") // the run lasts as long as its schedule
			b.ReportMetric(float64(sent)/took.Seconds(), "requests/s")
			b.ReportMetric(at(started, 0.5), "p50-lag-µs")
			b.ReportMetric(at(started, 0.99), "p99-lag-µs")
			b.ReportMetric(at(started, 1), "max-lag-µs")
			b.ReportMetric(at(dispatched, 0.99), "p99-dispatch-lag-µs")
		})
	}
}
