package facts

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// measured is what the records of one model and data set of one run say: the
// strict metrics, and the single values that intervals are made from.
type measured struct {
	result *metrics.Result
	flat   map[string]any // result by dotted name

	columns map[string]*column  // values of single requests, by name of the distribution
	shares  map[string]*column  // 1 or 0 of single requests, by name of the share
	rates   map[string]*series  // what was counted by time, by name of the rate
	gaps    map[string]*sliced  // itl and itl_per_token
	choices map[string][]string // values of finish_reasons and token_sources; the columns hold indices

	first   int64 // when the first request was due, or sent
	turns   bool  // questions have several requests
	damaged int   // places of the journal that hold no records any more
	flights flights
}

// column is one value of every request that has it.
type column struct {
	at []int64 // when the request was sent
	v  []float64
}

func (c *column) add(at int64, v float64) {
	c.at = append(c.at, at)
	c.v = append(c.v, v)
}

// collector fills a measured. Only what want names is kept.
type collector struct {
	m      *measured
	acc    *metrics.Accumulator
	o      metrics.Options
	want   func(name string) bool
	failed map[string]int // failed first attempts: index in the success column
	bounds []int

	streams int // that had gaps so far
}

// measure reads the records once. want says for which names single values are
// needed (nil = all): "ttft", "success_rate", "output_throughput", "itl" …
func measure(records iter.Seq2[*outputs.Record, error], o metrics.Options, want func(string) bool) (*measured, error) {
	acc, err := metrics.New(o)
	if err != nil {
		return nil, err
	}
	if want == nil {
		want = func(string) bool { return true }
	}
	c := &collector{acc: acc, o: o, want: want, failed: map[string]int{}, bounds: o.LengthBounds,
		m: &measured{first: math.MaxInt64, columns: map[string]*column{}, shares: map[string]*column{}, rates: map[string]*series{}, gaps: map[string]*sliced{}, choices: map[string][]string{}}}
	if c.bounds == nil {
		c.bounds = metrics.DefaultLengthBounds
	}
	for r, err := range records {
		var damage *outputs.DamageError
		if errors.As(err, &damage) {
			c.m.damaged++
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the records: %w", err)
		}
		acc.Add(r)
		if metrics.Measured(r) {
			c.add(r)
			c.m.turns = c.m.turns || r.Turn > 0
		}
	}
	c.m.result = acc.Result()
	c.m.flat, err = flatten(c.m.result)
	return c.m, err
}

func (c *collector) value(name string, at int64, v float64) {
	if !c.want(name) {
		return
	}
	col := c.m.columns[name]
	if col == nil {
		col = &column{}
		c.m.columns[name] = col
	}
	col.add(at, v)
}

func (c *collector) share(name string, at int64, yes bool) {
	if !c.want(name) {
		return
	}
	col := c.m.shares[name]
	if col == nil {
		col = &column{}
		c.m.shares[name] = col
	}
	v := 0.0
	if yes {
		v = 1
	}
	col.add(at, v)
}

func (c *collector) count(name string, at int64, amount float64) {
	if !c.want(name) {
		return
	}
	s := c.m.rates[name]
	if s == nil {
		s = &series{}
		c.m.rates[name] = s
	}
	s.add(at, amount)
}

// add keeps what a record of the measured phase says; the definitions are those of
// metrics.Accumulator.
func (c *collector) add(r *outputs.Record) {
	at := r.Sent
	if at == outputs.Never {
		at = r.Scheduled
	}
	due := r.Scheduled
	if due == outputs.Never {
		due = r.Sent
	}
	if due != outputs.Never {
		c.m.first = min(c.m.first, due)
	}
	c.outcome(r, at)
	c.transport(r, at)
	if !r.OK() {
		c.tokensOf(r) // a failed stream has its tokens where its chunks tell
		return
	}
	c.m.flights.done(r)
	if r.End != outputs.Never {
		c.count("request_throughput", r.End, 1)
	}
	c.latencies(r, at)
	c.endings(r, at)
	c.tokensOf(r)
	c.gaps(r)
}

// outcome keeps whether the request succeeded. A retried one is one request, and
// a success if its last attempt was.
func (c *collector) outcome(r *outputs.Record, at int64) {
	if r.Cancelled() { // by the user: it neither succeeded nor failed, and is no part of the total
		return
	}
	good, judged := r.OK(), true
	for _, s := range c.o.SLOs {
		met, known := s.Judge(r)
		met = met && r.OK()
		judged = judged && (known || !r.OK())
		good = good && met
		c.again("slo_attainment."+s.Metric+".share", r, at, met)
	}
	c.again(successRate, r, at, r.OK())
	if len(c.o.SLOs) > 0 && judged {
		c.again("goodput_share", r, at, good)
		if good && r.End != outputs.Never {
			c.count("request_goodput", r.End, 1)
		}
	}
}

// again is share for something that a later attempt at the same request decides
// anew.
func (c *collector) again(name string, r *outputs.Record, at int64, yes bool) {
	if !c.want(name) {
		return
	}
	key := fmt.Sprintf("%s\x00%s\x00%d\x00%d\x00%s", name, r.SampleID, r.Repeat, r.Turn, r.SessionID)
	if i, ok := c.failed[key]; ok && r.Attempt > 0 {
		if yes {
			c.m.shares[name].v[i] = 1
		}
		return
	}
	c.share(name, at, yes)
	if !r.OK() {
		c.failed[key] = len(c.m.shares[name].v) - 1
	}
}

// transport keeps what failed requests have too.
func (c *collector) transport(r *outputs.Record, at int64) {
	if v, ok := r.ClientQueueTime(); ok {
		c.value("client_queue_time", at, float64(v)/1e6)
	}
	if r.Sent == outputs.Never {
		return
	}
	c.m.flights.add(r)
	c.share("reused_share", at, r.Reused)
	if !r.Reused && r.Connected != outputs.Never {
		c.value("connect_time", at, float64(r.Connected-r.Sent)/1e6)
	}
}

func (c *collector) latencies(r *outputs.Record, at int64) {
	bucket := c.bucket(r)
	put := func(name string, v float64) {
		c.value(name, at, v)
		if bucket != "" {
			c.value("by_input_length."+bucket+"."+name, at, v)
		}
	}
	if v, ok := r.E2EL(); ok {
		put("e2el", float64(v)/1e6)
		if r.OutputTokens != outputs.UnknownTokens && v > 0 {
			c.value("output_token_throughput", at, float64(r.OutputTokens)*1e9/float64(v))
		}
	}
	if v, ok := r.ScheduledE2EL(); ok {
		c.value("e2el_scheduled", at, float64(v)/1e6)
	}
	if v, ok := r.TTFT(); ok {
		put("ttft", float64(v)/1e6)
		if r.Scheduled != outputs.Never {
			c.value("ttft_scheduled", at, float64(r.FirstToken-r.Scheduled)/1e6)
		}
		if r.InputTokens != outputs.UnknownTokens && v > 0 {
			c.value("prefill_token_throughput", at, float64(r.InputTokens)*1e9/float64(v))
		}
	}
	if r.Reasoning != "" || r.ReasoningTokens > 0 {
		if v, ok := r.TTFAT(); ok {
			c.value("ttfat", at, float64(v)/1e6)
		}
	}
	if v, ok := r.TPOT(); ok {
		put("tpot", v/1e6)
	}
	if v, ok := r.MaxStall(); ok {
		c.value("max_stall", at, float64(v)/1e6)
	}
	if r.InputTokens != outputs.UnknownTokens {
		c.value("input_tokens", at, float64(r.InputTokens))
	}
	if r.OutputTokens != outputs.UnknownTokens {
		put("output_tokens", float64(r.OutputTokens))
	}
}

// bucket is the name of the record's range of input lengths.
func (c *collector) bucket(r *outputs.Record) string {
	if r.InputTokens == outputs.UnknownTokens {
		return ""
	}
	i := len(c.bounds)
	for j, bound := range c.bounds {
		if n := int(r.InputTokens); n < bound || j > 0 && n == bound {
			i = j
			break
		}
	}
	return metrics.BucketName(i, len(c.bounds)+1)
}

func (c *collector) endings(r *outputs.Record, at int64) {
	reason, source := r.FinishReason, r.TokenSource
	if reason == "" {
		reason = "none"
	}
	if source == "" {
		source = outputs.TokensUnknown
	}
	c.choice("finish_reasons", reason, at)
	c.choice("token_sources", string(source), at)
	if r.MaxTokens > 0 && r.OutputTokens != outputs.UnknownTokens {
		c.share("stopped_early_share", at, r.OutputTokens < r.MaxTokens && reason == "stop")
	}
}

// choice keeps which of several values a request had, as one column whose values
// are indices into names.
func (c *collector) choice(group, value string, at int64) {
	if !c.want(group) {
		return
	}
	col := c.m.columns[group]
	if col == nil {
		col = &column{}
		c.m.columns[group] = col
	}
	i := slices.Index(c.m.choices[group], value)
	if i < 0 {
		i = len(c.m.choices[group])
		c.m.choices[group] = append(c.m.choices[group], value)
	}
	col.add(at, float64(i))
}

// tokensOf counts tokens by their time.
func (c *collector) tokensOf(r *outputs.Record) {
	out, in, total := c.want("output_throughput"), c.want("input_throughput"), c.want("total_token_throughput")
	if !out && !in && !total {
		return
	}
	if r.OK() && r.InputTokens != outputs.UnknownTokens {
		at := r.FirstToken
		if at == outputs.Never {
			at = r.LastToken
		}
		if at != outputs.Never {
			c.count("input_throughput", at, float64(r.InputTokens))
			c.count("total_token_throughput", at, float64(r.InputTokens))
		}
	}
	if !r.OK() || r.OutputTokens <= 0 || !out && !total {
		return // the throughputs are of successful requests
	}
	put := func(at int64, k float64) {
		c.count("output_throughput", at, k)
		c.count("total_token_throughput", at, k)
	}
	n := len(r.ChunkAt)
	if n == 0 || r.Sent == outputs.Never {
		if r.LastToken != outputs.Never {
			put(r.LastToken, float64(r.OutputTokens))
		}
		return
	}
	for i, at := range r.ChunkAt {
		k := float64(r.OutputTokens) / float64(n)
		if len(r.ChunkTokens) == n {
			k = float64(r.ChunkTokens[i])
		}
		put(r.Sent+at, k)
	}
}

// gaps keeps the gaps between the chunks of a stream.
func (c *collector) gaps(r *outputs.Record) {
	perChunk, perToken := c.want("itl"), c.want("itl_per_token")
	n := int64(len(r.ChunkAt))
	if n < 2 || r.Sent == outputs.Never || !perChunk && !perToken {
		return
	}
	put := func(name string, gap, times int64) {
		s := c.m.gaps[name]
		if s == nil {
			s = &sliced{}
			c.m.gaps[name] = s
		}
		s.add(r.Sent, c.streams, gap, times)
	}
	c.streams++
	known, even := int64(len(r.ChunkTokens)) == n, int64(r.OutputTokens) == n
	for i := int64(1); i < n; i++ {
		gap := r.ChunkAt[i] - r.ChunkAt[i-1]
		if perChunk {
			put("itl", gap, 1)
		}
		if !perToken {
			continue
		}
		switch {
		case known && r.ChunkTokens[i] > 0:
			k := int64(r.ChunkTokens[i])
			put("itl_per_token", (gap+k/2)/k, k)
		case !known && even:
			put("itl_per_token", gap, 1)
		}
	}
}

// baseName is the name of the values that a name of a metric is made from:
// ttft.p99_ms → ttft, finish_reasons.length.share → finish_reasons.
func baseName(rest Path) string {
	switch {
	case len(rest) == 0:
		return ""
	case rest[0] == "by_input_length" && len(rest) >= 3:
		return strings.Join(rest[:3], ".")
	case rest[0] == "slo_attainment":
		return strings.Join(rest, ".")
	case rest[0] == "requests":
		return successRate
	case rest[0] == "stable_stage" && len(rest) == 2:
		return rest[1]
	}
	return rest[0]
}

// successRate is the name of the share of successful requests.
const successRate = "success_rate"
