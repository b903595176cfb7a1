package sandbox

import (
	"context"
	"errors"
)

// Sandbox runs programs under one set of limits. It is safe for concurrent use.
type Sandbox struct{ opts Options }

var errPending = errors.New("sandbox: not available in this build")

// New checks that the kind works on this host (see Probe) and returns a sandbox.
// An error says in one line why not and what to do.
func New(o Options) (*Sandbox, error) { return nil, errPending }

// Probe says in one line why the native kind cannot isolate on this host and
// what to do about it; nil when it can.
func Probe() error { return errPending }

// Run executes p to its end, or kills it. The error is about the sandbox itself
// (command not found, context cancelled, isolation failed), never about what the
// program did: that is in the Result.
func (s *Sandbox) Run(ctx context.Context, p Program) (Result, error) { return Result{}, errPending }

// MaybeChild must be the first statement of main and of TestMain in every
// program that uses the native kind. In the re-executed process it sets up the
// isolation, executes the untrusted program and never returns; in any other
// process it returns at once.
func MaybeChild() {}
