package main

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"ais_bench/datasets"
	"ais_bench/evaluators"
	"ais_bench/evaluators/stats"
	"ais_bench/outputs"
	"ais_bench/tasks"
)

// scoreCommand scores answers made elsewhere.
func scoreCommand() *cli.Command {
	return &cli.Command{
		Name:  "score",
		Usage: "score answers that were made elsewhere",
		Description: "Reads one answer a row (jsonl, json, csv, parquet, gzipped or not) and scores it with the data set's rule.\n" +
			"Field names may be dotted paths into nested objects. A null answer counts as failed.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dataset", Usage: "data set configuration whose rule is used (`NAME`)"},
			&cli.StringFlag{Name: "predictions", Usage: "`FILE` with the answers"},
			&cli.StringFlag{Name: "prediction-field", Value: "prediction", Usage: "field of the answer"},
			&cli.StringFlag{Name: "gold-field", Usage: "field of the reference; default: the data set's own"},
			&cli.StringFlag{Name: "subset-field", Usage: "field of the sub-set, for scores by sub-set"},
			&cli.StringFlag{Name: "subset", Usage: "sub-set that all rows belong to (`NAME`); its own rule is used"},
			&cli.StringFlag{Name: "scorer", Usage: "another rule (`ID`), e.g. a bug-compatible one"},
			&cli.StringFlag{Name: "sandbox", Value: "native", Usage: "where model-written programs run: native, bwrap, runsc, or none (no isolation at all)"},
			&cli.StringFlag{Name: "dataset-path", Usage: "file or directory of the data"},
			&cli.StringFlag{Name: "config-dir", Value: "configs", Usage: "your own configurations"},
			&cli.StringSliceFlag{Name: "judge-model", Usage: "model configuration asked by judge scorers"},
			&cli.StringSliceFlag{Name: "set", Usage: "change a field: models.NAME.FIELD=VALUE or datasets.NAME.FIELD=VALUE"},
			&cli.StringFlag{Name: "env-file", Usage: "read environment variables (keys) from this `FILE`"},
			&cli.StringFlag{Name: "details", Usage: "write every row's verdict to this `FILE` (jsonl)"},
			&cli.StringFlag{Name: "against", Usage: "`FILE` with other answers to the same questions: compare the two by item (McNemar); default with --against-field: the same file"},
			&cli.StringFlag{Name: "against-field", Usage: "field of the other answers; default: --prediction-field"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
			&cli.BoolFlag{Name: "list", Usage: "list all scorers"},
		},
		Action: scoreAction,
	}
}

// scoreJSON is what --json prints.
type scoreJSON struct {
	Dataset       string      `json:"dataset"`
	Scorer        string      `json:"scorer"`
	ScorerVersion string      `json:"scorer_version"`
	N             int         `json:"n"`
	Right         int         `json:"right"`
	Wrong         int         `json:"wrong"`
	Unparsable    int         `json:"unparsable"`
	Empty         int         `json:"empty"`
	Failed        int         `json:"failed"`
	Accuracy      *float64    `json:"accuracy"`
	CI            *[2]float64 `json:"ci"`

	Parts   map[string]float64            `json:"parts,omitempty"`
	Metrics map[string]float64            `json:"metrics,omitempty"`
	Repeats *evaluators.RepeatMetrics     `json:"repeats,omitempty"`
	Subsets map[string]evaluators.Summary `json:"subsets,omitempty"`
	Groups  []evaluators.GroupResult      `json:"groups,omitempty"`
	Paired  *pairedJSON                   `json:"paired,omitempty"`
}

// pairedJSON is the comparison with --against.
type pairedJSON struct {
	N          int         `json:"n"` // items both answered
	OnlyHere   int         `json:"right_only_here"`
	OnlyThere  int         `json:"right_only_there"`
	Difference float64     `json:"difference"` // mean score there minus here
	CI         *[2]float64 `json:"ci"`
	P          float64     `json:"mcnemar_p"`
}

func scoreAction(c *cli.Context) error {
	if c.Bool("list") {
		return listScorers(c)
	}
	if err := checkSandbox(c); err != nil {
		return err
	}
	for _, f := range []string{"dataset", "predictions"} {
		if c.String(f) == "" {
			return usagef("score: --%s is needed", f)
		}
	}
	if err := loadEnvFile(c); err != nil {
		return err
	}
	reg, err := openDatasets(c)
	if err != nil {
		return err
	}
	entries, err := reg.Select(c.String("dataset"))
	if err != nil {
		return usage(err)
	}
	if len(entries) != 1 {
		return usagef("score: --dataset %s names %d data sets; name one", c.String("dataset"), len(entries))
	}
	if err := applySets(c.StringSlice("set"), "datasets", entries, reg.Names()); err != nil {
		return err
	}
	if id := c.String("scorer"); id != "" {
		if _, err := evaluators.Describe(id); err != nil {
			return usage(err)
		}
	}
	o := tasks.ScoreOptions{
		Dataset:     tasks.DatasetChoice{Name: entries[0].Name, Origin: entries[0].Origin, Config: entries[0].Value, Load: datasets.LoadOptions{Path: c.String("dataset-path")}},
		Predictions: c.String("predictions"), PredictionField: c.String("prediction-field"), GoldField: c.String("gold-field"),
		SubsetField: c.String("subset-field"), Subset: c.String("subset"), Scorer: c.String("scorer"), Sandbox: c.String("sandbox"),
	}
	if o.Judges, err = judges(c); err != nil {
		return err
	}
	res, answers, err := tasks.Score(c.Context, o)
	if err != nil {
		return usageUnlessEnvironment(tasks.DataError(err))
	}
	if path := c.String("details"); path != "" {
		if err := writeDetails(path, answers); err != nil {
			return &tasks.EnvironmentError{Err: err}
		}
	}
	var paired *stats.Paired
	if c.String("against") != "" || c.String("against-field") != "" {
		other := o
		other.Predictions = cmp.Or(c.String("against"), o.Predictions)
		other.PredictionField = cmp.Or(c.String("against-field"), o.PredictionField)
		_, theirs, err := tasks.Score(c.Context, other)
		if err != nil {
			return usageUnlessEnvironment(tasks.DataError(err))
		}
		p, ok := evaluators.ComparePaired(tasks.Scored(answers), tasks.Scored(theirs))
		if !ok {
			return usagef("score: --against: the two files have no item that both answered")
		}
		paired = &p
	}
	if c.Bool("json") {
		return printScoreJSON(c, res, paired)
	}
	if err := printScore(c, res); err != nil {
		return err
	}
	return printPaired(c, paired)
}

// printPaired shows how the other answers differ from the first.
func printPaired(c *cli.Context, p *stats.Paired) error {
	if p == nil {
		return nil
	}
	t := outputs.Table{Title: "The other answers against these, item by item", Columns: []outputs.Column{{Name: "items both answered", Kind: outputs.KindInt},
		{Name: "right only here", Kind: outputs.KindInt}, {Name: "right only there", Kind: outputs.KindInt}, {Name: "difference", Unit: "%", Kind: outputs.KindPercent},
		{Name: "95 % from", Unit: "%", Kind: outputs.KindPercent}, {Name: "to", Unit: "%", Kind: outputs.KindPercent}, {Name: "McNemar p", Kind: outputs.KindFloat, Format: "%.3g"}}}
	var low, high any
	if p.CI != nil {
		low, high = p.CI.Low, p.CI.High
	}
	t.AddRow(p.N, p.OnlyA, p.OnlyB, p.Diff, low, high, p.McNemar)
	fmt.Fprintln(c.App.Writer)
	return t.WriteText(c.App.Writer, outputs.TextOptions{})
}

func printScoreJSON(c *cli.Context, res *evaluators.Result, paired *stats.Paired) error {
	s := res.Overall
	out := scoreJSON{Dataset: res.Dataset, Scorer: res.Scorer, ScorerVersion: res.ScorerVersion, N: s.N, Right: s.Right, Wrong: s.Wrong,
		Unparsable: s.Unparsable, Empty: s.Empty, Failed: s.Failed, Accuracy: s.Accuracy, Parts: s.Parts, Metrics: s.Metrics, Repeats: s.Repeats, Groups: res.Groups}
	if paired != nil {
		out.Paired = &pairedJSON{N: paired.N, OnlyHere: paired.OnlyA, OnlyThere: paired.OnlyB, Difference: paired.Diff, P: paired.McNemar}
		if paired.CI != nil {
			out.Paired.CI = &[2]float64{paired.CI.Low, paired.CI.High}
		}
	}
	if s.CI != nil {
		out.CI = &[2]float64{s.CI.Low, s.CI.High}
	}
	for _, sub := range res.Subsets {
		if out.Subsets == nil {
			out.Subsets = map[string]evaluators.Summary{}
		}
		out.Subsets[sub.Subset] = sub.Summary
	}
	b, err := outputs.MarshalJSON(out)
	if err != nil {
		return fmt.Errorf("print the score: %w", err)
	}
	fmt.Fprintln(c.App.Writer, string(b))
	return nil
}

func printScore(c *cli.Context, res *evaluators.Result) error {
	t := outputs.Table{Title: fmt.Sprintf("%s, scorer %s %s", res.Dataset, res.Scorer, res.ScorerVersion),
		Columns: []outputs.Column{{Name: ""}, {Name: "n", Kind: outputs.KindInt}, {Name: "right", Kind: outputs.KindInt}, {Name: "wrong", Kind: outputs.KindInt},
			{Name: "unparsable", Kind: outputs.KindInt}, {Name: "empty", Kind: outputs.KindInt}, {Name: "failed", Kind: outputs.KindInt},
			{Name: res.Metric, Unit: "%", Kind: outputs.KindPercent}, {Name: "95 % from", Unit: "%", Kind: outputs.KindPercent}, {Name: "to", Unit: "%", Kind: outputs.KindPercent}}}
	row := func(name string, s evaluators.Summary) {
		var low, high any
		if s.CI != nil {
			low, high = s.CI.Low, s.CI.High
		}
		t.AddRow(name, s.N, s.Right, s.Wrong, s.Unparsable, s.Empty, s.Failed, s.Accuracy, low, high)
	}
	for _, sub := range res.Subsets {
		row(sub.Name, sub.Summary)
	}
	row("all", res.Overall)
	for _, g := range res.Groups {
		t.AddRow(g.Name+" ("+g.Metric+")", g.N, nil, nil, nil, nil, nil, g.Value, nil, nil)
	}
	for name, v := range res.Overall.Metrics {
		t.Notes = append(t.Notes, fmt.Sprintf("%s: %.4f", name, v))
	}
	for name, v := range res.Overall.Parts {
		t.Notes = append(t.Notes, fmt.Sprintf("%s (mean): %.4f", name, v))
	}
	return t.WriteText(c.App.Writer, outputs.TextOptions{})
}

func listScorers(c *cli.Context) error {
	t := outputs.Table{Columns: []outputs.Column{{Name: "Scorer"}, {Name: "Version"}, {Name: "Rule"}}}
	for _, id := range evaluators.IDs() {
		d, err := evaluators.Describe(id)
		if err != nil {
			return err
		}
		t.AddRow(d.ID, d.Version, d.Summary)
	}
	return t.WriteText(c.App.Writer, outputs.TextOptions{})
}

func writeDetails(path string, answers []tasks.ScoredAnswer) error {
	return writeLines(path, len(answers), func(i int, enc *json.Encoder) error {
		a := answers[i]
		return enc.Encode(map[string]any{"where": a.Where, "id": a.Item.ID, "subset": a.Item.Subset, "gold": a.Item.Gold,
			"extracted": a.Verdict.Extracted, "outcome": a.Verdict.Outcome, "score": a.Verdict.Score, "parts": a.Verdict.Parts, "detail": a.Verdict.Detail})
	})
}
