package workloads

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"ais_bench/datasets"
)

// specBench asks the rows of a Spec-Bench or MT-Bench JSONL file:
// {"question_id", "category", "turns": ["…", …]}. The prompt is turns[0], as in
// vLLM; with InferEvery the later ones follow, each after the model's reply to the one
// before. The file has no replies, so the other InferModes cannot be used. Category keeps the rows of one
// category. Shuffled by the seed (vLLM: always by 0), then cut or topped up.
//
// Uses: NumPrompts, OutputLen, Category, InferMode, MinTurns, MaxTurns, ThinkTime,
// NoOversample, DisableShuffle, ChatTemplate, Tokenizer (optional), CacheBust, MaxModelLen.
type specBench struct {
	notes
	cfg Config
}

func newSpecBench(cfg Config) (Workload, error) {
	if err := cfg.withoutReplies(); err != nil {
		return nil, err
	}
	return &specBench{cfg: cfg}, nil
}

func (w *specBench) String() string {
	return fmt.Sprintf("spec_bench: turns of %s%s, %d tokens out, seed %d", w.cfg.DatasetPath, w.cfg.turnsAsked(), w.cfg.OutputLen, w.cfg.Seed)
}

func (w *specBench) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	w.reset()
	var all []datasets.Sample
	categories := map[string]bool{}
	err := eachLine(cfg.DatasetPath, func(line []byte, number int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var row struct {
			ID       json.RawMessage `json:"question_id"`
			Category string          `json:"category"`
			Turns    []string        `json:"turns"`
			Prompt   []string        `json:"prompt"` // the newer MT-Bench releases
		}
		if err := unmarshal(line, &row); err != nil {
			return err
		}
		if row.Turns == nil {
			row.Turns = row.Prompt
		}
		if len(row.Turns) == 0 || row.Turns[0] == "" {
			return fmt.Errorf(`no "turns" to ask`)
		}
		categories[row.Category] = true
		if cfg.Category != "" && row.Category != cfg.Category {
			return nil
		}
		s, why, err := cfg.userTurns(strconv.Itoa(number), row.Category, row.Turns)
		if err != nil {
			return err
		}
		if why != "" {
			w.skip(number, why)
			return nil
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, cfg.nothingToAsk(categories, w.Notes())
	}
	return cfg.fit(cfg.shuffled(all)), nil
}

// userTurns makes the sample of a row that has user turns alone: the first, or
// with InferEvery all. why says why the row is left out, "" when it is not.
func (c *Config) userTurns(id, category string, turns []string) (s datasets.Sample, why string, err error) {
	s = c.sample(id, c.OutputLen)
	s.Subset = category
	if c.InferMode == "" {
		turns = turns[:1]
	}
	switch {
	case len(turns) < c.MinTurns:
		return s, fmt.Sprintf("fewer than %d turns", c.MinTurns), nil
	case c.MaxTurns > 0 && len(turns) > c.MaxTurns:
		turns = turns[:c.MaxTurns]
	}
	s.Prompt.Turns = []datasets.Turn{{Role: "user", Text: c.salted(turns[0])}}
	for _, text := range turns[1:] {
		s.SessionID = id
		s.FollowUps = append(s.FollowUps, datasets.FollowUp{Text: text, DelayNS: c.ThinkTime.Nanoseconds()})
	}
	if err := c.openTurns(&s); err != nil {
		return s, "", err
	}
	if len(s.FollowUps) == 0 && s.Prompt.Text == "" { // one turn without a template is a text
		s.Prompt = datasets.Prompt{Text: s.Prompt.Turns[0].Text}
		c.measure(&s)
	}
	if !c.withinContext(&s, c.MaxModelLen) {
		return s, fmt.Sprintf("longer than the model's %d tokens", c.MaxModelLen), nil
	}
	return s, "", nil
}

// nothingToAsk says why a file by categories gave no sample.
func (c *Config) nothingToAsk(categories map[string]bool, notes []string) error {
	if c.Category != "" && !categories[c.Category] {
		return fmt.Errorf("%s: no row of category %q%s", c.DatasetPath, c.Category, nearestOf(c.Category, categories))
	}
	return fmt.Errorf("%s: no rows to ask%s", c.DatasetPath, because(notes))
}
