package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestUnescape(t *testing.T) {
	tests := []struct{ raw, want string }{
		{`plain`, "plain"},
		{`a\"b\\c\/d\b\f\n\r\t`, "a\"b\\c/d\b\f\n\r\t"},
		{`\u00e4\u4F60`, "ä你"},
		{`\ud83d\ude42`, "🙂"},
		{`\ud83d`, "\uFFFD"},
		{`\ud83d\u0041`, "\uFFFDA"},
		{`\ude42x`, "\uFFFDx"},
		{`\ud83d\`, "\uFFFD\\"},
		{`\q\u12`, `\q\u12`},
		{"raw\nline", "raw\nline"},
		{"bad \xff\xfe byte", "bad \uFFFD\uFFFD byte"},
		{``, ""},
	}
	for _, tc := range tests {
		if got := Unescape([]byte(tc.raw)); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.raw, got, tc.want)
		}
	}
}

func TestLexerSkipsWhole(t *testing.T) {
	for _, doc := range []string{`1`, `-1.5e+3`, `"a\"]}"`, `{"a":[1,{"b":"}"}],"c":null}`, `[]`, `{}`, `true`, `false`, `null`, `[[[["]"]]]]`, ` [ 1 , 2 ] `} {
		l := NewLexer([]byte(doc))
		if raw := l.Skip(); string(raw) != strings.TrimSpace(doc) || !l.End() || l.Err() != nil {
			t.Errorf("%s: skipped %q, error %v", doc, raw, l.Err())
		}
	}
	for _, doc := range []string{``, `{`, `"a`, `"a\`, `"a\"`, `[1,2`, `tru`, `nul`, `hello`, `{"a":1`, `:`, `,`, `}`} {
		l := NewLexer([]byte(doc))
		l.Skip()
		if l.End() && l.Err() == nil {
			t.Errorf("%s is accepted", doc)
		}
	}
}

func TestLexerCommas(t *testing.T) {
	walk := func(doc string) (n int, err error) {
		l := NewLexer([]byte(doc))
		if l.Object() {
			for {
				if _, ok := l.Key(); !ok {
					break
				}
				n++
				if l.Array() {
					for l.Elem() {
						n++
						l.Skip()
					}
					continue
				}
				l.Skip()
			}
		}
		l.End()
		return n, l.Err()
	}
	if n, err := walk(`{"a":[1,2,[]],"b":[],"c":{}}`); n != 6 || err != nil {
		t.Errorf("%d values, %v", n, err)
	}
	for _, doc := range []string{`{"a":1,}`, `{"a":1 "b":2}`, `{,}`, `{"a"}`, `{"a":}`, `{"a":[1 2]}`, `{"a":[,]}`, `{"a":1}}`, `{1:2}`} {
		if _, err := walk(doc); err == nil {
			t.Errorf("%s is accepted", doc)
		}
	}
}

func TestNumbers(t *testing.T) {
	for doc, want := range map[string]int64{`0`: 0, `-7`: -7, `12.9`: -1, `3e2`: 300, `1e300`: -1, `10.0`: 10, `-2.5e1`: -25, `5 `: 5} {
		l := NewLexer([]byte(doc))
		if n, ok := l.Int(); !ok || n != want || !l.End() {
			t.Errorf("%s: %d, %v", doc, n, ok)
		}
	}
	for _, doc := range []string{`"1"`, `null`, `-`, `1x`} {
		l := NewLexer([]byte(doc))
		if n, ok := l.Int(); ok {
			t.Errorf("%s: %d", doc, n)
		}
	}
	count := int32(5)
	for _, doc := range []string{`-1`, `99999999999`, `null`, `"3"`} {
		l := NewLexer([]byte(doc))
		if v := l.Count(&count, Usage); v != 0 || count != 5 || !l.End() {
			t.Errorf("%s counts as %d", doc, count)
		}
	}
}

func TestErrorMessage(t *testing.T) {
	for raw, want := range map[string]string{
		`"x"`: "x", `{"message":"m","code":1}`: "m", `{"code":1,"detail":"d"}`: "d", `{"msg":"a","message":"b"}`: "b", `{"code":1}`: `{"code":1}`, `5`: "5",
	} {
		if got := ErrorMessage([]byte(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

// FuzzStrings: escaping and unescaping are inverse, and agree with the standard library.
func FuzzStrings(f *testing.F) {
	f.Add("plain")
	f.Add("a\"\\\n\x00ä🙂\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(quoted, &want); err != nil {
			t.Fatal(err)
		}
		if got := Unescape(quoted[1 : len(quoted)-1]); got != want {
			t.Fatalf("unescaped %q, want %q", got, want)
		}
		own := append(AppendEscaped([]byte{'"'}, []byte(want)), '"')
		var back string
		if err := json.Unmarshal(own, &back); err != nil || back != want {
			t.Fatalf("escaped %q comes back as %q: %v", own, back, err)
		}
		l := NewLexer(own)
		if raw, ok := l.Text(); !ok || Unescape(raw) != want || !l.End() {
			t.Fatalf("the lexer reads %q from %q", raw, own)
		}
	})
}
