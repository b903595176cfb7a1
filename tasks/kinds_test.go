package tasks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ais_bench/datasets"
	"ais_bench/evaluators"
	"ais_bench/evaluators/sandbox"
	"ais_bench/models"
	"ais_bench/models/simulator"
	"ais_bench/outputs"
)

// kind is a data set of one kind of scoring, small enough to be written here.
type kind struct {
	config  string // name in the registry; "" = a custom file
	file    string // name of the data file, as the source expects it
	content string
	also    map[string]string // further files
	needs   func(*testing.T)
	judged  bool
	subset  string // asked alone; "" = all
}

// lines joins one JSON object for each of n rows.
func lines(n int, row func(i int) map[string]any) string {
	var b strings.Builder
	for i := range n {
		line, err := json.Marshal(row(i))
		if err != nil {
			panic(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

var animals = []string{"heron", "badger", "otter", "lynx", "magpie", "salmon", "beetle", "walrus", "gecko", "bison"}

func animal(i int) string { return animals[i%len(animals)] }

// letters are the labels of four options.
const letters = "ABCD"

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("python3 is needed to run programs: %v", err)
	}
	if _, err := sandbox.New(sandbox.Options{Kind: sandbox.Native}); err != nil {
		t.Skipf("the sandbox cannot be set up here: %v", err)
	}
}

var kinds = map[string]kind{
	"numeric": {config: "demo_gsm8k_gen_4_shot_cot_chat_prompt"},
	"numeric without a worked solution": {config: "svamp_gen_0_shot_cot_chat_prompt", file: "svamp.jsonl", content: lines(20, func(i int) map[string]any {
		return map[string]any{"Body": fmt.Sprintf("Shelf %d of the library holds %d books and %d maps.", i, 30+i, 7), "Question": "How many things are on the shelf?",
			"Answer": float64(37 + i), "Equation": fmt.Sprintf("( %d + 7 )", 30+i), "ID": fmt.Sprint("s", i)}
	})},
	"mathematics": {config: "math500_gen_0_shot_cot_chat_prompt", file: "test.jsonl", content: lines(20, func(i int) map[string]any {
		return map[string]any{"problem": fmt.Sprintf("What is the reciprocal of %d, as a fraction in lowest terms?", i+2), "answer": fmt.Sprintf(`\frac{1}{%d}`, i+2),
			"solution": fmt.Sprintf(`One divided by %d is $\boxed{\frac{1}{%d}}$.`, i+2, i+2), "subject": "Prealgebra", "level": 1, "unique_id": fmt.Sprint("r", i)}
	})},
	"choice": {config: "ARC_c_gen_0_shot_chat_prompt", file: "ARC-Challenge-Test.jsonl", content: arcRows()},
	"choice with ten options": {config: "mmlu_pro_gen_0_shot_str", subset: "biology", file: "test.jsonl", content: lines(20, func(i int) map[string]any {
		options := make([]string, 10)
		for k := range options {
			options[k] = fmt.Sprintf("a %s of %d years", animal(k), i+k)
		}
		return map[string]any{"question_id": i, "question": fmt.Sprintf("Which of these lived in enclosure number %d of the city zoo?", i), "options": options,
			"answer": string(rune('A' + i%10)), "answer_index": i % 10, "category": "biology", "src": "made for this test", "cot_content": ""}
	})},
	"yes or no": {config: "SuperGLUE_BoolQ_gen_0_shot_str", file: "val.jsonl", content: lines(20, func(i int) map[string]any {
		return map[string]any{"passage": fmt.Sprintf("The harbour of island %d has been open since it was built.", i), "question": fmt.Sprintf("is the harbour of island %d open", i),
			"label": i%3 == 0, "idx": i}
	})},
	"reasoning, free form": {config: "bbh_gen_3_shot_cot_chat", file: "data/object_counting.json", subset: "object_counting", content: examples(func(i int) (string, string) {
		return fmt.Sprintf("I have %d trays with a cup each, and box %d with a spoon. How many objects do I have?", i+3, i), fmt.Sprint(2*(i+3) + 2)
	})},
	"reasoning, choice": {config: "bbh_gen_3_shot_cot_chat", file: "data/penguins_in_a_table.json", subset: "penguins_in_a_table", content: examples(func(i int) (string, string) {
		return fmt.Sprintf("Penguins of colony %d are listed by weight. Which is the heaviest?\nOptions:\n(A) Louis %d\n(B) Bernard %d\n(C) Vincent %d\n(D) Gwen %d", i, i, i, i, i), "(" + letters[i%4:i%4+1] + ")"
	})},
	"reading": {config: "drop_gen_0_shot_str", file: "dev.jsonl", content: lines(20, func(i int) map[string]any {
		return map[string]any{"context": fmt.Sprintf("Passage: In season %d the team of the %s scored %d goals, of which %d after the break.\nQuestion: How many goals did they score?\nAnswer:", i, animal(i), 40+i, 3), "ref_text": fmt.Sprint(40 + i), "completion": ""}
	})},
	"free text": {config: "triviaqa_gen_0_shot_chat_prompt", file: "triviaqa-validation.jsonl", content: lines(20, func(i int) map[string]any {
		name := fmt.Sprintf("%s number %d", animal(i), i)
		return map[string]any{"question": fmt.Sprintf("Which animal won race %d of the county fair?", i), "question_id": fmt.Sprint("t", i),
			"answer": map[string]any{"value": name, "aliases": []string{"the " + name}, "normalized_value": name, "normalized_aliases": []string{name}}}
	})},
	"custom question and answer": {file: "mine.jsonl", content: lines(20, func(i int) map[string]any {
		return map[string]any{"question": fmt.Sprintf("Who keeps the key of room %d?", i), "answer": fmt.Sprintf("porter %s the %dth", animal(i), i+10)}
	})},
	"code": {config: "humaneval_gen_0_shot", file: "HumanEval.jsonl", needs: needPython, content: lines(6, func(i int) map[string]any {
		return map[string]any{"task_id": fmt.Sprint("Own/", i), "entry_point": fmt.Sprint("add_", i),
			"prompt":             fmt.Sprintf("def add_%d(x):\n    \"\"\" Give x plus %d.\n    \"\"\"\n", i, i),
			"canonical_solution": fmt.Sprintf("    return x + %d\n", i), "test": fmt.Sprintf("def check(candidate):\n    assert candidate(3) == %d\n", 3+i)}
	})},
	"programs from a description": {config: "mbpp_passk_gen_3_shot_chat_prompt", file: "mbpp.jsonl", needs: needPython, content: lines(16, func(i int) map[string]any { // the first ten rows are not of the test part
		return map[string]any{"task_id": 1 + i, "text": fmt.Sprintf("Write a function to multiply a number by %d.", i+2), "code": fmt.Sprintf("def times_%d(x):\n    return x * %d", i, i+2),
			"test_list": []string{fmt.Sprintf("assert times_%d(4) == %d", i, 4*(i+2)), fmt.Sprintf("assert times_%d(0) == 0", i)}, "test_setup_code": "", "challenge_test_list": []string{}}
	})},
	// The answer column is for the simulator: a reply that keeps its own row's
	// instruction and breaks every other row's.
	"instructions": {config: "ifeval_0_shot_gen_str", file: "input_data.jsonl", content: lines(20, func(i int) map[string]any {
		phrase := fmt.Sprintf("So says the %s of hill %d.", animal(i), i)
		return map[string]any{"key": i, "prompt": fmt.Sprintf("Describe hill %d. End with this phrase and nothing behind it: %s", i, phrase),
			"instruction_id_list": []string{"startend:end_checker", "punctuation:no_comma"}, "kwargs": []any{map[string]any{"end_phrase": phrase}, map[string]any{}},
			"answer": "It is green and quiet. " + phrase}
	})},
	"further instructions": {config: "ifbench_0_shot_gen_str", file: "IFBench_test.jsonl", content: lines(20, func(i int) map[string]any {
		word := fmt.Sprintf("%s%c", animal(i), 'a'+i)
		return map[string]any{"key": fmt.Sprint(i), "prompt": fmt.Sprintf("Tell me about hill %d. The response must include keyword %q in the 2-th sentence.", i, word),
			"instruction_id_list": []string{"sentence:keyword"}, "kwargs": []any{map[string]any{"word": word, "N": 2.0}},
			"answer": "It is a hill. There lives a " + word + " on it."}
	})},
	"judge": {config: "simpleqa_gen_0_shot_chat_prompt", file: "simple_qa_test_set.csv", judged: true, content: func() string {
		var b strings.Builder
		b.WriteString("metadata,problem,answer\n")
		for i := range 20 {
			fmt.Fprintf(&b, "\"{'topic': 'Zoo'}\",Who fed the animals of house %d in the year 19%02d?,Keeper %s the %dth\n", i, i, animal(i), i+10)
		}
		return b.String()
	}()},
	"judge, Chinese": {config: "chinese_simpleqa_gen_0_shot_chat_prompt", file: "chinese_simpleqa.jsonl", judged: true, content: lines(20, func(i int) map[string]any {
		return map[string]any{"id": fmt.Sprint("c", i), "primary_category": "自然与自然科学", "secondary_category": "动物", "question": fmt.Sprintf("动物园第%d号馆的饲养员叫什么名字?", i+100), "answer": fmt.Sprintf("饲养员%d号", i+200)}
	})},
	"likelihood of two": {config: "piqa_ppl_0_shot_str", file: "dev.jsonl", also: map[string]string{"dev-labels.lst": strings.Repeat("0\n1\n", 10)}, content: lines(20, func(i int) map[string]any {
		return map[string]any{"goal": fmt.Sprintf("To open crate number %d of the cellar,", i), "sol1": fmt.Sprintf("lift lid %d with the %s lever", i, animal(i)), "sol2": fmt.Sprintf("pour water over lid %d of the %s", i, animal(i+1))}
	})},
	"likelihood of four": {config: "ARC_c_ppl_0_shot_str", file: "ARC-Challenge-Test.jsonl", content: arcRows()},
	"likelihood of endings": {config: "hellaswag_ppl_0_shot_chat_prompt", file: "hellaswag.jsonl", content: lines(20, func(i int) map[string]any {
		var endings []string
		for k := range 4 {
			endings = append(endings, fmt.Sprintf("feeds the %s and closes gate %d.", animal(i+k), i))
		}
		return map[string]any{"query": fmt.Sprintf("Keeping animals: The keeper of enclosure number %d opens the gate and", i), "choices": endings, "gold": i % 4}
	})},
	"likelihood in a conversation": {config: "siqa_ppl_0_shot_chat", file: "dev.jsonl", also: map[string]string{"dev-labels.lst": strings.Repeat("1\n2\n3\n2\n", 5)}, content: lines(20, func(i int) map[string]any {
		return map[string]any{"context": fmt.Sprintf("Robin lent the %s book of shelf %d to a friend.", animal(i), i), "question": "Why did Robin do this?",
			"answerA": fmt.Sprintf("to please friend %d", i), "answerB": fmt.Sprintf("to empty shelf %d", i), "answerC": "to read it alone"}
	})},
	"likelihood of letters": {config: "mmlu_ppl_0_shot_str", file: "test/astronomy_test.csv", subset: "astronomy",
		also: map[string]string{"dev/astronomy_dev.csv": "What is nearest to the sun?,Mercury,Venus,Earth,Mars,A\nWhat is red?,Mercury,Venus,Earth,Mars,D\nWhat has rings?,Mercury,Venus,Saturn,Mars,C\nWhat is a dwarf?,Pluto,Venus,Saturn,Mars,A\nWhere are we?,Pluto,Venus,Earth,Mars,C\n"}, content: func() string {
			var b strings.Builder
			for i := range 20 {
				fmt.Fprintf(&b, "Which body was seen in night number %d of the survey?,the %s nebula,comet %d,planet %d,the moon of %d,%c\n", i, animal(i), i+1, i+2, i+3, letters[i%4])
			}
			return b.String()
		}()},
}

// examples is a file of BIG-Bench Hard.
func examples(row func(i int) (input, target string)) string {
	var list []map[string]string
	for i := range 20 {
		in, out := row(i)
		list = append(list, map[string]string{"input": in, "target": out})
	}
	b, err := json.Marshal(map[string]any{"examples": list})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func arcRows() string {
	return lines(20, func(i int) map[string]any {
		var choices []map[string]any
		for k := range 4 {
			choices = append(choices, map[string]any{"label": letters[k : k+1], "text": fmt.Sprintf("the %s of pond %d", animal(i+k), i)})
		}
		return map[string]any{"id": fmt.Sprint("arc", i), "question": map[string]any{"stem": fmt.Sprintf("Which animal was counted at pond number %d?", i), "choices": choices},
			"answerKey": letters[i%4 : i%4+1]}
	})
}

// choice is the kind as a run takes it, with its file written to a directory.
func (k kind) choice(t *testing.T) DatasetChoice {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, k.file)
	write := func(path, content string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if k.file != "" {
		write(path, k.content)
	}
	for name, content := range k.also {
		write(filepath.Join(dir, name), content)
	}
	if k.config == "" {
		cfg, err := datasets.Custom(path, datasets.CustomOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return DatasetChoice{Name: cfg.Abbr, Origin: path, Config: cfg}
	}
	c := builtinSet(t, k.config)
	if k.file != "" {
		c.Load.Path = dir
	}
	if k.subset != "" {
		c.Load.Subsets = []string{k.subset}
	}
	return c
}

// builtinSet is a configuration of the registry.
func builtinSet(t *testing.T, name string) DatasetChoice {
	t.Helper()
	reg, err := datasets.OpenRegistry("")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := reg.Select(name)
	if err != nil {
		t.Fatal(err)
	}
	return DatasetChoice{Name: entries[0].Name, Origin: entries[0].Origin, Config: entries[0].Value}
}

// startSim starts a simulator that answers from the key of a data set.
func startSim(t *testing.T, set DatasetChoice, cfg simulator.Config) (*simulator.Server, string) {
	t.Helper()
	loaded, err := set.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if cfg.AnswersData, err = SimulatorAnswers(loaded); err != nil {
		t.Fatal(err)
	}
	cfg.Preset = "instant"
	sim, err := simulator.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	url, err := sim.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sim.Close() })
	return sim, url
}

// modelAt is a model configuration for a server; PPL sets need completions.
func modelAt(url string, set DatasetChoice) ModelChoice {
	c := models.Config{Abbr: "sim", Type: "openai_chat", Attr: "service", Stream: true, Model: "sim", URL: url, BatchSize: 8, MaxOutLen: 512}
	if set.Config.Asking() == datasets.ModePPL {
		c.Type = "openai_completions"
	}
	return ModelChoice{Name: "sim", Config: c}
}

// runOnce runs one task and gives its outcome.
func runOnce(t *testing.T, m ModelChoice, set DatasetChoice, o Options) (*Outcome, *TaskOutcome) {
	t.Helper()
	plan, err := NewPlan([]ModelChoice{m}, []DatasetChoice{set})
	if err != nil {
		t.Fatal(err)
	}
	if o.Mode == "" {
		o.Mode = ModeAll
	}
	if o.WorkDir == "" {
		o.WorkDir = t.TempDir()
	}
	out, err := Run(t.Context(), plan, o)
	if err != nil {
		t.Fatal(err)
	}
	return out, out.Tasks[0]
}

// startJudge starts a judge model that compares the reference with the
// answer, as the prompt shows them.
func startJudge(t *testing.T) ModelChoice {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"judge","object":"model"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Messages []struct{ Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) == 0 {
			http.Error(w, "no messages", http.StatusBadRequest)
			return
		}
		_, rest, _ := strings.Cut(q.Messages[0].Content, "Reference answer:\n")
		gold, rest, _ := strings.Cut(rest, "\n\nAnswer to grade:\n")
		given, _, found := strings.Cut(rest, "\n\nJudge only")
		verdict := "INCORRECT"
		if strings.Contains(given, gold) {
			verdict = "CORRECT"
		}
		if !found || gold == "" {
			verdict = "(cannot read the question)"
		}
		json.NewEncoder(w).Encode(map[string]any{"id": "j", "object": "chat.completion", "model": "judge",
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": "Compared.\nVERDICT: " + verdict}}},
			"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 1}})
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return ModelChoice{Name: "judge", Config: models.Config{Abbr: "judge", Type: "openai_chat", Model: "judge", URL: srv.URL, BatchSize: 4, MaxOutLen: 64}}
}

// TestEveryKindScoresWhatTheSimulatorAnswered: from a model that answers a known
// share of questions right, every kind of data set must report that share.
func TestEveryKindScoresWhatTheSimulatorAnswered(t *testing.T) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if k.needs != nil {
				k.needs(t)
			}
			set := k.choice(t)
			sim, url := startSim(t, set, simulator.Config{Accuracy: 0.6, Seed: 7})
			var o Options
			if k.judged {
				o.Judges, o.JudgeConcurrency = []ModelChoice{startJudge(t)}, 4
			}
			out, task := runOnce(t, modelAt(url, set), set, o)
			if task.Err != nil {
				t.Fatal(task.Err)
			}
			stats, got := sim.Stats(), task.Accuracy.Overall
			n := len(task.Estimate.Set.Samples)
			if int(stats.QuestionsAsked) != n {
				t.Errorf("the simulator knew %d of %d questions (%d prompts unknown)", stats.QuestionsAsked, n, stats.Unknown)
			}
			if int64(got.Right) != stats.QuestionsRight || got.N != n || got.Failed != 0 || got.Empty != 0 {
				t.Errorf("%+v, but the simulator answered %d of %d right", counts(got), stats.QuestionsRight, n)
				for p, err := range outputs.ReadPredictions(out.Run.PredictionsPath(task.Task.ModelAbbr, task.Task.DatasetAbbr)) {
					if err == nil {
						t.Logf("%s gold %v: %s %q", p.SampleID, p.Gold, p.Outcome, p.Prediction)
					}
				}
			}
			t.Logf("%s by %s: %d of %d right, the simulator counts %d", set.Name, task.Accuracy.Scorer, got.Right, got.N, stats.QuestionsRight)
			if got.Right == 0 || got.Right == n {
				t.Errorf("%d of %d right tell nothing apart", got.Right, n)
			}
		})
	}
}

// counts are the outcomes of a summary.
func counts(s evaluators.Summary) string {
	return fmt.Sprintf("right %d, wrong %d, unparsable %d, empty %d, failed %d of %d", s.Right, s.Wrong, s.Unparsable, s.Empty, s.Failed, s.N)
}
