// Package calibrate measures the measuring: it drives the simulator, which logs
// the true time of every write, with the client and the load engine of real
// runs, on the machine they run on, and reports measured − true.
//
// Both sides read the same wall clock, so a stamp's error is the age a chunk had
// when it was stamped: the loopback's delay plus the client's own lateness. TTFT
// and E2E are compared as what they are, spans from the sending on: their errors
// hold the way there, connection set-up included, as well as the way back. The
// server runs as a process of its own, because a client that shared its
// scheduler would measure the scheduler.
package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"ais_bench/models"
	"ais_bench/models/simulator"
	"ais_bench/models/transport"
	"ais_bench/outputs"
	"ais_bench/quantile"
	"ais_bench/tasks/load"
)

// Server is a running simulator in paced mode whose truth can be read once it
// has been stopped.
type Server interface {
	URL() string
	// Stop ends the server and returns its truth.
	Stop() ([]simulator.TruthRequest, error)
}

// Config is one load to calibrate at.
type Config struct {
	Streams         int           // concurrent streams
	TokensPerSecond float64       // of each stream
	Duration        time.Duration // of each stream
	Seed            uint64
	// Start brings up a server that streams at TokensPerSecond.
	Start func(ctx context.Context, tokensPerSecond float64) (Server, error)
	// Progress receives a line per step; nil drops it.
	Progress func(string)
}

// Spread is a distribution of errors or lags in microseconds.
type Spread struct {
	P50 *float64 `json:"p50"`
	P99 *float64 `json:"p99"`
	Max *float64 `json:"max"`
}

// Result is how far measurements were from the truth.
type Result struct {
	Streams         int     `json:"streams"`
	TokensPerSecond float64 `json:"tokens_per_second"` // of each stream
	Chunks          int     `json:"chunks"`            // compared
	ChunksPerSecond float64 `json:"chunks_per_second"` // over the whole load
	FailedStreams   int     `json:"failed_streams"`
	Unmatched       int     `json:"unmatched_streams"` // streams whose chunk counts differ from the truth's

	TTFTError   Spread `json:"ttft_error_us"`  // measured TTFT − the server's: from request read to first payload chunk written
	ITLError    Spread `json:"itl_error_us"`   // |measured gap − true gap|
	E2EError    Spread `json:"e2e_error_us"`   // as TTFTError, to the last payload chunk
	StampError  Spread `json:"stamp_error_us"` // arrival stamp − write time of every payload chunk
	ScheduleLag Spread `json:"schedule_lag_us"`

	CPUPerChunk *float64 `json:"cpu_us_per_chunk"` // client process, user + system; null where it cannot be read
	StampSource string   `json:"stamp_source"`     // kernel or read
	KernelShare float64  `json:"kernel_stamped_share"`
	ClockSteps  int64    `json:"clock_steps"` // > 0: the wall clock jumped and errors include the jump
}

// WorstP99 is the larger p99 of stamp and ITL error in microseconds, +Inf when
// nothing could be compared or a stream failed. TTFT and E2E error, which also hold
// the connection's set-up, the way there and the time the server needs to read the
// request, are LatencyP99's.
func (r *Result) WorstP99() float64 { return r.worst(r.StampError, r.ITLError) }

// LatencyP99 is the larger p99 of TTFT and E2E error, else as WorstP99.
func (r *Result) LatencyP99() float64 { return r.worst(r.TTFTError, r.E2EError) }

func (r *Result) worst(spreads ...Spread) float64 {
	worst := 0.0
	for _, s := range spreads {
		if s.P99 == nil {
			return math.Inf(1)
		}
		worst = max(worst, *s.P99)
	}
	if r.FailedStreams > 0 || r.Unmatched > 0 {
		return math.Inf(1)
	}
	return worst
}

// measured is what the client saw of one stream.
type measured struct {
	id      string
	sent    int64
	chunkAt []int64
	ok      bool
}

// Run calibrates at one load.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	if cfg.Streams < 1 || cfg.TokensPerSecond <= 0 || cfg.Duration <= 0 {
		return nil, fmt.Errorf("calibrate: streams %d, tokens/s %g and duration %s must all be above 0", cfg.Streams, cfg.TokensPerSecond, cfg.Duration)
	}
	srv, err := cfg.Start(ctx, cfg.TokensPerSecond)
	if err != nil {
		return nil, fmt.Errorf("calibrate: start the simulator: %w", err)
	}
	clock := transport.NewClock()
	seen, lag, cpu, span, err := drive(ctx, cfg, srv.URL(), clock)
	truth, stopErr := srv.Stop()
	if err != nil {
		return nil, err
	}
	if stopErr != nil {
		return nil, fmt.Errorf("calibrate: read the simulator's truth: %w", stopErr)
	}
	return compare(cfg, clock, seen, truth, lag, cpu, span)
}

func drive(ctx context.Context, cfg Config, url string, clock *transport.Clock) (seen []measured, lag []int64, cpu, span time.Duration, err error) {
	m := models.Config{Abbr: "calibrate", Type: "openai_chat", Stream: true, URL: url, Model: "sim"}
	if err := warmUp(ctx, m); err != nil {
		return nil, nil, 0, 0, fmt.Errorf("calibrate: warm-up: %w", err)
	}
	client, err := models.New(m, clock, models.Options{})
	if err != nil {
		return nil, nil, 0, 0, fmt.Errorf("calibrate: %w", err)
	}
	defer client.Close()
	tokens := max(int(cfg.TokensPerSecond*cfg.Duration.Seconds()), 2)
	// Streams start over about two seconds, so that their phases differ and
	// connection set-up is not what is measured.
	rate := max(float64(cfg.Streams)/2, 1)
	sched := load.Rescaled{Of: load.Poisson(rate, cfg.Seed), Count: cfg.Streams, Rate: rate}
	var mu sync.Mutex
	before := processCPU()
	rep := load.Run(ctx, load.Config{Clock: clock, Schedule: sched, Count: cfg.Streams, Phase: outputs.PhaseMeasured}, func(ctx context.Context, s load.Slot) {
		req := &models.Request{ID: fmt.Sprintf("00000000-0000-4000-8000-%012x", s.Index), Prompt: "calibrate", MaxTokens: tokens, Stream: true,
			Params: map[string]any{"ignore_eos": true}}
		res := client.Do(ctx, req)
		s.Sent(res.Sent)
		s.Done(res.End)
		mu.Lock()
		seen = append(seen, measured{id: req.ID, sent: res.Sent, chunkAt: res.ChunkAt, ok: res.Status == outputs.StatusOK})
		mu.Unlock()
	})
	cpu = processCPU() - before
	if ctx.Err() != nil {
		return nil, nil, 0, 0, ctx.Err()
	}
	return seen, rep.Lag, cpu, time.Duration(rep.Ended - rep.Started), nil
}

// warmUps is how many requests both sides answer before the measured ones. The first
// answers of a process pay for code and memory touched for the first time, about a
// millisecond of TTFT, which a real run spends on its own first requests to the server.
const warmUps = 8

// warmUp sends them one after the other. They are in no figure, which is why they have
// a clock and connections of their own.
func warmUp(ctx context.Context, m models.Config) error {
	client, err := models.New(m, transport.NewClock(), models.Options{})
	if err != nil {
		return err
	}
	defer client.Close()
	for i := range warmUps {
		res := client.Do(ctx, &models.Request{ID: fmt.Sprintf("warm-up-%d", i), Prompt: "calibrate", MaxTokens: 1, Stream: true, Params: map[string]any{"ignore_eos": true}})
		if err := ctx.Err(); err != nil {
			return err
		}
		if res.Status != outputs.StatusOK {
			return errors.New(res.Error)
		}
	}
	return nil
}

func compare(cfg Config, clock *transport.Clock, seen []measured, truth []simulator.TruthRequest, lag []int64, cpu, span time.Duration) (*Result, error) {
	type real struct {
		received int64
		chunks   []int64
	}
	byID := make(map[string]real, len(truth))
	for _, t := range truth {
		var at []int64
		for _, c := range t.Chunks {
			if c.Kind.Payload() {
				at = append(at, c.Wall)
			}
		}
		byID[t.ID] = real{t.Wall, at}
	}
	clk := clock.Report()
	r := &Result{Streams: cfg.Streams, TokensPerSecond: cfg.TokensPerSecond, StampSource: string(clk.StampSource), ClockSteps: clk.Steps}
	if n := clk.KernelReads + clk.OtherReads; n > 0 {
		r.KernelShare = float64(clk.KernelReads) / float64(n)
	}
	var ttft, itl, e2e, stamps []int64
	for _, m := range seen {
		if !m.ok {
			r.FailedStreams++
			continue
		}
		served := byID[m.id]
		real := served.chunks
		if len(real) == 0 || len(real) != len(m.chunkAt) {
			r.Unmatched++
			continue
		}
		stamp := func(i int) int64 { return clk.OffsetStartNS + m.sent + m.chunkAt[i] }
		for i := range real {
			r.Chunks++
			stamps = append(stamps, stamp(i)-real[i])
			latency := m.chunkAt[i] - (real[i] - served.received)
			if i == 0 {
				ttft = append(ttft, latency)
			} else {
				itl = append(itl, abs((stamp(i)-stamp(i-1))-(real[i]-real[i-1])))
			}
			if i == len(real)-1 {
				e2e = append(e2e, latency)
			}
		}
	}
	if r.Chunks == 0 && r.FailedStreams == 0 {
		return nil, errors.New("calibrate: no stream could be matched with the simulator's truth")
	}
	r.TTFTError, r.ITLError, r.E2EError, r.ScheduleLag = spread(ttft), spread(itl), spread(e2e), spread(lag)
	r.StampError = spread(stamps)
	if r.Chunks > 0 && cpu > 0 {
		per := float64(cpu.Microseconds()) / float64(r.Chunks)
		r.CPUPerChunk = &per
	}
	if span > 0 {
		r.ChunksPerSecond = float64(r.Chunks) / span.Seconds()
	}
	return r, nil
}

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

// spread sorts ns and gives µs.
func spread(ns []int64) Spread {
	if len(ns) == 0 {
		return Spread{}
	}
	slices.Sort(ns)
	at := func(q float64) *float64 {
		v := quantile.Linear(ns, q) / 1e3
		return &v
	}
	return Spread{P50: at(0.5), P99: at(0.99), Max: at(1)}
}
