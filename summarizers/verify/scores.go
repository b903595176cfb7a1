package verify

import (
	"errors"
	"fmt"
	"io/fs"

	"ais_bench/outputs"
)

// scores compares results/*.json with what the answers give, and the verdicts in
// the answers with those of now.
func (v *verifier) scores(p outputs.Pair) {
	path := v.run.ResultsPath(p.Model, p.Dataset)
	file := v.rel(path)
	doc, err := outputs.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		v.add(Finding{Check: "scores", File: file, Status: Unreadable, Detail: err.Error()})
		return
	}
	stored, err := tree(doc)
	if err != nil {
		v.add(Finding{Check: "scores", File: file, Status: Unreadable, Detail: "no JSON: " + err.Error()})
		return
	}
	now, ok := v.o.Scores[p]
	switch {
	case !ok:
		v.notChecked("scores", file, "the answers were not scored again")
		return
	case now.Result == nil:
		v.notChecked("scores", file, "%s", now.Why)
		return
	}
	for _, line := range now.Data {
		v.add(Finding{Check: "data", File: file, Status: Differs, Detail: "the data have changed since: " + line})
	}
	v.compareJSON("scores", file, stored, now.Result)
	if now.Answers == nil {
		v.notChecked("scores", v.rel(v.run.PredictionsPath(p.Model, p.Dataset)), "verdicts were counted, not made again: %s", now.Why)
		return
	}
	v.verdicts(p, now.Answers)
}

// verdicts compares the verdict of every answer, in predictions and in
// results/*.parquet.
func (v *verifier) verdicts(p outputs.Pair, now map[outputs.PredictionKey]*outputs.Prediction) {
	path := v.run.PredictionsPath(p.Model, p.Dataset)
	list := &limited{r: v.Report, check: "scores", file: v.rel(path)}
	byKey, order, err := outputs.LatestPredictions(path)
	if err != nil {
		return // the check of the answers has said so
	}
	for _, k := range order {
		stored, again := byKey[k], now[k]
		if again == nil {
			list.add(Finding{Where: "sample " + k.SampleID, Detail: "it has a verdict, and no question of the data set is it"})
			continue
		}
		compareVerdict(list, stored, again)
	}
	v.Numbers += int64(len(order))
	if list.end() {
		v.ok("scores", list.file, "%d verdicts, each as given again", len(order))
	}
	v.scored(p, now)
}

func compareVerdict(list *limited, stored, now *outputs.Prediction) {
	where := "sample " + stored.SampleID
	if stored.Repeat > 0 {
		where += fmt.Sprintf(", repeat %d", stored.Repeat)
	}
	differ := func(what, a, b string) {
		if a != b {
			list.add(Finding{Where: where + ", " + what, Stored: a, Recomputed: b})
		}
	}
	differ("outcome", stored.Outcome, now.Outcome)
	differ("score", scoreText(stored.Score), scoreText(now.Score))
	differ("extracted", optional(stored.Extracted), optional(now.Extracted))
	differ("parts", text(stored.Parts), text(now.Parts))
}

func scoreText(v *float64) string {
	if v == nil {
		return ""
	}
	return text(*v)
}

func optional(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// scored compares the answers' Parquet file with the answers.
func (v *verifier) scored(p outputs.Pair, now map[outputs.PredictionKey]*outputs.Prediction) {
	path := v.run.AnswersPath(p.Model, p.Dataset)
	if !fileExists(path) {
		return
	}
	list := &limited{r: v.Report, check: "scores", file: v.rel(path)}
	byID := map[string]*outputs.Prediction{}
	id := func(sample string, repeat int32) string { return fmt.Sprintf("%s\x00%d", sample, repeat) }
	for _, a := range now {
		byID[id(a.SampleID, a.Repeat)] = a
	}
	n := 0
	for row, err := range outputs.ReadAnswers(path) {
		if err != nil {
			list.add(Finding{Status: Unreadable, Detail: err.Error()})
			break
		}
		n++
		a := byID[id(row.SampleID, row.Repeat)]
		where := "sample " + row.SampleID
		if a == nil {
			list.add(Finding{Where: where, Detail: "no answer is of it"})
			continue
		}
		if row.Answer != string([]rune(a.Prediction)) {
			list.add(Finding{Where: where + ", answer", Stored: text(row.Answer), Recomputed: text(a.Prediction)})
		}
		compareVerdict(list, &outputs.Prediction{SampleID: row.SampleID, Repeat: row.Repeat, Outcome: row.Outcome, Score: row.Score, Extracted: row.Extracted, Parts: a.Parts}, a)
	}
	if n != len(now) && list.n == 0 {
		list.add(Finding{Detail: "answers in the file", Stored: fmt.Sprint(n), Recomputed: fmt.Sprint(len(now))})
	}
	if list.end() {
		v.ok("scores", list.file, "%d answers, each as scored again", n)
	}
}
