package metrics

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"ais_bench/outputs"
)

// vllmTally sums requests up for profile vllm.
type vllmTally struct {
	slos        []SLO
	first, last int64 // ns: first scheduled, last end
	minStart    float64
	good        int
	lists       map[string]*Dist // in ps
	chunks      []int            // by second from minStart
	busy        []int            // requests that touch the second
}

func ps(seconds float64) int64 { return int64(math.Round(seconds * 1e12)) }

func (t *vllmTally) add(v *VLLMResult, r *outputs.Record, detailed bool) {
	if r.Scheduled != outputs.Never {
		t.first = min(t.first, r.Scheduled)
	} else if r.Sent != outputs.Never {
		t.first = min(t.first, r.Sent)
	}
	t.last = max(t.last, r.LastToken, r.End)
	q := seenByVLLM(r)
	if q.ok {
		v.Completed++
		v.TotalInput += int64(q.in)
		v.TotalOutput += int64(q.out)
		t.success(q)
	} else {
		v.Failed++
		if len(v.Errors) < 10 {
			v.Errors = append(v.Errors, r.Error)
		}
	}
	if !detailed {
		q.itl, q.text, q.err = nil, "", ""
	}
	v.requests = append(v.requests, q)
}

func (t *vllmTally) success(q vllmRequest) {
	tpot := 0.0
	if q.out > 1 {
		tpot = (q.latency - q.ttft) / float64(q.out-1)
		t.lists["tpot"].Add(ps(tpot))
	}
	t.lists["ttft"].Add(ps(q.ttft))
	t.lists["e2el"].Add(ps(q.latency))
	t.lists["client_queue_time"].Add(ps(q.queued))
	t.lists["e2el_including_client_queue"].Add(ps(q.latency + q.queued))
	good := true
	for _, s := range t.slos {
		x := map[string]float64{"ttft": q.ttft, "tpot": tpot, "e2el": q.latency}[s.Metric]
		good = good && x <= s.MaxMS/1e3
	}
	if good {
		t.good++
	}
	at := q.start + q.ttft
	bump(&t.chunks, int(at-t.minStart))
	for _, gap := range q.itl {
		t.lists["itl"].Add(ps(gap))
		at += gap
		bump(&t.chunks, int(at-t.minStart))
	}
	for s := int(q.start - t.minStart); s <= int(q.start+q.latency-t.minStart); s++ {
		bump(&t.busy, s)
	}
}

func bump(counts *[]int, i int) {
	for len(*counts) <= i {
		*counts = append(*counts, 0)
	}
	(*counts)[i]++
}

func (t *vllmTally) finish(v *VLLMResult) {
	if t.last > t.first {
		v.Duration = float64(t.last-t.first) / 1e9
		v.RequestThroughput = float64(v.Completed) / v.Duration
		v.OutputThroughput = float64(v.TotalOutput) / v.Duration
		v.TotalTokenThroughput = float64(v.TotalInput+v.TotalOutput) / v.Duration
	}
	if len(t.slos) > 0 {
		g := 0.0
		if v.Duration > 0 {
			g = float64(t.good) / v.Duration
		}
		v.RequestGoodput = &g
	}
	if len(t.chunks) > 0 {
		v.MaxOutputTokensPerS = float64(slices.Max(t.chunks))
		v.MaxConcurrentRequests = slices.Max(t.busy)
	}
	for _, name := range v.Options.PercentileMetrics {
		s := VLLMStat{Name: name, Percentiles: make([]float64, len(v.Options.Percentiles))}
		if d := t.lists[name]; d.N() > 0 {
			mean, _ := d.Mean()
			std, _ := d.Std()
			s.Mean, s.Std, s.Median = mean*psPerMS, std*psPerMS, d.Percentiles([]float64{50})[0]*psPerMS
			for i, x := range d.Percentiles(v.Options.Percentiles) {
				s.Percentiles[i] = x * psPerMS
			}
		}
		v.Stats = append(v.Stats, s)
	}
	slices.SortStableFunc(v.requests, func(a, b vllmRequest) int {
		switch {
		case a.scheduled < b.scheduled:
			return -1
		case a.scheduled > b.scheduled:
			return 1
		}
		return 0
	})
}

// MarshalJSON writes vLLM's keys in vLLM's order.
func (v *VLLMResult) MarshalJSON() ([]byte, error) {
	o := v.Options
	var b bytes.Buffer
	b.WriteByte('{')
	var fail error
	put := func(key string, value any) {
		k, _ := json.Marshal(key)
		x, err := outputs.MarshalJSON(value)
		if err != nil && fail == nil {
			fail = err
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(k)
		b.WriteByte(':')
		b.Write(bytes.TrimSpace(x))
	}
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	put("date", o.Date)
	put("endpoint_type", o.Backend)
	put("backend", o.Backend)
	put("label", orNull(o.Label))
	put("model_id", o.ModelID)
	put("tokenizer_id", o.TokenizerID)
	put("num_prompts", o.NumPrompts)
	for _, kv := range o.Metadata {
		put(kv[0], kv[1])
	}
	if math.IsInf(o.RequestRate, 1) {
		put("request_rate", "inf") // as vLLM does; the only number that is a string
	} else {
		put("request_rate", o.RequestRate)
	}
	put("burstiness", o.Burstiness)
	if o.MaxConcurrency > 0 {
		put("max_concurrency", o.MaxConcurrency)
	} else {
		put("max_concurrency", nil)
	}
	if o.RampStrategy != "" {
		put("ramp_up_strategy", o.RampStrategy)
		put("ramp_up_start_rps", o.RampStart)
		put("ramp_up_end_rps", o.RampEnd)
	}
	put("duration", v.Duration)
	put("completed", v.Completed)
	put("failed", v.Failed)
	put("total_input_tokens", v.TotalInput)
	put("total_output_tokens", v.TotalOutput)
	put("request_throughput", v.RequestThroughput)
	put("request_goodput", v.RequestGoodput)
	put("output_throughput", v.OutputThroughput)
	put("total_token_throughput", v.TotalTokenThroughput)
	v.arrays(put)
	put("max_output_tokens_per_s", v.MaxOutputTokensPerS)
	put("max_concurrent_requests", v.MaxConcurrentRequests)
	put("rtfx", 0.0) // no audio
	for _, s := range v.Stats {
		put("mean_"+s.Name+"_ms", s.Mean)
		put("median_"+s.Name+"_ms", s.Median)
		put("std_"+s.Name+"_ms", s.Std)
		for i, p := range o.Percentiles {
			put("p"+strconv.FormatFloat(p, 'f', -1, 64)+"_"+s.Name+"_ms", s.Percentiles[i])
		}
	}
	b.WriteByte('}')
	return b.Bytes(), fail
}

// arrays writes the per-request lists; without --save-detailed only those that
// vLLM leaves in.
func (v *VLLMResult) arrays(put func(string, any)) {
	n := len(v.requests)
	in, out, texts, errs := make([]int, n), make([]int, n), make([]string, n), make([]string, n)
	ttfts, starts, latencies, queues := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	itls := make([][]float64, n)
	for i, q := range v.requests {
		in[i], out[i], texts[i], errs[i] = q.in, q.out, q.text, q.err
		ttfts[i], starts[i], latencies[i], queues[i], itls[i] = q.ttft, q.start, q.latency, q.queued, q.itl
		if itls[i] == nil {
			itls[i] = []float64{}
		}
	}
	if v.Options.Detailed {
		put("input_lens", in)
		put("output_lens", out)
		put("ttfts", ttfts)
		put("itls", itls)
		put("start_times", starts)
		put("generated_texts", texts)
		put("errors", errs)
	}
	put("latencies", latencies)
	put("queue_times", queues)
}
