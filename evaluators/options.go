package evaluators

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"ais_bench/registry"
)

// options reads a scorer's settings; the first bad one is kept in err, so that
// builders read them one after another and New reports once.
type options struct {
	scorer string
	values map[string]any
	err    error
}

// only rejects keys outside known, naming the nearest known one.
func (o *options) only(known []string) error {
	keys := make([]string, 0, len(o.values))
	for k := range o.values {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if slices.Contains(known, k) {
			continue
		}
		if len(known) == 0 {
			return fmt.Errorf("scorer %s: unknown option %q; it has no options", o.scorer, k)
		}
		return fmt.Errorf("scorer %s: unknown option %q%s (it has: %s)", o.scorer, k, registry.DidYouMean(k, known), strings.Join(known, ", "))
	}
	return nil
}

func (o *options) bad(key, want string) {
	if o.err == nil {
		o.err = fmt.Errorf("option %s: got %v (%T), want %s", key, o.values[key], o.values[key], want)
	}
}

func (o *options) text(key, fallback string) string {
	switch v := o.values[key].(type) {
	case nil:
		return fallback
	case string:
		return v
	}
	o.bad(key, "a string")
	return fallback
}

func (o *options) flag(key string, fallback bool) bool {
	switch v := o.values[key].(type) {
	case nil:
		return fallback
	case bool:
		return v
	}
	o.bad(key, "true or false")
	return fallback
}

func (o *options) number(key string, fallback float64) float64 {
	if o.values[key] == nil {
		return fallback
	}
	if f, ok := asFloat(o.values[key]); ok {
		return f
	}
	o.bad(key, "a number")
	return fallback
}

// list reads a list of strings; a plain string is a list of its characters for
// single-letter labels ("ABCD"), or of its comma-separated parts ("yes,no").
func (o *options) list(key string) []string {
	switch v := o.values[key].(type) {
	case nil:
		return nil
	case string:
		if strings.Contains(v, ",") {
			parts := strings.Split(v, ",")
			for i := range parts {
				parts[i] = strings.TrimSpace(parts[i])
			}
			return parts
		}
		var parts []string
		for _, r := range v {
			parts = append(parts, string(r))
		}
		return parts
	default:
		if l, ok := asStrings(v); ok {
			return l
		}
	}
	o.bad(key, "a list of strings")
	return nil
}
