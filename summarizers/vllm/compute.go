package vllm

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"ais_bench/outputs"
	"ais_bench/summarizers/numpy"
)

// Records is a sequence of records that starts over each time it is ranged
// over. Damaged parts of a journal are skipped; requests of other phases than
// the measured one are no part of the result.
type Records = iter.Seq2[*outputs.Record, error]

// Compute recomputes records as vLLM's client would have: completed requests
// only, one ITL a chunk, an empty list is 0. records is read twice.
func Compute(records Records, o Options) (*Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	t := tally{goodput: o.Goodput, samples: map[string]*numpy.Sample{}}
	for _, m := range MetricNames {
		t.samples[m] = &numpy.Sample{}
	}
	var p peaks
	r := &Result{Options: o}
	see := func(rec *outputs.Record) Request {
		q := seen(rec, o.completions())
		if o.Pooling {
			q = seenPooled(rec)
		}
		if o.Order != nil {
			q.order = o.Order(rec)
		}
		return q
	}
	if o.Started != nil {
		t.span.from(*o.Started)
	}
	// The seconds of the peak rate begin at the earliest start, which has to be
	// known before the first chunk is counted.
	total := 0
	if err := outputs.EachMeasured(records, func(rec *outputs.Record) {
		total++
		if q := see(rec); q.OK {
			p.origin(q.Start)
		}
	}); err != nil {
		return nil, fmt.Errorf("compute profile vllm: %w", err)
	}
	if err := outputs.EachMeasured(records, func(rec *outputs.Record) {
		t.span.add(rec)
		q := see(rec)
		if q.OK {
			if q.Output == 0 && !o.Pooling && rec.OutputTokens < 0 {
				q.Output = 1
				r.MadeUpOutput++
			}
			t.add(r, q)
			p.add(q.Start, q.Latency)
			if rec.Stream {
				p.chunk(q.Start + q.TTFT)
				at := q.Start + q.TTFT
				for _, gap := range q.ITL {
					at += gap
					p.chunk(at)
				}
			}
		} else if rec.Cancelled() {
			r.Cancelled++
		} else {
			r.Failed++
			if len(r.Errors) < 10 {
				r.Errors = append(r.Errors, errorText(rec))
			}
		}
		if !o.Detailed {
			q.ITL, q.Text, q.Err = nil, "", ""
		}
		r.Requests = append(r.Requests, q)
	}); err != nil {
		return nil, fmt.Errorf("compute profile vllm: %w", err)
	}
	if len(r.Requests) != total {
		return nil, fmt.Errorf("compute profile vllm: the records gave %d requests at first and %d the second time; pass a sequence that starts over", total, len(r.Requests))
	}
	if r.Options.NumPrompts == 0 {
		r.Options.NumPrompts = total
	}
	t.finish(r)
	r.MaxOutputTokensPerS = float64(p.best())
	r.MaxConcurrentRequests = p.concurrentBySecond()
	r.PeakInFlight = p.concurrent()
	slices.SortStableFunc(r.Requests, func(a, b Request) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.scheduled, b.scheduled), cmp.Compare(a.Start, b.Start))
	})
	return r, nil
}

// Completed reports whether vLLM's client would have called a generation a
// success: HTTP 200, an event with output, and a body that its HTTP library could read to the
// end. It asks for no finish_reason and no [DONE], leaves an unfinished event in
// its buffer, and overlooks an error object that comes as a common event. A body that breaks off
// (closed or reset before its last chunk, timed out) raises an error there, and
// so does what is no JSON.
// completions is the rule for records that do not hold the first event with output.
func Completed(rec *outputs.Record, completions bool) bool {
	if rec.HTTPStatus != 200 || rec.Sent == outputs.Never {
		return false
	}
	switch rec.Ended() {
	case outputs.EndDone, outputs.EndBody, outputs.EndInEvent, outputs.EndErrorObject:
		first, _ := Output(rec, completions)
		return first != outputs.Never
	}
	return false
}

// Output are the times of the first and the last event that vLLM's client takes
// for output. What was written before records held them has, in a chat, the first
// and last payload and in a completion the first event of any kind; without a stream
// both are the end of the body.
func Output(rec *outputs.Record, completions bool) (first, last int64) {
	switch {
	case !rec.Stream && rec.LastToken != outputs.Never:
		return rec.LastToken, rec.LastToken
	case !rec.Stream:
		return rec.End, rec.End
	case rec.StreamEnd != outputs.EndUnknown:
		return rec.FirstOutput, rec.LastOutput
	case completions:
		// Only events without a payload: the first is all that has a time.
		return rec.FirstEvent, max(rec.FirstEvent, rec.LastToken)
	}
	return rec.FirstToken, rec.LastToken
}

// begin fills what a failed request has too.
func begin(rec *outputs.Record) Request {
	q := Request{scheduled: rec.Scheduled, Err: errorText(rec), Input: int(max(rec.InputTokens, 0))}
	if rec.Sent == outputs.Never {
		return q
	}
	q.Start = seconds(rec.Sent)
	if rec.Scheduled != outputs.Never {
		q.Queued = seconds(max(rec.Sent-rec.Scheduled, 0))
	}
	return q
}

func errorText(rec *outputs.Record) string {
	if rec.Error == "" && rec.Status != outputs.StatusOK {
		return string(rec.Status)
	}
	return rec.Error
}

// seen translates a record of a generation: TTFT to the first event with output,
// one gap for every payload after it, E2EL to the last event with output.
func seen(rec *outputs.Record, completions bool) Request {
	q := begin(rec)
	if !Completed(rec, completions) {
		return q
	}
	first, last := Output(rec, completions)
	q.OK, q.Err, q.Text, q.Output = true, "", rec.Text, int(max(rec.OutputTokens, 0))
	if !rec.Stream {
		q.Latency = seconds(last - rec.Sent)
		return q
	}
	q.streamed = true
	q.TTFT, q.Latency = seconds(first-rec.Sent), seconds(last-rec.Sent)
	at, itself := first-rec.Sent, true
	for _, c := range rec.ChunkAt {
		switch {
		case itself && c <= at:
			itself = c < at // what vLLM does not take for output, then the first event itself
			continue
		case c > last-rec.Sent:
			continue
		}
		q.ITL = append(q.ITL, seconds(c-at))
		at, itself = c, false
	}
	if rest := last - rec.Sent - at; rest > 0 {
		q.ITL = append(q.ITL, seconds(rest)) // an event without a payload at the end
	}
	return q
}

// seenPooled translates a record of an embedding or a rerank.
func seenPooled(rec *outputs.Record) Request {
	q := begin(rec)
	end := rec.End
	if rec.LastToken != outputs.Never {
		end = rec.LastToken
	}
	if rec.Status != outputs.StatusOK || rec.Sent == outputs.Never || end == outputs.Never {
		return q
	}
	q.OK, q.Err, q.Latency = true, "", seconds(end-rec.Sent)
	return q
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// span is the time from the start of the run, where it is known, else the first
// request (its scheduled time), to the end of the last, failed ones included.
type span struct {
	first, last int64
	any         bool
}

func (s *span) add(rec *outputs.Record) {
	from := rec.Scheduled
	if from == outputs.Never {
		from = rec.Sent
	}
	if from == outputs.Never {
		return
	}
	if !s.any {
		s.first, s.last, s.any = from, from, true
	}
	s.first, s.last = min(s.first, from), max(s.last, rec.LastToken, rec.End)
}

// from lets the span begin at t at the latest.
func (s *span) from(t int64) {
	if !s.any {
		s.first, s.last, s.any = t, t, true
	}
	s.first = min(s.first, t)
}

func (s *span) seconds() float64 { return seconds(s.last - s.first) }

// tally sums up the completed requests.
type tally struct {
	goodput []SLO
	good    int
	span    span
	samples map[string]*numpy.Sample
}

func (t *tally) add(r *Result, q Request) {
	r.Completed++
	r.TotalInput += int64(q.Input)
	r.TotalOutput += int64(q.Output)
	tpot := 0.0
	if q.streamed {
		t.samples["ttft"].Add(q.TTFT)
		if q.Output > 1 {
			tpot = (q.Latency - q.TTFT) / float64(q.Output-1)
			t.samples["tpot"].Add(tpot)
		}
	}
	for _, gap := range q.ITL {
		t.samples["itl"].Add(gap)
	}
	t.samples["e2el"].Add(q.Latency)
	t.samples["client_queue_time"].Add(q.Queued)
	t.samples["e2el_including_client_queue"].Add(q.Latency + q.Queued)
	for _, g := range t.goodput {
		if !q.streamed && g.Metric != "e2el" {
			return // nobody saw its first token: a limit on it was not kept
		}
		if map[string]float64{"ttft": q.TTFT, "tpot": tpot, "e2el": q.Latency}[g.Metric] > g.MaxMS/1e3 {
			return
		}
	}
	t.good++
}

func (t *tally) finish(r *Result) {
	r.Duration = t.span.seconds()
	per := func(n float64) float64 {
		if r.Duration <= 0 {
			return 0
		}
		return n / r.Duration
	}
	r.RequestThroughput = per(float64(r.Completed))
	r.OutputThroughput = per(float64(r.TotalOutput))
	r.TotalTokenThroughput = per(float64(r.TotalInput + r.TotalOutput))
	if r.TotalSequences = r.Options.TotalSequences; r.TotalSequences == 0 {
		r.TotalSequences = int64(r.Completed) * int64(r.Options.SequencesPerRequest)
	}
	r.SequenceThroughput = per(float64(r.TotalSequences))
	if len(t.goodput) > 0 {
		g := per(float64(t.good))
		r.RequestGoodput = &g
	}
	for _, name := range MetricNames {
		s := t.samples[name]
		stat := Stat{Name: name, N: s.N(), Mean: s.Mean() * 1e3, Median: s.Median() * 1e3, Std: s.Std() * 1e3}
		for _, p := range r.Options.Percentiles {
			stat.Percentiles = append(stat.Percentiles, s.Percentile(p)*1e3)
		}
		r.Stats = append(r.Stats, stat)
	}
}

// peaks finds the best second and the highest concurrency.
type peaks struct {
	start        float64 // the earliest
	known        bool
	chunks       []int // by second from start
	starts, ends []float64
}

func (p *peaks) origin(start float64) {
	if !p.known || start < p.start {
		p.start, p.known = start, true
	}
}

func (p *peaks) chunk(at float64) {
	i := max(int(math.Floor(at-p.start)), 0)
	if missing := i + 1 - len(p.chunks); missing > 0 {
		p.chunks = append(p.chunks, make([]int, missing)...)
	}
	p.chunks[i]++
}

func (p *peaks) add(start, latency float64) {
	p.starts, p.ends = append(p.starts, start), append(p.ends, start+latency)
}

func (p *peaks) best() int {
	if len(p.chunks) == 0 {
		return 0
	}
	return slices.Max(p.chunks)
}

// concurrent is the highest number of requests in flight at one moment; an end
// comes before a start at the same time.
func (p *peaks) concurrent() int {
	slices.Sort(p.starts)
	slices.Sort(p.ends)
	best, ended := 0, 0
	for i, s := range p.starts {
		for ended < len(p.ends) && p.ends[ended] <= s {
			ended++
		}
		// A request that takes no time ends before it starts in this order; it
		// is in flight all the same.
		best = max(best, i+1-min(ended, i))
	}
	return best
}

// concurrentBySecond counts a request in every whole second it touches.
func (p *peaks) concurrentBySecond() int {
	var delta []int
	bump := func(i, by int) {
		if missing := i + 1 - len(delta); missing > 0 {
			delta = append(delta, make([]int, missing)...)
		}
		delta[i] += by
	}
	for _, s := range p.starts {
		bump(int(s-p.start), 1)
	}
	for _, e := range p.ends {
		bump(int(e-p.start)+1, -1)
	}
	best, n := 0, 0
	for _, d := range delta {
		n += d
		best = max(best, n)
	}
	return best
}
