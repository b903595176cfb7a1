package simulator

import (
	"encoding/json"
	"slices"
	"sort"
)

// instanceOf makes a JSON value that fits the common part of a JSON schema
// (type, properties, required, items, enum, const, anyOf, bounds), for tool calls and
// structured output. Which of several fitting values it is depends on seed alone.
func instanceOf(raw json.RawMessage, seed uint64) []byte {
	var schema any
	if len(raw) == 0 || json.Unmarshal(raw, &schema) != nil {
		schema = map[string]any{"type": "object"}
	}
	out, err := json.Marshal(instance(schema, seed, 0))
	if err != nil { // only NaN can fail to marshal, and a schema holds none
		return []byte("{}")
	}
	return out
}

func instance(schema any, seed uint64, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok || depth > 16 {
		return nil
	}
	if c, ok := s["const"]; ok {
		return c
	}
	if e, ok := s["enum"].([]any); ok && len(e) > 0 {
		return e[seed%uint64(len(e))]
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		if l, ok := s[k].([]any); ok && len(l) > 0 {
			return instance(l[0], seed, depth+1)
		}
	}
	typ, _ := s["type"].(string)
	if l, ok := s["type"].([]any); ok && len(l) > 0 {
		typ, _ = l[0].(string)
	}
	switch typ {
	case "object", "":
		out := map[string]any{}
		props, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		names := make([]string, 0, len(props))
		for n := range props {
			if required == nil || slices.Contains(required, any(n)) {
				names = append(names, n)
			}
		}
		sort.Strings(names)
		for i, n := range names {
			out[n] = instance(props[n], mix(seed, uint64(i)), depth+1)
		}
		return out
	case "array":
		n := 1
		if m, ok := s["minItems"].(float64); ok {
			n = min(max(int(m), 1), 64)
		}
		out := make([]any, n)
		for i := range out {
			out[i] = instance(s["items"], mix(seed, uint64(i)), depth+1)
		}
		return out
	case "integer", "number":
		v := float64(seed % 100)
		if lo, ok := s["minimum"].(float64); ok {
			v = max(v, lo)
		}
		if hi, ok := s["maximum"].(float64); ok {
			v = min(v, hi)
		}
		return v
	case "boolean":
		return seed%2 == 0
	case "null":
		return nil
	}
	w := vocabulary[seed%uint64(len(vocabulary))]
	for m, _ := s["minLength"].(float64); float64(len(w)) < m && len(w) < 4096; {
		w += vocabulary[mix(seed, uint64(len(w)))%uint64(len(vocabulary))]
	}
	return w
}
