package facts

import (
	"reflect"

	"ais_bench/evaluators"
	"ais_bench/outputs"
)

// PlannedPair is a model and a data set that are to be asked.
type PlannedPair struct {
	Model, Dataset string
	Requests       int64 // 0 = unknown: the run is for a length of time
	Stream         bool
	Goodput        bool // service levels are given
	// Rows are the rows of the accuracy table that the run will have, with the
	// answers planned for each (0 = unknown); nil when nothing is scored.
	Rows []PlannedRow
}

// PlannedRow is a data set, sub-set or group to be scored.
type PlannedRow struct {
	Name  string
	N     int64
	Group bool
}

// Plan is the set of names that a run will have, with the number of values that
// each will be made from, so that a contract can be checked before anything is
// sent.
func Plan(pairs []PlannedPair, baseline *Set) *Set {
	s := &Set{perf: map[outputs.Pair]*perf{}, scores: map[string]*graded{}, client: map[outputs.Pair]*document{}, baseline: baseline, planned: true,
		manifest: &document{prefix: Path{"manifest"}, planned: true, known: jsonKeys(reflect.TypeFor[outputs.Manifest]())}}
	for _, p := range pairs {
		s.pairs = append(s.pairs, outputs.Pair{Model: p.Model, Dataset: p.Dataset})
	}
	for i := range pairs {
		p := &pairs[i]
		pair := s.pairs[i]
		s.perf[pair] = &perf{prefix: s.perfPrefix(pair), planned: p}
		s.client[pair] = &document{prefix: Path{"client"}, planned: true}
		for _, r := range p.Rows {
			g := &graded{planned: &r.N}
			if r.Group {
				g.groups = []*evaluators.GroupResult{{}}
			}
			s.row(p.Model, r.Name, g)
		}
	}
	return s
}
