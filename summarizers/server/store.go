package server

import (
	"slices"
	"sort"

	"ais_bench/outputs"
)

// key names one series of one source in one session.
type key struct {
	session        int32
	source, series string
	labels         string
}

// points are the values of a series in the order of time.
type points struct {
	t []int64
	v []float64
}

// at is the last value at or before t; false before the first one.
func (p *points) at(t int64) (float64, bool) {
	i := sort.Search(len(p.t), func(i int) bool { return p.t[i] > t })
	if i == 0 {
		return 0, false
	}
	return p.v[i-1], true
}

// store holds all samples of a pair.
type store struct {
	series map[key]*points
	keys   []key // in the order of appearance
	first  map[scraped]int64
	last   map[scraped]int64   // good scrapes
	failed map[scraped][]int64 // ascending
}

// scraped names the scrapes of one source in one session.
type scraped struct {
	session int32
	source  string
}

func load(run *outputs.Run, model, dataset string) (*store, error) {
	s := &store{series: map[key]*points{}, first: map[scraped]int64{}, last: map[scraped]int64{}, failed: map[scraped][]int64{}}
	for row, err := range run.ServerSamples(model, dataset) {
		if err != nil {
			return nil, err
		}
		of := scraped{row.Session, row.Source}
		if row.Series == outputs.SeriesUp {
			s.failed[of] = append(s.failed[of], row.T)
			continue
		}
		k := key{row.Session, row.Source, row.Series, row.Labels}
		p := s.series[k]
		if p == nil {
			p = &points{}
			s.series[k] = p
			s.keys = append(s.keys, k)
		}
		p.t, p.v = append(p.t, row.T), append(p.v, row.Value)
		if t, ok := s.first[of]; !ok || row.T < t {
			s.first[of] = row.T
		}
		s.last[of] = max(s.last[of], row.T)
	}
	for _, p := range s.series { // scrapes of several goroutines may have been written out of order
		if !slices.IsSorted(p.t) {
			sort.Stable(byTime{p})
		}
	}
	for _, list := range s.failed {
		slices.Sort(list)
	}
	return s, nil
}

type byTime struct{ *points }

func (b byTime) Len() int           { return len(b.t) }
func (b byTime) Less(i, j int) bool { return b.t[i] < b.t[j] }
func (b byTime) Swap(i, j int)      { b.t[i], b.t[j], b.v[i], b.v[j] = b.t[j], b.t[i], b.v[j], b.v[i] }

// view is the samples of the inference engines in one session.
type view struct {
	*store
	session int32
	engines map[string]bool // sources
	found   map[string][]key
}

func (s *store) of(w *outputs.ServerWatch) view {
	v := view{store: s, session: int32(w.Session), engines: map[string]bool{}, found: map[string][]key{}}
	for _, src := range w.Sources {
		if src.Engine {
			v.engines[src.Name] = true
		}
	}
	return v
}

// find lists the keys of a series of the engines.
func (v view) find(series string) []key {
	out, ok := v.found[series]
	if !ok {
		for _, k := range v.keys {
			if k.session == v.session && k.series == series && v.engines[k.source] {
				out = append(out, k)
			}
		}
		v.found[series] = out
	}
	return out
}

// delta is by how much a counter rose between two times, summed over engines and
// labels. The value at a time is that of the last scrape at or before it; before the
// first scrape, the first one's. False when no engine has the series.
func (v view) delta(series string, from, to int64) (float64, bool) {
	sum, ok := 0.0, false
	for _, k := range v.find(series) {
		if d, known := v.series[k].delta(from, to, v.first[scraped{k.session, k.source}]); known {
			sum, ok = sum+d, true
		}
	}
	return sum, ok
}

// delta between two times of a series whose source was first scraped at first.
func (p *points) delta(from, to, first int64) (float64, bool) {
	b, ok := p.at(to)
	if !ok {
		return 0, false
	}
	a, ok := p.at(from)
	if !ok && p.t[0] <= first {
		a = p.v[0] // nothing is known from before the first scrape
	}
	// Else it came up during the run and counted from zero: Prometheus clients show
	// many labels only once they have a value.
	return b - a, true
}

// moment is the state of the engines at one time: each figure nil where nobody tells.
type moment struct {
	t                    int64
	running, waiting, kv *float64
	preemptions          *float64 // since the moment before
	promptTokens         *float64 // since the moment before; computed and cached
	outputTokens         *float64
	finished             *float64
	hits, queries        *float64 // prefix-cache tokens since the moment before
	ttftSum, ttftN       *float64
	accepted, drafted    *float64
	perEngine            int // label sets that tell running: engines behind the address
}

// moments are the states at all scrapes of the engines. Sources that are scraped
// at different times hold their last value.
func (v view) moments() []moment {
	times := map[int64]bool{}
	for _, k := range v.keys {
		if k.session == v.session && v.engines[k.source] {
			for _, t := range v.series[k].t {
				times[t] = true
			}
		}
	}
	order := make([]int64, 0, len(times))
	for t := range times {
		order = append(order, t)
	}
	slices.Sort(order)
	gauges := func(name string) func(t int64) *float64 {
		keys := v.find(name)
		return func(t int64) *float64 {
			sum, ok := 0.0, false
			for _, k := range keys {
				if x, known := v.series[k].at(t); known {
					sum, ok = sum+x, true
				}
			}
			if !ok {
				return nil
			}
			return &sum
		}
	}
	largest := func(name string) func(t int64) *float64 {
		keys := v.find(name)
		return func(t int64) (most *float64) {
			for _, k := range keys {
				if x, known := v.series[k].at(t); known && (most == nil || x > *most) {
					most = &x
				}
			}
			return most
		}
	}
	running, waiting, kv := gauges("requests_running"), gauges("requests_waiting"), largest("kv_usage")
	engines := len(v.find("requests_running"))
	list := make([]moment, 0, len(order))
	for i, t := range order {
		m := moment{t: t, running: running(t), waiting: waiting(t), kv: kv(t), perEngine: engines}
		if i > 0 {
			from := order[i-1]
			d := func(name string) *float64 {
				if x, ok := v.delta(name, from, t); ok {
					return &x
				}
				return nil
			}
			m.preemptions, m.outputTokens, m.finished = d("preemptions"), d("generation_tokens"), d("requests_finished")
			m.promptTokens = v.promptTokens(from, t)
			m.hits, m.queries = v.cacheTokens(from, t)
			m.ttftSum, m.ttftN = d("ttft_sum"), d("ttft_count")
			m.accepted, m.drafted = d("spec_accepted_tokens"), d("spec_draft_tokens")
		}
		list = append(list, m)
	}
	return list
}

// promptTokens are the prompt tokens, cached ones included. llama.cpp counts the
// computed and the cached ones apart.
func (v view) promptTokens(from, to int64) *float64 {
	if x, ok := v.delta("prompt_tokens", from, to); ok {
		return &x
	}
	computed, ok1 := v.delta("computed_prompt_tokens", from, to)
	cached, ok2 := v.delta("cached_prompt_tokens", from, to)
	if ok1 && ok2 {
		x := computed + cached
		return &x
	}
	return nil
}

// cacheTokens are the prompt tokens found in the prefix cache and those looked
// for. The engine's count of cached prompt tokens is preferred: the look-ups of
// a prefix cache are counted again when a request is scheduled again.
func (v view) cacheTokens(from, to int64) (hits, queries *float64) {
	if cached, ok := v.delta("cached_prompt_tokens", from, to); ok {
		if all := v.promptTokens(from, to); all != nil {
			return &cached, all
		}
	}
	h, ok1 := v.delta("prefix_hits", from, to)
	q, ok2 := v.delta("prefix_queries", from, to)
	if ok1 && ok2 {
		return &h, &q
	}
	return nil, nil
}
