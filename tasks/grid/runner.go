package grid

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"ais_bench/outputs"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
	"ais_bench/tasks/engine"
	"ais_bench/tasks/launch"
	"ais_bench/tasks/sweep"
)

// Combination is what became of one combination.
type Combination struct {
	Settings []sweep.Setting
	// Failure is why it has no runs, or fewer than were wanted; "" when it has all, or
	// when the grid ended before it.
	Failure string
	ReadyS  *float64 // how long its engine took to start, in s; nil when none was started now
}

// Runner measures a grid.
type Runner struct {
	Plan  Plan
	Store *sweep.Store
	// Engine is the engine with placeholders in its command, one a parameter.
	Engine launch.Spec
	// ChoosePort lets each engine have a free port, see launch.For.
	ChoosePort bool
	// Options are those of every run. The runner gives every repetition a seed of its
	// own, the same for all combinations: they are asked the same prompts at the same
	// times. Observer gets what is said between runs, Stop ends the grid.
	Options  bench.Options
	Cooldown time.Duration // between two runs on one engine
	// Observe gives the observer of the run that begins; nil = that of Options.
	Observe func() tasks.Observer
	// Keep is that of sweep.Runner.
	Keep func(sweep.Point, *bench.Session, *tasks.Outcome) error
	// Add is called for every run that is done, also those done before; i is the
	// combination's place in Combinations. Its error ends the grid. Nil = nobody asks.
	Add func(i int, d *sweep.Done) error

	begun int // points, done ones included
}

// Run measures what is missing. It returns all combinations, measured or not, in the
// order of Combinations, and the error that ended the grid: sweep.ErrInterrupted when
// the user did; *sweep.ChangedError or *sweep.PrepareError when the settings are to
// blame; *tasks.EnvironmentError for a folder that cannot be written.
func (r *Runner) Run(ctx context.Context) ([]Combination, error) {
	var list []Combination
	for _, settings := range Combinations(r.Plan.Params) {
		list = append(list, Combination{Settings: settings})
	}
	for i := range list {
		if err := r.combination(ctx, i, &list[i]); err != nil {
			return list, err
		}
	}
	return list, nil
}

func (r *Runner) note(line string) { r.Options.Observer.Note(line) }

func (r *Runner) add(i int, d *sweep.Done) error {
	if r.Add == nil {
		return nil
	}
	return r.Add(i, d)
}

// combination measures what is missing of one combination. The error ends the
// grid; what concerns this engine alone becomes the combination's failure.
func (r *Runner) combination(ctx context.Context, i int, c *Combination) error {
	done, missing, err := r.Plan.Points(r.Store, c.Settings)
	if err != nil {
		return err
	}
	for _, d := range done {
		r.begun++
		if err := r.add(i, d); err != nil {
			return err
		}
	}
	if len(missing) == 0 {
		r.note(fmt.Sprintf("%s: all %d runs are done and kept", Name(c.Settings), r.Plan.Runs))
		return nil
	}
	select {
	case <-r.Options.Stop: // between two runs: no engine need be started to learn of it
		return sweep.ErrInterrupted
	default:
	}
	spec := r.Engine
	if spec.Command, err = Command(r.Engine.Command, c.Settings); err != nil {
		return &sweep.PrepareError{Err: err}
	}
	r.note(fmt.Sprintf("combination %s: %d runs to measure", Name(c.Settings), len(missing)))
	o := r.Options
	e, err := r.start(ctx, spec, &o)
	if err != nil {
		var env *tasks.EnvironmentError
		if !errors.As(err, &env) || folderError(err) {
			return err
		}
		r.fail(c, err.Error())
		return nil
	}
	defer e.Stop()
	c.ReadyS = e.Facts().ReadyAfterS
	begun, err := r.measure(ctx, i, c, e, o, missing)
	e.Stop()
	keepLog(e, o, begun) // whatever ended it
	return err
}

// start starts a combination's engine. An interrupt meanwhile is
// sweep.ErrInterrupted; an engine that does not start is the environment's error.
func (r *Runner) start(ctx context.Context, spec launch.Spec, o *bench.Options) (*engine.Engine, error) {
	starting, cancel := tasks.UntilStopped(ctx, r.Options.Stop)
	defer cancel()
	e, err := launch.For(starting, spec, o, r.ChoosePort)
	var env *tasks.EnvironmentError
	switch {
	case starting.Err() != nil:
		if e != nil {
			e.Stop()
		}
		return nil, sweep.ErrInterrupted
	case err != nil && !errors.As(err, &env):
		return nil, &sweep.PrepareError{Err: err}
	}
	return e, err
}

// measure measures the missing points on one engine, until one of them fails, and
// gives the folders of those that were begun, also with an error. Not all need be there.
func (r *Runner) measure(ctx context.Context, i int, c *Combination, e *engine.Engine, o bench.Options, missing []sweep.Point) ([]string, error) {
	runs := &sweep.Runner{Store: r.Store, Cooldown: r.Cooldown, Note: r.note, Stop: o.Stop, Keep: r.Keep,
		Options: func(p sweep.Point, attempt int) (bench.Options, error) { return r.options(o, p), nil }}
	var begun []string
	for _, p := range missing {
		begun = append(begun, r.Store.Dir(p))
		d, err := runs.Measure(ctx, p)
		if err == nil {
			if err = r.add(i, d); err != nil {
				return begun, err
			}
			continue
		}
		if r.endsGrid(err, e) {
			return begun, err
		}
		why := err.Error()
		if died := e.Died(); died != "" {
			why = launch.Blame(died, nil).Error()
		}
		r.fail(c, why)
		break
	}
	return begun, nil
}

// fail makes a reason a combination's failure.
func (r *Runner) fail(c *Combination, why string) {
	c.Failure = why
	r.note("WARNING: " + Name(c.Settings) + ": " + why)
}

// folderError reports whether an error is of a folder or a disk that all combinations
// have in common: no engine need be started to meet it again.
func folderError(err error) bool {
	var store *sweep.StoreError
	var folder *launch.FolderError
	return errors.As(err, &store) || errors.As(err, &folder) || outputs.Unwritable(err)
}

// endsGrid tells an error that ends the grid from one of this engine.
func (r *Runner) endsGrid(err error, e *engine.Engine) bool {
	if folderError(err) {
		return true
	}
	select {
	case <-r.Options.Stop:
		if errors.Is(err, sweep.ErrInterrupted) { // by the user, not by the engine's death
			return true
		}
	default:
	}
	var changed *sweep.ChangedError
	var prepare *sweep.PrepareError
	var env *tasks.EnvironmentError
	return e.Died() == "" && (errors.As(err, &changed) || errors.As(err, &prepare) && !errors.As(err, &env))
}

// options are those of one run.
func (r *Runner) options(o bench.Options, p sweep.Point) bench.Options {
	o.Body = maps.Clone(o.Body)
	o.Seed = r.Options.Seed + int64(p.Run) - 1
	r.begun++
	if r.Observe != nil {
		o.Observer = r.Observe()
	}
	r.note(fmt.Sprintf("run %d of %d: %s", r.begun, len(Combinations(r.Plan.Params))*r.Plan.Runs, p))
	return o
}

// keepLog puts an engine's log into the folders of its runs.
func keepLog(e *engine.Engine, o bench.Options, dirs []string) {
	var runs []*outputs.Run
	for _, dir := range dirs {
		if run, err := outputs.Open(dir); err == nil {
			run.SetRedactor(outputs.NewRedactor(append(o.Secrets(), o.ServerOptions.Secrets...)...))
			runs = append(runs, run)
		}
	}
	launch.KeepLog(e, runs...)
}
