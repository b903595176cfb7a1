package metrics

import (
	"testing"

	"ais_bench/outputs"
)

// Sums without the answers whose usage cannot be would be other figures.
func TestImpossibleUsageLeavesTotalsUnknown(t *testing.T) {
	for source, c := range map[outputs.TokenSource]struct{ input, output bool }{
		outputs.TokensUsage:      {true, true},
		outputs.TokensImpossible: {false, false},
		outputs.TokensImpossible.CountedBy(outputs.TokensLocalTokenizer): {false, true},
	} {
		acc, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range []outputs.TokenSource{outputs.TokensUsage, source} {
			r := &outputs.Record{Phase: outputs.PhaseMeasured, Status: outputs.StatusOK, Sent: int64(i), Scheduled: int64(i), FirstToken: 2e9, LastToken: 3e9, End: 3e9, FirstAnswerToken: 2e9,
				InputTokens: 10, OutputTokens: 5, ReasoningTokens: outputs.UnknownTokens, CachedTokens: outputs.UnknownTokens, TokenSource: s}
			if s == outputs.TokensImpossible {
				r.InputTokens, r.OutputTokens = outputs.UnknownTokens, outputs.UnknownTokens
			}
			acc.Add(r)
		}
		r := acc.Result()
		if got := r.TotalInputTokens != nil && r.InputThroughput != nil && r.TotalTokenThroughput != nil; got != c.input {
			t.Errorf("%s: input known %v", source, got)
		}
		if got := r.TotalOutputTokens != nil && r.OutputThroughput != nil; got != c.output {
			t.Errorf("%s: output known %v", source, got)
		}
		if r.RequestThroughput == nil {
			t.Errorf("%s: requests are counted whatever their tokens", source)
		}
	}
}
