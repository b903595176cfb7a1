package outputs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

// stampLayout names run folders, as AISBench does: 20261129_161500.
const stampLayout = "20060102_150405"

// Run is one run folder. Its methods are safe for concurrent use. Names of
// models and data sets may hold anything; paths are made safe by FileName.
type Run struct {
	dir     string
	created bool // by this process
	red     atomic.Pointer[Redactor]
}

// Create makes a new run folder <workDir>/<YYYYmmdd_HHMMSS>. Two processes
// that start in the same second get different folders (suffix _2, _3 …). The
// error of an unwritable work dir is one line that says what to do.
func Create(workDir string) (*Run, error) { return createAt(workDir, time.Now()) }

// CreateNamed makes a new folder <workDir>/<prefix><YYYYmmdd_HHMMSS> for
// something that holds runs, such as a sweep; Latest does not find it among the
// runs.
func CreateNamed(workDir, prefix string) (*Run, error) {
	return createPrefixed(workDir, prefix, time.Now())
}

// CreateIn makes dir a new run folder. It must not exist yet; the folder it lies
// in is made where it is missing.
func CreateIn(dir string) (*Run, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("cannot create the run folder %s: %w; choose a writable folder with --work-dir", dir, rootCause(err))
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot create the run folder %s: %w", dir, rootCause(err))
	}
	return &Run{dir: dir, created: true}, nil
}

func createAt(workDir string, now time.Time) (*Run, error) { return createPrefixed(workDir, "", now) }

func createPrefixed(workDir, prefix string, now time.Time) (*Run, error) {
	if err := os.MkdirAll(workDir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot create the work dir %s: %w; choose a writable folder with --work-dir", workDir, rootCause(err))
	}
	stamp := prefix + now.Format(stampLayout)
	for i := 1; i < 10000; i++ {
		name := stamp
		if i > 1 {
			name = fmt.Sprintf("%s_%d", stamp, i)
		}
		dir := filepath.Join(workDir, name)
		// Mkdir is the lock: exactly one process succeeds.
		err := os.Mkdir(dir, 0o755)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot create a run folder in %s: %w; choose a writable folder with --work-dir", workDir, rootCause(err))
		}
		return &Run{dir: dir, created: true}, nil
	}
	return nil, fmt.Errorf("cannot create a run folder in %s: %s_* are all taken", workDir, stamp)
}

// Open opens an existing run folder for reading, resuming or reporting.
func Open(dir string) (*Run, error) {
	st, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("open run folder %s: %w; give the folder that a run printed at its end", dir, rootCause(err))
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("open run folder %s: it is a file; give the folder that holds manifest.json", dir)
	}
	for _, known := range []string{"manifest.json", "predictions", "performances", "results", "configs"} {
		if _, err := os.Stat(filepath.Join(dir, known)); err == nil {
			return &Run{dir: dir}, nil
		}
	}
	if latest, err := Latest(dir); err == nil {
		return nil, fmt.Errorf("open run folder %s: it holds runs but is none; the latest one is %s", dir, latest)
	}
	return nil, fmt.Errorf("open run folder %s: neither manifest.json nor predictions nor performances in it", dir)
}

// Locate is the folder that name means below workDir, for every command alike: a
// name with a slash is a path; a bare one is a folder in workDir or, where workDir
// has none of that name, here. That there is one is not promised. "latest" is for
// the caller: it depends on what is looked for.
func Locate(workDir, name string) string {
	if strings.ContainsAny(name, `/\`) {
		return name
	}
	below := filepath.Join(workDir, name)
	if _, err := os.Stat(below); err == nil {
		return below
	}
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return name
	}
	return below
}

// Runs lists the paths of the run folders in workDir, the newest first. There
// being none is no error.
func Runs(workDir string) ([]string, error) { return runsNamed(workDir, "") }

func runsNamed(workDir, prefix string) ([]string, error) {
	entries, err := os.ReadDir(workDir)
	if err != nil {
		return nil, fmt.Errorf("look for runs in %s: %w", workDir, rootCause(err))
	}
	type run struct {
		name string
		key  runKey
	}
	var found []run
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok || !e.IsDir() {
			continue
		}
		if k, ok := parseRunName(name); ok {
			found = append(found, run{e.Name(), k})
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[j].key.less(found[i].key) })
	paths := make([]string, len(found))
	for i, r := range found {
		paths[i] = filepath.Join(workDir, r.name)
	}
	return paths, nil
}

// Latest returns the path of the newest run folder in workDir.
func Latest(workDir string) (string, error) { return LatestNamed(workDir, "") }

// LatestNamed returns the path of the newest folder that CreateNamed made with
// prefix.
func LatestNamed(workDir, prefix string) (string, error) {
	runs, err := runsNamed(workDir, prefix)
	if err != nil {
		return "", err
	}
	if len(runs) == 0 {
		return "", fmt.Errorf("no run folder (%sYYYYmmdd_HHMMSS) in %s; run something first or give another --work-dir", prefix, workDir)
	}
	return runs[0], nil
}

type runKey struct {
	stamp string
	n     int
}

func (k runKey) less(o runKey) bool {
	return k.stamp < o.stamp || k.stamp == o.stamp && k.n < o.n
}

func parseRunName(name string) (runKey, bool) {
	stamp, n := name, 1
	if len(name) > len(stampLayout) {
		stamp = name[:len(stampLayout)]
		if _, err := fmt.Sscanf(name[len(stampLayout):], "_%d", &n); err != nil {
			return runKey{}, false
		}
	}
	_, err := time.Parse(stampLayout, stamp)
	return runKey{stamp, n}, err == nil
}

// Empty reports whether the folder holds no record, no answer and no result:
// nothing was asked.
func (r *Run) Empty() bool {
	for _, dir := range []string{"performances", "predictions", "results"} {
		found := false
		_ = filepath.WalkDir(r.Path(dir), func(_ string, d fs.DirEntry, err error) error { // what cannot be read holds nothing
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err != nil || info.Size() > 0 {
					found = true
					return fs.SkipAll
				}
			}
			return nil
		})
		if found {
			return false
		}
	}
	return true
}

// Discard removes a folder that this process created and that is Empty: a start
// that failed leaves nothing behind. It reports whether it did.
func (r *Run) Discard() (bool, error) {
	if !r.created || !r.Empty() {
		return false, nil
	}
	if err := os.RemoveAll(r.dir); err != nil {
		return false, fmt.Errorf("remove the empty run folder %s: %w", r.dir, rootCause(err))
	}
	return true, nil
}

// SetRedactor makes every later write of the run scrub these secrets. Call it
// before anything is written.
func (r *Run) SetRedactor(red *Redactor) { r.red.Store(red) }

// Redactor returns the run's redactor; never nil.
func (r *Run) Redactor() *Redactor {
	if red := r.red.Load(); red != nil {
		return red
	}
	return &Redactor{}
}

// Dir is the run folder.
func (r *Run) Dir() string { return r.dir }

// Path joins elements to the run folder.
func (r *Run) Path(elem ...string) string {
	return filepath.Join(append([]string{r.dir}, elem...)...)
}

// ManifestPath is manifest.json.
func (r *Run) ManifestPath() string { return r.Path("manifest.json") }

// ConfigPath is configs/<name>.
func (r *Run) ConfigPath(name string) string { return r.Path("configs", FileName(name)) }

// LogPath is logs/<stage>/<model>/<dataset>.out; stage is infer, eval ….
func (r *Run) LogPath(stage, model, dataset string) string {
	return r.Path("logs", FileName(stage), FileName(model), FileName(dataset)+".out")
}

// PredictionsPath is predictions/<model>/<dataset>.jsonl.
func (r *Run) PredictionsPath(model, dataset string) string {
	return r.Path("predictions", FileName(model), FileName(dataset)+".jsonl")
}

// ResultsPath is results/<model>/<dataset>.json.
func (r *Run) ResultsPath(model, dataset string) string {
	return r.Path("results", FileName(model), FileName(dataset)+".json")
}

// PerformancePath is performances/<model>/<dataset>.<ext>; ext is csv, json,
// parquet or journal.
func (r *Run) PerformancePath(model, dataset, ext string) string {
	return r.Path("performances", FileName(model), FileName(dataset)+"."+ext)
}

// RecordsPath is where the pair's records are now: the Parquet file, or the
// journal of a run that was not sealed. "" when there are neither.
func (r *Run) RecordsPath(model, dataset string) string {
	for _, ext := range []string{"parquet", "journal"} {
		if p := r.PerformancePath(model, dataset, ext); exists(p) {
			return p
		}
	}
	return ""
}

// ExcelPath and HTMLPath are the two reports.
func (r *Run) ExcelPath() string { return r.Path("report.xlsx") }

// HTMLPath is report.html.
func (r *Run) HTMLPath() string { return r.Path("report.html") }

// JSONPath is the path of report.json.
func (r *Run) JSONPath() string { return r.Path("report.json") }

// Pair names one (model, data set) of a run.
type Pair struct{ Model, Dataset string }

// Pairs lists the pairs with records or predictions, sorted. Names come from
// the data where file names had to be changed.
func (r *Run) Pairs() ([]Pair, error) {
	found := map[Pair]bool{}
	for _, glob := range []string{"performances/*/*.parquet", "performances/*/*.journal", "predictions/*/*.jsonl", "results/*/*.json"} {
		paths, err := filepath.Glob(filepath.Join(globEscape(r.dir), filepath.FromSlash(glob)))
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			p = strings.TrimSuffix(p, filepath.Ext(p))
			found[Pair{filepath.Base(filepath.Dir(p)), filepath.Base(p)}] = true
		}
	}
	pairs := make([]Pair, 0, len(found))
	for p := range found {
		// The records know the true names; FileName of both is the same path.
		if path := r.RecordsPath(p.Model, p.Dataset); path != "" {
			for rec, err := range ReadRecords(path) {
				if err == nil {
					p = Pair{rec.Model, rec.Dataset}
				}
				break
			}
		}
		pairs = append(pairs, p)
	}
	sort.Slice(pairs, func(i, j int) bool {
		a, b := pairs[i], pairs[j]
		return a.Model < b.Model || a.Model == b.Model && a.Dataset < b.Dataset
	})
	return pairs, nil
}

func globEscape(s string) string {
	if os.PathSeparator == '\\' {
		return s // Windows paths cannot hold * or ?, and a backslash is no escape there
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// FileName makes any text one safe path element on Linux, macOS and Windows.
// Ordinary names are returned unchanged; a changed one carries six hex digits
// of its hash, so that different names never share a file. It is idempotent.
func FileName(s string) string {
	safe := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || unicode.IsControl(r) || strings.ContainsRune(`:*?"<>|`, r) || r == unicode.ReplacementChar {
			return '_'
		}
		return r
	}, s)
	safe = strings.TrimRight(safe, ". ")
	if strings.HasPrefix(safe, ".") {
		safe = "_" + safe[1:]
	}
	stem, _, _ := strings.Cut(strings.ToUpper(safe), ".")
	switch {
	case stem == "CON", stem == "PRN", stem == "AUX", stem == "NUL",
		len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) && stem[3] >= '0' && stem[3] <= '9':
		safe = "_" + safe
	}
	const limit = 180 // leaves room for extensions within the usual 255 bytes
	if len(safe) > limit {
		safe = safe[:limit-len("-1a2b3c")]
	}
	safe = strings.ToValidUTF8(safe, "")
	if safe == s && s != "" {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	if safe != "" {
		safe += "-"
	}
	return safe + hex.EncodeToString(sum[:3])
}
