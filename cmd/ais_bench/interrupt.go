package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupts gives a run three ways to end: the first Ctrl-C (or SIGTERM) closes
// stop, after which nothing new is sent and requests in flight are drained; the
// second closes cut, which cuts those off; the third cancels the context, which
// ends scoring too. What came back is written either way.
func interrupts(parent context.Context, note func(string)) (ctx context.Context, stop, cut <-chan struct{}, end func()) {
	ctx, cancel := context.WithCancel(parent)
	stopped, cutOff := make(chan struct{}), make(chan struct{})
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	quit := make(chan struct{})
	go func() {
		for n := 1; ; n++ {
			select {
			case <-signals:
			case <-quit:
				return
			}
			switch n {
			case 1:
				note("interrupted: no more requests are sent, those in flight are drained; interrupt again to cut them off")
				close(stopped)
			case 2:
				note("interrupted again: requests in flight are cut off, what came back is reported; once more to leave it unscored")
				close(cutOff)
			default:
				note("interrupted a third time: stopping at once")
				cancel()
			}
		}
	}()
	var once sync.Once
	return ctx, stopped, cutOff, func() {
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
