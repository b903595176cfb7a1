package outputs

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Mismatches are what of a run's files is not as its manifest says, one line
// each: files that were changed or removed, records and answers that the manifest
// knows nothing of or has no hash of, states that do not exist. A folder with a
// mismatch is not the evidence that its run left, so nothing may be decided by it.
// It reads every file that has a hash once; `verify` looks closer.
//
// While a session works on the run, and after one was killed, hashes are those of
// the session before: what differs then is said to be unfinished, not changed.
func (r *Run) Mismatches(m *Manifest) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch m.State {
	case StateRunning:
		add("manifest.json: the run is still going on, or it was killed: it left no end; an accuracy run goes on with --reuse, another is measured anew")
		return out
	case StateDone, StateInterrupted, StateFailed:
	default:
		add("manifest.json: there is no state %q of a run; it is %s, %s, %s or %s", m.State, StateRunning, StateDone, StateInterrupted, StateFailed)
	}
	for _, h := range r.CheckHashes(m) {
		switch {
		case errors.Is(h.Err, fs.ErrNotExist):
			add("%s is gone: the manifest names it (%s)", h.Path, h.What)
		case h.Err != nil:
			add("%v", h.Err)
		case !h.OK():
			add("%s was changed after the run: its sha256 is %.12s…, the manifest has %.12s…", h.Path, h.Got, h.Want)
		}
	}
	named := map[Pair]bool{}
	for i := range m.Pairs {
		p := &m.Pairs[i]
		named[Pair{FileName(p.Model), FileName(p.Dataset)}] = true
		if !slices.Contains([]string{PairPlanned, PairDone, PairInterrupted, PairFailed}, p.State) {
			add("manifest.json: there is no state %q of %s on %s; it is %s, %s, %s or %s", p.State, p.Model, p.Dataset, PairPlanned, PairDone, PairInterrupted, PairFailed)
		}
		for _, f := range []struct{ what, path, sum string }{
			{"records", r.RecordsPath(p.Model, p.Dataset), p.SHA256},
			{"answers", r.PredictionsPath(p.Model, p.Dataset), p.Predictions},
			{"scores", r.ResultsPath(p.Model, p.Dataset), p.Results},
		} {
			if f.sum == "" && f.path != "" && exists(f.path) {
				add("%s: the manifest has no hash of these %s", r.rel(f.path), f.what)
			}
		}
		if parts, _, err := recordParts(r.PerformancePath(p.Model, p.Dataset, "parquet"), r.PerformancePath(p.Model, p.Dataset, "journal")); err == nil && len(parts) > 1 {
			add("%s: the manifest knows nothing of these records", r.rel(parts[1]))
		}
	}
	if len(m.Pairs) == 0 {
		return out // it vouches for nothing, which is said elsewhere
	}
	pairs, err := r.Pairs()
	if err != nil {
		return append(out, err.Error())
	}
	for _, p := range pairs {
		if !named[Pair{FileName(p.Model), FileName(p.Dataset)}] {
			add("the manifest knows nothing of the records and answers of %s on %s", p.Model, p.Dataset)
		}
	}
	return out
}

// Unfinished is why the figures of a pair whose run ended are not those of all that
// was due: it was not all asked, it ended early or it was not scored; "" for none of
// these. Requests that failed are no reason: they are counted beside every figure.
func (p *PairState) Unfinished() string {
	switch {
	case p.NotAsked > 0:
		return fmt.Sprintf("incomplete: %d of %d questions of %s were not asked", p.NotAsked, p.Requests, p.Dataset)
	case p.State == PairInterrupted, p.State == PairPlanned:
		return fmt.Sprintf("incomplete: %s on %s is %s", p.Model, p.Dataset, p.State)
	case p.State == PairFailed && p.Failed == 0:
		return fmt.Sprintf("%s on %s ended early: %s", p.Model, p.Dataset, p.Error)
	case p.Scoring != "":
		return fmt.Sprintf("the answers to %s were not scored: %s", p.Dataset, p.Scoring)
	}
	return ""
}

// Planned is how many requests of a pair were due when the run began, 0 where that is
// not known: a run for a length of time asks as many as it gets to.
func (m *Manifest) Planned(p Pair) int64 {
	for name, v := range m.Workload {
		load, _ := v.(map[string]any)
		model, dataset, ok := strings.Cut(name, " × ")
		if !ok || (Pair{FileName(model), FileName(dataset)}) != (Pair{FileName(p.Model), FileName(p.Dataset)}) {
			continue
		}
		if seconds, _ := load["duration_s"].(float64); seconds > 0 || load["pressure"] == true {
			return 0
		}
		n, _ := load["requests"].(float64) // as JSON has numbers
		return int64(n)
	}
	return 0
}

// Identity are texts that another run cannot have: when it began, to the nanosecond,
// under which name, and the hashes of its records, which hold their times, or of
// answers without records. A copy of a run shares one at least, also after it was
// scored again, continued or had its start edited.
func (m *Manifest) Identity() []string {
	var out []string
	if m.StartedAt != "" {
		out = append(out, "began "+m.StartedAt+" "+m.RunName)
	}
	for _, p := range m.Pairs {
		switch {
		case p.SHA256 != "":
			out = append(out, "records "+p.SHA256)
		case p.Predictions != "":
			out = append(out, "answers "+p.Predictions)
		}
	}
	return out
}

// SameRun reports whether two manifests are of one run, whatever folders they are
// in.
func SameRun(a, b *Manifest) bool {
	list := a.Identity()
	return slices.ContainsFunc(b.Identity(), func(id string) bool { return slices.Contains(list, id) })
}
