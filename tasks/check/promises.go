package check

import (
	"cmp"
	"context"
	"fmt"
	"regexp"

	"ais_bench/models"
	"ais_bench/outputs"
)

// generates reports whether the configured protocol gives text.
func (r *run) generates(check string) bool {
	switch r.Config.Protocol() {
	case models.Embeddings, models.Rerank:
		r.skip(check, "does not apply: this protocol generates no text")
		return false
	}
	return true
}

// usage says whether streams carry token counts, and whether they are those of
// whole answers.
func (r *run) usage(ctx context.Context) {
	const name = "usage"
	if !r.generates(name) {
		return
	}
	if _, ok := r.usable(name); !ok {
		return
	}
	var stream, whole *models.Result
	for _, w := range waysOf(r.Config) {
		res := r.answers[w.check]
		if models.Types[w.typ] != r.Config.Protocol() || res == nil || res.Status != outputs.StatusOK {
			continue
		}
		if res.Stream {
			stream = res
		} else {
			whole = res
		}
	}
	const remedy = "tokens are then counted by the server's /tokenize or a local tokenizer (--tokenizer DIR), or stay unknown"
	counts := func(r *models.Result) string {
		return fmt.Sprintf("%s prompt and %s completion tokens", known(r.InputTokens), known(r.OutputTokens))
	}
	bad, odd, other := "", "", ""
	for _, res := range []*models.Result{stream, whole} {
		if res == nil {
			continue
		}
		s := r.listen(ctx, res == stream)
		// Clients take a count that can be none for unknown.
		if m := noCount.FindSubmatch(s.body); m != nil && bad == "" && (res.InputTokens == outputs.UnknownTokens || res.OutputTokens == outputs.UnknownTokens) {
			bad = fmt.Sprintf("%s %s", m[1], m[2])
		}
		odd, other = cmp.Or(odd, s.usage.contradiction()), cmp.Or(other, s.wrongName(r.model))
	}
	if other != "" {
		r.warn("model", CauseOtherModel, other, "an alias or a version's own name is harmless; else another model answers than the one that is accepted: ask whoever runs the service or the gateway before it")
	}
	switch {
	case bad != "":
		r.warn(name, CauseUsageImpossible, "usage says "+bad+", which counts nothing", "the server, or a gateway that adds usage, is at fault: ask its makers; "+remedy)
	case odd != "":
		r.warn(name, CauseUsageContradicts, "usage contradicts itself: "+odd, "the server, or a gateway that adds usage, is at fault: ask its makers before token figures or costs rest on it; a run uses prompt_tokens and completion_tokens")
	case stream == nil:
		if !whole.UsageSeen {
			r.warn(name, CauseNoUsage, "answers carry no usage", remedy)
			return
		}
		r.ok(name, "whole answers carry it: "+counts(whole))
	case !stream.UsageSeen && whole != nil && whole.UsageSeen:
		r.warn(name, CauseNoUsage, "whole answers carry it, streams do not (stream_options.include_usage has no effect)", remedy)
	case !stream.UsageSeen:
		r.warn(name, CauseNoUsage, "neither streams nor whole answers carry it", remedy)
	case whole != nil && whole.UsageSeen && whole.InputTokens != stream.InputTokens:
		r.warn(name, CauseUsageDiffers, fmt.Sprintf("the same prompt has %s tokens streamed and %s not streamed", known(stream.InputTokens), known(whole.InputTokens)),
			"one of the two counts is wrong: ask the server's makers before comparing token figures")
	case stream.OutputTokens > 16:
		r.warn(name, CauseUsageDiffers, fmt.Sprintf("the stream's usage counts %d completion tokens where 16 were allowed", stream.OutputTokens), "see max-tokens")
	default:
		found := "in streams: " + counts(stream)
		if stream.CachedTokens != outputs.UnknownTokens {
			found += fmt.Sprintf(", %d of the prompt cached", stream.CachedTokens)
		}
		r.ok(name, found)
	}
}

// noCount finds what stands in the place of a token count and is none.
var noCount = regexp.MustCompile(`"((?:prompt|completion|total|input|output|cached|reasoning|generated)_tokens)"\s*:\s*(-[0-9][0-9.eE+-]*|[0-9]{11,}|NaN|-?Infinity|[0-9]+\.[0-9]*[1-9][0-9]*|"[^"]{0,40}"|true|false)`)

func known(n int32) string {
	if n == outputs.UnknownTokens {
		return "unknown"
	}
	return fmt.Sprint(n)
}

// maxTokens says whether an answer is as short as asked for.
func (r *run) maxTokens(ctx context.Context) {
	const name, limit = "max-tokens", 16
	if !r.generates(name) {
		return
	}
	client, ok := r.usable(name)
	if !ok {
		return
	}
	res := client.Do(ctx, &models.Request{Messages: say("Count from 1 to 500, separated by commas, without leaving any number out."), MaxTokens: limit, Stream: r.Config.Stream})
	switch n := res.OutputTokens; {
	case res.Status != outputs.StatusOK:
		r.warn(name, string(res.Status), short(res.Brief()), "the server failed on this request: look at its log")
	case n == outputs.UnknownTokens:
		r.warn(name, CauseUndecided, fmt.Sprintf("asked for at most %d tokens; the answer's are not counted (no usage), finish_reason %s", limit, orNone(res.FinishReason)),
			"with usage in the answers it could be told")
	case n > limit:
		r.fail(name, CauseLimitIgnored, fmt.Sprintf("asked for at most %d tokens, got %d", limit, n),
			"the limit has no effect: answers are as long as the model likes, so that runs take longer and output lengths differ from the workload; does the server want another field (--generation-kwargs)?", false)
	case n == limit && res.FinishReason != "length":
		r.warn(name, CauseLimitIgnored, fmt.Sprintf("%d tokens as asked, but finish_reason %s instead of length", n, orNone(res.FinishReason)), "answers that were cut off cannot be told from complete ones")
	case n == limit:
		r.ok(name, fmt.Sprintf("%d tokens as asked, finish_reason length", n))
	default:
		r.add(Line{Check: name, Status: OK, Cause: CauseUndecided, Found: fmt.Sprintf("at most %d tokens asked for, %d given, finish_reason %s: the model ended by itself", limit, n, orNone(res.FinishReason))})
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// ignoreEOS says whether answers can be given a length: the same question, whose
// answer is short by nature, with ignore_eos and without it.
func (r *run) ignoreEOS(ctx context.Context) {
	const name, limit = "ignore-eos", 48
	if !r.generates(name) {
		return
	}
	client, ok := r.usable(name)
	if !ok {
		return
	}
	ask := func(ignore bool) *models.Result {
		return client.Do(ctx, &models.Request{Messages: say("Reply with the single word yes and nothing else."), MaxTokens: limit, Stream: r.Config.Stream,
			Params: map[string]any{"ignore_eos": ignore}})
	}
	const remedy = "performance runs cannot ask for answers of a fixed length here: take a data set with long answers, compare at equal output lengths, and read the realised lengths in the report"
	with := ask(true)
	switch {
	case with.HTTPStatus == 400 || with.HTTPStatus == 422:
		r.warn(name, CauseEOSNotIgnored, "refused: "+short(with.Brief()), remedy+"; leave ignore_eos out of generation_kwargs (--disable-ignore-eos)")
		return
	case with.Status != outputs.StatusOK:
		r.warn(name, string(with.Status), short(with.Brief()), "the server failed on this request: look at its log")
		return
	case with.OutputTokens == outputs.UnknownTokens:
		r.warn(name, CauseUndecided, "the answer's tokens are not counted (no usage)", "with usage in the answers it could be told")
		return
	case with.OutputTokens < limit:
		r.warn(name, CauseEOSNotIgnored, fmt.Sprintf("%d of %d tokens although ignore_eos was sent", with.OutputTokens, limit), remedy)
		return
	}
	without := ask(false)
	if without.Status == outputs.StatusOK && without.OutputTokens != outputs.UnknownTokens && without.OutputTokens < limit {
		r.ok(name, fmt.Sprintf("%d of %d tokens with it, %d without", with.OutputTokens, limit, without.OutputTokens))
		return
	}
	r.add(Line{Check: name, Status: OK, Cause: CauseUndecided,
		Found: fmt.Sprintf("%d of %d tokens with it and without: the model did not end by itself, so this decides nothing", with.OutputTokens, limit)})
}
