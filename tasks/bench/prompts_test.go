package bench

import (
	"encoding/json"
	"strings"
	"testing"
)

// promptsOf are the prompts that arrived at a completions endpoint, ids as JSON.
func promptsOf(t *testing.T, rec *recorder) []string {
	t.Helper()
	var list []string
	for _, line := range rec.sent() {
		_, text, _ := strings.Cut(line, " ")
		var body struct{ Prompt json.RawMessage }
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		list = append(list, string(body.Prompt))
	}
	return list
}

// TestPromptForms: ShareGPT's prompts are sent as they are unless asked otherwise,
// custom ones rendered; a suffix comes before the template, ids in place of all.
func TestPromptForms(t *testing.T) {
	share := writeFile(t, "s.json", `[{"conversations":[{"from":"human","value":"bread bee iron book"},{"from":"gpt","value":"fish rice soup bean"}]}]`)
	custom := writeFile(t, "c.jsonl", `{"prompt":"bread bee","tools":[{"type":"function"}],"tool_choice":"auto"}`)
	template := writeFile(t, "t.jinja", `<{{ messages[0].content }}>`)
	for _, c := range []struct {
		name, dataset, path string
		set                 func(*Options)
		want                string
	}{
		{"sharegpt", "sharegpt", share, func(*Options) {}, `"bread bee iron book"`},
		{"sharegpt rendered", "sharegpt", share, func(o *Options) { o.Workload.ApplyChatTemplate = true }, `"<bread bee iron book>"`},
		{"suffix", "sharegpt", share, func(o *Options) { o.Workload.PromptSuffix = " soup" }, `"bread bee iron book soup"`},
		{"custom", "custom", custom, func(*Options) {}, `"<bread bee>"`},
		{"custom with suffix", "custom", custom, func(o *Options) { o.Workload.PromptSuffix = " soup" }, `"<bread bee soup>"`},
		{"custom as it is", "custom", custom, func(o *Options) { o.SkipChatTemplate = true }, `"bread bee"`},
		{"ids", "sharegpt", share, func(o *Options) { o.TokenizePrompt = true }, `[7,35,37,21]`},
	} {
		rec := record(t, nil)
		o := options(t, rec, c.dataset)
		o.Workload.DatasetPath, o.Workload.NumPrompts, o.ChatTemplate = c.path, 1, template
		c.set(&o)
		s, _ := run(t, o)
		if got := promptsOf(t, rec); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: sent %q, want %s", c.name, got, c.want)
		}
		if c.dataset == "custom" && !strings.Contains(rec.sent()[0], `"tool_choice":"auto","tools":[{"type":"function"}]`) {
			t.Errorf("%s: the row's tools are not in %s", c.name, rec.sent()[0])
		}
		if c.name == "ids" && s.Set.Samples[0].Fields["input_len"] != 4 {
			t.Errorf("ids: %v tokens", s.Set.Samples[0].Fields["input_len"])
		}
	}
}

// TestAlign: a server that counts otherwise cuts the prompts whose length is the
// workload; those of files are not touched.
func TestAlign(t *testing.T) {
	rec := record(t, nil)
	rec.letters = true
	o := options(t, rec, "random")
	s, _ := run(t, o)
	for _, prompt := range promptsOf(t, rec) {
		if n := len(prompt) - 2; n != 12 { // the quotes
			t.Errorf("prompt %s has %d letters, want 12", prompt, n)
		}
	}
	if notes := strings.Join(s.Notes, "\n"); !strings.Contains(notes, "5 of 5 prompts were cut to length by the server's tokenizer") {
		t.Errorf("notes %q", notes)
	}
	rec = record(t, nil)
	rec.letters = true
	o = options(t, rec, "custom")
	o.Workload.DatasetPath, o.Workload.NumPrompts = writeFile(t, "c.jsonl", `{"prompt":"bread bee"}`), 1
	if run(t, o); promptsOf(t, rec)[0] != `"bread bee"` {
		t.Errorf("a prompt of a file was cut: %s", promptsOf(t, rec))
	}
}
