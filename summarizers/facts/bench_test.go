package facts

import (
	"iter"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/facts/synthetic"
)

// BenchmarkFacts100k is the cost of all figures with their intervals of a run of
// 100,000 requests of 30 tokens.
func BenchmarkFacts100k(b *testing.B) {
	c := synthetic.Config{Requests: 100_000, Concurrency: 64, Seed: 1, TTFTMedianMS: 200, TTFTSigma: 0.4, TPOTMedianMS: 20, TPOTSigma: 0.1, Tokens: 30, Success: 0.99}
	records := c.Records()
	for b.Loop() {
		s, err := FromRecords([]iter.Seq2[*outputs.Record, error]{records}, Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, name := range []Path{{"success_rate"}, {"perf", "ttft", "p99_ms"}, {"perf", "itl", "p99_ms"}, {"perf", "e2el", "mean_ms"}, {"perf", "output_throughput"}} {
			f, err := s.Lookup(name)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := f.Interval(0.95); err != nil {
				b.Fatal(err)
			}
		}
	}
}
