package load

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"ais_bench/models"
	"ais_bench/models/transport"
)

func TestHealthVerdict(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		name   string
		h      Health
		want   Bound
		figure string
	}{
		{"idle", Health{CPUShare: f(0.1), ScheduleLagJudged: &LagJudgement{Percentile: 99, MS: 0.2}, GC: GCHealth{PauseMaxMS: f(0.5)}}, BoundNo, ""},
		{"nothing known", Health{}, BoundNo, ""},
		{"busy", Health{CPUShare: f(0.75)}, BoundSuspect, "cpu_share"},
		{"saturated", Health{CPUShare: f(0.95), ScheduleLagJudged: &LagJudgement{Percentile: 99, MS: 2}}, BoundYes, "cpu_share"},
		{"late, and no answer to set it beside", Health{ScheduleLagJudged: &LagJudgement{Percentile: 99, MS: 1}}, BoundSuspect, "schedule_lag_p99_ms"},
		{"very late, and no answer", Health{ScheduleLagJudged: &LagJudgement{Percentile: 95, MS: 10}}, BoundYes, "schedule_lag_p95_ms"},
		{"long pause never decides alone", Health{GC: GCHealth{PauseMaxMS: f(500)}}, BoundSuspect, "gc_pause_max_ms"},
		{"no file left", Health{OpenFilesShare: f(1)}, BoundYes, "open_files_share"},
		{"late reader", Health{ReadDelayP99MS: f(6)}, BoundSuspect, "read_delay_p99_ms"},
	} {
		c.h.judge()
		if c.h.ClientBound != c.want {
			t.Errorf("%s: %s, want %s (%+v)", c.name, c.h.ClientBound, c.want, c.h.Reasons)
		}
		if c.figure == "" != (len(c.h.Reasons) == 0) || c.figure != "" && c.h.Reasons[0].Figure != c.figure {
			t.Errorf("%s: reasons %+v", c.name, c.h.Reasons)
		}
	}
}

// A lag counts beside the time to the first token, and by the percentile that so
// many requests support.
func TestScheduleLagIsJudgedByWhatItMaySpoil(t *testing.T) {
	times := func(n int, most, rest float64) []int64 { // ms: n−1 of rest and one of most
		v := make([]int64, n)
		for i := range v {
			v[i] = int64(rest * 1e6)
		}
		v[n-1] = int64(most * 1e6)
		return v
	}
	all := func(n int, v float64) []int64 { return times(n, v, v) }
	for _, c := range []struct {
		name        string
		lags, first []int64
		want        Bound
		figure      string
	}{
		// What `make run` does: 8 requests due at one moment, one after the other.
		{"the last of eight sent at one moment", times(8, 2.4, 0.3), all(8, 21), BoundNo, ""},
		{"most of eight late", all(8, 2.4), all(8, 21), BoundSuspect, "schedule_lag_p50_ms"},
		{"two of fifteen late", append(all(13, 0.1), all(2, 9)...), all(15, 20), BoundSuspect, "schedule_lag_p90_ms"},
		// Prompts of 230 KB: 9 ms of work before each send, on answers of 20 ms.
		{"long prompts, quick answers", append(all(970, 2), all(30, 9)...), all(1000, 20), BoundSuspect, "schedule_lag_p99_ms"},
		{"and 40 of them", all(40, 9), all(40, 20), BoundSuspect, "schedule_lag_p95_ms"},
		{"as long as the answers take to begin", all(1000, 12), all(1000, 20), BoundYes, "schedule_lag_p99_ms"},
		{"the same beside slow answers", all(1000, 9), all(1000, 2000), BoundNo, ""},
		{"hidden by nothing", all(1000, 0.9), all(1000, 2), BoundNo, ""}, // below what any figure shows
		{"quick answers", all(1000, 1.1), all(1000, 2), BoundSuspect, "schedule_lag_p99_ms"},
		{"a tenth of a second is late for anybody", all(1000, 120), all(1000, 30000), BoundSuspect, "schedule_lag_p99_ms"},
		{"a second too", all(1000, 1200), all(1000, 30000), BoundYes, "schedule_lag_p99_ms"},
		{"nothing came back", all(1000, 12), nil, BoundYes, "schedule_lag_p99_ms"},
	} {
		var h Health
		h.fill(HealthInput{Load: Report{Lag: c.lags}, FirstTokens: c.first})
		h.judge()
		if h.ClientBound != c.want || (c.figure == "") != (len(h.Reasons) == 0) || c.figure != "" && h.Reasons[0].Figure != c.figure {
			t.Errorf("%s: %s, want %s by %q (%+v)", c.name, h.ClientBound, c.want, c.figure, h.Reasons)
		}
	}
}

func TestHealthFigures(t *testing.T) {
	s := NewHealthSampler(0)
	s.Start(HealthInput{Pool: models.PoolStats{Opened: 3, Reused: 1, MaxOpen: 2}, Clock: transport.ClockReport{KernelReads: 7, OtherReads: 9}, Events: 40, Coalesced: 40})
	runtime.GC()
	h := s.Stop(HealthInput{
		Load:   Report{Lag: []int64{3e6, 1e6, 2e6}, SlotWait: []int64{0, 0, 8e6}},
		Pool:   models.PoolStats{Opened: 5, Reused: 6, MaxOpen: 2, Resent: 1},
		Clock:  transport.ClockReport{StampSource: transport.StampKernel, KernelReads: 10, OtherReads: 10, ReadDelayP99NS: 40_000, ReadDelayMaxNS: 90_000},
		Events: 50, Coalesced: 42})
	if *h.ScheduleLag.P50 != 2 || *h.ScheduleLag.Max != 3 || *h.SlotWait.Max != 8 {
		t.Errorf("lag %v %v, slot wait %v", *h.ScheduleLag.P50, *h.ScheduleLag.Max, *h.SlotWait.Max)
	}
	if *h.KernelStampShare != 0.75 || *h.CoalescedShare != 0.2 || h.Resends != 1 || *h.ReadDelayP99MS != 0.04 {
		t.Errorf("%+v", h)
	}
	if h.ConnectionsOpened != 2 || h.ConnectionsReused != 5 || h.ConnectionsMaxOpen != 2 || *h.ReadDelayMaxMS != 0.09 {
		t.Errorf("earlier phases must not count: %+v", h)
	}
	if h.OpenFilesMax != nil && (*h.OpenFilesMax < 3 || h.OpenFilesLimit == nil || *h.OpenFilesShare <= 0) {
		t.Errorf("open files %d, limit %v", *h.OpenFilesMax, h.OpenFilesLimit)
	}
	if h.GC.Cycles < 1 || h.GC.PauseMaxMS == nil || h.GoroutinesMax == 0 || h.HeapMaxBytes == 0 {
		t.Errorf("the runtime's figures are missing: %+v", h)
	}
	b, err := json.Marshal(h)
	if err != nil || !strings.Contains(string(b), `"client_bound":`) {
		t.Errorf("%s, %v", b, err)
	}
}

func TestNothingMeasuredIsUnknown(t *testing.T) {
	var h Health
	h.fill(HealthInput{})
	if h.ScheduleLag.P99 != nil || h.KernelStampShare != nil || h.CoalescedShare != nil || h.ReadDelayP99MS != nil {
		t.Errorf("undefined figures must be nil: %+v", h)
	}
	if q := bucketQuantile([]float64{0, 1, 2}, []uint64{4, 4}, []uint64{4, 4}, 0.99); q != nil {
		t.Errorf("a histogram that counted nothing gives %v", *q)
	}
	if q := bucketQuantile([]float64{0, 1, 2}, []uint64{100, 1}, []uint64{1, 0}, 0.99); q == nil || *q != 1000 {
		t.Errorf("p99 of 99 values below 1 s and one above is %v", q)
	}
}
