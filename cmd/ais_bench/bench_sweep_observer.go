package main

import (
	"fmt"
	"sync"

	"github.com/urfave/cli/v2"

	"ais_bench/tasks"
)

// pointObserver tells what every point has to say only once.
type pointObserver struct {
	tasks.Observer
	sweep *sweepRun
}

// Note implements tasks.Observer.
func (o *pointObserver) Note(line string) { o.sweep.once(line) }

// swapObserver shows one progress display a point.
type swapObserver struct {
	tasks.Quiet
	mu    sync.Mutex
	w     interface{ Write([]byte) (int, error) }
	quiet bool
	bar   *progress
}

// next ends the display of the point before and starts another.
func (o *swapObserver) next(c *cli.Context) tasks.Observer {
	o.close()
	if o.quiet {
		return noteOnly{w: c.App.ErrWriter}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bar = newProgress(c.App.ErrWriter, false)
	return o.bar
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
