package server

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"ais_bench/outputs"
)

// gap is a time in which nobody knows what an engine did: from a scrape that failed to
// the next one that did not.
type gap struct{ from, to int64 }

// gaps are those of all engines, in the order of time; they may overlap.
func (v view) gaps() []gap {
	good := map[string][]int64{}
	for _, k := range v.keys {
		if k.session == v.session && v.engines[k.source] {
			good[k.source] = append(good[k.source], v.series[k].t...)
		}
	}
	var out []gap
	for source := range v.engines {
		times := good[source]
		slices.Sort(times)
		until := int64(math.MinInt64)
		for _, f := range v.failed[scraped{v.session, source}] {
			if f < until {
				continue // of the same gap
			}
			until = math.MaxInt64
			if i, _ := slices.BinarySearch(times, f); i < len(times) {
				until = times[i]
			}
			out = append(out, gap{f, until})
		}
	}
	slices.SortFunc(out, func(a, b gap) int { return cmp.Compare(a.from, b.from) })
	return out
}

// telling are the stretches that say anything about requests: without these gauges
// nobody knows that an engine was idle.
func telling(list []stretch) []stretch {
	return slices.DeleteFunc(list, func(s stretch) bool { return s.running == nil && s.waiting == nil })
}

// without leaves the gaps out of stretches.
func without(list []stretch, gaps []gap) []stretch {
	for _, g := range gaps {
		var kept []stretch
		for _, s := range list {
			if g.to <= s.from || g.from >= s.to {
				kept = append(kept, s)
				continue
			}
			if before := s; g.from > s.from {
				before.to = g.from
				kept = append(kept, before)
			}
			if after := s; g.to < s.to {
				after.from = g.to
				kept = append(kept, after)
			}
		}
		list = kept
	}
	return list
}

// blind says that an engine's scrapes failed until the end, so that its last counts are
// older than the last answers; "" = they did not.
func (v view) blind(w *outputs.ServerWatch) string {
	for _, s := range w.Sources {
		if s.Engine && s.FailingFrom != nil {
			return fmt.Sprintf("scraping %s failed from t=%.1f s to the end: %s", s.Name, float64(*s.FailingFrom)/1e9, s.Error)
		}
	}
	return ""
}

// gone reports whether a series that was there is missing in its source's last scrape,
// because it is no longer told or tells what cannot be.
func (v view) gone(series string) bool {
	for _, k := range v.find(series) {
		p := v.series[k]
		if p.t[len(p.t)-1] < v.last[scraped{k.session, k.source}] {
			return true
		}
	}
	return false
}
