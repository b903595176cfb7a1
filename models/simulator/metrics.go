package simulator

import (
	"bytes"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// metrics are the engine's own figures, named and shaped as vLLM's or
// SGLang's /metrics names them.
type metrics struct {
	running, waiting           gauge
	prefixQueries, prefixHits  counter
	promptTokens, generated    counter
	cached                     counter
	ttft, itl, e2e             histogram
	queueTime, prefill, decode histogram
	tpot                       histogram
	promptLen, generationLen   histogram
	iterationTokens            histogram
	mu                         sync.Mutex
	byReason                   map[string]int64
	tokensAtLastPoll, lastPoll int64
	generationRate             float64
}

type counter struct{ atomic.Int64 }

func (c *counter) add(n int64) { c.Add(n) }

type gauge struct{ atomic.Int64 }

// histogram counts observations in fixed buckets, without a lock.
type histogram struct {
	bounds []float64
	counts []atomic.Int64 // one more than bounds
	sum    atomic.Uint64  // bits of a float64
	n      atomic.Int64
}

func newHistogram(bounds ...float64) histogram {
	return histogram{bounds: bounds, counts: make([]atomic.Int64, len(bounds)+1)}
}

func (h *histogram) observe(v float64) {
	h.counts[sort.SearchFloat64s(h.bounds, v)].Add(1)
	h.n.Add(1)
	for {
		old := h.sum.Load()
		if h.sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+v)) {
			return
		}
	}
}

func newMetrics() *metrics {
	requestSeconds := []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	lengths := []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000}
	tokenSeconds := []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	return &metrics{
		ttft: newHistogram(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560),
		itl:  newHistogram(tokenSeconds...), tpot: newHistogram(tokenSeconds...),
		e2e: newHistogram(requestSeconds...), queueTime: newHistogram(requestSeconds...),
		prefill: newHistogram(requestSeconds...), decode: newHistogram(requestSeconds...),
		promptLen: newHistogram(lengths...), generationLen: newHistogram(lengths...),
		iterationTokens: newHistogram(1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384),
		byReason:        map[string]int64{},
	}
}

// token books the token a sequence got at now; its last one books the request.
func (m *metrics) token(s *sequence, now int64) {
	if s.plan.total > 0 {
		m.generated.add(1)
	}
	if s.firstAt == 0 {
		s.firstAt = now
		m.first(s, now)
	} else {
		m.itl.observe(float64(now-s.lastAt) / 1e9)
	}
	s.lastAt = now
	if s.produced >= s.plan.total {
		m.end(s)
	}
}

// bulk books a sequence whose tokens were not followed one by one.
func (m *metrics) bulk(s *sequence, first, last int64) {
	m.generated.add(int64(s.plan.total))
	s.firstAt, s.lastAt = first, last
	m.first(s, first)
	m.end(s)
}

func (m *metrics) first(s *sequence, now int64) {
	m.ttft.observe(float64(now-s.arrival) / 1e9)
	m.prefill.observe(float64(now-s.admitted) / 1e9)
	m.promptTokens.add(int64(s.promptLen))
	m.cached.add(int64(s.cached.Load()))
}

func (m *metrics) end(s *sequence) {
	if s.ended.Swap(true) {
		return
	}
	m.e2e.observe(float64(s.lastAt-s.arrival) / 1e9)
	m.decode.observe(float64(s.lastAt-s.firstAt) / 1e9)
	m.promptLen.observe(float64(s.promptLen))
	m.generationLen.observe(float64(s.plan.total))
	if s.plan.total > 1 {
		m.tpot.observe(float64(s.lastAt-s.firstAt) / 1e9 / float64(s.plan.total-1))
	}
	reason := s.plan.finish
	if reason == "tool_calls" {
		reason = "stop"
	}
	m.success(reason)
}

// success counts a finished request by its reason: stop, length, abort or error.
func (m *metrics) success(reason string) {
	m.mu.Lock()
	m.byReason[reason]++
	m.mu.Unlock()
}

// exposition writes the Prometheus text format.
type exposition struct {
	bytes.Buffer
	labels string
}

func (e *exposition) family(name, kind, help string) {
	fmt.Fprintf(e, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (e *exposition) sample(name, extra string, v float64) {
	labels := e.labels
	if labels != "" && extra != "" {
		labels += ","
	}
	labels += extra
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(e, "%s%s %s\n", name, labels, strconv.FormatFloat(v, 'g', -1, 64))
}

func (e *exposition) gauge(name, help string, v float64) {
	e.family(name, "gauge", help)
	e.sample(name, "", v)
}

func (e *exposition) counter(name, help string, v int64) {
	e.family(name, "counter", help)
	e.sample(name, "", float64(v))
}

func (e *exposition) histogram(name, help string, h *histogram) {
	e.family(name, "histogram", help)
	total := int64(0)
	for i, b := range h.bounds {
		total += h.counts[i].Load()
		e.sample(name+"_bucket", `le="`+strconv.FormatFloat(b, 'g', -1, 64)+`"`, float64(total))
	}
	total += h.counts[len(h.bounds)].Load()
	e.sample(name+"_bucket", `le="+Inf"`, float64(total))
	e.sample(name+"_sum", "", math.Float64frombits(h.sum.Load()))
	e.sample(name+"_count", "", float64(total))
}

// exposeMetrics answers /metrics.
func (s *Server) exposeMetrics() reply {
	var e exposition
	model := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s.cfg.ServedModelNames[0])
	if s.cfg.Flavor == "sglang" {
		e.labels = `model_name="` + model + `"`
		s.exposeSGLang(&e)
	} else {
		e.labels = `engine="0",model_name="` + model + `"`
		s.exposeVLLM(&e)
	}
	// The Python client's own series: it tells a restart.
	e.labels = ""
	e.gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", float64(s.start.UnixMilli())/1e3)
	return reply{status: 200, ctype: "text/plain; version=0.0.4; charset=utf-8", body: e.Bytes()}
}

func (s *Server) kvUse() float64 {
	if s.engine == nil {
		return 0
	}
	return s.engine.kvUse()
}

func (s *Server) preemptions() int64 {
	if s.engine == nil {
		return 0
	}
	return s.engine.preemptions.Load()
}

func (s *Server) exposeVLLM(e *exposition) {
	m := s.metrics
	e.gauge("vllm:num_requests_running", "Number of requests in model execution batches.", float64(m.running.Load()))
	e.gauge("vllm:num_requests_waiting", "Number of requests waiting to be processed.", float64(m.waiting.Load()))
	e.gauge("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", s.kvUse())
	e.counter("vllm:prefix_cache_queries_total", "Prefix cache queries, in terms of number of queried tokens.", m.prefixQueries.Load())
	e.counter("vllm:prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens.", m.prefixHits.Load())
	e.counter("vllm:num_preemptions_total", "Cumulative number of preemption from the engine.", s.preemptions())
	e.counter("vllm:prompt_tokens_total", "Number of prefill tokens processed.", m.promptTokens.Load())
	e.counter("vllm:prompt_tokens_cached_total", "Number of prompt tokens found in the prefix cache.", m.cached.Load())
	e.family("vllm:prompt_tokens_by_source_total", "counter", "Number of prompt tokens by source.")
	e.sample("vllm:prompt_tokens_by_source_total", `source="local_compute"`, float64(m.promptTokens.Load()-m.cached.Load()))
	e.sample("vllm:prompt_tokens_by_source_total", `source="local_cache_hit"`, float64(m.cached.Load()))
	e.counter("vllm:generation_tokens_total", "Number of generation tokens processed.", m.generated.Load())
	e.family("vllm:request_success_total", "counter", "Count of successfully processed requests.")
	m.mu.Lock()
	for _, r := range []string{"stop", "length", "abort", "error"} {
		e.sample("vllm:request_success_total", `finished_reason="`+r+`"`, float64(m.byReason[r]))
	}
	m.mu.Unlock()
	e.histogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.", &m.ttft)
	e.histogram("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", &m.itl)
	e.histogram("vllm:request_time_per_output_token_seconds", "Histogram of time_per_output_token_seconds per request.", &m.tpot)
	e.histogram("vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", &m.e2e)
	e.histogram("vllm:request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", &m.queueTime)
	e.histogram("vllm:request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.", &m.prefill)
	e.histogram("vllm:request_decode_time_seconds", "Histogram of time spent in DECODE phase for request.", &m.decode)
	e.histogram("vllm:request_prompt_tokens", "Number of prefill tokens processed.", &m.promptLen)
	e.histogram("vllm:request_generation_tokens", "Number of generation tokens processed.", &m.generationLen)
	e.histogram("vllm:iteration_tokens_total", "Histogram of number of tokens per engine_step.", &m.iterationTokens)
	e.family("vllm:cache_config_info", "gauge", "Information of the LLMEngine CacheConfig")
	e.sample("vllm:cache_config_info", fmt.Sprintf(`block_size="%d",num_gpu_blocks="%d",enable_prefix_caching="%s",cache_dtype="auto",gpu_memory_utilization="0.9"`,
		s.cfg.BlockSize, s.cfg.NumGPUBlocks, pythonBool(!s.cfg.DisablePrefixCaching)), 1)
}

func (s *Server) exposeSGLang(e *exposition) {
	m := s.metrics
	use := s.kvUse()
	total := float64(s.cfg.NumGPUBlocks * s.cfg.BlockSize)
	hit := 0.0
	if q := m.prefixQueries.Load(); q > 0 {
		hit = float64(m.prefixHits.Load()) / float64(q)
	}
	e.gauge("sglang:num_running_reqs", "The number of running requests.", float64(m.running.Load()))
	e.gauge("sglang:num_queue_reqs", "The number of requests in the waiting queue.", float64(m.waiting.Load()))
	e.gauge("sglang:num_used_tokens", "The number of used tokens.", math.Round(use*total))
	e.gauge("sglang:token_usage", "The token usage.", use)
	e.gauge("sglang:max_total_num_tokens", "Maximum total number of tokens in the KV cache pool.", total)
	e.gauge("sglang:gen_throughput", "The generation throughput (token/s).", s.generationRate())
	e.gauge("sglang:cache_hit_rate", "The prefix cache hit rate.", hit)
	e.gauge("sglang:num_retracted_reqs", "The number of retracted requests.", float64(s.preemptions()))
	e.counter("sglang:num_retracted_requests_total", "Total number of retracted requests.", s.preemptions())
	e.counter("sglang:prompt_tokens_total", "Number of prefill tokens processed.", m.promptTokens.Load())
	e.counter("sglang:generation_tokens_total", "Number of generation tokens processed.", m.generated.Load())
	e.family("sglang:cached_tokens_total", "counter", "Number of cached prompt tokens.")
	e.sample("sglang:cached_tokens_total", `cache_source="device"`, float64(m.cached.Load()))
	m.mu.Lock()
	finished, aborted := int64(0), m.byReason["abort"]
	for _, n := range m.byReason {
		finished += n
	}
	m.mu.Unlock()
	e.counter("sglang:num_requests_total", "Number of requests processed.", finished)
	e.counter("sglang:num_aborted_requests_total", "Number of requests aborted.", aborted)
	e.family("sglang:realtime_tokens_total", "counter", "Tokens by mode.")
	e.sample("sglang:realtime_tokens_total", `mode="prefill_compute"`, float64(m.promptTokens.Load()-m.cached.Load()))
	e.sample("sglang:realtime_tokens_total", `mode="prefill_cache"`, float64(m.cached.Load()))
	e.sample("sglang:realtime_tokens_total", `mode="decode"`, float64(m.generated.Load()))
	e.histogram("sglang:time_to_first_token_seconds", "Histogram of time to first token in seconds.", &m.ttft)
	e.histogram("sglang:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", &m.itl)
	e.histogram("sglang:e2e_request_latency_seconds", "Histogram of End-to-end request latency in seconds.", &m.e2e)
	e.histogram("sglang:queue_time_seconds", "Histogram of queueing time in seconds.", &m.queueTime)
	e.histogram("sglang:prompt_tokens_histogram", "Histogram of prompt token length.", &m.promptLen)
	e.histogram("sglang:generation_tokens_histogram", "Histogram of generation token length.", &m.generationLen)
	e.family("sglang:cache_config_info", "gauge", "Information of the cache config.")
	e.sample("sglang:cache_config_info", fmt.Sprintf(`page_size="%d",num_pages="%d"`, s.cfg.BlockSize, s.cfg.NumGPUBlocks), 1)
}

// generationRate is the token rate since the poll before, at least a tenth of a second back.
func (s *Server) generationRate() float64 {
	m := s.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	now, n := s.now(), m.generated.Load()
	if now-m.lastPoll > 1e8 {
		m.generationRate = float64(n-m.tokensAtLastPoll) / (float64(now-m.lastPoll) / 1e9)
		m.lastPoll, m.tokensAtLastPoll = now, n
	}
	return m.generationRate
}

func pythonBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
