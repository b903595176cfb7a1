package server

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"ais_bench/outputs"
)

// Analysis is the server's side of one pair in one session; server/<model>/<dataset>.json
// holds one for each session.
type Analysis struct {
	Model   string `json:"model"`
	Dataset string `json:"dataset"`
	Session int    `json:"session"`

	Engine     *string                            `json:"engine"`
	Version    *string                            `json:"version"`
	URL        string                             `json:"url"`
	Parameters map[string]outputs.ServerParameter `json:"parameters"`
	IntervalMS float64                            `json:"interval_ms"` // 0 = only before and after
	Sources    []outputs.ServerSource             `json:"sources"`
	Events     []outputs.ServerEvent              `json:"events"` // restarts: the run is invalid

	// Verdict is that of the reading; null without one.
	Verdict *string     `json:"verdict"`
	Arrival *Arrival    `json:"arrival"`
	Latency []Latency   `json:"latency"`
	Reading *Reading    `json:"reading"` // null without --server-metrics
	Cache   *CacheTruth `json:"cache"`
	Spec    *Spec       `json:"speculative_decoding"` // null when its counters did not move

	store  *store
	view   view
	watch  outputs.ServerWatch
	client Client
}

// Latency compares the client's mean with the server's own, over the same window.
type Latency struct {
	Name       string     `json:"name"` // TTFT, E2EL, ITL
	ClientN    float64    `json:"client_n"`
	ClientMean *float64   `json:"client_mean_ms"`
	Server     *Histogram `json:"server"`
	// Gap is client − server of the means; null unless both saw the same requests.
	Gap  *float64 `json:"gap_ms"`
	Note string   `json:"note,omitempty"`
}

// Spec is how the speculative decoding did over the window.
type Spec struct {
	DraftTokens    float64  `json:"draft_tokens"`
	AcceptedTokens float64  `json:"accepted_tokens"`
	AcceptanceRate *float64 `json:"acceptance_rate"`
	// AcceptanceLength is 1 + accepted/drafts, the mean tokens of a step.
	AcceptanceLength *float64 `json:"acceptance_length"`
}

// Analyze reads what was watched of the pairs of a run. health is the manifest's
// client_health by task. A run that was not watched gives none.
func Analyze(run *outputs.Run, pairs []outputs.Pair, health map[string]any) ([]*Analysis, error) {
	var targets []*target
	stores := map[pairKey]*store{}
	for _, p := range pairs {
		watches, err := run.ServerWatches(p.Model, p.Dataset)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		pk := pairKey{p.Model, p.Dataset}
		if stores[pk], err = load(run, p.Model, p.Dataset); err != nil {
			return nil, err
		}
		for _, w := range watches {
			targets = append(targets, &target{pair: pk, watch: w})
		}
	}
	if len(targets) == 0 {
		return nil, nil
	}
	if err := gather(run, pairs, targets); err != nil {
		return nil, err
	}
	var list []*Analysis
	for _, t := range targets {
		w := &t.watch
		v := stores[t.pair].of(w)
		a := &Analysis{Model: t.pair.model, Dataset: t.pair.dataset, Session: w.Session, Engine: w.Engine, Version: w.Version, URL: w.URL, Parameters: w.Parameters,
			IntervalMS: w.IntervalMS, Sources: w.Sources, Events: w.Events, store: stores[t.pair], view: v, watch: *w, client: t.c}
		if len(v.engines) > 0 {
			a.Arrival = v.arrival(w, &t.c)
			a.Latency = v.latency(w, &t.c)
			a.Reading = v.read(w, &t.c, clientHealth(health, t.pair, w.Session))
			a.Spec = v.spec(w)
			if r := a.Reading; r != nil && len(r.Findings) > 0 {
				a.Verdict = &r.Findings[0].Verdict
			}
		}
		a.Cache = v.cache(w, &t.c)
		list = append(list, a)
	}
	return list, nil
}

// health is the verdict on the client's health of a task, no, suspect, yes or "", and
// the figures behind it.
type health struct {
	verdict string
	reasons []string
}

func clientHealth(all map[string]any, p pairKey, session int) health {
	task := p.model + " × " + p.dataset
	for _, name := range []string{fmt.Sprintf("%s (session %d)", task, session), task} {
		h, ok := all[name].(map[string]any)
		if !ok {
			continue
		}
		out := health{}
		out.verdict, _ = h["client_bound"].(string)
		list, _ := h["reasons"].([]any)
		for _, e := range list {
			if m, ok := e.(map[string]any); ok {
				if text, ok := m["text"].(string); ok {
					out.reasons = append(out.reasons, text)
				}
			}
		}
		return out
	}
	return health{}
}

// latency compares the means of what both sides measure.
func (v view) latency(w *outputs.ServerWatch, c *Client) []Latency {
	var out []Latency
	for _, x := range []struct {
		name, series string
		client       sum
	}{{"TTFT", "ttft", c.TTFT}, {"E2EL", "e2e", c.E2E}, {"ITL", "itl", c.ITL}} {
		l := Latency{Name: x.name, ClientN: x.client.n, ClientMean: x.client.mean(), Server: v.summary(x.series, w.Start, w.End)}
		if l.Server == nil {
			continue
		}
		same := l.Server.N == l.ClientN
		switch {
		case l.ClientMean == nil:
			l.Note = "the client measured none"
		case x.name == "ITL" || same:
			d := *l.ClientMean - *l.Server.Mean
			l.Gap = &d
			if x.name == "ITL" {
				l.Note = "mean gap a token on both sides"
			}
		default:
			l.Note = fmt.Sprintf("not the same requests: %.0f here, %.0f there", l.ClientN, l.Server.N)
		}
		out = append(out, l)
	}
	return out
}

func (v view) spec(w *outputs.ServerWatch) *Spec {
	drafted, ok := v.delta("spec_draft_tokens", w.Start, w.End)
	if !ok || drafted <= 0 || v.blind(w) != "" {
		return nil
	}
	s := &Spec{DraftTokens: drafted}
	s.AcceptedTokens, _ = v.delta("spec_accepted_tokens", w.Start, w.End)
	s.AcceptanceRate = ptr(s.AcceptedTokens / drafted)
	if drafts, ok := v.delta("spec_drafts", w.Start, w.End); ok && drafts > 0 {
		s.AcceptanceLength = ptr(1 + s.AcceptedTokens/drafts)
	}
	return s
}

// Warnings are what must not be missed, one line each.
func (a *Analysis) Warnings() []string {
	var out []string
	of := a.Model + " on " + a.Dataset + ": "
	if a.Arrival != nil && (a.Arrival.State == Stray || a.Arrival.State == Lost || a.Arrival.State == Differ) {
		out = append(out, of+a.Arrival.Text)
	}
	for _, s := range a.Sources {
		if s.FailingFrom != nil {
			out = append(out, of+fmt.Sprintf("scraping %s failed from t=%.1f s to the end: %s", s.Name, float64(*s.FailingFrom)/1e9, s.Error))
		}
		if len(s.Nonsense) > 0 {
			out = append(out, of+fmt.Sprintf("left out, because they tell what cannot be (%s): %s", s.Name, strings.Join(s.Nonsense, "; ")))
		}
	}
	if a.Cache != nil && a.Cache.Flag != "" {
		out = append(out, of+a.Cache.Flag)
	}
	return out
}
