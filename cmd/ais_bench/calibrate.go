package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/tasks"
	"ais_bench/tasks/calibrate"
)

// calibrateCommand measures this machine's measuring error.
func calibrateCommand() *cli.Command {
	return &cli.Command{
		Name:  "calibrate",
		Usage: "measure the error of measurements on this machine, against a simulator that logs the truth",
		Description: "Starts the simulator as a process of its own, streams from it with the client of real runs, and prints measured − true\n" +
			"for TTFT, ITL, E2E and the stamps, the lag of the schedule and the CPU a chunk costs; then raises the load until the p99 of\n" +
			"stamp or ITL error passes --bound, and says up to which load TTFT and E2E error stayed below it. docs/calibrate.md explains the figures.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "streams", Value: 200, Usage: "concurrent streams"},
			&cli.Float64Flag{Name: "rate", Value: 20, Usage: "tokens per second of each stream"},
			&cli.StringFlag{Name: "duration", Value: "5s", Usage: "length of each stream"},
			&cli.Int64Flag{Name: "seed", Usage: "seed of the streams' starts"},
			&cli.BoolFlag{Name: "no-limit", Usage: "do not look for the highest load"},
			&cli.IntFlag{Name: "max-streams", Value: 5000, Usage: "highest load tried"},
			&cli.Float64Flag{Name: "bound", Value: 1000, Usage: "p99 of the errors in µs that a load may reach"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
		},
		Action: calibrateAction,
	}
}

func calibrateAction(c *cli.Context) error {
	d, err := models.ParseDuration(c.String("duration"))
	if err != nil || d <= 0 {
		return usagef("--duration %s: give seconds or a duration like 10s", c.String("duration"))
	}
	if c.Int("streams") < 1 || c.Float64("rate") <= 0 {
		return usagef("--streams and --rate must be above 0")
	}
	ctx, end := interruptible(c.Context)
	defer end()
	out, err := runCalibration(ctx, calibrate.Config{Streams: c.Int("streams"), TokensPerSecond: c.Float64("rate"), Duration: time.Duration(d), Seed: uint64(c.Int64("seed")),
		Progress: func(line string) { fmt.Fprintln(c.App.ErrWriter, line) }})
	if err != nil {
		return calibrationError(ctx, err)
	}
	if !c.Bool("no-limit") {
		cfg := calibrate.Config{TokensPerSecond: c.Float64("rate"), Duration: min(time.Duration(d), 3*time.Second), Seed: uint64(c.Int64("seed")),
			Progress: func(line string) { fmt.Fprintln(c.App.ErrWriter, line) }}
		if cfg.Start, err = ownSimulator(); err != nil {
			return &tasks.EnvironmentError{Err: err}
		}
		limits, err := calibrate.FindLimits(ctx, cfg, min(100, c.Int("max-streams")), c.Int("max-streams"), c.Float64("bound"))
		if err != nil {
			return calibrationError(ctx, err)
		}
		out.Limit, out.LatencyLimit = &limits.Stamps, &limits.Latencies
	}
	if c.Bool("json") {
		b, err := outputs.MarshalJSON(out)
		if err != nil {
			return fmt.Errorf("print the calibration: %w", err)
		}
		fmt.Fprintln(c.App.Writer, string(b))
		return nil
	}
	return printTables(c, calibrationTables(out))
}

// calibrationError tells an interrupt, a run that did not complete, from what the
// surroundings do not allow.
func calibrationError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("the calibration was interrupted")
	}
	return &tasks.EnvironmentError{Err: err}
}

// ownSimulator starts this very program as the simulator.
func ownSimulator() (func(ctx context.Context, rate float64) (calibrate.Server, error), error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's own file to start the simulator: %w", err)
	}
	return calibrate.Process(exe), nil
}

func runCalibration(ctx context.Context, cfg calibrate.Config) (*calibrate.Report, error) {
	var err error
	if cfg.Start, err = ownSimulator(); err != nil {
		return nil, err
	}
	r, err := calibrate.Run(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &calibrate.Report{Result: r}, nil
}

// calibrationTables are what the command prints.
func calibrationTables(cal *calibrate.Report) []outputs.Table {
	r := cal.Result
	t := outputs.Table{Title: fmt.Sprintf("Measured − true: %d streams × %g tokens/s", r.Streams, r.TokensPerSecond),
		Columns: []outputs.Column{{Name: "Error"}, {Name: "P50", Unit: "µs", Kind: outputs.KindFloat, Format: "%.1f"},
			{Name: "P99", Unit: "µs", Kind: outputs.KindFloat, Format: "%.1f"}, {Name: "Max", Unit: "µs", Kind: outputs.KindFloat, Format: "%.1f"}}}
	for _, row := range []struct {
		name string
		s    calibrate.Spread
	}{{"TTFT", r.TTFTError}, {"ITL", r.ITLError}, {"E2E", r.E2EError}, {"Stamp", r.StampError}, {"Schedule lag", r.ScheduleLag}} {
		t.AddRow(row.name, row.s.P50, row.s.P99, row.s.Max)
	}
	t.Notes = append(t.Notes, fmt.Sprintf("%d chunks compared, %.0f chunks/s, stamped by the %s (%.1f %% by the kernel)", r.Chunks, r.ChunksPerSecond, r.StampSource, 100*r.KernelShare))
	if r.CPUPerChunk != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("client CPU %.1f µs a chunk", *r.CPUPerChunk))
	}
	if r.FailedStreams+r.Unmatched > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d streams failed, %d could not be matched with the truth", r.FailedStreams, r.Unmatched))
	}
	for _, l := range []struct {
		what  string
		limit *calibrate.Limit
	}{{"stamp and ITL error", cal.Limit}, {"TTFT and E2E error", cal.LatencyLimit}} {
		if l.limit != nil {
			t.Notes = append(t.Notes, limitNote(l.what, l.limit))
		}
	}
	return []outputs.Table{t}
}

func limitNote(what string, l *calibrate.Limit) string {
	switch {
	case l.Streams == 0:
		return fmt.Sprintf("not even %d streams keep the p99 of %s below %g µs here", l.FirstBad, what, l.BoundUS)
	case l.FirstBad == 0:
		return fmt.Sprintf("every load up to %d streams (%.0f chunks/s) keeps the p99 of %s below %g µs", l.Streams, l.ChunksPerSecond, what, l.BoundUS)
	}
	return fmt.Sprintf("highest load with the p99 of %s below %g µs: %d streams (%.0f chunks/s); %d streams do not", what, l.BoundUS, l.Streams, l.ChunksPerSecond, l.FirstBad)
}
