package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"ais_bench/outputs"
)

// tree reads JSON with its numbers as they are written, so that equal means
// equal to the last digit.
func tree(doc []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

// treeOf is the tree of what a value would be written as.
func treeOf(v any) (any, error) {
	doc, err := outputs.MarshalJSON(v)
	if err != nil {
		return nil, err
	}
	return tree(doc)
}

// comparison walks two trees.
type comparison struct {
	// strict also counts keys that only one side has. Without it they are listed in
	// extra: another version of the program writes other figures.
	strict  bool
	numbers int64
	extra   []string
	report  func(where, stored, recomputed string)
}

func (c *comparison) walk(path string, stored, now any) {
	switch s := stored.(type) {
	case map[string]any:
		n, ok := now.(map[string]any)
		if !ok {
			break
		}
		for _, k := range slices.Sorted(maps.Keys(s)) {
			v, has := n[k]
			switch {
			case has:
				c.walk(join(path, k), s[k], v)
			case c.strict:
				c.report(join(path, k), text(s[k]), "")
			default:
				c.extra = append(c.extra, join(path, k))
			}
		}
		for _, k := range slices.Sorted(maps.Keys(n)) {
			if _, has := s[k]; has {
				continue
			}
			if c.strict {
				c.report(join(path, k), "", text(n[k]))
			} else {
				c.extra = append(c.extra, join(path, k))
			}
		}
		return
	case []any:
		n, ok := now.([]any)
		if !ok {
			break
		}
		if len(s) != len(n) {
			c.report(path, fmt.Sprintf("%d entries", len(s)), fmt.Sprintf("%d entries", len(n)))
			return
		}
		for i := range s {
			c.walk(fmt.Sprintf("%s[%d]", path, i), s[i], n[i])
		}
		return
	case json.Number:
		c.numbers++
		if n, ok := now.(json.Number); ok && n == s {
			return
		}
		c.report(path, text(stored), text(now))
		return
	}
	if a, b := text(stored), text(now); a != b {
		c.report(path, a, b)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func text(v any) string {
	b, err := outputs.MarshalJSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if s := string(b); len(s) > 200 {
		return s[:200] + "…"
	}
	return string(b)
}
