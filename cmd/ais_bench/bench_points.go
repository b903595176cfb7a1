package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"ais_bench/summarizers"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/metrics"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
	"ais_bench/tasks/sweep"
)

// What the commands of many points, `bench sweep` and `bench grid`, have in common.

// swapObserver shows one progress display a point, and tells what every point has
// to say only once.
type swapObserver struct {
	tasks.Quiet
	mu    sync.Mutex
	w     io.Writer
	quiet bool
	bar   *progress
	told  map[string]bool

	sending atomic.Bool // the first request is due, or was
}

// observePoints is the observer that a command's flags ask for.
func observePoints(c *cli.Context) *swapObserver {
	return &swapObserver{w: c.App.ErrWriter, quiet: c.Bool("disable-tqdm"), told: map[string]bool{}}
}

// next ends the display of the point before and starts another.
func (o *swapObserver) next(c *cli.Context) tasks.Observer {
	o.close()
	if o.quiet {
		return &pointObserver{Observer: sendingObserver{noteOnly{w: c.App.ErrWriter}, &o.sending}, of: o}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bar = newProgress(c.App.ErrWriter, false)
	return &pointObserver{Observer: sendingObserver{o.bar, &o.sending}, of: o}
}

func (o *swapObserver) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bar != nil {
		o.bar.close()
		o.bar = nil
	}
}

// Note prints a line above the display.
func (o *swapObserver) Note(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.bar != nil:
		o.bar.Note(line)
	case line != "":
		fmt.Fprintln(o.w, line)
	}
}

// once tells a line only the first time.
func (o *swapObserver) once(line string) {
	o.mu.Lock()
	told := o.told[line]
	o.told[line] = true
	o.mu.Unlock()
	if !told {
		o.Note(line)
	}
}

// pointObserver is the observer of one point.
type pointObserver struct {
	tasks.Observer
	of *swapObserver
}

// Note implements tasks.Observer.
func (o *pointObserver) Note(line string) { o.of.once(line) }

// keepPoint writes a point's own reports and tells its notes.
func keepPoint(o *swapObserver, m metrics.Options, p sweep.Point, s *bench.Session, out *tasks.Outcome) error {
	o.Note("")
	for _, n := range append(slices.Clone(s.Notes), out.Warnings...) {
		o.once("note: " + out.Run.Redactor().String(n))
	}
	_, err := summarizers.Report(out.Run, summarizers.ReportOptions{Title: p.String(), Tool: "ais_bench " + versionLine(), Lang: "en",
		Performance: true, Metrics: m, Excel: true, HTML: true, Notes: s.Notes})
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	return nil
}

// pointSource is where the figures of a point that is done come from.
func pointSource(d *sweep.Done) (capacity.Source, error) {
	r, err := d.Measured()
	return capacity.Source{Number: d.Point.Run, Dir: d.Dir, Model: r.Model, Dataset: r.Dataset, NumPrompts: r.NumPrompts, Seed: r.Seed}, err
}

// pointsError tells a caller's mistake from a failure of the surroundings and of a
// point.
func pointsError(err error) error {
	if sweep.Misused(err) {
		err = usage(err)
	}
	return ownFlags(err)
}
