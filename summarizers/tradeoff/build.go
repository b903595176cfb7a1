package tradeoff

import (
	"maps"

	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/metrics"
)

// New is a grid of these combinations, all of the same parameters, of which nothing is measured yet. slo may be
// nil.
func New(combinations [][]Setting, slo *capacity.SLO) *Grid {
	g := &Grid{SLO: slo}
	for _, settings := range combinations {
		g.Combinations = append(g.Combinations, &Combination{Settings: settings})
	}
	if len(combinations) > 0 {
		for _, s := range combinations[0] {
			g.Params = append(g.Params, s.Name)
		}
	}
	return g
}

// AddFrom computes a run's figures from its records and puts it into the
// combination, with the time the run's engine took to start unless it is known. root is
// what the run's folder is told relative to.
func (c *Combination) AddFrom(root string, s capacity.Source, o metrics.Options) error {
	var one capacity.Curve
	if err := one.AddFrom(root, s, o); err != nil {
		return err
	}
	c.Level.Runs = append(c.Level.Runs, one.Levels[0].Runs[0])
	if c.ReadyS != nil {
		return nil
	}
	if run, err := outputs.Open(s.Dir); err == nil {
		if of, err := run.ReadManifest(); err == nil && of.Engine != nil {
			c.ReadyS = of.Engine.ReadyAfterS
		}
	}
	return nil
}

// First is the first combination that has a run, nil without.
func (g *Grid) First() *Combination {
	for _, c := range g.Combinations {
		if c.Measured() {
			return c
		}
	}
	return nil
}

// Runs is how many runs all combinations have together.
func (g *Grid) Runs() int {
	n := 0
	for _, c := range g.Combinations {
		n += len(c.Level.Runs)
	}
	return n
}

// Failures are the combinations that were not measured in full and why, one line
// each: "max_num_seqs 16: the engine ended …".
func (g *Grid) Failures() []string {
	var list []string
	for _, c := range g.Combinations {
		if c.Failure != "" {
			list = append(list, c.Name()+": "+c.Failure)
		}
	}
	return list
}

// Best is the best combination within the SLO, nil for none. Evaluate finds it.
func (g *Grid) Best() *Combination {
	for _, c := range g.Combinations {
		if c.Best {
			return c
		}
	}
	return nil
}

// RecallFailures gives the combinations the failures that the grid.json in run's
// folder tells: they cannot be computed from the runs. A combination without a run that
// it knows nothing of was not measured. A grid that was killed before it wrote the
// file has no failures that are known.
func (g *Grid) RecallFailures(run *outputs.Run) {
	var stored struct {
		Combinations []struct {
			Settings map[string]string `json:"settings"`
			Failure  string            `json:"failure"`
		} `json:"combinations"`
	}
	_ = outputs.ReadJSON(run.Path("grid.json"), &stored)
	for _, c := range g.Combinations {
		of := map[string]string{}
		for _, s := range c.Settings {
			of[s.Name] = s.Value
		}
		for _, s := range stored.Combinations {
			if maps.Equal(s.Settings, of) {
				c.Failure = s.Failure
				break
			}
		}
		if !c.Measured() && c.Failure == "" {
			c.Failure = "not measured"
		}
	}
}
