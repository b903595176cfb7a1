package compare

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/facts"
	"ais_bench/summarizers/metrics"
)

// Options say how runs are compared.
type Options struct {
	// Tolerance is the relative change of a figure that counts as none; 0 = 0.05.
	Tolerance float64
	// ShareTolerance is the same for accuracy and for shares (success, service levels),
	// absolute; 0 = 0.01.
	ShareTolerance float64
	Level          float64 // of intervals; 0 = 0.95
	// Force gives the figures of what is not comparable.
	Force bool
	SLOs  []metrics.SLO // for goodput; nil = those all runs were reported with
}

// The defaults.
const (
	DefaultTolerance      = 0.05
	DefaultShareTolerance = 0.01
	DefaultLevel          = 0.95
)

func (o Options) withDefaults() Options {
	if o.Tolerance == 0 {
		o.Tolerance = DefaultTolerance
	}
	if o.ShareTolerance == 0 {
		o.ShareTolerance = DefaultShareTolerance
	}
	if o.Level == 0 {
		o.Level = DefaultLevel
	}
	return o
}

// Result is everything a comparison found.
type Result struct {
	Sides          []SideInfo     `json:"sides"` // the base first
	Tolerance      float64        `json:"tolerance"`
	ShareTolerance float64        `json:"share_tolerance"`
	Level          float64        `json:"level"`
	Comparisons    []Comparison   `json:"comparisons"`
	Repeatability  *Repeatability `json:"repeatability"`
	Notes          []string       `json:"notes"`
}

// SideInfo says what was compared.
type SideInfo struct {
	Name   string    `json:"name"`
	Inputs []RunInfo `json:"runs"`
}

// RunInfo is one input of a side.
type RunInfo struct {
	Name      string              `json:"name"`
	Path      string              `json:"path"`
	Kind      string              `json:"kind"` // run, vllm or sglang
	StartedAt string              `json:"started_at,omitempty"`
	Tool      string              `json:"tool,omitempty"`
	Checklist []outputs.CheckItem `json:"checklist,omitempty"`
}

// Comparison is one model and data set of one side against the base's.
type Comparison struct {
	Base        string       `json:"base"`
	Other       string       `json:"other"`
	Point       string       `json:"point,omitempty"` // of sweeps
	BasePair    outputs.Pair `json:"base_pair"`
	OtherPair   outputs.Pair `json:"other_pair"`
	Differences []Difference `json:"differences"`
	Performance *Performance `json:"performance"` // null: one side was not timed
	Accuracy    *Accuracy    `json:"accuracy"`    // null: one side was not scored
}

// Performance is the comparison of the timed figures.
type Performance struct {
	Comparable bool     `json:"comparable"`
	Reasons    []string `json:"reasons"` // why not
	Cautions   []string `json:"cautions"`
	Figures    int      `json:"figures"` // compared, which the adjusted intervals are widened for
	Changes    []Change `json:"changes"` // empty when not comparable, unless forced
}

// Accuracy is the comparison of the scores.
type Accuracy struct {
	Comparable bool             `json:"comparable"`
	Reasons    []string         `json:"reasons"`
	Cautions   []string         `json:"cautions"`
	Changes    []AccuracyChange `json:"changes"`
	Flips      []Flip           `json:"flips"`
}

// comparer holds what was read.
type comparer struct {
	o       Options
	foreign bool // some input is a saved result: runs are computed as that tool does
	sets    map[*Input]*facts.Set
	scans   map[string]*scan
}

// Compare compares every side with the first.
func Compare(sides []Side, o Options) (*Result, error) {
	o = o.withDefaults()
	if len(sides) < 2 {
		return nil, errors.New("there is nothing to compare with: name at least two runs")
	}
	c := &comparer{o: o, sets: map[*Input]*facts.Set{}, scans: map[string]*scan{}}
	r := &Result{Tolerance: o.Tolerance, ShareTolerance: o.ShareTolerance, Level: o.Level, Comparisons: []Comparison{}, Notes: []string{}}
	runs := false
	for _, s := range sides {
		info := SideInfo{Name: s.Name}
		for _, in := range s.Inputs {
			info.Inputs = append(info.Inputs, describe(in))
			c.foreign = c.foreign || in.Saved != nil
			runs = runs || in.Run != nil
		}
		r.Sides = append(r.Sides, info)
	}
	if c.foreign && runs {
		r.Notes = append(r.Notes, "figures of run folders are computed as `vllm bench serve` defines them, to be of one kind with the saved results; they have no intervals")
	}
	same := true // all sides of one configuration, as far as they tell
	var reasons []string
	for _, other := range sides[1:] {
		matched, err := match(sides[0], other)
		if err != nil {
			return nil, err
		}
		for _, m := range matched {
			cmp, err := c.compare(sides[0], other, m, len(matched))
			if err != nil {
				return nil, err
			}
			for _, d := range cmp.Differences {
				if d.configuration() {
					same = false
					if reason := d.reason(); !slices.Contains(reasons, reason) {
						reasons = append(reasons, reason)
					}
				}
			}
			r.Comparisons = append(r.Comparisons, *cmp)
		}
	}
	var err error
	if r.Repeatability, err = c.repeatability(sides, same, reasons); err != nil {
		return nil, err
	}
	return r, nil
}

func describe(in *Input) RunInfo {
	info := RunInfo{Name: in.Name, Path: in.Path, Kind: "run"}
	if in.Saved != nil {
		info.Kind, info.StartedAt = in.Saved.Tool, in.Saved.Date
		return info
	}
	if m := in.Manifest; m != nil {
		info.StartedAt = m.StartedAt
		info.Tool = strings.TrimSpace(m.Tool.Name + " " + m.Tool.Version + " " + m.Tool.Commit)
	}
	info.Checklist = in.Run.Checklist(in.Manifest)
	return info
}

// matchedPair are the pairs of one comparison, one for each input of a side.
type matchedPair struct{ base, other []outputs.Pair }

// match finds which model and data set of one side belongs to which of the other:
// of the same names; of the same data set where each side has one model; whatever
// they are called where each has one pair.
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
			if q.Dataset == p.Dataset {
				hits = append(hits, q)
			}
		}
		switch {
		case len(hits) == 1:
			return hits[0], true
		case len(hits) == 0 && len(list) == 1:
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
				if len(a[0]) > 1 && q.Dataset != p.Dataset { // one pair stands for any only against one
					ok = false
				}
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

// compare compares one pair of tests.
func (c *comparer) compare(base, other Side, m matchedPair, tests int) (*Comparison, error) {
	out := &Comparison{Base: base.Name, Other: other.Name, BasePair: m.base[0], OtherPair: m.other[0], Differences: []Difference{}}
	var err error
	if out.Differences, err = c.differences(base, other, m); err != nil {
		return nil, err
	}
	if out.Performance, err = c.performance(base, other, m, out.Differences); err != nil {
		return nil, err
	}
	if out.Accuracy, err = c.accuracyOf(base, other, m, out.Differences, tests); err != nil {
		return nil, err
	}
	// Differences that matter for nothing that was measured are not shown.
	out.Differences = slices.DeleteFunc(out.Differences, func(d Difference) bool {
		return !(out.Performance != nil && d.Performance != "") && !(out.Accuracy != nil && d.Accuracy != "")
	})
	if out.Performance == nil && out.Accuracy == nil {
		return nil, fmt.Errorf("%s and %s have nothing in common to compare: %s was %s, %s was %s", base.Name, other.Name,
			base.Name, measured(base.Inputs[0], m.base[0]), other.Name, measured(other.Inputs[0], m.other[0]))
	}
	return out, nil
}

func measured(in *Input, p outputs.Pair) string {
	switch {
	case in.Saved != nil || in.Run.RecordsPath(p.Model, p.Dataset) != "":
		return "timed"
	}
	return "not timed"
}

// scan reads the records of an input's pair once; nil where there are none.
func (c *comparer) scan(in *Input, p outputs.Pair) (*scan, error) {
	if in.Run == nil || in.Run.RecordsPath(p.Model, p.Dataset) == "" {
		return nil, nil
	}
	key := in.Path + "\x00" + p.Model + "\x00" + p.Dataset
	if s, ok := c.scans[key]; ok {
		return s, nil
	}
	s, err := scanRecords(in.Run.Records(p.Model, p.Dataset))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Path, err)
	}
	c.scans[key] = s
	return s, nil
}

// differences compares the conditions of the other side's runs with the base's, run
// by run where both have as many as each other or more, and with its last from
// there on. Runs of one side are repeats of each other: among them only what makes
// them something else counts.
func (c *comparer) differences(base, other Side, m matchedPair) ([]Difference, error) {
	var out []Difference
	add := func(list ...Difference) {
		for _, d := range list {
			if i := slices.IndexFunc(out, func(o Difference) bool { return o.Subject == d.Subject }); i >= 0 {
				out[i].merge(d)
				continue
			}
			out = append(out, d)
		}
	}
	var refs []*observed
	for i, in := range base.Inputs {
		ref, err := c.observe(in, m.base[i])
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
		for _, d := range alone(ref.conditions) {
			d.Other = ""
			add(d)
		}
		add(within(base.Name, refs[0], ref)...)
	}
	var first *observed
	for i, in := range other.Inputs {
		now, err := c.observe(in, m.other[i])
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = now
		}
		ref := refs[min(i, len(refs)-1)]
		if in.Run != nil && base.Inputs[0].Run != nil && (ref.scan != nil || now.scan != nil) {
			if d, differ := promptDifference(ref.scan, now.scan); differ {
				add(d)
			}
		}
		add(compareConditions(ref.conditions, now.conditions)...)
		for _, d := range alone(now.conditions) {
			d.Base, d.Other = "", d.Base
			add(d)
		}
		add(within(other.Name, first, now)...)
	}
	if slices.ContainsFunc(out, func(d Difference) bool { return d.Subject == "prefix caching" && d.Performance == Invalid }) {
		out = slices.DeleteFunc(out, func(d Difference) bool { return d.Subject == "cached share" }) // follows from it
	}
	slices.SortStableFunc(out, func(a, b Difference) int { return b.rank() - a.rank() })
	return out, nil
}

// observed is what is known of one pair of one input.
type observed struct {
	*conditions
	scan *scan
}

func (c *comparer) observe(in *Input, p outputs.Pair) (*observed, error) {
	s, err := c.scan(in, p)
	if err != nil {
		return nil, err
	}
	conds, err := gather(in, p, s)
	if err != nil {
		return nil, err
	}
	c.levelled(conds)
	return &observed{conds, s}, nil
}

// within are the differences that keep a run of a side from being a repeat of the
// side's first.
func within(side string, first, now *observed) (out []Difference) {
	for _, d := range compareConditions(first.conditions, now.conditions) {
		if d.Performance == Invalid || d.Accuracy == Invalid {
			d.Subject += " within " + side
			d.Base, d.Other = "", d.Base+" and "+d.Other
			out = append(out, d)
		}
	}
	return out
}

// merge adds what another run of the side says of the same condition.
func (d *Difference) merge(more Difference) {
	join := func(a *string, b string) {
		switch {
		case b == "" || slices.Contains(strings.Split(*a, " | "), b):
		case *a == "":
			*a = b
		default:
			*a += " | " + b
		}
	}
	join(&d.Base, more.Base)
	join(&d.Other, more.Other)
	if worst(d.Performance, more.Performance) != d.Performance || worst(d.Accuracy, more.Accuracy) != d.Accuracy {
		d.Why = more.Why
	}
	d.Performance, d.Accuracy = worst(d.Performance, more.Performance), worst(d.Accuracy, more.Accuracy)
}

// levelled: figures of a run that is compared with a saved result are computed as
// vLLM defines them.
func (c *comparer) levelled(conds *conditions) {
	if v, ok := conds.by["definitions"]; ok && c.foreign && v.text == "strict" {
		conds.text("definitions", "vllm")
	}
}

// alone are the conditions that matter by themselves.
func alone(c *conditions) (out []Difference) {
	for _, subject := range c.order {
		r, v := ruleFor(subject), c.by[subject]
		if r.alone == nil || v.unknown {
			continue
		}
		if j := r.alone(v); j.any() {
			out = append(out, Difference{Subject: subject, Base: v.shown(), Performance: j.performance, Accuracy: j.accuracy, Why: j.why})
		}
	}
	return out
}

func compareConditions(base, other *conditions) (out []Difference) {
	order := slices.Clone(base.order)
	for _, s := range other.order {
		if !slices.Contains(order, s) {
			order = append(order, s)
		}
	}
	for _, subject := range order {
		r := ruleFor(subject)
		a, inA := base.by[subject]
		b, inB := other.by[subject]
		a.unknown, b.unknown = a.unknown || !inA, b.unknown || !inB
		if strings.HasPrefix(subject, "server") && subject != "server settings" && (a.unknown || b.unknown) && (base.by["server settings"].unknown || other.by["server settings"].unknown) {
			continue // told once, not setting by setting
		}
		var j judgement
		switch {
		case a.unknown && b.unknown:
			j = r.silent
		case a.unknown || b.unknown:
			j = r.unknown
		case r.judge != nil:
			j = r.judge(a, b)
		}
		if j.any() {
			out = append(out, Difference{Subject: subject, Base: a.shown(), Other: b.shown(), Performance: j.performance, Accuracy: j.accuracy, Why: j.why})
		}
	}
	return out
}

// reasonsOf are the differences that make a comparison invalid, and those that ask
// for caution.
func reasonsOf(list []Difference, of func(Difference) Severity) (invalid, caution []string) {
	invalid, caution = []string{}, []string{}
	for _, d := range list {
		switch of(d) {
		case Invalid:
			invalid = append(invalid, d.reason())
		case Caution:
			caution = append(caution, d.reason())
		}
	}
	return invalid, caution
}

// performance compares the figures of two sides; nil where one was not timed.
func (c *comparer) performance(base, other Side, m matchedPair, list []Difference) (*Performance, error) {
	a, err := c.sources(base, m.base)
	if err != nil || a == nil {
		return nil, err
	}
	b, err := c.sources(other, m.other)
	if err != nil || b == nil {
		return nil, err
	}
	p := &Performance{Changes: []Change{}}
	p.Reasons, p.Cautions = reasonsOf(list, func(d Difference) Severity { return d.Performance })
	p.Comparable = len(p.Reasons) == 0
	if !p.Comparable && !c.o.Force {
		return p, nil
	}
	pairs, err := c.pairing(base, other, m)
	if err != nil {
		return nil, err
	}
	p.Changes, p.Figures = c.o.changes(a, b, pairs)
	return p, nil
}

// pairing are the requests that two single runs have in common; nil where figures
// are not compared request by request.
func (c *comparer) pairing(base, other Side, m matchedPair) (*pairing, error) {
	if len(base.Inputs) > 1 || len(other.Inputs) > 1 || c.foreign {
		return nil, nil
	}
	a, err := c.scan(base.Inputs[0], m.base[0])
	if err != nil {
		return nil, err
	}
	b, err := c.scan(other.Inputs[0], m.other[0])
	if err != nil {
		return nil, err
	}
	return pairUp(a, b), nil
}

// changes compares every headline figure that both sides have.
func (o Options) changes(a, b []source, pairs *pairing) (list []Change, figures int) {
	list = []Change{}
	at := func(side []source, m Metric) (out []figure) {
		for _, s := range side {
			out = append(out, s(m))
		}
		return out
	}
	type both struct{ a, b []figure }
	all := make([]both, len(Headline))
	for i, m := range Headline {
		all[i] = both{at(a, m), at(b, m)}
		if defined(all[i].a) && defined(all[i].b) {
			figures++
		}
	}
	adjusted := 1 - (1-o.Level)/float64(max(figures, 1))
	for i, m := range Headline {
		c := o.changeOf(m, all[i].a, all[i].b, pairs, adjusted)
		if c.Base == nil && c.Other == nil {
			continue // neither measured it
		}
		list = append(list, c)
	}
	return list, figures
}

func defined(list []figure) bool {
	for _, f := range list {
		if f.value == nil {
			return false
		}
	}
	return len(list) > 0
}

func (c *comparer) sources(s Side, pairs []outputs.Pair) ([]source, error) {
	if c.o.SLOs == nil && len(c.sets) == 0 {
		c.o.SLOs = commonSLOs(s, pairs)
	}
	var out []source
	for i, in := range s.Inputs {
		src, err := c.source(in, pairs[i])
		if err != nil || src == nil {
			return nil, err
		}
		out = append(out, src)
	}
	return out, nil
}

// commonSLOs are the service levels that all runs of a side were reported with.
func commonSLOs(s Side, pairs []outputs.Pair) []metrics.SLO {
	var first []metrics.SLO
	for i, in := range s.Inputs {
		list := storedSLOs(in, pairs[i])
		if i == 0 {
			first = list
		} else if !reflect.DeepEqual(first, list) {
			return nil
		}
	}
	return first
}

// accuracyOf compares the scores of two sides; nil where one was not scored.
func (c *comparer) accuracyOf(base, other Side, m matchedPair, list []Difference, tests int) (*Accuracy, error) {
	a, err := readItems(base.Inputs, m.base)
	if err != nil || len(a) == 0 {
		return nil, err
	}
	b, err := readItems(other.Inputs, m.other)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	acc := &Accuracy{Changes: []AccuracyChange{}, Flips: []Flip{}}
	acc.Reasons, acc.Cautions = reasonsOf(list, func(d Difference) Severity { return d.Accuracy })
	acc.Comparable = len(acc.Reasons) == 0
	if !acc.Comparable && !c.o.Force {
		return acc, nil
	}
	changes, flips := c.o.accuracy(m.other[0].Dataset, a, b, tests)
	acc.Changes = append(acc.Changes, changes...)
	acc.Flips = append(acc.Flips, flips...)
	return acc, nil
}

// repeatability applies the rule to all inputs of all sides.
func (c *comparer) repeatability(sides []Side, same bool, reasons []string) (*Repeatability, error) {
	r := &Repeatability{Applies: same, Tolerance: c.o.Tolerance, Runs: []string{}, Spreads: []Spread{}}
	var inputs []*Input
	for _, s := range sides {
		for _, in := range s.Inputs {
			inputs = append(inputs, in)
			r.Runs = append(r.Runs, in.Name)
		}
	}
	if !same {
		r.Reason = "the runs are not of one configuration: " + strings.Join(reasons, "; ")
		return r, nil
	}
	all := Side{Inputs: inputs}
	matched, err := match(Side{Name: "the runs", Inputs: inputs[:1]}, all)
	if err != nil {
		return nil, err
	}
	for _, m := range matched {
		src, err := c.sources(all, m.other)
		if err != nil {
			return nil, err
		}
		if src == nil {
			continue
		}
		for _, metric := range Headline {
			var figures []figure
			for _, s := range src {
				figures = append(figures, s(metric))
			}
			if s, ok := c.o.spreadOf(metric, figures); ok {
				s.Pair = m.base[0].Model + " on " + m.base[0].Dataset
				r.Spreads = append(r.Spreads, s)
			}
		}
	}
	r.conclude()
	return r, nil
}

// Changes are the changes of every headline figure of a pair from base to other,
// each one run or several of one configuration, by the keys of performances/*.json
// joined by dots: "output_throughput", "ttft.p99_ms". Whether the runs may be
// compared at all is not asked. pair may name a model and data set; the zero pair
// is the only one there is.
func Changes(base, other []*outputs.Run, pair outputs.Pair, o Options) (map[string]Change, error) {
	o = o.withDefaults()
	c := &comparer{o: o, sets: map[*Input]*facts.Set{}, scans: map[string]*scan{}}
	var sides [2]Side
	for i, runs := range [2][]*outputs.Run{base, other} {
		for _, run := range runs {
			in, err := OpenRun(run)
			if err != nil {
				return nil, err
			}
			sides[i].Inputs = append(sides[i].Inputs, in)
		}
		if len(runs) == 0 {
			return nil, errors.New("there is nothing to compare with")
		}
		sides[i].Name = sides[i].Inputs[0].Name
	}
	matched, err := match(sides[0], sides[1])
	if err != nil {
		return nil, err
	}
	for _, m := range matched {
		if pair != (outputs.Pair{}) && m.base[0] != pair && m.other[0] != pair {
			continue
		}
		a, err := c.sources(sides[0], m.base)
		if err != nil {
			return nil, err
		}
		b, err := c.sources(sides[1], m.other)
		if err != nil {
			return nil, err
		}
		if a == nil || b == nil {
			return nil, fmt.Errorf("%s and %s were not both timed", sides[0].Name, sides[1].Name)
		}
		pairs, err := c.pairing(sides[0], sides[1], m)
		if err != nil {
			return nil, err
		}
		list, _ := c.o.changes(a, b, pairs)
		out := map[string]Change{}
		for _, ch := range list {
			out[ch.Metric] = ch
		}
		return out, nil
	}
	return nil, fmt.Errorf("%s has no %s on %s", sides[0].Name, pair.Model, pair.Dataset)
}
