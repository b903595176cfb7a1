package datasets

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// aSharedFile is laid out as AISBench's synthetic_config.py is.
const aSharedFile = `"""
# MinValue: 1 to 2**20
# synthetic_config is described here: {"Type"}
"""
import os

synthetic_config = {
    "Type":"String",   # [tokenid/string]
    'RequestCount': 12, # as many as "the batch"
	"TrustRemoteCode": False,
    "StringConfig" : {
        "Input" : {     # {
            "Method": "zipf",
            "Params": {"Alpha": 1.5, "MinValue": 3, "MaxValue": 9,}
        },
        "Output" : {
            "Method": "gaussian",
            "Params": {"Mean": 100, "Var": 200, "MinValue": 1, "MaxValue": 100}
        },
    },
    "TokenIdConfig" : {
        "RequestSize": 10,
        "PrefixLen": 4
    }
}

datasets = [dict(type=os)]
`

func ptr[T any](v T) *T { return &v }

func TestReadSynthetic(t *testing.T) {
	want := Synthetic{Type: "String", RequestCount: 12,
		StringConfig: &SyntheticString{
			Input:  &SyntheticLengths{"zipf", SyntheticParams{Alpha: ptr(1.5), MinValue: ptr(3), MaxValue: ptr(9)}},
			Output: &SyntheticLengths{"gaussian", SyntheticParams{Mean: ptr(100.0), Var: ptr(200.0), MinValue: ptr(1), MaxValue: ptr(100)}}},
		TokenIDConfig: &SyntheticTokenID{RequestSize: 10, PrefixLen: 4}}
	_, json, _ := strings.Cut(aSharedFile, "synthetic_config = ")
	json, _, _ = strings.Cut(json, "\n\ndatasets")
	var plain []string
	for line := range strings.Lines(json) {
		line, _, _ = strings.Cut(line, " #")
		plain = append(plain, strings.TrimRight(strings.TrimLeft(line, "\t "), "\n "))
	}
	json = strings.NewReplacer("'", `"`, ",}", "}", "False", "false", "},}", "}}").Replace(strings.Join(plain, ""))
	yaml := "Type: String\nRequestCount: 12\nStringConfig:\n  Input: {Method: zipf, Params: {Alpha: 1.5, MinValue: 3, MaxValue: 9}}\n" +
		"  Output: {Method: gaussian, Params: {Mean: 100, Var: 200, MinValue: 1, MaxValue: 100}}\nTokenIdConfig: {RequestSize: 10, PrefixLen: 4}\n"
	for name, text := range map[string]string{"synthetic_config.py": aSharedFile, "crlf.py": strings.ReplaceAll(aSharedFile, "\n", "\r\n"), "a.json": json, "a.yaml": yaml} {
		path := filepath.Join(write(t, map[string]string{name: text}), name)
		got, err := ReadSynthetic(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestReadSyntheticRefuses(t *testing.T) {
	change := func(from, to string) string {
		if !strings.Contains(aSharedFile, from) {
			t.Fatalf("no %q", from)
		}
		return strings.Replace(aSharedFile, from, to, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"a.py", "config = {}\n", "no synthetic_config = {…}"},
		{"a.py", "synthetic_config = {\"Type\": \"string\"\n", "does not end"},
		{"a.py", change(`"String"`, `"strin"`), `Type "strin" is unknown; did you mean "string"`},
		{"a.py", change("12", "0"), "RequestCount must be between 1 and 1048576, got 0"},
		{"a.py", change("12", "2**20"), `line 9: key RequestCount: give a whole number, not the text "2**20"`},
		{"a.py", change(`"RequestSize"`, `"RequestSise"`), `did you mean "RequestSize"`},
		{"a.py", change(`"zipf"`, `"zip"`), `StringConfig.Input: Method "zip" is unknown; did you mean "zipf"`},
		{"a.py", change(`"Alpha": 1.5, `, ""), "StringConfig.Input: zipf needs Alpha, MinValue, MaxValue in Params; Alpha is missing"},
		{"a.py", change(`"Alpha"`, `"Mean": 3, "Alpha"`), "StringConfig.Input: zipf does not take Mean"},
		{"a.yaml", "Type: tokenid\nRequestCount: 3\n", "needs TokenIdConfig"},
		{"a.yaml", "Type: tokenid\nRequestCount: 3\nTokenIdConfig: {PrefixLen: 3}\n", "RequestSize, the tokens of a prompt, is missing"},
		{"a.yaml", "Type: string\nRequestCount: 3\nStringConfig: {Input: {Method: uniform, Params: {MinValue: 1, MaxValue: 2}}}\n", "StringConfig.Output is missing"},
		{"a.txt", "x", "AISBench's synthetic_config.py, or the same keys"},
	} {
		path := filepath.Join(write(t, map[string]string{c.name: c.text}), c.name)
		_, err := ReadSynthetic(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s:\n got %v\nwant one line with the file and %s", c.text, err, c.want)
		}
	}
	if _, err := ReadSynthetic(filepath.Join(t.TempDir(), "none.py")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestWorkloadFile(t *testing.T) {
	r, err := OpenRegistry("")
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string) Config {
		e, err := r.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		return e.Value
	}
	root := write(t, map[string]string{"synthetic/synthetic_config.py": "x", "mtbench/question.jsonl": "x", "sharegpt/ShareGPT_V3_unfiltered_cleaned_split.json": "x", "mooncake_trace/toolagent_trace.jsonl": "x", "own.jsonl": "x"})
	own := filepath.Join(root, "own.jsonl")
	for _, c := range []struct {
		name string
		opts LoadOptions
		want string // "" = none, "missing" = a MissingError
	}{
		{"synthetic_gen", LoadOptions{CacheDirs: []string{root}}, "synthetic/synthetic_config.py"},
		{"synthetic_gen", LoadOptions{CacheDirs: []string{t.TempDir()}}, ""},
		{"synthetic_gen_string", LoadOptions{CacheDirs: []string{root}}, ""},
		{"synthetic_gen_string", LoadOptions{Path: root}, "synthetic/synthetic_config.py"},
		{"synthetic_gen", LoadOptions{Path: filepath.Join(root, "none.py")}, "missing"},
		{"sharegpt_gen", LoadOptions{CacheDirs: []string{root}}, "sharegpt/ShareGPT_V3_unfiltered_cleaned_split.json"},
		{"sharegpt_gen", LoadOptions{Path: own}, "own.jsonl"},
		{"sharegpt_gen", LoadOptions{CacheDirs: []string{t.TempDir()}}, "missing"},
		{"mtbench_gen", LoadOptions{Path: filepath.Join(root, "mtbench")}, "mtbench/question.jsonl"},
		{"mooncake_trace_gen", LoadOptions{CacheDirs: []string{root}}, "mooncake_trace/toolagent_trace.jsonl"},
		{"mooncake_trace_gen", LoadOptions{CacheDirs: []string{t.TempDir()}}, "missing"},
	} {
		got, err := of(c.name).WorkloadFile(c.opts)
		var missing *MissingError
		switch {
		case c.want == "missing":
			if !errors.As(err, &missing) || !strings.Contains(err.Error(), "data set ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %+v: %q, %v", c.name, c.opts, got, err)
			}
		case err != nil:
			t.Errorf("%s %+v: %v", c.name, c.opts, err)
		case c.want == "" && got != "" || c.want != "" && got != filepath.Join(root, filepath.FromSlash(c.want)):
			t.Errorf("%s %+v: %q, want %q", c.name, c.opts, got, c.want)
		}
	}
	// AISBench's own folders, where the variable points to its sources.
	nested := write(t, map[string]string{"ais_bench/datasets/synthetic/synthetic_config.py": "x"})
	t.Setenv(CacheEnv, nested)
	if got, err := of("synthetic_gen").WorkloadFile(LoadOptions{}); err != nil || got != filepath.Join(nested, "ais_bench", "datasets", "synthetic", "synthetic_config.py") {
		t.Errorf("in AISBench's folder: %q, %v", got, err)
	}
}

func TestWorkloadConfigurations(t *testing.T) {
	dir := t.TempDir()
	put := func(text string) error {
		if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte("abbr: mine\ndata: synthetic\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenRegistry(dir)
		if err != nil {
			return err
		}
		e, err := r.Get("mine")
		if err != nil {
			return err
		}
		return e.Value.Validate()
	}
	const tokenid = "  synthetic: {Type: tokenid, RequestCount: 4, TokenIdConfig: {RequestSize: 8}}\n"
	if err := put("workload:\n  name: synthetic\n" + tokenid); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"template: x\nworkload:\n  name: synthetic\n" + tokenid:                                                           "workload and template exclude each other",
		"scorer: gsm8k\nworkload:\n  name: sharegpt\n":                                                                    "workload and scorer exclude each other",
		"workload:\n  name: sharegtp\n":                                                                                   `did you mean "sharegpt"`,
		"workload:\n  name: synthetic\n":                                                                                  "needs its parameters under synthetic",
		"workload:\n  name: sharegpt\n" + tokenid:                                                                         "takes no parameters under synthetic",
		"workload:\n  name: mooncake\n  fixed_schedule_start_offset: 5\n  fixed_schedule_end_offset: 3\n":                 "is before fixed_schedule_start_offset",
		"workload:\n  name: sharegpt\n  output_len: -1\n":                                                                 "output_len must not be negative",
		"workload:\n  name: synthetic\n  synthetic: {Type: tokenid, RequestCount: -4, TokenIdConfig: {RequestSize: 8}}\n": "RequestCount must be between",
		"workload:\n  name: sharegpt\n  infer_mod: every\n":                                                               "infer_mode",
	} {
		if err := put(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
	r, err := OpenRegistry("")
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Get("synthetic_gen_string")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Set("workload.synthetic.StringConfig.Input.Params.MaxValue", "7"); err != nil {
		t.Error(err)
	} else if v := e.Value.Workload.Synthetic.StringConfig.Input.Params.MaxValue; v == nil || *v != 7 || e.Value.Validate() != nil {
		t.Errorf("set: %v, %v", v, e.Value.Validate())
	}
	if _, err := e.Value.Load(t.Context(), LoadOptions{}); err == nil || !strings.Contains(err.Error(), "is a workload") {
		t.Errorf("loaded as rows: %v", err)
	}
}
