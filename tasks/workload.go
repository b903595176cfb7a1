package tasks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"ais_bench/datasets"
	"ais_bench/datasets/tokenizer"
	"ais_bench/datasets/workloads"
	"ais_bench/models"
	"ais_bench/outputs"
)

// load is what the task asks: the data set's samples, or, where the data set is a
// workload, requests made for this model.
func (t *Task) load(ctx context.Context, p *Plan) (*datasets.Set, error) {
	if t.Dataset.Set != nil || t.Dataset.Config.Workload == nil {
		return t.Dataset.load(ctx)
	}
	return t.makeWorkload(ctx, p)
}

// makeWorkload makes the requests of a workload. The same configuration, file, seed
// and tokenizer give the same bytes.
func (t *Task) makeWorkload(ctx context.Context, p *Plan) (*datasets.Set, error) {
	d := &t.Dataset
	file, err := d.Config.WorkloadFile(d.Load)
	if err != nil {
		return nil, err // names the data set itself
	}
	name, cfg, err := workloads.FromConfig(*d.Config.Workload, file, d.Load.NumPrompts, d.Load.Seed)
	if err != nil {
		return nil, fmt.Errorf("data set %s: %w", d.Name, err)
	}
	needed := workloads.NeedsTokenizer(name) || name == "sharegpt" && cfg.OutputLen == 0
	tok, err := t.findTokenizer(ctx, needed, p)
	if err != nil {
		return nil, fmt.Errorf("data set %s: %w", d.Name, err)
	}
	defer tok.close()
	cfg.Tokenizer = tok.workloads()
	w, err := workloads.New(name, cfg)
	if err != nil {
		return nil, fmt.Errorf("data set %s: %w", d.Name, err)
	}
	set := &datasets.Set{Config: d.Config}
	if set.Samples, err = w.Samples(ctx); err != nil {
		return nil, fmt.Errorf("data set %s: %w", d.Name, err)
	}
	if remote, ok := tok.codec.(*tokenizer.Remote); ok && remote.Err() != nil {
		return nil, &EnvironmentError{fmt.Errorf("data set %s: %w", d.Name, remote.Err())}
	}
	set.Warnings = append(set.Warnings, w.Notes()...)
	if tok.note != "" {
		set.Warnings = append(set.Warnings, tok.note)
	}
	for i := range set.Samples {
		if sub := set.Samples[i].Subset; !slices.Contains(set.Subsets, sub) {
			set.Subsets = append(set.Subsets, sub)
		}
	}
	if file != "" {
		sum, size, err := outputs.HashFile(file)
		if err != nil {
			return nil, fmt.Errorf("data set %s: %w", d.Name, err)
		}
		set.Files = append(set.Files, datasets.File{Path: file, SHA256: sum, Bytes: size})
	}
	return set, nil
}

// madeBy is the tokenizer that a workload is made with; the zero value is none.
type madeBy struct {
	codec tokenizer.Codec
	note  string
	ends  []func()
}

func (m *madeBy) close() {
	for _, end := range slices.Backward(m.ends) {
		end()
	}
}

// workloads is the codec as workloads take it: no tokenizer is nil there.
func (m *madeBy) workloads() workloads.Tokenizer {
	if m.codec == nil {
		return nil
	}
	return m.codec
}

// findTokenizer finds what measures the prompts: the tokenizer at the model's path
// and, where the workload cannot do without and there is none, the one of the server.
func (t *Task) findTokenizer(ctx context.Context, needed bool, p *Plan) (*madeBy, error) {
	m := t.Model.Config
	tok := &madeBy{}
	if m.Path != "" {
		found, err := tokenizer.Resolve(ctx, m.Path, tokenizer.ModeLocal, tokenizer.Options{})
		if err == nil {
			tok.codec = found.Codec
			return tok, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the tokenizer at the path of model %s: %w", t.Model.Name, err)
		}
	}
	switch {
	case !needed:
		return tok, nil
	case p.Offline:
		return nil, errors.New("it needs a tokenizer for its lengths, and nothing is sent here that could ask the server's; give --tokenizer DIR (a folder with tokenizer.json)")
	}
	if err := t.askServer(ctx, tok, p.Wait); err != nil {
		tok.close()
		err = fmt.Errorf("it needs a tokenizer for its lengths, none is given (--tokenizer DIR, a folder with tokenizer.json), and the server's cannot be used: %w", err)
		var down *models.Unavailable
		if errors.As(err, &down) {
			return nil, &EnvironmentError{err}
		}
		return nil, err
	}
	return tok, nil
}

// askServer makes the server's tokenizer the one of tok. A simulator is started for
// it: the one of the run comes later.
func (t *Task) askServer(ctx context.Context, tok *madeBy, wait time.Duration) error {
	m := t.Model.Config
	if m.Simulated() {
		sim, url, err := Simulate(m)
		if err != nil {
			return err
		}
		tok.ends = append(tok.ends, func() { sim.Close() })
		m.URL = url
	}
	list, err := discover(ctx, m, wait, func(string) {})
	var down *models.Unavailable
	switch {
	case err != nil && (m.Model == "" || errors.As(err, &down) && down.Status == outputs.StatusDial):
		return err
	case m.Model != "": // a service without a list is asked for the name given
	case len(list) == 0:
		return errors.New("it lists no model at /v1/models: give --model NAME")
	default:
		m.Model = list[0].ID
	}
	server, err := models.NewServerTokenizer(m)
	if err != nil {
		return err
	}
	tok.ends = append(tok.ends, server.Close)
	remote, err := tokenizer.NewRemote(ctx, server)
	if errors.As(err, &down) && down.Status == outputs.StatusHTTP4xx {
		return errors.New("it has no /tokenize")
	}
	if err != nil {
		return err
	}
	tok.codec, tok.note = remote, "no tokenizer is given: prompts are made and measured by the server's /tokenize"
	return nil
}
