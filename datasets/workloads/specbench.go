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
	if cfg.InferMode != "" && cfg.InferMode != InferEvery {
		return nil, fmt.Errorf("infer mode %q needs the replies, which the file does not have; give every", cfg.InferMode)
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
		s := cfg.sample(strconv.Itoa(number), cfg.OutputLen)
		s.Subset = row.Category
		turns := row.Turns
		if cfg.InferMode == "" {
			turns = turns[:1]
		}
		if len(turns) < cfg.MinTurns {
			w.skip(number, fmt.Sprintf("fewer than %d turns", cfg.MinTurns))
			return nil
		}
		if cfg.MaxTurns > 0 && len(turns) > cfg.MaxTurns {
			turns = turns[:cfg.MaxTurns]
		}
		if len(turns) > 1 {
			s.SessionID = s.ID
			for _, text := range turns[1:] {
				s.FollowUps = append(s.FollowUps, datasets.FollowUp{Text: text, DelayNS: cfg.ThinkTime.Nanoseconds()})
			}
			s.Prompt.Turns = []datasets.Turn{{Role: "user", Text: cfg.salted(turns[0])}}
			if err := cfg.openTurns(&s); err != nil {
				return err
			}
		} else {
			text, err := cfg.templated(cfg.salted(turns[0]))
			if err != nil {
				return fmt.Errorf("chat template: %w", err)
			}
			s.Prompt.Text = text
			cfg.measure(&s)
		}
		if !cfg.withinContext(&s, cfg.MaxModelLen) {
			w.skip(number, fmt.Sprintf("longer than the model's %d tokens", cfg.MaxModelLen))
			return nil
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		if cfg.Category != "" && !categories[cfg.Category] {
			return nil, fmt.Errorf("%s: no row of category %q%s", cfg.DatasetPath, cfg.Category, nearestOf(cfg.Category, categories))
		}
		return nil, fmt.Errorf("%s: no rows to ask%s", cfg.DatasetPath, because(w.Notes()))
	}
	return cfg.fit(cfg.shuffled(all)), nil
}
