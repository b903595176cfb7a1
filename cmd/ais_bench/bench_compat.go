package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ais_bench/tasks/bench"
)

// Flags of `vllm bench serve` and of SGLang's bench_serving that mean something
// this program does not do. They are known, so that a script that has them is told
// why and what to give instead, and hidden: nobody should look for them here.

const (
	noMedia = "images, video and audio are not supported; `--dataset-name` lists the text workloads"
	noHub   = "data sets of the hub go by their names here: give --dataset-name NAME (`ais_bench datasets list` shows all), or convert the rows to JSONL for --dataset-name custom"
	noTrace = "the agentic-trace data set is not supported; write its conversations as messages and give --dataset-name custom --multi-turn"
	noProf  = "give --profile for the service that is asked; start and stop another worker's profiler by itself (POST /start_profile, /stop_profile)"
)

// foreign is a flag that is refused, or, where quiet, accepted without effect.
type foreign struct {
	value bool // takes one
	why   string
	quiet bool
}

var foreignFlags = map[string]foreign{
	"random-mm-base-items-per-request": {value: true, why: noMedia}, "random-mm-num-mm-items-range-ratio": {value: true, why: noMedia},
	"random-mm-limit-mm-per-prompt": {value: true, why: noMedia}, "random-mm-bucket-config": {value: true, why: noMedia},
	"enable-multimodal-chat": {why: noMedia}, "asr-min-audio-len-sec": {value: true, why: noMedia}, "asr-max-audio-len-sec": {value: true, why: noMedia},
	"custom-ensure-client-side-data": {why: "it concerns images, which are not supported", quiet: true},
	"image-count":                    {value: true, why: noMedia}, "image-resolution": {value: true, why: noMedia}, "image-format": {value: true, why: noMedia},
	"image-content": {value: true, why: noMedia}, "random-image-count": {why: noMedia},
	"hf-subset": {value: true, why: noHub}, "hf-split": {value: true, why: noHub}, "hf-name": {value: true, why: noHub},
	"bfcl-categories": {value: true, why: noHub}, "blazedit-min-distance": {value: true, why: noHub}, "blazedit-max-distance": {value: true, why: noHub},
	"dataset-offset": {value: true, why: noTrace}, "agentic-max-turns": {value: true, why: noTrace},
	"mooncake-workload":   {value: true, why: "it names a trace to download; give the trace's file with --dataset-path"},
	"mooncake-num-rounds": {value: true, why: "its further rounds have made-up answers; --multi-turn holds conversations with real ones"},
	"profile-activities":  {value: true, why: noProf}, "profile-start-step": {value: true, why: noProf}, "profile-steps": {value: true, why: noProf},
	"profile-num-steps": {value: true, why: noProf}, "profile-by-stage": {why: noProf}, "profile-stages": {value: true, why: noProf},
	"profile-output-dir": {value: true, why: noProf}, "profile-prefix": {value: true, why: noProf},
	"profile-prefill-url": {value: true, why: noProf}, "profile-decode-url": {value: true, why: noProf}, "pd-separated": {why: noProf},
	"fake-prefill":          {why: "give the fields it puts into the body with --extra-body"},
	"return-routed-experts": {why: `give --extra-body '{"return_routed_experts": true}'`},
	"token-ids-logprob":     {value: true, why: "give --extra-body '{\"token_ids_logprob\": […]}'"},
	"logprob-start-len":     {value: true, why: "give --extra-body '{\"logprob_start_len\": N}'"},
	"flush-cache-timeout":   {value: true, why: "--flush-cache waits for the server's answer, five minutes at most", quiet: true},
	"plot-throughput":       {why: "throughput over time is in report.html of the run folder", quiet: true},
	"print-requests":        {why: "requests and answers are in the run folder", quiet: true},
}

func foreignFlagList() []cli.Flag {
	var list []cli.Flag
	for _, name := range slices.Sorted(maps.Keys(foreignFlags)) {
		if foreignFlags[name].value {
			list = append(list, &cli.StringFlag{Name: name, Hidden: true})
		} else {
			list = append(list, &cli.BoolFlag{Name: name, Hidden: true})
		}
	}
	return list
}

// refuseForeign says what a given foreign flag means for this program.
func refuseForeign(c *cli.Context) error {
	for _, name := range slices.Sorted(maps.Keys(foreignFlags)) {
		f := foreignFlags[name]
		switch {
		case !c.IsSet(name):
		case f.quiet:
			fmt.Fprintf(c.App.ErrWriter, "note: --%s has no effect: %s\n", name, f.why)
		case name == "mooncake-num-rounds" && c.String(name) == "1": // the default
		default:
			return usagef("--%s: %s", name, f.why)
		}
	}
	return nil
}

// sglangBody puts SGLang's flags for the request body into it, and its defaults
// where they are not vLLM's: greedy decoding unless told otherwise.
func sglangBody(c *cli.Context, b bench.Backend, o *bench.Options) error {
	if b.SGLang && !b.Pooling && !c.IsSet("temperature") {
		o.Body["temperature"] = 0.0
	}
	n := c.Int("top-logprobs-num")
	switch {
	case n < 0:
		return usagef("--top-logprobs-num %d: give 0 or more", n)
	case n > 0 && !c.Bool("return-logprob"):
		return usage(errors.New("--top-logprobs-num goes with --return-logprob"))
	case !c.Bool("return-logprob"):
	case b.Type == "sglang_generate":
		o.Body["return_logprob"] = true
		if n > 0 {
			o.Body["top_logprobs_num"] = n
		}
	case b.Chat:
		o.Body["logprobs"], o.Body["top_logprobs"] = true, n
	case b.OpenAI:
		o.Body["logprobs"] = n
	default:
		return usagef("--return-logprob: --backend %s returns none", b.Name)
	}
	if c.Bool("cache-report") && b.SGLang && b.OpenAI {
		o.Body["return_cached_tokens_details"] = true
	}
	return nil
}

// loraAssignment reads both tools' flags: SGLang's uniform, distinct and skewed are
// vLLM's random and round-robin, and a geometric choice.
func loraAssignment(c *cli.Context, o *bench.Options) error {
	o.LoRAModules, o.LoRAAssignment = splitCommas(c.StringSlice("lora-modules")), c.String("lora-assignment")
	if !c.IsSet("lora-request-distribution") {
		return nil
	}
	if c.IsSet("lora-assignment") {
		return usage(errors.New("--lora-assignment and --lora-request-distribution say the same in two tools' words: leave one out"))
	}
	how, ok := map[string]string{"uniform": "random", "distinct": "round-robin", "skewed": "skewed"}[c.String("lora-request-distribution")]
	if !ok {
		return usagef("--lora-request-distribution %s: give %s", c.String("lora-request-distribution"), strings.Join([]string{"uniform", "distinct", "skewed"}, ", "))
	}
	if how != "random" && len(o.LoRAModules) < 2 {
		return usagef("--lora-request-distribution %s: give several adapters with --lora-name", c.String("lora-request-distribution"))
	}
	o.LoRAAssignment, o.LoRAAlpha = how, c.Float64("lora-zipf-alpha")
	return nil
}
