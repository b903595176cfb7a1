package compare

import (
	"errors"
	"fmt"
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
	// Only compares one of OnlyPerformance and OnlyAccuracy; "" = both.
	Only string
	SLOs []metrics.SLO // for goodput; nil = those all runs were reported with
}

// What Options.Only may be.
const (
	OnlyPerformance = "performance"
	OnlyAccuracy    = "accuracy"
)

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
		if n := leftOut(sides[0], other, matched); n != "" {
			r.Notes = append(r.Notes, n)
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

// Unfit tells why the performance, and why the accuracy, of runs may not be
// compared with a base at all: the differences that make it invalid, one line each.
// It computes no figures.
func Unfit(base *outputs.Run, others ...*outputs.Run) (performance, accuracy []string, err error) {
	c := &comparer{o: Options{}.withDefaults(), sets: map[*Input]*facts.Set{}, scans: map[string]*scan{}}
	var sides [2]Side
	for i, runs := range [2][]*outputs.Run{{base}, others} {
		for _, run := range runs {
			in, err := OpenRun(run)
			if err != nil {
				return nil, nil, err
			}
			sides[i].Inputs = append(sides[i].Inputs, in)
			sides[i].Name = in.Name
		}
	}
	matched, err := match(sides[0], sides[1])
	if err != nil {
		return nil, nil, err
	}
	add := func(list *[]string, reasons []string) {
		for _, r := range reasons {
			if !slices.Contains(*list, r) {
				*list = append(*list, r)
			}
		}
	}
	for _, m := range matched {
		list, err := c.differences(sides[0], sides[1], m)
		if err != nil {
			return nil, nil, err
		}
		p, _ := reasonsOf(list, func(d Difference) Severity { return d.Performance })
		a, _ := reasonsOf(list, func(d Difference) Severity { return d.Accuracy })
		add(&performance, p)
		add(&accuracy, a)
	}
	return performance, accuracy, nil
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

// compare compares one pair of tests.
func (c *comparer) compare(base, other Side, m matchedPair, tests int) (*Comparison, error) {
	out := &Comparison{Base: base.Name, Other: other.Name, BasePair: m.base[0], OtherPair: m.other[0], Differences: []Difference{}}
	var err error
	if out.Differences, err = c.differences(base, other, m); err != nil {
		return nil, err
	}
	if c.o.Only != OnlyAccuracy {
		if out.Performance, err = c.performance(base, other, m, out.Differences); err != nil {
			return nil, err
		}
	}
	if c.o.Only != OnlyPerformance {
		if out.Accuracy, err = c.accuracyOf(base, other, m, out.Differences, tests); err != nil {
			return nil, err
		}
	}
	// Differences that matter for nothing that was measured are not shown.
	out.Differences = slices.DeleteFunc(out.Differences, func(d Difference) bool {
		return !(out.Performance != nil && d.Performance != "") && !(out.Accuracy != nil && d.Accuracy != "")
	})
	if out.Performance == nil && out.Accuracy == nil && c.o.Only != "" {
		return nil, fmt.Errorf("%s and %s have no %s to compare of %s on %s: --only %s asks for nothing else", base.Name, other.Name, c.o.Only, m.base[0].Model, m.base[0].Dataset, c.o.Only)
	}
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
	if c.o.Only == OnlyAccuracy {
		r.Applies, r.Reason = false, "only the accuracy is compared"
		return r, nil
	}
	if !same {
		r.Reason = "the runs are not of one configuration: " + strings.Join(reasons, "; ")
		return r, nil
	}
	all := Side{Inputs: inputs}
	matched, err := match(Side{Name: "the runs", Inputs: inputs[:1]}, all)
	if err != nil { // each side has something in common with the base, but not the same
		r.Applies, r.Reason = false, "no model and data set is in all runs"
		return r, nil
	}
	for _, m := range matched {
		src, err := c.sources(all, m.other)
		if err != nil {
			return nil, err
		}
		if src == nil || fewRequests(src) {
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
