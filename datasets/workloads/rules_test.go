package workloads

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ais_bench/datasets"
)

func TestRandomLengthsFollowTheRatio(t *testing.T) {
	for _, c := range []struct {
		mode         RangeRatioMode
		ratio        float64
		inLo, inHi   int
		outLo, outHi int
	}{
		{RangeVLLM, 0, 101, 101, 20, 20},
		{RangeVLLM, 0.25, 75 + 1, 125 + 1, 15, 25},
		{RangeSGLang, 1, 101, 101, 20, 20},
		{RangeSGLang, 0.5, 50 + 1, 100 + 1, 10, 20},
	} {
		cfg := Defaults("random")
		cfg.NumPrompts, cfg.InputLen, cfg.OutputLen, cfg.Tokenizer = 600, 101, 20, newPieceTokenizer() // one special token: real length 100
		cfg.RangeRatioMode, cfg.RangeRatioInput, cfg.RangeRatioOutput = c.mode, c.ratio, c.ratio
		var in, out []int
		for _, s := range samplesOf(t, "random", cfg) {
			in, out = append(in, s.Fields[FieldInputLen].(int)), append(out, s.MaxTokens)
		}
		di, do := distribution(in), distribution(out)
		if di.Min != float64(c.inLo) || di.Max != float64(c.inHi) || do.Min != float64(c.outLo) || do.Max != float64(c.outHi) {
			t.Errorf("%s %g: input %v…%v, output %v…%v; want %d…%d, %d…%d", c.mode, c.ratio, di.Min, di.Max, do.Min, do.Max, c.inLo, c.inHi, c.outLo, c.outHi)
		}
	}
}

func TestPrefixesAreShared(t *testing.T) {
	cfg := small(t, "random")
	cfg.PrefixLen, cfg.InputLen = 50, 30
	s := samplesOf(t, "random", cfg)
	n := commonPrefix(s[0].Prompt.Text, s[1].Prompt.Text)
	if got := cfg.Tokenizer.Count(s[0].Prompt.Text[:n]); got < 45 {
		t.Errorf("two random prompts share %d tokens, want about 50", got)
	}
	cfg = small(t, "prefix_repetition")
	cfg.NumPrompts, cfg.NumPrefixes = 23, 10
	count := map[string]int{}
	first := map[string]string{}
	for _, s := range samplesOf(t, "prefix_repetition", cfg) {
		if count[s.Subset]++; count[s.Subset] > 1 {
			if n := commonPrefix(first[s.Subset], s.Prompt.Text); cfg.Tokenizer.Count(s.Prompt.Text[:n]) < 250 {
				t.Errorf("%s is shared for %d bytes only", s.Subset, n)
			}
		}
		first[s.Subset] = s.Prompt.Text
	}
	for i := range 10 {
		want := 2
		if i < 3 {
			want = 3
		}
		if got := count[fmt.Sprintf("prefix %d", i)]; got != want {
			t.Errorf("prefix %d has %d requests, want %d", i, got, want)
		}
	}
	cfg = small(t, "gsp")
	cfg.GroupDistribution, cfg.ZipfAlpha, cfg.NumTurns = "zipf", 1, 3
	groups := map[int]int{}
	for _, s := range samplesOf(t, "gsp", cfg) {
		groups[s.Fields[FieldGroup].(int)]++
		if len(s.FollowUps) != 2 || s.SessionID != s.ID || len(s.Prompt.Turns) != 1 {
			t.Errorf("sample %s of session %q has %d further turns, want 2", s.ID, s.SessionID, len(s.FollowUps))
		}
		if s.Headers != nil {
			t.Errorf("sample %s has headers %v that nobody asked for", s.ID, s.Headers)
		}
	}
	if want := map[int]int{0: 10, 1: 4, 2: 4, 3: 2}; !reflect.DeepEqual(groups, want) {
		t.Errorf("zipf groups %v, want %v", groups, want)
	}
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func TestShareGPTOddRows(t *testing.T) {
	big := strings.Repeat("gra lo mi ", 1<<20)
	row := func(turns ...string) string {
		var b strings.Builder
		for i := 0; i < len(turns); i += 2 {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, "{\"from\":%q,\r\n\"value\":%q}", turns[i], turns[i+1])
		}
		return `{"id":1,"conversations":[` + b.String() + "]}"
	}
	text := "\xef\xbb\xbf[\r\n" + strings.Join([]string{
		row("human", "one two three four", "gpt", ""),
		row("human", "only one turn of them"),
		row("narrator", "a prompt by its place", "chorus", "an answer by its place"),
		row("human", big, "gpt", "an answer of some words"),
		row("system", "be brief and kind", "human", "the first question", "gpt", "the first answer", "human", "the second one", "gpt", "its answer"),
	}, ",\r\n") + "]\r\n"
	cfg := small(t, "sharegpt")
	cfg.DatasetPath, cfg.NumPrompts, cfg.CacheBust, cfg.DisableShuffle = write(t, "odd.json", text), 0, "", true
	cfg.Tokenizer = wordTokenizer{newPieceTokenizer()}
	notesOf := func(mode string) ([]datasets.Sample, []string) {
		cfg.InferMode = mode
		w, err := New("sharegpt", cfg)
		if err != nil {
			t.Fatal(err)
		}
		s, err := w.Samples(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s, w.Notes()
	}
	s, notes := notesOf("")
	if len(s) != 2 || s[0].Prompt.Text != "a prompt by its place" || s[1].Prompt.Text != "be brief and kind" || s[0].MaxTokens != 6 {
		t.Errorf("first turns: %+v", s)
	}
	want := []string{
		"left out 1 row (row 1): answer of fewer than 4 tokens",
		"left out 1 row (row 2): fewer than two turns",
		"left out 1 row (row 4): prompt of more than 1024 tokens",
	}
	if !reflect.DeepEqual(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
	cfg.ContextLen = 100
	answer := "the first answer"
	for mode, reply := range map[string]*string{InferEvery: nil, InferEveryGold: &answer} {
		s, notes = notesOf(mode)
		want := []datasets.FollowUp{{Text: "the second one", Reply: reply, MaxTokens: 2}}
		if len(s) != 1 || s[0].ID != "5" || s[0].SessionID != "5" || s[0].MaxTokens != 3 || len(s[0].Prompt.Turns) != 2 || s[0].Prompt.Turns[0].Role != "system" || !reflect.DeepEqual(s[0].FollowUps, want) {
			t.Errorf("%s: %+v", mode, s)
		}
		all := strings.Join(notes, "\n")
		for _, part := range []string{`(row 1): no answer to take the output length from`, `(row 2): fewer than two turns`, `(row 3): unknown role "narrator"`, `(row 4): first turn beyond the context length`} {
			if !strings.Contains(all, part) {
				t.Errorf("%s: notes %q lack %s", mode, notes, part)
			}
		}
	}
	s, _ = notesOf(InferLast)
	if last := s[len(s)-1]; len(last.FollowUps) != 0 || len(last.Prompt.Turns) != 4 || last.Prompt.Turns[3].Text != "the second one" {
		t.Errorf("last turn: %+v", last)
	}
}

// wordTokenizer counts words, so that limits in a test can be read off its text.
type wordTokenizer struct{ *pieceTokenizer }

func (wordTokenizer) Count(s string) int { return len(strings.Fields(s)) }

func TestOversampling(t *testing.T) {
	cfg := small(t, "custom")
	cfg.NumPrompts, cfg.OutputLen = 50, -1
	s := samplesOf(t, "custom", cfg)
	repeats, ids := 0, map[string]bool{}
	for _, x := range s {
		if x.Fields[FieldOversampled] == true {
			repeats++
		}
		ids[x.ID] = true
	}
	if len(s) != 50 || repeats != 20 || len(ids) != 50 {
		t.Errorf("%d samples, %d repeats, %d ids; want 50, 20, 50", len(s), repeats, len(ids))
	}
	cfg.NoOversample = true
	if s = samplesOf(t, "custom", cfg); len(s) != 30 {
		t.Errorf("without oversampling %d samples, want 30", len(s))
	}
	cfg.DisableShuffle, cfg.CacheBust = true, ""
	if s = samplesOf(t, "custom", cfg); s[4].Prompt.Text != "question 4" || s[4].MaxTokens != 5 {
		t.Errorf("unshuffled row 5 is %+v", s[4])
	}
}

func TestTraceBlocksAndTimes(t *testing.T) {
	for _, text := range []bool{false, true} {
		cfg := small(t, "mooncake")
		cfg.TraceAsText, cfg.CacheBust, cfg.SecMultiplier = text, "", 2
		s := samplesOf(t, "mooncake", cfg)
		if s[0].ArriveNS != 0 || s[3].ArriveNS != 600_000_000 {
			t.Errorf("arrivals %d, %d; want 0 and 0.6 s", s[0].ArriveNS, s[3].ArriveNS)
		}
		for i, x := range s {
			if got := x.Fields[FieldInputLen].(int); got != 1030+i && got != 1031+i {
				t.Errorf("text %v: prompt %d has %d tokens, want %d", text, i, got, 1030+i)
			}
		}
		if text {
			same, other := commonPrefix(s[0].Prompt.Text, s[2].Prompt.Text), commonPrefix(s[0].Prompt.Text, s[1].Prompt.Text)
			if a, b := cfg.Tokenizer.Count(s[0].Prompt.Text[:same]), cfg.Tokenizer.Count(s[0].Prompt.Text[:other]); a < 1020 || b < 508 || b > 530 {
				t.Errorf("shared blocks: %d tokens (want 1024) and %d (want 512)", a, b)
			}
		} else if a, b := s[0].Prompt.TokenIDs, s[2].Prompt.TokenIDs; !reflect.DeepEqual(a[:1024], b[:1024]) || reflect.DeepEqual(a[:1030], b[:1030]) {
			t.Error("rows 1 and 3 must share their first two blocks and no more")
		}
		cfg.SecMultiplier, cfg.StartOffset, cfg.EndOffset = 1, 0.45, 0.85
		if s = samplesOf(t, "mooncake", cfg); len(s) != 4 || s[0].ID != "6" || s[0].ArriveNS != 50_000_000 {
			t.Errorf("window: %d rows, first %s at %d", len(s), s[0].ID, s[0].ArriveNS)
		}
	}
	cfg := small(t, "timed_trace")
	if s := samplesOf(t, "timed_trace", cfg); s[0].ArriveNS != 1000e9 || s[0].Prompt.TokenIDs == nil {
		t.Errorf("timed_trace keeps seconds as they are: %d", s[0].ArriveNS)
	}
	cfg = small(t, "mooncake")
	cfg.DatasetPath = write(t, "t.jsonl", `{"timestamp":5,"output_length":3,"input_text":"as written"}`)
	if s := samplesOf(t, "mooncake", cfg); s[0].Prompt.Text != "salt 1 as written" {
		t.Errorf("literal text: %q", s[0].Prompt.Text)
	}
}

func TestRealTraces(t *testing.T) {
	root := os.Getenv("AIS_BENCH_CONFORMANCE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "conformance")
	}
	for _, c := range []struct {
		workload, file string
		firstIn        int
	}{
		{"mooncake", "mooncake_conversation.jsonl", 6758},
		{"azure", "azure_llm_code_2023.csv", 4808},
	} {
		path := filepath.Join(root, "traces", c.file)
		if _, err := os.Stat(path); err != nil {
			t.Skipf("no conformance data: %v", err)
		}
		cfg := Defaults(c.workload)
		cfg.Tokenizer, cfg.DatasetPath, cfg.NumPrompts = newPieceTokenizer(), path, 60
		s := samplesOf(t, c.workload, cfg)
		if got := s[0].Fields[FieldInputLen].(int) - 1; len(s) != 60 || distance(got, c.firstIn) > 1 {
			t.Errorf("%s: %d rows, the first of %d tokens; want 60 and %d", c.file, len(s), got, c.firstIn)
		}
		for i := 1; i < len(s); i++ {
			if s[i].ArriveNS < s[i-1].ArriveNS {
				t.Fatalf("%s: arrival %d is before the one before it", c.file, i)
			}
		}
	}
}

func TestLengthDistributions(t *testing.T) {
	for _, l := range []Lengths{
		{Method: "uniform", Min: 3, Max: 9},
		{Method: "gaussian", Min: 1, Max: 200, Mean: 100, Var: 25},
		{Method: "zipf", Min: 2, Max: 50, Alpha: 2},
	} {
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		draw, r := l.Sampler(), stream(1, 1)
		var v []int
		for range 20000 {
			v = append(v, draw(r))
		}
		d := distribution(v)
		want := map[string]float64{"uniform": 6, "gaussian": 100, "zipf": zipfMean(2, 50, 2)}[l.Method]
		if d.Min < float64(l.Min) || d.Max > float64(l.Max) || math.Abs(d.Mean-want) > 0.05*want {
			t.Errorf("%s: min %g mean %g max %g, want mean %g", l, d.Min, d.Mean, d.Max, want)
		}
	}
}

// zipfMean is the mean of k with P(k) ∝ k^-alpha, k = 1, 2, …, clipped to [lo, hi].
func zipfMean(lo, hi int, alpha float64) float64 {
	var sum, weight float64
	for k := 1; k < 1_000_000; k++ {
		p := math.Pow(float64(k), -alpha)
		sum, weight = sum+p*float64(min(max(k, lo), hi)), weight+p
	}
	return sum / weight
}

// The tail beyond the longest length has its whole weight, however heavy it is:
// ζ(1.1) = 10.5844, of which the first four terms are 1.9829.
func TestZipfTailIsWhole(t *testing.T) {
	draw, r := Lengths{Method: "zipf", Min: 1, Max: 5, Alpha: 1.1}.Sampler(), stream(3, 1)
	longest := 0
	for range 20000 {
		if draw(r) == 5 {
			longest++
		}
	}
	if share := float64(longest) / 20000; math.Abs(share-(1-1.9829/10.5844)) > 0.01 {
		t.Errorf("%g of the draws are the longest, want 0.813", share)
	}
}

func TestLengthsRefuse(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for want, list := range map[string][]Lengths{
		"1 <= MinValue <= MaxValue <= 1048576": {{Method: "uniform", Min: 0, Max: 5}, {Method: "uniform", Min: 5, Max: 4}, {Method: "uniform", Min: 1, Max: 1<<20 + 1}, {Method: "zipf", Min: -3, Max: 4, Alpha: 2}},
		"Alpha must be in (1, 10]":             {{Method: "zipf", Min: 1, Max: 5, Alpha: 1}, {Method: "zipf", Min: 1, Max: 5, Alpha: 10.5}, {Method: "zipf", Min: 1, Max: 5, Alpha: inf}, {Method: "zipf", Min: 1, Max: 5, Alpha: nan}},
		"Var must be between 0 and 3e+38":      {{Method: "gaussian", Min: 1, Max: 5, Var: -1}, {Method: "gaussian", Min: 1, Max: 5, Var: inf}, {Method: "gaussian", Min: 1, Max: 5, Var: nan}},
		"Mean must be between":                 {{Method: "gaussian", Min: 1, Max: 5, Mean: inf}, {Method: "gaussian", Min: 1, Max: 5, Mean: nan}},
		"uniform, gaussian or zipf":            {{Method: "normal", Min: 1, Max: 5}},
	} {
		for _, l := range list {
			if err := l.Check(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %s", l, err, want)
			}
		}
	}
}

// The lengths are those asked for, by the tokenizer's own count, and the shared part
// is shared.
func TestSyntheticLengths(t *testing.T) {
	cfg := small(t, "synthetic_tokenid")
	cfg.CacheBust, cfg.NumPrompts, cfg.PrefixLen = "", 200, 30
	cfg.InputLengths, cfg.OutputLengths = Lengths{Method: "gaussian", Mean: 60, Var: 100, Min: 40, Max: 75}, Lengths{Method: "zipf", Alpha: 1.5, Min: 3, Max: 9}
	s := samplesOf(t, "synthetic_tokenid", cfg)
	added := cfg.Tokenizer.AddedByDefault()
	var in, out []int
	for _, x := range s {
		n := cfg.Tokenizer.Count(x.Prompt.Text)
		if n+added != x.Fields[FieldInputLen] {
			t.Errorf("sample %s has %d tokens, says %v", x.ID, n+added, x.Fields[FieldInputLen])
		}
		in, out = append(in, n), append(out, x.MaxTokens)
		if c := cfg.Tokenizer.Count(x.Prompt.Text[:commonPrefix(x.Prompt.Text, s[0].Prompt.Text)]); c < 28 {
			t.Errorf("sample %s shares %d tokens with the first, want 30", x.ID, c)
		}
	}
	di, do := distribution(in), distribution(out)
	if di.Min < 40 || di.Max > 75 || math.Abs(di.Mean-60) > 2 || do.Min != 3 || do.Max != 9 {
		t.Errorf("input %+v, output %+v", di, do)
	}
	more := cfg
	more.NumPrompts = 250
	if bytesOf(t, samplesOf(t, "synthetic_tokenid", more)[:200]) != bytesOf(t, s) {
		t.Error("more requests change the first ones")
	}
	cfg.InputLengths, cfg.InputLen = Lengths{}, 50
	for _, x := range samplesOf(t, "synthetic_tokenid", cfg) {
		if n := cfg.Tokenizer.Count(x.Prompt.Text); n != 50 {
			t.Errorf("sample %s has %d tokens, want 50", x.ID, n)
		}
	}
	cfg = small(t, "synthetic_string")
	cfg.CacheBust, cfg.NumPrompts, cfg.InputLengths = "", 100, Lengths{Method: "uniform", Min: 3, Max: 6}
	seen := map[int]bool{}
	for _, x := range samplesOf(t, "synthetic_string", cfg) {
		words := strings.Fields(x.Prompt.Text)
		seen[len(words)] = true
		if strings.Join(words, " ") != x.Prompt.Text || strings.Trim(x.Prompt.Text, "A ") != "" || x.MaxTokens < 1 || x.MaxTokens > 100 {
			t.Errorf("sample %s: %q, %d out", x.ID, x.Prompt.Text, x.MaxTokens)
		}
	}
	if !reflect.DeepEqual(seen, map[int]bool{3: true, 4: true, 5: true, 6: true}) {
		t.Errorf("lengths %v", seen)
	}
}

func TestFromConfig(t *testing.T) {
	file := write(t, "synthetic_config.py", "synthetic_config = {'Type': 'string', 'RequestCount': 7, 'StringConfig': {'Input': {'Method': 'uniform', 'Params': {'MinValue': 2, 'MaxValue': 3}}, 'Output': {'Method': 'uniform', 'Params': {'MinValue': 4, 'MaxValue': 5}}}}")
	shared := datasets.Workload{Name: "synthetic", Synthetic: &datasets.Synthetic{Type: "tokenid", RequestCount: 10, TokenIDConfig: &datasets.SyntheticTokenID{RequestSize: 10, PrefixLen: 4}}}
	name, cfg, err := FromConfig(shared, "", 0, 5)
	if err != nil || name != "synthetic_tokenid" || cfg.NumPrompts != 10 || cfg.InputLen != 10 || cfg.PrefixLen != 4 || cfg.OutputLen != 0 || cfg.Seed != 5 {
		t.Errorf("%s %+v %v", name, cfg, err)
	}
	name, cfg, err = FromConfig(shared, file, 9, 5)
	if err != nil || name != "synthetic_string" || cfg.NumPrompts != 9 || cfg.InputLengths != (Lengths{Method: "uniform", Min: 2, Max: 3}) || cfg.OutputLengths != (Lengths{Method: "uniform", Min: 4, Max: 5}) {
		t.Errorf("%s %+v %v", name, cfg, err)
	}
	shared.Name = "synthetic_tokenid"
	if _, _, err = FromConfig(shared, file, 0, 5); err == nil || !strings.Contains(err.Error(), "says Type string; synthetic_gen takes both") {
		t.Errorf("another type: %v", err)
	}
	seed := int64(1234)
	name, cfg, err = FromConfig(datasets.Workload{Name: "mooncake", RandomSeed: &seed, StartOffset: 500, EndOffset: 1500}, "t.jsonl", 3, 5)
	if err != nil || name != "mooncake" || cfg.Seed != 1234 || !cfg.KeepOffset || cfg.StartOffset != 0.5 || cfg.EndOffset != 1.5 || cfg.NumPrompts != 3 || cfg.DatasetPath != "t.jsonl" {
		t.Errorf("%s %+v %v", name, cfg, err)
	}
	_, cfg, err = FromConfig(datasets.Workload{Name: "sharegpt", InferMode: InferEvery}, "s.json", 0, 5)
	if err != nil || cfg.InferMode != InferEvery || !cfg.DisableShuffle || !cfg.NoOversample || cfg.OutputLen != 0 || cfg.NumPrompts != 0 {
		t.Errorf("%+v %v", cfg, err)
	}
}

// AISBench's traces need neither time stamps nor output lengths.
func TestLaxTrace(t *testing.T) {
	cfg := small(t, "mooncake")
	cfg.NumPrompts, cfg.LaxTrace, cfg.StartOffset = 0, true, 3
	cfg.DatasetPath = write(t, "a.jsonl", `{"input_length":9,"hash_ids":[1]}`+"\n"+`{"input_text":"as written","output_length":4}`+"\n")
	if s := samplesOf(t, "mooncake", cfg); len(s) != 2 || s[0].ArriveNS != -1 || s[0].MaxTokens != 1 || s[1].MaxTokens != 4 || s[1].ArriveNS != -1 {
		t.Errorf("%+v", s)
	}
	cfg.DatasetPath = write(t, "b.jsonl", `{"timestamp":3,"input_length":9}`+"\n"+`{"input_length":9}`+"\n")
	if w, err := New("mooncake", cfg); err != nil {
		t.Fatal(err)
	} else if _, err = w.Samples(t.Context()); err == nil || !strings.Contains(err.Error(), `b.jsonl:2: either all rows have a "timestamp" or none`) {
		t.Errorf("some rows timed: %v", err)
	}
}

// AISBench's window is in the trace's own times unless they are rebased, both ends
// included.
func TestTraceWindowKeepsOffsets(t *testing.T) {
	cfg := small(t, "mooncake") // arrivals at 1000, 1100 … ms
	cfg.NumPrompts, cfg.KeepOffset, cfg.StartOffset, cfg.EndOffset = 0, true, 1.2, 1.5
	if s := samplesOf(t, "mooncake", cfg); len(s) != 4 || s[0].ID != "3" || s[0].ArriveNS != 1_200_000_000 {
		t.Errorf("%d rows, the first %s at %d", len(s), s[0].ID, s[0].ArriveNS)
	}
	cfg.KeepOffset = false
	if w, err := New("mooncake", cfg); err != nil {
		t.Fatal(err)
	} else if s, err := w.Samples(t.Context()); err != nil || len(s) != 4 || s[0].ID != "13" {
		t.Errorf("rebased: %d rows, %v", len(s), err)
	}
}

func TestAssignLoRA(t *testing.T) {
	got, err := AssignLoRA([]string{"a", "b"}, LoRARoundRobin, 0, 3, 1)
	if err != nil || !reflect.DeepEqual(got, []string{"a", "b", "a"}) {
		t.Errorf("round robin: %v, %v", got, err)
	}
	one, _ := AssignLoRA([]string{"a", "b"}, LoRARandom, 0, 64, 1)
	two, _ := AssignLoRA([]string{"a", "b"}, LoRARandom, 0, 64, 1)
	other, _ := AssignLoRA([]string{"a", "b"}, LoRARandom, 0, 64, 2)
	if !reflect.DeepEqual(one, two) || reflect.DeepEqual(one, other) {
		t.Error("random assignment must depend on the seed alone")
	}
	if _, err := AssignLoRA([]string{"a"}, "randm", 0, 1, 1); err == nil || !strings.Contains(err.Error(), `did you mean "random"`) {
		t.Errorf("unknown way: %v", err)
	}
	skewed, err := AssignLoRA([]string{"a", "b", "c"}, LoRASkewed, 2, 7000, 1)
	count := map[string]int{}
	for _, m := range skewed {
		count[m]++
	}
	if err != nil || count["a"] < 3800 || count["a"] > 4200 || count["c"] < 850 || count["c"] > 1150 {
		t.Errorf("skewed by 2: %v, want about 4000, 2000 and 1000 (%v)", count, err)
	}
	if _, err := AssignLoRA([]string{"a", "b"}, LoRASkewed, 1, 3, 1); err == nil || !strings.Contains(err.Error(), "above 1") {
		t.Errorf("skewed by 1: %v", err)
	}
}

func TestLengthReport(t *testing.T) {
	var samples []datasets.Sample
	var got []Realised
	for i := range 4 {
		samples = append(samples, datasets.Sample{MaxTokens: 10, Fields: map[string]any{FieldInputLen: 100}})
		got = append(got, Realised{InputTokens: 100 + i, OutputTokens: 10, OK: true})
	}
	got[1].OutputTokens = 4
	got[2].OutputTokens = -1
	got[3].OK = false
	c, err := LengthReport(samples, got)
	if err != nil {
		t.Fatal(err)
	}
	if c.Requests != 3 || c.InputMismatch != 2 || c.InputDrift != 303./300 || c.OutputBoth != 2 || c.StoppedEarly != 1 || c.EarlyShare() != 0.5 ||
		c.RealisedInput.P50 != 101 || c.RealisedOutput.Mean != 7 || c.RequestedOutput.N != 3 {
		t.Errorf("%+v", c)
	}
	for _, want := range []string{"stopped early: 1 of 2 (50.0 %)", "input lengths as asked: 1 of 3, drift x1.0100"} {
		if !strings.Contains(c.String(), want) {
			t.Errorf("report lacks %q:\n%s", want, c)
		}
	}
	if _, err := LengthReport(samples, got[:2]); err == nil {
		t.Error("different numbers must be refused")
	}
}

func TestFromSamples(t *testing.T) {
	var in []datasets.Sample
	for i := range 10 {
		in = append(in, datasets.Sample{ID: fmt.Sprint(i), Prompt: datasets.Prompt{Turns: []datasets.Turn{{Role: "user", Text: fmt.Sprint("q", i)}}}, ArriveNS: -1})
	}
	w, err := FromSamples("gsm8k", in, Config{Seed: 1, NumPrompts: 12, OutputLen: 7, IgnoreEOS: true, CacheBust: "s"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := w.Samples(t.Context())
	if err != nil || len(a) != 12 || a[0].MaxTokens != 7 || a[0].Params["ignore_eos"] != true || !strings.HasPrefix(a[0].Prompt.Turns[0].Text, "s q") {
		t.Fatalf("%v %+v", err, a)
	}
	if in[0].Prompt.Turns[0].Text != "q0" || in[0].Params != nil {
		t.Error("the samples given were changed")
	}
	b, _ := w.Samples(t.Context())
	if bytesOf(t, a) != bytesOf(t, b) {
		t.Error("a second call gave other samples")
	}
}

func TestParseRangeRatio(t *testing.T) {
	for text, want := range map[string][2]float64{"0.5": {0.5, 0.5}, `{"input": 0.1, "output": 0.2}`: {0.1, 0.2}, `{"output":0.3}`: {0, 0.3}} {
		if in, out, err := ParseRangeRatio(text); err != nil || in != want[0] || out != want[1] {
			t.Errorf("%s: %g %g %v", text, in, out, err)
		}
	}
	for _, text := range []string{"half", `{"in":1}`, `{"input":"x"}`} {
		if _, _, err := ParseRangeRatio(text); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}
