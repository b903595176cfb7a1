package compare

import (
	"errors"
	"fmt"
	"reflect"

	"ais_bench/outputs"
	"ais_bench/summarizers/facts"
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
