package verify

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/contract"
	"ais_bench/summarizers/metrics"
)

const clauses = `name: service
goodput: [ttft:6]
clauses:
  - {name: answers, expr: success_rate >= 0.5}
  - {name: first token, expr: perf.ttft.p50_ms <= 100 && perf.goodput_share >= 0.1}
  - {name: too much, expr: perf.requests.total >= 1000, severity: minor, reason: planned for the autumn}
`

// held is a finished run with the verdict of a contract, as --contract leaves it.
func held(t *testing.T, text string, baseline *outputs.Run) *outputs.Run {
	t.Helper()
	run := finished(t, metrics.Options{})
	const stored = "contract-acceptance.yaml"
	if err := run.WriteConfig(stored, []byte(text)); err != nil {
		t.Fatal(err)
	}
	m, err := run.ReadManifest()
	if err != nil {
		t.Fatal(err)
	}
	sum, _, err := outputs.HashFile(run.ConfigPath(stored))
	if err != nil {
		t.Fatal(err)
	}
	m.Configs = append(m.Configs, outputs.ConfigFile{Kind: "contract", Name: "acceptance", Source: "acceptance.yaml", Path: "configs/" + stored, SHA256: sum})
	if err := run.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	k, err := contract.Parse("acceptance.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var b *contract.Baseline
	if baseline != nil {
		if b, err = k.OpenBaseline(baseline, metrics.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	v, err := k.JudgeRuns(b, metrics.Options{}, run)
	if err != nil {
		t.Fatal(err)
	}
	d := contract.NewDocument(k, v, "ais_bench 1.2.3", []string{run.Dir()}, b)
	var xml bytes.Buffer
	if err := errors.Join(run.WriteJSON(run.Path("verdict.json"), d), d.WriteJUnit(&xml), os.WriteFile(run.Path("verdict.xml"), xml.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	return run
}

// verdicts are the findings on verdict files.
func verdicts(t *testing.T, run *outputs.Run) (list []Finding) {
	t.Helper()
	for _, f := range verified(t, run, Options{}).Findings {
		if f.Check == "verdict" {
			list = append(list, f)
		}
	}
	return list
}

func TestAVerdictIsGivenAgain(t *testing.T) {
	run := held(t, clauses, nil)
	list := verdicts(t, run)
	if len(list) != 2 || list[0].Status != OK || list[1].Status != OK {
		t.Fatalf("%+v", list)
	}
	// The same where the folder lies elsewhere.
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.CopyFS(moved, os.DirFS(run.Dir())); err != nil {
		t.Fatal(err)
	}
	other, err := outputs.Open(moved)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range verdicts(t, other) {
		if f.Status != OK {
			t.Errorf("moved: %+v", f)
		}
	}
}

// Whatever digit or word of the verdict is changed, by a byte, it is found and
// named.
func TestEveryByteOfAVerdictCounts(t *testing.T) {
	run := held(t, clauses, nil)
	path := run.Path("verdict.json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// What is no finding of the judge's: who, when and where.
	from := bytes.Index(whole, []byte(`"verdict": "`))
	code := bytes.Index(whole, []byte(`"exit_code": `)) + len(`"exit_code": `)
	if from < 0 {
		t.Fatalf("%s", whole)
	}
	places := []int{code}
	for i, c := range whole {
		if i >= from && (c >= '0' && c <= '9' || c >= 'A' && c <= 'Z') {
			places = append(places, i)
		}
	}
	checked := 0
	for n, at := range places {
		if n > 0 && n%(1+len(places)/24) != 0 {
			continue
		}
		b := bytes.Clone(whole)
		if b[at]++; whole[at] == '9' || whole[at] == 'Z' {
			b[at] = whole[at] - 1
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range verdicts(t, run) {
			found = found || f.File == "verdict.json" && f.Status.Bad()
		}
		if !found {
			t.Errorf("byte %d was not found: …%s…", at, b[max(at-40, 0):min(at+20, len(b))])
		}
		checked++
	}
	if checked < 20 {
		t.Errorf("only %d places tried", checked)
	}
}

func TestVerdictsThatCannotBeChecked(t *testing.T) {
	has := func(run *outputs.Run, status Status, file, detail string) {
		t.Helper()
		for _, f := range verdicts(t, run) {
			if f.Status == status && f.File == file && strings.Contains(f.Text(), detail) {
				return
			}
		}
		t.Errorf("no finding %s of %s with %q: %+v", status, file, detail, verdicts(t, run))
	}
	edit := func(path, from, to string) {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b, []byte(from)) {
			t.Fatalf("%s does not hold %q", path, from)
		}
		if err := os.WriteFile(path, bytes.Replace(b, []byte(from), []byte(to), 1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(path string) {
		t.Helper()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	run := held(t, clauses, nil)
	edit(run.Path("verdict.xml"), `name="answers"`, `name="replies"`)
	has(run, Differs, "verdict.xml", "replies")
	remove(run.Path("verdict.xml"))
	has(run, Missing, "verdict.xml", "belongs to verdict.json")
	edit(run.ConfigPath("contract-acceptance.yaml"), "0.5", "0.4")
	has(run, NotChecked, "verdict.json", "was changed after the run")
	remove(run.ConfigPath("contract-acceptance.yaml"))
	has(run, NotChecked, "verdict.json", "cannot be read")
	edit(run.Path("verdict.json"), `"sha256": "`, `"sha256": "0`)
	has(run, Differs, "verdict.json", "the run holds no such contract")
	edit(run.Path("verdict.json"), `{`, ``)
	has(run, Unreadable, "verdict.json", "")
	remove(run.Path("verdict.json"))
	has(run, Missing, "verdict.json", "its verdict is gone")

	// Another version of the program: what it says may be put otherwise, its numbers count.
	run = held(t, clauses, nil)
	edit(run.Path("verdict.json"), "all 2 deciding clauses passed", "both deciding clauses passed")
	has(run, Differs, "verdict.json", "reason: stored")
	of := func() (bad []Finding) {
		for _, f := range verified(t, run, Options{Tool: outputs.ToolInfo{Name: "ais_bench", Version: "2"}}).Findings {
			if f.Check == "verdict" && f.Status.Bad() {
				bad = append(bad, f)
			}
		}
		return bad
	}
	if bad := of(); len(bad) > 0 {
		t.Errorf("another version: %+v", bad)
	}
	edit(run.Path("verdict.json"), `"n": 60`, `"n": 61`)
	if bad := of(); len(bad) != 1 || bad[0].Stored != "61" {
		t.Errorf("another version, a number changed: %+v", bad)
	}

	// A baseline that is there, was changed, is gone.
	const compares = `name: service
clauses:
  - {name: answers, expr: success_rate >= 0.5}
  - {name: total, expr: compare.baseline.requests.total.change >= -0.5}
`
	base := finished(t, metrics.Options{})
	run = held(t, compares, base)
	has(run, OK, "verdict.json", "as recomputed")
	m, err := base.ReadManifest()
	if err != nil {
		t.Fatal(err)
	}
	if err := base.WriteManifest(m); err != nil { // with another time
		t.Fatal(err)
	}
	has(run, NotChecked, "verdict.json", "is not what it was")
	if err := os.RemoveAll(base.Dir()); err != nil {
		t.Fatal(err)
	}
	has(run, NotChecked, "verdict.json", "is not there: neither the clauses that compare with it nor the verdict as a whole are judged again")
	has(run, OK, "verdict.json", "as recomputed") // the clause that does not compare
	edit(run.Path("verdict.json"), `"n": 60`, `"n": 61`)
	has(run, Differs, "verdict.json", "clauses[0].metrics[0].n: stored 61, recomputed 60")
	only := held(t, "clauses:\n  - {name: total, expr: compare.baseline.requests.total.change >= -0.5}\n", func() *outputs.Run { return finished(t, metrics.Options{}) }())
	b, err := os.ReadFile(only.Path("verdict.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(only.Path("verdict.json"), bytes.Replace(b, []byte(`"baseline": "`), []byte(`"baseline": "/nowhere`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	has(only, NotChecked, "verdict.json", "and every clause compares with it")
}
