package compare

import (
	"fmt"
	"math"
	"strings"
)

// Limits of what still counts as the same. docs/compare.md gives them.
const (
	inputCaution, inputInvalid   = 0.01, 0.05 // of prompt lengths, relative
	outputCaution, outputInvalid = 0.02, 0.10 // of answer lengths, relative
	failedCaution, failedInvalid = 0.01, 0.05 // of the share of failed requests, absolute
	cachedCaution, cachedInvalid = 0.01, 0.05 // of the share of prompt tokens from the cache, absolute
)

// rules are those of conditions with a fixed name.
var rules = map[string]rule{
	"data set":        different(Invalid, Invalid, "other questions"),
	"data files":      different(Info, Info, "what was asked decides: see prompts and lengths"),
	"questions":       different(Caution, Caution, "percentiles of fewer requests scatter more, and ramps weigh more"),
	"input tokens":    apart(inputCaution, inputInvalid, "", "prompt lengths").ifUnknown(Caution, "", "lengths cannot be compared"),
	"output tokens":   apart(outputCaution, outputInvalid, Info, "answer lengths").ifUnknown(Caution, "", "lengths cannot be compared"),
	"tokens asked":    apart(0, 0, Caution, "limits of the answer's length"),
	"repeats":         different(Caution, Caution, "a question asked more often weighs more, and comes from the cache"),
	"seed":            different(Caution, Info, "arrivals and draws are not the same"),
	"seed workload":   different(Caution, Info, "another seed makes other prompts"),
	"stream":          different(Invalid, Info, "without a stream there is no first token to time"),
	"protocol":        different(Caution, Caution, "another endpoint: templates and the server's work differ"),
	"concurrency":     different(Invalid, Caution, "another load"),
	"request rate":    different(Invalid, Caution, "another load"),
	"arrivals":        different(Invalid, Info, "another arrival process"),
	"pressure":        different(Invalid, Caution, "another load"),
	"duration":        different(Caution, "", "run for another length of time"),
	"warm-ups":        different(Caution, "", "the first measured requests may be colder"),
	"mode":            different(Caution, Info, "accuracy runs retry, performance runs do not"),
	"LoRA modules":    different(Invalid, Invalid, "other adapters"),
	"prefix caching":  prefixCaching,
	"cached share":    cachedShare,
	"engine":          different(Caution, Caution, "another engine"),
	"engine version":  different(Caution, Caution, "another version of the engine").ifUnknown(Caution, Info, "the version is not known to be the same"),
	"server settings": {unknown: judgement{Caution, Info, "what the server was set to is known of one run only"}},
	"model":           different(Caution, Caution, "another model, or the same under another name"),
	"server address":  different(Info, "", "another server, or another way to it"),
	"proxy":           different(Caution, "", "times through a proxy are the proxy's too"),
	"tool":            different(Caution, Info, "definitions may have changed between versions"),
	"tool commit":     different(Info, "", "built from other sources"),
	"definitions":     different(Caution, "", "tools define first token, success and rates differently (docs/metrics.md)"),
	"client machine":  different(Caution, "", "the client is part of what is measured"),
	"client host":     different(Info, "", "another way to the server"),
	"time stamps":     different(Caution, "", "stamped by the kernel and by the program are some 10 µs apart"),
	"client-bound":    clientBound,
	"failed":          failedShare,
	"token counts":    different(Caution, "", "tokens were counted by different means"),
	"scorer":          different("", Invalid, "another rule, or another version of it: scores are not comparable"),
	"scored metric":   different("", Invalid, "another metric"),
	"state":           {alone: state},
	"sessions":        {alone: sessions},
	"server changed": {alone: func(c condition) judgement {
		return judgement{Invalid, Invalid, "the run's figures are of two servers"}
	}},
	"think time":      different(Invalid, "", "another load"),
	"stages":          different(Invalid, Caution, "another load"),
	"date":            {judge: func(a, b condition) judgement { return judgement{} }},
	"prompt template": different("", Invalid, "the questions were put differently"),
}

// prefixed are the rules of conditions whose names are open.
func ruleFor(subject string) rule {
	if r, ok := rules[subject]; ok {
		return r
	}
	group, key, _ := strings.Cut(subject, ": ")
	switch group {
	case "sampling":
		switch key {
		case "ignore_eos", "min_tokens", "stop", "stop_token_ids":
			return sampled(different(Invalid, Invalid, "answers end elsewhere"))
		case "max_tokens", "max_out_len", "max_completion_tokens":
			return sampled(different(Invalid, Caution, "answers end elsewhere"))
		case "n", "best_of", "use_beam_search", "num_return_sequences":
			return sampled(different(Invalid, Invalid, "a request is more work"))
		case "seed":
			return sampled(different(Info, Caution, "other draws"))
		}
		return sampled(different(Caution, Invalid, "answers are drawn differently"))
	case "server":
		switch key {
		case "quantization", "dtype", "kv_cache_dtype", "speculative_method":
			return different(Caution, Caution, "another server setting")
		}
		return different(Caution, Info, "another server setting").ifUnknown(Info, "", "the server tells this in one run only")
	case "server detail":
		return different(Info, Info, "another server setting")
	case "client setting":
		return different(Info, Info, "another client setting")
	case "data set setting":
		return different(Info, Info, "what was asked decides: see prompts, lengths and scorer")
	}
	return different(Info, Info, "")
}

// sampled: a parameter that is not sent is the server's default, which is a value
// like any other, only not known.
func sampled(r rule) rule {
	j := r.judge(condition{text: "a"}, condition{text: "b"})
	r.unknown = judgement{j.performance, j.accuracy, j.why + ", as far as is known: what is not sent is the server's default"}
	return r
}

var prefixCaching = rule{
	judge: func(a, b condition) judgement {
		if a.text == b.text {
			if a.text == "mixed" {
				return judgement{Invalid, Info, "the servers of a run differ"}
			}
			return judgement{}
		}
		return judgement{Invalid, Info, "prompts that are in the cache cost next to nothing: TTFT and throughput are of another amount of work"}
	},
	unknown: judgement{Caution, "", "say it with --server-meta enable_prefix_caching=true|false when running"},
	silent:  judgement{Caution, "", "neither run tells; say it with --server-meta enable_prefix_caching=true|false when running"},
}

// cachedShare has one number: the share of prompt tokens that came from the cache.
var cachedShare = rule{judge: func(a, b condition) judgement {
	d := math.Abs(b.numbers[0] - a.numbers[0])
	switch {
	case d > cachedInvalid:
		return judgement{Invalid, "", fmt.Sprintf("%.1f points more or less of the prompts came from the prefix cache: another amount of work (a server that has seen the prompts before?)", 100*d)}
	case d > cachedCaution:
		return judgement{Caution, "", "another share of the prompts came from the prefix cache"}
	}
	return judgement{}
}}

var clientBound = rule{alone: func(c condition) judgement {
	switch c.text {
	case "yes":
		return judgement{Invalid, "", "the client was the bottleneck: its figures are of this machine, not of the service"}
	case "suspect":
		return judgement{Caution, "", "the client may have been the bottleneck"}
	}
	return judgement{}
}}

// failedShare has two numbers: failed requests and all.
var failedShare = rule{
	judge: func(a, b condition) judgement {
		d := math.Abs(b.numbers[0]/b.numbers[1] - a.numbers[0]/a.numbers[1])
		switch {
		case d > failedInvalid:
			return judgement{Invalid, Caution, fmt.Sprintf("the shares of failed requests are %.1f points apart: latencies are of different requests", 100*d)}
		case d > failedCaution:
			return judgement{Caution, Caution, "latencies are of the requests that succeeded"}
		}
		return judgement{}
	},
	alone: func(c condition) judgement {
		if c.numbers[1] > 0 && c.numbers[0] == c.numbers[1] {
			return judgement{Invalid, Invalid, "no request succeeded"}
		}
		return judgement{}
	},
	unknown: judgement{Caution, Info, "the failures of one are not known"},
}

func state(c condition) judgement {
	if c.text == "done" {
		return judgement{}
	}
	return judgement{Caution, Caution, "the run is not complete"}
}

// sessions: throughput over pauses says nothing.
func sessions(c condition) judgement {
	if c.text == "1" {
		return judgement{}
	}
	return judgement{Invalid, "", "asked in several sessions: duration and throughput span the pauses between them"}
}
