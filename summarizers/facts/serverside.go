package facts

import (
	"reflect"
	"slices"

	"ais_bench/outputs"
	"ais_bench/summarizers/server"
)

// readServer analyses the server's side of every run, where a name asks for it: it
// reads the records once more.
func (s *Set) readServer(runs []*outputs.Run, paths []Path) error {
	s.server = map[outputs.Pair]*document{}
	known := jsonKeys(reflect.TypeFor[server.Analysis]())
	for _, p := range s.pairs {
		prefix := Path{"server"}
		if len(s.pairs) > 1 {
			prefix = prefix.with(pairKey(p))
		}
		s.server[p] = &document{prefix: prefix, known: known}
	}
	if !slices.ContainsFunc(paths, func(p Path) bool { return len(p) > 0 && p[0] == "server" }) {
		return nil
	}
	for i, run := range runs {
		var health map[string]any
		if i < len(s.manifest.docs) {
			health, _ = dig(s.manifest.docs[i], Path{"client_health"}).(map[string]any)
		}
		list, err := server.Analyze(run, s.pairs, health)
		if err != nil {
			return err
		}
		for _, p := range s.pairs {
			var doc any
			for _, a := range list { // of several sessions the last one's
				if a.Model == p.Model && a.Dataset == p.Dataset {
					if doc, err = plain(a); err != nil {
						return err
					}
				}
			}
			s.server[p].docs = append(s.server[p].docs, doc)
		}
	}
	return nil
}

// serverFact gives a figure of the server's side: server.arrival.state,
// server.cache.server_hit_rate, server.reading.at_limit_share.
func (s *Set) serverFact(p Path) (*Fact, error) {
	pair, rest, err := s.pairOf(p)
	if err != nil {
		return nil, err
	}
	d := s.server[pair]
	if d == nil {
		d = &document{prefix: Path{"server"}, planned: s.planned, known: jsonKeys(reflect.TypeFor[server.Analysis]())}
	}
	return d.fact(rest)
}
