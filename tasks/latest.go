package tasks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ais_bench/outputs"
)

// FindRun is the run folder that reuse names below workDir. "latest" is not the
// newest folder of any kind but the newest one that the mode can work on: of the
// same kind (accuracy or performance) and with at least one of the plan's pairs
// of model and data set. note says which newer ones were passed over, "" for none.
func FindRun(workDir, reuse string, mode Mode, plan *Plan) (run *outputs.Run, note string, err error) {
	var names []string
	for _, t := range plan.Tasks {
		names = append(names, t.String())
	}
	return findRun(workDir, reuse, mode, names, func(r *outputs.Run, known, performance bool, pairs []outputs.Pair) bool {
		if known && performance != (mode == ModePerf) {
			return false
		}
		for _, t := range plan.Tasks {
			for _, p := range pairs {
				if p.Model == t.ModelAbbr && p.Dataset == t.DatasetAbbr {
					return true
				}
			}
		}
		return false
	})
}

// FindShown is the run folder whose results a mode that only shows is to show.
// "latest" is the newest with what the mode shows and all models and data sets that
// are named, which may be none; a folder given by its name that lacks one of them is
// refused.
func FindShown(workDir, reuse string, mode Mode, models []ModelChoice, sets []DatasetChoice) (run *outputs.Run, note string, err error) {
	var names []string
	for _, m := range models {
		names = append(names, cmp.Or(m.Config.Abbr, m.Name))
	}
	for _, d := range sets {
		names = append(names, cmp.Or(d.Config.Abbr, d.Name))
	}
	run, note, err = findRun(workDir, reuse, mode, names, func(r *outputs.Run, _, _ bool, pairs []outputs.Pair) bool {
		if absent, _ := lacks(pairs, models, sets); absent != "" {
			return false
		}
		if mode == ModeViz {
			return holdsFile(r, "results/*/*.json")
		}
		return holdsFile(r, "performances/*/*.parquet", "performances/*/*.journal")
	})
	if err != nil || reuse == "latest" || len(names) == 0 {
		return run, note, err
	}
	pairs, err := run.Pairs()
	if err != nil {
		return nil, "", &EnvironmentError{err}
	}
	if absent, held := lacks(pairs, models, sets); absent != "" {
		return nil, "", fmt.Errorf("--reuse %s: the run holds answers of %s, and this command asks %s: name what the run holds, or leave --models and --datasets out to see all of it", filepath.Base(run.Dir()), held, absent)
	}
	return run, note, nil
}

// lacks is the first named model or data set that no pair is of, "" for none, and
// what of its kind the pairs are of.
func lacks(pairs []outputs.Pair, models []ModelChoice, sets []DatasetChoice) (absent, held string) {
	find := func(abbr, name string, of func(outputs.Pair) string) bool {
		var all []string
		for _, p := range pairs {
			all = append(all, of(p))
		}
		for _, n := range []string{abbr, name} {
			if n != "" && slices.ContainsFunc(all, func(h string) bool { return outputs.FileName(h) == outputs.FileName(n) }) {
				return true
			}
		}
		slices.Sort(all)
		absent, held = cmp.Or(abbr, name), cmp.Or(strings.Join(slices.Compact(all), ", "), "nothing")
		return false
	}
	for _, m := range models {
		if !find(m.Config.Abbr, m.Name, func(p outputs.Pair) string { return p.Model }) {
			return absent, held
		}
	}
	for _, d := range sets {
		if !find(d.Config.Abbr, d.Name, func(p outputs.Pair) string { return p.Dataset }) {
			return absent, held
		}
	}
	return "", ""
}

// holdsFile reports whether a file of the run has one of the patterns.
func holdsFile(r *outputs.Run, patterns ...string) bool {
	for _, p := range patterns {
		if found, _ := fs.Glob(os.DirFS(r.Dir()), p); len(found) > 0 {
			return true
		}
	}
	return false
}

// findRun is the run that reuse names or, for "latest", the newest that suits. known
// is false where a run has no manifest to tell whether it is a performance run;
// names are what is wanted, for the message.
func findRun(workDir, reuse string, mode Mode, names []string, suits func(r *outputs.Run, known, performance bool, pairs []outputs.Pair) bool) (run *outputs.Run, note string, err error) {
	if reuse != "latest" {
		run, err = OpenRun(workDir, reuse)
		return run, "", err
	}
	dirs, err := outputs.Runs(workDir)
	if err != nil {
		return nil, "", &EnvironmentError{err}
	}
	newest := ""
	for _, dir := range dirs {
		r, err := outputs.Open(dir)
		if err != nil {
			continue // a folder with a run's name and nothing in it
		}
		is, ok := describeRun(r, suits)
		if newest == "" {
			newest = fmt.Sprintf("%s, %s", filepath.Base(dir), is)
		}
		if !ok {
			continue
		}
		if base := filepath.Base(dir); !strings.HasPrefix(newest, base+",") {
			note = fmt.Sprintf("--reuse: going on with %s; the newest run is %s", base, newest)
		}
		return r, note, nil
	}
	if newest == "" {
		_, err := outputs.Latest(workDir) // says that there is none
		if err == nil {
			err = fmt.Errorf("no run in %s holds anything", workDir)
		}
		return nil, "", &EnvironmentError{err}
	}
	wanted := ""
	if len(names) > 3 {
		names = append(names[:3:3], "…")
	}
	if len(names) > 0 {
		wanted = " (" + strings.Join(names, ", ") + ")"
	}
	return nil, "", &EnvironmentError{fmt.Errorf("no run in %s that --mode %s can go on with%s; the newest is %s; name one with --reuse TIMESTAMP", workDir, mode, wanted, newest)}
}

// describeRun says what a run is, and whether it suits.
func describeRun(r *outputs.Run, suits func(r *outputs.Run, known, performance bool, pairs []outputs.Pair) bool) (is string, ok bool) {
	m, err := r.ReadManifest()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "whose manifest cannot be read", true // going on says what is wrong with it
	}
	kind, pairs := "a run of another tool", []outputs.Pair{}
	performance := false
	if m != nil {
		kind = "an accuracy run"
		if len(m.Sessions) > 0 && m.Sessions[0].Mode == string(ModePerf) {
			kind, performance = "a performance run", true
		}
		for _, p := range m.Pairs {
			pairs = append(pairs, outputs.Pair{Model: p.Model, Dataset: p.Dataset})
		}
	} else {
		pairs, _ = r.Pairs() // an unreadable one has none
	}
	is = kind
	if len(pairs) > 0 {
		is += " of " + pairs[0].Model + " × " + pairs[0].Dataset
		if n := len(pairs) - 1; n > 0 {
			is += fmt.Sprintf(" and %d more", n)
		}
	}
	return is, suits(r, m != nil, performance, pairs)
}

// OpenRun opens the run folder that name means below workDir (outputs.Locate);
// "latest" is the newest that holds anything.
func OpenRun(workDir, name string) (*outputs.Run, error) {
	dir := outputs.Locate(workDir, name)
	switch name {
	case "":
		return nil, &EnvironmentError{errors.New("open run: the name is empty; give a run folder's name, its path, or latest")}
	case "latest":
		dirs, err := outputs.Runs(workDir)
		if err != nil {
			return nil, &EnvironmentError{err}
		}
		for _, d := range dirs {
			if run, err := outputs.Open(d); err == nil && !run.Empty() {
				return run, nil // a start that failed is no run
			}
		}
		if dir, err = outputs.Latest(workDir); err != nil {
			return nil, &EnvironmentError{err}
		}
	}
	run, err := outputs.Open(dir)
	if err != nil {
		return nil, &EnvironmentError{fmt.Errorf("open run %s: %w", name, err)}
	}
	return run, nil
}
