package inspect

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"

	"ais_bench/models"
)

// SpecDecode is how well a server's draft model did over a run, from the
// deltas of vLLM's counters (vllm:spec_decode_num_*).
type SpecDecode struct {
	Drafts         float64 `json:"num_drafts"`
	DraftTokens    float64 `json:"draft_tokens"`
	AcceptedTokens float64 `json:"accepted_tokens"`
	// AcceptanceRate is accepted/draft tokens; AcceptanceLength 1 + accepted/drafts,
	// the mean tokens of a step. Null without activity.
	AcceptanceRate   *float64  `json:"acceptance_rate"`
	AcceptanceLength *float64  `json:"acceptance_length"`
	PerPosition      []float64 `json:"per_position_acceptance_rates"` // accepted at position i / drafts
}

// Counters are the scraped speculative-decoding counters.
type Counters struct {
	totals map[string]float64
	byPos  map[string]float64
}

// SpecCounters scrapes them. The error is one line that says why there are none.
func SpecCounters(ctx context.Context, cfg models.Config) (*Counters, error) {
	ep, err := cfg.Endpoint()
	if err != nil {
		return nil, err
	}
	get, err := models.NewGetter(cfg)
	if err != nil {
		return nil, err
	}
	defer get.Close()
	text, _, err := ask(ctx, get, ep.Server+"/metrics")
	if err != nil {
		return nil, fmt.Errorf("%s/metrics: %w", ep.Server, explained(ctx, err))
	}
	m, err := ParseMetrics(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s/metrics: %w", ep.Server, err)
	}
	c := &Counters{totals: m.Totals()}
	if _, ok := c.counter("num_drafts"); !ok {
		return nil, errors.New("the server has no speculative-decoding counters (vllm:spec_decode_num_drafts): is speculative decoding on?")
	}
	for _, name := range []string{"vllm:spec_decode_num_accepted_tokens_per_pos_total", "vllm:spec_decode_num_accepted_tokens_per_pos"} {
		if c.byPos = m.ByLabel(name, "position"); c.byPos != nil {
			break
		}
	}
	return c, nil
}

// counter reads a counter under either of its spellings.
func (c *Counters) counter(name string) (float64, bool) {
	for _, n := range []string{"vllm:spec_decode_" + name + "_total", "vllm:spec_decode_" + name} {
		if v, ok := c.totals[n]; ok {
			return v, true
		}
	}
	return 0, false
}

// Since are the figures of what happened between before and c.
func (c *Counters) Since(before *Counters) SpecDecode {
	delta := func(name string) float64 {
		a, _ := c.counter(name)
		b, _ := before.counter(name)
		return a - b
	}
	s := SpecDecode{Drafts: delta("num_drafts"), DraftTokens: delta("num_draft_tokens"), AcceptedTokens: delta("num_accepted_tokens")}
	if s.DraftTokens > 0 {
		r := s.AcceptedTokens / s.DraftTokens
		s.AcceptanceRate = &r
	}
	if s.Drafts <= 0 {
		return s
	}
	l := 1 + s.AcceptedTokens/s.Drafts
	s.AcceptanceLength = &l
	var positions []int
	for p := range c.byPos {
		if i, err := strconv.Atoi(p); err == nil {
			positions = append(positions, i)
		}
	}
	sort.Ints(positions)
	for _, p := range positions {
		k := strconv.Itoa(p)
		s.PerPosition = append(s.PerPosition, (c.byPos[k]-before.byPos[k])/s.Drafts)
	}
	return s
}
