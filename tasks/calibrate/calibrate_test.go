package calibrate

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"ais_bench/models/simulator"
	"ais_bench/models/transport"
)

// inProcess is a simulator in this process, so that the test needs no binary.
type inProcess struct {
	srv   *simulator.Server
	truth *simulator.MemoryTruth
	url   string
}

func (s *inProcess) URL() string { return s.url }
func (s *inProcess) Stop() ([]simulator.TruthRequest, error) {
	s.srv.Close()
	return s.truth.Requests(), nil
}

func startInProcess(_ context.Context, rate float64) (Server, error) {
	truth := &simulator.MemoryTruth{}
	srv, err := simulator.New(simulator.Config{TokensPerSecond: rate, TTFT: 5 * time.Millisecond, Truth: truth})
	if err != nil {
		return nil, err
	}
	url, err := srv.Start("127.0.0.1:0")
	return &inProcess{srv, truth, url}, err
}

func TestEveryChunkIsComparedWithItsTruth(t *testing.T) {
	var srv Server
	r, err := Run(context.Background(), Config{Streams: 20, TokensPerSecond: 100, Duration: 300 * time.Millisecond, Start: func(ctx context.Context, rate float64) (Server, error) {
		s, err := startInProcess(ctx, rate)
		srv = s
		return s, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	if truth, err := srv.Stop(); err != nil || len(truth) != 20+warmUps {
		t.Errorf("the server answered %d requests, %v; want 20 and %d to warm up", len(truth), err, warmUps)
	}
	if r.FailedStreams != 0 || r.Unmatched != 0 || r.Chunks != 20*30 {
		t.Errorf("%d failed, %d unmatched, %d chunks compared; want 0, 0, 600", r.FailedStreams, r.Unmatched, r.Chunks)
	}
	for name, s := range map[string]Spread{"ttft": r.TTFTError, "itl": r.ITLError, "e2e": r.E2EError, "stamp": r.StampError, "lag": r.ScheduleLag} {
		if s.P50 == nil || s.P99 == nil || s.Max == nil || *s.P50 > *s.P99 || *s.P99 > *s.Max {
			t.Errorf("%s: spread %+v is not ordered", name, s)
		}
	}
	if *r.StampError.P50 < 0 {
		t.Errorf("a chunk was seen %.1f µs before it was written", -*r.StampError.P50)
	}
}

func TestCompareByHand(t *testing.T) {
	clock := transport.NewClock()
	offset := clock.Report().OffsetStartNS
	truth := []simulator.TruthRequest{{ID: "a", Wall: offset + 507_000, Chunks: []simulator.TruthChunk{
		{Kind: simulator.ChunkRole, Wall: offset + 900}, {Kind: simulator.ChunkContent, Wall: offset + 1_000_000},
		{Kind: simulator.ChunkContent, Wall: offset + 2_000_000}, {Kind: simulator.ChunkDone, Wall: offset + 3_000_000}}}}
	seen := []measured{{id: "a", sent: 500_000, chunkAt: []int64{510_000, 1_540_000}, ok: true}, {id: "b", ok: false}, {id: "c", ok: true, chunkAt: []int64{1}}}
	r, err := compare(Config{Streams: 3}, clock, seen, truth, []int64{1000, 3000}, time.Millisecond, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	check("ttft", r.TTFTError.P50, 17) // sent to first: 510,000 ns; received to written: 493,000 ns
	check("e2e", r.E2EError.P50, 47)
	check("stamp p50", r.StampError.P50, 25) // 10 µs and 40 µs
	check("stamp max", r.StampError.Max, 40)
	check("itl", r.ITLError.P50, 30) // gap 1,030,000 measured, 1,000,000 true
	check("lag p50", r.ScheduleLag.P50, 2)
	check("cpu", r.CPUPerChunk, 500)
	if r.FailedStreams != 1 || r.Unmatched != 1 || !math.IsInf(r.WorstP99(), 1) {
		t.Errorf("failed %d, unmatched %d, worst %v; want 1, 1, +Inf", r.FailedStreams, r.Unmatched, r.WorstP99())
	}
}

// The limit is narrowed down after the first load that does not hold.
func TestFindLimitNarrowsDown(t *testing.T) {
	for _, tc := range []struct {
		holds, most, streams, firstBad, runs int
		latencies                            [2]int // highest that holds, lowest that does not
	}{
		{1000, 50, 50, 0, 1, [2]int{50, 0}},
		{1000, 200, 200, 0, 3, [2]int{100, 151}},
		{300, 5000, 284, 312, 6, [2]int{100, 151}}, // 100, 151, 227, 341 !, 284, 312 !
		{10, 5000, 0, 25, 3, [2]int{0, 25}},        // 100 !, 50 !, 25 !
	} {
		runs := 0
		both, err := findLimits(min(100, tc.most), tc.most, 1000, func(n int) (*Result, error) {
			runs++
			us, latency := 500.0, 600.0
			if n > tc.holds {
				us = 2000
			}
			if n > 120 { // the latencies break the bound before the stamps do
				latency = 1500
			}
			return &Result{ChunksPerSecond: float64(n), StampError: Spread{P99: &us}, ITLError: Spread{P99: &us}, TTFTError: Spread{P99: &us}, E2EError: Spread{P99: &latency}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		l := both.Stamps
		if l.Streams != tc.streams || l.FirstBad != tc.firstBad || runs != tc.runs || (l.WorstP99 == nil) != (tc.streams == 0) {
			t.Errorf("holds to %d: %+v after %d runs; want %+v", tc.holds, l, runs, tc)
		}
		want := tc.latencies
		if l := both.Latencies; l.Streams != want[0] || l.FirstBad != want[1] || l.ChunksPerSecond != float64(want[0]) || want[0] > 0 && *l.WorstP99 != 600 {
			t.Errorf("holds to %d: latencies %+v, want %v", tc.holds, l, want)
		}
	}
}

// A cancelled context ends a calibration whose streams have hours to go.
func TestCancelEndsCalibration(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	start := func(c context.Context, rate float64) (Server, error) {
		s, err := startInProcess(c, rate)
		time.AfterFunc(50*time.Millisecond, cancel)
		return s, err
	}
	_, err := FindLimits(ctx, Config{TokensPerSecond: 10, Duration: time.Hour, Start: start}, 4, 8, 1000)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
