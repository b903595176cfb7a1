package workloads

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ais_bench/datasets"
)

// speedBench asks NVIDIA's SPEED-Bench, made to measure speculative decoding: a
// folder of JSONL files, one a Subset, of {"messages": [{"role", "content"}, …],
// "category"}. The prompt is the first message, as in vLLM; InferEvery asks the later
// user messages too, each behind the model's own reply. DatasetPath is the folder, or
// one of its files. Category keeps the rows of one category. Shuffled by the seed,
// then cut or topped up.
//
// Uses: NumPrompts, OutputLen, Subset, Category, InferMode (every), MinTurns,
// MaxTurns, ThinkTime, NoOversample, DisableShuffle, ChatTemplate, Tokenizer
// (optional), CacheBust, MaxModelLen.
type speedBench struct {
	notes
	cfg Config
}

func newSpeedBench(cfg Config) (Workload, error) {
	if err := cfg.withoutReplies(); err != nil {
		return nil, err
	}
	return &speedBench{cfg: cfg}, nil
}

func (w *speedBench) String() string {
	return fmt.Sprintf("speed_bench: %s of %s%s, %d tokens out, seed %d", w.cfg.Subset, w.cfg.DatasetPath, w.cfg.turnsAsked(), w.cfg.OutputLen, w.cfg.Seed)
}

// file is the subset's.
func (w *speedBench) file() (string, error) {
	path := w.cfg.DatasetPath
	st, err := os.Stat(path)
	if err != nil || !st.IsDir() {
		return path, nil // read as it is; a path that is not there is said by name
	}
	file := filepath.Join(path, w.cfg.Subset+".jsonl")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	found, _ := filepath.Glob(filepath.Join(path, "*.jsonl"))
	for i := range found {
		found[i] = strings.TrimSuffix(filepath.Base(found[i]), ".jsonl")
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s has no JSONL file; give the folder that SPEED-Bench's prepare script made", path)
	}
	return "", fmt.Errorf("%s has no subset %q; it has %s", path, w.cfg.Subset, strings.Join(found, ", "))
}

func (w *speedBench) Samples(ctx context.Context) ([]datasets.Sample, error) {
	cfg := &w.cfg
	w.reset()
	file, err := w.file()
	if err != nil {
		return nil, err
	}
	var all []datasets.Sample
	categories := map[string]bool{}
	err = eachLine(file, func(line []byte, number int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var row struct {
			Category string          `json:"category"`
			Messages []customMessage `json:"messages"`
		}
		if err := unmarshal(line, &row); err != nil {
			return err
		}
		var turns []string
		for i, m := range row.Messages {
			t, err := m.turn()
			if err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			if t.Role == "user" || i == 0 {
				turns = append(turns, t.Text)
			}
		}
		if len(turns) == 0 || turns[0] == "" {
			return fmt.Errorf(`no "messages" to ask`)
		}
		categories[row.Category] = true
		if cfg.Category != "" && row.Category != cfg.Category {
			return nil
		}
		s, why, err := cfg.userTurns(strconv.Itoa(number), row.Category, turns)
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
