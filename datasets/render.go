package datasets

import (
	"fmt"
	"sort"
	"strconv"
)

// renderer turns the rows of one sub-set into samples.
type renderer struct {
	cfg    Config
	sub    Subset
	tmpl   *compiled
	shots  shots
	extra  map[string]string
	custom bool
}

// renderer prepares template and few-shot examples of one sub-set.
func (l *loader) renderer(cfg Config, sub Subset) (*renderer, error) {
	if cfg.Template.Empty() {
		return nil, fmt.Errorf("data set %s: no template for sub-set %q", cfg.Abbr, sub.Name)
	}
	tmpl, err := cfg.Template.compile()
	if err != nil {
		return nil, fmt.Errorf("data set %s: %w", cfg.Abbr, err)
	}
	r := &renderer{cfg: cfg, sub: sub, tmpl: tmpl, custom: isCustomShape(l.src.Shape),
		extra: map[string]string{"subset": sub.Name, "subset_title": sub.title()}}
	if cfg.FewShot == nil || l.opts.NoFewShot {
		return r, nil
	}
	rows, text, err := l.examples(cfg, sub)
	if err != nil {
		return nil, fmt.Errorf("data set %s: %w", cfg.Abbr, err)
	}
	if text != "" {
		r.shots = shots{text: text + cfg.FewShot.separator()}
		return r, nil
	}
	if r.shots, err = cfg.FewShot.render(tmpl, rows); err != nil {
		return nil, fmt.Errorf("data set %s: %w", cfg.Abbr, err)
	}
	return r, nil
}

// examples are the few-shot rows of a sub-set, or their text where a file of the
// data set holds it ready.
func (l *loader) examples(cfg Config, sub Subset) (rows []map[string]any, text string, err error) {
	fs := cfg.FewShot
	if path := l.find.other(fs.TextFiles, sub); path != "" {
		if err := l.record(path); err != nil {
			return nil, "", err
		}
		err := readRows(l.ctx, opener{}, path, Layout{Format: "text"}, func(row map[string]any, _ string) error {
			text = examplesOf(row["text"].(string))
			return nil
		})
		return nil, text, err
	}
	switch {
	case fs.ExamplesOf != "":
		if rows, err = builtinExamples(fs.ExamplesOf, sub.Name); err != nil {
			return nil, "", err
		}
	case len(fs.Examples) > 0:
		rows = fs.Examples
	case len(fs.IDs) == 0:
		return nil, "", fmt.Errorf("few-shot examples not found: none of %v is among the data", fs.TextFiles)
	}
	if rows != nil {
		shown := make([]map[string]any, len(rows))
		for i, row := range rows {
			shown[i] = literalExample(withExtra(row, sub), cfg.Gold())
		}
		return shown, "", nil
	}
	last := 0
	for _, id := range fs.IDs {
		last = max(last, id)
	}
	byID := map[int]map[string]any{}
	err = l.rows(fs.SourceSplit(), sub, func(it item) error {
		byID[it.index] = withExtra(it.fields, sub)
		if it.index >= last {
			return errEnough
		}
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("few-shot examples: %w", err)
	}
	for _, id := range fs.IDs {
		row, ok := byID[id]
		if !ok {
			return nil, "", fmt.Errorf("few-shot row %d is not in the %s split, which has %d rows", id, fs.SourceSplit(), len(byID))
		}
		rows = append(rows, row)
	}
	return rows, "", nil
}

// literalExample gives the options of a literal row their letters, as finish does
// for the data's own rows; the row states the right letter itself.
func literalExample(row map[string]any, gold string) map[string]any {
	options, _ := texts(row["options"])
	if len(options) == 0 {
		return row
	}
	it := item{fields: row, options: options, gold: textOf(row[gold]), correct: -1}
	if len(it.gold) == 1 {
		it.correct = int(it.gold[0] - 'A')
	}
	it.letterOptions(gold)
	return it.fields
}

func withExtra(row map[string]any, sub Subset) map[string]any {
	out := make(map[string]any, len(row)+2)
	for k, v := range row {
		out[k] = v
	}
	out["subset"], out["subset_title"] = sub.Name, sub.title()
	return out
}

// sample renders one row.
func (r *renderer) sample(it item) (Sample, error) {
	s := Sample{
		ID:       strconv.Itoa(it.index),
		Subset:   r.sub.Name,
		Gold:     it.gold,
		Golds:    it.golds,
		Fields:   it.fields,
		ArriveNS: -1,
	}
	if r.sub.Name != "" {
		s.ID = r.sub.Name + "/" + s.ID
	}
	s.MaxTokens = r.cfg.MaxOutLen
	v := view{row: it.fields, extra: r.extra, mask: r.cfg.Gold()}
	if r.cfg.Asking() == ModePPL {
		return r.candidates(s, it, v)
	}
	var err error
	if s.Prompt, err = r.tmpl.question(v, r.shots); err != nil {
		return s, err
	}
	if r.custom {
		err = customParams(&s)
	}
	return s, err
}

// candidates renders one whole prompt per label.
func (r *renderer) candidates(s Sample, it item, v view) (Sample, error) {
	choices := r.cfg.Choices
	if len(choices) == 0 {
		if len(it.options) == 0 {
			return s, fmt.Errorf("ppl mode needs options in the row or choices in the configuration")
		}
		for i, text := range it.options {
			choices = append(choices, Choice{Label: letter(i), Text: text})
		}
	}
	for _, c := range choices {
		w := view{row: v.row, extra: map[string]string{"label": c.Label, "choice": c.Text}}
		for k, x := range v.extra {
			w.extra[k] = x
		}
		p, err := r.tmpl.question(w, r.shots)
		if err != nil {
			return s, err
		}
		s.Choices = append(s.Choices, p)
		s.Labels = append(s.Labels, c.Label)
	}
	// Prompt stands for the question in details; the first candidate is what it
	// looks like.
	s.Prompt = s.Choices[0]
	return s, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
