package compare

import (
	"fmt"
	"slices"
	"strings"

	"ais_bench/outputs"
)

// matchedPair are the pairs of one comparison, one for each input of a side.
type matchedPair struct{ base, other []outputs.Pair }

// match finds which model and data set of one side belongs to which of the other:
// of the same names first; of the same data set where neither model has a namesake
// on the other side (a run names its models as it likes); whatever they are called
// where each side has one pair.
func match(base, other Side) ([]matchedPair, error) {
	a, err := pairsOf(base)
	if err != nil {
		return nil, err
	}
	b, err := pairsOf(other)
	if err != nil {
		return nil, err
	}
	find := func(list []outputs.Pair, p outputs.Pair) (outputs.Pair, bool) {
		if slices.Contains(list, p) {
			return p, true
		}
		var hits []outputs.Pair
		for _, q := range list {
			if q.Dataset == p.Dataset && !hasModel(list, p.Model) && !hasModel(a[0], q.Model) {
				hits = append(hits, q)
			}
		}
		switch {
		case len(hits) == 1:
			return hits[0], true
		case len(a[0]) == 1 && len(list) == 1:
			return list[0], true
		}
		return p, false
	}
	var out []matchedPair
	for _, p := range a[0] {
		m := matchedPair{}
		whole := true
		for side, lists := range [2][][]outputs.Pair{a, b} {
			for _, list := range lists {
				q, ok := find(list, p)
				whole = whole && ok
				if side == 0 {
					m.base = append(m.base, q)
				} else {
					m.other = append(m.other, q)
				}
			}
		}
		if whole {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("nothing in %s belongs to anything in %s: %s has %s, %s has %s", other.Name, base.Name, base.Name, names(a[0]), other.Name, names(b[0]))
	}
	return out, nil
}

func hasModel(list []outputs.Pair, model string) bool {
	return slices.ContainsFunc(list, func(p outputs.Pair) bool { return p.Model == model })
}

// leftOut names the pairs of either side that have no partner; "" for none.
func leftOut(base, other Side, matched []matchedPair) string {
	var out []string
	for i, s := range []Side{base, other} {
		lists, err := pairsOf(s)
		if err != nil || len(lists) == 0 {
			return "" // match has told
		}
		for _, p := range lists[0] {
			if !slices.ContainsFunc(matched, func(m matchedPair) bool { return [][]outputs.Pair{m.base, m.other}[i][0] == p }) {
				out = append(out, fmt.Sprintf("%s on %s of %s", p.Model, p.Dataset, s.Name))
			}
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "not compared, the other side has none of the name: " + strings.Join(out, ", ")
}

func pairsOf(s Side) ([][]outputs.Pair, error) {
	var out [][]outputs.Pair
	for _, in := range s.Inputs {
		p, err := in.pairs()
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func names(pairs []outputs.Pair) string {
	var out []string
	for _, p := range pairs {
		out = append(out, p.Model+" on "+p.Dataset)
	}
	return strings.Join(out, ", ")
}
