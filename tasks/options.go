package tasks

import (
	"time"

	"ais_bench/models/inspect"
	"ais_bench/outputs"
	"ais_bench/tasks/load"
)

// Options say how a plan is carried out.
type Options struct {
	Mode    Mode
	WorkDir string // root of run folders
	// Reuse continues an earlier run: a folder's name below WorkDir, its path, or
	// "latest". "" starts a new one.
	Reuse string
	// RunDir is the folder of the new run, for runs that are parts of something
	// larger; it must not exist. "" = a new one below WorkDir.
	RunDir string

	NumWarmups int           // requests before the measured ones
	WarmupTime time.Duration // > 0: warm up for this long instead of by count
	Cooldown   int           // requests after the measured ones, not measured
	Stages     []load.Stage  // stretches of different rates; they set the arrivals when given
	// ReplaySpeed is how much faster than recorded time stamps are replayed; 0 = 1.
	ReplaySpeed float64
	Seed        int64         // of arrivals and sampling
	Duration    time.Duration // > 0: ask for this long, cycling through the data
	// CountAndDuration ends a timed run after one pass through the data too.
	CountAndDuration bool
	Pressure         bool          // closed loop: batch_size clients back to back for Duration
	Drain            time.Duration // bound on requests in flight after an interrupt
	ReadyTimeout     time.Duration // how long to wait for a server that is still coming up
	MaxNumWorkers    int           // tasks at once
	NoStorePrompts   bool
	// Batch > 0 asks in rounds of so many requests: a round starts when the one
	// before has ended.
	Batch int
	// CountTokens counts, after the phase, the answers of a server that reports no
	// usage and has no tokenizer of its own, with the model's local one; nil = the
	// one of the model's path.
	CountTokens func(text string) int
	// Chat renders conversations for protocols that take text; nil = the template
	// of the model's chat_template or path.
	Chat *ChatRenderer
	// RequestIDPrefix + number is the id of every request (vLLM's
	// --request-id-prefix); "" = ids in the form of UUIDs.
	RequestIDPrefix string
	Scorer          string // overrides the data sets' scorers
	Sandbox         string // for scorers that run programs: native, bwrap, runsc or none; "" = native

	Judges           []ModelChoice // models asked by judge scorers
	JudgeConcurrency int

	SpecDecode bool // speculative-decoding counters before and after

	ServerOptions
	// FlushCache empties the server's prefix cache just before the measured
	// requests, and is an EnvironmentError of the task where that cannot be done:
	// figures of another state of the cache than the one asked for are none.
	FlushCache bool

	// Attached are further files that belong to the run and are stored before it
	// begins: the contract it is to be judged by.
	Attached []Attachment

	Tool outputs.ToolInfo
	Args []string // the command line, program name included

	Observer Observer
	// Stop ends sending when closed: requests in flight are drained, everything
	// that came back is written and evaluated.
	Stop <-chan struct{}
	// Cut, when closed, cuts requests in flight off. What came back is written and
	// evaluated all the same; the context ends that too.
	Cut <-chan struct{}

	resuming bool
	session  int    // of the run, from 1
	runTag   string // prefix of request ids, unique to the run
}

// ServerOptions say how the server is watched, and what state it is to be in.
type ServerOptions struct {
	// Metrics scrapes metrics during the run; nil = only before and after.
	Metrics *ServerMetrics
	Maps    *inspect.Maps // what metrics mean; nil = the built-in maps
	// Cache is the state of the server's prefix cache that the measured requests
	// are to meet; "" = any. A task's own choice (DatasetChoice.Cache) wins.
	Cache CacheMode
	// CacheDone says how the prompts were made new to the cache already, in words;
	// cold needs nothing else then. "" = they were not.
	CacheDone string
	// Meta is what the user knows of the server and no endpoint tells.
	Meta map[string]string
	// Engine is what is known so far of the engine that was started for the run;
	// nil = none was. Secrets are the credentials of its command and environment,
	// which no output may hold.
	Engine  func() *outputs.LaunchedEngine
	Secrets []string
}

// secrets are all values that no output may hold.
func secrets(plan *Plan, judges []ModelChoice) []string {
	var all []string
	for _, t := range plan.Tasks {
		all = append(all, t.Model.Config.Secrets()...)
	}
	for _, j := range judges {
		all = append(all, j.Config.Secrets()...)
	}
	return all
}
