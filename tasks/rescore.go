package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"ais_bench/datasets"
	"ais_bench/evaluators"
	"ais_bench/outputs"
	"ais_bench/registry"
)

// RescoreOptions say how stored answers are scored again.
type RescoreOptions struct {
	// Sandbox lets scorers run the programs that models wrote (native, bwrap,
	// runsc, none); "" = answers of such scorers are not scored again.
	Sandbox     string
	DatasetPath string // where the data are, if not where they were; "" = as recorded
}

// Rescored is what the stored answers of one pair are worth when they are scored
// again, or only counted again.
type Rescored struct {
	outputs.Pair
	Result *evaluators.Result // as it would be written; nil when even counting is impossible, see Why
	// Counted says that the verdicts in the predictions were taken as they are:
	// Result is recomputed from them, they are not. Why says why.
	Counted bool
	Why     string
	// Answers are the predictions with the verdicts of now, by key. Nil when Counted.
	Answers map[outputs.PredictionKey]*outputs.Prediction
	// Data lists files whose content is another than when the run was made.
	Data []string
}

// Rescore scores the answers of every pair of a run that has results, with the
// configurations stored in the run, and writes nothing. Where the data are not on
// this machine, or the scorer needs a judge or a sandbox that was not allowed,
// the stored verdicts are counted again instead.
func Rescore(ctx context.Context, run *outputs.Run, m *outputs.Manifest, o RescoreOptions) ([]Rescored, error) {
	pairs, err := run.Pairs()
	if err != nil {
		return nil, err
	}
	var out []Rescored
	for _, p := range pairs {
		var stored evaluators.Result
		err := outputs.ReadJSON(run.ResultsPath(p.Model, p.Dataset), &stored)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		r := Rescored{Pair: p}
		if err != nil {
			r.Why = err.Error()
			out = append(out, r)
			continue
		}
		if err := r.rescore(ctx, run, m, &stored, o); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			r.Counted, r.Why, r.Answers = true, err.Error(), nil
			if err := r.recount(run, m, &stored); err != nil {
				r.Result, r.Why = nil, r.Why+"; and they cannot be counted: "+err.Error()
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// rescore scores again; the error says why that is not possible.
func (r *Rescored) rescore(ctx context.Context, run *outputs.Run, m *outputs.Manifest, stored *evaluators.Result, o RescoreOptions) error {
	t, err := storedTask(run, m, r.Pair, o)
	if err != nil {
		return err
	}
	override, ids, err := scorerThen(t.Dataset.Config, stored)
	if err != nil {
		return err
	}
	for _, id := range ids {
		switch {
		case needsJudge(id):
			return fmt.Errorf("scorer %s asks a judge model", id)
		case takes(id, "sandbox") && o.Sandbox == "":
			return fmt.Errorf("scorer %s runs programs that models wrote (--sandbox KIND allows it)", id)
		}
	}
	set, err := t.Dataset.load(ctx)
	if err != nil {
		return err
	}
	r.Data = changedData(m, r.Dataset, set.Files)
	to := &TaskOutcome{Task: t, Estimate: Estimate{Task: t, Samples: len(set.Samples), Set: set}}
	opts := &Options{Mode: ModeEval, Scorer: override, Sandbox: o.Sandbox, Observer: Quiet{}}
	s, err := scoreStored(ctx, &Outcome{Run: run, Tasks: []*TaskOutcome{to}}, to, opts, nil)
	switch {
	case err != nil:
		return err
	case s == nil:
		return errors.New("the stored configuration has no scorer")
	case s.result.ScorerVersion != stored.ScorerVersion:
		return fmt.Errorf("the scores are of version %s of scorer %s, this program has version %s", stored.ScorerVersion, stored.Scorer, s.result.ScorerVersion)
	}
	r.Result = s.result
	r.Answers = map[outputs.PredictionKey]*outputs.Prediction{}
	for p, err := range s.lines() {
		if err != nil {
			return err
		}
		r.Answers[p.Key()] = p
	}
	return nil
}

// recount computes the result from the verdicts in the predictions.
func (r *Rescored) recount(run *outputs.Run, m *outputs.Manifest, stored *evaluators.Result) error {
	byKey, order, err := outputs.LatestPredictions(run.PredictionsPath(r.Model, r.Dataset))
	if err != nil {
		return err
	}
	var cfg datasets.Config
	if err := storedConfig(run, m, "dataset", r.Dataset, &cfg); err != nil {
		return err
	}
	// The sums were made in the order of the questions.
	slices.SortStableFunc(order, func(a, b outputs.PredictionKey) int {
		if d := cmp.Compare(byKey[a].ID, byKey[b].ID); d != 0 {
			return d
		}
		return cmp.Compare(a.Repeat, b.Repeat)
	})
	set := &datasets.Set{Config: cfg}
	notAsked := map[string]int{}
	for _, s := range stored.Subsets {
		set.Subsets = append(set.Subsets, s.Subset)
		if s.Summary.NotAsked > 0 {
			notAsked[s.Subset] = s.Summary.NotAsked
		}
	}
	if len(set.Subsets) == 0 {
		set.Subsets = []string{""}
		notAsked[""] = stored.Overall.NotAsked
	}
	override, _, err := scorerThen(cfg, stored)
	if err != nil {
		return err
	}
	means := scoringMeans{Scorer: override, Sandbox: "none", judges: []evaluators.Judge{noJudge{}}} // nothing is scored with them
	rules, err := scorers(cfg, set.Subsets, means)
	if err != nil {
		return err
	}
	var scored []evaluators.Scored
	for _, k := range order {
		p := byKey[k]
		if p.Outcome == "" {
			continue
		}
		subset := p.Subset
		if len(stored.Subsets) == 0 {
			subset = ""
		}
		v := evaluators.Verdict{Outcome: evaluators.Outcome(p.Outcome), Detail: p.Detail}
		if p.Extracted != nil {
			v.Extracted = *p.Extracted
		}
		if p.Score != nil {
			v.Score = *p.Score
		}
		for name, x := range p.Parts {
			if v.Parts == nil {
				v.Parts = map[string]float64{}
			}
			if x != nil {
				v.Parts[name] = *x
			}
		}
		scored = append(scored, evaluators.Scored{ItemID: p.SampleID, Subset: subset, Repeat: int(p.Repeat), Verdict: v, References: goldList(p.Gold)})
	}
	t := &Task{Dataset: DatasetChoice{Config: cfg}, ModelAbbr: r.Model, DatasetAbbr: r.Dataset}
	r.Result = summarize(t, set, rules, scored, notAsked)
	r.Result.Version = stored.Version // the hash of prompts that are not here
	return nil
}

// noJudge stands in for a judge where verdicts are only counted.
type noJudge struct{}

func (noJudge) Ask(context.Context, string) (string, error) {
	return "", errors.New("verdicts are counted, no judge is asked")
}

func goldList(v any) []string {
	g, all := golds(v)
	if len(all) > 0 {
		return all
	}
	return []string{g}
}

// storedTask is a pair as its run was configured.
func storedTask(run *outputs.Run, m *outputs.Manifest, p outputs.Pair, o RescoreOptions) (*Task, error) {
	t := &Task{ModelAbbr: p.Model, DatasetAbbr: p.Dataset}
	if err := storedConfig(run, m, "model", p.Model, &t.Model.Config); err != nil {
		return nil, err
	}
	if err := storedConfig(run, m, "dataset", p.Dataset, &t.Dataset.Config); err != nil {
		return nil, err
	}
	t.Model.Name, t.Dataset.Name = p.Model, p.Dataset
	in := m.Command.WorkingDir
	// A path is relative to where the command was started.
	absolute := func(path string) string {
		if path == "" || filepath.IsAbs(path) || in == "" {
			return path
		}
		return filepath.Join(in, path)
	}
	load := datasets.LoadOptions{Path: o.DatasetPath, Seed: seedOf(m)}
	if w, ok := m.Workload[t.String()].(map[string]any); ok {
		if n, ok := w["num_prompts"].(float64); ok {
			load.NumPrompts = int(n)
		}
		if list, ok := w["subsets"].([]any); ok {
			for _, name := range list {
				load.Subsets = append(load.Subsets, fmt.Sprint(name))
			}
		}
		if path, ok := w["dataset_path"].(string); ok && load.Path == "" {
			load.Path = absolute(path)
		}
	}
	if load.Path == "" {
		t.Dataset.Config.Path = absolute(t.Dataset.Config.Path)
		load.CacheDirs = datasets.DefaultCacheDirs()
		if in != "" {
			load.CacheDirs = append(load.CacheDirs, filepath.Join(in, datasets.LocalCache))
		}
	}
	t.Dataset.Load = load
	return t, nil
}

func seedOf(m *outputs.Manifest) int64 {
	if v, ok := m.Seeds["seed"].(float64); ok {
		return int64(v)
	}
	return 0
}

// storedConfig reads the configuration of the run's first session from configs/.
func storedConfig(run *outputs.Run, m *outputs.Manifest, kind, name string, into any) error {
	for _, c := range m.Configs {
		if c.Kind != kind || c.Name != name {
			continue
		}
		raw, err := outputs.ReadFile(run.Path(c.Path))
		if err != nil {
			return fmt.Errorf("configuration of %s %s: %w", kind, name, err)
		}
		if err := registry.Decode(raw, into); err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
		return nil
	}
	return fmt.Errorf("the run keeps no configuration of %s %s", kind, name)
}

// changedData are the data files that are not what the manifest has.
func changedData(m *outputs.Manifest, dataset string, files []datasets.File) (lines []string) {
	want := map[string]string{}
	for _, f := range m.Data {
		if f.Dataset == dataset {
			want[filepath.Base(f.Path)] = f.SHA256
		}
	}
	for _, f := range files {
		if sum, ok := want[filepath.Base(f.Path)]; ok && sum != f.SHA256 {
			lines = append(lines, fmt.Sprintf("%s: sha256 %s, manifest says %s", f.Path, f.SHA256, sum))
		}
	}
	return lines
}

// scorerThen is the --scorer the stored scores were made with, "" when it was
// the data set's own rule; ids are the rules in use.
func scorerThen(cfg datasets.Config, stored *evaluators.Result) (override string, ids []string, err error) {
	own := scorerIDs(cfg)
	if slices.Contains(own, stored.Scorer) {
		return "", own, nil
	}
	if _, err := evaluators.Describe(stored.Scorer); err != nil {
		return "", nil, fmt.Errorf("the scores are of scorer %q, which this program does not have", stored.Scorer)
	}
	return stored.Scorer, []string{stored.Scorer}, nil
}
