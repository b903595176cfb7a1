package tasks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"ais_bench/datasets"
	"ais_bench/models"
	"ais_bench/models/transport"
	"ais_bench/outputs"
	"ais_bench/tasks/load"
)

// inference asks one task's questions and keeps what comes back.
type inference struct {
	task    *Task
	opts    *Options
	run     *outputs.Run
	svc     *service
	set     *datasets.Set
	clock   *transport.Clock
	observe Observer
	stop    <-chan struct{}
	watch   *serverWatch
	cache   cachePlan

	journal     *outputs.Journal
	predictions *outputs.PredictionWriter
	sent        atomic.Int64 // numbers request ids
	failures    failureLog
	writeErr    atomic.Pointer[error]
	reads       atomic.Int64 // of all records kept, for the client's health
	coalesced   atomic.Int64
	answered    atomic.Int64 // requests of all phases that ended well
	abort       context.CancelFunc
}

// Inference is what asking one task was like.
type Inference struct {
	Asked    int // questions that were due
	Answered int // of these, answered in this run
	Resumed  int // answered by an earlier run and kept
	Failed   int // still without an answer
	Load     load.Report
	Health   *load.Health // of the client in the measured phase; nil when nothing was asked
	Pool     models.PoolStats
	Reasons  map[string]int // failure → count
	Stopped  bool           // interrupted by the user
}

// errAllWarmupsFailed stands for a service that does not work at all.
var errAllWarmupsFailed = errors.New("all warm-up requests failed")

// ask carries the inference out.
func (in *inference) ask(ctx context.Context) (rep Inference, err error) {
	ctx, in.abort = context.WithCancel(ctx)
	defer in.abort()
	todo, resumed, err := in.questions()
	if err != nil {
		return rep, err
	}
	rep.Resumed, rep.Asked = resumed, len(todo)+resumed
	if in.journal, err = in.run.Journal(in.task.ModelAbbr, in.task.DatasetAbbr); err != nil {
		return rep, err
	}
	if note := in.journal.Note(); note != "" {
		in.observe.Note(note)
	}
	if in.predictions, err = in.run.Predictions(in.task.ModelAbbr, in.task.DatasetAbbr); err != nil {
		in.journal.Close()
		return rep, err
	}
	err = in.phases(ctx, todo, &rep)
	err = errors.Join(err, in.predictions.Close(), in.journal.Close())
	if p := in.writeErr.Load(); p != nil && err == nil {
		err = *p
	}
	seal, sealErr := in.run.Seal(in.task.ModelAbbr, in.task.DatasetAbbr)
	for _, n := range seal.Notes {
		in.observe.Note(n)
	}
	if sealErr == nil && ctx.Err() == nil {
		sealErr = in.countMissingTokens(ctx)
	}
	rep.Pool = in.svc.client.Stats()
	rep.Reasons = in.failures.counts()
	return rep, errors.Join(err, sealErr)
}

func (in *inference) phases(ctx context.Context, todo []question, rep *Inference) error {
	if len(todo) == 0 {
		in.observe.TaskStarted(in.task, 0, 0)
		in.observe.TaskEnded(in.task)
		return nil
	}
	if err := in.warmUp(ctx); err != nil {
		return err
	}
	if err := in.prepareCache(ctx); err != nil {
		return err
	}
	in.watch.measured(ctx)
	cfg, err := in.loadConfig(len(todo))
	if err != nil {
		return err
	}
	expected := cfg.Count
	in.observe.TaskStarted(in.task, requestsOf(todo, expected), cfg.Duration)
	defer in.observe.TaskEnded(in.task)
	var answered, failed atomic.Int64
	sampler := load.NewHealthSampler(0)
	totals := func() load.HealthInput {
		return load.HealthInput{Load: rep.Load, Pool: in.svc.client.Stats(), Clock: in.clock.Report(),
			Events: in.reads.Load() + in.coalesced.Load(), Coalesced: in.coalesced.Load()}
	}
	sampler.Start(totals())
	rep.Load = in.dispatch(ctx, cfg, func(ctx context.Context, s load.Slot) {
		if s.Phase == outputs.PhaseCooldown {
			in.unmeasured(ctx, s)
			return
		}
		if in.one(ctx, todo[s.Index%len(todo)], s, s.Index/len(todo)) {
			answered.Add(1)
		} else {
			failed.Add(1)
		}
	})
	health := sampler.Stop(totals())
	rep.Health = &health
	rep.Answered, rep.Failed, rep.Stopped = int(answered.Load()), int(failed.Load()), rep.Load.Stopped
	if expected > 0 && rep.Answered+rep.Failed < expected {
		rep.Failed = expected - rep.Answered
	}
	return nil
}

// dispatch sends the requests of the measured phase, in rounds where the run
// asks so (Options.Batch).
func (in *inference) dispatch(ctx context.Context, cfg load.Config, do func(context.Context, load.Slot)) load.Report {
	size := in.opts.Batch
	if size <= 0 || cfg.Count <= size {
		return load.Run(ctx, cfg, do)
	}
	var all load.Report
	count := cfg.Count
	cfg.Schedule, cfg.MaxConcurrency = load.AllAtOnce{}, size
	for first := 0; first < count && !all.Stopped; first += size {
		cfg.Count = min(size, count-first)
		r := load.Run(ctx, cfg, func(ctx context.Context, s load.Slot) {
			s.Index += first
			do(ctx, s)
		})
		if first == 0 {
			all.Started = r.Started
		}
		all.Ended, all.Stopped = r.Ended, r.Stopped
		all.Dispatched += r.Dispatched
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
	repeats := in.task.repeats()
	// Repeats of one sample are spread over the run, as a user's would be.
	for r := range repeats {
		for i := range in.set.Samples {
			s := &in.set.Samples[i]
			if done[outputs.PredictionKey{SampleID: sampleKey(s), Repeat: int32(r), Turn: lastTurn(s), SessionID: s.SessionID}] {
				resumed++
				continue
			}
			todo = append(todo, question{sample: s, index: i, repeat: int32(r)})
		}
	}
	return todo, resumed, nil
}

// loadConfig is how the measured phase is dispatched.
func (in *inference) loadConfig(n int) (load.Config, error) {
	m := in.svc.cfg
	cfg := load.Config{Clock: in.clock, Phase: outputs.PhaseMeasured, Count: n, MaxConcurrency: max(m.BatchSize, 1),
		Cooldown: in.opts.Cooldown, Stop: in.stop, Drain: in.opts.Drain}
	if in.opts.Duration > 0 {
		cfg.Duration = in.opts.Duration
		if !in.opts.CountAndDuration {
			cfg.Count = 0
		}
	}
	arrivals := load.Arrivals{RequestRate: m.RequestRate, Burstiness: m.TrafficCfg.Burstiness, RampUp: m.TrafficCfg.RampUpStrategy,
		RampStart: m.TrafficCfg.RampUpStartRPS, RampEnd: m.TrafficCfg.RampUpEndRPS, Count: rescaled(cfg), Seed: uint64(in.opts.Seed)}
	if arrivals.RampUp != "" {
		arrivals.RequestRate = 0
		if arrivals.Count == 0 {
			arrivals.Count = n
		}
	}
	if in.opts.Pressure {
		cfg.Clients, cfg.MaxConcurrency = max(m.BatchSize, 1), 0
		arrivals.Count = cfg.Clients
	}
	var err error
	if cfg.Schedule, err = arrivals.Schedule(); err != nil {
		return cfg, err
	}
	if len(in.opts.Stages) > 0 {
		cfg.Schedule = load.Stages{List: in.opts.Stages, Seed: uint64(in.opts.Seed)}
	}
	if m.UseTimestamp {
		times := make([]time.Duration, 0, n)
		for i := range in.set.Samples {
			if at := in.set.Samples[i].ArriveNS; at >= 0 {
				times = append(times, time.Duration(at))
			}
		}
		if len(times) == 0 {
			return cfg, fmt.Errorf("use_timestamp: data set %s has no time stamps", in.task.Dataset.Name)
		}
		// A trace is an open loop: a concurrency cap would rewrite its times.
		cfg.Schedule, cfg.MaxConcurrency = load.Replay{Times: times, Speed: cmp.Or(in.opts.ReplaySpeed, 1)}, 0
	}
	return cfg, nil
}

// warmUp sends questions that are not measured. They differ from the measured
// ones by a first line of their own, so that they leave no prompt in a prefix
// cache.
func (in *inference) warmUp(ctx context.Context) error {
	n := in.opts.NumWarmups
	if n == 0 && in.opts.WarmupTime == 0 || len(in.set.Samples) == 0 {
		return nil
	}
	cfg := load.Config{Clock: in.clock, Phase: outputs.PhaseWarmup, Count: n, MaxConcurrency: max(in.svc.cfg.BatchSize, 1), Stop: in.stop, Drain: in.opts.Drain}
	if in.opts.WarmupTime > 0 {
		cfg.Count, cfg.Duration = 0, in.opts.WarmupTime
		in.observe.Note(fmt.Sprintf("%s: warm-up for %s", in.task, in.opts.WarmupTime))
	} else {
		in.observe.Note(fmt.Sprintf("%s: %d warm-up request(s)", in.task, n))
	}
	var ok atomic.Int64
	var last atomic.Pointer[models.Result]
	load.Run(ctx, cfg, func(ctx context.Context, s load.Slot) {
		res := in.unmeasured(ctx, s)
		if res.Status == outputs.StatusOK {
			ok.Add(1)
			return
		}
		last.Store(res)
	})
	if ok.Load() > 0 || ctx.Err() != nil {
		return nil
	}
	if res := last.Load(); res != nil {
		return fmt.Errorf("%w, the last one with %s: %s (--num-warmups 0 skips them)", errAllWarmupsFailed, res.Status, oneLine(res.Error))
	}
	return nil
}

// unmeasured sends a request of the warm-up or cool-down: the prompt of a
// sample, changed in its first line, so that it neither warms the prefix cache
// for a measured request nor profits from one.
func (in *inference) unmeasured(ctx context.Context, s load.Slot) *models.Result {
	sample := &in.set.Samples[s.Index%len(in.set.Samples)]
	prompt := sample.Prompt
	if len(sample.Choices) > 0 {
		prompt = sample.Choices[0]
	}
	req := newRequest(in.svc.cfg, in.set.Config, sample, saltPrompt(prompt, s.Phase, s.Index))
	if len(sample.Choices) > 0 {
		req.MaxTokens, req.Stream = 1, false
	}
	req.ID = in.requestID(string(s.Phase))
	res := in.svc.client.Do(ctx, req)
	res.Decode()
	rec := newRecord(res, req)
	in.label(rec, sample, 0, 0, s)
	in.keep(rec)
	return res
}

// rescaled is how many arrivals a schedule is stretched to hold; 0 = open.
func rescaled(cfg load.Config) int {
	if cfg.Count == 0 {
		return 0
	}
	return cfg.Count + cfg.Cooldown
}

// saltPrompt makes a prompt that shares no prefix with the original.
func saltPrompt(p datasets.Prompt, phase outputs.Phase, i int) datasets.Prompt {
	salt := fmt.Sprintf("Not measured, %s %d.\n", phase, i)
	switch {
	case len(p.TokenIDs) > 0:
		ids := append([]int(nil), p.TokenIDs...)
		for a, b := 0, len(ids)-1; a < b; a, b = a+1, b-1 {
			ids[a], ids[b] = ids[b], ids[a]
		}
		return datasets.Prompt{TokenIDs: ids}
	case len(p.Turns) > 0:
		turns := append([]datasets.Turn(nil), p.Turns...)
		turns[0].Text = salt + turns[0].Text
		return datasets.Prompt{Turns: turns}
	}
	return datasets.Prompt{Text: salt + p.Text}
}

// requestID numbers the requests of a run in the form of a random UUID, which
// is the only one that every server accepts as x-request-id (some answer 400 to
// anything else). The same run, kind and number give the same id.
func (in *inference) requestID(kind string) string {
	if prefix := in.opts.RequestIDPrefix; prefix != "" {
		return fmt.Sprintf("%s%s-%d", prefix, kind, in.sent.Add(1))
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", in.opts.runTag, in.task, kind, in.sent.Add(1)))
	id := uuid.UUID(sum[:16])
	id[6] = id[6]&0x0f | 0x40 // version 4
	id[8] = id[8]&0x3f | 0x80 // the variant of RFC 9562
	return id.String()
}

// one asks one question until it is answered or retries are used up, and
// reports whether it was.
func (in *inference) one(ctx context.Context, q question, s load.Slot, round int) bool {
	if len(q.sample.Choices) > 0 {
		return in.onePPL(ctx, q, s)
	}
	if len(q.sample.FollowUps) > 0 {
		return in.conversation(ctx, q, s, round)
	}
	return in.exchange(ctx, q, s, round, 0, newRequest(in.svc.cfg, in.set.Config, q.sample, q.sample.Prompt)).OK()
}

// exchange sends a request, of turn number turn of its conversation, until it is
// answered or retries are used up, and gives the last attempt's record.
func (in *inference) exchange(ctx context.Context, q question, s load.Slot, round, turn int, req *models.Request) *outputs.Record {
	retries := 0
	if in.opts.Mode != ModePerf {
		retries = in.svc.cfg.Retry
	}
	for attempt := 0; ; attempt++ {
		req.ID = in.requestID("req")
		if prefix := in.opts.RequestIDPrefix; prefix != "" && attempt == 0 {
			req.ID = fmt.Sprintf("%s%d", prefix, s.Index)
			if turn > 0 {
				req.ID += fmt.Sprintf("-%d", turn)
			}
		}
		res := in.svc.client.Do(ctx, req)
		res.Decode()
		rec := newRecord(res, req)
		in.label(rec, q.sample, q.repeat+int32(round*in.task.repeats()), attempt, s)
		rec.Turn = int32(turn)
		in.label2(rec, req)
		in.keep(rec)
		in.observe.Answered(in.task, rec)
		again := attempt < retries && retryable(rec.Status) && ctx.Err() == nil
		if !again {
			in.predict(rec, q, nil)
			if !rec.OK() {
				in.failures.add(rec)
			}
			return rec
		}
		if !in.pause(ctx, backoff(attempt, res)) {
			in.predict(rec, q, nil)
			in.failures.add(rec)
			return rec
		}
	}
}

// pause waits for d; false when the run is being stopped.
func (in *inference) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-in.stop:
	}
	return false
}

func (in *inference) label(rec *outputs.Record, s *datasets.Sample, repeat int32, attempt int, slot load.Slot) {
	rec.Model, rec.Dataset = in.task.ModelAbbr, in.task.DatasetAbbr
	rec.SampleID, rec.SessionID = sampleKey(s), s.SessionID
	rec.Repeat, rec.Attempt, rec.Phase = repeat, int32(attempt), slot.Phase
	rec.Scheduled = slot.Scheduled
	if attempt > 0 { // a retry is due when it is sent; its back-off is not the service's latency
		rec.Scheduled = rec.Sent
	}
}

func (in *inference) label2(rec *outputs.Record, req *models.Request) {
	text := promptText(req)
	rec.PromptSHA256 = sha256Hex(text)
	if !in.opts.NoStorePrompts {
		rec.Prompt = text
	}
}

// keep appends a record; the first write error stops the task, because going
// on would ask questions whose answers are lost.
func (in *inference) keep(rec *outputs.Record) {
	in.reads.Add(int64(rec.Reads))
	in.coalesced.Add(int64(rec.Coalesced))
	if rec.OK() {
		in.answered.Add(1)
	}
	if err := in.journal.Append(rec); err != nil {
		in.writeFailed(err)
	}
}

func (in *inference) predict(rec *outputs.Record, q question, logprobs []*float64) {
	p := &outputs.Prediction{ID: q.index, Gold: gold(q.sample), Subset: q.sample.Subset, LabelLogprobs: logprobs}
	p.FromRecord(rec)
	if err := in.predictions.Append(p); err != nil {
		in.writeFailed(err)
	}
}

func gold(s *datasets.Sample) any {
	if len(s.Golds) > 1 {
		return s.Golds
	}
	return s.Gold
}

func (in *inference) writeFailed(err error) {
	if in.writeErr.CompareAndSwap(nil, &err) {
		in.abort()
	}
}

// failureLog counts why requests failed.
type failureLog struct {
	mu sync.Mutex
	n  map[string]int
}

func (f *failureLog) add(rec *outputs.Record) {
	reason := string(rec.Status)
	if e := oneLine(rec.Error); e != "" {
		reason += ": " + e
	}
	if len(reason) > 200 {
		reason = strings.ToValidUTF8(reason[:200], "") + "…"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == nil {
		f.n = map[string]int{}
	}
	if _, seen := f.n[reason]; !seen && len(f.n) >= 100 {
		reason = string(rec.Status) // a server that words every failure differently must not fill memory
	}
	f.n[reason]++
}

func (f *failureLog) counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// finite is a pointer to x, nil for what JSON has no number for.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
