package workloads

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"ais_bench/datasets"
	"ais_bench/registry"
)

// mooncake replays a JSONL trace of timestamp, input_length, output_length and
// hash_ids (columns nameable). A hash id stands for a block of ChunkHashSize
// tokens (512 in Mooncake's traces), the last of a row cut to input_length; equal
// ids give equal blocks, drawn from the seed and the id, so prefixes are shared
// just as in the trace. Where the ids end before input_length the rest is drawn
// for that request alone (vLLM sends less). input_text, where a row has it, is
// sent as it is. timed_trace is the same with vLLM's defaults: 16 tokens a block,
// seconds, not rebased, token ids.
//
// The prompt is text whose length is corrected at its end (TraceAsText), or token
// ids. Arrival = (timestamp − first timestamp, unless KeepOffset) × SecMultiplier.
// StartOffset and EndOffset cut a window out of the trace, both ends included, in
// seconds of trace time after its first row; arrivals then count from the window's
// start (AISBench's fixed_schedule_* with auto_offset). With KeepOffset they are the
// trace's own times. With LaxTrace rows may have no output_length, which is 1 then, and
// all of them no timestamp: such a trace has no arrivals and no window. Lengths are whole
// numbers from 1 on; a row with another one is refused. ignore_eos is always asked for: the output length
// is part of the trace. All prompts stay in memory; NumPrompts takes the first.
//
// Uses: NumPrompts, DatasetPath, ChunkHashSize, SecMultiplier, TimestampUnit,
// KeepOffset, StartOffset, EndOffset, LaxTrace, Label*, TraceAsText, Tokenizer, CacheBust,
// MaxModelLen.
type mooncake struct {
	notes
	cfg Config
}

func newMooncake(cfg Config) (Workload, error) {
	if cfg.ChunkHashSize < 1 {
		return nil, fmt.Errorf("chunk hash size must be at least 1, got %d", cfg.ChunkHashSize)
	}
	if err := cfg.checkTrace(); err != nil {
		return nil, err
	}
	return &mooncake{cfg: cfg}, nil
}

func (w *mooncake) String() string {
	return fmt.Sprintf("trace %s: blocks of %d tokens, time x %g, seed %d", w.cfg.DatasetPath, w.cfg.ChunkHashSize, w.cfg.SecMultiplier, w.cfg.Seed)
}

func (w *mooncake) Samples(ctx context.Context) ([]datasets.Sample, error) {
	w.reset()
	var rows []traceRow
	err := eachLine(w.cfg.DatasetPath, func(line []byte, number int) error {
		row, err := w.parse(line)
		if err != nil {
			return err
		}
		row.line = number
		if len(rows) > 0 && rows[0].untimed != row.untimed {
			return fmt.Errorf("either all rows have a %q or none: this row and that of line %d differ", w.cfg.LabelTimestamp, rows[0].line)
		}
		rows = append(rows, row)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return w.cfg.replay(ctx, &w.notes, rows)
}

func (w *mooncake) parse(raw []byte) (traceRow, error) {
	cfg := &w.cfg
	var columns map[string]json.RawMessage
	var row traceRow
	if err := unmarshal(raw, &columns); err != nil {
		return row, err
	}
	number := func(label string, most float64) (float64, error) {
		value, ok := columns[label]
		if !ok {
			return 0, fmt.Errorf("no %q%s", label, registry.DidYouMean(label, slices.Sorted(maps.Keys(columns))))
		}
		var f *float64
		if err := json.Unmarshal(value, &f); err != nil || f == nil || !(*f >= 0 && *f <= most) {
			return 0, fmt.Errorf("%q must be a number from 0 to %g, but is %.40s", label, most, value)
		}
		return *f, nil
	}
	// A trace of 250 years in nanoseconds would not fit an arrival time.
	if _, has := columns[cfg.LabelTimestamp]; !has && cfg.LaxTrace {
		row.untimed = true
	} else if t, err := number(cfg.LabelTimestamp, 4e12); err != nil {
		return row, err
	} else if row.seconds = t; cfg.TimestampUnit == "ms" {
		row.seconds = t / 1000
	}
	// A length of 0 is none: without a limit the answer would never end.
	length := func(label string) (int, error) {
		f, err := number(label, MaxTokens)
		if err == nil && (f < 1 || f != math.Trunc(f)) {
			err = fmt.Errorf("%q must be a whole number of at least 1, but is %.40s", label, columns[label])
		}
		return int(f), err
	}
	row.out = 1
	if _, has := columns[cfg.LabelOutputLen]; has || !cfg.LaxTrace {
		var err error
		if row.out, err = length(cfg.LabelOutputLen); err != nil {
			return row, err
		}
	}
	if value := columns["input_text"]; value != nil && string(value) != "null" {
		if err := json.Unmarshal(value, &row.text); err != nil || row.text == "" {
			return row, fmt.Errorf(`"input_text" must be a text that is not empty`)
		}
		return row, nil
	}
	var err error
	if row.in, err = length(cfg.LabelInputLen); err != nil {
		return row, err
	}
	if value := columns[cfg.LabelHashIDs]; value != nil {
		if err := json.Unmarshal(value, &row.hashes); err != nil {
			return row, fmt.Errorf("%q must be a list of whole numbers", cfg.LabelHashIDs)
		}
	}
	return row, nil
}
