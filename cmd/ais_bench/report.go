package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"ais_bench/outputs"
	"ais_bench/summarizers"
	"ais_bench/summarizers/contract"
	"ais_bench/summarizers/metrics"
	"ais_bench/tasks"
	"ais_bench/tasks/grid"
	"ais_bench/tasks/sweep"
)

// reportFlags are shared by everything that makes reports.
func metricOptions(c *cli.Context) (metrics.Options, error) {
	var o metrics.Options
	var err error
	if o.SLOs, err = metrics.ParseSLOs(c.StringSlice("goodput")); err != nil {
		return o, usage(err)
	}
	if o.Percentiles, err = percentiles(c); err != nil {
		return o, err
	}
	o.LengthBounds, err = lengthBounds(c)
	return o, err
}

// percentiles reads --metric-percentiles.
func percentiles(c *cli.Context) ([]float64, error) {
	ps, err := metrics.ParsePercentiles([]string{c.String("metric-percentiles")})
	if err == nil && len(ps) == 0 {
		err = errors.New("no percentile in it")
	}
	if err != nil {
		return nil, usagef("--metric-percentiles %s: %w", c.String("metric-percentiles"), err)
	}
	return ps, nil
}

// writeReports makes tables and files of a run that has just ended, and prints
// the tables.
func writeReports(c *cli.Context, run *outputs.Run, mode tasks.Mode, out *tasks.Outcome, v *contract.Verdict) error {
	m, err := metricOptions(c)
	if err != nil {
		return err
	}
	o := summarizers.ReportOptions{Title: c.String("title"), Tool: "ais_bench " + versionLine(), Lang: c.String("lang"), Metrics: m, Excel: true, HTML: true, Verdict: reportOf(v), ByLength: m.LengthBounds != nil}
	switch mode {
	case tasks.ModeAll:
		o.Accuracy, o.Performance = true, true
	case tasks.ModeInfer, tasks.ModePerf, tasks.ModePerfViz:
		o.Performance = true
	case tasks.ModeViz:
		o.Accuracy = true
	default:
		o.Accuracy = true
	}
	if c.String("summarizer") != "" {
		name, err := summarizerNamed(c.String("summarizer"))
		if err != nil {
			return err
		}
		o.StableStage = name == "stable_stage" && o.Performance
	}
	if out != nil && !out.AnyAnswer() {
		return nil
	}
	s, unwritten := madeReports(summarizers.Report(run, o))
	if s == nil {
		return unwritten
	}
	if err := printTables(c, s.Tables); err != nil {
		return err
	}
	printServerWarnings(c, s)
	fmt.Fprintln(c.App.Writer, "\n"+outputs.ChecklistLine(s.Checklist))
	return unwritten
}

// madeReports says whose error it is that reports were not made. Beside a summary it
// is of files that could not be written: it is returned when all that was found is
// shown and saved elsewhere.
func madeReports(s *summarizers.Summary, err error) (*summarizers.Summary, error) {
	if err != nil {
		err = &tasks.EnvironmentError{Err: err}
	}
	return s, err
}

// firstOf is the first error there is: where one disk is full, one line says so.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// unwrittenOf says of an error that a run ended with beside its outcome whose it is:
// a file's, which costs none of the figures.
func unwrittenOf(err error) error {
	var env *tasks.EnvironmentError
	if err == nil || errors.As(err, &env) {
		return err
	}
	return &tasks.EnvironmentError{Err: err}
}

// bothSaid is the one line of what could not be written and of how the work ended;
// the exit code is that of the first.
func bothSaid(unwritten, ended error) error {
	switch {
	case unwritten == nil:
		return ended
	case ended == nil:
		return unwritten
	}
	return reworded{unwritten, unwritten.Error() + "; " + ended.Error()}
}

func printTables(c *cli.Context, tables []outputs.Table) error {
	opts := outputs.TextOptions{}
	if f, ok := c.App.Writer.(*os.File); ok {
		opts.Color = outputs.ColorAllowed(os.Getenv, term.IsTerminal(int(f.Fd())))
	}
	for i := range tables {
		if i > 0 {
			fmt.Fprintln(c.App.Writer)
		}
		if err := tables[i].WriteText(c.App.Writer, opts); err != nil {
			return fmt.Errorf("print the tables: %w", err)
		}
	}
	return nil
}

// revisit shows an earlier run again without asking or scoring.
func revisit(c *cli.Context, mode tasks.Mode, reuse string) error {
	if reuse == "" {
		return usagef("--mode %s works on what an earlier run left: name it with --reuse TIMESTAMP, or --reuse for the latest", mode)
	}
	chosen, sets, err := chosenToShow(c)
	if err != nil {
		return err
	}
	run, note, err := tasks.FindShown(c.String("work-dir"), reuse, mode, chosen, sets)
	if err != nil {
		return usageUnlessEnvironment(err)
	}
	if note != "" {
		fmt.Fprintln(c.App.ErrWriter, "note: "+note)
	}
	unlock, err := run.Lock() // what is still being measured has no summary yet
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	defer unlock()
	g, err := evaluateGate(c)
	if err != nil {
		return err
	}
	v, gateErr := g.keep(run)
	if v == nil && gateErr != nil {
		return gateErr
	}
	unwritten := firstOf(writeReports(c, run, mode, nil, v), gateErr, g.write(run, v))
	fmt.Fprintf(c.App.Writer, "\nRun folder: %s\n", run.Dir())
	if v != nil {
		if err := printVerdict(c, g, v); err != nil {
			return err
		}
	}
	return bothSaid(unwritten, verdictErr(v))
}

// chosenToShow are the models and data sets that are named; none where all is to be
// shown that the run holds.
func chosenToShow(c *cli.Context) (chosen []tasks.ModelChoice, sets []tasks.DatasetChoice, err error) {
	if names := c.StringSlice("models"); len(names) > 0 {
		if chosen, err = chosenModels(c, names); err != nil {
			return nil, nil, err
		}
	}
	if len(c.StringSlice("datasets")) > 0 || c.String("custom-dataset-path") != "" {
		sets, err = chosenDatasets(c)
	}
	return chosen, sets, err
}

// reportCommand rebuilds the reports of a run from its records.
func reportCommand() *cli.Command {
	return &cli.Command{
		Name: "report", Usage: "rebuild the reports of a run from its records", ArgsUsage: "RUN",
		Description: "RUN is a run folder, its name below --work-dir, or latest; a sweep or a grid too: its tables and reports are made from its points.\n" +
			"Nothing is asked and nothing is scored again: every number is computed from the records and results in the folder.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "work-dir", Aliases: []string{"w"}, Value: "outputs/default", Usage: "root of run folders"},
			&cli.StringFlag{Name: "format", Value: "txt,csv,md,json,xlsx,html", Usage: "what is written: txt, csv or md (the summary, in all three), json (figures and report.json), xlsx, html"},
			&cli.StringSliceFlag{Name: "goodput", Usage: "service levels in ms (`ttft:500 tpot:50`)"},
			&cli.StringFlag{Name: "metric-percentiles", Value: "50,75,90,95,99", Usage: "percentiles of the performance table"},
			&cli.StringFlag{Name: "lang", Value: "en", Usage: "en or zh: language of report.xlsx and report.html; all other text stays English"},
			&cli.StringFlag{Name: "summarizer", Usage: "only this part: example, medium, leval (accuracy), default_perf, stable_stage (performance); default: all there is"},
			&cli.StringFlag{Name: "title", Usage: "title of the reports"},
			byLengthFlag(),
			&cli.StringFlag{Name: "contract", Usage: "acceptance contract, YAML `FILE`, whose verdict is shown; default: the one the run was started with"},
			&cli.StringFlag{Name: "baseline", Usage: "`RUN` that the contract's compare.baseline refers to"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("report: name one run folder, or latest")
			}
			if err := knownLang(c); err != nil {
				return err
			}
			formats, err := reportFormats(c.String("format"))
			if err != nil {
				return err
			}
			name := c.Args().First()
			switch dir := outputs.Locate(c.String("work-dir"), name); {
			case sweep.Is(dir, sweepKind):
				return reportSweep(c, name, formats)
			case sweep.Is(dir, grid.Kind):
				return reportGrid(c, name, formats)
			}
			run, err := tasks.OpenRun(c.String("work-dir"), name)
			if err != nil {
				return err
			}
			m, err := metricOptions(c)
			if err != nil {
				return err
			}
			o := summarizers.ReportOptions{Title: c.String("title"), Tool: "ais_bench " + versionLine(), Lang: c.String("lang"), Metrics: m, Accuracy: true, Performance: true,
				ByLength: m.LengthBounds != nil}
			if name := c.String("summarizer"); name != "" {
				if name, err = summarizerNamed(name); err != nil {
					return err
				}
				o.Accuracy, o.Performance = summarizerKinds[name] == "accuracy", summarizerKinds[name] == "performance"
				o.StableStage = name == "stable_stage"
			}
			o.Formats = formats
			if unlock, err := run.Lock(); err == nil {
				unlock()
			} else {
				fmt.Fprintf(c.App.ErrWriter, "warning: %v: the report is of what is there by now\n", err)
			}
			if man, err := run.ReadManifest(); err == nil {
				red := outputs.NewRedactor(envSecrets(man)...)
				run.SetRedactor(red)
			} else if !errors.Is(err, os.ErrNotExist) {
				return &tasks.EnvironmentError{Err: err}
			}
			g, v, err := reportVerdict(c, run, m)
			if err != nil {
				return err
			}
			o.Verdict = reportOf(v)
			s, unwritten := madeReports(summarizers.Report(run, o))
			if s == nil {
				return unwritten
			}
			for _, w := range s.Warnings {
				fmt.Fprintln(c.App.ErrWriter, "warning: "+w)
			}
			if len(s.Tables) == 0 {
				return &tasks.EnvironmentError{Err: fmt.Errorf("%s holds nothing that --summarizer %s shows", run.Dir(), c.String("summarizer"))}
			}
			if err := printTables(c, s.Tables); err != nil {
				return err
			}
			printServerWarnings(c, s)
			fmt.Fprintln(c.App.Writer, "\n"+outputs.ChecklistLine(s.Checklist))
			for _, f := range s.Files {
				fmt.Fprintln(c.App.Writer, "wrote "+run.Path(f))
			}
			if v != nil {
				if err := printVerdict(c, g, v); err != nil {
					return err
				}
			}
			return unwritten
		},
	}
}

// knownLang checks --lang.
func knownLang(c *cli.Context) error {
	if l := c.String("lang"); l != "en" && l != "zh" {
		return usagef("--lang %s: give en or zh", l)
	}
	return nil
}

// reportFormats reads --format.
func reportFormats(list string) ([]string, error) {
	formats := []string{}
	for f := range strings.SplitSeq(list, ",") {
		switch f = strings.TrimSpace(f); {
		case f == "":
		case slices.Contains(summarizers.Formats, f):
			formats = append(formats, f)
		default:
			return nil, usagef("--format %s: unknown format; one of %s", f, strings.Join(summarizers.Formats, ", "))
		}
	}
	if len(formats) == 0 {
		return nil, usagef("--format %q names no format; some of %s", list, strings.Join(summarizers.Formats, ", "))
	}
	return formats, nil
}

// envSecrets: the stored files were scrubbed when they were written, so a
// rebuild meets no secret; variables the command line named are scrubbed all
// the same.
func envSecrets(m *outputs.Manifest) []string {
	var out []string
	for i, a := range m.Command.Args {
		if name, ok := strings.CutPrefix(a, "--api-key-env="); ok {
			out = append(out, os.Getenv(name))
		} else if a == "--api-key-env" && i+1 < len(m.Command.Args) {
			out = append(out, os.Getenv(m.Command.Args[i+1]))
		}
	}
	return out
}
