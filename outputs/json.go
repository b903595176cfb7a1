package outputs

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"ais_bench/registry"
)

// MarshalJSON is json.Marshal without HTML escapes, with NaN and infinities
// as null: JSON has no such numbers, and undefined is null.
func MarshalJSON(v any) ([]byte, error) {
	b, err := marshal(v)
	var bad *json.UnsupportedValueError
	if errors.As(err, &bad) {
		return marshal(finite(reflect.ValueOf(v), 0))
	}
	return b, err
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// object is a JSON object that keeps the order of its keys.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quoteJSON(m.key))
		b.WriteByte(':')
		v, err := marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

var (
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// finite copies v with every non-finite number replaced by nil. Values with
// a MarshalJSON of their own are kept.
func finite(v reflect.Value, depth int) any {
	if !v.IsValid() || depth > 1000 {
		return nil
	}
	if t := v.Type(); t.Implements(marshalerType) || t.Implements(textMarshalerType) {
		return v.Interface()
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return finite(v.Elem(), depth+1)
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Interface()
		}
		fallthrough
	case reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = finite(v.Index(i), depth+1)
		}
		return list
	case reflect.Map:
		if v.IsNil() {
			return nil
		}
		out := object{}
		for it := v.MapRange(); it.Next(); {
			out = append(out, member{mapKey(it.Key()), finite(it.Value(), depth+1)})
		}
		sort.Slice(out, func(i, j int) bool { return out[i].key < out[j].key })
		return out
	case reflect.Struct:
		out := object{}
		addFields(&out, v, depth)
		return out
	}
	return v.Interface()
}

func mapKey(v reflect.Value) string {
	if t, ok := v.Interface().(encoding.TextMarshaler); ok {
		if b, err := t.MarshalText(); err == nil {
			return string(b)
		}
	}
	return fmt.Sprint(v.Interface())
}

func addFields(out *object, v reflect.Value, depth int) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if name == "-" && options == "" {
			continue
		}
		fv := v.Field(i)
		if f.Anonymous && (!ok || name == "") {
			for fv.Kind() == reflect.Pointer && !fv.IsNil() {
				fv = fv.Elem()
			}
			if fv.Kind() == reflect.Struct {
				addFields(out, fv, depth+1)
				continue
			}
		}
		if !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if strings.Contains(options, "omitempty") && emptyValue(fv) || strings.Contains(options, "omitzero") && fv.IsZero() {
			continue
		}
		*out = append(*out, member{name, finite(fv, depth+1)})
	}
}

func emptyValue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// redactJSON scrubs every string of a JSON document, keys too, and leaves
// numbers alone.
func redactJSON(doc []byte, red *Redactor) ([]byte, error) {
	if red.Empty() {
		return doc, nil
	}
	var out bytes.Buffer
	out.Grow(len(doc))
	for i := 0; i < len(doc); {
		if doc[i] != '"' {
			out.WriteByte(doc[i])
			i++
			continue
		}
		end := i + 1
		for end < len(doc) && doc[end] != '"' {
			if doc[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(doc) {
			return nil, errors.New("JSON string without an end")
		}
		raw := doc[i : end+1]
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		if clean := red.String(s); clean != s {
			out.Write(quoteJSON(clean))
		} else {
			out.Write(raw)
		}
		i = end + 1
	}
	return out.Bytes(), nil
}

// writeJSONFile writes v indented, finite and scrubbed, atomically.
func writeJSONFile(path string, v any, red *Redactor) error {
	b, err := MarshalJSON(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if b, err = redactJSON(b, red); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, b, "", "  "); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	pretty.WriteByte('\n')
	return writeAtomic(path, nil, func(w io.Writer) error {
		_, err := w.Write(pretty.Bytes())
		return err
	})
}

// WritePerformance writes performances/<model>/<dataset>.json, the summary of
// a pair in any shape.
func (r *Run) WritePerformance(model, dataset string, summary any) error {
	return writeJSONFile(r.PerformancePath(model, dataset, "json"), summary, r.Redactor())
}

// WriteResults writes results/<model>/<dataset>.json, the scores of a pair.
func (r *Run) WriteResults(model, dataset string, results any) error {
	return writeJSONFile(r.ResultsPath(model, dataset), results, r.Redactor())
}

// WriteConfig writes configs/<name>, a resolved configuration as YAML or JSON
// text, scrubbed.
func (r *Run) WriteConfig(name string, text []byte) error {
	return writeAtomic(r.ConfigPath(name), r.Redactor(), func(w io.Writer) error {
		_, err := io.WriteString(w, r.Redactor().String(string(text)))
		return err
	})
}

// WriteJSON writes any value to a JSON file of the run: finite, scrubbed,
// atomic. path is absolute (run.Path(…)).
func (r *Run) WriteJSON(path string, v any) error { return writeJSONFile(path, v, r.Redactor()) }

// ReadJSON reads a JSON file into v; errors name the file.
func ReadJSON(path string, v any) error {
	b, err := ReadFile(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, rootCause(err))
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read %s: %w", path, registry.ExplainJSON(b, err))
	}
	return nil
}

// CheckNumbers reports the first place where a JSON document of metrics is
// not what programs can use: invalid JSON (bare NaN or Infinity included), a
// string that holds a number with or without a unit ("12.3 ms"), or the words
// NaN and Infinity as strings. Keys named in skip are not looked into.
func CheckNumbers(r io.Reader, skip ...string) error {
	d := json.NewDecoder(r)
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		return fmt.Errorf("invalid JSON: %w", err)
	}
	skipped := map[string]bool{}
	for _, s := range skip {
		skipped[s] = true
	}
	return checkNumbers("$", doc, skipped)
}

func checkNumbers(path string, v any, skip map[string]bool) error {
	switch x := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			if skip[k] {
				continue
			}
			if err := checkNumbers(path+"."+k, x[k], skip); err != nil {
				return err
			}
		}
	case []any:
		for i, e := range x {
			if err := checkNumbers(fmt.Sprintf("%s[%d]", path, i), e, skip); err != nil {
				return err
			}
		}
	case string:
		word, _, _ := strings.Cut(strings.TrimSpace(x), " ")
		switch strings.ToLower(strings.TrimLeft(word, "+-")) {
		case "nan", "inf", "infinity":
			return fmt.Errorf("%s: %q must be null", path, x)
		}
		if _, err := strconv.ParseFloat(strings.TrimRight(word, "%"), 64); err == nil {
			return fmt.Errorf("%s: %q must be a number", path, x)
		}
	case json.Number:
		if f, err := x.Float64(); err != nil || math.IsInf(f, 0) {
			return fmt.Errorf("%s: %s is beyond a double", path, x)
		}
	}
	return nil
}
