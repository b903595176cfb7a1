package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/buger/jsonparser"
	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/registry"
	"ais_bench/summarizers"
	"ais_bench/summarizers/metrics"
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
	flags = append(flags,
		&cli.StringFlag{Name: "request-rate", Category: groupLoad, Value: "inf", Usage: "requests/s; inf = all at once"},
		&cli.StringFlag{Name: "burstiness", Category: groupLoad, Value: "1.0", Usage: "gamma shape of the gaps: 1 Poisson, below burstier, inf constant"},
		&cli.IntFlag{Name: "max-concurrency", Category: groupLoad, DefaultText: "no bound", Usage: "requests in flight at most"},
		&cli.StringFlag{Name: "ramp-up-strategy", Category: groupLoad, Usage: "linear or exponential"},
		&cli.Float64Flag{Name: "ramp-up-start-rps", Category: groupLoad, Usage: "rate at the first request"},
		&cli.Float64Flag{Name: "ramp-up-end-rps", Category: groupLoad, Usage: "rate at the last request"},
		&cli.IntFlag{Name: "num-warmups", Aliases: []string{"warmup-requests"}, Category: groupLoad, Usage: "requests sent before the measured ones; their prompts are no copies of these"},
		&cli.Float64Flag{Name: "probe-request-rate", Category: groupLoad, Usage: "side requests/s of one token, one after the other, with figures of their own"},
		&cli.BoolFlag{Name: "flush-cache", Category: groupLoad, Usage: "empty the server's prefix cache before the measured requests"},
		&cli.BoolFlag{Name: "ignore-eos", Category: groupLoad, Usage: "answers of exactly the length asked for; on by default for random and traces"},
		&cli.BoolFlag{Name: "disable-ignore-eos", Category: groupLoad, Usage: "leave the end to the model"},
		&cli.BoolFlag{Name: "disable-stream", Category: groupLoad, Usage: "ask for whole answers: TTFT, TPOT and ITL do not exist then"},
		&cli.BoolFlag{Name: "profile", Category: groupLoad, Usage: "POST /start_profile before and /stop_profile after"},
		&cli.StringFlag{Name: "request-id-prefix", Category: groupLoad, DefaultText: "ids are UUIDs", Usage: "x-request-id is this and the request's number"},
		&cli.StringSliceFlag{Name: "lora-modules", Aliases: []string{"lora-name"}, Category: groupLoad, Usage: "adapters; requests name one of them instead of the model (`NAME …`)"},
		&cli.StringFlag{Name: "lora-assignment", Category: groupLoad, Value: "random", Usage: "random or round-robin"},

		number("temperature", ""), number("top-p", ""), &cli.IntFlag{Name: "top-k", Category: groupSampling, DefaultText: "not sent"}, number("min-p", ""),
		number("frequency-penalty", ""), number("presence-penalty", ""), number("repetition-penalty", ""),
		&cli.IntFlag{Name: "logprobs", Category: groupSampling, DefaultText: "not sent", Usage: "log-probabilities a token"},
		&cli.BoolFlag{Name: "use-beam-search", Category: groupSampling},
		&cli.StringFlag{Name: "extra-body", Aliases: []string{"extra-request-body"}, Category: groupSampling, Usage: "`JSON` object merged into every body; wins over the flags above"},
		&cli.StringFlag{Name: "chat-template-kwargs", Category: groupSampling, Usage: "`JSON` object for the server's chat template"},

		&cli.BoolFlag{Name: "save-result", Category: groupReport, Usage: "write vLLM's result JSON"},
		&cli.BoolFlag{Name: "save-detailed", Aliases: []string{"output-details"}, Category: groupReport, Usage: "with the lists of single requests"},
		&cli.BoolFlag{Name: "append-result", Category: groupReport, Usage: "append to the file, one result a line"},
		&cli.StringFlag{Name: "result-dir", Category: groupReport, Usage: "folder of the result file"},
		&cli.StringFlag{Name: "result-filename", Category: groupReport, DefaultText: "from label, rate, model and date", Usage: "its name"},
		&cli.StringFlag{Name: "output-file", Category: groupReport, Usage: "SGLang's spelling: append the result to this `FILE`"},
		&cli.StringSliceFlag{Name: "metadata", Category: groupReport, Usage: "`KEY=VALUE …` put into the result file"},
		&cli.StringFlag{Name: "label", Aliases: []string{"tag"}, Category: groupReport, DefaultText: "the backend", Usage: "first part of the result file's name"},
		&cli.StringFlag{Name: "percentile-metrics", Category: groupReport, DefaultText: "ttft,tpot,itl; e2el for embeddings", Usage: "of " + strings.Join(metrics.VLLMMetrics, ",")},
		&cli.StringFlag{Name: "metric-percentiles", Category: groupReport, Value: "99", Usage: "percentiles, by commas"},
		&cli.StringSliceFlag{Name: "goodput", Category: groupReport, Usage: "service levels in ms (`ttft:500 tpot:50 e2el:10000`)"},
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
	m := metrics.Options{SLOs: v.SLOs, Percentiles: withPercentiles(v.Percentiles)}
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
	o, err := benchOptions(c)
	if err != nil {
		return o, err
	}
	if err := chooseDataset(c, &o); err != nil {
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
	if o.Burstiness, err = parseRate(c.String("burstiness")); err != nil || o.Burstiness == 0 {
		return o, usagef("--burstiness %s: give a number above 0, or inf", c.String("burstiness"))
	}
	if o.MaxConcurrency = c.Int("max-concurrency"); c.IsSet("max-concurrency") && o.MaxConcurrency < 1 {
		return o, usagef("--max-concurrency %d: give a number above 0, or leave it out for no bound", o.MaxConcurrency)
	}
	o.RampUp, o.RampStart, o.RampEnd = c.String("ramp-up-strategy"), c.Float64("ramp-up-start-rps"), c.Float64("ramp-up-end-rps")
	o.NumWarmups, o.ProbeRate, o.Profile, o.FlushCache = c.Int("num-warmups"), c.Float64("probe-request-rate"), c.Bool("profile"), c.Bool("flush-cache")
	o.RequestIDPrefix, o.Stream = c.String("request-id-prefix"), !c.Bool("disable-stream")
	o.LoRAModules, o.LoRAAssignment = splitCommas(c.StringSlice("lora-modules")), c.String("lora-assignment")
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
func vllmOptions(c *cli.Context, o bench.Options) (metrics.VLLMOptions, error) {
	v := metrics.VLLMOptions{Label: c.String("label"), RequestRate: o.RequestRate, Burstiness: o.Burstiness, MaxConcurrency: o.MaxConcurrency,
		RampStrategy: o.RampUp, RampStart: o.RampStart, RampEnd: o.RampEnd, Detailed: c.Bool("save-detailed")}
	b, err := bench.FindBackend(o.Backend)
	if err != nil {
		return v, usage(err)
	}
	v.Backend = o.Backend
	list := c.String("percentile-metrics")
	if list == "" {
		if list = "ttft,tpot,itl"; b.Pooling {
			list = "e2el"
		} else if !o.Stream {
			list = "e2el"
		}
	}
	for _, m := range splitCommas([]string{list}) {
		if !slices.Contains(metrics.VLLMMetrics, m) {
			return v, usagef("--percentile-metrics: unknown metric %q%s; of %s", m, registry.DidYouMean(m, metrics.VLLMMetrics), strings.Join(metrics.VLLMMetrics, ", "))
		}
		v.PercentileMetrics = append(v.PercentileMetrics, m)
	}
	if v.Percentiles, err = parsePercentiles(c.String("metric-percentiles")); err != nil {
		return v, err
	}
	if v.SLOs, err = metrics.ParseSLOs(c.StringSlice("goodput")); err != nil {
		return v, usage(err)
	}
	for _, kv := range c.StringSlice("metadata") {
		k, value, ok := strings.Cut(kv, "=")
		if k = strings.TrimSpace(k); !ok || k == "" {
			return v, usagef("--metadata %s: write KEY=VALUE", kv)
		}
		v.Metadata = append(v.Metadata, [2]string{k, strings.TrimSpace(value)})
	}
	return v, nil
}

// showServe prints vLLM's table and writes its JSON.
func showServe(c *cli.Context, s *bench.Session, out *tasks.Outcome, v metrics.VLLMOptions) error {
	v.Date = out.Clock.Zero().Format("20060102-150405")
	v.ModelID, v.TokenizerID, v.NumPrompts = s.ModelID, s.TokenizerID, len(s.Set.Samples)
	model, dataset := s.Pair(out)
	r, err := metrics.VLLM(out.Run.Records(model, dataset), v)
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	if err := serveConsole(c.App.Writer, s, r); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	path, appending := resultPath(c, s, v)
	if path != "" {
		b, err := serveJSON(s, out, r)
		if err != nil {
			return fmt.Errorf("the result as JSON: %w", err)
		}
		if err := writeResult(path, b, appending); err != nil {
			return err
		}
		fmt.Fprintf(c.App.Writer, "Result file: %s\n", path)
	}
	if c.Bool("plot-timeline") {
		fmt.Fprintf(c.App.Writer, "Timeline: %s\n", out.Run.HTMLPath())
	}
	return nil
}

// serveConsole prints vLLM's table, with the probe's section where it has it.
func serveConsole(w io.Writer, s *bench.Session, r *metrics.VLLMResult) error {
	var b bytes.Buffer
	if err := summarizers.VLLMConsole(&b, r); err != nil {
		return err
	}
	text := b.String()
	if p := s.Probe(); p != nil {
		section := fmt.Sprintf("%s\n%-40s %-10d\n%-40s %-10d\n", "------------------Probe Requests------------------", "Probe requests completed:", p.Completed, "Probe requests failed:", p.Failed)
		for _, row := range []struct {
			label string
			v     *float64
		}{{"Median probe E2EL (ms):", p.MedianE2EL}, {"P99 probe E2EL (ms):", p.P99E2EL}, {"Max probe E2EL (ms):", p.MaxE2EL}} {
			if row.v != nil {
				section += fmt.Sprintf("%-40s %-10.2f\n", row.label, *row.v)
			}
		}
		if i := strings.Index(text, "\n---"); i >= 0 {
			text = text[:i+1] + section + text[i+1:]
		} else {
			text += section
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

// poolingOmits are keys that vLLM's result has for generated text only.
var poolingOmits = []string{"failed", "total_output_tokens", "request_goodput", "output_throughput", "max_output_tokens_per_s", "max_concurrent_requests",
	"rtfx", "output_lens", "ttfts", "itls", "generated_texts", "start_times"}

// serveJSON is vLLM's result with our one extra key.
func serveJSON(s *bench.Session, out *tasks.Outcome, r *metrics.VLLMResult) ([]byte, error) {
	own, err := r.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	put := func(key string, raw []byte) {
		if b.Len() == 0 {
			b.WriteByte('{')
		} else {
			b.WriteString(", ")
		}
		k, _ := json.Marshal(key) // a string always marshals
		b.Write(k)
		b.WriteString(": ")
		b.Write(raw)
	}
	err = jsonparser.ObjectEach(own, func(key, value []byte, kind jsonparser.ValueType, _ int) error {
		if s.Backend.Pooling && slices.Contains(poolingOmits, string(key)) {
			return nil
		}
		if kind == jsonparser.String {
			value = append(append([]byte{'"'}, value...), '"') // still escaped
		}
		put(string(key), value)
		return nil
	})
	if err != nil {
		return nil, err
	}
	extra, err := serveExtras(s, out, r)
	if err != nil {
		return nil, err
	}
	for _, kv := range extra {
		raw, err := outputs.MarshalJSON(kv.value)
		if err != nil {
			return nil, err
		}
		put(kv.key, bytes.TrimSpace(raw))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

type keyValue struct {
	key   string
	value any
}

// serveExtras are the keys of vLLM's that only some runs have, and ours.
func serveExtras(s *bench.Session, out *tasks.Outcome, r *metrics.VLLMResult) ([]keyValue, error) {
	var list []keyValue
	if s.Backend.Pooling {
		n := s.Sequences(out)
		list = append(list, keyValue{"total_input_sequences", n}, keyValue{"input_sequence_throughput", ratio(float64(n), r.Duration)})
	}
	if r.Options.RampStrategy != "" {
		events, err := s.RateChanges(out)
		if err != nil {
			return nil, err
		}
		list = append(list, keyValue{"rps_change_events", events})
	}
	if p := s.Probe(); p != nil {
		list = append(list, keyValue{"probe_completed", p.Completed}, keyValue{"probe_failed", p.Failed},
			keyValue{"probe_median_e2el_ms", p.MedianE2EL}, keyValue{"probe_p99_e2el_ms", p.P99E2EL}, keyValue{"probe_max_e2el_ms", p.MaxE2EL})
	}
	lengths, err := s.Lengths(out)
	if err != nil {
		return nil, err
	}
	var early any
	if e := lengths.EarlyShare(); !math.IsNaN(e) {
		early = e
	}
	model, dataset := s.Pair(out)
	return append(list, keyValue{"ais_bench", map[string]any{
		"version": versionLine(), "run_folder": out.Run.Dir(), "model": model, "dataset": dataset, "workload": s.Workload, "served_model_name": s.Service.Model,
		"url": s.Service.URL, "tokenizer_source": s.Tokenizer.Source, "seed": s.Seed(), "ignore_eos": s.Service.GenerationKwargs["ignore_eos"] == true,
		"sampling": s.Service.GenerationKwargs, "stopped_early_share": early, "input_length_mismatches": lengths.InputMismatch, "repeated_rows": s.Duplicated(),
		"notes": s.Notes, "interrupted": out.Stopped}}), nil
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// resultPath is where the result goes, "" for nowhere.
func resultPath(c *cli.Context, s *bench.Session, v metrics.VLLMOptions) (path string, appending bool) {
	if file := c.String("output-file"); file != "" {
		return file, true
	}
	if !c.Bool("save-result") && !c.Bool("append-result") {
		return "", false
	}
	name := c.String("result-filename")
	if name == "" {
		label := v.Label
		if label == "" {
			label = v.Backend
		}
		rate := "inf"
		if v.RequestRate > 0 {
			if rate = strconv.FormatFloat(v.RequestRate, 'f', -1, 64); !strings.Contains(rate, ".") {
				rate += ".0" // Python prints a float
			}
		}
		concurrency := ""
		if v.MaxConcurrency > 0 {
			concurrency = fmt.Sprintf("-concurrency%d", v.MaxConcurrency)
		}
		name = fmt.Sprintf("%s-%sqps%s-%s-%s.json", label, rate, concurrency, s.Service.Abbr, v.Date)
		if v.RampStrategy != "" {
			name = fmt.Sprintf("%s-ramp-up-%s-%gqps-%gqps%s-%s-%s.json", label, v.RampStrategy, v.RampStart, v.RampEnd, concurrency, s.Service.Abbr, v.Date)
		}
	}
	return filepath.Join(c.String("result-dir"), name), c.Bool("append-result")
}

// writeResult writes or appends one line of JSON.
func writeResult(path string, line []byte, appending bool) error {
	if dir := filepath.Dir(path); dir != "." {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return &tasks.EnvironmentError{Err: fmt.Errorf("write the result: %w", err)}
		}
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if appending {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	f, err := os.OpenFile(path, mode, 0o644)
	if err != nil {
		return &tasks.EnvironmentError{Err: fmt.Errorf("write the result: %w", err)}
	}
	_, err = f.Write(append(line, '\n'))
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return &tasks.EnvironmentError{Err: fmt.Errorf("write the result %s: %w", path, err)}
	}
	return nil
}
