package datasets

import (
	"errors"
	"fmt"
)

// FewShot says which worked examples precede the question.
type FewShot struct {
	Split string `yaml:"split,omitempty"` // split the rows come from; "" = train
	IDs   []int  `yaml:"ids,omitempty"`   // row numbers in that split, of the same sub-set
	// Examples are literal rows by column. ExamplesOf names a built-in list of
	// them; {subset} in it stands for the sub-set.
	Examples   []map[string]any `yaml:"examples,omitempty"`
	ExamplesOf string           `yaml:"examples_of,omitempty"`
	// TextFiles are files of the data set holding all examples as one text
	// ({subset} allowed); where one exists it is preferred over the rest.
	TextFiles []string `yaml:"text_files,omitempty"`
	Template  Template `yaml:"template,omitempty"`  // of one example; empty = the question's template with the gold shown
	Separator *string  `yaml:"separator,omitempty"` // between string examples and before the question; nil = "\n"
}

// SourceSplit is the split the rows come from.
func (f *FewShot) SourceSplit() string {
	if f.Split == "" {
		return "train"
	}
	return f.Split
}

func (f *FewShot) separator() string {
	if f.Separator == nil {
		return "\n"
	}
	return *f.Separator
}

func (f *FewShot) validate() error {
	if f == nil {
		return nil
	}
	given := 0
	for _, set := range []bool{len(f.IDs) > 0, len(f.Examples) > 0, f.ExamplesOf != ""} {
		if set {
			given++
		}
	}
	if given > 1 {
		return errors.New("few_shot: ids, examples and examples_of exclude each other")
	}
	if given == 0 && len(f.TextFiles) == 0 {
		return errors.New("few_shot names no examples: set ids, examples, examples_of or text_files")
	}
	for _, id := range f.IDs {
		if id < 0 {
			return fmt.Errorf("few_shot: row number %d is negative", id)
		}
	}
	return f.Template.validate()
}

// render renders the examples rows; gold columns are shown.
func (f *FewShot) render(question *compiled, rows []map[string]any) (shots, error) {
	c := question.shotPart()
	if !f.Template.Empty() {
		var err error
		if c, err = f.Template.compile(); err != nil {
			return shots{}, err
		}
	}
	var all shots
	// A string as the examples' template makes one text of them, also before a
	// chat question: they stand in the user's message then.
	for i, row := range rows {
		s, err := c.example(view{row: row})
		if err != nil {
			return shots{}, fmt.Errorf("few-shot example %d: %w", i+1, err)
		}
		if c.chat {
			all.turns = append(all.turns, s.turns...)
			continue
		}
		all.text += s.text + f.separator()
	}
	return all, nil
}
