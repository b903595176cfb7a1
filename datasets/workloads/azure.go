package workloads

import (
	"context"
	"fmt"
	"time"

	"ais_bench/datasets"
)

// azure replays an Azure LLM inference trace: CSV of TIMESTAMP (UTC),
// ContextTokens, GeneratedTokens. The traces say nothing of shared prefixes, so
// every prompt is drawn for itself. A row of 0 tokens on either side, which the traces
// have for requests that came to nothing, is left out and named in Notes. The first arrival is at 0. The rest is as in
// mooncake.
//
// Uses: NumPrompts, DatasetPath, SecMultiplier, StartOffset, EndOffset,
// TraceAsText, Tokenizer, CacheBust, MaxModelLen.
type azure struct {
	notes
	cfg Config
}

func newAzure(cfg Config) (Workload, error) {
	cfg.TimestampUnit, cfg.KeepOffset, cfg.ChunkHashSize = "s", false, 512
	if err := cfg.checkTrace(); err != nil {
		return nil, err
	}
	return &azure{cfg: cfg}, nil
}

func (w *azure) String() string {
	return fmt.Sprintf("azure trace %s: time x %g, seed %d", w.cfg.DatasetPath, w.cfg.SecMultiplier, w.cfg.Seed)
}

// time.Parse takes any number of fractional digits after the seconds.
var azureLayouts = []string{time.DateTime, "2006-01-02 15:04:05Z07:00", time.RFC3339}

func (w *azure) Samples(ctx context.Context) ([]datasets.Sample, error) {
	w.reset()
	var rows []traceRow
	var zero time.Time
	err := eachCSV(w.cfg.DatasetPath, []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}, func(col func(string) string, line int) error {
		var at time.Time
		var err error
		for _, layout := range azureLayouts {
			if at, err = time.Parse(layout, col("TIMESTAMP")); err == nil {
				break
			}
		}
		if err != nil {
			return fmt.Errorf("TIMESTAMP %q is not a time like 2023-11-16 18:17:03.9799600", col("TIMESTAMP"))
		}
		if len(rows) == 0 {
			zero = at
		}
		in, err := tokenCount("ContextTokens", col("ContextTokens"))
		if err != nil {
			return err
		}
		out, err := tokenCount("GeneratedTokens", col("GeneratedTokens"))
		if err != nil {
			return err
		}
		if in == 0 || out == 0 {
			w.skip(line, "no tokens")
			return nil
		}
		rows = append(rows, traceRow{seconds: at.Sub(zero).Seconds(), in: in, out: out, line: line})
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return w.cfg.replay(ctx, &w.notes, rows)
}
