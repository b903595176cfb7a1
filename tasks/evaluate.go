package tasks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"ais_bench/datasets"
	"ais_bench/evaluators"
	"ais_bench/evaluators/sandbox"
	"ais_bench/outputs"
)

// scorers builds one scorer a sub-set; sub-sets with the same rule share it.
func scorers(cfg datasets.Config, subsets []string, m scoringMeans) (map[string]evaluators.Scorer, error) {
	override, judges := m.Scorer, m.judges
	built := map[string]evaluators.Scorer{}
	out := map[string]evaluators.Scorer{}
	for _, name := range subsets {
		sub := cfg.For(name)
		id := sub.Scorer
		opts := sub.ScorerOptions
		if override != "" {
			if override != id {
				opts = nil
			}
			id = override
		}
		if id == "" {
			continue
		}
		key := id + fmt.Sprint(opts)
		s, ok := built[key]
		if !ok {
			all := map[string]any{}
			for k, v := range opts {
				all[k] = v
			}
			if needsJudge(id) {
				if len(judges) == 0 {
					return nil, fmt.Errorf("scorer %s of %s asks a judge model: give --judge-model NAME (a configuration from `ais_bench models list`)", id, cfg.Abbr)
				}
				all["judges"] = judges
			}
			if takes(id, "sandbox") && m.Sandbox != "" {
				box, err := sandbox.New(sandbox.Options{Kind: sandbox.Kind(m.Sandbox)})
				if err != nil {
					return nil, &EnvironmentError{fmt.Errorf("scorer %s of %s runs programs: %w", id, cfg.Abbr, err)}
				}
				all["sandbox"] = box
			}
			var err error
			if s, err = evaluators.New(id, all); err != nil {
				return nil, fmt.Errorf("scorer of %s: %w", cfg.Abbr, err)
			}
			built[key] = s
		}
		out[name] = s
	}
	return out, nil
}

// needsJudge reports whether a scorer takes judges.
func needsJudge(id string) bool { return takes(id, "judges") }

// takes reports whether a scorer has an option.
func takes(id, option string) bool {
	d, err := evaluators.Describe(id)
	return err == nil && slices.Contains(d.Options, option)
}

// scoringMeans is what scorers need beside the data set's configuration.
type scoringMeans struct {
	Scorer  string // overrides the data set's
	Sandbox string // kind of sandbox for programs; "" = native
	judges  []evaluators.Judge
}

// evaluate scores the stored answers of a task and writes verdicts into the
// predictions file. A question that was asked in vain counts as failed; one that
// was never asked, or whose answer the user cut off, counts for nothing: it is
// told apart (Summary.NotAsked) and the result is marked incomplete. There is no
// result when nothing was asked.
func evaluate(ctx context.Context, out *Outcome, to *TaskOutcome, opts *Options, judges []evaluators.Judge) (*evaluators.Result, error) {
	run, t := out.Run, to.Task
	s, err := scoreStored(ctx, out, to, opts, judges)
	if s == nil || err != nil {
		return nil, err
	}
	if err := run.WritePredictions(t.ModelAbbr, t.DatasetAbbr, s.lines()); err != nil {
		return nil, err
	}
	if n := s.result.Overall.NotAsked; n > 0 {
		warn(&out.Warnings, fmt.Sprintf("%s%s%d of %d questions were not asked; its scores are of the other %d", t, warnIncomplete, n, s.due, s.due-n))
	}
	if err := run.WriteAnswers(t.ModelAbbr, t.DatasetAbbr, s.result.Scorer, s.result.ScorerVersion, s.lines()); err != nil {
		return nil, err
	}
	return s.result, run.WriteResults(t.ModelAbbr, t.DatasetAbbr, s.result)
}

// scoring is what stored answers are worth.
type scoring struct {
	result   *evaluators.Result
	due      int // questions that have to be scored
	byKey    map[outputs.PredictionKey]*outputs.Prediction
	order    []outputs.PredictionKey
	verdicts map[outputs.PredictionKey]*evaluators.Verdict
}

// lines are the predictions with their verdicts.
func (s *scoring) lines() iter.Seq2[*outputs.Prediction, error] {
	return verdictLines(s.byKey, s.order, s.verdicts)
}

// scoreStored is evaluate without writing anything into the run; nil when there
// is nothing to score.
func scoreStored(ctx context.Context, out *Outcome, to *TaskOutcome, opts *Options, judges []evaluators.Judge) (*scoring, error) {
	run, t, set := out.Run, to.Task, to.Estimate.Set
	path := run.PredictionsPath(t.ModelAbbr, t.DatasetAbbr)
	byKey, order, err := outputs.LatestPredictions(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("evaluate %s: no answers at %s; ask first (--mode all or infer), or name the run with --reuse", t, path)
	}
	if err != nil {
		return nil, fmt.Errorf("evaluate %s: %w", t, err)
	}
	rules, err := scorers(set.Config, set.Subsets, scoringMeans{opts.Scorer, opts.Sandbox, judges})
	if err != nil {
		return nil, err
	}
	if len(rules) == 0 {
		return nil, nil // a data set that is only timed
	}

	samePrompts, known := true, true
	if !opts.Mode.infers() { // asking has looked already
		var notes []string
		if samePrompts, known, notes, err = askedBefore(run, t, to.Estimate); err != nil {
			return nil, fmt.Errorf("evaluate %s: %w", t, err)
		}
		for _, n := range notes {
			warn(&out.Warnings, n)
		}
	}
	type job struct {
		sample *datasets.Sample
		key    outputs.PredictionKey
		p      *outputs.Prediction
	}
	repeats := t.repeats()
	var jobs []job
	due, notAsked := 0, map[string]int{}
	for i := range set.Samples {
		s := &set.Samples[i]
		for r := range repeats {
			k := outputs.PredictionKey{SampleID: s.Key(), Repeat: int32(r), SessionID: s.SessionID}
			if rules[s.Subset] == nil || !set.Config.Graded(s) {
				continue // only timed; the loader has warned of rows without a reference
			}
			due++
			p := byKey[k]
			if p == nil || p.Status == outputs.StatusCancelled {
				notAsked[s.Subset]++
				continue
			}
			if !samePrompts {
				if p.PromptSHA256 == "" && known {
					return nil, fmt.Errorf("evaluate %s: sample %s: the prompts have changed since the answers were given, and this one does not say to which it was given; score with the configuration and data of the run", t, s.Key())
				}
				if err := checkPrompt(t, set, s, p); err != nil {
					return nil, fmt.Errorf("evaluate %s: %w", t, err)
				}
			}
			jobs = append(jobs, job{sample: s, key: k, p: p})
		}
	}
	if len(jobs) == 0 && due > 0 {
		if opts.Mode.infers() {
			warn(&out.Warnings, fmt.Sprintf("%s%sno score: none of its %d questions was answered", t, warnIncomplete, due))
			return nil, nil
		}
		return nil, fmt.Errorf("evaluate %s: none of its %d questions has an answer in %s; ask first, or give the data set of the run", t, due, path)
	}
	verdicts := make([]evaluators.Verdict, len(jobs))
	workers := 0
	if len(judges) > 0 {
		workers = opts.JudgeConcurrency
	}
	var finished atomic.Int64
	err = parallel(ctx, len(jobs), workers, func(ctx context.Context, i int) error {
		j := jobs[i]
		v, err := rules[j.sample.Subset].Score(ctx, answerOf(j.p), itemOf(j.sample))
		if err != nil {
			return fmt.Errorf("sample %s: %w", j.sample.Key(), err)
		}
		verdicts[i] = v
		opts.Observer.Scored(t, int(finished.Add(1)), len(jobs))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("evaluate %s: %w", t, err)
	}

	var scored []evaluators.Scored
	byVerdict := map[outputs.PredictionKey]*evaluators.Verdict{}
	for i, j := range jobs {
		scored = append(scored, evaluators.Scored{ItemID: j.sample.Key(), Subset: j.sample.Subset, Repeat: int(j.key.Repeat), Verdict: verdicts[i],
			References: itemOf(j.sample).References()})
		byVerdict[j.key] = &verdicts[i]
	}
	acc := summarize(t, set, rules, scored, notAsked)
	acc.Version = promptVersion(set, t)
	return &scoring{result: acc, due: due, byKey: byKey, order: order, verdicts: byVerdict}, nil
}

// answerOf is a stored answer as scorers see it.
func answerOf(p *outputs.Prediction) evaluators.Answer {
	if p == nil || !p.Success && p.Status != outputs.StatusEmpty && p.Status != outputs.StatusTruncated {
		return evaluators.Answer{Failed: true}
	}
	a := evaluators.Answer{Text: p.Prediction, Reasoning: p.Reasoning, FinishReason: p.FinishReason, ToolCalls: string(p.ToolCalls)}
	if p.Status == outputs.StatusTruncated {
		a.Failed = true // a stream cut by the network is not the model's last word
	}
	if p.LabelLogprobs != nil {
		a.LabelLogprobs = make([]float64, len(p.LabelLogprobs))
		for i, v := range p.LabelLogprobs {
			if v == nil {
				a.LabelLogprobs[i] = math.Inf(-1)
				continue
			}
			a.LabelLogprobs[i] = *v
		}
	}
	return a
}

func itemOf(s *datasets.Sample) evaluators.Item {
	it := evaluators.Item{ID: s.Key(), Subset: s.Subset, Gold: s.Gold, Golds: s.Golds, Labels: s.Labels, Fields: s.Fields}
	it.Prompt = s.Prompt.String()
	return it
}

// verdictLines are the predictions with their verdicts, in file order; of
// several attempts at one answer the one that counts.
func verdictLines(byKey map[outputs.PredictionKey]*outputs.Prediction, order []outputs.PredictionKey, verdicts map[outputs.PredictionKey]*evaluators.Verdict) iter.Seq2[*outputs.Prediction, error] {
	return func(yield func(*outputs.Prediction, error) bool) {
		for _, k := range order {
			p := byKey[k]
			if v := verdicts[k]; v != nil {
				p.Outcome = string(v.Outcome)
				p.Detail = v.Detail
				p.Extracted, p.Score, p.Parts = nil, nil, nil
				if v.Outcome == evaluators.Right || v.Outcome == evaluators.Wrong {
					p.Extracted = &v.Extracted
				}
				if v.Outcome != evaluators.Failed {
					p.Score = finite(v.Score)
				}
				if len(v.Parts) > 0 {
					p.Parts = map[string]*float64{}
					for name, x := range v.Parts {
						p.Parts[name] = finite(x)
					}
				}
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// summarize counts verdicts by sub-set and group. notAsked are the questions of
// each sub-set that are in no verdict.
func summarize(t *Task, set *datasets.Set, rules map[string]evaluators.Scorer, scored []evaluators.Scored, notAsked map[string]int) *evaluators.Result {
	var rule evaluators.Scorer
	for _, name := range set.Subsets {
		if r := rules[name]; r != nil {
			rule = r
			break
		}
	}
	acc := &evaluators.Result{Model: t.ModelAbbr, Dataset: t.DatasetAbbr, Mode: set.Config.Asking(), Scorer: rule.ID(), ScorerVersion: rule.Version(),
		Metric: "accuracy"}
	for _, r := range set.Config.ReferenceScores {
		acc.References = append(acc.References, evaluators.ReferenceScore{Model: r.Model, Metric: r.Metric, Score: r.Score, Source: r.Source})
	}
	acc.Overall = evaluators.SummarizeWith(rule, scored)
	for _, n := range notAsked {
		acc.Overall.NotAsked += n
	}
	if acc.Overall.Graded {
		acc.Metric = "score"
	}
	if len(set.Subsets) > 1 || len(set.Subsets) == 1 && set.Subsets[0] != "" {
		by := map[string][]evaluators.Scored{}
		for _, s := range scored {
			by[s.Subset] = append(by[s.Subset], s)
		}
		for _, name := range set.Subsets {
			if len(by[name]) == 0 && notAsked[name] == 0 {
				continue
			}
			sum := evaluators.SummarizeWith(rules[name], by[name])
			sum.NotAsked = notAsked[name]
			acc.Subsets = append(acc.Subsets, evaluators.SubsetResult{Name: set.Config.AbbrOf(name), Subset: name, Summary: sum})
		}
	}
	acc.Groups = groups(set.Config, acc.Subsets)
	return acc
}

// groups computes the configured means. A group with a member missing is left
// out: a mean over fewer sub-sets is another metric under the same name.
func groups(cfg datasets.Config, subs []evaluators.SubsetResult) []evaluators.GroupResult {
	by := map[string]evaluators.Summary{}
	for _, s := range subs {
		by[s.Subset] = s.Summary
	}
	var out []evaluators.GroupResult
	for _, g := range cfg.Groups {
		names := g.Subsets
		if len(names) == 0 {
			names = everySubset(cfg)
		}
		if len(names) == 0 { // known from the rows alone
			for _, s := range subs {
				names = append(names, s.Subset)
			}
		}
		var members []evaluators.Member
		n, whole := 0, true
		for _, name := range names {
			s, ok := by[name]
			if !ok || s.Accuracy == nil {
				whole = false
				break
			}
			w := float64(s.N)
			if len(g.Weights) > 0 {
				w = g.Weights[name]
			}
			members = append(members, evaluators.Member{Name: name, Value: *s.Accuracy, Weight: w, StdErr: s.StdErr})
			n += s.N
		}
		metric := g.Metric
		if metric == "" {
			metric = evaluators.NaiveAverage
		}
		if !whole || len(members) == 0 {
			continue
		}
		v, err := evaluators.Group(metric, members)
		if err != nil {
			continue
		}
		r := evaluators.GroupResult{Name: g.Name, Metric: metric, Value: v, N: n}
		if se, ok := evaluators.GroupStdErr(metric, members); ok {
			r.StdErr = &se
		}
		out = append(out, r)
	}
	return out
}

// everySubset are the sub-sets that a data set consists of, as far as its
// configuration and source name them.
func everySubset(cfg datasets.Config) []string {
	if len(cfg.Subsets) > 0 {
		return cfg.Subsets
	}
	src, err := cfg.SourceOf()
	if err != nil {
		return nil
	}
	return src.SubsetNames()
}

// promptVersion is the first six hex digits of the hash of all prompts: two
// scores with different versions were asked differently.
func promptVersion(set *datasets.Set, t *Task) string {
	all := ""
	for i := range set.Samples {
		s := &set.Samples[i]
		all = sha256Hex(all + s.Key() + "\x00" + s.Prompt.String())
		for _, c := range s.Choices {
			all = sha256Hex(all + c.String())
		}
	}
	return all[:min(6, len(all))]
}
