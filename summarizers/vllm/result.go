package vllm

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"ais_bench/outputs"
)

// MetricNames are the names --percentile-metrics takes, in vLLM's order.
var MetricNames = []string{"ttft", "tpot", "itl", "e2el", "client_queue_time", "e2el_including_client_queue"}

// Pair is a key with its value.
type Pair struct{ Key, Value string }

// SLO is one limit of --goodput: ttft, tpot or e2el.
type SLO struct {
	Metric string
	MaxMS  float64
}

// Ramp is --ramp-up-strategy with its rates in requests per second.
type Ramp struct {
	Strategy         string  // linear or exponential
	StartRPS, EndRPS float64 // vLLM takes whole numbers only and writes them so
	Changes          []RateChange
}

// RateChange is one entry of rps_change_events.
type RateChange struct {
	RPS int
	At  time.Time
}

// Probe sums up the probe requests of --probe-request-rate.
type Probe struct {
	Completed, Failed            int
	MedianE2EL, P99E2EL, MaxE2EL *float64 // ms; nil when none completed
}

// SpecDecode is by how much the server's speculative decoding counters moved.
type SpecDecode struct {
	Drafts, DraftTokens, AcceptedTokens int64
	AcceptedPerPosition                 []int64
}

// Options are what vLLM's client knows besides the requests.
type Options struct {
	Date        time.Time
	Backend     string
	Label       string // "" = null
	ModelID     string
	TokenizerID string // "" = ModelID
	NumPrompts  int    // 0 = the number of measured records
	Metadata    []Pair

	RequestRate    float64 // requests/s; 0 or +Inf = all at once
	Burstiness     float64 // 0 = 1
	MaxConcurrency int     // 0 = no limit
	Ramp           *Ramp

	// Started is when dispatching began, on the records' clock: vLLM's duration has
	// the wait for the first arrival in it. nil = not known.
	Started *int64
	// Order is the place of a record's request among all that were to be sent; the
	// lists of single requests are in this order. nil = by scheduled time.
	Order func(*outputs.Record) int

	Metrics     []string  // of MetricNames; nil = ttft, tpot, itl (Pooling: e2el)
	Percentiles []float64 // 0 to 100; nil = 99
	Goodput     []SLO
	Detailed    bool // keep the per-request arrays
	// Pooling is the result form of embeddings and rerank: E2EL only.
	Pooling bool
	// SequencesPerRequest is the batch of a pooling request; 0 = 1. TotalSequences,
	// when it is known, wins: the last batch may be smaller.
	SequencesPerRequest int
	TotalSequences      int64
	Probe               *Probe // nil = no probe
	SpecDecode          *SpecDecode
}

// Stat is one metric over the completed requests, in milliseconds. Without a
// value every figure is 0, as vLLM writes it.
type Stat struct {
	Name              string // of MetricNames
	N                 int64
	Mean, Median, Std float64
	Percentiles       []float64 // in the order of Options.Percentiles
}

// Request is a request as vLLM's client would have seen it. Times in seconds;
// a failed request has zeros.
type Request struct {
	OK                    bool
	Start                 float64 // from the run's zero
	TTFT, Latency, Queued float64
	ITL                   []float64 // only with Options.Detailed
	Input, Output         int
	Text, Err             string // only with Options.Detailed
	order                 int
	scheduled             int64
	streamed              bool
}

// Result is the result of `vllm bench serve` on the same requests.
type Result struct {
	Options               Options
	Duration              float64 // s
	Completed, Failed     int
	Cancelled             int // cut off by the user, so neither; vLLM writes nothing when it is interrupted
	TotalInput            int64
	TotalOutput           int64
	TotalSequences        int64 // pooling
	RequestThroughput     float64
	SequenceThroughput    float64 // pooling: sequences/s
	OutputThroughput      float64
	TotalTokenThroughput  float64
	RequestGoodput        *float64 // nil without limits
	MaxOutputTokensPerS   float64  // chunks in the best second
	MaxConcurrentRequests int      // requests that touch the busiest whole second, as vLLM counts
	PeakInFlight          int      // really in flight at one moment; not in vLLM's JSON
	Stats                 []Stat   // every metric of MetricNames, in that order
	Requests              []Request
	Errors                []string // of failed requests, at most ten, for the console
	MadeUpOutput          int      // answers whose unknown token count became 1
}

// Stat returns the statistics of a metric; nil when there is none of the name.
func (r *Result) Stat(metric string) *Stat {
	for i := range r.Stats {
		if r.Stats[i].Name == metric {
			return &r.Stats[i]
		}
	}
	return nil
}

// chosen are the metrics to show, in vLLM's order.
func (r *Result) chosen() []Stat {
	var out []Stat
	for _, s := range r.Stats {
		if slices.Contains(r.Options.Metrics, s.Name) && r.Options.measures(s.Name) {
			out = append(out, s)
		}
	}
	return out
}

// measures tells which metrics vLLM has under this load: a queue in the client
// exists below a cap, and belongs to a request's time only where requests arrive.
func (o Options) measures(metric string) bool {
	switch metric {
	case "client_queue_time":
		return o.MaxConcurrency > 0
	case "e2el_including_client_queue":
		return o.MaxConcurrency > 0 && !math.IsInf(o.RequestRate, 1)
	}
	return true
}

// completions tells that the backend is not a chat: its first chunk counts as the
// first token even without text.
func (o Options) completions() bool { return o.Backend != "" && !strings.Contains(o.Backend, "chat") }

func (o Options) withDefaults() (Options, error) {
	if len(o.Metrics) == 0 {
		o.Metrics = []string{"ttft", "tpot", "itl"}
		if o.Pooling {
			o.Metrics = []string{"e2el"}
		}
	}
	for _, m := range o.Metrics {
		if !slices.Contains(MetricNames, m) {
			return o, fmt.Errorf("percentile metrics: %q is unknown; use some of %s", m, strings.Join(MetricNames, ", "))
		}
	}
	if len(o.Percentiles) == 0 {
		o.Percentiles = []float64{99}
	}
	for _, p := range o.Percentiles {
		if !(p >= 0 && p <= 100) {
			return o, fmt.Errorf("metric percentiles: %v is not between 0 and 100", p)
		}
	}
	for _, g := range o.Goodput {
		if g.Metric != "ttft" && g.Metric != "tpot" && g.Metric != "e2el" {
			return o, fmt.Errorf("goodput: %q is unknown; use ttft, tpot or e2el", g.Metric)
		}
		if !(g.MaxMS >= 0) {
			return o, fmt.Errorf("goodput: %s:%v is not a limit in ms; it must be 0 or more", g.Metric, g.MaxMS)
		}
	}
	if o.RequestRate <= 0 || math.IsNaN(o.RequestRate) {
		o.RequestRate = math.Inf(1)
	}
	if o.Burstiness == 0 {
		o.Burstiness = 1
	}
	if o.TokenizerID == "" {
		o.TokenizerID = o.ModelID
	}
	o.SequencesPerRequest = max(o.SequencesPerRequest, 1)
	return o, nil
}

// percentileName is how vLLM writes a percentile: 99, 99.9.
func percentileName(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }
