package logs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ais_bench/datasets"
)

// words counts blank-separated words and can cut them, as a tokenizer would.
type words struct{}

func (words) Count(text string) int { return len(strings.Fields(text)) }

var vocabulary []string

func (words) Encode(text string, _ bool) []int {
	var ids []int
	for _, w := range strings.Fields(text) {
		i := slices.Index(vocabulary, w)
		if i < 0 {
			i = len(vocabulary)
			vocabulary = append(vocabulary, w)
		}
		ids = append(ids, i)
	}
	return ids
}

func (words) Decode(ids []int, _ bool) string {
	var out []string
	for _, id := range ids {
		out = append(out, vocabulary[id])
	}
	return strings.Join(out, " ")
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, content string
		fields        Fields
		prompts       []string
		answer        string // of the first
		tokens        int
		note          string
	}{
		{name: "plain lines with CRLF and a BOM", content: "\uFEFFfirst prompt\r\n\r\nsecond\r\n", prompts: []string{"first prompt", "second"}},
		{name: "openai bodies", content: `{"request":{"messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"hi"}]}]},"response":{"choices":[{"message":{"content":"yo"}}],"usage":{"completion_tokens":7}}}` + "\n",
			prompts: []string{"S\nhi"}, answer: "yo", tokens: 7},
		{name: "body logged as text, behind a time stamp", content: `2026-01-01 INFO {"request_body":"{\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}"}` + "\n", prompts: []string{"q"}},
		{name: "named fields", content: `{"a":{"b":["x","the prompt"]},"r":"ans","n":3}`, fields: Fields{Prompt: "a.b.1", Answer: "r", OutputTokens: "n"}, prompts: []string{"the prompt"}, answer: "ans", tokens: 3},
		{name: "sharegpt list", content: `[{"conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"a"}]},{"conversations":[]}]`, prompts: []string{"q"}, answer: "a", note: "1 rows left out: no prompt (row 2)"},
		{name: "braces as plain text", content: "{not json\n", fields: Fields{Lines: true}, prompts: []string{"{not json"}},
		{name: "a broken line among good ones", content: "{\"prompt\":\"p\"}\n{\"prompt\":\n{\"prompt\":\"r\"}\n", prompts: []string{"p", "r"}, note: "row 2"},
	} {
		entries, notes, err := Read(write(t, "log", c.content), c.fields)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for i := range entries {
			got = append(got, entries[i].Prompt())
		}
		if !slices.Equal(got, c.prompts) {
			t.Errorf("%s: prompts %q, want %q", c.name, got, c.prompts)
			continue
		}
		if entries[0].Answer != c.answer || entries[0].OutputTokens != c.tokens {
			t.Errorf("%s: answer %q with %d tokens, want %q with %d", c.name, entries[0].Answer, entries[0].OutputTokens, c.answer, c.tokens)
		}
		if !strings.Contains(strings.Join(notes, "\n"), c.note) || c.note == "" && notes != nil {
			t.Errorf("%s: notes %q, want one with %q", c.name, notes, c.note)
		}
	}
	if _, _, err := Read(write(t, "log", `{"payload":"x","ts":1}`), Fields{}); err == nil || !strings.Contains(err.Error(), "payload, ts") {
		t.Errorf("a log without known fields: %v", err)
	}
	if _, _, err := Read("/no/such/log", Fields{}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a missing log: %v", err)
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"mail jo.doe+x@mail.example.org now":                                        "mail [EMAIL] now",
		"card 4111 1111 1111 1111 ok":                                               "card [CARD] ok",
		"not a card 4111 1111 1111 1112 ok":                                         "not a card 4111 1111 1111 1112 ok",
		"call +1 (415) 555-2671 today":                                              "call [PHONE] today",
		"call (415) 555-2671 or 415-555-2671":                                       "call [PHONE] or [PHONE]",
		"电话13812345678。":                                                            "电话[PHONE]。",
		"座机 010-12345678 转":                                                         "座机 [PHONE] 转",
		"id 9913812345678123 stays":                                                 "id 9913812345678123 stays",
		"key sk-abcdefghijklmnopqrstuvwx end":                                       "key [KEY] end",
		"Authorization: Bearer abcdefghijklmnop1":                                   "Authorization: Bearer [KEY]",
		`{"api_key": "s3cr3tvalue"}`:                                                `{"api_key": "[KEY]"}`,
		"AKIAABCDEFGHIJKLMNOP":                                                      "[KEY]",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nbye": "[KEY]\nbye",
		"export DB_PASSWORD=hunter2hunter OPENAI_API_KEY=abcdefghijk":               "export DB_PASSWORD=[KEY] OPENAI_API_KEY=[KEY]",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG":                             "aws_secret_access_key = [KEY]",
		"client_secret: abcdefgh, HF_TOKEN=hf0123456789":                            "client_secret: [KEY], HF_TOKEN=[KEY]",
		`{\"clientSecret\": \"s3cr3tvalue\"}`:                                       `{\"clientSecret\": \"[KEY]\"}`,
		"Authorization: Basic dXNlcjpwYXNz":                                         "Authorization: Basic [KEY]",
		"a basic understanding of max_tokens: 1000000":                              "a basic understanding of max_tokens: 1000000",
		"call 415 555 2671, 030 12345678 or 020 7946 0958":                          "call [PHONE], [PHONE] or [PHONE]",
		"version 1.2.3, year 2024-05-06, 12345678, pi 3.14159265358979":             "version 1.2.3, year 2024-05-06, 12345678, pi 3.14159265358979",
		"f(x) = a[0] + x@y":                                                         "f(x) = a[0] + x@y",
	} {
		found := map[string]int{}
		if got := Redact(in, found); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		} else if (in != want) != (len(found) > 0) {
			t.Errorf("%q: counted %v", in, found)
		}
		if again := Redact(want, map[string]int{}); again != want {
			t.Errorf("redacting %q again gives %q", want, again)
		}
	}
}

func entriesOf(prompts ...string) []Entry {
	var list []Entry
	for i, p := range prompts {
		list = append(list, Entry{Line: i + 1, Turns: turnsOf(p)})
	}
	return list
}

func TestDescribe(t *testing.T) {
	en := "the weather is nice today and we are going to the market with our friends to buy some bread"
	zh := "今天天气很好 我们一起去市场买面包 然后回家做饭"
	e := entriesOf(en, en, zh, "a b c d", strings.Repeat("w ", 100))
	e[0].Answer = "one two three"
	s := Describe(e, words{}, Bounds{4, 19})
	if s.Prompts.Count != 5 || s.Prompts.Min != 3 || s.Prompts.Max != 100 || s.Prompts.P50 != 19 || s.Prompts.Mean != 29 {
		t.Errorf("prompts %+v", s.Prompts)
	}
	if s.Answers.Count != 1 || s.Answers.P99 != 3 {
		t.Errorf("answers %+v", s.Answers)
	}
	if s.Buckets != [3]int{1, 3, 1} || s.Duplicates != 1 {
		t.Errorf("buckets %v, duplicates %d", s.Buckets, s.Duplicates)
	}
	if s.Languages[0] != (Share{"English", 2}) && !slices.Contains(s.Languages, Share{"English", 2}) {
		t.Errorf("languages %v", s.Languages)
	}
	if !slices.Contains(s.Languages, Share{"Mandarin", 1}) {
		t.Errorf("languages %v", s.Languages)
	}
	total := 0
	for _, b := range s.Bins {
		total += b.Count
	}
	if total != 5 || s.Bins[0].Low != 2 || s.Bins[len(s.Bins)-1].High != 128 {
		t.Errorf("bins %v", s.Bins)
	}
	var out bytes.Buffer
	if err := s.Write(&out, 80); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"duplicates  1 of 5", "4 to 19", "English", "█"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestSelect(t *testing.T) {
	var prompts []string
	for i := range 20 {
		prompts = append(prompts, strings.Repeat("s"+string(rune('a'+i))+" ", 3))
	}
	for i := range 4 {
		prompts = append(prompts, strings.Repeat("m"+string(rune('a'+i))+" ", 15))
	}
	e := entriesOf(append(prompts, prompts[0])...)
	Measure(e, words{})
	bounds := Bounds{10, 20}
	count := func(list []Entry) (n [3]int, synthetic int) {
		for i := range list {
			n[bounds.Bucket(list[i].InputTokens)]++
			if list[i].Synthetic {
				synthetic++
			}
		}
		return n, synthetic
	}
	out, notes, err := Select(e, Selection{Dedup: true, Bounds: bounds}, nil)
	if err != nil || len(out) != 24 || len(notes) != 1 {
		t.Errorf("dedup: %d entries, %q, %v", len(out), notes, err)
	}
	target, err := ParseTarget("short=1,medium=1")
	if err != nil {
		t.Fatal(err)
	}
	out, notes, err = Select(e, Selection{Bounds: bounds, Target: target, Count: 20, Seed: 1}, words{})
	if n, _ := count(out); err != nil || n != [3]int{4, 4, 0} || len(notes) != 1 || !strings.Contains(notes[0], "just 4 medium") {
		t.Errorf("without top-up: %v, %q, %v", n, notes, err)
	}
	target, err = ParseTarget("short=0.5,medium=0.3,long=0.2")
	if err != nil {
		t.Fatal(err)
	}
	sel := Selection{Bounds: bounds, Target: target, Count: 20, Seed: 1, TopUp: true, MaxLen: 30}
	out, _, err = Select(e, sel, words{})
	n, synthetic := count(out)
	if err != nil || n != [3]int{10, 6, 4} || synthetic != 6 {
		t.Errorf("with top-up: %v, %d synthetic, %v", n, synthetic, err)
	}
	again, _, _ := Select(e, sel, words{})
	sel.Seed = 2
	other, _, _ := Select(e, sel, words{})
	text := func(list []Entry) string {
		var b strings.Builder
		if err := WriteCustom(&b, list, nil); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if text(out) != text(again) || text(out) == text(other) {
		t.Error("the selection is not a function of the seed")
	}
	for _, bad := range []string{"shrt=1", "short=x", "short=0", "short"} {
		if _, err := ParseTarget(bad); err == nil {
			t.Errorf("target %q is accepted", bad)
		}
	}
	for _, bad := range []string{"", "5", "9,3", "0,3", "a,b"} {
		if _, err := ParseBounds(bad); err == nil {
			t.Errorf("buckets %q are accepted", bad)
		}
	}
}

// TestWrittenFilesAreRead reads back what both writers wrote.
func TestWrittenFilesAreRead(t *testing.T) {
	e := []Entry{
		{Line: 3, Turns: turnsOf("<b>q & \"a\"</b>\n二"), Answer: "an answer", OutputTokens: 9},
		{Line: 5, Turns: append(turnsOf("x"), turnsOf("y")...)},
	}
	e[1].Turns[0].Role = "system"
	for name, f := range map[string]func(*bytes.Buffer) error{
		"sharegpt": func(b *bytes.Buffer) error { return WriteShareGPT(b, e) },
		"custom":   func(b *bytes.Buffer) error { return WriteCustom(b, e, words{}) },
	} {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Fatal(err)
		}
		if name == "sharegpt" && !json.Valid(b.Bytes()) {
			t.Errorf("%s is not JSON: %s", name, b.String())
		}
		got, _, err := Read(write(t, "out", b.String()), Fields{})
		if err != nil || len(got) != 2 || got[0].Prompt() != e[0].Prompt() || got[1].Prompt() != "x\ny" || got[1].Turns[0].Role != map[string]string{"custom": "system", "sharegpt": "user"}[name] {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		if name == "sharegpt" && got[0].Answer != "an answer" || name == "custom" && got[0].OutputTokens != 9 {
			t.Errorf("%s: %+v", name, got[0])
		}
	}
}

func turnsOf(text string) []datasets.Turn { return []datasets.Turn{{Role: "user", Text: text}} }
