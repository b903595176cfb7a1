package summarizers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ais_bench/evaluators"
	"ais_bench/evaluators/stats"
	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

const ms = int64(1e6)

func record(i int, status outputs.Status) *outputs.Record {
	at := int64(i) * 100 * ms
	r := &outputs.Record{Model: "m", Dataset: "d", SampleID: fmt.Sprint(i), RequestID: fmt.Sprint("req-", i), Phase: outputs.PhaseMeasured, Status: status, Stream: true,
		Scheduled: at, Sent: at, Connected: at + ms, FirstByte: at + 50*ms, FirstEvent: at + 50*ms, FirstToken: at + 50*ms, FirstAnswerToken: at + 50*ms,
		LastToken: at + 90*ms, End: at + 90*ms, ChunkAt: []int64{50 * ms, 70 * ms, 90 * ms}, InputTokens: 200, OutputTokens: 3,
		ReasoningTokens: outputs.UnknownTokens, CachedTokens: outputs.UnknownTokens, TokenSource: outputs.TokensUsage, MaxTokens: 8, HTTPStatus: 200, FinishReason: "stop"}
	if status != outputs.StatusOK {
		r.FirstToken, r.FirstAnswerToken, r.LastToken, r.ChunkAt = outputs.Never, outputs.Never, outputs.Never, nil
		r.InputTokens, r.OutputTokens, r.HTTPStatus, r.Error = outputs.UnknownTokens, outputs.UnknownTokens, 503, "503 overloaded"
	}
	return r
}

func result() evaluators.Result {
	acc := 2.0 / 3
	return evaluators.Result{Model: "m", Dataset: "d", Mode: "gen", Version: "abc123", Scorer: "gsm8k", ScorerVersion: "1", Metric: "accuracy",
		Overall: evaluators.Summary{N: 3, Items: 3, Right: 2, Failed: 1, Accuracy: &acc, CI: &stats.Interval{Low: 0.2, High: 0.94}},
		Groups:  []evaluators.GroupResult{{Name: "d-all", Metric: "naive_average", Value: 0.5, N: 3}}, References: []evaluators.ReferenceScore{{Model: "other", Score: 68.02, Source: "paper"}}}
}

// finishedRun is a run folder as a run leaves it.
func finishedRun(t *testing.T) *outputs.Run {
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
	for i, status := range []outputs.Status{outputs.StatusOK, outputs.StatusHTTP5xx, outputs.StatusOK} {
		rec := record(i, status)
		if err := j.Append(rec); err != nil {
			t.Fatal(err)
		}
		var pred outputs.Prediction
		pred.FromRecord(rec)
		pred.Outcome = "right"
		if !rec.OK() {
			pred.Outcome = "failed"
		}
		if err := p.Append(&pred); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := run.WriteResults("m", "d", result()); err != nil {
		t.Fatal(err)
	}
	m := outputs.NewManifest(run, outputs.ToolInfo{}, []string{"ais_bench"})
	m.ClientHealth = map[string]any{"m on d": map[string]any{"client_bound": "yes", "cpu_share": 0.97, "reasons": []any{map[string]any{"text": "cpu_share is 0.97"}}}}
	m.Workload = map[string]any{"m × d": map[string]any{"batch_size": 2}}
	m.State = outputs.StateDone
	if err := run.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestReport(t *testing.T) {
	run := finishedRun(t)
	slos, err := metrics.ParseSLOs([]string{"ttft:60", "e2el:1000"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Report(run, ReportOptions{Accuracy: true, Performance: true, StableStage: true, Excel: true, HTML: true, Metrics: metrics.Options{SLOs: slos}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Performance) != 1 || len(s.Accuracy) != 1 || len(s.Tables) != 6 {
		t.Fatalf("%d performances, %d accuracies, %d tables", len(s.Performance), len(s.Accuracy), len(s.Tables))
	}
	b, err := os.ReadFile(run.PerformancePath("m", "d", "json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := outputs.CheckNumbers(bytes.NewReader(b)); err != nil {
		t.Error(err)
	}
	var perf struct {
		TTFT struct {
			P99          float64  `json:"p99_ms"`
			Undersampled []string `json:"undersampled"`
		} `json:"ttft"`
		Requests metrics.Requests `json:"requests"`
		Goodput  float64          `json:"goodput_share"`
	}
	if err := json.Unmarshal(b, &perf); err != nil {
		t.Fatal(err)
	}
	if perf.TTFT.P99 != 50 || perf.Requests.Failed != 1 || perf.Goodput < 0.66 || len(perf.TTFT.Undersampled) == 0 {
		t.Errorf("performances JSON: %+v", perf)
	}
	text := ""
	for _, f := range s.Files {
		content, err := os.ReadFile(run.Path(f))
		if err != nil {
			t.Errorf("said to be written: %v", err)
		}
		if strings.HasSuffix(f, ".txt") || strings.HasSuffix(f, ".html") {
			text += string(content)
		}
	}
	for _, want := range []string{"Performance Parameters", "Common Metric", "http_5xx", "66.67", "20.00 to 94.00", "d-all", "the client was the bottleneck of m on d: cpu_share is 0.97; its figures", "Published scores", "68.02", "CALC-DATA-002", "configured 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("the reports lack %q", want)
		}
	}
}

func TestReportOfNothing(t *testing.T) {
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Report(run, ReportOptions{Accuracy: true, Performance: true}); err == nil || !strings.Contains(err.Error(), "nothing to report") {
		t.Errorf("an empty run folder: %v", err)
	}
}

// Nothing that was not measured is shown as a number.
func TestTablesOfFailedRun(t *testing.T) {
	a, err := metrics.New(metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a.Add(record(0, outputs.StatusHTTP5xx))
	tables := PerfTables(a.Result())
	if len(tables[0].Rows) == 0 || tables[0].Rows[0][0] != "Client queue time" {
		t.Errorf("only the client's own times exist: %v", tables[0].Rows)
	}
	var b bytes.Buffer
	for i := range tables {
		if err := tables[i].WriteText(&b, outputs.TextOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"no request succeeded", "1 of 1 requests failed"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "NaN") {
		t.Error(b.String())
	}
}

func TestAccuracyTableOfTwoModels(t *testing.T) {
	other := result()
	other.Model, other.Overall.N = "m2", 4
	table := AccuracyTable([]evaluators.Result{result(), other})
	if err := table.Check(); err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 2 || len(table.Columns) != 9 {
		t.Fatalf("%d rows, %d columns; want one row a data set and group, two columns a model", len(table.Rows), len(table.Columns))
	}
	if c, ok := table.Rows[0][4].(outputs.Cell); !ok || c.Value != 3 {
		t.Errorf("models with different n: %v", table.Rows[0][4])
	}
	if got := OutcomeTable([]evaluators.Result{result()}).Rows[0][4]; got != 2 {
		t.Errorf("right: %v", got)
	}
}

// A conversation is shown message by message; what is not one stays as it is.
func TestPromptText(t *testing.T) {
	for in, want := range map[string]string{
		`[{"role":"user","prompt":"a\nb"},{"role":"assistant","prompt":"c"}]`: "[user]\na\nb\n\n[assistant]\nc",
		`"plain"`: "plain", `null`: "", `[{"role":"user","prompt":[1]}]`: `[{"role":"user","prompt":[1]}]`, `[]`: "[]",
	} {
		if got := promptText(&outputs.Prediction{OriginPrompt: json.RawMessage(in)}); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// TestReportNamesTheBrokenFile: where the answers cannot be read, the page that shows
// them is not to blame.
func TestReportNamesTheBrokenFile(t *testing.T) {
	run := finishedRun(t)
	path := run.PredictionsPath("m", "d")
	if err := os.WriteFile(path, []byte("no answer\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Report(run, ReportOptions{Accuracy: true, Performance: true, HTML: true})
	if s == nil || err == nil || !strings.HasPrefix(err.Error(), path+":1: not a prediction: ") || !strings.HasSuffix(err.Error(), "; so "+run.HTMLPath()+" is not written") {
		t.Errorf("%v", err)
	}
}

// TestReportOutlivesAFile: where a file cannot be written, the figures still come, and
// the other files are there.
func TestReportOutlivesAFile(t *testing.T) {
	run := finishedRun(t)
	for _, path := range []string{run.Path("summary"), run.PerformancePath("m", "d", "json"), run.ExcelPath()} { // what is in their way
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(run.Path("summary"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{run.PerformancePath("m", "d", "json"), run.ExcelPath()} {
		if err := os.MkdirAll(filepath.Join(path, "x"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Report(run, ReportOptions{Accuracy: true, Performance: true, Excel: true, HTML: true})
	if s == nil || len(s.Performance) != 1 || len(s.Accuracy) != 1 || len(s.Tables) == 0 {
		t.Fatalf("nothing to show: %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), filepath.Join("m", "d.json")) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v, not one line of the first file", err)
	}
	for _, path := range []string{run.HTMLPath(), run.JSONPath()} {
		if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
			t.Errorf("%s was not written: %v", path, err)
		}
	}
	if len(s.Files) != 2 {
		t.Errorf("said to be written: %v", s.Files)
	}
}
