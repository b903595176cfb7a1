package tasks

import (
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
	hashes      []string // of the samples' prompts, by index; "" = not asked
	left        leftover
	ahead       *ahead
	notedMu     sync.Mutex // guards the next two
	setupWaits  []int64    // ns that measured requests waited for a connection set-up slot
	firstTokens []int64    // ns from the send of measured requests to their first token
}

// Inference is what asking one task was like. Of the questions that were due,
// each was Resumed, Answered, Failed, Cancelled or NotAsked.
type Inference struct {
	Asked     int // questions that were due
	Answered  int // of these, answered in this run
	Resumed   int // answered by an earlier run and kept
	Failed    int // asked in vain
	Cancelled int // asked, but cut off by the user before the answer ended
	NotAsked  int // never sent: the run was interrupted or gave up; 0 for a run for a length of time
	Load      load.Report
	Health    *load.Health // of the client in the measured phase; nil when nothing was asked
	Pool      models.PoolStats
	Reasons   map[string]int // failure → count
	Stopped   bool           // interrupted by the user
	Warnings  []string       // what a reader of the figures must know
}

// ask carries the inference out.
func (in *inference) ask(ctx context.Context) (rep Inference, err error) {
	ctx, in.abort = context.WithCancel(ctx)
	defer in.abort()
	todo, resumed, err := in.questions()
	if err != nil {
		return rep, err
	}
	rep.Resumed, rep.Asked = resumed, len(todo)+resumed
	if in.opts.Duration == 0 {
		rep.NotAsked = len(todo)
	}
	in.hashPrompts(todo)
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
	cfg, err := loadConfig(in.task, in.opts, in.svc.cfg, todo)
	if err != nil {
		return err
	}
	if r, ok := cfg.Schedule.(load.Replay); ok && len(r.Times) > 0 {
		within := ""
		if cfg.Duration > 0 {
			within = fmt.Sprintf("; --duration ends it after %s", cfg.Duration)
		}
		in.observe.Note(fmt.Sprintf("replay: the %d time stamps take %s at speed %g%s", len(r.Times), r.Takes(len(r.Times)), r.Speed, within))
	}
	cfg.Clock, cfg.Stop = in.clock, in.stop
	if rep.Stopped, err = in.warmUp(ctx, rep); err != nil || rep.Stopped {
		return err
	}
	if err := in.prepareCache(ctx); err != nil {
		return err
	}
	in.watch.measured(ctx)
	expected := cfg.Count
	in.observe.TaskStarted(in.task, requestsOf(todo, expected), cfg.Duration)
	defer in.observe.TaskEnded(in.task)
	var counts [3]atomic.Int64
	sampler := load.NewHealthSampler(0)
	totals := func() load.HealthInput {
		return load.HealthInput{Load: rep.Load, Pool: in.svc.client.Stats(), Clock: in.clock.Report(), SetupWaits: in.setupWaits, FirstTokens: in.firstTokens,
			Events: in.reads.Load() + in.coalesced.Load(), Coalesced: in.coalesced.Load()}
	}
	in.ahead = in.prepareAhead(ctx, todo, cfg)
	sampler.Start(totals())
	rep.Load = in.dispatch(ctx, cfg, func(ctx context.Context, s load.Slot) {
		if s.Phase == outputs.PhaseCooldown {
			in.unmeasured(ctx, s)
			return
		}
		counts[in.one(ctx, todo[s.Index%len(todo)], s, s.Index/len(todo))].Add(1)
	})
	in.ahead.close()
	health := sampler.Stop(totals())
	rep.Health = &health
	rep.Answered, rep.Failed, rep.Cancelled = int(counts[answered].Load()), int(counts[failed].Load()), int(counts[cancelled].Load())
	rep.Stopped = rep.Load.Stopped
	rep.NotAsked = max(rep.NotAsked-rep.Answered-rep.Failed-rep.Cancelled, 0)
	return nil
}

// end is what became of a question that was asked.
type end int

const (
	answered  end = iota
	failed        // asked in vain
	cancelled     // cut off by the user
)

// endOf is what a question's last record says.
func endOf(rec *outputs.Record) end {
	switch {
	case rec.OK():
		return answered
	case rec.Status == outputs.StatusCancelled:
		return cancelled
	}
	return failed
}

// hashPrompts computes the hashes of all prompts, so that none is computed
// while requests are under way. Those of labels (PPL) and of conversations, whose
// prompts are not known before, are computed as they come.
func (in *inference) hashPrompts(todo []question) {
	in.hashes = make([]string, len(in.set.Samples))
	due := make([]*datasets.Sample, len(in.set.Samples))
	for _, q := range todo {
		if len(q.sample.Choices) == 0 && len(q.sample.FollowUps) == 0 {
			due[q.index] = q.sample
		}
	}
	_ = parallel(context.Background(), len(due), 0, func(_ context.Context, i int) error { // no call returns an error
		if s := due[i]; s != nil {
			in.hashes[i] = sha256Hex(promptText(newRequest(in.svc.cfg, in.set.Config, s, s.Prompt)))
		}
		return nil
	})
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

// one asks one question until it is answered or retries are used up.
func (in *inference) one(ctx context.Context, q question, s load.Slot, round int) end {
	if len(q.sample.Choices) > 0 {
		return in.onePPL(ctx, q, s)
	}
	if len(q.sample.FollowUps) > 0 {
		return in.conversation(ctx, q, s, round)
	}
	req := in.ahead.take(s.Index)
	if req == nil {
		req = in.request(q)
	}
	rec, write := in.exchange(ctx, q, s, round, 0, req)
	write()
	return endOf(rec)
}

// request is a question as it is sent.
func (in *inference) request(q question) *models.Request {
	return newRequest(in.svc.cfg, in.set.Config, q.sample, q.sample.Prompt)
}

// exchange sends a request, of turn number turn of its conversation, until it is
// answered or retries are used up, and gives the last attempt's record. The slot
// is given back when nothing of the question is left to ask; what else is to be
// done about the answer is left to write, so that it keeps nobody waiting.
func (in *inference) exchange(ctx context.Context, q question, s load.Slot, round, turn int, req *models.Request) (rec *outputs.Record, write func()) {
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
		sent(s, res)
		again := attempt < retries && retryable(res.Status) && ctx.Err() == nil
		if !again && (int32(turn) == lastTurn(q.sample) || res.Status != outputs.StatusOK) {
			s.Done(res.End)
		}
		res.Decode()
		rec := newRecord(res, req)
		distrust(rec, req, in.svc.cfg, answersOf(in.svc.cfg, req))
		in.label(rec, q, round, turn, attempt, s)
		write := func(last bool) {
			in.storePrompt(rec, req, in.hashes[q.index])
			in.keep(rec)
			in.noted(res, rec)
			in.observe.Answered(in.task, rec)
			if !last {
				return
			}
			in.predict(rec, q, nil)
			if endOf(rec) == failed {
				in.failures.add(rec)
			}
		}
		if !again {
			return rec, func() { write(true) }
		}
		write(false)
		if !in.pause(ctx, backoff(attempt, res)) {
			return rec, func() {
				in.predict(rec, q, nil)
				in.failures.add(rec)
			}
		}
	}
}

// sent tells the load engine when a request left. One that was first refused in
// another form (Result.Fallbacks) left long before its Sent, which is that of the
// last form: the wait for the refusal is no lag of the client's.
func sent(s load.Slot, res *models.Result) {
	if res.Fallbacks == 0 {
		s.Sent(res.Sent)
	}
}

// noted keeps what the client's health is judged by: how long a request waited
// for a connection set-up slot, and how long its answer took to begin.
func (in *inference) noted(res *models.Result, rec *outputs.Record) {
	in.notedMu.Lock()
	defer in.notedMu.Unlock()
	if res.SetupWait > 0 {
		in.setupWaits = append(in.setupWaits, res.SetupWait)
	}
	if !rec.OK() {
		return
	}
	first, ok := rec.TTFT()
	if !ok { // not streamed
		first = rec.End - rec.Sent
	}
	in.firstTokens = append(in.firstTokens, first)
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

// label says whose record it is. round counts passes through the questions,
// turn a question's labels (PPL). Attempts of earlier sessions count.
func (in *inference) label(rec *outputs.Record, q question, round, turn, attempt int, slot load.Slot) {
	rec.Model, rec.Dataset = in.task.ModelAbbr, in.task.DatasetAbbr
	rec.SampleID, rec.SessionID = q.sample.Key(), q.sample.SessionID
	rec.Repeat, rec.Turn, rec.Phase = q.repeat+int32(round*in.task.repeats()), int32(turn), slot.Phase
	rec.Attempt = int32(attempt)
	if slot.Phase == outputs.PhaseMeasured {
		rec.Attempt += in.left.attempts[outputs.PredictionKey{SampleID: rec.SampleID, Repeat: rec.Repeat, Turn: rec.Turn, SessionID: rec.SessionID}]
	}
	rec.Scheduled = slot.Scheduled
	if attempt > 0 { // a retry is due when it is sent; its back-off is not the service's latency
		rec.Scheduled = rec.Sent
	}
}

// storePrompt puts the prompt, as far as it is to be kept, and its hash into a
// record; hash "" = not computed yet.
func (in *inference) storePrompt(rec *outputs.Record, req *models.Request, hash string) {
	if hash != "" && in.opts.NoStorePrompts {
		rec.PromptSHA256 = hash
		return
	}
	text := promptText(req)
	if rec.PromptSHA256 = hash; hash == "" {
		rec.PromptSHA256 = sha256Hex(text)
	}
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

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// finite is a pointer to x, nil for what JSON has no number for.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
