package evaluators

import (
	"sort"

	"ais_bench/evaluators/stats"
)

// RepeatMetrics are the metrics of items that were asked several times; all
// are means over items. Repeats of one item need not be equally many: metrics
// of k use the items asked at least k times.
type RepeatMetrics struct {
	Min, Max int `json:"-"` // fewest and most repeats of an item
	// N is Min: metrics are given up to what every item supports.
	N int `json:"n"`
	// AvgAtN is the mean over items of the share of right answers.
	AvgAtN float64 `json:"avg@n"`
	// PassAt is the unbiased pass@k by k (powers of two up to N, and N).
	PassAt map[int]float64 `json:"pass@k"`
	// PassHat is pass^k by k: all k drawn answers are right.
	PassHat map[int]float64 `json:"pass^k"`
	// ConsAt is cons@k: the most frequent extracted answer of the first k is
	// right; ties go to the answer that came first.
	ConsAt map[int]float64 `json:"cons@k"`
	// OCConsAt is AISBench's cons@k: more than half of the first k answers are right.
	OCConsAt map[int]float64 `json:"oc/cons@k"`
	// GPassAt is G-Pass@k_tau by "k_tau".
	GPassAt map[string]float64 `json:"g_pass@k"`
	// MGPassAt is mG-Pass@k by k.
	MGPassAt map[int]float64 `json:"mg_pass@k"`
}

// repeatMetrics groups answers by item, whatever their order, and never mixes
// answers of different items.
func repeatMetrics(scored []Scored) *RepeatMetrics {
	byItem := map[string][]Scored{}
	for _, s := range scored {
		byItem[clusterKey(s)] = append(byItem[clusterKey(s)], s)
	}
	keys := sortedKeys(byItem)
	samples := make([]stats.Samples, 0, len(keys))
	for _, k := range keys {
		list := byItem[k]
		sort.SliceStable(list, func(i, j int) bool { return list[i].Repeat < list[j].Repeat })
		item := make(stats.Samples, len(list))
		for i, s := range list {
			item[i] = stats.Sample{Right: s.Verdict.Outcome == Right}
			if o := s.Verdict.Outcome; o == Right || o == Wrong {
				item[i].Answer, item[i].Voted = s.Verdict.Extracted, true
			}
		}
		samples = append(samples, item)
	}
	m := &RepeatMetrics{Min: len(samples[0]), PassAt: map[int]float64{}, PassHat: map[int]float64{}, ConsAt: map[int]float64{},
		OCConsAt: map[int]float64{}, GPassAt: map[string]float64{}, MGPassAt: map[int]float64{}}
	for _, item := range samples {
		m.Min, m.Max = min(m.Min, len(item)), max(m.Max, len(item))
		m.AvgAtN += float64(item.RightCount()) / float64(len(item)) / float64(len(samples))
	}
	m.N = m.Min
	for _, k := range stats.Powers(m.N) {
		over := func(f func(stats.Samples) float64) float64 {
			sum := 0.0
			for _, item := range samples {
				sum += f(item)
			}
			return sum / float64(len(samples))
		}
		m.PassAt[k] = over(func(s stats.Samples) float64 { return stats.PassAtK(len(s), s.RightCount(), k) })
		m.PassHat[k] = over(func(s stats.Samples) float64 { return stats.PassHatK(len(s), s.RightCount(), k) })
		m.ConsAt[k] = over(func(s stats.Samples) float64 { return stats.ConsAtK(s, k) })
		m.OCConsAt[k] = over(func(s stats.Samples) float64 { return stats.MajorityRightAtK(s[:k].RightCount(), k) })
		if k > 1 {
			for _, tau := range stats.Taus {
				m.GPassAt[stats.GPassName(k, tau)] = over(func(s stats.Samples) float64 { return stats.GPassAtK(len(s), s.RightCount(), k, tau) })
			}
			m.MGPassAt[k] = over(func(s stats.Samples) float64 { return stats.MGPassAtK(len(s), s.RightCount(), k) })
		}
	}
	return m
}
