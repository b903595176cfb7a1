package metrics

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ais_bench/outputs"
)

const ms = int64(1e6)

// answer is a successful stream: sent at, first token after ttft, then one
// chunk a gap.
func answer(at, ttft int64, gaps ...int64) *outputs.Record {
	r := &outputs.Record{Model: "m", Dataset: "d", Phase: outputs.PhaseMeasured, Status: outputs.StatusOK, Stream: true, HTTPStatus: 200,
		Scheduled: at, Sent: at, Connected: at, FirstByte: at + ttft, FirstEvent: at + ttft, FirstToken: at + ttft, FirstAnswerToken: at + ttft,
		InputTokens: 100, OutputTokens: int32(len(gaps) + 1), ReasoningTokens: outputs.UnknownTokens, CachedTokens: outputs.UnknownTokens,
		TokenSource: outputs.TokensUsage, FinishReason: "stop", ChunkAt: []int64{ttft}}
	last := ttft
	for _, g := range gaps {
		last += g
		r.ChunkAt = append(r.ChunkAt, last)
	}
	r.LastToken, r.End = at+last, at+last
	return r
}

func failure(at, took int64, status outputs.Status) *outputs.Record {
	return &outputs.Record{Model: "m", Dataset: "d", Phase: outputs.PhaseMeasured, Status: status, Stream: true,
		Scheduled: at, Sent: at, Connected: at, FirstByte: outputs.Never, FirstEvent: outputs.Never, FirstToken: outputs.Never,
		FirstAnswerToken: outputs.Never, LastToken: outputs.Never, End: at + took,
		InputTokens: outputs.UnknownTokens, OutputTokens: outputs.UnknownTokens, ReasoningTokens: outputs.UnknownTokens, CachedTokens: outputs.UnknownTokens}
}

func compute(t *testing.T, o Options, records ...*outputs.Record) *Result {
	t.Helper()
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		a.Add(r)
	}
	return a.Result()
}

func near(t *testing.T, name string, got *float64, want float64) {
	t.Helper()
	if got == nil {
		t.Errorf("%s is undefined, want %v", name, want)
	} else if math.Abs(*got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s = %v, want %v", name, *got, want)
	}
}

func null(t *testing.T, name string, got *float64) {
	t.Helper()
	if got != nil {
		t.Errorf("%s = %v, want undefined", name, *got)
	}
}

// Two answers and a failure, worked out by hand.
func TestGolden(t *testing.T) {
	slo := []SLO{{"ttft", 150}, {"tpot", 30}}
	r := compute(t, Options{SLOs: slo},
		answer(0, 100*ms, 20*ms, 40*ms),    // E2EL 160, TPOT 30, stall 40
		answer(1000*ms, 200*ms, 0, 600*ms), // E2EL 800, TPOT 300, ends at 1,800
		failure(500*ms, 1500*ms, outputs.StatusTimeoutIdle))
	near(t, "duration", r.DurationS, 2)
	near(t, "e2el mean", r.E2EL.Mean, 480)
	near(t, "e2el std", r.E2EL.Std, 320)
	near(t, "e2el p50", r.E2EL.Percentile(50), 480)
	near(t, "e2el p75", r.E2EL.Percentile(75), 640)
	near(t, "e2el max", r.E2EL.Max, 800)
	near(t, "ttft mean", r.TTFT.Mean, 150)
	near(t, "tpot mean", r.TPOT.Mean, 165)
	near(t, "itl mean", r.ITL.Mean, 165)
	near(t, "itl p50", r.ITL.Percentile(50), 30)
	near(t, "stall max", r.MaxStall.Max, 600)
	near(t, "zero itl", r.ZeroITLShare, 0.25)
	near(t, "request throughput", r.RequestThroughput, 1)
	near(t, "output throughput", r.OutputThroughput, 3)
	near(t, "input throughput", r.InputThroughput, 100)
	near(t, "total throughput", r.TotalTokenThroughput, 103)
	near(t, "peak output", r.PeakOutputThroughput, 3)
	near(t, "avg concurrency", r.AvgConcurrency, (0.16+0.8+1.5)/2)
	if *r.MaxConcurrency != 2 {
		t.Errorf("max concurrency %d, want 2", *r.MaxConcurrency)
	}
	if q := r.Requests; q.Total != 3 || q.Success != 2 || q.Failed != 1 || q.ByStatus["timeout_idle"] != 1 {
		t.Errorf("requests %+v", q)
	}
	near(t, "goodput", r.RequestGoodput, 0.5)
	near(t, "ttft attainment", r.Attainment[0].Share, 1.0/3)
	null(t, "ttfat without reasoning", r.TTFAT.Mean)
	near(t, "output rate min", r.OutputTokenThroughput.Min, 3/0.8)
	near(t, "prefill rate max", r.PrefillTokenThroughput.Max, 1000)
	for _, q := range r.E2EL.P {
		if q.Undersampled != (q.P > 50) {
			t.Errorf("two values: %s undersampled %v", PercentileName(q.P), q.Undersampled)
		}
	}
}

// Nothing succeeded: everything is undefined, and the JSON says so.
func TestNothingSucceeded(t *testing.T) {
	for name, r := range map[string]*Result{"empty": compute(t, Options{}), "failed": compute(t, Options{}, failure(0, ms, outputs.StatusDial))} {
		null(t, name+" e2el", r.E2EL.Mean)
		null(t, name+" output", r.OutputThroughput)
		null(t, name+" p99", r.TTFT.Percentile(99))
		b, err := outputs.MarshalJSON(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := outputs.CheckNumbers(bytes.NewReader(b)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var recs []*outputs.Record
	for i := range 400 {
		gaps := make([]int64, rng.IntN(60))
		for j := range gaps {
			gaps[j] = rng.Int64N(30 * ms)
		}
		r := answer(int64(i)*5*ms, rng.Int64N(500*ms), gaps...)
		r.OutputTokens += int32(rng.IntN(5))
		r.InputTokens = int32(rng.IntN(3000))
		recs = append(recs, r)
	}
	want, _ := outputs.MarshalJSON(compute(t, Options{}, recs...))
	rng.Shuffle(len(recs), func(i, j int) { recs[i], recs[j] = recs[j], recs[i] })
	got, _ := outputs.MarshalJSON(compute(t, Options{}, recs...))
	if !bytes.Equal(got, want) {
		t.Errorf("the order of records changes the result:\n%s\n%s", want, got)
	}
	if err := outputs.CheckNumbers(bytes.NewReader(got)); err != nil {
		t.Error(err)
	}
}

// Percentiles against sorting, below and above the size where counting begins.
func TestPercentilesAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	ps := []float64{0, 1, 25, 50, 75, 90, 99, 99.9, 100}
	for _, n := range []int{1, 2, 3, 100, rawLimit, rawLimit + 1, 3 * rawLimit} {
		d := NewDist(usOfNS)
		vals := make([]int64, n)
		var sum, sq float64
		for i := range vals {
			vals[i] = int64(math.Exp(rng.NormFloat64()*2+14)) / 1000 * 1000 // whole µs, some beyond 2 s
			d.Add(vals[i])
			sum += float64(vals[i])
		}
		mean := sum / float64(n)
		for _, v := range vals {
			sq += (float64(v) - mean) * (float64(v) - mean)
		}
		slices.Sort(vals)
		got := d.Percentiles(ps)
		for i, p := range ps {
			h := float64(n-1) * p / 100
			lo := int(h)
			want := float64(vals[lo])
			if lo+1 < n {
				want += (h - float64(lo)) * float64(vals[lo+1]-vals[lo])
			}
			near(t, PercentileName(p), &got[i], want)
		}
		m, _ := d.Mean()
		if math.Abs(m-mean) > 1e-9*mean {
			t.Errorf("n %d: mean %v, want %v", n, m, mean)
		}
		if s, _ := d.Std(); math.Abs(s-math.Sqrt(sq/float64(n))) > 1e-6*mean {
			t.Errorf("n %d: std %v, want %v", n, s, math.Sqrt(sq/float64(n)))
		}
	}
}

// A chunk of k tokens is one gap, and k values of gap/k per token.
func TestITLPerToken(t *testing.T) {
	r := answer(0, 100*ms, 30*ms, 10*ms)
	r.ChunkTokens, r.OutputTokens = []int32{1, 3, 1}, 5
	res := compute(t, Options{}, r)
	near(t, "per chunk", res.ITL.Mean, 20)
	near(t, "per token", res.ITLPerToken.Mean, 10)
	near(t, "tokens per chunk", res.TokensPerChunk, 5.0/3)
	near(t, "known", res.ITLTokensKnown, 1)
	if res.ITLPerToken.N != 4 || res.ITL.N != 2 {
		t.Errorf("%d gaps, %d token gaps; want 2 and 4", res.ITL.N, res.ITLPerToken.N)
	}
	if p := res.ITLByPosition; len(p) != 2 || p[0].From != 2 || p[1].From != 5 || p[1].To != 8 {
		t.Errorf("positions %+v", p)
	}
	r.ChunkTokens = nil // five tokens in three chunks: nobody knows which
	res = compute(t, Options{}, r)
	near(t, "known", res.ITLTokensKnown, 0)
	null(t, "per token", res.ITLPerToken.Mean)
	null(t, "peak of a run shorter than its window", res.PeakOutputThroughput)
	res = compute(t, Options{}, r, answer(900*ms, 200*ms)) // 1.1 s, the five tokens within one
	near(t, "peak by tokens, not chunks", res.PeakOutputThroughput, 5)
}

// Two slots: 0–100 and 10–100, then 100–200, 110–190 and 190–280, then a lonely
// request. The window exists even where no configured concurrency is reached.
func TestStableStage(t *testing.T) {
	// Half of them are in flight for at most 95 ms.
	dip := func(d int64) []*outputs.Record {
		return []*outputs.Record{answer(0, 50*ms, 50*ms), answer(10*ms, 50*ms, 40*ms), answer(100*ms, 50*ms, 50*ms), answer((100+d)*ms, 50*ms, (40-d)*ms),
			answer(190*ms, 50*ms, 40*ms), answer(300*ms, 50*ms, 250*ms)}
	}
	pair := dip(9)
	for _, c := range []struct {
		name       string
		records    []*outputs.Record
		start, dur float64 // s
	}{
		{"a hand-over of 9 ms between", pair, 0.01, 0.19},
		{"a dip of more than a tenth of the time in flight", dip(10), 0.01, 0.09},
		{"a pause of 60 ms between", []*outputs.Record{answer(0, 100*ms), answer(0, 100*ms), answer(160*ms, 40*ms), answer(160*ms, 40*ms)}, 0, 0.1},
		{"reached once", pair[:2], 0.01, 0.09},
		{"one slot", pair[5:], 0, 0.3},
	} {
		s := compute(t, Options{}, c.records...).Stable
		if !s.Exists {
			t.Errorf("%s: the robust stage must exist: %s", c.name, s.Reason)
			continue
		}
		near(t, c.name+" start", s.StartS, c.start)
		near(t, c.name+" duration", s.DurationS, c.dur)
	}
	if s := compute(t, Options{}).Stable; s.Exists || s.Reason == "" {
		t.Errorf("no requests: %+v", s)
	}
}

// A steady closed loop is stable from its first full moment to its last,
// whatever the number of slots.
func TestStableStageOfAClosedLoop(t *testing.T) {
	for _, slots := range []int64{1, 2, 8, 40} {
		var records []*outputs.Record
		for k := range slots {
			for i := range int64(20) { // 3 ms between two requests of a slot, slots out of step
				records = append(records, answer(k*7*ms+i*103*ms, 100*ms))
			}
		}
		s := compute(t, Options{}, records...).Stable
		if !s.Exists || s.DurationS == nil || *s.DurationS < 1.7 {
			t.Errorf("%d slots for two seconds: stage %+v", slots, s)
		}
	}
}

// What the user cut off did not fail and is no part of any share; it was in
// flight all the same.
func TestCancelledStandsApart(t *testing.T) {
	cut := failure(0, 300*ms, outputs.StatusCancelled)
	cut.InputTokens = 10
	r := compute(t, Options{SLOs: []SLO{{"e2el", 1000}}}, answer(0, 100*ms), failure(0, 50*ms, outputs.StatusHTTP5xx), cut)
	if q := r.Requests; q.Total != 2 || q.Success != 1 || q.Failed != 1 || q.Cancelled != 1 || q.Attempts != 3 || *q.FailedShare != 0.5 {
		t.Errorf("%+v", q)
	}
	if *r.MaxConcurrency != 3 || *r.DurationS != 0.3 || *r.GoodputShare != 0.5 || *r.Attainment[0].Share != 0.5 {
		t.Errorf("in flight %d for %g s, good %g", *r.MaxConcurrency, *r.DurationS, *r.GoodputShare)
	}
}

// Answers of unknown length, not streamed, retried: nothing is made up.
func TestUnknownAndRetried(t *testing.T) {
	a := answer(0, 100*ms)
	a.Stream, a.ChunkAt, a.InputTokens, a.OutputTokens, a.TokenSource = false, nil, outputs.UnknownTokens, outputs.UnknownTokens, outputs.TokensUnknown
	first := failure(0, 10*ms, outputs.StatusHTTP429)
	a.Attempt, a.Resent = 1, 1
	r := compute(t, Options{SLOs: []SLO{{"ttft", 1000}}}, first, a)
	if q := r.Requests; q.Total != 1 || q.Success != 1 || q.Failed != 0 || q.Attempts != 2 || q.Retries != 1 || q.Resends != 1 {
		t.Errorf("%+v", q)
	}
	null(t, "ttft", r.TTFT.Mean)
	null(t, "output throughput", r.OutputThroughput)
	null(t, "total throughput", r.TotalTokenThroughput)
	null(t, "attainment of what nobody saw", r.Attainment[0].Share)
	null(t, "goodput of what nobody saw", r.RequestGoodput)
	null(t, "goodput share of what nobody saw", r.GoodputShare)
	slow := compute(t, Options{SLOs: []SLO{{"ttft", 1000}, {"e2el", 1}}}, a) // one level is missed for certain
	near(t, "goodput decided by the level that is known", slow.GoodputShare, 0)
	near(t, "e2el", r.E2EL.Mean, 100)
	if r.TotalOutputTokens != nil || r.TokenSources["unknown"].N != 1 {
		t.Errorf("tokens %v, sources %v", r.TotalOutputTokens, r.TokenSources)
	}
	warm := answer(0, ms)
	warm.Phase = outputs.PhaseWarmup
	if got := compute(t, Options{}, warm); got.Requests.Attempts != 0 {
		t.Errorf("warm-up counted: %+v", got.Requests)
	}
}

func TestLengthBuckets(t *testing.T) {
	var recs []*outputs.Record
	for _, n := range []int32{0, 127, 128, 1024, 1025} {
		r := answer(0, ms)
		r.InputTokens = n
		recs = append(recs, r)
	}
	got := compute(t, Options{}, recs...).ByLength
	for i, want := range []int64{2, 2, 1} {
		if got[i].Requests != want {
			t.Errorf("%s: %d requests, want %d", got[i].Name, got[i].Requests, want)
		}
	}
	if _, err := New(Options{LengthBounds: []int{5, 2}}); err == nil {
		t.Error("descending bounds must be refused")
	}
}

func TestMergeIsAdding(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{10, rawLimit - 5, 2 * rawLimit} {
		whole, a, b := NewDist(usOfNS), NewDist(usOfNS), NewDist(usOfNS)
		for i := range n {
			x := rng.Int64N(5e9) / 1000 * 1000
			whole.Add(x)
			if i%3 == 0 {
				a.Add(x)
			} else {
				b.Add(x)
			}
		}
		a.Merge(b)
		ps := []float64{0, 50, 99, 100}
		if !slices.Equal(a.Percentiles(ps), whole.Percentiles(ps)) || a.total().Cmp(whole.total()) != 0 || a.N() != whole.N() {
			t.Errorf("n %d: merged %v, whole %v", n, a.Percentiles(ps), whole.Percentiles(ps))
		}
	}
}

func TestParsing(t *testing.T) {
	ps, err := ParsePercentiles([]string{"Average", "P90,99.9", "Median", "p50"})
	if err != nil || !slices.Equal(ps, []float64{50, 90, 99.9}) {
		t.Errorf("%v, %v", ps, err)
	}
	for _, bad := range []string{"P101", "fast", "-1", "NaN"} {
		if _, err := ParsePercentiles([]string{bad}); err == nil {
			t.Errorf("percentile %q was accepted", bad)
		}
	}
	slos, err := ParseSLOs([]string{"ttft:500 tpot:50", "e2el:1e3"})
	if err != nil || len(slos) != 3 || slos[2] != (SLO{"e2el", 1000}) {
		t.Errorf("%v, %v", slos, err)
	}
	for _, bad := range []string{"ttft", "ttft:-1", "itl:5", "ttft:NaN", "ttft:1 ttft:2", "ttft:Inf"} {
		if _, err := ParseSLOs([]string{bad}); err == nil {
			t.Errorf("--goodput %q was accepted", bad)
		}
	}
}
