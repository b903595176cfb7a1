package main

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/urfave/cli/v2"

	"ais_bench/outputs"
	"ais_bench/summarizers"
	"ais_bench/summarizers/metrics"
	"ais_bench/tasks"
	"ais_bench/tasks/bench"
)

// benchPrefixCacheCommand measures what the prefix cache is worth.
func benchPrefixCacheCommand() *cli.Command {
	flags := append(benchServiceFlags(), datasetFlags()...)
	flags = append(flags, launchFlags()...)
	flags = append(flags,
		&cli.IntFlag{Name: "rounds", Category: groupLoad, Value: 1, Usage: "times that the prompts are asked cold and then warm"},
		&cli.StringFlag{Name: "request-rate", Category: groupLoad, Value: "inf", Usage: "requests/s; inf = as the concurrency allows"},
		&cli.IntFlag{Name: "max-concurrency", Category: groupLoad, Value: 1, Usage: "requests in flight at most; above 1 TTFT holds waiting too"},
		&cli.IntFlag{Name: "num-warmups", Category: groupLoad, Value: 1, Usage: "requests before each pass; their prompts are no copies of these"},
		&cli.BoolFlag{Name: "ignore-eos", Category: groupLoad, Usage: "answers of exactly the length asked for; on by default for random, synthetic prompts and traces"},
		&cli.BoolFlag{Name: "disable-ignore-eos", Category: groupLoad, Usage: "leave the end to the model"},
		&cli.Float64Flag{Name: "temperature", Category: groupSampling, DefaultText: "not sent"},
		&cli.StringFlag{Name: "extra-body", Aliases: []string{"extra-request-body"}, Category: groupSampling, Usage: "`JSON` object merged into every body; wins over the flags above"},
		&cli.StringFlag{Name: "output-json", Category: groupReport, Usage: "write the result to this `FILE`"},
	)
	return &cli.Command{
		Name: "prefix-cache", Usage: "the same prompts cold and warm: what share of TTFT the prefix cache saves",
		Description: "Each round empties the server's prefix cache (or salts the prompts, where no endpoint does it), asks all prompts, and asks them again.\n" +
			"Saved is counted prompt by prompt; the hit rates of both passes are proven by the server's counters and the answers' usage.",
		Flags:  flags,
		Action: benchPrefixCache,
	}
}

func benchPrefixCache(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if c.IsSet("cache") {
		return usagef("--cache: this command asks cold and warm by itself")
	}
	o, err := benchOptions(c)
	if err != nil {
		return err
	}
	if err := chooseDataset(c, &o); err != nil {
		return err
	}
	if !c.IsSet("num-prompts") && o.Workload.NumPrompts == 1000 {
		o.Workload.NumPrompts = 100 // one after the other, twice
	}
	if o.RequestRate, err = parseRate(c.String("request-rate")); err != nil {
		return usagef("--request-rate %w", err)
	}
	if math.IsInf(o.RequestRate, 1) {
		o.RequestRate = 0
	}
	if o.MaxConcurrency = c.Int("max-concurrency"); o.MaxConcurrency < 1 {
		return usagef("--max-concurrency %d: give a number above 0", o.MaxConcurrency)
	}
	if o.PrefixRounds = c.Int("rounds"); o.PrefixRounds < 1 || o.PrefixRounds > 100 {
		return usagef("--rounds %d: give 1 to 100", o.PrefixRounds)
	}
	o.NumWarmups, o.Stream = c.Int("num-warmups"), true
	if c.Bool("ignore-eos") && c.Bool("disable-ignore-eos") {
		return usagef("--ignore-eos and --disable-ignore-eos exclude each other")
	}
	switch {
	case c.Bool("ignore-eos"):
		o.IgnoreEOS = bench.Yes
	case c.Bool("disable-ignore-eos"):
		o.IgnoreEOS = bench.No
	}
	if b, err := bench.FindBackend(o.Backend); err == nil && b.Pooling {
		return usagef("--backend %s generates nothing: there is no time to first token", o.Backend)
	}
	if c.IsSet("temperature") {
		o.Body["temperature"] = c.Float64("temperature")
	}
	if text := c.String("extra-body"); text != "" {
		m, err := jsonObject("extra-body", text)
		if err != nil {
			return err
		}
		for k, v := range m {
			o.Body[k] = v
		}
	}
	var gain *summarizers.PrefixGain
	sections := func(s *bench.Session, out *tasks.Outcome) ([]outputs.Section, error) {
		cold, warm := s.Passes()
		var err error
		if gain, err = summarizers.ComparePrefixCache(out.Run, cold, warm); err != nil {
			return nil, err
		}
		return []outputs.Section{gain.Section()}, nil
	}
	return benchRunWith(c, o, metrics.Options{}, sections, func(s *bench.Session, out *tasks.Outcome) error {
		if err := printTables(c, []outputs.Table{gain.Table()}); err != nil {
			return err
		}
		path := c.String("output-json")
		if path == "" {
			return nil
		}
		b, err := outputs.MarshalJSON(gain)
		if err != nil {
			return fmt.Errorf("the result as JSON: %w", err)
		}
		doc := map[string]any{}
		if err := json.Unmarshal(b, &doc); err != nil {
			return fmt.Errorf("the result as JSON: %w", err)
		}
		extra := offlineExtra(s, out)
		extra["max_concurrency"] = o.MaxConcurrency
		doc["ais_bench"] = extra
		if b, err = json.MarshalIndent(doc, "", "  "); err != nil {
			return fmt.Errorf("the result as JSON: %w", err)
		}
		return writeJSONFile(path, b)
	})
}
