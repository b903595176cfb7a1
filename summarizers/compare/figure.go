package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/facts"
	"ais_bench/summarizers/interval"
	"ais_bench/summarizers/metrics"
	"ais_bench/summarizers/vllm"
)

// Metric is one figure that is compared, named by its keys in performances/*.json
// joined by dots.
type Metric struct {
	Name   string
	Title  string
	Unit   string
	Higher bool // higher is better
	// Share is a figure between 0 and 1: it is compared by the difference, and its
	// tolerance is absolute.
	Share bool
	Q     float64 // of a percentile, in (0,1)
}

// successRate is requests.success / requests.total.
const successRate = "success_rate"

// Headline are the figures of every comparison, in the order of tables.
var Headline = headline()

func headline() []Metric {
	list := []Metric{
		{Name: successRate, Title: "Success rate", Higher: true, Share: true},
		{Name: "request_throughput", Title: "Request throughput", Unit: "req/s", Higher: true},
		{Name: "output_throughput", Title: "Output token throughput", Unit: "token/s", Higher: true},
		{Name: "total_token_throughput", Title: "Total token throughput", Unit: "token/s", Higher: true},
		{Name: "request_goodput", Title: "Request goodput", Unit: "req/s", Higher: true},
		{Name: "goodput_share", Title: "Share within the service levels", Higher: true, Share: true},
	}
	for _, d := range []string{"ttft", "tpot", "itl", "e2el"} {
		for _, s := range []struct {
			key, title string
			q          float64
		}{{"mean_ms", "mean", 0}, {"p50_ms", "P50", 0.5}, {"p95_ms", "P95", 0.95}, {"p99_ms", "P99", 0.99}} {
			list = append(list, Metric{Name: d + "." + s.key, Title: strings.ToUpper(d) + " " + s.title, Unit: "ms", Q: s.q})
		}
	}
	return list
}

// figure is one figure of one run.
type figure struct {
	value  *float64
	n      int64
	reason string // why there is no value
	notes  []string
	at     func(level float64) (interval.Interval, error) // nil = no interval
}

// supported reports whether n values tell a percentile from the extremes.
func (m Metric) supported(n int64) bool {
	return m.Q == 0 || float64(n)*(1-m.Q) >= 1-1e-9
}

// source gives the figures of one pair of one input.
type source func(Metric) figure

// sources makes figures of a pair: from facts of a run folder, from a saved
// result, or, where a run is compared with a saved result, from the run as that
// tool would have reported it.
func (c *comparer) source(in *Input, p outputs.Pair) (source, error) {
	if in.Saved != nil {
		return func(m Metric) figure { return savedFigure(in.Saved, m.Name) }, nil
	}
	if in.Run.RecordsPath(p.Model, p.Dataset) == "" {
		return nil, nil // only answers: nothing was timed
	}
	if c.foreign {
		return asSaved(in, p)
	}
	set, err := c.set(in)
	if err != nil {
		return nil, err
	}
	return func(m Metric) figure {
		f, err := set.Lookup(append(facts.Path{"perf", p.Model + "/" + p.Dataset}, strings.Split(m.Name, ".")...))
		if err != nil {
			return figure{reason: err.Error()}
		}
		out := figure{value: f.Value, n: f.N, reason: f.Reason, notes: f.Notes}
		if f.Value != nil {
			out.at = f.Interval
		}
		return out
	}, nil
}

// set are the facts of a run, read once.
func (c *comparer) set(in *Input) (*facts.Set, error) {
	if s, ok := c.sets[in]; ok {
		return s, nil
	}
	var paths []facts.Path
	for _, m := range Headline {
		paths = append(paths, append(facts.Path{"perf"}, strings.Split(m.Name, ".")...))
	}
	s, err := facts.Open([]*outputs.Run{in.Run}, facts.Options{Metrics: metrics.Options{SLOs: c.o.SLOs}, Paths: paths})
	if err != nil {
		return nil, err
	}
	c.sets[in] = s
	return s, nil
}

// shareFigure is k of n.
func shareFigure(k, n int64) figure {
	if n == 0 {
		return figure{reason: "no request"}
	}
	v := float64(k) / float64(n)
	return figure{value: &v, n: n, at: func(level float64) (interval.Interval, error) {
		i, ok := interval.Share(k, n, level)
		if !ok {
			return i, errors.New("no interval")
		}
		return i, nil
	}}
}

// asSaved computes a run's figures with the definitions of `vllm bench serve`.
func asSaved(in *Input, p outputs.Pair) (source, error) {
	r, err := vllm.Compute(in.Run.Records(p.Model, p.Dataset), vllm.Options{Percentiles: []float64{50, 95, 99}, Metrics: []string{"ttft", "tpot", "itl", "e2el"}})
	if err != nil {
		return nil, fmt.Errorf("%s: figures as vLLM defines them: %w", in.Name, err)
	}
	rates := map[string]float64{"request_throughput": r.RequestThroughput, "output_throughput": r.OutputThroughput, "total_token_throughput": r.TotalTokenThroughput}
	return func(m Metric) figure {
		f := figure{n: int64(r.Completed)}
		if m.Name == successRate {
			return shareFigure(int64(r.Completed), int64(r.Completed+r.Failed))
		}
		if v, ok := rates[m.Name]; ok {
			f.value = &v
			return f
		}
		dist, key, _ := strings.Cut(m.Name, ".")
		st := r.Stat(dist)
		if st == nil || st.N == 0 {
			return figure{reason: "vLLM's results have no such figure"}
		}
		f.n = st.N
		v := st.Mean
		if i := slices.Index([]string{"p50_ms", "p95_ms", "p99_ms"}, key); i >= 0 {
			v = st.Percentiles[i]
		}
		f.value = &v
		return f
	}, nil
}

// storedSLOs are the service levels that a run was reported with.
func storedSLOs(in *Input, p outputs.Pair) []metrics.SLO {
	if in.Run == nil {
		return nil
	}
	doc, err := outputs.ReadFile(in.Run.PerformancePath(p.Model, p.Dataset, "json"))
	if err != nil {
		return nil
	}
	var r struct {
		Attainment []struct {
			Metric string  `json:"metric"`
			MaxMS  float64 `json:"max_ms"`
		} `json:"slo_attainment"`
	}
	if json.Unmarshal(doc, &r) != nil {
		return nil
	}
	var out []metrics.SLO
	for _, a := range r.Attainment {
		out = append(out, metrics.SLO{Metric: a.Metric, MaxMS: a.MaxMS})
	}
	return out
}
