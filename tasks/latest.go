package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ais_bench/outputs"
)

// FindRun is the run folder that reuse names below workDir. "latest" is not the
// newest folder of any kind but the newest one that the mode can work on: of the
// same kind (accuracy or performance) and with at least one of the plan's pairs
// of model and data set; of modes that only show (no plan), the newest with
// what they show. note says which newer ones were passed over, "" for none.
func FindRun(workDir, reuse string, mode Mode, plan *Plan) (run *outputs.Run, note string, err error) {
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
		is, suits := describeRun(r, mode, plan)
		if newest == "" {
			newest = fmt.Sprintf("%s, %s", filepath.Base(dir), is)
		}
		if !suits {
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
	return nil, "", &EnvironmentError{fmt.Errorf("no run in %s that --mode %s can go on with%s; the newest is %s; name one with --reuse TIMESTAMP", workDir, mode, wanted(plan), newest)}
}

func wanted(plan *Plan) string {
	if plan == nil {
		return ""
	}
	var names []string
	for _, t := range plan.Tasks {
		names = append(names, t.String())
	}
	if len(names) > 3 {
		names = append(names[:3], "…")
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// describeRun says what a run is, and whether the mode can work on it.
func describeRun(r *outputs.Run, mode Mode, plan *Plan) (is string, suits bool) {
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
	has := func(patterns ...string) bool {
		for _, p := range patterns {
			if found, _ := fs.Glob(os.DirFS(r.Dir()), p); len(found) > 0 {
				return true
			}
		}
		return false
	}
	if plan == nil {
		if mode == ModeViz {
			return is, has("results/*/*.json")
		}
		return is, has("performances/*/*.parquet", "performances/*/*.journal")
	}
	if m != nil && performance != (mode == ModePerf) {
		return is, false
	}
	for _, t := range plan.Tasks {
		for _, p := range pairs {
			if p.Model == t.ModelAbbr && p.Dataset == t.DatasetAbbr {
				return is, true
			}
		}
	}
	return is, false
}

// OpenRun finds the run folder that reuse names below workDir.
func OpenRun(workDir, reuse string) (*outputs.Run, error) {
	dir := reuse
	switch {
	case reuse == "":
		return nil, &EnvironmentError{errors.New("open run: the name is empty; give a run folder's name, its path, or latest")}
	case reuse == "latest":
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
	case !strings.ContainsAny(reuse, `/\`):
		dir = filepath.Join(workDir, reuse)
		if here, err := os.Stat(reuse); err == nil && here.IsDir() {
			if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
				return nil, &EnvironmentError{fmt.Errorf("open run %s: there is none of that name in %s; for the folder here give .%c%s", reuse, workDir, filepath.Separator, reuse)}
			}
		}
	}
	run, err := outputs.Open(dir)
	if err != nil {
		return nil, &EnvironmentError{fmt.Errorf("open run %s: %w", reuse, err)}
	}
	return run, nil
}
