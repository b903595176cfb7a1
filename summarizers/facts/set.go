package facts

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"reflect"
	"slices"
	"strings"

	"ais_bench/evaluators"
	"ais_bench/outputs"
	"ais_bench/registry"
	"ais_bench/summarizers/metrics"
)

// Set are the figures of several runs of one configuration, of one run, or of a
// run that is planned.
type Set struct {
	pairs    []outputs.Pair
	perf     map[outputs.Pair]*perf
	scores   map[string]*graded // by model/row and row
	rows     []string           // model/row, in order
	manifest *document
	client   map[outputs.Pair]*document
	server   map[outputs.Pair]*document
	baseline *Set
	planned  bool
	extra    map[string]*Fact
	problems []string
	notes    []string
}

// Options say what Open reads.
type Options struct {
	Metrics metrics.Options
	// Paths are the names that will be asked for; only what they need is kept in
	// memory. Nil = all.
	Paths []Path
	// Baseline is what compare.baseline refers to; nil = none.
	Baseline *Set
}

// Open reads runs that are repeats of one configuration. The records of each are
// read once.
func Open(runs []*outputs.Run, o Options) (*Set, error) {
	s := &Set{perf: map[outputs.Pair]*perf{}, scores: map[string]*graded{}, client: map[outputs.Pair]*document{}, baseline: o.Baseline}
	want := wanted(o.Paths)
	for i, run := range runs {
		pairs, err := run.Pairs()
		if err != nil {
			return nil, err
		}
		if len(pairs) == 0 {
			return nil, fmt.Errorf("%s holds neither records nor answers: nothing to judge", run.Dir())
		}
		if i > 0 && !slices.Equal(pairs, s.pairs) {
			return nil, &MismatchError{fmt.Sprintf("%s and %s asked different models or data sets (%s and %s): several runs are judged together only as repeats of one",
				runs[0].Dir(), run.Dir(), pairList(s.pairs), pairList(pairs))}
		}
		s.pairs = pairs
	}
	if err := s.readManifests(runs); err != nil {
		return nil, err
	}
	if err := s.readServer(runs, o.Paths); err != nil {
		return nil, err
	}
	for _, pair := range s.pairs {
		p := &perf{prefix: s.perfPrefix(pair)}
		for _, run := range runs {
			if run.RecordsPath(pair.Model, pair.Dataset) == "" {
				continue
			}
			m, err := measure(run.Records(pair.Model, pair.Dataset), o.Metrics, want)
			if err != nil {
				return nil, fmt.Errorf("%s on %s of %s: %w", pair.Model, pair.Dataset, run.Dir(), err)
			}
			p.runs = append(p.runs, m)
		}
		if len(p.runs) > 0 {
			s.perf[pair] = p
		}
		if err := s.readScores(runs, pair); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// MismatchError says that runs are no repeats of one another.
type MismatchError struct{ Text string }

func (e *MismatchError) Error() string { return e.Text }

func pairList(pairs []outputs.Pair) string {
	var out []string
	for _, p := range pairs {
		out = append(out, pairKey(p))
	}
	return strings.Join(out, ", ")
}

func pairKey(p outputs.Pair) string { return p.Model + "/" + p.Dataset }

func (s *Set) perfPrefix(p outputs.Pair) Path {
	if len(s.pairs) == 1 {
		return Path{"perf"}
	}
	return Path{"perf", pairKey(p)}
}

// wanted are the names of values that paths need: those of every tail, which is
// more than enough.
func wanted(paths []Path) func(string) bool {
	if paths == nil {
		return nil
	}
	names := map[string]bool{}
	for _, p := range paths {
		for i := range p {
			names[baseName(p[i:])] = true
		}
	}
	return func(name string) bool { return names[name] }
}

// readManifests keeps the manifests, the client's health in them, and what makes
// the runs unfit to be judged.
func (s *Set) readManifests(runs []*outputs.Run) error {
	s.manifest = &document{prefix: Path{"manifest"}, known: jsonKeys(reflect.TypeFor[outputs.Manifest]())}
	for _, p := range s.pairs {
		prefix := Path{"client"}
		if len(s.pairs) > 1 {
			prefix = prefix.with(pairKey(p))
		}
		s.client[p] = &document{prefix: prefix}
	}
	var first *outputs.Manifest
	for _, run := range runs {
		m, err := run.ReadManifest()
		if errors.Is(err, fs.ErrNotExist) {
			s.problem(run, "it has no manifest")
			s.manifest.docs = append(s.manifest.docs, nil)
			continue
		}
		if err != nil {
			return err
		}
		doc, err := plain(m)
		if err != nil {
			return err
		}
		s.manifest.docs = append(s.manifest.docs, doc)
		health, _ := dig(doc, Path{"client_health"}).(map[string]any)
		for _, p := range s.pairs {
			s.client[p].docs = append(s.client[p].docs, health[p.Model+" × "+p.Dataset])
		}
		s.judgeManifest(run, m)
		if first == nil {
			first = m
		} else {
			s.repeats(run, first, m)
		}
	}
	return nil
}

func (s *Set) problem(run *outputs.Run, text string) {
	s.problems = append(s.problems, run.Dir()+": "+text)
}

// judgeManifest finds what makes a run unfit to be judged.
func (s *Set) judgeManifest(run *outputs.Run, m *outputs.Manifest) {
	for _, p := range m.Pairs {
		switch {
		case p.NotAsked > 0:
			s.problem(run, fmt.Sprintf("incomplete: %d of %d questions of %s were not asked", p.NotAsked, p.Requests, p.Dataset))
		case p.State == outputs.PairInterrupted, p.State == outputs.PairPlanned:
			s.problem(run, fmt.Sprintf("incomplete: %s on %s is %s", p.Model, p.Dataset, p.State))
		case p.Scoring != "":
			s.problem(run, fmt.Sprintf("the answers to %s were not scored: %s", p.Dataset, p.Scoring))
		}
	}
	for _, w := range m.Warnings {
		if strings.HasPrefix(w, "INVALID") {
			s.problem(run, w)
		}
	}
}

// repeats notes in what two runs that are judged together differ.
func (s *Set) repeats(run *outputs.Run, a, b *outputs.Manifest) {
	sums := func(m *outputs.Manifest) map[string]string {
		out := map[string]string{}
		for _, c := range m.Configs {
			if c.Kind == "model" || c.Kind == "dataset" {
				out[c.Kind+" "+c.Name] = c.SHA256
			}
		}
		for _, d := range m.Data {
			out["data of "+d.Dataset+" "+d.Path] = d.SHA256
		}
		return out
	}
	x, y := sums(a), sums(b)
	for _, k := range sortedKeys(x) {
		if y[k] != x[k] {
			s.notes = append(s.notes, fmt.Sprintf("%s: another %s than in the first run; they are judged together all the same", run.Dir(), k))
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// readScores keeps the rows of the accuracy table.
func (s *Set) readScores(runs []*outputs.Run, pair outputs.Pair) error {
	var results []*evaluators.Result
	var scored []*outputs.Run
	for _, run := range runs {
		r := new(evaluators.Result)
		err := outputs.ReadJSON(run.ResultsPath(pair.Model, pair.Dataset), r)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		results, scored = append(results, r), append(scored, run)
	}
	if len(results) == 0 {
		return nil
	}
	if len(results) < len(runs) {
		s.notes = append(s.notes, fmt.Sprintf("%s on %s is scored in %d of %d runs; accuracy is of these", pair.Model, pair.Dataset, len(results), len(runs)))
	}
	var cache []answer
	answers := func() ([]answer, error) {
		if cache != nil {
			return cache, nil
		}
		for _, run := range scored {
			list, err := readAnswers(run, pair)
			if err != nil {
				return nil, err
			}
			cache = append(cache, list...)
		}
		return cache, nil
	}
	row := func(name string, g *graded) {
		g.answers = answers
		s.row(pair.Model, name, g)
	}
	whole := &graded{all: true}
	subs, groups := map[string]*graded{}, map[string]*graded{}
	var order []string
	for _, r := range results {
		whole.sums = append(whole.sums, &r.Overall)
		for i := range r.Subsets {
			sub := &r.Subsets[i]
			if subs[sub.Name] == nil {
				subs[sub.Name] = &graded{subset: sub.Subset}
				order = append(order, sub.Name)
			}
			subs[sub.Name].sums = append(subs[sub.Name].sums, &sub.Summary)
		}
		for i := range r.Groups {
			g := &r.Groups[i]
			if groups[g.Name] == nil {
				groups[g.Name] = &graded{}
				order = append(order, g.Name)
			}
			groups[g.Name].groups = append(groups[g.Name].groups, g)
		}
	}
	row(pair.Dataset, whole)
	for _, name := range order {
		if g := subs[name]; g != nil {
			row(name, g)
		} else {
			row(name, groups[name])
		}
	}
	return nil
}

// row adds a row of the accuracy table under model/name, and under name where no
// other model has it.
func (s *Set) row(model, name string, g *graded) {
	full := model + "/" + name
	if s.scores[full] != nil {
		return // a sub-set or group named like its data set: the data set is meant
	}
	s.rows = append(s.rows, full)
	s.scores[full] = g
	g.prefix = Path{"accuracy", name}
	if other := s.scores[name]; other == nil {
		s.scores[name] = g
	} else { // ambiguous
		other.prefix, g.prefix = Path{"accuracy", full}, Path{"accuracy", full}
		for _, r := range s.rows {
			if s.scores[r] == other {
				other.prefix = Path{"accuracy", r}
			}
		}
	}
}

// Problems are what makes the runs unfit to be judged, one line each: a run that
// is incomplete, a server that changed.
func (s *Set) Problems() []string { return s.problems }

// Notes are remarks on the runs as a whole.
func (s *Set) Notes() []string { return s.notes }

// Pairs are the models and data sets.
func (s *Set) Pairs() []outputs.Pair { return s.pairs }

// Add makes a figure of another source (a sweep) available under its name.
func (s *Set) Add(f *Fact) {
	if s.extra == nil {
		s.extra = map[string]*Fact{}
	}
	s.extra[f.Name] = f
}

// roots are the first words of names.
var roots = []string{successRate, "perf", "accuracy", "client", "server", "manifest", "compare"}

// Members are the keys of a group that a clause may go through: accuracy has one a
// row of the whole data sets, perf, client and server one a model and data set.
func (s *Set) Members(root string) ([]string, error) {
	var out []string
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
	if f := s.extra[p.String()]; f != nil {
		return f, nil
	}
	if len(p) == 0 {
		return nil, &UnknownError{"", "empty name"}
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

// Paths are all names that have a value, for listing.
func (s *Set) Paths() []Path {
	out := []Path{{successRate}}
	for _, r := range s.rows {
		for _, n := range s.scores[r].names() {
			if n != "accuracy" { // value under another name
				out = append(out, s.scores[r].prefix.with(n))
			}
		}
	}
	for _, p := range s.pairs {
		if space := s.perf[p]; space != nil {
			for _, n := range space.names() {
				out = append(out, space.prefix.with(strings.Split(n, ".")...))
			}
		}
	}
	for _, p := range s.pairs {
		d := s.client[p]
		d.list(func(rest Path) { out = append(out, d.prefix.with(rest...)) })
	}
	s.manifest.list(func(rest Path) {
		if len(rest) > 0 && rest[0] != "client_health" {
			out = append(out, s.manifest.prefix.with(rest...))
		}
	})
	return out
}

// FromRecords is the set of runs that are known by the records of one model and
// data set alone.
func FromRecords(runs []iter.Seq2[*outputs.Record, error], o Options) (*Set, error) {
	space := &perf{prefix: Path{"perf"}}
	var pair outputs.Pair
	for _, records := range runs {
		m, err := measure(records, o.Metrics, wanted(o.Paths))
		if err != nil {
			return nil, err
		}
		pair = outputs.Pair{Model: m.result.Model, Dataset: m.result.Dataset}
		space.runs = append(space.runs, m)
	}
	return &Set{pairs: []outputs.Pair{pair}, perf: map[outputs.Pair]*perf{pair: space}, scores: map[string]*graded{},
		client: map[outputs.Pair]*document{pair: {prefix: Path{"client"}}}, manifest: &document{prefix: Path{"manifest"}}, baseline: o.Baseline}, nil
}
