package contract

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/facts"
	"ais_bench/summarizers/facts/synthetic"
	"ais_bench/summarizers/metrics"
)

// runOf writes records into a run folder.
func runOf(t *testing.T, c synthetic.Config) *outputs.Run {
	t.Helper()
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := synthetic.Write(run, c); err != nil {
		t.Fatal(err)
	}
	return run
}

func setOf(t *testing.T, c synthetic.Config) *facts.Set {
	t.Helper()
	s, err := facts.Open([]*outputs.Run{runOf(t, c)}, facts.Options{Metrics: metrics.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// one is a contract of one clause.
func one(t *testing.T, expr string, more ...string) *Contract {
	t.Helper()
	text := "clauses:\n  - name: c\n    expr: '" + strings.ReplaceAll(expr, "'", "''") + "'\n"
	for _, m := range more {
		text += "    " + m + "\n"
	}
	c, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The true p99 of the time to first token is 200·exp(0.4·2.326) = 507 ms.
var service = synthetic.Config{Requests: 1000, Concurrency: 16, Seed: 4, TTFTMedianMS: 200, TTFTSigma: 0.4, TPOTMedianMS: 10, TPOTSigma: 0.1, Tokens: 20}

func TestJudge(t *testing.T) {
	set := setOf(t, service)
	for expr, want := range map[string]State{
		"perf.ttft.p99_ms <= 900":     Pass,
		"perf.ttft.p99_ms <= 507":     Inconclusive,
		"perf.ttft.p99_ms <= 300":     Fail,
		"perf.ttft.p99_ms > 300":      Pass,
		"!(perf.ttft.p99_ms > 300)":   Fail,
		"success_rate >= 0.99":        Pass,
		"success_rate >= 0.9999":      Inconclusive,
		"success_rate < 0.5":          Fail,
		"perf.requests.failed == 0":   Pass,
		"perf.requests.total >= 1001": Fail,
		"perf.requests.by_status.timeout_total + perf.requests.failed < 1":  Pass,
		"perf.ttft.p99_ms <= 900 && success_rate >= 0.9999":                 Inconclusive,
		"perf.ttft.p99_ms <= 300 && success_rate >= 0.9999":                 Fail,
		"perf.ttft.p99_ms <= 900 || success_rate >= 0.9999":                 Pass,
		"perf.ttft.p99_ms <= 300 or success_rate >= 0.9999":                 Inconclusive,
		"perf.ttft.p99_ms / perf.ttft.p50_ms < 5":                           Pass,
		"perf.ttft.p99_ms - perf.ttft.p50_ms < 100":                         Fail,
		"2 * perf.ttft.p50_ms <= 1000 / 2":                                  Pass,
		"max(perf.ttft.p50_ms, perf.tpot.p50_ms) < 250":                     Pass,
		"abs(perf.ttft.p50_ms - 200) < 50":                                  Pass,
		"perf.ttfat.p50_ms < 1":                                             Inconclusive, // nobody reasoned: no data is no pass
		"perf.ttfat.p50_ms < 1 || success_rate > 0.5":                       Pass,
		"perf.output_throughput > 100":                                      Pass,
		"perf.output_throughput > 100000":                                   Fail,
		"perf.stable_stage.exists":                                          Pass,
		"perf.stable_stage.exists == false":                                 Fail,
		"perf.requests.failed in [0, 1]":                                    Pass,
		"manifest.tool.version == \"1\"":                                    Inconclusive,
		"perf.requests.failed == 0 ? success_rate > 0.5 : success_rate > 2": Pass,
		"perf.ttft.p50_ms / 0 > 1":                                          Inconclusive,
		"all(perf, .ttft.p99_ms <= 900)":                                    Pass,
		"none(perf, .ttft.p99_ms > 900)":                                    Pass,
		"any(perf, #.ttft.p99_ms <= 300)":                                   Fail,
	} {
		v, err := one(t, expr).Judge(set)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		r := v.Clauses[0]
		if r.State != want {
			t.Errorf("%s: %s (%s) %+v, want %s", expr, r.State, r.Why, r.Metrics, want)
		}
		if r.State == Inconclusive && r.Why == "" {
			t.Errorf("%s: no reason", expr)
		}
	}
}

func TestMinSamplesAndOpenEnds(t *testing.T) {
	few := service
	few.Requests = 200
	set := setOf(t, few)
	for _, c := range []struct {
		expr, more string
		want       State
		why        string
	}{
		{"perf.ttft.p99_ms <= 90000", "", Inconclusive, "of 200 values has no closed interval at confidence 95 %, 368 are needed"},
		{"perf.ttft.p99_ms <= 100", "", Fail, ""}, // 200 are enough to show that
		{"perf.ttft.p50_ms <= 900", "min_samples: 201", Inconclusive, "min_samples is 201"},
		{"perf.ttft.p50_ms <= 900", "min_samples: 200", Pass, ""},
		{"perf.ttft.p99_ms <= 90000", "confidence: 0.7", Pass, ""}, // 0.99^200 < 0.15
		{"success_rate >= 0.999", "", Inconclusive, "only from 3838 on"},
		{"success_rate >= 1", "", Inconclusive, "no number of samples"},
	} {
		more := []string{}
		if c.more != "" {
			more = append(more, c.more)
		}
		v, err := one(t, c.expr, more...).Judge(set)
		if err != nil {
			t.Fatal(err)
		}
		if r := v.Clauses[0]; r.State != c.want || !strings.Contains(r.Why, c.why) {
			t.Errorf("%s %s: %s %q, want %s %q", c.expr, c.more, r.State, r.Why, c.want, c.why)
		}
	}
}

// Several ways to a wrong verdict share the level.
func TestWays(t *testing.T) {
	set := setOf(t, service)
	for expr, want := range map[string][2]int{
		"success_rate > 0.5":                                                   {1, 1},
		"perf.requests.failed == 0":                                            {0, 0},
		"success_rate > 0.5 && perf.ttft.p50_ms < 1":                           {1, 2},
		"success_rate > 0.5 || perf.ttft.p50_ms < 1":                           {2, 1},
		"!(success_rate > 0.5 || perf.ttft.p50_ms < 1)":                        {1, 2},
		"perf.ttft.p50_ms + perf.tpot.p50_ms < perf.e2el.p50_ms":               {3, 3},
		"perf.ttft.p50_ms - perf.ttft.p50_ms < 1":                              {1, 1},
		"(success_rate > 0.5 || perf.ttft.p50_ms < 1) && perf.tpot.p50_ms < 1": {2, 2},
	} {
		c, err := one(t, expr).Clauses[0].source.compile(set)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{c.root.passWays(), c.root.failWays()}; got != want {
			t.Errorf("%s: %v ways to PASS and FAIL, want %v", expr, got, want)
		}
	}
}

func TestCheckOfAPlannedRun(t *testing.T) {
	plan := facts.Plan([]facts.PlannedPair{{Model: "m", Dataset: "gsm8k", Requests: 100, Stream: true, Rows: []facts.PlannedRow{{Name: "gsm8k", N: 100}}}}, nil)
	few := facts.Plan([]facts.PlannedPair{{Model: "m", Dataset: "demo", Requests: 8, Stream: true}}, nil)
	unary := facts.Plan([]facts.PlannedPair{{Model: "m", Dataset: "random", Requests: 5000}}, nil)
	timed := facts.Plan([]facts.PlannedPair{{Model: "m", Dataset: "random", Stream: true}}, nil)
	for _, c := range []struct {
		set        *facts.Set
		expr, more string
		want       string // "" = accepted
	}{
		{plan, "perf.ttft.p99_ms <= 2000", "", "could never pass: perf.ttft.p99_ms of 100 values has no closed interval at confidence 95 %, 368 are needed"},
		{plan, "perf.ttft.p90_ms <= 2000", "", ""},
		{few, "perf.ttft.mean_ms <= 2000", "", "could never pass: perf.ttft.mean_ms of 8 values has no closed interval at confidence 95 %, 10 are needed"},
		{plan, "perf.ttft.mean_ms <= 2000", "", ""},
		{plan, "perf.ttft.p99_ms > 100", "", ""}, // a low end exists
		{plan, "success_rate >= 0.999", "", "only from 3838 on"},
		{plan, "success_rate >= 0.9", "", ""},
		{plan, "1 - success_rate <= 0.001", "", "could never pass"},
		{plan, "perf.requests.failed_share <= 0.001", "", "only from 3838 on"},
		{plan, `accuracy["gsm8k"].value >= 0.97`, "", "only from"},
		{plan, `accuracy["gsm8k"].value >= 0.8`, "min_samples: 500", "min_samples is 500, but accuracy[\"gsm8k\"].value would be made from 100"},
		{plan, `accuracy["gsm8"].value >= 0.8`, "", `did you mean "gsm8k"?`},
		{plan, "perf.ttft.p99_ms <= 2000 || success_rate >= 0.9", "", ""},
		{plan, "perf.ttft.p99_ms <= 2000 && success_rate >= 0.9", "", "could never pass"},
		{plan, "perf.requests.failed == 0", "", ""},
		{plan, "success_rate == 1", "", "write a range"},
		{plan, "perf.output_troughput > 1", "", "did you mean perf.output_throughput?"},
		{plan, "perf.goodput_share > 0.9", "", ""},
		{plan, "perf.request_goodput > 1", "", "no service levels"},
		{plan, "compare.baseline.output_throughput.change > -0.05", "", "--baseline"},
		{plan, "manifest.sever_before.engine == \"vllm\"", "", `did you mean "server_before"?`},
		{plan, "manifest.server_before.engine in [\"vllm\", \"sglang\"]", "", ""},
		{plan, "client.cpu_share < 0.9", "", ""},
		{unary, "perf.ttft.p99_ms <= 2000", "", "not streamed"},
		{unary, "perf.e2el.p99_ms <= 2000", "", ""},
		{unary, `accuracy["x"].value > 0`, "", "no scored answers"},
		{timed, "perf.ttft.p99_ms <= 2000", "", ""}, // their number is not known
		{timed, "success_rate >= 0.9999", "", ""},
	} {
		var more []string
		if c.more != "" {
			more = append(more, c.more)
		}
		err := one(t, c.expr, more...).Check(c.set)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.expr, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.expr, err, c.want)
		case err != nil && strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: more than a line: %q", c.expr, err)
		}
	}
}

func TestBadContracts(t *testing.T) {
	for text, want := range map[string]string{
		"":               "no clauses",
		"clauses: []":    "no clauses",
		"clauzes:\n - x": `unknown key "clauzes"; did you mean "clauses"?`,
		"clauses:\n  - name: a\n    exp: success_rate > 0":                                                            `line 3: unknown key "exp"; did you mean "expr"?`,
		"clauses:\n  - name: a":                                                                                       "has no expr",
		"clauses:\n  - {name: a, expr: 'success_rate >= '}":                                                           "unexpected",
		"clauses:\n  - {name: a, expr: 'success_rate > 0.9', severity: hihg}":                                         "unknown severity",
		"clauses:\n  - {name: a, expr: 'success_rate > 0.9', severity: minor}":                                        "every clause is minor",
		"clauses:\n  - {name: a, expr: 'success_rate > 0.9'}\n  - {name: a, expr: 'success_rate > 0'}":                "two clauses are called",
		"clauses:\n  - {name: a, expr: 'success_rate > 0.9', confidence: 95}":                                         "confidence 95",
		"confidence: 0.9999999999999999\nclauses:\n  - {name: a, expr: 'success_rate > 0.9'}":                         "confidence 0.9999999999999999: give a share from 0.5 to 0.999999",
		"clauses:\n  - {name: a, expr: 'success_rate > 0.9', confidence: 0.9999999}":                                  "to 0.999999",
		"confidence: .nan\nclauses:\n  - {name: a, expr: 'success_rate > 0.9'}":                                       "confidence NaN",
		"confidence: 0.2\nclauses:\n  - {name: a, expr: 'success_rate > 0.9'}":                                        "confidence 0.2",
		"clauses:\n  - {name: a, expr: 'success_rate > 0.9', min_samples: -1}":                                        "min_samples",
		"goodput: [foo:1]\nclauses:\n  - {name: a, expr: 'success_rate > 0.9'}":                                       "goodput foo:1",
		"clauses:\n  - {name: a, expr: 'success_rate'}":                                                               "",
		"clauses:\n  - {name: a, expr: 'len(perf) > 1'}":                                                              "function len cannot be used",
		"clauses:\n  - {name: a, expr: 'sqr(2) > 1'}":                                                                 "unknown function sqr",
		"clauses:\n  - {name: a, expr: 'success_rate ** 2 > 1'}":                                                      "operator ** cannot be used",
		"clauses:\n  - {name: a, expr: 'accuracy[0].value > 1'}":                                                      "in quotes",
		"clauses:\n  - {name: a, expr: 'all(manifest, .x > 1)'}":                                                      "goes through accuracy, perf, client or server",
		"clauses:\n  - {name: a, expr: '#.x > 1'}":                                                                    "",
		"clauses:\n  - {name: a, expr: 'let x = 1; success_rate > x'}":                                                "cannot be used in a clause",
		"clauses:\n  - {name: a, expr: 'success_rate > 0'}\n---\nclauses:\n  - {name: b, expr: 'success_rate > 0.9'}": "more than one YAML document",
		"clauses:\n  - name: [": "contract test.yaml",
	} {
		_, err := Parse("test.yaml", []byte(text))
		if want == "" {
			continue // refused later, when names are looked up
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q on one line", text, err, want)
		}
	}
	set := setOf(t, service)
	for expr, want := range map[string]string{
		"success_rate":                 "is no condition",
		"success_rate > \"high\"":      "cannot be compared",
		"perf.stable_stage.exists > 1": "cannot be compared",
		"success_rate contains \"x\"":  "cannot be compared",
		"perf.ttft > 1":                "group",
		"success_rate in [\"a\"]":      "is a number",
		"perf.ttft.p99_ms + \"a\" > 1": "is no number",
		"(success_rate > 1) > 1":       "yes or no",
		"abs(success_rate, 1) > 0":     "takes one number",
		"all(accuracy, .value > 0)":    "has no members",
	} {
		c, err := Parse("test.yaml", []byte(fmt.Sprintf("clauses:\n  - {name: a, expr: '%s'}", expr)))
		if err == nil {
			_, err = c.Judge(set)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", expr, err, want)
		}
	}
}

// TestContractsAsEditorsSaveThem: a byte-order mark, a leading and a trailing line
// of dashes change nothing.
func TestContractsAsEditorsSaveThem(t *testing.T) {
	text := "clauses:\n  - {name: a, expr: 'success_rate > 0.9'}\n"
	for _, s := range []string{"\xef\xbb\xbf" + text, "---\n" + text, text + "---\n", text + "...\n", "# first\n---\n" + text} {
		if c, err := Parse("test.yaml", []byte(s)); err != nil || len(c.Clauses) != 1 {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestOverall(t *testing.T) {
	set := setOf(t, service)
	contract := func(clauses ...string) *Contract {
		text := "clauses:\n"
		for i, c := range clauses {
			severity, expr, _ := strings.Cut(c, " ")
			text += fmt.Sprintf("  - {name: c%d, severity: %s, expr: '%s'}\n", i, severity, expr)
		}
		c, err := Parse("test.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const pass, fail, open = "success_rate > 0.5", "success_rate < 0.5", "perf.ttfat.p50_ms < 1"
	for _, c := range []struct {
		clauses []string
		want    State
	}{
		{[]string{"critical " + pass, "major " + pass}, Pass},
		{[]string{"critical " + pass, "minor " + fail}, Pass},
		{[]string{"critical " + pass, "warning " + open}, Pass},
		{[]string{"critical " + pass, "major " + open}, Inconclusive},
		{[]string{"blocker " + fail, "major " + open}, Fail},
		{[]string{"major " + fail, "critical " + pass}, Fail},
	} {
		v, err := contract(c.clauses...).Judge(set)
		if err != nil {
			t.Fatal(err)
		}
		v.Problems = nil // records alone have no manifest
		v.overall()
		if v.State != c.want || v.Reason == "" {
			t.Errorf("%v: %s (%s), want %s", c.clauses, v.State, v.Reason, c.want)
		}
	}
	v, err := contract("critical " + pass).Judge(set)
	if err != nil || v.State != Inconclusive || len(v.Problems) == 0 {
		t.Errorf("a run without a manifest: %+v %v", v, err)
	}
}

// A baseline that was cut off, and records of which a part is lost, decide nothing.
func TestUnfitRunsNeverPass(t *testing.T) {
	asked := func(pair outputs.PairState) *outputs.Run {
		run := runOf(t, service)
		m := outputs.NewManifest(run, outputs.ToolInfo{}, nil)
		m.State, m.Pairs = outputs.StateDone, []outputs.PairState{pair}
		if err := run.SealRecords(&m.Pairs[0]); err != nil {
			t.Fatal(err)
		}
		if err := run.WriteManifest(m); err != nil {
			t.Fatal(err)
		}
		return run
	}
	whole := func() *outputs.Run {
		return asked(outputs.PairState{Model: "model", Dataset: "synthetic", State: outputs.PairDone, Requests: 1000})
	}
	set := func(run *outputs.Run, baseline *facts.Set) *facts.Set {
		s, err := facts.Open([]*outputs.Run{run}, facts.Options{Baseline: baseline})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	good := set(whole(), nil)
	half := set(asked(outputs.PairState{Model: "model", Dataset: "synthetic", State: outputs.PairInterrupted, Requests: 2000, NotAsked: 1000}), nil)
	hurt := whole()
	path := hurt.RecordsPath("model", "synthetic")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(text[len(text)/2 : len(text)/2+200])
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	const plain, against = "success_rate > 0.5", "compare.baseline.output_throughput.change > -0.5"
	for _, c := range []struct {
		name, expr string
		set        *facts.Set
		want       State
		why        string
	}{
		{"a whole baseline", against, set(whole(), good), Pass, ""},
		{"half a baseline", against, set(whole(), half), Inconclusive, "the baseline: "},
		{"half a baseline that no clause asks for", plain, set(whole(), half), Pass, ""},
		{"damaged records", plain, set(hurt, nil), Inconclusive, "damaged"},
	} {
		v, err := one(t, c.expr).Judge(c.set)
		if err != nil || v.State != c.want || !strings.Contains(v.Reason, c.why) {
			t.Errorf("%s: %+v, %v, want %s", c.name, v, err, c.want)
		}
	}
}
