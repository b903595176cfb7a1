package tasks

import (
	"ais_bench/models"
	"ais_bench/outputs"
)

// distrust drops the usage of an answer where it cannot be: output beyond what was
// asked for and beyond what came, none beside a generated text, or more cached prompt
// tokens than there were. What one of its numbers is worth then nobody knows of the
// others. A limit that the server ignored, or that leaves out the reasoning, is no lie:
// then the text is as long as it is said to be. answers is how many were asked for (n).
func distrust(rec *outputs.Record, req *models.Request, cfg models.Config, answers int) {
	if rec.TokenSource != outputs.TokensUsage || !rec.OK() {
		return
	}
	none := rec.OutputTokens == 0 && shown(rec) > 0 && cfg.Generates() && !echoed(req, cfg)
	// Some engines sum the cached tokens of all n answers.
	cached := rec.InputTokens >= 0 && int64(rec.CachedTokens) > int64(rec.InputTokens)*int64(max(answers, 1))
	if !none && !cached && !tooMany(rec, req, answers) {
		return
	}
	const unknown = outputs.UnknownTokens
	rec.InputTokens, rec.OutputTokens, rec.ReasoningTokens, rec.CachedTokens, rec.ChunkTokens = unknown, unknown, unknown, unknown, nil
	rec.TokenSource = outputs.TokensImpossible
}

// echoed reports whether the prompt comes back in the answer, which is no output.
func echoed(req *models.Request, cfg models.Config) bool {
	return req.Params["echo"] == true || cfg.GenerationKwargs["echo"] == true
}

// shown is the length of all that an answer said, bytes.
func shown(rec *outputs.Record) int { return len(rec.Text) + len(rec.Reasoning) + len(rec.ToolCalls) }

// unseen tokens of an answer at most: ends of turns and the like, of which no byte comes.
const unseen = 16

// lengthNames are parameters that say the length instead of the request's limit.
var lengthNames = []string{"max_tokens", "max_completion_tokens", "max_new_tokens", "best_of", "use_beam_search"}

func tooMany(rec *outputs.Record, req *models.Request, answers int) bool {
	if req.MaxTokens <= 0 || int(rec.OutputTokens) <= len(rec.ChunkAt) {
		return false
	}
	// No token is shorter than a byte; reasoning that is counted need not be shown.
	if int(rec.OutputTokens)-max(int(rec.ReasoningTokens), 0) <= shown(rec)+unseen*max(answers, 1) {
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
