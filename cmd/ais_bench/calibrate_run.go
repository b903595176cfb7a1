package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/tasks"
	"ais_bench/tasks/calibrate"
)

// calibrateFlag is --calibrate of the commands that send one load.
func calibrateFlag() cli.Flag {
	return &cli.BoolFlag{Name: "calibrate", Category: groupLoad, Usage: "afterwards measure this machine's measuring error at the run's own concurrency and token rate; it is stored in the manifest"}
}

// calibrateRun measures this machine's error at the load a run has just been, and
// puts it into the run's manifest. An interrupt, which closes stop, ends it.
func calibrateRun(ctx context.Context, stop <-chan struct{}, c *cli.Context, out *tasks.Outcome, note func(string)) error {
	var pairs []outputs.Pair
	for _, to := range out.Tasks {
		pairs = append(pairs, outputs.Pair{Model: to.Task.ModelAbbr, Dataset: to.Task.DatasetAbbr})
	}
	seen, err := calibrate.Observe(out.Run, pairs)
	if err != nil {
		return &tasks.EnvironmentError{Err: fmt.Errorf("--calibrate: read the run's records: %w", err)}
	}
	streams, rate, from := seen.Load()
	ctx, cancel := tasks.UntilStopped(ctx, stop)
	defer cancel()
	note(fmt.Sprintf("calibrating with %d streams × %.1f tokens/s", streams, rate))
	cal, err := runCalibration(ctx, calibrate.Config{Streams: streams, TokensPerSecond: rate, Duration: 3 * time.Second, Seed: uint64(c.Int64("seed"))})
	if err != nil {
		return calibrationError(ctx, err)
	}
	cal.LoadFrom = from
	if cal.FailedStreams+cal.Unmatched > 0 {
		note(fmt.Sprintf("measuring error at this load is unknown: %d streams of the calibration failed, %d could not be matched", cal.FailedStreams, cal.Unmatched))
	} else {
		note(fmt.Sprintf("measuring error at this load: p99 of stamp and ITL error %.0f µs, of TTFT and E2E error %.0f µs, stamped by the %s", cal.WorstP99(), cal.LatencyP99(), cal.StampSource))
	}
	if err := cal.Keep(out.Run); err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	return nil
}
