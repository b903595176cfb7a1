package datasets

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// write puts files below a new directory and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func config(t *testing.T, name string) Config {
	t.Helper()
	r, err := OpenRegistry("")
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return e.Value
}

func load(t *testing.T, c Config, o LoadOptions) *Set {
	t.Helper()
	s, err := c.Load(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// conformance is the public conformance data, or the test is skipped.
func conformance(t *testing.T, elem ...string) string {
	t.Helper()
	dir := os.Getenv("AIS_BENCH_CONFORMANCE")
	if dir == "" {
		dir = "../../shared/conformance"
	}
	p := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("no conformance data at %s", p)
	}
	return p
}

func TestDemoNeedsNoFiles(t *testing.T) {
	s := load(t, config(t, "demo_gsm8k_gen_4_shot_cot_chat_prompt"), LoadOptions{CacheDirs: []string{t.TempDir()}})
	if len(s.Samples) != 8 || len(s.Files) != 1 || len(s.Files[0].SHA256) != 64 {
		t.Fatalf("samples %d, files %+v", len(s.Samples), s.Files)
	}
	turns := s.Samples[2].Prompt.Turns
	if len(turns) != 9 || turns[0].Role != "user" || turns[1].Role != "assistant" || turns[8].Role != "user" {
		t.Fatalf("turns: %+v", turns)
	}
	if !strings.HasSuffix(turns[1].Text, "The answer is 14") || !strings.HasSuffix(turns[8].Text, "Answer:") {
		t.Errorf("first example %q, question %q", turns[1].Text, turns[8].Text)
	}
	if s.Samples[2].Gold != "250" || strings.Contains(turns[8].Text, "####") {
		t.Errorf("gold %q must be found and masked in %q", s.Samples[2].Gold, turns[8].Text)
	}
}

func TestSameSeedSamePrompts(t *testing.T) {
	c := config(t, "demo_gsm8k_gen_4_shot_cot_chat_prompt")
	a, b := load(t, c, LoadOptions{Seed: 7}), load(t, c, LoadOptions{Seed: 7})
	if !reflect.DeepEqual(a, b) {
		t.Error("two loads differ")
	}
}

func TestGSM8KString(t *testing.T) {
	dir := write(t, map[string]string{"gsm8k/test.jsonl": `{"question":"1 + 999?","answer":"It is 1,000.\n#### 1,000"}` + "\n\n" + `{"question":"2?","answer":"#### -2"}` + "\n"})
	s := load(t, config(t, "gsm8k_gen_4_shot_cot_str"), LoadOptions{CacheDirs: []string{t.TempDir(), dir}})
	if got := []string{s.Samples[0].Gold, s.Samples[1].Gold}; !reflect.DeepEqual(got, []string{"1000", "-2"}) {
		t.Errorf("golds %q", got)
	}
	p := s.Samples[0].Prompt.Text
	if strings.Count(p, "Question: ") != 5 || strings.Count(p, "The answer is ") != 4 || !strings.HasSuffix(p, "Question: 1 + 999?\nLet's think step by step\nAnswer:") {
		t.Errorf("prompt:\n%s", p)
	}
	if s.Samples[1].ID != "1" || s.Samples[0].Fields["answer"] != "It is 1,000.\n#### 1,000" {
		t.Errorf("sample: %+v", s.Samples[1])
	}
}

func TestRealGSM8K(t *testing.T) {
	path := conformance(t, "gsm8k", "test.jsonl")
	s := load(t, config(t, "gsm8k_gen"), LoadOptions{Path: path})
	if len(s.Samples) != 1319 || s.Samples[0].Gold != "18" {
		t.Errorf("%d rows, first gold %q", len(s.Samples), s.Samples[0].Gold)
	}
	if s.Files[0].Bytes == 0 || s.Files[0].Path != path {
		t.Errorf("files: %+v", s.Files)
	}
	// The directory and its parent name the same data.
	for _, p := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		if n := len(load(t, config(t, "gsm8k_gen"), LoadOptions{Path: p, NumPrompts: 5}).Samples); n != 5 {
			t.Errorf("--dataset-path %s --num-prompts 5: %d rows", p, n)
		}
	}
}

func TestWhereDataAreLookedFor(t *testing.T) {
	c := config(t, "gsm8k_gen_0_shot_cot_str")
	row := func(q string) string { return `{"question":"` + q + `","answer":"#### 1"}` }
	first := write(t, map[string]string{"gsm8k/test.jsonl": row("first")})
	second := write(t, map[string]string{"gsm8k/test.jsonl": row("second"), "own.jsonl": row("own"),
		"ais_bench/datasets/gsm8k/test.jsonl": row("nested")})
	for _, o := range []struct {
		opts LoadOptions
		want string
	}{
		{LoadOptions{CacheDirs: []string{first, second}}, "first"},
		{LoadOptions{CacheDirs: []string{t.TempDir(), second}}, "second"},
		{LoadOptions{Path: filepath.Join(second, "own.jsonl"), CacheDirs: []string{first}}, "own"},
		{LoadOptions{Path: second, CacheDirs: []string{first}}, "second"},
		{LoadOptions{CacheDirs: []string{filepath.Join(second, "ais_bench", "datasets")}}, "nested"},
	} {
		if s := load(t, c, o.opts); s.Samples[0].Fields["question"] != o.want {
			t.Errorf("%+v found %v, want %s", o.opts, s.Samples[0].Fields["question"], o.want)
		}
	}
	t.Setenv(CacheEnv, first)
	if s := load(t, c, LoadOptions{}); s.Samples[0].Fields["question"] != "first" {
		t.Errorf("$%s is not searched", CacheEnv)
	}
}

func TestErrorsAreOneLineThatSaysWhereAndWhatToDo(t *testing.T) {
	c := config(t, "gsm8k_gen_0_shot_cot_str")
	dir := write(t, map[string]string{
		"bad.jsonl":  "{\"question\":\"q\",\"answer\":\"1\"}\n{\"question\":\n",
		"list.jsonl": "[1]\n",
		"lack.jsonl": "{\"question\":\"q\",\"anwser\":\"1\"}\n",
		"cols.csv":   "question,answer\na,1\nb\n",
		"no.parquet": "not parquet",
		"x.jsonl.gz": "not gzip",
		"empty.json": "[]",
		"odd.xyz":    "",
	})
	for name, want := range map[string]string{
		"bad.jsonl":  "bad.jsonl:2: not a JSON object: it ends too early",
		"list.jsonl": "list.jsonl:1: expected a JSON object, got a list",
		"lack.jsonl": `lack.jsonl:1: no column answer; did you mean "anwser"?`,
		"cols.csv":   "cols.csv:3: 1 columns, expected 2 (question, answer)",
		"no.parquet": "no.parquet: not a Parquet file",
		"x.jsonl.gz": "x.jsonl.gz: not a gzip file",
		"empty.json": "no rows to ask",
		"odd.xyz":    "cannot tell the format of",
		"absent":     "does not exist; give the file",
	} {
		_, err := c.Load(context.Background(), LoadOptions{Path: filepath.Join(dir, name)})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", name, err, want)
		}
	}
	_, err := c.Load(context.Background(), LoadOptions{CacheDirs: []string{"/nowhere"}})
	var missing *MissingError
	if !errors.As(err, &missing) {
		t.Fatalf("missing files: %v", err)
	}
	for _, want := range []string{filepath.FromSlash("/nowhere/gsm8k/test.jsonl"), "ais_bench datasets pull gsm8k", "--dataset-path"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing files: %v, want %q", err, want)
		}
	}
	if _, err := c.Load(context.Background(), LoadOptions{Subsets: []string{"x"}, Path: dir}); err == nil || !strings.Contains(err.Error(), "has no sub-sets") {
		t.Errorf("unknown sub-set: %v", err)
	}
}

func TestCancelledLoadStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := write(t, map[string]string{"test.jsonl": strings.Repeat(`{"question":"q","answer":"1"}`+"\n", 3000)})
	if _, err := config(t, "gsm8k_gen").Load(ctx, LoadOptions{Path: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
