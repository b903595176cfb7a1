package vllm

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// float is written as Python's json writes one: 2.0 stays 2.0, so that readers
// that look at the type see a float. What is not finite is null: NaN and
// Infinity are no JSON.
type float float64

func (f float) MarshalJSON() ([]byte, error) {
	v := float64(f)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return []byte(pythonFloat(v)), nil
}

// pythonFloat is repr(v): the shortest digits that read back the same, with a
// decimal point, in scientific notation from 1e16 and below 1e-4.
func pythonFloat(v float64) string {
	if math.IsInf(v, 1) {
		return "inf"
	}
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.ContainsAny(s, ".") {
		s += ".0"
	}
	return s
}

func floats(values []float64) []float {
	out := make([]float, len(values))
	for i, v := range values {
		out[i] = float(v)
	}
	return out
}

// object is a JSON object that keeps the order of its keys. Setting a key again
// replaces its value in place, as in a Python dict.
type object struct {
	keys   []string
	values map[string]any
}

func (o *object) set(key string, value any) {
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, ok := o.values[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.values[key] = value
}

func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, k := range o.keys {
		if i > 0 {
			b.WriteString(", ")
		}
		if err := enc.Encode(k); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1) // the encoder's line end
		b.WriteString(": ")
		if err := enc.Encode(o.values[k]); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// wholeOrFloat is an integer where v is one.
func wholeOrFloat(v float64) any {
	if n := int64(v); float64(n) == v {
		return n
	}
	return float(v)
}

func floatOrNull(v *float64) any {
	if v == nil {
		return nil
	}
	return float(*v)
}

// orNull is nil for an empty string.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
