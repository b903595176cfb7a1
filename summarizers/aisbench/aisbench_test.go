package aisbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"ais_bench/outputs"
)

const ms = int64(1e6)

func list(recs ...*outputs.Record) iter.Seq2[*outputs.Record, error] {
	return func(yield func(*outputs.Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// stream is a request sent at from (ms) with payloads at the given ms after it
// and an end.
func stream(from, end int64, in, out int32, chunks ...int64) *outputs.Record {
	r := &outputs.Record{Phase: outputs.PhaseMeasured, Status: outputs.StatusOK, HTTPStatus: 200, Stream: true, TokenSource: outputs.TokensUsage,
		Scheduled: from * ms, Sent: from * ms, End: end * ms, InputTokens: in, OutputTokens: out}
	for _, c := range chunks {
		r.ChunkAt = append(r.ChunkAt, c*ms)
	}
	r.FirstEvent = r.Sent + r.ChunkAt[0]
	return r
}

func failed(from int64) *outputs.Record {
	return &outputs.Record{Phase: outputs.PhaseMeasured, Status: outputs.StatusHTTP5xx, Scheduled: from * ms, Sent: from * ms, End: (from + 9000) * ms,
		FirstEvent: outputs.Never}
}

func text(r *Result) string {
	var b strings.Builder
	_ = r.WriteCSV(&b)
	return b.String()
}

func common(t *testing.T, r *Result, name string) string {
	t.Helper()
	for _, c := range r.Common {
		if c.Name == name {
			return c.Text()
		}
	}
	t.Fatalf("no common metric %q", name)
	return ""
}

func TestCompletedByEnd(t *testing.T) {
	for _, c := range []struct {
		end    outputs.StreamEnd
		status outputs.Status
		want   bool
	}{
		{outputs.EndDone, outputs.StatusOK, true},
		{outputs.EndDone, outputs.StatusEmpty, true},
		{outputs.EndBody, outputs.StatusTruncated, true}, // it just ends
		{outputs.EndErrorObject, outputs.StatusStreamError, true},
		{outputs.EndErrorEvent, outputs.StatusStreamError, false},
		{outputs.EndInEvent, outputs.StatusTruncated, false}, // the rest of an event is no JSON
		{outputs.EndBroken, outputs.StatusTruncated, false},
		{outputs.EndBroken, outputs.StatusStreamError, false},
		{outputs.EndBroken, outputs.StatusOK, false},
		{outputs.EndBroken, outputs.StatusTimeoutTotal, false},
		{outputs.EndMalformed, outputs.StatusMalformed, false},
	} {
		r := stream(0, 400, 10, 4, 100, 300)
		r.Status, r.StreamEnd, r.LastEvent = c.status, c.end, 350*ms
		if got := Completed(r); got != c.want {
			t.Errorf("%s, ended %s: %v, want %v", c.status, c.end, got, c.want)
		}
		r.LastEvent = outputs.Never
		if Completed(r) {
			t.Errorf("%s, ended %s: nothing but [DONE] is a success", c.status, c.end)
		}
	}
}

// AISBench stops before [DONE]: the wait for it is in none of its figures.
func TestDoneIsNoTimePoint(t *testing.T) {
	r := stream(0, 900, 10, 3, 100, 300)
	r.StreamEnd, r.LastEvent = outputs.EndDone, 310*ms // usage; [DONE] only at 900
	got, err := Compute(list(r), Options{StatsList: []string{"Average"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"E2EL,total,310.0 ms,1", "TPOT,total,105.0 ms,1", "ITL,total,105.0 ms,1"} {
		if !strings.Contains(text(got), want+"\n") {
			t.Errorf("%s is not in\n%s", want, text(got))
		}
	}
	if d := common(t, got, "Benchmark Duration"); d != "310.0 ms" {
		t.Errorf("duration %s", d)
	}
}

func TestTotalByHand(t *testing.T) {
	warm := stream(0, 99000, 1, 1, 5)
	warm.Phase = outputs.PhaseWarmup
	// 1: TTFT 100, E2EL 400, gaps 200 and 100; 2: one token, TTFT 200.04, no gap, TPOT 0.
	second := stream(200, 400, 20, 1, 200)
	second.ChunkAt[0] += 40_000
	second.FirstEvent += 40_000
	second.End += 40_000
	r, err := Compute(list(stream(0, 400, 10, 4, 100, 300), second, failed(100), warm), Options{StatsList: []string{"Average", "Median", "P75", "Max"}, MaxConcurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := `Performance Parameters,Stage,Average,Median,P75,Max,N
E2EL,total,300.0 ms,300.0 ms,350.0 ms,400.0 ms,2
TTFT,total,150.0 ms,150.0 ms,175.0 ms,200.0 ms,2
TPOT,total,50.0 ms,50.0 ms,75.0 ms,100.0 ms,1
ITL,total,150.0 ms,150.0 ms,175.0 ms,200.0 ms,1
InputTokens,total,15.0,15.0,17.5,20.0,2
OutputTokens,total,2.5,2.5,3.25,4.0,2
OutputTokenThroughput,total,7.4995 token/s,7.4995 token/s,8.7498 token/s,10.0 token/s,2
PrefillTokenThroughput,total,99.99 token/s,99.99 token/s,99.995 token/s,100.0 token/s,2
`
	if got := text(r); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for name, want := range map[string]string{"Benchmark Duration": "400.0 ms", "Total Requests": "3", "Failed Requests": "1", "Success Requests": "2",
		"Concurrency": "1.5", "Max Concurrency": "2", "Request Throughput": "4.9995 req/s", "Total Generated Tokens": "5", "Total Token Throughput": "87.4913 token/s"} {
		if got := common(t, r, name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	var doc map[string]map[string]string
	b, err := json.Marshal(r)
	if err != nil || json.Unmarshal(b, &doc) != nil || doc["Benchmark Duration"]["total"] != "400.0 ms" {
		t.Errorf("%v %s", err, b)
	}
	for _, table := range r.Tables() {
		if err := table.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestStableStage(t *testing.T) {
	// Two slots. In flight 2 from 10 (first, warm-up), again from 110: the
	// window's start. The start at 120 is the last event at 2: 200 leaves 1.
	recs := list(stream(0, 100, 1, 2, 50), stream(10, 115, 1, 2, 50), stream(110, 200, 3, 4, 50), stream(120, 260, 5, 6, 50), failed(111))
	r, err := Compute(recs, Options{Stable: true, MaxConcurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Benchmark Duration": "10.0 ms", "Total Requests": "2", "Failed Requests": "0",
		"Total Input Tokens": "8", "Total Generated Tokens": "10", "Concurrency": "2.0", "Output Token Throughput": "1000.0 token/s"} {
		if got := common(t, r, name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	if r.Stage != StageStable || r.StableStart != 0.11 {
		t.Errorf("stage %s from %v s, want stable from 0.11", r.Stage, r.StableStart)
	}
	_, err = Compute(recs, Options{Stable: true, MaxConcurrency: 3})
	if !errors.Is(err, ErrNoStableStage) || !strings.Contains(err.Error(), "the peak was 2") {
		t.Errorf("error %v, want no stable stage", err)
	}
	if _, err = Compute(list(failed(0)), Options{}); !errors.Is(err, ErrAllFailed) {
		t.Errorf("error %v, want all failed", err)
	}
}

func TestNotStreamedAndUncounted(t *testing.T) {
	rec := stream(0, 400, 7, 7, 100)
	rec.Stream, rec.TokenSource = false, outputs.TokensLocalTokenizer
	r, err := Compute(list(rec), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range r.Params {
		names = append(names, fmt.Sprint(p.Name, " ", p.Values[0]))
	}
	if got := strings.Join(names, ", "); got != "E2EL 400, InputTokens 0, OutputTokens 0, OutputTokenThroughput 0" {
		t.Error(got)
	}
}

func TestStatsListIsChecked(t *testing.T) {
	for _, bad := range [][]string{{"P0"}, {"P100"}, {"p50"}, {"P05"}, {"Mean"}, {"Max", "Max"}, {"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9"}} {
		if _, err := Compute(list(stream(0, 9, 1, 1, 5)), Options{StatsList: bad}); err == nil {
			t.Errorf("stats_list %v was accepted", bad)
		}
	}
	if _, err := Compute(list(), Options{Stable: true}); err == nil {
		t.Error("a stable stage without a concurrency was accepted")
	}
}
