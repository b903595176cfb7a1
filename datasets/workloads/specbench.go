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
// vLLM; InferEvery puts the later turns into FieldFollowUps. The file has no
// replies, so the other InferModes cannot be used. Category keeps the rows of one
// category. Shuffled by the seed (vLLM: always by 0), then cut or topped up.
//
// Uses: NumPrompts, OutputLen, Category, InferMode, NoOversample,
// DisableShuffle, ChatTemplate, Tokenizer (optional), CacheBust, MaxModelLen.
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
	return fmt.Sprintf("spec_bench: turns of %s, %d tokens out, seed %d", w.cfg.DatasetPath, w.cfg.OutputLen, w.cfg.Seed)
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
		if cfg.InferMode == InferEvery && len(row.Turns) > 1 {
			s.SessionID = s.ID
			s.Fields[FieldFollowUps] = row.Turns[1:]
			s.Prompt.Turns = []datasets.Turn{{Role: "user", Text: cfg.salted(row.Turns[0])}}
			if err := cfg.renderTurns(&s); err != nil {
				return err
			}
		} else {
			text, err := cfg.templated(cfg.salted(row.Turns[0]))
			if err != nil {
				return fmt.Errorf("chat template: %w", err)
			}
			s.Prompt.Text = text
		}
		cfg.measure(&s)
		if cfg.tooLong(&s) {
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
		return nil, fmt.Errorf("%s: no rows to ask", cfg.DatasetPath)
	}
	return cfg.fit(cfg.shuffled(all)), nil
}
