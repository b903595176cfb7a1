package tasks

import (
	"context"
	"math"

	"ais_bench/outputs"
	"ais_bench/tasks/load"
)

// onePPL asks for the prompt log-probabilities of every label of a sample, one
// request a label, and keeps their scores. The score of a label is the mean
// log-probability of its prompt's tokens (AISBench's −ppl); the likeliest label
// wins at evaluation. When one label's request fails there is no answer: a
// failed request must not win, nor lose, the comparison.
func (in *inference) onePPL(ctx context.Context, q question, s load.Slot) bool {
	scores := make([]*float64, len(q.sample.Choices))
	ok := true
	var last *outputs.Record
	for label, prompt := range q.sample.Choices {
		req := newRequest(in.svc.cfg, in.set.Config, q.sample, prompt)
		req.Stream, req.MaxTokens, req.Plain = false, 1, true // a template's tokens would enter the mean
		if req.Params == nil {
			req.Params = map[string]any{}
		}
		req.Params["prompt_logprobs"] = 0
		req.Params["temperature"] = 0
		for attempt := 0; ; attempt++ {
			req.ID = in.requestID("ppl")
			res := in.svc.client.Do(ctx, req)
			res.Decode()
			rec := newRecord(res, req)
			in.label(rec, q.sample, q.repeat, attempt, s)
			rec.Turn = int32(label)
			if label > 0 { // due when the label before it has been answered
				rec.Scheduled = rec.Sent
			}
			in.label2(rec, req)
			if res.Status == outputs.StatusOK && len(res.PromptLogprobs) == 0 {
				rec.Status = outputs.StatusMalformed
				rec.Error = "the answer holds no prompt_logprobs: PPL data sets need a completions endpoint that returns them (vLLM does)"
			}
			in.keep(rec)
			in.observe.Answered(in.task, rec)
			last = rec
			if rec.OK() {
				sum, n := 0.0, 0
				for _, t := range res.PromptLogprobs {
					if !t.Unset {
						sum += t.Logprob
						n++
					}
				}
				if n == 0 {
					n, sum = 1, math.Inf(-1)
				}
				scores[label] = finite(sum / float64(n))
				break
			}
			if attempt >= in.svc.cfg.Retry || !retryable(rec.Status) || ctx.Err() != nil || !in.pause(ctx, backoff(attempt, res)) {
				ok = false
				in.failures.add(rec)
				break
			}
		}
		if !ok {
			break
		}
	}
	answer := *last
	answer.Turn = 0
	answer.Text = ""
	if !ok {
		scores = nil
	}
	in.predict(&answer, q, scores)
	return ok
}
