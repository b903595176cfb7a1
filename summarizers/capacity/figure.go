package capacity

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ais_bench/registry"
	"ais_bench/summarizers/metrics"
)

// Figure is one number of a run, under the name that --slo, CSV and JSON use.
type Figure struct {
	Name string // ttft_p99, output_throughput, success
	Unit string // ms, token/s, req/s, requests; "" for shares
	// Share is set for figures between 0 and 1.
	Share bool
	// Percentile is the percentile it needs computed; nil for others.
	Percentile *float64

	of   func(*metrics.Result) *float64
	stat func(*metrics.Result) metrics.Stat // of latencies
}

// Of is the figure of one run, nil when undefined.
func (f Figure) Of(r *metrics.Result) *float64 { return f.of(r) }

// Undersampled reports whether a run has too few values for the percentile.
func (f Figure) Undersampled(r *metrics.Result) bool {
	if f.Percentile == nil {
		return false
	}
	for _, p := range f.stat(r).P {
		if p.P == *f.Percentile {
			return p.Undersampled
		}
	}
	return false
}

// key is the name with the unit of latencies, as CSV and JSON have it.
func (f Figure) key() string {
	if f.Unit == "ms" {
		return f.Name + "_ms"
	}
	return f.Name
}

// latencies are the distributions of which --slo can name a statistic.
var latencies = []struct {
	name string
	of   func(*metrics.Result) metrics.Stat
}{
	{"ttft", func(r *metrics.Result) metrics.Stat { return r.TTFT }},
	{"tpot", func(r *metrics.Result) metrics.Stat { return r.TPOT }},
	{"itl", func(r *metrics.Result) metrics.Stat { return r.ITL }},
	{"e2el", func(r *metrics.Result) metrics.Stat { return r.E2EL }},
	{"ttfat", func(r *metrics.Result) metrics.Stat { return r.TTFAT }},
	{"itl_per_token", func(r *metrics.Result) metrics.Stat { return r.ITLPerToken }},
	{"max_stall", func(r *metrics.Result) metrics.Stat { return r.MaxStall }},
	{"ttft_scheduled", func(r *metrics.Result) metrics.Stat { return r.TTFTScheduled }},
	{"e2el_scheduled", func(r *metrics.Result) metrics.Stat { return r.E2ELScheduled }},
	{"client_queue_time", func(r *metrics.Result) metrics.Stat { return r.ClientQueueTime }},
}

// scalars are the figures that are one number a run.
var scalars = []Figure{
	{Name: "success", Share: true, of: func(r *metrics.Result) *float64 {
		if r.Requests.Total == 0 {
			return nil
		}
		v := float64(r.Requests.Success) / float64(r.Requests.Total)
		return &v
	}},
	{Name: "failed", Share: true, of: func(r *metrics.Result) *float64 { return r.Requests.FailedShare }},
	{Name: "request_throughput", Unit: "req/s", of: func(r *metrics.Result) *float64 { return r.RequestThroughput }},
	{Name: "input_throughput", Unit: "token/s", of: func(r *metrics.Result) *float64 { return r.InputThroughput }},
	{Name: "output_throughput", Unit: "token/s", of: func(r *metrics.Result) *float64 { return r.OutputThroughput }},
	{Name: "total_token_throughput", Unit: "token/s", of: func(r *metrics.Result) *float64 { return r.TotalTokenThroughput }},
	{Name: "peak_output_throughput", Unit: "token/s", of: func(r *metrics.Result) *float64 { return r.PeakOutputThroughput }},
	{Name: "avg_concurrency", Unit: "requests", of: func(r *metrics.Result) *float64 { return r.AvgConcurrency }},
	{Name: "request_goodput", Unit: "req/s", of: func(r *metrics.Result) *float64 { return r.RequestGoodput }},
	{Name: "goodput_share", Share: true, of: func(r *metrics.Result) *float64 { return r.GoodputShare }},
}

// synonyms are other names of scalars that people write.
var synonyms = map[string]string{"success_rate": "success", "failed_share": "failed", "error_rate": "failed", "failure_rate": "failed"}

// FigureNamed finds a figure: a scalar, or a latency with a statistic (mean, min,
// max, std, median, p50 … p99, p999 for 99.9), with or without _ms. The error
// names the nearest one.
func FigureNamed(name string) (Figure, error) {
	plain := strings.TrimSuffix(name, "_ms")
	if s, ok := synonyms[plain]; ok {
		plain = s
	}
	for _, f := range scalars {
		if f.Name == plain {
			return f, nil
		}
	}
	for _, l := range latencies {
		statistic, ok := strings.CutPrefix(plain, l.name+"_")
		if !ok {
			continue
		}
		if f, ok := latency(l.name, statistic, l.of); ok {
			return f, nil
		}
	}
	for _, l := range latencies {
		if l.name == plain {
			return Figure{}, fmt.Errorf("%s alone is a distribution: name a statistic, such as %s_p99 or %s_mean", name, plain, plain)
		}
	}
	return Figure{}, fmt.Errorf("unknown figure %q%s; %s", name, registry.DidYouMean(plain, FigureNames()), figuresHelp)
}

const figuresHelp = "ttft, tpot, itl, e2el (in ms) with _mean, _p50, _p95, _p99 …, and success, failed, request_throughput, output_throughput, total_token_throughput"

// FigureNames lists the names a user may mean, percentiles by the usual ones.
func FigureNames() []string {
	var names []string
	for _, f := range scalars {
		names = append(names, f.Name)
	}
	for _, l := range latencies {
		for _, s := range []string{"mean", "min", "max", "std", "p50", "p75", "p90", "p95", "p99"} {
			names = append(names, l.name+"_"+s)
		}
	}
	return names
}

func latency(name, statistic string, of func(*metrics.Result) metrics.Stat) (Figure, bool) {
	f := Figure{Name: name + "_" + statistic, Unit: "ms", stat: of}
	switch statistic {
	case "mean":
		f.of = func(r *metrics.Result) *float64 { return of(r).Mean }
	case "min":
		f.of = func(r *metrics.Result) *float64 { return of(r).Min }
	case "max":
		f.of = func(r *metrics.Result) *float64 { return of(r).Max }
	case "std":
		f.of = func(r *metrics.Result) *float64 { return of(r).Std }
	default:
		p, err := percentileOf(statistic)
		if err != nil {
			return Figure{}, false
		}
		f.Percentile = &p
		f.of = func(r *metrics.Result) *float64 { return of(r).Percentile(p) }
	}
	return f, true
}

// percentileOf reads median, p50, p99, p999 (99.9), p9999 (99.99).
func percentileOf(s string) (float64, error) {
	if s == "median" {
		return 50, nil
	}
	digits, ok := strings.CutPrefix(s, "p")
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, errors.New("no percentile")
	}
	if digits == "100" {
		return 100, nil
	}
	if len(digits) > 2 {
		digits = digits[:2] + "." + digits[2:]
	}
	return strconv.ParseFloat(digits, 64)
}

// percentileStatistic is the statistic's name of a percentile: p99, p999.
func percentileStatistic(p float64) string {
	return strings.ReplaceAll(metrics.PercentileName(p), ".", "")
}

// must is FigureNamed for names written here.
func must(name string) Figure {
	f, err := FigureNamed(name)
	if err != nil {
		panic(err)
	}
	return f
}
