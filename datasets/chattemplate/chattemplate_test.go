package chattemplate

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const chatML = "{%- for m in messages %}\r\n{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>' + '\\n' }}\r\n{%- endfor %}\r\n{%- if add_generation_prompt %}\r\n{{- '<|im_start|>assistant\\n' }}\r\n{%- endif %}\n"

func TestRender(t *testing.T) {
	user := json.RawMessage(`[{"role":"user","content":"hi"}]`)
	for _, c := range []struct {
		name, source string
		in           Input
		want         string
	}{
		{"chatml with CRLF and a final line break", chatML, Input{Messages: user, AddGenerationPrompt: true},
			"<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"},
		{"no generation prompt", chatML, Input{Messages: user}, "<|im_start|>user\nhi<|im_end|>\n"},
		{"special tokens", "{{ bos_token }}{{ messages[0]['content'] }}{{ eos_token }}", Input{Messages: user}, "<s>hi</s>"},
		{"a token the tokenizer lacks is undefined", "{{ 'yes' if pad_token is defined else 'no' }}", Input{Messages: user}, "no"},
		{"keys keep their order", "{{ tools[0] | tojson }}", Input{Messages: user, Tools: json.RawMessage(`[{"zeta":1,"alpha":{"y":true,"b":null}}]`)},
			`{"zeta": 1, "alpha": {"y": true, "b": null}}`},
		{"no tools is none", "{% if tools %}T{% else %}-{% endif %}", Input{Messages: user}, "-"},
		{"kwargs", "{% if enable_thinking is defined and enable_thinking is false %}off{% endif %}", Input{Messages: user, Kwargs: json.RawMessage(`{"enable_thinking":false}`)}, "off"},
		{"content parts", "{% for p in messages[0].content %}{{ p.text }}{% endfor %}", Input{Messages: json.RawMessage(`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`)}, "ab"},
		{"namespace and loop controls", "{% set ns = namespace(n=0) %}{% for i in range(5) %}{% if i == 3 %}{% break %}{% endif %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}", Input{Messages: user}, "3"},
	} {
		tpl, err := New(c.source, Tokens{BOS: "<s>", EOS: "</s>"})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, err := tpl.Render(c.in); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	if _, err := New(" \n", Tokens{}); !errors.Is(err, ErrNoTemplate) {
		t.Errorf("an empty template: %v", err)
	}
	if _, err := New("{% for %}", Tokens{}); err == nil {
		t.Error("a broken template compiles")
	}
	tpl, err := New("{{ raise_exception('roles must alternate') }}", Tokens{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tpl.Chat([]Message{{"user", "x"}}); err == nil || !strings.Contains(err.Error(), "roles must alternate") {
		t.Errorf("a template's own error is lost: %v", err)
	}
	if _, err := tpl.Render(Input{Messages: json.RawMessage(`[{"role":`)}); err == nil || !strings.Contains(err.Error(), "messages") {
		t.Errorf("broken messages: %v", err)
	}
	if _, err := tpl.Render(Input{Kwargs: json.RawMessage(`[1]`)}); err == nil || !strings.Contains(err.Error(), "chat_template_kwargs") {
		t.Errorf("kwargs that are no object: %v", err)
	}
}

// A conversation that ends with the assistant's turn is left open behind its text.
func TestBegunAnswer(t *testing.T) {
	const trims = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</{{ m.role }}>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
	const keeps = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
	for _, c := range []struct{ source, begun, want string }{
		{chatML, "It is ", "<|im_start|>user\nIt is?<|im_end|>\n<|im_start|>assistant\nIt is "},
		{trims, " It is ", "<user>It is?</user><assistant>It is"},
		{keeps, " It is ", "<user>It is?</user><assistant> It is "},
		{trims, "  ", "<user>It is?</user><assistant></assistant><assistant>"},
	} {
		tpl, err := New(c.source, Tokens{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tpl.Chat([]Message{{"user", "It is?"}, {"assistant", c.begun}}); err != nil || got != c.want {
			t.Errorf("%q: %q, %v; want %q", c.begun, got, err, c.want)
		}
	}
	tpl, err := New("{{ messages[0].content }}", Tokens{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tpl.Chat([]Message{{"user", "x"}, {"assistant", "begun"}}); err == nil {
		t.Errorf("a template without the assistant's text gave %q", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	tpl, err := New(chatML, Tokens{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if got, err := tpl.Chat([]Message{{"user", "x"}}); err != nil || got != "<|im_start|>user\nx<|im_end|>\n<|im_start|>assistant\n" {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestRealTemplates renders what the models of $AIS_BENCH_TOKENIZERS bring along:
// each must take a conversation and put the question after the answer before it.
func TestRealTemplates(t *testing.T) {
	dir := os.Getenv("AIS_BENCH_TOKENIZERS")
	if dir == "" {
		t.Skip("set AIS_BENCH_TOKENIZERS to a folder with <model>/tokenizer_config.json")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "tokenizer_config.json"))
	rendered := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cfg struct {
			ChatTemplate string `json:"chat_template"`
		}
		if json.Unmarshal(data, &cfg) != nil || cfg.ChatTemplate == "" {
			continue
		}
		tpl, err := New(cfg.ChatTemplate, Tokens{BOS: "<bos>", EOS: "<eos>"})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		got, err := tpl.Chat([]Message{{"user", "first"}, {"assistant", "reply"}, {"user", "second"}})
		if err != nil || !(strings.Index(got, "first") < strings.Index(got, "reply") && strings.Index(got, "reply") < strings.Index(got, "second")) || !strings.Contains(got, "first") {
			t.Errorf("%s: %q, %v", file, got, err)
		}
		rendered++
	}
	if rendered == 0 {
		t.Error("no template was rendered")
	}
}
