package facts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"ais_bench/outputs"
	"ais_bench/registry"
)

// document are the figures and texts of a JSON object, one a run: the manifest, or
// the client's health in it.
type document struct {
	prefix  Path
	docs    []any    // one a run
	planned bool     // nothing to look at yet
	known   []string // first keys that any run has, for spelling; nil = not known
}

func (d *document) fact(rest Path) (*Fact, error) {
	full := d.prefix.with(rest...).String()
	if len(rest) == 0 {
		return nil, &UnknownError{full, ": it is a group; name one entry of it"}
	}
	if d.known != nil && !slices.Contains(d.known, rest[0]) {
		return nil, &UnknownError{full, registry.DidYouMean(rest[0], d.known) + "; it has " + strings.Join(d.known, ", ")}
	}
	f := &Fact{Name: full, Unit: unitOf(strings.Join(rest, ".")), Kind: Observed}
	if d.planned {
		f.Kind, f.Reason = "", "not recorded yet" // a number or a text: known afterwards
		return f, nil
	}
	var numbers []float64
	var texts []any
	for _, doc := range d.docs {
		switch v := dig(doc, rest).(type) {
		case nil:
		case json.Number:
			x, err := v.Float64()
			if err == nil {
				numbers = append(numbers, x)
			}
		case string, bool:
			texts = append(texts, v)
		default:
			return nil, &UnknownError{full, ": it is a group; name one entry of it" + entries(v)}
		}
	}
	f.N, f.Known = int64(len(d.docs)), true
	switch {
	case len(numbers)+len(texts) == 0:
		f.Kind, f.Reason = "", "not recorded in the run"
	case len(numbers) > 0 && len(texts) > 0 || len(numbers)+len(texts) < len(d.docs):
		f.Reason = "not recorded alike in all runs"
	default:
		combine(f, "", len(d.docs), numbers, texts)
	}
	return f, nil
}

func entries(v any) string {
	if m, ok := v.(map[string]any); ok && len(m) > 0 {
		return ": " + strings.Join(slices.Sorted(maps.Keys(m)), ", ")
	}
	return ""
}

func dig(v any, path Path) any {
	for _, k := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

// list adds all scalar entries to names.
func (d *document) list(add func(Path)) {
	seen := map[string]bool{}
	var walk func(p Path, v any, depth int)
	walk = func(p Path, v any, depth int) {
		switch x := v.(type) {
		case map[string]any:
			if depth > 6 {
				return
			}
			for _, k := range slices.Sorted(maps.Keys(x)) {
				walk(p.with(k), x[k], depth+1)
			}
		case []any:
		default:
			if s := p.String(); !seen[s] {
				seen[s] = true
				add(p)
			}
		}
	}
	for _, doc := range d.docs {
		walk(nil, doc, 0)
	}
}

// plain is any value in JSON's own types, numbers as json.Number.
func plain(v any) (any, error) {
	text, err := outputs.MarshalJSON(v)
	if err != nil {
		return nil, fmt.Errorf("as JSON: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var out any
	err = dec.Decode(&out)
	return out, err
}

// jsonKeys are the keys of a struct's JSON form.
func jsonKeys(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); key != "" && key != "-" {
			out = append(out, key)
		}
	}
	return out
}
