package summarizers

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// data is the content of the reports.
func (s *Summary) data(run *outputs.Run, pairs []outputs.Pair, m *outputs.Manifest, o ReportOptions) *outputs.ReportData {
	d := &outputs.ReportData{Title: o.Title, RunName: filepath.Base(run.Dir()), Generated: time.Now(), Tool: o.Tool, Lang: o.Lang,
		Verdict: o.Verdict, Findings: o.Findings, Notes: slices.Clone(o.Notes)}
	if len(s.Performance) > 0 {
		d.Help = metrics.Definitions()
	}
	if d.Title == "" {
		d.Title = titleOf(pairs)
	}
	d.Checklist = s.Checklist
	if m != nil {
		d.Notes = append(d.Notes, s.Warnings...)
		d.Config = configEntries(m)
	}
	health := plain(o.Health)
	d.Notes = append(append(d.Notes, s.ServerWarnings...), ClientBound(health)...)
	s.headlines(d)
	if len(s.Accuracy) > 0 {
		sec := outputs.Section{ID: "accuracy", Title: "Accuracy", Sheet: "Accuracy", Tables: []outputs.Table{AccuracyTable(s.Accuracy), OutcomeTable(s.Accuracy)}}
		if t := ReferenceTable(s.Accuracy); len(t.Rows) > 0 {
			sec.Tables = append(sec.Tables, t)
		}
		d.Sections = append(d.Sections, sec)
	}
	for i, p := range s.Performance {
		d.Sections = append(d.Sections, p.section(i))
	}
	d.Sections = append(append(d.Sections, s.serverSections()...), o.Sections...)
	if t := Cautions(s.Accuracy, s.Performance, m, o.Health); len(t.Rows) > 0 {
		t.Title = ""
		d.Sections = append(d.Sections, outputs.Section{ID: "cautions", Title: "Not to be compared", Sheet: "Reading help", Tables: []outputs.Table{t}})
	}
	if t := HealthTable(health); len(t.Rows) > 0 {
		t.Title = ""
		d.Sections = append(d.Sections, outputs.Section{ID: "client-health", Title: "Client health", Sheet: "Environment", Tables: []outputs.Table{t}})
	}
	if m != nil {
		d.Sections = append(d.Sections, environment(m))
	}
	if len(s.Performance) > 0 {
		d.Records = func() iter.Seq2[*outputs.Record, error] { return allRecords(run, pairs) }
		if path := run.RecordsPath(s.Performance[0].Model, s.Performance[0].Dataset); path != "" {
			if rel, err := filepath.Rel(run.Dir(), path); err == nil {
				d.RecordsPath = rel
			}
		}
		if len(s.Performance) > 1 {
			d.RecordsPath = "performances/*/*.parquet"
		}
	}
	if len(s.Accuracy) > 0 {
		d.Samples = s.samples(run, pairs)
	}
	return d
}

// section is the chapter of one model on one data set.
func (p PairPerformance) section(i int) outputs.Section {
	sec := outputs.Section{ID: fmt.Sprintf("performance-%d", i+1), Title: "Performance of " + p.Model + " on " + p.Dataset, Sheet: "Performance"}
	sec.Tables = p.tables()
	more := []outputs.Table{LengthTable(p.Result), PositionTable(p.Result)}
	if len(p.partings) > 0 {
		more = append([]outputs.Table{responsibleTable(p.partings)}, more...)
	}
	for _, t := range more {
		if len(t.Rows) > 0 {
			t.Title = p.titled(t.Title)
			sec.Tables = append(sec.Tables, t)
		}
	}
	sec.Charts = Charts(fmt.Sprintf("p%d", i+1), p.Result)
	return sec
}

func titleOf(pairs []outputs.Pair) string {
	title := pairs[0].Model + " on " + pairs[0].Dataset
	if n := len(pairs) - 1; n > 0 {
		title += fmt.Sprintf(" and %d more", n)
	}
	return title
}

// headlines are the few numbers a stakeholder reads first.
func (s *Summary) headlines(d *outputs.ReportData) {
	add := func(h outputs.Headline) { d.Headlines = append(d.Headlines, h) }
	for _, r := range s.Accuracy {
		h := outputs.Headline{Name: r.Metric + ", " + r.Dataset, Value: r.Overall.Accuracy, Kind: outputs.KindPercent, Unit: "%", Note: fmt.Sprintf("n %d", r.Overall.N)}
		if ci := r.Overall.CI; ci != nil {
			h.Note = fmt.Sprintf("95 %% CI %.2f to %.2f %%, n %d", 100*ci.Low, 100*ci.High, r.Overall.N)
		}
		if r.Overall.NotAsked > 0 {
			h.Mark = outputs.MarkWarn
			h.Note += ", " + fmt.Sprintf("%d questions were not asked", r.Overall.NotAsked)
		}
		add(h)
	}
	for _, p := range s.Performance {
		r := p.Result
		latency := func(metric string, s metrics.Stat, format string) {
			for _, q := range s.P {
				if q.P != 99 || q.Value == nil {
					continue
				}
				h := outputs.Headline{Name: metric + ", " + p.Dataset, Value: q.Value, Unit: "ms", Kind: outputs.KindFloat, Format: format, Note: fmt.Sprintf("of %d requests", s.N)}
				if q.Undersampled {
					h.Mark = outputs.MarkWarn
					h.Note = fmt.Sprintf("of %d requests, too few for a P99", s.N)
				}
				add(h)
			}
		}
		latency("TTFT P99", r.TTFT, "%.1f")
		latency("TPOT P99", r.TPOT, "%.2f")
		latency("E2EL P99", r.E2EL, "%.1f")
		if r.OutputThroughput != nil {
			note := fmt.Sprintf("%d requests", r.Requests.Success)
			if r.InputTokens.Mean != nil && r.OutputTokens.Mean != nil {
				note = fmt.Sprintf("%d requests of %.0f input and %.0f output tokens on average", r.Requests.Success, *r.InputTokens.Mean, *r.OutputTokens.Mean)
			}
			add(outputs.Headline{Name: "Output Token Throughput, " + p.Dataset, Value: r.OutputThroughput, Unit: "token/s", Kind: outputs.KindFloat, Format: "%.1f", Note: note})
		}
		if q := r.Requests; q.Total > 0 {
			h := outputs.Headline{Name: "Success rate, " + p.Dataset, Value: float64(q.Success) / float64(q.Total), Unit: "%", Kind: outputs.KindPercent, Note: fmt.Sprintf("%d of %d requests failed", q.Failed, q.Total)}
			if q.Failed > 0 {
				h.Mark = outputs.MarkBad
			}
			add(h)
		}
	}
}

func allRecords(run *outputs.Run, pairs []outputs.Pair) iter.Seq2[*outputs.Record, error] {
	return func(yield func(*outputs.Record, error) bool) {
		for _, p := range pairs {
			if run.RecordsPath(p.Model, p.Dataset) == "" {
				continue
			}
			for rec, err := range run.Records(p.Model, p.Dataset) {
				if !yield(rec, err) {
					return
				}
			}
		}
	}
}

// samples are the scored answers of all pairs.
func (s *Summary) samples(run *outputs.Run, pairs []outputs.Pair) iter.Seq2[*outputs.Sample, error] {
	return func(yield func(*outputs.Sample, error) bool) {
		for _, p := range pairs {
			path := run.PredictionsPath(p.Model, p.Dataset)
			timings := map[answerKey]timing(nil)
			for _, perf := range s.Performance {
				if perf.Pair == p {
					timings = perf.timings
				}
			}
			if _, err := os.Stat(path); err != nil {
				continue
			}
			for pr, err := range outputs.ReadPredictions(path) {
				if err != nil {
					yield(nil, err)
					return
				}
				if pr.Outcome == "" {
					continue
				}
				smp := &outputs.Sample{Model: p.Model, Dataset: p.Dataset, ID: pr.SampleID, Subset: pr.Subset, Repeat: pr.Repeat, Prompt: promptText(pr),
					Reasoning: pr.Reasoning, Answer: pr.Prediction, Gold: goldText(pr.Gold), Outcome: pr.Outcome, Score: pr.Score, Detail: pr.Detail,
					Finish: pr.FinishReason, Tokens: pr.OutputTokens}
				if pr.Extracted != nil {
					smp.Extracted = *pr.Extracted
				}
				if t, ok := timings[answerKey{pr.SampleID, pr.Repeat, pr.Turn}]; ok {
					smp.TTFTms, smp.E2Ems = finite(t.ttft), finite(t.e2e)
				}
				if !yield(smp, nil) {
					return
				}
			}
		}
	}
}

// promptText is a prompt to be read: the messages of a conversation one below
// the other, each under its role.
func promptText(p *outputs.Prediction) string {
	var messages []struct {
		Role   string `json:"role"`
		Prompt any    `json:"prompt"`
	}
	if json.Unmarshal(p.OriginPrompt, &messages) != nil || len(messages) == 0 {
		return p.PromptText()
	}
	var b strings.Builder
	for i, m := range messages {
		text, ok := m.Prompt.(string)
		if m.Role == "" || !ok {
			return p.PromptText()
		}
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("[" + m.Role + "]\n" + text)
	}
	return b.String()
}

// finite is a figure, nil where it is unknown.
func finite(v float32) *float64 {
	if v != v {
		return nil
	}
	f := math.Round(float64(v)*1e4) / 1e4
	return &f
}

func goldText(v any) string {
	switch g := v.(type) {
	case nil:
		return ""
	case string:
		return g
	case []any:
		text := ""
		for i, x := range g {
			if i > 0 {
				text += " | "
			}
			text += fmt.Sprint(x)
		}
		return text
	}
	return fmt.Sprint(v)
}

// configEntries flatten what ran for the Config sheet.
func configEntries(m *outputs.Manifest) []outputs.ConfigEntry {
	var out []outputs.ConfigEntry
	put := func(group, key string, v any) {
		out = append(out, outputs.ConfigEntry{Group: group, Key: key, Value: fmt.Sprint(v)})
	}
	put("command", "command line", commandLine(m.Command.Args))
	for i, s := range m.Sessions {
		if i > 0 {
			put("command", fmt.Sprintf("command line of session %d", i+1), commandLine(s.Command.Args))
		}
	}
	for _, c := range m.Configs {
		put("configuration", c.Kind+" "+c.Name, c.Source+", sha256 "+c.SHA256)
	}
	for _, group := range []struct {
		name string
		m    map[string]any
	}{{"seed", m.Seeds}, {"sampling", m.Sampling}, {"workload", m.Workload}} {
		for _, k := range sortedNames(group.m) {
			flatten(k, plain(group.m[k]), func(k, v string) { put(group.name, k, v) })
		}
	}
	return out
}

// commandLine is a command as one would type it.
func commandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n\"'$&|;<>()*?[]{}\\`!#~") {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// plain turns any value into JSON's own types; nil when it has no JSON form.
func plain(v any) any {
	b, err := outputs.MarshalJSON(v)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(b, &out) != nil {
		return nil
	}
	return out
}
