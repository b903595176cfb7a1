package server

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"ais_bench/outputs"
)

// State is what held the engine back during a stretch of time.
type State string

// The states, by what a scrape shows. A stretch lasts from one scrape to the next.
const (
	StateQueue   State = "queue"   // requests wait and every slot of the batch is taken
	StateKV      State = "kv"      // requests wait, slots are free, KV memory is not; or a request was thrown out of the batch
	StatePrefill State = "prefill" // requests wait although slots and KV memory are free: the step's token budget
	StateServing State = "serving" // requests run, none waits
	StateIdle    State = "idle"    // nothing runs
)

// States are all states in the order of reports.
var States = []State{StateQueue, StateKV, StatePrefill, StateServing, StateIdle}

// kvFull is the KV use from which on memory counts as exhausted: engines keep a few
// blocks back, and a prompt needs many at once.
const kvFull = 0.95

// mostCovered is the share of the measured phase that scrapes must cover for shares of
// time to speak for it.
const mostCovered = 0.8

// Limit is the most requests the engines run at once.
type Limit struct {
	Requests float64 `json:"requests"` // of all engines together
	Engines  int     `json:"engines"`
	Source   string  `json:"source"`   // where it is said, or how it was inferred
	Inferred bool    `json:"inferred"` // from the plateau of the running requests
}

// Reading is how the engine spent the measured time.
type Reading struct {
	WindowS float64 `json:"window_s"` // measured phase that scrapes cover
	// Covered is WindowS as a share of the measured phase. Where it is below 0.8, the
	// shares, what follows from them and the verdict are null: what happened unseen
	// could be the most of it.
	Covered float64            `json:"covered_share"`
	Polls   int                `json:"polls"`  // in it
	Shares  map[State]*float64 `json:"shares"` // of that time; null from fewer than ten scrapes
	Limit   *Limit             `json:"limit"`  // null = unknown
	// AtLimit is the share of time with every slot taken, waiting requests or not.
	AtLimit     *float64 `json:"at_limit_share"`
	RunningMean *float64 `json:"running_mean"`
	RunningMax  *float64 `json:"running_max"`
	WaitingMean *float64 `json:"waiting_mean"`
	WaitingMax  *float64 `json:"waiting_max"`
	KVMean      *float64 `json:"kv_usage_mean"`
	KVMax       *float64 `json:"kv_usage_max"`
	InFlight    *float64 `json:"client_in_flight_mean"`
	// InFlightIdle is the same over the time in which the engine ran nothing: requests
	// that were on their way to it or back.
	InFlightIdle *float64 `json:"client_in_flight_while_idle_mean"`
	Preemptions  *float64 `json:"preemptions"`
	// BudgetFull is the share of the engine's steps that used the whole token budget
	// (max_num_batched_tokens); the buckets of its histogram allow only these two bounds.
	Budget         *float64 `json:"token_budget"`
	BudgetFullLow  *float64 `json:"budget_full_share_low"`
	BudgetFullHigh *float64 `json:"budget_full_share_high"`
	// The parts of a request's time as the server measured them, means in ms.
	Queue   *float64 `json:"queue_mean_ms"`
	Prefill *float64 `json:"prefill_mean_ms"`
	Decode  *float64 `json:"decode_mean_ms"`
	// TTFT of requests by whether the engine was at its limit when they were sent, medians in ms.
	TTFTAtLimit  *float64  `json:"ttft_p50_at_limit_ms"`
	TTFTBelow    *float64  `json:"ttft_p50_below_limit_ms"`
	NAtLimit     int       `json:"requests_at_limit"`
	NBelow       int       `json:"requests_below_limit"`
	Findings     []Finding `json:"findings"` // the first one is the verdict
	PromptPerReq *float64  `json:"prompt_tokens_mean"`
}

// Finding is one bottleneck with the figures it rests on and what to try.
type Finding struct {
	Verdict string   `json:"verdict"` // queue-bound, KV-bound, prefill-bound, decode-bound, client-bound, not saturated
	Share   *float64 `json:"share"`   // of the measured time
	Figures string   `json:"figures"`
	Advice  string   `json:"advice"`
}

// The verdicts.
const (
	QueueBound   = "queue-bound"
	KVBound      = "KV-bound"
	PrefillBound = "prefill-bound"
	DecodeBound  = "decode-bound"
	ClientBound  = "client-bound"
	NotSaturated = "not saturated"
)

// stretch is the time from one scrape to the next, cut to the measured phase.
type stretch struct {
	moment
	from, to int64
	state    State
	atLimit  bool
}

func (s *stretch) seconds() float64 { return float64(s.to-s.from) / 1e9 }

// read judges the measured phase; nil when there was no polling, or too little of
// it to speak of shares of time.
func (v view) read(w *outputs.ServerWatch, c *Client, own health) *Reading {
	from, to, ok := c.measured.window()
	if !ok || w.IntervalMS == 0 {
		return nil
	}
	list := v.moments()
	gaps := v.gaps()
	stretches := telling(without(cut(list, from, to), gaps))
	if len(stretches) == 0 && len(gaps) == 0 {
		return nil
	}
	r := &Reading{Polls: len(stretches), Shares: map[State]*float64{}}
	for _, s := range stretches {
		r.WindowS += s.seconds()
	}
	if r.Covered = r.WindowS / (float64(to-from) / 1e9); len(gaps) == 0 {
		r.Covered = 1 // the phase begins and ends between scrapes
	} else if r.Covered < mostCovered || len(stretches) < 2 {
		for _, st := range States {
			r.Shares[st] = nil
		}
		return r
	}
	r.Limit = v.limit(w, stretches)
	r.PromptPerReq = c.measured.meanPrompt()
	free := kvTokens(w, list)
	classify(stretches, r.Limit, free, r.PromptPerReq)
	r.gauges(stretches)
	r.clientSide(stretches, &c.measured)
	r.serverTimes(v, from, to)
	r.budget(v, w, from, to)
	if r.Polls < leastPolls {
		r.withholdShares()
	}
	r.judge(own)
	return r
}

// leastPolls are the fewest scrapes of the measured phase that shares of time are
// given from: with fewer, what a single scrape happened to see would be more than
// the tenth of the time from which on a state is a finding.
const leastPolls = 10

// withholdShares takes back what a handful of scrapes cannot say. Maxima stay: they
// were seen. So do the means of requests, which the server's histograms hold in full.
func (r *Reading) withholdShares() {
	for st := range r.Shares {
		r.Shares[st] = nil
	}
	r.AtLimit, r.RunningMean, r.WaitingMean, r.KVMean, r.InFlightIdle = nil, nil, nil, nil, nil
	r.TTFTAtLimit, r.TTFTBelow, r.NAtLimit, r.NBelow = nil, nil, 0, 0
}

// cut makes stretches of the moments that lie in a window.
func cut(list []moment, from, to int64) []stretch {
	var out []stretch
	for i, m := range list {
		end := to
		if i+1 < len(list) {
			end = min(list[i+1].t, to)
		}
		begin := max(m.t, from)
		if begin >= end {
			continue
		}
		s := stretch{moment: m, from: begin, to: end}
		// What rose during a stretch is seen at the scrape that ends it.
		s.preemptions = nil
		if i+1 < len(list) {
			s.preemptions = list[i+1].preemptions
		}
		out = append(out, s)
	}
	return out
}

// limit is the most requests that run at once: as the server or the user says, else
// as the plateau shows.
func (v view) limit(w *outputs.ServerWatch, list []stretch) *Limit {
	engines := 1
	for _, s := range list {
		engines = max(engines, s.perEngine)
	}
	if n, ok := parameter(w, "max_num_seqs"); ok && n > 0 {
		return &Limit{Requests: n * float64(engines), Engines: engines, Source: "max_num_seqs, " + w.Parameters["max_num_seqs"].Source}
	}
	// Inferred: while requests waited and KV memory was left, the running ones were
	// most of the time as many as ever.
	most, waited, full := 0.0, 0.0, 0.0
	queued := func(s *stretch) bool {
		return s.running != nil && s.waiting != nil && *s.waiting > 0 && (s.kv == nil || *s.kv < kvFull)
	}
	n := 0
	for i := range list {
		if queued(&list[i]) {
			most = math.Max(most, *list[i].running)
			n++
		}
	}
	for i := range list {
		if s := &list[i]; queued(s) {
			waited += s.seconds()
			if *s.running >= 0.95*most {
				full += s.seconds()
			}
		}
	}
	if n < 3 || most < 2 || full < 0.5*waited {
		return nil
	}
	return &Limit{Requests: most, Engines: engines, Inferred: true,
		Source: fmt.Sprintf("inferred: while requests waited, %.0f ran for %.0f %% of the time and never more", most, 100*full/waited)}
}

// parameter reads a number among the parameters of a watch.
func parameter(w *outputs.ServerWatch, name string) (float64, bool) {
	switch v := w.Parameters[name].Value.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case string:
		f, err := strconv.ParseFloat(v, 64)
		return f, err == nil
	}
	return 0, false
}

// kvTokens is the KV memory in tokens of one engine; nil when unknown.
func kvTokens(w *outputs.ServerWatch, list []moment) *float64 {
	if n, ok := parameter(w, "kv_cache_tokens"); ok && n > 0 {
		return &n
	}
	blocks, ok1 := parameter(w, "num_gpu_blocks")
	size, ok2 := parameter(w, "block_size")
	if ok1 && ok2 && blocks > 0 && size > 0 {
		n := blocks * size
		return &n
	}
	return nil
}

// classify names the state of every stretch.
func classify(list []stretch, limit *Limit, kvTokens, prompt *float64) {
	for i := range list {
		s := &list[i]
		waiting := s.waiting != nil && *s.waiting > 0
		running := s.running != nil && *s.running > 0
		s.atLimit = limit != nil && s.running != nil && *s.running >= limit.Requests
		thrownOut := s.preemptions != nil && *s.preemptions > 0
		noMemory := s.kv != nil && (*s.kv >= kvFull ||
			// A prompt of the usual length no longer fits, though less than 95 % are used.
			kvTokens != nil && prompt != nil && (1-*s.kv)**kvTokens < *prompt)
		switch {
		case thrownOut, waiting && !s.atLimit && noMemory:
			s.state = StateKV
		case waiting && (s.atLimit || limit == nil):
			s.state = StateQueue
		case waiting:
			s.state = StatePrefill
		case running:
			s.state = StateServing
		default:
			s.state = StateIdle
		}
	}
}

// gauges fills the means, the maxima and the shares, weighted by time.
func (r *Reading) gauges(list []stretch) {
	var total, limited float64
	byState := map[State]float64{}
	var running, waiting, kv weighted
	var preempted float64
	known := false
	for i := range list {
		s := &list[i]
		d := s.seconds()
		total += d
		byState[s.state] += d
		if s.atLimit {
			limited += d
		}
		running.add(s.running, d)
		waiting.add(s.waiting, d)
		kv.add(s.kv, d)
		if s.preemptions != nil {
			preempted += *s.preemptions
			known = true
		}
	}
	r.WindowS = total
	for _, st := range States {
		r.Shares[st] = ptr(byState[st] / total)
	}
	if r.Limit != nil {
		r.AtLimit = ptr(limited / total)
	}
	r.RunningMean, r.RunningMax = running.mean(), running.largest
	r.WaitingMean, r.WaitingMax = waiting.mean(), waiting.largest
	r.KVMean, r.KVMax = kv.mean(), kv.largest
	if known {
		r.Preemptions = &preempted
	}
}

// weighted is a mean over time.
type weighted struct {
	total, weight float64
	largest       *float64
}

func (m *weighted) add(v *float64, weight float64) {
	if v == nil {
		return
	}
	m.total += *v * weight
	m.weight += weight
	if m.largest == nil || *v > *m.largest {
		x := *v
		m.largest = &x
	}
}

func (m *weighted) mean() *float64 {
	if m.weight == 0 {
		return nil
	}
	return ptr(m.total / m.weight)
}

func (m *measured) meanPrompt() *float64 {
	if m.promptKnown == 0 {
		return nil
	}
	return ptr(float64(m.prompt) / float64(m.promptKnown))
}

// clientSide is what the client saw meanwhile.
func (r *Reading) clientSide(list []stretch, m *measured) {
	flight := m.inFlight()
	var mean, idle weighted
	for i := range list {
		n := ptr(flight((list[i].from + list[i].to) / 2))
		mean.add(n, list[i].seconds())
		if list[i].state == StateIdle {
			idle.add(n, list[i].seconds())
		}
	}
	r.InFlight, r.InFlightIdle = mean.mean(), idle.mean()
	if r.Limit == nil {
		return
	}
	var at, below []float64
	for _, a := range m.arrivals {
		i, found := slices.BinarySearchFunc(list, a.sent, func(s stretch, t int64) int {
			switch {
			case s.to <= t:
				return -1
			case s.from > t:
				return 1
			}
			return 0
		})
		switch {
		case !found:
		case list[i].atLimit:
			at = append(at, a.ttft)
		default:
			below = append(below, a.ttft)
		}
	}
	r.NAtLimit, r.NBelow = len(at), len(below)
	r.TTFTAtLimit, r.TTFTBelow = median(at), median(below)
}

func median(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	n := len(values)
	return ptr((values[(n-1)/2] + values[n/2]) / 2)
}

// serverTimes are the parts of a request's time. An engine without histograms of all
// parts leaves the last ones as differences of the means it has.
func (r *Reading) serverTimes(v view, from, to int64) {
	mean := func(series string) *float64 {
		if h := v.summary(series, from, to); h != nil {
			return h.Mean
		}
		return nil
	}
	r.Queue, r.Prefill, r.Decode = mean("queue_time"), mean("prefill_time"), mean("decode_time")
	ttft, e2e := mean("ttft"), mean("e2e")
	if r.Prefill == nil && ttft != nil && r.Queue != nil {
		r.Prefill = ptr(math.Max(0, *ttft-*r.Queue))
	}
	if r.Decode == nil && e2e != nil && ttft != nil {
		r.Decode = ptr(math.Max(0, *e2e-*ttft))
	}
}

// budget is how often the engine's steps were full.
func (r *Reading) budget(v view, w *outputs.ServerWatch, from, to int64) {
	n, ok := parameter(w, "max_num_batched_tokens")
	if !ok || n <= 0 {
		return
	}
	r.Budget = &n
	if buckets, _, _, ok := v.histogram("iteration_tokens", from, to); ok {
		// A full step has exactly n tokens, so it lies in the bucket that ends at or after n.
		if low, high, any := above(buckets, n-0.5); any {
			r.BudgetFullLow, r.BudgetFullHigh = &low, &high
		}
	}
}
