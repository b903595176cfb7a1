package tasks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"ais_bench/datasets"
	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/tasks/load"
)

// dispatch sends the requests of the measured phase, in rounds where the run
// asks so (Options.Batch); the cool-down follows the last of them.
func (in *inference) dispatch(ctx context.Context, cfg load.Config, do func(context.Context, load.Slot)) load.Report {
	size := in.opts.Batch
	if size <= 0 || cfg.Count <= size {
		return load.Run(ctx, cfg, do)
	}
	var all load.Report
	count, cooldown := cfg.Count, cfg.Cooldown
	cfg.Schedule, cfg.MaxConcurrency, cfg.Cooldown = load.AllAtOnce{}, size, 0
	for first := 0; first < count && !all.Stopped; first += size {
		cfg.Count = min(size, count-first)
		if first+size >= count {
			cfg.Cooldown = cooldown
		}
		r := load.Run(ctx, cfg, func(ctx context.Context, s load.Slot) {
			s.Index += first
			do(ctx, s)
		})
		if first == 0 {
			all.Started = r.Started
		}
		all.Ended, all.Stopped = r.Ended, r.Stopped
		all.Dispatched += r.Dispatched
		all.Measured += r.Measured
		all.MaxInFlight = max(all.MaxInFlight, r.MaxInFlight)
		all.Lag, all.SlotWait = append(all.Lag, r.Lag...), append(all.SlotWait, r.SlotWait...)
	}
	return all
}

// questions lists what is to be asked, without what an earlier run answered.
func (in *inference) questions() (todo []question, resumed int, err error) {
	done := map[outputs.PredictionKey]bool{}
	if in.opts.resuming {
		path := in.run.PredictionsPath(in.task.ModelAbbr, in.task.DatasetAbbr)
		if done, err = answeredBefore(path); err != nil {
			return nil, 0, err
		}
	}
	for _, q := range allQuestions(in.task, in.set) {
		if done[outputs.PredictionKey{SampleID: q.sample.Key(), Repeat: q.repeat, Turn: lastTurn(q.sample), SessionID: q.sample.SessionID}] {
			resumed++
			continue
		}
		todo = append(todo, q)
	}
	return todo, resumed, nil
}

// allQuestions are a task's questions in the order they are asked in: that of
// the data, or that of their time stamps where those are replayed. Repeats are
// whole passes, so that those of one sample are spread over the run as a user's
// would be.
func allQuestions(t *Task, set *datasets.Set) []question {
	pass := make([]question, len(set.Samples))
	for i := range set.Samples {
		pass[i] = question{sample: &set.Samples[i], index: i}
	}
	if t.Model.Config.UseTimestamp {
		slices.SortStableFunc(pass, func(a, b question) int { return cmp.Compare(a.sample.ArriveNS, b.sample.ArriveNS) })
	}
	repeats := t.repeats()
	all := make([]question, 0, len(pass)*repeats)
	for r := range repeats {
		for _, q := range pass {
			q.repeat = int32(r)
			all = append(all, q)
		}
	}
	return all
}

// loadConfig is how the questions are sent. m is the model's configuration.
func loadConfig(t *Task, opts *Options, m models.Config, todo []question) (load.Config, error) {
	n := len(todo)
	cfg := load.Config{Phase: outputs.PhaseMeasured, Count: n, MaxConcurrency: max(m.BatchSize, 1), Cooldown: opts.Cooldown, Drain: opts.Drain}
	if opts.Duration > 0 {
		cfg.Duration = opts.Duration
		if !opts.CountAndDuration {
			cfg.Count = 0
		}
	}
	if opts.Pressure {
		cfg.Clients, cfg.MaxConcurrency = max(m.BatchSize, 1), 0
	}
	var err error
	switch {
	case m.UseTimestamp:
		// A trace is an open loop: a concurrency cap would rewrite its times.
		cfg.Schedule, cfg.MaxConcurrency = replay(todo, cmp.Or(opts.ReplaySpeed, 1), cfg.Count == 0), 0
	case len(opts.Stages) > 0:
		cfg.Schedule = load.Stages{List: opts.Stages, Seed: uint64(opts.Seed)}
	default:
		cfg.Schedule, err = arrivals(cfg, opts, m).Schedule()
	}
	if err == nil {
		count := cfg.Clients
		if count == 0 && cfg.Count > 0 {
			count = cfg.Count + cfg.Cooldown
		}
		err = load.CheckSpan(cfg.Schedule, count, cfg.Duration)
	}
	return cfg, err
}

// arrivals are the traffic settings of a model and a run.
func arrivals(cfg load.Config, opts *Options, m models.Config) load.Arrivals {
	tr := m.TrafficCfg
	a := load.Arrivals{RequestRate: m.RequestRate, Burstiness: tr.Burstiness, RampUp: tr.RampUpStrategy, RampStart: tr.RampUpStartRPS, RampEnd: tr.RampUpEndRPS, Seed: uint64(opts.Seed)}
	switch {
	case cfg.Clients > 0: // the schedule is that of the clients' starts
		a.Count = cfg.Clients
	case cfg.Count > 0:
		a.Count = cfg.Count + cfg.Cooldown
	}
	if a.RampUp != "" {
		a.RequestRate = 0
		a.RampFor = time.Duration(min(tr.RampUpDurationS, load.MaxSpan.Seconds()) * float64(time.Second))
		if a.RampFor == 0 && cfg.Clients == 0 {
			// The ramp reaches its end with the last measured request, whatever ends the run first.
			a.Count, a.RampWithin = cfg.Count, cfg.Duration
		}
	}
	return a
}

// replay is the schedule of time-stamped questions: pass after pass of the
// repeats, and again and again when the run is for a length of time. A pass
// begins one mean gap after the last arrival of the one before.
func replay(todo []question, speed float64, again bool) load.Replay {
	r := load.Replay{Speed: speed, Times: make([]time.Duration, len(todo))}
	if len(todo) == 0 {
		return r
	}
	first, last, passes := todo[0].sample.ArriveNS, todo[0].sample.ArriveNS, int32(0)
	distinct := map[int]bool{}
	for _, q := range todo {
		first, last, passes = min(first, q.sample.ArriveNS), max(last, q.sample.ArriveNS), max(passes, q.repeat+1)
		distinct[q.index] = true
	}
	period := time.Duration(last - first)
	if n := len(distinct); n > 1 {
		period += period / time.Duration(n-1)
	}
	for i, q := range todo {
		r.Times[i] = time.Duration(q.sample.ArriveNS-first) + time.Duration(q.repeat)*period
	}
	if again {
		r.Period = max(time.Duration(passes)*period, 1)
	}
	return r
}

// checkLoad finds arrivals that cannot be meant before anything is sent. The
// errors name the flag or the field.
func checkLoad(t *Task, set *datasets.Set, opts *Options) error {
	m := t.Model.Config
	exclude := func(a, b, why string) error { return fmt.Errorf("%s: %s and %s exclude each other: %s", t, a, b, why) }
	switch {
	case m.UseTimestamp && opts.Pressure:
		return exclude("use_timestamp", "--pressure", "either time stamps say when requests are sent, or clients send when they are ready")
	case m.UseTimestamp && len(opts.Stages) > 0:
		return exclude("use_timestamp", "--stages", "both say when requests are sent")
	case m.UseTimestamp && opts.Cooldown > 0:
		return exclude("use_timestamp", "--cooldown", "nothing follows the last time stamp")
	case len(opts.Stages) > 0 && opts.Cooldown > 0:
		return exclude("--stages", "--cooldown", "nothing follows the last stage; add a stage that is not of interest instead")
	case len(set.Samples) == 0:
		return nil
	}
	if m.UseTimestamp {
		if err := checkTimestamps(t, set); err != nil {
			return err
		}
	}
	cfg, err := loadConfig(t, opts, m, allQuestions(t, set))
	if err != nil {
		return err
	}
	return checkNotEmpty(t, cfg, len(opts.Stages) > 0)
}

// checkNotEmpty refuses a run for a length of time in which no request is due: it
// would measure nothing.
func checkNotEmpty(t *Task, cfg load.Config, stages bool) error {
	if cfg.Duration <= 0 || cfg.Schedule == nil {
		return nil
	}
	for at := range cfg.Schedule.Arrivals() {
		if at < cfg.Duration {
			return nil
		}
		return fmt.Errorf("%s: no request is due within %s: the first would be sent after %s; give a higher --request-rate or a longer --duration", t, cfg.Duration, at.Round(time.Millisecond))
	}
	if stages {
		return fmt.Errorf("%s: no request is due in any of the --stages (%s): give a higher rate, or longer stretches", t, cfg.Schedule)
	}
	return fmt.Errorf("%s: no request is due within %s", t, cfg.Duration)
}

// checkTimestamps refuses data of which only some rows say when they arrive.
func checkTimestamps(t *Task, set *datasets.Set) error {
	timed := 0
	without := ""
	for i := range set.Samples {
		if s := &set.Samples[i]; s.ArriveNS >= 0 {
			timed++
		} else if without == "" {
			without = s.Key()
		}
	}
	switch n := len(set.Samples); {
	case timed == n:
		return nil
	case timed == 0:
		return fmt.Errorf("%s: use_timestamp: data set %s has no time stamps; it goes with rows that have a column timestamp (ms)", t, t.Dataset.Name)
	default:
		return fmt.Errorf("%s: use_timestamp: only %d of %d rows of data set %s have a time stamp; sample %s has none", t, timed, n, t.Dataset.Name, without)
	}
}

// unusedTimestamps is a warning where rows have time stamps that nobody asked
// to replay; "" where all is well.
func unusedTimestamps(t *Task, set *datasets.Set, opts *Options) string {
	if t.Model.Config.UseTimestamp || !opts.Mode.infers() {
		return ""
	}
	for i := range set.Samples {
		if set.Samples[i].ArriveNS >= 0 {
			return fmt.Sprintf("%s: the time stamps of data set %s are not used; --set models.%s.use_timestamp=true replays them", t, t.Dataset.Name, t.Model.Name)
		}
	}
	return ""
}
