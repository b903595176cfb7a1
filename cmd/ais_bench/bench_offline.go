package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"ais_bench/datasets/workloads"
	"ais_bench/summarizers/metrics"
	"ais_bench/summarizers/vllm"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
)

// serviceNote is what makes these two differ from vLLM's offline tests.
const serviceNote = "measured through the service's HTTP API: network, tokenization and scheduling of the server are part of it, unlike in an offline run of the engine"

// maxAnswers is the most answers a prompt that --n asks for, vLLM's own bound.
const maxAnswers = 16384

// benchThroughputCommand is `vllm bench throughput` over HTTP.
func benchThroughputCommand() *cli.Command {
	flags := append(benchServiceFlags(), datasetFlags()...)
	flags = append(flags, launchFlags()...)
	flags = append(flags, contractFlags()...)
	flags = append(flags, engineFlagList()...)
	flags = append(flags, calibrateFlag(),
		&cli.IntFlag{Name: "max-num-seqs", Category: groupLoad, DefaultText: "no bound", Usage: "requests in flight at most: stands for the engine's batch limit, which this command cannot set"},
		&cli.IntFlag{Name: "n", Category: groupLoad, Value: 1, Usage: "answers a prompt"},
		&cli.IntFlag{Name: "num-warmups", Category: groupLoad, Usage: "requests before the measured ones"},
		&cli.IntFlag{Name: "prefix-len", Category: groupBenchSet, Usage: "random: tokens shared by all prompts"},
		&cli.StringSliceFlag{Name: "lora-modules", Category: groupLoad, Usage: "adapters; requests name one of them instead of the model"},
		&cli.StringFlag{Name: "output-json", Category: groupReport, Usage: "write the result to this `FILE`"},
	)
	return &cli.Command{
		Name: "throughput", Usage: "all requests at once, whole answers of forced length (`vllm bench throughput` as a service measurement)",
		Description: "Asks a running service, or one that --launch starts for the test. Prints the lines and writes the JSON of vLLM's\noffline test; " + serviceNote + ".",
		Flags:       flags,
		Action:      benchThroughput,
	}
}

func benchThroughput(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	o, err := offlineOptions(c)
	if err != nil {
		return err
	}
	if err := chooseDataset(c, &o); err != nil {
		return err
	}
	if c.IsSet("prefix-len") {
		o.Workload.PrefixLen = c.Int("prefix-len")
	}
	if o.MaxConcurrency = c.Int("max-num-seqs"); c.IsSet("max-num-seqs") && o.MaxConcurrency < 1 {
		return usagef("--max-num-seqs %d: give a number above 0", o.MaxConcurrency)
	}
	o.NumWarmups, o.LoRAModules = c.Int("num-warmups"), splitCommas(c.StringSlice("lora-modules"))
	switch n := c.Int("n"); {
	case n < 1 || n > maxAnswers:
		return usagef("--n %d: give 1 to %d", n, maxAnswers)
	case n > 1:
		o.Body["n"] = n
	}
	noteEngineFlags(c)
	return benchRun(c, o, metrics.Options{}, func(s *bench.Session, out *tasks.Outcome) error {
		t, err := vllm.ComputeThroughput(s.Records(out))
		if err != nil {
			return &tasks.EnvironmentError{Err: err}
		}
		t.ModelID = s.ModelID
		w := c.App.Writer
		if err := t.Print(w); err != nil {
			return fmt.Errorf("print the result: %w", err)
		}
		fmt.Fprintf(w, "(%s; %.2f s for %d requests)\n", serviceNote, t.Elapsed, t.Requests)
		if t.Cancelled > 0 {
			fmt.Fprintf(w, "(%d requests were cut off by the user: they are part of the time, not of these sums)\n", t.Cancelled)
		}
		uncounted := s.Uncounted(out)
		if uncounted > 0 {
			fmt.Fprintf(w, "(%d answers have no usage that counts: their tokens are missing in these sums)\n", uncounted)
		}
		if o.MaxConcurrency > 0 {
			fmt.Fprintf(w, "(--max-num-seqs %d: at most so many requests were in flight; the engine's own limit is its own affair)\n", o.MaxConcurrency)
		}
		if path := c.String("output-json"); path != "" {
			extra := offlineExtra(s, out)
			extra["failed"], extra["cancelled"], extra["uncounted_answers"] = t.Failed, t.Cancelled, uncounted
			b, err := t.JSON(extra)
			if err != nil {
				return fmt.Errorf("the result as JSON: %w", err)
			}
			return writeJSONFile(path, b)
		}
		return nil
	})
}

// offlineOptions are those of the two tests that stand for offline ones: whole
// answers of exactly the length asked for, sampled at temperature 1 as there.
func offlineOptions(c *cli.Context) (bench.Options, error) {
	o, err := benchOptions(c)
	if err != nil {
		return o, err
	}
	o.AnyModel, o.IgnoreEOS = true, bench.Yes
	o.Body["temperature"], o.Body["top_p"] = 1.0, 1.0
	return o, nil
}

// benchLatencyCommand is `vllm bench latency` over HTTP.
func benchLatencyCommand() *cli.Command {
	flags := append(benchServiceFlags(), launchFlags()...)
	flags = append(flags, engineFlagList()...)
	flags = append(flags, calibrateFlag(),
		&cli.IntFlag{Name: "input-len", Category: groupBenchSet, Value: 32, Usage: "prompt tokens"},
		&cli.IntFlag{Name: "output-len", Category: groupBenchSet, Value: 128, Usage: "answer tokens"},
		&cli.IntFlag{Name: "batch-size", Category: groupBenchSet, Value: 8, Usage: "requests sent together"},
		&cli.IntFlag{Name: "n", Category: groupBenchSet, Value: 1, Usage: "answers a prompt"},
		&cli.BoolFlag{Name: "use-beam-search", Category: groupBenchSet, Usage: "ask for beam search"},
		&cli.IntFlag{Name: "max-model-len", Hidden: true},
		&cli.IntFlag{Name: "num-iters-warmup", Category: groupLoad, Value: 10, Usage: "batches before the measured ones"},
		&cli.IntFlag{Name: "num-iters", Category: groupLoad, Value: 30, Usage: "measured batches"},
		&cli.BoolFlag{Name: "profile", Category: groupLoad, Usage: "POST /start_profile before and /stop_profile after"},
		&cli.StringFlag{Name: "output-json", Category: groupReport, Usage: "write the result to this `FILE`"},
	)
	return &cli.Command{
		Name: "latency", Usage: "one batch after the other: how long does a batch take (`vllm bench latency` as a service measurement)",
		Description: "A batch is sent at once and over when its last answer is there; then the next is sent. Every batch has other prompts, so that no prefix\n" +
			"cache answers. " + serviceNote + ".",
		Flags:  flags,
		Action: benchLatency,
	}
}

func benchLatency(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	o, err := offlineOptions(c)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		flag        string
		least, most int
	}{{"input-len", 1, workloads.MaxTokens}, {"output-len", 1, workloads.MaxTokens}, {"batch-size", 1, maxSweptConcurrency},
		{"num-iters", 1, workloads.MaxRequests}, {"num-iters-warmup", 0, workloads.MaxRequests}, {"n", 1, maxAnswers}} {
		if v := c.Int(f.flag); v < f.least || v > f.most {
			return usagef("--%s %d: give %d to %d", f.flag, v, f.least, f.most)
		}
	}
	cfg := workloads.Defaults("random")
	o.Batch = c.Int("batch-size")
	cfg.InputLen, cfg.OutputLen, cfg.NumPrompts = c.Int("input-len"), c.Int("output-len"), o.Batch*c.Int("num-iters")
	if err := cfg.CheckSize("random"); err != nil {
		return usagef("--num-iters %d with --batch-size %d: %w", c.Int("num-iters"), o.Batch, err)
	}
	o.Dataset, o.Workload, o.Profile = "random", cfg, c.Bool("profile")
	o.NumWarmups = o.Batch * c.Int("num-iters-warmup")
	if n := c.Int("n"); n > 1 {
		o.Body["n"] = n
	}
	if c.Bool("use-beam-search") {
		o.Body["use_beam_search"] = true
	}
	noteEngineFlags(c)
	return benchRun(c, o, metrics.Options{}, func(s *bench.Session, out *tasks.Outcome) error {
		l, err := vllm.ComputeLatency(s.Records(out), s.Round())
		if err != nil {
			return err
		}
		l.ModelID = s.ModelID
		w := c.App.Writer
		if err := l.Print(w); err != nil {
			return fmt.Errorf("print the result: %w", err)
		}
		fmt.Fprintf(w, "(std %g seconds over %d batches of %d; %s)\n", l.Std, len(l.Latencies), o.Batch, serviceNote)
		if l.Failed > 0 {
			fmt.Fprintf(w, "(%d batches are left out: a request of theirs failed)\n", l.Failed)
		}
		if l.Cancelled > 0 {
			fmt.Fprintf(w, "(%d batches are left out: requests of theirs were cut off by the user)\n", l.Cancelled)
		}
		if path := c.String("output-json"); path != "" {
			extra := offlineExtra(s, out)
			extra["failed_batches"], extra["cancelled_batches"], extra["batch_size"] = l.Failed, l.Cancelled, o.Batch
			b, err := l.JSON(extra)
			if err != nil {
				return fmt.Errorf("the result as JSON: %w", err)
			}
			return writeJSONFile(path, b)
		}
		return nil
	})
}

// offlineExtra is what the two result files say under our own key.
func offlineExtra(s *bench.Session, out *tasks.Outcome) map[string]any {
	return map[string]any{"version": versionLine(), "run_folder": out.Run.Dir(), "measured": "service over HTTP", "workload": s.Workload,
		"served_model_name": s.Service.Model, "url": s.Service.URL, "seed": s.Seed(), "sampling": s.Service.GenerationKwargs, "notes": s.Notes,
		"interrupted": out.Stopped}
}
