package facts

import (
	"fmt"
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/registry"
)

// roots are the first words of names.
var roots = []string{successRate, "perf", "accuracy", "client", "server", "manifest", "compare"} // and sweep, of a sweep

// Members are the keys of a group that a clause may go through: accuracy has one a
// row of the whole data sets, perf, client and server one a model and data set.
func (s *Set) Members(root string) ([]string, error) {
	var out []string
	if s.sweep != nil {
		return nil, fmt.Errorf("a sweep has no %s to go through; name its points, as in sweep.points[\"8\"].ttft.p99_ms", root)
	}
	switch root {
	case "perf", "client", "server":
		for _, p := range s.pairs {
			out = append(out, pairKey(p))
		}
	case "accuracy":
		for _, p := range s.pairs {
			if key := pairKey(p); s.scores[key] != nil {
				out = append(out, key)
			}
		}
	default:
		return nil, fmt.Errorf("%s has no members to go through; perf, accuracy, client and server have", root)
	}
	return out, nil
}

// Lookup gives the figure under a name. The error of a name that does not exist
// is an *UnknownError.
func (s *Set) Lookup(p Path) (*Fact, error) {
	if len(p) == 0 {
		return nil, &UnknownError{"", "empty name"}
	}
	switch {
	case s.sweep != nil && p[0] == "sweep":
		return s.sweep.fact(p)
	case s.sweep != nil && p[0] != "manifest":
		return nil, s.sweep.foreign(p)
	case p[0] == "sweep":
		return nil, &UnknownError{p.String(), "; this is no sweep: sweep.… are figures of `bench sweep`"}
	}
	switch p[0] {
	case successRate:
		if len(p) == 1 {
			return s.successRate(), nil
		}
	case "perf":
		pair, rest, err := s.pairOf(p)
		if err != nil {
			return nil, err
		}
		if s.perf[pair] == nil {
			return nil, &UnknownError{p.String(), fmt.Sprintf("; %s has no records, so nothing was timed", pairKey(pair))}
		}
		return s.perf[pair].fact(rest)
	case "client":
		pair, rest, err := s.pairOf(p)
		if err != nil {
			return nil, err
		}
		return s.client[pair].fact(rest)
	case "server":
		return s.serverFact(p)
	case "accuracy":
		return s.accuracy(p)
	case "manifest":
		return s.manifest.fact(p[1:])
	case "compare":
		return s.compare(p)
	}
	return nil, s.unknownRoot(p)
}

func (s *Set) unknownRoot(p Path) error {
	// A figure without its room is the commonest slip: ttft.p99_ms.
	if len(s.pairs) > 0 {
		if space := s.perf[s.pairs[0]]; space != nil {
			if _, err := space.fact(p); err == nil {
				return &UnknownError{p.String(), fmt.Sprintf("; did you mean %s?", space.prefix.with(p...))}
			}
		}
	}
	if g := s.scores[p[0]]; g != nil {
		return &UnknownError{p.String(), fmt.Sprintf("; did you mean %s?", g.prefix.with("value"))}
	}
	candidates := append(slices.Clone(roots), (&perf{}).names()...)
	candidates = append(candidates, s.rows...)
	if near := registry.Nearest(p.String(), candidates); near != "" {
		switch {
		case slices.Contains(roots, near):
			return &UnknownError{p.String(), fmt.Sprintf("; did you mean %s?", near)}
		case s.scores[near] != nil:
			return &UnknownError{p.String(), fmt.Sprintf("; did you mean %s?", s.scores[near].prefix.with("value"))}
		default:
			return &UnknownError{p.String(), fmt.Sprintf("; did you mean %s?", Path{"perf"}.with(strings.Split(near, ".")...))}
		}
	}
	if near := registry.Nearest(p[0], roots); near != "" {
		return &UnknownError{p.String(), fmt.Sprintf("; did you mean %s?", near)}
	}
	return &UnknownError{p.String(), "; names begin with " + strings.Join(roots, ", ")}
}

// pairOf splits perf["m/d"].x.y into the pair and x.y. A pair may be named by its
// model or data set alone where that is enough, and left out where there is one.
func (s *Set) pairOf(p Path) (outputs.Pair, Path, error) {
	if len(p) > 1 {
		var hits []outputs.Pair
		for _, pair := range s.pairs {
			if p[1] == pairKey(pair) {
				return pair, p[2:], nil
			}
			if p[1] == pair.Dataset || p[1] == pair.Model {
				hits = append(hits, pair)
			}
		}
		if len(hits) == 1 {
			return hits[0], p[2:], nil
		}
		if len(hits) > 1 {
			return outputs.Pair{}, nil, &UnknownError{p.String(), fmt.Sprintf(": %q is several; name one of %s", p[1], pairList(hits))}
		}
		if !identifier.MatchString(p[1]) {
			var keys []string
			for _, pair := range s.pairs {
				keys = append(keys, pairKey(pair))
			}
			return outputs.Pair{}, nil, &UnknownError{p.String(), fmt.Sprintf(": there is no %q%s; the run has %s", p[1], registry.DidYouMean(p[1], keys), strings.Join(keys, ", "))}
		}
	}
	if len(s.pairs) == 1 {
		return s.pairs[0], p[1:], nil
	}
	return outputs.Pair{}, nil, &UnknownError{p.String(), fmt.Sprintf(": the run has %d models and data sets; say which, as in %s, or all(%s, …)",
		len(s.pairs), Path{p[0], pairKey(s.pairs[0])}.with(p[1:]...), p[0])}
}

func (s *Set) accuracy(p Path) (*Fact, error) {
	names := sortedKeys(s.scores)
	if len(names) == 0 {
		return nil, &UnknownError{p.String(), "; the run has no scored answers"}
	}
	if len(p) < 2 {
		return nil, &UnknownError{p.String(), fmt.Sprintf(": name a data set, as in %s", s.scores[s.rows[0]].prefix.with("value"))}
	}
	g := s.scores[p[1]]
	if g == nil {
		var shown []string
		for _, r := range s.rows[:min(len(s.rows), 12)] {
			shown = append(shown, s.scores[r].prefix.String())
		}
		hint := registry.DidYouMean(p[1], names)
		return nil, &UnknownError{p.String(), hint + "; scored are " + strings.Join(shown, ", ")}
	}
	if g.prefix[1] != p[1] && !strings.Contains(p[1], "/") {
		return nil, &UnknownError{p.String(), fmt.Sprintf(": several models answered it; say which, as in %s", g.prefix.with(p[2:]...))}
	}
	return g.fact(p[2:])
}

// successRate is the share of successful requests over all models and data sets.
func (s *Set) successRate() *Fact {
	f := &Fact{Name: successRate, Kind: Share, Method: "wilson"}
	if s.planned {
		f.Reason, f.Known = "not measured yet", true
		for _, p := range s.pairs {
			n := s.perf[p].planned.Requests
			f.N += n
			f.Known = f.Known && n > 0
		}
		return f
	}
	var all []part
	runs := 0
	for _, p := range s.pairs {
		if space := s.perf[p]; space != nil {
			all = append(all, parts(space.runs, func(m *measured) *column { return m.shares[successRate] })...)
			runs = max(runs, len(space.runs))
		}
	}
	shareFact(f, all, isOne)
	return f
}
