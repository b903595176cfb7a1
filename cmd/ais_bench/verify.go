package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/summarizers/verify"
	"ais_bench/tasks"
	"ais_bench/tasks/grid"
	"ais_bench/tasks/sweep"
)

// verifyCommand checks run folders against themselves.
func verifyCommand() *cli.Command {
	return &cli.Command{
		Name: "verify", Usage: "check a run folder: hashes, records, and every number recomputed from them", ArgsUsage: "RUN …",
		Description: "RUN is a run folder, its name below --work-dir, latest, or a sweep or grid (all its points). Nothing is asked, nothing is written\n" +
			"and no network is used. Exit codes: 0 everything agrees, 1 differences, 2 wrong usage, 3 a folder that cannot be read.\n" +
			"docs/verify.md says what is checked and what cannot be.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "work-dir", Aliases: []string{"w"}, Value: "outputs/default", Usage: "root of run folders"},
			&cli.StringFlag{Name: "dataset-path", Usage: "file or directory of the data, if they are not where they were"},
			&cli.StringFlag{Name: "sandbox", Usage: "score programs that models wrote again in this sandbox (`KIND`: native, bwrap, runsc, none); default: count their stored verdicts"},
			&cli.StringFlag{Name: "json", Usage: "write every finding to this `FILE` (- = stdout, without the tables)"},
			&cli.BoolFlag{Name: "all", Usage: "show what agrees as well"},
		},
		Action: verifyAction,
	}
}

func verifyAction(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef("verify: name a run folder, or latest")
	}
	if c.IsSet("sandbox") {
		if err := checkSandbox(c); err != nil {
			return err
		}
	}
	var reports []*verify.Report
	differ := 0
	for _, arg := range c.Args().Slice() {
		runs, err := runsOf(c.String("work-dir"), arg)
		if err != nil {
			return err
		}
		for _, run := range runs {
			r, err := verifyRun(c, run)
			if err != nil {
				return &tasks.EnvironmentError{Err: err}
			}
			reports = append(reports, r)
			if len(r.Differences()) > 0 {
				differ++
			}
		}
	}
	path := c.String("json")
	if path != "-" {
		for i, r := range reports {
			if i > 0 {
				fmt.Fprintln(c.App.Writer)
			}
			if err := printVerification(c, r); err != nil {
				return err
			}
		}
	}
	if path != "" {
		if err := writeDocument(c, path, reports); err != nil {
			return err
		}
	}
	if differ > 0 {
		return fmt.Errorf("%d of %d run(s) differ from what their records and answers give", differ, len(reports))
	}
	return nil
}

// verifyRun scores the answers again and checks everything.
func verifyRun(c *cli.Context, run *outputs.Run) (*verify.Report, error) {
	o := verify.Options{Tool: toolInfo(), Scores: map[outputs.Pair]verify.Scores{}}
	if m, err := run.ReadManifest(); err == nil {
		scored, err := tasks.Rescore(c.Context, run, m, tasks.RescoreOptions{Sandbox: c.String("sandbox"), DatasetPath: c.String("dataset-path")})
		if err != nil {
			return nil, err
		}
		for _, s := range scored {
			v := verify.Scores{Why: s.Why, Answers: s.Answers, Data: s.Data}
			if s.Result != nil {
				v.Result = s.Result
			}
			o.Scores[s.Pair] = v
		}
	}
	if sweep.Is(run.Dir(), sweepKind) {
		o.Sweep = sweepAgain(run)
	}
	if sweep.Is(run.Dir(), grid.Kind) {
		o.Sweep = gridAgain(run)
	}
	return verify.Run(c.Context, run, o)
}

// printVerification writes a line for everything but agreement, which --all adds.
func printVerification(c *cli.Context, r *verify.Report) error {
	w := bufio.NewWriter(c.App.Writer)
	fmt.Fprintln(w, "Verification of "+r.Run)
	for _, f := range r.Findings {
		if f.Status != verify.OK || c.Bool("all") {
			fmt.Fprintf(w, "  %-11s  %-11s  %s  %s\n", f.Status, f.Check, f.File, strings.Join(strings.Fields(f.Text()), " "))
		}
	}
	fmt.Fprintf(w, "%s\nmanifest.json sha256 %s\n", r.Line(), r.Manifest)
	return w.Flush()
}

// runsOf are the runs an argument names: one, or all points of a sweep after the
// sweep's own folder.
func runsOf(workDir, arg string) ([]*outputs.Run, error) {
	run, err := tasks.OpenRun(workDir, arg)
	if err != nil {
		return nil, err
	}
	runs := []*outputs.Run{run}
	points, _ := fs.Glob(os.DirFS(run.Dir()), "points/*/manifest.json") // the pattern is well-formed
	for _, p := range points {
		point, err := outputs.Open(filepath.Join(run.Dir(), filepath.Dir(p)))
		if err != nil {
			return nil, &tasks.EnvironmentError{Err: err}
		}
		runs = append(runs, point)
	}
	return runs, nil
}

// writeDocument writes one JSON document to a file or to stdout ("-").
func writeDocument(c *cli.Context, path string, v any) error {
	doc, err := outputs.MarshalJSON(v)
	if err == nil {
		var pretty json.RawMessage = doc
		doc, err = json.MarshalIndent(pretty, "", "  ")
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if path == "-" {
		_, err := fmt.Fprintf(c.App.Writer, "%s\n", doc)
		return err
	}
	return writeJSONFile(path, doc)
}
