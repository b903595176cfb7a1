// Package synthetic makes records of runs whose true figures are known, so that
// intervals and verdicts can be held against the truth. The service it imitates
// answers a fixed number of requests at once (closed loop), or requests as they
// arrive (open loop), each with a first token after a lognormal time and further
// tokens at a lognormal pace; in slow spells everything takes longer, so that
// requests of one time are alike.
package synthetic

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"sort"

	"ais_bench/outputs"
)

// Config describes a run.
type Config struct {
	Requests    int
	Concurrency int     // closed loop; 0 = open loop
	Rate        float64 // open loop: Poisson arrivals per second; 0 = all at once
	Seed        uint64

	TTFTMedianMS float64
	TTFTSigma    float64 // of the logarithm
	TPOTMedianMS float64
	TPOTSigma    float64
	Tokens       int     // mean output tokens
	TokenSpread  float64 // sigma of their lognormal; 0 = always Tokens
	Success      float64 // share of requests that succeed; 0 = 1

	// Spells of time that are slower: SlowShare of the time, in stretches of
	// SlowSeconds on average, everything takes SlowFactor times as long.
	SlowShare, SlowSeconds, SlowFactor float64

	// Drift between runs: all times of this run are multiplied by exp(σ·N(0,1)).
	BetweenRuns float64
}

// TTFTQuantileMS is the true quantile of the time to first token of a run without
// slow spells; z is the normal quantile (2.3263 for p99).
func (c Config) TTFTQuantileMS(z float64) float64 { return c.TTFTMedianMS * math.Exp(c.TTFTSigma*z) }

// Records gives the run's records in the order of their ends.
func (c Config) Records() iter.Seq2[*outputs.Record, error] {
	list := c.list()
	return func(yield func(*outputs.Record, error) bool) {
		for i := range list {
			if !yield(&list[i], nil) {
				return
			}
		}
	}
}

func (c Config) list() []outputs.Record {
	rng := rand.New(rand.NewPCG(c.Seed, 0x9e3779b97f4a7c15))
	scale := math.Exp(c.BetweenRuns * rng.NormFloat64())
	slow := c.spells(rng)
	free := make([]float64, max(c.Concurrency, 0)) // when each slot is free
	arrival := 0.0
	out := make([]outputs.Record, c.Requests)
	for i := range out {
		due := arrival
		sent := due
		slot := -1
		switch {
		case c.Concurrency > 0:
			slot = 0
			for j := range free {
				if free[j] < free[slot] {
					slot = j
				}
			}
			sent = free[slot]
			due = 0
		case c.Rate > 0:
			arrival += rng.ExpFloat64() / c.Rate
			due = arrival
			sent = due
		}
		factor := scale * slow(sent)
		ttft := factor * c.TTFTMedianMS / 1e3 * math.Exp(c.TTFTSigma*rng.NormFloat64())
		tpot := factor * c.TPOTMedianMS / 1e3 * math.Exp(c.TPOTSigma*rng.NormFloat64())
		tokens := c.Tokens
		if c.TokenSpread > 0 {
			tokens = max(1, int(math.Round(float64(c.Tokens)*math.Exp(c.TokenSpread*rng.NormFloat64()-c.TokenSpread*c.TokenSpread/2))))
		}
		r := record(i, due, sent, ttft, tpot, tokens)
		if c.Success > 0 && rng.Float64() >= c.Success {
			fail(&r)
		}
		if slot >= 0 {
			free[slot] = float64(r.End) / 1e9
		}
		out[i] = r
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].End < out[j].End })
	return out
}

// spells gives the factor by which a time is slow.
func (c Config) spells(rng *rand.Rand) func(at float64) float64 {
	if !(c.SlowShare > 0) {
		return func(float64) float64 { return 1 }
	}
	// Alternating exponential stretches; made as far as they are asked for.
	var ends []float64 // ends of stretches: fast, slow, fast …
	end := 0.0
	extend := func(at float64) {
		for end <= at {
			mean := c.SlowSeconds
			if len(ends)%2 == 0 {
				mean = c.SlowSeconds * (1 - c.SlowShare) / c.SlowShare
			}
			end += mean * rng.ExpFloat64()
			ends = append(ends, end)
		}
	}
	return func(at float64) float64 {
		extend(at)
		if i := sort.SearchFloat64s(ends, at); i%2 == 1 {
			return c.SlowFactor
		}
		return 1
	}
}

func ns(s float64) int64 { return int64(math.Round(s * 1e9)) }

func record(i int, due, sent, ttft, tpot float64, tokens int) outputs.Record {
	at := make([]int64, tokens)
	for k := range at {
		at[k] = ns(ttft + float64(k)*tpot)
	}
	last := ns(sent) + at[tokens-1]
	return outputs.Record{Model: "model", Dataset: "synthetic", SampleID: fmt.Sprint(i), Phase: outputs.PhaseMeasured, Stream: true,
		Scheduled: ns(due), Sent: ns(sent), Connected: ns(sent), FirstByte: ns(sent) + at[0], FirstEvent: ns(sent) + at[0], FirstToken: ns(sent) + at[0],
		FirstAnswerToken: ns(sent) + at[0], LastToken: last, End: last, ChunkAt: at, InputTokens: 100, OutputTokens: int32(tokens),
		ReasoningTokens: outputs.UnknownTokens, CachedTokens: outputs.UnknownTokens, TokenSource: outputs.TokensUsage, MaxTokens: int32(tokens),
		Status: outputs.StatusOK, HTTPStatus: 200, FinishReason: "length", Reads: int32(tokens), Reused: true}
}

// fail makes a record one of a request that was refused after its first token's time.
func fail(r *outputs.Record) {
	r.Status, r.HTTPStatus, r.FinishReason, r.Error = outputs.StatusHTTP5xx, 503, "", "overloaded"
	r.End = r.FirstToken
	r.FirstToken, r.FirstAnswerToken, r.LastToken, r.FirstEvent = outputs.Never, outputs.Never, outputs.Never, outputs.Never
	r.ChunkAt, r.OutputTokens, r.InputTokens, r.TokenSource = nil, outputs.UnknownTokens, outputs.UnknownTokens, outputs.TokensUnknown
}

// Write writes the run's records into a run folder.
func Write(run *outputs.Run, c Config) error {
	w, err := run.Journal("model", "synthetic")
	if err != nil {
		return err
	}
	for r := range c.Records() {
		if err := w.Append(r); err != nil {
			return err
		}
	}
	return w.Close()
}
