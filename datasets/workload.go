package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Workload is the part of a Config whose requests are made for a performance run
// instead of being rendered from rows: prompts of drawn lengths, conversations,
// traces. Package workloads makes them, for one model, because its tokenizer
// measures them. Field names are AISBench's where it has one.
type Workload struct {
	// Name is one of WorkloadNames.
	Name string `yaml:"name"`
	// Synthetic are the parameters of the synthetic ones; a file of AISBench's
	// (ReadSynthetic) takes their place where there is one.
	Synthetic *Synthetic `yaml:"synthetic,omitempty"`

	InferMode string `yaml:"infer_mode,omitempty"` // sharegpt, spec_bench: every, every_with_gt or last
	Shuffle   bool   `yaml:"shuffle,omitempty"`    // sharegpt, spec_bench: by the run's seed; false keeps the file's order
	OutputLen int    `yaml:"output_len,omitempty"` // sharegpt, spec_bench: answer tokens; 0 = those of the file's answer, else the model's

	RandomSeed *int64 `yaml:"random_seed,omitempty"` // mooncake: of the prompts; nil = the run's
	// The window of a trace, in ms of its time stamps; with AutoOffset these count
	// from the first one.
	AutoOffset  bool `yaml:"fixed_schedule_auto_offset,omitempty"`
	StartOffset int  `yaml:"fixed_schedule_start_offset,omitempty"`
	EndOffset   int  `yaml:"fixed_schedule_end_offset,omitempty"` // 0 or -1 = none
}

// WorkloadNames are the workloads that a configuration may name. The first is one
// of the two behind it, by Synthetic.Type.
var WorkloadNames = []string{"synthetic", "synthetic_string", "synthetic_tokenid", "sharegpt", "spec_bench", "mooncake"}

// IsSynthetic reports whether the requests are made from Synthetic alone.
func (w *Workload) IsSynthetic() bool { return strings.HasPrefix(w.Name, "synthetic") }

// Rule is one line about how the requests are made.
func (w *Workload) Rule() string {
	rule := w.Name
	switch {
	case w.Synthetic != nil:
		rule = w.Synthetic.String()
	case w.InferMode != "":
		rule += ", turns asked: " + w.InferMode
	}
	return rule
}

// validate checks what can be checked without a file and a tokenizer.
func (w *Workload) validate() error {
	switch {
	case !slices.Contains(WorkloadNames, w.Name):
		return fmt.Errorf("workload name %q is unknown%s; one of %s", w.Name, didYouMean(w.Name, WorkloadNames), strings.Join(WorkloadNames, ", "))
	case w.IsSynthetic() && w.Synthetic == nil:
		return fmt.Errorf("workload %s needs its parameters under synthetic (Type, RequestCount …)", w.Name)
	case !w.IsSynthetic() && w.Synthetic != nil:
		return fmt.Errorf("workload %s takes no parameters under synthetic", w.Name)
	case w.Synthetic != nil:
		return w.Synthetic.Check()
	case w.OutputLen < 0:
		return fmt.Errorf("output_len must not be negative, got %d", w.OutputLen)
	case w.StartOffset < 0:
		return fmt.Errorf("fixed_schedule_start_offset must not be negative, got %d", w.StartOffset)
	case w.EndOffset > 0 && w.EndOffset < w.StartOffset:
		return fmt.Errorf("fixed_schedule_end_offset %d ms is before fixed_schedule_start_offset %d ms", w.EndOffset, w.StartOffset)
	}
	return nil
}

// rowFields names the first field set that says how rows are asked: a workload has
// none. "" when there is no such field.
func (c Config) rowFields() string {
	switch {
	case !c.Template.Empty():
		return "template"
	case c.FewShot != nil:
		return "few_shot"
	case len(c.Choices) > 0:
		return "choices"
	case len(c.Subsets) > 0:
		return "subsets"
	case c.TestRange != "":
		return "test_range"
	case len(c.Where) > 0:
		return "where"
	case len(c.Variants) > 0:
		return "variants"
	case c.Generate != nil:
		return "generate"
	case c.Sampling != nil:
		return "sampling"
	case c.Asking() == ModePPL:
		return "mode ppl"
	case c.Scorer != "":
		return "scorer"
	}
	return ""
}

// errNoRows is what Load answers for a workload.
func (c Config) errNoRows() error {
	return fmt.Errorf("data set %s is a workload: its requests are made for a performance run (--mode perf, or `ais_bench bench serve`), and it has no rows to read or to score", c.Abbr)
}

// WorkloadFile finds the file that the workload reads, by the rules of Load. ""
// says that it needs none: a synthetic one without a file of AISBench's has its
// parameters in the configuration. Only the one called synthetic looks for that
// file in the caches, as in AISBench; the others read one that is named. Missing data
// are a *MissingError.
func (c Config) WorkloadFile(opts LoadOptions) (string, error) {
	if c.Workload == nil {
		return "", errors.New("data set " + c.Abbr + " is no workload")
	}
	src, err := c.SourceOf()
	if err != nil {
		return "", err
	}
	path := cmp.Or(opts.Path, c.Path)
	synthetic := c.Workload.IsSynthetic()
	if path == "" && synthetic && c.Workload.Name != WorkloadNames[0] {
		return "", nil
	}
	find, err := newFinder(src, c.Abbr, path, c.split(), opts.CacheDirs)
	if err != nil {
		return "", err
	}
	if f := find.split(c.split(), Subset{}); f != nil {
		return f.paths[0], nil
	}
	if synthetic {
		return "", nil
	}
	return "", find.missing(c.Abbr, c.split(), Subset{}, cmp.Or(opts.PullName, c.Data))
}
