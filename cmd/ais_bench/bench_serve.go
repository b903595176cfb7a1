package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/registry"
	"ais_bench/summarizers/metrics"
	"ais_bench/summarizers/vllm"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
)

// benchServeCommand is `vllm bench serve`.
func benchServeCommand() *cli.Command {
	number := func(name, usage string) cli.Flag {
		return &cli.Float64Flag{Name: name, Category: groupSampling, DefaultText: "not sent", Usage: usage}
	}
	flags := append(benchServiceFlags(), datasetFlags()...)
	flags = append(flags, launchFlags()...)
	flags = append(flags, contractFlags()...)
	flags = append(flags, calibrateFlag(),
		&cli.StringFlag{Name: "request-rate", Category: groupLoad, Value: "inf", Usage: "requests/s; inf = all at once"},
		&cli.StringFlag{Name: "burstiness", Category: groupLoad, Value: "1.0", Usage: "gamma shape of the gaps: 1 Poisson, below burstier, inf constant"},
		&cli.IntFlag{Name: "max-concurrency", Category: groupLoad, DefaultText: "no bound", Usage: "requests in flight at most"},
		&cli.IntFlag{Name: "multi-turn-concurrency", Category: groupLoad, DefaultText: "as --max-concurrency", Usage: "conversations at once at most, each with one request in flight; wins over --max-concurrency"},
		&cli.StringFlag{Name: "ramp-up-strategy", Category: groupLoad, Usage: "linear or exponential"},
		&cli.Float64Flag{Name: "ramp-up-start-rps", Category: groupLoad, DefaultText: "no ramp", Usage: "rate at the first request"},
		&cli.Float64Flag{Name: "ramp-up-end-rps", Category: groupLoad, DefaultText: "no ramp", Usage: "rate at the last request"},
		&cli.Float64Flag{Name: "replay-speed", Category: groupLoad, Value: 1, Usage: "traces: how much faster than recorded they are replayed"},
		&cli.IntFlag{Name: "num-warmups", Aliases: []string{"warmup-requests"}, Category: groupLoad, Usage: "requests sent before the measured ones; their prompts are no copies of these"},
		&cli.Float64Flag{Name: "probe-request-rate", Category: groupLoad, DefaultText: "none", Usage: "side requests/s of one token, one after the other, with figures of their own"},
		&cli.BoolFlag{Name: "flush-cache", Category: groupLoad, Usage: "empty the server's prefix cache before the measured requests"},
		&cli.BoolFlag{Name: "ignore-eos", Category: groupLoad, Usage: "answers of exactly the length asked for; on by default for random, synthetic prompts and traces"},
		&cli.BoolFlag{Name: "disable-ignore-eos", Category: groupLoad, Usage: "leave the end to the model"},
		&cli.BoolFlag{Name: "disable-stream", Category: groupLoad, Usage: "ask for whole answers: TTFT, TPOT and ITL do not exist then"},
		&cli.BoolFlag{Name: "profile", Category: groupLoad, Usage: "POST /start_profile before and /stop_profile after"},
		&cli.StringFlag{Name: "request-id-prefix", Category: groupLoad, DefaultText: "ids are UUIDs", Usage: "x-request-id is this and the request's number"},
		&cli.StringSliceFlag{Name: "lora-modules", Aliases: []string{"lora-name"}, Category: groupLoad, Usage: "adapters; requests name one of them instead of the model (`NAME …`)"},
		&cli.StringFlag{Name: "lora-assignment", Category: groupLoad, Value: "random", Usage: "random or round-robin"},
		&cli.StringFlag{Name: "lora-request-distribution", Category: groupLoad, DefaultText: "as --lora-assignment", Usage: "SGLang's words: uniform, distinct, or skewed (each adapter --lora-zipf-alpha times as often as the next)"},
		&cli.Float64Flag{Name: "lora-zipf-alpha", Category: groupLoad, Value: 1.5, Usage: "of skewed; above 1"},

		number("temperature", "0 is greedy"), number("top-p", "choose among the likeliest tokens with this share together"),
		&cli.IntFlag{Name: "top-k", Category: groupSampling, DefaultText: "not sent", Usage: "choose among the K likeliest tokens"},
		number("min-p", "leave out tokens below this share of the likeliest"), number("frequency-penalty", "tokens lose by how often they have come"),
		number("presence-penalty", "tokens that have come lose"), number("repetition-penalty", "above 1: tokens that have come lose"),
		&cli.IntFlag{Name: "logprobs", Category: groupSampling, DefaultText: "not sent", Usage: "log-probabilities a token"},
		&cli.BoolFlag{Name: "return-logprob", Category: groupSampling, Usage: "ask for log-probabilities (SGLang's spelling of --logprobs)"},
		&cli.IntFlag{Name: "top-logprobs-num", Category: groupSampling, DefaultText: "none", Usage: "--return-logprob: so many of the likeliest tokens too"},
		&cli.BoolFlag{Name: "use-beam-search", Category: groupSampling, Usage: "ask for beam search"},
		&cli.StringFlag{Name: "extra-body", Aliases: []string{"extra-request-body"}, Category: groupSampling, Usage: "`JSON` object merged into every body; wins over the flags above"},
		&cli.StringFlag{Name: "chat-template-kwargs", Category: groupSampling, Usage: "`JSON` object of variables for the chat template, wherever it is rendered"},

		&cli.BoolFlag{Name: "save-result", Category: groupReport, Usage: "write vLLM's result JSON"},
		&cli.BoolFlag{Name: "save-detailed", Aliases: []string{"output-details"}, Category: groupReport, Usage: "with the lists of single requests"},
		&cli.BoolFlag{Name: "append-result", Category: groupReport, Usage: "append to the file, one result a line"},
		&cli.StringFlag{Name: "result-dir", Category: groupReport, Usage: "folder of the result file"},
		&cli.StringFlag{Name: "result-filename", Category: groupReport, DefaultText: "from label, rate, model and date", Usage: "its name"},
		&cli.StringFlag{Name: "output-file", Category: groupReport, Usage: "append the result as SGLang's bench_serving writes it to this `FILE`"},
		&cli.BoolFlag{Name: "cache-report", Category: groupReport, Usage: "print how many prompt tokens came from the server's prefix cache, as its usage says"},
		&cli.StringSliceFlag{Name: "metadata", Category: groupReport, Usage: "`KEY=VALUE …` put into the result file"},
		&cli.StringFlag{Name: "label", Aliases: []string{"tag"}, Category: groupReport, DefaultText: "the backend", Usage: "first part of the result file's name"},
		&cli.StringFlag{Name: "percentile-metrics", Category: groupReport, DefaultText: "ttft,tpot,itl; e2el for embeddings", Usage: "of " + strings.Join(vllm.MetricNames, ",")},
		&cli.StringFlag{Name: "metric-percentiles", Category: groupReport, Value: "99", Usage: "percentiles, by commas"},
		&cli.StringSliceFlag{Name: "goodput", Category: groupReport, Usage: "service levels in ms (`ttft:500 tpot:50 e2el:10000`)"},
		byLengthFlag(),
		&cli.BoolFlag{Name: "plot-timeline", Category: groupReport, Usage: "the timeline of requests; it is in report.html of every run"},
		&cli.StringFlag{Name: "timeline-itl-thresholds", Category: groupReport, Value: "25,50", Usage: "accepted for --plot-timeline"},
		&cli.BoolFlag{Name: "plot-dataset-stats", Category: groupReport, Usage: "accepted: the distributions of lengths are printed and in report.html"},
	)
	return &cli.Command{
		Name:  "serve",
		Usage: "measure a running service under load (drop-in for `vllm bench serve`)",
		Description: "Prints vLLM's table, writes its JSON with --save-result, and leaves a run folder with every request.\n" +
			"The key comes from OPENAI_API_KEY or --header. docs/bench-serve.md names what differs from vLLM and why.",
		Flags:  flags,
		Action: benchServe,
	}
}

func benchServe(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	o, err := serveOptions(c)
	if err != nil {
		return err
	}
	v, err := vllmOptions(c, o)
	if err != nil {
		return err
	}
	slos, err := metrics.ParseSLOs(c.StringSlice("goodput"))
	if err != nil {
		return usage(err)
	}
	bounds, err := lengthBounds(c)
	if err != nil {
		return err
	}
	m := metrics.Options{SLOs: slos, Percentiles: withPercentiles(v.Percentiles), LengthBounds: bounds}
	return benchRun(c, o, m, func(s *bench.Session, out *tasks.Outcome) error { return showServe(c, s, out, v) })
}

// noArguments refuses words that belong to no flag.
func noArguments(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("%s: %q belongs to no flag", c.Command.FullName(), c.Args().First())
	}
	return nil
}

// withPercentiles adds the chosen percentiles to those of every report.
func withPercentiles(chosen []float64) []float64 {
	all := append(slices.Clone(metrics.DefaultPercentiles), chosen...)
	slices.Sort(all)
	return slices.Compact(all)
}

func serveOptions(c *cli.Context) (bench.Options, error) {
	o, err := requestOptions(c)
	if err != nil {
		return o, err
	}
	if o.RequestRate, err = parseRate(c.String("request-rate")); err != nil {
		return o, usagef("--request-rate %w", err)
	}
	if o.RequestRate == 0 {
		fmt.Fprintln(c.App.ErrWriter, "warning: --request-rate 0 is taken as inf (all at once)")
	}
	if c.String("ramp-up-strategy") != "" && !c.IsSet("request-rate") || math.IsInf(o.RequestRate, 1) {
		o.RequestRate = 0
	}
	if o.MaxConcurrency = c.Int("max-concurrency"); c.IsSet("max-concurrency") && o.MaxConcurrency < 1 {
		return o, usagef("--max-concurrency %d: give a number above 0, or leave it out for no bound", o.MaxConcurrency)
	}
	if n := c.Int("multi-turn-concurrency"); c.IsSet("multi-turn-concurrency") {
		if n < 1 {
			return o, usagef("--multi-turn-concurrency %d: give a number above 0", n)
		}
		o.MaxConcurrency = n
	}
	o.RampUp, o.RampStart, o.RampEnd = c.String("ramp-up-strategy"), c.Float64("ramp-up-start-rps"), c.Float64("ramp-up-end-rps")
	if o.ReplaySpeed = c.Float64("replay-speed"); !(o.ReplaySpeed > 0) {
		return o, usagef("--replay-speed %g: give a number above 0", o.ReplaySpeed)
	}
	o.ProbeRate, o.Profile = c.Float64("probe-request-rate"), c.Bool("profile")
	return o, nil
}

// requestOptions are those of `bench serve` and `bench sweep` that say who is
// asked what and how; not how many at once, nor how fast.
func requestOptions(c *cli.Context) (bench.Options, error) {
	o, err := benchOptions(c)
	if err != nil {
		return o, err
	}
	if err := chooseDataset(c, &o); err != nil {
		return o, err
	}
	if o.Burstiness, err = parseRate(c.String("burstiness")); err != nil || o.Burstiness == 0 {
		return o, usagef("--burstiness %s: give a number above 0, or inf", c.String("burstiness"))
	}
	o.NumWarmups, o.FlushCache = c.Int("num-warmups"), c.Bool("flush-cache")
	o.SpecDecode = true // as vLLM's, which reports them when they moved
	o.RequestIDPrefix, o.Stream = c.String("request-id-prefix"), !c.Bool("disable-stream")
	if err := loraAssignment(c, &o); err != nil {
		return o, err
	}
	if c.Bool("ignore-eos") && c.Bool("disable-ignore-eos") {
		return o, usagef("--ignore-eos and --disable-ignore-eos exclude each other")
	}
	switch {
	case c.Bool("ignore-eos"):
		o.IgnoreEOS = bench.Yes
	case c.Bool("disable-ignore-eos"):
		o.IgnoreEOS = bench.No
	}
	return o, samplingBody(c, &o)
}

// samplingBody puts the sampling flags that were given into every body.
func samplingBody(c *cli.Context, o *bench.Options) error {
	for _, flag := range []string{"temperature", "top-p", "min-p", "frequency-penalty", "presence-penalty", "repetition-penalty"} {
		if c.IsSet(flag) {
			o.Body[strings.ReplaceAll(flag, "-", "_")] = c.Float64(flag)
		}
	}
	if c.IsSet("top-k") {
		o.Body["top_k"] = c.Int("top-k")
	}
	if b, err := bench.FindBackend(o.Backend); err == nil {
		if err := sglangBody(c, b, o); err != nil {
			return err
		}
	}
	if c.Bool("use-beam-search") {
		o.Body["use_beam_search"] = true
	}
	if c.IsSet("logprobs") {
		o.Body["logprobs"] = c.Int("logprobs")
		if b, err := bench.FindBackend(o.Backend); err == nil && b.Chat {
			o.Body["logprobs"], o.Body["top_logprobs"] = true, c.Int("logprobs")
		}
	}
	if text := c.String("chat-template-kwargs"); text != "" {
		m, err := jsonObject("chat-template-kwargs", text)
		if err != nil {
			return err
		}
		o.Body["chat_template_kwargs"] = m
	}
	if text := c.String("extra-body"); text != "" {
		m, err := jsonObject("extra-body", text)
		if err != nil {
			return err
		}
		maps.Copy(o.Body, m)
	}
	return nil
}

// vllmOptions are what the result file says beside the figures.
func vllmOptions(c *cli.Context, o bench.Options) (vllm.Options, error) {
	v := vllm.Options{Label: c.String("label"), RequestRate: o.RequestRate, Burstiness: o.Burstiness, MaxConcurrency: o.MaxConcurrency, Detailed: c.Bool("save-detailed")}
	if o.RampUp != "" {
		v.Ramp = &vllm.Ramp{Strategy: o.RampUp, StartRPS: o.RampStart, EndRPS: o.RampEnd}
	}
	b, err := bench.FindBackend(o.Backend)
	if err != nil {
		return v, usage(err)
	}
	v.Backend, v.Pooling = o.Backend, b.Pooling
	list := c.String("percentile-metrics")
	if list == "" && (b.Pooling || !o.Stream) {
		list = "e2el"
	}
	for _, m := range splitCommas([]string{list}) {
		if !slices.Contains(vllm.MetricNames, m) {
			return v, usagef("--percentile-metrics: unknown metric %q%s; of %s", m, registry.DidYouMean(m, vllm.MetricNames), strings.Join(vllm.MetricNames, ", "))
		}
		v.Metrics = append(v.Metrics, m)
	}
	if v.Percentiles, err = percentiles(c); err != nil {
		return v, err
	}
	slos, err := metrics.ParseSLOs(c.StringSlice("goodput"))
	if err != nil {
		return v, usage(err)
	}
	for _, l := range slos {
		v.Goodput = append(v.Goodput, vllm.SLO(l))
	}
	for _, kv := range c.StringSlice("metadata") {
		k, value, ok := strings.Cut(kv, "=")
		if k = strings.TrimSpace(k); !ok || k == "" {
			return v, usagef("--metadata %s: write KEY=VALUE", kv)
		}
		v.Metadata = append(v.Metadata, vllm.Pair{Key: k, Value: strings.TrimSpace(value)})
	}
	return v, nil
}

// showServe prints vLLM's table and writes its JSON.
func showServe(c *cli.Context, s *bench.Session, out *tasks.Outcome, v vllm.Options) error {
	v.Date = out.Clock.Zero()
	v.ModelID, v.TokenizerID, v.NumPrompts = s.ModelID, s.TokenizerID, len(s.Set.Samples)
	if v.Pooling {
		v.TotalSequences = int64(s.Sequences(out))
	}
	if p := s.Probe(); p != nil {
		v.Probe = &vllm.Probe{Completed: p.Completed, Failed: p.Failed, MedianE2EL: p.MedianE2EL, P99E2EL: p.P99E2EL, MaxE2EL: p.MaxE2EL}
	}
	if v.Ramp != nil {
		changes, err := s.RateChanges(out)
		if err != nil {
			return &tasks.EnvironmentError{Err: err}
		}
		for _, r := range changes {
			v.Ramp.Changes = append(v.Ramp.Changes, vllm.RateChange{RPS: r.RPS, At: r.At})
		}
	}
	v.SpecDecode, v.Order, v.Started = specDecode(out), s.Order(), s.Started(out)
	r, err := vllm.Compute(s.Records(out), v)
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	if err := vllm.Console(c.App.Writer, r); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	note, err := otherCount(s.Records(out), r)
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	if note != "" {
		fmt.Fprintln(c.App.Writer, note)
	}
	unknown, of, err := unknownInput(s.Records(out))
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	if note := inputNote(unknown, of); note != "" {
		fmt.Fprintln(c.App.Writer, note)
	}
	if n := c.Int("max-concurrency"); n > 0 && int(r.MaxConcurrentRequests) > n {
		fmt.Fprintf(c.App.Writer, "Peak concurrent requests is vLLM's: all that were in flight at any time within one second; no more than %d were at once.\n", r.PeakInFlight)
	}
	if path, appending := resultPath(c, r); path != "" {
		extra, err := serveExtra(s, out, r, unknown)
		if err != nil {
			return &tasks.EnvironmentError{Err: err}
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return &tasks.EnvironmentError{Err: fmt.Errorf("write the result: %w", err)}
		}
		if c.String("output-file") != "" {
			err = writeSGLang(path, s, out, v, extra)
		} else {
			err = r.WriteFile(path, appending, extra)
		}
		if err != nil {
			return &tasks.EnvironmentError{Err: err}
		}
		fmt.Fprintf(c.App.Writer, "Result file: %s\n", path)
	}
	if c.Bool("plot-timeline") {
		fmt.Fprintf(c.App.Writer, "Timeline: %s\n", out.Run.HTMLPath())
	}
	return nil
}

// writeSGLang appends the result as SGLang's bench_serving writes it.
func writeSGLang(path string, s *bench.Session, out *tasks.Outcome, v vllm.Options, extra any) error {
	w := s.Asked()
	r, err := vllm.ComputeSGLang(s.Records(out), vllm.SGLangOptions{Date: v.Date, Tag: v.Label, Backend: v.Backend, Dataset: s.Dataset(), NumPrompts: v.NumPrompts,
		RequestRate: v.RequestRate, Trace: s.Timed, MaxConcurrency: v.MaxConcurrency, RandomInputLen: w.InputLen, RandomOutputLen: w.OutputLen,
		RandomRangeRatio: w.RangeRatioInput, Detailed: v.Detailed, Order: v.Order, Started: v.Started})
	if err != nil {
		return err
	}
	return r.WriteFile(path, extra)
}

// specDecode is by how much the server's speculative-decoding counters moved,
// nil where they did not.
func specDecode(out *tasks.Outcome) *vllm.SpecDecode {
	d := out.Tasks[0].SpecDecode
	if d == nil || d.SpecDecode == nil || d.Drafts <= 0 {
		return nil
	}
	v := &vllm.SpecDecode{Drafts: int64(d.Drafts), DraftTokens: int64(d.DraftTokens), AcceptedTokens: int64(d.AcceptedTokens)}
	for _, share := range d.PerPosition {
		v.AcceptedPerPosition = append(v.AcceptedPerPosition, int64(math.Round(share*d.Drafts)))
	}
	return v
}

// serveExtra is what the result file says under our own key.
func serveExtra(s *bench.Session, out *tasks.Outcome, r *vllm.Result, unknownInput int) (any, error) {
	lengths, err := s.Lengths(out)
	if err != nil {
		return nil, err
	}
	var early any
	if e := lengths.EarlyShare(); !math.IsNaN(e) {
		early = e
	}
	model, dataset := s.Pair(out)
	var turns any
	if s.Conversations() {
		if turns, err = s.Turns(out); err != nil {
			return nil, err
		}
	}
	return map[string]any{
		"version": versionLine(), "run_folder": out.Run.Dir(), "model": model, "dataset": dataset, "workload": s.Workload, "served_model_name": s.Service.Model,
		"url": outputs.WithoutURLPasswords(s.Service.URL), "tokenizer_source": s.Tokenizer.Source, "seed": s.Seed(), "ignore_eos": s.Service.GenerationKwargs["ignore_eos"] == true,
		"sampling": s.Service.GenerationKwargs, "stopped_early_share": early, "input_length_mismatches": lengths.InputMismatch, "repeated_rows": s.Duplicated(),
		"uncounted_answers": r.MadeUpOutput, "uncounted_prompts": unknownInput, "notes": s.Notes, "interrupted": out.Stopped, "cancelled": r.Cancelled, "per_turn_metrics": turns, "peak_in_flight": r.PeakInFlight}, nil
}

// savesResult reports whether vLLM's result file is written.
func savesResult(c *cli.Context) bool { return c.Bool("save-result") || c.Bool("append-result") }

// resultPath is where the result goes, "" for nowhere.
func resultPath(c *cli.Context, r *vllm.Result) (path string, appending bool) {
	if file := c.String("output-file"); file != "" {
		return file, true
	}
	if !savesResult(c) {
		return "", false
	}
	return filepath.Join(c.String("result-dir"), cmp.Or(c.String("result-filename"), r.FileName())), c.Bool("append-result")
}
