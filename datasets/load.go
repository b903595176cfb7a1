package datasets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ais_bench/datasets/pyrandom"
)

// LoadOptions say where to look for the data and which part of it to take.
type LoadOptions struct {
	Path       string   // --dataset-path: a file, the data set's directory or a cache root; wins over CacheDirs
	CacheDirs  []string // cache roots in order; nil = DefaultCacheDirs()
	NumPrompts int      // first n rows of every sub-set; 0 = all
	Seed       int64    // for sampling modes and shuffles that name no seed of their own
	Subsets    []string // narrows Config.Subsets
	// CountTokens measures generated prompts; nil = estimated from the characters.
	CountTokens func(string) int
	// NoFewShot leaves the worked examples out. For scoring answers made
	// elsewhere only the references count, and the examples' files may be missing.
	NoFewShot bool
	// PullName is what the hint for missing data tells the user to pull; "" =
	// the name of the source.
	PullName string
}

// Set is a loaded data set: what is asked, in order, and what it was read from.
type Set struct {
	Config   Config
	Samples  []Sample
	Subsets  []string // sub-sets in order, as in Sample.Subset; [""] when there are none
	Files    []File   // every file read, for the manifest
	Warnings []string // one line each: rows dropped, answers not published …
}

// File is a data file as it was read.
type File struct {
	Path   string
	SHA256 string // hex digest of the file's bytes
	Bytes  int64
}

// position is where a row stands.
type position struct {
	index  int // of the row in its file(s), from 0
	subset Subset
	where  string // path:line
	// open reads another file beside the row's, for rows that refer to one.
	cfg Config
}

// item is a row brought to its source's public columns.
type item struct {
	fields  map[string]any
	gold    string // answer; "" = the configuration's output column
	golds   []string
	options []string // of a choice question, as stored
	correct int      // index of the right option; -1 = not published
	where   string
	index   int // among the sub-set's rows
}

// loader is one Load call.
type loader struct {
	ctx     context.Context
	cfg     Config
	src     Source
	opts    LoadOptions
	find    *finder
	files   map[string]bool
	buckets map[string]map[string][]item // split → sub-set → rows, for files that hold several sub-sets
	order   map[string][]string          // split → sub-sets in order of appearance
	dropped map[string]int
	rng     *pyrandom.Rand // of choice_order, shared by the rows of a sub-set
	rngNext int
	windows []Window // of the split that is being asked
	ownText bool     // generated rows stand in the program's own filler
	guessed bool     // lengths of generated rows are estimates
	set     *Set
}

// Load finds and reads the data and renders one Sample a row. A malformed row is
// an error with file and line; missing files are a *MissingError that lists the
// paths tried and the command that fetches them.
func (c Config) Load(ctx context.Context, opts LoadOptions) (*Set, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Workload != nil {
		return nil, c.errNoRows()
	}
	src, err := c.SourceOf()
	if err != nil {
		return nil, err
	}
	path := opts.Path
	if path == "" {
		path = c.Path
	}
	find, err := newFinder(src, c.Abbr, path, c.split(), opts.CacheDirs)
	if err != nil {
		return nil, err
	}
	l := &loader{ctx: ctx, cfg: c, src: src, opts: opts, find: find,
		files: map[string]bool{}, buckets: map[string]map[string][]item{}, order: map[string][]string{}, dropped: map[string]int{},
		set: &Set{Config: c}}
	subsets, err := l.subsets()
	if err != nil {
		return nil, err
	}
	for _, name := range subsets {
		if c.Generate != nil {
			err = l.generate(c.For(name), src.subset(name))
		} else {
			err = l.subset(name)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(l.set.Samples) == 0 {
		return nil, fmt.Errorf("data set %s: no rows to ask in %s", c.Abbr, strings.Join(l.readPaths(), ", "))
	}
	if err := c.Sampling.apply(l.set, opts.Seed); err != nil {
		return nil, fmt.Errorf("data set %s: %w", c.Abbr, err)
	}
	l.warn()
	return l.set, nil
}

func (c Config) split() string {
	if c.Split == "" {
		return "test"
	}
	return c.Split
}

// subsets are the sub-sets to ask, in order; [""] when there are none.
func (l *loader) subsets() ([]string, error) {
	all := l.src.SubsetNames()
	if len(all) == 0 && l.src.SubsetColumn != "" {
		if err := l.fillBuckets(l.cfg.split()); err != nil {
			return nil, err
		}
		all = l.order[l.cfg.split()]
	}
	chosen := all
	if len(l.cfg.Subsets) > 0 {
		chosen = l.cfg.Subsets
	}
	if len(l.opts.Subsets) > 0 {
		for _, s := range l.opts.Subsets {
			if !slices.Contains(chosen, s) {
				if len(chosen) == 0 {
					return nil, fmt.Errorf("data set %s has no sub-sets, so there is no %q", l.cfg.Abbr, s)
				}
				return nil, fmt.Errorf("data set %s has no sub-set %q%s", l.cfg.Abbr, s, didYouMean(s, chosen))
			}
		}
		chosen = l.opts.Subsets
	}
	if len(chosen) == 0 {
		chosen = []string{""}
	}
	l.set.Subsets = chosen
	return chosen, nil
}

// subset reads and renders one sub-set.
func (l *loader) subset(name string) error {
	sub := l.src.subset(name)
	cfg := l.cfg.For(name)
	from, to, err := parseRange(cfg.TestRange)
	if err != nil {
		return err
	}
	enough := l.opts.NumPrompts
	var rows []item
	l.windows = cfg.Where
	err = l.rows(cfg.split(), sub, func(it item) error {
		for _, w := range cfg.Where {
			if !w.holds(it.fields) {
				return nil
			}
		}
		if to >= 0 && it.index >= to {
			return errEnough
		}
		rows = append(rows, it)
		if from >= 0 && enough > 0 && len(rows) >= from+enough {
			return errEnough
		}
		return nil
	})
	if err != nil {
		return err
	}
	rows = sliceRange(rows, from, to)
	if enough > 0 && len(rows) > enough {
		rows = rows[:enough]
	}
	if len(rows) == 0 && name != "" {
		return fmt.Errorf("data set %s: sub-set %s has no rows in the %s split", l.cfg.Abbr, name, cfg.split())
	}
	l.windows = nil // few-shot rows come from anywhere
	r, err := l.renderer(cfg, sub)
	if err != nil {
		return err
	}
	for _, it := range rows {
		s, err := r.sample(it)
		if err != nil {
			return fmt.Errorf("data set %s: %s: %w", l.cfg.Abbr, it.where, err)
		}
		l.set.Samples = append(l.set.Samples, s)
	}
	return nil
}

// rows yields the shaped rows of a split of one sub-set in order.
func (l *loader) rows(split string, sub Subset, yield func(item) error) error {
	f := l.find.split(split, sub)
	if f == nil {
		pull := l.opts.PullName
		if pull == "" {
			pull = l.cfg.Data
		}
		return l.find.missing(l.cfg.Abbr, split, sub, pull)
	}
	if sub.Name != "" && !strings.Contains(f.layout.Path, "{") {
		if l.src.SubsetColumn != "" {
			if err := l.fillBuckets(split); err != nil {
				return err
			}
			for _, it := range l.buckets[split][sub.Name] {
				if err := yield(it); err == errEnough {
					return nil
				} else if err != nil {
					return err
				}
			}
			return nil
		}
	} else if l.find.file != "" && split == l.find.fileSplit && sub.Name != "" && len(l.set.Subsets) > 1 && l.src.SubsetColumn == "" {
		return fmt.Errorf("data set %s: %s is one file, but the data set has one for each of its %d sub-sets; give the directory", l.cfg.Abbr, l.find.file, len(l.set.Subsets))
	}
	return l.read(f, sub, yield)
}

// read reads and shapes the files of f.
func (l *loader) read(f *found, sub Subset, yield func(item) error) error {
	index, raw := 0, 0
	stopped := false
	for _, path := range f.paths {
		if err := l.record(path); err != nil {
			return err
		}
		beside, err := l.beside(f, sub, path)
		if err != nil {
			return err
		}
		n := 0
		err = readRows(l.ctx, opener{}, path, f.layout, func(row map[string]any, where string) error {
			for column, lines := range beside {
				if n >= len(lines) {
					return fmt.Errorf("%s: has no line in %s, which ends after %d lines", where, f.layout.Beside[column], len(lines))
				}
				row[column] = lines[n]
			}
			n++
			if l.outside(row) {
				raw++
				index++
				return nil
			}
			items, err := l.shape(row, position{index: raw, subset: sub, where: where, cfg: l.cfg})
			raw++
			if err != nil {
				var d dropped
				if errors.As(err, &d) {
					l.dropped[string(d)]++
					return nil
				}
				return fmt.Errorf("%s: %w", where, err)
			}
			for _, it := range items {
				it.where, it.index = where, index
				index++
				if err := yield(it); err != nil {
					stopped = errors.Is(err, errEnough)
					return err
				}
			}
			return nil
		})
		if err != nil || stopped {
			return err
		}
	}
	return nil
}

// outside reports whether a window leaves the row out before any work is spent on
// it; columns a shape adds are looked at later.
func (l *loader) outside(row map[string]any) bool {
	for _, w := range l.windows {
		if _, has := row[w.Column]; has && !w.holds(row) {
			return true
		}
	}
	return false
}

// beside reads the files whose lines belong to the rows of path.
func (l *loader) beside(f *found, sub Subset, path string) (map[string][]string, error) {
	if len(f.layout.Beside) == 0 {
		return nil, nil
	}
	columns := map[string][]string{}
	for column, name := range f.layout.Beside {
		hits := match(f.base, l.find.expand(name, sub))
		if len(hits) == 0 {
			return nil, fmt.Errorf("data set %s: %s needs %s, which is not in %s", l.cfg.Abbr, path, name, f.base)
		}
		if err := l.record(hits[0]); err != nil {
			return nil, err
		}
		var lines []string
		err := readRows(l.ctx, opener{}, hits[0], Layout{Format: "txt"}, func(row map[string]any, _ string) error {
			lines = append(lines, row["text"].(string))
			return nil
		})
		if err != nil {
			return nil, err
		}
		columns[column] = lines
	}
	return columns, nil
}

// fillBuckets reads a split whose file holds several sub-sets once.
func (l *loader) fillBuckets(split string) error {
	if l.buckets[split] != nil {
		return nil
	}
	f := l.find.split(split, Subset{})
	if f == nil {
		return l.rows(split, Subset{}, nil)
	}
	nameOf := map[string]string{}
	for _, s := range l.src.Subsets {
		nameOf[s.Name], nameOf[s.path()] = s.Name, s.Name
	}
	buckets := map[string][]item{}
	windows := l.windows
	l.windows = nil // rows are numbered within their sub-set, so all of them are read
	defer func() { l.windows = windows }()
	err := l.read(f, Subset{}, func(it item) error {
		value := textOf(it.fields[l.src.SubsetColumn])
		name, ok := nameOf[value]
		if !ok {
			if len(nameOf) > 0 && len(l.src.Subsets) > 0 {
				l.dropped["belong to no known sub-set ("+clip(value, 30)+")"]++
				return nil
			}
			name = value
		}
		if _, seen := buckets[name]; !seen {
			l.order[split] = append(l.order[split], name)
		}
		it.index = len(buckets[name])
		buckets[name] = append(buckets[name], it)
		return nil
	})
	if err != nil {
		return err
	}
	l.buckets[split] = buckets
	return nil
}

// record notes a file for the manifest, once.
func (l *loader) record(path string) error {
	if l.files[path] {
		return nil
	}
	l.files[path] = true
	f, err := opener{}.digest(path)
	if err != nil {
		return err
	}
	l.set.Files = append(l.set.Files, f)
	return nil
}

func (l *loader) readPaths() []string {
	var paths []string
	for _, f := range l.set.Files {
		paths = append(paths, f.Path)
	}
	return paths
}

func (l *loader) warn() {
	if l.ownText {
		l.set.Warnings = append(l.set.Warnings, l.cfg.Abbr+": the haystack is the program's own text; published scores were measured in others (`ais_bench datasets pull "+l.cfg.Data+"`)")
	}
	if l.guessed {
		l.set.Warnings = append(l.set.Warnings, l.cfg.Abbr+": prompt lengths are estimated from the characters; name a tokenizer for exact ones")
	}
	for _, reason := range sortedKeys(l.dropped) {
		l.set.Warnings = append(l.set.Warnings, fmt.Sprintf("%s: %d rows left out: they %s", l.cfg.Abbr, l.dropped[reason], reason))
	}
	ungraded := 0
	for _, s := range l.set.Samples {
		if !l.cfg.Graded(&s) {
			ungraded++
		}
	}
	if ungraded > 0 {
		l.set.Warnings = append(l.set.Warnings, fmt.Sprintf("%s: %d of %d rows have no published answer and cannot be scored", l.cfg.Abbr, ungraded, len(l.set.Samples)))
	}
}

// Graded reports whether a sample can be scored: a scorer that compares with a
// reference needs one.
func (c Config) Graded(s *Sample) bool {
	return s.Gold != "" || len(s.Golds) > 0 || !needsGold(c.For(s.Subset).Scorer)
}

// needsGold reports whether a scorer compares with a reference answer; code is
// run against tests, and instructions are checked by rules.
func needsGold(scorer string) bool {
	switch scorer {
	case "", "humaneval", "humanevalx", "mbpp", "livecodebench", "ifeval", "ifbench":
		return false
	}
	return true
}

// parseRange reads "[a:b]"; an open or absent bound is 0 and -1. Negative bounds
// count from the end and are returned as they are below -1 by sliceRange's rule.
func parseRange(s string) (from, to int, err error) {
	if s == "" {
		return 0, -1, nil
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s), "["), "]")
	a, b, ok := strings.Cut(inner, ":")
	bad := func() (int, int, error) {
		return 0, 0, fmt.Errorf("test_range %q is not like [0:8]", s)
	}
	if !ok {
		return bad()
	}
	from, to = 0, -1
	if a = strings.TrimSpace(a); a != "" {
		if from, err = strconv.Atoi(a); err != nil || from < 0 {
			return bad()
		}
	}
	if b = strings.TrimSpace(b); b != "" {
		if to, err = strconv.Atoi(b); err != nil || to < from {
			return bad()
		}
	}
	return from, to, nil
}

// sliceRange is rows[from:to] by the rows' own numbers.
func sliceRange(rows []item, from, to int) []item {
	var out []item
	for _, r := range rows {
		if r.index >= from && (to < 0 || r.index < to) {
			out = append(out, r)
		}
	}
	return out
}

func (w Window) holds(row map[string]any) bool {
	v := textOf(row[w.Column])
	if w.From != "" && v < w.From {
		return false
	}
	// A date bound includes the whole of its day, whatever time follows it.
	return w.To == "" || v <= w.To || strings.HasPrefix(v, w.To)
}
