package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ais_bench/outputs"
	"ais_bench/tasks"
)

// Spec is what all points of a sweep have in common, stored in
// configs/<kind>.json.
type Spec struct {
	Kind string `json:"kind"` // "sweep", or what else keeps its points so; folders are called <kind>_<time>
	// Settings are what the points are measured with, by the name of the flag (or
	// key) that sets it. No value may be a secret. A point measured with other
	// settings does not belong here.
	Settings map[string]string `json:"settings"`
	// Facts are what the first point found: the model served, the data file's hash.
	// See Confirm.
	Facts map[string]string `json:"facts,omitempty"`
	// Plan is what the latest command wanted measured, in any form; a later one may
	// want more.
	Plan json.RawMessage `json:"plan,omitempty"`
}

// Done is a point that is done.
type Done struct {
	Point  Point           `json:"point"`
	Ended  string          `json:"ended_at"` // RFC 3339
	Result json.RawMessage `json:"result"`   // what Finish was given
	Dir    string          `json:"-"`        // the point's run folder
}

// Measured is what a Runner kept of the point.
func (d *Done) Measured() (Measured, error) {
	var m Measured
	if err := json.Unmarshal(d.Result, &m); err != nil {
		return m, &tasks.EnvironmentError{Err: fmt.Errorf("read %s: %w", d.Dir, err)}
	}
	return m, nil
}

// Store is a sweep's folder, held locked. Its methods are not safe for
// concurrent use: points are measured one after the other.
type Store struct {
	run      *outputs.Run
	spec     Spec
	manifest *outputs.Manifest
	unlock   func()
	// continued stores hand out only points whose files are as they were left;
	// trusted are those looked at.
	continued bool
	trusted   map[string]bool
}

// Create makes the folder of a new sweep below workDir. red scrubs what is
// written; nil when there is no secret.
func Create(workDir string, spec Spec, red *outputs.Redactor, tool outputs.ToolInfo, args []string) (*Store, error) {
	run, err := outputs.CreateNamed(workDir, spec.Kind+"_")
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: err}
	}
	run.SetRedactor(red)
	s := &Store{run: run, spec: spec}
	if err := s.lock(); err != nil {
		return nil, err
	}
	s.manifest = outputs.NewManifest(run, tool, args)
	s.session(tool, args)
	return s, s.keep()
}

// Open continues the sweep called name below workDir: a folder's name, its path,
// or "latest". The caller compares settings with Match before it measures.
func Open(workDir, name, kind string, red *outputs.Redactor, tool outputs.ToolInfo, args []string) (*Store, error) {
	s, err := read(workDir, name, kind)
	if err != nil {
		return nil, err
	}
	s.run.SetRedactor(red)
	if err := s.lock(); err != nil {
		return nil, err
	}
	// Read again: the process that held the lock may have written since.
	if err := s.load(); err != nil {
		s.unlock()
		return nil, err
	}
	if n := len(s.manifest.Sessions); n > 0 && s.manifest.Sessions[n-1].State == outputs.StateRunning {
		last := &s.manifest.Sessions[n-1]
		last.State, last.Note = outputs.StateInterrupted, "it was killed: it left no end"
	}
	s.manifest.State, s.manifest.StateReason = outputs.StateRunning, ""
	s.continued, s.trusted = true, map[string]bool{}
	s.session(tool, args)
	return s, s.keep()
}

// Read opens a sweep for reading only; it takes no lock and changes nothing.
func Read(workDir, name, kind string) (*Store, error) { return read(workDir, name, kind) }

// Is reports whether dir holds a sweep of the given kind.
func Is(dir, kind string) bool {
	_, err := os.Stat(filepath.Join(dir, "configs", kind+".json"))
	return err == nil
}

func read(workDir, name, kind string) (*Store, error) {
	dir := outputs.Locate(workDir, name)
	if name == "latest" {
		latest, err := outputs.LatestNamed(workDir, kind+"_")
		if err != nil {
			return nil, &tasks.EnvironmentError{Err: fmt.Errorf("no %s in %s: start one first, or give another --work-dir", kind, workDir)}
		}
		dir = latest
	}
	if !Is(dir, kind) {
		return nil, &tasks.EnvironmentError{Err: fmt.Errorf("%s is no %s: give the folder that a %s printed, or latest", dir, kind, kind)}
	}
	run, err := outputs.Open(dir)
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: err}
	}
	s := &Store{run: run, spec: Spec{Kind: kind}, unlock: func() {}}
	return s, s.load()
}

func (s *Store) load() error {
	if err := outputs.ReadJSON(s.specPath(), &s.spec); err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	m, err := s.run.ReadManifest()
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	s.manifest = m
	return nil
}

func (s *Store) lock() error {
	unlock, err := s.run.Lock()
	if err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	s.unlock = unlock
	return nil
}

func (s *Store) session(tool outputs.ToolInfo, args []string) {
	own := outputs.NewManifest(s.run, tool, args)
	ses := outputs.Session{Mode: s.spec.Kind, State: outputs.StateRunning, StartedAt: own.StartedAt, Command: own.Command}
	if len(s.manifest.Sessions) > 0 {
		ses.Tool = &own.Tool
	}
	s.manifest.Sessions = append(s.manifest.Sessions, ses)
}

func (s *Store) specPath() string { return s.run.ConfigPath(s.spec.Kind + ".json") }

// keep writes the spec and the manifest.
func (s *Store) keep() error {
	if err := s.run.WriteJSON(s.specPath(), s.spec); err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	if err := s.run.WriteManifest(s.manifest); err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	return nil
}

// Run is the sweep's folder, for reports.
func (s *Store) Run() *outputs.Run { return s.run }

// Spec is what the sweep's points have in common.
func (s *Store) Spec() Spec { return s.spec }

// Manifest is the sweep's manifest; Close writes it.
func (s *Store) Manifest() *outputs.Manifest { return s.manifest }

// ChangedError says that a sweep cannot be continued, and why.
type ChangedError struct {
	Sweep   string   // its folder
	Changes []string // "output_len: 128 when it was measured, 64 now"
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s was measured otherwise: %s; give the same again, or start a new one (without --reuse)", e.Sweep, strings.Join(e.Changes, "; "))
}

// Match compares settings with those the sweep was measured with; the error
// (*ChangedError) names every one that differs.
func (s *Store) Match(settings map[string]string) error {
	return s.changed(differences(s.spec.Settings, settings))
}

// Confirm compares facts with those found earlier, and keeps those found for the
// first time.
func (s *Store) Confirm(facts map[string]string) error {
	known := map[string]string{}
	for k := range facts {
		if v, ok := s.spec.Facts[k]; ok {
			known[k] = v
		} else {
			known[k] = facts[k]
		}
	}
	if err := s.changed(differences(known, facts)); err != nil {
		return err
	}
	all := maps.Clone(s.spec.Facts)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, facts)
	if maps.Equal(all, s.spec.Facts) {
		return nil
	}
	s.spec.Facts = all
	return s.keep()
}

// SetPlan stores what this command wants measured.
func (s *Store) SetPlan(plan any) error {
	b, err := outputs.MarshalJSON(plan)
	if err != nil {
		return fmt.Errorf("store the plan: %w", err)
	}
	s.spec.Plan = b
	return s.keep()
}

// Attach keeps a file under configs/ with its hash in the manifest.
func (s *Store) Attach(list ...tasks.Attachment) error {
	for _, a := range list {
		if _, err := tasks.Attach(s.run, s.manifest, a); err != nil {
			return &tasks.EnvironmentError{Err: err}
		}
	}
	return s.keep()
}

func (s *Store) changed(list []string) error {
	if len(list) == 0 {
		return nil
	}
	return &ChangedError{Sweep: s.run.Dir(), Changes: list}
}

// differences lists what differs, by name.
func differences(was, is map[string]string) []string {
	names := map[string]bool{}
	for k := range was {
		names[k] = true
	}
	for k := range is {
		names[k] = true
	}
	var list []string
	for _, k := range slices.Sorted(maps.Keys(names)) {
		a, hadIt := was[k]
		b, hasIt := is[k]
		switch {
		case a == b && hadIt == hasIt:
		case !hadIt:
			list = append(list, fmt.Sprintf("%s: not given when it was measured, %s now", k, b))
		case !hasIt:
			list = append(list, fmt.Sprintf("%s: %s when it was measured, not given now", k, a))
		default:
			list = append(list, fmt.Sprintf("%s: %s when it was measured, %s now", k, a, b))
		}
	}
	return list
}

// Dir is the run folder of a point, there or not.
func (s *Store) Dir(p Point) string { return s.run.Path("points", p.Key()) }

func resultPath(dir string) string { return filepath.Join(dir, "point.json") }

// Done is what is known of a point; nil when it is not done.
func (s *Store) Done(p Point) (*Done, error) { return s.done(s.Dir(p)) }

// done reads what is known of a point. A sweep that is continued takes no point
// into its figures whose files are not those that its manifest vouches for.
func (s *Store) done(dir string) (*Done, error) {
	d, err := readDone(dir)
	if d == nil || err != nil || !s.continued || s.trusted[dir] {
		return d, err
	}
	list, err := d.Mismatches()
	if err != nil {
		list = []string{err.Error()}
	}
	if len(list) > 0 {
		return nil, &tasks.EnvironmentError{Err: fmt.Errorf("%s cannot be kept: %s; remove the folder %s, and the point is measured again", d.Point, strings.Join(list, "; "), dir)}
	}
	s.trusted[dir] = true
	return d, nil
}

// Mismatches are what of the point's files is not as its manifest says.
func (d *Done) Mismatches() ([]string, error) {
	run, err := outputs.Open(d.Dir)
	if err != nil {
		return nil, err
	}
	m, err := run.ReadManifest()
	if errors.Is(err, fs.ErrNotExist) {
		return []string{"it has no manifest.json"}, nil
	}
	if err != nil {
		return nil, err
	}
	return run.Mismatches(m), nil
}

func readDone(dir string) (*Done, error) {
	d := &Done{Dir: dir}
	err := outputs.ReadJSON(resultPath(dir), d)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && d.Point.Key() != filepath.Base(dir) {
		err = fmt.Errorf("read %s: it is not the result of this point", resultPath(dir))
	}
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: fmt.Errorf("%w; the file is damaged: remove it, and the point is measured again", err)}
	}
	return d, nil
}

// Points are the points that are done, in no order that means anything.
func (s *Store) Points() ([]*Done, error) {
	entries, err := os.ReadDir(s.run.Path("points"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &tasks.EnvironmentError{Err: fmt.Errorf("read the points of %s: %w", s.run.Dir(), err)}
	}
	var list []*Done
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		d, err := s.done(s.run.Path("points", e.Name()))
		if err != nil {
			return nil, err
		}
		if d != nil {
			list = append(list, d)
		}
	}
	return list, nil
}

// Checklist is the reproducibility checklist over all points that are done.
func (s *Store) Checklist() ([]outputs.CheckItem, error) {
	points, err := s.Points()
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, p := range points {
		dirs = append(dirs, p.Dir)
	}
	list, err := outputs.ChecklistsOf(dirs)
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: err}
	}
	return list, nil
}

// Evidence puts into the sweep's manifest what a point's says of data and sampling,
// the checklist over all points that are done, and as the workload the settings and
// more. dir is the point's run folder. The point's manifest is returned.
func (s *Store) Evidence(dir string, more map[string]any) (*outputs.Manifest, error) {
	run, err := outputs.Open(dir)
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: err}
	}
	of, err := run.ReadManifest()
	if err != nil {
		return nil, &tasks.EnvironmentError{Err: err}
	}
	m := s.manifest
	m.Data, m.Sampling = of.Data, of.Sampling
	if m.Checklist, err = s.Checklist(); err != nil {
		return nil, err
	}
	workload := map[string]any{}
	maps.Copy(workload, more)
	for k, v := range s.spec.Settings {
		workload[k] = v
	}
	m.Workload = workload
	return of, nil
}

// Begin makes room for a point that is not done. It gives the folder its run must
// be created in, which does not exist yet, and the number of the attempt, from 1.
// What an earlier attempt left there is moved to incomplete/.
func (s *Store) Begin(p Point) (dir string, attempt int, err error) {
	dir = s.Dir(p)
	aside := func(n int) string { return s.run.Path("incomplete", fmt.Sprintf("%s_%d", p.Key(), n)) }
	for attempt = 1; exists(aside(attempt)); attempt++ {
	}
	if !exists(dir) {
		return dir, attempt, nil
	}
	if err = os.MkdirAll(s.run.Path("incomplete"), 0o755); err == nil {
		err = os.Rename(dir, aside(attempt))
	}
	if err != nil {
		return "", 0, &tasks.EnvironmentError{Err: fmt.Errorf("move the incomplete run of %s away: %w", p, err)}
	}
	return dir, attempt + 1, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Finish declares a point done: result is written to point.json, which is renamed
// into place. Until then the point counts as missing, whatever else is there.
func (s *Store) Finish(p Point, result any) error {
	b, err := outputs.MarshalJSON(result)
	if err != nil {
		return fmt.Errorf("keep the result of %s: %w", p, err)
	}
	if err := s.run.WriteJSON(resultPath(s.Dir(p)), Done{Point: p, Ended: time.Now().Format(time.RFC3339Nano), Result: b}); err != nil {
		return &tasks.EnvironmentError{Err: err}
	}
	return nil
}

// Discard removes a sweep that this process created and in which no point was
// begun; it reports whether it did. The store is closed then.
func (s *Store) Discard() (bool, error) {
	if len(s.manifest.Sessions) > 1 || exists(s.run.Path("incomplete")) {
		return false, nil
	}
	entries, err := os.ReadDir(s.run.Path("points"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) || len(entries) > 0 {
		return false, nil
	}
	defer s.unlock()
	if err := os.RemoveAll(s.run.Dir()); err != nil {
		return false, &tasks.EnvironmentError{Err: fmt.Errorf("remove the empty sweep %s: %w", s.run.Dir(), err)}
	}
	return true, nil
}

// Close writes how the sweep ended and gives the lock back. A store opened with
// Read is not written.
func (s *Store) Close(state outputs.RunState, reason string) error {
	defer s.unlock()
	if n := len(s.manifest.Sessions); n > 0 {
		s.manifest.Sessions[n-1].State, s.manifest.Sessions[n-1].Note = state, reason
	}
	s.manifest.State, s.manifest.StateReason = state, reason
	return s.keep()
}
