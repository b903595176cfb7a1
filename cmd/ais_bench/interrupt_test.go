//go:build unix

package main

import (
	"context"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
)

// One interrupt, not two, ends work that has nothing to keep.
func TestOneInterruptEndsACalibration(t *testing.T) {
	ctx, end := interruptible(context.Background())
	defer end()
	interruptMyself(t)
	<-ctx.Done()
	if code := fail(discard{}, calibrationError(ctx, ctx.Err())); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
}

// The third interrupt ends the process whatever it is doing, and so does the second
// before anything was sent; even where the display hangs.
func TestTheLastInterruptEndsTheProcess(t *testing.T) {
	for _, sent := range []bool{true, false} {
		var sending atomic.Bool
		sending.Store(sent)
		hung, exited := make(chan struct{}), make(chan int, 1)
		i := interruption{note: func(string) { <-hung }, sending: &sending, exit: func(code int) { exited <- code }}
		ctx, stop, cut, end := i.listen(context.Background())
		interruptMyself(t)
		<-stop
		interruptMyself(t)
		<-cut
		if sent {
			if ctx.Err() != nil {
				t.Error("the second interrupt left nothing to score")
			}
			interruptMyself(t)
			<-ctx.Done()
		}
		if code := <-exited; code != exitFailed {
			t.Errorf("exit code %d", code)
		}
		end()
		close(hung)
	}
}

func interruptMyself(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
