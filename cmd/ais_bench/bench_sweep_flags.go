package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/datasets/workloads"
	"ais_bench/summarizers/metrics"
	"ais_bench/tasks/load"
	"ais_bench/tasks/sweep"
)

const groupSweep = "Sweep"

// notInSweeps are flags of `bench serve` that a sweep does not have: what it
// varies itself, and vLLM's result file, of which a sweep has its own kind.
var notInSweeps = []string{
	"request-rate", "max-concurrency", "ramp-up-strategy", "ramp-up-start-rps", "ramp-up-end-rps", "probe-request-rate", "profile", "calibrate", "multi-turn-concurrency", "num-prompts", "self-timed", "use-trace-timestamps",
	"save-result", "save-detailed", "append-result", "result-dir", "result-filename", "output-file", "metadata", "label", "percentile-metrics", "metric-percentiles",
	"plot-timeline", "timeline-itl-thresholds", "plot-dataset-stats", "tables", "cache-report", "replay-speed", "baseline",
}

// sweepFlags are those of `bench serve` that say who is asked what, and the
// sweep's own.
func sweepFlags() []cli.Flag {
	flags := slices.DeleteFunc(slices.Clone(benchServeCommand().Flags), func(f cli.Flag) bool { return slices.Contains(notInSweeps, f.Names()[0]) })
	return append(flags,
		&cli.StringFlag{Name: "max-concurrency", Category: groupSweep, Usage: "sweep over requests in flight: `1,4,8,…`"},
		&cli.StringFlag{Name: "request-rate", Category: groupSweep, Usage: "sweep over requests/s: `1,2,4,…`"},
		&cli.IntFlag{Name: "concurrency-cap", Category: groupSweep, DefaultText: "none", Usage: "with --request-rate: requests in flight at most, at every rate"},
		&cli.StringFlag{Name: "num-prompts", Aliases: []string{"num-prompt"}, Category: groupSweep, DefaultText: "10x, at least 100", Usage: "requests a point: a number, `N`x for N times the concurrency (N seconds of a rate), or one number a point by commas"},
		&cli.Float64Flag{Name: "num-prompts-factor", Category: groupSweep, DefaultText: "none", Usage: "the same as --num-prompts `N`x"},
		&cli.IntFlag{Name: "num-runs", Category: groupSweep, DefaultText: "1; 2 with --slo", Usage: "runs of every point, for mean, CV and interval"},
		&cli.StringFlag{Name: "cooldown", Category: groupSweep, Value: "0", Usage: "pause of so many `SECONDS` between two runs"},
		&cli.StringFlag{Name: "slo", Category: groupSweep, Usage: "search the highest load that holds this `CONDITION`, such as 'ttft_p99<=2000 && tpot_p99<=50 && success>=0.99'"},
		&cli.StringFlag{Name: "axis", Category: groupSweep, Value: "concurrency", Usage: "what a search without a list raises: concurrency or rate"},
		&cli.Float64Flag{Name: "max", Category: groupSweep, DefaultText: "the last of the list", Usage: "with --slo: highest load tried; it is doubled up to there"},
		&cli.Float64Flag{Name: "min", Category: groupSweep, DefaultText: "1; for rates 1/64 of the first", Usage: "with --slo: lowest load tried where the first fails"},
		&cli.Float64Flag{Name: "resolution", Category: groupSweep, Value: 0.05, Usage: "with --slo: how fine the answer is, as a share of it"},
		&cli.IntFlag{Name: "max-repeats", Category: groupSweep, Value: 5, Usage: "with --slo: runs of a candidate at most, until the interval over them decides"},
		&cli.Float64Flag{Name: "headroom", Category: groupSweep, Value: 0.2, Usage: "with --slo: how far the recommended load stays below the highest, as a share"},
		&cli.StringFlag{Name: "config", Category: groupSweep, Usage: "sweep `FILE` (JSON, TOML or YAML); the command line wins over it"},
		&cli.StringFlag{Name: "reuse", Aliases: []string{"r"}, Category: groupSweep, Usage: "continue the sweep `SWEEP`, or the latest: only what is missing is measured"},
		&cli.BoolFlag{Name: "dry-run", Category: groupSweep, Usage: "print the points and their requests; send nothing"},
		&cli.StringFlag{Name: "percentile-metrics", Category: groupReport, Value: "ttft,tpot,e2el", Usage: "latencies of the printed table, of ttft,tpot,itl,e2el; the files have all"},
		&cli.StringFlag{Name: "metric-percentiles", Category: groupReport, Value: "50,95,99", Usage: "percentiles in the files beside p50, p95 and p99"},
	)
}

// prompts is how many requests a point has.
type prompts struct {
	fixed  int
	factor float64
	list   []int // by point
	least  int   // of a factor
}

// of is the number for the i-th value v of the axis.
func (p prompts) of(i int, v float64) int {
	switch {
	case len(p.list) > 0:
		return p.list[i]
	case p.fixed > 0:
		return p.fixed
	}
	return max(int(math.Ceil(p.factor*v-1e-9)), p.least, 1)
}

// parsePrompts reads --num-prompts and --num-prompts-factor. Not given it is ten
// times the load and at least 100, without which a P99 says nothing.
func parsePrompts(text string, factor float64, factorGiven bool) (prompts, error) {
	positive := func(v float64, err error) bool {
		return err == nil && v > 0 && v <= workloads.MaxRequests && !math.IsNaN(v)
	}
	switch {
	case text != "" && factorGiven:
		return prompts{}, usagef("--num-prompts and --num-prompts-factor exclude each other: leave one out")
	case factorGiven:
		if !positive(factor, nil) {
			return prompts{}, usagef("--num-prompts-factor %g: give a number above 0", factor)
		}
		return prompts{factor: factor}, nil
	case text == "":
		return prompts{factor: 10, least: 100}, nil
	}
	bad := usagef("--num-prompts %s: give a number such as 200, a factor such as 4x, or one number a point such as 50,200,400", text)
	if number, ok := strings.CutSuffix(strings.TrimSpace(text), "x"); ok {
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !positive(v, err) {
			return prompts{}, bad
		}
		return prompts{factor: v}, nil
	}
	var p prompts
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if !positive(float64(n), err) {
			return prompts{}, bad
		}
		p.list = append(p.list, n)
	}
	if len(p.list) == 1 {
		return prompts{fixed: p.list[0]}, nil
	}
	return p, nil
}

// The highest loads of a sweep.
const (
	maxSweptConcurrency = 100000
	maxSweptRate        = 1000000 // requests/s
)

// checkRates refuses rates at which a point's requests could not be sent within
// the longest time that is planned for.
func (w *sweepRun) checkRates() error {
	if w.axis != sweep.RequestRate {
		return nil
	}
	check := func(flag string, v float64, n int) error {
		err := load.CheckSpan(load.Constant{Rate: v}, n, 0)
		if err == nil {
			return nil
		}
		return usagef("%s", strings.Replace(err.Error(), "--request-rate", flag, 1))
	}
	for i, v := range w.values {
		if err := check("--request-rate", v, w.count.of(i, v)); err != nil {
			return err
		}
	}
	if w.search.Min > 0 {
		return check("--min", w.search.Min, w.count.of(0, w.search.Min))
	}
	return nil
}

// checkCounts refuses points of more requests than a run can have.
func (w *sweepRun) checkCounts() error {
	check := func(i int, v float64) error {
		cfg := w.base.Workload
		cfg.NumPrompts = w.count.of(i, v)
		if err := cfg.CheckSize(w.base.Dataset); err != nil {
			return usagef("the point %g: %w", v, err)
		}
		return nil
	}
	for i, v := range w.values {
		if err := check(i, v); err != nil {
			return err
		}
	}
	if w.search.Max > 0 {
		return check(0, w.search.Max)
	}
	return nil
}

// parseLoads reads the list of an axis: positive numbers, ascending in the result,
// each once.
func parseLoads(flag, text string, whole bool) ([]float64, error) {
	var list []float64
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		v, err := strconv.ParseFloat(word, 64)
		switch {
		case err != nil || math.IsNaN(v) || v <= 0:
			return nil, usagef("--%s %s: %q is no number above 0; give a list such as 1,4,8,16", flag, text, word)
		case math.IsInf(v, 0):
			return nil, usagef("--%s %s: inf is no point of a sweep; all at once is `bench serve`", flag, text)
		case whole && v != math.Trunc(v):
			return nil, usagef("--%s %s: %s is no whole number", flag, text, word)
		case whole && v > maxSweptConcurrency:
			return nil, usagef("--%s %s: at most %d", flag, text, maxSweptConcurrency)
		case !whole && v > maxSweptRate:
			return nil, usagef("--%s %s: %s requests/s are more than any client sends; at most %d", flag, text, word, maxSweptRate)
		}
		if slices.Contains(list, v) {
			return nil, usagef("--%s %s: %s is given twice", flag, text, word)
		}
		list = append(list, v)
	}
	if len(list) == 0 {
		return nil, usagef("--%s: give a list such as 1,4,8,16", flag)
	}
	if !slices.IsSorted(list) {
		slices.Sort(list)
	}
	return list, nil
}

// axisOf reads what the sweep varies: its name and values, nil values for a
// search that starts by itself.
func axisOf(c *cli.Context) (axis string, values []float64, err error) {
	byConcurrency, byRate := c.IsSet("max-concurrency"), c.IsSet("request-rate")
	switch {
	case byConcurrency && byRate:
		return "", nil, usagef("--max-concurrency and --request-rate are both given: a sweep varies one of them, because with both nobody can tell which one changed a figure, and a cap turns a rate above it into a closed loop; leave one out (--concurrency-cap bounds a sweep over rates)")
	case byConcurrency:
		values, err = parseLoads("max-concurrency", c.String("max-concurrency"), true)
		return sweep.Concurrency, values, err
	case byRate:
		values, err = parseLoads("request-rate", c.String("request-rate"), false)
		return sweep.RequestRate, values, err
	case c.String("slo") == "":
		return "", nil, usagef("nothing to sweep over: give --max-concurrency 1,4,8,… or --request-rate 1,2,4,…, or a search with --slo and --max")
	}
	switch c.String("axis") {
	case "concurrency":
		return sweep.Concurrency, nil, nil
	case "rate", "request-rate", "request_rate":
		return sweep.RequestRate, nil, nil
	}
	return "", nil, usagef("--axis %s: give concurrency or rate", c.String("axis"))
}

// byLengthFlag is --by-length-bucket; without a value it means the default
// boundaries (see optionalValue).
func byLengthFlag() cli.Flag {
	return &cli.StringFlag{Name: "by-length-bucket", Category: groupReport, DefaultText: "off; bare: 128,1024",
		Usage: "report short, medium and long requests apart, by input tokens: `BOUNDS` such as 128,1024 (short below 128, long above 1,024)"}
}

// lengthBounds reads --by-length-bucket; nil when it was not given.
func lengthBounds(c *cli.Context) ([]int, error) {
	if !c.IsSet("by-length-bucket") {
		return nil, nil
	}
	return parseLengthBounds(c.String("by-length-bucket"))
}

func parseLengthBounds(text string) ([]int, error) {
	if strings.Join(strings.Fields(text), "") == "short,medium,long" {
		return metrics.DefaultLengthBounds, nil
	}
	var bounds []int
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, usagef("--by-length-bucket %s: %q is no number of tokens above 0; give bounds such as 128,1024", text, word)
		}
		if len(bounds) > 0 && n <= bounds[len(bounds)-1] {
			return nil, usagef("--by-length-bucket %s: the bounds must ascend", text)
		}
		bounds = append(bounds, n)
	}
	if len(bounds) == 0 {
		return nil, usagef("--by-length-bucket: give bounds such as 128,1024, or nothing for these")
	}
	return bounds, nil
}

// axisFlag is the flag of an axis.
func axisFlag(axis string) string {
	if axis == sweep.RequestRate {
		return "request-rate"
	}
	return "max-concurrency"
}

// loadText is a value with its axis, for notes.
func loadText(axis string, v float64) string {
	if axis == sweep.RequestRate {
		return fmt.Sprintf("%s req/s", sweep.Number(v))
	}
	return "concurrency " + sweep.Number(v)
}
