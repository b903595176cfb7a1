package openai

import (
	"encoding/json"
	"math"
	"testing"

	"ais_bench/models/wire"
)

var negInf = math.Inf(-1)

const usual = `{"id":"chatcmpl-1f2e3d4c5b6a79880102030405060708","object":"chat.completion.chunk","created":1790000000,"model":"Qwen/Qwen3-32B","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`

func TestScan(t *testing.T) {
	type out struct {
		text, reasoning, refusal, finish, tools, failure string
		in, out, think, cached                           int32
	}
	none := out{in: -1, out: -1, think: -1, cached: -1}
	with := func(f func(*out)) out { o := none; f(&o); return o }
	P, C, T, U, F, H, E, M := wire.Payload, wire.Content, wire.Tokens, wire.Usage, wire.Finish, wire.Choices, wire.Failure, wire.Malformed
	tests := []struct {
		name   string
		events []string
		last   wire.Verdict // of the last event
		want   out
	}{
		{"usual", []string{usual}, P | C | H, with(func(o *out) { o.text = " token" })},
		{"role only", []string{`{"choices":[{"index":0,"delta":{"role":"assistant"}}]}`}, H, none},
		{"role and empty content", []string{`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`}, H, none},
		{"content null", []string{`{"choices":[{"delta":{"content":null,"tool_calls":null,"refusal":null}}]}`}, H, none},
		{"empty tool list", []string{`{"choices":[{"delta":{"content":null,"tool_calls":[]}}]}`}, H, none},
		{"pretty printed", []string{"{\n  \"choices\" : [ {\n \"delta\" : { \"content\" : \"a\" } ,\r\n\t\"index\" : 0 } ]\n}"}, P | C | H, with(func(o *out) { o.text = "a" })},
		{"escaped keys", []string{`{"\u0063hoices":[{"d\u0065lta":{"\u0063ontent":"a"}}]}`}, P | C | H, with(func(o *out) { o.text = "a" })},
		{"order of keys", []string{`{"choices":[{"finish_reason":"stop","delta":{"content":"a"},"index":0}],"id":"x"}`}, P | C | F | H, with(func(o *out) { o.text, o.finish = "a", "stop" })},
		{"no choices", []string{`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}`}, U | T, with(func(o *out) { o.in, o.out = 3, 5 })},
		{"usage null", []string{`{"choices":[{"delta":{"content":"a"}}],"usage":null}`}, P | C | H, with(func(o *out) { o.text = "a" })},
		{"last usage wins", []string{
			`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`,
			`{"choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":3,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":1},"prompt_tokens_details":{"cached_tokens":2}}}`,
		}, P | C | T | U | H, with(func(o *out) { o.text, o.in, o.out, o.think, o.cached = "ab", 3, 2, 1, 2 })},
		{"usage within a choice", []string{`{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":1,"cached_tokens":1}}]}`},
			H | F | U | T, with(func(o *out) { o.finish, o.in, o.out, o.cached = "stop", 3, 1, 1 })},
		{"details null", []string{`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5,"prompt_tokens_details":null}}`}, U | T, with(func(o *out) { o.in, o.out = 3, 5 })},
		{"reasoning_content", []string{`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`}, P | H, with(func(o *out) { o.reasoning = "hm" })},
		{"reasoning", []string{`{"choices":[{"delta":{"reasoning":"hm","content":null}}]}`}, P | H, with(func(o *out) { o.reasoning = "hm" })},
		{"reasoning under both names", []string{`{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}`}, P | H, with(func(o *out) { o.reasoning = "hm" })},
		{"refusal", []string{`{"choices":[{"delta":{"refusal":"no"}}]}`}, P | C | H, with(func(o *out) { o.refusal = "no" })},
		{"content parts", []string{`{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`}, P | C | H, with(func(o *out) { o.text = "ab" })},
		{"thinking parts", []string{`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}`}, P | H, with(func(o *out) { o.reasoning = "hm" })},
		{"completions", []string{`{"object":"text_completion","choices":[{"index":0,"text":" foo","logprobs":null,"finish_reason":null,"stop_reason":null}]}`}, P | C | H, with(func(o *out) { o.text = " foo" })},
		{"several choices", []string{`{"choices":[{"text":"b","index":1},{"index":0,"text":"a"}]}`}, P | C | H, with(func(o *out) { o.text = "a" })},
		{"surrogates split over events", []string{`{"choices":[{"delta":{"content":"\ud83d"}}]}`, `{"choices":[{"delta":{"content":"\ude42!"}}]}`}, P | C | H, with(func(o *out) { o.text = "🙂!" })},
		{"bytes split over events", []string{"{\"choices\":[{\"delta\":{\"content\":\"\xe4\xbd\"}}]}", "{\"choices\":[{\"delta\":{\"content\":\"\xa0\"}}]}"}, P | C | H, with(func(o *out) { o.text = "你" })},
		{"escapes", []string{`{"choices":[{"delta":{"content":"a\"\\\n\t\u00e4\/"}}]}`}, P | C | H, with(func(o *out) { o.text = "a\"\\\n\tä/" })},
		{"tool call", []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"add","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c2","function":{"name":"sub","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}`,
		}, P | H, with(func(o *out) {
			o.tools = `[{"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\":1}"}},{"id":"c2","type":"function","function":{"name":"sub","arguments":"{}"}}]`
		})},
		{"tool call name is no payload", []string{`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"add","arguments":""}}]}}]}`}, H,
			with(func(o *out) {
				o.tools = `[{"id":"c","type":"function","function":{"name":"add","arguments":""}}]`
			})},
		{"tool call without an index", []string{
			`{"choices":[{"delta":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"d","function":{"name":"g","arguments":{"x":"y"}}}]}}]}`,
		}, P | H, with(func(o *out) {
			o.tools = `[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"d","type":"function","function":{"name":"g","arguments":"{\"x\":\"y\"}"}}]`
		})},
		{"function_call", []string{`{"choices":[{"delta":{"function_call":{"name":"f","arguments":"{}"}}}]}`}, P | H, with(func(o *out) {
			o.tools = `[{"id":"","type":"function","function":{"name":"f","arguments":"{}"}}]`
		})},
		{"error object", []string{`{"error":{"message":"out of memory","code":500}}`}, E, with(func(o *out) { o.failure = "out of memory" })},
		{"error text", []string{`{"error":"out of memory"}`}, E, with(func(o *out) { o.failure = "out of memory" })},
		{"error null", []string{`{"error":null,"choices":[{"delta":{"content":"a"}}]}`}, P | C | H, with(func(o *out) { o.text = "a" })},
		{"older error", []string{`{"object":"error","message":"bad","type":"BadRequestError","code":400}`}, E, with(func(o *out) { o.failure = "bad" })},
		{"cut", []string{`{"choices":[{"delta":{"content":"a`}, M, none},
		{"cut after the text", []string{`{"choices":[{"delta":{"content":"a"}`}, M, none},
		{"not JSON", []string{`hello`}, M, none},
		{"two documents", []string{`{"id":1} {"id":2}`}, M, none},
		{"choices of another shape", []string{`{"choices":{"a":[1]},"x":1}`}, 0, none},
		{"NaN", []string{`{"choices":[{"logprobs":{"a":[NaN,-Infinity]},"delta":{"content":"a"}}]}`}, P | C | H, with(func(o *out) { o.text = "a" })},
	}
	for _, tc := range tests {
		a := wire.NewAnswer()
		var v wire.Verdict
		for _, e := range tc.events {
			v = Scan([]byte(e), a)
		}
		v &^= wire.Output // TestOutput
		if v&M != 0 {
			v &= M | E
		}
		if v != tc.last {
			t.Errorf("%s: verdict %b, want %b", tc.name, v, tc.last)
		}
		got := out{wire.Unescape(a.Content), wire.Unescape(a.Reasoning), wire.Unescape(a.Refusal), a.FinishReason, a.ToolJSON(), a.Failure,
			a.InputTokens, a.OutputTokens, a.ReasoningTokens, a.CachedTokens}
		if tc.last&M == 0 && got != tc.want {
			t.Errorf("%s:\n got %+v\nwant %+v", tc.name, got, tc.want)
		}
		if got.tools != "" && !json.Valid([]byte(got.tools)) {
			t.Errorf("%s: tool calls are no JSON: %s", tc.name, got.tools)
		}
	}
}

// What vLLM 0.33's client takes for output of a chat, right or wrong.
func TestOutput(t *testing.T) {
	for delta, want := range map[string]bool{
		`{"role":"assistant","content":""}`:           false,
		`{"content":"","role":"assistant"}`:           false,
		`{"role":"assistant","content":"a"}`:          true,
		`{"content":"a"}`:                             true,
		`{"content":""}`:                              true, // a token without a text
		`{"content":null}`:                            false,
		`{}`:                                          false,
		`{"reasoning":"hm"}`:                          true,
		`{"reasoning":""}`:                            false,
		`{"reasoning_content":"hm"}`:                  false,
		`{"reasoning_content":"hm","content":null}`:   false,
		`{"reasoning_content":"hm","content":""}`:     true,
		`{"reasoning_content":"hm","reasoning":"hm"}`: true,
		`{"refusal":"no"}`:                            false,
		`{"tool_calls":[{"index":0,"function":{"name":"add","arguments":""}}]}`: true,
		`{"tool_calls":[ ]}`:                                                             false,
		`{"tool_calls":null,"function_call":{}}`:                                         false,
		`{"function_call":{"name":"add"}}`:                                               true,
		`{"content":[{"type":"text","text":""}]}`:                                        true,
		`{"content":[],"role":"assistant","tool_calls":[],"reasoning_content":"thinks"}`: false,
	} {
		if got := Scan([]byte(`{"choices":[{"index":0,"delta":`+delta+`}]}`), wire.NewAnswer()).Has(wire.Output); got != want {
			t.Errorf("%s: %v, want %v", delta, got, want)
		}
	}
	for doc, want := range map[string]bool{
		`{"choices":[]}`: false,
		`{"choices":[{"index":1,"delta":{}},{"index":0,"delta":{"content":"a"}}]}`: false, // it looks at the first one only
		`{"choices":[{"index":1,"delta":{"content":"a"}},{"index":0,"delta":{}}]}`: true,
	} {
		if got := Scan([]byte(doc), wire.NewAnswer()).Has(wire.Output); got != want {
			t.Errorf("%s: %v, want %v", doc, got, want)
		}
	}
}

func TestScanWhole(t *testing.T) {
	a := wire.NewAnswer()
	a.Whole = true
	v := Scan([]byte(`{"choices":[{"index":0,"message":{"role":"assistant","content":"a","reasoning_content":"r","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"2","type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"},{"index":1,"message":{"content":"b"}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`), a)
	if v&^wire.Output != wire.Payload|wire.Content|wire.Choices|wire.Finish|wire.Usage|wire.Tokens {
		t.Errorf("verdict %b", v)
	}
	if string(a.Content) != "a" || string(a.Reasoning) != "r" || len(a.Tools) != 2 || a.FinishReason != "tool_calls" {
		t.Errorf("answer %+v", a)
	}
	if len(a.More) != 1 || string(a.More[0].Content) != "b" {
		t.Errorf("further choices %+v", a.More)
	}
}

func TestPromptLogprobs(t *testing.T) {
	tests := []struct {
		name, body string
		prompt     int32
		want       []wire.Logprob
		fails      bool
	}{
		{"vllm completions", `{"choices":[{"text":"x","prompt_logprobs":[null,{"9906":{"logprob":-1.5,"rank":3,"decoded_token":"Hello"},"1":{"logprob":-0.1,"rank":1,"decoded_token":"!"}},{"12":{"logprob":-Infinity}}]}]}`, 3,
			[]wire.Logprob{{Unset: true}, {Token: "Hello", Value: -1.5}, {Value: negInf}}, false},
		{"vllm chat", `{"choices":[{"message":{}}],"prompt_logprobs":[null,{"5":{"logprob":-2}}]}`, 2, []wire.Logprob{{Unset: true}, {Value: -2}}, false},
		{"echo", `{"choices":[{"text":"ab","logprobs":{"tokens":["a","b","c"],"token_logprobs":[null,-0.5,-9],"text_offset":[0,1,2]}}]}`, 2,
			[]wire.Logprob{{Token: "a", Unset: true}, {Token: "b", Value: -0.5}}, false},
		{"none", `{"choices":[{"text":"ab","prompt_logprobs":null}]}`, 2, nil, true},
	}
	for _, tc := range tests {
		got, err := PromptLogprobs([]byte(tc.body), tc.prompt)
		if (err != nil) != tc.fails {
			t.Errorf("%s: error %v", tc.name, err)
		}
		if len(got) != len(tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
			continue
		}
		for i := range got {
			if got[i] != tc.want[i] {
				t.Errorf("%s: token %d is %+v, want %+v", tc.name, i, got[i], tc.want[i])
			}
		}
	}
}

// FuzzScan: what the standard library decodes is what the walk finds.
func FuzzScan(f *testing.F) {
	f.Add([]byte(usual))
	f.Add([]byte(`{"choices":[{"delta":{"content":"a\u00e4\ud83d\ude42","reasoning_content":"r"},"finish_reason":"stop"}],"usage":{"completion_tokens":3}}`))
	f.Add([]byte(`{"usage":null,"choices":[]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		a := wire.NewAnswer()
		v := Scan(doc, a)
		_ = a.ToolJSON()
		var want struct {
			Choices []struct {
				Index *int `json:"index"`
				Delta *struct {
					Content *string `json:"content"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if !json.Valid(doc) {
			return
		}
		if v.Has(wire.Malformed) && len(doc) > 0 {
			var obj map[string]any
			if json.Unmarshal(doc, &obj) == nil && obj != nil {
				t.Fatalf("valid JSON is called malformed: %q", doc)
			}
			return
		}
		d := json.Unmarshal(doc, &want)
		if d != nil || len(want.Choices) != 1 || want.Choices[0].Delta == nil || want.Choices[0].Delta.Content == nil || caseOrTwice(doc) {
			return
		}
		c := want.Choices[0]
		if c.Index != nil && *c.Index != 0 {
			return
		}
		if got := wire.Unescape(a.Content); got != *c.Delta.Content {
			t.Fatalf("content %q, want %q of %q", got, *c.Delta.Content, doc)
		}
	})
}

// caseOrTwice tells documents on which the standard library decides otherwise by
// its own rules: keys that differ in case, and keys given twice.
func caseOrTwice(doc []byte) bool {
	n := 0
	l := wire.NewLexer(doc)
	if !l.Object() {
		return true
	}
	for {
		key, ok := l.Key()
		if !ok {
			return n != 1
		}
		switch {
		case key == "choices":
			n++
			if l.Array() {
				for l.Elem() {
					if !l.Object() {
						return true
					}
					keys := map[string]bool{}
					for {
						key, ok := l.Key()
						if !ok {
							break
						}
						if keys[key] || key != "delta" && key != "index" {
							return true
						}
						keys[key] = true
						if key == "delta" && l.Object() {
							if key, ok := l.Key(); !ok || key != "content" {
								return true
							}
							l.Skip()
							if _, more := l.Key(); more {
								return true
							}
							continue
						}
						l.Skip()
					}
				}
				continue
			}
		case len(key) == len("choices") && (key[0] == 'c' || key[0] == 'C'):
			return true
		}
		l.Skip()
	}
}

func BenchmarkScan(b *testing.B) {
	doc := []byte(usual)
	a := wire.NewAnswer()
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		a.Content = a.Content[:0]
		if !Scan(doc, a).Has(wire.Payload) {
			b.Fatal("no payload")
		}
	}
}
