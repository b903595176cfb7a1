package datasets

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ais_bench/datasets/pyrandom"
)

// TestRealFiles reads the public files as they are published.
func TestRealFiles(t *testing.T) {
	math := conformance(t, "math")
	for _, c := range []struct {
		name, path  string
		rows        int
		gold        string // of the first row
		noShots     bool
		firstSubset string
	}{
		{"gsm8k_gen_4_shot_cot_chat_prompt", conformance(t, "gsm8k"), 1319, "18", false, ""},
		{"aime24_gen", math, 30, "204", false, ""},
		{"amc23_gen", math, 40, "27", false, ""},
		{"cmath_gen", math, 600, "9", false, ""},
		{"minerva_math_gen", math, 272, "1.6", false, ""},
		{"olympiadbench_gen", math, 675, "2", false, ""},
		{"gaokao2023en_gen", math, 385, `$\{x|-2\leq x < 1\}$`, false, ""},
		{"svamp_gen", math, 1000, "145", false, ""},
		{"mmlu_stem_gen", math, 3018, "B", false, "abstract_algebra"},
		{"ifeval_gen", conformance(t, "ifeval"), 541, "", false, ""},
		{"humaneval_gen", conformance(t, "humaneval"), 164, "", false, ""},
		{"bbh_gen", conformance(t, "bbh"), 6511, "", false, "temporal_sequences"},
		{"mmlu_pro_gen_0_shot_str", conformance(t, "mmlu_pro", "Qwen1.5-72B-Chat.jsonl.gz"), 12032, "", false, "math"},
		{"mmlu_pro_gen_5_shot_str", conformance(t, "mmlu_pro", "Qwen1.5-72B-Chat.jsonl.gz"), 12032, "", true, "math"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(t, c.name)
			s := load(t, cfg, LoadOptions{Path: c.path, NoFewShot: c.noShots})
			if len(s.Samples) != c.rows {
				t.Errorf("%d rows, want %d", len(s.Samples), c.rows)
			}
			src, err := cfg.SourceOf()
			if err != nil {
				t.Fatal(err)
			}
			if n := cfg.RowsStated(src); n != c.rows {
				t.Errorf("the source states %d rows, the file has %d", n, c.rows)
			}
			if c.gold != "" && s.Samples[0].Gold != c.gold {
				t.Errorf("first gold %q, want %q", s.Samples[0].Gold, c.gold)
			}
			if s.Samples[0].Subset != c.firstSubset {
				t.Errorf("first sub-set %q, want %q", s.Samples[0].Subset, c.firstSubset)
			}
			counts := map[string]int{}
			for _, x := range s.Samples {
				counts[x.Subset]++
				if x.Prompt.String() == "" || needsGold(cfg.For(x.Subset).Scorer) && x.Gold == "" {
					t.Fatalf("%s: prompt %q, gold %q", x.ID, clip(x.Prompt.String(), 80), x.Gold)
				}
			}
			for _, sub := range src.Subsets {
				if sub.Rows != 0 && counts[sub.Name] != sub.Rows {
					t.Errorf("sub-set %s: %d rows, %d stated", sub.Name, counts[sub.Name], sub.Rows)
				}
			}
			for _, w := range s.Warnings {
				t.Errorf("warning: %s", w)
			}
		})
	}
}

func TestAnswerLeftInTheProblemIsTakenOut(t *testing.T) {
	dir := write(t, map[string]string{"gaokao2023en.jsonl": `{"question":"Compute the chance.answers: $\\frac{3}{10}$","answer":""}` + "\n" + `{"question":"Which?(A) 1(B) 2Answer: A","answer":""}` + "\n"})
	s := load(t, config(t, "gaokao2023en_gen"), LoadOptions{Path: dir})
	for i, gold := range []string{`$\frac{3}{10}$`, "A"} {
		x := s.Samples[i]
		if x.Gold != gold || strings.Contains(strings.ToLower(x.Fields["problem"].(string)), "answer") {
			t.Errorf("gold %q, problem %q", x.Gold, x.Fields["problem"])
		}
	}
}

func TestRecordedPythonOrders(t *testing.T) {
	f, err := os.Open(conformance(t, "golden_extract.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	checked := 0
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		var row struct {
			Family, Func string
			Input        map[string]any
			Expected     any
		}
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil || row.Family != "rng" {
			continue
		}
		seed, _ := row.Input["seed"].(float64)
		rng := pyrandom.New(int64(seed))
		times := func(n int, one func() any) []any {
			var l []any
			for range n {
				l = append(l, one())
			}
			return l
		}
		var got any
		switch {
		case strings.Contains(row.Func, "GPQASimpleEvalDataset"):
			got = times(12, func() any { return rng.Sample(4, 4) })
		case strings.Contains(row.Func, "global random.seed(0) then shuffle"):
			got = times(6, func() any { return rng.Perm(4) })
		case strings.Contains(row.Func, "sample(range(100),5)"):
			got = rng.Sample(100, 5)
		case strings.Contains(row.Func, ".random()"):
			got = times(5, func() any { return rng.Random() })
		case strings.Contains(row.Func, "getrandbits(32)"):
			got = times(5, func() any { return rng.Bits(32) })
		case strings.Contains(row.Func, ".choices(range(10),k=10)"):
			got = rng.Choices(10, 10)
		case strings.Contains(row.Func, "randint"):
			got = times(5, func() any { return rng.Int(1000000, 9999999) })
		case strings.Contains(row.Func, "GPQAAdapter"):
			got = byContent(t, row.Input)
		default:
			t.Logf("not checked: %s", row.Func)
			continue
		}
		checked++
		raw, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var plain any
		if err := json.Unmarshal(raw, &plain); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(plain, row.Expected) {
			t.Errorf("%s: %v, want %v", row.Func, plain, row.Expected)
		}
	}
	if checked < 8 {
		t.Errorf("only %d rows were recognised", checked)
	}
}

// byContent orders the options of one GPQA row as evalscope does, which lists
// the right answer last.
func byContent(t *testing.T, row map[string]any) any {
	t.Helper()
	perm := pyrandom.NewUint64(contentSeed(row["Question"].(string))).Perm(4)
	stored := []string{"Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3", "Correct Answer"}
	var choices []string
	answer := ""
	for i, from := range perm {
		choices = append(choices, strings.TrimSpace(row[stored[from]].(string)))
		if from == 3 {
			answer = letter(i)
		}
	}
	return map[string]any{"choices": choices, "answer": answer}
}

// TestGPQAOrders checks the published gold letters of the first rows.
func TestGPQAOrders(t *testing.T) {
	dir := write(t, map[string]string{"gpqa_diamond.csv": "Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\n" + strings.Repeat("Q?,right,w1,w2,w3\n", 8)})
	for name, want := range map[string]string{
		"gpqa_gen_0_shot_str": "DCBADCBA",
		// sample(range(4), 4) of Random(0) gives [3,1,0,2] [3,1,2,0] [2,3,0,1] [2,0,3,1] [1,3,0,2] [2,1,0,3] [3,1,0,2] [3,2,1,0]
		"gpqa_simple_evals_gen_0_shot_cot_chat_prompt": "CDCBCCCD",
	} {
		got := ""
		for _, s := range load(t, config(t, name), LoadOptions{Path: filepath.Join(dir, "gpqa_diamond.csv")}).Samples {
			got += s.Gold
			if s.Fields[s.Gold] != "right" {
				t.Errorf("%s: option %s is %v", name, s.Gold, s.Fields[s.Gold])
			}
		}
		if got != want {
			t.Errorf("%s: golds %s, want %s", name, got, want)
		}
	}
}
