package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/evaluators"
	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/registry"
	"ais_bench/summarizers/contract"
	"ais_bench/tasks"
	"ais_bench/tasks/launch"
	"ais_bench/tasks/load"
)

// evaluateAction is the main job: `ais_bench --models … --datasets …`.
func evaluateAction(c *cli.Context) error {
	if c.NumFlags() == 0 && c.NArg() == 0 {
		return cli.ShowAppHelp(c)
	}
	if err := checkEvaluateFlags(c); err != nil {
		return err
	}
	if err := loadEnvFile(c); err != nil {
		return err
	}
	mode, err := tasks.ParseMode(c.String("mode"))
	if err != nil {
		return usage(err)
	}
	reuse := c.String("reuse")
	if mode == tasks.ModePerf && reuse != "" {
		fmt.Fprintln(c.App.ErrWriter, "warning: a performance run is never continued: --mode perf --reuse recomputes the stored one (perf_viz)")
		mode = tasks.ModePerfViz
	}
	if mode == tasks.ModeViz || mode == tasks.ModePerfViz {
		return revisit(c, mode, reuse)
	}
	chosen, err := chosenModels(c, c.StringSlice("models"))
	if err != nil {
		return err
	}
	sets, err := chosenDatasets(c)
	if err != nil {
		return err
	}
	plan, err := tasks.NewPlan(chosen, sets)
	if err != nil {
		return usage(err)
	}
	switch {
	case c.Bool("search"):
		return search(c.App.Writer, plan)
	case c.Bool("dry-run"):
		return dryRun(c, plan, mode)
	}
	if mode == tasks.ModePerf {
		for _, t := range plan.Tasks {
			if t.Dataset.Config.Asking() == "ppl" {
				return usagef("data set %s asks for log-probabilities (ppl): it has no performance run", t.Dataset.Name)
			}
		}
	}
	opts, err := runOptions(c, mode)
	if err != nil {
		return err
	}
	if opts.Judges, err = judges(c); err != nil {
		return err
	}
	return carryOut(c, plan, opts)
}

// checkEvaluateFlags rejects combinations that cannot be meant.
func checkEvaluateFlags(c *cli.Context) error {
	if c.NArg() > 0 {
		arg := c.Args().First()
		if strings.HasSuffix(arg, ".py") {
			return usagef("%s: Python configurations are not executed; name configurations with --models and --datasets, and change fields with flags or --set", arg)
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
	if c.Int("num-warmups") < 0 {
		return usagef("--num-warmups %d: give 0 or more", c.Int("num-warmups"))
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

// summarizers are AISBench's names by what they summarize.
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

// commandLine is how the program was called.
// commandLine is the command as it may be recorded: without the passwords of URLs.
func commandLine() []string {
	args := slices.Clone(os.Args)
	for i := range args {
		args[i] = outputs.WithoutURLPasswords(args[i])
	}
	return args
}

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

// search prints where the chosen configurations come from.
func search(w io.Writer, plan *tasks.Plan) error {
	t := outputs.Table{Columns: []outputs.Column{{Name: "Task Type"}, {Name: "Task Name"}, {Name: "Config File Path"}}}
	seen := map[string]bool{}
	add := func(kind, name, origin string) {
		if !seen[kind+name] {
			seen[kind+name] = true
			t.AddRow(kind, name, origin)
		}
	}
	for _, task := range plan.Tasks {
		add("--models", task.Model.Name, task.Model.Origin)
	}
	for _, task := range plan.Tasks {
		add("--datasets", task.Dataset.Name, task.Dataset.Origin)
	}
	return t.WriteText(w, outputs.TextOptions{})
}

// dryRun prints the plan and sends nothing.
func dryRun(c *cli.Context, plan *tasks.Plan, mode tasks.Mode) error {
	g, err := evaluateGate(c)
	if err != nil {
		return err
	}
	plan.Offline = true
	est, err := plan.Estimate(c.Context)
	if err != nil {
		return usageUnlessEnvironment(tasks.DataError(err))
	}
	if g != nil {
		opts, err := runOptions(c, mode)
		if err != nil {
			return err
		}
		if err := g.check(planned(est, opts)); err != nil {
			return err
		}
	}
	t := outputs.Table{Title: "Plan (dry run: nothing is sent)", Columns: []outputs.Column{{Name: "Model"}, {Name: "Dataset"}, {Name: "Service"},
		{Name: "Samples", Kind: outputs.KindInt}, {Name: "Requests", Kind: outputs.KindInt},
		{Name: "Input tokens (estimate)", Kind: outputs.KindInt}, {Name: "Output tokens (at most)", Kind: outputs.KindInt}, {Name: "Concurrency", Kind: outputs.KindInt}}}
	requests, in := 0, int64(0)
	for _, e := range est {
		m := e.Task.Model.Config
		service := "built-in simulator"
		if !m.Simulated() {
			ep, err := m.Endpoint()
			if err != nil {
				return usagef("model %s: %w", e.Task.Model.Name, err)
			}
			service = ep.Server
		}
		var out any = e.MaxOutputTokens
		if e.MaxOutputTokens < 0 {
			out = nil
		}
		t.AddRow(e.Task.ModelAbbr, e.Task.DatasetAbbr, service, e.Samples, e.Requests, e.InputTokens, out, max(m.BatchSize, 1))
		requests += e.Requests
		in += e.InputTokens
	}
	t.Notes = append(t.Notes, fmt.Sprintf("%d requests and about %d input tokens in all, without warm-ups (%d a task) and retries; input tokens by four ASCII bytes or one other character a token",
		requests, in, c.Int("num-warmups")))
	return t.WriteText(c.App.Writer, outputs.TextOptions{})
}

// carryOut runs the plan, prints the tables and maps the outcome to an error.
func carryOut(c *cli.Context, plan *tasks.Plan, opts tasks.Options) error {
	g, err := evaluateGate(c)
	if err != nil {
		return err
	}
	if g != nil {
		est, err := plan.Estimate(c.Context)
		if err != nil {
			return usageUnlessEnvironment(tasks.DataError(err))
		}
		if err := g.check(planned(est, opts)); err != nil {
			return err
		}
		opts.Attached = g.attachments()
	}
	bar := newProgress(c.App.ErrWriter, c.Bool("debug"))
	ctx, stop, cut, end := interrupts(c.Context, bar.Note)
	defer end()
	opts.Observer, opts.Stop, opts.Cut = bar, stop, cut
	l, err := readLaunch(c)
	if err != nil {
		return err
	}
	before, cancel := tasks.UntilStopped(ctx, stop)
	launched, err := launchForPlan(before, l, c, plan, &opts)
	cancel()
	if err != nil {
		bar.close()
		return err
	}
	if launched != nil {
		defer launched.Stop()
	}
	out, err := tasks.Run(ctx, plan, opts)
	died := ""
	if launched != nil {
		died = launched.Died()
		launched.Stop() // reports need no engine
	}
	var calErr error
	if c.Bool("calibrate") && err == nil && out != nil && out.Run != nil && anyAnswer(out) {
		calErr = calibrateRun(ctx, stop, c, out, bar.Note)
	}
	bar.close()
	if out == nil || out.Run == nil {
		return launch.Blame(died, usageUnlessEnvironment(err))
	}
	if err != nil {
		return launch.Blame(died, err)
	}
	if launched != nil && anyAnswer(out) {
		launch.KeepLog(launched, out.Run)
	}
	for _, w := range out.Warnings {
		fmt.Fprintln(c.App.ErrWriter, "warning: "+w)
	}
	var v *contract.Verdict
	var gateErr error
	if anyAnswer(out) {
		if g == nil && c.IsSet("reuse") { // the run's own contract: a verdict from before would be of other figures
			if g, err = ownGate(c, out.Run); err != nil {
				return launch.Blame(died, err)
			}
		}
		v, gateErr = g.keep(out.Run)
	}
	reportErr := writeReports(c, out.Run, opts.Mode, out, v)
	gateErr = errors.Join(gateErr, g.write(out.Run, v))
	printSpecDecode(c.App.Writer, out)
	printFailures(c.App.ErrWriter, out)
	if err := runFolder(c, out); err != nil {
		return launch.Blame(died, err)
	}
	if v != nil {
		fmt.Fprintln(c.App.Writer)
		if err := printVerdict(c, g, v); err != nil {
			return launch.Blame(died, err)
		}
	}
	if err := conclude(c, v, out, taskErrors(out, sameAgain(c, os.Args[1:], out.Run))); err != nil {
		return launch.Blame(died, err)
	}
	return launch.Blame(died, errors.Join(gateErr, reportErr, calErr))
}

// ownGate is the contract that a continued run was started with, nil without one.
func ownGate(c *cli.Context, run *outputs.Run) (*gate, error) {
	o, err := metricOptions(c)
	if err != nil {
		return nil, err
	}
	g, _, err := reportVerdict(c, run, o)
	return g, err
}

// evaluateGate is the contract of an evaluation.
func evaluateGate(c *cli.Context) (*gate, error) {
	m, err := metricOptions(c)
	if err != nil {
		return nil, err
	}
	return openGate(c, m)
}

// runFolder says where the run is, or removes the folder of a start that failed
// before anything was asked.
func runFolder(c *cli.Context, out *tasks.Outcome) error {
	gone, err := out.Run.Discard()
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	if !gone {
		fmt.Fprintf(c.App.Writer, "\nRun folder: %s\n", out.Run.Dir())
	}
	return nil
}

func usageUnlessEnvironment(err error) error {
	var env *tasks.EnvironmentError
	if errors.As(err, &env) {
		return err
	}
	return usage(err)
}

// printSpecDecode shows what --spec-decode found.
func printSpecDecode(w io.Writer, out *tasks.Outcome) {
	for _, to := range out.Tasks {
		s := to.SpecDecode
		if s == nil {
			continue
		}
		if s.Reason != "" {
			fmt.Fprintf(w, "\nSpeculative decoding of %s: N/A, %s\n", to.Task, s.Reason)
			continue
		}
		fmt.Fprintf(w, "\nSpeculative decoding of %s: acceptance rate %.2f %%, acceptance length %.3f, %.0f drafts, %.0f draft tokens, %.0f accepted", to.Task,
			100**s.AcceptanceRate, *s.AcceptanceLength, s.Drafts, s.DraftTokens, s.AcceptedTokens)
		for i, r := range s.PerPosition {
			fmt.Fprintf(w, ", position %d %.2f %%", i, 100*r)
		}
		fmt.Fprintln(w)
	}
}

// printFailures lists why requests failed, most frequent first.
func printFailures(w io.Writer, out *tasks.Outcome) {
	for _, to := range out.Tasks {
		if to.Inference == nil || len(to.Inference.Reasons) == 0 {
			continue
		}
		type reason struct {
			text string
			n    int
		}
		var list []reason
		for text, n := range to.Inference.Reasons {
			list = append(list, reason{text, n})
		}
		slices.SortFunc(list, func(a, b reason) int {
			if a.n != b.n {
				return b.n - a.n
			}
			return strings.Compare(a.text, b.text)
		})
		fmt.Fprintf(w, "%s: %d of %d requests failed:\n", to.Task, to.Inference.Failed, to.Inference.Asked-to.Inference.Resumed)
		for i, r := range list {
			if i == 10 {
				fmt.Fprintf(w, "  … and %d more reasons, see logs/infer\n", len(list)-i)
				break
			}
			fmt.Fprintf(w, "  %d × %s\n", r.n, out.Run.Redactor().String(r.text))
		}
	}
}

// interruptedLine says how far an interrupted task has come and how it goes on.
func interruptedLine(out *tasks.Outcome, to *tasks.TaskOutcome) string {
	in := to.Inference
	line := fmt.Sprintf("%s: interrupted after %d answers", to.Task, in.Answered+in.Resumed)
	if in.NotAsked > 0 {
		line += fmt.Sprintf(", %d questions not asked", in.NotAsked)
	}
	if in.Cancelled > 0 {
		line += fmt.Sprintf(", %d cut off", in.Cancelled)
	}
	if in.Failed > 0 {
		line += fmt.Sprintf(", %d failed", in.Failed)
	}
	if out.Continues {
		return line
	}
	return line + "; the figures are of what ended (a performance run is never continued)"
}

// taskErrors is the error the run ends with: one line a failed task, and the command
// (again) that goes on with what is missing, where one can. The
// surroundings are to blame only when every failure is theirs.
func taskErrors(out *tasks.Outcome, again string) error {
	var lines []string
	goOn := ""
	environment := true
	for _, to := range out.Tasks {
		switch {
		case to.Err != nil:
			var env *tasks.EnvironmentError
			environment = environment && errors.As(to.Err, &env)
			lines = append(lines, out.Run.Redactor().String(to.Err.Error()))
		case len(to.Changed) > 0:
			environment = false
			lines = append(lines, fmt.Sprintf("%s: the server changed during the run (%s): the figures are of two servers", to.Task, strings.Join(to.Changed, ", ")))
		case to.Inference != nil && to.Inference.Stopped:
			environment = false
			lines = append(lines, interruptedLine(out, to))
			goOn = "continue with "
		case to.Inference != nil && to.Inference.Failed > 0:
			environment = false
			line := fmt.Sprintf("%s: %d of %d questions have no answer", to.Task, to.Inference.Failed, to.Inference.Asked)
			if goOn == "" {
				goOn = "ask them again with "
			}
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	lines = slices.Compact(lines)
	if out.Continues && goOn != "" {
		lines = append(lines, goOn+again)
	}
	err := errors.New(strings.Join(lines, "; "))
	if environment {
		return &tasks.EnvironmentError{Err: err}
	}
	return err
}
