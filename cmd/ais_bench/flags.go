package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// The groups of flags in --help.
const (
	groupWhat    = "What is asked"
	groupService = "The service (overrides every chosen model configuration)"
	groupLoad    = "Load"
	groupRun     = "The run"
	groupReport  = "Reports"
)

// evaluateFlags are AISBench's flags with its meanings, and flags for what
// there needs a file to be edited.
func evaluateFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringSliceFlag{Name: "models", Category: groupWhat, Usage: "model configurations, names or globs (`NAME …`)"},
		&cli.StringSliceFlag{Name: "datasets", Category: groupWhat, Usage: "data set configurations, names or globs (`NAME …`)"},
		&cli.StringFlag{Name: "summarizer", Category: groupReport, Usage: "example, medium, leval (accuracy) or default_perf, stable_stage (performance)"},
		&cli.StringFlag{Name: "custom-dataset-path", Category: groupWhat, Usage: "your own questions, jsonl, csv or parquet `FILE`"},
		&cli.StringFlag{Name: "custom-dataset-meta-path", Category: groupWhat, Usage: "how to sample it; default FILE.meta.json"},
		&cli.StringFlag{Name: "custom-dataset-data-type", Category: groupWhat, Usage: "mcq or qa; default: by the columns"},
		&cli.StringFlag{Name: "custom-dataset-infer-method", Category: groupWhat, Usage: "gen", Value: "gen"},
		&cli.StringFlag{Name: "dataset-path", Category: groupWhat, Usage: "file or directory of the data; looked at before $AIS_BENCH_DATASETS_CACHE and ./datasets_cache"},
		&cli.IntFlag{Name: "num-prompts", Category: groupWhat, DefaultText: "all", Usage: "ask only the first `N` samples of every sub-set"},
		&cli.BoolFlag{Name: "merge-ds", Category: groupWhat, Usage: "accepted: the sub-sets of a data set always share one client run"},
		&cli.StringFlag{Name: "scorer", Category: groupWhat, Usage: "score with this rule instead of the data sets' own (`ID`; `ais_bench score --list` shows all)"},
		&cli.StringFlag{Name: "sandbox", Category: groupWhat, Value: "native", Usage: "where model-written programs run: native, bwrap, runsc, or none (no isolation at all)"},
		&cli.StringSliceFlag{Name: "judge-model", Category: groupWhat, Usage: "model configuration asked by judge scorers; several decide by majority"},
		&cli.IntFlag{Name: "judge-concurrency", Category: groupWhat, Value: 16, Usage: "judge requests at once"},

		&cli.StringFlag{Name: "chat-template", Category: groupService, Usage: "Jinja `FILE` that renders conversations for completions models, instead of the tokenizer's template"},
		&cli.BoolFlag{Name: "skip-chat-template", Category: groupService, Usage: "completions models get the turns of a conversation joined with line ends, without a template"},
		&cli.IntFlag{Name: "max-out-len", Category: groupService, DefaultText: "the configuration's", Usage: "max_tokens of every request; a data set's own cap wins"},
		&cli.IntFlag{Name: "retry", Category: groupService, DefaultText: "the configuration's", Usage: "attempts after a failed one; performance runs (--mode perf) never retry"},
		&cli.StringFlag{Name: "ready-timeout", Category: groupService, Value: "0", Usage: "wait this long for a server that is still coming up"},

		&cli.IntFlag{Name: "batch-size", Aliases: []string{"max-concurrency"}, Category: groupLoad, DefaultText: "the configuration's", Usage: "requests in flight at most"},
		&cli.StringFlag{Name: "request-rate", Category: groupLoad, Usage: "requests/s (Poisson); inf or 0 = as fast as the concurrency allows"},
		&cli.StringFlag{Name: "burstiness", Category: groupLoad, Usage: "gamma shape of the gaps: 1 Poisson, below burstier, inf constant"},
		&cli.StringFlag{Name: "ramp-up-strategy", Category: groupLoad, Usage: "linear or exponential"},
		&cli.Float64Flag{Name: "ramp-up-start-rps", Category: groupLoad, DefaultText: "no ramp", Usage: "rate at the first request"},
		&cli.Float64Flag{Name: "ramp-up-end-rps", Category: groupLoad, DefaultText: "no ramp", Usage: "rate at the last request"},
		&cli.IntFlag{Name: "num-warmups", Category: groupLoad, Value: 1, Usage: "requests sent before the measured ones, with other prompts"},
		&cli.StringFlag{Name: "warmup-time", Category: groupLoad, Usage: "warm up for this long instead of by count (`DURATION`)"},
		&cli.IntFlag{Name: "cooldown", Category: groupLoad, Usage: "requests sent after the measured ones, so that those end under load; not measured"},
		&cli.StringFlag{Name: "stages", Category: groupLoad, Usage: "stretches of different rates, `RATExDURATION`,… such as 5x30s,20x1m (with --mode perf)"},
		&cli.Float64Flag{Name: "replay-speed", Category: groupLoad, Value: 1, Usage: "how much faster than recorded time stamps are replayed (use_timestamp)"},
		&cli.BoolFlag{Name: "pressure", Category: groupLoad, Usage: "--batch-size clients, each asking back to back for --pressure-time (with --mode perf)"},
		&cli.IntFlag{Name: "pressure-time", Category: groupLoad, Value: 15, Usage: "seconds, 1 to 86400"},
		&cli.StringFlag{Name: "duration", Category: groupLoad, Usage: "ask for this long, cycling through the data (with --mode perf)"},
		calibrateFlag(),
		&cli.BoolFlag{Name: "spec-decode", Category: groupLoad, Usage: "speculative-decoding counters from the server's /metrics, before and after"},

		&cli.StringFlag{Name: "mode", Aliases: []string{"m"}, Category: groupRun, Value: "all", Usage: strings.Join(modeNames(), ", ")},
		&cli.StringFlag{Name: "reuse", Aliases: []string{"r"}, Category: groupRun, Usage: "continue the run `TIMESTAMP`; bare: the latest of the same kind, models and data sets"},
		&cli.StringFlag{Name: "work-dir", Aliases: []string{"w"}, Category: groupRun, Value: "outputs/default", Usage: "root of run folders"},
		&cli.StringFlag{Name: "config-dir", Category: groupRun, Value: "configs", Usage: "your own configurations (models/*.yaml, datasets/*.yaml); they add to and override the built-in ones"},
		&cli.IntFlag{Name: "max-num-workers", Category: groupRun, Value: 1, Usage: "tasks at once"},
		&cli.IntFlag{Name: "max-workers-per-gpu", Category: groupRun, Value: 1, Usage: "accepted for AISBench's sake; no model runs in this process"},
		&cli.BoolFlag{Name: "search", Aliases: []string{"s"}, Category: groupRun, Usage: "print where the chosen configurations come from, and stop"},
		&cli.BoolFlag{Name: "dry-run", Category: groupRun, Usage: "print the plan, the number of requests and an estimate of tokens; send nothing"},
		&cli.BoolFlag{Name: "debug", Category: groupRun, Usage: "one task at a time, every step on the terminal"},
		&cli.Int64Flag{Name: "seed", Category: groupRun, Usage: "seed of everything random on this side"},
		&cli.StringFlag{Name: "drain", Category: groupRun, Value: "30s", Usage: "after Ctrl-C, wait this long for requests in flight"},
		&cli.BoolFlag{Name: "no-store-prompts", Category: groupRun, Usage: "keep only the prompts' hashes"},
		&cli.BoolFlag{Name: "response-anomaly", Category: groupRun, Hidden: true},
		&cli.BoolFlag{Name: "no-response-anomaly", Category: groupRun, Hidden: true},
		&cli.StringFlag{Name: "response-anomaly-payload-retention", Category: groupRun, Hidden: true},

		&cli.BoolFlag{Name: "dump-eval-details", Category: groupReport, Usage: "accepted: details of every answer are always in predictions/*.jsonl"},
		&cli.BoolFlag{Name: "dump-extract-rate", Category: groupReport, Usage: "accepted: the extraction rate is always in results/*.json"},
		&cli.StringSliceFlag{Name: "goodput", Category: groupReport, Usage: "service levels in ms (`ttft:500 tpot:50 e2el:10000`)"},
		&cli.StringFlag{Name: "metric-percentiles", Category: groupReport, Value: "50,75,90,95,99", Usage: "percentiles of the performance table"},
		byLengthFlag(),
		&cli.StringFlag{Name: "lang", Category: groupReport, Value: "en", Usage: "en or zh: language of report.xlsx and report.html; all other text stays English"},
		&cli.StringFlag{Name: "title", Category: groupReport, Usage: "title of the reports"},
	}
	return slices.Concat(flags, connectionFlags(), serverFlags(), launchFlags(), contractFlags())
}

// connectionFlags say how a service is reached and asked; `check` has them, too.
func connectionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "host-ip", Category: groupService, Usage: "IP address or host name"},
		&cli.IntFlag{Name: "host-port", Category: groupService, DefaultText: "the configuration's", Usage: "port"},
		&cli.StringFlag{Name: "url", Category: groupService, Usage: "base `URL`, with or without path prefix and /v1; wins over host and port"},
		&cli.StringFlag{Name: "model", Category: groupService, Usage: "served model `NAME`; default: the first of /v1/models"},
		&cli.StringFlag{Name: "api-key-env", Category: groupService, Usage: "environment `VARIABLE` that holds the key"},
		&cli.StringSliceFlag{Name: "header", Category: groupService, Usage: "extra request header `NAME=VALUE`"},
		&cli.StringFlag{Name: "env-file", Category: groupService, Usage: "read environment variables (keys) from this `FILE`"},
		&cli.StringFlag{Name: "tokenizer", Category: groupService, Usage: "tokenizer directory or file"},
		&cli.BoolFlag{Name: "insecure", Category: groupService, Usage: "accept any TLS certificate"},
		&cli.StringFlag{Name: "ca-file", Category: groupService, Usage: "PEM `FILE` of extra certificate authorities"},
		&cli.StringFlag{Name: "proxy", Category: groupService, Usage: "none unless given: http(s)://HOST:PORT, or env for the environment's"},
		&cli.StringSliceFlag{Name: "generation-kwargs", Category: groupService, Usage: "merged into every request body (`KEY=VALUE`, values in YAML)"},
		&cli.BoolFlag{Name: "stream", Category: groupService, Usage: "ask for streams, so that TTFT, TPOT and ITL exist"},
		&cli.BoolFlag{Name: "no-stream", Category: groupService, Usage: "ask for whole answers"},
		&cli.StringFlag{Name: "timeout", Category: groupService, Usage: "bound of a whole request (`DURATION`: 90, 1m30s)"},
		&cli.StringFlag{Name: "connect-timeout", Category: groupService, Usage: "bound of connection set-up"},
		&cli.StringFlag{Name: "first-token-timeout", Category: groupService, Usage: "bound of the wait for the first token"},
		&cli.StringFlag{Name: "idle-timeout", Category: groupService, Usage: "bound of the wait between two chunks"},
		&cli.StringSliceFlag{Name: "set", Category: groupService, Usage: "change any field: models.NAME.`FIELD=VALUE` or datasets.NAME.FIELD=VALUE"},
	}
}
