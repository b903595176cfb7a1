package facts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ais_bench/evaluators/stats"
	"ais_bench/registry"
	"ais_bench/summarizers/interval"
)

// aspects are the last words of a comparison.
var aspects = []string{"change", "difference", "value", "baseline"}

// compare is a figure against the baseline's: compare.baseline.X.change is this
// run's over the baseline's, less 1; difference is this run's less the
// baseline's; value and baseline are the two.
func (s *Set) compare(p Path) (*Fact, error) {
	if len(p) < 2 || p[1] != "baseline" {
		return nil, &UnknownError{p.String(), "; write compare.baseline, then a metric, then change or difference"}
	}
	if s.baseline == nil {
		return nil, fmt.Errorf("%s compares with a baseline: name its run with --baseline RUN", p)
	}
	example := "compare.baseline.output_throughput.change"
	if len(p) < 4 {
		return nil, &UnknownError{p.String(), fmt.Sprintf("; write a metric and one of %s, such as %s", strings.Join(aspects, ", "), example)}
	}
	aspect := p[len(p)-1]
	if !slices.Contains(aspects, aspect) {
		return nil, &UnknownError{p.String(), fmt.Sprintf("; it ends with one of %s%s", strings.Join(aspects, ", "), registry.DidYouMean(aspect, aspects))}
	}
	metric := p[2 : len(p)-1]
	if !slices.Contains([]string{successRate, "accuracy", "perf"}, metric[0]) {
		metric = Path{"perf"}.with(metric...)
	}
	if metric[0] == "accuracy" && len(metric) == 2 {
		metric = metric.with("value")
	}
	now, err := s.Lookup(metric)
	if err != nil {
		return nil, err
	}
	before, err := s.baseline.lookupLike(s, metric)
	if err != nil {
		return nil, fmt.Errorf("in the baseline: %w", err)
	}
	f := &Fact{Name: p.String(), Kind: Change, Unit: now.Unit}
	switch aspect {
	case "value":
		c := *now
		c.Name = f.Name
		return &c, nil
	case "baseline":
		c := *before
		c.Name = f.Name
		return &c, nil
	case "change":
		f.Unit = ""
	}
	f.N, f.Known = min(now.N, before.N), now.Known && before.Known
	if s.planned {
		f.Known, f.Reason, f.Method = false, "not measured yet", "mover"
		return f, nil
	}
	if now.Value == nil || before.Value == nil {
		f.Reason = "this run: " + now.Reason
		if before.Value == nil {
			f.Reason = "the baseline: " + before.Reason
		}
		return f, nil
	}
	if !now.Kind.Estimated() {
		f.Kind = Observed
	}
	if metric[0] == "accuracy" && aspect == "difference" {
		s.paired(f, metric)
		if f.Value != nil {
			return f, nil
		}
	}
	return f, s.unpaired(f, now, before, aspect)
}

// unpaired compares two figures by their own intervals.
func (s *Set) unpaired(f, now, before *Fact, aspect string) error {
	var v float64
	if aspect == "difference" {
		v, f.Method = *now.Value-*before.Value, "mover"
	} else {
		if !(*before.Value > 0) {
			f.Reason = fmt.Sprintf("the baseline is %g: there is no change relative to it; compare the difference", *before.Value)
			return nil
		}
		v, f.Method = *now.Value / *before.Value - 1, "mover-log"
	}
	f.Value = &v
	f.at = func(level float64) (interval.Interval, error) {
		a, err := before.Interval(level)
		if err != nil {
			return a, fmt.Errorf("the baseline: %w", err)
		}
		b, err := now.Interval(level)
		if err != nil {
			return b, fmt.Errorf("this run: %w", err)
		}
		f.Notes = append(f.Notes[:0:0], now.Notes...)
		for _, n := range before.Notes {
			f.note("baseline: " + n)
		}
		A, B := interval.Estimate{Value: *before.Value, Interval: a}, interval.Estimate{Value: *now.Value, Interval: b}
		if aspect == "difference" {
			return interval.DifferenceOf(A, B).Interval, nil
		}
		d, ok := interval.ChangeOf(A, B)
		if !ok {
			return d.Interval, errors.New("a figure is not positive: compare the difference")
		}
		return d.Interval, nil
	}
	return nil
}

// lookupLike looks a name up in the baseline, whose model or data set may be
// called otherwise where there is only one.
func (s *Set) lookupLike(current *Set, metric Path) (*Fact, error) {
	f, err := s.Lookup(metric)
	if err == nil || len(metric) < 2 {
		return f, err
	}
	switch metric[0] {
	case "perf":
		pair, rest, e := current.pairOf(metric)
		if e != nil {
			return nil, err
		}
		if len(s.pairs) == 1 {
			return s.Lookup(Path{"perf"}.with(rest...))
		}
		return s.Lookup(Path{"perf", pair.Dataset}.with(rest...))
	case "accuracy":
		if _, row, ok := strings.Cut(metric[1], "/"); ok {
			return s.Lookup(Path{"accuracy", row}.with(metric[2:]...))
		}
	}
	return nil, err
}

// paired is the difference of two accuracies over the questions that both
// answered. It leaves f without a value when there are none or the figure is no mean over answers.
func (s *Set) paired(f *Fact, metric Path) {
	if len(metric) != 3 || metric[2] != "value" && metric[2] != "accuracy" {
		return
	}
	g, h := s.scores[metric[1]], s.baseline.scores[metric[1]]
	if h == nil {
		if _, row, ok := strings.Cut(metric[1], "/"); ok {
			h = s.baseline.scores[row]
		}
	}
	if g == nil || h == nil || len(g.groups) > 0 || len(h.groups) > 0 {
		return
	}
	b, err := g.byQuestion()
	if err != nil {
		return
	}
	a, err := h.byQuestion()
	if err != nil {
		return
	}
	var diffs []float64
	onlyA, onlyB, yesNo := int64(0), int64(0), true
	for _, item := range sortedKeys(b) {
		before, ok := a[item]
		if !ok {
			continue
		}
		now := b[item]
		diffs = append(diffs, now-before)
		yesNo = yesNo && (now == 0 || now == 1) && (before == 0 || before == 1)
		if now > before {
			onlyB++
		} else if now < before {
			onlyA++
		}
	}
	n := len(diffs)
	if n == 0 {
		return
	}
	if n < len(a) || n < len(b) {
		f.note(fmt.Sprintf("over the %d questions that both runs have (%d here, %d in the baseline)", n, len(b), len(a)))
	}
	value := stats.Mean(diffs)
	f.Value, f.N = &value, int64(n)
	f.note(fmt.Sprintf("%d questions better, %d worse", onlyB, onlyA))
	if yesNo {
		f.Method = "paired-score"
		f.at = func(level float64) (interval.Interval, error) {
			d, ok := interval.PairedShares(int64(n), onlyA, onlyB, level)
			if !ok {
				return d.Interval, errors.New("no interval")
			}
			return d.Interval, nil
		}
		return
	}
	f.Method = "paired-bootstrap"
	f.at = func(level float64) (interval.Interval, error) {
		if onlyA+onlyB == 0 { // no spread to draw from: as for yes and no
			d, _ := interval.PairedShares(int64(n), 0, 0, level)
			return d.Interval, nil
		}
		i, ok := interval.Mean(diffs, level, seed)
		if !ok {
			return i, fmt.Errorf("%d questions are too few, at least %d are needed", n, interval.MinBootstrap)
		}
		return i, nil
	}
}

// byQuestion is the mean score of every question.
func (g *graded) byQuestion() (map[string]float64, error) {
	list, err := g.answers()
	if err != nil {
		return nil, err
	}
	sum, n := map[string]float64{}, map[string]int{}
	for _, a := range list {
		if g.all || a.subset == g.subset {
			item := a.subset + "\x00" + a.item
			sum[item] += a.score
			n[item]++
		}
	}
	for k := range sum {
		sum[k] /= float64(n[k])
	}
	return sum, nil
}
