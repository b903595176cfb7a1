package tasks

import (
	"context"
	"math"
	"strconv"

	"ais_bench/models"
	"ais_bench/outputs"
	"ais_bench/tasks/load"
)

// onePPL asks for the prompt log-probabilities of every label of a sample, one
// request a label, and keeps their scores. The score of a label is the mean
// log-probability of its prompt's tokens (AISBench's −ppl); the likeliest label
// wins at evaluation. When one label's request fails there is no answer: a
// failed request must not win, nor lose, the comparison. A label that an earlier
// session has a score of is not asked again.
func (in *inference) onePPL(ctx context.Context, q question, s load.Slot) end {
	scores := make([]*float64, len(q.sample.Choices))
	var last, asked *outputs.Record
	for label := range q.sample.Choices {
		known := in.left.label(q, label)
		if known == nil {
			known = in.askLabel(ctx, q, s, label)
			asked = known
		}
		if last = known; !last.OK() {
			scores = nil
			break
		}
		scores[label], _ = labelScore(last)
	}
	if asked != nil {
		s.Done(asked.End)
	}
	e := endOf(last)
	if e == failed {
		in.failures.add(last)
	}
	in.predict(pplAnswer(last), q, scores)
	return e
}

// askLabel asks for one label until it has a score or retries are used up, and
// returns the last attempt.
func (in *inference) askLabel(ctx context.Context, q question, s load.Slot, label int) *outputs.Record {
	req := newRequest(in.svc.cfg, in.set.Config, q.sample, q.sample.Choices[label])
	req.Stream, req.MaxTokens, req.Plain = false, 1, true // a template's tokens would enter the mean
	if req.Params == nil {
		req.Params = map[string]any{}
	}
	req.Params["prompt_logprobs"] = 0
	req.Params["temperature"] = 0
	for attempt := 0; ; attempt++ {
		req.ID = in.requestID("ppl")
		res := in.svc.client.Do(ctx, req)
		sent(s, res)
		res.Decode()
		rec := newRecord(res, req)
		in.label(rec, q, 0, label, attempt, s)
		if label > 0 { // due when the label before it has been answered
			rec.Scheduled = rec.Sent
		}
		in.storePrompt(rec, req, "")
		if res.Status == outputs.StatusOK && len(res.PromptLogprobs) == 0 {
			rec.Status = outputs.StatusMalformed
			rec.Error = "the answer holds no prompt_logprobs: PPL data sets need a completions endpoint that returns them (vLLM does)"
		}
		if rec.OK() {
			rec.Text = strconv.FormatFloat(meanLogprob(res.PromptLogprobs), 'g', -1, 64)
		}
		in.keep(rec)
		in.noted(res, rec)
		in.observe.Answered(in.task, rec)
		if rec.OK() || attempt >= in.svc.cfg.Retry || !retryable(rec.Status) || ctx.Err() != nil || !in.pause(ctx, backoff(attempt, res)) {
			return rec
		}
	}
}

// meanLogprob is the mean log-probability of a prompt's tokens, the first, which
// has none, aside; −Inf when no token has one.
func meanLogprob(tokens []models.TokenLogprob) float64 {
	sum, n := 0.0, 0
	for _, t := range tokens {
		if !t.Unset {
			sum += t.Logprob
			n++
		}
	}
	if n == 0 {
		return math.Inf(-1)
	}
	return sum / float64(n)
}

// labelScore reads the score of a label from its record, whose text it is; nil
// for −Inf. ok is false where the text is something else, as in runs made before
// it was kept there.
func labelScore(rec *outputs.Record) (score *float64, ok bool) {
	x, err := strconv.ParseFloat(rec.Text, 64)
	return finite(x), err == nil
}

// pplAnswer is a question's answer as predictions show it: its last request, of
// no label and without a text.
func pplAnswer(last *outputs.Record) *outputs.Record {
	answer := *last
	answer.Turn, answer.Text = 0, ""
	return &answer
}
