package contract

import (
	"fmt"
	"strings"

	"ais_bench/registry"
	"ais_bench/summarizers/facts"
)

// Check refuses a contract that the planned run of a set (facts.Plan) can never
// pass: unknown names, percentiles of fewer values than they need, shares that
// even a perfect run could not show, more samples demanded than are planned.
func (c *Contract) Check(set *facts.Set) error {
	var bad []error
	for i := range c.Clauses {
		if err := c.Clauses[i].check(set); err != nil {
			bad = append(bad, fmt.Errorf("clause %q: %w", registry.Excerpt(c.Clauses[i].Name, 0), err))
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("contract %s: %w", c.Path, oneLine(bad))
	}
	return nil
}

func (cl *Clause) check(set *facts.Set) error {
	t, err := cl.source.compile(set)
	if err != nil {
		return err
	}
	for _, f := range t.facts {
		if cl.MinSamples > 0 && f.Kind.Estimated() && f.Known && f.N < cl.MinSamples {
			return fmt.Errorf("min_samples is %d, but %s would be made from %d: ask more, or demand less", cl.MinSamples, f.Name, f.N)
		}
	}
	level, _ := cl.levels(t.root)
	e := &env{level: level}
	if t.root.possible(e).pass {
		return nil
	}
	why := strings.Join(e.blocks, "; ")
	if why == "" {
		why = "its intervals cannot get beyond its limits with the planned number of requests"
	}
	return fmt.Errorf("it could never pass: %s; ask more requests, or change the clause", why)
}
