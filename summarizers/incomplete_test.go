package summarizers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"ais_bench/evaluators"
	"ais_bench/outputs"
)

// TestIncompleteScoresAreMarked: a score over a part of the questions does not
// look like one over all of them.
func TestIncompleteScoresAreMarked(t *testing.T) {
	r := result()
	whole := AccuracyTable([]evaluators.Result{r})
	r.Overall.NotAsked = 38
	part := AccuracyTable([]evaluators.Result{r})
	marked := func(table outputs.Table) (n int) {
		for _, row := range table.Rows {
			if c, ok := row[5].(outputs.Cell); ok && c.Note == "incomplete" && c.Mark == outputs.MarkWarn {
				n++
			}
		}
		return n
	}
	if marked(whole) != 0 || len(whole.Notes) != 0 {
		t.Errorf("a complete result is marked: %v", whole.Notes)
	}
	if marked(part) == 0 || len(part.Notes) != 1 || !strings.Contains(part.Notes[0], "38 were not put to") {
		t.Errorf("%d rows marked, notes %q", marked(part), part.Notes)
	}
	if c, ok := OutcomeTable([]evaluators.Result{r}).Rows[0][3].(outputs.Cell); !ok || c.Note != "of 41" {
		t.Errorf("the count of outcomes hides the questions not asked: %v", c)
	}
}

// TestKilledRunIsNoWholeOne: figures over what a killed or interrupted run left say so
// in every form: the tables and their files, report.json, the page and the spreadsheet.
func TestKilledRunIsNoWholeOne(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*outputs.Manifest)
		want []string
	}{
		"killed": {func(m *outputs.Manifest) { m.State = outputs.StateRunning },
			[]string{"INVALID: manifest.json: the run is still going on, or it was killed", "of 100 requests of m on d have a record; the figures are of these"}},
		"interrupted": {func(m *outputs.Manifest) {
			m.Pairs = []outputs.PairState{{Model: "m", Dataset: "d", State: outputs.PairInterrupted, Requests: 100, NotAsked: 40}}
		}, []string{"INVALID: incomplete: 40 of 100 questions of d were not asked"}},
		"disk full": {func(m *outputs.Manifest) {
			m.Pairs = []outputs.PairState{{Model: "m", Dataset: "d", State: outputs.PairFailed, Requests: 100, Error: "no space left on device"}}
		}, []string{"INVALID: m on d ended early: no space left on device"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := finishedRun(t)
			m, err := run.ReadManifest()
			if err != nil {
				t.Fatal(err)
			}
			m.Workload["m × d"].(map[string]any)["requests"] = 100
			c.end(m)
			if err := run.WriteManifest(m); err != nil {
				t.Fatal(err)
			}
			s, err := Report(run, ReportOptions{Accuracy: true, Performance: true, Excel: true, HTML: true})
			if err != nil {
				t.Fatal(err)
			}
			if s.Tables[0].ID != "invalid" {
				t.Errorf("the first table is %q", s.Tables[0].ID)
			}
			files := map[string]string{}
			for _, f := range s.Files {
				if b, err := os.ReadFile(run.Path(f)); err == nil {
					files[filepath.Ext(f)] = string(b)
				}
			}
			var doc outputs.ReportJSON
			if err := outputs.ReadJSON(run.JSONPath(), &doc); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(strings.Join(doc.Warnings, "\n"), want) {
					t.Errorf("report.json warns of %q, not of %q", doc.Warnings, want)
				}
				for _, ext := range []string{".csv", ".md", ".html"} {
					if !strings.Contains(files[ext], want) {
						t.Errorf("%s does not say %q", ext, want)
					}
				}
				if x := sheetText(t, run.ExcelPath()); !strings.Contains(x, want) {
					t.Errorf("the spreadsheet does not say %q", want)
				}
			}
		})
	}
}

// sheetText is all text of a spreadsheet.
func sheetText(t *testing.T, path string) string {
	t.Helper()
	f, err := excelize.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	for _, sheet := range f.GetSheetList() {
		rows, err := f.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			b.WriteString(strings.Join(row, "\t") + "\n")
		}
	}
	return b.String()
}
