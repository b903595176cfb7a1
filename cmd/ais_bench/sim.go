package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/datasets"
	"ais_bench/models/simulator"
	"ais_bench/tasks"
)

// simCommand is `ais_bench sim`: the simulated inference server as a process.
func simCommand() *cli.Command {
	const (
		server = "Server"
		engine = "Engine"
		paced  = "Paced streams (instrument)"
		speech = "Answers"
		shape  = "Shape of streams"
		faults = "Faults and latency"
	)
	return &cli.Command{
		Name:  "sim",
		Usage: "run a simulated inference server (OpenAI, SGLang and TGI protocols)",
		Description: "The first line of stdout is `listening on http://HOST:PORT`. Ctrl-C prints the counters and stops.\n" +
			"docs/simulator.md explains the engine model, the answers, the faults and the truth file.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "host", Value: "127.0.0.1", Usage: "address to listen on", Category: server},
			&cli.IntFlag{Name: "port", Value: 8000, Usage: "port to listen on; 0 picks a free one", Category: server},
			&cli.GenericFlag{Name: "served-model-name", Value: &nameList{}, Usage: "model `NAME`; several by commas or repetition; without it sim", Category: server},
			&cli.StringFlag{Name: "api-key", Usage: "`KEY` that requests must carry", Category: server, EnvVars: []string{"AIS_BENCH_SIM_API_KEY"}},
			&cli.StringFlag{Name: "root-path", Usage: "`PATH` prefix below which everything lies, as behind a gateway (/api)", Category: server},
			&cli.StringFlag{Name: "ssl-certfile", Usage: "PEM `FILE` of the certificate: serve HTTPS", Category: server},
			&cli.StringFlag{Name: "ssl-keyfile", Usage: "PEM `FILE` of its key", Category: server},
			&cli.StringFlag{Name: "metrics-flavor", Value: "vllm", Usage: "names of /metrics and /server_info: vllm or sglang", Category: server},
			&cli.BoolFlag{Name: "no-dev-mode", Usage: "as vLLM without its development mode: no /server_info and no cache reset", Category: server},
			&cli.DurationFlag{Name: "keep-alive", Value: 5 * time.Second, Usage: "close connections idle for this long; negative never", Category: server},
			&cli.Int64Flag{Name: "seed", Usage: "seed of everything random", Category: server},

			&cli.IntFlag{Name: "max-num-seqs", Value: 256, Usage: "sequences in one batch", Category: engine},
			&cli.IntFlag{Name: "max-num-batched-tokens", Value: 8192, Usage: "tokens of one step", Category: engine},
			&cli.IntFlag{Name: "max-model-len", Value: 131072, Usage: "longest prompt and output together; at most what the KV blocks hold", Category: engine},
			&cli.IntFlag{Name: "num-gpu-blocks", Value: 32768, Usage: "KV blocks", Category: engine},
			&cli.IntFlag{Name: "block-size", Value: 16, Usage: "tokens a KV block", Category: engine},
			&cli.BoolFlag{Name: "enable-prefix-caching", Value: true, Usage: "reuse KV blocks between requests", Category: engine},
			&cli.BoolFlag{Name: "no-enable-prefix-caching", Usage: "do not", Category: engine},
			&cli.StringFlag{Name: "preset", Value: "fast", Usage: "costs of a step: " + strings.Join(simulator.PresetNames(), ", "), Category: engine},
			&cli.DurationFlag{Name: "step-base", DefaultText: "the preset's", Usage: "cost of a step", Category: engine},
			&cli.DurationFlag{Name: "prefill-cost", DefaultText: "the preset's", Usage: "cost per prefilled token", Category: engine},
			&cli.DurationFlag{Name: "decode-cost", DefaultText: "the preset's", Usage: "cost per decoding sequence", Category: engine},
			&cli.DurationFlag{Name: "context-cost", DefaultText: "the preset's", Usage: "cost per 1,000 tokens of context", Category: engine},
			&cli.Float64Flag{Name: "time-scale", Value: 1, Usage: "multiplies all times", Category: engine},

			&cli.Float64Flag{Name: "tokens-per-second", DefaultText: "the engine decides", Usage: "`RATE` of every stream on its own schedule instead of the engine", Category: paced},
			&cli.DurationFlag{Name: "ttft", Value: 50 * time.Millisecond, Usage: "time to first token", Category: paced},
			&cli.DurationFlag{Name: "timer-quantum", Value: 500 * time.Microsecond, Usage: "chunks due within this time share a wake-up", Category: paced},
			&cli.IntFlag{Name: "workers", DefaultText: "half the CPUs", Usage: "goroutines that write chunks", Category: paced},
			&cli.StringFlag{Name: "truth", Usage: "`FILE` that gets the send time of every chunk", Category: paced},

			&cli.IntFlag{Name: "output-len", Value: 128, Usage: "mean output tokens where nothing else decides", Category: speech},
			&cli.Float64Flag{Name: "output-len-sigma", Value: 0.4, Usage: "sigma of its lognormal; 0 is constant", Category: speech},
			&cli.StringFlag{Name: "answers", Usage: "`FILE|NAME` of questions and gold answers: jsonl, json, csv (.gz), or a data set's name", Category: speech},
			&cli.Float64Flag{Name: "accuracy", Value: 1, Usage: "share of questions answered right", Category: speech},
			&cli.StringFlag{Name: "answer-template", Usage: "text of an answer with {answer}, {solution}, {letter}", Category: speech},
			&cli.BoolFlag{Name: "vary-by-repeat", Usage: "decide anew each time a question is asked", Category: speech},
			&cli.StringFlag{Name: "answers-log", Usage: "`FILE` that gets one JSON line per answer", Category: speech},
			&cli.IntFlag{Name: "reasoning-tokens", Usage: "tokens of reasoning before the answer", Category: speech},
			&cli.StringFlag{Name: "reasoning-field", Value: "reasoning_content", Usage: "reasoning_content, reasoning or think", Category: speech},
			&cli.BoolFlag{Name: "tool-calls", Usage: "call a tool whenever one is offered", Category: speech},

			&cli.IntFlag{Name: "tokens-per-chunk", Value: 1, Usage: "tokens of one event", Category: shape},
			&cli.IntFlag{Name: "events-per-write", Value: 1, Usage: "events of one write call", Category: shape},
			&cli.StringFlag{Name: "role-delta", Value: "first-token", Usage: "role-only first delta: first-token, accept or none", Category: shape},
			&cli.StringFlag{Name: "usage", Value: "auto", Usage: "auto, last, every or none", Category: shape},
			&cli.BoolFlag{Name: "one-byte-writes", Usage: "a write call for every byte", Category: shape},
			&cli.BoolFlag{Name: "crlf", Usage: "lines end in CR LF", Category: shape},
			&cli.BoolFlag{Name: "no-space", Usage: "no blank after data:", Category: shape},
			&cli.IntFlag{Name: "comments", Usage: "a comment line before every N-th event", Category: shape},
			&cli.BoolFlag{Name: "no-done", Usage: "leave out data: [DONE]", Category: shape},

			&cli.GenericFlag{Name: "fault", Value: &faultList{}, Usage: "`KIND[:RATE][,WHEN]`, repeatable: " + strings.Join(simulator.FaultKinds, ", ") + "; before, start or mid", Category: faults},
			&cli.DurationFlag{Name: "retry-after", Value: time.Second, Usage: "Retry-After of 429 and 503", Category: faults},
			&cli.BoolFlag{Name: "no-header-faults", Usage: "ignore the X-Sim-Fault request header", Category: faults},
			&cli.StringFlag{Name: "latency-tail", Usage: "random factor of mean 1 on every step: lognormal:SIGMA or pareto:ALPHA", Category: faults},
			&cli.Float64Flag{Name: "latency-drift", Usage: "relative slowing per minute", Category: faults},
			&cli.Float64Flag{Name: "position-drift", Usage: "relative slowing per 1,000 output tokens of a stream (paced)", Category: faults},
		},
		Action:      runSimulator,
		Subcommands: []*cli.Command{simTruthCommand()},
	}
}

// nameList collects names given by commas or repetition.
type nameList []string

func (l *nameList) Set(v string) error {
	for _, n := range strings.Split(v, ",") {
		*l = append(*l, strings.TrimSpace(n))
	}
	return nil
}

func (l *nameList) String() string { return strings.Join(*l, ",") }

// faultList collects faults; their own syntax has commas, so no list flag will do.
type faultList []simulator.Fault

func (l *faultList) Set(v string) error {
	f, err := simulator.ParseFault(v)
	*l = append(*l, f)
	return err
}

func (l *faultList) String() string {
	parts := make([]string, len(*l))
	for i, f := range *l {
		parts[i] = f.String()
	}
	return strings.Join(parts, " ")
}

// simConfig reads the flags.
func simConfig(c *cli.Context) simulator.Config {
	cfg := simulator.Config{
		ServedModelNames: *c.Generic("served-model-name").(*nameList), APIKey: c.String("api-key"), Flavor: c.String("metrics-flavor"), RootPath: c.String("root-path"), NoDevMode: c.Bool("no-dev-mode"),
		Seed: c.Int64("seed"), MaxModelLen: c.Int("max-model-len"), KeepAlive: c.Duration("keep-alive"),
		MaxNumSeqs: c.Int("max-num-seqs"), MaxNumBatchedTokens: c.Int("max-num-batched-tokens"), NumGPUBlocks: c.Int("num-gpu-blocks"),
		BlockSize: c.Int("block-size"), DisablePrefixCaching: c.Bool("no-enable-prefix-caching") || !c.Bool("enable-prefix-caching"),
		Preset: c.String("preset"), StepBase: c.Duration("step-base"), PrefillCost: c.Duration("prefill-cost"), DecodeCost: c.Duration("decode-cost"),
		ContextCost: c.Duration("context-cost"), TimeScale: c.Float64("time-scale"), LatencyTail: c.String("latency-tail"),
		LatencyDrift: c.Float64("latency-drift"), PositionDrift: c.Float64("position-drift"),
		TokensPerSecond: c.Float64("tokens-per-second"), TTFT: c.Duration("ttft"), TimerQuantum: c.Duration("timer-quantum"), Workers: c.Int("workers"),
		OutputLen: c.Int("output-len"), OutputLenSigma: c.Float64("output-len-sigma"), Answers: c.String("answers"), Accuracy: c.Float64("accuracy"),
		AnswerTemplate: c.String("answer-template"), VaryByRepeat: c.Bool("vary-by-repeat"), ReasoningTokens: c.Int("reasoning-tokens"),
		ReasoningField: c.String("reasoning-field"), ToolCalls: c.Bool("tool-calls"),
		Shape: simulator.Shape{TokensPerChunk: c.Int("tokens-per-chunk"), EventsPerWrite: c.Int("events-per-write"), RoleDelta: c.String("role-delta"),
			Usage: c.String("usage"), OneByteWrites: c.Bool("one-byte-writes"), CRLF: c.Bool("crlf"), NoSpace: c.Bool("no-space"),
			Comments: c.Int("comments"), NoDone: c.Bool("no-done")},
		Faults: *c.Generic("fault").(*faultList), RetryAfter: c.Duration("retry-after"), NoHeaderFaults: c.Bool("no-header-faults"),
		Log: c.App.ErrWriter,
	}
	if cfg.Accuracy == 0 { // the library's zero means its default
		cfg.Accuracy = -1
	}
	if cfg.OutputLenSigma == 0 {
		cfg.OutputLenSigma = -1
	}
	return cfg
}

func runSimulator(c *cli.Context) (err error) {
	if c.Args().Present() {
		return cli.Exit(fmt.Sprintf("unexpected argument %q of `ais_bench sim`", c.Args().First()), 2)
	}
	cfg := simConfig(c)
	if name := c.String("truth"); name != "" {
		f, err := createFile(name)
		if err != nil {
			return cli.Exit(fmt.Sprintf("--truth: %v", err), 3)
		}
		truth := simulator.NewTruthWriter(f)
		defer func() {
			if e := errors.Join(truth.Close(), f.Close()); e != nil && err == nil {
				err = cli.Exit(fmt.Sprintf("--truth %s: %v", name, e), 3)
			}
		}()
		cfg.Truth = truth
	}
	if name := c.String("answers-log"); name != "" {
		f, err := createFile(name)
		if err != nil {
			return cli.Exit(fmt.Sprintf("--answers-log: %v", err), 3)
		}
		log := newFlushedWriter(f)
		defer func() {
			if e := errors.Join(log.Close(), f.Close()); e != nil && err == nil {
				err = cli.Exit(fmt.Sprintf("--answers-log %s: %v", name, e), 3)
			}
		}()
		cfg.AnswersLog = log
	}
	if cfg.AnswersData, err = answersOfDataset(c.Context, cfg.Answers); err != nil {
		return err
	}
	srv, err := simulator.New(cfg)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return cli.Exit(err.Error(), 3)
	}
	if err != nil {
		return cli.Exit(err.Error(), 2)
	}
	defer srv.Close()
	addr := net.JoinHostPort(c.String("host"), strconv.Itoa(c.Int("port")))
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return cli.Exit(fmt.Sprintf("cannot listen on %s: %v; --port 0 picks a free port", addr, err), 3)
	}
	scheme := "http"
	if cert, key := c.String("ssl-certfile"), c.String("ssl-keyfile"); cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return usagef("--ssl-certfile %s, --ssl-keyfile %s: %w", cert, key, err)
		}
		scheme = "https"
		ln = tls.NewListener(ln, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"}})
	}
	fmt.Fprintf(c.App.Writer, "listening on %s://%s\n", scheme, ln.Addr())

	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	unwatch := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer unwatch()
	if err := srv.Serve(ln); !errors.Is(err, simulator.ErrClosed) {
		return cli.Exit(fmt.Sprintf("serving on %s: %v", ln.Addr(), err), 3)
	}
	_ = srv.Close() // waits for a close under way
	if b, err := json.Marshal(srv.Stats()); err == nil {
		fmt.Fprintf(c.App.ErrWriter, "%s\n", b)
	}
	return nil
}

// answersOfDataset gives the rows of the data set that --answers names; nil
// when it is empty or a file.
func answersOfDataset(ctx context.Context, name string) ([]byte, error) {
	if name == "" || strings.ContainsAny(name, `./\`) {
		return nil, nil
	}
	if _, err := os.Stat(name); err == nil {
		return nil, nil
	}
	r, err := datasets.OpenRegistry("")
	if err != nil {
		return nil, cli.Exit(err, 2)
	}
	entry, err := r.Get(name)
	if err != nil {
		return nil, cli.Exit(fmt.Sprintf("--answers: %v; a file's name has a dot or a slash", err), 2)
	}
	set, err := entry.Value.Load(ctx, datasets.LoadOptions{NoFewShot: true})
	if err != nil {
		return nil, cli.Exit(fmt.Sprintf("--answers %s: %v", name, err), 3)
	}
	rows, err := tasks.SimulatorAnswers(set)
	if err != nil {
		return nil, cli.Exit(fmt.Sprintf("--answers %s: %v", name, err), 3)
	}
	return rows, nil
}

// flushedWriter buffers small writes and passes them on every 200 ms, so that
// a reader sees the log grow and a killed server loses little of it.
type flushedWriter struct {
	mu   sync.Mutex
	b    *bufio.Writer
	stop chan struct{}
	done chan struct{}
}

func newFlushedWriter(w io.Writer) *flushedWriter {
	f := &flushedWriter{b: bufio.NewWriterSize(w, 1<<16), stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		t := time.NewTicker(200 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-f.stop:
				return
			case <-t.C:
				f.mu.Lock()
				_ = f.b.Flush() // the error stays and Close returns it
				f.mu.Unlock()
			}
		}
	}()
	return f
}

func (f *flushedWriter) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.b.Write(p)
}

func (f *flushedWriter) Close() error {
	close(f.stop)
	<-f.done
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.b.Flush()
}

// simTruthCommand prints a truth file as JSON lines.
func simTruthCommand() *cli.Command {
	return &cli.Command{
		Name:      "truth",
		Usage:     "print a truth file as JSON lines, one request a line",
		ArgsUsage: "FILE",
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return cli.Exit("`ais_bench sim truth` takes one FILE", 2)
			}
			f, err := os.Open(c.Args().First())
			if err != nil {
				return cli.Exit(err.Error(), 3)
			}
			defer f.Close()
			requests, err := simulator.ReadTruth(f)
			if err != nil {
				return cli.Exit(fmt.Sprintf("%s: %v", c.Args().First(), err), 2)
			}
			out := bufio.NewWriter(c.App.Writer)
			enc := json.NewEncoder(out)
			for i := range requests {
				if err := enc.Encode(truthLine(&requests[i])); err != nil {
					return err
				}
			}
			return out.Flush()
		},
	}
}

// truthLine is the JSON form of one request's truth: times of chunks are ns after the arrival.
func truthLine(r *simulator.TruthRequest) any {
	type chunk struct {
		Kind   string `json:"kind"`
		Tokens int    `json:"tokens"`
		At     int64  `json:"at_ns"`
	}
	chunks := make([]chunk, len(r.Chunks))
	for i, c := range r.Chunks {
		chunks[i] = chunk{c.Kind.String(), int(c.Tokens), c.Mono - r.Mono}
	}
	return struct {
		ID     string  `json:"request_id"`
		Wall   int64   `json:"arrived_wall_ns"`
		Mono   int64   `json:"arrived_mono_ns"`
		Chunks []chunk `json:"chunks"`
	}{r.ID, r.Wall, r.Mono, chunks}
}
