package bench

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"ais_bench/datasets"
	"ais_bench/datasets/workloads"
	"ais_bench/outputs"
	"ais_bench/quantile"
	"ais_bench/tasks"
)

// percentile is the p-th percentile (0–100) of sorted values; nil for none.
func percentile(sorted []float64, p float64) *float64 {
	if len(sorted) == 0 {
		return nil
	}
	v := quantile.Linear(sorted, p/100)
	return &v
}

// Records yields the run's records with what the tools that are stood in for know
// beside: where the server reports no prompt length, the one the workload measured.
func (s *Session) Records(out *tasks.Outcome) iter.Seq2[*outputs.Record, error] {
	lens := make(map[string]int32, len(s.Set.Samples))
	for i := range s.Set.Samples {
		if n, ok := s.Set.Samples[i].Fields[workloads.FieldInputLen].(int); ok {
			lens[s.Set.Samples[i].Key()] = int32(n)
		}
	}
	model, dataset := s.Pair(out)
	return func(yield func(*outputs.Record, error) bool) {
		for r, err := range out.Run.Records(model, dataset) {
			if err == nil && r.InputTokens == outputs.UnknownTokens {
				if n, ok := lens[r.SampleID]; ok && r.Turn == 0 {
					r.InputTokens = n
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Order is the place of a record's request among all that the run was to send:
// the order of the lists in a result file. Turns of a conversation follow each other.
func (s *Session) Order() func(*outputs.Record) int {
	at := make(map[string]int, len(s.Set.Samples))
	n := 0
	for i := range s.Set.Samples {
		sample := &s.Set.Samples[i]
		at[sample.Key()] = n
		n += 1 + len(sample.FollowUps)
	}
	return func(r *outputs.Record) int {
		if i, ok := at[r.SampleID]; ok {
			return i + int(r.Turn)
		}
		return n
	}
}

// Started is when the measured phase began, on the records' clock.
func (s *Session) Started(out *tasks.Outcome) *int64 {
	if in := out.Tasks[0].Inference; in != nil && in.Load.Dispatched > 0 {
		return &in.Load.Started
	}
	return nil
}

// Lengths compares the lengths asked for with what the server's usage says, turn by
// turn. How long the prompt of a later turn is depends on the answers before it, so
// that only its output length is compared.
func (s *Session) Lengths(out *tasks.Outcome) (workloads.LengthComparison, error) {
	type key struct {
		id   string
		turn int32
	}
	var asked []datasets.Sample
	var got []workloads.Realised
	at := make(map[key]int, len(s.Set.Samples))
	for i := range s.Set.Samples {
		sample := &s.Set.Samples[i]
		id := sample.Key()
		at[key{id, 0}] = len(asked)
		asked = append(asked, *sample)
		for turn, f := range sample.FollowUps {
			at[key{id, int32(turn) + 1}] = len(asked)
			asked = append(asked, datasets.Sample{MaxTokens: cmp.Or(f.MaxTokens, sample.MaxTokens)})
		}
	}
	for range asked {
		got = append(got, workloads.Realised{InputTokens: -1, OutputTokens: -1})
	}
	model, dataset := s.Pair(out)
	err := outputs.EachMeasured(out.Run.Records(model, dataset), func(r *outputs.Record) {
		i, ok := at[key{r.SampleID, r.Turn}]
		if !ok || r.TokenSource != outputs.TokensUsage {
			if ok {
				got[i].OK = r.OK()
			}
			return
		}
		got[i] = workloads.Realised{InputTokens: int(r.InputTokens), OutputTokens: int(r.OutputTokens), OK: r.OK()}
	})
	if err != nil {
		return workloads.LengthComparison{}, err
	}
	return workloads.LengthReport(asked, got)
}

// LengthTable shows the comparison.
func (s *Session) LengthTable(c workloads.LengthComparison) outputs.Table {
	t := outputs.Table{ID: "bench_lengths", Title: "Lengths asked for and realised (tokens)", Columns: []outputs.Column{{Name: "Length"}}}
	for _, name := range []string{"Min", "Mean", "Median", "P95", "P99", "Max"} {
		t.Columns = append(t.Columns, outputs.Column{Name: name, Kind: outputs.KindFloat, Format: "%.1f"})
	}
	t.Columns = append(t.Columns, outputs.Column{Name: "N", Kind: outputs.KindInt})
	for _, row := range []struct {
		name string
		d    *workloads.Distribution
	}{{"input, by the tokenizer", c.RequestedInput}, {"input, server's usage", c.RealisedInput}, {"output, asked for", c.RequestedOutput}, {"output, server's usage", c.RealisedOutput}} {
		if row.d == nil {
			t.AddRow(row.name, nil, nil, nil, nil, nil, nil, 0)
			continue
		}
		t.AddRow(row.name, row.d.Min, row.d.Mean, row.d.P50, row.d.P95, row.d.P99, row.d.Max, row.d.N)
	}
	if c.OutputBoth > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("stopped early: %d of %d answers (%.1f %%) are shorter than asked for", c.StoppedEarly, c.OutputBoth, 100*c.EarlyShare()))
	}
	if c.InputMismatch > 0 {
		why := "the tokenizer given is not the server's, or the server adds special tokens"
		if c.RealisedInput != nil && c.RequestedInput != nil && s.Backend.Chat {
			// A template adds some dozens of tokens to every prompt; another
			// tokenizer changes their number by a factor.
			if added := c.RealisedInput.Mean - c.RequestedInput.Mean; added > 0 && added <= 64 {
				why = "the server's chat template adds tokens"
			} else {
				why = "the tokenizer given is not the server's; its chat template adds tokens too"
			}
		}
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d prompts have another length on the server, %.4f times the tokens in all (%s)", c.InputMismatch, c.InputBoth, c.InputDrift, why))
	}
	if c.Requests > 0 && c.RealisedOutput == nil && !s.Backend.Pooling {
		t.Notes = append(t.Notes, "the server reports no usage that counts: realised lengths are unknown")
	}
	return t
}

// CacheTable sums up what the server's usage says of its prefix cache
// (prompt_tokens_details.cached_tokens), over the requests that succeeded.
func (s *Session) CacheTable(out *tasks.Outcome) (outputs.Table, error) {
	var prompt, cached int64
	told, of := 0, 0
	model, dataset := s.Pair(out)
	err := outputs.EachMeasured(out.Run.Records(model, dataset), func(r *outputs.Record) {
		if !r.OK() {
			return
		}
		if of++; r.InputTokens >= 0 && r.CachedTokens >= 0 {
			told, prompt, cached = told+1, prompt+int64(r.InputTokens), cached+int64(r.CachedTokens)
		}
	})
	t := outputs.Table{ID: "bench_cache", Title: "Prefix cache, by the server's usage", Columns: []outputs.Column{{Name: "Prompt tokens", Kind: outputs.KindInt}, {Name: "Cached tokens", Kind: outputs.KindInt}, {Name: "Hit rate %", Kind: outputs.KindFloat, Format: "%.2f"}, {Name: "Requests", Kind: outputs.KindInt}}}
	if told == 0 {
		t.AddRow(nil, nil, nil, 0)
		t.Notes = append(t.Notes, "no usage says how many prompt tokens were cached (vLLM: --enable-prompt-tokens-details, SGLang: --enable-cache-report)")
		return t, err
	}
	var rate any
	if prompt > 0 {
		rate = 100 * float64(cached) / float64(prompt)
	}
	t.AddRow(prompt, cached, rate, told)
	if told < of {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d answers say nothing of it", of-told, of))
	}
	return t, err
}

// Round tells which round a record belongs to (Options.Batch); -1 for none.
func (s *Session) Round() func(*outputs.Record) int {
	index := make(map[string]int, len(s.Set.Samples))
	for i := range s.Set.Samples {
		index[s.Set.Samples[i].Key()] = i / max(s.opts.Batch, 1)
	}
	return func(r *outputs.Record) int {
		if i, ok := index[r.SampleID]; ok {
			return i
		}
		return -1
	}
}

// Uncounted is how many answers have token counts that nobody reported.
func (s *Session) Uncounted(out *tasks.Outcome) int {
	n := 0
	model, dataset := s.Pair(out)
	_ = outputs.EachMeasured(out.Run.Records(model, dataset), func(r *outputs.Record) { // the report read the same records
		if r.OK() && r.OutputTokens < 0 {
			n++
		}
	})
	return n
}

// Seed is the seed of prompts and arrivals.
func (s *Session) Seed() int64 { return s.opts.Seed }

// Asked is the workload's configuration.
func (s *Session) Asked() workloads.Config { return s.opts.Workload }

// Dataset is the workload's or data set's name as given.
func (s *Session) Dataset() string { return s.opts.Dataset }

// Sequences is how many texts the successful requests carried (embeddings,
// rerank); a request without a batch carries one.
func (s *Session) Sequences(out *tasks.Outcome) int {
	size := make(map[string]int, len(s.Set.Samples))
	for i := range s.Set.Samples {
		size[s.Set.Samples[i].Key()] = 1
		if batch, ok := s.Set.Samples[i].Fields[workloads.FieldBatch].([]string); ok {
			size[s.Set.Samples[i].Key()] = len(batch)
		}
	}
	n := 0
	model, dataset := s.Pair(out)
	_ = outputs.EachMeasured(out.Run.Records(model, dataset), func(r *outputs.Record) { // the report read the same records
		if r.OK() {
			n += size[r.SampleID]
		}
	})
	return n
}

// RateChange is a whole number of requests/s that a ramp reached.
type RateChange struct {
	RPS int
	At  time.Time
}

// RateChanges lists when a ramp reached each whole rate, as vLLM does.
func (s *Session) RateChanges(out *tasks.Outcome) ([]RateChange, error) {
	var due []int64
	model, dataset := s.Pair(out)
	if err := outputs.EachMeasured(out.Run.Records(model, dataset), func(r *outputs.Record) { due = append(due, r.Scheduled) }); err != nil {
		return nil, err
	}
	slices.Sort(due)
	events := []RateChange{}
	reached := -1
	for i, at := range due {
		p := float64(i) / float64(max(len(s.Set.Samples)-1, 1))
		rate := s.opts.RampStart + (s.opts.RampEnd-s.opts.RampStart)*p
		if s.opts.RampUp == "exponential" {
			rate = s.opts.RampStart * math.Pow(s.opts.RampEnd/s.opts.RampStart, p)
		}
		if reached < 0 {
			reached = int(rate) - 1
		}
		for ; reached < int(rate+1e-9); reached++ {
			events = append(events, RateChange{reached + 1, out.Clock.Zero().Add(time.Duration(at))})
		}
	}
	return events, nil
}
