package evaluators

import (
	"fmt"

	"ais_bench/evaluators/stats"
)

const (
	ocBase    = "opencompass/opencompass/openicl/icl_evaluator/icl_base_evaluator.py:"
	inspectSE = "inspect_ai/src/inspect_ai/scorer/_metrics/std.py:"
)

func floats(v any) []float64 {
	var out []float64
	for _, e := range v.([]any) {
		out = append(out, e.(float64))
	}
	return out
}

func orZero(f float64, ok bool) any {
	if !ok { // the originals give 0 where the spread is unknown
		return 0.0
	}
	return f
}

func (r goldenRow) real(name string) float64 {
	f, _ := r.Input.(map[string]any)[name].(float64)
	return f
}

// repeatRows scores a table of repeated answers against its gold letters.
func repeatRows(r goldenRow) any {
	golds, _ := asStrings(r.Reference)
	var scored []Scored
	n := 0
	for i, list := range r.Input.([]any) {
		answers, _ := asStrings(list)
		n = len(answers)
		for k, a := range answers {
			v := Verdict{Outcome: Wrong, Extracted: a}
			if a == golds[i] {
				v.Outcome, v.Score = Right, 1
			}
			scored = append(scored, Scored{ItemID: fmt.Sprint(i), Repeat: k, Verdict: v})
		}
	}
	m := Summarize(scored).Repeats
	return map[string]float64{
		fmt.Sprintf("avg@%d", n):  100 * m.AvgAtN,
		fmt.Sprintf("pass@%d", n): 100 * m.PassAt[n],
		fmt.Sprintf("cons@%d", n): 100 * m.OCConsAt[n],
	}
}

var goldenStats = map[string]goldenFunc{
	ocBase + "compute_pass_at_k (== AISBench, evalscope calculate_pass_at_k)": func(r goldenRow) any { return stats.PassAtK(r.number("n"), r.number("c"), r.number("k")) },
	ocBase + "compute_g_pass_at_k": func(r goldenRow) any {
		return stats.GPassAtK(r.number("n"), r.number("c"), r.number("k"), r.real("tau"))
	},
	ocBase + "compute_mg_pass_at_k":                                                                          func(r goldenRow) any { return stats.MGPassAtK(r.number("n"), r.number("c"), r.number("k")) },
	"evalscope/evalscope/metrics/utils/functions.py:calculate_pass_hat_k":                                    func(r goldenRow) any { return stats.PassHatK(r.number("n"), r.number("c"), r.number("k")) },
	"intended AISBench definition (docs accuracy_metric.md): avg@n=c/n, pass@k unbiased, cons@k = [c > k/2]": repeatRows,
	lmMetrics + "mean_stderr":                                                                                func(r goldenRow) any { return orZero(stats.StdErr(floats(r.Input))) },
	lmMetrics + "sample_stddev":                                                                              func(r goldenRow) any { return orZero(stats.StdDev(floats(r.Input))) },
	lmMetrics + "pooled_sample_stderr": func(r goldenRow) any {
		m := r.Input.(map[string]any)
		var sizes []int
		for _, s := range floats(m["sizes"]) {
			sizes = append(sizes, int(s))
		}
		return orZero(stats.PooledStdErr(floats(m["stderrs"]), sizes))
	},
	lmMetrics + "aggregate_subtask_metrics": func(r goldenRow) any {
		m := r.Input.(map[string]any)
		var members []Member
		for i, v := range floats(m["metrics"]) {
			members = append(members, Member{Value: v, Weight: floats(m["sizes"])[i]})
		}
		kind := NaiveAverage
		if m["weight_by_size"] == true {
			kind = WeightedAverage
		}
		v, err := Group(kind, members)
		if err != nil {
			return err.Error()
		}
		return v
	},
	inspectSE + "_clustered_stderr": func(r goldenRow) any {
		var clusters [][]float64
		for _, c := range r.Input.([]any) {
			clusters = append(clusters, floats(c))
		}
		return orZero(stats.ClusteredStdErr(clusters))
	},
	inspectSE + "_clt_stderr": func(r goldenRow) any { return orZero(stats.StdErr(floats(r.Input))) },
	inspectSE + "_t_inv_cdf":  func(r goldenRow) any { return stats.StudentQuantile(r.real("p"), r.real("df")) },
}
