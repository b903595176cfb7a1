package compare

import (
	"reflect"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

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
