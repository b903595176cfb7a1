package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"ais_bench/datasets/pyrandom"
	"ais_bench/registry"
)

// CustomOptions describe a user's own file (--custom-dataset-*).
type CustomOptions struct {
	Meta        string // path of the metadata; "" = <file>.meta.json where it exists
	DataType    string // qa or mcq; "" = by the columns
	InferMethod string // gen; "" = gen
	Scorer      string // "" = custom_qa or custom_mcq
}

// Sampling is a custom file's .meta.json: which rows are asked and how long the
// answers shall be.
type Sampling struct {
	RequestCount int    `yaml:"request_count,omitempty"` // rows asked; 0 = all; more than the file has = rows are asked again
	SamplingMode string `yaml:"sampling_mode,omitempty"` // default (in order), random (with replacement), shuffle
	Seed         int64  `yaml:"seed,omitempty"`          // 0 = the run's
	// OutputConfig overrides the rows' max_tokens.
	OutputConfig *OutputLengths `yaml:"output_config,omitempty"`
}

// OutputLengths is a distribution of output lengths in tokens.
type OutputLengths struct {
	Method string       `yaml:"method"` // uniform or percentage
	Params LengthParams `yaml:"params"`
}

// LengthParams are the parameters of OutputLengths.
type LengthParams struct {
	MinValue             int         `yaml:"min_value,omitempty"`
	MaxValue             int         `yaml:"max_value,omitempty"`
	PercentageDistribute [][]float64 `yaml:"percentage_distribute,omitempty"` // [length, share] …; shares sum to 1
}

// customMeta is a .meta.json file.
type customMeta struct {
	Sampling    `yaml:",inline"`
	DataType    string `yaml:"data_type,omitempty"`
	InferMethod string `yaml:"infer_method,omitempty"`
	HumanPrompt string `yaml:"human_prompt,omitempty"`
	Template    string `yaml:"template,omitempty"`
}

const (
	customQA  = "qa"
	customMCQ = "mcq"
)

// customCue ends the prompt of a multiple-choice question.
const customCue = "Answer with the letter of the right option."

// Custom makes a configuration of a user's own file: JSONL, JSON, CSV or Parquet
// with question and answer (qa), or question, A, B, … and answer (mcq), and
// optionally max_tokens. Metadata beside it say how to sample.
func Custom(path string, opts CustomOptions) (Config, error) {
	if _, err := os.Stat(path); err != nil {
		return Config{}, fmt.Errorf("custom data set %s: %w", path, errors.Unwrap(err))
	}
	if opts.InferMethod != "" && opts.InferMethod != ModeGen {
		return Config{}, fmt.Errorf("custom data set %s: infer method %q is not supported; use gen", path, opts.InferMethod)
	}
	meta, err := readMeta(path, opts.Meta)
	if err != nil {
		return Config{}, err
	}
	kind := opts.DataType
	if kind == "" {
		kind = meta.DataType
	}
	if kind == "" {
		if kind, err = customKind(path); err != nil {
			return Config{}, err
		}
	}
	if kind != customQA && kind != customMCQ {
		return Config{}, fmt.Errorf("custom data set %s: data type %q is neither qa nor mcq", path, kind)
	}
	format, err := Layout{}.formatOf(opener{}, path)
	if err != nil {
		return Config{}, fmt.Errorf("custom data set: %w", err)
	}
	name := filepath.Base(path)
	c := Config{
		Abbr:        customAbbr(name),
		Description: "your own " + kind + " file " + name,
		Path:        path,
		Embedded: &Source{
			Title:  name,
			Splits: map[string][]Layout{"test": {{Path: name, Format: format}}},
			Shape:  "custom_" + kind,
		},
		Template: Template{Rounds: []Round{{Role: "HUMAN", Prompt: "{question}"}, {Role: "BOT", Prompt: "{answer}"}}},
		Scorer:   "custom_" + kind,
	}
	if kind == customMCQ {
		c.Template.Rounds[0].Prompt = "Question: {question}\n{options_str}\n" + customCue + "\nAnswer:"
	}
	if meta.Template != "" {
		c.Template = Template{Text: meta.Template}
	}
	if meta.HumanPrompt != "" {
		c.Template = Template{Rounds: []Round{{Role: "HUMAN", Prompt: meta.HumanPrompt}, {Role: "BOT", Prompt: "{answer}"}}}
	}
	if opts.Scorer != "" {
		c.Scorer = opts.Scorer
	}
	if s := meta.Sampling; s.RequestCount != 0 || s.SamplingMode != "" || s.OutputConfig != nil || s.Seed != 0 {
		if err := s.validate(); err != nil {
			return Config{}, fmt.Errorf("custom data set %s: %w", path, err)
		}
		c.Sampling = &s
	}
	return c, c.Validate()
}

// readMeta reads the metadata; a file that was named has to exist.
func readMeta(path, named string) (customMeta, error) {
	var meta customMeta
	file := named
	if file == "" {
		file = path + ".meta.json"
	}
	raw, err := readWhole(file)
	if errors.Is(err, fs.ErrNotExist) && named == "" {
		return meta, nil
	}
	if err != nil {
		return meta, fmt.Errorf("read custom data set's metadata: %w", err)
	}
	if err := registry.Decode(raw, &meta); err != nil {
		return meta, fmt.Errorf("custom data set's metadata %s: %w", file, err)
	}
	return meta, nil
}

// customKind looks at the first row: options make it mcq.
func customKind(path string) (string, error) {
	kind := ""
	err := readRows(context.Background(), opener{}, path, Layout{}, func(row map[string]any, where string) error {
		kind = customQA
		if _, has := row["question"]; !has {
			return fmt.Errorf("custom data set: %s: no column question (it has: %s)", where, strings.Join(columnNames(row), ", "))
		}
		if len(letterColumns(row)) > 0 || row["options"] != nil || row["choices"] != nil {
			kind = customMCQ
		}
		return errEnough
	})
	if err == nil && kind == "" {
		err = fmt.Errorf("custom data set %s has no rows", path)
	}
	return kind, err
}

// letterColumns are the texts of columns A, B, C, … as far as they go without a
// gap; an empty cell ends them, as a CSV with rows of unequal length has.
func letterColumns(row map[string]any) []string {
	var out []string
	for i := range 26 {
		v, ok := row[letter(i)]
		if !ok || v == nil || textOf(v) == "" {
			break
		}
		out = append(out, textOf(v))
	}
	return out
}

func customAbbr(name string) string {
	name = strings.TrimSuffix(name, ".gz")
	name = strings.TrimSuffix(name, filepath.Ext(name))
	return fileName(name)
}

var customShapes = map[string]shape{"custom_qa": shapeCustomQA, "custom_mcq": shapeCustomMCQ}

func isCustomShape(name string) bool { return strings.HasPrefix(name, "custom_") }

func shapeCustomQA(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "question"); err != nil {
		return nil, err
	}
	it := item{fields: row, correct: -1}
	switch a := row["answer"].(type) {
	case nil:
		row["answer"] = "" // only timed
	case []any:
		if len(a) > 0 {
			it.gold = textOf(a[0])
		}
		for _, v := range a {
			it.golds = append(it.golds, textOf(v))
		}
	}
	return []item{it}, nil
}

func shapeCustomMCQ(row map[string]any, _ position) ([]item, error) {
	if err := need(row, "question", "answer"); err != nil {
		return nil, err
	}
	it := item{fields: row, options: letterColumns(row), correct: -1}
	for _, column := range []string{"options", "choices"} {
		if len(it.options) == 0 {
			it.options, _ = texts(row[column])
		}
	}
	if len(it.options) < 2 {
		return nil, fmt.Errorf("a multiple-choice row needs at least two options in columns A, B, …")
	}
	answer := strings.TrimSpace(textOf(row["answer"]))
	it.correct = letterIndex(answer)
	if it.correct < 0 || it.correct >= len(it.options) {
		it.correct = slices.Index(it.options, answer)
	}
	if it.correct < 0 {
		return nil, fmt.Errorf("answer %q is neither one of the letters A–%s nor an option's text", answer, letter(len(it.options)-1))
	}
	return []item{it}, nil
}

// customParams reads the output length a row asks for, and when it arrives.
func customParams(s *Sample) error {
	s.ArriveNS = arrival(s.Fields["timestamp"])
	for _, column := range []string{"max_tokens", "max_out_len"} {
		v, ok := s.Fields[column]
		if !ok || textOf(v) == "" {
			continue
		}
		n, ok := wholeNumber(v)
		if !ok || n < 1 {
			return fmt.Errorf("%s %q is not a positive whole number", column, textOf(v))
		}
		s.MaxTokens = n
	}
	return nil
}

// arrival reads a time stamp in ms, as AISBench's data have them; -1 where there
// is none. Other things under that name, such as dates, are no error: what a
// replay needs is checked when one is asked for.
func arrival(v any) int64 {
	ms, err := strconv.ParseFloat(strings.TrimSpace(textOf(v)), 64)
	if err != nil || !(ms >= 0 && ms < 1e12) {
		return -1
	}
	return int64(math.Round(ms * 1e6))
}

// maxRequestCount bounds the samples made of a custom file's rows, which are all
// in memory at once.
const maxRequestCount = 1 << 24

// validate checks the metadata's values.
func (s *Sampling) validate() error {
	if s == nil {
		return nil
	}
	if s.RequestCount < 0 || s.RequestCount > maxRequestCount {
		return fmt.Errorf("request_count %d is not within 0..%d", s.RequestCount, maxRequestCount)
	}
	if !slices.Contains([]string{"", "default", "random", "shuffle"}, s.SamplingMode) {
		return fmt.Errorf("sampling_mode %q is none of default, random, shuffle%s", s.SamplingMode,
			didYouMean(s.SamplingMode, []string{"default", "random", "shuffle"}))
	}
	if o := s.OutputConfig; o != nil {
		switch o.Method {
		case "uniform":
			if o.Params.MinValue < 1 || o.Params.MaxValue < o.Params.MinValue {
				return fmt.Errorf("output_config: uniform needs 1 ≤ min_value ≤ max_value, got %d and %d", o.Params.MinValue, o.Params.MaxValue)
			}
		case "percentage":
			sum := 0.0
			for _, p := range o.Params.PercentageDistribute {
				if len(p) != 2 || p[0] < 1 || p[0] != math.Trunc(p[0]) || p[1] < 0 {
					return fmt.Errorf("output_config: percentage_distribute has the entry %v; each is [length, share]", p)
				}
				sum += p[1]
			}
			if math.Abs(sum-1) > 1e-6 {
				return fmt.Errorf("output_config: the shares of percentage_distribute sum to %g, not to 1", sum)
			}
		default:
			return fmt.Errorf("output_config: method %q is neither uniform nor percentage", o.Method)
		}
	}
	return nil
}

// apply samples the rows of a loaded set.
func (s *Sampling) apply(set *Set, seed int64) error {
	if s == nil {
		return nil
	}
	if err := s.validate(); err != nil {
		return err
	}
	if s.Seed != 0 {
		seed = s.Seed
	}
	rng := pyrandom.New(seed)
	rows := set.Samples
	count := s.RequestCount
	if count == 0 {
		count = len(rows)
	}
	var order []int
	switch s.SamplingMode {
	case "random":
		order = rng.Choices(len(rows), count)
	default:
		perm := make([]int, len(rows))
		for i := range perm {
			perm[i] = i
		}
		if s.SamplingMode == "shuffle" {
			rng.Shuffle(len(perm), func(i, j int) { perm[i], perm[j] = perm[j], perm[i] })
		}
		for i := range count {
			order = append(order, perm[i%len(perm)])
		}
	}
	out := make([]Sample, count)
	times := map[int]int{}
	for i, from := range order {
		out[i] = rows[from]
		if times[from]++; times[from] > 1 {
			out[i].ID = fmt.Sprintf("%s#%d", rows[from].ID, times[from])
		}
	}
	if s.OutputConfig != nil {
		lengths := s.OutputConfig.draw(rng, count)
		for i := range out {
			out[i].MaxTokens = lengths[i]
		}
	}
	set.Samples = out
	return nil
}

// draw gives count lengths. The shares of a percentage distribution are met as
// exactly as whole numbers allow (largest remainder), in seeded random order.
func (o *OutputLengths) draw(rng *pyrandom.Rand, count int) []int {
	out := make([]int, 0, count)
	if o.Method == "uniform" {
		for range count {
			out = append(out, rng.Int(o.Params.MinValue, o.Params.MaxValue))
		}
		return out
	}
	dist := o.Params.PercentageDistribute
	counts := make([]int, len(dist))
	byRemainder := make([]int, len(dist))
	left := count
	for i, p := range dist {
		counts[i] = int(math.Floor(p[1]*float64(count) + 1e-9))
		left -= counts[i]
		byRemainder[i] = i
	}
	rest := func(i int) float64 { return dist[i][1]*float64(count) - float64(counts[i]) }
	sort.SliceStable(byRemainder, func(a, b int) bool { return rest(byRemainder[a]) > rest(byRemainder[b]) })
	for i := range max(left, 0) {
		counts[byRemainder[i%len(byRemainder)]]++
	}
	for i, p := range dist {
		for range counts[i] {
			out = append(out, int(p[0]))
		}
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
