package registry

import (
	"encoding/json"
	"strings"
	"testing"
)

type example struct {
	Name  string            `yaml:"name" json:"name"`
	Limit *float64          `yaml:"limit" json:"limit"`
	Count int               `yaml:"count" json:"count"`
	List  []string          `yaml:"list" json:"list"`
	Table map[string]string `yaml:"table" json:"table"`
	On    bool              `yaml:"on" json:"on"`
}

func TestExplainYAML(t *testing.T) {
	for text, want := range map[string]string{
		"name: a\nlimit: high":     `line 2: key limit: give a number, not the text "high"`,
		"count: many":              `line 1: key count: give a whole number, not the text "many"`,
		"name: a\n\non: perhaps":   `line 3: key on: give true or false, not the text "perhaps"`,
		"limit: [1, 2]":            "give a number, not a list",
		"limit:\n  a: 1":           "give a number, not a table of keys and values",
		"list: 5":                  "give a list, not ",
		"table: 5":                 "give a table of keys and values, not ",
		"name: a\nname: b":         `line 2: mapping key "name" already defined`,
		"name: [a":                 "line 1: ",
		"count: 99999999999999999": "",
		"nme: a":                   `line 1: unknown key "nme"; did you mean "name"?`,
	} {
		var e example
		err := Decode([]byte(text), &e)
		if want == "" {
			continue // a large whole number is one
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "unmarshal") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q: in Go's words: %v", text, err)
		}
	}
}

func TestExplainJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"limit\": \"high\"}":    `line 2: key limit: give a number, not a text`,
		`{"count": 1.5}`:             "key count: give a whole number, not the number 1.5",
		`{"list": {}}`:               "key list: give a list, not an object ({…})",
		`[1]`:                        "give an object ({…}), not a list",
		"":                           "it is empty",
		"{\n\"name\": \"a\",\n":      "line 2: it ends before it is complete",
		"{\"name\": \"a\",\nname: 1": "line 2: invalid character 'n'",
	} {
		var e example
		err := ExplainJSON([]byte(text), json.Unmarshal([]byte(text), &e))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "unmarshal")) {
			t.Errorf("%q: in Go's words: %v", text, err)
		}
	}
}

func TestDuplicateKey(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\": 1,\n\"b\": [{\"c\": 1}, {\"c\": 2,\n\"c\": 3}]}": "line 3: key b[1].c is given twice",
		`{"a": 1, "a": 1}`: "key a is given twice",
		`{"a": {"b": {"x": 1}, "c": {"x": 1}}, "b": 1}`: "",
		`{"a": [1, 2`: "",
		`5`:           "",
	} {
		err := DuplicateKey([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 100) + "HERE" + strings.Repeat("b", 10000)
	if got := Excerpt("short", 3); got != "short" {
		t.Errorf("%q", got)
	}
	got := Excerpt(long, 101)
	if n := len([]rune(got)); n > 110 || !strings.Contains(got, "HERE") || !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") {
		t.Errorf("%d characters: %q", n, got)
	}
	if got := Excerpt(long, 1<<20); len([]rune(got)) > 110 {
		t.Errorf("%q", got)
	}
	if got := PlainNumber(`invalid float literal: strconv.ParseFloat: parsing "1e999": value out of range (1:5)`); got != "1e999 is beyond what can be counted with: give a finite number that can be reached (1:5)" {
		t.Errorf("%q", got)
	}
}
