package bfcl

import (
	"encoding/json"
	"math/big"
	"strings"
)

// Function describes a callable: its name and parameters by declared type.
type Function struct {
	Name       string `json:"name"`
	Parameters struct {
		Properties map[string]Property `json:"properties"`
		Required   []string            `json:"required"`
	} `json:"parameters"`
}

// Property is one parameter; Items is set for arrays and tuples.
type Property struct {
	Type  string    `json:"type"`
	Items *Property `json:"items"`
}

// Answer is the allowed values of one call: function name → parameter → values;
// a value of "" among them makes the parameter optional.
type Answer map[string]map[string][]any

// Fault is why a call is not accepted, in the checker's terms
// ("type_error:simple"); "" when it is.
type Fault string

// Simple checks that there is one call and that it is right.
func Simple(calls []Call, f Function, want Answer) Fault {
	if len(calls) != 1 {
		return "simple_function_checker:wrong_count"
	}
	return checkCall(calls[0], f, want)
}

// Multiple checks one call where several functions were offered.
func Multiple(calls []Call, fs []Function, want []Answer) Fault {
	if len(calls) != len(want) || len(want) == 0 {
		return "multiple_function_checker:wrong_count"
	}
	f, ok := described(fs, want[0])
	if !ok {
		return "multiple_function_checker:func_description_not_found"
	}
	return checkCall(calls[0], f, want[0])
}

// Parallel checks several calls in any order: each allowed answer takes the
// first call not yet taken that fits.
func Parallel(calls []Call, fs []Function, want []Answer) Fault {
	if len(calls) != len(want) {
		return "parallel_function_checker_no_order:wrong_count"
	}
	taken := make([]bool, len(calls))
	for _, w := range want {
		f, ok := described(fs, w)
		if !ok {
			return "parallel_function_checker_no_order:cannot_find_description"
		}
		found := false
		for i, c := range calls {
			if !taken[i] && checkCall(c, f, w) == "" {
				taken[i], found = true, true
				break
			}
		}
		if !found {
			return "parallel_function_checker_no_order:cannot_find_match"
		}
	}
	return ""
}

func described(fs []Function, want Answer) (Function, bool) {
	for name := range want {
		for _, f := range fs {
			if f.Name == name {
				return f, true
			}
		}
	}
	return Function{}, false
}

// sameName accepts the dots of a name as underscores, because tool-calling
// protocols do not allow dots.
func sameName(called, declared string) bool {
	return called == declared || called == strings.ReplaceAll(declared, ".", "_")
}

func checkCall(c Call, f Function, want Answer) Fault {
	if !sameName(c.Name, f.Name) {
		return "simple_function_checker:wrong_func_name"
	}
	allowed := want[f.Name]
	if allowed == nil {
		for _, a := range want {
			allowed = a
		}
	}
	for _, r := range f.Parameters.Required {
		if _, given := c.Args[r]; !given {
			return "simple_function_checker:missing_required"
		}
	}
	for _, name := range sortedKeys(c.Args) {
		prop, declared := f.Parameters.Properties[name]
		values, listed := allowed[name]
		if !declared || !listed {
			return "simple_function_checker:unexpected_param"
		}
		if fault := checkValue(c.Args[name], prop, values); fault != "" {
			return fault
		}
	}
	for name, values := range allowed {
		if _, given := c.Args[name]; !given && !holds(values, "") {
			return "simple_function_checker:missing_optional"
		}
	}
	return ""
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	for i := 1; i < len(keys); i++ {
		for j := i; j > 0 && keys[j] < keys[j-1]; j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
	return keys
}

// kind names the type of a value as declarations do.
func kind(v any) string {
	switch n := v.(type) {
	case nil:
		return "none"
	case bool:
		return "bool"
	case json.Number:
		if strings.ContainsAny(n.String(), ".eE") {
			return "float"
		}
		return "int"
	case string:
		return "str"
	case []any:
		return "list"
	case map[string]any:
		return "dict"
	}
	return "other"
}

// declaredKind maps a declared type to a kind.
func declaredKind(t string) string {
	switch t {
	case "integer":
		return "int"
	case "number", "float":
		return "float"
	case "boolean":
		return "bool"
	case "array", "tuple":
		return "list"
	case "dict", "object":
		return "dict"
	}
	return "str"
}

func checkValue(v any, p Property, allowed []any) Fault {
	want := declaredKind(p.Type)
	if want == "float" && kind(v) == "int" { // an integer is a float, not the reverse
		v = json.Number(v.(json.Number).String() + ".0")
	}
	variable, fault := checkType(v, want, p.Items, allowed)
	if fault != "" {
		return fault
	}
	if !variable {
		switch {
		case want == "dict":
			return checkDict(v, allowed)
		case want == "list" && p.Items != nil && declaredKind(p.Items.Type) == "dict":
			return checkDictList(v, allowed)
		case want == "str":
			if !holds(standardAll(allowed), standard(v)) {
				return "value_error:string"
			}
			return ""
		case want == "list":
			if !holds(standardAll(allowed), standard(v)) {
				return "value_error:list/tuple"
			}
			return ""
		}
	}
	if !holds(allowed, v) {
		return "value_error:others"
	}
	return ""
}

// checkType checks a value's type. variable says that the allowed values are of
// another type than declared (a variable's name, say), so that they are compared
// as they are.
func checkType(v any, want string, items *Property, allowed []any) (variable bool, fault Fault) {
	first := ""
	for _, a := range allowed {
		if s, isText := a.(string); !isText || s != "" {
			first = kind(a)
			break
		}
	}
	if first != "" && first != want && !(want == "float" && first == "int") {
		variable = true
	}
	if kind(v) == want {
		if items == nil || want != "list" {
			return variable, ""
		}
		for _, a := range allowed {
			list, isList := a.([]any)
			if !isList {
				continue
			}
			good := true
			for _, e := range v.([]any) {
				if _, f := checkType(floatIf(e, declaredKind(items.Type)), declaredKind(items.Type), items.Items, list); f != "" {
					good = false
					break
				}
			}
			if good {
				return variable, ""
			}
		}
		return false, "type_error:nested"
	}
	if first != "" && kind(v) == first {
		return true, ""
	}
	return false, "type_error:simple"
}

func floatIf(v any, want string) any {
	if n, ok := v.(json.Number); ok && want == "float" && kind(v) == "int" {
		return json.Number(n.String() + ".0")
	}
	return v
}

// checkDict compares an object with each allowed one: keys known, values
// allowed, keys that must be there given.
func checkDict(v any, allowed []any) Fault {
	got, _ := v.(map[string]any)
	fault := Fault("value_error:dict_key")
	for _, a := range allowed {
		want, ok := a.(map[string]any)
		if !ok {
			continue
		}
		if fault = dictFault(got, want); fault == "" {
			return ""
		}
	}
	return fault
}

func dictFault(got, want map[string]any) Fault {
	for _, k := range sortedKeys(got) {
		values, known := want[k]
		if !known {
			return "value_error:dict_key"
		}
		list, isList := values.([]any)
		if !isList {
			list = []any{values}
		}
		if !holds(standardAll(list), standard(got[k])) {
			return "value_error:dict_value"
		}
	}
	for k, values := range want {
		list, _ := values.([]any)
		if _, given := got[k]; !given && !holds(list, "") {
			return "value_error:dict_key"
		}
	}
	return ""
}

func checkDictList(v any, allowed []any) Fault {
	got := v.([]any)
	fault := Fault("value_error:list_dict_count")
	for _, a := range allowed {
		want, ok := a.([]any)
		if !ok || len(want) != len(got) {
			fault = "value_error:list_dict_count"
			continue
		}
		fault = ""
		for i := range got {
			if fault = checkDict(got[i], []any{want[i]}); fault != "" {
				break
			}
		}
		if fault == "" {
			return ""
		}
	}
	return fault
}

// Standard is how strings are compared: without blanks and , . / - _ * ^, in
// lower case, apostrophes as double quotes.
func Standard(s string) string {
	return strings.ReplaceAll(strings.ToLower(strings.Map(func(r rune) rune {
		if strings.ContainsRune(" ,./-_*^", r) {
			return -1
		}
		return r
	}, s)), "'", `"`)
}

func standard(v any) any {
	switch t := v.(type) {
	case string:
		return Standard(t)
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			if s, ok := e.(string); ok {
				out[i] = Standard(s)
			} else {
				out[i] = e
			}
		}
		return out
	}
	return v
}

func standardAll(list []any) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = standard(v)
	}
	return out
}

func holds(list []any, v any) bool {
	for _, e := range list {
		if same(e, v) {
			return true
		}
	}
	return false
}

// same is Python's ==: numbers by value, everything else by structure.
func same(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		if !ok {
			return false
		}
		if len(x) > 40 || len(y) > 40 || strings.ContainsAny(x.String()+y.String(), "eE") {
			f, errF := x.Float64()
			g, errG := y.Float64()
			return errF == nil && errG == nil && f == g
		}
		r, okR := new(big.Rat).SetString(x.String())
		s, okS := new(big.Rat).SetString(y.String())
		return okR && okS && r.Cmp(s) == 0
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !same(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			w, has := y[k]
			if !has || !same(v, w) {
				return false
			}
		}
		return true
	}
	return a == b
}

// Functions reads function descriptions out of a decoded column: one object or
// a list of them. Answers does the same for allowed answers.
func Functions(v any) ([]Function, error) { return decodeList[Function](v) }

// Answers reads allowed answers (see Functions).
func Answers(v any) ([]Answer, error) { return decodeList[Answer](v) }

func decodeList[T any](v any) ([]T, error) {
	if s, ok := v.(string); ok {
		var decoded any
		if err := Decode(s, &decoded); err != nil {
			return nil, err
		}
		v = decoded
	}
	v = remarshal(v)
	if _, isList := v.([]any); !isList {
		v = []any{v}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out []T
	return out, Decode(string(b), &out)
}
