package compare

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"ais_bench/evaluators"
	"ais_bench/outputs"
	"ais_bench/summarizers/interval"
)

// AccuracyChange is the accuracy of one data set or sub-set, over the questions
// that both sides were asked alike and answered.
type AccuracyChange struct {
	Dataset string `json:"dataset"` // the other side's name for it
	Subset  string `json:"subset,omitempty"`
	N       int    `json:"n"` // questions compared
	// LeftOut are questions that are not compared: put differently, asked of one side
	// only, or without an answer on one side.
	LeftOut int     `json:"left_out"`
	Base    float64 `json:"base"` // mean score over the n questions
	Other   float64 `json:"other"`
	Change  float64 `json:"difference"`
	// Interval is that of Change at 95 %, from the questions' own differences.
	Interval *interval.Interval `json:"interval"`
	// BaseOnly and OtherOnly are questions that only one side got right.
	BaseOnly  int      `json:"right_to_wrong"`
	OtherOnly int      `json:"wrong_to_right"`
	McNemar   *float64 `json:"mcnemar_p"` // nil for graded scores
	Graded    bool     `json:"graded,omitempty"`
	Verdict   Verdict  `json:"verdict"`
	Reason    string   `json:"reason,omitempty"`
}

// Flip is a question whose answer turned.
type Flip struct {
	ID          string  `json:"id"`
	Subset      string  `json:"subset,omitempty"`
	To          string  `json:"to"` // right or wrong; higher or lower for graded scores
	BaseScore   float64 `json:"base_score"`
	OtherScore  float64 `json:"other_score"`
	BaseAnswer  string  `json:"base_answer"` // as extracted, else the outcome
	OtherAnswer string  `json:"other_answer"`
	Gold        string  `json:"gold"`
	outcomes    [2]string
}

// item is one question of one side: all its answers.
type item struct {
	subset, id string
	prompt     uint64
	gold       string
	scored     []evaluators.Scored
	answer     string // the first
	outcome    string
	failed     bool // no repeat has an answer
}

// readItems reads the scored answers of a pair over all runs of a side.
func readItems(side []*Input, p []outputs.Pair) (map[string]*item, error) {
	items := map[string]*item{}
	repeat := map[string]int{}
	for i, in := range side {
		if in.Run == nil {
			return nil, nil
		}
		path := in.Run.PredictionsPath(p[i].Model, p[i].Dataset)
		if _, err := os.Stat(path); err != nil {
			return nil, nil
		}
		byKey, order, err := outputs.LatestPredictions(path)
		if err != nil {
			return nil, err
		}
		for _, k := range order {
			a := byKey[k]
			if a.Outcome == "" {
				continue
			}
			key := a.Subset + "\x00" + question(a.SampleID, a.SessionID, a.Turn)
			it := items[key]
			if it == nil {
				it = &item{subset: a.Subset, id: a.SampleID, gold: plainText(a.Gold), failed: true, outcome: a.Outcome, prompt: promptOf(a)}
				it.answer = a.Outcome
				if a.Extracted != nil {
					it.answer = *a.Extracted
				}
				items[key] = it
			}
			v := evaluators.Verdict{Outcome: evaluators.Outcome(a.Outcome)}
			if a.Score != nil {
				v.Score = *a.Score
			}
			if v.Outcome != evaluators.Failed {
				it.failed = false
			}
			it.scored = append(it.scored, evaluators.Scored{ItemID: key, Subset: a.Subset, Repeat: repeat[key], Verdict: v})
			repeat[key]++
		}
	}
	return items, nil
}

// promptOf is the hash of the prompt; of a likelihood question, whose answer
// carries that of one label only, the question itself must do.
func promptOf(a *outputs.Prediction) uint64 {
	if a.LabelLogprobs != nil {
		return hashed(a.PromptText() + plainText(a.Gold))
	}
	return hashed(a.PromptSHA256)
}

func (it *item) mean() float64 {
	sum, n := 0.0, 0
	for _, s := range it.scored {
		if s.Verdict.Outcome != evaluators.Failed {
			sum += s.Verdict.Score
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// accuracy compares two sides question by question: the sub-sets, where there are
// several, then the whole. tests is how many data sets are compared; the level at
// which one is called worse is divided by it, and by the number of sub-sets for them.
func (o Options) accuracy(dataset string, base, other map[string]*item, tests int) ([]AccuracyChange, []Flip) {
	var flips []Flip
	bySubset := map[string][]string{}
	leftOut := map[string]int{}
	all := map[string]bool{}
	for k := range base {
		all[k] = true
	}
	for k := range other {
		all[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		a, b := base[k], other[k]
		subset := ""
		if a != nil {
			subset = a.subset
		} else {
			subset = b.subset
		}
		if a == nil || b == nil || a.prompt != b.prompt || a.gold != b.gold || a.failed || b.failed {
			leftOut[subset]++
			continue
		}
		bySubset[subset] = append(bySubset[subset], k)
		if x, y := a.mean(), b.mean(); x != y {
			f := Flip{ID: a.id, Subset: subset, BaseScore: x, OtherScore: y, BaseAnswer: a.answer, OtherAnswer: b.answer, Gold: a.gold, outcomes: [2]string{a.outcome, b.outcome}}
			switch {
			case y == 1:
				f.To = "right"
			case x == 1:
				f.To = "wrong"
			case y > x:
				f.To = "higher"
			default:
				f.To = "lower"
			}
			flips = append(flips, f)
		}
	}
	subsets := slices.Sorted(maps.Keys(bySubset))
	for s := range leftOut {
		if !slices.Contains(subsets, s) {
			subsets = append(subsets, s)
		}
	}
	slices.Sort(subsets)
	var whole []string
	left := 0
	for _, s := range subsets {
		whole = append(whole, bySubset[s]...)
		left += leftOut[s]
	}
	var out []AccuracyChange
	add := func(subset string, keys []string, left, tests int) {
		c := o.accuracyChange(keys, base, other, tests)
		c.Dataset, c.Subset, c.LeftOut = dataset, subset, left
		out = append(out, c)
	}
	if len(subsets) > 1 {
		for _, s := range subsets {
			add(s, bySubset[s], leftOut[s], tests*len(subsets))
		}
	}
	add("", whole, left, tests)
	return out, flips
}

func (o Options) accuracyChange(keys []string, base, other map[string]*item, tests int) AccuracyChange {
	c := AccuracyChange{N: len(keys), Verdict: Undefined}
	if len(keys) == 0 {
		c.Reason = "no question was asked alike and answered on both sides"
		return c
	}
	var a, b []evaluators.Scored
	var diffs []float64
	for _, k := range keys {
		a, b = append(a, base[k].scored...), append(b, other[k].scored...)
		x, y := base[k].mean(), other[k].mean()
		c.Base, c.Other = c.Base+x, c.Other+y
		diffs = append(diffs, y-x)
		c.Graded = c.Graded || x != 0 && x != 1 || y != 0 && y != 1
	}
	c.Base, c.Other = c.Base/float64(c.N), c.Other/float64(c.N)
	paired, ok := evaluators.ComparePaired(a, b)
	if !ok {
		c.Reason = "no question has an answer on both sides"
		return c
	}
	c.Change, c.BaseOnly, c.OtherOnly = paired.Diff, paired.OnlyA, paired.OnlyB
	alpha := (1 - o.Level) / float64(max(tests, 1))
	significant := false
	if c.Graded {
		if i, ok := interval.Mean(diffs, o.Level, 1); ok {
			c.Interval = &i
			if i, ok := interval.Mean(diffs, 1-alpha, 1); ok {
				significant = !i.Contains(0)
			}
		} else if paired.CI != nil {
			c.Interval = &interval.Interval{Lo: paired.CI.Low, Hi: paired.CI.High, Level: stats95, Method: "normal"}
		}
	} else {
		p := paired.McNemar
		c.McNemar = &p
		significant = p < alpha
		if d, ok := interval.PairedShares(int64(c.N), int64(c.BaseOnly), int64(c.OtherOnly), o.Level); ok {
			c.Interval = &d.Interval
		}
	}
	c.judge(o.ShareTolerance, significant)
	return c
}

// stats95 is the level of the intervals of package stats.
const stats95 = 0.95

func (c *AccuracyChange) judge(tolerance float64, significant bool) {
	switch {
	case significant && c.Change < 0:
		c.Verdict = Worse
	case significant && c.Change > 0:
		c.Verdict = Better
	case c.Interval != nil && c.Interval.Lo >= -tolerance && c.Interval.Hi <= tolerance:
		c.Verdict = Within
	default:
		c.Verdict = Inconclusive
		c.Reason = fmt.Sprintf("too few questions to bound the difference by %s", points(tolerance))
	}
}

func points(v float64) string {
	if v == 0.01 {
		return "1 point"
	}
	return fmt.Sprintf("%g points", 100*v)
}

// flipped are the ids of flips to one outcome, at most n, with how many more.
func flipped(flips []Flip, to string, n int) string {
	var ids []string
	for _, f := range flips {
		if f.To == to {
			id := f.ID
			if f.Subset != "" && !strings.Contains(id, f.Subset) {
				id = f.Subset + "/" + id
			}
			ids = append(ids, id)
		}
	}
	if len(ids) > n {
		return strings.Join(ids[:n], ", ") + fmt.Sprintf(" and %d more", len(ids)-n)
	}
	return strings.Join(ids, ", ")
}
