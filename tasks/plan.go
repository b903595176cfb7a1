package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ais_bench/datasets"
	"ais_bench/evaluators"
	"ais_bench/models"
)

// ModelChoice is a model configuration that takes part in a run, as resolved
// from registry, flags and --set.
type ModelChoice struct {
	Name   string // name in the registry
	Origin string // where the configuration comes from
	Config models.Config
}

// DatasetChoice is a data set configuration that takes part in a run.
type DatasetChoice struct {
	Name   string
	Origin string
	Config datasets.Config
	Load   datasets.LoadOptions
	// Set is what is asked where it does not come from Config: the requests of a
	// workload. Nil loads Config.
	Set *datasets.Set
	// Cache is the state of the server's prefix cache for this data set; "" = the run's.
	Cache CacheMode
	// CacheDone says how these prompts were made new to the cache already, in words;
	// cold needs nothing else then. "" = they were not.
	CacheDone string
}

// load is the data set's samples.
func (d *DatasetChoice) load(ctx context.Context) (*datasets.Set, error) {
	if d.Set != nil {
		return d.Set, nil
	}
	return d.Config.Load(ctx, d.Load)
}

// Task is one model asked one data set.
type Task struct {
	Model   ModelChoice
	Dataset DatasetChoice
	// ModelAbbr and DatasetAbbr name the task's files and rows: the
	// configurations' abbreviations, or their full names where two chosen ones
	// share an abbreviation.
	ModelAbbr, DatasetAbbr string
}

func (t *Task) String() string { return t.ModelAbbr + " × " + t.DatasetAbbr }

// Plan is what a run will do.
type Plan struct {
	Tasks []*Task
	// Offline asks no server for its tokenizer, which workloads are made with where
	// the model's configuration names none.
	Offline bool
	// Wait is how long such a server may be coming up.
	Wait time.Duration
}

// NewPlan pairs every model with every data set, in the order given, and checks
// all configurations before anything is sent.
func NewPlan(modelChoices []ModelChoice, sets []DatasetChoice) (*Plan, error) {
	if len(modelChoices) == 0 {
		return nil, errors.New("no model chosen: give --models NAME; `ais_bench models list` shows all")
	}
	if len(sets) == 0 {
		return nil, errors.New("no data set chosen: give --datasets NAME or --custom-dataset-path FILE; `ais_bench datasets list` shows all")
	}
	modelAbbr := map[string]int{}
	for _, m := range modelChoices {
		if err := m.Config.Validate(); err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Name, err)
		}
		modelAbbr[m.Config.Abbr]++
	}
	setAbbr := map[string]int{}
	for _, d := range sets {
		if d.Set == nil {
			if err := d.Config.Validate(); err != nil {
				return nil, fmt.Errorf("data set %s: %w", d.Name, err)
			}
		}
		for _, id := range scorerIDs(d.Config) {
			if _, err := evaluators.Describe(id); err != nil {
				return nil, fmt.Errorf("data set %s: %w", d.Name, err)
			}
		}
		setAbbr[d.Config.Abbr]++
	}
	p := &Plan{}
	for _, m := range modelChoices {
		for _, d := range sets {
			t := &Task{Model: m, Dataset: d, ModelAbbr: m.Config.Abbr, DatasetAbbr: d.Config.Abbr}
			if modelAbbr[m.Config.Abbr] > 1 || t.ModelAbbr == "" {
				t.ModelAbbr = m.Name
			}
			if setAbbr[d.Config.Abbr] > 1 || t.DatasetAbbr == "" {
				t.DatasetAbbr = d.Name
			}
			p.Tasks = append(p.Tasks, t)
		}
	}
	return p, nil
}

// Estimate is what a task would send, from the data alone.
type Estimate struct {
	Task     *Task
	Samples  int
	Repeats  int // how often each is asked
	Requests int // samples × repeats (× labels for PPL), without warm-ups and retries
	// InputTokens is estimated from the rendered prompts: four bytes of ASCII
	// text or one other character a token, the rule of thumb for BPE
	// vocabularies.
	InputTokens int64
	// MaxOutputTokens is the sum of the output caps; < 0 when one is left to the server.
	MaxOutputTokens int64
	Set             *datasets.Set
}

// Estimate loads the data of every task and counts what would be asked.
// No question is sent; a server may be asked for its tokenizer, see Plan.Offline.
func (p *Plan) Estimate(ctx context.Context) ([]Estimate, error) {
	var out []Estimate
	for _, t := range p.Tasks {
		set, err := t.load(ctx, p)
		if err != nil {
			return nil, err // names data set, file and row itself
		}
		e := Estimate{Task: t, Samples: len(set.Samples), Repeats: t.repeats(), Set: set}
		repeats := int64(e.Repeats)
		for i := range set.Samples {
			s := &set.Samples[i]
			prompts := s.Choices
			if len(prompts) == 0 {
				prompts = []datasets.Prompt{s.Prompt}
			}
			for _, f := range s.FollowUps { // the histories they come with depend on the answers
				e.Requests += int(repeats)
				e.InputTokens += repeats * estimateTokens(datasets.Prompt{Text: f.Text})
				e.MaxOutputTokens += repeats * int64(cmp.Or(f.MaxTokens, newRequest(t.Model.Config, set.Config, s, s.Prompt).MaxTokens))
			}
			for _, pr := range prompts {
				e.Requests += int(repeats)
				e.InputTokens += repeats * estimateTokens(pr)
				req := newRequest(t.Model.Config, set.Config, s, pr)
				switch {
				case len(s.Choices) > 0:
					e.MaxOutputTokens += repeats
				case req.MaxTokens == 0:
					e.MaxOutputTokens = -1 << 62
				default:
					e.MaxOutputTokens += repeats * int64(req.MaxTokens)
				}
			}
		}
		e.MaxOutputTokens = max(e.MaxOutputTokens, -1)
		out = append(out, e)
	}
	return out, nil
}

func estimateTokens(p datasets.Prompt) int64 {
	if len(p.TokenIDs) > 0 {
		return int64(len(p.TokenIDs))
	}
	text := p.Text
	for _, t := range p.Turns {
		text += t.Text
	}
	ascii, other := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return int64((ascii+3)/4 + other)
}

// repeats is how often each question is asked: the model's
// num_return_sequences (AISBench's spelling), else the data set's n.
func (t *Task) repeats() int {
	switch v := t.Model.Config.GenerationKwargs[numReturnSequences].(type) {
	case int:
		return max(v, 1)
	case int64:
		return max(int(v), 1)
	case uint64:
		return max(int(v), 1)
	case float64:
		return max(int(v), 1)
	}
	return t.Dataset.Config.Repeats()
}

// scorerIDs are the scorers a data set uses.
func scorerIDs(c datasets.Config) []string {
	if names := c.ScorerNames(); names != "" {
		return strings.Split(names, ", ")
	}
	return nil
}
