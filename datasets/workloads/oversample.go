package workloads

import (
	"maps"
	"strconv"

	"ais_bench/datasets"
)

// fit makes samples as many as NumPrompts asks for, by vLLM's rules: too many
// are cut off; too few are topped up with rows drawn at random with replacement,
// which get ids of their own ("<id>#<n>") and FieldOversampled; with NoOversample
// they stay too few; NumPrompts <= 0 takes all. Repeated prompts hit a prefix
// cache, so the report counts them.
func (c *Config) fit(samples []datasets.Sample) []datasets.Sample {
	have := len(samples)
	if c.NumPrompts <= 0 || have == 0 {
		return samples
	}
	if have >= c.NumPrompts {
		return samples[:c.NumPrompts]
	}
	if c.NoOversample {
		return samples
	}
	r := stream(c.Seed, purposeRepeat)
	times := map[string]int{}
	for len(samples) < c.NumPrompts {
		s := samples[r.IntN(have)]
		times[s.ID]++
		s.Fields = maps.Clone(s.Fields)
		if s.Fields == nil {
			s.Fields = map[string]any{}
		}
		s.Fields[FieldOversampled] = true
		s.Params = maps.Clone(s.Params)
		s.ID += "#" + strconv.Itoa(times[s.ID]+1)
		if s.SessionID != "" {
			s.SessionID = s.ID
		}
		samples = append(samples, s)
	}
	return samples
}

// order is the order in which n rows of a file are used: the file's with
// DisableShuffle, else one drawn from the seed.
func (c *Config) order(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	if !c.DisableShuffle {
		stream(c.Seed, purposeOrder).Shuffle(n, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
	return rows
}

// shuffled is samples in the order of use.
func (c *Config) shuffled(samples []datasets.Sample) []datasets.Sample {
	out := make([]datasets.Sample, 0, len(samples))
	for _, i := range c.order(len(samples)) {
		out = append(out, samples[i])
	}
	return out
}
