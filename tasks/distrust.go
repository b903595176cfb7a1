package tasks

import (
	"ais_bench/models"
	"ais_bench/outputs"
)

// distrust drops the usage of an answer where it cannot be: more output than was asked
// for (unless as many chunks came: then it is the limit that was ignored), none beside
// a text, or more cached prompt tokens than there were. What one of its numbers is worth
// then nobody knows of the others. answers is how many were asked for (n).
func distrust(rec *outputs.Record, req *models.Request, answers int) {
	if rec.TokenSource != outputs.TokensUsage || !rec.OK() {
		return
	}
	text := len(rec.Text)+len(rec.Reasoning)+len(rec.ToolCalls) > 0
	switch {
	case tooMany(rec, req, answers), rec.OutputTokens == 0 && text, rec.InputTokens >= 0 && rec.CachedTokens > rec.InputTokens:
	default:
		return
	}
	const unknown = outputs.UnknownTokens
	rec.InputTokens, rec.OutputTokens, rec.ReasoningTokens, rec.CachedTokens, rec.ChunkTokens = unknown, unknown, unknown, unknown, nil
	rec.TokenSource = outputs.TokensImpossible
}

// lengthNames are parameters that say the length instead of the request's limit.
var lengthNames = []string{"max_tokens", "max_completion_tokens", "max_new_tokens", "best_of", "use_beam_search"}

func tooMany(rec *outputs.Record, req *models.Request, answers int) bool {
	if req.MaxTokens <= 0 || int(rec.OutputTokens) <= len(rec.ChunkAt) {
		return false
	}
	for _, name := range lengthNames {
		if _, ok := req.Params[name]; ok {
			return false
		}
	}
	return int64(rec.OutputTokens) > int64(req.MaxTokens)*int64(max(answers, 1))
}

// answersOf is how many answers a request asks for.
func answersOf(cfg models.Config, req *models.Request) int {
	if v, ok := req.Params["n"]; ok {
		cfg.GenerationKwargs = map[string]any{"n": v}
	}
	for _, name := range []string{"best_of", "use_beam_search"} {
		if _, ok := cfg.GenerationKwargs[name]; ok {
			return 1 << 20 // what counts as output is the engine's affair then
		}
	}
	return answersPerRequest(cfg)
}
