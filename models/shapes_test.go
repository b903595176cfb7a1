package models_test

import (
	"context"
	"testing"

	"ais_bench/models"
	"ais_bench/models/simulator"
	"ais_bench/outputs"
)

// TestShapes: however a server packs its tokens, the answer and its counts are the same.
func TestShapes(t *testing.T) {
	shapes := map[string]simulator.Shape{
		"usual": {}, "one-byte writes": {OneByteWrites: true}, "CRLF without a blank": {CRLF: true, NoSpace: true},
		"comments": {Comments: 2}, "no [DONE]": {NoDone: true}, "coalesced": {EventsPerWrite: 4},
		"3 tokens a chunk": {TokensPerChunk: 3, Usage: "every"}, "no role": {RoleDelta: "none"}, "early role": {RoleDelta: "accept"},
	}
	for name, shape := range shapes {
		sim, err := simulator.New(simulator.Config{Preset: "instant", OutputLenSigma: -1, ReasoningTokens: 5, Shape: shape})
		if err != nil {
			t.Fatal(err)
		}
		url, err := sim.Start("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		for _, typ := range []string{"openai_chat", "openai_completions", "sglang_generate"} {
			c := mustClient(t, models.Config{Abbr: "sim", Type: typ, URL: url, Model: "sim", Stream: true})
			r := c.Do(context.Background(), &models.Request{Prompt: "say something", Stream: true, MaxTokens: 24, Params: map[string]any{"ignore_eos": true}})
			r.Decode()
			if r.Status != outputs.StatusOK || r.OutputTokens != 24 || r.FinishReason != "length" || r.Text == "" || (typ == "openai_chat") != (r.Reasoning != "") {
				t.Errorf("%s, %s: status %s (%s), %d tokens, finish %q, text %q, reasoning %q", name, typ, r.Status, r.Error, r.OutputTokens, r.FinishReason, r.Text, r.Reasoning)
			}
			if typ == "openai_chat" && r.FirstAnswerToken < r.FirstToken {
				t.Errorf("%s: first answer token at %d, first token at %d", name, r.FirstAnswerToken, r.FirstToken)
			}
			if shape.Usage == "every" || typ == "sglang_generate" {
				sum := int32(0)
				for _, n := range r.ChunkTokens {
					sum += n
				}
				if sum != 24 || len(r.ChunkTokens) != len(r.ChunkAt) {
					t.Errorf("%s, %s: tokens a chunk %v", name, typ, r.ChunkTokens)
				}
			}
		}
		_ = sim.Close()
	}
}
