package vllm

import (
	"fmt"
	"strings"
	"testing"

	"ais_bench/outputs"
)

// Who calls what a success: vLLM's client (a chat), SGLang's (a chat and a
// completion) on the same answer of two events with text.
func TestCompletedByEnd(t *testing.T) {
	for _, c := range []struct {
		end                       outputs.StreamEnd
		status                    outputs.Status
		vllm, sgChat, sgCompletes bool
	}{
		{outputs.EndDone, outputs.StatusOK, true, true, true},
		{outputs.EndBody, outputs.StatusOK, true, true, true},
		{outputs.EndBody, outputs.StatusTruncated, true, true, true},   // it just ends
		{outputs.EndDone, outputs.StatusStreamError, true, true, true}, // finish_reason abort
		{outputs.EndInEvent, outputs.StatusTruncated, true, false, false},
		{outputs.EndErrorObject, outputs.StatusStreamError, true, true, false},
		{outputs.EndErrorEvent, outputs.StatusStreamError, false, false, false},
		{outputs.EndBroken, outputs.StatusTruncated, false, false, false},   // closed before the last chunk
		{outputs.EndBroken, outputs.StatusStreamError, false, false, false}, // reset
		{outputs.EndBroken, outputs.StatusOK, false, false, false},          // the same after finish_reason
		{outputs.EndBroken, outputs.StatusTimeoutIdle, false, false, false},
		{outputs.EndMalformed, outputs.StatusMalformed, false, false, false},
	} {
		rec := &outputs.Record{Status: c.status, StreamEnd: c.end, HTTPStatus: 200, Stream: true, FirstEvent: 10 * ms, FirstToken: 20 * ms, LastToken: 30 * ms, End: 40 * ms,
			FirstOutput: 20 * ms, LastOutput: 30 * ms, LastEvent: 35 * ms, ChunkAt: []int64{20 * ms, 30 * ms}, OutputTokens: 2}
		what := fmt.Sprintf("%s, ended %s", c.status, c.end)
		for completions, want := range map[bool]bool{false: c.vllm, true: c.vllm} {
			if got := Completed(rec, completions); got != want {
				t.Errorf("%s: vllm %v, want %v", what, got, want)
			}
		}
		for backend, want := range map[string]bool{"sglang-oai-chat": c.sgChat, "sglang": c.sgChat, "sglang-oai": c.sgCompletes, "vllm": c.sgCompletes} {
			r, err := ComputeSGLang(list(rec), SGLangOptions{Backend: backend})
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Completed == 1; got != want {
				t.Errorf("%s: SGLang with %s %v, want %v", what, backend, got, want)
			}
		}
	}
	unseen := &outputs.Record{Status: outputs.StatusOK, StreamEnd: outputs.EndDone, HTTPStatus: 200, Stream: true, FirstEvent: 10 * ms, FirstToken: 10 * ms, LastToken: 20 * ms,
		FirstOutput: outputs.Never, LastOutput: outputs.Never, LastEvent: 20 * ms, End: 21 * ms, ChunkAt: []int64{10 * ms, 20 * ms}}
	if Completed(unseen, false) {
		t.Error("an answer of reasoning_content alone is a success of vllm's")
	}
	refused := &outputs.Record{Status: outputs.StatusHTTP5xx, HTTPStatus: 503, FirstOutput: 1, LastOutput: 1}
	if Completed(refused, false) || completedSGLang(refused, false) {
		t.Error("a 503 is a success")
	}
}

// Times by vLLM's rule: after 10, 20 and 30 ms reasoning_content, which it does not
// see, from 40 ms on content, at 70 ms an empty text with finish_reason, at 80 ms usage.
func TestOutputOfVLLMsRule(t *testing.T) {
	rec := &outputs.Record{Phase: outputs.PhaseMeasured, Status: outputs.StatusOK, StreamEnd: outputs.EndDone, HTTPStatus: 200, Stream: true,
		Sent: 100 * ms, Scheduled: 100 * ms, FirstEvent: 105 * ms, FirstToken: 110 * ms, FirstAnswerToken: 140 * ms, LastToken: 160 * ms, End: 181 * ms,
		FirstOutput: 140 * ms, LastOutput: 170 * ms, LastEvent: 180 * ms,
		ChunkAt: []int64{10 * ms, 20 * ms, 30 * ms, 40 * ms, 40 * ms, 60 * ms}, InputTokens: 5, OutputTokens: 6}
	for _, backend := range []string{"openai-chat", "openai"} { // the record knows; the back end is for records that do not
		r, err := Compute(list(rec), Options{Backend: backend, Detailed: true, Metrics: MetricNames})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "ttft", r.Stat("ttft").Mean, 40)
		near(t, "e2el", r.Stat("e2el").Mean, 70)
		near(t, "tpot", r.Stat("tpot").Mean, 6)
		if got := fmt.Sprint(r.Requests[0].ITL); got != "[0 0.02 0.01]" {
			t.Errorf("gaps %s", got)
		}
	}
	// Payloads after the last output, which vLLM does not see either.
	rec.LastOutput = 140 * ms
	r, err := Compute(list(rec), Options{Detailed: true, Metrics: MetricNames})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "e2el", r.Stat("e2el").Mean, 40)
	if got := fmt.Sprint(r.Requests[0].ITL); got != "[0]" { // of the two events at 40 ms
		t.Errorf("gaps %s", got)
	}
	// A first output without a text, before any payload.
	rec.FirstOutput, rec.LastOutput, rec.ChunkAt = 105*ms, 160*ms, []int64{10 * ms, 60 * ms}
	if r, err = Compute(list(rec), Options{Detailed: true, Metrics: MetricNames}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(r.Requests[0].ITL, r.Requests[0].TTFT); got != "[0.005 0.05] 0.005" {
		t.Errorf("gaps and first %s", got)
	}
}

// Requests that the user cut off did not fail: they are counted apart.
func TestCancelledDidNotFail(t *testing.T) {
	cut := &outputs.Record{Status: outputs.StatusCancelled, StreamEnd: outputs.EndBroken, HTTPStatus: 200, Stream: true, FirstEvent: outputs.Never, FirstToken: outputs.Never,
		LastToken: outputs.Never, FirstOutput: outputs.Never, LastOutput: outputs.Never, LastEvent: outputs.Never, End: 40 * ms}
	failed := *cut
	failed.Status = outputs.StatusStreamError
	r, err := Compute(list(cut, &failed, cut), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Completed != 0 || r.Failed != 1 || r.Cancelled != 2 || len(r.Errors) != 1 {
		t.Errorf("%d completed, %d failed, %d cancelled, errors %q", r.Completed, r.Failed, r.Cancelled, r.Errors)
	}
	sg, err := ComputeSGLang(list(cut, &failed, cut), SGLangOptions{})
	if err != nil || sg.Completed != 0 || sg.Failed != 1 || sg.Cancelled != 2 {
		t.Errorf("sglang: %+v, %v", sg, err)
	}
	ok := *cut
	ok.Status, ok.StreamEnd, ok.End = outputs.StatusOK, outputs.EndDone, 50*ms
	tp, err := ComputeThroughput(list(cut, &failed, cut, &ok))
	if err != nil || tp.Requests != 1 || tp.Failed != 1 || tp.Cancelled != 2 {
		t.Errorf("throughput: %+v, %v", tp, err)
	}
	// Of four batches one is whole, one was cut off, and in two a request failed.
	var in []*outputs.Record
	for i, r := range []*outputs.Record{&ok, &ok, &ok, cut, &failed, cut, cut, &failed} {
		c := *r
		c.Repeat = int32(i / 2)
		in = append(in, &c)
	}
	l, err := ComputeLatency(list(in...), func(r *outputs.Record) int { return int(r.Repeat) })
	if err != nil || len(l.Latencies) != 1 || l.Failed != 2 || l.Cancelled != 1 {
		t.Errorf("latency: %+v, %v", l, err)
	}
	if _, err = ComputeLatency(list(cut), func(*outputs.Record) int { return 0 }); err == nil || !strings.Contains(err.Error(), "failed in 0 and were cut off in 1") {
		t.Errorf("latency of nothing: %v", err)
	}
}
