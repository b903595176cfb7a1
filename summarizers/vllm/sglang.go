package vllm

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"ais_bench/outputs"
	"ais_bench/summarizers/numpy"
)

// SGLangOptions are what SGLang's bench_serving knows besides the requests.
type SGLangOptions struct {
	Date           time.Time
	Tag            string // "" = null
	Backend        string
	Dataset        string
	NumPrompts     int
	RequestRate    float64 // 0 or +Inf = all at once
	Trace          bool    // replayed time stamps: the rate is "trace"
	MaxConcurrency int     // 0 = no limit
	// Workload parameters; 0 writes null for the first, 0 for the others.
	ShareGPTOutputLen               int
	RandomInputLen, RandomOutputLen int
	RandomRangeRatio                float64
	ServerInfo                      any      // the server's own description; nil = null
	AcceptLength                    *float64 // the server's, with speculative decoding
	Detailed                        bool
	Started                         *int64                    // when dispatching began, on the records' clock; nil = not known
	Order                           func(*outputs.Record) int // place of a record's request; nil = by scheduled time
}

// SGLangResult is the result of SGLang's bench_serving on the same requests:
// TTFT at the first payload, latency to the end of the response.
type SGLangResult struct {
	Options                              SGLangOptions
	Duration                             float64
	Completed                            int
	Failed, Cancelled                    int // by the user; SGLang's keys have neither
	TotalInput, TotalOutput, TotalCached int64
	RequestThroughput, InputThroughput   float64
	OutputThroughput, TotalThroughput    float64
	Concurrency                          float64 // Σ latency / duration
	MaxOutputTokensPerS                  float64
	MaxConcurrentRequests                int
	CacheReported                        bool
	E2E, TTFT, TPOT, ITL                 numpy.Sample // s
	requests                             []Request
	cached                               []int
}

// completions tells SGLang's backends that ask the completions protocol.
func (o SGLangOptions) completions() bool {
	switch o.Backend {
	case "sglang-oai", "vllm", "lmdeploy", "openai":
		return true
	}
	return false
}

// completedSGLang reports whether SGLang's client would have called the request a
// success: HTTP 200, at least one line, and a body that its HTTP library could
// read to the end, with nothing but JSON in it. It asks for no text and no end of
// the stream. An error object without choices is overlooked but for completions,
// where looking for its text fails.
func completedSGLang(rec *outputs.Record, completions bool) bool {
	if rec.HTTPStatus != 200 || rec.Sent == outputs.Never || rec.End == outputs.Never || rec.Stream && rec.FirstEvent == outputs.Never {
		return false
	}
	switch rec.Ended() {
	case outputs.EndDone, outputs.EndBody:
		return true
	case outputs.EndErrorObject:
		return !completions
	}
	return false
}

// ComputeSGLang recomputes records with SGLang's definitions. records is read
// twice. SGLang's substitution of the requested output length for a missing
// usage is not reproduced: unknown tokens are 0.
func ComputeSGLang(records Records, o SGLangOptions) (*SGLangResult, error) {
	if o.RequestRate <= 0 || math.IsNaN(o.RequestRate) {
		o.RequestRate = math.Inf(1)
	}
	r := &SGLangResult{Options: o}
	var p peaks
	var s span
	completed := func(rec *outputs.Record) bool { return completedSGLang(rec, o.completions()) }
	if err := outputs.EachMeasured(records, func(rec *outputs.Record) {
		if completed(rec) {
			p.origin(seconds(rec.Sent))
		}
	}); err != nil {
		return nil, fmt.Errorf("compute sglang's result: %w", err)
	}
	if o.Started != nil {
		s.from(*o.Started)
	}
	if err := outputs.EachMeasured(records, func(rec *outputs.Record) {
		s.add(rec)
		q := begin(rec)
		cached := int(max(rec.CachedTokens, 0))
		if completed(rec) {
			q.OK, q.Err, q.Text, q.Output = true, "", rec.Text, int(max(rec.OutputTokens, 0))
			q.Latency = seconds(rec.End - rec.Sent)
			if rec.CachedTokens >= 0 {
				r.CacheReported = true
			}
			r.add(&q, rec, &p)
			r.TotalCached += int64(cached)
		} else if rec.Cancelled() {
			r.Cancelled++
		} else {
			r.Failed++
		}
		if !o.Detailed {
			q = Request{scheduled: q.scheduled}
		}
		if o.Order != nil {
			q.order = o.Order(rec)
		}
		r.requests, r.cached = append(r.requests, q), append(r.cached, cached)
	}); err != nil {
		return nil, fmt.Errorf("compute sglang's result: %w", err)
	}
	order := make([]int, len(r.requests))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.requests[a].order, r.requests[b].order), cmp.Compare(r.requests[a].scheduled, r.requests[b].scheduled))
	})
	requests, cached := make([]Request, len(order)), make([]int, len(order))
	for to, from := range order {
		requests[to], cached[to] = r.requests[from], r.cached[from]
	}
	r.requests, r.cached = requests, cached
	if r.Options.NumPrompts == 0 {
		r.Options.NumPrompts = len(requests)
	}
	if r.Duration = s.seconds(); r.Duration > 0 {
		r.RequestThroughput = float64(r.Completed) / r.Duration
		r.InputThroughput = float64(r.TotalInput) / r.Duration
		r.OutputThroughput = float64(r.TotalOutput) / r.Duration
		r.TotalThroughput = float64(r.TotalInput+r.TotalOutput) / r.Duration
		r.Concurrency = r.E2E.Mean() * float64(r.E2E.N()) / r.Duration
	}
	r.MaxOutputTokensPerS, r.MaxConcurrentRequests = float64(p.best()), p.concurrentBySecond()
	return r, nil
}

func (r *SGLangResult) add(q *Request, rec *outputs.Record, p *peaks) {
	r.Completed++
	r.TotalInput += int64(q.Input)
	r.TotalOutput += int64(q.Output)
	r.E2E.Add(q.Latency)
	p.add(q.Start, q.Latency)
	if !rec.Stream || rec.FirstToken == outputs.Never {
		return
	}
	q.TTFT = seconds(rec.FirstToken - rec.Sent)
	r.TTFT.Add(q.TTFT)
	if q.Output > 1 {
		r.TPOT.Add((q.Latency - q.TTFT) / float64(q.Output-1))
	}
	for i, c := range rec.ChunkAt {
		p.chunk(q.Start + seconds(c))
		if i == 0 {
			continue
		}
		gap := seconds(c - rec.ChunkAt[i-1])
		// A chunk of several tokens is divided evenly where the tokens are known.
		n := 1
		if i < len(rec.ChunkTokens) && rec.ChunkTokens[i] > 1 {
			n = int(rec.ChunkTokens[i])
		}
		for range n {
			q.ITL = append(q.ITL, gap/float64(n))
			r.ITL.Add(gap / float64(n))
		}
	}
}

// JSON is one line of SGLang's JSONL. The rate inf is the string "inf": SGLang
// writes Infinity, which is no JSON. Counts of re-tokenized text are null.
func (r *SGLangResult) JSON(extra any) ([]byte, error) {
	o := r.Options
	var j object
	j.set("tag", orNull(o.Tag))
	j.set("backend", o.Backend)
	j.set("dataset_name", o.Dataset)
	switch {
	case o.Trace:
		j.set("request_rate", "trace")
	case math.IsInf(o.RequestRate, 1):
		j.set("request_rate", "inf")
	default:
		j.set("request_rate", float(o.RequestRate))
	}
	j.set("max_concurrency", positive(o.MaxConcurrency))
	j.set("sharegpt_output_len", positive(o.ShareGPTOutputLen))
	j.set("random_input_len", o.RandomInputLen)
	j.set("random_output_len", o.RandomOutputLen)
	j.set("random_range_ratio", float(o.RandomRangeRatio))
	j.set("server_info", o.ServerInfo)
	j.set("duration", float(r.Duration))
	j.set("completed", r.Completed)
	j.set("total_input_tokens", r.TotalInput)
	j.set("total_input_text_tokens", r.TotalInput)
	j.set("total_input_vision_tokens", 0)
	j.set("total_output_tokens", r.TotalOutput)
	j.set("total_output_tokens_retokenized", nil)
	j.set("request_throughput", float(r.RequestThroughput))
	j.set("input_throughput", float(r.InputThroughput))
	j.set("output_throughput", float(r.OutputThroughput))
	j.set("total_throughput", float(r.TotalThroughput))
	for _, m := range r.metrics() {
		j.set("mean_"+m.key+"_ms", float(m.s.Mean()*1e3))
		j.set("median_"+m.key+"_ms", float(m.s.Median()*1e3))
		j.set("std_"+m.key+"_ms", float(m.s.Std()*1e3))
		for _, p := range []float64{90, 95, 99} {
			j.set("p"+percentileName(p)+"_"+m.key+"_ms", float(m.s.Percentile(p)*1e3))
		}
	}
	j.set("concurrency", float(r.Concurrency))
	j.set("accept_length", nil)
	if o.AcceptLength != nil {
		j.set("accept_length", float(*o.AcceptLength))
	}
	j.set("max_output_tokens_per_s", float(r.MaxOutputTokensPerS))
	j.set("max_concurrent_requests", r.MaxConcurrentRequests)
	if r.CacheReported {
		var c object
		c.set("total_prompt_tokens", r.TotalInput)
		c.set("total_cached_tokens", r.TotalCached)
		c.set("cache_hit_rate_pct", float(100*ratio(r.TotalCached, r.TotalInput)))
		j.set("cache_report", &c)
	}
	if o.Detailed {
		r.arrays(&j)
	}
	if extra != nil {
		j.set(ExtraKey, extra)
	}
	return j.MarshalJSON()
}

func (r *SGLangResult) arrays(j *object) {
	n := len(r.requests)
	in, out, texts, errs := make([]int, n), make([]int, n), make([]string, n), make([]string, n)
	ttfts, itls := make([]float, n), make([][]float, n)
	for i, q := range r.requests {
		in[i], out[i], texts[i], errs[i] = q.Input, q.Output, q.Text, q.Err
		ttfts[i], itls[i] = float(q.TTFT), floats(q.ITL)
	}
	j.set("input_lens", in)
	j.set("output_lens", out)
	j.set("ttfts", ttfts)
	j.set("itls", itls)
	j.set("generated_texts", texts)
	j.set("errors", errs)
	j.set("cached_tokens", r.cached)
}

func positive(n int) any {
	if n <= 0 {
		return nil
	}
	return n
}

type sglangMetric struct {
	key, heading, short string
	s                   *numpy.Sample
}

func (r *SGLangResult) metrics() []sglangMetric {
	return []sglangMetric{
		{"e2e_latency", "End-to-End Latency", "E2E Latency", &r.E2E},
		{"ttft", "Time to First Token", "TTFT", &r.TTFT},
		{"tpot", "Time per Output Token (excl. 1st token)", "TPOT", &r.TPOT},
		{"itl", "Inter-Token Latency", "ITL", &r.ITL},
	}
}

// FileName is SGLang's; appended to by every run of the day.
func (r *SGLangResult) FileName() string {
	o := r.Options
	what := strings.NewReplacer("/", "-", "\\", "-").Replace(o.Dataset)
	if strings.HasPrefix(o.Dataset, "random") {
		what = fmt.Sprintf("%d_%d", o.RandomInputLen, o.RandomOutputLen)
	}
	return fmt.Sprintf("%s_%s_%d_%s.jsonl", o.Backend, o.Date.Format("0102"), o.NumPrompts, what)
}

// WriteFile appends the result to a JSONL file.
func (r *SGLangResult) WriteFile(name string, extra any) error {
	doc, err := r.JSON(extra)
	if err != nil {
		return fmt.Errorf("write sglang's result as JSON: %w", err)
	}
	return saveLine(name, true, doc)
}

// Console prints SGLang's table.
func (r *SGLangResult) Console(w io.Writer) error {
	c := console{bufio.NewWriter(w)}
	o := r.Options
	c.heading(" Serving Benchmark Result ", "=")
	c.text("Backend:", o.Backend)
	rate := pythonFloat(o.RequestRate)
	if o.Trace {
		rate = "trace"
	}
	c.text("Traffic request rate:", rate)
	if o.MaxConcurrency > 0 {
		c.count("Max request concurrency:", int64(o.MaxConcurrency))
	} else {
		c.text("Max request concurrency:", "not set")
	}
	c.count("Successful requests:", int64(r.Completed))
	c.number("Benchmark duration (s):", r.Duration)
	c.count("Total input tokens:", r.TotalInput)
	c.count("Total input text tokens:", r.TotalInput)
	c.count("Total generated tokens:", r.TotalOutput)
	c.number("Request throughput (req/s):", r.RequestThroughput)
	c.number("Input token throughput (tok/s):", r.InputThroughput)
	c.number("Output token throughput (tok/s):", r.OutputThroughput)
	c.number("Peak output token throughput (tok/s):", r.MaxOutputTokensPerS)
	c.count("Peak concurrent requests:", int64(r.MaxConcurrentRequests))
	c.number("Total token throughput (tok/s):", r.TotalThroughput)
	c.number("Concurrency:", r.Concurrency)
	if o.AcceptLength != nil {
		c.number("Accept length:", *o.AcceptLength)
	}
	for i, m := range r.metrics() {
		c.heading(m.heading, "-")
		c.number("Mean "+m.short+" (ms):", m.s.Mean()*1e3)
		c.number("Median "+m.short+" (ms):", m.s.Median()*1e3)
		ps := []float64{99}
		switch i {
		case 0:
			ps = []float64{90, 95, 99}
		case 3:
			ps = []float64{95, 99}
		}
		for _, p := range ps {
			c.number("P"+percentileName(p)+" "+m.short+" (ms):", m.s.Percentile(p)*1e3)
		}
		if m.key == "itl" {
			c.number("Max ITL (ms):", m.s.Max()*1e3)
		}
	}
	if r.CacheReported {
		c.heading("Cache Hit Details", "-")
		c.count("Total prompt tokens:", r.TotalInput)
		c.count("Total cached tokens:", r.TotalCached)
		c.number("Cache hit rate (%):", 100*ratio(r.TotalCached, r.TotalInput))
	}
	fmt.Fprintln(c.w, strings.Repeat("=", tableWidth))
	return c.w.Flush()
}
