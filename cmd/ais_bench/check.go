package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/models"
	"ais_bench/tasks"
	"ais_bench/tasks/check"
)

// checkCommand looks at a service before a run.
func checkCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.StringSliceFlag{Name: "models", Category: groupWhat, DefaultText: "vllm_api_general_chat, with --url or --host-ip", Usage: "model configurations, names or globs (`NAME …`)"},
		&cli.StringFlag{Name: "step-timeout", Category: groupRun, Value: "30s", Usage: "bound of every single question (`DURATION`)"},
		&cli.IntFlag{Name: "batch-size", Aliases: []string{"max-concurrency"}, Category: groupLoad, DefaultText: "the configuration's", Usage: "requests that the run will have in flight"},
		&cli.StringFlag{Name: "config-dir", Category: groupRun, Value: "configs", Usage: "your own configurations"},
		&cli.BoolFlag{Name: "json", Category: groupReport, Usage: "print one JSON object"},
	}
	return &cli.Command{
		Name:  "check",
		Usage: "look at a service before a run: what is wrong, why, and what to do",
		Description: "Goes from the name in the URL to the tokens the server counts: DNS, TCP, TLS, key, path, model, the ways of asking, limits, tokens,\n" +
			"this machine's clock and files. Each line says ok, warn, fail or skip. docs/check.md explains every line.\n\n" +
			"Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage, 3 nothing could be reached.",
		Flags:  append(flags, connectionFlags()...),
		Action: checkAction,
	}
}

func checkAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if err := loadEnvFile(c); err != nil {
		return err
	}
	names := c.StringSlice("models")
	if len(names) == 0 {
		if !c.IsSet("url") && !c.IsSet("host-ip") && !c.IsSet("host-port") {
			return usagef("check: what is to be looked at? give --url URL, or --models NAME …")
		}
		names = []string{"vllm_api_general_chat"}
	}
	chosen, err := chosenModels(c, names)
	if err != nil {
		return err
	}
	wait, err := models.ParseDuration(c.String("step-timeout"))
	if err != nil || wait <= 0 {
		return usagef("--step-timeout %s: give seconds or a duration like 1m30s, above 0", c.String("step-timeout"))
	}
	ctx, end := interruptible(c.Context)
	defer end()
	var reports []*check.Report
	for _, m := range chosen {
		o := check.Options{Config: m.Config, Name: m.Name, StepTimeout: time.Duration(wait), Concurrency: c.Int("batch-size")}
		if m.Config.Simulated() {
			sim, url, err := tasks.Simulate(m.Config)
			if err != nil {
				return usage(err)
			}
			defer sim.Close()
			o.Config.URL = url
		}
		printer := &checkPrinter{w: c.App.Writer}
		if !c.Bool("json") {
			if len(reports) > 0 {
				fmt.Fprintln(c.App.Writer)
			}
			fmt.Fprintf(c.App.Writer, "%s (%s)\n", m.Name, m.Config.Type)
			o.Progress = printer.add
		}
		r, err := check.Run(ctx, o)
		printer.flush()
		if r != nil {
			reports = append(reports, r)
		}
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if err != nil {
			return usage(err)
		}
		if !c.Bool("json") {
			fmt.Fprintf(c.App.Writer, "%d ok, %d warn, %d fail, %d skip\n", r.Count(check.OK), r.Count(check.Warn), r.Count(check.Fail), r.Count(check.Skip))
		}
	}
	if c.Bool("json") {
		enc := json.NewEncoder(c.App.Writer)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(map[string]any{"version": versionLine(), "services": reports}); err != nil {
			return fmt.Errorf("print the result: %w", err)
		}
	}
	return checkOutcome(reports)
}

// checkPrinter prints the lines of a report as they come, and below each what to
// do. Lines that are skipped for one reason are printed as one.
type checkPrinter struct {
	w       io.Writer
	skipped []check.Line
}

func (p *checkPrinter) add(l check.Line) {
	if len(p.skipped) > 0 && (l.Status != check.Skip || l.Found != p.skipped[0].Found) {
		p.flush()
	}
	if l.Status == check.Skip {
		p.skipped = append(p.skipped, l)
		return
	}
	p.print(l)
}

func (p *checkPrinter) flush() {
	switch n := len(p.skipped); {
	case n == 1:
		p.print(p.skipped[0])
	case n > 1:
		l := p.skipped[0]
		l.Check = fmt.Sprintf("(%d lines)", n)
		names := make([]string, n)
		for i := range p.skipped {
			names[i] = p.skipped[i].Check
		}
		l.Found += ": " + strings.Join(names, ", ")
		p.print(l)
	}
	p.skipped = nil
}

func (p *checkPrinter) print(l check.Line) {
	fmt.Fprintf(p.w, "%-4s  %-18s  %s\n", l.Status, l.Check, l.Found)
	if l.Remedy != "" {
		fmt.Fprintf(p.w, "%26s→ %s\n", "", l.Remedy)
	}
}

// checkOutcome is the error a check ends with. The surroundings are to blame when
// nothing answered.
func checkOutcome(reports []*check.Report) error {
	var lines []string
	reached := false
	for _, r := range reports {
		reached = reached || r.Reached
		if failed := r.Failed(); len(failed) > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s failed", r.Model, strings.Join(failed, ", ")))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	err := errors.New("check: " + strings.Join(lines, "; "))
	if !reached {
		return &tasks.EnvironmentError{Err: err}
	}
	return err
}
