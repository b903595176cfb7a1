package summarizers

import (
	"fmt"
	"slices"

	"ais_bench/outputs"
	ci "ais_bench/summarizers/interval"
	"ais_bench/summarizers/numpy"
	"ais_bench/summarizers/server"
)

// PrefixGain is what a prefix cache is worth on one set of prompts: the same
// requests cold and warm, prompt by prompt.
type PrefixGain struct {
	Rounds int       `json:"rounds"`
	Cold   CacheSide `json:"cold"`
	Warm   CacheSide `json:"warm"`
	// Pairs are prompts that were answered cold and warm in the same round; the savings are of them.
	Pairs int `json:"pairs"`
	// TTFTSaved is the share of the time to first token that the cache saved: 1 − Σ warm / Σ cold
	// over the pairs. The interval is of the pairs (bootstrap); null below ten.
	TTFTSaved    *float64     `json:"ttft_saved_share"`
	TTFTInterval *ci.Interval `json:"ttft_saved_interval"`
	// TTFTSavedP50 is 1 − median warm / median cold.
	TTFTSavedP50 *float64 `json:"ttft_saved_p50_share"`
	E2ELSaved    *float64 `json:"e2el_saved_share"`
	// SharedShare is how much of the prompts' text repeats among themselves: that much even the cold pass finds.
	SharedShare *float64 `json:"shared_share"`
	Flags       []string `json:"flags"` // why the comparison may not be what it says
}

// CacheSide is one side of the comparison over all rounds; times in ms.
type CacheSide struct {
	Requests   int      `json:"requests"`
	Failed     int      `json:"failed"`
	Cancelled  int      `json:"cancelled"` // cut off by the user: part of neither
	TTFTMean   *float64 `json:"ttft_mean_ms"`
	TTFTP50    *float64 `json:"ttft_p50_ms"`
	TTFTP99    *float64 `json:"ttft_p99_ms"`
	E2ELMean   *float64 `json:"e2el_mean_ms"`
	TPOTMean   *float64 `json:"tpot_mean_ms"`
	ServerRate *float64 `json:"server_hit_rate"` // of all rounds' prompt tokens
	UsageRate  *float64 `json:"usage_hit_rate"`
	How        string   `json:"how"` // what was done to the cache
}

// timesOf are the durations of the answered requests of one pair, by sample, in ms.
type timesOf struct {
	ttft, e2el, tpot            map[string]float64
	requests, failed, cancelled int
}

// ComparePrefixCache reads the passes of a cold and warm comparison: cold[i] and warm[i]
// are a round.
func ComparePrefixCache(run *outputs.Run, cold, warm []outputs.Pair) (*PrefixGain, error) {
	g := &PrefixGain{Rounds: len(cold), Flags: []string{}}
	var coldTimes, warmTimes []timesOf
	for i := range cold {
		for _, x := range []struct {
			pair outputs.Pair
			to   *[]timesOf
		}{{cold[i], &coldTimes}, {warm[i], &warmTimes}} {
			t, err := readTimes(run, x.pair)
			if err != nil {
				return nil, err
			}
			*x.to = append(*x.to, t)
		}
	}
	g.Cold, g.Warm = side(coldTimes), side(warmTimes)
	g.pair(coldTimes, warmTimes)
	list, err := server.Analyze(run, append(slices.Clone(cold), warm...), nil)
	if err != nil {
		g.Flags = append(g.Flags, "hit rates are left out: "+err.Error())
		return g, nil
	}
	g.hits(list, cold, &g.Cold)
	g.hits(list, warm, &g.Warm)
	return g, nil
}

func readTimes(run *outputs.Run, p outputs.Pair) (timesOf, error) {
	t := timesOf{ttft: map[string]float64{}, e2el: map[string]float64{}, tpot: map[string]float64{}}
	if run.RecordsPath(p.Model, p.Dataset) == "" {
		return t, nil
	}
	if err := outputs.EachMeasured(run.Records(p.Model, p.Dataset), func(r *outputs.Record) {
		if r.Cancelled() {
			t.cancelled++
			return
		}
		t.requests++
		if !r.OK() {
			t.failed++
			return
		}
		key := fmt.Sprintf("%s\x00%d\x00%d", r.SampleID, r.Repeat, r.Turn)
		if v, ok := r.TTFT(); ok {
			t.ttft[key] = float64(v) / 1e6
		}
		if v, ok := r.E2EL(); ok {
			t.e2el[key] = float64(v) / 1e6
		}
		if v, ok := r.TPOT(); ok {
			t.tpot[key] = v / 1e6
		}
	}); err != nil {
		return t, err
	}
	return t, nil
}

func side(rounds []timesOf) CacheSide {
	var s CacheSide
	var ttft, e2el, tpot []float64
	for _, t := range rounds {
		s.Requests += t.requests
		s.Failed += t.failed
		s.Cancelled += t.cancelled
		ttft, e2el, tpot = append(ttft, values(t.ttft)...), append(e2el, values(t.e2el)...), append(tpot, values(t.tpot)...)
	}
	s.TTFTMean, s.E2ELMean, s.TPOTMean = meanOf(ttft), meanOf(e2el), meanOf(tpot)
	s.TTFTP50, s.TTFTP99 = percentileOf(ttft, 50), percentileOf(ttft, 99)
	return s
}

func values(m map[string]float64) []float64 {
	out := make([]float64, 0, len(m))
	for _, k := range sortedNames(m) {
		out = append(out, m[k])
	}
	return out
}

func meanOf(v []float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	m := sum / float64(len(v))
	return &m
}

// percentileOf values; nil when there are none.
func percentileOf(values []float64, p float64) *float64 {
	var s numpy.Sample
	for _, v := range values {
		s.Add(v)
	}
	if s.N() == 0 {
		return nil
	}
	v := s.Percentile(p)
	return &v
}

// pair computes the savings from the prompts answered on both sides.
func (g *PrefixGain) pair(cold, warm []timesOf) {
	both := func(of func(timesOf) map[string]float64) (c, w []float64) {
		for i := range cold {
			a, b := of(cold[i]), of(warm[i])
			for _, k := range sortedNames(a) {
				if x, ok := b[k]; ok {
					c, w = append(c, a[k]), append(w, x)
				}
			}
		}
		return c, w
	}
	saved := func(c, w []float64) *float64 {
		mc, mw := meanOf(c), meanOf(w)
		if mc == nil || *mc <= 0 {
			return nil
		}
		s := 1 - *mw / *mc
		return &s
	}
	c, w := both(func(t timesOf) map[string]float64 { return t.ttft })
	g.Pairs, g.TTFTSaved = len(c), saved(c, w)
	if i, ok := ci.Ratio(w, c, 0.95, 1); ok {
		i.Lo, i.Hi = 1-i.Hi, 1-i.Lo
		g.TTFTInterval = &i
	}
	if mc, mw := percentileOf(c, 50), percentileOf(w, 50); mc != nil && *mc > 0 {
		s := 1 - *mw / *mc
		g.TTFTSavedP50 = &s
	}
	g.E2ELSaved = saved(both(func(t timesOf) map[string]float64 { return t.e2el }))
	if g.Pairs == 0 {
		g.Flags = append(g.Flags, "no prompt has a time to first token on both sides: TTFT needs streamed answers")
	}
}

// hits adds up what the server and the answers say of hits.
func (g *PrefixGain) hits(list []*server.Analysis, pairs []outputs.Pair, s *CacheSide) {
	var hits, queries float64
	var cached, prompt int64
	known := false
	for _, p := range pairs {
		for _, a := range list {
			if a.Model != p.Model || a.Dataset != p.Dataset || a.Cache == nil {
				continue
			}
			c := a.Cache
			s.How = c.How
			if g.SharedShare == nil {
				g.SharedShare = c.SharedShare
			}
			if c.Flag != "" {
				g.Flags = append(g.Flags, p.Dataset+": "+c.Flag)
			}
			if c.Hits != nil && c.Queries != nil {
				hits, queries, known = hits+*c.Hits, queries+*c.Queries, true
			}
			cached, prompt = cached+c.UsageCached, prompt+c.UsagePrompt
			if a.Arrival != nil && a.Arrival.State == server.Stray {
				g.Flags = append(g.Flags, p.Dataset+": "+a.Arrival.Text)
			}
		}
	}
	if known && queries > 0 {
		r := hits / queries
		s.ServerRate = &r
	}
	if prompt > 0 {
		r := float64(cached) / float64(prompt)
		s.UsageRate = &r
	}
}

// Table shows the comparison.
func (g *PrefixGain) Table() outputs.Table {
	ms := func(name string) outputs.Column {
		return outputs.Column{Name: name, Unit: "ms", Kind: outputs.KindFloat, Format: "%.2f"}
	}
	share := func(name string) outputs.Column {
		return outputs.Column{Name: name, Unit: "%", Kind: outputs.KindPercent, Format: "%.1f"}
	}
	t := outputs.Table{ID: "prefix_cache", Title: "The same prompts cold and warm", Columns: []outputs.Column{{Name: "Prefix cache"}, {Name: "Requests", Kind: outputs.KindInt},
		{Name: "Failed", Kind: outputs.KindInt}, share("Hits (server)"), share("Hits (usage)"), ms("TTFT mean"), ms("P50"), ms("P99"), ms("TPOT mean"), ms("E2EL mean")}}
	for _, x := range []struct {
		name string
		s    *CacheSide
	}{{"cold", &g.Cold}, {"warm", &g.Warm}} {
		t.AddRow(x.name, x.s.Requests, x.s.Failed, x.s.ServerRate, x.s.UsageRate, x.s.TTFTMean, x.s.TTFTP50, x.s.TTFTP99, x.s.TPOTMean, x.s.E2ELMean)
	}
	p := func(v *float64) outputs.Cell {
		if v == nil {
			return outputs.Cell{}
		}
		return outputs.Cell{Value: 100 * *v, Format: "%.1f", Unit: "%"}
	}
	t.AddRow("saved", nil, nil, nil, nil, p(g.TTFTSaved), p(g.TTFTSavedP50), nil, nil, p(g.E2ELSaved))
	if i := g.TTFTInterval; i != nil && g.TTFTSaved != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("the cache saves %.1f %% of TTFT (95 %% of such sets: %.1f to %.1f %%), over %d pairs of the same prompt", 100**g.TTFTSaved, 100*i.Lo, 100*i.Hi, g.Pairs))
	} else if g.TTFTSaved != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("the cache saves %.1f %% of TTFT, over %d pairs of the same prompt; an interval needs %d", 100**g.TTFTSaved, g.Pairs, ci.MinBootstrap))
	}
	for _, x := range []struct {
		name string
		s    *CacheSide
	}{{"cold", &g.Cold}, {"warm", &g.Warm}} {
		if x.s.How != "" {
			t.Notes = append(t.Notes, x.name+": "+x.s.How)
		}
	}
	t.Notes = append(t.Notes, g.Flags...)
	return t
}

// Section is the chapter of the reports.
func (g *PrefixGain) Section() outputs.Section {
	return outputs.Section{ID: "prefix-cache", Title: "Prefix cache: the same prompts cold and warm", Sheet: "Performance", Tables: []outputs.Table{g.Table()}}
}
