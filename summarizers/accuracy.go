package summarizers

import (
	"fmt"
	"slices"

	"ais_bench/evaluators"
	"ais_bench/outputs"
)

// AccuracyTable has one row a data set, sub-set or group, and one column a
// model, in AISBench's columns (dataset, version, metric, mode). The counts of
// the five outcomes stand in OutcomeTable.
func AccuracyTable(results []evaluators.Result) outputs.Table {
	t := outputs.Table{ID: "accuracy", Title: "Accuracy",
		Columns: []outputs.Column{{Name: "dataset"}, {Name: "version"}, {Name: "metric"}, {Name: "mode"}, {Name: "n", Kind: outputs.KindInt}}}
	var models []string
	for _, r := range results {
		if !slices.Contains(models, r.Model) {
			models = append(models, r.Model)
		}
	}
	for _, m := range models {
		t.Columns = append(t.Columns, outputs.Column{Name: m, Unit: "%", Kind: outputs.KindPercent},
			outputs.Column{Name: "95 % CI"})
	}
	type key struct{ dataset, version, metric, mode string }
	rows := map[key][]any{}
	var order []key
	put := func(k key, model string, n, notAsked int, value *float64, ci string) {
		row, ok := rows[k]
		if !ok {
			row = make([]any, len(t.Columns))
			row[0], row[1], row[2], row[3] = k.dataset, k.version, k.metric, k.mode
			order = append(order, k)
		}
		if row[4] == nil {
			row[4] = n
		} else if before, ok := row[4].(int); ok && before != n {
			row[4] = outputs.Cell{Value: min(before, n), Mark: outputs.MarkWarn, Note: "at least"}
		}
		i := 5 + 2*slices.Index(models, model)
		row[i] = value
		if notAsked > 0 {
			row[i] = outputs.Cell{Value: value, Mark: outputs.MarkWarn, Note: "incomplete"}
		}
		row[i+1] = ci
		rows[k] = row
	}
	for _, r := range results {
		if n := r.Overall.NotAsked; n > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("incomplete: of the questions of %s %d were not put to %s; n, score and interval are of the others", r.Dataset, n, r.Model))
		}
		add := func(name string, s evaluators.Summary) {
			put(key{name, r.Version, r.Metric, r.Mode}, r.Model, s.N, s.NotAsked, s.Accuracy, interval(s))
			for _, part := range sortedNames(s.Parts) {
				v := s.Parts[part]
				put(key{name, r.Version, part, r.Mode}, r.Model, s.N, s.NotAsked, &v, "")
			}
			for _, metric := range sortedNames(s.Metrics) {
				v := s.Metrics[metric]
				put(key{name, r.Version, metric, r.Mode}, r.Model, s.N, s.NotAsked, &v, "")
			}
			repeated(s, func(metric string, v float64) {
				put(key{name, r.Version, metric, r.Mode}, r.Model, s.N, s.NotAsked, &v, "")
			})
		}
		for _, s := range r.Subsets {
			add(s.Name, s.Summary)
		}
		add(r.Dataset, r.Overall)
		for _, g := range r.Groups {
			v := g.Value
			put(key{g.Name, r.Version, g.Metric, r.Mode}, r.Model, g.N, r.Overall.NotAsked, &v, "")
		}
	}
	for _, k := range order {
		t.AddRow(rows[k]...)
	}
	return t
}

// repeated names the multi-sample metrics as OpenCompass does.
func repeated(s evaluators.Summary, put func(string, float64)) {
	m := s.Repeats
	if m == nil {
		return
	}
	put(fmt.Sprintf("avg@%d", m.N), m.AvgAtN)
	for _, k := range sortedNames(m.PassAt) {
		put(fmt.Sprintf("pass@%d", k), m.PassAt[k])
	}
	for _, k := range sortedNames(m.PassHat) {
		put(fmt.Sprintf("pass^%d", k), m.PassHat[k])
	}
	for _, k := range sortedNames(m.ConsAt) {
		put(fmt.Sprintf("cons@%d", k), m.ConsAt[k])
	}
	for _, k := range sortedNames(m.OCConsAt) {
		put(fmt.Sprintf("oc/cons@%d", k), m.OCConsAt[k])
	}
	for _, k := range sortedNames(m.GPassAt) {
		put("G-Pass@"+k, m.GPassAt[k])
	}
	for _, k := range sortedNames(m.MGPassAt) {
		put(fmt.Sprintf("mG-Pass@%d", k), m.MGPassAt[k])
	}
}

func interval(s evaluators.Summary) string {
	if s.CI == nil {
		return ""
	}
	return fmt.Sprintf("%.2f to %.2f", 100*s.CI.Low, 100*s.CI.High)
}

// OutcomeTable counts the five outcomes: a failed request is not a wrong answer.
func OutcomeTable(results []evaluators.Result) outputs.Table {
	t := outputs.Table{ID: "outcomes", Title: "Answers by outcome",
		Columns: []outputs.Column{{Name: "model"}, {Name: "dataset"}, {Name: "scorer"}, {Name: "n", Kind: outputs.KindInt}, {Name: "right", Kind: outputs.KindInt},
			{Name: "wrong", Kind: outputs.KindInt}, {Name: "unparsable", Kind: outputs.KindInt}, {Name: "empty", Kind: outputs.KindInt}, {Name: "failed", Kind: outputs.KindInt},
			{Name: "of all", Unit: "%", Kind: outputs.KindPercent}, {Name: "of answered", Unit: "%", Kind: outputs.KindPercent}}}
	for _, r := range results {
		s := r.Overall
		mark := func(n int) any {
			if n > 0 {
				return outputs.Cell{Value: n, Mark: outputs.MarkWarn}
			}
			return n
		}
		var n any = s.N
		if s.NotAsked > 0 {
			n = outputs.Cell{Value: s.N, Mark: outputs.MarkWarn, Note: fmt.Sprintf("of %d", s.N+s.NotAsked)}
		}
		t.AddRow(r.Model, r.Dataset, r.Scorer+" "+r.ScorerVersion, n, s.Right, s.Wrong, mark(s.Unparsable), mark(s.Empty), mark(s.Failed), s.Accuracy, s.AccuracyAnswered)
	}
	return t
}

// ReferenceTable sets published scores beside the measured ones; no rows when
// the data sets have none. They are of other settings than this run's: a
// reference is a sanity check, not a bar.
func ReferenceTable(results []evaluators.Result) outputs.Table {
	t := outputs.Table{ID: "references", Title: "Published scores",
		Columns: []outputs.Column{{Name: "dataset"}, {Name: "model"}, {Name: "metric"}, {Name: "published", Unit: "%", Kind: outputs.KindFloat, Format: "%.2f"}, {Name: "source"}}}
	seen := map[string]bool{}
	for _, r := range results {
		if seen[r.Dataset] {
			continue
		}
		seen[r.Dataset] = true
		for _, ref := range r.References {
			t.AddRow(r.Dataset, ref.Model, ref.Metric, ref.Score, ref.Source)
		}
	}
	return t
}
