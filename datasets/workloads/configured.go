package workloads

import (
	"fmt"

	"ais_bench/datasets"
)

// SetSynthetic lays AISBench's synthetic_config over c, which holds Defaults, and
// gives the name of the workload it asks for. s must pass its Check.
func (c *Config) SetSynthetic(s datasets.Synthetic) (name string) {
	name = "synthetic_" + s.Kind()
	c.NumPrompts, c.OutputLen = s.RequestCount, 0
	c.InputLengths, c.OutputLengths, c.PrefixLen = Lengths{}, Lengths{}, 0
	if s.Kind() == "string" {
		c.InputLengths, c.OutputLengths = lengthsOf(s.StringConfig.Input), lengthsOf(s.StringConfig.Output)
		return name
	}
	t := s.TokenIDConfig
	c.InputLen, c.PrefixLen = t.RequestSize, t.PrefixLen
	c.InputLengths, c.OutputLengths = lengthsOf(t.Input), lengthsOf(t.Output)
	return name
}

// lengthsOf is the distribution that a configuration describes; none for nil.
func lengthsOf(l *datasets.SyntheticLengths) Lengths {
	if l == nil {
		return Lengths{}
	}
	p := l.Params
	out := Lengths{Method: l.Method}
	for _, x := range []struct {
		from *int
		to   *int
	}{{p.MinValue, &out.Min}, {p.MaxValue, &out.Max}} {
		if x.from != nil {
			*x.to = *x.from
		}
	}
	for _, x := range []struct {
		from *float64
		to   *float64
	}{{p.Mean, &out.Mean}, {p.Var, &out.Var}, {p.Alpha, &out.Alpha}} {
		if x.from != nil {
			*x.to = *x.from
		}
	}
	return out
}

// FromConfig is the workload that a data set's configuration describes, ready for
// New but for the tokenizer: its name and its settings. file is what
// datasets.Config.WorkloadFile found; numPrompts bounds the requests (0 = as many as
// the configuration says, or as the file has), and of a workload that makes its own
// prompts sets their number. seed is the run's.
func FromConfig(w datasets.Workload, file string, numPrompts int, seed int64) (name string, cfg Config, err error) {
	if w.IsSynthetic() {
		s := *w.Synthetic
		if file != "" {
			if s, err = datasets.ReadSynthetic(file); err != nil {
				return "", cfg, err
			}
		}
		name = "synthetic_" + s.Kind()
		if w.Name != datasets.WorkloadNames[0] && w.Name != name {
			return "", cfg, fmt.Errorf("it makes prompts of %s, but the configuration%s says Type %s; synthetic_gen takes both", w.Name, inFile(file), s.Type)
		}
		cfg = Defaults(name)
		cfg.SetSynthetic(s)
		if numPrompts > 0 {
			cfg.NumPrompts = numPrompts
		}
		cfg.Seed = uint64(seed)
		return name, cfg, nil
	}
	name = w.Name
	cfg = Defaults(name)
	cfg.DatasetPath, cfg.NumPrompts = file, max(numPrompts, 0)
	cfg.InferMode, cfg.DisableShuffle, cfg.NoOversample, cfg.OutputLen = w.InferMode, !w.Shuffle, true, w.OutputLen
	if cfg.Seed = uint64(seed); w.RandomSeed != nil {
		cfg.Seed = uint64(*w.RandomSeed)
	}
	if Timed(name) {
		cfg.KeepOffset, cfg.LaxTrace = !w.AutoOffset, true
		cfg.StartOffset, cfg.EndOffset = float64(w.StartOffset)/1000, float64(max(w.EndOffset, 0))/1000
	}
	return name, cfg, nil
}

func inFile(file string) string {
	if file == "" {
		return ""
	}
	return " of " + file
}
