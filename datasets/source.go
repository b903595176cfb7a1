package datasets

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"ais_bench/registry"
)

//go:embed sources
var builtinSources embed.FS

// Source is where rows come from: what a stranger has to know to trust them
// (origin, licence, number of rows) and how the files may be laid out.
type Source struct {
	Title    string `yaml:"title,omitempty"`
	Origin   string `yaml:"origin,omitempty"`   // who published it
	Licence  string `yaml:"licence,omitempty"`  //
	Language string `yaml:"language,omitempty"` // en, zh, …; "multi"
	Rows     int    `yaml:"rows,omitempty"`     // of the split that is asked; 0 = not stated
	Notes    string `yaml:"notes,omitempty"`    // one line: gated, gold not published …

	Dirs []string `yaml:"dirs,omitempty"` // directory names below a cache root; the first is where `pull` writes
	// Splits maps a split to the layouts accepted for it, in order of preference.
	Splits map[string][]Layout `yaml:"splits"`
	// Subsets are the sub-sets by name; rows of one file may belong to several
	// (SubsetColumn), or each sub-set has files of its own ({subset} in Layout.Path).
	Subsets      []Subset `yaml:"subsets,omitempty"`
	SubsetColumn string   `yaml:"subset_column,omitempty"`

	// Shape names the Go function that brings a row of any layout to the source's
	// public columns; "" leaves rows as they are.
	Shape string `yaml:"shape,omitempty"`

	Hub []Hub `yaml:"hub,omitempty"` // repositories `pull` can fetch from
}

// Layout is one accepted place and format of a split's file.
type Layout struct {
	Path    string            `yaml:"path"`              // relative to the data set's directory; globs, {subset}, and {from} and {to} of a pair "a-b" allowed
	Format  string            `yaml:"format,omitempty"`  // jsonl, json, csv, tsv, txt, parquet; "" = by extension
	Header  []string          `yaml:"header,omitempty"`  // column names of a csv or tsv without a header line
	Records string            `yaml:"records,omitempty"` // json: dotted path of the list of rows
	Rename  map[string]string `yaml:"rename,omitempty"`  // column → name used by templates and scorers
	Beside  map[string]string `yaml:"beside,omitempty"`  // further column → file of the same number of lines (labels, targets)
}

// Subset is one sub-set.
type Subset struct {
	Name  string `yaml:"name"`
	Title string `yaml:"title,omitempty"` // as written in prompts: {subset_title}; "" = name with blanks for underscores
	Rows  int    `yaml:"rows,omitempty"`
	Path  string `yaml:"path,omitempty"` // what stands for {subset} in paths; "" = name
}

// Hub is a repository of data files.
type Hub struct {
	Kind     string   `yaml:"kind"` // hf or modelscope
	ID       string   `yaml:"id"`   // owner/name
	Revision string   `yaml:"revision,omitempty"`
	Files    []string `yaml:"files"`           // paths or globs in the repository
	Gated    bool     `yaml:"gated,omitempty"` // needs a token of a user who accepted its terms
}

var openSources = sync.OnceValues(func() (*registry.Registry[Source], error) {
	sub, err := fs.Sub(builtinSources, "sources")
	if err != nil {
		return nil, fmt.Errorf("open built-in data sources: %w", err)
	}
	return registry.Open[Source]("dataset", sub, "")
})

// FindSource is the built-in Source called name; an unknown name is an error
// that suggests the nearest one.
func FindSource(name string) (Source, error) {
	r, err := openSources()
	if err != nil {
		return Source{}, err
	}
	e, err := r.Get(name)
	if err != nil {
		return Source{}, err
	}
	return e.Value, nil
}

// SourceNames are the names of all built-in sources, sorted.
func SourceNames() ([]string, error) {
	r, err := openSources()
	if err != nil {
		return nil, err
	}
	return r.Names(), nil
}

// SubsetNames are the names of the sub-sets in the source's order.
func (s Source) SubsetNames() []string {
	names := make([]string, len(s.Subsets))
	for i, sub := range s.Subsets {
		names[i] = sub.Name
	}
	return names
}

// subset finds a sub-set by name; an undeclared one stands for itself.
func (s Source) subset(name string) Subset {
	if i := slices.IndexFunc(s.Subsets, func(x Subset) bool { return x.Name == name }); i >= 0 {
		return s.Subsets[i]
	}
	return Subset{Name: name}
}

// title is the sub-set's name as prompts write it.
func (s Subset) title() string {
	if s.Title != "" {
		return s.Title
	}
	return strings.ReplaceAll(s.Name, "_", " ")
}

// path is what stands for {subset} in a layout's path.
func (s Subset) path() string {
	if s.Path != "" {
		return s.Path
	}
	return s.Name
}

// Validate checks layouts, formats, sub-set names and hub entries.
func (s Source) Validate() error {
	if len(s.Splits) == 0 {
		return fmt.Errorf("source has no splits: say which files hold its rows")
	}
	if s.Shape != "" {
		if _, ok := shapes[s.Shape]; !ok {
			return fmt.Errorf("source has the unknown shape %q%s", s.Shape, didYouMean(s.Shape, shapeNames()))
		}
	}
	for split, layouts := range s.Splits {
		if len(layouts) == 0 {
			return fmt.Errorf("split %s has no layout", split)
		}
		for _, l := range layouts {
			if l.Path == "" {
				return fmt.Errorf("split %s has a layout without path", split)
			}
			if _, err := l.format(l.Path); err != nil {
				return fmt.Errorf("split %s: %w", split, err)
			}
		}
	}
	seen := map[string]bool{}
	for _, sub := range s.Subsets {
		if sub.Name == "" || seen[sub.Name] {
			return fmt.Errorf("sub-set %q is empty or named twice", sub.Name)
		}
		seen[sub.Name] = true
	}
	for _, h := range s.Hub {
		if h.Kind != "hf" && h.Kind != "modelscope" {
			return fmt.Errorf("hub kind %q is neither hf nor modelscope", h.Kind)
		}
		if h.ID == "" || len(h.Files) == 0 {
			return fmt.Errorf("hub entry %q names no repository or no files", h.ID)
		}
	}
	return nil
}

func didYouMean(name string, among []string) string { return registry.DidYouMean(name, among) }
