package evaluators

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// scorersPage is docs/scorers.md: every scorer with its sentence and options.
func scorersPage(tb testing.TB) string {
	tb.Helper()
	var b strings.Builder
	b.WriteString(`# Scorers

Generated from the code by ` + "`UPDATE_DOCS=1 go test -run TestScorersPage ./evaluators`" + `; the test fails when it is out of date.

A scorer is named in a data set's configuration (` + "`scorer:`, `scorer_options:`" + `) or on the command line (` + "`--scorer ID`" + `). Plain names are the
rules to trust; names with a prefix reproduce published rules, faults included (see [conformance.md](conformance.md)).

| id | version | what it does | options |
|---|---|---|---|
`)
	for _, id := range IDs() {
		d, err := Describe(id)
		if err != nil {
			tb.Fatal(err)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", id, d.Version, strings.ReplaceAll(d.Summary, "|", "\\|"), strings.Join(d.Options, ", "))
	}
	return b.String()
}

func TestScorersPageIsUpToDate(t *testing.T) {
	const path = "../docs/scorers.md"
	want := scorersPage(t)
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date: run UPDATE_DOCS=1 go test -run TestScorersPage ./evaluators", path)
	}
}

func BenchmarkSummarize(b *testing.B) {
	scored := make([]Scored, 100_000)
	for i := range scored {
		scored[i] = Scored{ItemID: fmt.Sprint(i / 4), Repeat: i % 4, Verdict: Verdict{Outcome: Right, Extracted: "1", Score: 1}}
	}
	b.ReportAllocs()
	for b.Loop() {
		Summarize(scored)
	}
}
