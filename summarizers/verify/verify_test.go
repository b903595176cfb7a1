package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers"
	"ais_bench/summarizers/metrics"
)

const ms = int64(1e6)

var tool = outputs.ToolInfo{Name: "ais_bench", Version: "1.2.3", Commit: "abc"}

func record(i int, status outputs.Status) *outputs.Record {
	at := int64(i) * 10 * ms
	r := &outputs.Record{Model: "m", Dataset: "d", SampleID: fmt.Sprint("s", i), RequestID: fmt.Sprint("req-", i), Phase: outputs.PhaseMeasured, Status: status, Stream: true,
		Scheduled: at, Sent: at, Connected: at + ms, FirstByte: at + 5*ms, FirstEvent: at + 5*ms, FirstToken: at + 5*ms, FirstAnswerToken: at + 5*ms,
		LastToken: at + 9*ms + int64(i), End: at + 9*ms + int64(i), ChunkAt: []int64{5 * ms, 7 * ms, 9*ms + int64(i)}, InputTokens: int32(100 + i), OutputTokens: 3,
		ReasoningTokens: outputs.UnknownTokens, CachedTokens: outputs.UnknownTokens, TokenSource: outputs.TokensUsage, MaxTokens: 3, HTTPStatus: 200, FinishReason: "length",
		Text: fmt.Sprintf("answer %d with \xff", i), ToolCalls: "[ {\"id\": 1} ]", PromptSHA256: fmt.Sprint("hash", i)}
	if status != outputs.StatusOK {
		r.FirstToken, r.FirstAnswerToken, r.LastToken, r.ChunkAt = outputs.Never, outputs.Never, outputs.Never, nil
		r.InputTokens, r.OutputTokens, r.HTTPStatus, r.Error, r.Text = outputs.UnknownTokens, outputs.UnknownTokens, 503, "overloaded", ""
	}
	return r
}

// finished is a run folder as a load test of 60 requests leaves it.
func finished(t *testing.T, o metrics.Options) *outputs.Run {
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
	for i := range 60 {
		status := outputs.StatusOK
		if i%20 == 7 {
			status = outputs.StatusHTTP5xx
		}
		rec := record(i, status)
		a := new(outputs.Prediction)
		a.FromRecord(rec)
		if err := errors.Join(j.Append(rec), p.Append(a)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(j.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Seal("m", "d"); err != nil {
		t.Fatal(err)
	}
	if err := run.WriteConfig("model-m.yaml", []byte("abbr: m\n")); err != nil {
		t.Fatal(err)
	}
	m := outputs.NewManifest(run, tool, []string{"ais_bench"})
	m.State = outputs.StateDone
	sum, _, err := outputs.HashFile(run.ConfigPath("model-m.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	m.Configs = []outputs.ConfigFile{{Kind: "model", Name: "m", Path: "configs/model-m.yaml", SHA256: sum}}
	data := filepath.Join(run.Dir(), "..", "questions.jsonl")
	if err := os.WriteFile(data, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	dataSum, size, err := outputs.HashFile(data)
	if err != nil {
		t.Fatal(err)
	}
	m.Data = []outputs.DataFile{{Dataset: "d", Path: data, SHA256: dataSum, Bytes: size}, {Dataset: "d", Path: "/nowhere/x", SHA256: "0"}}
	state := outputs.PairState{Model: "m", Dataset: "d", State: outputs.PairDone, Requests: 60, Failed: 3, Sessions: 1, Records: "performances/m/d.parquet"}
	if state.SHA256, _, err = outputs.HashFile(run.Path(state.Records)); err != nil {
		t.Fatal(err)
	}
	if err := run.SealAnswers(&state); err != nil {
		t.Fatal(err)
	}
	m.Pairs = []outputs.PairState{state}
	if err := run.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	if _, err := summarizers.Report(run, summarizers.ReportOptions{Performance: true, Metrics: o}); err != nil {
		t.Fatal(err)
	}
	return run
}

func verified(t *testing.T, run *outputs.Run, o Options) *Report {
	t.Helper()
	if o.Tool == (outputs.ToolInfo{}) {
		o.Tool = tool
	}
	r, err := Run(t.Context(), run, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestARunAgreesWithItself(t *testing.T) {
	slos, err := metrics.ParseSLOs([]string{"ttft:6", "e2el:1000"})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]metrics.Options{
		"defaults":      {},
		"chosen":        {Percentiles: []float64{50, 99.9}, SLOs: slos},
		"other lengths": {LengthBounds: []int{110, 130, 150}},
	} {
		t.Run(name, func(t *testing.T) {
			r := verified(t, finished(t, o), Options{})
			if d := r.Differences(); len(d) > 0 || r.Numbers < 500 {
				t.Errorf("%d numbers, differences %+v", r.Numbers, d)
			}
			if !strings.Contains(r.Line(), "no difference") || len(r.Manifest) != 64 {
				t.Error(r.Line(), r.Manifest)
			}
			looked := map[string]bool{}
			for _, f := range r.Findings {
				looked[f.Check+" "+string(f.Status)+" "+f.File] = true
			}
			for _, want := range []string{"hash ok configs/model-m.yaml", "hash ok performances/m/d.parquet", "hash ok predictions/m/d.jsonl", "records ok performances/m/d.parquet",
				"answers ok predictions/m/d.jsonl", "performance ok performances/m/d.json", "performance ok performances/m/d.csv", "report ok report.json", "data not checked /nowhere/x"} {
				if !looked[want] {
					t.Errorf("not among the findings: %s", want)
				}
			}
		})
	}
}

// TestEarlierSummaries: a later report with other percentiles and levels leaves the
// tables of an earlier one that it does not have to be checked as they were made.
func TestEarlierSummaries(t *testing.T) {
	slos, err := metrics.ParseSLOs([]string{"ttft:6"})
	if err != nil {
		t.Fatal(err)
	}
	run := finished(t, metrics.Options{Percentiles: []float64{50, 97}, SLOs: slos})
	found, _ := fs.Glob(os.DirFS(run.Dir()), "summary/*")
	for _, f := range found { // an earlier second
		ext := filepath.Ext(f)
		b, err := os.ReadFile(run.Path(f))
		if err != nil {
			t.Fatal(err)
		}
		if ext == ".csv" {
			b = append([]byte("# Only then\nx,y\n1,2\n\n"), b...)
		}
		if err := errors.Join(os.Remove(run.Path(f)), os.WriteFile(run.Path("summary", "summary_20200101_000000"+ext), b, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := summarizers.Report(run, summarizers.ReportOptions{Performance: true, Metrics: metrics.Options{Percentiles: []float64{99}}}); err != nil {
		t.Fatal(err)
	}
	if d := verified(t, run, Options{}).Differences(); len(d) > 0 {
		t.Errorf("%+v", d)
	}
}

// TestEveryByteOfTheRecordsCounts: whatever byte of the records file is changed,
// it is found; nothing panics.
func TestEveryByteOfTheRecordsCounts(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's pointer checks end the program inside the Parquet library; runs without them")
	}
	run := finished(t, metrics.Options{})
	path := run.Path("performances/m/d.parquet")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 1 + len(whole)/150 {
		b := bytes.Clone(whole)
		b[at] ^= 0x55
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		r := verified(t, run, Options{})
		found := false
		for _, d := range r.Differences() {
			found = found || d.Check == "hash" && d.File == "performances/m/d.parquet"
		}
		if !found {
			t.Fatalf("byte %d of %d: %s", at, len(whole), r.Line())
		}
	}
}

// TestChangesAreNamed: one change each; the file, and where it can be told the
// place, stand in a finding. Rewriting the hash in the manifest does not hide
// what the records tell.
func TestChangesAreNamed(t *testing.T) {
	replace := func(name, from, to string) func(*testing.T, *outputs.Run) {
		return func(t *testing.T, run *outputs.Run) {
			t.Helper()
			found, err := fs.Glob(os.DirFS(run.Dir()), name)
			if err != nil || len(found) != 1 {
				t.Fatalf("%s: %v %v", name, found, err)
			}
			b, err := os.ReadFile(run.Path(found[0]))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(b, []byte(from)) {
				t.Fatalf("%s does not hold %q", name, from)
			}
			if err := os.WriteFile(run.Path(found[0]), bytes.Replace(b, []byte(from), []byte(to), 1), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	reseal := func(t *testing.T, run *outputs.Run) {
		t.Helper()
		m, err := run.ReadManifest()
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(run.SealAnswers(&m.Pairs[0]), run.WriteManifest(m)); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(name string) func(*testing.T, *outputs.Run) {
		return func(t *testing.T, run *outputs.Run) {
			if err := os.Remove(run.Path(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		do   func(*testing.T, *outputs.Run)
		want string // check, status and text of a finding
	}{
		"a figure":           {replace("performances/m/d.json", `"attempts": 60`, `"attempts": 61`), "performance differs performances/m/d.json requests.attempts: stored 61, recomputed 60"},
		"a mean":             {replace("performances/m/d.json", `"mean_ms": `, `"mean_ms": 1`), "performance differs performances/m/d.json"},
		"a figure taken out": {replace("performances/m/d.json", `"resends": 0,`, ``), "performance differs performances/m/d.json requests.resends: stored nothing, recomputed 0"},
		"a figure put in":    {replace("performances/m/d.json", `"resends": 0,`, `"resends": 0, "extra": 1,`), "performance differs performances/m/d.json requests.extra: stored 1, recomputed nothing"},
		"broken JSON":        {replace("performances/m/d.json", `{`, `[`), "performance unreadable performances/m/d.json"},
		"a row":              {replace("performances/m/d.csv", ",length,", ",stop,"), "performance differs performances/m/d.csv line 2, column finish_reason: stored stop, recomputed length"},
		"a cell":             {replace("summary/*.csv", "Success Requests,57", "Success Requests,58"), "summary differs"},
		"a line":             {replace("summary/*.txt", "Success Requests", "Successes"), "summary differs"},
		"the checklist":      {replace("summary/*.csv", "seed fixed,no", "seed fixed,yes"), "Reproducibility checklist, seed fixed, column State: stored yes, recomputed no"},
		"a cell of the report": {replace("report.json", `"Success Requests",
              57`, `"Success Requests",
              58`), "report differs report.json"},
		"the report's checklist":   {replace("report.json", `"state": "no"`, `"state": "yes"`), "report differs report.json checklist[0].state: stored \"yes\", recomputed \"no\""},
		"a chapter less":           {replace("report.json", `"id": "cautions"`, `"id": "others"`), "report differs report.json cautions: stored nothing"},
		"a report that is no JSON": {replace("report.json", `{`, `[`), "report unreadable report.json"},
		"Markdown gone":            {func(t *testing.T, run *outputs.Run) { removeGlob(t, run, "summary/*.md") }, "summary missing"},
		"an answer":                {replace("predictions/m/d.jsonl", "answer 3 ", "answer 4 "), "answers differs predictions/m/d.jsonl sample s3: the answer is not the one the record of request req-3"},
		"an answer, resealed": {func(t *testing.T, run *outputs.Run) {
			replace("predictions/m/d.jsonl", "answer 3 ", "answer 4 ")(t, run)
			reseal(t, run)
		}, "sample s3: the answer is not"},
		"a success":          {replace("predictions/m/d.jsonl", `"success":false`, `"success":true`), "success stored true, recomputed false"},
		"an answer made up":  {replace("predictions/m/d.jsonl", `"uuid":"req-5"`, `"uuid":"req-99"`), "no record is of its request req-99"},
		"an answer torn off": {func(t *testing.T, run *outputs.Run) { cut(t, run, "predictions/m/d.jsonl", 7) }, "answers unreadable predictions/m/d.jsonl the last line is torn"},
		"answers gone":       {remove("predictions/m/d.jsonl"), "answers missing predictions/m/d.jsonl"},
		"records gone":       {remove("performances/m/d.parquet"), "performance missing performances/m/d.json the records these figures were made from are gone"},
		"records cut":        {func(t *testing.T, run *outputs.Run) { cut(t, run, "performances/m/d.parquet", 100) }, "records unreadable performances/m/d.parquet"},
		"a configuration":    {replace("configs/model-m.yaml", "abbr: m", "abbr: n"), "hash differs configs/model-m.yaml the configuration was changed"},
		"the data":           {func(t *testing.T, run *outputs.Run) { change(t, filepath.Join(run.Dir(), "..", "questions.jsonl")) }, "data differs"},
		"records of nobody": {func(t *testing.T, run *outputs.Run) {
			j, err := run.Journal("m", "other")
			if err != nil {
				t.Fatal(err)
			}
			rec := record(1, outputs.StatusOK)
			rec.Dataset = "other"
			if err := errors.Join(j.Append(rec), j.Close()); err != nil {
				t.Fatal(err)
			}
		}, "the manifest knows nothing of these records"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := finished(t, metrics.Options{})
			c.do(t, run)
			r := verified(t, run, Options{})
			var all []string
			for _, f := range r.Differences() {
				line := fmt.Sprintf("%s %s %s %s", f.Check, f.Status, f.File, f.Text())
				if strings.Contains(line, c.want) {
					return
				}
				all = append(all, line)
			}
			t.Errorf("want %s among\n%s", c.want, strings.Join(all, "\n"))
		})
	}
}

func removeGlob(t *testing.T, run *outputs.Run, pattern string) {
	t.Helper()
	found, _ := fs.Glob(os.DirFS(run.Dir()), pattern)
	for _, f := range found {
		if err := os.Remove(run.Path(f)); err != nil {
			t.Fatal(err)
		}
	}
}

func cut(t *testing.T, run *outputs.Run, name string, n int64) {
	t.Helper()
	st, err := os.Stat(run.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(run.Path(name), st.Size()-n); err != nil {
		t.Fatal(err)
	}
}

func change(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("[]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTornJournal: of a run that was killed the records before and after the
// damage are read, and the damage is named.
func TestTornJournal(t *testing.T) {
	run := finished(t, metrics.Options{})
	j, err := run.Journal("m", "killed")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		rec := record(i, outputs.StatusOK)
		rec.Dataset = "killed"
		if err := j.Append(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	path := "performances/m/killed.journal"
	cut(t, run, path, 5)
	r := verified(t, run, Options{})
	torn, unsealed := false, false
	for _, f := range r.Findings {
		torn = torn || f.File == path && f.Status == Unreadable && strings.Contains(f.Detail, "torn record")
		unsealed = unsealed || f.File == path && f.Status == NotChecked && strings.Contains(f.Detail, "not sealed")
	}
	if !torn || !unsealed {
		t.Errorf("torn %v, unsealed %v: %+v", torn, unsealed, r.Findings)
	}
}

// TestAnotherVersionsFiguresAreNoDifference: what only one version of the program
// computes is told, and is no difference; a number that both compute is.
func TestAnotherVersionsFiguresAreNoDifference(t *testing.T) {
	run := finished(t, metrics.Options{})
	path := run.Path("performances/m/d.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(b, []byte(`"resends": 0,`), []byte(`"of old": 0,`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	newer := Options{Tool: outputs.ToolInfo{Version: "2.0.0"}}
	r := verified(t, run, newer)
	if d := r.Differences(); len(d) > 0 {
		t.Errorf("differences %+v", d)
	}
	told := false
	for _, f := range r.Findings {
		told = told || f.Status == NotChecked && strings.Contains(f.Detail, "requests.of old, requests.resends")
	}
	if !told {
		t.Errorf("findings %+v", r.Findings)
	}
	if err := os.WriteFile(path, bytes.Replace(b, []byte(`"attempts": 60`), []byte(`"attempts": 61`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, run, newer); len(r.Differences()) != 1 {
		t.Errorf("differences %+v", r.Differences())
	}
}

// TestScores: results that were made again are compared to the last digit, and
// what could not be made again is told.
func TestScores(t *testing.T) {
	run := finished(t, metrics.Options{})
	p := outputs.Pair{Model: "m", Dataset: "d"}
	a, b := 0.1, 0.2
	stored := map[string]any{"overall": map[string]any{"accuracy": a + b, "n": 60}}
	if err := run.WriteResults("m", "d", stored); err != nil {
		t.Fatal(err)
	}
	status := func(s *Scores) (ok, bad, not int) {
		o := Options{Scores: map[outputs.Pair]Scores{}}
		if s != nil {
			o.Scores[p] = *s
		}
		for _, f := range verified(t, run, o).Findings {
			switch {
			case f.Check != "scores":
			case f.Status == OK:
				ok++
			case f.Status == NotChecked:
				not++
			default:
				bad++
			}
		}
		return ok, bad, not
	}
	if ok, bad, not := status(nil); ok != 0 || bad != 0 || not != 1 {
		t.Error("nobody scored again:", ok, bad, not)
	}
	if ok, bad, not := status(&Scores{Why: "no scorer"}); ok != 0 || bad != 0 || not != 1 {
		t.Error("impossible:", ok, bad, not)
	}
	if ok, bad, not := status(&Scores{Result: stored, Why: "a judge"}); ok != 1 || bad != 0 || not != 1 {
		t.Error("counted:", ok, bad, not)
	}
	other := map[string]any{"overall": map[string]any{"accuracy": 0.3, "n": 60}} // one unit in the last place
	if ok, bad, not := status(&Scores{Result: other}); ok != 0 || bad != 1 || not != 1 {
		t.Error("another last digit:", ok, bad, not)
	}
}

func TestWhatIsNoRunIsAnError(t *testing.T) {
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), run, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	// Another tool's result under the manifest's name.
	if err := os.WriteFile(run.ManifestPath(), []byte(`{"date":"20261129","num_prompts":5}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), run, Options{}); err == nil || !strings.Contains(err.Error(), "neither records nor answers") {
		t.Errorf("%v", err)
	}
}

func TestWhatIsGoneIsNamed(t *testing.T) {
	run := finished(t, metrics.Options{})
	if err := errors.Join(os.Remove(run.PerformancePath("m", "d", "csv")), os.RemoveAll(run.Path("summary"))); err != nil {
		t.Fatal(err)
	}
	gone := map[string]bool{}
	for _, f := range verified(t, run, Options{}).Findings {
		if f.Status == NotChecked {
			gone[f.File] = true
		}
	}
	if !gone["performances/m/d.csv"] || !gone["summary/"] {
		t.Errorf("%v", gone)
	}
}
