package evaluators

import (
	"sort"

	"ais_bench/evaluators/stats"
)

// Scored is the verdict of one answer with what is needed to count it.
type Scored struct {
	ItemID  string // Item.ID; answers of one item are repeats of it
	Subset  string // Item.Subset
	Repeat  int    // 0-based
	Verdict Verdict
	// References are Item.References(); corpus metrics (BLEU) need them, others
	// do not.
	References []string
}

// Summary counts the verdicts of one data set. Shares are in [0,1]; what is
// undefined (no answers) is null.
type Summary struct {
	N          int `json:"n"` // questions asked, failed ones included
	Right      int `json:"right"`
	Wrong      int `json:"wrong"`
	Unparsable int `json:"unparsable"`
	Empty      int `json:"empty"`
	Failed     int `json:"failed"`
	// NotAsked are questions that were due and never asked, as after an
	// interruption; they are in no other number. Above 0 the summary is incomplete.
	NotAsked int `json:"not_asked,omitempty"`

	// Items is the number of distinct items; below N when items were repeated.
	Items int `json:"items"`
	// Graded says that scores are shares (F1, ROUGE), so that Accuracy is their
	// mean and Right counts only full marks.
	Graded bool `json:"graded,omitempty"`
	// Accuracy is the mean score over all N answers, whatever became of them.
	Accuracy *float64 `json:"accuracy"`
	// AccuracyAnswered is the mean score over the answers that came: without
	// failed and empty ones.
	AccuracyAnswered *float64 `json:"accuracy_answered"`
	// ExtractRate is the share of all N answers in which an answer was found.
	ExtractRate *float64 `json:"extract_rate"`
	// CI is the 95 % interval of Accuracy; CIMethod is wilson for yes/no scores
	// asked once, clustered (by item) for repeats, normal for graded scores.
	CI       *stats.Interval `json:"ci"`
	CIMethod string          `json:"ci_method,omitempty"`
	// StdErr is the standard error of Accuracy, clustered by item for repeats.
	StdErr *float64 `json:"stderr"`
	// Parts are the means over all N answers of the verdicts' further metrics;
	// an answer without a part counts 0 in it.
	Parts map[string]float64 `json:"parts,omitempty"`
	// Metrics are a scorer's own metrics over the whole set (see Aggregator).
	Metrics map[string]float64 `json:"metrics,omitempty"`
	// Repeats are the multi-sample metrics, nil when every item was asked once.
	Repeats *RepeatMetrics `json:"repeats,omitempty"`
}

// Aggregator is a scorer with metrics over a whole set that are not means of a
// per-answer number, such as IFEval's instruction-level accuracies or
// SimpleQA's accuracy given attempted.
type Aggregator interface {
	Aggregate([]Scored) map[string]float64
}

// SummarizeWith is Summarize plus the scorer's own metrics over the set.
func SummarizeWith(s Scorer, scored []Scored) Summary {
	sum := Summarize(scored)
	if a, ok := s.(Aggregator); ok && len(scored) > 0 {
		sum.Metrics = a.Aggregate(scored)
	}
	return sum
}

// SummarizeBySubset summarizes each subset on its own.
func SummarizeBySubset(scored []Scored) map[string]Summary {
	by := map[string][]Scored{}
	for _, s := range scored {
		by[s.Subset] = append(by[s.Subset], s)
	}
	out := make(map[string]Summary, len(by))
	for name, list := range by {
		out[name] = Summarize(list)
	}
	return out
}

// Summarize counts verdicts. The order of scored does not matter.
func Summarize(scored []Scored) Summary {
	s := Summary{N: len(scored)}
	total, parts := 0.0, map[string]float64{}
	clusters := map[string][]float64{}
	for _, v := range scored {
		switch v.Verdict.Outcome {
		case Right:
			s.Right++
		case Wrong:
			s.Wrong++
		case Unparsable:
			s.Unparsable++
		case Empty:
			s.Empty++
		default: // a verdict without an outcome is a request nobody answered
			s.Failed++
		}
		score := v.Verdict.Score
		if score != 0 && score != 1 {
			s.Graded = true
		}
		total += score
		for name, p := range v.Verdict.Parts {
			parts[name] += p
		}
		clusters[clusterKey(v)] = append(clusters[clusterKey(v)], score)
	}
	s.Items = len(clusters)
	if s.N == 0 {
		return s
	}
	mean := func(sum float64, n int) *float64 {
		if n == 0 {
			return nil
		}
		m := sum / float64(n)
		return &m
	}
	s.Accuracy = mean(total, s.N)
	s.AccuracyAnswered = mean(total, s.N-s.Failed-s.Empty)
	s.ExtractRate = mean(float64(s.Right+s.Wrong), s.N)
	if len(parts) > 0 {
		s.Parts = map[string]float64{}
		for name, p := range parts {
			s.Parts[name] = p / float64(s.N)
		}
	}
	s.interval(sortedClusters(clusters))
	if s.Items < s.N {
		s.Repeats = repeatMetrics(scored)
	}
	return s
}

func clusterKey(v Scored) string { return v.Subset + "\x00" + v.ItemID }

// sortedClusters are the scores by item in a fixed order, so that sums do not
// depend on map order.
func sortedClusters(m map[string][]float64) [][]float64 {
	keys := sortedKeys(m)
	out := make([][]float64, len(keys))
	for i, k := range keys {
		out[i] = m[k]
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// interval fills StdErr and CI.
func (s *Summary) interval(clusters [][]float64) {
	if se, ok := stats.ClusteredStdErr(clusters); ok {
		s.StdErr = &se
	}
	if !s.Graded && s.Items == s.N {
		if ci, ok := stats.Wilson(s.Right, s.N); ok {
			s.CI, s.CIMethod = &ci, "wilson"
		}
		return
	}
	if s.StdErr == nil {
		return
	}
	ci := stats.Interval{Low: max(0, *s.Accuracy-stats.Z95**s.StdErr), High: min(1, *s.Accuracy+stats.Z95**s.StdErr)}
	s.CI, s.CIMethod = &ci, "clustered"
	if s.Items == s.N {
		s.CIMethod = "normal"
	}
}
