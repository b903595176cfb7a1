package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"ais_bench/tasks"
	"ais_bench/tasks/engine"
)

// interrupts gives a run three ways to end: the first Ctrl-C (or SIGTERM) closes
// stop, after which nothing new is sent and requests in flight are drained; the
// second closes cut, which cuts those off; the third cancels the context, which
// ends scoring too, and ends the process where something does not heed that. What
// came back is written either way. As long as sending is false there is nothing to
// report, and the second ends the process, too.
func interrupts(parent context.Context, note func(string), sending *atomic.Bool) (ctx context.Context, stop, cut <-chan struct{}, end func()) {
	i := interruption{note: note, sending: sending, grace: heedWithin, exit: func(code int) { endAtOnce(os.Stderr, code, os.Exit) }}
	return i.listen(parent)
}

// heedWithin is how long what was cancelled may take to close its files before the
// process ends without it. Records are written as requests end, so what is lost is
// reports; an engine's guard ends it with this process, and endAtOnce its log.
const heedWithin = 2 * time.Second

// endAtOnce ends the process without waiting for anything: a launched engine's log is
// left without credentials, and one line says what happened. A terminal that hangs
// does not keep the process.
func endAtOnce(stderr io.Writer, code int, exit func(int)) {
	line := "error: interrupted: ended at once; what came back is on record, its reports are not written"
	if left := engine.SealLogs(); len(left) > 0 {
		line += "; the log of the engine is left in " + strings.Join(left, ", ")
	}
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		line = "\n" + line // below what is drawn there
	}
	said := make(chan struct{})
	go func() {
		defer close(said)
		fmt.Fprintln(stderr, line)
	}()
	select {
	case <-said:
	case <-time.After(heedWithin):
	}
	exit(code)
}

// interruption is what interrupts needs.
type interruption struct {
	note    func(string)
	sending *atomic.Bool
	grace   time.Duration
	exit    func(code int)
}

func (i *interruption) listen(parent context.Context) (ctx context.Context, stop, cut <-chan struct{}, end func()) {
	ctx, cancel := context.WithCancel(parent)
	stopped, cutOff := make(chan struct{}), make(chan struct{})
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	quit := make(chan struct{})
	lines := make(chan string, 8)
	told := make(chan struct{})
	go func() { // apart: a display that hangs must not keep the process from ending
		defer close(told)
		for line := range lines {
			i.note(line)
		}
	}()
	say := func(line string) {
		select {
		case lines <- line:
		default:
		}
	}
	var last sync.Once
	exit := func() { last.Do(func() { i.exit(exitFailed) }) }
	go func() {
		defer close(lines)
		for n := 1; ; n++ {
			select {
			case <-signals:
			case <-quit:
				return
			}
			switch nothing := !i.sending.Load(); {
			case n == 1 && nothing:
				close(stopped)
				say("interrupted before the first request: ending; interrupt again to end at once")
			case n == 1:
				close(stopped)
				say("interrupted: no more requests are sent, those in flight are drained; interrupt again to cut them off")
			case n == 2 && !nothing:
				close(cutOff)
				say("interrupted again: requests in flight are cut off, what came back is reported; once more to leave it unscored")
			case n > 3:
				exit()
			default:
				if n == 2 {
					close(cutOff) // a warm-up ends by it, in order
				} else {
					cancel()
				}
				time.AfterFunc(i.grace, func() {
					select {
					case <-quit: // it ends by itself
					default:
						exit()
					}
				})
				say(fmt.Sprintf("interrupted %s: stopping at once", map[int]string{2: "again before the first request", 3: "a third time"}[n]))
			}
		}
	}()
	var once sync.Once
	return ctx, stopped, cutOff, func() {
		once.Do(func() {
			signal.Stop(signals)
			close(quit)
			cancel()
			select { // what was said is told before the run's own last words
			case <-told:
			case <-time.After(i.grace):
			}
		})
	}
}

// errUnsent is the end of a run that was interrupted while it had sent nothing.
var errUnsent = errors.New("interrupted before the first request")

// sendingObserver notes when the first request of a run is due.
type sendingObserver struct {
	tasks.Observer
	sending *atomic.Bool
}

func (o sendingObserver) TaskStarted(t *tasks.Task, requests int, limit time.Duration) {
	o.sending.Store(true)
	o.Observer.TaskStarted(t, requests, limit)
}

// interruptible is for work that leaves nothing worth keeping when it is cut
// short: the first Ctrl-C (or SIGTERM) cancels the context, the second ends the process.
func interruptible(parent context.Context) (ctx context.Context, end func()) {
	ctx, end = signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, end) // signals have their usual effect again
	return ctx, end
}
