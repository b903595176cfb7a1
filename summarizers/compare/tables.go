package compare

import (
	"fmt"
	"math"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/interval"
)

var severityMark = map[Severity]outputs.Mark{Invalid: outputs.MarkBad, Caution: outputs.MarkWarn}

var verdictMark = map[Verdict]outputs.Mark{Better: outputs.MarkGood, Within: outputs.MarkGood, Worse: outputs.MarkBad, Inconclusive: outputs.MarkWarn}

func severityCell(s Severity) any {
	if s == "" {
		return nil
	}
	return outputs.Cell{Value: string(s), Mark: severityMark[s]}
}

func verdictCell(v Verdict) outputs.Cell { return outputs.Cell{Value: string(v), Mark: verdictMark[v]} }

// RunsTable says what is compared.
func (r *Result) RunsTable() outputs.Table {
	t := outputs.Table{ID: "compare_runs", Title: "Compared", Columns: []outputs.Column{{Name: "side"}, {Name: "run"}, {Name: "started"}, {Name: "by"}}}
	for i, s := range r.Sides {
		name := s.Name
		if i == 0 {
			name += " (base)"
		}
		for _, in := range s.Inputs {
			by := in.Tool
			if in.Kind != "run" {
				by = "a saved result, " + in.Kind
			}
			started := in.StartedAt
			if len(started) > 19 && in.Kind == "run" {
				started = started[:19]
			}
			t.AddRow(name, in.Name, started, by)
		}
	}
	return t
}

// of names a comparison in titles.
func (c *Comparison) of() string {
	what := c.OtherPair.Model
	switch {
	case what == "":
		what = c.OtherPair.Dataset
	case c.OtherPair.Dataset != "":
		what += " on " + c.OtherPair.Dataset
	}
	if b, o := c.BasePair, c.OtherPair; b.Model != o.Model && b.Model != "" && o.Model != "" || b.Dataset != o.Dataset && b.Dataset != "" && o.Dataset != "" {
		what += " against " + b.Model + " on " + b.Dataset
	}
	if c.Point != "" {
		what += ", " + c.Point
	}
	return fmt.Sprintf("%s against %s: %s", c.Other, c.Base, what)
}

// DifferencesTable lists the conditions that are not the same.
func (c *Comparison) DifferencesTable() outputs.Table {
	t := outputs.Table{ID: "compare_conditions", Title: "Conditions that differ, " + c.of(), Columns: []outputs.Column{{Name: "condition"}, {Name: "base"}, {Name: "other"},
		{Name: "performance"}, {Name: "accuracy"}, {Name: "why it matters", Whole: true}}}
	for _, d := range c.Differences {
		row := []any{d.Subject, d.Base, d.Other, nil, nil, d.Why}
		if c.Performance != nil {
			row[3] = severityCell(d.Performance)
		}
		if c.Accuracy != nil {
			row[4] = severityCell(d.Accuracy)
		}
		t.AddRow(row...)
	}
	return t
}

// ChangesTable shows the change of every figure.
func (c *Comparison) ChangesTable(o *Result) outputs.Table {
	number := func(name string) outputs.Column {
		return outputs.Column{Name: name, Kind: outputs.KindFloat, Format: "%.3f"}
	}
	t := outputs.Table{ID: "compare_performance", Title: "Change of performance, " + c.of(), Columns: []outputs.Column{{Name: "figure"}, {Name: "unit"}, number("base"), number("other"),
		{Name: "change"}, {Name: "95 % interval"}, {Name: "verdict"}, {Name: "n", Kind: outputs.KindInt}}}
	p := c.Performance
	if p == nil {
		return t
	}
	byTolerance := false
	var bare []Change // without an interval, of run folders
	for _, ch := range p.Changes {
		value := func(v *float64) any {
			if v != nil && ch.Absolute {
				return outputs.Cell{Value: 100 * *v, Unit: "%", Format: "%.2f"}
			}
			return v
		}
		verdict := verdictCell(ch.Verdict)
		switch {
		case ch.Change == nil || ch.Interval != nil:
		case ch.ByTolerance:
			verdict.Note, byTolerance = "†", true
		default:
			bare = append(bare, ch)
		}
		t.AddRow(ch.Title, ch.Unit, value(ch.Base), value(ch.Other), changeText(ch.Change, ch.Absolute), intervalText(ch.Interval, ch.Absolute), verdict, min(ch.N[0], ch.N[1]))
	}
	if !p.Comparable {
		t.Notes = append(t.Notes, "NOT COMPARABLE, shown because of --force: "+strings.Join(p.Reasons, "; "))
	}
	if len(p.Changes) == 0 {
		return t
	}
	t.Notes = append(t.Notes,
		fmt.Sprintf("tolerance %g %% (shares: %s); higher is better for rates and shares, lower for latencies", 100*o.Tolerance, points(o.ShareTolerance)),
		fmt.Sprintf("%d figures are compared, so some would differ by chance: better and worse need an interval of %.2f %% to leave out 0", p.Figures, 100*(1-(1-o.Level)/float64(max(p.Figures, 1)))))
	for _, ch := range p.Changes {
		if ch.Interval != nil && ch.Interval.Method == "paired-blocks" {
			t.Notes = append(t.Notes, "both runs asked the same questions: latencies are compared request by request, in blocks of time")
			break
		}
	}
	if p.Changes[0].Runs == [2]int{1, 1} && !byTolerance && len(bare) < len(p.Changes) {
		t.Notes = append(t.Notes, "one run a side: intervals are of the requests within the runs and do not know how much whole runs scatter; repeat runs to learn that")
	}
	if len(bare) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d figures have no interval and are inconclusive, such as %s (%s)", len(bare), bare[0].Title, bare[0].Reason))
	}
	if byTolerance {
		t.Notes = append(t.Notes, noteByTolerance)
	}
	return t
}

// noteByTolerance explains the †.
const noteByTolerance = "† saved results without single values, so no interval: judged by the tolerance alone, whatever chance does"

func changeText(v *float64, absolute bool) any {
	switch {
	case v == nil:
		return nil
	case absolute:
		return signed(100**v) + " points"
	}
	return signed(100**v) + " %"
}

// signed is a change with its sign, and none where it rounds to nothing.
func signed(v float64) string {
	s := fmt.Sprintf("%+.2f", v)
	if strings.Trim(s, "+-0.") == "" {
		return "0.00"
	}
	return s
}

func intervalText(i *interval.Interval, absolute bool) any {
	if i == nil {
		return nil
	}
	end := func(v float64) string {
		switch {
		case math.IsInf(v, 1):
			return "∞"
		case math.IsInf(v, -1), !absolute && v <= -1:
			return "-∞"
		}
		return signed(100 * v)
	}
	return end(i.Lo) + " to " + end(i.Hi)
}

// AccuracyTable shows the change of every score.
func (c *Comparison) AccuracyTable() outputs.Table {
	count := func(name string) outputs.Column { return outputs.Column{Name: name, Kind: outputs.KindInt} }
	t := outputs.Table{ID: "compare_accuracy", Title: "Change of accuracy, " + c.of(), Columns: []outputs.Column{{Name: "data set"}, count("questions"), count("left out"),
		{Name: "base", Unit: "%", Kind: outputs.KindPercent}, {Name: "other", Unit: "%", Kind: outputs.KindPercent}, {Name: "difference"}, {Name: "95 % interval"},
		count("right → wrong"), count("wrong → right"), {Name: "McNemar p", Kind: outputs.KindFloat, Format: "%.4f"}, {Name: "verdict"}}}
	a := c.Accuracy
	if a == nil {
		return t
	}
	for _, ch := range a.Changes {
		name := ch.Dataset
		if ch.Subset != "" {
			name = "  " + ch.Subset
		}
		if ch.N == 0 {
			t.AddRow(name, 0, ch.LeftOut, nil, nil, nil, nil, nil, nil, nil, verdictCell(ch.Verdict))
			continue
		}
		d := ch.Change
		t.AddRow(name, ch.N, ch.LeftOut, ch.Base, ch.Other, changeText(&d, true), intervalText(ch.Interval, true), ch.BaseOnly, ch.OtherOnly, ch.McNemar, verdictCell(ch.Verdict))
	}
	if !a.Comparable {
		t.Notes = append(t.Notes, "NOT COMPARABLE, shown because of --force: "+strings.Join(a.Reasons, "; "))
	}
	for _, to := range []string{"wrong", "right", "lower", "higher"} {
		if ids := flipped(a.Flips, to, 10); ids != "" {
			t.Notes = append(t.Notes, "now "+to+": "+ids)
		}
	}
	if len(a.Changes) > 0 {
		t.Notes = append(t.Notes, "only questions that both were asked alike and answered are compared; left out are the others")
	}
	return t
}

// FlipsTable lists every question whose answer turned.
func (c *Comparison) FlipsTable() outputs.Table {
	t := outputs.Table{ID: "compare_flips", Title: "Answers that turned, " + c.of(), Columns: []outputs.Column{{Name: "question"}, {Name: "sub-set"}, {Name: "now"}, {Name: "gold"},
		{Name: "base answer"}, {Name: "other answer"}, {Name: "base score", Kind: outputs.KindFloat}, {Name: "other score", Kind: outputs.KindFloat}}}
	if c.Accuracy == nil {
		return t
	}
	for _, f := range c.Accuracy.Flips {
		now := outputs.Cell{Value: f.To}
		switch f.To {
		case "right", "higher":
			now.Mark = outputs.MarkGood
		default:
			now.Mark = outputs.MarkBad
		}
		t.AddRow(f.ID, f.Subset, now, f.Gold, f.BaseAnswer, f.OtherAnswer, f.BaseScore, f.OtherScore)
	}
	return t
}

// Table shows the rule of repeatability.
func (r *Repeatability) Table() outputs.Table {
	t := outputs.Table{ID: "compare_repeatability", Title: fmt.Sprintf("Repeatability of %d runs of one configuration", len(r.Runs)), Columns: []outputs.Column{{Name: "figure"}, {Name: "unit"},
		{Name: "lowest", Kind: outputs.KindFloat, Format: "%.3f"}, {Name: "highest", Kind: outputs.KindFloat, Format: "%.3f"}, {Name: "apart"}, {Name: "at most"}, {Name: "result", Kind: outputs.KindVerdict}}}
	several := false
	for _, s := range r.Spreads {
		several = several || s.Pair != r.Spreads[0].Pair
	}
	for _, s := range r.Spreads {
		share := s.Unit == "" // a share is shown in per cent
		scale := 1.0
		if share {
			scale = 100
		}
		low, high := s.Values[0], s.Values[0]
		for _, v := range s.Values {
			low, high = min(low, v), max(high, v)
		}
		result := outputs.Cell{Value: "PASS", Mark: outputs.MarkGood}
		switch {
		case !s.Judged:
			result = outputs.Cell{Value: "not judged", Mark: outputs.MarkWarn}
		case !s.Pass:
			result = outputs.Cell{Value: "FAIL", Mark: outputs.MarkBad}
		}
		name := s.Title
		if several {
			name += ", " + s.Pair
		}
		apart, limit := fmt.Sprintf("%.2f %%", 100*s.Spread), fmt.Sprintf("%g %%", 100*s.Limit)
		unit := s.Unit
		if share {
			apart, limit, unit = fmt.Sprintf("%.2f points", 100*s.Spread), points(s.Limit), "%"
		}
		t.AddRow(name, unit, scale*low, scale*high, apart, limit, result)
	}
	t.Notes = append(t.Notes, "every run within the tolerance of every other: (highest − lowest) / lowest; of shares highest − lowest")
	for _, s := range r.Spreads {
		if !s.Judged {
			t.Notes = append(t.Notes, "not judged: figures of too few requests ("+s.Title+": "+s.Reason+")")
			break
		}
	}
	return t
}

func unjudged(list []Spread) (n int) {
	for _, s := range list {
		if !s.Judged {
			n++
		}
	}
	return n
}

// Verdicts are the result in lines, the most important first.
func (r *Result) Verdicts() []string {
	var out []string
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if p := c.Performance; p != nil {
			out = append(out, "performance, "+c.of()+": "+p.verdict())
		}
		if a := c.Accuracy; a != nil {
			out = append(out, "accuracy, "+c.of()+": "+a.verdict())
		}
	}
	if p := r.Repeatability; p != nil && p.Applies && p.Pass != nil {
		word := "PASS"
		if !*p.Pass {
			word = "FAIL"
		}
		var failed []string
		for _, s := range p.Spreads {
			if s.Judged && !s.Pass {
				failed = append(failed, fmt.Sprintf("%s %.1f %% apart", s.Title, 100*s.Spread))
			}
		}
		line := fmt.Sprintf("repeatability within %g %% over %d runs: %s", 100*p.Tolerance, len(p.Runs), word)
		if len(failed) > 0 {
			line += " (" + strings.Join(failed, ", ") + ")"
		}
		if open := unjudged(p.Spreads); open > 0 {
			line += fmt.Sprintf("; %d of %d figures not judged: too few requests", open, len(p.Spreads))
		}
		out = append(out, line)
	}
	return out
}

func (p *Performance) verdict() string {
	if !p.Comparable && len(p.Changes) == 0 {
		return "NOT COMPARABLE: " + strings.Join(p.Reasons, "; ")
	}
	by := map[Verdict][]string{}
	var beyond []string
	daggers := false
	for _, c := range p.Changes {
		text := c.Title
		if c.Change != nil {
			text += fmt.Sprintf(" %v", changeText(c.Change, c.Absolute))
		}
		if c.ByTolerance && c.Change != nil {
			text += " †"
			daggers = true
		}
		by[c.Verdict] = append(by[c.Verdict], text)
		if c.Verdict == Inconclusive && c.beyond {
			beyond = append(beyond, text)
		}
	}
	line := ""
	switch {
	case len(by[Worse]) > 0:
		line = "REGRESSION: " + strings.Join(by[Worse], ", ")
		if len(by[Better]) > 0 {
			line += "; better: " + strings.Join(by[Better], ", ")
		}
	case len(by[Better]) > 0:
		line = "better: " + strings.Join(by[Better], ", ")
	case len(by[Inconclusive]) > 0 && len(by[Within]) == 0:
		line = "inconclusive: no figure is known well enough"
	case len(by[Inconclusive]) > 0:
		line = fmt.Sprintf("no regression seen: %s within tolerance, %d inconclusive", outputs.Counted(len(by[Within]), "figure"), len(by[Inconclusive]))
		if len(beyond) > 0 {
			line += " (beyond the tolerance, but not beyond chance: " + strings.Join(beyond, ", ") + ")"
		}
	default:
		line = fmt.Sprintf("within tolerance (%s)", outputs.Counted(len(by[Within]), "figure"))
	}
	if daggers {
		line = strings.Replace(line, "REGRESSION:", "REGRESSION †:", 1)
		line = strings.Replace(line, "better:", "better †:", 1)
		line += "; † by the tolerance alone, without an interval"
	}
	switch {
	case !p.Comparable:
		line = "NOT COMPARABLE (" + strings.Join(p.Reasons, "; ") + "); forced: " + line
	case len(p.Cautions) > 0:
		line += fmt.Sprintf("; with caution: %s", strings.Join(p.Cautions, "; "))
	}
	return line
}

func (a *Accuracy) verdict() string {
	if len(a.Changes) == 0 {
		return "NOT COMPARABLE: " + strings.Join(a.Reasons, "; ")
	}
	c := a.Changes[len(a.Changes)-1] // the whole
	line := ""
	switch {
	case c.N == 0:
		line = "nothing to compare: " + c.Reason
	default:
		line = fmt.Sprintf("%s: %s points over %d questions, %d turned wrong, %d turned right", c.Verdict, signed(100*c.Change), c.N, c.BaseOnly, c.OtherOnly)
		if c.McNemar != nil {
			line += fmt.Sprintf(" (McNemar p %.3g)", *c.McNemar)
		}
		if c.Verdict == Worse {
			line = "REGRESSION, " + line
		}
	}
	var subsets []string
	for _, s := range a.Changes[:len(a.Changes)-1] {
		if s.Verdict == Worse {
			subsets = append(subsets, fmt.Sprintf("%s %s points", s.Subset, signed(100*s.Change)))
		}
	}
	if len(subsets) > 0 {
		line += "; worse by themselves: " + strings.Join(subsets, ", ")
	}
	switch {
	case !a.Comparable:
		line = "NOT COMPARABLE (" + strings.Join(a.Reasons, "; ") + "); forced: " + line
	case len(a.Cautions) > 0:
		line += "; with caution: " + strings.Join(a.Cautions, "; ")
	}
	return line
}

// Comparable reports whether everything that was measured on both sides may be
// compared.
func (r *Result) Comparable() bool {
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.Performance != nil && !c.Performance.Comparable || c.Accuracy != nil && !c.Accuracy.Comparable {
			return false
		}
	}
	return true
}

// Regression reports whether a figure or a whole data set's accuracy is worse.
func (r *Result) Regression() bool {
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.Performance != nil {
			for _, ch := range c.Performance.Changes {
				if ch.Verdict == Worse {
					return true
				}
			}
		}
		if c.Accuracy != nil {
			if n := len(c.Accuracy.Changes); n > 0 && c.Accuracy.Changes[n-1].Verdict == Worse {
				return true
			}
		}
	}
	return false
}

// Repeats is false where runs of one configuration lie further apart than the
// tolerance allows.
func (r *Result) Repeats() bool {
	return r.Repeatability == nil || r.Repeatability.Pass == nil || *r.Repeatability.Pass
}

// ChecklistTable sets the reproducibility checklists of all run folders side by
// side.
func (r *Result) ChecklistTable() outputs.Table {
	t := outputs.Table{ID: "compare_checklists", Title: "Reproducibility checklist", Columns: []outputs.Column{{Name: "item"}}}
	var lists [][]outputs.CheckItem
	for _, s := range r.Sides {
		for _, in := range s.Inputs {
			if len(in.Checklist) > 0 {
				t.Columns = append(t.Columns, outputs.Column{Name: in.Name, Kind: outputs.KindVerdict})
				lists = append(lists, in.Checklist)
			}
		}
	}
	if len(lists) == 0 {
		return t
	}
	for i, it := range lists[0] {
		row := []any{it.Item}
		for _, l := range lists {
			row = append(row, l[i].State)
		}
		t.AddRow(row...)
	}
	t.Notes = append(t.Notes, "the evidence of each item stands in each run's own report and manifest.json; a saved result has no checklist")
	return t
}
