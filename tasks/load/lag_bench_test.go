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

// BenchmarkHandOver measures how long a slot stays empty between two requests:
// one slot, answers of 1 ms, the next request always waiting.
//
//	go test -run '^$' -bench HandOver -benchtime 1x ./tasks/load
func BenchmarkHandOver(b *testing.B) {
	for _, clients := range []int{0, 1} {
		b.Run(map[int]string{0: "slot", 1: "client"}[clients], func(b *testing.B) {
			var lag []int64
			for range b.N {
				clock := transport.NewClock()
				rep := Run(context.Background(), Config{Clock: clock, Count: 1000, MaxConcurrency: 1, Clients: clients},
					func(ctx context.Context, s Slot) {
						s.Sent(clock.Now())
						time.Sleep(time.Millisecond)
						s.Done(clock.Now())
					})
				lag = append(lag, rep.Lag...)
			}
			slices.Sort(lag)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(lag[len(lag)/2])/1e3, "p50-lag-µs")
			b.ReportMetric(float64(lag[len(lag)*99/100])/1e3, "p99-lag-µs")
		})
	}
}
