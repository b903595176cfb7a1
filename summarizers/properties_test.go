package summarizers

import (
	"math"
	"math/rand/v2"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

func strict(t *testing.T, recs ...*outputs.Record) *metrics.Result {
	t.Helper()
	r, err := metrics.Compute(sequence(recs...), metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// stay is a successful stream in flight from at for d, with a token a chunk.
func stay(at, d int64, tokens int) *outputs.Record {
	r := record(0, outputs.StatusOK)
	r.Scheduled, r.Sent, r.Connected, r.ChunkAt, r.OutputTokens = at, at, at, nil, int32(tokens)
	for i := range tokens {
		r.ChunkAt = append(r.ChunkAt, d*int64(i+1)/int64(tokens))
	}
	r.FirstByte = at + r.ChunkAt[0]
	r.FirstEvent, r.FirstToken, r.FirstAnswerToken = r.FirstByte, r.FirstByte, r.FirstByte
	r.LastToken, r.End = at+d, at+d
	return r
}

// mixedRun is some minutes of requests that overlap, some of which fail.
func mixedRun(n int) (recs []*outputs.Record, ok, failed, tokens int64) {
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range n {
		r := stay(int64(i)*97*ms, 50*ms+rng.Int64N(9_000*ms), 1+rng.IntN(300))
		if i%10 == 3 {
			r.Status, r.FirstToken, r.LastToken, r.ChunkAt = outputs.StatusTimeoutTotal, outputs.Never, outputs.Never, nil
			r.OutputTokens = outputs.UnknownTokens
			failed++
		} else {
			ok++
			tokens += int64(r.OutputTokens)
		}
		recs = append(recs, r)
	}
	return recs, ok, failed, tokens
}

// The time series cut the same requests and tokens into seconds: nothing is
// lost and nothing counted twice.
func TestSeriesAddUpToTotals(t *testing.T) {
	recs, ok, failed, tokens := mixedRun(2000)
	r := strict(t, recs...)
	sum := func(v []int64) (n int64) {
		for _, x := range v {
			n += x
		}
		return n
	}
	s := r.Series
	if got := sum(s.Arrivals); got != ok+failed {
		t.Errorf("arrivals add up to %d of %d", got, ok+failed)
	}
	if got := sum(s.Completions); got != ok || r.Requests.Success != ok {
		t.Errorf("completions add up to %d of %d", got, ok)
	}
	if got := sum(s.OutputTokens); got != tokens || *r.TotalOutputTokens != tokens {
		t.Errorf("tokens add up to %d and %d of %d", got, *r.TotalOutputTokens, tokens)
	}
	most := int64(0)
	for _, n := range s.InFlight {
		most = max(most, n)
	}
	if most != *r.MaxConcurrency {
		t.Errorf("the series has %d in flight, the maximum is %d", most, *r.MaxConcurrency)
	}
	if want := int(math.Ceil(*r.DurationS / s.StepS)); len(s.Arrivals) < want || len(s.Arrivals) > want+1 {
		t.Errorf("%d steps of %v s for %v s", len(s.Arrivals), s.StepS, *r.DurationS)
	}
	// Little's law holds exactly for what is measured: Σ stays = concurrency · duration.
	stays := 0.0
	for _, rec := range recs {
		stays += float64(rec.End-rec.Sent) / 1e9
	}
	if got := *r.AvgConcurrency * *r.DurationS; math.Abs(got-stays) > 1e-6*stays {
		t.Errorf("concurrency · duration = %v, the stays add up to %v", got, stays)
	}
}

// Failed requests are counted beside every figure and time nothing: latencies
// are those of the successful ones alone, while duration and concurrency hold
// what the service really had to do.
func TestFailuresAreCountedNotTimed(t *testing.T) {
	recs, ok, failed, _ := mixedRun(500)
	var good []*outputs.Record
	for _, r := range recs {
		if r.OK() {
			good = append(good, r)
		}
	}
	all, clean := strict(t, recs...), strict(t, good...)
	if all.Requests.Failed != failed || all.Requests.Total != ok+failed || all.Requests.ByStatus[string(outputs.StatusTimeoutTotal)] != failed {
		t.Errorf("%+v, want %d failed of %d", all.Requests, failed, ok+failed)
	}
	for name, pair := range map[string][2]metrics.Stat{"E2EL": {all.E2EL, clean.E2EL}, "TTFT": {all.TTFT, clean.TTFT},
		"TPOT": {all.TPOT, clean.TPOT}, "ITL": {all.ITL, clean.ITL}, "OutputTokens": {all.OutputTokens, clean.OutputTokens}} {
		if pair[0].N != pair[1].N || *pair[0].Mean != *pair[1].Mean || *pair[0].Percentile(99) != *pair[1].Percentile(99) {
			t.Errorf("failures change %s", name)
		}
	}
	if *all.AvgConcurrency <= *clean.AvgConcurrency {
		t.Errorf("failed requests were in flight too: %v with them, %v without", *all.AvgConcurrency, *clean.AvgConcurrency)
	}
}

// Beyond the values kept as they are a distribution counts per quantum: its
// percentiles are then off by no more than half of it, its mean not at all.
func TestDistributionIsExactToItsQuantum(t *testing.T) {
	const quantum = 1000
	rng := rand.New(rand.NewPCG(9, 10))
	raw, counted := metrics.NewDist(1), metrics.NewDist(quantum)
	for range 40_000 {
		x := rng.Int64N(3_000_000_000) - 1000 // ns, not whole µs, some beyond the dense part, some negative
		raw.Add(x)
		counted.Add(x)
	}
	ps := []float64{0, 0.1, 1, 25, 50, 75, 90, 99, 99.9, 100}
	exact, got := raw.Percentiles(ps), counted.Percentiles(ps)
	for i := range ps {
		if math.Abs(exact[i]-got[i]) > quantum/2 {
			t.Errorf("p%v: %v, exactly %v", ps[i], got[i], exact[i])
		}
	}
	a, _ := raw.Mean()
	if b, _ := counted.Mean(); a != b {
		t.Errorf("mean %v, exactly %v", b, a)
	}
	a, _ = raw.Std()
	if b, _ := counted.Std(); a != b {
		t.Errorf("std %v, exactly %v", b, a)
	}
}

// The stable stage over shapes of load.
func TestStableStageByShape(t *testing.T) {
	flat := func(slots int, from, to, each int64) (recs []*outputs.Record) {
		for s := range slots {
			for at := from + int64(s); at+each <= to+ms; at += each {
				recs = append(recs, stay(at, each, 10))
			}
		}
		return recs
	}
	ramp := func(n int) (recs []*outputs.Record) { // one more each second, all until the end
		for i := range n {
			at := int64(i) * 1000 * ms
			recs = append(recs, stay(at, int64(n)*1000*ms-at, 10))
		}
		return recs
	}
	spiked := append(flat(10, 0, 60_000*ms, 500*ms), flat(10, 30_000*ms, 30_500*ms, 400*ms)...)
	for _, c := range []struct {
		name        string
		recs        []*outputs.Record
		peak, least int64
		from, to    float64 // s, to 10 ms
		warned      bool
	}{
		{"flat", flat(10, 0, 60_000*ms, 500*ms), 10, 10, 0, 60, false},
		{"ramp that never levels off", ramp(20), 20, 19, 18, 20, true},
		{"one spike", spiked, 20, 19, 30, 30.4, true},
		{"one request", flat(1, 0, 1000*ms, 1000*ms), 1, 1, 0, 1, true},
	} {
		s := strict(t, c.recs...).Stable
		if !s.Exists {
			t.Errorf("%s: no stage: %s", c.name, s.Reason)
			continue
		}
		if *s.PeakConcurrency != c.peak || *s.MinConcurrency != c.least {
			t.Errorf("%s: peak %d, at least %d; want %d and %d", c.name, *s.PeakConcurrency, *s.MinConcurrency, c.peak, c.least)
		}
		if math.Abs(*s.StartS-c.from) > 0.01 || math.Abs(*s.EndS-c.to) > 0.01 {
			t.Errorf("%s: %v to %v s, want %v to %v", c.name, *s.StartS, *s.EndS, c.from, c.to)
		}
		if (s.Warning != "") != c.warned {
			t.Errorf("%s: warning %q", c.name, s.Warning)
		}
	}
	// A flat load is stable throughout: both views give the same throughput.
	r := strict(t, flat(10, 0, 60_000*ms, 500*ms)...)
	if got, want := *r.Stable.OutputThroughput, *r.OutputThroughput; math.Abs(got-want) > 0.01*want {
		t.Errorf("stable output throughput %v, of the run %v", got, want)
	}
}

// A percentile is marked unless at least one value is expected beyond it.
func TestUndersampledPercentilesAreMarked(t *testing.T) {
	for _, c := range []struct {
		n      int
		marked map[float64]bool
	}{
		{19, map[float64]bool{50: false, 90: false, 95: true, 99: true}},
		{20, map[float64]bool{50: false, 90: false, 95: false, 99: true}},
		{99, map[float64]bool{95: false, 99: true}},
		{100, map[float64]bool{95: false, 99: false}},
	} {
		var recs []*outputs.Record
		for i := range c.n {
			recs = append(recs, record(i, outputs.StatusOK))
		}
		for _, p := range strict(t, recs...).TTFT.P {
			if want, asked := c.marked[p.P]; asked && p.Undersampled != want {
				t.Errorf("p%v of %d values: marked %v, want %v", p.P, c.n, p.Undersampled, want)
			}
		}
	}
}
