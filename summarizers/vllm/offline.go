package vllm

import (
	"fmt"
	"io"
	"math"
	"slices"

	"ais_bench/outputs"
	"ais_bench/summarizers/numpy"
)

// Throughput is the result of `vllm bench throughput`.
type Throughput struct {
	ModelID               string  // for the JSON
	Elapsed               float64 // s, from when the first request was due (vLLM's clock starts before it hands over any) to the last end
	Requests, Failed      int     // Requests completed
	Cancelled             int     // cut off by the user: neither
	PromptTokens          int64
	OutputTokens          int64
	RequestsPerSecond     float64
	TokensPerSecond       float64 // prompt and output
	OutputTokensPerSecond float64
	// PromptKnown and OutputKnown are how many requests have counts. Where none has,
	// sums and rates of them are unknown: printed as such, null in the JSON.
	PromptKnown, OutputKnown int
}

func (t *Throughput) promptKnown() bool { return t.PromptKnown > 0 || t.Requests == 0 }
func (t *Throughput) outputKnown() bool { return t.OutputKnown > 0 || t.Requests == 0 }
func (t *Throughput) totalKnown() bool  { return t.promptKnown() && t.outputKnown() }

// ComputeThroughput sums up records as `vllm bench throughput` does. Only
// requests that ended properly count: the offline engine has no other.
func ComputeThroughput(records Records) (*Throughput, error) {
	t := &Throughput{}
	var s span
	if err := outputs.EachMeasured(records, func(rec *outputs.Record) {
		s.add(rec)
		switch {
		case rec.Cancelled():
			t.Cancelled++
			return
		case !rec.OK():
			t.Failed++
			return
		}
		t.Requests++
		if rec.InputTokens != outputs.UnknownTokens {
			t.PromptKnown++
		}
		if rec.OutputTokens != outputs.UnknownTokens {
			t.OutputKnown++
		}
		t.PromptTokens += int64(max(rec.InputTokens, 0))
		t.OutputTokens += int64(max(rec.OutputTokens, 0))
	}); err != nil {
		return nil, fmt.Errorf("compute throughput: %w", err)
	}
	if t.Elapsed = s.seconds(); t.Elapsed > 0 {
		t.RequestsPerSecond = float64(t.Requests) / t.Elapsed
		t.TokensPerSecond = float64(t.PromptTokens+t.OutputTokens) / t.Elapsed
		t.OutputTokensPerSecond = float64(t.OutputTokens) / t.Elapsed
	}
	return t, nil
}

// JSON has vLLM's keys; extra, when not nil, goes under ExtraKey.
func (t *Throughput) JSON(extra any) ([]byte, error) {
	var j object
	j.set("model_id", t.ModelID)
	j.set("elapsed_time", float(t.Elapsed))
	j.set("num_requests", t.Requests)
	var total, rate any
	if t.totalKnown() {
		total, rate = t.PromptTokens+t.OutputTokens, float(t.TokensPerSecond)
	}
	j.set("total_num_tokens", total)
	j.set("requests_per_second", float(t.RequestsPerSecond))
	j.set("tokens_per_second", rate)
	if extra != nil {
		j.set(ExtraKey, extra)
	}
	return j.MarshalJSON()
}

// Print writes vLLM's three lines, with "unknown" where nobody counted.
func (t *Throughput) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "Throughput: %.2f requests/s, %s total tokens/s, %s output tokens/s\nTotal num prompt tokens:  %s\nTotal num output tokens:  %s\n",
		t.RequestsPerSecond, known(t.totalKnown(), "%.2f", t.TokensPerSecond), known(t.outputKnown(), "%.2f", t.OutputTokensPerSecond),
		known(t.promptKnown(), "%d", t.PromptTokens), known(t.outputKnown(), "%d", t.OutputTokens))
	return err
}

func known(is bool, format string, v any) string {
	if !is {
		return "unknown"
	}
	return fmt.Sprintf(format, v)
}

// latencyPercentiles are those of `vllm bench latency`.
var latencyPercentiles = []float64{10, 25, 50, 75, 90, 99}

// Latency is the result of `vllm bench latency`, in seconds.
type Latency struct {
	ModelID     string // for the JSON
	Avg, Std    float64
	Latencies   []float64 // of each iteration, in order
	Percentiles []float64 // 10, 25, 50, 75, 90, 99
	Failed      int       // iterations left out because a request failed
	Cancelled   int       // iterations left out because the user cut requests of theirs off, and none failed
}

// ComputeLatency takes the time of each batch, first send to last end.
// iteration tells which batch a record belongs to. A batch with a failed
// request, or one that was cut off, did less work and is left out.
func ComputeLatency(records Records, iteration func(*outputs.Record) int) (*Latency, error) {
	type batch struct {
		first, last    int64
		failed, cutOff bool
	}
	batches := map[int]*batch{}
	var order []int
	if err := outputs.EachMeasured(records, func(rec *outputs.Record) {
		i := iteration(rec)
		b := batches[i]
		if b == nil {
			b = &batch{first: math.MaxInt64, last: math.MinInt64}
			batches[i] = b
			order = append(order, i)
		}
		switch {
		case rec.Cancelled():
			b.cutOff = true
			return
		case !rec.OK() || rec.Sent == outputs.Never || rec.End == outputs.Never:
			b.failed = true
			return
		}
		b.first, b.last = min(b.first, rec.Sent), max(b.last, rec.End)
	}); err != nil {
		return nil, fmt.Errorf("compute latency: %w", err)
	}
	l := &Latency{}
	var s numpy.Sample
	slices.Sort(order)
	for _, i := range order {
		b := batches[i]
		switch {
		case b.failed:
			l.Failed++
			continue
		case b.cutOff:
			l.Cancelled++
			continue
		}
		l.Latencies = append(l.Latencies, seconds(b.last-b.first))
		s.Add(seconds(b.last - b.first))
	}
	if len(l.Latencies) == 0 {
		return nil, fmt.Errorf("compute latency: no batch was answered in full: requests failed in %d and were cut off in %d", l.Failed, l.Cancelled)
	}
	l.Avg, l.Std = s.Mean(), s.Std()
	for _, p := range latencyPercentiles {
		l.Percentiles = append(l.Percentiles, s.Percentile(p))
	}
	return l, nil
}

// JSON has vLLM's keys; extra, when not nil, goes under ExtraKey.
func (l *Latency) JSON(extra any) ([]byte, error) {
	var j, p object
	j.set("model_id", l.ModelID)
	j.set("avg_latency", float(l.Avg))
	j.set("std_latency", float(l.Std))
	j.set("latencies", floats(l.Latencies))
	for i, v := range l.Percentiles {
		p.set(percentileName(latencyPercentiles[i]), float(v))
	}
	j.set("percentiles", &p)
	if extra != nil {
		j.set(ExtraKey, extra)
	}
	return j.MarshalJSON()
}

// Print writes vLLM's lines.
func (l *Latency) Print(w io.Writer) error {
	text := fmt.Sprintf("Avg latency: %v seconds\n", l.Avg)
	for i, v := range l.Percentiles {
		text += fmt.Sprintf("%s%% percentile latency: %v seconds\n", percentileName(latencyPercentiles[i]), v)
	}
	_, err := io.WriteString(w, text)
	return err
}
