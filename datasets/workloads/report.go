package workloads

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ais_bench/datasets"
	"ais_bench/quantile"
)

// Realised is what the server did with one sample. Tokens are those of the
// server's usage; a negative number says that the server did not report it.
type Realised struct {
	InputTokens  int
	OutputTokens int
	OK           bool // the request succeeded; others are left out of all figures
}

// Distribution describes lengths in tokens. Percentiles are interpolated
// linearly (numpy's default).
type Distribution struct {
	N                             int
	Min, Mean, P50, P95, P99, Max float64
}

// LengthComparison compares the lengths asked for with those that the server's usage
// reports, over the requests that succeeded.
type LengthComparison struct {
	// Distributions; nil where no request has the number.
	RequestedInput, RealisedInput   *Distribution
	RequestedOutput, RealisedOutput *Distribution

	Requests int // requests that succeeded
	// InputMismatch is how many of the requests with both numbers have another
	// input length in usage than the workload's, and InputDrift the sum of realised
	// over the sum of requested (1 = as asked).
	InputBoth, InputMismatch int
	InputDrift               float64 // NaN when InputBoth is 0
	// StoppedEarly is how many of the requests with both numbers got fewer tokens
	// than they asked for: the server ended the answer by itself.
	OutputBoth, StoppedEarly int
	Oversampled              int // requests that repeat a row of the file
}

// LengthReport compares samples[i] with realised[i]; both have the same length.
// Requests that failed are left out.
func LengthReport(samples []datasets.Sample, realised []Realised) (LengthComparison, error) {
	if len(samples) != len(realised) {
		return LengthComparison{}, fmt.Errorf("length report: %d samples but %d results", len(samples), len(realised))
	}
	var c LengthComparison
	var wantIn, gotIn, wantOut, gotOut []int
	var sumWant, sumGot float64
	for i := range samples {
		s, r := &samples[i], realised[i]
		if !r.OK {
			continue
		}
		c.Requests++
		if s.Fields[FieldOversampled] == true {
			c.Oversampled++
		}
		in, known := s.Fields[FieldInputLen].(int)
		if known {
			wantIn = append(wantIn, in)
		}
		if r.InputTokens >= 0 {
			gotIn = append(gotIn, r.InputTokens)
		}
		if known && r.InputTokens >= 0 {
			c.InputBoth++
			sumWant += float64(in)
			sumGot += float64(r.InputTokens)
			if in != r.InputTokens {
				c.InputMismatch++
			}
		}
		if s.MaxTokens > 0 {
			wantOut = append(wantOut, s.MaxTokens)
		}
		if r.OutputTokens >= 0 {
			gotOut = append(gotOut, r.OutputTokens)
		}
		if s.MaxTokens > 0 && r.OutputTokens >= 0 {
			c.OutputBoth++
			if r.OutputTokens < s.MaxTokens {
				c.StoppedEarly++
			}
		}
	}
	c.RequestedInput, c.RealisedInput = distribution(wantIn), distribution(gotIn)
	c.RequestedOutput, c.RealisedOutput = distribution(wantOut), distribution(gotOut)
	c.InputDrift = math.NaN()
	if sumWant > 0 {
		c.InputDrift = sumGot / sumWant
	}
	return c, nil
}

// EarlyShare is the share of requests that stopped early, NaN when unknown.
func (c LengthComparison) EarlyShare() float64 {
	if c.OutputBoth == 0 {
		return math.NaN()
	}
	return float64(c.StoppedEarly) / float64(c.OutputBoth)
}

// String is the report's text: a line a distribution, then what differs.
func (c LengthComparison) String() string {
	var b strings.Builder
	row := func(label string, d *Distribution) {
		if d == nil {
			fmt.Fprintf(&b, "%-24s unknown\n", label)
			return
		}
		fmt.Fprintf(&b, "%-24s min %.0f  mean %.1f  p50 %.0f  p95 %.0f  p99 %.0f  max %.0f\n", label, d.Min, d.Mean, d.P50, d.P95, d.P99, d.Max)
	}
	row("input tokens requested", c.RequestedInput)
	row("input tokens realised", c.RealisedInput)
	row("output tokens requested", c.RequestedOutput)
	row("output tokens realised", c.RealisedOutput)
	if c.InputBoth > 0 {
		fmt.Fprintf(&b, "input lengths as asked: %d of %d, drift x%.4f\n", c.InputBoth-c.InputMismatch, c.InputBoth, c.InputDrift)
	}
	if c.OutputBoth > 0 {
		fmt.Fprintf(&b, "stopped early: %d of %d (%.1f %%)\n", c.StoppedEarly, c.OutputBoth, 100*c.EarlyShare())
	}
	if c.Oversampled > 0 {
		fmt.Fprintf(&b, "repeated rows: %d of %d requests (a prefix cache hits them)\n", c.Oversampled, c.Requests)
	}
	return b.String()
}

// distribution is nil for no values.
func distribution(v []int) *Distribution {
	if len(v) == 0 {
		return nil
	}
	v = slices.Clone(v)
	slices.Sort(v)
	sum := 0.0
	for _, x := range v {
		sum += float64(x)
	}
	at := func(q float64) float64 { return quantile.Linear(v, q) }
	return &Distribution{N: len(v), Min: float64(v[0]), Mean: sum / float64(len(v)), P50: at(.5), P95: at(.95), P99: at(.99), Max: float64(v[len(v)-1])}
}
