package calibrate

import (
	"context"
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
	r, err := Run(context.Background(), Config{Streams: 20, TokensPerSecond: 100, Duration: 300 * time.Millisecond, Start: startInProcess})
	if err != nil {
		t.Fatal(err)
	}
	if r.FailedStreams != 0 || r.Unmatched != 0 || r.Chunks != 20*30 {
		t.Errorf("%d failed, %d unmatched, %d chunks compared; want 0, 0, 600", r.FailedStreams, r.Unmatched, r.Chunks)
	}
	for name, s := range map[string]Spread{"ttft": r.TTFTError, "itl": r.ITLError, "e2e": r.E2EError, "lag": r.ScheduleLag} {
		if s.P50 == nil || s.P99 == nil || s.Max == nil || *s.P50 > *s.P99 || *s.P99 > *s.Max {
			t.Errorf("%s: spread %+v is not ordered", name, s)
		}
	}
	if *r.TTFTError.P50 < 0 {
		t.Errorf("a chunk was seen %.1f µs before it was written", -*r.TTFTError.P50)
	}
}

func TestCompareByHand(t *testing.T) {
	clock := transport.NewClock()
	offset := clock.Report().OffsetStartNS
	truth := []simulator.TruthRequest{{ID: "a", Chunks: []simulator.TruthChunk{
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
	check("ttft", r.TTFTError.P50, 10) // 1,010,000 − 1,000,000 ns
	check("e2e", r.E2EError.P50, 40)
	check("itl", r.ITLError.P50, 30) // gap 1,030,000 measured, 1,000,000 true
	check("lag p50", r.ScheduleLag.P50, 2)
	check("cpu", r.CPUPerChunk, 500)
	if r.FailedStreams != 1 || r.Unmatched != 1 || !math.IsInf(r.WorstP99(), 1) {
		t.Errorf("failed %d, unmatched %d, worst %v; want 1, 1, +Inf", r.FailedStreams, r.Unmatched, r.WorstP99())
	}
}
