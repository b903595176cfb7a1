package bfcl

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestReadCalls(t *testing.T) {
	for text, want := range map[string]string{
		`[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"x\": 1}"}}]`: `[{"Name":"f","Args":{"x":1}}]`,
		`{"name": "f", "parameters": {"x": 1.0}}`:                                         `[{"Name":"f","Args":{"x":1.0}}]`,
		`[{"f": {"x": 1}}, {"g": {}}]`:                                                    `[{"Name":"f","Args":{"x":1}},{"Name":"g","Args":{}}]`,
		`[a.f(x=-1.5, y=['q', True, None], z={"k": (1, 2)}), g()]`:                        `[{"Name":"a.f","Args":{"x":-1.5,"y":["q",true,null],"z":{"k":[1,2]}}},{"Name":"g","Args":{}}]`,
		"```python\nf(x=\"it's\")\n```":                                                   `[{"Name":"f","Args":{"x":"it's"}}]`,
	} {
		calls, err := ReadCalls(text)
		b, _ := json.Marshal(calls)
		if err != nil || string(b) != want {
			t.Errorf("%s: %s (%v), want %s", text, b, err, want)
		}
	}
	for _, text := range []string{"", "I cannot", "f(1)", "f(x=1", "[f(x=y)]", `[1]`, `[{"name":"f","arguments":"{"}]`, "f(x=" + strings.Repeat("[", 200)} {
		if calls, err := ReadCalls(text); err == nil {
			t.Errorf("%q reads as %v", text, calls)
		}
	}
}

func FuzzReadCalls(f *testing.F) {
	f.Add(`[f(x=1, y=[2.0, 'a'])]`)
	f.Add(`[{"name":"f","arguments":{}}]`)
	f.Fuzz(func(t *testing.T, s string) { ReadCalls(s) })
}
