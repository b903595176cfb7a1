package summarizers

import (
	"fmt"
	"math"
	"testing"

	"ais_bench/outputs"
)

// Savings are counted prompt by prompt, of those answered on both sides.
func TestPrefixGain(t *testing.T) {
	run, err := outputs.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(dataset string, ttft func(i int) int64) outputs.Pair {
		j, err := run.Journal("m", dataset)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			r := &outputs.Record{Model: "m", Dataset: dataset, SampleID: fmt.Sprint(i), Phase: outputs.PhaseMeasured, Status: outputs.StatusOK, Stream: true,
				OutputTokens: 2, TokenSource: outputs.TokensUsage, FirstToken: ttft(i), LastToken: ttft(i) + 1e6, End: ttft(i) + 1e6}
			if ttft(i) < 0 {
				r.Status, r.FirstToken = outputs.StatusHTTP5xx, outputs.Never
			}
			if err := j.Append(r); err != nil {
				t.Fatal(err)
			}
		}
		warm := &outputs.Record{Model: "m", Dataset: dataset, SampleID: "w", Phase: outputs.PhaseWarmup, Status: outputs.StatusOK, Stream: true, FirstToken: 9e9, LastToken: 9e9, End: 9e9}
		if err := j.Append(warm); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		return outputs.Pair{Model: "m", Dataset: dataset}
	}
	cold := write("d-cold", func(i int) int64 { return 100e6 + int64(i)*1e6 })
	warm := write("d-warm", func(i int) int64 {
		if i == 3 {
			return -1
		}
		return (100e6 + int64(i)*1e6) / 4
	})
	g, err := ComparePrefixCache(run, []outputs.Pair{cold}, []outputs.Pair{warm})
	if err != nil {
		t.Fatal(err)
	}
	if g.Pairs != 19 || g.Cold.Requests != 20 || g.Warm.Failed != 1 || math.Abs(*g.TTFTSaved-0.75) > 1e-12 || math.Abs(*g.TTFTSavedP50-0.75) > 1e-12 {
		t.Errorf("gain %+v, saved %v and %v", g, *g.TTFTSaved, *g.TTFTSavedP50)
	}
	if i := g.TTFTInterval; i == nil || i.Lo > 0.75+1e-9 || i.Hi < 0.75-1e-9 || i.Lo < 0.74 {
		t.Errorf("interval %+v", i)
	}
	if math.Abs(*g.Cold.TTFTMean-109.5) > 1e-9 || g.Cold.ServerRate != nil {
		t.Errorf("cold %+v: hit rates of a server that was not watched are unknown", g.Cold)
	}
	tb := g.Table()
	if err := tb.Check(); err != nil || len(tb.Rows) != 3 {
		t.Errorf("table %+v, %v", tb, err)
	}
	none, err := ComparePrefixCache(run, []outputs.Pair{{Model: "m", Dataset: "x"}}, []outputs.Pair{{Model: "m", Dataset: "y"}})
	if err != nil || none.TTFTSaved != nil || len(none.Flags) != 1 {
		t.Errorf("no records: %+v, %v", none, err)
	}
}
