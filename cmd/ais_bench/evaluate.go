package main

import (
	"fmt"
	"os"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/summarizers/contract"
	"ais_bench/tasks"
	"ais_bench/tasks/launch"
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
	var sending atomic.Bool
	sending.Store(opts.Mode.NeedsReuse()) // what was sent is scored or shown
	ctx, stop, cut, end := interrupts(c.Context, bar.Note, &sending)
	defer end()
	opts.Observer, opts.Stop, opts.Cut = sendingObserver{bar, &sending}, stop, cut
	l, err := readLaunch(c)
	if err != nil {
		return err
	}
	before, cancel := tasks.UntilStopped(ctx, stop)
	launched, err := launchForPlan(before, l, c, plan, &opts)
	interrupted := before.Err() != nil && l.Command != ""
	cancel()
	if launched != nil {
		defer launched.Stop()
	}
	if interrupted {
		err = errUnsent
	}
	if err != nil {
		bar.close()
		return err
	}
	out, err := tasks.Run(ctx, plan, opts)
	died := ""
	if launched != nil {
		died = launched.Died()
		launched.Stop() // reports need no engine
	}
	var calErr error
	if c.Bool("calibrate") && err == nil && out != nil && out.Run != nil && out.AnyAnswer() {
		calErr = calibrateRun(ctx, stop, c, out, bar.Note)
	}
	bar.close()
	if out == nil || out.Run == nil {
		return launch.Blame(died, usageUnlessEnvironment(err))
	}
	unwritten := unwrittenOf(err)
	if launched != nil && out.AnyAnswer() {
		launch.KeepLog(launched, out.Run)
	}
	for _, w := range out.Warnings {
		fmt.Fprintln(c.App.ErrWriter, "warning: "+w)
	}
	var v *contract.Verdict
	var gateErr error
	if out.AnyAnswer() {
		if g == nil && c.IsSet("reuse") { // the run's own contract: a verdict from before would be of other figures
			if g, err = ownGate(c, out.Run); err != nil {
				return launch.Blame(died, err)
			}
		}
		v, gateErr = g.keep(out.Run)
	}
	unwritten = firstOf(unwritten, writeReports(c, out.Run, opts.Mode, out, v))
	if v != nil { // what is left of the verdict is of files
		unwritten, gateErr = firstOf(unwritten, gateErr, g.write(out.Run, v)), nil
	}
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
	return launch.Blame(died, bothSaid(unwritten, firstOf(conclude(c, v, out, out.Err(sameAgain(c, os.Args[1:], out.Run))), gateErr, calErr)))
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
