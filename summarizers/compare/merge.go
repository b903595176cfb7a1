package compare

import "slices"

// Merge puts the comparisons of several points (of sweeps, or of files with
// several results) into one result. labels name the points.
func Merge(results []*Result, labels []string) *Result {
	if len(results) == 0 {
		return nil
	}
	all := *results[0]
	all.Comparisons, all.Notes = nil, nil
	rep := &Repeatability{Applies: true, Tolerance: all.Tolerance, Runs: []string{}, Spreads: []Spread{}}
	for i, r := range results {
		for _, c := range r.Comparisons {
			c.Point = labels[i]
			all.Comparisons = append(all.Comparisons, c)
		}
		for _, n := range r.Notes {
			if !slices.Contains(all.Notes, n) {
				all.Notes = append(all.Notes, n)
			}
		}
		if i > 0 {
			for k := range all.Sides {
				all.Sides[k].Inputs = append(slices.Clip(all.Sides[k].Inputs), r.Sides[k].Inputs...)
			}
		}
		p := r.Repeatability
		if p == nil || !p.Applies {
			rep.Applies = false
			if p != nil && rep.Reason == "" {
				rep.Reason = labels[i] + ": " + p.Reason
			}
			continue
		}
		rep.Runs = append(rep.Runs, p.Runs...)
		for _, s := range p.Spreads {
			s.Pair += ", " + labels[i]
			rep.Spreads = append(rep.Spreads, s)
		}
	}
	if rep.Applies {
		rep.conclude()
	} else {
		rep.Spreads = []Spread{}
	}
	all.Repeatability = rep
	if all.Notes == nil {
		all.Notes = []string{}
	}
	return &all
}
