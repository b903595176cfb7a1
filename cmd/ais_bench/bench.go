package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/summarizers"
	"ais_bench/summarizers/facts"
	"ais_bench/summarizers/metrics"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
	"ais_bench/tasks/launch"
)

// benchCommand is `ais_bench bench`: the command lines of `vllm bench`.
func benchCommand() *cli.Command {
	return &cli.Command{
		Name:  "bench",
		Usage: "load tests: serve, throughput and latency with the command lines of `vllm bench`; sweep, grid, prefix-cache", ArgsUsage: "COMMAND",
		Subcommands: []*cli.Command{
			benchServeCommand(),
			benchSweepCommand(),
			benchGridCommand(),
			benchThroughputCommand(),
			benchLatencyCommand(),
			benchPrefixCacheCommand(),
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("bench: unknown command %q; one of serve, sweep, grid, throughput, latency, prefix-cache", c.Args().First())
			}
			return cli.ShowSubcommandHelp(c)
		},
	}
}

// noteOnly is an observer without a progress display (--disable-tqdm).
type noteOnly struct {
	tasks.Quiet
	w io.Writer
}

func (n noteOnly) Note(line string) { fmt.Fprintln(n.w, line) }

// benchRun carries a benchmark out and writes the normal reports. Before returning
// an outcome's error it calls show, which prints the figures.
func benchRun(c *cli.Context, o bench.Options, m metrics.Options, show func(*bench.Session, *tasks.Outcome) error) error {
	return benchRunWith(c, o, m, nil, show)
}

// benchRunWith is benchRun with chapters of its own in the reports; sections may be
// nil, and is called before show.
func benchRunWith(c *cli.Context, o bench.Options, m metrics.Options, sections func(*bench.Session, *tasks.Outcome) ([]outputs.Section, error),
	show func(*bench.Session, *tasks.Outcome) error) error {
	l, err := readLaunch(c)
	if err != nil {
		return err
	}
	var observer tasks.Observer = noteOnly{w: c.App.ErrWriter}
	if !c.Bool("disable-tqdm") {
		bar := newProgress(c.App.ErrWriter, false)
		defer bar.close()
		observer = bar
	}
	var sending atomic.Bool
	ctx, stop, cut, end := interrupts(c.Context, observer.Note, &sending)
	defer end()
	o.Cut = cut
	o.Observer, o.Stop, o.Tool, o.Args = observer, stop, toolInfo(), commandLine()
	if o.APIKey == "" && os.Getenv("OPENAI_API_KEY") != "" {
		o.APIKey = "${OPENAI_API_KEY}"
	}
	// Before the first request an interrupt ends everything at once.
	before, cancel := context.WithCancel(ctx)
	defer cancel()
	ready := make(chan struct{})
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ready:
		}
	}()
	g, err := openGate(c, m)
	if err != nil {
		return err
	}
	o.Attached = g.attachments()
	launched, err := launchFor(before, l, c, &o)
	if launched != nil {
		defer launched.Stop()
	}
	if before.Err() != nil {
		return errUnsent
	}
	if err != nil {
		return err
	}
	s, err := bench.Prepare(before, o)
	if err != nil {
		if launched != nil {
			if died := launched.DiedWithin(time.Second); died != "" { // what it broke off says less than that it ended
				return launch.Blame(died, ownFlags(err))
			}
		}
		if before.Err() != nil {
			return errUnsent
		}
		return ownFlags(usageUnlessEnvironment(err))
	}
	if err := g.check(plannedBench(s)); err != nil {
		return err
	}
	close(ready)
	sending.Store(true)
	observer.Note(s.Workload)
	out, err := s.Run(ctx)
	if bar, ok := observer.(*progress); ok {
		bar.Note("")
	}
	died := ""
	if launched != nil {
		died = launched.Died()
		launched.Stop() // reports need no engine
	}
	if out == nil || out.Run == nil {
		return launch.Blame(died, usageUnlessEnvironment(err))
	}
	if launched != nil && out.AnyAnswer() {
		launch.KeepLog(launched, out.Run)
	}
	var calErr error
	if c.Bool("calibrate") && err == nil && out.AnyAnswer() && !out.NothingMeasured() {
		calErr = calibrateRun(ctx, stop, c, out, observer.Note)
	}
	return launch.Blame(died, errors.Join(benchReport(c, s, out, m, g, unwrittenOf(err), sections, show), calErr))
}

// plannedBench is what a session will ask, for the contract. How many turns its
// conversations come to is known when they are over.
func plannedBench(s *bench.Session) []facts.PlannedPair {
	p := facts.PlannedPair{Model: s.Service.Abbr, Dataset: s.Set.Config.Abbr, Requests: int64(len(s.Set.Samples)), Stream: s.Service.Stream}
	if s.Conversations() {
		p.Requests = 0
	}
	return []facts.PlannedPair{p}
}

// benchReport prints the figures and writes the run's reports. unwritten is what the
// run itself could not write.
func benchReport(c *cli.Context, s *bench.Session, out *tasks.Outcome, m metrics.Options, g *gate, unwritten error,
	sections func(*bench.Session, *tasks.Outcome) ([]outputs.Section, error), show func(*bench.Session, *tasks.Outcome) error) error {
	for _, n := range append(s.Notes, out.Warnings...) {
		fmt.Fprintln(c.App.ErrWriter, "note: "+out.Run.Redactor().String(n))
	}
	printFailures(c.App.ErrWriter, out)
	if !out.AnyAnswer() || out.NothingMeasured() {
		if _, err := out.Run.Discard(); err != nil { // a start that failed is no run
			return &tasks.EnvironmentError{Err: err}
		}
		return firstOf(ownFlags(out.Err("")), unwritten)
	}
	v, gateErr := g.keep(out.Run)
	var own []outputs.Section
	if sections != nil {
		var err error
		if own, err = sections(s, out); err != nil {
			return &tasks.EnvironmentError{Err: err}
		}
	}
	sum, reportErr := madeReports(summarizers.Report(out.Run, summarizers.ReportOptions{Sections: own, Title: c.String("title"), Tool: "ais_bench " + versionLine(), Lang: "en",
		Performance: true, Metrics: m, Excel: true, HTML: true, Notes: s.Notes, Verdict: reportOf(v), ByLength: m.LengthBounds != nil}))
	verdictUnwritten := g.write(out.Run, v)
	if v != nil { // what is left of it is of files
		verdictUnwritten, gateErr = firstOf(gateErr, verdictUnwritten), nil
	}
	unwritten = firstOf(unwritten, reportErr, verdictUnwritten)
	if err := show(s, out); err != nil {
		var env *tasks.EnvironmentError
		if !errors.As(err, &env) {
			return bothSaid(unwritten, err)
		}
		unwritten = firstOf(unwritten, err) // a result file that has no room
	}
	ended := func() error {
		return bothSaid(unwritten, firstOf(conclude(c, v, out, benchErrors(out, s.Conversations())), gateErr))
	}
	if sum == nil {
		fmt.Fprintf(c.App.Writer, "\nRun folder: %s\n", out.Run.Dir())
		return ended()
	}
	lengths, err := s.Lengths(out)
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	tables := []outputs.Table{s.LengthTable(lengths)}
	if s.Conversations() {
		turns, err := s.Turns(out)
		if err != nil {
			return &tasks.EnvironmentError{Err: err}
		}
		tables = append(tables, bench.TurnTable(turns))
	}
	if c.Bool("cache-report") {
		t, err := s.CacheTable(out)
		if err != nil {
			return &tasks.EnvironmentError{Err: err}
		}
		tables = append(tables, t)
	}
	if c.Bool("tables") {
		tables = append(tables, sum.Tables...)
	} else {
		tables = append(append(tables, sum.ByLength...), sum.ServerTables()...)
	}
	fmt.Fprintln(c.App.Writer)
	if err := printTables(c, tables); err != nil {
		return err
	}
	printServerWarnings(c, sum)
	fmt.Fprintln(c.App.Writer, "\n"+outputs.ChecklistLine(sum.Checklist))
	fmt.Fprintf(c.App.Writer, "\nRun folder: %s\n", out.Run.Dir())
	if v != nil {
		fmt.Fprintln(c.App.Writer)
		if err := printVerdict(c, g, v); err != nil {
			return err
		}
	}
	return ended()
}

// benchErrors is the error a benchmark ends with, without the advice to continue: a
// performance run is never continued.
func benchErrors(out *tasks.Outcome, conversations bool) error {
	what := "requests"
	if conversations { // what is due is conversations, however many turns they came to
		what = "conversations"
	}
	for _, to := range out.Tasks { // one, or one a pass
		in := to.Inference
		switch {
		case in != nil && (in.Stopped || out.Stopped):
			return fmt.Errorf("interrupted after %d of %d %s; the figures are of these", in.Answered, in.Asked, what)
		case to.Err != nil, len(to.Changed) > 0:
			return ownFlags(out.Err(""))
		case in != nil && in.Failed > 0:
			return fmt.Errorf("%d of %d %s failed", in.Failed, in.Asked, what)
		}
	}
	return nil
}

// ownFlags puts the names that this command's flags have into an error that
// advises the main command's.
func ownFlags(err error) error {
	if err == nil {
		return nil
	}
	names := strings.NewReplacer("--host-ip and --host-port", "--host and --port", "--url", "--base-url", "the variable that holds it by --api-key-env", "it in OPENAI_API_KEY or --header")
	return reworded{err, names.Replace(err.Error())}
}

// reworded is an error under other words: whose it is stays.
type reworded struct {
	error
	text string
}

func (e reworded) Error() string { return e.text }
func (e reworded) Unwrap() error { return e.error }

// writeJSONFile writes one result file.
func writeJSONFile(path string, doc []byte) error {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, append(doc, '\n'), 0o644)
	}
	if err != nil {
		return &tasks.EnvironmentError{Err: fmt.Errorf("write the result: %w", err)}
	}
	return nil
}

// engineFlags are flags of vLLM's engine that its offline tests take as well.
// Here the engine is somebody else's process.
var engineFlags = map[string]bool{ // name → takes a value
	"tensor-parallel-size": true, "pipeline-parallel-size": true, "data-parallel-size": true, "gpu-memory-utilization": true, "dtype": true,
	"kv-cache-dtype": true, "quantization": true, "max-num-batched-tokens": true, "block-size": true, "swap-space": true,
	"distributed-executor-backend": true, "load-format": true, "speculative-config": true, "compilation-config": true,
	"enforce-eager": false, "enable-prefix-caching": false, "no-enable-prefix-caching": false, "enable-chunked-prefill": false,
	"async-engine": false, "disable-detokenize": false, "enable-expert-parallel": false,
}

func engineFlagList() []cli.Flag {
	var list []cli.Flag
	for _, name := range slices.Sorted(maps.Keys(engineFlags)) {
		if engineFlags[name] {
			list = append(list, &cli.StringFlag{Name: name, Hidden: true})
		} else {
			list = append(list, &cli.BoolFlag{Name: name, Hidden: true})
		}
	}
	return list
}

// noteEngineFlags says which flags are the engine's.
func noteEngineFlags(c *cli.Context) {
	var given []string
	for _, name := range slices.Sorted(maps.Keys(engineFlags)) {
		if c.IsSet(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 0 {
		fmt.Fprintf(c.App.ErrWriter, "note: %s belong to the engine and are not used: start it with them, or give the whole command with --launch\n", strings.Join(given, ", "))
	}
}
