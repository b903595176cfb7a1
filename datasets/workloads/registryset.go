package workloads

import (
	"context"
	"fmt"

	"ais_bench/datasets"
)

// registrySet sends the samples of a data set of the registry as load.
type registrySet struct {
	notes
	cfg     Config
	name    string
	samples []datasets.Sample
}

// FromSamples makes a workload of the samples of any data set: shuffled by the
// seed unless DisableShuffle, cut or topped up to NumPrompts, salted, with
// OutputLen (where set) in place of their own output length. name is the data
// set's. The samples given are not changed.
//
// Uses: NumPrompts, OutputLen, NoOversample, DisableShuffle, IgnoreEOS,
// Tokenizer (optional), CacheBust, MaxModelLen.
func FromSamples(name string, samples []datasets.Sample, cfg Config) (Workload, error) {
	if len(samples) == 0 {
		return nil, fmt.Errorf("data set %s has no samples to ask", name)
	}
	if cfg.OutputLen < 0 {
		return nil, fmt.Errorf("output length must not be negative, got %d", cfg.OutputLen)
	}
	return named{name, &registrySet{cfg: cfg, name: name, samples: samples}}, nil
}

func (w *registrySet) String() string {
	return fmt.Sprintf("data set %s: %d samples, seed %d", w.name, len(w.samples), w.cfg.Seed)
}

func (w *registrySet) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	w.reset()
	var out []datasets.Sample
	for i, s := range w.samples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.Fields, s.Params = clone(s.Fields), clone(s.Params)
		if cfg.OutputLen > 0 {
			s.MaxTokens = cfg.OutputLen
		}
		if cfg.IgnoreEOS {
			s.Params["ignore_eos"] = true
		}
		switch {
		case s.Prompt.TokenIDs != nil:
			if cfg.CacheBust != "" && cfg.Tokenizer != nil {
				s.Prompt.TokenIDs = append(cfg.saltIDs(), s.Prompt.TokenIDs...)
			}
		case len(s.Prompt.Turns) > 0:
			s.Prompt.Turns = append([]datasets.Turn(nil), s.Prompt.Turns...)
			s.Prompt.Turns[0].Text = cfg.salted(s.Prompt.Turns[0].Text)
		default:
			s.Prompt.Text = cfg.salted(s.Prompt.Text)
		}
		cfg.measure(&s)
		if cfg.tooLong(&s) {
			w.skip(i, fmt.Sprintf("longer than the model's %d tokens", cfg.MaxModelLen))
			continue
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no sample fits the model's %d tokens", cfg.MaxModelLen)
	}
	return cfg.fit(cfg.shuffled(out)), nil
}

// clone copies m, never nil.
func clone(m map[string]any) map[string]any {
	c := make(map[string]any, len(m)+1)
	for k, v := range m {
		c[k] = v
	}
	return c
}
