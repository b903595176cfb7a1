package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/summarizers/contract"
	"ais_bench/summarizers/facts"
	"ais_bench/summarizers/metrics"
)

const verdictFile = "verdict.json"

// verdict judges the run by the contract that it holds once more.
func (v *verifier) verdict() {
	doc, err := outputs.ReadFile(v.run.Path(verdictFile))
	if errors.Is(err, fs.ErrNotExist) {
		if v.contractOf("") != nil && v.m.State == outputs.StateDone {
			v.add(Finding{Check: "verdict", File: verdictFile, Status: Missing, Detail: "the run was held to a contract, and its verdict is gone"})
		}
		return
	}
	var stored contract.Document
	if err == nil {
		err = json.Unmarshal(doc, &stored)
	}
	if err == nil && stored.Verdict == nil {
		err = errors.New("it holds no verdict")
	}
	if err != nil {
		v.add(Finding{Check: "verdict", File: verdictFile, Status: Unreadable, Detail: err.Error()})
		return
	}
	if k := v.contractOfVerdict(&stored); k != nil {
		v.judgeAgain(k, &stored, doc)
	}
	v.junit(&stored)
}

// contractOf is the contract with a hash that the run holds; with "" any.
func (v *verifier) contractOf(sum string) *outputs.ConfigFile {
	for i := range v.m.Configs {
		if c := &v.m.Configs[i]; c.Kind == "contract" && (sum == "" || c.SHA256 == sum) {
			return c
		}
	}
	return nil
}

// contractOfVerdict reads the contract that a verdict is by; nil when that cannot be
// judged by, which is told.
func (v *verifier) contractOfVerdict(stored *contract.Document) *contract.Contract {
	of := v.contractOf(stored.Contract.SHA256)
	if of == nil {
		if other := v.contractOf(""); other != nil {
			v.add(Finding{Check: "verdict", File: verdictFile, Where: "contract.sha256", Status: Differs, Detail: "the run holds no such contract",
				Stored: stored.Contract.SHA256, Recomputed: other.SHA256})
		} else {
			v.notChecked("verdict", verdictFile, "the contract that it is by is not in the run: sha256 %s; judge again with `ais_bench gate RUN --contract %s`", stored.Contract.SHA256, stored.Contract.Path)
		}
		return nil
	}
	text, err := outputs.ReadFile(v.run.Path(of.Path))
	if err != nil {
		v.notChecked("verdict", verdictFile, "the contract that it is by cannot be read: %v", err)
		return nil
	}
	k, err := contract.Parse(stored.Contract.Path, text)
	switch {
	case err != nil:
		v.notChecked("verdict", verdictFile, "the contract that it is by cannot be understood: %v", err)
	case k.SHA256 != stored.Contract.SHA256: // the check of hashes names it
		v.notChecked("verdict", verdictFile, "%s was changed after the run: it is not the contract that the verdict is by", of.Path)
	default:
		return k
	}
	return nil
}

// judgeAgain compares the stored verdict with that of now.
func (v *verifier) judgeAgain(k *contract.Contract, stored *contract.Document, doc []byte) {
	whole := true
	var b *contract.Baseline
	o := v.judgedWith()
	if stored.Baseline != nil {
		var why string
		if b, why = v.openBaseline(k, stored, o); b == nil {
			if k = k.WithoutBaseline(); k == nil {
				v.notChecked("verdict", verdictFile, "%s, and every clause compares with it", why)
				return
			}
			v.notChecked("verdict", verdictFile, "%s: neither the clauses that compare with it nor the verdict as a whole are judged again", why)
			whole = false
		}
	}
	now, err := v.judge(k, b, o)
	if err != nil {
		v.add(Finding{Check: "verdict", File: verdictFile, Status: Unreadable, Detail: "the run cannot be judged again: " + err.Error()})
		return
	}
	again := contract.NewDocument(k, now, "", stored.Runs, b)
	v.sameFolders(again, stored, b)
	was, err := tree(doc)
	if err != nil {
		v.add(Finding{Check: "verdict", File: verdictFile, Status: Unreadable, Detail: err.Error()})
		return
	}
	is, err := treeOf(again)
	if err != nil {
		v.add(Finding{Check: "verdict", File: verdictFile, Status: Unreadable, Detail: err.Error()})
		return
	}
	a, _ := was.(map[string]any)
	c, _ := is.(map[string]any)
	// Who judged when and where; the checklist is that of the reports, which are
	// checked.
	for _, key := range []string{"generated_at", "tool", "runs", "checklist", "baseline", "baseline_sha256"} {
		delete(a, key)
		delete(c, key)
	}
	if !whole {
		for _, key := range []string{"verdict", "reason", "exit_code", "problems", "notes"} {
			delete(a, key)
			delete(c, key)
		}
		names := map[string]bool{}
		for i := range k.Clauses {
			names[k.Clauses[i].Name] = true
		}
		list, _ := a["clauses"].([]any)
		a["clauses"] = slices.DeleteFunc(list, func(x any) bool {
			m, _ := x.(map[string]any)
			name, _ := m["name"].(string)
			return !names[name]
		})
	}
	if !v.same { // sentences may be put otherwise by now, verdicts and numbers may not
		v.notChecked("verdict", verdictFile, "written by another version of the program (%s): its sentences are not compared", v.m.Tool.Version)
		withoutSentences(a)
		withoutSentences(c)
	}
	v.compareJSON("verdict", verdictFile, a, c)
}

// withoutSentences takes the words around the figures out of a verdict.
func withoutSentences(x any) {
	switch x := x.(type) {
	case map[string]any:
		for _, key := range []string{"reason", "why", "notes", "problems", "method"} {
			delete(x, key)
		}
		for _, e := range x {
			withoutSentences(e)
		}
	case []any:
		for _, e := range x {
			withoutSentences(e)
		}
	}
}

// judgedWith are the options that the run's figures were computed with.
func (v *verifier) judgedWith() metrics.Options {
	pairs, _ := v.run.Pairs() // read before
	for _, p := range pairs {
		doc, err := outputs.ReadFile(v.run.PerformancePath(p.Model, p.Dataset, "json"))
		if err != nil {
			continue
		}
		if t, err := tree(doc); err == nil {
			return optionsOf(t)
		}
	}
	return metrics.Options{}
}

// openBaseline opens what a verdict compared with; nil with the reason when it is not
// what it was.
func (v *verifier) openBaseline(k *contract.Contract, stored *contract.Document, o metrics.Options) (*contract.Baseline, string) {
	dir := *stored.Baseline
	run, err := outputs.Open(dir)
	if err != nil && !filepath.IsAbs(dir) { // as seen from where the run was started
		run, err = outputs.Open(filepath.Join(v.m.Command.WorkingDir, dir))
	}
	if err != nil {
		return nil, fmt.Sprintf("the baseline %s is not there", dir)
	}
	b, err := k.OpenBaseline(run, o)
	switch {
	case err != nil:
		return nil, fmt.Sprintf("the baseline %s cannot be read: %v", dir, err)
	case stored.BaselineSHA256 == nil:
		return nil, fmt.Sprintf("which state of the baseline %s it is by is not known", dir)
	case *stored.BaselineSHA256 != b.SHA256():
		return nil, fmt.Sprintf("the baseline %s is not what it was: its manifest.json had the sha256 %s and has %s", dir, *stored.BaselineSHA256, b.SHA256())
	}
	return b, ""
}

func (v *verifier) judge(k *contract.Contract, b *contract.Baseline, o metrics.Options) (*contract.Verdict, error) {
	if v.o.Sweep == nil {
		return k.JudgeRuns(b, o, v.run)
	}
	if v.o.Sweep.Facts == nil {
		return nil, errors.New("no contract is for its kind")
	}
	set, err := v.o.Sweep.Facts(v.run, facts.Options{Metrics: k.Options(metrics.Options{}), Paths: k.Paths()})
	if err != nil {
		return nil, err
	}
	return k.Judge(set)
}

// sameFolders writes folders in sentences as the stored verdict has them.
func (v *verifier) sameFolders(d, stored *contract.Document, b *contract.Baseline) {
	var pairs []string
	add := func(is, was string) { // a folder stands before a colon, or before a point of it
		if is != was {
			pairs = append(pairs, is+": ", was+": ", is+"/", was+"/")
		}
	}
	if len(stored.Runs) == 1 {
		add(v.run.Dir(), stored.Runs[0])
	}
	if b != nil {
		add(b.Run.Dir(), *stored.Baseline)
	}
	r := strings.NewReplacer(pairs...)
	d.Reason = r.Replace(d.Reason)
	for _, list := range [][]string{d.Problems, d.Notes} {
		for i := range list {
			list[i] = r.Replace(list[i])
		}
	}
}

// junit compares verdict.xml with verdict.json, which it says the same as.
func (v *verifier) junit(stored *contract.Document) {
	const file = "verdict.xml"
	got, err := outputs.ReadFile(v.run.Path(file))
	if err != nil {
		v.add(Finding{Check: "verdict", File: file, Status: Missing, Detail: "it belongs to " + verdictFile})
		return
	}
	var want bytes.Buffer
	if err := stored.WriteJUnit(&want); err != nil {
		v.add(Finding{Check: "verdict", File: file, Status: Unreadable, Detail: err.Error()})
		return
	}
	if !v.same && !bytes.Equal(got, want.Bytes()) {
		v.notChecked("verdict", file, "written by another version of the program (%s), whose sentences may be others", v.m.Tool.Version)
		return
	}
	v.sameLines("verdict", file, got, want.Bytes(), "as "+verdictFile+" says it")
}
