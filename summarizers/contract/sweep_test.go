package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/facts"
	"ais_bench/summarizers/facts/synthetic"
	"ais_bench/summarizers/metrics"
)

var sweptLoads = []float64{4, 8, 16, 32, 64}

// swept is a sweep of a service of 16 places, whose answers take 240 ms: up to 16 at
// once nobody waits, beyond it everybody does.
func swept(t *testing.T, state outputs.RunState, slo string, runs int, tried ...float64) (*outputs.Run, *capacity.Document) {
	t.Helper()
	root, err := outputs.CreateNamed(t.TempDir(), "sweep_")
	if err != nil {
		t.Fatal(err)
	}
	m := outputs.NewManifest(root, outputs.ToolInfo{Name: "ais_bench"}, nil)
	if m.State = state; state != outputs.StateDone {
		m.StateReason = "by the user"
	}
	if err := root.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	d := &capacity.Document{Curve: &capacity.Curve{Axis: capacity.Concurrency}}
	o := metrics.Options{Percentiles: []float64{50, 95, 99}}
	if slo != "" {
		if d.SLO, err = capacity.ParseSLO(slo); err != nil {
			t.Fatal(err)
		}
		d.Capacity = &capacity.Capacity{Headroom: 0.2, Recommended: new(float64)}
		for _, v := range tried {
			d.Capacity.Tried = append(d.Capacity.Tried, capacity.Tried{Value: v, Runs: runs})
		}
	}
	for i, v := range sweptLoads {
		for n := 1; n <= runs; n++ {
			run, err := outputs.CreateIn(root.Path("points", fmt.Sprintf("concurrency=%g,run=%d", v, n)))
			if err != nil {
				t.Fatal(err)
			}
			c := synthetic.Config{Requests: 640, Concurrency: int(v), Seed: uint64(10*i + n), TTFTMedianMS: 50 + 240*max(v-16, 0)/16, TTFTSigma: 0.1, TPOTMedianMS: 10, TPOTSigma: 0.02, Tokens: 20}
			if err := synthetic.Write(run, c); err != nil {
				t.Fatal(err)
			}
			p := outputs.NewManifest(run, outputs.ToolInfo{Name: "ais_bench"}, nil)
			p.State, p.Pairs = outputs.StateDone, []outputs.PairState{{Model: "model", Dataset: "synthetic", State: outputs.PairDone, Requests: 640, Sessions: 1}}
			if err := run.SealRecords(&p.Pairs[0]); err != nil {
				t.Fatal(err)
			}
			if err := run.WriteManifest(p); err != nil {
				t.Fatal(err)
			}
			if err := d.Curve.AddFrom(root.Dir(), capacity.Source{Value: v, Number: n, Dir: run.Dir(), Model: "model", Dataset: "synthetic", NumPrompts: 640}, o); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := d.Curve.Pool(o); err != nil {
		t.Fatal(err)
	}
	d.Evaluate()
	return root, d
}

// ofSweep judges one clause.
func ofSweep(t *testing.T, root *outputs.Run, d *capacity.Document, missing []string, expr string) (*Verdict, error) {
	t.Helper()
	k, err := Parse("capacity.yaml", []byte("clauses:\n  - {name: c, expr: '"+expr+"'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := facts.OfSweep(root, d, missing, facts.Options{Paths: k.Paths()})
	if err != nil {
		t.Fatal(err)
	}
	return k.Judge(set)
}

func TestContractsOfSweeps(t *testing.T) {
	root, d := swept(t, outputs.StateDone, "ttft_p99 <= 150", 3, 4, 8, 16, 32)
	if h := d.Capacity.Highest; h == nil || *h != 16 || *d.Capacity.Recommended != 12 || *d.Knee.Value != 16 {
		t.Fatalf("the sweep is not what it should be: highest %v, knee %+v", h, d.Knee)
	}
	for _, c := range []struct {
		expr string
		want State
		why  string
	}{
		{"sweep.search.highest >= 16", Pass, ""},
		{"sweep.search.highest >= 20", Inconclusive, "the interval includes the limit"}, // 16 holds, 32 fails, and nothing between was tried
		{"sweep.search.highest >= 32", Fail, ""},
		{"sweep.search.recommended >= 12", Pass, ""},
		{"sweep.search.recommended >= 26", Fail, ""},
		{`sweep.search.at_recommended.state == "holds"`, Inconclusive, "there is none"}, // 12 was not measured
		{`sweep.search.at_highest.state == "holds" && sweep.search.headroom == 0.2`, Pass, ""},
		{"sweep.knee.value >= 16", Pass, ""},
		{"sweep.knee.value > 16", Fail, ""},
		{`sweep.knee.state == "found" && sweep.limited_by.cause == "server: waiting" && sweep.axis == "concurrency"`, Pass, ""},
		{"sweep.knee.throughput_at_knee >= 1200", Pass, ""}, // 16 places × 20 tokens in 0.24 s: 1,333 tokens/s
		{"sweep.knee.e2el_mean_ms_at_knee <= 200", Fail, ""},
		{"sweep.max.output_throughput >= 1200", Pass, ""},
		{"sweep.max.output_throughput >= 4000", Fail, ""},
		{"sweep.max.request_throughput >= 60", Pass, ""},
		{`sweep.points["16"].ttft.p99_ms <= 100`, Pass, ""},
		{`sweep.points["64"].ttft.p50_ms <= 100`, Fail, ""},
		{`sweep.points["64"].success_rate >= 0.99 && sweep.points["64"].requests.total == 1920`, Pass, ""},
		{`sweep.points["24"].ttft.p99_ms <= 100`, Inconclusive, "the search did not measure this load"},
		{"sweep.requests == 9600 && sweep.failed == 0", Pass, ""},
		{`manifest.tool.name == "ais_bench"`, Pass, ""},
	} {
		v, err := ofSweep(t, root, d, nil, c.expr)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		if v.State != c.want || !strings.Contains(v.Clauses[0].Why, c.why) {
			t.Errorf("%s: %s, want %s (%s; %+v)", c.expr, v.State, c.want, v.Clauses[0].Why, v.Clauses[0].Metrics)
		}
	}
	for expr, want := range map[string]string{
		"sweep.slo.highest >= 16":                     "did you mean sweep.search.highest?",
		"sweep.peak_output_throughput >= 1":           "did you mean sweep.max.output_throughput?",
		"sweep.knee.valeu >= 1":                       "did you mean sweep.knee.value?",
		"sweep.knee >= 1":                             "did you mean sweep.knee.value?",
		"sweep.search >= 1":                           "it is a group",
		"sweep >= 1":                                  "it is a group",
		"perf.ttft.p99_ms <= 1":                       `a figure of one load is sweep.points["64"].ttft.p99_ms`,
		"client.cpu_share <= 1":                       "a sweep has sweep.… and manifest.…",
		"compare.baseline.ttft.p99_ms.change <= 1":    "a sweep has sweep.… and manifest.…",
		"all(perf, .ttft.p99_ms <= 1)":                "a sweep has no perf to go through",
		`sweep.points["16"].ttft.p99 <= 1`:            `sweep.points["16"].ttft`,
		`sweep.points["sixteen"].ttft.p99_ms <= 1`:    `"sixteen" is no load`,
		`sweep.points["16"] <= 1`:                     "name a load and a figure",
		"swep.knee.value >= 1":                        "did you mean sweep?",
		"sweep.knee.value == \"found\"":               "cannot be compared",
		"sweep.max.ttft >= 1":                         "sweep.max",
		"sweep.search.above >= 1":                     "unknown metric sweep.search.above",
		"manifest.tol.name == \"ais_bench\"":          "tool",
		"sweep.limited_by.cause >= 3":                 "cannot be compared",
		"sweep.points[\"16\"].client_boundd == \"a\"": "client_bound",
	} {
		if v, err := ofSweep(t, root, d, nil, expr); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v; want %q", expr, v, err, want)
		}
	}
	if v, err := ofSweep(t, root, d, nil, "sweep.failed == 0 && sweep.axis != \"x\""); err != nil || v.Clauses[0].Metrics[0].N != 9600 || v.Clauses[0].Metrics[1].N != 15 {
		t.Errorf("numbers of values: %+v, %v", v, err)
	}
	// What is missing of it, and a sweep of a run's contract.
	v, err := ofSweep(t, root, d, []string{"concurrency 4, run 2 is not there"}, "sweep.knee.value >= 16")
	if err != nil || v.State != Inconclusive || v.Clauses[0].State != Pass || !strings.Contains(v.Reason, "concurrency 4, run 2 is not there") {
		t.Errorf("a point is missing: %+v, %v", v, err)
	}
	k, err := Parse("capacity.yaml", []byte("clauses:\n  - {expr: sweep.knee.value >= 16}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Judge(setOf(t, service)); err == nil || !strings.Contains(err.Error(), "this is no sweep") {
		t.Errorf("a run judged by a sweep's contract: %v", err)
	}
}

func TestSweepsThatDecideNothing(t *testing.T) {
	judged := func(root *outputs.Run, d *capacity.Document, expr string, want State, why string) {
		t.Helper()
		v, err := ofSweep(t, root, d, nil, expr)
		if err != nil {
			t.Fatal(err)
		}
		if v.State != want || !strings.Contains(v.Clauses[0].Why+v.Reason, why) {
			t.Errorf("%s: %s, want %s (%s)", expr, v.State, want, v.Clauses[0].Why)
		}
	}
	// Measured once.
	root, d := swept(t, outputs.StateDone, "ttft_p99 <= 150", 1, 4, 8, 16, 32)
	judged(root, d, "sweep.search.highest >= 4", Inconclusive, "measured once")
	judged(root, d, "sweep.knee.value >= 4", Inconclusive, "measured once")
	judged(root, d, "sweep.max.output_throughput >= 1200", Pass, "") // a run of its own says that much
	// Interrupted.
	root, d = swept(t, outputs.StateInterrupted, "", 2)
	judged(root, d, "sweep.knee.value >= 4", Inconclusive, "the sweep is incomplete: it is interrupted (by the user)")
	if v, err := ofSweep(t, root, d, nil, "sweep.search.highest >= 4"); err == nil || !strings.Contains(err.Error(), "give it --slo") {
		t.Errorf("a search that there was not: %v, %v", v, err)
	}
	// No load holds: there is no value, and it is too low all the same.
	root, d = swept(t, outputs.StateDone, "ttft_p99 <= 10", 2, 4)
	judged(root, d, "sweep.search.highest >= 4", Fail, "")
	judged(root, d, "sweep.search.highest >= 3", Inconclusive, "")
	v, err := ofSweep(t, root, d, nil, "sweep.search.highest >= 4")
	if err != nil || v.Clauses[0].Metrics[0].Value != nil || *v.Clauses[0].Metrics[0].High != 3 {
		t.Errorf("%+v, %v", v.Clauses[0].Metrics, err)
	}
	// The highest tried holds.
	root, d = swept(t, outputs.StateDone, "ttft_p99 <= 5000", 2, sweptLoads...)
	judged(root, d, "sweep.search.highest >= 64", Pass, "")
	judged(root, d, "sweep.search.highest <= 64", Inconclusive, "--max tries higher ones")
	// A stored answer is not believed.
	d.Capacity.Tried[0].State = capacity.Fails
	lie := 640.0
	d.Capacity.Highest = &lie
	d.Evaluate()
	judged(root, d, "sweep.search.highest >= 64", Pass, "")
	judged(root, d, "sweep.search.highest >= 65", Inconclusive, "")
	if *d.Capacity.Highest != 64 || d.Capacity.Tried[0].State != capacity.Holds {
		t.Errorf("%+v", d.Capacity)
	}
}

func TestSweepContractsThatCannotBeDecided(t *testing.T) {
	plan := func(change func(*facts.SweepPlan)) facts.SweepPlan {
		p := facts.SweepPlan{Axis: capacity.Concurrency, Loads: []float64{4, 8, 16}, Requests: []int64{200, 200, 400}, Runs: 2, MaxRuns: 5, SLO: "ttft_p99 <= 100", Max: 32, Headroom: 0.2, Stream: true}
		if change != nil {
			change(&p)
		}
		return p
	}
	list := func(p *facts.SweepPlan) { p.SLO, p.MaxRuns = "", p.Runs }
	for _, c := range []struct {
		expr   string
		change func(*facts.SweepPlan)
		want   string // "" = may be decided
	}{
		{"sweep.search.highest >= 32", nil, ""},
		{"sweep.search.highest <= 3", nil, ""},
		{"sweep.search.highest >= 33", nil, "cannot be shown to reach 33"},
		{"sweep.search.recommended >= 25", nil, ""},
		{"sweep.search.recommended >= 26", nil, "cannot be shown to reach 26"},
		{"sweep.search.highest >= 16", func(p *facts.SweepPlan) { p.Runs, p.MaxRuns = 1, 1 }, "decides by single runs"},
		{"sweep.search.highest >= 16", list, "give it --slo"},
		{"sweep.knee.value >= 16", list, ""},
		{"sweep.knee.value >= 17", list, "cannot be shown to reach 17"},
		{"sweep.knee.value >= 16", func(p *facts.SweepPlan) { p.SLO, p.Runs, p.MaxRuns = "", 1, 1 }, "measured once"},
		{"sweep.knee.value >= 8", func(p *facts.SweepPlan) { p.SLO = ""; p.Loads, p.Requests = p.Loads[:2], p.Requests[:2] }, "a knee takes three loads"},
		{"sweep.knee.throughput_at_knee >= 8", func(p *facts.SweepPlan) { p.SLO = ""; p.Loads, p.Requests = p.Loads[:2], p.Requests[:2] }, "a knee takes three loads"},
		{`sweep.points["16"].ttft.p99_ms <= 100`, nil, ""},
		{`sweep.points["8"].ttft.p99_ms <= 100`, nil, "368 are needed"},
		{`sweep.points["8"].ttft.p50_ms <= 100`, func(p *facts.SweepPlan) { p.Stream = false }, "not streamed"},
		{`sweep.points["8"].success_rate >= 0.999`, nil, "only from 3838 on"},
		{`sweep.points["7"].ttft.p50_ms <= 100`, nil, "a search measures loads that it finds on its way"},
		{`sweep.points["7"].ttft.p50_ms <= 100`, list, "no such load"},
		{"sweep.max.output_throughput >= 100", nil, ""},
		{`sweep.limited_by.cause != "client" && sweep.knee.state == "found"`, nil, ""},
		{"sweep.search.slo == \"x\"", nil, ""},
		{"perf.ttft.p99_ms <= 100", nil, "a figure of one load is"},
		{"success_rate >= 0.9", nil, "a figure of one load is"},
	} {
		k, err := Parse("capacity.yaml", []byte("clauses:\n  - {name: c, expr: '"+c.expr+"'}\n"))
		if err != nil {
			t.Fatal(err)
		}
		err = k.Check(facts.PlanSweep(plan(c.change)))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.expr, err, c.want)
		}
	}
}

// Every name that is listed can be looked up.
func TestNamesOfSweeps(t *testing.T) {
	root, d := swept(t, outputs.StateDone, "ttft_p99 <= 150", 2, 4, 8, 16, 32)
	set, err := facts.OfSweep(root, d, nil, facts.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, p := range set.Paths() {
		f, err := set.Lookup(p)
		if err != nil {
			t.Errorf("%s: %v", p, err)
			continue
		}
		found[f.Name] = true
	}
	for _, want := range []string{"sweep.search.highest", "sweep.knee.value", "sweep.max.output_throughput", `sweep.points["64"].ttft.p99_ms`, "manifest.state"} {
		if !found[want] {
			t.Errorf("%s is not listed", want)
		}
	}
	if !slices.Equal(set.Loads(), sweptLoads) {
		t.Errorf("loads %v", set.Loads())
	}
}
