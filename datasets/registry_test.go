package datasets

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"ais_bench/registry"
)

const ownConfig = `abbr: mine
description: rows of my own
source:
  title: My rows
  dirs: [mine]
  splits:
    test: [{path: rows.jsonl}]
template:
  - {role: SYSTEM, prompt: "Be brief."}
  - "</E>"
  - {role: HUMAN, prompt: "{q} in {{braces}}?"}
  - {role: BOT, prompt: "{a}"}
output_column: a
few_shot:
  examples:
    - {q: "One and one", a: "2"}
scorer: exact
`

func TestOwnConfigurations(t *testing.T) {
	dir := write(t, map[string]string{"sub/mine.yaml": ownConfig,
		"gsm8k_gen_4_shot_cot_str.yaml": "abbr: other\ndescription: d\ndata: gsm8k\ntemplate: \"{question}\"\nscorer: gsm8k\n"})
	r, err := OpenRegistry(dir)
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Get("mine")
	if err != nil {
		t.Fatal(err)
	}
	data := write(t, map[string]string{"mine/rows.jsonl": `{"q":"Two and two","a":4}`})
	s := load(t, e.Value, LoadOptions{CacheDirs: []string{data}})
	want := []Turn{{"system", "Be brief."}, {"user", "One and one in {braces}?"}, {"assistant", "2"}, {"user", "Two and two in {braces}?"}}
	if !reflect.DeepEqual(s.Samples[0].Prompt.Turns, want) || s.Samples[0].Gold != "4" {
		t.Errorf("turns %+v, gold %q", s.Samples[0].Prompt.Turns, s.Samples[0].Gold)
	}
	if short, err := r.Get("gsm8k_gen"); err != nil || short.Value.Abbr != "other" {
		t.Errorf("a short name has to follow an override of what it stands for: %+v, %v", short, err)
	}
}

func TestSetFromTheCommandLine(t *testing.T) {
	r, err := OpenRegistry("")
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Get("mmlu_gen")
	if err != nil {
		t.Fatal(err)
	}
	for field, value := range map[string]string{"max_out_len": "7", "subsets": "[anatomy]", "template": `"{question} {answer}"`, "scorer_options.labels": "ABCD"} {
		if err := e.Set(field, value); err != nil {
			t.Errorf("set %s: %v", field, err)
		}
	}
	c := e.Value
	if c.MaxOutLen != 7 || c.Template.Text != "{question} {answer}" || !reflect.DeepEqual(c.Subsets, []string{"anatomy"}) || c.ScorerOptions["labels"] != "ABCD" || len(c.FewShot.IDs) != 5 {
		t.Errorf("after Set: %+v", c)
	}
	if err := e.Set("max_out_lenn", "7"); err == nil || !strings.Contains(err.Error(), `did you mean "max_out_len"?`) {
		t.Errorf("unknown field: %v", err)
	}
	if err := e.Set("few_shot.idz", "[1]"); err == nil || !strings.Contains(err.Error(), `"idz"`) {
		t.Errorf("unknown inner field: %v", err)
	}
}

func TestBadConfigurations(t *testing.T) {
	for change, want := range map[string]string{
		"abbr: mine=>abbr: a/b":                                           "abbr names files",
		"scorer: exact=>scorerr: exact":                                   `unknown key "scorerr"; did you mean "scorer"?`,
		"role: HUMAN=>role: HUMANN":                                       `unknown role "HUMANN"`,
		"{{braces}}=>{bra ces":                                            "brace",
		"source:=>data: gsm8k\nsource:":                                   "exclude each other",
		"path: rows.jsonl=>path: rows.xyz":                                "cannot tell the format",
		"{path: rows.jsonl}=>{path: r, format: jsnl}":                     `did you mean "jsonl"?`,
		"dirs: [mine]=>shape: gsm9k":                                      `did you mean "gsm8k"?`,
		"output_column: a=>test_range: '[5:2]'":                           "is not like [0:8]",
		"output_column: a=>mode: pll":                                     "neither gen nor ppl",
		"output_column: a=>k: 4":                                          "larger than n",
		"output_column: a=>choice_order: random":                          "choice_order",
		"output_column: a=>variants: [{subsets: []}]":                     "names no subsets",
		"  examples:\n    - {q: \"One and one\", a: \"2\"}=>  split: dev": "names no examples",
		"{q} in=>{question} in":                                           "a column the row lacks",
	} {
		from, to, _ := strings.Cut(change, "=>")
		if !strings.Contains(ownConfig, from) {
			t.Fatalf("nothing to change: %q", from)
		}
		var c Config
		err := registry.Decode([]byte(strings.Replace(ownConfig, from, to, 1)), &c)
		if err == nil {
			_, err = c.Load(context.Background(), LoadOptions{CacheDirs: []string{write(t, map[string]string{"mine/rows.jsonl": `{"q":"Q","a":4}`})}})
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", change, err, want)
		}
	}
}

// TestHubLayouts reads Parquet files as the hub lays them out: one file for all
// sub-sets, one a sub-set, nested choices.
func TestHubLayouts(t *testing.T) {
	dir := t.TempDir()
	put := func(path string, write func(string) error) {
		t.Helper()
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := write(path); err != nil {
			t.Fatal(err)
		}
	}
	type mmlu struct {
		Question string   `parquet:"question"`
		Subject  string   `parquet:"subject"`
		Choices  []string `parquet:"choices,list"`
		Answer   int64    `parquet:"answer"`
	}
	var rows []mmlu
	for range 5 {
		for _, s := range []string{"virology", "anatomy"} {
			rows = append(rows, mmlu{s + "?", s, []string{"w", "x", "y", "v"}, 3})
		}
	}
	for _, split := range []string{"test", "dev"} {
		put("mmlu/all/"+split+"-00000-of-00001.parquet", func(p string) error { return parquet.WriteFile(p, rows) })
	}
	type labelled struct {
		Text  []string `parquet:"text,list"`
		Label []string `parquet:"label,list"`
	}
	type arc struct {
		ID       string   `parquet:"id"`
		Question string   `parquet:"question"`
		Choices  labelled `parquet:"choices"`
		Key      string   `parquet:"answerKey"`
	}
	put("ARC/ARC-c/ARC-Challenge/test-0.parquet", func(p string) error {
		return parquet.WriteFile(p, []arc{{"1", "Q?", labelled{[]string{"w", "x", "y", "v"}, []string{"1", "2", "3", "4"}}, "2"},
			{"2", "R?", labelled{[]string{"w", "x", "y"}, []string{"A", "B", "C"}}, "C"}})
	})
	type math struct {
		Problem  string `parquet:"problem"`
		Level    string `parquet:"level"`
		Solution string `parquet:"solution"`
	}
	for _, s := range []string{"algebra", "geometry"} {
		put("math/"+s+"/test-0.parquet", func(p string) error { return parquet.WriteFile(p, []math{{"P", "Level 1", `\boxed{` + s + `}`}}) })
	}

	s := load(t, config(t, "mmlu_gen"), LoadOptions{CacheDirs: []string{dir}, Subsets: []string{"anatomy", "virology"}, NumPrompts: 3})
	if len(s.Samples) != 6 || s.Samples[0].ID != "anatomy/0" || s.Samples[5].ID != "virology/2" || s.Samples[0].Gold != "D" || len(s.Files) != 2 {
		t.Errorf("mmlu: %d samples, first %+v", len(s.Samples), s.Samples[0])
	}
	if p := s.Samples[0].Prompt.Text; strings.Count(p, "anatomy?") != 6 || !strings.Contains(p, "D. v\nAnswer: D\n") || !strings.HasSuffix(p, "Answer:") {
		t.Errorf("mmlu prompt:\n%s", p)
	}
	s = load(t, config(t, "ARC_c_gen"), LoadOptions{CacheDirs: []string{dir}})
	if len(s.Samples) != 1 || s.Samples[0].Gold != "B" || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "1 rows left out") {
		t.Errorf("ARC: %+v %q", s.Samples, s.Warnings)
	}
	s = load(t, config(t, "math_subjects_gen"), LoadOptions{CacheDirs: []string{dir}, Subsets: []string{"geometry", "algebra"}})
	if s.Samples[0].Gold != "geometry" || s.Config.AbbrOf(s.Samples[0].Subset) != "math_geometry" {
		t.Errorf("math: %+v", s.Samples[0])
	}
	_, err := config(t, "math_subjects_gen").Load(context.Background(), LoadOptions{CacheDirs: []string{dir}})
	if err == nil || !strings.Contains(err.Error(), "sub-set counting_and_probability") {
		t.Errorf("a missing sub-set is to be named: %v", err)
	}
	_, err = config(t, "math_subjects_gen").Load(context.Background(), LoadOptions{CacheDirs: []string{dir}, Subsets: []string{"algbra"}})
	if err == nil || !strings.Contains(err.Error(), `did you mean "algebra"?`) {
		t.Errorf("unknown sub-set: %v", err)
	}
	_, err = config(t, "math_subjects_gen").Load(context.Background(), LoadOptions{Path: filepath.Join(dir, "math", "algebra", "test-0.parquet")})
	if err == nil || !strings.Contains(err.Error(), "give the directory") {
		t.Errorf("one file for several sub-sets: %v", err)
	}
}

func TestVariantsAndGroups(t *testing.T) {
	c := config(t, "longbench_trec_gen")
	if v := c.For("trec"); v.Scorer != "longbench_classification" || v.MaxOutLen != 64 || v.ScorerOptions["first_line"] != true {
		t.Errorf("variant: %s %d %v", v.Scorer, v.MaxOutLen, v.ScorerOptions)
	}
	if !reflect.DeepEqual(c.Subsets, []string{"trec"}) || len(c.Groups) != 0 || c.AbbrOf("trec") != "LongBench_trec" {
		t.Errorf("derived: %+v", c)
	}
	m := config(t, "mmlu_gen")
	sizes := map[string]int{}
	for _, g := range m.Groups {
		sizes[g.Name] = len(g.Subsets)
	}
	if want := map[string]int{"mmlu": 0, "mmlu-weighted": 0, "mmlu-humanities": 13, "mmlu-stem": 19, "mmlu-social-science": 12, "mmlu-other": 13}; !reflect.DeepEqual(sizes, want) {
		t.Errorf("groups %v, want %v", sizes, want)
	}
	if m.AbbrOf("anatomy") != "lukaemon_mmlu_anatomy" || m.AbbrOf("") != "mmlu" {
		t.Error("names of sub-sets")
	}
}
