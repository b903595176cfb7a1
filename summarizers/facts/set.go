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
	sweep    *sweepFacts // nil of runs
	// Why the runs are not like the baseline; see Unlike.
	unlikePerformance, unlikeAccuracy []string
	planned                           bool
	due                               map[*outputs.Run]map[outputs.Pair]dueQuestions
	problems                          []string
	notes                             []string
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
			if m.result.Requests.Attempts == 0 {
				s.problem(run, fmt.Sprintf("no request of %s on %s was measured: there is nothing to judge", pair.Model, pair.Dataset))
			}
			s.counted(run, pair, m)
			if m.damaged > 0 { // what is lost may be the failures
				s.problem(run, fmt.Sprintf("the records of %s on %s are damaged in %d places: requests are missing", pair.Model, pair.Dataset, m.damaged))
			}
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
	for _, text := range run.Mismatches(m) {
		s.problem(run, text)
	}
	if len(m.Pairs) == 0 {
		s.problem(run, "its manifest names no model and data set, so whether the run is complete is unknown")
	}
	for i := range m.Pairs {
		if text := m.Pairs[i].Unfinished(); text != "" {
			s.problem(run, text)
		}
	}
	s.dueOf(run, m)
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
		if why := contradiction(&r.Overall); why != "" {
			s.problem(run, fmt.Sprintf("the scores of %s contradict themselves: %s", pairKey(pair), why))
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

// Unlike records why the performance and the accuracy of the runs cannot be
// compared with the baseline's, one line each.
func (s *Set) Unlike(performance, accuracy []string) {
	s.unlikePerformance, s.unlikeAccuracy = performance, accuracy
}

// BaselineProblems are what makes the baseline unfit to be compared with, in
// performance, in accuracy or in both.
func (s *Set) BaselineProblems(performance, accuracy bool) []string {
	if s.baseline == nil || !performance && !accuracy {
		return nil
	}
	out := slices.Clone(s.baseline.problems)
	add := func(what string, reasons []string) {
		for _, r := range reasons {
			out = append(out, what+" cannot be compared with it: "+r)
		}
	}
	if performance {
		add("performance", s.unlikePerformance)
	}
	if accuracy {
		add("accuracy", s.unlikeAccuracy)
	}
	return out
}

// Notes are remarks on the runs as a whole.
func (s *Set) Notes() []string { return s.notes }

// Pairs are the models and data sets.
func (s *Set) Pairs() []outputs.Pair { return s.pairs }

// Paths are all names that have a value, for listing.
func (s *Set) Paths() []Path {
	if s.sweep != nil {
		return append(s.sweep.paths(), s.manifestPaths()...)
	}
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
	return append(out, s.manifestPaths()...)
}

func (s *Set) manifestPaths() (out []Path) {
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
