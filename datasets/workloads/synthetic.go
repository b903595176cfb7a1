package workloads

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"ais_bench/datasets"
)

// maxSynthetic is AISBench's bound on lengths and counts.
const maxSynthetic = 1 << 20

// Lengths is a distribution of token lengths, as AISBench's synthetic
// configuration writes it.
//
//   - uniform: U{Min, …, Max}
//   - gaussian: N(Mean, Var), rounded, clipped to [Min, Max]
//   - zipf: P(k) ∝ k^−Alpha for k = Min, …, Max, Alpha in (1, 10]
type Lengths struct {
	Method    string // uniform | gaussian | zipf
	Min, Max  int
	Mean, Var float64
	Alpha     float64
}

// Check tells what is wrong with l.
func (l Lengths) Check() error {
	if l.Min < 1 || l.Max < l.Min || l.Max > maxSynthetic {
		return fmt.Errorf("lengths must satisfy 1 <= MinValue <= MaxValue <= %d, got %d and %d", maxSynthetic, l.Min, l.Max)
	}
	switch l.Method {
	case "uniform":
	case "gaussian":
		if l.Var < 0 {
			return fmt.Errorf("gaussian Var must not be negative, got %g", l.Var)
		}
	case "zipf":
		if l.Alpha <= 1 || l.Alpha > 10 {
			return fmt.Errorf("zipf Alpha must be in (1, 10], got %g", l.Alpha)
		}
	default:
		return fmt.Errorf("length method %q is not known; give uniform, gaussian or zipf", l.Method)
	}
	return nil
}

// String describes l in AISBench's words.
func (l Lengths) String() string {
	switch l.Method {
	case "gaussian":
		return fmt.Sprintf("gaussian(Mean %g, Var %g) in [%d, %d]", l.Mean, l.Var, l.Min, l.Max)
	case "zipf":
		return fmt.Sprintf("zipf(Alpha %g) in [%d, %d]", l.Alpha, l.Min, l.Max)
	}
	return fmt.Sprintf("%s in [%d, %d]", l.Method, l.Min, l.Max)
}

// Sampler draws from l, which must pass Check.
func (l Lengths) Sampler() func(*rand.Rand) int {
	switch l.Method {
	case "gaussian":
		return func(r *rand.Rand) int {
			x := math.Round(l.Mean + r.NormFloat64()*math.Sqrt(l.Var))
			return int(min(max(x, float64(l.Min)), float64(l.Max)))
		}
	case "zipf":
		cum, sum := make([]float64, l.Max-l.Min+1), 0.0
		for i := range cum {
			sum += math.Pow(float64(l.Min+i), -l.Alpha)
			cum[i] = sum
		}
		return func(r *rand.Rand) int {
			x := r.Float64() * sum
			lo, hi := 0, len(cum)-1
			for lo < hi {
				if mid := (lo + hi) / 2; cum[mid] > x {
					hi = mid
				} else {
					lo = mid + 1
				}
			}
			return l.Min + lo
		}
	}
	return func(r *rand.Rand) int { return l.Min + r.IntN(l.Max-l.Min+1) }
}

// syntheticString is AISBench's synthetic "string" type: the word A, repeated
// with blanks as many times as InputLengths says; the output length is drawn from
// OutputLengths. Every prompt of a length is the same, so a prefix cache hits:
// the requests differ in lengths alone, and with CacheBust by the request's number.
//
// Uses: NumPrompts, InputLengths, OutputLengths, CacheBust.
type syntheticString struct{ cfg Config }

func newSyntheticString(cfg Config) (Workload, error) {
	if err := cfg.InputLengths.Check(); err != nil {
		return nil, fmt.Errorf("input %w", err)
	}
	if err := cfg.OutputLengths.Check(); err != nil {
		return nil, fmt.Errorf("output %w", err)
	}
	if cfg.NumPrompts > maxSynthetic {
		return nil, fmt.Errorf("RequestCount must be at most %d, got %d", maxSynthetic, cfg.NumPrompts)
	}
	return &syntheticString{cfg}, nil
}

func (w *syntheticString) String() string {
	return fmt.Sprintf("synthetic string: %d prompts, input %s, output %s, seed %d", w.cfg.NumPrompts, w.cfg.InputLengths, w.cfg.OutputLengths, w.cfg.Seed)
}

func (w *syntheticString) Notes() []string { return nil }

func (w *syntheticString) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	in, out := cfg.InputLengths.Sampler(), cfg.OutputLengths.Sampler()
	rin, rout := stream(cfg.Seed, purposeInput), stream(cfg.Seed, purposeOutput)
	samples := make([]datasets.Sample, cfg.NumPrompts)
	for i := range samples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := in(rin)
		s := cfg.sample(strconv.Itoa(i), out(rout))
		s.Prompt.Text = strings.TrimSuffix(strings.Repeat("A ", n), " ")
		if cfg.CacheBust != "" {
			s.Prompt.Text = cfg.CacheBust + " " + strconv.Itoa(i) + " " + s.Prompt.Text
		}
		samples[i] = s
	}
	return samples, each(ctx, len(samples), func(i int) error { cfg.measure(&samples[i]); return nil })
}

// syntheticTokenID is AISBench's "tokenid" type: InputLen ids drawn from the
// vocabulary, the first SharedPrefixFrac of them common to all requests, decoded
// and sent as text. AISBench sends whatever that text turns out to encode to (100
// ids may become 35 tokens); here it is corrected to exactly InputLen.
//
// Uses: NumPrompts, InputLen, OutputLen, SharedPrefixFrac, Tokenizer, CacheBust.
type syntheticTokenID struct{ cfg Config }

func newSyntheticTokenID(cfg Config) (Workload, error) {
	if cfg.InputLen < 1 || cfg.InputLen > maxSynthetic {
		return nil, fmt.Errorf("RequestSize must be between 1 and %d, got %d", maxSynthetic, cfg.InputLen)
	}
	if cfg.SharedPrefixFrac < 0 || cfg.SharedPrefixFrac > 1 {
		return nil, fmt.Errorf("PrefixLen is a share and must be between 0 and 1, got %g", cfg.SharedPrefixFrac)
	}
	return &syntheticTokenID{cfg}, nil
}

func (w *syntheticTokenID) String() string {
	return fmt.Sprintf("synthetic tokenid: %d prompts of %d tokens, %g of them shared, seed %d", w.cfg.NumPrompts, w.cfg.InputLen, w.cfg.SharedPrefixFrac, w.cfg.Seed)
}

func (w *syntheticTokenID) Notes() []string { return nil }

func (w *syntheticTokenID) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	sp, err := newSpeller(ctx, cfg.Tokenizer, 0, 0)
	if err != nil {
		return nil, err
	}
	opening := sp.opening(cfg, stream(cfg.Seed, purposePrefix), int(cfg.SharedPrefixFrac*float64(cfg.InputLen)))
	samples := make([]datasets.Sample, cfg.NumPrompts)
	err = each(ctx, len(samples), func(i int) error {
		r := stream(cfg.Seed, purposePrompt+uint64(i))
		s := cfg.sample(strconv.Itoa(i), cfg.OutputLen)
		p := opening
		if n := cfg.InputLen - opening.tokens; n > 0 {
			p = sp.correct(opening.text, sp.draw(r, n), cfg.InputLen, r)
		}
		s.Prompt.Text = p.text
		s.Fields[FieldInputLen] = p.tokens + cfg.Tokenizer.AddedByDefault()
		samples[i] = s
		return cfg.lengthCheck(s.Fields[FieldInputLen].(int), s.MaxTokens)
	})
	return samples, err
}
