package tasks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"

	"ais_bench/datasets"
	"ais_bench/evaluators"
	"ais_bench/models"
	"ais_bench/models/inspect"
	"ais_bench/models/transport"
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

// Attachment is a file kept under configs/ with its hash in the manifest.
type Attachment struct {
	Kind   string // of outputs.ConfigFile: contract
	Name   string
	Origin string // where it came from
	Text   []byte
	Facts  map[string]any // put into the manifest's extra
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

// Outcome is what a run led to.
type Outcome struct {
	Run      *outputs.Run
	Tasks    []*TaskOutcome
	Stopped  bool // interrupted by the user
	Warnings []string
	Clock    *transport.Clock
	// Continues tells that what is missing can be asked for by another session
	// (Options.Reuse); a performance run cannot.
	Continues bool
}

// TaskOutcome is what one task led to. Err is the reason it did not complete.
type TaskOutcome struct {
	Task      *Task
	Estimate  Estimate
	Inference *Inference // nil when the mode did not ask
	Accuracy  *evaluators.Result
	Served    string // model name that was asked
	URL       string
	Proxy     string // in use, without its credentials; "" = none
	// ServerBefore and ServerAfter are what the server said about itself; Changed
	// is what differed, one line each: the run is then invalid.
	ServerBefore, ServerAfter *outputs.ServerSnapshot
	Changed                   []string
	SpecDecode                *SpecDecode          // nil without --spec-decode
	Cache                     *outputs.ServerCache // what was done with the prefix cache; nil = nothing
	// Chat is what rendered the conversations; nil when nothing had to or could.
	Chat *ChatRenderer
	// Notes are what a reader of the results must know of how they were asked.
	Notes []string
	Err   error

	scoring bool // Err came from scoring: asking was not its cause
}

// Failed reports whether the run must end with a failure: a task that did not
// complete, or questions without an answer.
func (o *Outcome) Failed() bool {
	for _, t := range o.Tasks {
		if t.Err != nil || len(t.Changed) > 0 || t.Inference != nil && t.Inference.Failed > 0 && !t.Inference.Stopped {
			return true
		}
	}
	return false
}

// EnvironmentError is a failure of the surroundings (no server, missing data,
// unwritable folder) rather than of a task's content.
type EnvironmentError struct{ Err error }

func (e *EnvironmentError) Error() string { return e.Err.Error() }
func (e *EnvironmentError) Unwrap() error { return e.Err }

// OpenRun finds the run folder that reuse names below workDir.
func OpenRun(workDir, reuse string) (*outputs.Run, error) {
	dir := reuse
	switch {
	case reuse == "":
		return nil, &EnvironmentError{errors.New("open run: the name is empty; give a run folder's name, its path, or latest")}
	case reuse == "latest":
		dirs, err := outputs.Runs(workDir)
		if err != nil {
			return nil, &EnvironmentError{err}
		}
		for _, d := range dirs {
			if run, err := outputs.Open(d); err == nil && !run.Empty() {
				return run, nil // a start that failed is no run
			}
		}
		if dir, err = outputs.Latest(workDir); err != nil {
			return nil, &EnvironmentError{err}
		}
	case !strings.ContainsAny(reuse, `/\`):
		dir = filepath.Join(workDir, reuse)
		if here, err := os.Stat(reuse); err == nil && here.IsDir() {
			if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
				return nil, &EnvironmentError{fmt.Errorf("open run %s: there is none of that name in %s; for the folder here give .%c%s", reuse, workDir, filepath.Separator, reuse)}
			}
		}
	}
	run, err := outputs.Open(dir)
	if err != nil {
		return nil, &EnvironmentError{fmt.Errorf("open run %s: %w", reuse, err)}
	}
	return run, nil
}

// DataError tells data that are not there, a matter of the environment, from
// data that are wrong.
func DataError(err error) error {
	var missing *datasets.MissingError
	if errors.As(err, &missing) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return &EnvironmentError{err}
	}
	return err
}

// Run carries out the plan and returns what came of every task. The error is
// about the run as a whole; a task's own failure is in its outcome, and does
// not keep the others from running.
func Run(ctx context.Context, plan *Plan, opts Options) (*Outcome, error) {
	if opts.Observer == nil {
		opts.Observer = Quiet{}
	}
	if opts.Mode.NeedsReuse() && opts.Reuse == "" {
		return nil, fmt.Errorf("--mode %s works on what an earlier run left: name it with --reuse TIMESTAMP, or --reuse for the latest", opts.Mode)
	}
	plan.Offline, plan.Wait = plan.Offline || !opts.Mode.infers(), opts.ReadyTimeout
	estimates, err := plan.Estimate(ctx)
	if err != nil {
		return nil, DataError(err)
	}
	if opts.Mode.infers() {
		timed := false
		for _, e := range estimates {
			if err := checkLoad(e.Task, e.Set, &opts); err != nil {
				return nil, err
			}
			timed = timed || e.Task.Model.Config.UseTimestamp
		}
		if opts.ReplaySpeed != 0 && opts.ReplaySpeed != 1 && !timed {
			return nil, errors.New("--replay-speed goes with time stamps: --set models.NAME.use_timestamp=true replays those of the data")
		}
	}
	out := &Outcome{Continues: opts.Mode != ModePerf}
	switch {
	case opts.Reuse != "":
		var note string
		if out.Run, note, err = FindRun(opts.WorkDir, opts.Reuse, opts.Mode, plan); note != "" {
			opts.Observer.Note(note)
		}
		if err == nil && opts.Mode.infers() {
			if err := otherModel(out.Run, plan); err != nil {
				return nil, err
			}
		}
		opts.resuming = true
	case opts.RunDir != "":
		out.Run, err = outputs.CreateIn(opts.RunDir)
	default:
		out.Run, err = outputs.Create(opts.WorkDir)
	}
	if err != nil {
		var env *EnvironmentError
		if !errors.As(err, &env) {
			err = &EnvironmentError{err}
		}
		return nil, err
	}
	unlock, err := out.Run.Lock()
	if err != nil {
		return nil, &EnvironmentError{err}
	}
	defer unlock()
	out.Run.SetRedactor(outputs.NewRedactor(append(secrets(plan, opts.Judges), opts.Secrets...)...))
	before, err := earlier(out.Run, opts.resuming)
	if err != nil {
		return nil, &EnvironmentError{err}
	}
	var clockNote string
	out.Clock, clockNote = clockAfter(before)
	for i, t := range plan.Tasks {
		out.Tasks = append(out.Tasks, &TaskOutcome{Task: t, Estimate: estimates[i]})
		for _, w := range estimates[i].Set.Warnings {
			out.Warnings = append(out.Warnings, t.Dataset.Name+": "+w)
		}
		if w := unusedTimestamps(t, estimates[i].Set, &opts); w != "" {
			out.Warnings = append(out.Warnings, w)
		}
	}
	m, err := startManifest(out, before, clockNote, &opts)
	if err != nil {
		return nil, &EnvironmentError{err}
	}
	opts.session = len(m.Sessions)
	opts.runTag = fmt.Sprintf("ais-%s-%d", filepath.Base(out.Run.Dir()), len(m.Sessions))
	if opts.Mode.infers() {
		asking, cancel := UntilStopped(ctx, opts.Cut)
		inferAll(asking, out, &opts)
		cancel()
	}
	if opts.Mode.evaluates() {
		evaluateAll(ctx, out, &opts)
	}
	return out, finishManifest(out, m, &opts)
}

// errNotStarted is the outcome of tasks behind an interruption.
var errNotStarted = errors.New("not started: the run was interrupted")

// inferAll asks all tasks, MaxNumWorkers at once.
func inferAll(ctx context.Context, out *Outcome, opts *Options) {
	slots := make(chan struct{}, max(opts.MaxNumWorkers, 1))
	var wg sync.WaitGroup
	for _, to := range out.Tasks {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { <-slots }()
			if stopped(opts.Stop) || ctx.Err() != nil {
				to.Err = errNotStarted
				return
			}
			to.Err = inferOne(ctx, out, to, opts)
		}()
	}
	wg.Wait()
	for _, to := range out.Tasks {
		if to.Inference != nil {
			out.Warnings = append(out.Warnings, to.Inference.Warnings...)
		}
	}
	out.Stopped = stopped(opts.Stop) || ctx.Err() != nil
}

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

func inferOne(ctx context.Context, out *Outcome, to *TaskOutcome, opts *Options) error {
	t := to.Task
	if err := to.findChat(ctx, opts); err != nil {
		return fmt.Errorf("model %s: %w", t.Model.Name, err)
	}
	now := fingerprintOf(t, to.Estimate)
	if to.Chat != nil {
		now.ChatTemplate = to.Chat.SHA256
	}
	if err := checkDrift(out.Run, t, now, opts.resuming); err != nil {
		return err
	}
	log, err := out.Run.Logger("infer", t.ModelAbbr, t.DatasetAbbr)
	if err != nil {
		return &EnvironmentError{err}
	}
	defer log.Close()
	note := func(line string) {
		log.Info(line)
		opts.Observer.Note(t.String() + ": " + line)
	}
	for _, n := range to.Notes {
		note(n)
	}
	var left leftover
	if opts.resuming {
		if left, err = recoverAnswers(out.Run, t, to.Estimate.Set, note); err != nil {
			return fmt.Errorf("resume %s: %w", t, err)
		}
	}
	svc, err := startService(ctx, t.Model.Config, out.Clock, []*datasets.Set{to.Estimate.Set}, to.Chat, opts.ReadyTimeout, opts.Stop, note)
	if err != nil {
		log.Error(err.Error())
		err = fmt.Errorf("model %s: %w", t.Model.Name, err)
		if errors.Is(err, errInterrupted) {
			return err
		}
		return &EnvironmentError{err}
	}
	defer svc.close()
	to.Served, to.URL = svc.cfg.Model, svc.cfg.URL
	if c, ok := svc.client.(interface{ Proxy() string }); ok {
		to.Proxy = c.Proxy()
	}
	in := &inference{task: t, opts: opts, run: out.Run, svc: svc, set: to.Estimate.Set, clock: out.Clock, left: left,
		observe: &loggingObserver{Observer: opts.Observer, log: log}, stop: opts.Stop}
	watch, err := watchServer(ctx, out, to, svc, opts, in.observe.Note)
	if err != nil {
		watch.stop()
		return err
	}
	in.watch = watch
	if err := in.planCache(ctx, to, watch.before); err != nil {
		watch.stop()
		return err
	}
	rep, err := in.ask(ctx)
	to.Inference = &rep
	if in.predictions != nil && in.predictions.Note() != "" {
		note(in.predictions.Note())
	}
	var watchErr error
	to.Changed, watchErr = watch.after(ctx, to, in.answered.Load())
	err = errors.Join(err, watchErr)
	if a, ok := svc.client.(models.Answerer); ok {
		to.Changed = append(to.Changed, a.Answered()...)
	}
	for _, c := range to.Changed {
		note("WARNING: INVALID: the server changed during the run: " + c + "; the figures are of two servers")
	}
	if opts.SpecDecode {
		var specErr error
		to.SpecDecode, specErr = watch.speculation(ctx, out.Run)
		err = errors.Join(err, specErr)
	}
	if err != nil {
		log.Error(err.Error())
		return err
	}
	log.Info("inference done", "asked", rep.Asked, "answered", rep.Answered, "kept", rep.Resumed, "failed", rep.Failed, "cancelled", rep.Cancelled, "not_asked", rep.NotAsked)
	for reason, n := range rep.Reasons {
		log.Warn("failed requests", "count", n, "reason", reason)
	}
	return nil
}

// loggingObserver writes failures and notes to the task's log as well.
type loggingObserver struct {
	Observer
	log *outputs.Log
}

func (o *loggingObserver) Answered(t *Task, rec *outputs.Record) {
	if !rec.OK() {
		o.log.Warn("request failed", "request", rec.RequestID, "sample", rec.SampleID, "attempt", rec.Attempt,
			"status", rec.Status, "error", oneLine(rec.Error))
	}
	o.Observer.Answered(t, rec)
}

func (o *loggingObserver) Note(line string) {
	o.log.Info(line)
	o.Observer.Note(line)
}

// evaluateAll scores every task whose answers exist.
func evaluateAll(ctx context.Context, out *Outcome, opts *Options) {
	var judges []evaluators.Judge
	for _, to := range out.Tasks {
		if to.Err != nil {
			continue
		}
		if judges == nil && len(opts.Judges) > 0 {
			var err error
			var closeAll func()
			if judges, closeAll, err = startJudges(ctx, opts, out.Clock); err != nil {
				to.Err, to.scoring = &EnvironmentError{err}, true
				continue
			}
			defer closeAll()
		}
		if opts.Mode == ModeJudge || opts.Mode == ModeInferJudge {
			judged := false
			for _, id := range scorerIDs(to.Task.Dataset.Config) {
				judged = judged || needsJudge(id)
			}
			if !judged {
				continue
			}
		}
		to.scoring = true
		to.Accuracy, to.Err = evaluate(ctx, out, to, opts, judges)
	}
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

// yamlOf renders a configuration as it is stored in the run folder.
func yamlOf(v any) ([]byte, error) {
	b, err := yaml.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("render a configuration: %w", err)
	}
	return b, nil
}

// judgeAsker asks one judge model.
type judgeAsker struct{ svc *service }

// Ask implements evaluators.Judge with the model's own retries.
func (j judgeAsker) Ask(ctx context.Context, prompt string) (string, error) {
	req := &models.Request{Messages: []models.Message{{Role: "user", Content: prompt}}, Stream: false, MaxTokens: j.svc.cfg.MaxOutLen}
	for attempt := 0; ; attempt++ {
		res := j.svc.client.Do(ctx, req)
		res.Decode()
		if res.Status == outputs.StatusOK {
			return res.Text, nil
		}
		if attempt >= j.svc.cfg.Retry || !retryable(res.Status) || ctx.Err() != nil {
			return "", fmt.Errorf("judge %s at %s: %s: %s", j.svc.cfg.Model, j.svc.cfg.URL, res.Status, oneLine(res.Error))
		}
		select {
		case <-time.After(backoff(attempt, res)):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func startJudges(ctx context.Context, opts *Options, clock *transport.Clock) ([]evaluators.Judge, func(), error) {
	var judges []evaluators.Judge
	var services []*service
	closeAll := func() {
		for _, s := range services {
			s.close()
		}
	}
	for _, j := range opts.Judges {
		chat, why, err := chatRenderer(ctx, j.Config)
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("judge model %s: %w", j.Name, err)
		}
		if why != "" {
			opts.Observer.Note("judge model " + j.Name + ": " + why)
		}
		s, err := startService(ctx, j.Config, clock, nil, chat, opts.ReadyTimeout, opts.Stop, opts.Observer.Note)
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("judge model %s: %w", j.Name, err)
		}
		services = append(services, s)
		judges = append(judges, judgeAsker{s})
	}
	return judges, closeAll, nil
}
