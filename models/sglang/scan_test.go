package sglang

import (
	"testing"

	"ais_bench/models/wire"
)

func TestScan(t *testing.T) {
	ev := func(text, meta string) string {
		return `{"text":"` + text + `","output_ids":[1],"meta_info":{` + meta + `}}`
	}
	tests := []struct {
		name     string
		events   []string
		payloads int
		text     string
		finish   string
		tokens   int32
	}{
		{"text so far", []string{
			ev("", `"finish_reason":null,"completion_tokens":0`), ev("a", `"completion_tokens":1`), ev("a", `"completion_tokens":2`),
			ev("ab", `"completion_tokens":3`), ev("ab\\n", `"completion_tokens":4`), ev("ab\\ncd", `"completion_tokens":5`), ev("ab\\ncde", `"completion_tokens":6`),
			ev("ab\\ncde", `"finish_reason":{"type":"length","length":6},"prompt_tokens":9,"completion_tokens":6,"cached_tokens":4`),
		}, 5, "ab\ncde", "length", 6},
		{"only what is new", []string{ev("a", `"completion_tokens":1`), ev("ab", `"completion_tokens":2`), ev("c", `"completion_tokens":3`), ev("", `"finish_reason":{"type":"stop"},"completion_tokens":4`)},
			3, "aabc", "stop", 4},
		{"one event", []string{ev("x", `"finish_reason":"stop","completion_tokens":1`)}, 1, "x", "stop", 1},
	}
	for _, tc := range tests {
		a := wire.NewAnswer()
		n := 0
		for _, e := range tc.events {
			v := Scan([]byte(e), a)
			if v.Has(wire.Malformed | wire.Failure) {
				t.Fatalf("%s: verdict %b for %s", tc.name, v, e)
			}
			if v.Has(wire.Payload) {
				n++
			}
		}
		if n != tc.payloads || wire.Unescape(a.Content) != tc.text || a.FinishReason != tc.finish || a.OutputTokens != tc.tokens {
			t.Errorf("%s: %d payloads, text %q, finish %q, %d tokens", tc.name, n, wire.Unescape(a.Content), a.FinishReason, a.OutputTokens)
		}
	}
}

func TestScanFailures(t *testing.T) {
	a := wire.NewAnswer()
	if v := Scan([]byte(`{"error":{"message":"boom"}}`), a); v != wire.Failure || a.Failure != "boom" {
		t.Errorf("error object: verdict %b, message %q", v, a.Failure)
	}
	a = wire.NewAnswer()
	if v := Scan([]byte(`{"text":"","meta_info":{"finish_reason":{"type":"abort","message":"too long"}}}`), a); !v.Has(wire.Failure) || a.Failure != "too long" {
		t.Errorf("abort: verdict %b, message %q", v, a.Failure)
	}
	if v := Scan([]byte(`"x"`), wire.NewAnswer()); !v.Has(wire.Malformed) {
		t.Errorf("a string: verdict %b", v)
	}
}

func TestWholeList(t *testing.T) {
	a := wire.NewAnswer()
	a.Whole = true
	v := Scan([]byte(`[{"text":"a","meta_info":{"finish_reason":{"type":"stop"}}},{"text":"b"}]`), a)
	if !v.Has(wire.Finish) || string(a.Content) != "a" || len(a.More) != 1 || string(a.More[0].Content) != "b" {
		t.Errorf("verdict %b, answer %+v", v, a)
	}
}

func TestPromptLogprobs(t *testing.T) {
	got, err := PromptLogprobs([]byte(`{"text":"x","meta_info":{"input_token_logprobs":[[null,1,null],[-0.25,5,"b"]]}}`), 2)
	if err != nil || len(got) != 2 || !got[0].Unset || got[1] != (wire.Logprob{Token: "b", Value: -0.25}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := PromptLogprobs([]byte(`{"text":"x","meta_info":{}}`), 2); err == nil {
		t.Error("a body without log-probabilities is accepted")
	}
}
