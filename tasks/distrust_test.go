package tasks

import (
	"strings"
	"testing"

	"ais_bench/models"
	"ais_bench/outputs"
)

func TestUsageThatCannotBe(t *testing.T) {
	const unknown = outputs.UnknownTokens
	for name, c := range map[string]struct {
		in, out, cached int32
		chunks, max     int
		text            string
		params          map[string]any
		kwargs          map[string]any
		impossible      bool
	}{
		"honest":                         {10, 5, 4, 5, 256, "a", nil, nil, false},
		"as long as asked":               {10, 256, unknown, 5, 256, "a", nil, nil, false},
		"more than asked":                {10, 2570, unknown, 5, 256, "a", nil, nil, true},
		"the limit leaves reasoning out": {10, 300, unknown, 5, 256, strings.Repeat("word ", 300), nil, nil, false},
		"the echo of the prompt":         {10, 0, unknown, 1, 256, "a", map[string]any{"echo": true}, nil, false},
		"cached of all answers":          {10, 5, 30, 5, 256, "a", nil, map[string]any{"n": 3}, false},
		"cached of more than all":        {10, 5, 31, 5, 256, "a", nil, map[string]any{"n": 3}, true},
		"no length asked":                {10, 100000, unknown, 5, 0, "a", nil, nil, false},
		"the limit was ignored":          {10, 300, unknown, 300, 256, "a", nil, nil, false},
		"length among the parameters":    {10, 300, unknown, 5, 256, "a", map[string]any{"max_tokens": 512}, nil, false},
		"three answers":                  {10, 700, unknown, 5, 256, "a", nil, map[string]any{"n": 3}, false},
		"three answers, more than that":  {10, 7690, unknown, 5, 256, "a", nil, map[string]any{"n": 3}, true},
		"best of several":                {10, 700, unknown, 5, 256, "a", nil, map[string]any{"best_of": 3}, false},
		"none beside a text":             {0, 0, unknown, 5, 256, "a", nil, nil, true},
		"none and no text":               {7, 0, unknown, 0, 0, "", nil, nil, false},
		"more cached than sent":          {10, 5, 50, 5, 256, "a", nil, nil, true},
		"all cached":                     {10, 5, 10, 5, 256, "a", nil, nil, false},
		"cached, prompt not told":        {unknown, 5, 10, 5, 256, "a", nil, nil, false},
	} {
		req := &models.Request{MaxTokens: c.max, Params: c.params}
		rec := &outputs.Record{Status: outputs.StatusOK, TokenSource: outputs.TokensUsage, InputTokens: c.in, OutputTokens: c.out, ReasoningTokens: unknown, CachedTokens: c.cached,
			ChunkAt: make([]int64, c.chunks), ChunkTokens: make([]int32, c.chunks), Text: c.text}
		cfg := models.Config{Type: "openai_chat", GenerationKwargs: c.kwargs}
		distrust(rec, req, cfg, answersOf(cfg, req))
		if got := rec.TokenSource.Impossible(); got != c.impossible {
			t.Errorf("%s: impossible %v", name, got)
		}
		if dropped := rec.OutputTokens == unknown && rec.InputTokens == unknown && rec.CachedTokens == unknown && rec.ChunkTokens == nil; c.impossible && !dropped ||
			!c.impossible && (rec.OutputTokens != c.out || rec.InputTokens != c.in || rec.CachedTokens != c.cached || len(rec.ChunkTokens) != c.chunks) {
			t.Errorf("%s: %+v", name, rec)
		}
	}
	// Embeddings and rankings have no output tokens, and a line that says what came.
	for _, typ := range []string{"openai_embeddings", "openai_rerank"} {
		rec := &outputs.Record{Status: outputs.StatusOK, TokenSource: outputs.TokensUsage, InputTokens: 7, ReasoningTokens: unknown, CachedTokens: unknown, Text: "2 embeddings of 1024 numbers"}
		distrust(rec, &models.Request{MaxTokens: 1}, models.Config{Type: typ}, 1)
		if rec.TokenSource != outputs.TokensUsage || rec.InputTokens != 7 || rec.OutputTokens != 0 {
			t.Errorf("%s: %+v", typ, rec)
		}
	}
	if s := outputs.TokensImpossible.CountedBy(outputs.TokensLocalTokenizer); s != "local_tokenizer_usage_impossible" || !s.Impossible() || outputs.TokensUnknown.CountedBy(outputs.TokensLocalTokenizer) != outputs.TokensLocalTokenizer {
		t.Errorf("counted by %s", s)
	}
}
