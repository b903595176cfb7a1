package workloads

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"ais_bench/datasets"
)

// random is vLLM's random workload. With s special tokens that the tokenizer adds
// and real = max(0, InputLen − s): the input length of request i is drawn around
// real, its output length around OutputLen by the range ratio (see
// RangeRatioMode), and an offset from the whole vocabulary. Its ids are PrefixLen
// ids drawn once for all requests, then allowed[(offset + i + k) mod |allowed|]
// for k = 0, 1, …, where allowed is the vocabulary without special ids (and without those
// that are no text on their own). The text
// is corrected until it encodes to exactly that many tokens (speller). A longer or
// shorter text is got by taking more or fewer tokens of the same run, where vLLM
// appends random ones. BatchSize > 1 puts so many prompts into one request
// (embeddings): FieldBatch and the body's input. With several turns it is dialogue.
//
// Uses: NumPrompts, InputLen, OutputLen, PrefixLen, RangeRatio*, BatchSize,
// Tokenizer, CacheBust, MaxModelLen.
type random struct {
	cfg  Config
	text bool
}

func newRandom(cfg Config) (Workload, error) { return makeRandom(cfg, true) }

// newRandomIDs is random without the correction, sent as ids: exact by itself,
// where the endpoint takes ids (completions, native endpoints).
func newRandomIDs(cfg Config) (Workload, error) { return makeRandom(cfg, false) }

func makeRandom(cfg Config, text bool) (Workload, error) {
	if err := cfg.checkRatios(); err != nil {
		return nil, err
	}
	if cfg.manyTurns() {
		switch {
		case !text:
			return nil, fmt.Errorf("conversations are sent as text; give random")
		case cfg.BatchSize > 1:
			return nil, fmt.Errorf("a batch size of %d and several turns exclude each other", cfg.BatchSize)
		}
	}
	if cfg.BatchSize > 1 && !text {
		return nil, fmt.Errorf("a batch size of %d needs text prompts; give random", cfg.BatchSize)
	}
	real := max(0, cfg.InputLen-cfg.Tokenizer.AddedByDefault())
	lo, _ := cfg.bounds(real, cfg.RangeRatioInput, 0)
	if cfg.PrefixLen+lo < 1 {
		return nil, fmt.Errorf("input length %d and range ratio %g allow an empty prompt; raise --random-input-len", cfg.InputLen, cfg.RangeRatioInput)
	}
	if cfg.manyTurns() {
		return newDialogue(cfg)
	}
	return &random{cfg, text}, nil
}

func (w *random) String() string {
	as := "text"
	if !w.text {
		as = "token ids"
	}
	return fmt.Sprintf("random: %d prompts of %d tokens (%d shared) as %s, %d out, range ratio %g/%g (%s), seed %d", w.cfg.NumPrompts,
		w.cfg.PrefixLen+w.cfg.InputLen, w.cfg.PrefixLen, as, w.cfg.OutputLen, w.cfg.RangeRatioInput, w.cfg.RangeRatioOutput, w.cfg.RangeRatioMode, w.cfg.Seed)
}

func (w *random) Notes() []string { return nil }

func (w *random) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	n := cfg.NumPrompts
	real := max(0, cfg.InputLen-cfg.Tokenizer.AddedByDefault())
	_, longest := cfg.bounds(real, cfg.RangeRatioInput, 0)
	sp, err := newSpeller(ctx, cfg.Tokenizer, longest, n)
	if err != nil {
		return nil, err
	}
	inputs, outputs, offsets := make([]int, n), make([]int, n), make([]int, n)
	rin, rout, roff := stream(cfg.Seed, purposeInput), stream(cfg.Seed, purposeOutput), stream(cfg.Seed, purposeOffset)
	for i := range n {
		inputs[i] = cfg.draw(rin, real, cfg.RangeRatioInput, 0)
		outputs[i] = cfg.draw(rout, cfg.OutputLen, cfg.RangeRatioOutput, 1)
		offsets[i] = roff.IntN(len(sp.ids))
	}
	rp := stream(cfg.Seed, purposePrefix)
	var opening passage
	openingIDs := cfg.saltIDs()
	if w.text {
		opening = sp.opening(cfg, rp, cfg.PrefixLen)
	} else {
		openingIDs = append(openingIDs, sp.draw(rp, max(0, cfg.PrefixLen-len(openingIDs)))...)
	}
	samples := make([]datasets.Sample, n)
	err = each(ctx, n, func(i int) error {
		s := cfg.sample(strconv.Itoa(i), outputs[i])
		var err error
		if want := cfg.PrefixLen + inputs[i]; w.text {
			err = sp.fill(cfg, &s, opening, offsets[i]+i, want, purposePrompt+uint64(i))
		} else {
			err = sp.fillIDs(cfg, &s, openingIDs, offsets[i]+i, want)
		}
		samples[i] = s
		return err
	})
	if err != nil || cfg.BatchSize <= 1 {
		return samples, err
	}
	return batches(samples, cfg.BatchSize), nil
}

// batches puts every size samples into one request of an embeddings endpoint.
func batches(samples []datasets.Sample, size int) []datasets.Sample {
	var out []datasets.Sample
	for part := range slices.Chunk(samples, size) {
		s, n := part[0], 0
		var input []string
		for _, p := range part {
			input = append(input, p.Prompt.Text)
			n += p.Fields[FieldInputLen].(int)
		}
		s.ID = strconv.Itoa(len(out))
		s.Params = maps.Clone(s.Params)
		if s.Params == nil {
			s.Params = map[string]any{}
		}
		s.Params["input"] = input
		s.Fields[FieldBatch], s.Fields[FieldInputLen] = input, n
		out = append(out, s)
	}
	return out
}
