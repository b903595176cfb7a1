// Package bfcl checks function calls against their allowed answers the way the
// Berkeley Function-Calling Leaderboard's AST checker does for Python, and reads
// calls out of tool_calls, JSON and Python call syntax.
//
// Values are what encoding/json decodes with UseNumber, so that 10 and 10.0 stay
// different types: nil, bool, json.Number, string, []any, map[string]any.
package bfcl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Call is one function call.
type Call struct {
	Name string
	Args map[string]any
}

// Decode reads JSON keeping numbers as written.
func Decode(data string, into any) error {
	d := json.NewDecoder(strings.NewReader(data))
	d.UseNumber()
	return d.Decode(into)
}

// ReadCalls reads the calls of an answer: an OpenAI tool_calls array, a list of
// {"name", "arguments"} or {"function": {args}} objects, or Python calls
// ("[f(x=1), g(y='a')]"), inside a code fence or not. An answer that is none of
// these is an error that says so.
func ReadCalls(text string) ([]Call, error) {
	text = unfence(text)
	if text == "" {
		return nil, fmt.Errorf("no function call in an empty text")
	}
	if text[0] == '[' || text[0] == '{' {
		var v any
		if err := Decode(text, &v); err == nil {
			return callsOf(v)
		}
	}
	return pythonCalls(text)
}

func unfence(text string) string {
	text = strings.TrimSpace(text)
	if body, ok := strings.CutPrefix(text, "```"); ok {
		_, body, _ = strings.Cut(body, "\n")
		body, _, _ = strings.Cut(body, "```")
		text = strings.TrimSpace(body)
	}
	return text
}

func callsOf(v any) ([]Call, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var calls []Call
	for i, e := range list {
		c, err := callOf(e)
		if err != nil {
			return nil, fmt.Errorf("call %d: %w", i+1, err)
		}
		calls = append(calls, c...)
	}
	return calls, nil
}

// callOf reads one element of a call list; {"f": {…}, "g": {…}} is two calls.
func callOf(e any) ([]Call, error) {
	m, ok := e.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("not an object but %T", e)
	}
	if f, ok := m["function"].(map[string]any); ok {
		if _, named := f["name"].(string); named {
			m = f
		}
	}
	if name, ok := m["name"].(string); ok {
		args := m["arguments"]
		if args == nil {
			args = m["parameters"]
		}
		if s, isText := args.(string); isText {
			var decoded any
			if err := Decode(s, &decoded); err != nil {
				return nil, fmt.Errorf("arguments of %s are not JSON: %w", name, err)
			}
			args = decoded
		}
		object, ok := args.(map[string]any)
		if !ok && args != nil {
			return nil, fmt.Errorf("arguments of %s are not an object", name)
		}
		if object == nil {
			object = map[string]any{}
		}
		return []Call{{name, object}}, nil
	}
	var calls []Call
	for name, args := range m {
		object, ok := args.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("arguments of %s are not an object", name)
		}
		calls = append(calls, Call{name, object})
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("an object without a function")
	}
	return calls, nil
}

// remarshal brings a value from another decoder to this package's kinds.
func remarshal(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var out any
	if d.Decode(&out) != nil {
		return v
	}
	return out
}
