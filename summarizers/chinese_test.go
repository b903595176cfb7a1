package summarizers

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"ais_bench/outputs"
	"ais_bench/summarizers/capacity"
	"ais_bench/summarizers/metrics"
)

// asIs are the words of the test run itself, names in code, abbreviations and
// units: they stay as they are in a Chinese report.
var asIs = regexp.MustCompile("(?i)`[^`]*`" + `|https?://\S+|--[a-z-]+|\S*[_/=@]\S*|\S+\.(?:json|yaml|parquet|jsonl)\b|\b(?:d-all|m\.stream|vllm bench serve|bench|seeds|Wilson|Student|Kleinrock|Little|Pareto|success|max-num-seqs|ais_bench|profiles RUN|AISBench|vllm|strict|ms|GiB|token|pass|avg|OpenCompass|make|git|usage|temperature|seed|manifest|kernel|configs|goodput|Go|go\d\S*|linux|amd64|arm64|darwin|sha\d*|gsm8k|ok|dial|tls|truncated|malformed|cancelled|numpy|stop|length|none|x|m|d|req|measured|warmup|true|false|null|other|paper|built-in|overloaded|gpu|abc123|gc\.cycles|perf|gc|cores|resends|p\d+|n)\b`)

var word = regexp.MustCompile(`[A-Za-z][a-z]{2,}`)

// leftEnglish are the English words of a text that no Chinese report should hold.
func leftEnglish(s string) []string {
	return word.FindAllString(asIs.ReplaceAllString(s, " "), -1)
}

// richRun is a run that brings out every part of a report: failures, retries,
// reasoning, cached tokens, tails, two sessions, a client that was the
// bottleneck, warnings.
func richRun(t *testing.T) *outputs.Run {
	t.Helper()
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	j, err := run.Journal("m", "d")
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.Predictions("m", "d")
	if err != nil {
		t.Fatal(err)
	}
	outcomes := []string{"right", "wrong", "unparsable", "empty"}
	for i := range 60 {
		ttft := 100.0
		if i == 11 {
			ttft = 9000
		}
		r := streamed(i, ttft, 20, 30, 20)
		r.OutputTokens, r.ReasoningTokens, r.CachedTokens, r.FinishReason = int32(4+i%3), 1, 100, []string{"stop", "length"}[i%2]
		r.ChunkTokens = []int32{1, 1, 1, 1}
		r.FirstAnswerToken = r.FirstToken + 20*ms
		pred := outputs.Prediction{}
		switch {
		case i%13 == 5:
			f := record(i, outputs.Statuses[1+i%(len(outputs.Statuses)-1)])
			f.RequestID = r.RequestID
			if err := j.Append(f); err != nil {
				t.Fatal(err)
			}
			r.Attempt, r.Resent = 1, 1
		case i%17 == 3:
			r.TokenSource, r.Stream = outputs.TokensLocalTokenizer, false
		}
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
		pred.FromRecord(r)
		pred.Outcome = outcomes[i%len(outcomes)]
		if err := p.Append(&pred); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range outputs.Statuses[1:] {
		if err := j.Append(record(100, s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	res := result()
	res.Overall.NotAsked = 2
	if err := run.WriteResults("m", "d", res); err != nil {
		t.Fatal(err)
	}
	m := outputs.NewManifest(run, outputs.ToolInfo{Name: "ais_bench", Version: "1"}, []string{"ais_bench", "--models", "m"})
	engine, steps, processor := "vllm", 2, "CPU 1"
	m.Host.CPUModel = &processor
	m.ServerBefore = &outputs.ServerSnapshot{TakenAt: "2026-01-01T00:00:00Z", URL: "http://s", Engine: &engine, Version: &engine, Errors: []string{"x_y"}}
	m.ServerAfter = m.ServerBefore
	m.Clock = &outputs.ClockInfo{ZeroWall: "2026-01-01T00:00:00Z", StampSource: "userspace", Steps: &steps}
	m.Sessions = []outputs.Session{{Mode: "perf", State: outputs.StateDone}, {Mode: "perf", State: outputs.StateInterrupted, ServerAfter: m.ServerAfter}}
	m.Pairs = []outputs.PairState{{Model: "m", Dataset: "d", Sessions: 2}}
	m.Data = []outputs.DataFile{{Dataset: "d", Path: "d.jsonl", Rows: 60}}
	m.Configs = []outputs.ConfigFile{{Kind: "model", Name: "m", Source: "built-in:m.yaml", SHA256: "00"}, {Kind: "dataset", Name: "d", Source: "built-in:d.yaml", SHA256: "00"}}
	m.Seeds, m.Sampling, m.Workload = map[string]any{"seed": 1}, map[string]any{"m": map[string]any{"stream": true}}, map[string]any{"m × d": map[string]any{"batch_size": 2}}
	m.Extra = map[string]any{"server_meta": map[string]string{"gpu": "8"}}
	m.Warnings = []string{"m × d: resumed: it was asked in 2 sessions; duration and throughput span the pauses between them",
		"m × d: incomplete: 2 of 60 questions were not asked", "INVALID: the server changed while m × d ran: x=1", "m × d: incomplete: 2 of 60 questions were not asked; its scores are of the other 58"}
	health := map[string]any{"reasons": []any{map[string]any{"text": "cpu_share is 0.97 of the available cores (threshold 0.9): beyond 70 % goroutines queue for a core in bursts, at 90 % they always do"}},
		"client_bound": "yes", "cpu_share": 0.97, "schedule_lag_ms": map[string]any{"n": 60.0, "p50": 0.1, "p99": 3.0, "max": 4.0}, "gc": map[string]any{"cycles": 1.0, "pause_max_ms": 0.4}, "stamp_source": "userspace"}
	m.ClientHealth = map[string]any{"m × d": health}
	if err := run.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	return run
}

// richVerdict brings out all three verdicts and all states of a headline.
func richVerdict() *outputs.Verdict {
	clauses := outputs.Table{Columns: []outputs.Column{{Name: "Verdict", Kind: outputs.KindVerdict}}}
	for _, s := range []string{"PASS", "FAIL", "INCONCLUSIVE"} {
		clauses.AddRow(s)
	}
	return &outputs.Verdict{State: "FAIL", Clauses: &clauses}
}

// No fixed English text is left in a Chinese report: neither in a cell of the
// workbook nor in anything the page shows.
func TestChineseReports(t *testing.T) {
	run := richRun(t)
	slos, err := metrics.ParseSLOs([]string{"ttft:150", "e2el:1000"})
	if err != nil {
		t.Fatal(err)
	}
	o := ReportOptions{Accuracy: true, Performance: true, StableStage: true, Lang: "zh", Formats: []string{"xlsx", "html"}, Metrics: metrics.Options{SLOs: slos}, Verdict: richVerdict()}
	if _, err := Report(run, o); err != nil {
		t.Fatal(err)
	}
	checkChinese(t, run, 800)
}

// A sweep's conclusions are sentences made of many parts.
func TestChineseSweeps(t *testing.T) {
	stat := func(v float64) metrics.Stat {
		s := metrics.Stat{N: 200, Unit: metrics.Milliseconds, Mean: &v, Min: &v, Max: &v}
		for _, p := range []float64{50, 95, 99} {
			s.P = append(s.P, metrics.Percentile{P: p, Value: &v, Undersampled: p == 99})
		}
		return s
	}
	point := func(number int, tokens, ttft, e2el float64, failed int64) capacity.Run {
		requests, share := tokens/100, float64(failed)/200
		length := metrics.Stat{N: 200, Mean: &requests, Min: &requests, Max: &tokens}
		return capacity.Run{Number: number, NumPrompts: 200, ClientBound: "suspect", Health: map[string]any{"m × d": map[string]any{"client_bound": "suspect"}},
			Server: &capacity.Server{Running: 8, Waiting: 4, MaxRunning: 8, KVUsage: &share},
			Result: &metrics.Result{Requests: metrics.Requests{Total: 200, Success: 200 - failed, Failed: failed, FailedShare: &share, ByStatus: map[string]int64{"ok": 200 - failed, "http_5xx": failed}},
				DurationS: &e2el, RequestThroughput: &requests, OutputThroughput: &tokens, TotalTokenThroughput: &tokens, TTFT: stat(ttft), TPOT: stat(10), ITL: stat(11), E2EL: stat(e2el), InputTokens: length, OutputTokens: length,
				ByLength: []metrics.Bucket{{Name: "short", Requests: 9, Success: 9, TTFT: stat(1), TPOT: stat(1), E2EL: stat(1)}}}}
	}
	for _, axis := range []capacity.Axis{capacity.Concurrency, capacity.RequestRate} {
		run, err := outputs.Create(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := run.WriteManifest(&outputs.Manifest{State: outputs.StateDone}); err != nil {
			t.Fatal(err)
		}
		curve := &capacity.Curve{Axis: axis}
		for i, v := range []float64{1, 2, 4, 8, 16} {
			for number := range 2 {
				curve.Add(v, point(number+1, min(v, 4)*100+float64(number), 20+max(0, v-4)*100, 300+max(0, v-4)*100, int64(i/4)))
			}
		}
		for i := range curve.Levels {
			curve.Levels[i].Pooled = curve.Levels[i].Runs[0].Result
		}
		slo, err := capacity.ParseSLO("ttft_p99<=600 && success>=0.99")
		if err != nil {
			t.Fatal(err)
		}
		eight, sixteen, half := 8.0, 16.0, 4.0
		d := &capacity.Document{Curve: curve, SLO: slo, Metrics: []string{"ttft", "tpot"}, ByLength: true, Notes: []string{"the sweep is incomplete: 503"},
			Capacity: &capacity.Capacity{SLO: slo.String(), Highest: &eight, Above: &sixteen, AboveState: capacity.Fails, Step: 1, Headroom: 0.5, Recommended: &half,
				Tried: []capacity.Tried{{Value: 8, State: capacity.Holds, Runs: 2}, {Value: 16, State: capacity.Fails, Runs: 2}}}}
		d.Evaluate()
		if _, err := SweepReport(run, d, nil, ReportOptions{Lang: "zh", Formats: []string{"xlsx", "html"}, Findings: d.Texts(), Notes: d.Notes}); err != nil {
			t.Fatal(err)
		}
		checkChinese(t, run, 300)
	}
}

// checkChinese looks at every text of a run's workbook and page.
func checkChinese(t *testing.T, run *outputs.Run, least int) {
	t.Helper()
	seen := 0
	check := func(where, s string) {
		seen++
		if words := leftEnglish(s); len(words) > 0 {
			t.Errorf("%s says %q in %q", where, words, s)
		}
	}
	f, err := excelize.OpenFile(run.ExcelPath())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, sheet := range f.GetSheetList() {
		check("the workbook", sheet)
		rows, err := f.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			for _, cell := range row {
				if sheet == "请求" {
					// The columns carry their names in the Parquet file below the
					// Chinese ones, and its codes.
					if cn, _, ok := strings.Cut(cell, "\n"); i == 0 && ok {
						cell = cn
					} else if i > 0 {
						continue
					}
				}
				check("sheet "+sheet, cell)
			}
		}
		comments, err := f.GetComments(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range comments {
			check("a comment on "+sheet, c.Text)
		}
	}
	if seen < least {
		t.Errorf("only %d cells looked at", seen)
	}

	page, err := os.ReadFile(run.HTMLPath())
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindSubmatch(page)
	var data map[string]any
	if block == nil || json.Unmarshal(block[1], &data) != nil {
		t.Fatal("the page has no data")
	}
	terms := data["terms"].(map[string]any)
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch x := v.(type) {
		case map[string]any:
			for k, e := range x {
				// Not shown, or data.
				if k == "terms" || k == "id" || k == "list" || k == "kind" || k == "sent" || k == "first" || k == "end" || k == "lane" || k == "lang" || path == "" && (k == "run" || k == "generated" || k == "tool") {
					continue
				}
				walk(path+"."+k, e)
			}
		case []any:
			for _, e := range x {
				walk(path, e)
			}
		case string:
			if zh, ok := terms[x].(string); ok {
				x = zh
			}
			check("the page at "+path, x)
		}
	}
	walk("", data)
	for en, zh := range terms {
		check("the translation of "+en, zh.(string))
	}
	script := string(page[strings.LastIndex(string(page), "<script>"):])
	for _, m := range regexp.MustCompile(`\btr\("([^"]+)"\)`).FindAllStringSubmatch(script, -1) {
		if _, ok := terms[m[1]]; !ok {
			t.Errorf("the page's script says %q, which has no Chinese", m[1])
		}
	}
}
