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

// Lengths is a distribution of token lengths, as AISBench's synthetic
// configuration writes it.
//
//   - uniform: U{Min, …, Max}
//   - gaussian: N(Mean, Var), rounded, clipped to [Min, Max]
//   - zipf: k from 1, 2, … with P(k) ∝ k^−Alpha, clipped to [Min, Max], Alpha in
//     (1, 10]: Min stands for all that is shorter, Max for all that is longer
//
// AISBench cuts the fractions of a uniform or gaussian draw off, which makes MaxValue
// unreachable and a mean half a token smaller than asked for.
type Lengths struct {
	Method    string // uniform | gaussian | zipf; "" = none
	Min, Max  int
	Mean, Var float64
	Alpha     float64
}

// Fixed is the distribution of n alone.
func Fixed(n int) Lengths { return Lengths{Method: "uniform", Min: n, Max: n} }

// maxMoment is AISBench's bound on mean and variance, which fit a 32-bit float.
const maxMoment = 3e38

// Check tells what is wrong with l.
func (l Lengths) Check() error {
	if l.Min < 1 || l.Max < l.Min || l.Max > datasets.MaxSynthetic {
		return fmt.Errorf("lengths must satisfy 1 <= MinValue <= MaxValue <= %d, got %d and %d", datasets.MaxSynthetic, l.Min, l.Max)
	}
	switch l.Method {
	case "uniform":
	case "gaussian":
		if !(l.Var >= 0 && l.Var <= maxMoment) {
			return fmt.Errorf("gaussian Var must be between 0 and %g, got %g", maxMoment, l.Var)
		}
		if !(math.Abs(l.Mean) <= maxMoment) {
			return fmt.Errorf("gaussian Mean must be between %g and %g, got %g", -maxMoment, maxMoment, l.Mean)
		}
	case "zipf":
		if !(l.Alpha > 1 && l.Alpha <= 10) {
			return fmt.Errorf("zipf Alpha must be in (1, 10], got %g", l.Alpha)
		}
	default:
		return fmt.Errorf("length method %q is not known; give uniform, gaussian or zipf", l.Method)
	}
	return nil
}

// String describes l in AISBench's words.
func (l Lengths) String() string {
	switch {
	case l.Method == "gaussian":
		return fmt.Sprintf("gaussian(Mean %g, Var %g) in [%d, %d]", l.Mean, l.Var, l.Min, l.Max)
	case l.Method == "zipf":
		return fmt.Sprintf("zipf(Alpha %g) in [%d, %d]", l.Alpha, l.Min, l.Max)
	case l.Min == l.Max:
		return fmt.Sprintf("always %d", l.Min)
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
		cum := l.zipfTable()
		sum := cum[len(cum)-1]
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

// zipfTable is the sum of the weights of 1 … k for every length k from Min to Max,
// and for Max of all weights there are.
func (l Lengths) zipfTable() []float64 {
	cum, sum := make([]float64, l.Max-l.Min+1), 0.0
	for k := 1; k <= l.Max; k++ {
		sum += math.Pow(float64(k), -l.Alpha)
		if k >= l.Min {
			cum[k-l.Min] = sum
		}
	}
	// What lies beyond Max: some terms one by one, the rest by Euler and Maclaurin.
	n := float64(l.Max)
	for range 64 {
		n++
		sum += math.Pow(n, -l.Alpha)
	}
	sum += math.Pow(n, 1-l.Alpha)/(l.Alpha-1) - math.Pow(n, -l.Alpha)/2 + l.Alpha*math.Pow(n, -l.Alpha-1)/12
	cum[len(cum)-1] = sum
	return cum
}

// syntheticLengths checks the lengths of both sides. A side without a distribution
// has the fixed length given by InputLen or OutputLen; an output of 0 is left to the
// model.
func (c *Config) syntheticLengths() error {
	if c.InputLengths.Method == "" {
		if c.InputLen < 1 || c.InputLen > datasets.MaxSynthetic {
			return fmt.Errorf("RequestSize must be between 1 and %d, got %d", datasets.MaxSynthetic, c.InputLen)
		}
		c.InputLengths = Fixed(c.InputLen)
	}
	if err := c.InputLengths.Check(); err != nil {
		return fmt.Errorf("input %w", err)
	}
	if c.OutputLengths.Method == "" && c.OutputLen > 0 {
		c.OutputLengths = Fixed(c.OutputLen)
	}
	if c.OutputLengths.Method != "" {
		if err := c.OutputLengths.Check(); err != nil {
			return fmt.Errorf("output %w", err)
		}
	}
	if c.NumPrompts > datasets.MaxSynthetic {
		return fmt.Errorf("RequestCount must be at most %d, got %d", datasets.MaxSynthetic, c.NumPrompts)
	}
	return nil
}

// drawLengths gives the lengths of all requests. Each side has a stream of its own,
// so that the first n requests are the same however many there are.
func (c *Config) drawLengths() (in, out []int, err error) {
	in, out = make([]int, c.NumPrompts), make([]int, c.NumPrompts)
	draw, r := c.InputLengths.Sampler(), stream(c.Seed, purposeInput)
	var all promptTokens
	for i := range in {
		in[i] = draw(r)
		if err := all.add(in[i]); err != nil {
			return nil, nil, err
		}
	}
	if c.OutputLengths.Method != "" {
		draw, r = c.OutputLengths.Sampler(), stream(c.Seed, purposeOutput)
		for i := range out {
			out[i] = draw(r)
		}
	}
	return in, out, nil
}

func (c *Config) syntheticOutput() string {
	if c.OutputLengths.Method == "" {
		return "left to the model"
	}
	return c.OutputLengths.String()
}

// syntheticString is AISBench's synthetic "string" type: the word A, repeated
// with blanks as many times as InputLengths says; the output length is drawn from
// OutputLengths. How many tokens that is depends on the tokenizer, mostly one a word.
// Every prompt of a length is the same, so a prefix cache hits:
// the requests differ in lengths alone, and with CacheBust by the request's number.
//
// Uses: NumPrompts, InputLengths (InputLen), OutputLengths (OutputLen), CacheBust,
// Tokenizer (optional), MaxModelLen.
type syntheticString struct{ cfg Config }

func newSyntheticString(cfg Config) (Workload, error) {
	if err := cfg.syntheticLengths(); err != nil {
		return nil, err
	}
	if cfg.PrefixLen > 0 {
		return nil, fmt.Errorf("takes no prefix length (got %d): its prompts are all beginnings of one text; synthetic_tokenid has one", cfg.PrefixLen)
	}
	return &syntheticString{cfg}, nil
}

func (w *syntheticString) String() string {
	return fmt.Sprintf("synthetic string: %d prompts, input %s, output %s, seed %d", w.cfg.NumPrompts, w.cfg.InputLengths, w.cfg.syntheticOutput(), w.cfg.Seed)
}

func (w *syntheticString) Notes() []string { return nil }

func (w *syntheticString) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	in, out, err := cfg.drawLengths()
	if err != nil {
		return nil, err
	}
	longest := 0
	for _, n := range in {
		longest = max(longest, n)
	}
	text := strings.TrimSuffix(strings.Repeat("A ", longest), " ") // prompts share its memory
	samples := make([]datasets.Sample, cfg.NumPrompts)
	for i := range samples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := cfg.sample(strconv.Itoa(i), out[i])
		s.Prompt.Text = text[:2*in[i]-1]
		if cfg.CacheBust != "" {
			s.Prompt.Text = cfg.CacheBust + " " + strconv.Itoa(i) + " " + s.Prompt.Text
		}
		samples[i] = s
	}
	return samples, each(ctx, len(samples), func(i int) error {
		s := &samples[i]
		cfg.measure(s)
		n, _ := s.Fields[FieldInputLen].(int)
		return cfg.lengthCheck(n, s.MaxTokens)
	})
}

// syntheticTokenID is AISBench's "tokenid" type: ids drawn from the vocabulary, as
// many as InputLen or InputLengths says, the first PrefixLen of them common to all
// requests, decoded and sent as text. AISBench sends whatever that text turns out to encode to (100
// ids may become 35 tokens); here it is corrected to exactly that length.
//
// Uses: NumPrompts, InputLen or InputLengths, OutputLen or OutputLengths, PrefixLen,
// Tokenizer, CacheBust, MaxModelLen.
type syntheticTokenID struct{ cfg Config }

func newSyntheticTokenID(cfg Config) (Workload, error) {
	if err := cfg.syntheticLengths(); err != nil {
		return nil, err
	}
	if cfg.PrefixLen > cfg.InputLengths.Min {
		return nil, fmt.Errorf("PrefixLen of %d tokens does not fit into the shortest prompt, which has %d", cfg.PrefixLen, cfg.InputLengths.Min)
	}
	return &syntheticTokenID{cfg}, nil
}

func (w *syntheticTokenID) String() string {
	return fmt.Sprintf("synthetic tokenid: %d prompts, input %s, %d tokens of it shared, output %s, seed %d", w.cfg.NumPrompts, w.cfg.InputLengths, w.cfg.PrefixLen, w.cfg.syntheticOutput(), w.cfg.Seed)
}

func (w *syntheticTokenID) Notes() []string { return nil }

func (w *syntheticTokenID) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	sp, err := newSpeller(ctx, cfg.Tokenizer, 0, 0)
	if err != nil {
		return nil, err
	}
	in, out, err := cfg.drawLengths()
	if err != nil {
		return nil, err
	}
	opening := sp.opening(cfg, stream(cfg.Seed, purposePrefix), cfg.PrefixLen)
	samples := make([]datasets.Sample, cfg.NumPrompts)
	err = each(ctx, len(samples), func(i int) error {
		r := stream(cfg.Seed, purposePrompt+uint64(i))
		s := cfg.sample(strconv.Itoa(i), out[i])
		p := opening
		if n := in[i] - opening.tokens; n > 0 {
			p = sp.correct(opening.text, sp.draw(r, n), in[i], r)
		}
		s.Prompt.Text = p.text
		s.Fields[FieldInputLen] = p.tokens + cfg.Tokenizer.AddedByDefault()
		samples[i] = s
		return cfg.lengthCheck(s.Fields[FieldInputLen].(int), s.MaxTokens)
	})
	return samples, err
}
