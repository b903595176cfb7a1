// Package registry loads named configurations from YAML, one file a name.
//
// A registry is built from an explicit embedded directory; a user's directory
// with the same layout (--config-dir) adds to it and overrides it by name.
// Names are file stems; directories below the root are only for order.
// Decoding is strict: an unknown key or a wrong type is an error that names
// file, line and the nearest right key. Nobody has to edit a file: Entry.Set
// changes one field from the command line.
package registry

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/goccy/go-yaml"
)

// Entry is one named configuration.
type Entry[T any] struct {
	Name   string // file stem
	Origin string // where it comes from: "built-in:<path>" or a file's path
	Value  T
}

// Registry holds the configurations of one kind ("model", "dataset", …).
type Registry[T any] struct {
	kind    string
	entries map[string]*Entry[T]
	derived map[string]derivation
}

// derivation is a name that stands for another entry with some fields changed.
type derivation struct {
	of     string
	fields map[string]any
}

// Derive makes name stand for the entry of with some top-level fields replaced.
// It is resolved when asked for, so it follows an override of the entry; an
// entry of its own under the name (a user's file) wins.
func (r *Registry[T]) Derive(name, of string, fields map[string]any) error {
	if _, ok := r.entries[of]; !ok {
		return fmt.Errorf("%s %q is derived from the unknown %q%s", r.kind, name, of, DidYouMean(of, r.Names()))
	}
	if r.derived == nil {
		r.derived = map[string]derivation{}
	}
	r.derived[name] = derivation{of: of, fields: fields}
	return nil
}

// resolve builds the entry of a derived name.
func (r *Registry[T]) resolve(name string, d derivation) (*Entry[T], error) {
	e := r.entries[d.of].clone()
	e.Name = name
	if len(d.fields) == 0 {
		return e, nil
	}
	raw, err := yaml.Marshal(d.fields)
	if err != nil {
		return nil, fmt.Errorf("derive %s %s: %w", r.kind, name, err)
	}
	if err := Decode(raw, &e.Value); err != nil {
		return nil, fmt.Errorf("derive %s %s from %s: %w", r.kind, name, d.of, err)
	}
	return e, nil
}

// Open reads every *.yaml below builtin, then every *.yaml below userDir ("" or
// a directory that does not exist = none), which override by name.
func Open[T any](kind string, builtin fs.FS, userDir string) (*Registry[T], error) {
	r := &Registry[T]{kind: kind, entries: map[string]*Entry[T]{}}
	if builtin != nil {
		if err := r.load(builtin, func(p string) string { return "built-in:" + p }); err != nil {
			return nil, err
		}
	}
	if userDir != "" {
		switch st, err := os.Stat(userDir); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read %s configurations in %s: %w", kind, userDir, err)
		case !st.IsDir():
			return nil, fmt.Errorf("read %s configurations: %s is not a directory", kind, userDir)
		default:
			if err := r.load(os.DirFS(userDir), func(p string) string { return filepath.Join(userDir, p) }); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

func (r *Registry[T]) load(dir fs.FS, origin func(string) string) error {
	seen := map[string]string{}
	return fs.WalkDir(dir, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read %s configurations: %w", r.kind, err)
		}
		if d.IsDir() || path.Ext(p) != ".yaml" {
			return nil
		}
		name := strings.TrimSuffix(path.Base(p), ".yaml")
		if other, dup := seen[name]; dup {
			return fmt.Errorf("two %s configurations are called %q: %s and %s; rename one", r.kind, name, other, origin(p))
		}
		seen[name] = origin(p)
		raw, err := fs.ReadFile(dir, p)
		if err != nil {
			return fmt.Errorf("read %s configuration %s: %w", r.kind, origin(p), err)
		}
		e := &Entry[T]{Name: name, Origin: origin(p)}
		if err := Decode(raw, &e.Value); err != nil {
			return fmt.Errorf("%s configuration %s: %w", r.kind, e.Origin, err)
		}
		r.entries[name] = e
		return nil
	})
}

// Decode is a strict YAML decode whose error is one line: line, what is wrong,
// and the nearest right key for an unknown one.
func Decode(raw []byte, into any) error {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	dec := yaml.NewDecoder(bytes.NewReader(raw), yaml.Strict())
	err := dec.Decode(into)
	if err == nil {
		err = OneDocument(raw)
	}
	if err == nil || errors.Is(err, errEOF) {
		return nil
	}
	if errors.Is(err, errDocuments) {
		return err
	}
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) {
		key := strings.Trim(strings.TrimPrefix(unknown.Message, "unknown field "), `"`)
		line := 0
		if unknown.Token != nil {
			line = unknown.Token.Position.Line
			key = unknown.Token.Value
		}
		return fmt.Errorf("line %d: unknown key %q%s", line, key, DidYouMean(key, fieldNames(into)))
	}
	return ExplainYAML(err)
}

var errDocuments = errors.New("it holds more than one YAML document (---); everything after the first would be ignored: make one file of each")

// OneDocument is an error if more than one YAML document with content is in raw:
// a decoder reads the first and would drop the others without a word.
func OneDocument(raw []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	for n := 0; ; {
		var doc any
		if err := dec.Decode(&doc); err != nil {
			return nil // the end, or what the caller's own reading reports
		}
		if doc != nil {
			if n++; n > 1 {
				return errDocuments
			}
		}
	}
}

// Names lists all names in order.
func (r *Registry[T]) Names() []string {
	names := make([]string, 0, len(r.entries)+len(r.derived))
	for n := range r.entries {
		names = append(names, n)
	}
	for n := range r.derived {
		if _, own := r.entries[n]; !own {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	return names
}

// Get returns a copy of the entry called name, so that Set on it changes
// nobody else's. An unknown name is an error that suggests the nearest one.
func (r *Registry[T]) Get(name string) (*Entry[T], error) {
	e, ok := r.entries[name]
	if d, is := r.derived[name]; !ok && is {
		return r.resolve(name, d)
	}
	if !ok {
		return nil, fmt.Errorf("unknown %s %q%s; `ais_bench %ss list` shows all", r.kind, name, DidYouMean(name, r.Names()), r.kind)
	}
	return e.clone(), nil
}

// Select returns the entries that the names and shell globs choose, in the
// order given, each once. A pattern that chooses nothing is an error.
func (r *Registry[T]) Select(patterns ...string) ([]*Entry[T], error) {
	var out []*Entry[T]
	taken := map[string]bool{}
	for _, p := range patterns {
		if !strings.ContainsAny(p, "*?[") {
			e, err := r.Get(p)
			if err != nil {
				return nil, err
			}
			if !taken[e.Name] {
				taken[e.Name] = true
				out = append(out, e)
			}
			continue
		}
		hit := false
		for _, n := range r.Names() {
			ok, err := path.Match(p, n)
			if err != nil {
				return nil, fmt.Errorf("bad %s pattern %q: %w", r.kind, p, err)
			}
			if !ok {
				continue
			}
			hit = true
			if taken[n] {
				continue
			}
			taken[n] = true
			e, err := r.Get(n)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		if !hit {
			return nil, fmt.Errorf("no %s matches %q; `ais_bench %ss list` shows all", r.kind, p, r.kind)
		}
	}
	return out, nil
}

func (e *Entry[T]) clone() *Entry[T] {
	return &Entry[T]{Name: e.Name, Origin: e.Origin, Value: deepCopy(e.Value)}
}

// Set changes the field at a dotted path (generation_kwargs.temperature) to a
// YAML value. An unknown field or a value of the wrong type is an error.
func (e *Entry[T]) Set(field, value string) error {
	var v any
	if err := yaml.Unmarshal([]byte(value), &v); err != nil {
		return fmt.Errorf("set %s of %s: %q is not a YAML value: %w", field, e.Name, value, ExplainYAML(err))
	}
	parts := strings.Split(field, ".")
	doc := map[string]any{}
	raw, err := render(e.Value)
	if err != nil {
		return fmt.Errorf("set %s of %s: %w", field, e.Name, err)
	}
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return fmt.Errorf("set %s of %s: %w", field, e.Name, err)
	}
	m := doc
	for _, p := range parts[:len(parts)-1] {
		next, ok := m[p].(map[string]any)
		if !ok {
			if m[p] != nil {
				return fmt.Errorf("set %s of %s: %q is not a group of fields", field, e.Name, p)
			}
			next = map[string]any{}
			m[p] = next
		}
		m = next
	}
	m[parts[len(parts)-1]] = v
	raw, err = render(doc)
	if err != nil {
		return fmt.Errorf("set %s of %s: %w", field, e.Name, err)
	}
	var fresh T
	if err := Decode(raw, &fresh); err != nil {
		msg := err.Error()
		if i := strings.Index(msg, ": "); i >= 0 && strings.HasPrefix(msg, "line ") {
			msg = msg[i+2:] // the line is of our own rendering, not of a file
		}
		return fmt.Errorf("set %s of %s: %s", field, e.Name, msg)
	}
	e.Value = fresh
	return nil
}

// render writes YAML in its JSON form: block scalars of strings made of line
// ends do not survive being read back.
func render(v any) ([]byte, error) { return yaml.MarshalWithOptions(v, yaml.JSON()) }
