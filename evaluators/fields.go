package evaluators

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// The columns of a sample come from JSON, CSV, Parquet or YAML readers, so a
// number may be an int, a float or text, and a list may be []any or []string.
// These readers accept them all.

// asStrings is v as a list of strings: []string, []any of scalars, or a JSON
// array in a string.
func asStrings(v any) ([]string, bool) {
	switch l := v.(type) {
	case []string:
		return l, true
	case []any:
		out := make([]string, len(l))
		for i, e := range l {
			s, ok := asText(e)
			if !ok {
				return nil, false
			}
			out[i] = s
		}
		return out, true
	case string:
		var out []any
		if len(l) > 0 && l[0] == '[' && json.Unmarshal([]byte(l), &out) == nil {
			return asStrings(out)
		}
	}
	return nil, false
}

// asText is a scalar as text; numbers are written without needless zeros.
func asText(v any) (string, bool) {
	switch s := v.(type) {
	case string:
		return s, true
	case json.Number:
		return s.String(), true
	case bool:
		return strconv.FormatBool(s), true
	case float64:
		return strconv.FormatFloat(s, 'f', -1, 64), true
	case float32:
		return strconv.FormatFloat(float64(s), 'f', -1, 32), true
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(s), true
	}
	return "", false
}

// asFloat is a numeric scalar.
func asFloat(v any) (float64, bool) {
	s, ok := asText(v)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// fieldText is the column key of an item as text, "" when absent.
func (it Item) fieldText(key string) string {
	s, _ := asText(it.Fields[key])
	return s
}
