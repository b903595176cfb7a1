package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ais_bench/evaluators"
	"ais_bench/outputs"
	"ais_bench/summarizers/facts/synthetic"
)

// plain is a run that scatters little.
var plain = synthetic.Config{Requests: 160, Concurrency: 8, Seed: 1, TTFTMedianMS: 100, TTFTSigma: 0.1, TPOTMedianMS: 10, TPOTSigma: 0.05, Tokens: 40, Success: 1}

// wrote makes a run folder of records and a manifest.
func wrote(t *testing.T, records iter.Seq2[*outputs.Record, error], change func(*outputs.Manifest)) *Input {
	t.Helper()
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	j, err := run.Journal("model", "set")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rec, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		rec.Model, rec.Dataset = "model", "set"
		if rec.PromptSHA256 == "" {
			rec.PromptSHA256 = "prompt of " + rec.SampleID
		}
		if err := j.Append(rec); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Seal("model", "set"); err != nil {
		t.Fatal(err)
	}
	m := outputs.NewManifest(run, outputs.ToolInfo{Name: "ais_bench", Version: "1.0", Commit: "abc"}, []string{"ais_bench"})
	engine, version := "vllm", "0.11.0"
	m.State = outputs.StateDone
	m.Seeds = map[string]any{"seed": 1.0}
	m.Sampling = map[string]any{"model": map[string]any{"generation_kwargs": map[string]any{"temperature": 0.0, "ignore_eos": true}, "stream": true}}
	m.Workload = map[string]any{"model × set": map[string]any{"samples": float64(n), "batch_size": 8.0, "request_rate": 0.0, "num_warmups": 1.0, "pressure": false, "duration_s": 0.0, "mode": "perf", "repeats": 1.0}}
	m.ServerBefore = &outputs.ServerSnapshot{URL: "http://a", Engine: &engine, Version: &version, Models: []any{map[string]any{"id": "served"}}, PrefixCaching: "on",
		Parameters: map[string]outputs.ServerParameter{"max_num_seqs": {Value: 256.0, Source: "/server_info"}, "dtype": {Value: "bfloat16", Source: "/server_info"}}}
	m.ClientHealth = map[string]any{"model × set": map[string]any{"client_bound": "no"}}
	m.Pairs = []outputs.PairState{{Model: "model", Dataset: "set", State: outputs.PairDone, Requests: int64(n), Sessions: 1, Records: "performances/model/set.parquet"}}
	if change != nil {
		change(m)
	}
	if err := run.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	in, err := OpenRun(run)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func side(name string, inputs ...*Input) Side { return Side{Name: name, Inputs: inputs} }

func compared(t *testing.T, o Options, sides ...Side) *Result {
	t.Helper()
	r, err := Compare(sides, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (c *Comparison) find(subject string) *Difference {
	for i := range c.Differences {
		if c.Differences[i].Subject == subject {
			return &c.Differences[i]
		}
	}
	return nil
}

// altered are the records of a run with each changed.
func altered(c synthetic.Config, change func(i int, r *outputs.Record)) iter.Seq2[*outputs.Record, error] {
	return func(yield func(*outputs.Record, error) bool) {
		i := 0
		for r, err := range c.Records() {
			if err == nil {
				change(i, r)
			}
			i++
			if !yield(r, err) {
				return
			}
		}
	}
}

// TestConditions: one thing is changed at a time; it is listed with the severity
// the documentation gives it, and nothing else is.
func TestConditions(t *testing.T) {
	base := wrote(t, plain.Records(), nil)
	sampling := func(key string, v any) func(*outputs.Manifest) {
		return func(m *outputs.Manifest) {
			m.Sampling["model"].(map[string]any)["generation_kwargs"].(map[string]any)[key] = v
		}
	}
	load := func(key string, v any) func(*outputs.Manifest) {
		return func(m *outputs.Manifest) { m.Workload["model × set"].(map[string]any)[key] = v }
	}
	for name, c := range map[string]struct {
		manifest func(*outputs.Manifest)
		records  func(i int, r *outputs.Record)
		subject  string // "" = no difference at all
		want     Severity
	}{
		"nothing":          {subject: ""},
		"prefix caching":   {manifest: func(m *outputs.Manifest) { m.ServerBefore.PrefixCaching = "off" }, subject: "prefix caching", want: Invalid},
		"caching not told": {manifest: func(m *outputs.Manifest) { m.ServerBefore.PrefixCaching = "unknown" }, subject: "prefix caching", want: Caution},
		"concurrency":      {manifest: load("batch_size", 16.0), subject: "concurrency", want: Invalid},
		"rate":             {manifest: load("request_rate", 4.0), subject: "request rate", want: Invalid},
		"arrivals":         {manifest: load("traffic_cfg", map[string]any{"Burstiness": 0.5}), subject: "arrivals", want: Info}, // the base does not tell
		"pressure":         {manifest: load("pressure", true), subject: "pressure", want: Invalid},
		"warm-ups":         {manifest: load("num_warmups", 9.0), subject: "warm-ups", want: Caution},
		"stream":           {manifest: func(m *outputs.Manifest) { m.Sampling["model"].(map[string]any)["stream"] = false }, subject: "stream", want: Invalid},
		"ignore_eos":       {manifest: sampling("ignore_eos", false), subject: "sampling: ignore_eos", want: Invalid},
		"temperature":      {manifest: sampling("temperature", 1.0), subject: "sampling: temperature", want: Caution},
		"top_p only there": {manifest: sampling("top_p", 0.9), subject: "sampling: top_p", want: Caution},
		"n":                {manifest: sampling("n", 2.0), subject: "sampling: n", want: Invalid},
		"seed":             {manifest: func(m *outputs.Manifest) { m.Seeds["seed"] = 2.0 }, subject: "seed", want: Caution},
		"engine":           {manifest: func(m *outputs.Manifest) { e := "sglang"; m.ServerBefore.Engine = &e }, subject: "engine", want: Caution},
		"engine version":   {manifest: func(m *outputs.Manifest) { v := "0.12.0"; m.ServerBefore.Version = &v }, subject: "engine version", want: Caution},
		"model":            {manifest: func(m *outputs.Manifest) { m.ServerBefore.Models = []any{map[string]any{"id": "other"}} }, subject: "model", want: Caution},
		"server setting": {manifest: func(m *outputs.Manifest) {
			m.ServerBefore.Parameters["max_num_seqs"] = outputs.ServerParameter{Value: 64.0}
		}, subject: "server: max_num_seqs", want: Caution},
		"server settings": {manifest: func(m *outputs.Manifest) { m.ServerBefore.Parameters = nil }, subject: "server settings", want: Caution},
		"address":         {manifest: func(m *outputs.Manifest) { m.ServerBefore.URL = "http://b" }, subject: "server address", want: Info},
		"tool":            {manifest: func(m *outputs.Manifest) { m.Tool.Version = "2.0" }, subject: "tool", want: Caution},
		"tool commit":     {manifest: func(m *outputs.Manifest) { m.Tool.Commit = "def" }, subject: "tool commit", want: Info},
		"machine":         {manifest: func(m *outputs.Manifest) { m.Host.CPUs = 512 }, subject: "client machine", want: Caution},
		"client suspect": {manifest: func(m *outputs.Manifest) {
			m.ClientHealth.(map[string]any)["model × set"].(map[string]any)["client_bound"] = "suspect"
		}, subject: "client-bound", want: Caution},
		"client bound": {manifest: func(m *outputs.Manifest) {
			m.ClientHealth.(map[string]any)["model × set"].(map[string]any)["client_bound"] = "yes"
		}, subject: "client-bound", want: Invalid},
		"interrupted": {manifest: func(m *outputs.Manifest) { m.Pairs[0].State = outputs.PairInterrupted }, subject: "state", want: Caution},
		"sessions":    {manifest: func(m *outputs.Manifest) { m.Pairs[0].Sessions = 2 }, subject: "sessions", want: Invalid},
		"server changed": {manifest: func(m *outputs.Manifest) {
			m.Warnings = append(m.Warnings, "INVALID: the server changed while x ran: restarted")
		}, subject: "server changed", want: Invalid},
		"proxy":   {manifest: func(m *outputs.Manifest) { m.Extra = map[string]any{"proxy of model": "http://p"} }, subject: "proxy", want: Info}, // the base does not tell
		"prompts": {records: func(_ int, r *outputs.Record) { r.PromptSHA256 = "another " + r.SampleID }, subject: "prompts", want: Caution},
		"some prompts": {records: func(i int, r *outputs.Record) {
			if i == 7 {
				r.PromptSHA256 = "another"
			}
		}, subject: "prompts", want: Caution},
		"input a little":    {records: func(_ int, r *outputs.Record) { r.InputTokens += r.InputTokens * 3 / 100 }, subject: "input tokens", want: Caution},
		"input much":        {records: func(_ int, r *outputs.Record) { r.InputTokens *= 2 }, subject: "input tokens", want: Invalid},
		"output a little":   {records: func(_ int, r *outputs.Record) { r.OutputTokens += 2 }, subject: "output tokens", want: Caution},
		"output much":       {records: func(_ int, r *outputs.Record) { r.OutputTokens += 20 }, subject: "output tokens", want: Invalid},
		"output not told":   {records: func(_ int, r *outputs.Record) { r.OutputTokens = outputs.UnknownTokens }, subject: "output tokens", want: Caution},
		"a few failures":    {records: failing(3), subject: "failed", want: Caution},
		"many failures":     {records: failing(24), subject: "failed", want: Invalid},
		"nothing succeeded": {records: failing(160), subject: "failed", want: Invalid},
		"token counts":      {records: func(_ int, r *outputs.Record) { r.TokenSource = outputs.TokensLocalTokenizer }, subject: "token counts", want: Caution},
		"stamps":            {records: func(_ int, r *outputs.Record) { r.KernelStamp = !r.KernelStamp }, subject: "time stamps", want: Caution},
		"cached a little":   {records: cached(0.03), subject: "cached share", want: Caution},
		"cached much":       {records: cached(0.5), subject: "cached share", want: Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			records := plain.Records()
			ref := base
			if c.records != nil {
				records = altered(plain, c.records)
			}
			if c.subject == "cached share" {
				ref = wrote(t, altered(plain, cached(0)), nil)
			}
			other := wrote(t, records, c.manifest)
			r := compared(t, Options{}, side("base", ref), side("other", other))
			cmp := &r.Comparisons[0]
			if c.subject == "" {
				if len(cmp.Differences) > 0 {
					t.Errorf("differences %+v", cmp.Differences)
				}
				return
			}
			d := cmp.find(c.subject)
			if c.want == Info && d == nil && (name == "arrivals" || name == "proxy") {
				return // one side says nothing, which is the default
			}
			if d == nil || d.Performance != c.want {
				t.Fatalf("%s: %+v, want %s; all %+v", c.subject, d, c.want, cmp.Differences)
			}
			if d.Why == "" {
				t.Error("it does not say why")
			}
			for _, o := range cmp.Differences {
				follows := o.Subject == "state" || o.Subject == "output tokens" || o.Subject == "input tokens" || o.Subject == "questions" || o.Subject == "token counts" || o.Subject == "time stamps"
				if o.Subject != c.subject && !follows {
					t.Errorf("beside it: %+v", o)
				}
			}
			if p := cmp.Performance; p.Comparable != (c.want != Invalid) {
				t.Errorf("comparable %v, reasons %q", p.Comparable, p.Reasons)
			}
			if c.want == Invalid {
				if len(cmp.Performance.Changes) > 0 {
					t.Error("figures of what is not comparable, without --force")
				}
				if v := r.Verdicts()[0]; !strings.Contains(v, "NOT COMPARABLE: ") || !strings.Contains(v, c.subject) {
					t.Error(v)
				}
				if r.Comparable() || r.Repeatability.Applies {
					t.Error("comparable all the same")
				}
				forced := compared(t, Options{Force: true}, side("base", ref), side("other", other))
				if v := forced.Verdicts()[0]; len(forced.Comparisons[0].Performance.Changes) == 0 || !strings.Contains(v, "NOT COMPARABLE (") {
					t.Error("forced:", v)
				}
			}
		})
	}
}

func failing(n int) func(int, *outputs.Record) {
	return func(i int, r *outputs.Record) {
		if i < n {
			r.Status, r.FirstToken, r.LastToken, r.ChunkAt, r.HTTPStatus = outputs.StatusHTTP5xx, outputs.Never, outputs.Never, nil, 503
		}
	}
}

func cached(share float64) func(int, *outputs.Record) {
	return func(_ int, r *outputs.Record) {
		r.InputTokens = 200
		r.CachedTokens = int32(200 * share)
	}
}

// TestCachingNobodyTells: silence of both sides is no agreement.
func TestCachingNobodyTells(t *testing.T) {
	silent := func(m *outputs.Manifest) { m.ServerBefore.PrefixCaching = "unknown" }
	r := compared(t, Options{}, side("a", wrote(t, plain.Records(), silent)), side("b", wrote(t, plain.Records(), silent)))
	if d := r.Comparisons[0].find("prefix caching"); d == nil || d.Performance != Caution {
		t.Errorf("%+v", r.Comparisons[0].Differences)
	}
}

// TestSlowerAndEqualRuns: a run that is 10 % slower is a regression in every figure
// that is known well enough, the same run is within tolerance of itself, and a
// faster one is better: in throughput upwards, in latency downwards.
func TestSlowerAndEqualRuns(t *testing.T) {
	timed := func(factor float64) iter.Seq2[*outputs.Record, error] {
		c := plain
		c.Requests, c.TTFTMedianMS, c.TPOTMedianMS = 600, plain.TTFTMedianMS*factor, plain.TPOTMedianMS*factor
		return c.Records()
	}
	base := wrote(t, timed(1), nil)
	for _, c := range []struct {
		factor           float64
		verdict          Verdict
		line             string
		regression, pass bool
	}{{1, Within, "within tolerance", false, true}, {1.1, Worse, "REGRESSION", true, false}, {0.9, Better, "better: ", false, false}, {1.02, Within, "within tolerance", false, true}} {
		r := compared(t, Options{}, side("base", base), side("other", wrote(t, timed(c.factor), nil)))
		got := map[string]Change{}
		for _, ch := range r.Comparisons[0].Performance.Changes {
			got[ch.Metric] = ch
		}
		for _, name := range []string{"output_throughput", "request_throughput", "ttft.mean_ms", "ttft.p50_ms", "tpot.mean_ms", "tpot.p99_ms", "itl.p50_ms", "e2el.p50_ms"} {
			ch, ok := got[name]
			if !ok || ch.Verdict != c.verdict {
				t.Errorf("%g times: %s %s (%+v)", c.factor, name, ch.Verdict, ch)
			}
		}
		if got["success_rate"].Verdict != Within {
			t.Errorf("%g times: success %+v", c.factor, got["success_rate"])
		}
		if v := r.Verdicts(); !strings.Contains(v[0], c.line) {
			t.Errorf("%g times: %q", c.factor, v)
		}
		// Throughput falls when times rise.
		if f, g := *got["output_throughput"].Change, *got["tpot.mean_ms"].Change; c.factor != 1 && (f > 0) == (g > 0) {
			t.Errorf("%g times: throughput %v, TPOT %v", c.factor, f, g)
		}
		if p := r.Repeatability; !p.Applies || p.Pass == nil || *p.Pass != c.pass || r.Regression() != c.regression || r.Repeats() != c.pass {
			t.Errorf("%g times: repeatability %+v, regression %v", c.factor, p, r.Regression())
		}
	}
}

// TestPairedRequests: what two runs of the same questions have in common cancels
// out, and nothing is paired that is not the same.
func TestPairedRequests(t *testing.T) {
	scanned := func(records iter.Seq2[*outputs.Record, error]) *scan {
		s, err := scanRecords(records)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	c := plain
	c.TTFTSigma, c.TokenSpread = 1, 0.5 // lengths and times scatter widely …
	hash := func(_ int, r *outputs.Record) { r.PromptSHA256 = "prompt of " + r.SampleID }
	base := scanned(altered(c, hash))
	slower := scanned(altered(c, func(i int, r *outputs.Record) { // … and every request takes 2 % longer
		hash(i, r)
		for _, at := range []*int64{&r.FirstToken, &r.LastToken, &r.End} {
			*at = r.Sent + (*at-r.Sent)*102/100
		}
		for k := range r.ChunkAt {
			r.ChunkAt[k] = r.ChunkAt[k] * 102 / 100
		}
	}))
	p := pairUp(base, slower)
	if p == nil || len(p.a) != c.Requests || p.n < 8 {
		t.Fatalf("%+v", p)
	}
	for _, name := range []string{"ttft.mean_ms", "tpot.p50_ms", "e2el.p95_ms", "itl.mean_ms"} {
		i := slices.IndexFunc(Headline, func(m Metric) bool { return m.Name == name })
		s, ok := p.spreadOf(Headline[i])
		if !ok {
			t.Fatalf("%s: no spread", name)
		}
		if in, pv := s.interval(100, 102, 0.95); in.Lo < 0.019 || in.Hi > 0.021 || *pv > 1e-6 {
			t.Errorf("%s: %+v, p %v", name, in, *pv)
		}
	}
	other := scanned(altered(c, func(_ int, r *outputs.Record) { r.PromptSHA256 = "another" }))
	few := scanned(altered(c, func(i int, r *outputs.Record) {
		hash(i, r)
		if i%5 == 0 {
			r.Status = outputs.StatusHTTP5xx
		}
	}))
	burst := c
	burst.Concurrency, burst.Rate = 0, 0
	for name, s := range map[string]*scan{"other prompts": other, "a fifth has no partner": few, "nothing": nil, "no hashes": scanned(altered(c, func(_ int, r *outputs.Record) { r.PromptSHA256 = "" }))} {
		if pairUp(base, s) != nil {
			t.Errorf("%s: paired all the same", name)
		}
	}
	atOnce := scanned(altered(burst, hash))
	if pairUp(atOnce, atOnce) != nil {
		t.Error("a run whose requests were all sent at once is cut into blocks of time")
	}
}

// TestChanceIsNoRegression: of equal runs with scattering times, hardly one in
// twenty has any figure that is called worse or better, however small the
// tolerance.
func TestChanceIsNoRegression(t *testing.T) {
	c := synthetic.Config{Requests: 200, Concurrency: 8, TTFTMedianMS: 100, TTFTSigma: 0.5, TPOTMedianMS: 10, TPOTSigma: 0.2, Tokens: 20, TokenSpread: 0.3, Success: 0.97,
		SlowShare: 0.2, SlowSeconds: 1, SlowFactor: 1.5}
	const comparisons = 20
	wrong, figures := 0, 0
	for i := range comparisons {
		var in [2]*Input
		for k := range in {
			c.Seed = uint64(1000 + 2*i + k)
			in[k] = wrote(t, c.Records(), nil)
		}
		r := compared(t, Options{Force: true, Tolerance: 0.001, ShareTolerance: 0.001}, side("a", in[0]), side("b", in[1]))
		differ := false
		for _, ch := range r.Comparisons[0].Performance.Changes {
			figures++
			differ = differ || ch.Verdict == Worse || ch.Verdict == Better
		}
		if differ {
			wrong++
		}
	}
	t.Logf("%d of %d comparisons of equal runs found a difference, %d figures", wrong, comparisons, figures)
	if wrong > 4 { // 5 % of 20 are 1; P(more than 4) is 0.3 %
		t.Errorf("%d of %d comparisons of equal runs found a difference", wrong, comparisons)
	}
}

// TestRepeatedRuns: with several runs a side the scatter between runs decides, by
// Welch's t of the logarithms; against a single run by the pooled one.
func TestRepeatedRuns(t *testing.T) {
	m := Metric{Name: "x", Higher: true}
	figures := func(values ...float64) (out []figure) {
		for _, v := range values {
			out = append(out, figure{value: &v, n: 100})
		}
		return out
	}
	o := Options{}.withDefaults()
	a, b := figures(100, 101, 99, 100.5), figures(90, 91, 89.5)
	c := o.changeOf(m, a, b, nil, 0.99)
	// R: x <- log(c(90,91,89.5)); y <- log(c(100,101,99,100.5)); t.test(x, y)$conf.int, exp()-1
	if c.Verdict != Worse || c.Interval.Method != "welch-t-log" || c.P == nil {
		t.Fatalf("%+v", c)
	}
	if lo, hi := c.Interval.Lo, c.Interval.Hi; !near(lo, -0.1145, 2e-3) || !near(hi, -0.0848, 2e-3) {
		t.Errorf("interval %v to %v", lo, hi)
	}
	// One run against three: t with two degrees of freedom, sd·√(1 + 1/3).
	one := o.changeOf(m, figures(100, 102, 98), figures(90), nil, 0.99)
	sd := 0.0200026670 // sd(log(c(100,102,98)))
	half := 4.302652730 * sd * 1.154700538
	d := -0.1052271 // log(90) − mean(log(c(100,102,98)))
	if one.Interval.Method != "pooled-t-log" || !near(one.Interval.Lo, expm1(d-half), 1e-4) || !near(one.Interval.Hi, expm1(d+half), 1e-4) {
		t.Errorf("one against three: %+v", one.Interval)
	}
	if one.Verdict != Inconclusive { // 10 % is beyond the tolerance, but not beyond what three runs scatter
		t.Errorf("one against three: %s", one.Verdict)
	}
	if same := o.changeOf(m, figures(100, 100), figures(100, 100), nil, 0.99); same.Verdict != Within || *same.P != 1 {
		t.Errorf("equal: %+v", same)
	}
	missing := o.changeOf(m, append(figures(100), figure{reason: "not streamed"}), figures(100), nil, 0.99)
	if missing.Verdict != Undefined || missing.Reason != "not streamed" || missing.Base != nil {
		t.Errorf("one run without the figure: %+v", missing)
	}
}

func near(a, b, tol float64) bool { return a-b <= tol && b-a <= tol }

func expm1(x float64) float64 { return x + x*x/2 + x*x*x/6 + x*x*x*x/24 }

func TestVerdictsOfSingleFigures(t *testing.T) {
	o := Options{}.withDefaults()
	v := func(x float64, n int64) []figure { return []figure{{value: &x, n: n}} }
	latency := Metric{Name: "ttft.p99_ms", Q: 0.99}
	for _, c := range []struct {
		m    Metric
		a, b float64
		n    int64
		want Verdict
	}{
		{latency, 100, 104, 200, Within}, {latency, 100, 106, 200, Worse}, {latency, 100, 90, 200, Better}, {latency, 100, 200, 50, Inconclusive},
		{Metric{Name: "output_throughput", Higher: true}, 100, 90, 200, Worse}, {Metric{Name: "output_throughput", Higher: true}, 100, 110, 200, Better},
		{Metric{Name: "success_rate", Higher: true, Share: true}, 1, 0.995, 200, Within}, {Metric{Name: "success_rate", Higher: true, Share: true}, 1, 0.9, 200, Worse},
		{latency, 0, 5, 200, Undefined},
	} {
		if got := o.changeOf(c.m, v(c.a, c.n), v(c.b, c.n), nil, 0.99); got.Verdict != c.want || got.Interval != nil {
			t.Errorf("%s %g → %g of %d: %s, want %s", c.m.Name, c.a, c.b, c.n, got.Verdict, c.want)
		}
	}
}

// answered writes scored answers to a run: outcome and score by question.
func answered(t *testing.T, in *Input, answers func(i int) (outcome string, score float64, change func(*outputs.Prediction))) {
	t.Helper()
	w, err := in.Run.Predictions("model", "set")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		outcome, score, change := answers(i)
		extracted := "x" + outcome
		p := &outputs.Prediction{ID: i, SampleID: fmt.Sprint("q", i), Success: outcome != "failed", Outcome: outcome, Score: &score, Extracted: &extracted,
			PromptSHA256: fmt.Sprint("hash", i), Gold: fmt.Sprint("gold", i), Status: outputs.StatusOK}
		if i >= 50 {
			p.Subset = "second"
		} else {
			p.Subset = "first"
		}
		if change != nil {
			change(p)
		}
		if err := w.Append(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := in.Run.WriteResults("model", "set", evaluators.Result{Model: "model", Dataset: "set", Scorer: "gsm8k", ScorerVersion: "1", Metric: "accuracy", Version: "abc"}); err != nil {
		t.Fatal(err)
	}
}

func right(yes bool) (string, float64, func(*outputs.Prediction)) {
	if yes {
		return "right", 1, nil
	}
	return "wrong", 0, nil
}

func TestAccuracyFlips(t *testing.T) {
	base := wrote(t, plain.Records(), nil)
	answered(t, base, func(i int) (string, float64, func(*outputs.Prediction)) { return right(i%4 != 0) })
	other := wrote(t, plain.Records(), nil)
	answered(t, other, func(i int) (string, float64, func(*outputs.Prediction)) {
		switch {
		case i == 90:
			return "failed", 0, nil
		case i == 91: // another prompt
			o, s, _ := right(true)
			return o, s, func(p *outputs.Prediction) { p.PromptSHA256 = "changed" }
		case i == 92: // another question
			o, s, _ := right(true)
			return o, s, func(p *outputs.Prediction) { p.SampleID = "new" }
		case i == 8: // wrong → right
			return right(true)
		case i < 13 && i%4 != 0: // right → wrong: 1 2 3 5 6 7 9 10 11
			return right(false)
		}
		return right(i%4 != 0)
	})
	r := compared(t, Options{}, side("base", base), side("other", other))
	a := r.Comparisons[0].Accuracy
	if a == nil || !a.Comparable || len(a.Changes) != 3 {
		t.Fatalf("%+v", a)
	}
	first, second, whole := a.Changes[0], a.Changes[1], a.Changes[2]
	if whole.N != 97 || whole.LeftOut != 4 || whole.BaseOnly != 9 || whole.OtherOnly != 1 || !near(whole.Change, -8.0/97, 1e-12) {
		t.Errorf("whole %+v", whole)
	}
	// Binomial test of 1 against 9: 2·(1 + 10)/2¹⁰.
	if whole.McNemar == nil || !near(*whole.McNemar, 22.0/1024, 1e-12) || whole.Verdict != Worse || whole.Interval.Contains(0) {
		t.Errorf("whole %+v", whole)
	}
	if first.Subset != "first" || first.N != 50 || first.BaseOnly != 9 || first.Verdict != Worse || second.N != 47 || second.BaseOnly+second.OtherOnly != 0 || second.Verdict != Inconclusive {
		t.Errorf("sub-sets %+v, %+v", first, second)
	}
	if !r.Regression() || len(a.Flips) != 10 {
		t.Errorf("regression %v, %d flips", r.Regression(), len(a.Flips))
	}
	i := slices.IndexFunc(a.Flips, func(f Flip) bool { return f.ID == "q8" })
	if i < 0 || a.Flips[i].To != "right" || a.Flips[i].BaseAnswer != "xwrong" || a.Flips[i].OtherAnswer != "xright" || a.Flips[i].Gold != "gold8" {
		t.Errorf("flips %+v", a.Flips)
	}
	tab := r.Comparisons[0].AccuracyTable()
	if text := strings.Join(tab.Notes, "\n"); !strings.Contains(text, "now right: first/q8") || !strings.Contains(text, "now wrong: first/q1, ") {
		t.Error(text)
	}
}

// TestAccuracyIsNotComparedAcrossRules: another rule, other prompts.
func TestAccuracyIsNotComparedAcrossRules(t *testing.T) {
	base, other, prompts := wrote(t, plain.Records(), nil), wrote(t, plain.Records(), nil), wrote(t, altered(plain, func(_ int, r *outputs.Record) { r.PromptSHA256 = "other " + r.SampleID }), nil)
	for _, in := range []*Input{base, other, prompts} {
		answered(t, in, func(i int) (string, float64, func(*outputs.Prediction)) { return right(i%2 == 0) })
	}
	if err := other.Run.WriteResults("model", "set", evaluators.Result{Scorer: "gsm8k", ScorerVersion: "2", Metric: "accuracy", Version: "abc"}); err != nil {
		t.Fatal(err)
	}
	r := compared(t, Options{}, side("base", base), side("other", other), side("prompts", prompts))
	for i, subject := range []string{"scorer", "prompts"} {
		c := &r.Comparisons[i]
		if c.Accuracy.Comparable || len(c.Accuracy.Changes) > 0 || !strings.Contains(c.Accuracy.Reasons[0], subject) {
			t.Errorf("%s: %+v", subject, c.Accuracy)
		}
		if !c.Performance.Comparable {
			t.Errorf("%s: performance %q", subject, c.Performance.Reasons)
		}
	}
}

// TestAccuracyOfRepeats: a question asked several times counts with the mean of
// its answers; graded scores have no McNemar test.
func TestAccuracyOfRepeats(t *testing.T) {
	base, other := wrote(t, plain.Records(), nil), wrote(t, plain.Records(), nil)
	answered(t, base, func(i int) (string, float64, func(*outputs.Prediction)) { return "right", 1, nil })
	answered(t, other, func(i int) (string, float64, func(*outputs.Prediction)) { return "wrong", 0.9, nil })
	r := compared(t, Options{}, side("base", base), side("other", other))
	whole := r.Comparisons[0].Accuracy.Changes[2]
	if !whole.Graded || whole.McNemar != nil || !near(whole.Change, -0.1, 1e-9) || whole.Verdict != Worse {
		t.Errorf("%+v", whole)
	}
	if f := r.Comparisons[0].Accuracy.Flips[0]; f.To != "wrong" {
		t.Errorf("%+v", f)
	}
}

func TestRepeatability(t *testing.T) {
	o := Options{}.withDefaults()
	at := func(n int64, values ...float64) (out []figure) {
		for _, v := range values {
			out = append(out, figure{value: &v, n: n})
		}
		return out
	}
	mean, p99, share := Metric{Name: "ttft.mean_ms", Title: "TTFT mean", Unit: "ms"}, Metric{Name: "ttft.p99_ms", Unit: "ms", Q: 0.99}, Metric{Name: successRate, Share: true}
	for _, c := range []struct {
		m            Metric
		f            []figure
		spread       float64
		judged, pass bool
	}{
		{mean, at(50, 100, 105, 102), 0.05, true, true},
		{mean, at(50, 100, 105.1), 0.051, true, false},
		{mean, at(50, 105.1, 100, 101, 102), 0.051, true, false},
		{p99, at(99, 100, 300), 2, false, false},
		{p99, at(100, 100, 101), 0.01, true, true},
		{share, at(50, 1, 0.995), 0.005, true, true},
		{share, at(50, 1, 0.98), 0.02, true, false},
	} {
		s, ok := o.spreadOf(c.m, c.f)
		if !ok || !near(s.Spread, c.spread, 1e-9) || s.Judged != c.judged || s.Pass != c.pass {
			t.Errorf("%s: %+v %v", c.m.Name, s, ok)
		}
	}
	if _, ok := o.spreadOf(mean, append(at(50, 100), figure{})); ok {
		t.Error("a run without the figure is judged")
	}
	// Runs of another configuration are no repeats.
	other := wrote(t, plain.Records(), func(m *outputs.Manifest) {
		m.ServerBefore.Parameters["max_num_seqs"] = outputs.ServerParameter{Value: 8.0}
	})
	r := compared(t, Options{}, side("a", wrote(t, plain.Records(), nil)), side("b", other))
	if r.Repeatability.Applies || !strings.Contains(r.Repeatability.Reason, "max_num_seqs") || r.Repeatability.Pass != nil {
		t.Errorf("%+v", r.Repeatability)
	}
}

// TestSavedResults: results of vLLM and SGLang are compared with each other and
// with a run, which is then computed as vLLM defines its figures.
func TestSavedResults(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, doc map[string]any) *Input {
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		list, err := Open(path)
		if err != nil || len(list) != 1 {
			t.Fatalf("%d results, %v", len(list), err)
		}
		return list[0]
	}
	vllm := func(scale float64, extra map[string]any) map[string]any {
		doc := map[string]any{"date": "20260101-000000", "backend": "openai-chat", "model_id": "m", "num_prompts": 200, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 8, "duration": 10 * scale,
			"completed": 200, "failed": 0, "total_input_tokens": 20000, "total_output_tokens": 8000, "request_throughput": 20 / scale, "output_throughput": 800 / scale, "total_token_throughput": 2800 / scale,
			"mean_ttft_ms": 100 * scale, "median_ttft_ms": 95 * scale, "p99_ttft_ms": 200 * scale}
		for k, v := range extra {
			doc[k] = v
		}
		return doc
	}
	a, slower := write("a.json", vllm(1, nil)), write("b.json", vllm(1.1, nil))
	r := compared(t, Options{}, side("a", a), side("b", slower))
	got := map[string]Change{}
	for _, c := range r.Comparisons[0].Performance.Changes {
		got[c.Metric] = c
	}
	if c := got["ttft.p50_ms"]; c.Verdict != Worse || !near(*c.Change, 0.1, 1e-9) || c.Interval != nil {
		t.Errorf("median %+v", c)
	}
	if c := got["output_throughput"]; c.Verdict != Worse || !near(*c.Change, 1/1.1-1, 1e-9) {
		t.Errorf("throughput %+v", c)
	}
	if _, ok := got["tpot.mean_ms"]; ok {
		t.Error("a figure that no file has")
	}
	if d := r.Comparisons[0].find("prefix caching"); d == nil || d.Performance != Caution {
		t.Errorf("caching of two files that do not tell: %+v", d)
	}

	// Single values give intervals.
	var ttfts, later []float64
	for i := range 200 {
		ttfts, later = append(ttfts, 0.1+float64(i%20)/1000), append(later, 0.12+float64(i%20)/1000)
	}
	x, y := write("x.json", vllm(1, map[string]any{"ttfts": ttfts})), write("y.json", vllm(1, map[string]any{"ttfts": later, "mean_ttft_ms": 120}))
	r = compared(t, Options{}, side("x", x), side("y", y))
	for _, c := range r.Comparisons[0].Performance.Changes {
		if c.Metric == "ttft.mean_ms" && (c.Interval == nil || c.Verdict != Worse || c.N != [2]int64{200, 200}) {
			t.Errorf("mean of 200 values: %+v", c)
		}
	}

	// Another load, and SGLang's word on its cache.
	sg := map[string]any{"backend": "sglang-oai-chat", "dataset_name": "random", "request_rate": "inf", "max_concurrency": 16, "duration": 10.0, "completed": 200, "total_input_tokens": 20000,
		"total_output_tokens": 8000, "input_throughput": 2000.0, "request_throughput": 20.0, "output_throughput": 800.0, "mean_e2e_latency_ms": 500.0, "mean_ttft_ms": 100.0,
		"server_info": map[string]any{"disable_radix_cache": true}}
	r = compared(t, Options{}, side("a", a), side("sg", write("s.jsonl", sg)))
	if d := r.Comparisons[0].find("concurrency"); d == nil || d.Performance != Invalid {
		t.Errorf("%+v", r.Comparisons[0].Differences)
	}
	if d := r.Comparisons[0].find("prefix caching"); d == nil || d.Other != "off" {
		t.Errorf("%+v", d)
	}
	if d := r.Comparisons[0].find("definitions"); d == nil || d.Base != "vllm" || d.Other != "sglang" {
		t.Errorf("%+v", d)
	}

	// A run is computed with vLLM's definitions.
	run := wrote(t, plain.Records(), nil)
	r = compared(t, Options{Force: true}, side("run", run), side("a", a))
	if len(r.Notes) != 1 || r.Comparisons[0].find("definitions") != nil {
		t.Errorf("notes %q, %+v", r.Notes, r.Comparisons[0].find("definitions"))
	}
}

// TestRepeatsMayDiffer: runs of one side may have seeds and prompts of their own, as
// a sweep's repetitions do; the sides are compared run by run. What is no repeat is
// named.
func TestRepeatsMayDiffer(t *testing.T) {
	repeat := func(seed float64, change func(*outputs.Manifest)) *Input {
		c := plain
		c.Seed = uint64(seed)
		return wrote(t, altered(c, func(_ int, r *outputs.Record) { r.PromptSHA256 = fmt.Sprint(r.SampleID, " of seed ", seed) }), func(m *outputs.Manifest) {
			m.Seeds["seed"] = seed
			if change != nil {
				change(m)
			}
		})
	}
	r := compared(t, Options{}, side("a", repeat(1, nil), repeat(2, nil)), side("b", repeat(1, nil), repeat(2, nil)))
	if d := r.Comparisons[0].Differences; len(d) > 0 || !r.Repeatability.Applies {
		t.Errorf("%+v, %+v", d, r.Repeatability)
	}
	for _, c := range r.Comparisons[0].Performance.Changes {
		if c.Runs != [2]int{2, 2} || c.Interval == nil || !strings.HasPrefix(c.Interval.Method, "welch-t") {
			t.Errorf("%s: %+v", c.Metric, c)
		}
	}
	other := func(m *outputs.Manifest) { m.Workload["model × set"].(map[string]any)["batch_size"] = 4.0 }
	r = compared(t, Options{}, side("a", repeat(1, nil), repeat(2, other)), side("b", repeat(1, nil)))
	if d := r.Comparisons[0].find("concurrency within a"); d == nil || d.Performance != Invalid || d.Other != "8 and 4" {
		t.Errorf("%+v", r.Comparisons[0].Differences)
	}
}

func TestPairsAreMatched(t *testing.T) {
	pair := func(m, d string) outputs.Pair { return outputs.Pair{Model: m, Dataset: d} }
	in := func(pairs ...outputs.Pair) *Input {
		run, err := outputs.Create(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			j, err := run.Journal(p.Model, p.Dataset)
			if err != nil {
				t.Fatal(err)
			}
			rec := &outputs.Record{Model: p.Model, Dataset: p.Dataset, SampleID: "1", Phase: outputs.PhaseMeasured, Status: outputs.StatusOK}
			if err := errors.Join(j.Append(rec), j.Close()); err != nil {
				t.Fatal(err)
			}
		}
		i, err := OpenRun(run)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	for _, c := range []struct {
		a, b []outputs.Pair
		want string
	}{
		{[]outputs.Pair{pair("m", "d")}, []outputs.Pair{pair("m", "d")}, "m/d=m/d"},
		{[]outputs.Pair{pair("m", "d")}, []outputs.Pair{pair("n", "e")}, "m/d=n/e"},
		{[]outputs.Pair{pair("m", "d"), pair("m", "e")}, []outputs.Pair{pair("n", "d"), pair("n", "e")}, "m/d=n/d m/e=n/e"},
		{[]outputs.Pair{pair("m", "d"), pair("m", "e")}, []outputs.Pair{pair("n", "e")}, "m/e=n/e"},
		{[]outputs.Pair{pair("m", "d"), pair("m", "e")}, []outputs.Pair{pair("n", "x")}, ""},
		{[]outputs.Pair{pair("m", "d"), pair("k", "d")}, []outputs.Pair{pair("m", "d"), pair("k", "d")}, "k/d=k/d m/d=m/d"},
		// A namesake comes first: what is left over is not compared with it.
		{[]outputs.Pair{pair("sim-chat", "d"), pair("vllm", "d")}, []outputs.Pair{pair("vllm", "d")}, "vllm/d=vllm/d"},
		{[]outputs.Pair{pair("vllm", "d")}, []outputs.Pair{pair("sim-chat", "d"), pair("vllm", "d")}, "vllm/d=vllm/d"},
		{[]outputs.Pair{pair("sim-chat", "d")}, []outputs.Pair{pair("sim-chat", "e"), pair("vllm", "d")}, ""},
		{[]outputs.Pair{pair("sim-chat", "d"), pair("vllm", "e")}, []outputs.Pair{pair("sim-chat", "d"), pair("new", "e")}, "sim-chat/d=sim-chat/d vllm/e=new/e"},
	} {
		got, err := match(side("a", in(c.a...)), side("b", in(c.b...)))
		var parts []string
		for _, m := range got {
			parts = append(parts, m.base[0].Model+"/"+m.base[0].Dataset+"="+m.other[0].Model+"/"+m.other[0].Dataset)
		}
		if s := strings.Join(parts, " "); s != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%v and %v: %q (%v), want %q", c.a, c.b, s, err, c.want)
		}
	}
}

// TestFiguresWithoutIntervalAreInconclusive: of eight requests there is no interval,
// so nothing is known of chance, whatever the change.
func TestFiguresWithoutIntervalAreInconclusive(t *testing.T) {
	few := plain
	few.Requests = 8
	slow := func(i int, r *outputs.Record) {
		late := (r.FirstToken - r.Sent) / 2
		for _, at := range []*int64{&r.FirstToken, &r.LastToken, &r.End} {
			*at += late
		}
	}
	r := compared(t, Options{}, side("a", wrote(t, few.Records(), nil)), side("b", wrote(t, altered(few, slow), nil)))
	p := r.Comparisons[0].Performance
	bare := 0
	for _, c := range p.Changes {
		if c.Change != nil && c.Interval == nil {
			bare++
			if c.Verdict != Inconclusive || c.ByTolerance || c.Reason == "" {
				t.Errorf("%s: %s %q, by tolerance %v", c.Metric, c.Verdict, c.Reason, c.ByTolerance)
			}
		}
		if c.Metric == "ttft.mean_ms" && (c.Interval != nil || !c.beyond) {
			t.Errorf("the change of TTFT is %v with %v", *c.Change, c.Interval)
		}
	}
	if line := p.verdict(); bare == 0 || r.Regression() || strings.Contains(line, "REGRESSION") || strings.Contains(line, "†") {
		t.Errorf("%d without an interval, %v, %s", bare, r.Regression(), line)
	}
	// A saved result of the same tells no single values: the † is in the headline.
	v := func(x float64) figure { return figure{value: &x, n: 8} }
	o := Options{}.withDefaults()
	c := o.changeOf(Metric{Name: "ttft.mean_ms", Title: "TTFT mean"}, []figure{v(100)}, []figure{v(116)}, nil, 0.99)
	line := (&Performance{Comparable: true, Changes: []Change{c}}).verdict()
	if !c.ByTolerance || !strings.HasPrefix(line, "REGRESSION †: TTFT mean +16.00 % †; † by the tolerance alone") {
		t.Errorf("%+v: %s", c, line)
	}
}

// TestOnlyAndWhyNot: what is left out keeps nothing from being compared, and the
// reason comes with what to do about it.
func TestOnlyAndWhyNot(t *testing.T) {
	busy := func(m *outputs.Manifest) {
		m.ClientHealth = map[string]any{"model × set": map[string]any{"client_bound": "yes"}}
	}
	a, b := wrote(t, plain.Records(), nil), wrote(t, plain.Records(), busy)
	for _, in := range []*Input{a, b} {
		answered(t, in, func(i int) (string, float64, func(*outputs.Prediction)) { return right(i%2 == 0) })
	}
	r := compared(t, Options{}, side("a", a), side("b", b))
	why := r.WhyNot()
	if r.Comparable() || !strings.Contains(why, "performance, because of client-bound (yes): repeat the run") || !strings.Contains(why, "--only accuracy") {
		t.Errorf("%v: %s", r.Comparable(), why)
	}
	r = compared(t, Options{Only: OnlyAccuracy}, side("a", a), side("b", b))
	if c := r.Comparisons[0]; !r.Comparable() || r.WhyNot() != "" || c.Performance != nil || c.Accuracy == nil || c.find("client-bound") != nil || r.Repeatability.Applies {
		t.Errorf("accuracy alone: %+v, %q", c, r.WhyNot())
	}
	if r = compared(t, Options{Only: OnlyPerformance}, side("a", a), side("b", b)); r.Comparable() || r.Comparisons[0].Accuracy != nil || strings.Contains(r.WhyNot(), "--only") {
		t.Errorf("performance alone: %q", r.WhyNot())
	}
	if _, err := Compare([]Side{side("a", wrote(t, plain.Records(), nil)), side("b", b)}, Options{Only: OnlyAccuracy}); err == nil || !strings.Contains(err.Error(), "no accuracy to compare") {
		t.Errorf("without answers: %v", err)
	}
}

// TestRemediesAreSaidOnce: what differs at every load of a sweep is told once, with
// the number of the other loads and one remedy.
func TestRemediesAreSaidOnce(t *testing.T) {
	differ := func(other string) Comparison {
		return Comparison{Performance: &Performance{}, Differences: []Difference{
			{Subject: "cached share", Base: "0 %", Other: other, Performance: Invalid},
			{Subject: "prompts", Base: "a", Other: other, Performance: Invalid}, {Subject: "prompt template", Base: "a", Other: "b", Performance: Invalid}}}
	}
	r := &Result{Comparisons: []Comparison{differ("10 %"), differ("20 %"), differ("30 %")}}
	const want = "performance, because of cached share (0 % against 10 %) and likewise in 2 further comparisons: measure both with --cache cold; " +
		"prompts (a against 10 %) and likewise in 2 further comparisons: ask both the same questions with the same template; prompt template (a against b)"
	if why := r.WhyNot(); why != want {
		t.Errorf("said %s\nwant %s", why, want)
	}
}

// TestRemediesAreOfConditions: every remedy belongs to a condition that can make a
// comparison invalid.
func TestRemediesAreOfConditions(t *testing.T) {
	for subject := range remedies {
		if _, ok := rules[subject]; !ok && subject != "sampling" && subject != "prompts" {
			t.Errorf("there is no condition %q", subject)
		}
	}
	if remedyOf("sampling: stop") == "" || remedyOf("concurrency within b") == "" {
		t.Error("conditions of open names have no remedy")
	}
}

func TestUnfit(t *testing.T) {
	a, b := wrote(t, plain.Records(), nil), wrote(t, plain.Records(), nil)
	if p, acc, err := Unfit(a.Run, b.Run); len(p)+len(acc) > 0 || err != nil {
		t.Errorf("two runs that are alike: %q %q %v", p, acc, err)
	}
	off := wrote(t, plain.Records(), func(m *outputs.Manifest) { m.ServerBefore.PrefixCaching = "off" })
	p, acc, err := Unfit(a.Run, b.Run, off.Run)
	if len(p) == 0 || !strings.Contains(strings.Join(p, "; "), "prefix caching") || len(acc) > 0 || err != nil {
		t.Errorf("one without a prefix cache: %q %q %v", p, acc, err)
	}
}

func TestReports(t *testing.T) {
	base, other := wrote(t, plain.Records(), nil), wrote(t, plain.Records(), func(m *outputs.Manifest) { m.ServerBefore.PrefixCaching = "off" })
	for _, in := range []*Input{base, other} {
		answered(t, in, func(i int) (string, float64, func(*outputs.Prediction)) { return right(i%2 == 0) })
	}
	r := compared(t, Options{Force: true}, side("base", base), side("<b>other</b>", other))
	d := r.ReportData("", "test", "en")
	if d.Verdict.State != "INCONCLUSIVE" || !strings.Contains(d.Verdict.Reason, "NOT COMPARABLE") {
		t.Errorf("%+v", d.Verdict)
	}
	page, sheet := filepath.Join(t.TempDir(), "c.html"), filepath.Join(t.TempDir(), "c.xlsx")
	if err := errors.Join(outputs.WriteHTML(page, d, &outputs.Redactor{}), outputs.WriteExcel(sheet, d, &outputs.Redactor{})); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(b), "Conditions that differ") || strings.Contains(string(b), "<b>other</b>") {
		t.Errorf("page of %d bytes, %v", len(b), err)
	}
	doc, err := outputs.MarshalJSON(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := outputs.CheckNumbers(strings.NewReader(string(doc)), "started_at", "base", "other", "runs", "name", "path", "checklist", "base_answer", "other_answer", "gold", "id"); err != nil {
		t.Error(err)
	}
	points := Merge([]*Result{r, compared(t, Options{}, side("base", base), side("other", base))}, []string{"concurrency 1", "concurrency 2"})
	if len(points.Comparisons) != 2 || points.Comparisons[1].Point != "concurrency 2" || points.Repeatability.Applies || !strings.HasPrefix(points.Repeatability.Reason, "concurrency 1") {
		t.Errorf("%d comparisons, %+v", len(points.Comparisons), points.Repeatability)
	}
}
