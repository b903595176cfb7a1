package main

import (
	"math"
	"slices"
	"strings"

	"ais_bench/registry"
	"ais_bench/summarizers/capacity"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
	"ais_bench/tasks/sweep"
)

// prepare reads the flags and finds what cannot be meant before anything is sent.
func (w *sweepRun) prepare() error {
	c := w.c
	var err error
	if w.axis, w.values, err = axisOf(c); err != nil {
		return err
	}
	if !c.IsSet("backend") && c.IsSet("endpoint") {
		if name := bench.BackendFor(c.String("endpoint")); name != "" {
			if err := c.Set("backend", name); err != nil {
				return usage(err)
			}
		}
	}
	if w.base, err = requestOptions(c); err != nil {
		return err
	}
	keyFromEnvironment(&w.base)
	w.base.SelfTimed = bench.No // the sweep sets the arrivals
	if w.base.Metrics == nil {
		w.base.Metrics = &tasks.ServerMetrics{URLs: []string{"auto"}, IfThere: true} // what limits the server is best asked of the server
	}
	w.base.Tool, w.base.Args = toolInfo(), commandLine()
	if n := c.Int("concurrency-cap"); c.IsSet("concurrency-cap") {
		if n < 1 || w.axis != sweep.RequestRate {
			return usagef("--concurrency-cap %d: give a number above 0, with --request-rate", n)
		}
		w.base.MaxConcurrency = n
	}
	if w.count, err = parsePrompts(c.String("num-prompts"), c.Float64("num-prompts-factor"), c.IsSet("num-prompts-factor")); err != nil {
		return err
	}
	if n := len(w.count.list); n > 0 && n != len(w.values) {
		return usagef("--num-prompts %s: %d numbers for %d points", c.String("num-prompts"), n, len(w.values))
	}
	if err := w.prepareSearch(); err != nil {
		return err
	}
	if err := w.checkCounts(); err != nil {
		return err
	}
	if err := w.checkRates(); err != nil {
		return err
	}
	return w.prepareReports()
}

// prepareSearch reads the flags of --slo and the number of runs.
func (w *sweepRun) prepareSearch() error {
	c := w.c
	text := c.String("slo")
	w.runs = 1
	if text != "" {
		w.runs = 2
	}
	if c.IsSet("num-runs") {
		if w.runs = c.Int("num-runs"); w.runs < 1 || w.runs > 1000 {
			return usagef("--num-runs %d: give 1 to 1000", w.runs)
		}
	}
	if text == "" {
		for _, flag := range []string{"max", "min", "resolution", "max-repeats", "headroom", "axis"} {
			if c.IsSet(flag) {
				return usagef("--%s goes with --slo, the search for the highest load that holds a condition", flag)
			}
		}
		return nil
	}
	var err error
	if w.slo, err = capacity.ParseSLO(text); err != nil {
		return usagef("--slo %w", err)
	}
	if len(w.count.list) > 0 {
		return usagef("--num-prompts with one number a point does not go with --slo, whose points are found on the way; give a number or a factor")
	}
	s := sweep.Search{Steps: w.values, Min: c.Float64("min"), Max: c.Float64("max"), Whole: w.axis == sweep.Concurrency, Resolution: c.Float64("resolution"),
		Runs: w.runs, MaxRuns: c.Int("max-repeats")}
	if !c.IsSet("max-repeats") {
		s.MaxRuns = max(s.MaxRuns, w.runs)
	}
	switch {
	case c.IsSet("max") && (s.Max <= 0 || math.IsInf(s.Max, 0) || s.Whole && s.Max != math.Trunc(s.Max)):
		return usagef("--max %g: give a load above 0%s", s.Max, wholeText(s.Whole))
	case s.Max > maxSweptRate || s.Whole && s.Max > maxSweptConcurrency:
		return usagef("--max %g: at most %d concurrent requests, or %d requests/s", s.Max, maxSweptConcurrency, maxSweptRate)
	case c.IsSet("min") && (s.Min <= 0 || s.Whole && s.Min != math.Trunc(s.Min)):
		return usagef("--min %g: give a load above 0%s", s.Min, wholeText(s.Whole))
	case len(s.Steps) < 2 && s.Max == 0:
		return usagef("--slo: give the highest load to try with --max, or several steps with --%s", axisFlag(w.axis))
	case s.MaxRuns < s.Runs:
		return usagef("--max-repeats %d is below --num-runs %d", s.MaxRuns, s.Runs)
	case !(s.Resolution > 0 && s.Resolution < 1):
		return usagef("--resolution %g: give a share above 0 and below 1, such as 0.05", s.Resolution)
	}
	if h := c.Float64("headroom"); !(h >= 0 && h < 1) {
		return usagef("--headroom %g: give a share from 0 to below 1, such as 0.2", h)
	}
	if len(s.Steps) == 0 {
		s.Steps = []float64{min(max(s.Min, 1), s.Max)}
	}
	if last := s.Steps[len(s.Steps)-1]; s.Max > 0 && s.Max < last {
		return usagef("--max %g lies below the list's last value %g", s.Max, last)
	}
	if s.Min > s.Steps[0] {
		return usagef("--min %g lies above the first load %g", s.Min, s.Steps[0])
	}
	w.search = s
	return nil
}

func wholeText(whole bool) string {
	if whole {
		return ", a whole number"
	}
	return ""
}

// prepareReports reads what concerns figures and tables.
func (w *sweepRun) prepareReports() error {
	c := w.c
	var err error
	v := sweepView{Goodput: c.StringSlice("goodput"), Latencies: []string{}}
	if v.Percentiles, err = percentiles(c); err != nil {
		return err
	}
	if v.LengthBounds, err = lengthBounds(c); err != nil {
		return err
	}
	for _, name := range splitCommas([]string{strings.ToLower(c.String("percentile-metrics"))}) {
		if !slices.Contains(capacity.MainLatencies, name) {
			return usagef("--percentile-metrics: unknown metric %q%s; of %s", name, registry.DidYouMean(name, capacity.MainLatencies), strings.Join(capacity.MainLatencies, ", "))
		}
		v.Latencies = append(v.Latencies, name)
	}
	if w.m, err = v.metrics(w.slo); err != nil {
		return usage(err)
	}
	w.view = v
	return nil
}
