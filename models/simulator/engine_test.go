package simulator

import (
	"math"
	"testing"
	"time"
)

// bench is an engine driven by hand, without goroutines and without waiting.
type bench struct {
	t *testing.T
	e *engine
	k *call
}

func newBench(t *testing.T, cfg Config) *bench {
	t.Helper()
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Workers = 1
	e, err := newEngine(&cfg, func() int64 { return 0 }, newMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.sleep.close)
	return &bench{t, e, &call{cacheSeed: 1}}
}

// add queues a prompt of n tokens, all equal to fill, with out output tokens.
func (b *bench) add(n int, fill int32, out int) *sequence {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = fill
	}
	h := blockHashes(b.k.cacheSeed, ids, b.e.cfg.BlockSize)
	s := &sequence{call: b.k, promptLen: n, hashes: h, tail: ids[len(h)*b.e.cfg.BlockSize:], plan: outputPlan{total: out, seed: uint64(fill), cut: -1, finish: "stop"}}
	b.e.incoming = append(b.e.incoming, s)
	return s
}

// step runs one iteration and returns what it cost.
func (b *bench) step() (prefill, decode int) {
	_, prefill, decode, _ = b.e.schedule(0)
	b.e.complete(1)
	for len(b.e.out[0]) > 0 {
		<-b.e.out[0]
	}
	return prefill, decode
}

func TestChunkedPrefillSharesStepsWithDecoding(t *testing.T) {
	b := newBench(t, Config{MaxNumBatchedTokens: 100})
	short := b.add(50, 1, 20)
	if p, d := b.step(); p != 50 || d != 0 || short.produced != 1 {
		t.Fatalf("first step: prefill %d decode %d produced %d", p, d, short.produced)
	}
	long := b.add(250, 2, 2)
	for i, want := range []int{99, 99, 52} { // one token of every step goes to the decoding sequence
		if p, d := b.step(); p != want || d != 1 {
			t.Errorf("step %d: prefill %d decode %d, want %d and 1", i, p, d, want)
		}
	}
	if long.produced != 1 || short.produced != 4 {
		t.Errorf("long produced %d, short %d", long.produced, short.produced)
	}
	if p, d := b.step(); p != 0 || d != 2 {
		t.Errorf("both decode: prefill %d decode %d", p, d)
	}
}

func TestMaxNumSeqsLeavesOthersWaiting(t *testing.T) {
	b := newBench(t, Config{MaxNumSeqs: 2})
	for i := range int32(5) {
		b.add(10, i, 3)
	}
	b.step()
	if r, w := len(b.e.running), len(b.e.waiting); r != 2 || w != 3 {
		t.Fatalf("%d running, %d waiting", r, w)
	}
	steps := 1
	for len(b.e.running)+len(b.e.waiting) > 0 {
		b.step()
		steps++
	}
	if steps != 9 { // three waves of three steps
		t.Errorf("%d steps", steps)
	}
}

func TestPreemptionUnderKVPressureLosesNothing(t *testing.T) {
	b := newBench(t, Config{NumGPUBlocks: 10, BlockSize: 4, MaxModelLen: 40})
	var all []*sequence
	for i := range int32(3) {
		all = append(all, b.add(12, i+1, 20))
	}
	for range 500 {
		b.step()
		inUse := 0
		for _, s := range b.e.running {
			inUse += len(s.blocks)
		}
		if inUse != len(b.e.kv.blocks)-1-b.e.kv.free {
			t.Fatalf("sequences hold %d blocks, the pool misses %d", inUse, len(b.e.kv.blocks)-1-b.e.kv.free)
		}
	}
	preempted := 0
	for i, s := range all {
		if s.produced != 20 {
			t.Errorf("sequence %d produced %d of 20", i, s.produced)
		}
		preempted += s.preemptions
	}
	if preempted == 0 || b.e.preemptions.Load() != int64(preempted) {
		t.Errorf("%d preemptions, counted %d: three times 8 blocks do not fit into 10", preempted, b.e.preemptions.Load())
	}
	if b.e.kv.free != 10 {
		t.Errorf("%d of 10 blocks free at the end", b.e.kv.free)
	}
}

func TestPrefixCacheSharesBlocksAndEvictsTheOldest(t *testing.T) {
	b := newBench(t, Config{NumGPUBlocks: 8, BlockSize: 4, MaxModelLen: 32})
	run := func(fill int32) int {
		s := b.add(13, fill, 1)
		for s.produced == 0 {
			b.step()
		}
		return int(s.cached.Load())
	}
	if got := run(1); got != 0 {
		t.Errorf("cold: %d", got)
	}
	if got := run(1); got != 12 {
		t.Errorf("warm: %d, want the three full blocks", got)
	}
	run(2)
	run(3) // together more than 8 blocks: prompt 1 goes
	if got := run(1); got == 12 {
		t.Error("prompt 1 survived in full although the pool is too small for three")
	}
	b2 := newBench(t, Config{DisablePrefixCaching: true})
	b = b2
	run(1)
	if got := run(1); got != 0 {
		t.Errorf("caching is off: %d", got)
	}
}

func TestOutputTokensAreCachedForTheNextTurn(t *testing.T) {
	b := newBench(t, Config{BlockSize: 4})
	first := b.add(6, 1, 10)
	for first.produced < 10 {
		b.step()
	}
	ids := []int32{1, 1, 1, 1, 1, 1}
	for i := range 10 {
		ids = append(ids, first.plan.token(i))
	}
	found, _ := b.e.kv.lookup(blockHashes(b.k.cacheSeed, append(ids, 9, 9, 9, 9), 4), nil)
	if len(found) != 3 { // 15 of 16 tokens are computed: the last sampled one has no KV yet
		t.Errorf("%d blocks of the conversation are cached, want 3", len(found))
	}
}

func TestStepTimeFormula(t *testing.T) {
	cfg, err := Config{StepBase: 4 * time.Millisecond, PrefillCost: 10 * time.Microsecond, DecodeCost: 20 * time.Microsecond,
		ContextCost: time.Microsecond, TimeScale: 2, LatencyDrift: 0.5}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	m, err := newStepModel(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	got := m.step(1, int64(time.Minute), 100, 10, 3000)
	want := time.Duration(float64(2*(4000+100*10+10*20+3)*time.Microsecond) * 1.5)
	if time.Duration(got) != want {
		t.Errorf("step of %v, want %v", time.Duration(got), want)
	}
}

func TestTailsHaveMeanOne(t *testing.T) {
	for _, s := range []string{"lognormal:0.5", "pareto:3"} {
		tl, err := parseTail(s)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		const n = 200000
		for i := range uint64(n) {
			sum += tl.at(mix(7, i))
		}
		if mean := sum / n; mean < 0.98 || mean > 1.02 {
			t.Errorf("%s: mean %v", s, mean)
		}
	}
	for _, bad := range []string{"gauss:1", "pareto:1", "lognormal:x", "lognormal:-1"} {
		if _, err := parseTail(bad); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}

func TestConfigErrorsNameTheFlag(t *testing.T) {
	for want, cfg := range map[string]Config{
		`--preset "fsat" is not known`:    {Preset: "fsat"},
		"--accuracy 2":                    {Accuracy: 2},
		"--max-num-seqs must not":         {MaxNumSeqs: -1},
		`--role-delta "x" must be one of`: {Shape: Shape{RoleDelta: "x"}},
		"need --answers":                  {AnswerTemplate: "x"},
		"answers:2: not a JSON object":    {AnswersData: []byte("{\"question\":\"q\",\"answer\":1}\n{oops\n")},
		"answers:1: no answer":            {AnswersData: []byte(`{"question":"q"}`)},
		"answers:1: no question":          {AnswersData: []byte(`{"answer":"q"}`)},
		"--latency-tail":                  {LatencyTail: "x"},
	} {
		if s, err := New(cfg); err == nil {
			_ = s.Close()
			t.Errorf("no error with %q", want)
		} else if !contains(err.Error(), want) {
			t.Errorf("error %q, want %q", err, want)
		}
	}
}

// A scheduler that lags behind the engine it models admits requests that arrived after
// the modelled end of its last step. No token may be older than its request.
func TestNoTokenIsOlderThanItsRequest(t *testing.T) {
	b := newBench(t, Config{})
	first := b.add(10, 1, 3)
	first.arrival = 100
	late := b.add(10, 2, 2)
	late.arrival = 5000 // the step before ended, as modelled, at 1000
	start, _, _, _ := b.e.schedule(1000)
	if start != 5000 || first.admitted != 5000 || late.admitted != 5000 {
		t.Errorf("the step starts at %d, admissions at %d and %d", start, first.admitted, late.admitted)
	}
	b.e.complete(start + 7)
	if late.firstAt != 5007 || first.firstAt != 5007 {
		t.Errorf("first tokens at %d and %d", first.firstAt, late.firstAt)
	}
	if start, _, _, _ = b.e.schedule(5007); start != 5007 {
		t.Errorf("a step that admits nobody starts at %d, not at the end of the one before", start)
	}
	early := b.add(10, 3, 1)
	early.arrival = 5003
	if start, _, _, _ = b.e.schedule(5020); start != 5020 || early.admitted != 5020 {
		t.Errorf("a request that waited moved the step's start to %d", start)
	}
	b.e.complete(5020)
	m := b.e.m
	for name, h := range map[string]*histogram{"TTFT": &m.ttft, "queue time": &m.queueTime, "prefill": &m.prefill, "e2e": &m.e2e} {
		if sum := math.Float64frombits(h.sum.Load()); sum < 0 || h.n.Load() == 0 {
			t.Errorf("%s: %d values, their sum is %g s", name, h.n.Load(), sum)
		}
	}
	if sum, want := math.Float64frombits(m.ttft.sum.Load()), (4907+7+17)/1e9; math.Abs(sum-want) > 1e-12 {
		t.Errorf("TTFT sum %g, want %g", sum, want)
	}
}
