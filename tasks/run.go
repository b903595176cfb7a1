package tasks

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"ais_bench/datasets"
	"ais_bench/evaluators"
	"ais_bench/models"
	"ais_bench/outputs"
)

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
	for _, f := range rep.Failures() {
		log.Warn("failed requests", "count", f.Count, "reason", f.Reason)
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
