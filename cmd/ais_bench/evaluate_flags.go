package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/datasets/workloads"
	"ais_bench/evaluators"
	"ais_bench/models"
	"ais_bench/registry"
	"ais_bench/tasks"
	"ais_bench/tasks/load"
)

// checkEvaluateFlags rejects combinations that cannot be meant.
func checkEvaluateFlags(c *cli.Context) error {
	if c.NArg() > 0 {
		arg := c.Args().First()
		if strings.HasSuffix(arg, ".py") {
			return usagef("%s: Python configurations are not executed; name configurations with --models and --datasets, and change fields with flags or --set", arg)
		}
		if arg == "version" {
			return usagef("unknown command %q: ais_bench --version prints the version", arg)
		}
		names := make([]string, 0, len(c.App.Commands))
		for _, cmd := range c.App.Commands {
			names = append(names, cmd.Name)
		}
		return usagef("unknown command %q%s", arg, registry.DidYouMean(arg, names))
	}
	if c.Bool("response-anomaly") {
		return usagef("--response-anomaly needs the msProbe library and is not part of this program")
	}
	if c.Bool("spec-decode") && c.String("mode") != "perf" && c.String("mode") != "all" {
		fmt.Fprintln(c.App.ErrWriter, "warning: --spec-decode is ignored: it goes with --mode perf or all")
	}
	if c.Bool("pressure") && c.String("mode") != "perf" {
		return usagef("--pressure goes with --mode perf")
	}
	if s := c.Int("pressure-time"); s < 1 || s > 86400 {
		return usagef("--pressure-time %d: give 1 to 86400 seconds", s)
	}
	if n := c.Int("num-warmups"); n < 0 || n > workloads.MaxRequests {
		return usagef("--num-warmups %d: give 0 to %d", n, workloads.MaxRequests)
	}
	if c.Int("max-num-workers") < 1 {
		return usagef("--max-num-workers %d: give 1 or more", c.Int("max-num-workers"))
	}
	if _, err := metricOptions(c); err != nil {
		return err
	}
	mode, err := tasks.ParseMode(c.String("mode"))
	if err != nil {
		return usage(err)
	}
	if err := checkSummarizer(c.String("summarizer"), mode); err != nil {
		return err
	}
	if err := checkSandbox(c); err != nil {
		return err
	}
	if id := c.String("scorer"); id != "" {
		if _, err := evaluators.Describe(id); err != nil {
			return usage(err)
		}
	}
	return knownLang(c)
}

// checkSandbox checks the name of the sandbox before anything is asked.
func checkSandbox(c *cli.Context) error {
	kinds := []string{"native", "bwrap", "runsc", "none"}
	if k := c.String("sandbox"); !slices.Contains(kinds, k) {
		return usagef("--sandbox %s: unknown%s; one of %s", k, registry.DidYouMean(k, kinds), strings.Join(kinds, ", "))
	}
	return nil
}

// summarizerKinds are AISBench's names by what they summarize.
var summarizerKinds = map[string]string{"example": "accuracy", "medium": "accuracy", "leval": "accuracy",
	"default_perf": "performance", "stable_stage": "performance"}

// checkSummarizer refuses a summarizer of a kind that the mode does not give.
// In mode all one run gives both, whichever is named.
func checkSummarizer(s string, mode tasks.Mode) error {
	if s == "" {
		return nil
	}
	name, err := summarizerNamed(s)
	if err != nil {
		return err
	}
	performance := mode == tasks.ModeInfer || mode == tasks.ModePerf || mode == tasks.ModePerfViz
	if kind := summarizerKinds[name]; mode != tasks.ModeAll && (kind == "performance") != performance {
		return usagef("--summarizer %s summarizes %s, which --mode %s does not give", name, kind, mode)
	}
	return nil
}

// summarizerNamed is the name that s means.
func summarizerNamed(s string) (string, error) {
	name := filepath.Base(s) // perf/default_perf is an old spelling
	if _, ok := summarizerKinds[name]; ok {
		return name, nil
	}
	var names []string
	for n := range summarizerKinds {
		names = append(names, n)
	}
	slices.Sort(names)
	return "", usagef("unknown summarizer %q%s; one of %s", s, registry.DidYouMean(s, names), strings.Join(names, ", "))
}

// runOptions are the options of a run that the flags describe.
func runOptions(c *cli.Context, mode tasks.Mode) (tasks.Options, error) {
	o := tasks.Options{Mode: mode, WorkDir: c.String("work-dir"), Reuse: c.String("reuse"), NumWarmups: c.Int("num-warmups"),
		Seed: c.Int64("seed"), Pressure: c.Bool("pressure"), MaxNumWorkers: c.Int("max-num-workers"), NoStorePrompts: c.Bool("no-store-prompts"),
		Scorer: c.String("scorer"), Sandbox: c.String("sandbox"), SpecDecode: c.Bool("spec-decode"), JudgeConcurrency: c.Int("judge-concurrency"), Tool: toolInfo(), Args: commandLine()}
	if c.Bool("debug") {
		o.MaxNumWorkers = 1
	}
	if o.Pressure {
		o.Duration = time.Duration(c.Int("pressure-time")) * time.Second
	}
	var err error
	if o.ServerOptions, err = serverOptions(c); err != nil {
		return o, err
	}
	for flag, field := range map[string]*time.Duration{"drain": &o.Drain, "ready-timeout": &o.ReadyTimeout, "duration": &o.Duration, "warmup-time": &o.WarmupTime} {
		s := c.String(flag)
		if s == "" || flag == "duration" && !c.IsSet(flag) {
			continue
		}
		d, err := models.ParseDuration(s)
		if err != nil || d < 0 {
			return o, usagef("--%s %s: give seconds or a duration like 1m30s", flag, s)
		}
		*field = time.Duration(d)
	}
	// A duration and a number: whichever comes first.
	o.CountAndDuration = c.IsSet("duration") && c.IsSet("num-prompts")
	if o.Stages, err = load.ParseStages(c.String("stages")); err != nil {
		return o, usage(err)
	}
	if len(o.Stages) > 0 && (mode != tasks.ModePerf || o.Pressure) {
		return o, usagef("--stages goes with --mode perf, without --pressure: the stretches decide how many requests are sent")
	}
	if len(o.Stages) > 0 && o.Duration == 0 {
		for _, s := range o.Stages {
			o.Duration += s.For
		}
	}
	if o.Cooldown = c.Int("cooldown"); o.Cooldown < 0 {
		return o, usagef("--cooldown %d: give 0 or more", o.Cooldown)
	}
	if o.ReplaySpeed = c.Float64("replay-speed"); !(o.ReplaySpeed > 0) {
		return o, usagef("--replay-speed %g: give a number above 0", o.ReplaySpeed)
	}
	if o.Duration > 0 && mode != tasks.ModePerf {
		return o, usagef("--duration goes with --mode perf: an accuracy run asks every question the same number of times")
	}
	return o, nil
}

// judges are the models that --judge-model names; nil without.
func judges(c *cli.Context) ([]tasks.ModelChoice, error) {
	names := c.StringSlice("judge-model")
	if len(names) == 0 {
		return nil, nil
	}
	reg, err := openModels(c)
	if err != nil {
		return nil, err
	}
	entries, err := reg.Select(splitCommas(names)...)
	if err != nil {
		return nil, usage(err)
	}
	if err := applyJudgeSets(c.StringSlice("set"), entries); err != nil {
		return nil, err
	}
	var out []tasks.ModelChoice
	for _, e := range entries {
		out = append(out, tasks.ModelChoice{Name: e.Name, Origin: e.Origin, Config: e.Value})
	}
	return out, nil
}

// applyJudgeSets applies the --set models.NAME… that name a judge; the others
// are for the models under test.
func applyJudgeSets(sets []string, entries []*registry.Entry[models.Config]) error {
	for _, s := range sets {
		path, value, _ := strings.Cut(s, "=")
		for _, e := range entries {
			if field, ok := strings.CutPrefix(path, "models."+e.Name+"."); ok {
				if err := e.Set(field, value); err != nil {
					return usagef("--set %s: %w", s, err)
				}
			}
		}
	}
	return nil
}
