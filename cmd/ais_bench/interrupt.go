package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupts gives a run two ways to end: the first Ctrl-C (or SIGTERM) closes
// stop, after which nothing new is sent and requests in flight are drained; the
// second cancels the context, which ends everything at once. What came back is
// written either way.
func interrupts(parent context.Context, note func(string)) (ctx context.Context, stop <-chan struct{}, end func()) {
	ctx, cancel := context.WithCancel(parent)
	stopped := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	quit := make(chan struct{})
	go func() {
		first := true
		for {
			select {
			case <-signals:
			case <-quit:
				return
			}
			if first {
				first = false
				note("interrupted: no more requests are sent, those in flight are drained; interrupt again to stop at once")
				close(stopped)
				continue
			}
			note("interrupted again: stopping at once")
			cancel()
		}
	}()
	var once sync.Once
	return ctx, stopped, func() {
		once.Do(func() {
			signal.Stop(signals)
			close(quit)
			cancel()
		})
	}
}

// interruptible is for work that leaves nothing worth keeping when it is cut
// short: the first Ctrl-C (or SIGTERM) cancels the context.
func interruptible(parent context.Context) (ctx context.Context, end func()) {
	return signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
}
