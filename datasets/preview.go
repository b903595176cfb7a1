package datasets

import (
	"context"
	"fmt"
	"strings"
)

// Preview is what one question looks like. It is the first row of the data when
// they are at hand (real), else the template with <column> in place of values.
func (c Config) Preview(ctx context.Context, opts LoadOptions) (s Sample, real bool, err error) {
	if c.Workload != nil {
		return Sample{}, false, c.errNoRows()
	}
	src, err := c.SourceOf()
	if err != nil {
		return Sample{}, false, err
	}
	subset := ""
	if names := src.SubsetNames(); len(names) > 0 {
		subset = names[0]
		if len(c.Subsets) > 0 {
			subset = c.Subsets[0]
		}
		opts.Subsets = []string{subset}
	}
	opts.NumPrompts = 1
	set, err := c.Load(ctx, opts)
	if err == nil {
		return set.Samples[0], true, nil
	}
	if opts.Path != "" { // the data were named: a template instead of them would hide that they cannot be read
		return Sample{}, false, err
	}
	v := c.For(subset)
	tmpl, err := v.Template.compile()
	if err != nil {
		return Sample{}, false, err
	}
	sub := src.subset(subset)
	var r *renderer
	if f := v.FewShot; f != nil && len(f.IDs) == 0 && (f.ExamplesOf != "" || len(f.Examples) > 0) {
		// These examples are at hand whether the data are or not.
		l := &loader{ctx: ctx, cfg: v, src: src, find: &finder{source: src}}
		if r, err = l.renderer(v, sub); err != nil {
			return Sample{}, false, err
		}
	} else {
		r = &renderer{cfg: v, sub: sub, tmpl: tmpl, extra: map[string]string{"subset": sub.Name, "subset_title": sub.title()}}
		if mark := fewShotMark(f); mark != "" && tmpl.chat {
			r.shots.turns = []Turn{{Role: "user", Text: mark}}
		} else if mark != "" {
			r.shots.text = mark + "\n"
		}
	}
	row := map[string]any{}
	for _, column := range tmpl.columns() {
		row[column] = "<" + column + ">"
	}
	it := item{fields: row, correct: -1}
	if v.Asking() == ModePPL && len(v.Choices) == 0 {
		it.options = []string{"<option A>", "<option B>"}
	}
	s, err = r.sample(it)
	return s, false, err
}

// fewShotMark stands for examples that are among the data.
func fewShotMark(f *FewShot) string {
	switch {
	case f == nil:
		return ""
	case len(f.IDs) > 0:
		return fmt.Sprintf("<%d worked examples: rows %s of the %s split>", len(f.IDs), strings.Trim(fmt.Sprint(f.IDs), "[]"), f.SourceSplit())
	}
	return "<worked examples of " + strings.Join(f.TextFiles, " or ") + ">"
}

// columns are the names a compiled template refers to.
func (c *compiled) columns() []string {
	var names []string
	add := func(pieces []piece) {
		for _, p := range pieces {
			if p.column != "" {
				names = append(names, p.column)
			}
		}
	}
	add(c.beforePieces)
	add(c.afterPieces)
	for _, r := range append(append([]compiledRound(nil), c.before...), c.after...) {
		add(r.pieces)
	}
	return names
}

// String is the prompt as a human reads it: the text, or the turns under their
// roles.
func (p Prompt) String() string {
	if p.Turns == nil {
		return p.Text
	}
	var b strings.Builder
	for i, t := range p.Turns {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "[%s]\n%s", t.Role, t.Text)
	}
	return b.String()
}
