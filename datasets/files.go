package datasets

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

//go:embed demo
var embeddedData embed.FS

// embeddedPrefix marks a layout whose file is inside the binary.
const embeddedPrefix = "embedded:"

// opener opens data files, on disk (OpenFile) or inside the binary.
type opener struct{}

func (opener) open(path string) (fs.File, error) {
	if inner, ok := strings.CutPrefix(path, embeddedPrefix); ok {
		return embeddedData.Open(inner)
	}
	return OpenFile(path)
}

// digest is the sha256 of a file as it lies on disk.
func (o opener) digest(path string) (File, error) {
	f, err := o.open(path)
	if err != nil {
		return File{}, fmt.Errorf("open data file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return File{}, fmt.Errorf("read data file %s: %w", path, err)
	}
	return File{Path: path, SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n}, nil
}

// CacheEnv names the environment variable with the root of the data sets.
const CacheEnv = "AIS_BENCH_DATASETS_CACHE"

// LocalCache is where `datasets pull` writes, and where data are looked for last.
const LocalCache = "datasets_cache"

// DefaultCacheDirs are the cache roots in the order they are searched:
// $AIS_BENCH_DATASETS_CACHE where it is set, then ./datasets_cache.
func DefaultCacheDirs() []string {
	if dir := os.Getenv(CacheEnv); dir != "" {
		return []string{dir, LocalCache}
	}
	return []string{LocalCache}
}

// finder looks for a source's files.
type finder struct {
	source Source
	// bases are the directories a layout's path is relative to, best first.
	bases []string
	// file is the one file the user named; it stands for the split that is asked.
	file      string
	fileSplit string
}

// newFinder decides where to look. path wins over roots.
func newFinder(src Source, abbr, path, split string, roots []string) (*finder, error) {
	f := &finder{source: src, fileSplit: split}
	if path != "" {
		st, err := os.Stat(path)
		if err != nil {
			return nil, &MissingError{fmt.Sprintf("data set %s: dataset path %s does not exist; give the file, the data set's directory or its parent", abbr, path)}
		}
		if !st.IsDir() {
			f.file = path
			path = filepath.Dir(path)
		}
		f.bases = append(f.bases, path)
		for _, d := range src.Dirs {
			f.bases = append(f.bases, filepath.Join(path, d))
		}
		return f, nil
	}
	if roots == nil {
		roots = DefaultCacheDirs()
	}
	for _, root := range roots {
		// AISBench keeps its data below ais_bench/datasets of the same variable.
		nested := filepath.Join(root, "ais_bench", "datasets")
		_, err := os.Stat(nested)
		for _, d := range src.Dirs {
			f.bases = append(f.bases, filepath.Join(root, d))
			if err == nil {
				f.bases = append(f.bases, filepath.Join(nested, d))
			}
		}
	}
	return f, nil
}

// found is a layout with the files that match it, in order.
type found struct {
	layout Layout
	base   string
	paths  []string
}

// split finds the files of a split of one sub-set; nil when there are none.
func (f *finder) split(split string, sub Subset) *found {
	layouts := f.source.Splits[split]
	if f.file != "" && split == f.fileSplit {
		return &found{layout: f.layoutOf(layouts), base: filepath.Dir(f.file), paths: []string{f.file}}
	}
	for _, l := range layouts {
		if strings.HasPrefix(l.Path, embeddedPrefix) {
			return &found{layout: l, paths: []string{l.Path}}
		}
	}
	for _, base := range f.bases {
		for _, l := range layouts {
			if paths := match(base, f.expand(l.Path, sub)); len(paths) > 0 {
				return &found{layout: l, base: base, paths: paths}
			}
		}
	}
	return nil
}

// layoutOf is how to read a file the user named: as the layout of the same name
// or, failing that, of the same format.
func (f *finder) layoutOf(layouts []Layout) Layout {
	name := filepath.Base(f.file)
	for _, l := range layouts {
		if ok, _ := filepath.Match(filepath.Base(l.Path), name); ok {
			return l
		}
	}
	own, err := Layout{}.format(name)
	for _, l := range layouts {
		if theirs, e := l.format(l.Path); err == nil && e == nil && theirs == own && l.Beside == nil {
			return l
		}
	}
	return Layout{}
}

func (f *finder) expand(path string, sub Subset) string {
	from, to, _ := strings.Cut(sub.path(), "-") // of a pair of languages
	return strings.NewReplacer("{subset}", sub.path(), "{from}", from, "{to}", to).Replace(path)
}

// other finds a further file of the data set, such as a text of examples.
func (f *finder) other(paths []string, sub Subset) string {
	for _, base := range f.bases {
		for _, p := range paths {
			if hits := match(base, f.expand(p, sub)); len(hits) > 0 {
				return hits[0]
			}
		}
	}
	return ""
}

func match(base, pattern string) []string {
	p := filepath.Join(base, filepath.FromSlash(pattern))
	if !strings.ContainsAny(pattern, "*?[") {
		if st, err := os.Stat(p); err == nil && !st.IsDir() {
			return []string{p}
		}
		return nil
	}
	hits, err := filepath.Glob(p)
	if err != nil {
		return nil
	}
	sort.Strings(hits)
	return hits
}

// missing is the one line for data that are not there.
func (f *finder) missing(abbr, split string, sub Subset, pull string) error {
	var tried []string
	const show = 6
	n := 0
	for _, base := range f.bases {
		for _, l := range f.source.Splits[split] {
			if n++; n <= show {
				tried = append(tried, filepath.Join(base, filepath.FromSlash(f.expand(l.Path, sub))))
			}
		}
	}
	more := ""
	if n > show {
		more = fmt.Sprintf(" and %d more", n-show)
	}
	what := "its files"
	if sub.Name != "" {
		what = "sub-set " + sub.Name
	}
	hint := "give --dataset-path"
	if len(f.source.Hub) > 0 {
		hint = "fetch them with `ais_bench datasets pull " + pull + "` or give --dataset-path"
	}
	return &MissingError{msg: fmt.Sprintf("data set %s: %s (%s split) not found; tried %s%s; %s",
		abbr, what, split, strings.Join(tried, ", "), more, hint)}
}

// MissingError says that a data set's files are not on this machine: where they
// were looked for and which command fetches them.
type MissingError struct{ msg string }

func (e *MissingError) Error() string { return e.msg }

// Is makes it one of the errors of files that are not there.
func (e *MissingError) Is(target error) bool { return target == fs.ErrNotExist }
