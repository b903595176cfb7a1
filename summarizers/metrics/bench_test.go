package metrics

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"ais_bench/outputs"
)

// longAnswer fills r with tokens chunks a few milliseconds apart, cheaply and
// never the same.
func longAnswer(r *outputs.Record, i, tokens int) {
	*r = outputs.Record{Phase: outputs.PhaseMeasured, Status: outputs.StatusOK, Stream: true, HTTPStatus: 200, ChunkAt: r.ChunkAt[:0],
		Scheduled: int64(i) * 1e6, Sent: int64(i)*1e6 + 1000, Connected: int64(i)*1e6 + 2000, InputTokens: int32(i % 3000), OutputTokens: int32(tokens),
		ReasoningTokens: -1, CachedTokens: -1, TokenSource: outputs.TokensUsage, FinishReason: "length"}
	x := uint64(i)*0x9E3779B97F4A7C15 + 1
	at := int64(50e6)
	for range tokens {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		at += int64(5e6 + x%20e6)
		r.ChunkAt = append(r.ChunkAt, at)
	}
	r.FirstByte, r.FirstEvent, r.FirstToken = r.Sent+r.ChunkAt[0], r.Sent+r.ChunkAt[0], r.Sent+r.ChunkAt[0]
	r.FirstAnswerToken, r.LastToken, r.End = r.FirstToken, r.Sent+at, r.Sent+at
}

// BenchmarkAccumulate is one request of 4,096 tokens. The whole bar, 250,000 of
// them, runs with -benchtime=250000x; the resident memory is then reported.
func BenchmarkAccumulate(b *testing.B) {
	a, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	r := &outputs.Record{ChunkAt: make([]int64, 0, 4096)}
	b.ReportAllocs()
	for i := range b.N {
		longAnswer(r, i, 4096)
		a.Add(r)
	}
	if a.Result().E2EL.N != int64(b.N) {
		b.Fatal("records were lost")
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MiB")
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(status)) {
			var kb float64
			if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kb); err == nil {
				b.ReportMetric(kb/1024, "peak-MiB")
			}
		}
	}
}
