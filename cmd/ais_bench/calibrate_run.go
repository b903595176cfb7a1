package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// The bounds of a run's calibration: beyond them the simulator, on the same
// processors, is what saturates.
const (
	calibrationStreams = 5000
	calibrationRate    = 1000 // chunks/s of a stream
	// calibrationDefault is the rate where no answer shows one (not streamed, or of one chunk).
	calibrationDefault = 20
)

// observedLoad is the load that a run's measured requests were.
type observedLoad struct {
	streams int     // in flight at once at most
	rate    float64 // chunks/s of one stream in the mean; 0 = no answer shows it
}

// observe reads the load off the records of the pairs: the most requests between
// their sending and their end at one moment, and Σ gaps / Σ (last chunk − first chunk)
// over the answers of two chunks and more.
func observe(run *outputs.Run, pairs []outputs.Pair) (observedLoad, error) {
	type edge struct {
		at   int64
		step int
	}
	var edges []edge
	var gaps, span int64
	for _, p := range pairs {
		for r, err := range run.Records(p.Model, p.Dataset) {
			var damage *outputs.DamageError
			switch {
			case errors.As(err, &damage):
				continue
			case err != nil:
				return observedLoad{}, err
			}
			if r.Phase != outputs.PhaseMeasured || r.Sent == outputs.Never || r.End == outputs.Never {
				continue
			}
			edges = append(edges, edge{r.Sent, 1}, edge{r.End, -1})
			if n := len(r.ChunkAt); n > 1 {
				gaps, span = gaps+int64(n-1), span+r.ChunkAt[n-1]-r.ChunkAt[0]
			}
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(min(max(a.at-b.at, -1), 1))
		}
		return a.step - b.step // what ends in the same moment ends first
	})
	var l observedLoad
	live := 0
	for _, e := range edges {
		live += e.step
		l.streams = max(l.streams, live)
	}
	if span > 0 {
		l.rate = float64(gaps) / (float64(span) / 1e9)
	}
	return l, nil
}

// load is what is calibrated at, and where it comes from, in words.
func (l observedLoad) load() (streams int, rate float64, from string) {
	streams, rate = min(max(l.streams, 1), calibrationStreams), l.rate
	from = "most requests in flight and mean chunk rate of a stream in this run"
	switch {
	case rate == 0:
		rate = calibrationDefault
		from = fmt.Sprintf("most requests in flight in this run; no answer shows a chunk rate, so that it is %d/s", calibrationDefault)
	case rate > calibrationRate:
		rate = calibrationRate
		from += fmt.Sprintf(" (%.0f/s), bounded to %d/s", l.rate, calibrationRate)
	}
	if l.streams > calibrationStreams {
		from += fmt.Sprintf("; of %d streams %d", l.streams, calibrationStreams)
	}
	return streams, rate, from
}

// calibrateRun measures this machine's error at the load a run has just been, and
// puts it into the run's manifest. An interrupt, which closes stop, ends it.
func calibrateRun(ctx context.Context, stop <-chan struct{}, c *cli.Context, out *tasks.Outcome, note func(string)) error {
	var pairs []outputs.Pair
	for _, to := range out.Tasks {
		pairs = append(pairs, outputs.Pair{Model: to.Task.ModelAbbr, Dataset: to.Task.DatasetAbbr})
	}
	seen, err := observe(out.Run, pairs)
	if err != nil {
		return &tasks.EnvironmentError{Err: fmt.Errorf("--calibrate: read the run's records: %w", err)}
	}
	streams, rate, from := seen.load()
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
	m, err := out.Run.ReadManifest()
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	m.Calibration = cal
	if err := out.Run.WriteManifest(m); err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	return nil
}
