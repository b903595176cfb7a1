package workloads

import (
	"context"
	"fmt"
	"strconv"

	"ais_bench/datasets"
)

// burstGPT takes the lengths of a BurstGPT CSV (columns Model, Request tokens,
// Response tokens) as vLLM does: rows of Model GPT-4 with response tokens > 0;
// NumPrompts of them drawn by the seed, without replacement while there are
// enough, else with. The prompt of request i is made of the ids (i + j) mod
// |vocabulary|; unlike vLLM it is corrected to exactly the row's length and i is
// moved by the seed, so that another seed gives other prompts. The file's time
// stamps are not replayed.
//
// Uses: NumPrompts, DatasetPath, OutputLen (0 = the row's), DisableShuffle,
// NoOversample, Tokenizer, CacheBust, MaxModelLen.
type burstGPT struct {
	notes
	cfg Config
}

func newBurstGPT(cfg Config) (Workload, error) { return &burstGPT{cfg: cfg}, nil }

func (w *burstGPT) String() string {
	return fmt.Sprintf("burstgpt: lengths of %s, seed %d", w.cfg.DatasetPath, w.cfg.Seed)
}

func (w *burstGPT) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	w.reset()
	type row struct{ line, in, out int }
	var rows []row
	err := eachCSV(cfg.DatasetPath, []string{"Model", "Request tokens", "Response tokens"}, func(col func(string) string, line int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		in, err := tokenCount("Request tokens", col("Request tokens"))
		if err != nil {
			return err
		}
		out, err := tokenCount("Response tokens", col("Response tokens"))
		if err != nil {
			return err
		}
		if cfg.OutputLen > 0 && out > 0 {
			out = cfg.OutputLen
		}
		switch {
		case col("Model") != "GPT-4":
			return nil
		case out == 0:
			w.skip(line, "no response tokens")
		case in == 0:
			w.skip(line, "no request tokens")
		case cfg.MaxModelLen > 0 && in+out > cfg.MaxModelLen:
			w.skip(line, fmt.Sprintf("longer than the model's %d tokens", cfg.MaxModelLen))
		default:
			rows = append(rows, row{line, in, out})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: no row of Model GPT-4 with response tokens", cfg.DatasetPath)
	}
	order, longest := cfg.order(len(rows)), 0
	n := cfg.NumPrompts
	if n <= 0 || cfg.NoOversample && n > len(order) {
		n = len(order)
	}
	for r := stream(cfg.Seed, purposeRepeat); len(order) < n; {
		order = append(order, r.IntN(len(rows)))
	}
	order = order[:n]
	var all promptTokens
	for _, k := range order {
		longest = max(longest, rows[k].in)
		if err := all.add(rows[k].in); err != nil {
			return nil, err
		}
	}
	sp, err := newSpeller(ctx, cfg.Tokenizer, longest, n)
	if err != nil {
		return nil, err
	}
	opening := sp.opening(cfg, nil, 0)
	shift := stream(cfg.Seed, purposeOffset).IntN(len(sp.ids))
	samples := make([]datasets.Sample, n)
	err = each(ctx, n, func(i int) error {
		row := rows[order[i]]
		s := cfg.sample(strconv.Itoa(i), row.out)
		s.Fields[FieldRow] = row.line
		err := sp.fill(cfg, &s, opening, shift+i, row.in, purposePrompt+uint64(i))
		samples[i] = s
		return err
	})
	return samples, err
}
