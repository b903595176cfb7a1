//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
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

// What an interrupt says is told before the run ends, also when it ends at once.
func TestWhatAnInterruptSaysIsTold(t *testing.T) {
	for range 20 {
		var sending atomic.Bool
		var said []string
		i := interruption{note: func(s string) { said = append(said, s) }, sending: &sending, grace: time.Hour, exit: func(int) { t.Error("it ended") }}
		_, stop, _, end := i.listen(context.Background())
		interruptMyself(t)
		<-stop
		end()
		if len(said) != 1 || !strings.HasPrefix(said[0], "interrupted before the first request") {
			t.Fatalf("told %q", said)
		}
	}
}

// A forced end says so in one line, and ends even where nobody takes the line.
func TestEndAtOnce(t *testing.T) {
	var b bytes.Buffer
	code := -1
	endAtOnce(&b, exitFailed, func(c int) { code = c })
	if got := b.String(); code != exitFailed || !strings.HasPrefix(got, "error: interrupted: ") || strings.Count(got, "\n") != 1 {
		t.Errorf("code %d, %q", code, got)
	}
	r, w := io.Pipe()
	defer r.Close()
	code = -1
	if endAtOnce(w, exitFailed, func(c int) { code = c }); code != exitFailed {
		t.Errorf("code %d", code)
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
