package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"strings"

	"ais_bench/outputs"
)

// key names one attempt.
type key struct {
	sample, session       string
	repeat, turn, attempt int32
	phase                 outputs.Phase
}

// seen is what a record says of its answer, in little memory.
type seen struct {
	content uint64 // hash of what the answer holds
	ok      bool
}

// records reads every record and every answer: torn ones, ones that occur twice,
// answers that are not their record's.
func (v *verifier) records(p outputs.Pair) {
	path := v.run.RecordsPath(p.Model, p.Dataset)
	if path == "" {
		if fileExists(v.run.PredictionsPath(p.Model, p.Dataset)) {
			v.notChecked("records", v.rel(v.run.PredictionsPath(p.Model, p.Dataset)), "answers without records, as another tool leaves them")
		}
		return
	}
	file := v.rel(path)
	list := &limited{r: v.Report, check: "records", file: file}
	byRequest := map[string]seen{}
	attempts := map[key]bool{}
	n, measured := 0, 0
	for rec, err := range v.run.Records(p.Model, p.Dataset) {
		var damage *outputs.DamageError
		if errors.As(err, &damage) {
			list.add(Finding{Status: Unreadable, Detail: "a torn record: " + damage.Error()})
			continue
		}
		if err != nil {
			list.add(Finding{Status: Unreadable, Detail: err.Error()})
			break
		}
		n++
		if rec.Phase != outputs.PhaseMeasured {
			continue
		}
		measured++
		k := key{rec.SampleID, rec.SessionID, rec.Repeat, rec.Turn, rec.Attempt, rec.Phase}
		if attempts[k] && !v.resumed(p) {
			list.add(Finding{Detail: fmt.Sprintf("attempt %d of sample %s, repeat %d, turn %d is there twice", rec.Attempt, rec.SampleID, rec.Repeat, rec.Turn)})
		}
		attempts[k] = true
		if rec.RequestID != "" {
			byRequest[rec.RequestID] = seen{contentOf(rec.Text, rec.Reasoning, rec.ToolCalls, rec.PromptSHA256, string(rec.Status), rec.FinishReason, rec.InputTokens, rec.OutputTokens), rec.OK()}
		}
	}
	if strings.HasSuffix(file, ".journal") {
		v.notChecked("records", file, "the journal was not sealed: the run was killed; continue it with --reuse, or make its reports with `ais_bench report`")
	}
	if want, ok := v.rows(path); ok && want != int64(n) && list.n == 0 {
		list.add(Finding{Detail: "records in the file", Stored: fmt.Sprint(want), Recomputed: fmt.Sprint(n)})
	}
	if list.end() {
		v.ok("records", file, "%d records, %d of measured requests, each whole", n, measured)
	}
	v.answers(p, byRequest)
}

// rows is the number of records that a sealed file says it holds.
func (v *verifier) rows(path string) (int64, bool) {
	if !strings.HasSuffix(path, ".parquet") || fileExists(strings.TrimSuffix(path, ".parquet")+".journal") {
		return 0, false
	}
	n, err := outputs.RecordRows(path)
	return n, err == nil
}

// resumed pairs may hold a question twice: once asked in vain, once answered.
func (v *verifier) resumed(p outputs.Pair) bool {
	for _, s := range v.m.Pairs {
		if s.Model == p.Model && s.Dataset == p.Dataset {
			return s.Sessions > 1
		}
	}
	return false
}

func contentOf(text, reasoning, tools, prompt, status, finish string, in, out int32) uint64 {
	h := fnv.New64a()
	for _, s := range []string{text, reasoning, compacted(tools), prompt, status, finish} {
		s = string([]rune(s)) // JSON has no invalid UTF-8: each bad byte became U+FFFD
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	fmt.Fprint(h, in, ":", out)
	return h.Sum64()
}

// compacted is JSON without blanks, as the answers hold it; "" where they hold none.
func compacted(doc string) string {
	var b bytes.Buffer
	if doc == "" || json.Compact(&b, []byte(doc)) != nil {
		return ""
	}
	return b.String()
}

// answers compares every answer with the record of its request.
func (v *verifier) answers(p outputs.Pair, byRequest map[string]seen) {
	path := v.run.PredictionsPath(p.Model, p.Dataset)
	file := v.rel(path)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if v.asked(p) {
			v.add(Finding{Check: "answers", File: file, Status: Missing, Detail: "the records have answers, the file of answers is gone"})
		}
		return
	}
	list := &limited{r: v.Report, check: "answers", file: file}
	n, likelihoods := 0, 0
	answered := map[string]bool{}
	for a, err := range outputs.ReadPredictions(path) {
		if err != nil {
			list.add(Finding{Status: Unreadable, Detail: err.Error()})
			break
		}
		n++
		if a.LabelLogprobs != nil {
			likelihoods++
			answered[a.UUID] = true
			continue // one answer of several requests
		}
		rec, ok := byRequest[a.UUID]
		where := "sample " + a.SampleID
		if a.Repeat > 0 {
			where += fmt.Sprintf(", repeat %d", a.Repeat)
		}
		switch {
		case !ok:
			list.add(Finding{Where: where, Detail: "no record is of its request " + a.UUID})
		case rec.content != contentOf(a.Prediction, a.Reasoning, string(a.ToolCalls), a.PromptSHA256, string(a.Status), a.FinishReason, count(a.InputTokens), count(a.OutputTokens)):
			list.add(Finding{Where: where, Detail: "the answer is not the one the record of request " + a.UUID + " holds (text, reasoning, tool calls, prompt hash, status or token counts)"})
		}
		if ok && a.Success != rec.ok {
			list.add(Finding{Where: where, Detail: "success", Stored: fmt.Sprint(a.Success), Recomputed: fmt.Sprint(rec.ok)})
		}
		answered[a.UUID] = true
	}
	if torn, err := tornTail(path); err == nil && torn {
		list.add(Finding{Status: Unreadable, Detail: "the last line is torn"})
	}
	if likelihoods == 0 {
		missing := 0
		for id, s := range byRequest {
			if s.ok && !answered[id] {
				missing++
			}
		}
		switch {
		case missing > 0 && v.m.State == outputs.StateRunning:
			v.notChecked("answers", file, "%d successful requests have no answer yet: the run was killed between the two", missing)
		case missing > 0:
			list.add(Finding{Detail: fmt.Sprintf("%d successful requests in the records have no answer in the file", missing)})
		}
	}
	if list.end() {
		v.ok("answers", file, "%d answers, each as in its record", n)
	}
}

// asked reports whether a pair's answers were kept, which those of side requests
// (the probe of a load test) are not.
func (v *verifier) asked(p outputs.Pair) bool {
	for _, s := range v.m.Pairs {
		if s.Model == p.Model && s.Dataset == p.Dataset {
			return s.Sessions > 0
		}
	}
	return false
}

func count(n *int32) int32 {
	if n == nil {
		return outputs.UnknownTokens
	}
	return *n
}

// tornTail reports whether a file of lines ends within one.
func tornTail(path string) (bool, error) {
	f, err := outputs.OpenFile(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return false, err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, st.Size()-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}
