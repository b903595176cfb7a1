package summarizers

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"ais_bench/outputs"
	"ais_bench/summarizers/metrics"
)

// streamed is a successful record with the given TTFT and gaps, in ms.
func streamed(i int, ttft float64, gaps ...float64) *outputs.Record {
	r := record(i, outputs.StatusOK)
	at := int64(ttft * 1e6)
	r.ChunkAt = []int64{at}
	for _, g := range gaps {
		at += int64(g * 1e6)
		r.ChunkAt = append(r.ChunkAt, at)
	}
	r.FirstToken, r.FirstEvent, r.FirstAnswerToken = r.Sent+r.ChunkAt[0], r.Sent+r.ChunkAt[0], r.Sent+r.ChunkAt[0]
	r.LastToken, r.End, r.OutputTokens = r.Sent+at, r.Sent+at, int32(len(r.ChunkAt))
	return r
}

func partingsOf(t *testing.T, records ...*outputs.Record) map[string]parting {
	t.Helper()
	var ends tails
	a, err := metrics.New(metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		ends.add(r)
		a.Add(r)
	}
	out := map[string]parting{}
	for _, p := range ends.partings(a.Result()) {
		out[p.name] = p
	}
	return out
}

// Two cold starts among a hundred: they are named, with what they hold.
func TestPartingsNameTheRequests(t *testing.T) {
	var list []*outputs.Record
	for i := range 100 {
		ttft := 100.0
		if i == 7 || i == 42 {
			ttft = 2000 + float64(i)
		}
		list = append(list, streamed(i, ttft, 20, 20))
	}
	failed := record(100, outputs.StatusHTTP5xx)
	warm := streamed(101, 1e6, 20, 20)
	warm.Phase = outputs.PhaseWarmup
	got := partingsOf(t, append(list, failed, warm)...)
	p, ok := got["TTFT"]
	if !ok || !p.explains || !p.slow || len(p.named) != 2 || p.named[0].sample != "42" || p.named[1].sample != "7" || p.named[0].request != "req-42" {
		t.Fatalf("TTFT: %+v", p)
	}
	sum := 98*100 + 2042 + 2007.0
	if math.Abs(p.share-(2042+2007)/sum) > 1e-9 || math.Abs(p.without-100) > 1e-6 || p.n != 100 {
		t.Errorf("share %v, mean of the others %v, n %d", p.share, p.without, p.n)
	}
	if _, ok := got["ITL"]; ok {
		t.Error("all gaps are equal, and yet mean and median part")
	}
	table := partingTable([]parting{p})
	if table.Rows[0][6] != "42, 7" || !strings.Contains(table.Notes[0], "without the 2 most extreme of 100 requests") {
		t.Errorf("%v, notes %q", table.Rows[0], table.Notes)
	}
	rows := responsibleTable([]parting{p}).Rows
	if len(rows) != 2 || rows[0][1] != "42" || rows[0][7] != "req-42" || rows[0][6] != 4.2 {
		t.Errorf("requests responsible: %v", rows)
	}
}

// A skewed distribution has no few requests to blame; nor has one whose short
// answers pull the mean below the median.
func TestPartingsOfSkewedDistributions(t *testing.T) {
	var skewed, low []*outputs.Record
	for i := range 200 {
		skewed = append(skewed, streamed(i, math.Exp(float64(i)/25), 20))
		ttft := 1000.0
		if i < 80 {
			ttft = 1
		}
		low = append(low, streamed(i, ttft, 20))
	}
	p := partingsOf(t, skewed...)["TTFT"]
	if p.explains || len(p.named) != partNamed || p.named[0].sample != "199" || !p.slow {
		t.Errorf("skewed: %+v", p)
	}
	if note := partingTable([]parting{p}).Notes[0]; !strings.Contains(note, "no few of the 200 requests explain it") {
		t.Error(note)
	}
	p = partingsOf(t, low...)["TTFT"]
	if p.slow || p.explains || p.named[0].ms != 1 {
		t.Errorf("low: %+v", p)
	}
	if got := partingsOf(t, streamed(0, 1, 20), streamed(1, 1000, 20)); len(got) != 0 {
		t.Errorf("two requests: %v", got)
	}
}

func TestExtremesKeepTheMostExtreme(t *testing.T) {
	var e extremes
	for i := range 100 {
		e.offer(float64(i*37%100), &outputs.Record{SampleID: fmt.Sprint(i)}, higher)
	}
	for i, n := range e.list {
		if n.ms != float64(99-i) {
			t.Fatalf("place %d holds %v", i, n.ms)
		}
	}
	if len(e.list) != partNamed {
		t.Errorf("%d kept", len(e.list))
	}
}
