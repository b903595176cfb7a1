package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

type conf struct {
	Abbr   string         `yaml:"abbr"`
	Port   int            `yaml:"host_port"`
	Kwargs map[string]any `yaml:"generation_kwargs,omitempty"`
}

func builtin() fstest.MapFS {
	return fstest.MapFS{
		"a/vllm_api_general.yaml":      {Data: []byte("abbr: one\nhost_port: 8080\ngeneration_kwargs:\n  temperature: 0.01\n")},
		"a/vllm_api_general_chat.yaml": {Data: []byte("abbr: two\n")},
		"sim_chat.yaml":                {Data: []byte("abbr: sim\n")},
	}
}

func TestSelect(t *testing.T) {
	r, err := Open[conf]("model", builtin(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		patterns []string
		want     string
	}{
		{[]string{"sim_chat", "vllm_*"}, "sim_chat vllm_api_general vllm_api_general_chat"},
		{[]string{"vllm_api_general", "vllm_api_general"}, "vllm_api_general"},
	} {
		es, err := r.Select(c.patterns...)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range es {
			names = append(names, e.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("Select(%v) = %s, want %s", c.patterns, got, c.want)
		}
	}
	for pattern, want := range map[string]string{
		"vllm_api_genral": `unknown model "vllm_api_genral"; did you mean "vllm_api_general"?`,
		"zzz*":            `no model matches "zzz*"`,
		"[":               `bad model pattern "["`,
	} {
		if _, err := r.Select(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Select(%q) error = %v, want %s", pattern, err, want)
		}
	}
}

func TestSetChangesACopy(t *testing.T) {
	r, err := Open[conf]("model", builtin(), "")
	if err != nil {
		t.Fatal(err)
	}
	e, _ := r.Get("vllm_api_general")
	for field, value := range map[string]string{"host_port": "9000", "generation_kwargs.top_p": "0.9"} {
		if err := e.Set(field, value); err != nil {
			t.Fatal(err)
		}
	}
	if e.Value.Port != 9000 || e.Value.Kwargs["top_p"] != 0.9 || e.Value.Kwargs["temperature"] != 0.01 {
		t.Errorf("after Set: %+v", e.Value)
	}
	for _, stop := range []string{"\\n\\n", "END", "a: b", "- x", "'", "{", "\\u4e2d"} { // each survives the settings after it
		if err := e.Set("generation_kwargs.stop", `["`+stop+`"]`); err != nil {
			t.Fatal(err)
		}
		if err := e.Set("host_port", "9000"); err != nil {
			t.Fatalf("after stop %q: %v", stop, err)
		}
	}
	again, _ := r.Get("vllm_api_general")
	if again.Value.Port != 8080 {
		t.Errorf("Set changed the registry: %+v", again.Value)
	}
	for _, c := range [][3]string{
		{"host_prt", "1", `unknown key "host_prt"; did you mean "host_port"?`},
		{"host_port", "abc", `key host_port: give a whole number, not the text "abc"`},
		{"abbr.x", "1", `"abbr" is not a group of fields`},
	} {
		if err := e.Set(c[0], c[1]); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("Set(%s, %s) error = %v, want %s", c[0], c[1], err, c[2])
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("Set(%s): error has several lines: %q", c[0], err)
		}
	}
}

func TestUserDirectoryOverridesAndIsStrict(t *testing.T) {
	dir := t.TempDir()
	write := func(name, body string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("sim_chat.yaml", "abbr: mine\n")
	r, err := Open[conf]("model", builtin(), dir)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := r.Get("sim_chat")
	if e.Value.Abbr != "mine" || e.Origin != filepath.Join(dir, "sim_chat.yaml") {
		t.Errorf("override: %+v", e)
	}
	write("bad.yaml", "abbr: x\nhost_prot: 1\n")
	_, err = Open[conf]("model", builtin(), dir)
	if err == nil || !strings.Contains(err.Error(), `bad.yaml: line 2: unknown key "host_prot"; did you mean "host_port"?`) {
		t.Errorf("unknown key: %v", err)
	}
	write("bad.yaml", "abbr: [1\n")
	if _, err = Open[conf]("model", builtin(), dir); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("syntax error should be one line: %q", err)
	}
}

func TestDerivedEntries(t *testing.T) {
	r, err := Open[conf]("model", builtin(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Derive("short", "vllm_api_general", nil); err != nil {
		t.Fatal(err)
	}
	if err := r.Derive("other", "vllm_api_general", map[string]any{"abbr": "x", "generation_kwargs": map[string]any{"top_k": 3}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Derive("sim_chat", "vllm_api_general", nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]conf{
		"short":    {Abbr: "one", Port: 8080},
		"other":    {Abbr: "x", Port: 8080},
		"sim_chat": {Abbr: "sim"}, // an entry of its own wins
	} {
		e, err := r.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if e.Name != name || e.Value.Abbr != want.Abbr || e.Value.Port != want.Port {
			t.Errorf("%s: %+v", name, e)
		}
		if e.Value.Kwargs != nil {
			e.Value.Kwargs["temperature"] = 9 // must stay here
		}
	}
	if e, _ := r.Get("vllm_api_general"); e.Value.Kwargs["temperature"] != 0.01 {
		t.Errorf("a derived entry shares its map: %+v", e.Value)
	}
	if got := strings.Join(r.Names(), " "); got != "other short sim_chat vllm_api_general vllm_api_general_chat" {
		t.Errorf("names: %s", got)
	}
	if err := r.Derive("bad", "vllm_api_genral", nil); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("unknown base: %v", err)
	}
	if err := r.Derive("worse", "sim_chat", map[string]any{"abr": 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Get("worse"); err == nil || !strings.Contains(err.Error(), `did you mean "abbr"?`) {
		t.Errorf("unknown field: %v", err)
	}
}
