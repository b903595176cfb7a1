package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Sandbox runs programs under one set of limits. It is safe for concurrent use.
type Sandbox struct {
	opts Options
	run  func(ctx context.Context, o Options, p Program) (Result, error)
}

// New checks that the kind works on this host, by running a program in it, and
// returns a sandbox. An error says in one line why not and what to do.
func New(o Options) (*Sandbox, error) {
	if o.Kind == "" {
		o.Kind = Native
	}
	o = o.withDefaults()
	s := &Sandbox{opts: o}
	switch o.Kind {
	case Native:
		s.run = runNative
	case Bwrap:
		s.run = runBwrap
	case Runsc:
		s.run = runRunsc
	case None:
		s.run = runNone
		return s, nil // nothing to check: it promises nothing
	default:
		return nil, fmt.Errorf("sandbox: unknown kind %q; use native, bwrap, runsc or none", o.Kind)
	}
	if err := s.probe(); err != nil {
		return nil, err
	}
	return s, nil
}

// Probe says in one line why the native kind cannot isolate on this host and
// what to do about it; nil when it can.
func Probe() error {
	_, err := New(Options{Kind: Native})
	return err
}

// probe runs a trivial program.
func (s *Sandbox) probe() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := s.run(ctx, s.opts, Program{Argv: []string{"sh", "-c", "echo ready"}, Wall: 20 * time.Second})
	if err != nil {
		return err
	}
	if r.Stdout != "ready\n" {
		return fmt.Errorf("sandbox: %s starts but does not run a program here (exit %d, %s)", s.opts.Kind, r.Exit, firstLine(r.Stderr))
	}
	return nil
}

// ErrNoCommand is wrapped by the error for a command that is not on this host.
var ErrNoCommand = errors.New("not on this host")

// LookPath finds a command as Run would, in the host's system directories first
// and then in PATH. The error wraps ErrNoCommand.
func LookPath(name string) (string, error) { return findCommand(name) }

// Kind is the kind in use.
func (s *Sandbox) Kind() Kind { return s.opts.Kind }

// Run executes p to its end, or kills it. The error is about the sandbox itself
// (command not found, context cancelled, isolation failed), never about what the
// program did: that is in the Result.
func (s *Sandbox) Run(ctx context.Context, p Program) (Result, error) {
	if len(p.Argv) == 0 {
		return Result{}, errors.New("sandbox: no command given")
	}
	for name := range p.Files {
		if !validName(name) {
			return Result{}, fmt.Errorf("sandbox: file name %q is not a plain relative path", name)
		}
	}
	return s.run(ctx, s.opts, p)
}

func (o Options) withDefaults() Options {
	if o.Memory <= 0 {
		o.Memory = 1 << 30
	}
	if o.Wall <= 0 {
		o.Wall = 10 * time.Second
	}
	if o.Procs <= 0 {
		o.Procs = 64
	}
	if o.FileSize <= 0 {
		o.FileSize = 16 << 20
	}
	if o.Output <= 0 {
		o.Output = 64 << 10
	}
	return o
}

// forProgram applies the limits a program brings along.
func (o Options) forProgram(p Program) Options {
	if p.Wall > 0 {
		o.Wall = p.Wall
	}
	if p.Output > 0 {
		o.Output = p.Output
	}
	if o.CPU <= 0 {
		o.CPU = o.Wall + time.Second
		if p.LargeAddressSpace { // several threads of a runtime burn several seconds a second
			o.CPU = 4*o.Wall + time.Second
		}
	}
	return o
}
