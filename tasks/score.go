package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ais_bench/datasets"
	"ais_bench/evaluators"
	"ais_bench/models/transport"
	"ais_bench/registry"
)

// ScoreOptions say how answers made elsewhere are scored.
type ScoreOptions struct {
	Dataset     DatasetChoice
	Predictions string // JSONL, JSON, CSV or Parquet; one answer a row
	// Field names; dotted paths go into nested objects (6b_finetuning.solution).
	PredictionField string // "" = prediction
	GoldField       string // "" = the data set's own gold
	SubsetField     string // "" = the data set's own sub-sets, or none
	Subset          string // all rows belong to this sub-set; "" = SubsetField or the data set says
	Scorer          string // "" = the data set's
	Sandbox         string // kind of sandbox for scorers that run programs; "" = native
	Judges          []ModelChoice
	Observer        Observer
}

// ScoredAnswer is one row with its verdict.
type ScoredAnswer struct {
	Where   string
	Item    evaluators.Item
	Answer  evaluators.Answer
	Verdict evaluators.Verdict
}

// Score scores answers made elsewhere with a data set's rule. A row whose
// prediction is null counts as failed: there was no answer.
//
// The references come from GoldField; without it the file is read as the data
// set itself (rows that carry the data set's columns beside the prediction),
// and failing that the rows are matched to the data set's by position.
func Score(ctx context.Context, o ScoreOptions) (*evaluators.Result, []ScoredAnswer, error) {
	if o.PredictionField == "" {
		o.PredictionField = "prediction"
	}
	if o.Observer == nil {
		o.Observer = Quiet{}
	}
	o.Subset = subsetNames(o.Dataset.Config)(o.Subset)
	if err := o.checkSubset(); err != nil {
		return nil, nil, err
	}
	answers, set, err := o.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	opts := &Options{Judges: o.Judges, Observer: o.Observer}
	var judges []evaluators.Judge
	if len(o.Judges) > 0 {
		var closeAll func()
		if judges, closeAll, err = startJudges(ctx, opts, transport.NewClock()); err != nil {
			return nil, nil, &EnvironmentError{err}
		}
		defer closeAll()
	}
	rules, err := scorers(set.Config, set.Subsets, scoringMeans{o.Scorer, o.Sandbox, judges})
	if err != nil {
		return nil, nil, err
	}
	if len(rules) == 0 {
		return nil, nil, fmt.Errorf("data set %s has no scorer: give one with --scorer", o.Dataset.Name)
	}
	task := &Task{Dataset: o.Dataset, ModelAbbr: "predictions", DatasetAbbr: o.Dataset.Config.Abbr}
	if err := scoreAll(ctx, answers, rules); err != nil {
		return nil, nil, fmt.Errorf("score %s: %w", o.Predictions, err)
	}
	return summarize(task, set, rules, Scored(answers), nil), answers, nil
}

// Scored are the verdicts of answers, an item's further answers being repeats.
func Scored(answers []ScoredAnswer) []evaluators.Scored {
	repeats := map[string]int{}
	scored := make([]evaluators.Scored, len(answers))
	for i, a := range answers {
		scored[i] = evaluators.Scored{ItemID: a.Item.ID, Subset: a.Item.Subset, Repeat: repeats[a.Item.ID], Verdict: a.Verdict, References: a.Item.References()}
		repeats[a.Item.ID]++
	}
	return scored
}

func scoreAll(ctx context.Context, answers []ScoredAnswer, rules map[string]evaluators.Scorer) error {
	return parallel(ctx, len(answers), 0, func(ctx context.Context, i int) error {
		a := &answers[i]
		rule := rules[a.Item.Subset]
		if rule == nil {
			return fmt.Errorf("%s: no scorer for sub-set %q", a.Where, a.Item.Subset)
		}
		v, err := rule.Score(ctx, a.Answer, a.Item)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Where, err)
		}
		a.Verdict = v
		return nil
	})
}

// read brings predictions and references together.
func (o ScoreOptions) read(ctx context.Context) ([]ScoredAnswer, *datasets.Set, error) {
	var answers []ScoredAnswer
	var rows []map[string]any
	subsets := map[string]bool{}
	var order []string
	named := subsetNames(o.Dataset.Config)
	err := datasets.ReadFile(ctx, o.Predictions, func(row map[string]any, where string) error {
		a := ScoredAnswer{Where: where, Item: evaluators.Item{ID: strconv.Itoa(len(answers)), Fields: row}}
		v, ok := field(row, o.PredictionField)
		if !ok {
			return fmt.Errorf("%s: no field %q; the row has %s", where, o.PredictionField, strings.Join(keys(row), ", "))
		}
		if v == nil {
			a.Answer.Failed = true
		} else {
			a.Answer.Text = text(v)
		}
		if o.GoldField != "" {
			g, ok := field(row, o.GoldField)
			if !ok || g == nil {
				return fmt.Errorf("%s: no gold field %q; the row has %s", where, o.GoldField, strings.Join(keys(row), ", "))
			}
			a.Item.Gold, a.Item.Golds = golds(g)
		}
		a.Item.Subset = o.Subset
		if o.SubsetField != "" {
			s, ok := field(row, o.SubsetField)
			if !ok {
				return fmt.Errorf("%s: no sub-set field %q", where, o.SubsetField)
			}
			a.Item.Subset = named(text(s))
		}
		if !subsets[a.Item.Subset] {
			subsets[a.Item.Subset] = true
			order = append(order, a.Item.Subset)
		}
		answers, rows = append(answers, a), append(rows, row)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(answers) == 0 {
		return nil, nil, fmt.Errorf("%s holds no rows", o.Predictions)
	}
	if o.GoldField != "" {
		return answers, &datasets.Set{Config: o.Dataset.Config, Subsets: order}, nil
	}
	set, err := o.references(ctx, len(answers))
	if err != nil {
		return nil, nil, err
	}
	for i := range answers {
		s := &set.Samples[i]
		fields := rows[i]
		for k, v := range s.Fields {
			fields = withField(fields, k, v)
		}
		answers[i].Item = evaluators.Item{ID: s.Key(), Subset: s.Subset, Gold: s.Gold, Golds: s.Golds, Labels: s.Labels, Fields: fields, Prompt: s.Prompt.String()}
	}
	return answers, set, nil
}

// checkSubset refuses a sub-set that the data set does not have.
func (o ScoreOptions) checkSubset() error {
	if o.Subset == "" {
		return nil
	}
	if o.SubsetField != "" {
		return errors.New("--subset and --subset-field exclude each other: either all rows belong to one sub-set, or a field says which")
	}
	src, err := o.Dataset.Config.SourceOf()
	if err != nil {
		return err
	}
	known := src.SubsetNames()
	if slices.Contains(known, o.Subset) || len(known) == 0 && src.SubsetColumn != "" {
		return nil
	}
	if len(known) == 0 {
		return fmt.Errorf("--subset %s: data set %s has no sub-sets", o.Subset, o.Dataset.Name)
	}
	return fmt.Errorf("--subset %s: data set %s has no such sub-set%s", o.Subset, o.Dataset.Name, registry.DidYouMean(o.Subset, known))
}

// subsetNames gives the name of a sub-set from its name or from how the data
// spell it ("computer science" for computer_science).
func subsetNames(cfg datasets.Config) func(string) string {
	names := map[string]string{}
	if src, err := cfg.SourceOf(); err == nil {
		for _, s := range src.Subsets {
			if s.Path != "" {
				names[s.Path] = s.Name
			}
		}
	}
	return func(s string) string {
		if name, ok := names[s]; ok {
			return name
		}
		return s
	}
}

// references loads the data set's own rows: from the predictions file where it
// carries them, else from the data.
func (o ScoreOptions) references(ctx context.Context, n int) (*datasets.Set, error) {
	if o.Subset != "" {
		o.Dataset.Load.Subsets = []string{o.Subset}
	}
	fromFile := o.Dataset.Load
	fromFile.Path = o.Predictions
	set, fileErr := o.Dataset.Config.Load(ctx, fromFile)
	if fileErr == nil && len(set.Samples) == n {
		return set, nil
	}
	set, err := o.Dataset.Config.Load(ctx, o.Dataset.Load)
	var missing *datasets.MissingError
	if errors.As(err, &missing) {
		return nil, &EnvironmentError{fmt.Errorf("%s carries no references of %s (name their field with --gold-field), and %w", o.Predictions, o.Dataset.Name, err)}
	}
	if err != nil {
		return nil, err
	}
	if len(set.Samples) != n {
		return nil, fmt.Errorf("%s has %d rows and %s has %d: rows are matched by position; name the field of the reference with --gold-field", o.Predictions, n, o.Dataset.Name, len(set.Samples))
	}
	return set, nil
}

// field follows a dotted path; a key that itself holds dots wins.
func field(row map[string]any, path string) (any, bool) {
	if v, ok := row[path]; ok {
		return v, true
	}
	for i := strings.IndexByte(path, '.'); i >= 0; {
		if inner, ok := row[path[:i]].(map[string]any); ok {
			if v, ok := field(inner, path[i+1:]); ok {
				return v, true
			}
		}
		next := strings.IndexByte(path[i+1:], '.')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return nil, false
}

func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case json.Number:
		return x.String()
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func golds(v any) (string, []string) {
	if list, ok := v.([]any); ok && len(list) > 0 {
		out := make([]string, len(list))
		for i, x := range list {
			out[i] = text(x)
		}
		return out[0], out
	}
	return text(v), nil
}

func keys(row map[string]any) []string {
	names := make([]string, 0, len(row))
	for k := range row {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

func withField(row map[string]any, k string, v any) map[string]any {
	if _, ok := row[k]; !ok {
		row[k] = v
	}
	return row
}
