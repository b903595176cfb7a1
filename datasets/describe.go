package datasets

import (
	"path"
	"slices"
	"strings"
)

// RowsStated is how many rows the configuration asks by what is published about
// its source; 0 when that is not stated.
func (c Config) RowsStated(src Source) int {
	names := c.SubsetsAsked(src)
	if c.Workload != nil && c.Workload.Synthetic != nil {
		return c.Workload.Synthetic.RequestCount
	}
	if c.Generate != nil {
		return c.Generate.Rows * max(len(names), 1)
	}
	if len(c.Subsets) == 0 && c.TestRange == "" && len(c.Where) == 0 {
		return src.Rows
	}
	total := 0
	if len(names) > 0 {
		for _, n := range names {
			rows := src.subset(n).Rows
			if rows == 0 {
				return 0
			}
			total += rows
		}
	} else {
		total = src.Rows
	}
	if len(c.Where) > 0 {
		return 0
	}
	if from, to, err := parseRange(c.TestRange); err == nil && c.TestRange != "" && len(names) < 2 {
		if to < 0 || to > total {
			to = total
		}
		return max(to-from, 0)
	}
	return total
}

// SubsetsAsked are the sub-sets the configuration asks, as far as they are known
// without the data.
func (c Config) SubsetsAsked(src Source) []string {
	if len(c.Subsets) > 0 {
		return c.Subsets
	}
	return src.SubsetNames()
}

// ScorerNames are the ids of all scorers the sub-sets use, in order of use.
func (c Config) ScorerNames() string {
	var ids []string
	add := func(id string) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	src, err := c.SourceOf()
	if names := c.SubsetsAsked(src); err == nil && len(names) > 0 {
		for _, n := range names {
			add(c.For(n).Scorer)
		}
	} else {
		add(c.Scorer)
	}
	return strings.Join(ids, ", ")
}

// LayoutsExpected are the accepted places of the split that is asked, relative to
// a cache root.
func (c Config) LayoutsExpected(src Source) []string {
	dir := ""
	if len(src.Dirs) > 0 {
		dir = src.Dirs[0]
	}
	var out []string
	for _, l := range src.Splits[c.split()] {
		if strings.HasPrefix(l.Path, embeddedPrefix) {
			return []string{"none: the data are part of the program"}
		}
		out = append(out, path.Join(dir, l.Path))
	}
	return out
}
