package sweep

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"ais_bench/outputs"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
)

// ErrInterrupted ends a sweep: the user did. What was measured stays measured.
var ErrInterrupted = errors.New("interrupted")

// PrepareError says that a point could not even be begun: unless it wraps a
// tasks.EnvironmentError, the options are wrong.
type PrepareError struct{ Err error }

func (e *PrepareError) Error() string { return e.Err.Error() }
func (e *PrepareError) Unwrap() error { return e.Err }

// StoreError says that a sweep's folder, or a point's in it, cannot be read or written:
// further points would fare no better.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// stored is an error of the store as a StoreError; *ChangedError stays what it is.
func stored(err error) error {
	var changed *ChangedError
	if err == nil || errors.As(err, &changed) {
		return err
	}
	return &StoreError{err}
}

// End is the state, and the reason, of a sweep that err ended; nil = it is done.
func End(err error) (outputs.RunState, string) {
	switch {
	case errors.Is(err, ErrInterrupted):
		return outputs.StateInterrupted, "by the user"
	case err != nil:
		return outputs.StateFailed, err.Error()
	}
	return outputs.StateDone, ""
}

// Misused reports whether a sweep's error is its caller's: settings that cannot be
// meant, or that are not those the sweep was begun with.
func Misused(err error) bool {
	var env *tasks.EnvironmentError
	var changed *ChangedError
	var prepare *PrepareError
	return !errors.As(err, &env) && (errors.As(err, &changed) || errors.As(err, &prepare))
}

// Measured is the result a Runner keeps of a point. Figures are computed from the
// records, which Model and Dataset name.
type Measured struct {
	Model      string `json:"model"`
	Dataset    string `json:"dataset"`
	NumPrompts int    `json:"num_prompts"`
	Seed       int64  `json:"seed"`
	Requests   int    `json:"requests"`
	Failed     int    `json:"failed"`
	StartedAt  string `json:"started_at"`
}

// Runner measures points one after the other.
type Runner struct {
	Store *Store
	// Options are those of a point's benchmark; attempt counts from 1, and is higher
	// for a point whose runs were cut off before. The runner fills in the folder.
	Options func(p Point, attempt int) (bench.Options, error)
	// Keep is called when a point's run has ended and before the point counts, to
	// write its reports; its error is the folder's. Nil = nothing to do.
	Keep func(Point, *bench.Session, *tasks.Outcome) error
	// Cooldown is the pause between two points that are both measured now, in which
	// the service drains its queues and caches settle.
	Cooldown time.Duration
	Note     func(string) // one line a user should see
	Stop     <-chan struct{}

	ended bool // a point was measured: the next one waits
}

// Seed is the seed of a point: every point has prompts and arrivals of its own,
// the same in every sweep with the same base. With one seed for all, each point
// would ask what the one before has put into the server's prefix cache, and
// repeated runs would not be independent. A further attempt at a point has other
// prompts for the same reason.
func Seed(base int64, p Point, attempt int) int64 {
	h := fnv.New64a()
	h.Write([]byte(p.Key())) // never fails
	if attempt > 1 {
		fmt.Fprintf(h, "#%d", attempt)
	}
	return base + 1 + int64(h.Sum64()%1_000_000_000)
}

// Measure measures a point unless it is done. ErrInterrupted tells that the user
// ended it; the point then is not done. *StoreError tells that the folder is to blame.
func (r *Runner) Measure(ctx context.Context, p Point) (*Done, error) {
	if d, err := r.Store.Done(p); d != nil || err != nil {
		return d, stored(err)
	}
	if err := r.rest(ctx); err != nil {
		return nil, err
	}
	dir, attempt, err := r.Store.Begin(p)
	if err != nil {
		return nil, stored(err)
	}
	o, err := r.Options(p, attempt)
	if err != nil {
		return nil, err
	}
	o.RunDir, o.Stop = dir, r.Stop
	started := time.Now()
	// Before the first request an interrupt ends everything at once.
	before, cancel := tasks.UntilStopped(ctx, r.Stop)
	s, err := bench.Prepare(before, o)
	interrupted := before.Err() != nil
	cancel()
	if interrupted {
		return nil, ErrInterrupted
	}
	if err != nil {
		return nil, &PrepareError{fmt.Errorf("%s: %w", p, err)}
	}
	if err := r.Store.Confirm(facts(s)); err != nil {
		return nil, stored(err)
	}
	out, err := s.Run(ctx)
	r.ended = true
	var env *tasks.EnvironmentError
	if errors.As(err, &env) { // what the service is to blame for is the task's
		err = stored(err)
	}
	if err := outcome(p, out, err); err != nil {
		if out != nil && out.Run != nil {
			_, discardErr := out.Run.Discard() // a start that failed leaves no incomplete run
			err = errors.Join(err, discardErr)
		}
		return nil, err
	}
	if err := r.Store.Confirm(engine(out)); err != nil {
		return nil, stored(err)
	}
	if r.Keep != nil {
		if err := r.Keep(p, s, out); err != nil {
			return nil, stored(err)
		}
	}
	m := Measured{NumPrompts: len(s.Set.Samples), Seed: s.Seed(), StartedAt: started.Format(time.RFC3339Nano),
		Requests: out.Tasks[0].Inference.Asked, Failed: out.Tasks[0].Inference.Failed}
	m.Model, m.Dataset = s.Pair(out)
	if err := r.Store.Finish(p, m); err != nil {
		return nil, stored(err)
	}
	d, err := r.Store.Done(p)
	return d, stored(err)
}

// rest waits for Cooldown between two points.
func (r *Runner) rest(ctx context.Context) error {
	if !r.ended || r.Cooldown <= 0 {
		select {
		case <-r.Stop:
			return ErrInterrupted
		default:
			return ctx.Err()
		}
	}
	r.note(fmt.Sprintf("cooling down for %s", r.Cooldown))
	t := time.NewTimer(r.Cooldown)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-r.Stop:
		return ErrInterrupted
	case <-ctx.Done():
		return ErrInterrupted
	}
}

func (r *Runner) note(line string) {
	if r.Note != nil {
		r.Note(line)
	}
}

// outcome tells whether a point's run counts.
func outcome(p Point, out *tasks.Outcome, err error) error {
	if out == nil || out.Run == nil || err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	to := out.Tasks[0]
	in := to.Inference
	switch {
	case out.Stopped, in != nil && in.Stopped:
		return ErrInterrupted
	case to.Err != nil:
		return fmt.Errorf("%s: %w", p, to.Err)
	case in == nil || in.Asked == 0:
		return fmt.Errorf("%s: nothing was asked", p)
	case in.Failed >= in.Asked:
		return fmt.Errorf("%s: every request failed%s; it does not count, and is measured again when this is continued", p, out.Run.Redactor().String(commonest(in)))
	case len(to.Changed) > 0:
		return fmt.Errorf("%s: the server changed while it was measured: %s", p, strings.Join(to.Changed, "; "))
	}
	return nil
}

// commonest names the commonest reason of failures.
func commonest(in *tasks.Inference) string {
	list := in.Failures()
	if len(list) == 0 {
		return ""
	}
	return ", most often with: " + list[0].Reason
}

// facts are what was found out about the service and the data before a point.
func facts(s *bench.Session) map[string]string {
	f := map[string]string{"model (served)": s.Service.Model, "tokenizer (resolved)": s.Tokenizer.Source + " " + s.TokenizerID}
	for _, file := range s.Set.Files {
		f["sha256 of "+file.Path] = file.SHA256
	}
	return f
}

// engine is what the server said it is.
func engine(out *tasks.Outcome) map[string]string {
	f := map[string]string{}
	if b := out.Tasks[0].ServerBefore; b != nil && b.Engine != nil {
		f["engine"] = *b.Engine
		if b.Version != nil {
			f["engine"] += " " + *b.Version
		}
	}
	return f
}
