package tasks

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ais_bench/datasets"
	"ais_bench/models"
)

// textServer keeps the bodies of a service that takes text, and answers "4".
type textServer struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []map[string]any
}

func startText(t *testing.T) *textServer {
	s := &textServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("content-type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/models") {
			io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
			return
		}
		b, _ := io.ReadAll(r.Body)
		var body map[string]any
		if r.Method != http.MethodPost || json.Unmarshal(b, &body) != nil || strings.Contains(string(b), "Hi") {
			io.WriteString(w, `{"text":"x","choices":[{"text":"x","finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
			return
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, body)
		s.mu.Unlock()
		logprobs := ""
		if body["prompt_logprobs"] != nil {
			logprobs = `,"prompt_logprobs":[null,{"1":{"logprob":-1,"rank":1,"decoded_token":"a"}}]`
		}
		io.WriteString(w, `{"text":"4","meta_info":{"prompt_tokens":3,"completion_tokens":1,"finish_reason":{"type":"stop"}},"choices":[{"index":0,"text":"4","finish_reason":"stop"`+logprobs+`}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// prompts are the texts that were asked, one after the other.
func (s *textServer) prompts(key string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, b := range s.bodies {
		text, _ := b[key].(string)
		list = append(list, text)
	}
	s.bodies = nil
	return list
}

// chatMLFolder is a model's folder whose tokenizer adds <s> to any text and whose
// template writes it out too, as Llama's does.
func chatMLFolder(t *testing.T, template string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"tokenizer.json": `{"version":"1.0","added_tokens":[{"id":0,"content":"[UNK]","special":true},{"id":1,"content":"<s>","special":true}],
			"pre_tokenizer":{"type":"Whitespace"},"decoder":{"type":"WordPiece","prefix":"##","cleanup":false},
			"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"<s>":{"id":"<s>","ids":[1],"tokens":["<s>"]}}},
			"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{"[UNK]":0,"<s>":1,"two":2}}}`,
		"tokenizer_config.json": `{"bos_token":"<s>"}`,
	}
	if template != "" {
		files["chat_template.jinja"] = template
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const pipes = `{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</{{ m.role }}>{% endfor %}{% if add_generation_prompt %}<assistant>{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}{% endif %}`

// TestConversationsBecomeText: what a service that takes text is sent for a
// conversation, by what is known of the model's template.
func TestConversationsBecomeText(t *testing.T) {
	chat := datasets.Prompt{Turns: []datasets.Turn{{Role: "system", Text: "Be brief."}, {Role: "user", Text: "two and two? "}}}
	begun := datasets.Prompt{Turns: []datasets.Turn{{Role: "user", Text: "two and two?"}, {Role: "assistant", Text: "It is "}}}
	dir, bare := chatMLFolder(t, pipes), chatMLFolder(t, "")
	file := filepath.Join(t.TempDir(), "own.jinja")
	if err := os.WriteFile(file, []byte(`{% for m in messages %}[{{ m.role }}] {{ m.content }} {% endfor %}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const plain = "Be brief.\ntwo and two? "
	for _, c := range []struct {
		name   string
		set    func(*models.Config)
		prompt datasets.Prompt
		want   string
		note   string // part of the one warning; "" = none
		source string // of the template, in the manifest
	}{
		{"the tokenizer's template, without a second <s>", func(c *models.Config) { c.Path = dir }, chat, "<system>Be brief.</system><user>two and two?</user><assistant>", "", dir},
		{"SGLang's own protocol", func(c *models.Config) { c.Path, c.Type = dir, "sglang_generate" }, chat, "<system>Be brief.</system><user>two and two?</user><assistant>", "", dir},
		{"variables for the template", func(c *models.Config) {
			c.Path, c.GenerationKwargs = dir, map[string]any{"chat_template_kwargs": map[string]any{"enable_thinking": false}}
		}, chat, "<system>Be brief.</system><user>two and two?</user><assistant><think></think>", "", dir},
		{"a file wins", func(c *models.Config) { c.Path, c.ChatTemplate = dir, file }, chat, "[system] Be brief. [user] two and two?  ", "", file},
		{"a file alone", func(c *models.Config) { c.ChatTemplate = file }, chat, "[system] Be brief. [user] two and two?  ", "", file},
		{"a begun answer is gone on with", func(c *models.Config) { c.Path = dir }, begun, "<user>two and two?</user><assistant>It is", "", dir},
		{"skipped", func(c *models.Config) { c.Path, c.SkipChatTemplate = dir, true }, chat, plain, "", ""},
		{"no template", func(c *models.Config) { c.Path = bare }, chat, plain, "has no chat template", ""},
		{"no tokenizer", func(*models.Config) {}, chat, plain, "no tokenizer is given", ""},
		{"a tokenizer that is not there", func(c *models.Config) { c.Path = "nowhere/model" }, chat, plain, "neither a folder nor in the hub cache", ""},
		{"text needs none", func(*models.Config) {}, datasets.Prompt{Text: "two and two?"}, "two and two?", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := startText(t)
			cfg := models.Config{Abbr: "m", Type: "openai_completions", Attr: "service", Model: "m", URL: srv.URL}
			c.set(&cfg)
			set := &datasets.Set{Config: datasets.Config{Abbr: "set", Description: "d"}, Subsets: []string{""}, Samples: []datasets.Sample{{ID: "1", Prompt: c.prompt, ArriveNS: -1}}}
			out, task := runOnce(t, ModelChoice{Name: "m", Config: cfg}, DatasetChoice{Name: "set", Config: set.Config, Set: set}, Options{Mode: ModePerf})
			if task.Err != nil {
				t.Fatal(task.Err)
			}
			key := "prompt"
			if cfg.Type == "sglang_generate" {
				key = "text"
			}
			for _, b := range srv.bodies {
				if b["chat_template_kwargs"] != nil {
					t.Errorf("the template's variables were sent: %v", b)
				}
			}
			if got := srv.prompts(key); len(got) != 1 || got[0] != c.want {
				t.Errorf("sent %q, want %q", got, c.want)
			}
			m := manifestOf(t, out.Run)
			if joined := containing(m.Warnings, "turns are joined with line ends"); joined != min(len(c.note), 1) || containing(m.Warnings, c.note) < joined {
				t.Errorf("warnings %q, want %q", m.Warnings, c.note)
			}
			source := ""
			if e, ok := m.Extra["chat template of m"].(map[string]any); ok {
				source, _ = e["source"].(string)
				if sum, _ := e["sha256"].(string); len(sum) != 64 {
					t.Errorf("no hash of the template: %v", e)
				}
			}
			if c.source == "" && source != "" || !strings.HasPrefix(source, c.source) {
				t.Errorf("the manifest names the template %q, want %q", source, c.source)
			}
		})
	}
}

// Likelihoods are those of the text: a template's tokens would enter the mean.
func TestLikelihoodsAreOfPlainText(t *testing.T) {
	srv := startText(t)
	prompts := []datasets.Prompt{{Turns: []datasets.Turn{{Role: "user", Text: "two and two?"}, {Role: "assistant", Text: "four"}}},
		{Turns: []datasets.Turn{{Role: "user", Text: "two and two?"}, {Role: "assistant", Text: "five"}}}}
	set := &datasets.Set{Config: datasets.Config{Abbr: "set", Description: "d", Mode: datasets.ModePPL}, Subsets: []string{""},
		Samples: []datasets.Sample{{ID: "1", Prompt: prompts[0], Choices: prompts, Labels: []string{"A", "B"}, ArriveNS: -1}}}
	cfg := models.Config{Abbr: "m", Type: "openai_completions", Attr: "service", Model: "m", URL: srv.URL, ChatTemplate: filepath.Join(chatMLFolder(t, pipes), "chat_template.jinja")}
	_, task := runOnce(t, ModelChoice{Name: "m", Config: cfg}, DatasetChoice{Name: "set", Config: set.Config, Set: set}, Options{Mode: ModeInfer})
	if task.Err != nil {
		t.Fatal(task.Err)
	}
	if got := strings.Join(srv.prompts("prompt"), "|"); got != "two and two?\nfour|two and two?\nfive" {
		t.Errorf("sent %q", got)
	}
}

// A template that refuses a conversation is said by its own words, and a run is
// not continued with another template.
func TestTemplateErrorsAndDrift(t *testing.T) {
	srv := startText(t)
	set := &datasets.Set{Config: datasets.Config{Abbr: "set", Description: "d"}, Subsets: []string{""},
		Samples: []datasets.Sample{{ID: "1", Prompt: datasets.Prompt{Turns: []datasets.Turn{{Role: "user", Text: "x"}}}, ArriveNS: -1}}}
	dataset := DatasetChoice{Name: "set", Config: set.Config, Set: set}
	cfg := models.Config{Abbr: "m", Type: "openai_completions", Attr: "service", Model: "m", URL: srv.URL, Path: chatMLFolder(t, `{% if messages[0].content == 'x' %}{{ raise_exception('roles must alternate') }}{% endif %}`)}
	_, task := runOnce(t, ModelChoice{Name: "m", Config: cfg}, dataset, Options{Mode: ModePerf})
	if task.Inference == nil || task.Inference.Failed != 1 {
		t.Fatalf("%+v, %v", task.Inference, task.Err)
	}
	for reason := range task.Inference.Reasons {
		if !strings.Contains(reason, "roles must alternate") {
			t.Errorf("the template's words are lost: %s", reason)
		}
	}
	cfg.ChatTemplate = filepath.Join(t.TempDir(), "none.jinja")
	if _, task := runOnce(t, ModelChoice{Name: "m", Config: cfg}, dataset, Options{Mode: ModePerf}); task.Err == nil || !strings.Contains(task.Err.Error(), "none.jinja") {
		t.Errorf("a template that is not there: %v", task.Err)
	}

	dir := t.TempDir()
	cfg.ChatTemplate, cfg.Path = "", chatMLFolder(t, pipes)
	if _, task := runOnce(t, ModelChoice{Name: "m", Config: cfg}, dataset, Options{Mode: ModeInfer, WorkDir: dir}); task.Err != nil {
		t.Fatal(task.Err)
	}
	cfg.SkipChatTemplate = true
	_, task = runOnce(t, ModelChoice{Name: "m", Config: cfg}, dataset, Options{Mode: ModeInfer, WorkDir: dir, Reuse: "latest"})
	if task.Err == nil || !strings.Contains(task.Err.Error(), "the chat template has changed") {
		t.Errorf("answers of two templates were mixed: %v", task.Err)
	}
}
