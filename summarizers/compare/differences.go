package compare

import (
	"slices"
	"strings"

	"ais_bench/outputs"
)

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
