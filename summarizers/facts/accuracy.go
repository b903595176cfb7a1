package facts

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"ais_bench/evaluators"
	"ais_bench/evaluators/stats"
	"ais_bench/outputs"
	"ais_bench/registry"
	"ais_bench/summarizers/interval"
)

// graded are the accuracy figures of one row of the accuracy table (a data set, a
// sub-set or a group) over all runs.
type graded struct {
	prefix  Path // accuracy["gsm8k"]
	all     bool // the whole data set
	subset  string
	sums    []*evaluators.Summary // one a run; nil for a group
	groups  []*evaluators.GroupResult
	answers func() ([]answer, error) // of all runs, all sub-sets
	planned *int64                   // answers that are planned; nil after a run
}

// answer is one scored answer.
type answer struct {
	subset, item string
	right        bool
	failed       bool // the request failed, or there was no answer
	empty        bool
	found        bool // an answer was extracted
	score        float64
	parts        map[string]float64
}

// The figures of a row.
var rowFigures = []string{"value", "accuracy", "accuracy_answered", "extract_rate", "n", "right", "wrong", "unparsable", "empty", "failed", "not_asked", "items"}

func (g *graded) names() []string {
	out := []string{"value", "n"}
	if len(g.groups) > 0 {
		return out
	}
	out = slices.Clone(rowFigures)
	for _, s := range g.sums {
		for k := range s.Parts {
			out = append(out, k)
		}
		for k := range s.Metrics {
			out = append(out, k)
		}
		if s.Repeats != nil {
			for k := range s.Repeats.PassAt {
				out = append(out, "pass@"+strconv.Itoa(k))
			}
			for k := range s.Repeats.PassHat {
				out = append(out, "pass^"+strconv.Itoa(k))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (g *graded) fact(rest Path) (*Fact, error) {
	full := g.prefix.with(rest...)
	f := &Fact{Name: full.String()}
	if len(rest) != 1 {
		return nil, &UnknownError{full.String(), ": name one figure of it, such as " + g.prefix.with("value").String()}
	}
	key := rest[0]
	if len(g.groups) > 0 && key != "value" && key != "n" {
		return nil, &UnknownError{full.String(), "; a group of sub-sets has value and n"}
	}
	switch key {
	case "value", "accuracy":
		f.Kind, f.Method = Share, "wilson"
	case "accuracy_answered", "extract_rate":
		f.Kind, f.Method = Share, "wilson"
	case "n", "right", "wrong", "unparsable", "empty", "failed", "not_asked", "items":
		f.Kind = Observed
	default:
		return g.other(f, key)
	}
	if g.planned != nil {
		f.Reason, f.N, f.Known = "not scored yet", *g.planned, *g.planned > 0
		if key != "n" && f.Kind == Observed {
			f.Known = false
		}
		return f, nil
	}
	if len(g.groups) > 0 {
		g.group(f, key)
		return f, nil
	}
	if f.Kind == Observed {
		g.count(f, key)
		return f, nil
	}
	switch key {
	case "accuracy_answered":
		g.mean(f, func(a answer) (float64, bool) { return a.score, !a.failed && !a.empty })
	case "extract_rate":
		g.mean(f, func(a answer) (float64, bool) { return boolean(a.found), true })
	default:
		g.value(f)
	}
	return f, nil
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// count is the sum of a count over the runs.
func (g *graded) count(f *Fact, key string) {
	total := 0
	for _, s := range g.sums {
		total += map[string]int{"n": s.N, "right": s.Right, "wrong": s.Wrong, "unparsable": s.Unparsable, "empty": s.Empty, "failed": s.Failed,
			"not_asked": s.NotAsked, "items": s.Items}[key]
		f.N += int64(s.N)
	}
	f.Known = true
	if f.N == 0 {
		f.Reason = "no answer was scored"
		return
	}
	v := float64(total)
	f.Value = &v
}

// value is the accuracy: of one run from its summary, of several from all answers
// with the repeats of a question kept together.
func (g *graded) value(f *Fact) {
	if len(g.sums) > 1 {
		g.mean(f, func(a answer) (float64, bool) { return a.score, true })
		return
	}
	s := g.sums[0]
	f.N, f.Known, f.Value = int64(s.N), true, s.Accuracy
	if s.Accuracy == nil {
		f.Reason = "no answer was scored"
		return
	}
	if s.NotAsked > 0 {
		f.note(fmt.Sprintf("%d questions were not asked", s.NotAsked))
	}
	if s.Graded {
		f.normal(*s.Accuracy, s.StdErr, s.Items)
		return
	}
	f.clusteredShare(*s.Accuracy, s.N, s.Items, s.StdErr)
}

// normal is Student's interval of a mean of scores of so many questions. Scores
// that are all alike show no chance; that is no proof that there is none.
func (f *Fact) normal(value float64, se *float64, items int) {
	f.Kind, f.Method = Mean, "t"
	f.at = func(level float64) (interval.Interval, error) {
		switch {
		case se == nil || items < 2:
			return interval.Interval{}, errors.New("its standard error is unknown")
		case rounding(*se, value):
			return interval.Interval{}, fmt.Errorf("its %d scores are all alike, which tells nothing of chance", items)
		}
		half := stats.StudentQuantile(1-(1-level)/2, float64(items-1)) * *se
		return interval.Interval{Lo: value - half, Hi: value + half, Level: level, Method: "t"}, nil
	}
}

// clusteredShare is Wilson's interval of a share of n answers to so many items. The
// answers to one item are alike: the design effect is how much larger the
// clustered variance is; where all answers are right or all wrong it cannot be
// told, and repeats count for nothing.
func (f *Fact) clusteredShare(value float64, n, items int, se *float64) {
	d := 1.0
	if items < n {
		f.Method = "wilson, clustered by question"
		d = float64(n) / float64(max(items, 1))
		if v := value * (1 - value) / float64(n); v > 0 && se != nil {
			d = max(1, *se**se/v)
		}
	}
	f.at = func(level float64) (interval.Interval, error) {
		i, ok := interval.ShareOf(value*float64(n)/d, float64(n)/d, level)
		if !ok {
			return i, errors.New("no interval")
		}
		if d > 1 {
			i.Method = f.Method
		}
		return i, nil
	}
}

// mean is the mean of a number over the answers that have it.
func (g *graded) mean(f *Fact, of func(answer) (float64, bool)) {
	f.Known = true
	list, err := g.answers()
	if err != nil {
		f.Reason = "the answers cannot be read: " + err.Error()
		return
	}
	clusters, whole := map[string][]float64{}, true
	n, sum := 0, 0.0
	for _, a := range list {
		if !g.all && a.subset != g.subset {
			continue
		}
		if v, ok := of(a); ok {
			key := a.subset + "\x00" + a.item
			clusters[key] = append(clusters[key], v)
			whole = whole && (v == 0 || v == 1)
			n, sum = n+1, sum+v
		}
	}
	f.N = int64(n)
	if n == 0 {
		f.Reason = "no answer has it"
		return
	}
	value := sum / float64(n)
	f.Value = &value
	var se *float64
	if s, ok := stats.ClusteredStdErr(inOrder(clusters)); ok {
		se = &s
	}
	if whole {
		f.Kind, f.Method = Share, "wilson"
		f.clusteredShare(value, n, len(clusters), se)
		return
	}
	f.normal(value, se, len(clusters))
}

func inOrder(m map[string][]float64) [][]float64 {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	out := make([][]float64, len(keys))
	for i, k := range keys {
		out[i] = m[k]
	}
	return out
}

// group is a number over several sub-sets.
func (g *graded) group(f *Fact, key string) {
	n := 0
	for _, r := range g.groups {
		n += r.N
	}
	f.N, f.Known = int64(n), true
	if key == "n" {
		v := float64(n)
		f.Value = &v
		return
	}
	byRun(f, len(g.groups), func(i int) float64 { return g.groups[i].Value }, func(i int, level float64) (interval.Interval, error) {
		r := g.groups[i]
		if r.StdErr == nil {
			return interval.Interval{}, fmt.Errorf("%s of sub-sets has no standard error in these results; score the run again (--mode eval), or judge the sub-sets", r.Metric)
		}
		if rounding(*r.StdErr, r.Value) { // all right, or all wrong: ten answers would be as certain as ten thousand
			return interval.Interval{}, fmt.Errorf("in every sub-set all scores are alike, which tells nothing of chance in %s; judge the sub-sets", r.Metric)
		}
		half := stats.NormalQuantile(1-(1-level)/2) * *r.StdErr
		return interval.Interval{Lo: r.Value - half, Hi: r.Value + half, Level: level, Method: "normal"}, nil
	})
	f.Kind = Mean
	if f.Method != "runs-t" {
		f.Method = "normal"
	}
}

// other is a scorer's further figure: a part of every verdict, pass@k, or a
// metric over the set, which has no interval.
func (g *graded) other(f *Fact, key string) (*Fact, error) {
	if g.planned != nil {
		// What a scorer reports besides is known when it has reported.
		f.Kind, f.Method, f.Reason = Mean, "normal", "not scored yet"
		return f, nil
	}
	inParts, inMetrics := false, false
	for _, s := range g.sums {
		_, part := s.Parts[key]
		_, metric := s.Metrics[key]
		inParts, inMetrics = inParts || part, inMetrics || metric
	}
	switch {
	case inParts:
		g.mean(f, func(a answer) (float64, bool) { return a.parts[key], true })
		return f, nil
	case strings.HasPrefix(key, "pass@") || strings.HasPrefix(key, "pass^"):
		k, err := strconv.Atoi(key[len("pass@"):])
		if err != nil || k < 1 {
			break
		}
		g.repeats(f, key, k)
		return f, nil
	case inMetrics:
		f.Kind, f.Known = Mean, true
		var values []float64
		for _, s := range g.sums {
			if v, ok := s.Metrics[key]; ok {
				values = append(values, v)
			}
			f.N += int64(s.N)
		}
		byRun(f, len(values), func(i int) float64 { return values[i] }, func(int, float64) (interval.Interval, error) {
			return interval.Interval{}, fmt.Errorf("%s is no mean over answers and has no interval within one run; gate three runs together, or judge value", key)
		})
		return f, nil
	}
	full := g.prefix.with(key).String()
	if near := registry.Nearest(key, g.names()); near != "" {
		return nil, &UnknownError{full, fmt.Sprintf("; did you mean %s?", g.prefix.with(near))}
	}
	return nil, &UnknownError{full, "; it has " + strings.Join(g.names(), ", ")}
}

// repeats is pass@k or pass^k: a mean over questions of what their repeats say,
// those of all runs together.
func (g *graded) repeats(f *Fact, key string, k int) {
	f.Kind, f.Method, f.Known = Mean, "normal", true
	list, err := g.answers()
	if err != nil {
		f.Reason = "the answers cannot be read: " + err.Error()
		return
	}
	n, c := map[string]int{}, map[string]int{}
	for _, a := range list {
		if g.all || a.subset == g.subset {
			item := a.subset + "\x00" + a.item
			n[item]++
			if a.right {
				c[item]++
			}
		}
	}
	var values []float64
	for item, repeats := range n {
		switch {
		case repeats < k:
		case strings.HasPrefix(key, "pass@"):
			values = append(values, stats.PassAtK(repeats, c[item], k))
		default:
			values = append(values, stats.PassHatK(repeats, c[item], k))
		}
	}
	slices.Sort(values)
	f.N = int64(len(values))
	if len(values) == 0 {
		f.Reason = fmt.Sprintf("no question was asked %d times", k)
		return
	}
	mean := stats.Mean(values)
	f.Value = &mean
	f.at = func(level float64) (interval.Interval, error) {
		if mean == 0 || mean == 1 { // questions are all or nothing alike: a share of questions
			i, _ := interval.Share(int64(math.Round(mean*float64(len(values)))), int64(len(values)), level)
			return i, nil
		}
		i, ok := interval.Mean(values, level, seed)
		if !ok {
			return i, fmt.Errorf("%d questions are too few for an interval, at least %d are needed", len(values), interval.MinBootstrap)
		}
		return i, nil
	}
}

// readAnswers reads the scored answers of a pair; of several lines of one answer
// the last counts.
func readAnswers(run *outputs.Run, pair outputs.Pair) ([]answer, error) {
	var order []outputs.PredictionKey
	last := map[outputs.PredictionKey]answer{}
	for p, err := range outputs.ReadPredictions(run.PredictionsPath(pair.Model, pair.Dataset)) {
		if err != nil {
			return nil, err
		}
		if p.Outcome == "" {
			continue
		}
		outcome := evaluators.Outcome(p.Outcome)
		a := answer{subset: p.Subset, item: p.SampleID, right: outcome == evaluators.Right, failed: outcome == evaluators.Failed, empty: outcome == evaluators.Empty,
			found: outcome == evaluators.Right || outcome == evaluators.Wrong, parts: map[string]float64{}}
		if p.Score != nil {
			a.score = *p.Score
		}
		for k, v := range p.Parts {
			if v != nil {
				a.parts[k] = *v
			}
		}
		key := p.Key()
		if _, seen := last[key]; !seen {
			order = append(order, key)
		}
		last[key] = a
	}
	out := make([]answer, len(order))
	for i, k := range order {
		out[i] = last[k]
	}
	return out, nil
}
