package datasets

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The ways of asking.
const (
	ModeGen = "gen" // the model writes an answer
	ModePPL = "ppl" // the model scores one whole prompt per label; the likeliest wins
)

// Config describes how one benchmark asks the rows of a Source. Field names are
// AISBench's where it has one.
type Config struct {
	Abbr        string `yaml:"abbr"`                  // short name; names the output files
	Description string `yaml:"description,omitempty"` // one line for `datasets list`

	// Data names a built-in Source; Embedded replaces it where a user's
	// configuration brings its own. Exactly one is set.
	Data     string  `yaml:"data,omitempty"`
	Embedded *Source `yaml:"source,omitempty"`

	Path       string   `yaml:"path,omitempty"`        // file or directory of the data; wins over the caches
	Split      string   `yaml:"split,omitempty"`       // split that is asked; "" = test
	Subsets    []string `yaml:"subsets,omitempty"`     // sub-sets asked; empty = all of the source
	SubsetAbbr string   `yaml:"subset_abbr,omitempty"` // name of a sub-set in tables, with {subset}; "" = <abbr>-<subset>
	TestRange  string   `yaml:"test_range,omitempty"`  // "[a:b]" of each sub-set's rows, Python's slice
	Where      []Window `yaml:"where,omitempty"`       // rows kept: all windows must hold

	Mode         string    `yaml:"mode,omitempty"` // gen (default) or ppl
	Template     Template  `yaml:"template,omitempty"`
	FewShot      *FewShot  `yaml:"few_shot,omitempty"`
	Choices      []Choice  `yaml:"choices,omitempty"`       // ppl: labels shared by all rows; empty = the row's own options
	OutputColumn string    `yaml:"output_column,omitempty"` // column of the gold answer, masked in the prompt; "" = answer
	ChoiceOrder  string    `yaml:"choice_order,omitempty"`  // order of the options, one of ChoiceOrders; "" = as stored
	ChoiceSeed   int64     `yaml:"choice_seed,omitempty"`   // seed of choice_order
	Variants     []Variant `yaml:"variants,omitempty"`      // what differs for some sub-sets

	Scorer        string         `yaml:"scorer,omitempty"`         // id in evaluators; "" = only timed
	ScorerOptions map[string]any `yaml:"scorer_options,omitempty"` //
	MaxOutLen     int            `yaml:"max_out_len,omitempty"`    // tokens; 0 = the model's
	Stop          []string       `yaml:"stop,omitempty"`           // stop words, applied after thinking is stripped

	N int `yaml:"n,omitempty"` // times every question is asked; 0 = 1
	K int `yaml:"k,omitempty"` // k of pass@k, cons@k, G-Pass@k; 0 = n

	Groups          []Group          `yaml:"groups,omitempty"`
	ReferenceScores []ReferenceScore `yaml:"reference_scores,omitempty"`

	Generate *Generate `yaml:"generate,omitempty"` // rows are made, not read
	Sampling *Sampling `yaml:"sampling,omitempty"` // of a custom file's .meta.json
	Workload *Workload `yaml:"workload,omitempty"` // requests are made for a performance run; no field about rows goes with it
}

// Window keeps the rows whose column, compared as text, lies in [From, To];
// dates in ISO form compare rightly. An empty bound is open.
type Window struct {
	Column string `yaml:"column"`
	From   string `yaml:"from,omitempty"`
	To     string `yaml:"to,omitempty"`
}

// Choice is one label of a PPL question and the words that stand for it in the
// template, as {label} and {choice}.
type Choice struct {
	Label string `yaml:"label"`
	Text  string `yaml:"text,omitempty"`
}

// Variant overrides fields of its Config for some sub-sets. Only set fields count.
type Variant struct {
	Subsets       []string       `yaml:"subsets"`
	Template      Template       `yaml:"template,omitempty"`
	FewShot       *FewShot       `yaml:"few_shot,omitempty"`
	Scorer        string         `yaml:"scorer,omitempty"`
	ScorerOptions map[string]any `yaml:"scorer_options,omitempty"`
	MaxOutLen     int            `yaml:"max_out_len,omitempty"`
	Stop          []string       `yaml:"stop,omitempty"`
}

// Group is a mean over sub-sets, printed as a row of its own.
type Group struct {
	Name    string             `yaml:"name"`
	Subsets []string           `yaml:"subsets,omitempty"` // members; empty = all that were asked
	Metric  string             `yaml:"metric,omitempty"`  // naive_average (default), weighted_average, sum, standard_deviation, harmonic_mean
	Weights map[string]float64 `yaml:"weights,omitempty"` // of weighted_average; empty = number of samples
}

// ReferenceScore is a published score, so that a user can tell whether the
// service under test behaves like the model it claims to serve.
type ReferenceScore struct {
	Model  string  `yaml:"model"`
	Metric string  `yaml:"metric,omitempty"` // "" = accuracy in per cent
	Score  float64 `yaml:"score"`
	Source string  `yaml:"source"` // who states it
}

// For is the configuration as it holds for one sub-set: the Config with the
// Variant naming that sub-set laid over it.
func (c Config) For(subset string) Config {
	for _, v := range c.Variants {
		if !slices.Contains(v.Subsets, subset) {
			continue
		}
		if !v.Template.Empty() {
			c.Template = v.Template
		}
		if v.FewShot != nil {
			c.FewShot = v.FewShot
		}
		if v.Scorer != "" {
			c.Scorer, c.ScorerOptions = v.Scorer, v.ScorerOptions
		} else if v.ScorerOptions != nil {
			c.ScorerOptions = v.ScorerOptions
		}
		if v.MaxOutLen != 0 {
			c.MaxOutLen = v.MaxOutLen
		}
		if v.Stop != nil {
			c.Stop = v.Stop
		}
	}
	return c
}

// AbbrOf is the name of a sub-set in tables and file names; of "" the Config's.
func (c Config) AbbrOf(subset string) string {
	switch {
	case subset == "":
		return c.Abbr
	case c.SubsetAbbr != "":
		return fileName(strings.ReplaceAll(c.SubsetAbbr, "{subset}", subset))
	}
	return fileName(c.Abbr + "-" + subset)
}

// badInFileNames are characters a name of a file may not have on some system.
const badInFileNames = `/\:*?"<>| `

// fileName replaces what a file's name may not have.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(badInFileNames, r) || r < ' ' {
			return '_'
		}
		return r
	}, s)
}

// Repeats is how often each question is asked, at least once.
func (c Config) Repeats() int { return max(c.N, 1) }

// Asking is the mode with its default filled in.
func (c Config) Asking() string {
	if c.Mode == "" {
		return ModeGen
	}
	return c.Mode
}

// Gold is the name of the gold column with its default filled in.
func (c Config) Gold() string {
	if c.OutputColumn == "" {
		return "answer"
	}
	return c.OutputColumn
}

// SourceOf is where the rows come from. An unknown Data name is an error that
// suggests the nearest one.
func (c Config) SourceOf() (Source, error) {
	switch {
	case c.Embedded != nil && c.Data != "":
		return Source{}, fmt.Errorf("data set %s: data and source exclude each other; keep one", c.Abbr)
	case c.Embedded != nil:
		return *c.Embedded, nil
	case c.Data == "":
		return Source{}, fmt.Errorf("data set %s: neither data (a built-in source) nor source is set", c.Abbr)
	}
	s, err := FindSource(c.Data)
	if err != nil {
		return Source{}, fmt.Errorf("data set %s: %w", c.Abbr, err)
	}
	return s, nil
}

// Validate checks what can be checked without the data.
func (c Config) Validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("data set %s: "+format, append([]any{c.Abbr}, args...)...)
	}
	if c.Abbr == "" {
		return errors.New("data set without abbr; give it a short unique name")
	}
	if strings.ContainsAny(c.Abbr, badInFileNames) {
		return bad("abbr names files; it may not contain blanks or any of /\\:*?\"<>|")
	}
	if m := c.Asking(); m != ModeGen && m != ModePPL {
		return bad("mode %q is neither gen nor ppl", m)
	}
	src, err := c.SourceOf()
	if err != nil {
		return err
	}
	if err := src.Validate(); err != nil {
		return bad("%w", err)
	}
	if c.Workload != nil {
		if field := c.rowFields(); field != "" {
			return bad("workload and %s exclude each other: its requests do not come from rows", field)
		}
		if err := c.Workload.validate(); err != nil {
			return bad("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	if c.MaxOutLen < 0 || c.N < 0 || c.K < 0 {
		return bad("max_out_len, n and k may not be negative")
	}
	if c.K > c.Repeats() {
		return bad("k (%d) is larger than n (%d): k of n repeats cannot be drawn", c.K, c.Repeats())
	}
	if _, _, err := parseRange(c.TestRange); err != nil {
		return bad("%w", err)
	}
	if c.ChoiceOrder != "" && !slices.Contains(ChoiceOrders, c.ChoiceOrder) {
		return bad("choice_order %q is none of %s", c.ChoiceOrder, strings.Join(ChoiceOrders, ", "))
	}
	if g := c.Generate; g != nil && (g.Length < 1 || g.Rows < 1 || g.Depths < 0) {
		return bad("generate needs length and rows above 0, got %d and %d", g.Length, g.Rows)
	}
	known := src.SubsetNames()
	check := func(what string, names []string) error {
		for _, n := range names {
			if len(known) > 0 && !slices.Contains(known, n) {
				return bad("%s names the unknown sub-set %q%s", what, n, didYouMean(n, known))
			}
		}
		return nil
	}
	if err := check("subsets", c.Subsets); err != nil {
		return err
	}
	for _, g := range c.Groups {
		if err := check("group "+g.Name, g.Subsets); err != nil {
			return err
		}
	}
	for _, v := range c.Variants {
		if len(v.Subsets) == 0 {
			return bad("a variant names no subsets")
		}
		if err := check("a variant", v.Subsets); err != nil {
			return err
		}
	}
	subsets := c.Subsets
	if len(subsets) == 0 {
		subsets = append([]string{""}, known...)
	}
	asked := false
	for _, s := range subsets {
		v := c.For(s)
		if v.Template.Empty() {
			continue
		}
		asked = true
		if err := v.Template.validate(); err != nil {
			return bad("%w", err)
		}
		if err := v.FewShot.validate(); err != nil {
			return bad("%w", err)
		}
	}
	if !asked && c.Workload == nil {
		return bad("no template")
	}
	return nil
}
