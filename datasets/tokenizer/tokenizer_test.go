package tokenizer

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

type want struct {
	Text    string `json:"text"`
	IDs     []int  `json:"ids"`
	IDsSp   []int  `json:"ids_sp"`
	Dec     string `json:"dec"`
	DecSkip string `json:"dec_skip"`
}

func readWants(t *testing.T, path string) []want {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []want
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var w want
		if err := json.Unmarshal(sc.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		list = append(list, w)
	}
	return list
}

// TestFixtures holds small tokenizers of every kind to what the reference
// library (tokenizers 0.23.2) gave for them. Here both decodes are of the ids with
// special tokens.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/*.want.jsonl")
	if err != nil || len(files) < 20 {
		t.Fatalf("fixtures are missing: %d found, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".want.jsonl")
		t.Run(name, func(t *testing.T) {
			tok, err := Load("testdata/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range readWants(t, file) {
				if got := tok.Encode(w.Text, false); !slices.Equal(got, w.IDs) {
					t.Errorf("%q\n ids  %v\n want %v", w.Text, got, w.IDs)
				}
				if got := tok.Encode(w.Text, true); !slices.Equal(got, w.IDsSp) {
					t.Errorf("%q\n ids  %v with special tokens\n want %v", w.Text, got, w.IDsSp)
				}
				if got := tok.Count(w.Text); got != len(w.IDs) {
					t.Errorf("%q counts %d, want %d", w.Text, got, len(w.IDs))
				}
				if got := tok.Decode(w.IDsSp, false); got != w.Dec {
					t.Errorf("%q decodes to %q, want %q", w.Text, got, w.Dec)
				}
				if got := tok.Decode(w.IDsSp, true); got != w.DecSkip {
					t.Errorf("%q decodes without special tokens to %q, want %q", w.Text, got, w.DecSkip)
				}
			}
		})
	}
}

// TestConcurrentUse runs one tokenizer from many goroutines; -race watches.
func TestConcurrentUse(t *testing.T) {
	tok, err := Load("testdata/bytelevel_bpe.json")
	if err != nil {
		t.Fatal(err)
	}
	wants := readWants(t, "testdata/bytelevel_bpe.want.jsonl")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, w := range wants {
				if got := tok.Encode(w.Text, true); !slices.Equal(got, w.IDsSp) {
					t.Errorf("%q: %v, want %v", w.Text, got, w.IDsSp)
				}
			}
		})
	}
	wg.Wait()
}

// TestLongPieceSameAsShort compares the heap with the plain scan on pieces just
// around the length where one takes over from the other.
func TestLongPieceSameAsShort(t *testing.T) {
	tok, err := Load("testdata/bytelevel_bpe.json")
	if err != nil {
		t.Fatal(err)
	}
	m := tok.model.(*bpe)
	for n := 2; n <= shortPiece; n++ {
		piece := strings.Repeat("theatonhe", n/9+1)[:n]
		var a, b scratch
		short := m.merge(piece, &a, nil)
		b.merge.ids = m.symbols(piece, nil)
		if long := m.mergeLong(&b.merge, nil); !slices.Equal(short, long) {
			t.Errorf("%q: scan %v, heap %v", piece, short, long)
		}
	}
}

func TestLossy(t *testing.T) {
	for in, want := range map[string]string{
		"plain ünï":            "plain ünï",
		"\xff":                 "\uFFFD",
		"a\xe4\xbdb":           "a\uFFFDb",                 // two bytes of three: one replacement
		"\xe4\xbd":             "\uFFFD",                   // the same at the end
		"\xf0\x9f\x98":         "\uFFFD",                   // three of four
		"\xf0\x9f\x98\xf0\x9f": "\uFFFD\uFFFD",             //
		"\xed\xa0\x80":         "\uFFFD\uFFFD\uFFFD",       // a surrogate is not a beginning
		"\xc0\x80":             "\uFFFD\uFFFD",             // overlong
		"\xf4\x90\x80\x80":     "\uFFFD\uFFFD\uFFFD\uFFFD", // above U+10FFFF
	} {
		if got := lossy(in); got != want {
			t.Errorf("lossy(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestScannersMatchPatterns compares every hand-written scanner with its pattern
// on the expression engine.
func TestScannersMatchPatterns(t *testing.T) {
	texts := []string{"", "I'll we'RE 'S 'ſ x's don't", "Hello, world!\r\n\r\n  indented\ttabs  ", "  \n x", "1234567 ٣٤ ⅷ²", "日本語テキスト，漢字。ひらがな",
		"camelCaseHTTPServer URLs ABCdef ÀÉî ǅungla", "e\u0301e\u0301 \u0301x \u0301ABC \u0301\u0301", "a/b//c/\n/ http://x.y?z=1&w=[2]", "\u00a0nbsp\u3000x\u2003 \u2028",
		"\x00\x01\x7f\u0085 ctl", "😀👨\u200d👩 ©™€", "    \n\n   ", "x\n\n\n", "--- *** $$$ ```go\nfunc f() {}\n```", "한국어 조합 ᄒ", "ʰa ªb ºc ǅA aǅ", "𝐀𝐁𝐜 𐐀𐐨 𝟏𝟐𝟑𝟒", " 's 'd'm", "\r\r\n\n \r",
		"!abc ?DEF _x 。abc ￥x +a=b", "مرحبا بالعالم ١٢٣", "Ω≈ç√∫ x̄ȳ"}
	for expr, m := range scanners {
		e, err := newEngine(expr)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			var want, got []string
			e.all(text, func(a, b int) { want = append(want, text[a:b]) })
			for from := 0; from < len(text); {
				a, b := m.next(text, from)
				if a < 0 {
					break
				}
				got = append(got, text[a:b])
				from = b
			}
			if !slices.Equal(got, want) {
				t.Errorf("pattern %.40q… on %q:\n got  %q\n want %q", expr, text, got, want)
			}
		}
	}
}

func TestTiktokenFile(t *testing.T) {
	// bytes, then "he", "ll", "hell", "hello", " hello"
	var b strings.Builder
	for i := range 256 {
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString([]byte{byte(i)}), i)
	}
	for i, s := range []string{"he", "ll", "hell", "hello", " hello"} {
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(s)), 256+i)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cl100k_base.tiktoken"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	tok, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	// 51000 tokens and fewer are the GPT-2 family: <|endoftext|> is 50256
	ids := tok.Encode("hello hello!<|endoftext|>é", true)
	if want := []int{259, 260, '!', 50256, 0xC3, 0xA9}; !slices.Equal(ids, want) {
		t.Errorf("ids %v, want %v", ids, want)
	}
	if got := tok.Decode(ids, true); got != "hello hello!é" {
		t.Errorf("decoded %q", got)
	}
}

func TestConfigFile(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile("testdata/bytelevel_bpe.json")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("tokenizer.json", string(data))
	write("tokenizer_config.json", `{"tokenizer_class":"X","bos_token":{"content":"<|user|>"},"eos_token":"<|end|>","pad_token":null,
		"model_max_length":1000000000000000019884624838656,"chat_template":[{"name":"default","template":"D"},{"name":"tool_use","template":"T"}],
		"added_tokens_decoder":{"9000":{"content":"<late>","special":true}}}`)
	tok, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := tok.Config()
	if c.Class != "X" || c.BOS != "<|user|>" || c.EOS != "<|end|>" || c.PAD != "" || c.ModelMaxLength != 0 || c.ChatTemplate != "D" || c.ChatTemplates["tool_use"] != "T" {
		t.Errorf("config %+v", c)
	}
	if id, ok := tok.ID("<late>"); !ok || id != 9000 || tok.VocabSize() != 9001 {
		t.Errorf("<late> = %d %v, vocabulary %d", id, ok, tok.VocabSize())
	}
	if got := tok.Encode("the<late>", false); got[len(got)-1] != 9000 {
		t.Errorf("ids %v do not end with 9000", got)
	}
	if tok.AddedByDefault() != 2 {
		t.Errorf("AddedByDefault = %d, want 2", tok.AddedByDefault())
	}
	write("chat_template.jinja", "J")
	if tok, err = Load(dir); err != nil || tok.Config().ChatTemplate != "J" {
		t.Errorf("chat_template.jinja is not taken: %v", err)
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct{ name, content, want string }{
		{"a.json", `{"x":1}`, `it has no "model"`},
		{"b.json", `{"model":{"type":"BPE"}}`, "model has no vocab"},
		{"c.json", `{"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}}`, `merges[0]: "b" is not in the vocabulary`},
		{"d.json", `{"model":{"type":"BPE","vocab":{"a":0},"merges":["ab"]}}`, `merges[0]: "ab" is not two tokens`},
		{"e.json", `{"model":{"type":"Magic","vocab":{}}}`, `model type "Magic" is not known`},
		{"f.json", `{"model":{"type":"WordPiece","vocab":{"a":0}}}`, `no unknown token "[UNK]"`},
		{"g.json", `{"model":{"type":"WordLevel","vocab":{"a":-4}}}`, "id -4"},
		{"h.json", `{"model":{"type":"WordLevel","vocab":{"a":99999999999}}}`, "id 99999999999"},
		{"i.json", `{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"},"model":{"type":"WordLevel","vocab":{}}}`, `pattern "("`},
		{"j.json", `{"normalizer":{"type":"Precompiled","precompiled_charsmap":"!!"},"model":{"type":"WordLevel","vocab":{}}}`, "Precompiled"},
		{"k.json", `{"model":{"type":"Unigram","unk_id":7,"vocab":[["a",-1.0]]}}`, "unk_id 7 is beyond"},
		{"n.json", `{"model":{"type":"BPE","vocab":{"a":0,"b":1}}}`, "no merges"},
		{"o.json", `{"model":{"type":"BPE","vocab":{"a":0,"b":1,"c":1},"merges":[]}}`, `"b" and "c" have the same id 1`},
		{"l.tiktoken", "IQ== 0\n???\n", "line 2"},
		{"m.tiktoken", "", "empty"},
	} {
		_, err := Load(write(c.name, c.content))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	if _, err := Load(filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "give the folder of the model") {
		t.Errorf("a path that does not exist: %v", err)
	}
	empty := t.TempDir()
	if _, err := Load(empty); err == nil || !strings.Contains(err.Error(), "neither tokenizer.json") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(empty, "tokenizer.model"), []byte{0x0a, 0x0e, 0x0a, 0x05}, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(empty); err == nil || !strings.Contains(err.Error(), "SentencePiece") {
		t.Errorf("a SentencePiece model: %v", err)
	}
}

// TestUnigramCharsmap feeds a double array that maps "A" to "a".
func TestUnigramCharsmap(t *testing.T) {
	units := make([]uint32, 512)
	units[0] = 256 << 10                // root: children at 256 ^ byte
	units[256^'A'] = 'A' | 1<<8 | 1<<10 // a leaf follows at the node ^ 1
	units[256^'A'^1] = 1 << 31
	raw := make([]byte, 4+4*len(units))
	put := func(at int, v uint32) {
		for k := range 4 {
			raw[at+k] = byte(v >> (8 * k))
		}
	}
	put(0, uint32(4*len(units)))
	for i, u := range units {
		put(4+4*i, u)
	}
	raw = append(raw, "a\x00"...)
	n, err := parseCharsmap(base64.StdEncoding.EncodeToString(raw))
	if err != nil {
		t.Fatal(err)
	}
	if got := n("BAnA ÄA"); got != "Bana Äa" {
		t.Errorf("normalized %q", got)
	}
}
