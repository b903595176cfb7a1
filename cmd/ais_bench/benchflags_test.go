package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// vllmFlags are the flags of `vllm bench serve` with its defaults, and vllmSwitches
// those without a value. "-" stands for none, and for what the server decides.
const (
	vllmFlags = `
backend=openai label=- base-url=- host=127.0.0.1 port=8000 endpoint=- header=- model=- served-model-name=- tokenizer=- tokenizer-mode=auto logprobs=-
num-prompts=1000 request-rate=inf burstiness=1.0 max-concurrency=- ramp-up-strategy=- ramp-up-start-rps=0 ramp-up-end-rps=0 probe-request-rate=0 num-warmups=0
ready-check-timeout-sec=0 seed=0 request-id-prefix=-
top-p=- top-k=- min-p=- temperature=- frequency-penalty=- presence-penalty=- repetition-penalty=- extra-body=- chat-template-kwargs=-
lora-modules=- lora-assignment=random
metadata=- result-dir=- result-filename=- percentile-metrics=- metric-percentiles=99 goodput=- timeline-itl-thresholds=25,50
dataset-name=random dataset-path=- input-len=- output-len=-
random-input-len=1024 random-output-len=128 random-range-ratio=0.0 random-prefix-len=0 random-batch-size=1
random-mm-base-items-per-request=! random-mm-num-mm-items-range-ratio=! random-mm-limit-mm-per-prompt=! random-mm-bucket-config=!
sharegpt-output-len=- sonnet-input-len=550 sonnet-output-len=150 sonnet-prefix-len=200 custom-output-len=256 spec-bench-output-len=256 spec-bench-category=-
speed-bench-dataset-subset=qualitative speed-bench-output-len=4096 speed-bench-category=-
prefix-repetition-prefix-len=256 prefix-repetition-suffix-len=256 prefix-repetition-num-prefixes=10 prefix-repetition-output-len=128
timed-trace-chunk-hash-size=16 timed-trace-sec-multiplier=1 timed-trace-label-timestamp=timestamp timed-trace-label-input-length=input_length
timed-trace-label-output-length=output_length timed-trace-label-hash-ids=hash_ids
hf-subset=! hf-split=! hf-name=! hf-output-len=- bfcl-categories=! blazedit-min-distance=! blazedit-max-distance=! asr-min-audio-len-sec=! asr-max-audio-len-sec=!`
	vllmSwitches = `insecure trust-remote-code skip-tokenizer-init use-beam-search self-timed no-self-timed ignore-eos profile disable-tqdm save-result save-detailed
append-result plot-timeline plot-dataset-stats no-stream no-oversample skip-chat-template disable-shuffle no-reranker custom-ensure-client-side-data
enable-multimodal-chat!`
	// SGLang's bench_serving, whose defaults hold only where they are not vLLM's.
	sglangFlags = `backend base-url host port ready-check-timeout-sec model served-model-name tokenizer header tag dataset-name dataset-path num-prompts
sharegpt-output-len sharegpt-context-len random-input-len random-output-len random-range-ratio request-rate max-concurrency seed temperature top-p
extra-request-body output-file warmup-requests lora-name lora-request-distribution lora-zipf-alpha prompt-suffix top-logprobs-num flush-cache-timeout
gsp-num-groups gsp-prompts-per-group gsp-system-prompt-len gsp-question-len gsp-output-len gsp-range-ratio gsp-num-turns gsp-group-distribution
gsp-zipf-alpha mooncake-slowdown-factor speed-bench-category speed-bench-output-len random-input random-output
dataset-offset! agentic-max-turns! image-count! image-resolution! image-format! image-content! mooncake-workload! mooncake-num-rounds! token-ids-logprob! logprob-start-len!
profile-activities! profile-start-step! profile-steps! profile-num-steps! profile-stages! profile-output-dir! profile-prefix! profile-prefill-url! profile-decode-url!`
	sglangSwitches = `apply-chat-template tokenize-prompt gsp-fast-prepare gsp-send-routing-key gsp-ordered use-trace-timestamps flush-cache disable-stream
disable-ignore-eos output-details print-requests plot-throughput cache-report return-logprob disable-tqdm profile
random-image-count! pd-separated! profile-by-stage! fake-prefill! return-routed-experts!`
	// The Rust vllm-bench's own, as far as they are not another command's here.
	rustFlags = `multi-turn-num-turns multi-turn-min-turns multi-turn-max-turns multi-turn-concurrency multi-turn-delay-ms per-turn-input-len
multi-turn-prefix-global-ratio multi-turn-prefix-conversation-ratio max-model-len speed-bench-config`
	rustSwitches = `multi-turn prompt-token-ids`
)

// TestBenchServeKnowsEveryFlag: the flags of the tools that are stood in for are
// there, with vLLM's defaults, in all spellings that argparse takes; those that mean
// something this program does not do are refused in words of their own.
func TestBenchServeKnowsEveryFlag(t *testing.T) {
	app := newApp(io.Discard, io.Discard)
	serve := app.Command("bench").Command("serve")
	known := flagIndex(serve.Flags)
	refused := func(args ...string) {
		t.Helper()
		var errs bytes.Buffer
		code := run(append([]string{"ais_bench", "bench", "serve", "--base-url", "http://127.0.0.1:1"}, args...), io.Discard, &errs)
		if f := foreignFlags[strings.TrimPrefix(args[0], "--")]; code != exitUsage || !strings.Contains(errs.String(), args[0]+": "+f.why) {
			t.Errorf("%s: exit %d, %s; want it refused because %q", args[0], code, errs.String(), f.why)
		}
	}
	check := func(name string, takesValue bool) cli.Flag {
		t.Helper()
		f, _ := known.find(name)
		if f == nil {
			t.Errorf("--%s is unknown", name)
			return nil
		}
		if under, _ := known.find(strings.ReplaceAll(name, "-", "_")); under != f {
			t.Errorf("--%s with underscores is unknown", name)
		}
		if isSwitch(f) == takesValue {
			t.Errorf("--%s takes a value: %v, want %v", name, !isSwitch(f), takesValue)
		}
		return f
	}
	for _, word := range strings.Fields(vllmFlags) {
		name, want, _ := strings.Cut(word, "=")
		f := check(name, true)
		if f == nil {
			continue
		}
		if want == "!" {
			refused("--"+name, "1")
			continue
		}
		d := f.(cli.DocGenerationFlag)
		if got := strings.Trim(d.GetValue(), `"`); want != "-" && got != want && strings.Trim(d.GetDefaultText(), `"`) != want && !(name == "port" && strings.HasPrefix(d.GetDefaultText(), want)) {
			t.Errorf("--%s: default %s (%s), want %s", name, got, d.GetDefaultText(), want)
		}
	}
	for _, list := range []struct {
		words string
		value bool
	}{{vllmSwitches, false}, {sglangFlags, true}, {sglangSwitches, false}, {rustFlags, true}, {rustSwitches, false}} {
		for _, name := range strings.Fields(list.words) {
			name, no := strings.CutSuffix(name, "!")
			if check(name, list.value) == nil || !no {
				continue
			}
			if list.value {
				refused("--"+name, "2")
			} else {
				refused("--" + name)
			}
		}
	}
}

// TestBenchFlagsAreExplained: every flag that is shown says what it does.
func TestBenchFlagsAreExplained(t *testing.T) {
	app := newApp(io.Discard, io.Discard)
	for _, name := range []string{"serve", "throughput", "latency"} {
		for _, f := range app.Command("bench").Command(name).Flags {
			d, ok := f.(cli.DocGenerationFlag)
			if v, can := f.(cli.VisibleFlag); !ok || can && !v.IsVisible() || d.Names()[0] == "help" {
				continue
			}
			if strings.TrimSpace(d.GetUsage()) == "" || f.(cli.CategorizableFlag).GetCategory() == "" {
				t.Errorf("bench %s --%s has no usage text or no category", name, d.Names()[0])
			}
		}
	}
}

// TestBenchUnknownFlagNamesTheNearest: a mistyped flag is refused with the right one,
// whatever it is.
func TestBenchUnknownFlagNamesTheNearest(t *testing.T) {
	for _, word := range append(strings.Fields(vllmFlags), strings.Fields(sglangFlags)...) {
		name, _, _ := strings.Cut(strings.TrimSuffix(word, "!"), "=")
		if len(name) < 6 {
			continue
		}
		wrong := name[:len(name)-3] + name[len(name)-2:] // a letter lost
		var errs bytes.Buffer
		code := run([]string{"ais_bench", "bench", "serve", "--" + wrong, "1"}, io.Discard, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), "did you mean \"--"+name+"\"") {
			t.Errorf("--%s: exit %d, %s; want --%s named", wrong, code, strings.TrimSpace(errs.String()), name)
		}
	}
}
