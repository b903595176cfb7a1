package facts

import (
	"iter"
	"math"
	"strings"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/facts/synthetic"
	"ais_bench/summarizers/metrics"
)

// setOf is a set of runs made of records alone.
func setOf(t *testing.T, o metrics.Options, runs ...synthetic.Config) *Set {
	t.Helper()
	var records []iter.Seq2[*outputs.Record, error]
	for _, c := range runs {
		records = append(records, c.Records())
	}
	s, err := FromRecords(records, Options{Metrics: o})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(t *testing.T, s *Set, name string) *Fact {
	t.Helper()
	f, err := s.Lookup(parse(name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// parse splits at dots, which the names in these tests have nowhere else.
func parse(name string) Path { return strings.Split(name, ".") }

var closed = synthetic.Config{Requests: 800, Concurrency: 16, Seed: 3, TTFTMedianMS: 200, TTFTSigma: 0.4, TPOTMedianMS: 20, TPOTSigma: 0.1, Tokens: 40, TokenSpread: 0.3, Success: 0.98}

// Every figure of the performance file has a name here, and the same value.
func TestValuesAreThoseOfTheReports(t *testing.T) {
	o := metrics.Options{SLOs: []metrics.SLO{{Metric: "ttft", MaxMS: 400}, {Metric: "tpot", MaxMS: 25}}}
	asReported(t, setOf(t, o, closed))
	// Some of those that failed were cut off by the user: no part of any share.
	failed := 0
	cut := func(yield func(*outputs.Record, error) bool) {
		for r, err := range closed.Records() {
			if err == nil && !r.OK() {
				if failed++; failed%2 == 0 {
					r.Status, r.HTTPStatus = outputs.StatusCancelled, 0
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
	s, err := FromRecords([]iter.Seq2[*outputs.Record, error]{cut}, Options{Metrics: o})
	if err != nil {
		t.Fatal(err)
	}
	if r := s.perf[s.pairs[0]].runs[0].result.Requests; r.Cancelled == 0 || r.Failed == 0 || r.Total+r.Cancelled != 800 {
		t.Fatalf("%+v", r)
	}
	asReported(t, s)
}

func asReported(t *testing.T, s *Set) {
	t.Helper()
	m := s.perf[s.pairs[0]].runs[0]
	if len(m.flat) < 150 {
		t.Errorf("only %d figures", len(m.flat))
	}
	for name, want := range m.flat {
		f, err := s.Lookup(Path{"perf"}.with(strings.Split(name, ".")...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		switch w := want.(type) {
		case float64:
			if f.Value == nil || math.Abs(*f.Value-w) > 1e-3+1e-9*math.Abs(w) {
				t.Errorf("%s = %v (%s), the report says %v", name, f.Value, f.Reason, w)
			}
		case nil:
			if f.Value != nil || f.Reason == "" {
				t.Errorf("%s = %v, the report says null; reason %q", name, *f.Value, f.Reason)
			}
		default:
			if f.Text != want {
				t.Errorf("%s = %v, the report says %v", name, f.Text, want)
			}
		}
	}
}

func TestEstimatesHaveIntervalsAroundThem(t *testing.T) {
	o := metrics.Options{SLOs: []metrics.SLO{{Metric: "ttft", MaxMS: 400}}}
	s := setOf(t, o, closed)
	for name, method := range map[string]string{
		"success_rate": "wilson", "perf.success_rate": "wilson", "perf.requests.failed_share": "wilson", "perf.goodput_share": "wilson", "perf.slo_attainment.ttft.share": "wilson",
		"perf.finish_reasons.length.share": "wilson", "perf.ttft.p99_ms": "order-statistics", "perf.ttft.p50_ms": "order-statistics", "perf.e2el.p97.5_ms": "",
		"perf.tpot.mean_ms": "batch-means-t", "perf.itl.p95_ms": "order-statistics", "perf.itl.mean_ms": "batch-means-t", "perf.output_throughput": "batch-means-t",
		"perf.request_throughput": "batch-means-t", "perf.request_goodput": "batch-means-t", "perf.stable_stage.output_throughput": "batch-means-t",
		"perf.requests.failed": "observed", "perf.max_concurrency": "observed", "perf.e2el.max_ms": "observed", "perf.by_input_length.short.ttft.p90_ms": "order-statistics",
	} {
		p := parse(name)
		if name == "perf.e2el.p97.5_ms" {
			p, method = Path{"perf", "e2el", "p97.5_ms"}, "order-statistics"
		}
		f, err := s.Lookup(p)
		if err != nil {
			t.Error(err)
			continue
		}
		i, err := f.Interval(0.95)
		if err != nil || f.Value == nil {
			t.Errorf("%s: %v %s", name, err, f.Reason)
			continue
		}
		if !strings.HasPrefix(i.Method, method) || !i.Contains(*f.Value) || !i.Bounded() {
			t.Errorf("%s: %v of %v", name, i, *f.Value)
		}
		if wide, _ := f.Interval(0.99); f.Kind.Estimated() && name != "perf.finish_reasons.length.share" && wide.Hi-wide.Lo <= i.Hi-i.Lo {
			t.Errorf("%s: at 0.99 %v, at 0.95 %v", name, wide, i)
		}
	}
}

func TestRunsArePooled(t *testing.T) {
	var runs []synthetic.Config
	for i := range 3 {
		c := closed
		c.Seed = uint64(10 + i)
		runs = append(runs, c)
	}
	s := setOf(t, metrics.Options{}, runs...)
	one := setOf(t, metrics.Options{}, runs[0])
	if f := get(t, s, "perf.requests.total"); *f.Value != 2400 {
		t.Errorf("requests of three runs: %v", *f.Value)
	}
	if f := get(t, s, "perf.ttft.p99_ms"); f.N < 2300 {
		t.Errorf("p99 of %d values", f.N)
	}
	a, err := get(t, s, "success_rate").Interval(0.95)
	b, _ := get(t, one, "success_rate").Interval(0.95)
	if err != nil || a.Hi-a.Lo >= b.Hi-b.Lo {
		t.Errorf("three runs: %v, one: %v", a, b)
	}
	f := get(t, s, "perf.output_throughput")
	if i, err := f.Interval(0.95); err != nil || i.Method != "runs-t" || !i.Contains(*f.Value) {
		t.Errorf("throughput of three runs: %v %v", i, err)
	}
	two := setOf(t, metrics.Options{}, runs[:2]...)
	if i, err := get(t, two, "perf.output_throughput").Interval(0.95); err != nil || i.Method != "batch-means-t" {
		t.Errorf("throughput of two runs: %v %v", i, err)
	}
}

// All at once: nothing is sent after the first answer, so there are no blocks of
// time; the percentile is still judged, the rate by the saturated part.
func TestBurst(t *testing.T) {
	c := synthetic.Config{Requests: 600, Seed: 5, TTFTMedianMS: 100, TTFTSigma: 0.3, TPOTMedianMS: 10, Tokens: 20}
	s := setOf(t, metrics.Options{}, c)
	if i, err := get(t, s, "perf.ttft.p99_ms").Interval(0.95); err != nil || !i.Bounded() {
		t.Errorf("p99 of a burst: %v %v", i, err)
	}
	if _, err := get(t, s, "perf.output_throughput").Interval(0.95); err == nil || !strings.Contains(err.Error(), "too short") {
		t.Errorf("the rate of a burst that is answered at once: %v", err)
	}
}

func TestSmallSamplesHaveOpenEnds(t *testing.T) {
	c := closed
	c.Requests, c.Success = 200, 1
	s := setOf(t, metrics.Options{}, c)
	f := get(t, s, "perf.ttft.p99_ms")
	i, err := f.Interval(0.95)
	if err != nil || !math.IsInf(i.Hi, 1) || math.IsInf(i.Lo, 0) {
		t.Errorf("p99 of 200: %v %v", i, err)
	}
	if _, hi := f.Reach(0.95); !math.IsInf(hi, 1) || f.Needed(0.95, 0) != 368 {
		t.Errorf("reach %v, needed %d", hi, f.Needed(0.95, 0))
	}
	if lo, _ := get(t, s, "success_rate").Reach(0.95); math.Abs(lo-200/(200+3.8415)) > 1e-4 {
		t.Errorf("200 of 200 succeed: low end %v", lo)
	}
}

func TestUnknownNamesHaveANearOne(t *testing.T) {
	s := setOf(t, metrics.Options{}, closed)
	for name, want := range map[string]string{
		"perf.tttf.p99_ms": "did you mean perf.ttft.p99_ms?", "perf.ttft.p99": "percentiles such as p99_ms", "ttft.p99_ms": "did you mean perf.ttft.p99_ms?",
		"sucess_rate": "did you mean success_rate?", "perf.output_troughput": "did you mean perf.output_throughput?", "output_throughput": "did you mean perf.output_throughput?",
		"accuracy.gsm8k.value": "no scored answers", "perf.requests.by_status.timeout": "did you mean", "perf": "group", "perf.ttft": "",
		"compare.baseline.ttft.p99_ms.change": "--baseline",
	} {
		if _, err := s.Lookup(parse(name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if f := get(t, s, "perf.requests.by_status.timeout_total"); f.Value == nil || *f.Value != 0 {
		t.Errorf("a status that did not occur: %+v", f)
	}
	if f := get(t, s, "perf.finish_reasons.content_filter.share"); f.Value == nil || *f.Value != 0 {
		t.Errorf("a finish reason that did not occur: %+v", f)
	}
}

func TestPathString(t *testing.T) {
	p := Path{"perf", "qwen/gsm8k", "ttft", "p99.9_ms"}
	if got := p.String(); got != `perf["qwen/gsm8k"].ttft["p99.9_ms"]` {
		t.Error(got)
	}
}

func TestSeriesAndSlicesKeepEverything(t *testing.T) {
	s, g := &series{}, &sliced{}
	total := 0.0
	for i := range 200_000 {
		at := int64(i) * 7_000_000
		s.add(at, 1)
		g.add(at, i, int64(i%50)*1_000_000, 1)
		total++
	}
	s.add(-5_000_000_000, 1)
	sum := 0.0
	for _, v := range s.n {
		sum += v
	}
	if sum != total+1 || len(s.n) > maxBins || g.all().N() != 200_000 || len(g.parts) > maxSlices {
		t.Errorf("%v of %v events in %d bins; %d gaps in %d slices", sum, total+1, len(s.n), g.all().N(), len(g.parts))
	}
	w := s.windows(0, 700_000_000_000, 10)
	for _, v := range w {
		if math.Abs(v-10_000) > 30 {
			t.Errorf("windows of equal length: %v", w)
			break
		}
	}
}
