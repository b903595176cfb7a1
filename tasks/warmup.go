package tasks

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/tasks/load"
)

// errWarmupFailed stands for a service that does not work at all.
var errWarmupFailed = errors.New("no warm-up request succeeded")

// warmUp sends questions that are not measured. They differ from the measured
// ones by a first line of their own, so that they leave no prompt in a prefix
// cache. stopped: the user interrupted it. The run is given up when every
// request failed; some that did are told in rep.
func (in *inference) warmUp(ctx context.Context, rep *Inference) (stopped bool, err error) {
	n := in.opts.NumWarmups
	if n == 0 && in.opts.WarmupTime == 0 || len(in.set.Samples) == 0 {
		return false, nil
	}
	cfg := load.Config{Clock: in.clock, Phase: outputs.PhaseWarmup, Count: n, MaxConcurrency: max(in.svc.cfg.BatchSize, 1), Stop: in.stop, Drain: in.opts.Drain}
	if in.opts.WarmupTime > 0 {
		cfg.Count, cfg.Duration = 0, in.opts.WarmupTime
		in.observe.Note(fmt.Sprintf("%s: warm-up for %s", in.task, in.opts.WarmupTime))
	} else {
		in.observe.Note(fmt.Sprintf("%s: %d warm-up request(s)", in.task, n))
	}
	var w warmth
	stopped = load.Run(ctx, cfg, func(ctx context.Context, s load.Slot) { w.add(in.unmeasured(ctx, s)) }).Stopped
	if !stopped && w.ok == 0 && w.last != nil && retryable(w.last.Status) {
		// A service that drops one request in a hundred must not cost a run whose only warm-up that was.
		in.observe.Note(fmt.Sprintf("%s: %d of %d warm-up requests failed, the last one with %s; one more", in.task, w.failed, w.failed, w.last.Status))
		cfg.Count, cfg.Duration = 1, 0
		stopped = load.Run(ctx, cfg, func(ctx context.Context, s load.Slot) {
			s.Index += w.failed
			w.add(in.unmeasured(ctx, s))
		}).Stopped
	}
	switch {
	case stopped || ctx.Err() != nil:
		in.observe.Note(fmt.Sprintf("%s: interrupted during the warm-up: no question was asked", in.task))
		return true, nil
	case w.failed == 0:
		return false, nil
	case w.ok == 0:
		return false, fmt.Errorf("%w: %d of %d failed, the last one with %s: %s (--num-warmups 0 skips them)", errWarmupFailed, w.failed, w.failed, w.last.Status, oneLine(w.last.Error))
	}
	line := fmt.Sprintf("%s: %d of %d warm-up requests failed, the last one with %s: %s", in.task, w.failed, w.failed+w.ok, w.last.Status, oneLine(w.last.Error))
	rep.Warnings = append(rep.Warnings, line)
	return false, nil
}

// warmth counts what became of warm-up requests.
type warmth struct {
	mu         sync.Mutex
	ok, failed int
	last       *models.Result // that failed
}

func (w *warmth) add(res *models.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch res.Status {
	case outputs.StatusOK:
		w.ok++
	case outputs.StatusCancelled: // by the user
	default:
		w.failed, w.last = w.failed+1, res
	}
}

// unmeasured sends a request of the warm-up or cool-down: the prompt of a
// sample, changed in its first line, so that it neither warms the prefix cache
// for a measured request nor profits from one.
func (in *inference) unmeasured(ctx context.Context, s load.Slot) *models.Result {
	sample := &in.set.Samples[s.Index%len(in.set.Samples)]
	salted := changePrompts(*sample, saltUnmeasured(s.Phase, s.Index))
	prompt := salted.Prompt
	if len(salted.Choices) > 0 {
		prompt = salted.Choices[0]
	}
	req := newRequest(in.svc.cfg, in.set.Config, &salted, prompt)
	if len(sample.Choices) > 0 {
		req.MaxTokens, req.Stream = 1, false
	}
	req.ID = in.requestID(string(s.Phase))
	res := in.svc.client.Do(ctx, req)
	sent(s, res)
	s.Done(res.End)
	res.Decode()
	rec := newRecord(res, req)
	in.label(rec, question{sample: sample}, 0, 0, 0, s)
	in.keep(rec)
	return res
}
