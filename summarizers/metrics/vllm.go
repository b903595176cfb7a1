package metrics

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"ais_bench/outputs"
)

// VLLMOptions are what vLLM's benchmark knows besides the requests. Strings
// and numbers end up in the result under its own keys.
type VLLMOptions struct {
	Date        string // YYYYmmdd-HHMMSS
	Backend     string // endpoint type, vLLM's --backend
	Label       string // "" = null
	ModelID     string
	TokenizerID string
	NumPrompts  int // 0 = the number of records
	Metadata    [][2]string

	RequestRate    float64 // +Inf or 0 = all at once
	Burstiness     float64 // 0 = 1
	MaxConcurrency int     // 0 = null
	RampStrategy   string  // "" = no ramp
	RampStart      float64
	RampEnd        float64

	PercentileMetrics []string  // of VLLMMetrics; nil = ttft, tpot, itl
	Percentiles       []float64 // nil = 99
	SLOs              []SLO
	Detailed          bool // keep the arrays of single requests
}

// VLLMMetrics are the names --percentile-metrics takes.
var VLLMMetrics = []string{"ttft", "tpot", "itl", "e2el", "client_queue_time", "e2el_including_client_queue"}

// VLLMStat is one metric as vLLM summarizes it, in ms. An empty list gives 0,
// as there.
type VLLMStat struct {
	Name              string
	Mean, Median, Std float64
	Percentiles       []float64 // in the order of VLLMOptions.Percentiles
}

// VLLMResult is the result of `vllm bench serve` on the same requests. Its
// JSON has exactly that tool's keys and types.
type VLLMResult struct {
	Options               VLLMOptions
	Duration              float64 // s
	Completed, Failed     int
	TotalInput            int64
	TotalOutput           int64
	RequestThroughput     float64
	OutputThroughput      float64
	TotalTokenThroughput  float64
	RequestGoodput        *float64 // null without SLOs
	MaxOutputTokensPerS   float64  // chunks in the best second
	MaxConcurrentRequests int
	Stats                 []VLLMStat
	Errors                []string // of failed requests, at most ten, for the console

	requests []vllmRequest // in the order they were scheduled
}

// vllmRequest is a record as vLLM's client would have seen it.
type vllmRequest struct {
	ok                           bool
	scheduled                    int64
	start, ttft, latency, queued float64 // s
	itl                          []float64
	in, out                      int
	text, err                    string
}

// seenByVLLM translates a record. vLLM's clock starts when the request is
// handed to its client (Sent); its first token is the first event of any kind;
// every later event is one ITL whatever it holds; any answer with an event
// under HTTP 200 is a success, be it cut or broken off by an error object.
// Events without a payload after the first one (finish_reason, usage) have no
// time in the records and are missing here.
func seenByVLLM(r *outputs.Record) vllmRequest {
	q := vllmRequest{text: r.Text, err: r.Error, in: int(max(r.InputTokens, 0)), start: float64(r.Sent) / 1e9, scheduled: max(r.Scheduled, 0)}
	if r.Sent == outputs.Never {
		q.start = 0
	} else if r.Scheduled != outputs.Never {
		q.queued = float64(max(r.Sent-r.Scheduled, 0)) / 1e9
	}
	switch r.Status {
	case outputs.StatusOK, outputs.StatusTruncated, outputs.StatusStreamError, outputs.StatusEmpty:
	default:
		return q
	}
	if r.HTTPStatus != 200 || r.Sent == outputs.Never {
		return q
	}
	first, last := r.FirstEvent, r.LastToken
	if !r.Stream || first == outputs.Never {
		first = last
	}
	if first == outputs.Never {
		return q
	}
	if last == outputs.Never {
		last = first // only events without a payload
	}
	q.ok, q.err = true, ""
	q.ttft, q.latency = float64(first-r.Sent)/1e9, float64(last-r.Sent)/1e9
	if r.Stream {
		at := first
		for i, c := range r.ChunkAt {
			if c += r.Sent; i > 0 || c > first {
				q.itl = append(q.itl, float64(c-at)/1e9)
				at = c
			}
		}
	}
	if r.OutputTokens > 0 {
		q.out = int(r.OutputTokens)
	} else {
		q.out = 1 // vLLM's count without usage and tokenizer
	}
	return q
}

// VLLM recomputes records with the definitions of `vllm bench serve`:
// successful requests only, one ITL a chunk, an empty list is 0, peaks by whole
// seconds and chunks. records is read twice and must start over each time.
func VLLM(records iter.Seq2[*outputs.Record, error], o VLLMOptions) (*VLLMResult, error) {
	if len(o.PercentileMetrics) == 0 {
		o.PercentileMetrics = []string{"ttft", "tpot", "itl"}
	}
	for _, m := range o.PercentileMetrics {
		if !slices.Contains(VLLMMetrics, m) {
			return nil, fmt.Errorf("percentile metric %q is unknown; one of %s", m, strings.Join(VLLMMetrics, ", "))
		}
	}
	if len(o.Percentiles) == 0 {
		o.Percentiles = []float64{99}
	}
	if o.Burstiness == 0 {
		o.Burstiness = 1
	}
	if o.RequestRate <= 0 {
		o.RequestRate = math.Inf(1)
	}
	v := &VLLMResult{}
	t := vllmTally{slos: o.SLOs, first: math.MaxInt64, last: math.MinInt64, minStart: math.Inf(1), lists: map[string]*Dist{}}
	for _, m := range VLLMMetrics {
		t.lists[m] = NewDist(usOfPS)
	}
	// The seconds of peak rate and peak concurrency begin at the earliest start,
	// which must be known before the first chunk is counted.
	err := eachMeasured(records, func(r *outputs.Record) {
		if q := seenByVLLM(r); q.ok {
			t.minStart = min(t.minStart, q.start)
		}
	})
	if err == nil {
		err = eachMeasured(records, func(r *outputs.Record) { t.add(v, r, o.Detailed) })
	}
	if err != nil {
		return nil, fmt.Errorf("compute profile vllm: %w", err)
	}
	if o.NumPrompts == 0 {
		o.NumPrompts = v.Completed + v.Failed
	}
	v.Options = o
	t.finish(v)
	return v, nil
}

// eachMeasured calls do for every measured record, journal damage skipped.
func eachMeasured(records iter.Seq2[*outputs.Record, error], do func(*outputs.Record)) error {
	for r, err := range records {
		var damage *outputs.DamageError
		if errors.As(err, &damage) {
			continue
		}
		if err != nil {
			return err
		}
		if measured(r) {
			do(r)
		}
	}
	return nil
}
