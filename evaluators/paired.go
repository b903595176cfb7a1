package evaluators

import "ais_bench/evaluators/stats"

// ComparePaired compares two runs over the items both answered: the mean score
// of each item's repeats in b against a, with McNemar's exact test where scores
// are yes or no. Items of one run only, and items that failed in either, are
// left out; N says how many were compared. ok is false when there are none.
func ComparePaired(a, b []Scored) (p stats.Paired, ok bool) {
	inA, inB := itemMeans(a), itemMeans(b)
	var x, y []float64
	for _, key := range sortedKeys(inA) {
		if v, both := inB[key]; both {
			x, y = append(x, inA[key]), append(y, v)
		}
	}
	return stats.Compare(x, y)
}

// itemMeans are the mean scores of the items that have an answer.
func itemMeans(scored []Scored) map[string]float64 {
	sum, n := map[string]float64{}, map[string]float64{}
	for _, s := range scored {
		if s.Verdict.Outcome == Failed || s.Verdict.Outcome == "" {
			continue
		}
		sum[clusterKey(s)] += s.Verdict.Score
		n[clusterKey(s)]++
	}
	for k := range sum {
		sum[k] /= n[k]
	}
	return sum
}
