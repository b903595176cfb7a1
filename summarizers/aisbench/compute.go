package aisbench

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"ais_bench/outputs"
	"ais_bench/summarizers/numpy"
)

// request is a record as AISBench would have seen it; times in seconds.
type request struct {
	start, end float64
	ttft       float64
	streamed   bool
	gaps       []float64
	in, out    int64
}

// Completed reports whether AISBench would have called the request a success: HTTP
// 200 and a body of JSON that its HTTP library could read up to [DONE] or the end, with at
// least one event. It asks for no text, no finish_reason and no [DONE], and overlooks
// an error object that comes as a common event. A body that breaks off raises an
// error there, an event that is no JSON another.
func Completed(rec *outputs.Record) bool {
	if rec.HTTPStatus != 200 || rec.Sent == outputs.Never || End(rec) == outputs.Never {
		return false
	}
	switch rec.Ended() {
	case outputs.EndDone, outputs.EndBody, outputs.EndErrorObject:
		return !rec.Stream || rec.FirstEvent != outputs.Never
	}
	return false
}

// End is AISBench's last time point: the last event of the stream but [DONE], else
// the end of the body. Records that do not hold that event have the end of the
// response, [DONE] included.
func End(rec *outputs.Record) int64 {
	if rec.Stream && rec.StreamEnd != outputs.EndUnknown {
		return rec.LastEvent
	}
	return rec.End
}

// seen translates a record; ok is false for a failed request. AISBench's time
// points are the send and every event of the stream, those without a payload
// included, [DONE] excluded.
func seen(rec *outputs.Record) (q request, ok bool) {
	if !Completed(rec) {
		return q, false
	}
	end := End(rec)
	if rec.TokenSource == outputs.TokensUsage {
		q.in, q.out = int64(max(rec.InputTokens, 0)), int64(max(rec.OutputTokens, 0))
	}
	q.start, q.end = seconds(rec.Sent), seconds(end)
	if !rec.Stream {
		return q, true
	}
	q.streamed = true
	at := rec.FirstEvent - rec.Sent
	q.ttft = seconds(at)
	for i, c := range rec.ChunkAt {
		if i == 0 && c <= at {
			continue // the first event itself
		}
		q.gaps = append(q.gaps, seconds(c-at))
		at = c
	}
	if rest := end - rec.Sent - at; rest > 0 {
		q.gaps = append(q.gaps, seconds(rest))
	}
	return q, true
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// Compute recomputes records as AISBench's calculators do. It returns
// ErrAllFailed without a success and ErrNoStableStage (with what was seen)
// without a stable stage. records is read once, twice with Options.Stable.
func Compute(records iter.Seq2[*outputs.Record, error], o Options) (*Result, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	var r *Result
	if o.Stable {
		r, err = stable(records, o)
	} else {
		r, err = total(records, o)
	}
	if err != nil {
		return nil, fmt.Errorf("compute profile aisbench: %w", err)
	}
	return r, nil
}

func total(records iter.Seq2[*outputs.Record, error], o Options) (*Result, error) {
	t := tally{o: o, stage: StageTotal, first: math.Inf(1), last: math.Inf(-1), limit: math.Inf(1)}
	if err := outputs.EachMeasured(records, func(rec *outputs.Record) {
		if rec.Cancelled() { // AISBench, which is not interrupted, has none
			return
		}
		t.total++
		if q, ok := seen(rec); ok {
			t.add(q)
		}
	}); err != nil {
		return nil, err
	}
	if t.success == 0 {
		return nil, ErrAllFailed
	}
	return t.result(t.last - t.first), nil
}

// stable takes the requests that start within the window, in full.
func stable(records iter.Seq2[*outputs.Record, error], o Options) (*Result, error) {
	var all []request
	if err := outputs.EachMeasured(records, func(rec *outputs.Record) {
		if q, ok := seen(rec); ok {
			all = append(all, request{start: q.start, end: q.end})
		}
	}); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, ErrAllFailed
	}
	from, to, err := window(all, o.MaxConcurrency)
	if err != nil {
		return nil, err
	}
	t := tally{o: o, stage: StageStable, limit: float64(o.MaxConcurrency)}
	first := all[0].start
	for _, q := range all {
		first = min(first, q.start)
	}
	if err := outputs.EachMeasured(records, func(rec *outputs.Record) {
		if q, ok := seen(rec); ok && q.start >= from && q.start <= to {
			t.total++
			t.add(q)
		}
	}); err != nil {
		return nil, err
	}
	r := t.result(to - from)
	r.StableStart = from - first
	return r, nil
}

// window is from the second start that brings the number of requests in flight
// to limit, to the last event (start or end) that leaves it there.
func window(all []request, limit int) (from, to float64, err error) {
	type event struct {
		at    float64
		start bool
	}
	slices.SortStableFunc(all, func(a, b request) int { return cmp.Compare(a.start, b.start) })
	events := make([]event, 0, 2*len(all))
	for _, q := range all {
		events = append(events, event{q.start, true}, event{q.end, false})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	n, reached, peak := 0, 0, 0
	for _, e := range events {
		if !e.start {
			n--
		} else if n++; n == limit {
			if reached++; reached == 2 {
				from = e.at
			}
		}
		peak = max(peak, n)
		if n == limit {
			to = e.at
		}
	}
	if reached < 2 {
		return 0, 0, fmt.Errorf("%w: starts brought the requests in flight to the configured %d %d times, 2 are needed (the peak was %d); send more requests, or set the concurrency to what was reached",
			ErrNoStableStage, limit, reached, peak)
	}
	return from, to, nil
}

// tally sums up the requests of one stage.
type tally struct {
	o                       Options
	stage                   string
	limit                   float64 // bound of the average concurrency
	total, success, decoded int64
	first, last, busy       float64
	in, out                 int64
	e2el, ttft, tpot, itl   numpy.Sample
	inTokens, outTokens     numpy.Sample
	outRate, prefillRate    numpy.Sample
}

func (t *tally) add(q request) {
	e2el := q.end - q.start
	t.success++
	t.first, t.last, t.busy = min(t.first, q.start), max(t.last, q.end), t.busy+e2el
	t.in, t.out = t.in+q.in, t.out+q.out
	t.e2el.Add(e2el)
	t.inTokens.Add(float64(q.in))
	t.outTokens.Add(float64(q.out))
	if e2el > 0 {
		t.outRate.Add(float64(q.out) / e2el)
	}
	if !q.streamed {
		return
	}
	t.ttft.Add(q.ttft)
	if q.ttft > 0 {
		t.prefillRate.Add(float64(q.in) / q.ttft)
	}
	tpot := 0.0 // AISBench's value without a second token; it counts
	if q.out > 1 {
		tpot = (e2el - q.ttft) / float64(q.out-1)
	}
	t.tpot.Add(tpot)
	if len(q.gaps) > 0 {
		t.decoded++
	}
	for _, g := range q.gaps {
		t.itl.Add(g)
	}
}

func (t *tally) result(duration float64) *Result {
	r := &Result{Stage: t.stage, StatsList: t.o.StatsList}
	param := func(name, unit string, s *numpy.Sample, n int64) {
		if s.N() == 0 {
			return
		}
		p := Param{Name: name, Unit: unit, N: n}
		for _, stat := range t.o.StatsList {
			v := round4(statistic(s, stat))
			if unit == "ms" {
				v = round4(v * 1e3) // the product of a rounded number has a tail of its own
			}
			p.Values = append(p.Values, v)
		}
		r.Params = append(r.Params, p)
	}
	param("E2EL", "ms", &t.e2el, t.success)
	if t.ttft.Max() > 0 {
		param("TTFT", "ms", &t.ttft, t.success)
	}
	param("TPOT", "ms", &t.tpot, t.decoded)
	param("ITL", "ms", &t.itl, t.decoded)
	param("InputTokens", "", &t.inTokens, t.success)
	param("OutputTokens", "", &t.outTokens, t.success)
	param("OutputTokenThroughput", "token/s", &t.outRate, t.success)
	param("PrefillTokenThroughput", "token/s", &t.prefillRate, t.success)

	per := func(n float64) float64 {
		if duration <= 0 {
			return 0
		}
		return n / duration
	}
	count := func(name string, n int64) {
		r.Common = append(r.Common, Common{Name: name, Value: float64(n), Count: true})
	}
	measure := func(name, unit string, v float64) {
		r.Common = append(r.Common, Common{Name: name, Unit: unit, Value: round4(v)})
	}
	measure("Benchmark Duration", "ms", round4(duration)*1e3)
	count("Total Requests", t.total)
	count("Failed Requests", t.total-t.success)
	count("Success Requests", t.success)
	measure("Concurrency", "", min(per(t.busy), t.limit))
	count("Max Concurrency", int64(t.o.MaxConcurrency))
	measure("Request Throughput", "req/s", per(float64(t.success)))
	count("Total Input Tokens", t.in)
	count("Total Generated Tokens", t.out)
	measure("Input Token Throughput", "token/s", per(float64(t.in)))
	measure("Output Token Throughput", "token/s", per(float64(t.out)))
	measure("Total Token Throughput", "token/s", per(float64(t.in+t.out)))
	return r
}

func statistic(s *numpy.Sample, name string) float64 {
	switch name {
	case "Average":
		return s.Mean()
	case "Min":
		return s.Min()
	case "Max":
		return s.Max()
	case "Median":
		return s.Median()
	}
	p, _ := percentile(name) // checked by Options.check
	return s.Percentile(p)
}

// round4 rounds to four decimals, halves to even, as numpy does.
func round4(v float64) float64 { return math.RoundToEven(v*1e4) / 1e4 }
