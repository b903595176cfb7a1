package server

import (
	"errors"
	"math"
	"slices"
	"sort"

	"ais_bench/outputs"
)

// Client is what the client counted of the requests that a watch saw: those it
// sent to that server while the watch lasted, of every phase and every pair.
type Client struct {
	Sent    int64 `json:"sent"`     // attempts
	Reached int64 `json:"reached"`  // of these, had a connection
	OK      int64 `json:"answered"` // ended well
	Failed  int64 `json:"failed"`   // reached the server and did not end well
	// Tokens by usage of the answered ones, and how many had none.
	PromptTokens  int64 `json:"prompt_tokens"`
	OutputTokens  int64 `json:"output_tokens"`
	WithoutPrompt int64 `json:"without_prompt_tokens"`
	WithoutOutput int64 `json:"without_output_tokens"`
	// Warmup and Others are those among the above that were not measured, and those of
	// other data sets of the run.
	Warmup int64 `json:"warmup"`
	Others int64 `json:"of_other_pairs"`
	// Crossing were in flight when the watch began or ended: requests of tasks that ran
	// at the same time. They make the comparison inexact.
	Crossing int64 `json:"crossing"`

	TTFT, E2E, ITL sum `json:"-"`

	// The measured phase of the watch's own pair.
	measured measured
}

// sum collects a mean.
type sum struct {
	n     float64
	total float64 // ms
}

func (s *sum) mean() *float64 {
	if s.n == 0 {
		return nil
	}
	m := s.total / s.n
	return &m
}

type measured struct {
	first, last         int64 // first scheduled, last end
	firstSent           int64
	starts, ends        []int64
	arrivals            []arrival
	cached, input       int64 // of answered requests whose usage tells both
	cachedKnown         int64
	prompt, promptKnown int64
	requests            int64
}

// arrival is when a request was sent and how long its first token took.
type arrival struct {
	sent int64
	ttft float64 // ms
}

// pairKey names a pair of the run.
type pairKey struct{ model, dataset string }

// target is one watch with the client's side of it.
type target struct {
	pair  pairKey
	watch outputs.ServerWatch
	c     Client
}

// gather reads the records of all pairs once and adds each request to the watches
// whose server it was sent to while they lasted.
func gather(run *outputs.Run, pairs []outputs.Pair, targets []*target) error {
	urls := map[pairKey]map[string]bool{} // where a pair's requests went
	byModel := map[string]map[string]bool{}
	for _, t := range targets {
		for _, m := range []map[string]bool{at(urls, t.pair), at(byModel, t.pair.model)} {
			m[t.watch.URL] = true
		}
		t.c.measured.first, t.c.measured.last, t.c.measured.firstSent = math.MaxInt64, math.MinInt64, math.MaxInt64
	}
	for _, p := range pairs {
		if run.RecordsPath(p.Model, p.Dataset) == "" {
			continue
		}
		pk := pairKey{p.Model, p.Dataset}
		went := urls[pk]
		if went == nil { // not watched itself, as the probes beside a benchmark: with the model's others
			went = byModel[p.Model]
		}
		var list []*target
		for _, t := range targets {
			if went[t.watch.URL] {
				list = append(list, t)
			}
		}
		if len(list) == 0 {
			continue
		}
		for rec, err := range run.Records(p.Model, p.Dataset) {
			var damage *outputs.DamageError
			if errors.As(err, &damage) {
				continue
			}
			if err != nil {
				return err
			}
			for _, t := range list {
				switch {
				case rec.Sent == outputs.Never:
				case rec.Sent < t.watch.Start && rec.End > t.watch.Start, rec.Sent <= t.watch.End && rec.End > t.watch.End:
					t.c.Crossing++
				case rec.Sent >= t.watch.Start && rec.Sent <= t.watch.End:
					t.c.add(rec, pk == t.pair)
				}
			}
		}
	}
	return nil
}

func at[K comparable](m map[K]map[string]bool, k K) map[string]bool {
	if m[k] == nil {
		m[k] = map[string]bool{}
	}
	return m[k]
}

func (c *Client) add(r *outputs.Record, own bool) {
	c.Sent++
	reached := r.Connected != outputs.Never || r.FirstByte != outputs.Never || r.HTTPStatus != 0
	if reached {
		c.Reached++
	}
	if !own {
		c.Others++
	}
	if r.Phase == outputs.PhaseWarmup || r.Phase == outputs.PhaseCooldown {
		c.Warmup++
	}
	if own && (r.Phase == outputs.PhaseMeasured || r.Phase == "") {
		c.measured.add(r)
	}
	if !r.OK() {
		if reached {
			c.Failed++
		}
		return
	}
	c.OK++
	if r.InputTokens == outputs.UnknownTokens || r.TokenSource != outputs.TokensUsage {
		c.WithoutPrompt++
	} else {
		c.PromptTokens += int64(r.InputTokens)
	}
	if r.OutputTokens == outputs.UnknownTokens || r.TokenSource != outputs.TokensUsage {
		c.WithoutOutput++
	} else {
		c.OutputTokens += int64(r.OutputTokens)
	}
	if v, ok := r.TTFT(); ok {
		c.TTFT.n++
		c.TTFT.total += float64(v) / 1e6
	}
	if v, ok := r.E2EL(); ok {
		c.E2E.n++
		c.E2E.total += float64(v) / 1e6
	}
	if r.Stream && r.OutputTokens > 1 && r.FirstToken != outputs.Never && r.LastToken != outputs.Never {
		c.ITL.n += float64(r.OutputTokens - 1)
		c.ITL.total += float64(r.LastToken-r.FirstToken) / 1e6
	}
}

func (m *measured) add(r *outputs.Record) {
	m.requests++
	m.first = min(m.first, r.Scheduled)
	m.firstSent = min(m.firstSent, r.Sent)
	if r.End != outputs.Never {
		m.last = max(m.last, r.End)
		m.starts, m.ends = append(m.starts, r.Sent), append(m.ends, r.End)
	}
	if !r.OK() {
		return
	}
	if v, ok := r.TTFT(); ok {
		m.arrivals = append(m.arrivals, arrival{r.Sent, float64(v) / 1e6})
	}
	if r.InputTokens != outputs.UnknownTokens {
		m.prompt += int64(r.InputTokens)
		m.promptKnown++
		if r.CachedTokens != outputs.UnknownTokens {
			m.cached += int64(r.CachedTokens)
			m.input += int64(r.InputTokens)
			m.cachedKnown++
		}
	}
}

// window is the measured phase, from the first request sent to the last one
// ended; false when nothing was measured.
func (m *measured) window() (from, to int64, ok bool) {
	if m.firstSent == math.MaxInt64 || m.last <= m.firstSent {
		return 0, 0, false
	}
	return m.firstSent, m.last, true
}

// inFlight counts requests in flight at given times.
func (m *measured) inFlight() func(t int64) float64 {
	starts, ends := slices.Clone(m.starts), slices.Clone(m.ends)
	slices.Sort(starts)
	slices.Sort(ends)
	count := func(sorted []int64, t int64) int {
		return sort.Search(len(sorted), func(i int) bool { return sorted[i] > t })
	}
	return func(t int64) float64 { return float64(count(starts, t) - count(ends, t)) }
}
