package capacity

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// made is a run with the given figures: tokens/s, and ms.
func made(number int, tokens, ttft, tpot, e2el float64) Run {
	stat := func(v float64) metrics.Stat {
		s := metrics.Stat{N: 200, Unit: metrics.Milliseconds, Mean: &v}
		for _, p := range metrics.DefaultPercentiles {
			q := v * (1 + p/1000)
			s.P = append(s.P, metrics.Percentile{P: p, Value: &q})
		}
		return s
	}
	requests := tokens / 100
	zero := 0.0
	return Run{Number: number, NumPrompts: 200, ClientBound: "no", Result: &metrics.Result{
		Requests:  metrics.Requests{Total: 200, Success: 200, FailedShare: &zero, ByStatus: map[string]int64{string(outputs.StatusOK): 200}},
		DurationS: &e2el, RequestThroughput: &requests, OutputThroughput: &tokens,
		TTFT: stat(ttft), TPOT: stat(tpot), ITL: stat(tpot), E2EL: stat(e2el)}}
}

// closed is a closed-loop curve: n requests in flight in a service that answers
// at most slots at once, a step of base+slope·batch ms a token, 100 tokens an
// answer. Each figure of each of runs runs is off by a normal factor of sd noise.
func closed(values []float64, slots, base, slope float64, runs int, noise float64, rng *rand.Rand) *Curve {
	c := &Curve{Axis: Concurrency}
	for _, n := range values {
		batch := min(n, slots)
		step := base + slope*batch
		answer := 100 * step // ms
		x := batch / answer * 1e3 * 100
		e2el := n / (x / 100) * 1e3 // Little
		for run := range runs {
			off := 1.0
			if noise > 0 {
				off = math.Exp(noise * rng.NormFloat64())
			}
			c.Add(n, made(run+1, x*off, (e2el-answer)/off+step, step/off, e2el/off))
		}
	}
	return c
}

func doubling(to float64) (v []float64) {
	for n := 1.0; n <= to; n *= 2 {
		v = append(v, n)
	}
	return v
}

func TestKneeOfCurvesKnown(t *testing.T) {
	fine := []float64{1, 4, 8, 16, 24, 28, 32, 36, 40, 48, 64}
	for _, c := range []struct {
		name  string
		curve *Curve
		state string
		value float64
	}{
		{"saturates at 32", closed(doubling(128), 32, 4, 0.02, 1, 0, nil), KneeFound, 32},
		{"saturates at 32, fine steps", closed(fine, 32, 4, 0.02, 1, 0, nil), KneeFound, 32},
		{"saturates between the levels", closed([]float64{1, 4, 8, 16, 30, 64}, 32, 4, 0.02, 1, 0, nil), KneeFound, 30},
		{"never saturates", closed(doubling(64), 1e9, 4, 0, 1, 0, nil), KneeNotReached, 64},
		{"saturates beyond the range", closed(doubling(64), 256, 9, 0.025, 1, 0, nil), KneeNotReached, 64},
		{"flat from the first", closed(doubling(32), 1, 4, 0, 1, 0, nil), KneeAtOrBelow, 1},
		{"decoding slows: step doubles at 40", closed(doubling(256), 1e9, 4, 0.1, 1, 0, nil), KneeFound, 32},
		{"two levels", closed([]float64{1, 64}, 32, 4, 0, 1, 0, nil), KneeUnknown, 0},
	} {
		k := c.curve.Knee()
		if k.State != c.state || c.state != KneeUnknown && *k.Value != c.value {
			t.Errorf("%s: %s at %v, want %s at %g (%s)", c.name, k.State, k.Value, c.state, c.value, k.Text)
		}
		if k.Text == "" {
			t.Errorf("%s: no text", c.name)
		}
	}
}

// TestKneeUnderNoise: with runs that scatter by 5 % the knee stays within a step
// of the true one on doubling steps, and the range told contains it nearly always.
func TestKneeUnderNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	exact, near, inRange := 0, 0, 0
	const trials = 400
	for range trials {
		k := closed(doubling(128), 32, 4, 0.02, 3, 0.05, rng).Knee()
		if k.Value == nil {
			t.Fatal(k.Text)
		}
		if *k.Value == 32 {
			exact++
		}
		if *k.Value >= 16 && *k.Value <= 64 {
			near++
		}
		if *k.From <= 32 && *k.To >= 32 {
			inRange++
		}
	}
	t.Logf("exact %d, within a step %d, within the range %d of %d", exact, near, inRange, trials)
	if exact < trials*98/100 || near != trials || inRange < trials*98/100 {
		t.Errorf("exact %d, within a step %d, within the range %d of %d", exact, near, inRange, trials)
	}
	// A service that does not saturate must not be given a knee by noise.
	false_ := 0
	for range trials {
		if k := closed(doubling(64), 1e9, 4, 0.005, 3, 0.05, rng).Knee(); k.State == KneeFound {
			false_++
		}
	}
	if false_ > trials/100 {
		t.Errorf("%d of %d curves without a knee were given one", false_, trials)
	}
}

func TestLevelsThatFailAreNoKnee(t *testing.T) {
	c := closed(doubling(64), 1e9, 4, 0, 1, 0, nil)
	l := c.At(64)
	l.Runs[0].Result.Requests = metrics.Requests{Total: 200, Success: 150, Failed: 50, ByStatus: map[string]int64{"ok": 150, "http_5xx": 50}}
	k := c.Knee()
	if k.State != KneeFound || *k.Value != 32 || k.Powers[6].Excluded == "" {
		t.Errorf("%s", k.Text)
	}
	if lim := c.Limit(k); lim.Cause != LimitErrors {
		t.Errorf("%+v", lim)
	}
}

func TestLimitedBy(t *testing.T) {
	bound := closed(doubling(64), 32, 4, 0.02, 1, 0, nil)
	bound.At(64).Runs[0].ClientBound = "yes"
	for name, c := range map[string]struct {
		curve *Curve
		want  string
	}{
		"batch full":     {closed(doubling(128), 32, 4, 0.02, 1, 0, nil), LimitQueue},
		"decoding slows": {closed(doubling(512), 1e9, 4, 0.1, 1, 0, nil), LimitDecode},
		"never":          {closed(doubling(64), 1e9, 4, 0, 1, 0, nil), LimitNone},
		"client":         {bound, LimitClient},
		"short":          {closed([]float64{1, 2}, 1, 4, 0, 1, 0, nil), LimitUnknown},
	} {
		if got := c.curve.Limit(c.curve.Knee()); got.Cause != c.want || got.Text == "" {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
	// The server's own word decides where the latencies would mislead.
	told := closed(doubling(512), 1e9, 4, 0.1, 1, 0, nil)
	told.At(32).Runs[0].Server, told.At(64).Runs[0].Server = &Server{Polls: 3, Running: 32}, &Server{Polls: 3, Running: 32, Waiting: 20, MaxRunning: 32}
	if got := told.Limit(told.Knee()); got.Cause != LimitQueue || !strings.Contains(got.Text, "up to 32 requests running, 20.0 waiting on average, max_num_seqs 32") {
		t.Errorf("%+v", got)
	}
	l := closed(doubling(128), 32, 4, 0.02, 1, 0, nil)
	if got := l.Limit(l.Knee()); got.InAnswer == nil || math.Abs(*got.InAnswer-32) > 1 || math.Abs(*got.InAnswerNext-32) > 1 {
		t.Errorf("in answer %v and %v, want 32", got.InAnswer, got.InAnswerNext)
	}
}

func TestStatisticsOverRuns(t *testing.T) {
	c := &Curve{Axis: Concurrency}
	for i, x := range []float64{100, 110, 120} {
		c.Add(8, made(i+1, x, 10, 1, 100))
	}
	s := c.At(8).Over(must("output_throughput"))
	if *s.Mean != 110 || math.Abs(*s.CV-10.0/110) > 1e-12 || math.Abs(*s.High-110-4.302652729749464*10/math.Sqrt(3)) > 1e-6 {
		t.Errorf("%+v: mean %g, CV %g, [%g, %g]", s, *s.Mean, *s.CV, *s.Low, *s.High)
	}
	c.Add(4, made(1, 50, 10, 1, 100))
	if s := c.At(4).Over(must("ttft_p99")); s.CV != nil || s.Low != nil || s.Mean == nil {
		t.Errorf("one run has no interval: %+v", s)
	}
	if c.Levels[0].Value != 4 || len(c.Levels) != 2 {
		t.Errorf("levels out of order: %+v", c.Levels)
	}
	c.At(8).Runs[1].Result.TPOT = metrics.Stat{Unit: metrics.Milliseconds}
	if s := c.At(8).Over(must("tpot_mean")); s.Mean != nil {
		t.Errorf("the mean of the runs that have it: %+v", s)
	}
}
