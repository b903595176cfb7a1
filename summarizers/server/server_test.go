package server

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"ais_bench/outputs"
)

// scene is a run folder with records and scrapes written by hand.
type scene struct {
	t       *testing.T
	run     *outputs.Run
	samples []outputs.ServerSample
	watch   outputs.ServerWatch
	records []*outputs.Record
}

const second = int64(1e9)

func newScene(t *testing.T) *scene {
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	engine := "vllm"
	measured := second
	return &scene{t: t, run: run, watch: outputs.ServerWatch{Session: 1, Model: "m", Dataset: "d", URL: "http://s", Start: 0, MeasuredStart: &measured, End: 100 * second,
		IntervalMS: 1000, Engine: &engine, PrefixCaching: "on", Evidence: "told", AnswersPerRequest: 1,
		Sources: []outputs.ServerSource{{Name: "http://s/metrics", Engine: true}}}}
}

// scrape adds the samples of one scrape: series or series{labels}, value.
func (s *scene) scrape(at int64, values map[string]float64) {
	for name, v := range values {
		series, labels, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
		s.samples = append(s.samples, outputs.ServerSample{T: at, Session: 1, Source: "http://s/metrics", Series: series, Labels: labels, Value: v})
	}
}

// request adds an answered request.
func (s *scene) request(sent, ttft, end int64, in, out int32) *outputs.Record {
	r := &outputs.Record{Model: "m", Dataset: "d", SampleID: fmt.Sprint(len(s.records)), Phase: outputs.PhaseMeasured, Scheduled: sent, Sent: sent, Connected: sent,
		FirstByte: sent + ttft, FirstEvent: sent + ttft, FirstToken: sent + ttft, FirstAnswerToken: sent + ttft, LastToken: end, End: end,
		InputTokens: in, OutputTokens: out, ReasoningTokens: outputs.UnknownTokens, CachedTokens: outputs.UnknownTokens, TokenSource: outputs.TokensUsage,
		Status: outputs.StatusOK, HTTPStatus: 200, Stream: true}
	s.records = append(s.records, r)
	return r
}

func (s *scene) analyze() *Analysis {
	s.t.Helper()
	w, err := s.run.ServerWriter("m", "d")
	if err == nil {
		err = w.Add(s.samples)
	}
	if err == nil {
		err = w.Close(s.watch)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	pairs := map[outputs.Pair][]*outputs.Record{}
	for _, r := range s.records {
		p := outputs.Pair{Model: r.Model, Dataset: r.Dataset}
		pairs[p] = append(pairs[p], r)
	}
	for p, list := range pairs {
		j, err := s.run.Journal(p.Model, p.Dataset)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, r := range list {
			if err := j.Append(r); err != nil {
				s.t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.run.Seal(p.Model, p.Dataset); err != nil {
			s.t.Fatal(err)
		}
	}
	all, err := s.run.Pairs()
	if err != nil {
		s.t.Fatal(err)
	}
	list, err := Analyze(s.run, all, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, a := range list {
		if a.Dataset == "d" {
			return a
		}
	}
	s.t.Fatal("no analysis")
	return nil
}

func near(v *float64, want float64) bool { return v != nil && math.Abs(*v-want) < 1e-9 }

func TestArrivalToTheRequestAndToken(t *testing.T) {
	s := newScene(t)
	s.scrape(0, map[string]float64{`requests_finished{finished_reason="stop"}`: 7, "prompt_tokens": 1000, "generation_tokens": 500})
	warm := s.request(second/2, second/10, second, 10, 5)
	warm.Phase = outputs.PhaseWarmup
	s.request(2*second, second/10, 3*second, 20, 8)
	probe := s.request(2*second, second/10, 3*second, 1, 1)
	probe.Dataset = "probe" // beside the benchmark, to the same server
	s.scrape(100*second, map[string]float64{`requests_finished{finished_reason="stop"}`: 9, `requests_finished{finished_reason="length"}`: 1, "prompt_tokens": 1031, "generation_tokens": 514})
	a := s.analyze().Arrival
	if a.State != Agree || a.Text != "to the request and to the token" || !near(a.Requests.Client, 3) || !near(a.Requests.Server, 3) || !near(a.PromptTokens.Difference, 0) || !near(a.OutputTokens.Difference, 0) {
		t.Errorf("arrival %+v", a)
	}
	if a.Client.Warmup != 1 || a.Client.Others != 1 {
		t.Errorf("client %+v", a.Client)
	}
}

func TestArrivalOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		before, after map[string]float64
		state         string
		stray, lost   *float64
	}{
		"a second client": {map[string]float64{"requests_finished": 0, "prompt_tokens": 0, "generation_tokens": 0}, map[string]float64{"requests_finished": 5, "prompt_tokens": 90, "generation_tokens": 40}, Stray, ptr(3), nil},
		"a replica's count": {map[string]float64{"requests_finished": 0, "prompt_tokens": 0, "generation_tokens": 0},
			map[string]float64{"requests_finished": 1, "prompt_tokens": 20, "generation_tokens": 8}, Lost, nil, ptr(1)},
		"somebody else's request under way": {map[string]float64{"requests_finished": 0, "prompt_tokens": 0, "generation_tokens": 0},
			map[string]float64{"requests_finished": 2, "prompt_tokens": 400, "generation_tokens": 16}, Stray, ptr(1), nil},
		"busy before the run": {map[string]float64{"requests_finished": 0, "prompt_tokens": 0, "generation_tokens": 0, "requests_running": 2},
			map[string]float64{"requests_finished": 2, "prompt_tokens": 40, "generation_tokens": 16, "requests_running": 2}, Stray, ptr(2), nil},
		"other tokens": {map[string]float64{"requests_finished": 0, "prompt_tokens": 0, "generation_tokens": 0},
			map[string]float64{"requests_finished": 2, "prompt_tokens": 38, "generation_tokens": 16}, Differ, ptr(0), ptr(0)},
		"busy before the run, and requests missing": {map[string]float64{"requests_finished": 0, "requests_running": 2},
			map[string]float64{"requests_finished": 1, "requests_running": 2}, Lost, ptr(2), ptr(1)},
		"busy before the run, finished ones more than that": {map[string]float64{"requests_finished": 0, "requests_running": 2},
			map[string]float64{"requests_finished": 9}, Stray, ptr(7), nil},
		"busy, and requests are not counted":      {map[string]float64{"requests_running": 40, "requests_waiting": 12}, map[string]float64{"requests_running": 40}, Stray, ptr(52), nil},
		"tokens agree, requests are not counted":  {map[string]float64{"prompt_tokens": 0, "generation_tokens": 0}, map[string]float64{"prompt_tokens": 40, "generation_tokens": 16}, Agree, ptr(0), ptr(0)},
		"tokens differ, requests are not counted": {map[string]float64{"prompt_tokens": 0, "generation_tokens": 0}, map[string]float64{"prompt_tokens": 90, "generation_tokens": 16}, Differ, nil, nil},
		"nothing counted":                         {map[string]float64{"requests_running": 0}, map[string]float64{"requests_running": 0}, Unknown, nil, nil},
	} {
		s := newScene(t)
		s.request(2*second, second/10, 3*second, 20, 8)
		s.request(2*second, second/10, 3*second, 20, 8)
		s.scrape(0, c.before)
		s.scrape(100*second, c.after)
		an := s.analyze()
		a := an.Arrival
		if a.State != c.state || !same(a.StrayRequests, c.stray) || !same(a.LostRequests, c.lost) || a.Text == "" {
			t.Errorf("%s: %s, %v stray, %v lost: %s", name, a.State, show(a.StrayRequests), show(a.LostRequests), a.Text)
		}
		if bad := c.state != Agree && c.state != Unknown; bad != (len(an.Warnings()) == 1) {
			t.Errorf("%s: warnings %v", name, an.Warnings())
		}
	}
}

// same compares figures that may be unknown.
func same(a, b *float64) bool { return (a == nil) == (b == nil) && (a == nil || near(a, *b)) }

func show(v *float64) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(*v)
}

// Engines that generate nothing count no requests; that is no loss.
func TestArrivalOfEmbeddings(t *testing.T) {
	for protocol, state := range map[string]string{"embeddings": Unknown, "chat": Lost} {
		s := newScene(t)
		s.watch.Protocol = protocol
		s.request(2*second, second/10, 3*second, 20, 8)
		s.scrape(0, map[string]float64{"requests_finished": 5, "prompt_tokens": 9})
		s.scrape(100*second, map[string]float64{"requests_finished": 5, "prompt_tokens": 9})
		if a := s.analyze().Arrival; a.State != state {
			t.Errorf("%s: %s (%s)", protocol, a.State, a.Text)
		}
	}
}

// A request of ours that failed on the way may have been finished by the server.
func TestArrivalWithFailures(t *testing.T) {
	for finished, state := range map[float64]string{1: Agree, 2: Agree, 3: Stray} {
		s := newScene(t)
		s.request(2*second, second/10, 3*second, 20, 8)
		cut := s.request(2*second, second/10, 3*second, 20, 4)
		cut.Status = outputs.StatusTimeoutTotal
		refused := s.request(2*second, 0, 3*second, 0, 0)
		refused.Status, refused.Connected, refused.FirstByte, refused.HTTPStatus = outputs.StatusDial, outputs.Never, outputs.Never, 0
		s.scrape(0, map[string]float64{"requests_finished": 0})
		s.scrape(100*second, map[string]float64{"requests_finished": finished})
		if a := s.analyze().Arrival; a.State != state || a.Client.Failed != 1 || a.Client.Sent != 3 || a.Client.Reached != 2 {
			t.Errorf("%v finished: %s (%s), client %+v", finished, a.State, a.Text, a.Client)
		}
	}
}

// Engines count every answer of a request with n > 1.
func TestArrivalOfSeveralAnswers(t *testing.T) {
	s := newScene(t)
	s.watch.AnswersPerRequest = 3
	s.request(2*second, second/10, 3*second, 20, 24)
	s.scrape(0, map[string]float64{"requests_finished": 0, "prompt_tokens": 0, "generation_tokens": 0})
	s.scrape(100*second, map[string]float64{"requests_finished": 3, "prompt_tokens": 60, "generation_tokens": 24})
	if a := s.analyze().Arrival; a.State != Agree {
		t.Errorf("arrival %+v", a)
	}
}

// The gap between the client's TTFT and the server's histogram; a quantile comes
// with the bucket it lies in.
func TestLatencyGap(t *testing.T) {
	s := newScene(t)
	s.request(2*second, 120e6, 3*second, 20, 8)
	s.request(2*second, 180e6, 3*second, 20, 8)
	zero := map[string]float64{"ttft_sum": 5, "ttft_count": 10, `ttft_bucket{le="0.1"}`: 4, `ttft_bucket{le="0.2"}`: 10, `ttft_bucket{le="+Inf"}`: 10}
	s.scrape(0, zero)
	s.scrape(100*second, map[string]float64{"ttft_sum": 5.28, "ttft_count": 12, `ttft_bucket{le="0.1"}`: 4, `ttft_bucket{le="0.2"}`: 12, `ttft_bucket{le="+Inf"}`: 12})
	l := s.analyze().Latency
	if len(l) != 1 || l[0].Name != "TTFT" || math.Abs(*l[0].Server.Mean-140) > 1e-6 || math.Abs(*l[0].Gap-10) > 1e-6 {
		t.Fatalf("latency %+v", l)
	}
	if p := l[0].Server.P50; p.Low != 100 || *p.High != 200 || *p.Value != 150 {
		t.Errorf("P50 %+v", p)
	}
}

func TestQuantilesOfBuckets(t *testing.T) {
	b := []bucket{{0, 0.1, 90}, {0.1, 0.2, 9}, {0.2, math.Inf(1), 1}}
	if q := quantile(b, 0.5); *q.Value != 1e3*0.1*50/90 || q.Low != 0 || *q.High != 100 {
		t.Errorf("P50 %+v", q)
	}
	if q := quantile(b, 0.999); q.Value != nil || q.High != nil || q.Low != 200 {
		t.Errorf("P99.9 in the open bucket: %+v", q)
	}
	if q := quantile(nil, 0.5); q != nil {
		t.Errorf("no observations: %+v", q)
	}
	if low, high, ok := above([]bucket{{0, 4096, 50}, {4096, 8192, 30}, {8192, 16384, 20}}, 8191.5); !ok || low != 0.2 || high != 0.5 {
		t.Errorf("above: %v to %v", low, high)
	}
}

// load plays ten seconds of measured load with one scrape a second.
func (s *scene) load(gauges func(i int) map[string]float64) *Analysis {
	for i := range 40 {
		s.request(2*second+int64(i)*second/4, second/10, 12*second, 100, 8)
	}
	s.scrape(0, map[string]float64{"requests_running": 0, "requests_waiting": 0, "kv_usage": 0, "preemptions": 0})
	for i := range 10 {
		g := gauges(i)
		if _, ok := g["preemptions"]; !ok {
			g["preemptions"] = 0
		}
		s.scrape(2*second+int64(i)*second, g)
	}
	s.scrape(12*second, map[string]float64{"requests_running": 0, "requests_waiting": 0, "kv_usage": 0, "preemptions": gauges(9)["preemptions"]})
	return s.analyze()
}

func parameterSet(pairs map[string]float64) map[string]outputs.ServerParameter {
	out := map[string]outputs.ServerParameter{}
	for k, v := range pairs {
		out[k] = outputs.ServerParameter{Value: v, Source: "/server_info"}
	}
	return out
}

func TestVerdicts(t *testing.T) {
	known := map[string]float64{"max_num_seqs": 32, "max_num_batched_tokens": 8192, "num_gpu_blocks": 1000, "block_size": 16}
	for name, c := range map[string]struct {
		parameters map[string]float64
		gauges     func(i int) map[string]float64
		verdict    string
		state      State
		share      float64
	}{
		"every slot taken for eight of ten seconds": {known, func(i int) map[string]float64 {
			if i < 8 {
				return map[string]float64{"requests_running": 32, "requests_waiting": 30, "kv_usage": 0.4}
			}
			return map[string]float64{"requests_running": 20, "requests_waiting": 0, "kv_usage": 0.4}
		}, QueueBound, StateQueue, 0.8},
		"memory used up": {known, func(i int) map[string]float64 {
			return map[string]float64{"requests_running": 9, "requests_waiting": 30, "kv_usage": 0.97}
		}, KVBound, StateKV, 1},
		"the next prompt does not fit": {map[string]float64{"max_num_seqs": 32, "num_gpu_blocks": 10, "block_size": 16}, func(i int) map[string]float64 {
			return map[string]float64{"requests_running": 1, "requests_waiting": 30, "kv_usage": 0.6} // 64 of 160 tokens free, a prompt has 100
		}, KVBound, StateKV, 1},
		"thrown out of a full batch": {known, func(i int) map[string]float64 {
			return map[string]float64{"requests_running": 32, "requests_waiting": 2, "kv_usage": 0.9, "preemptions": float64(i)}
		}, KVBound, StateKV, 0.9},
		"token budget": {known, func(i int) map[string]float64 {
			return map[string]float64{"requests_running": 5, "requests_waiting": 9, "kv_usage": 0.1}
		}, PrefillBound, StatePrefill, 1},
		"room left": {known, func(i int) map[string]float64 {
			return map[string]float64{"requests_running": 5, "requests_waiting": 0, "kv_usage": 0.1}
		}, NotSaturated, StateServing, 1},
		"nothing to do": {known, func(i int) map[string]float64 {
			return map[string]float64{"requests_running": float64(i % 2), "requests_waiting": 0, "kv_usage": 0.1}
		}, NotSaturated, StateIdle, 0.5},
		"limit inferred from the plateau": {nil, func(i int) map[string]float64 {
			return map[string]float64{"requests_running": 16, "requests_waiting": 5, "kv_usage": 0.2}
		}, QueueBound, StateQueue, 1},
	} {
		s := newScene(t)
		s.watch.Parameters = parameterSet(c.parameters)
		a := s.load(c.gauges)
		r := a.Reading
		if r == nil {
			t.Errorf("%s: no reading", name)
			continue
		}
		if a.Verdict == nil || *a.Verdict != c.verdict || !near(r.Shares[c.state], c.share) {
			t.Errorf("%s: %s, %s for %v of the time, want %s for %v: %+v", name, r.Findings[0].Verdict, c.state, *r.Shares[c.state], c.verdict, c.share, r.Findings)
		}
		total := 0.0
		for _, st := range States {
			total += *r.Shares[st]
		}
		if math.Abs(total-1) > 1e-9 || math.Abs(r.WindowS-10) > 1e-9 || r.Polls != 10 {
			t.Errorf("%s: shares sum to %v over %v s, %d polls", name, total, r.WindowS, r.Polls)
		}
		for _, f := range r.Findings {
			if f.Figures == "" || f.Advice == "" {
				t.Errorf("%s: a finding without figures or advice: %+v", name, f)
			}
		}
		if inferred := c.parameters == nil; r.Limit == nil || r.Limit.Inferred != inferred || inferred && r.Limit.Requests != 16 {
			t.Errorf("%s: limit %+v", name, r.Limit)
		}
	}
}

// Requests sent while the batch was full wait longer.
func TestTTFTByLimit(t *testing.T) {
	s := newScene(t)
	s.watch.Parameters = parameterSet(map[string]float64{"max_num_seqs": 4})
	s.request(2*second, second/10, 4*second, 10, 2)
	s.request(3*second+1, second/2, 4*second, 10, 2)
	s.request(3*second+2, second/2, 4*second, 10, 2)
	for i := range 5 { // of one second each
		s.scrape(2*second+int64(i)*second/5, map[string]float64{"requests_running": 1, "requests_waiting": 0})
		s.scrape(3*second+int64(i)*second/5, map[string]float64{"requests_running": 4, "requests_waiting": 0})
	}
	s.scrape(4*second, map[string]float64{"requests_running": 0, "requests_waiting": 0})
	r := s.analyze().Reading
	if !near(r.TTFTAtLimit, 500) || !near(r.TTFTBelow, 100) || r.NAtLimit != 2 || r.NBelow != 1 || !near(r.AtLimit, 0.5) {
		t.Errorf("reading %+v", r)
	}
}

// Without polling there are no shares of time, and two polls are no plateau.
func TestNoReadingWithoutPolls(t *testing.T) {
	s := newScene(t)
	s.watch.IntervalMS = 0
	if a := s.load(func(int) map[string]float64 { return map[string]float64{"requests_running": 1} }); a.Reading != nil {
		t.Errorf("reading %+v", a.Reading)
	}
	s = newScene(t)
	s.request(2*second, second, 4*second, 1, 1)
	s.scrape(2*second, map[string]float64{"requests_running": 9, "requests_waiting": 3})
	s.scrape(3*second, map[string]float64{"requests_running": 9, "requests_waiting": 3})
	if r := s.analyze().Reading; r == nil || r.Limit != nil {
		t.Errorf("reading %+v", r)
	}
}

// A handful of scrapes gives no shares of time and no verdict, but says how to get them.
func TestTooFewScrapes(t *testing.T) {
	for n, enough := range map[int]bool{3: false, leastPolls - 1: false, leastPolls: true} {
		s := newScene(t)
		s.watch.Parameters = parameterSet(map[string]float64{"max_num_seqs": 4})
		s.request(2*second, second/2, 2*second+int64(n)*second/10, 10, 2)
		for i := range n {
			s.scrape(2*second+int64(i)*second/10, map[string]float64{"requests_running": 4, "requests_waiting": 3})
		}
		s.scrape(2*second+int64(n)*second/10, map[string]float64{"requests_running": 0, "requests_waiting": 0})
		a := s.analyze()
		if r := a.Reading; r == nil || r.Polls != n || (a.Verdict != nil) != enough || (r.Shares[StateQueue] != nil) != enough || (r.RunningMean != nil) != enough || !near(r.RunningMax, 4) {
			t.Errorf("%d scrapes: verdict %v, reading %+v", n, a.Verdict, r)
			continue
		}
		table := a.timeTable()
		text := strings.Join(table.Notes, "\n")
		if said := strings.Contains(text, fmt.Sprintf("too few scrapes (%d) to say where the engine's time went: --server-metrics-interval 100ms, or a longer run", n)); said == enough || enough != strings.Contains(text, "Bottleneck: queue-bound") || (len(table.Rows) > 0) != enough {
			t.Errorf("%d scrapes: %d rows, %s", n, len(table.Rows), text)
		}
		for _, shown := range a.Tables() {
			var b strings.Builder
			if err := shown.WriteText(&b, outputs.TextOptions{}); err != nil || strings.Contains(b.String(), "┌") != (len(shown.Rows) > 0) {
				t.Errorf("%d scrapes: a head without rows, or the other way round: %v\n%s", n, err, b.String())
			}
			if notes := strings.Join(shown.Notes, "\n"); shown.ID == "server_sides" && strings.Contains(notes, "too few scrapes") == enough {
				t.Errorf("%d scrapes: %q says %s", n, shown.Title, notes)
			}
		}
	}
}

// A session in which nothing was asked, as --reuse of a complete run is, shows no
// table of zeros; requests that only the server saw are shown.
func TestNothingAsked(t *testing.T) {
	zero, three := 0.0, 3.0
	a := &Analysis{Arrival: &Arrival{State: Agree, Requests: count(&zero, &zero), PromptTokens: count(&zero, &zero)}}
	if tables := a.Tables(); len(tables) != 0 {
		t.Errorf("nothing asked: %d tables", len(tables))
	}
	a.Arrival.Requests = count(&zero, &three)
	if tables := a.Tables(); len(tables) != 1 {
		t.Errorf("requests of others: %d tables", len(tables))
	}
}

// While the client has its requests in flight, an engine that runs nothing is no sign
// of too little load.
func TestIdleEngineOfABusyClient(t *testing.T) {
	for name, c := range map[string]struct {
		length int64 // of every request; one is sent each second
		advice string
	}{"always one in flight": {second, "on the way"}, "long gaps between requests": {second / 10, "nothing to do"}} {
		s := newScene(t)
		for i := range int64(10) {
			s.request((2+i)*second, second/20, (2+i)*second+c.length, 10, 2)
		}
		for i := range int64(21) {
			s.scrape(2*second+i*second/2, map[string]float64{"requests_running": float64((i + 1) % 2), "requests_waiting": 0})
		}
		r := s.analyze().Reading
		if f := r.Findings[0]; f.Verdict != NotSaturated || !strings.Contains(f.Advice, c.advice) || !(*r.Shares[StateIdle] >= idleFor) {
			t.Errorf("%s: idle for %v: %+v", name, *r.Shares[StateIdle], f)
		}
	}
}

func TestClientBoundComesFirst(t *testing.T) {
	r := &Reading{Shares: map[State]*float64{StateQueue: ptr(0.5)}}
	r.judge(health{"yes", []string{"cpu_share is 0.97"}})
	if len(r.Findings) != 2 || r.Findings[0].Verdict != ClientBound || r.Findings[1].Verdict != QueueBound || !strings.Contains(r.Findings[0].Figures, "; cpu_share is 0.97") {
		t.Errorf("findings %+v", r.Findings)
	}
}

func TestCacheTruth(t *testing.T) {
	share := 0.3
	for name, c := range map[string]struct {
		mode       string
		hits       float64 // of 1,000 prompt tokens, in the measured phase
		counted    bool
		cached     int32 // of 100 a request
		shared     *float64
		flag       string
		rate       float64
		wantServer bool
	}{
		"cold and cold":            {"cold", 5, true, 0, nil, "", 0.005, true},
		"cold and warm":            {"cold", 100, true, 10, nil, "cold was asked for, and 10.0 % of the prompt tokens came from the prefix cache", 0.1, true},
		"cold with shared prompts": {"cold", 310, true, 31, &share, "", 0.31, true}, // up to a point more
		"cold, more than shared":   {"cold", 320, true, 32, &share, "30.0 % of the prompts' text repeats", 0.32, true},
		"counters that stay 0":     {"cold", 0, true, 10, nil, "cold was asked for, and 10.0 %", 0, true},
		"cold, nobody tells":       {"cold", 0, false, outputs.UnknownTokens, nil, "nothing tells whether", 0, false},
		"warm and warm":            {"warm", 960, true, 96, nil, "", 0.96, true},
		"warm and cold":            {"warm", 10, true, 1, nil, "only 1.0 %", 0.01, true},
		"any":                      {"any", 500, true, 50, nil, "", 0.5, true},
	} {
		s := newScene(t)
		s.watch.Cache = &outputs.ServerCache{Mode: c.mode, How: "h", SharedShare: c.shared}
		for i := range 10 {
			s.request(2*second+int64(i), second/10, 3*second, 100, 8).CachedTokens = c.cached
		}
		at := func(t int64, hits, queries float64) {
			v := map[string]float64{"requests_running": 0}
			if c.counted {
				v["prefix_hits"], v["prefix_queries"] = hits, queries
			}
			s.scrape(t, v)
		}
		at(0, 100, 200)
		at(second, 400, 1000) // the warm-up's are not the run's
		at(100*second, 400+c.hits, 2000)
		cache := s.analyze().Cache
		if (cache.Note != "") != (name == "cold with shared prompts") {
			t.Errorf("%s: note %q", name, cache.Note)
		}
		if (cache.Flag == "") != (c.flag == "") || !strings.Contains(cache.Flag, c.flag) {
			t.Errorf("%s: flag %q, want %q", name, cache.Flag, c.flag)
		}
		if c.wantServer && !near(cache.ServerRate, c.rate) || !c.wantServer && cache.ServerRate != nil {
			t.Errorf("%s: server's rate %v", name, cache.ServerRate)
		}
	}
}

// The engine's count of cached prompt tokens is preferred to the look-ups.
func TestCachedPromptTokens(t *testing.T) {
	s := newScene(t)
	s.request(2*second, second/10, 3*second, 100, 8)
	s.scrape(0, map[string]float64{"prefix_hits": 0, "prefix_queries": 0, "cached_prompt_tokens": 0, "prompt_tokens": 0})
	s.scrape(100*second, map[string]float64{"prefix_hits": 80, "prefix_queries": 200, "cached_prompt_tokens": 20, "prompt_tokens": 100})
	if c := s.analyze().Cache; !near(c.ServerRate, 0.2) {
		t.Errorf("cache %+v", c)
	}
}

// The tables and charts of a section are drawn on the client's axis.
func TestSection(t *testing.T) {
	s := newScene(t)
	s.watch.Parameters = parameterSet(map[string]float64{"max_num_seqs": 32})
	s.watch.Series = map[string]outputs.ServerSeries{"accelerator_util": {Kind: "gauge", Unit: "%", Title: "Utilization"}, "net": {Kind: "counter", Unit: "MB/s", Title: "Network"}}
	a := s.load(func(i int) map[string]float64 {
		return map[string]float64{"requests_running": 32, "requests_waiting": 30, "kv_usage": 0.4, `accelerator_util{gpu="0"}`: 90, `accelerator_util{gpu="1"}`: 80, "net": 10 * float64(i)}
	})
	sec := a.Section("s1", ClientSeries{StepS: 1, InFlight: []int64{1, 2, 3}, OutputTokens: []int64{1, 2, 3}, TTFTMeanMS: []*float64{nil, nil, nil}})
	if sec.Sheet != "Server" {
		t.Errorf("sheet %q", sec.Sheet)
	}
	byID := map[string]outputs.Chart{}
	for _, c := range sec.Charts {
		byID[c.ID] = c
	}
	req := byID["s1-server-requests"]
	if len(req.Series) != 4 || req.Series[1].Name != "server: running" {
		t.Fatalf("requests %+v", req.Series)
	}
	// The first request was due at 2 s of the run's clock: there the axis begins.
	run := req.Series[1]
	if run.X[0] != 0 || run.X[len(run.X)-1] != 10 || run.Y[0] != 32 {
		t.Errorf("running from %v to %v: %v", run.X[0], run.X[len(run.X)-1], run.Y)
	}
	util, net := byID["s1-server-x1"], byID["s1-server-x2"]
	if strings.HasPrefix(util.Title, "Network") {
		util, net = net, util
	}
	if len(util.Series) != 2 || util.YLabel != "%" || len(net.Series) != 1 || net.Series[0].Y[1] != 10 {
		t.Errorf("exporters %+v %+v", util, net)
	}
	if _, ok := byID["s1-server-preemptions"]; ok {
		t.Error("a chart of preemptions without any")
	}
	ids := map[string]int{}
	for _, tb := range sec.Tables {
		ids[tb.ID] = len(tb.Rows)
		if err := tb.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []string{"server_time", "server_reading", "server_parameters", "server_sources", "server_samples"} {
		if ids[id] == 0 {
			t.Errorf("table %s is missing or empty: %v", id, ids)
		}
	}
}

// Scrapes that fail in mid-run leave a gap: nothing is said of it, and of the whole
// only where most of it was seen.
func TestFailedScrapes(t *testing.T) {
	load := func(failing func(i int64) bool) *Analysis {
		s := newScene(t)
		for i := range int64(20) {
			s.request((2+4*i)*second, second/10, (2+4*i)*second+3*second, 20, 8)
		}
		for i := range int64(101) {
			if failing(i) {
				s.samples = append(s.samples, outputs.ServerSample{T: i * second, Session: 1, Source: "http://s/metrics", Series: outputs.SeriesUp, Metric: outputs.SeriesUp})
				if src := &s.watch.Sources[0]; src.FailingFrom == nil {
					at := i * second
					src.FailingFrom, src.Error = &at, "HTML"
				}
				continue
			}
			s.watch.Sources[0].FailingFrom = nil
			waiting := 0.0
			if i < 6 {
				waiting = 3
			}
			s.scrape(i*second, map[string]float64{"requests_running": 0, "requests_waiting": waiting, "requests_finished": float64(i) / 5, "prompt_tokens": float64(4 * i), "generation_tokens": 8})
		}
		return s.analyze()
	}
	a := load(func(i int64) bool { return i >= 6 })
	r := a.Reading
	if a.Arrival.State != Unknown || a.Arrival.StrayRequests != nil || a.Arrival.LostRequests != nil || a.Arrival.Requests.Server != nil || !strings.Contains(a.Arrival.Text, "failed from t=6.0 s to the end: HTML") {
		t.Errorf("arrival %+v", a.Arrival)
	}
	if r == nil || r.Shares[StateQueue] != nil || r.RunningMean != nil || a.Verdict != nil || !near(&r.WindowS, 4) || r.Covered > 0.1 {
		t.Errorf("reading %+v", r)
	}
	if w := a.Warnings(); len(w) != 1 || !strings.Contains(w[0], "scraping http://s/metrics failed from t=6.0 s") {
		t.Errorf("warnings %v", w)
	}
	if notes := strings.Join(a.timeTable().Notes, "\n"); !strings.Contains(notes, "too little for shares") {
		t.Errorf("notes %s", notes)
	}
	// A gap of ten seconds: the shares are of the rest.
	a = load(func(i int64) bool { return i >= 5 && i < 15 })
	if r = a.Reading; r == nil || r.Covered < 0.85 || r.Covered > 0.9 || r.Shares[StateQueue] == nil || !near(r.Shares[StateQueue], 3/r.WindowS) {
		t.Errorf("with a gap: %+v", r)
	}
	if a.Arrival.Requests.Server == nil || len(a.Arrival.Text) == 0 || strings.Contains(a.Arrival.Text, "scraping") {
		t.Errorf("with a gap: %+v", a.Arrival)
	}
}

// A counter that is no longer told is not one that stands still.
func TestCountersThatVanish(t *testing.T) {
	s := newScene(t)
	s.request(2*second, second/10, 3*second, 20, 8)
	s.scrape(0, map[string]float64{"requests_finished": 0, "requests_running": 0})
	s.scrape(100*second, map[string]float64{"requests_running": 0})
	if a := s.analyze().Arrival; a.State != Unknown || a.LostRequests != nil {
		t.Errorf("arrival %+v", a)
	}
}
