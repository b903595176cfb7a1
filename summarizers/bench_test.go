package summarizers

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// longAnswer makes r the i-th answer of so many tokens, one a chunk, 5 to 25 ms
// apart and never the same. It reuses r's chunk list.
func longAnswer(r *outputs.Record, i, tokens int) {
	*r = outputs.Record{Model: "m", Dataset: "d", SampleID: strconv.Itoa(i), Phase: outputs.PhaseMeasured, Status: outputs.StatusOK,
		Stream: true, HTTPStatus: 200, KernelStamp: true, Reads: int32(tokens), ChunkAt: r.ChunkAt[:0],
		Scheduled: int64(i) * 1e6, Sent: int64(i)*1e6 + 1000, Connected: int64(i)*1e6 + 2000, InputTokens: int32(i % 3000),
		OutputTokens: int32(tokens), ReasoningTokens: outputs.UnknownTokens, CachedTokens: outputs.UnknownTokens,
		TokenSource: outputs.TokensUsage, FinishReason: "length", MaxTokens: int32(tokens)}
	x := uint64(i)*0x9E3779B97F4A7C15 + 1
	at := int64(50e6)
	for range tokens {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		at += int64(5e6 + x%20e6)
		r.ChunkAt = append(r.ChunkAt, at)
	}
	first := r.Sent + r.ChunkAt[0]
	r.FirstByte, r.FirstEvent, r.FirstToken, r.FirstAnswerToken = first, first, first, first
	r.LastToken, r.End = r.Sent+at, r.Sent+at
}

// BenchmarkAccumulate250kx4096 takes 250,000 answers of 4,096 tokens the whole
// way a run takes: appended to the journal, sealed into the Parquet file on
// disk, read back from it and reduced to metrics. It needs some 8 GB of disk
// for a while and reports the seconds of each step and the peak resident memory:
//
//	go test -run '^$' -bench Accumulate250k -benchtime 1x -timeout 30m ./summarizers
//
// With -short it takes a hundredth of the records.
func BenchmarkAccumulate250kx4096(b *testing.B) {
	n := 250_000
	if testing.Short() {
		n /= 100
	}
	for b.Loop() {
		run, err := outputs.Create(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // Linux: forget the peak so far
		step := func(name string, f func() error) {
			start := b.Elapsed()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric((b.Elapsed() - start).Seconds(), name+"_s")
		}
		step("journal", func() error {
			j, err := run.Journal("m", "d")
			if err != nil {
				return err
			}
			r := &outputs.Record{ChunkAt: make([]int64, 0, 4096)}
			for i := range n {
				longAnswer(r, i, 4096)
				if err := j.Append(r); err != nil {
					return err
				}
			}
			return j.Close()
		})
		step("parquet", func() error { _, err := run.Seal("m", "d"); return err })
		step("metrics", func() error {
			r, err := metrics.Compute(run.Records("m", "d"), metrics.Options{})
			if err == nil && (r.Requests.Success != int64(n) || r.ITL.N != int64(n)*4095) {
				b.Fatalf("%d requests with %d gaps came back of %d", r.Requests.Success, r.ITL.N, n)
			}
			return err
		})
		if st, err := os.Stat(run.PerformancePath("m", "d", "parquet")); err == nil {
			b.ReportMetric(float64(st.Size())/1e6, "parquet_MB")
		}
		b.ReportMetric(peakMiB(), "peak_MiB")
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "us/record")
}

// peakMiB is the peak resident memory of this process; 0 where the system does
// not say.
func peakMiB() float64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kb, _ := strconv.ParseFloat(f[1], 64)
			return kb / 1024
		}
	}
	return 0
}
