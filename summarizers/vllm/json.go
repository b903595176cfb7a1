package vllm

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// ExtraKey is the one key of the JSON that vLLM does not have.
const ExtraKey = "ais_bench"

// JSON is the result with exactly vLLM's keys and types, in vLLM's order, on
// one line. extra, when not nil, is added under ExtraKey.
func (r *Result) JSON(extra any) ([]byte, error) {
	o := r.Options
	var j object
	j.set("date", o.Date.Format("20060102-150405"))
	j.set("endpoint_type", o.Backend)
	j.set("backend", o.Backend)
	j.set("label", orNull(o.Label))
	j.set("model_id", o.ModelID)
	j.set("tokenizer_id", o.TokenizerID)
	j.set("num_prompts", o.NumPrompts)
	for _, m := range o.Metadata {
		j.set(m.Key, m.Value)
	}
	if math.IsInf(o.RequestRate, 1) {
		j.set("request_rate", "inf")
	} else {
		j.set("request_rate", float(o.RequestRate))
	}
	j.set("burstiness", float(o.Burstiness))
	j.set("max_concurrency", nil)
	if o.MaxConcurrency > 0 {
		j.set("max_concurrency", o.MaxConcurrency)
	}
	if o.Ramp != nil {
		j.set("ramp_up_strategy", o.Ramp.Strategy)
		j.set("ramp_up_start_rps", wholeOrFloat(o.Ramp.StartRPS))
		j.set("ramp_up_end_rps", wholeOrFloat(o.Ramp.EndRPS))
	}
	j.set("duration", float(r.Duration))
	j.set("completed", r.Completed)
	if o.Pooling {
		r.pooling(&j)
	} else {
		r.generation(&j)
	}
	if p := o.Probe; p != nil {
		j.set("probe_completed", p.Completed)
		j.set("probe_failed", p.Failed)
		j.set("probe_median_e2el_ms", floatOrNull(p.MedianE2EL))
		j.set("probe_p99_e2el_ms", floatOrNull(p.P99E2EL))
		j.set("probe_max_e2el_ms", floatOrNull(p.MaxE2EL))
	}
	for _, s := range r.chosen() {
		j.set("mean_"+s.Name+"_ms", float(s.Mean))
		j.set("median_"+s.Name+"_ms", float(s.Median))
		j.set("std_"+s.Name+"_ms", float(s.Std))
		for i, p := range o.Percentiles {
			j.set("p"+percentileName(p)+"_"+s.Name+"_ms", float(s.Percentiles[i]))
		}
	}
	if extra != nil {
		j.set(ExtraKey, extra)
	}
	b, err := j.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("write vllm's result as JSON: %w", err)
	}
	return b, nil
}

func (r *Result) generation(j *object) {
	o := r.Options
	j.set("failed", r.Failed)
	j.set("total_input_tokens", r.TotalInput)
	j.set("total_output_tokens", r.TotalOutput)
	j.set("request_throughput", float(r.RequestThroughput))
	j.set("request_goodput", nil)
	if r.RequestGoodput != nil {
		j.set("request_goodput", float(*r.RequestGoodput))
	}
	j.set("output_throughput", float(r.OutputThroughput))
	j.set("total_token_throughput", float(r.TotalTokenThroughput))
	r.arrays(j)
	j.set("max_output_tokens_per_s", float(r.MaxOutputTokensPerS))
	j.set("max_concurrent_requests", r.MaxConcurrentRequests)
	j.set("rtfx", float(0)) // audio only
	if o.Ramp != nil {
		events := []any{}
		for _, c := range o.Ramp.Changes {
			var e object
			e.set("rps", c.RPS)
			e.set("timestamp", c.At.Format("2006-01-02T15:04:05.000000"))
			events = append(events, &e)
		}
		j.set("rps_change_events", events)
	}
	if s := o.SpecDecode; s != nil {
		j.set("spec_decode_acceptance_rate", float(s.AcceptanceRate()))
		j.set("spec_decode_acceptance_length", float(s.AcceptanceLength()))
		j.set("spec_decode_num_drafts", s.Drafts)
		j.set("spec_decode_draft_tokens", s.DraftTokens)
		j.set("spec_decode_accepted_tokens", s.AcceptedTokens)
		j.set("spec_decode_per_position_acceptance_rates", floats(s.PerPosition()))
	}
}

func (r *Result) pooling(j *object) {
	j.set("total_input_tokens", r.TotalInput)
	j.set("total_input_sequences", r.TotalSequences)
	j.set("request_throughput", float(r.RequestThroughput))
	j.set("input_sequence_throughput", float(r.SequenceThroughput))
	j.set("total_token_throughput", float(r.TotalTokenThroughput))
	r.arrays(j)
}

// arrays writes one entry a request, failed ones included, in the order they
// were scheduled. latencies and queue_times are there without details, too.
func (r *Result) arrays(j *object) {
	n := len(r.Requests)
	in, out, texts, errs := make([]int, n), make([]int, n), make([]string, n), make([]string, n)
	ttfts, starts, latencies, queues := make([]float, n), make([]float, n), make([]float, n), make([]float, n)
	itls := make([][]float, n)
	for i, q := range r.Requests {
		in[i], out[i], texts[i], errs[i] = q.Input, q.Output, q.Text, q.Err
		ttfts[i], starts[i], latencies[i], queues[i] = float(q.TTFT), float(q.Start), float(q.Latency), float(q.Queued)
		itls[i] = floats(q.ITL)
	}
	detailed := func(key string, value any) {
		if r.Options.Detailed {
			j.set(key, value)
		}
	}
	detailed("input_lens", in)
	if !r.Options.Pooling {
		detailed("output_lens", out)
		detailed("ttfts", ttfts)
		detailed("itls", itls)
	}
	j.set("latencies", latencies)
	if !r.Options.Pooling {
		detailed("start_times", starts)
	}
	j.set("queue_times", queues)
	if !r.Options.Pooling {
		detailed("generated_texts", texts)
	}
	detailed("errors", errs)
}

// AcceptanceRate is the share of draft tokens accepted, in percent.
func (s *SpecDecode) AcceptanceRate() float64 { return 100 * ratio(s.AcceptedTokens, s.DraftTokens) }

// AcceptanceLength is 1 + accepted tokens a draft.
func (s *SpecDecode) AcceptanceLength() float64 { return 1 + ratio(s.AcceptedTokens, s.Drafts) }

// PerPosition is the share of drafts accepted at each position.
func (s *SpecDecode) PerPosition() []float64 {
	out := make([]float64, len(s.AcceptedPerPosition))
	for i, n := range s.AcceptedPerPosition {
		out[i] = ratio(n, s.Drafts)
	}
	return out
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// FileName is the name vLLM gives the file when none is chosen. Separators in
// the label would make directories and are replaced.
func (r *Result) FileName() string {
	o := r.Options
	name := o.Label
	if name == "" {
		name = o.Backend
	}
	name = strings.NewReplacer("/", "-", "\\", "-").Replace(name)
	if o.Ramp != nil {
		name += fmt.Sprintf("-ramp-up-%s-%gqps-%gqps", o.Ramp.Strategy, o.Ramp.StartRPS, o.Ramp.EndRPS)
	} else {
		name += "-" + pythonFloat(o.RequestRate) + "qps"
	}
	if o.MaxConcurrency > 0 {
		name += "-concurrency" + strconv.Itoa(o.MaxConcurrency)
	}
	// What follows the last slash, "" after a trailing one, would name the model.
	model := strings.TrimRight(o.ModelID, "/")
	return name + "-" + path.Base("/"+model) + "-" + o.Date.Format("20060102-150405") + ".json"
}

// WriteFile saves the result; with add it becomes one more line of the file.
func (r *Result) WriteFile(name string, add bool, extra any) error {
	doc, err := r.JSON(extra)
	if err != nil {
		return err
	}
	return saveLine(name, add, doc)
}

// saveLine writes doc over the file, or appends it on a line of its own. There
// is no line end after it: vLLM itself puts one before what it appends.
func saveLine(name string, add bool, doc []byte) (err error) {
	flags := os.O_RDWR | os.O_CREATE
	if !add {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(name, flags, 0o644)
	if err != nil {
		return fmt.Errorf("save the result: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = fmt.Errorf("save the result to %s: %w", name, err)
		}
	}()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			doc = append([]byte{'\n'}, doc...)
		}
	}
	_, err = f.Write(doc)
	return err
}
