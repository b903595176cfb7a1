//go:build unix

package main

import (
	"context"
	"os"
	"syscall"
	"testing"
)

// One interrupt, not two, ends work that has nothing to keep.
func TestOneInterruptEndsACalibration(t *testing.T) {
	ctx, end := interruptible(context.Background())
	defer end()
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if code := fail(discard{}, calibrationError(ctx, ctx.Err())); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
