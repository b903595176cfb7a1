package datasets

import (
	"reflect"
	"strings"
	"testing"
)

func TestGeneratedTasksHideWhatTheyAskFor(t *testing.T) {
	words := func(s string) int { return len(strings.Fields(s)) }
	for name, o := range map[string]LoadOptions{
		"ruler_4k":                   {NumPrompts: 3, CountTokens: words},
		"ruler_8k":                   {NumPrompts: 1, CountTokens: words},
		"needlebench_v2_4k":          {NumPrompts: 11},
		"needlebench_v2_single_8k":   {NumPrompts: 2},
		"atc_0shot_nocot_2_power_en": {NumPrompts: 1},
		"needlebench_v2_multi_retrieval_compare_batch_8k": {NumPrompts: 2},
	} {
		c := config(t, name)
		o.CacheDirs = []string{t.TempDir()}
		s := load(t, c, o)
		for _, x := range s.Samples {
			text := x.Prompt.String()
			context, _ := x.Fields["context"].(string)
			golds := x.Golds
			if len(golds) == 0 {
				golds = []string{x.Gold}
				if _, keyword, ok := strings.Cut(x.Gold, "*"); ok && strings.HasPrefix(x.Subset, "single") {
					golds = []string{keyword}
				} else if keys, _, ok := strings.Cut(x.Gold, "#"); ok {
					golds = strings.Split(keys, "*")
				}
			}
			for _, g := range golds {
				if !strings.Contains(context, g) {
					t.Errorf("%s %s: %q is not in the text", name, x.ID, g)
				}
			}
			if q := x.Fields["question"].(string); q == "" || strings.Contains(text, "%!") {
				t.Errorf("%s %s: question %q", name, x.ID, q)
			}
			count := o.CountTokens
			if count == nil {
				count = estimateTokens
			}
			n := count(text) + c.For(x.Subset).MaxOutLen
			if strings.HasPrefix(x.Subset, "atc") {
				continue
			}
			if n > c.Generate.Length || n < c.Generate.Length*9/10 {
				t.Errorf("%s %s: %d tokens, want a little below %d", name, x.ID, n, c.Generate.Length)
			}
		}
		// Neither the number of rows nor other sub-sets change a row.
		o.NumPrompts = 1
		o.Subsets = s.Subsets[len(s.Subsets)-1:]
		again := load(t, c, o)
		for _, x := range s.Samples {
			if x.ID == again.Samples[0].ID && !reflect.DeepEqual(x, again.Samples[0]) {
				t.Errorf("%s %s: differs when loaded alone", name, x.ID)
			}
		}
	}
}

func TestNeedleDepths(t *testing.T) {
	s := load(t, config(t, "needlebench_v2_single_4k"), LoadOptions{NumPrompts: 11, Subsets: []string{"single-en"}, CacheDirs: []string{t.TempDir()}})
	for i, x := range s.Samples {
		sentence, _, _ := strings.Cut(x.Gold, "*")
		context := x.Fields["context"].(string)
		at := float64(strings.Index(context, sentence)) / float64(len(context)-len(sentence))
		if want := float64(i) / 10; at < want-0.05 || at > want+0.05 {
			t.Errorf("row %d: needle at %.2f, want %.2f", i, at, want)
		}
	}
	if len(s.Warnings) != 2 {
		t.Errorf("own text and estimated lengths are to be warned of: %q", s.Warnings)
	}
}

func TestHaystackFromFiles(t *testing.T) {
	dir := write(t, map[string]string{"needlebench/PaulGrahamEssays.jsonl": `{"text":"An essay. It has sentences! Version 1.5 too?"}` + "\n", "needlebench/zh_x.jsonl": `{"text":"第一句。第二句！"}` + "\n"})
	s := load(t, config(t, "needlebench_v2_single_4k"), LoadOptions{NumPrompts: 1, CacheDirs: []string{dir}, CountTokens: estimateTokens})
	if len(s.Files) != 2 || len(s.Warnings) != 0 {
		t.Errorf("files %v, warnings %q", s.Files, s.Warnings)
	}
	if c := s.Samples[0].Fields["context"].(string); !strings.Contains(c, "An essay. It has sentences! Version 1.5 too?") {
		t.Errorf("haystack %q", clip(c, 200))
	}
}
