package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/summarizers"
	"ais_bench/summarizers/metrics"
	"ais_bench/tasks"
)

// profilesCommand shows what the same records are called by other tools.
func profilesCommand() *cli.Command {
	return &cli.Command{
		Name: "profiles", Usage: "compare one run's figures as strict, vllm and aisbench define them", ArgsUsage: "RUN",
		Description: "RUN is a run folder, its name below --work-dir, or latest. The records in the folder are computed three times:\n" +
			"with this tool's definitions (strict), with those of `vllm bench serve` and with AISBench's. Where figures\n" +
			"differ the table says why, and how many requests are behind it. Nothing is asked and nothing is written.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "work-dir", Aliases: []string{"w"}, Value: "outputs/default", Usage: "root of run folders"},
			&cli.StringFlag{Name: "format", Value: "txt", Usage: "txt, csv or md"},
			&cli.StringSliceFlag{Name: "goodput", Usage: "service levels in ms (`ttft:500 tpot:50`)"},
		},
		Action: profiles,
	}
}

func profiles(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("profiles: name one run folder, or latest")
	}
	format := c.String("format")
	switch format {
	case "txt", "csv", "md":
	default:
		return usagef("--format %s: unknown format; one of txt, csv, md", format)
	}
	slos, err := metrics.ParseSLOs(c.StringSlice("goodput"))
	if err != nil {
		return usage(err)
	}
	run, err := singleRun("profiles", c.String("work-dir"), c.Args().First())
	if err != nil {
		return err
	}
	pairs, err := run.Pairs()
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	man, _ := run.ReadManifest() // without one the measured peak stands for the configured cap
	if man != nil {
		for _, text := range summarizers.Distrusted(run, man) {
			fmt.Fprintln(c.App.ErrWriter, "warning: "+text)
		}
	}
	var tables []outputs.Table
	for _, p := range pairs {
		if run.RecordsPath(p.Model, p.Dataset) == "" {
			continue
		}
		t, err := summarizers.Profiles(run.Records(p.Model, p.Dataset),
			summarizers.ProfilesOptions{Metrics: metrics.Options{SLOs: slos}, MaxConcurrency: summarizers.ConfiguredConcurrency(man, p)})
		if err != nil {
			return &tasks.EnvironmentError{Err: fmt.Errorf("profiles of %s on %s: %w", p.Model, p.Dataset, err)}
		}
		t.Title += ": " + p.Model + " on " + p.Dataset
		tables = append(tables, t)
	}
	if len(tables) == 0 {
		return &tasks.EnvironmentError{Err: fmt.Errorf("%s holds no records: nothing to compare", run.Dir())}
	}
	write := (*outputs.Table).WriteCSV
	switch format {
	case "txt":
		write = func(t *outputs.Table, w io.Writer) error {
			whole := reasonsBelow(*t)
			return whole.WriteText(w, outputs.TextOptions{})
		}
	case "md":
		write = (*outputs.Table).WriteMarkdown
	}
	for i := range tables {
		if err := write(&tables[i], c.App.Writer); err != nil {
			return fmt.Errorf("print the tables: %w", err)
		}
	}
	return writeLimits(c.App.Writer, format)
}

// writeLimits says what the profiles cannot know. A program that reads csv gets
// figures only.
func writeLimits(w io.Writer, format string) error {
	limits := summarizers.ProfileLimits()
	var err error
	switch format {
	case "txt":
		if _, err = io.WriteString(w, "\n"); err == nil {
			err = limits.WriteText(w, outputs.TextOptions{})
		}
	case "md":
		err = limits.WriteMarkdown(w)
	}
	if err != nil {
		return fmt.Errorf("print the tables: %w", err)
	}
	return nil
}

// reasonsBelow moves the last column below the table: a console cuts long
// cells, and the reasons are the point.
func reasonsBelow(t outputs.Table) outputs.Table {
	last := len(t.Columns) - 1
	rows, notes := t.Rows, t.Notes
	t.Columns, t.Rows, t.Notes = t.Columns[:last], nil, nil
	for _, r := range rows {
		t.AddRow(r[:last]...)
		if why := fmt.Sprint(r[last]); why != "" {
			t.Notes = append(t.Notes, fmt.Sprintf("%v: %s", r[0], why))
		}
	}
	t.Notes = append(t.Notes, notes...)
	return t
}
