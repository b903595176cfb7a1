package datasets

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestCustomKinds(t *testing.T) {
	dir := write(t, map[string]string{
		"qa.jsonl":   `{"question":"Capital of France?","answer":["Paris","paris"],"max_tokens":16}` + "\n" + `{"question":"only timed"}`,
		"mcq.csv":    "question,A,B,C,answer\n\"Two, or three?\",1,2,,B\n\"Which?\",x,y,z,z\n",
		"my qa.json": `[{"question":"q","answer":7}]`,
	})
	custom := func(name string, o CustomOptions) *Set {
		t.Helper()
		c, err := Custom(filepath.Join(dir, name), o)
		if err != nil {
			t.Fatal(err)
		}
		return load(t, c, LoadOptions{})
	}
	qa := custom("qa.jsonl", CustomOptions{})
	if s := qa.Samples[0]; s.Gold != "Paris" || s.MaxTokens != 16 || len(s.Golds) != 2 || qa.Config.Scorer != "custom_qa" ||
		!reflect.DeepEqual(s.Prompt.Turns, []Turn{{"user", "Capital of France?"}}) {
		t.Errorf("qa: %+v %s", s, qa.Config.Scorer)
	}
	if qa.Samples[1].MaxTokens != 0 || qa.Samples[1].Gold != "" {
		t.Errorf("qa without answer: %+v", qa.Samples[1])
	}
	mcq := custom("mcq.csv", CustomOptions{})
	if len(mcq.Samples) != 2 || mcq.Config.Scorer != "custom_mcq" {
		t.Fatalf("mcq: %+v", mcq)
	}
	if s := mcq.Samples[0]; s.Gold != "B" || !strings.Contains(s.Prompt.Turns[0].Text, "A. 1\nB. 2\nAnswer with") {
		t.Errorf("mcq row 1: %+v", s)
	}
	if s := mcq.Samples[1]; s.Gold != "C" || s.Fields["answer_text"] != "z" {
		t.Errorf("mcq gold given as text: %+v", s)
	}
	if s := custom("my qa.json", CustomOptions{Scorer: "exact"}); s.Config.Abbr != "my_qa" || s.Samples[0].Gold != "7" || s.Config.Scorer != "exact" {
		t.Errorf("json: %+v", s.Samples[0])
	}
}

func TestCustomSampling(t *testing.T) {
	rows := ""
	for _, q := range "abcdefgh" {
		rows += `{"question":"` + string(q) + `","answer":"x","max_tokens":5}` + "\n"
	}
	asked := func(meta string, seed int64) (string, []Sample) {
		t.Helper()
		dir := write(t, map[string]string{"q.jsonl": rows, "q.jsonl.meta.json": meta})
		c, err := Custom(filepath.Join(dir, "q.jsonl"), CustomOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := load(t, c, LoadOptions{Seed: seed})
		out := ""
		for _, x := range s.Samples {
			out += x.Fields["question"].(string)
		}
		return out, s.Samples
	}
	if got, _ := asked(`{"request_count": 3}`, 0); got != "abc" {
		t.Errorf("default: %s", got)
	}
	got, samples := asked(`{"request_count": 10}`, 0)
	if got != "abcdefghab" || samples[8].ID != "0#2" {
		t.Errorf("more than there are: %s, ids %s", got, samples[8].ID)
	}
	one, _ := asked(`{"sampling_mode": "shuffle"}`, 1)
	again, _ := asked(`{"sampling_mode": "shuffle"}`, 1)
	two, _ := asked(`{"sampling_mode": "shuffle"}`, 2)
	if one != again || one == two || len(one) != 8 || one == "abcdefgh" {
		t.Errorf("shuffle: %s %s %s", one, again, two)
	}
	random, samples := asked(`{"sampling_mode": "random", "request_count": 200, "seed": 3}`, 1)
	ids := map[string]bool{}
	for _, s := range samples {
		ids[s.ID] = true
	}
	if len(random) != 200 || len(ids) != 200 {
		t.Errorf("random: %d rows, %d ids", len(random), len(ids))
	}
	_, samples = asked(`{"output_config": {"method": "uniform", "params": {"min_value": 3, "max_value": 6}}, "request_count": 100}`, 1)
	for _, s := range samples {
		if s.MaxTokens < 3 || s.MaxTokens > 6 {
			t.Fatalf("uniform length %d", s.MaxTokens)
		}
	}
	_, samples = asked(`{"output_config": {"method": "percentage", "params": {"percentage_distribute": [[100, 0.3], [200, 0.7]]}}, "request_count": 10}`, 1)
	counts := map[int]int{}
	for _, s := range samples {
		counts[s.MaxTokens]++
	}
	if !reflect.DeepEqual(counts, map[int]int{100: 3, 200: 7}) {
		t.Errorf("percentage: %v", counts)
	}
}

func TestCustomErrors(t *testing.T) {
	dir := write(t, map[string]string{
		"q.jsonl":     `{"question":"q","answer":"x"}`,
		"noq.jsonl":   `{"qestion":"q"}`,
		"mcq.jsonl":   `{"question":"q","A":"1","B":"2","answer":"C"}`,
		"len.jsonl":   `{"question":"q","answer":"x","max_tokens":"many"}`,
		"key.json":    `{"request_cont": 1}`,
		"mode.json":   `{"sampling_mode": "shufle"}`,
		"share.json":  `{"output_config": {"method": "percentage", "params": {"percentage_distribute": [[100, 0.3]]}}}`,
		"method.json": `{"output_config": {"method": "gauss", "params": {}}}`,
	})
	for _, c := range []struct{ file, meta, want string }{
		{"absent.jsonl", "", "no such file"},
		{"noq.jsonl", "", "noq.jsonl:1: no column question"},
		{"mcq.jsonl", "", `mcq.jsonl:1: answer "C" is neither one of the letters A–B`},
		{"len.jsonl", "", `len.jsonl:1: max_tokens "many" is not a positive whole number`},
		{"q.jsonl", "key.json", `unknown key "request_cont"; did you mean "request_count"?`},
		{"q.jsonl", "mode.json", `did you mean "shuffle"?`},
		{"q.jsonl", "share.json", "sum to 0.3"},
		{"q.jsonl", "method.json", `method "gauss" is neither`},
		{"q.jsonl", "none.json", "metadata"},
	} {
		o := CustomOptions{}
		if c.meta != "" {
			o.Meta = filepath.Join(dir, c.meta)
		}
		cfg, err := Custom(filepath.Join(dir, c.file), o)
		if err == nil {
			_, err = cfg.Load(context.Background(), LoadOptions{})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %s: error %v, want one line with %q", c.file, c.meta, err, c.want)
		}
	}
	if _, err := Custom(filepath.Join(dir, "q.jsonl"), CustomOptions{DataType: "mc"}); err == nil {
		t.Error("unknown data type is accepted")
	}
}
