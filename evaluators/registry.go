package evaluators

import (
	"fmt"
	"slices"
	"sync"

	"ais_bench/registry"
)

// Description is what a user reads about a scorer before choosing it.
type Description struct {
	ID      string
	Version string
	Summary string   // one sentence: what is extracted, how it is compared, what is not accepted
	Options []string // keys New accepts in opts
}

// entry is one line of the catalogue.
type entry struct {
	id      string
	version string
	summary string
	options []string
	build   func(meta, *options) (Scorer, error)
}

// meta is the identity a builder stamps on its scorer.
type meta struct{ id, version string }

func (m meta) ID() string      { return m.id }
func (m meta) Version() string { return m.version }

// catalogue is every scorer by id, composed from the explicit lists of the
// files that define them.
var catalogue = sync.OnceValue(func() map[string]entry {
	m := map[string]entry{}
	for _, list := range catalogueLists() {
		for _, e := range list {
			if _, twice := m[e.id]; twice {
				panic("evaluators: two scorers are called " + e.id)
			}
			m[e.id] = e
		}
	}
	return m
})

// New builds the scorer id. opts are the scorer's own settings by name as they
// stand in a data set's configuration (see Description.Options); an unknown id
// or option is an error that names the nearest right one.
func New(id string, opts map[string]any) (Scorer, error) {
	e, ok := catalogue()[id]
	if !ok {
		return nil, fmt.Errorf("unknown scorer %q%s", id, registry.DidYouMean(id, IDs()))
	}
	o := &options{scorer: id, values: opts}
	if err := o.only(e.options); err != nil {
		return nil, err
	}
	s, err := e.build(meta{e.id, e.version}, o)
	if err == nil {
		err = o.err
	}
	if err != nil {
		return nil, fmt.Errorf("scorer %s: %w", id, err)
	}
	return s, nil
}

// IDs are all scorer ids, sorted.
func IDs() []string {
	var ids []string
	for id := range catalogue() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Describe says what the scorer id does; the error of an unknown id names the
// nearest right one.
func Describe(id string) (Description, error) {
	e, ok := catalogue()[id]
	if !ok {
		return Description{}, fmt.Errorf("unknown scorer %q%s", id, registry.DidYouMean(id, IDs()))
	}
	return Description{ID: e.id, Version: e.version, Summary: e.summary, Options: e.options}, nil
}

// catalogueLists are the lists the catalogue is made of, one per family file.
func catalogueLists() [][]entry {
	return [][]entry{
		gsm8kScorers, mgsmScorers, choiceScorers, bbhScorers, qaScorers, mathScorers, longContextScorers, textScorers, judgeScorers, pplScorers, bfclScorers, codeScorers, ifevalScorers, externalScorers,
	}
}
