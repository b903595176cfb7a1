package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ais_bench/outputs"
)

// Options say what a run is checked with.
type Options struct {
	Tool outputs.ToolInfo // this program
	// Scores are the results recomputed from the answers, by pair; a pair with
	// results that has none here is not checked. Scoring needs data and scorers,
	// which belong to the caller.
	Scores map[outputs.Pair]Scores
	// Sweep is what the caller makes again of a sweep's folder; nil for a run.
	Sweep *Sweep
}

// Scores is one result recomputed.
type Scores struct {
	Result any    // as it would be written to results/*.json; nil = impossible, see Why
	Why    string // why the answers were not scored again, or not even counted
	// Answers are the answers with the verdicts of now; nil where the stored verdicts
	// were only counted.
	Answers map[outputs.PredictionKey]*outputs.Prediction
	Data    []string // data files that changed since, one line each
}

// Run checks a run folder. The error is one of a folder that cannot be read;
// everything else is in the report.
func Run(ctx context.Context, run *outputs.Run, o Options) (*Report, error) {
	m, err := run.ReadManifest()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be verified: %w", run.Dir(), err)
	}
	r := &Report{Run: run.Dir(), Findings: []Finding{}}
	if r.Manifest, _, err = outputs.HashFile(run.ManifestPath()); err != nil {
		return nil, err
	}
	pairs, err := run.Pairs()
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 && len(m.Pairs) == 0 && o.Sweep == nil {
		return nil, fmt.Errorf("%s cannot be verified: neither records nor answers, and its manifest names none; is it a run of this tool?", run.Dir())
	}
	v := &verifier{Report: r, run: run, m: m, o: o, same: sameTool(m, o.Tool)}
	v.state()
	v.hashes()
	v.data()
	v.named(pairs)
	for _, p := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v.records(p)
		v.performance(p)
		v.scores(p)
	}
	v.sweep()
	v.summaries()
	v.server(pairs)
	v.verdict()
	v.others()
	return r, nil
}

type verifier struct {
	*Report
	run  *outputs.Run
	m    *outputs.Manifest
	o    Options
	same bool // this program wrote the run
	last *computed
}

// sameTool reports whether every session was this very program: only then
// must tables look the same to the letter.
func sameTool(m *outputs.Manifest, tool outputs.ToolInfo) bool {
	same := func(t *outputs.ToolInfo) bool {
		return t.Version == tool.Version && t.Commit == tool.Commit && t.Dirty == tool.Dirty
	}
	if !same(&m.Tool) {
		return false
	}
	for i := range m.Sessions {
		if t := m.Sessions[i].Tool; t != nil && !same(t) {
			return false
		}
	}
	return true
}

func (v *verifier) rel(path string) string {
	if rel, err := filepath.Rel(v.run.Dir(), path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// state says how the run ended, as far as it matters for what its files can be.
func (v *verifier) state() {
	switch v.m.State {
	case outputs.StateRunning:
		v.notChecked("state", "manifest.json", "the run is still going on, or it was killed: it left no end, and its hashes may be of an earlier state")
	default:
		v.ok("state", "manifest.json", "the run is %s", v.m.State)
	}
}

// hashes compares every file that the manifest gives a hash of.
func (v *verifier) hashes() {
	for _, h := range v.run.CheckHashes(v.m) {
		f := Finding{Check: "hash", File: h.Path, Status: OK, Detail: h.What}
		switch {
		case errors.Is(h.Err, fs.ErrNotExist) || h.Err != nil && !fileExists(v.run.Path(h.Path)):
			f.Status, f.Detail = Missing, "the manifest names it ("+h.What+")"
		case h.Err != nil:
			f.Status, f.Detail = Unreadable, h.Err.Error()
		case !h.OK():
			f.Status, f.Detail = Differs, "the "+h.What+" "+were(h.What)+" changed after the run: sha256"
			f.Stored, f.Recomputed = h.Want, h.Got
		}
		v.add(f)
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// data compares the input files where they are within reach.
func (v *verifier) data() {
	for _, d := range v.m.Data {
		if strings.HasPrefix(d.Path, "embedded:") {
			v.builtIn(d)
			continue
		}
		path := d.Path
		if !filepath.IsAbs(path) && v.m.Command.WorkingDir != "" {
			path = filepath.Join(v.m.Command.WorkingDir, path)
		}
		if !fileExists(path) {
			v.notChecked("data", d.Path, "not on this machine: sha256 %s, %d bytes", d.SHA256, d.Bytes)
			continue
		}
		sum, _, err := outputs.HashFile(path)
		switch {
		case err != nil:
			v.add(Finding{Check: "data", File: d.Path, Status: Unreadable, Detail: err.Error()})
		case sum != d.SHA256:
			v.add(Finding{Check: "data", File: d.Path, Status: Differs, Detail: "the data file is not the one that was asked: sha256", Stored: d.SHA256, Recomputed: sum})
		default:
			v.ok("data", d.Path, "%d bytes", d.Bytes)
		}
	}
}

// builtIn data are looked at when answers are scored again.
func (v *verifier) builtIn(d outputs.DataFile) {
	for p, s := range v.o.Scores {
		if p.Dataset == d.Dataset && s.Answers != nil {
			if len(s.Data) == 0 {
				v.ok("data", d.Path, "built into the program, the same as then")
			}
			return // a change is told with the scores
		}
	}
	v.notChecked("data", d.Path, "built into the program that asked")
}

// named finds records that the manifest knows nothing of, and pairs without
// records.
func (v *verifier) named(pairs []outputs.Pair) {
	known := map[outputs.Pair]outputs.PairState{}
	for _, p := range v.m.Pairs {
		known[outputs.Pair{Model: p.Model, Dataset: p.Dataset}] = p
	}
	for _, p := range pairs {
		state, ok := known[p]
		path := v.run.RecordsPath(p.Model, p.Dataset)
		switch {
		case path == "":
		case !ok:
			v.add(Finding{Check: "records", File: v.rel(path), Status: Differs, Detail: "the manifest knows nothing of these records"})
		case state.SHA256 == "" && v.m.State != outputs.StateRunning:
			v.notChecked("hash", v.rel(path), "the manifest has no hash of these records")
		}
	}
}

// others are files that are made anew from the same numbers and hold the time
// they were made.
func (v *verifier) others() {
	if v.o.Sweep == nil && len(v.m.Pairs) > 0 {
		if found, _ := fs.Glob(os.DirFS(v.run.Dir()), "summary/summary_*"); len(found) == 0 { // the pattern is well-formed
			v.notChecked("summary", "summary/", "holds no table: nothing to compare")
		}
	}
	v.report()
	for _, name := range []string{"report.xlsx", "report.html"} {
		if fileExists(v.run.Path(name)) {
			v.notChecked("report", name, "made from the same figures; `ais_bench report RUN` makes it again")
		}
	}
	found, _ := fs.Glob(os.DirFS(v.run.Dir()), "performances/spec_decode_*.json") // the pattern is well-formed
	for _, f := range found {
		v.notChecked("performance", f, "counters that the server reported; nothing to recompute them from")
	}
}

// were agrees with what is written in the plural but for one.
func were(what string) string {
	if what == "configuration" {
		return "was"
	}
	return "were"
}
