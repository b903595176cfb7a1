package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"ais_bench/models"
	"ais_bench/models/transport"
	"ais_bench/outputs"
	"ais_bench/tasks"
)

// ProbeDataset names the records of probe requests.
const ProbeDataset = "probe"

// ProbeResult sums the probe requests up. Latencies are nil when none succeeded.
type ProbeResult struct {
	Completed, Failed            int
	MedianE2EL, P99E2EL, MaxE2EL *float64 // ms
}

// probe asks the loaded server for one token again and again, beside the
// measured requests and outside their concurrency limit: how long does somebody
// wait who has a small question? One request at a time; after each answer it
// pauses for 1/rate seconds.
type probe struct {
	rate   float64
	client models.Client
	clock  *transport.Clock
	model  string

	mu      sync.Mutex
	records []*outputs.Record
}

// probeDrain bounds the wait for the request under way when the phase ends.
const probeDrain = 5 * time.Second

// run asks until stop is closed. The request under way then is left to end, so that
// the server has counted no more than the records hold, but it is not measured: the
// load it ended under is another one.
func (p *probe) run(ctx context.Context, stop <-chan struct{}) {
	ended := func() bool {
		select {
		case <-stop:
			return true
		default:
			return ctx.Err() != nil
		}
	}
	pause := time.Duration(float64(time.Second) / p.rate)
	for i := 0; !ended(); i++ {
		scheduled := p.clock.Now()
		req := &models.Request{ID: fmt.Sprintf("probe-%d", i), Prompt: "Hi", MaxTokens: 1, Stream: true}
		res := p.client.Do(ctx, req)
		res.Decode()
		phase := outputs.PhaseMeasured
		if ended() {
			phase = outputs.PhaseCooldown
		}
		p.mu.Lock()
		p.records = append(p.records, &outputs.Record{
			Model: p.model, Dataset: ProbeDataset, SampleID: fmt.Sprint(i), Phase: phase, RequestID: req.ID,
			Scheduled: scheduled, Sent: res.Sent, Connected: res.Connected, FirstByte: res.FirstByte, FirstEvent: res.FirstEvent,
			FirstToken: res.FirstToken, FirstAnswerToken: res.FirstAnswerToken, LastToken: res.LastToken, End: res.End,
			FirstOutput: res.FirstOutput, LastOutput: res.LastOutput, LastEvent: res.LastEvent,
			ChunkAt: res.ChunkAt, ChunkTokens: res.ChunkTokens, InputTokens: res.InputTokens, OutputTokens: res.OutputTokens,
			ReasoningTokens: res.ReasoningTokens, CachedTokens: res.CachedTokens, TokenSource: tokenSource(res), MaxTokens: 1,
			Status: res.Status, StreamEnd: res.StreamEnd, HTTPStatus: int32(res.HTTPStatus), FinishReason: res.FinishReason, Error: res.Error, Stream: res.Stream,
			KernelStamp: res.KernelStamp, Reused: res.Reused, Resent: res.Resent, Reads: res.Reads, Coalesced: res.Coalesced,
			BytesIn: res.BytesIn, Text: res.Text, Reasoning: res.Reasoning, ToolCalls: res.ToolCalls, Prompt: req.Prompt})
		p.mu.Unlock()
		select {
		case <-time.After(pause):
		case <-stop:
		case <-ctx.Done():
		}
	}
}

func tokenSource(res *models.Result) outputs.TokenSource {
	if res.UsageSeen {
		return outputs.TokensUsage
	}
	return outputs.TokensUnknown
}

func (p *probe) result() ProbeResult {
	var r ProbeResult
	var ms []float64
	for _, rec := range p.records {
		if rec.Phase != outputs.PhaseMeasured {
			continue
		}
		d, known := rec.E2EL()
		if !rec.OK() || !known {
			r.Failed++
			continue
		}
		r.Completed++
		ms = append(ms, float64(d)/1e6)
	}
	slices.Sort(ms)
	r.MedianE2EL, r.P99E2EL, r.MaxE2EL = percentile(ms, 50), percentile(ms, 99), percentile(ms, 100)
	return r
}

// aside prepares what happens beside the measured phase, and nowhere else: the
// probe and the server's profiler. end is called when the run is over.
func (s *Session) aside(ctx context.Context) (tasks.Observer, func(), error) {
	side := &besides{Observer: s.opts.Observer}
	if !s.opts.Profile && s.opts.ProbeRate == 0 {
		return side.Observer, func() {}, nil
	}
	if s.opts.Profile {
		side.begin = append(side.begin, func(ctx context.Context) { s.profiler(ctx, "/start_profile") })
		side.finish = append(side.finish, func() { s.profiler(context.WithoutCancel(ctx), "/stop_profile") })
	}
	ctx, cancel := context.WithCancel(ctx)
	end := cancel
	if s.opts.ProbeRate > 0 {
		if s.Backend.Pooling {
			cancel()
			return nil, nil, fmt.Errorf("--probe-request-rate asks for one token, which --backend %s does not generate", s.Backend.Name)
		}
		clock := transport.NewClock()
		client, err := models.New(s.Service, clock, models.Options{})
		if err != nil {
			cancel()
			return nil, nil, err
		}
		p := &probe{rate: s.opts.ProbeRate, client: client, clock: clock, model: s.Service.Abbr}
		s.probe = p
		probing, abort := context.WithCancel(ctx)
		stop := make(chan struct{})
		var gone sync.WaitGroup
		var once sync.Once
		side.begin = append(side.begin, func(context.Context) { gone.Go(func() { p.run(probing, stop) }) })
		side.finish = append(side.finish, func() {
			once.Do(func() { close(stop) })
			late := time.AfterFunc(probeDrain, abort)
			gone.Wait()
			late.Stop()
		})
		end = func() {
			cancel()
			abort()
			gone.Wait()
			client.Close()
		}
	}
	side.ctx = ctx
	return side, end, nil
}

// besides starts and ends what runs beside the measured phase.
type besides struct {
	tasks.Observer
	ctx    context.Context
	begin  []func(context.Context)
	finish []func()
}

// TaskStarted is called when warm-ups are over, just before the first request.
func (b *besides) TaskStarted(t *tasks.Task, requests int, limit time.Duration) {
	b.Observer.TaskStarted(t, requests, limit)
	for _, f := range b.begin {
		f(b.ctx)
	}
}

func (b *besides) TaskEnded(t *tasks.Task) {
	for _, f := range b.finish {
		f()
	}
	b.Observer.TaskEnded(t)
}

// profiler starts or ends the server's profiler. A failure is noted; the
// measurement goes on without.
func (s *Session) profiler(ctx context.Context, path string) {
	if err := s.post(ctx, path); err != nil {
		s.note("--profile: POST %s: %v; the server must be started with its profiler enabled", path, err)
		s.opts.Observer.Note(s.Notes[len(s.Notes)-1])
		return
	}
	s.opts.Observer.Note(fmt.Sprintf("--profile: POST %s done", path))
}

// post sends a command to the server as all that is asked beside the API is sent:
// with the service's headers, key, authorities and proxy.
func (s *Session) post(ctx context.Context, path string) error {
	ep, err := s.Service.Endpoint()
	if err != nil {
		return err
	}
	get, err := models.NewGetter(s.Service)
	if err != nil {
		return err
	}
	defer get.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute) // writing a profile takes long
	defer cancel()
	res, err := get.Post(ctx, ep.Server+path)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body) // the status is all that matters
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("HTTP %s", res.Status)
	}
	return nil
}

// keep adds to the run folder what the engine does not know: the probe's records
// and, in the manifest, how the requests were made.
func (s *Session) keep(out *tasks.Outcome) error {
	m, err := out.Run.ReadManifest()
	if err != nil {
		return err
	}
	m.Workload["benchmark"] = map[string]any{"dataset": s.Set.Config.Abbr, "workload": s.Workload, "backend": s.Backend.Name,
		"max_concurrency": s.opts.MaxConcurrency, "tokenizer": s.TokenizerID, "tokenizer_source": s.Tokenizer.Source, "self_timed": s.Timed,
		"repeated_rows": s.Duplicated(), "lora_modules": s.opts.LoRAModules, "batch": s.opts.Batch}
	m.Seeds["workload"] = s.opts.Seed
	m.Warnings = append(m.Warnings, s.Notes...)
	if p := s.probe; p != nil && len(p.records) > 0 {
		if err := p.write(out); err != nil {
			return err
		}
		r := p.result()
		pair := outputs.PairState{Model: p.model, Dataset: ProbeDataset, State: "done", Requests: int64(r.Completed + r.Failed), Failed: int64(r.Failed)}
		if err := out.Run.SealRecords(&pair); err != nil {
			return err
		}
		m.Pairs = append(m.Pairs, pair)
	}
	m.Checklist = out.Run.Checklist(m)
	return out.Run.WriteManifest(m)
}

// write stores the records on the run's own clock.
func (p *probe) write(out *tasks.Outcome) error {
	shift := p.clock.Zero().Sub(out.Clock.Zero()).Nanoseconds()
	j, err := out.Run.Journal(p.model, ProbeDataset)
	if err != nil {
		return err
	}
	for _, r := range p.records {
		for _, t := range []*int64{&r.Scheduled, &r.Sent, &r.Connected, &r.FirstByte, &r.FirstEvent, &r.FirstToken, &r.FirstAnswerToken, &r.LastToken, &r.End,
			&r.FirstOutput, &r.LastOutput, &r.LastEvent} {
			if *t != outputs.Never {
				*t += shift
			}
		}
		if err := j.Append(r); err != nil {
			j.Close()
			return err
		}
	}
	if err := j.Close(); err != nil {
		return err
	}
	_, err = out.Run.Seal(p.model, ProbeDataset)
	return err
}

// Probe is what the probe measured; nil without --probe-request-rate.
func (s *Session) Probe() *ProbeResult {
	if s.probe == nil {
		return nil
	}
	r := s.probe.result()
	return &r
}
