package facts

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ais_bench/outputs"
	"ais_bench/registry"
	"ais_bench/summarizers/capacity"
)

// sweepFacts are the figures of a sweep: those of its points, judged as repeats of
// one another, and what follows from them.
type sweepFacts struct {
	doc    *capacity.Document // evaluated; of a planned sweep only the axis
	levels map[float64]*perf  // of every load that was asked for
	plan   *SweepPlan         // nil after the sweep
}

// sweepKeys are the names after sweep, for spelling.
var sweepKeys = []string{"axis", "requests", "failed", "knee.value", "knee.state", "knee.throughput_at_knee", "knee.e2el_mean_ms_at_knee", "limited_by.cause", "search.slo",
	"search.highest", "search.recommended", "search.headroom", "search.at_highest.state", "search.at_recommended.state",
	"max.request_throughput", "max.input_throughput", "max.output_throughput", "max.total_token_throughput"}

// otherSweepKeys are what people may call them.
var otherSweepKeys = map[string]string{"slo.highest": "search.highest", "slo.recommended": "search.recommended", "highest": "search.highest", "recommended": "search.recommended",
	"knee": "knee.value", "peak_output_throughput": "max.output_throughput", "max_output_throughput": "max.output_throughput", "output_throughput": "max.output_throughput",
	"limit.cause": "limited_by.cause", "limited_by": "limited_by.cause"}

// OfSweep is the set of a sweep's figures. run is the sweep's folder and d what its
// points say, evaluated; missing are points that it should have and has not, one
// line each. The records of the points that o.Paths name are read once more (nil =
// of all).
func OfSweep(run *outputs.Run, d *capacity.Document, missing []string, o Options) (*Set, error) {
	s := &Set{sweep: &sweepFacts{doc: d, levels: map[float64]*perf{}},
		manifest: &document{prefix: Path{"manifest"}, known: jsonKeys(reflect.TypeFor[outputs.Manifest]())}}
	m, err := run.ReadManifest()
	if err != nil {
		return nil, err
	}
	doc, err := plain(m)
	if err != nil {
		return nil, err
	}
	s.manifest.docs = []any{doc}
	if m.State != outputs.StateDone {
		s.problem(run, fmt.Sprintf("the sweep is incomplete: it is %s", strings.TrimSuffix(string(m.State)+" ("+m.StateReason+")", " ()")))
	}
	for _, text := range missing {
		s.problem(run, "the sweep is incomplete: "+text)
	}
	if d.SLO != nil && d.Capacity == nil {
		s.problem(run, "the sweep is incomplete: its search did not come to an end")
	}
	s.notes = append(s.notes, d.Notes...)
	want := s.sweep.wanted(o.Paths)
	for i := range d.Curve.Levels {
		l := &d.Curve.Levels[i]
		p := &perf{prefix: Path{"sweep", "points", load(l.Value)}}
		for _, r := range l.Runs {
			point, err := outputs.Open(run.Path(filepath.FromSlash(r.Dir)))
			if err != nil {
				return nil, err
			}
			of, err := point.ReadManifest()
			switch {
			case errors.Is(err, fs.ErrNotExist):
				s.problem(point, "it has no manifest")
			case err != nil:
				return nil, err
			default:
				s.judgeManifest(point, of)
			}
			if !want(l.Value) {
				continue
			}
			measured, err := measure(point.Records(r.Result.Model, r.Result.Dataset), o.Metrics, wanted(withThroughputs(o.Paths)))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", point.Dir(), err)
			}
			p.runs = append(p.runs, measured)
			if measured.damaged > 0 {
				s.problem(point, fmt.Sprintf("its records are damaged in %d places: requests are missing", measured.damaged))
			}
		}
		s.sweep.levels[l.Value] = p
	}
	return s, nil
}

// withThroughputs adds what the largest throughputs and the knee's are made from.
func withThroughputs(paths []Path) []Path {
	if paths == nil {
		return nil
	}
	out := append(slices.Clone(paths), Path{"e2el"})
	for _, n := range rateNames {
		out = append(out, Path{n})
	}
	return out
}

// wanted reports which loads' records names need.
func (w *sweepFacts) wanted(paths []Path) func(float64) bool {
	all, some := paths == nil, map[float64]bool{}
	for _, p := range paths {
		switch {
		case len(p) < 2 || p[0] != "sweep":
		case p[1] == "max":
			all = true
		case p[1] == "knee" && w.doc.Knee.Value != nil:
			some[*w.doc.Knee.Value] = true
		case p[1] == "points" && len(p) > 2:
			if v, err := strconv.ParseFloat(p[2], 64); err == nil {
				some[v] = true
			}
		}
	}
	return func(v float64) bool { return all || some[v] }
}

// load is a value of the axis in a name.
func load(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// loads are the points there are.
func (w *sweepFacts) loads() []float64 { return slices.Sorted(maps.Keys(w.levels)) }

// foreign refuses a name of a run.
func (w *sweepFacts) foreign(p Path) error {
	rest := p
	if p[0] == "perf" {
		rest = p[1:]
	}
	hint := "; a sweep has sweep.… and manifest.…"
	if list := w.loads(); len(list) > 0 && p[0] != "client" && p[0] != "server" && p[0] != "accuracy" && p[0] != "compare" {
		if _, err := w.levels[list[0]].fact(rest); err == nil {
			hint += fmt.Sprintf("; a figure of one load is %s", w.levels[list[len(list)-1]].prefix.with(rest...))
		}
	}
	if near := registry.Nearest(p[0], []string{"sweep", "manifest"}); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	return &UnknownError{p.String(), hint}
}

// fact is the figure under a name that begins with sweep.
func (w *sweepFacts) fact(p Path) (*Fact, error) {
	rest := p[1:]
	if len(rest) > 0 && rest[0] == "points" {
		return w.point(p)
	}
	name := strings.Join(rest, ".")
	f := &Fact{Name: p.String()}
	switch name {
	case "axis":
		f.Kind, f.Text, f.N, f.Known = Text, w.doc.Curve.Axis.Name, int64(w.runs()), true
		return f, nil
	case "requests", "failed":
		w.count(f, name)
		return f, nil
	case "knee.value":
		w.knee(f)
		return f, nil
	case "knee.state":
		w.text(f, w.doc.Knee.State)
		return f, nil
	case "knee.throughput_at_knee":
		return w.atKnee(f, w.doc.Knee.Basis)
	case "knee.e2el_mean_ms_at_knee":
		return w.atKnee(f, "e2el", "mean_ms")
	case "limited_by.cause":
		w.text(f, w.doc.Limit.Cause)
		return f, nil
	}
	if len(rest) == 2 && rest[0] == "max" && slices.Contains(rateNames, rest[1]) {
		return w.largest(f, rest[1])
	}
	if len(rest) > 1 && rest[0] == "search" && slices.Contains(sweepKeys, name) {
		return f, w.search(f, strings.TrimPrefix(name, "search."))
	}
	return nil, unknownOfSweep(p, name)
}

func unknownOfSweep(p Path, name string) error {
	var inside []string
	for _, k := range sweepKeys {
		if rest, ok := strings.CutPrefix(k, name+"."); ok {
			inside = append(inside, rest)
		}
	}
	near := otherSweepKeys[name]
	switch {
	case near == "" && name == "":
		return &UnknownError{p.String(), ": it is a group; name one figure of it: " + strings.Join(sweepKeys, ", ") + `, or points["8"].ttft.p99_ms`}
	case near == "" && inside != nil:
		return &UnknownError{p.String(), ": it is a group; name one figure of it: " + strings.Join(inside, ", ")}
	case near == "":
		near = registry.Nearest(name, sweepKeys)
	}
	if near == "" {
		return &UnknownError{p.String(), "; it has " + strings.Join(sweepKeys, ", ") + `, and points["8"].ttft.p99_ms`}
	}
	return &UnknownError{p.String(), fmt.Sprintf("; did you mean sweep.%s?", near)}
}

// text is a word of the sweep's own; what is not known before it has no kind yet.
func (w *sweepFacts) text(f *Fact, word string) {
	if w.plan != nil {
		f.Reason = "not measured yet"
		return
	}
	f.Kind, f.N, f.Known = Text, int64(w.runs()), true
	if word == "" {
		f.Reason = "there is none"
		return
	}
	f.Text = word
}

// runs is the number of runs of all points.
func (w *sweepFacts) runs() (n int) {
	for i := range w.doc.Curve.Levels {
		n += len(w.doc.Curve.Levels[i].Runs)
	}
	return n
}

func (w *sweepFacts) count(f *Fact, name string) {
	f.Kind, f.Unit = Observed, "requests"
	if w.plan != nil {
		f.Reason = "not measured yet"
		return
	}
	var v float64
	for i := range w.doc.Curve.Levels {
		total, failed := w.doc.Curve.Levels[i].Requests()
		f.N += total
		if name == "failed" {
			total = failed
		}
		v += float64(total)
	}
	f.Value, f.Known = &v, true
}

// point is a figure of the runs of one load together: sweep.points["8"].ttft.p99_ms.
func (w *sweepFacts) point(p Path) (*Fact, error) {
	var names []string
	for _, v := range w.loads() {
		names = append(names, p[:2].with(load(v)).String())
	}
	if len(p) < 4 {
		return nil, &UnknownError{p.String(), `: name a load and a figure, as in sweep.points["8"].ttft.p99_ms`}
	}
	v, err := strconv.ParseFloat(p[2], 64)
	level := w.levels[v]
	switch {
	case err != nil:
		return nil, &UnknownError{p.String(), fmt.Sprintf(": %q is no load; there are %s", p[2], strings.Join(names, ", "))}
	case level == nil && w.doc.SLO != nil && w.plan == nil: // where a search goes is not known before
		return &Fact{Name: p.String(), Reason: "the search did not measure this load"}, nil
	case level == nil && w.plan != nil && w.plan.SLO != "":
		return nil, &UnknownError{p.String(), fmt.Sprintf(": a search measures loads that it finds on its way; it begins with %s, which may be named, or judge sweep.search.highest", strings.Join(names, ", "))}
	case level == nil:
		return nil, &UnknownError{p.String(), ": no such load; there are " + strings.Join(names, ", ")}
	}
	rest := p[3:]
	if len(rest) == 1 && rest[0] == "client_bound" {
		f := &Fact{Name: level.prefix.with(rest...).String()}
		bound := ""
		if l := w.doc.Curve.At(v); l != nil {
			bound = l.ClientBound()
		}
		w.text(f, bound)
		return f, nil
	}
	return level.fact(rest)
}

func (w *sweepFacts) label(v float64) string {
	return strings.ReplaceAll(w.doc.Curve.Axis.Name, "_", " ") + " " + load(v)
}

// paths are all names that have a value, for listing.
func (w *sweepFacts) paths() []Path {
	var out []Path
	for _, k := range sweepKeys {
		if w.doc.SLO == nil && strings.HasPrefix(k, "search.") {
			continue
		}
		out = append(out, Path{"sweep"}.with(strings.Split(k, ".")...))
	}
	if list := w.loads(); len(list) > 0 { // the others have the same names
		p := w.levels[list[len(list)-1]]
		out = append(out, p.prefix.with("client_bound"))
		for _, n := range p.names() {
			out = append(out, p.prefix.with(strings.Split(n, ".")...))
		}
	}
	return out
}

// Loads are the loads of a sweep's points; nil of runs.
func (s *Set) Loads() []float64 {
	if s.sweep == nil {
		return nil
	}
	return s.sweep.loads()
}
