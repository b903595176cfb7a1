// Package sandbox runs untrusted programs (code written by a model) so that
// they can reach nothing but the files handed to them: no network, no host
// files, no environment, no other process, bounded memory, time, processes, file
// size and output, and nothing is left behind afterwards.
//
// The native kind needs no other tool: the program re-executes itself inside new
// user, mount, PID, network, IPC and UTS namespaces, builds a read-only root
// from the system's own libraries, drops every capability and only then executes
// the untrusted program. For that main (and TestMain) must call MaybeChild
// first. bwrap and runsc use those tools where they are installed. Nothing ever
// runs unisolated unless the kind None is asked for by name.
package sandbox

import (
	"time"
)

// Kind names a way to isolate.
type Kind string

// The kinds.
const (
	Native Kind = "native" // own namespaces, Linux only; the default
	Bwrap  Kind = "bwrap"  // bubblewrap, from PATH
	Runsc  Kind = "runsc"  // gVisor, from PATH
	None   Kind = "none"   // NO isolation: limits and a scratch directory only; must be asked for by name
)

// Options are the limits of every run. A zero field takes the default in
// brackets.
type Options struct {
	Kind     Kind          // [native]
	Memory   int64         // bytes of address space and, where a cgroup is writable, of resident memory [1 GiB]
	CPU      time.Duration // processor time, rounded up to seconds [Wall + 1 s]
	Procs    int           // processes and threads at one time [64]
	FileSize int64         // bytes of any one file written [16 MiB]
	Output   int64         // bytes kept of stdout and of stderr each; the rest is dropped [64 KiB]
	Wall     time.Duration // time until everything is killed [10 s]
}

// Program is one thing to run.
type Program struct {
	// Argv is the command; Argv[0] is looked up in the host's PATH. It runs in a
	// fresh directory that holds Files and is deleted afterwards.
	Argv   []string
	Files  map[string]string // relative path → content
	Stdin  string
	Env    []string      // "K=V"; the environment is otherwise PATH, HOME, LANG and PYTHONHASHSEED=0 alone
	Wall   time.Duration // when positive, replaces Options.Wall for this program
	Output int64         // when positive, replaces Options.Output for this program
	// LargeAddressSpace is for runtimes that reserve far more addresses than they
	// use (Java, Node, Go): only memory in use is limited then.
	LargeAddressSpace bool
}

// Usage is what a run consumed, as far as the kernel tells.
type Usage struct {
	User, System time.Duration
	MaxRSS       int64 // bytes, of the largest process
}

// Result is how a program ended. Exactly one of "Exit", "Signal" and "TimedOut"
// tells why: Signal is non-zero when a signal ended it, otherwise Exit holds.
type Result struct {
	Exit      int
	Signal    int
	Stdout    string
	Stderr    string
	Truncated bool // output beyond Options.Output was dropped
	TimedOut  bool // killed at the wall-clock limit
	OOM       bool // killed for memory
	Wall      time.Duration
	Usage     Usage
}
