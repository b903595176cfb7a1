//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// MaybeChild must be the first statement of main and of TestMain in every
// program that uses the native kind. Only Linux has that kind: here it does
// nothing.
func MaybeChild() {}

func notHere(kind Kind) error {
	return fmt.Errorf("sandbox: the kind %s needs Linux (this is %s); score code on a Linux host, or ask for --sandbox none to run model-written code unprotected", kind, runtime.GOOS)
}

func runNative(ctx context.Context, o Options, p Program) (Result, error) {
	return Result{}, notHere(Native)
}

func runBwrap(ctx context.Context, o Options, p Program) (Result, error) {
	return Result{}, notHere(Bwrap)
}

func runRunsc(ctx context.Context, o Options, p Program) (Result, error) {
	return Result{}, notHere(Runsc)
}

// runNone runs without isolation: a scratch directory, a nearly empty
// environment, the wall clock and the output cap are all there is.
func runNone(ctx context.Context, o Options, p Program) (Result, error) {
	o = o.forProgram(p)
	dir, err := os.MkdirTemp("", "ais_bench-sandbox-")
	if err != nil {
		return Result{}, fmt.Errorf("sandbox: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := writeFiles(dir, p.Files); err != nil {
		return Result{}, fmt.Errorf("sandbox: %w", err)
	}
	command, err := findCommand(p.Argv[0])
	if err != nil {
		return Result{}, err
	}
	run, cancel := context.WithTimeout(ctx, o.Wall)
	defer cancel()
	cmd := exec.CommandContext(run, command, p.Argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(environment(dir, dir, p.Env), "PATH="+os.Getenv("PATH"))
	cmd.Stdin = strings.NewReader(p.Stdin)
	cmd.WaitDelay = 2 * time.Second
	stdout, stderr := &capture{limit: o.Output, flood: cancel}, &capture{limit: o.Output, flood: cancel}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	begin := time.Now()
	err = cmd.Run()
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("sandbox: run cancelled: %w", ctx.Err())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && run.Err() == nil {
		return Result{}, fmt.Errorf("sandbox: %w", err)
	}
	return Result{Exit: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String(), Truncated: stdout.truncated || stderr.truncated,
		TimedOut: errors.Is(run.Err(), context.DeadlineExceeded), Wall: time.Since(begin),
		Usage: Usage{User: cmd.ProcessState.UserTime(), System: cmd.ProcessState.SystemTime()}}, nil
}

func findCommand(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("sandbox: command %q is %w: install it or add its directory to PATH", name, ErrNoCommand)
	}
	return path, nil
}
