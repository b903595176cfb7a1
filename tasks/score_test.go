package tasks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ais_bench/datasets"
)

// conformance is a file of the public conformance data; the test is skipped,
// saying so, where it is absent.
func conformance(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("AIS_BENCH_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "conformance")
	}
	path := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("conformance data absent: %v (set AIS_BENCH_CONFORMANCE)", err)
	}
	return path
}

// TestScoreBBHBySubset: nine published output files, each scored with the rule of
// its sub-set, have the published accuracies.
func TestScoreBBHBySubset(t *testing.T) {
	raw, err := os.ReadFile(conformance(t, "bbh", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]struct {
		Accuracy float64
		N        int
	}
	if err := json.Unmarshal(raw, &expected); err != nil {
		t.Fatal(err)
	}
	if len(expected) != 9 {
		t.Fatalf("%d sub-sets, want 9", len(expected))
	}
	set := builtinSet(t, "bbh_gen_3_shot_cot_chat")
	for name, want := range expected {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, _, err := Score(t.Context(), ScoreOptions{Dataset: set, Predictions: conformance(t, "bbh", "outputs", name+".jsonl"), GoldField: "target", Subset: name})
			if err != nil {
				t.Fatal(err)
			}
			if got := *res.Overall.Accuracy * 100; res.Overall.N != want.N || got-want.Accuracy > 0.1 || want.Accuracy-got > 0.1 {
				t.Errorf("%.2f of %d by %s, want %.2f of %d", got, res.Overall.N, res.Scorer, want.Accuracy, want.N)
			}
		})
	}
}

// TestScoreMatchesRowsToTheData: without a gold field the references are the data
// set's own, row by row.
func TestScoreMatchesRowsToTheData(t *testing.T) {
	k := kinds["choice"]
	set := k.choice(t)
	path := filepath.Join(t.TempDir(), "said.jsonl")
	said := lines(20, func(i int) map[string]any {
		letter := letters[i%4 : i%4+1]
		if i%5 == 0 {
			letter = letters[(i+1)%4 : (i+1)%4+1]
		}
		return map[string]any{"prediction": "The answer is (" + letter + ")."}
	})
	if err := os.WriteFile(path, []byte(said), 0o644); err != nil {
		t.Fatal(err)
	}
	res, answers, err := Score(t.Context(), ScoreOptions{Dataset: set, Predictions: path})
	if err != nil {
		t.Fatal(err)
	}
	if s := res.Overall; s.Right != 16 || s.Wrong != 4 || len(answers) != 20 {
		t.Errorf("%s, want 16 right and 4 wrong", counts(s))
	}
	if _, _, err := Score(t.Context(), ScoreOptions{Dataset: DatasetChoice{Name: set.Name, Config: set.Config, Load: datasets.LoadOptions{Path: set.Load.Path, NumPrompts: 7}}, Predictions: path}); err == nil {
		t.Error("20 rows were matched to 7")
	}
}

// TestGroupsWantEveryMember: a mean over fewer sub-sets than the group has would be
// another metric under the same name.
func TestGroupsWantEveryMember(t *testing.T) {
	set := builtinSet(t, "mmlu_pro_gen_5_shot_str")
	src, err := set.Config.SourceOf()
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, s := range src.Subsets {
		rows = append(rows, strings.ReplaceAll(s.Name, "_", " ")) // as the data spell them
	}
	score := func(categories []string) []string {
		path := filepath.Join(t.TempDir(), "said.jsonl")
		content := lines(len(categories), func(i int) map[string]any {
			return map[string]any{"category": categories[i], "answer": "B", "options": []string{"one", "two"}, "prediction": "The answer is (" + letters[i%2:i%2+1] + ")."}
		})
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		res, _, err := Score(t.Context(), ScoreOptions{Dataset: set, Predictions: path, GoldField: "answer", SubsetField: "category"})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, g := range res.Groups {
			names = append(names, g.Name)
		}
		return names
	}
	if got := score(rows); len(got) != len(set.Config.Groups) || len(got) == 0 {
		t.Errorf("all %d categories answered: groups %v, want %d", len(rows), got, len(set.Config.Groups))
	}
	if got := score(rows[:5]); len(got) != 0 {
		t.Errorf("five categories of %d answered: groups %v, want none", len(rows), got)
	}
}
