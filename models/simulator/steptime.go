package simulator

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"ais_bench/registry"
)

// The latency model of one engine step is
//
//	step = (base + a·prefill_tokens + b·decode_seqs + c·context_tokens/1000) · scale · tail · drift
//
// where prefill_tokens are the prompt tokens computed in the step,
// decode_seqs the sequences that get one token each and context_tokens the
// tokens these sequences have behind them (their KV is read every step). tail
// is a random factor of mean 1 (Config.LatencyTail) and drift is
// 1 + LatencyDrift · minutes since the server started.
type stepModel struct {
	base, prefill, decode, context float64 // ns
	tail                           tail
	drift                          float64 // per minute
	seed                           uint64
}

// preset holds the costs of one kind of engine at TimeScale 1. The h100 and
// a100 rows are planning values fitted to published time-to-first-token and
// inter-token ranges, not measurements of one machine.
type preset struct{ base, prefill, decode, context time.Duration }

var presets = map[string]preset{
	// Fast enough for demos and tests, slow enough to show queueing:
	// 250 tokens/s for one stream, 12,000 tokens/s for 64.
	"fast":         {base: 4 * time.Millisecond, prefill: 10 * time.Microsecond, decode: 20 * time.Microsecond, context: 500 * time.Nanosecond},
	"instant":      {base: 100 * time.Microsecond, prefill: 100 * time.Nanosecond, decode: 2 * time.Microsecond, context: time.Nanosecond},
	"h100-8b":      {base: 9 * time.Millisecond, prefill: 32 * time.Microsecond, decode: 25 * time.Microsecond, context: 15 * time.Microsecond},
	"h100-70b-tp8": {base: 17 * time.Millisecond, prefill: 75 * time.Microsecond, decode: 45 * time.Microsecond, context: 12 * time.Microsecond},
	"a100-8b":      {base: 14 * time.Millisecond, prefill: 70 * time.Microsecond, decode: 40 * time.Microsecond, context: 25 * time.Microsecond},
}

// PresetNames lists the names Config.Preset takes, sorted.
func PresetNames() []string { return slices.Sorted(maps.Keys(presets)) }

// tail draws positive random factors of mean 1.
type tail struct {
	kind  string // "", lognormal or pareto
	param float64
}

// parseTail reads lognormal:SIGMA (SIGMA > 0) or pareto:ALPHA (ALPHA > 1, so
// that a mean exists). "" is the constant 1.
func parseTail(s string) (tail, error) {
	if s == "" || s == "constant" {
		return tail{}, nil
	}
	kind, arg, _ := strings.Cut(s, ":")
	v, err := strconv.ParseFloat(arg, 64)
	switch {
	case kind != "lognormal" && kind != "pareto":
		return tail{}, fmt.Errorf("--latency-tail %q: unknown distribution%s", s, registry.DidYouMean(kind, []string{"constant", "lognormal", "pareto"}))
	case err != nil:
		return tail{}, fmt.Errorf("--latency-tail %q: want %s:NUMBER", s, kind)
	case kind == "lognormal" && !(v > 0 && v < 10):
		return tail{}, fmt.Errorf("--latency-tail %q: sigma must lie between 0 and 10", s)
	case kind == "pareto" && !(v > 1 && v < 1e6):
		return tail{}, fmt.Errorf("--latency-tail %q: alpha must be above 1, else there is no mean", s)
	}
	return tail{kind, v}, nil
}

// at gives the factor for one hash value. Lognormal: exp(σz − σ²/2). Pareto:
// x_m·(1−u)^(−1/α) with x_m = (α−1)/α.
func (t tail) at(h uint64) float64 {
	switch t.kind {
	case "lognormal":
		return math.Exp(t.param*normal(h) - t.param*t.param/2)
	case "pareto":
		return (t.param - 1) / t.param * math.Pow(1-unit(h), -1/t.param)
	}
	return 1
}

func newStepModel(c *Config) (stepModel, error) {
	t, err := parseTail(c.LatencyTail)
	if err != nil {
		return stepModel{}, err
	}
	return stepModel{
		base: float64(c.StepBase) * c.TimeScale, prefill: float64(c.PrefillCost) * c.TimeScale,
		decode: float64(c.DecodeCost) * c.TimeScale, context: float64(c.ContextCost) * c.TimeScale,
		tail: t, drift: c.LatencyDrift, seed: mix(uint64(c.Seed), 0x57e9),
	}, nil
}

// step gives the length in ns of step number n, age ns after the start.
func (m *stepModel) step(n uint64, age int64, prefillTokens, decodeSeqs, contextTokens int) int64 {
	ns := m.base + m.prefill*float64(prefillTokens) + m.decode*float64(decodeSeqs) + m.context*float64(contextTokens)/1000
	if m.tail.kind != "" {
		ns *= m.tail.at(mix(m.seed, n))
	}
	return int64(ns * driftFactor(m.drift, age))
}

// driftFactor never falls below a tenth: a negative drift may not turn time around.
func driftFactor(perMinute float64, age int64) float64 {
	if perMinute == 0 {
		return 1
	}
	return max(0.1, 1+perMinute*float64(age)/float64(time.Minute))
}
